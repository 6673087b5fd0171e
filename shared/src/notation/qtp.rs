//! `qtp`: the moves of a text protocol. A wall's orientation is a token of its own (`e4 h`), its anchor the upper left
//! square as in `nw`, and the side that moves is named in the command.
//!
//! Read: bare moves, or whole commands (`playmove white e2`, `playwall black e4 h`), in either case of letters. A named
//! side has to be the one to move. Written: bare moves.

use super::move_text::Grammar;
use super::{ParseMoveError, man, nw};
use crate::board::{Color, Move, Orientation, Square};

pub(super) const GRAMMAR: Grammar = Grammar { read, write, run_together: None, preamble };

const COMMANDS: [&str; 3] = ["playmove", "playwall", "play"];

/// Commands and colours before a move.
fn preamble(word: &str, ply: usize) -> Result<bool, ParseMoveError> {
    if COMMANDS.iter().any(|command| word.eq_ignore_ascii_case(command)) {
        return Ok(true);
    }
    let named = match word.to_ascii_lowercase().as_str() {
        "white" | "w" => Color::White,
        "black" | "b" => Color::Black,
        _ => return Ok(false),
    };
    let due = if ply % 2 == 1 { Color::White } else { Color::Black };
    match (named == due, due) {
        (true, _) => Ok(true),
        (false, Color::White) => Err(ParseMoveError::new(word, "it is White's turn")),
        (false, Color::Black) => Err(ParseMoveError::new(word, "it is Black's turn")),
    }
}

fn read(word: &str, next: Option<&str>) -> Result<(Move, bool), ParseMoveError> {
    let lower = word.to_ascii_lowercase();
    match *lower.as_bytes() {
        [file, rank] => match next.and_then(orientation) {
            Some(orientation) => Ok((Move::wall(nw::wall(word, file, rank, orientation)?), true)),
            None => Ok((Move::pawn(lower.parse::<Square>()?), false)),
        },
        [file, rank, letter] => {
            let orientation = man::orientation(letter)
                .ok_or_else(|| ParseMoveError::new(word, "a wall ends in 'h' or 'v'"))?;
            Ok((Move::wall(nw::wall(word, file, rank, orientation)?), false))
        }
        _ => Err(ParseMoveError::new(word, "a move is a square (e2) or a square and an orientation (e4 h)")),
    }
}

fn orientation(word: &str) -> Option<Orientation> {
    match word.to_ascii_lowercase().as_str() {
        "h" | "horizontal" => Some(Orientation::Horizontal),
        "v" | "vertical" => Some(Orientation::Vertical),
        _ => None,
    }
}

fn write(mv: Move) -> String {
    match mv.as_wall() {
        Some(wall) => {
            let (file, rank) = nw::upper_left(wall);
            format!("{file}{rank} {}", man::letter(wall.orientation()))
        }
        None => mv.to_string(),
    }
}
