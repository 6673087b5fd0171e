//! `corridor convert`: moves from one notation to another. Both are declared; an anchor is never guessed.

use clap::Args;
use corridor_shared::Position;
use corridor_shared::notation::{Notation, format_moves, parse_moves, replay};
use serde::Serialize;

use crate::failure::Failure;
use crate::out;
use crate::position_args::hint;

/// What `convert` is told.
#[derive(Args)]
#[command(override_usage = "corridor convert --from <NAME> --to <NAME> [OPTIONS] <MOVES>...")]
pub(crate) struct Arguments {
    /// How the moves are written, always wanted: man, nw, flip, prefix, qtp, tq1 or qf
    #[arg(long, value_name = "NAME")]
    from: Option<Notation>,

    /// How they shall be written, always wanted: the same names
    #[arg(long, value_name = "NAME")]
    to: Option<Notation>,

    /// The moves, from the start of a game, separated by blanks
    #[arg(value_name = "MOVES", required = true)]
    moves: Vec<String>,
}

#[derive(Serialize)]
struct Report {
    moves: String,
}

/// Reads, plays and writes the moves.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let declared = |flag: &str, notation: Option<Notation>| {
        notation.ok_or_else(|| {
            Failure::bad_input(&format!(
                "--{flag} is wanted: a notation cannot be guessed from its moves (man, nw, flip, prefix, qtp, tq1 or qf)"
            ))
        })
    };
    let from = declared("from", arguments.from)?;
    let to = declared("to", arguments.to)?;
    let moves = parse_moves(from, &arguments.moves.join(" ")).map_err(|error| {
        let hint = hint(from, &arguments.moves.join(" "));
        Failure::bad_input(&format!("{error}{hint}"))
    })?;
    // An illegal game in one notation is often a legal one in another: whoever declared the wrong one should hear of it.
    replay(&Position::start(), &moves).map_err(|error| Failure::bad_input(&error))?;
    let moves = format_moves(to, &moves).map_err(|error| Failure::bad_input(&error))?;
    if json { out::json(&Report { moves }) } else { out::line(&moves) }
}
