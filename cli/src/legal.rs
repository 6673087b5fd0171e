//! `corridor legal`: the legal moves of a position.

use clap::Args;
use corridor_shared::{Move, Orientation, Position};
use serde::Serialize;

use crate::failure::Failure;
use crate::position_args::PositionArgs;
use crate::{out, render};

/// What `legal` is told.
#[derive(Args)]
#[command(override_usage = "corridor legal (--moves <MOVES> | --position <TEXT>) [OPTIONS]")]
pub(crate) struct Arguments {
    #[command(flatten)]
    position: PositionArgs,
}

#[derive(Serialize)]
struct Report {
    position: String,
    pawn_moves: Vec<String>,
    walls: Vec<String>,
    legal_count: usize,
    turn: &'static str,
    winner: Option<&'static str>,
}

/// Lists the moves.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let position = arguments.position.resolve()?;
    if json { out::json(&report(&position)) } else { out::text(&page(&position)) }
}

fn report(position: &Position) -> Report {
    let legal = position.legal_moves();
    let names =
        |pawns: bool| legal.iter().filter(|mv| mv.is_pawn() == pawns).map(ToString::to_string).collect();
    Report {
        position: position.to_string(),
        pawn_moves: names(true),
        walls: names(false),
        legal_count: legal.len(),
        turn: position.turn().name(),
        winner: position.winner().map(corridor_shared::Color::name),
    }
}

/// The board, and the moves by kind.
fn page(position: &Position) -> String {
    let legal = position.legal_moves();
    let of_kind = |wanted: Option<Orientation>| -> Vec<String> {
        let kind = |mv: &Move| mv.as_wall().map(corridor_shared::Wall::orientation);
        legal.iter().filter(|mv| kind(mv) == wanted).map(ToString::to_string).collect()
    };
    let mut text = render::board::plain(position);
    text.push('\n');
    for (name, kind) in [
        ("pawn", None),
        ("horizontal walls", Some(Orientation::Horizontal)),
        ("vertical walls", Some(Orientation::Vertical)),
    ] {
        let moves = of_kind(kind);
        text.push_str(&format!("{name} ({}):\n", moves.len()));
        for row in moves.chunks(16) {
            text.push_str(&format!("  {}\n", row.join(" ")));
        }
    }
    text.push_str(&format!("{} legal moves\n", legal.len()));
    text
}
