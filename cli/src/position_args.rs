//! How a subcommand is given its position: moves from the start, or a position text.

use clap::Args;
use corridor_shared::Position;
use corridor_shared::notation::{Notation, parse_moves, qf, replay};

use crate::failure::Failure;

const POSITION: &str = "Position (exactly one of --moves and --position is wanted)";

/// Exactly one of `--moves` and `--position`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PositionArgs {
    /// Moves from the start, separated by blanks, such as "e2 e8 e3h"; "" is the start itself
    #[arg(long, value_name = "MOVES", help_heading = POSITION)]
    moves: Option<String>,

    /// A position text, such as "/ / e1 e9 / 10 10 / 1"
    #[arg(long, value_name = "TEXT", help_heading = POSITION)]
    position: Option<String>,

    /// How the moves are written: man, nw, flip, prefix, qtp, tq1 or qf
    #[arg(long, value_name = "NAME", default_value_t = Notation::Man, help_heading = POSITION)]
    notation: Notation,
}

impl PositionArgs {
    /// The position asked for.
    ///
    /// # Errors
    /// Bad input, with the ply or the field that is wrong.
    pub(crate) fn resolve(&self) -> Result<Position, Failure> {
        match (&self.moves, &self.position) {
            (Some(moves), None) => {
                let text = moves;
                let moves = parse_moves(self.notation, text).map_err(|error| {
                    Failure::bad_input(&format!("--moves: {error}{}", hint(self.notation, text)))
                })?;
                replay(&Position::start(), &moves)
                    .map_err(|error| Failure::bad_input(&format!("--moves: {error}")))
            }
            (None, Some(text)) => position(text, self.notation),
            (Some(_), Some(_)) => Err(Failure::bad_input(&"give --moves or --position, not both")),
            (None, None) => {
                Err(Failure::bad_input(&"a position is wanted: --moves \"e2 e8 ...\" or --position \"TEXT\""))
            }
        }
    }
}

/// What moves that do not read were probably meant to be.
pub(crate) fn hint(notation: Notation, moves: &str) -> &'static str {
    if notation != Notation::Man {
        ""
    } else if moves.contains([',', ';']) {
        " (moves are separated by blanks)"
    } else if moves.contains(|c: char| c.is_ascii_uppercase()) {
        " (squares and walls are written in lower case)"
    } else {
        ""
    }
}

/// A position text; only `qf` has a form of its own for it.
fn position(text: &str, notation: Notation) -> Result<Position, Failure> {
    let at_flag = |error: &dyn std::fmt::Display| Failure::bad_input(&format!("--position: {error}"));
    if notation == Notation::Qf && !text.contains(' ') {
        let state = qf::State::decode(text).map_err(|error| at_flag(&error))?;
        return state.position().map_err(|error| at_flag(&error));
    }
    text.parse().map_err(|error| at_flag(&error))
}
