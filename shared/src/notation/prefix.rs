//! `prefix`: as `man`, with the orientation first: `he3`, `ve3`.
//!
//! Safe beside squares of file h: a leading `h` or `v` is an orientation only if a letter follows (`hh8`; `h8` is a square).

use super::ParseMoveError;
use super::man;
use super::move_text::{self, Grammar};
use crate::board::{Move, Square, Wall};

pub(super) const GRAMMAR: Grammar = Grammar {
    read: |word, _| Ok((read(word)?, false)),
    write,
    run_together: Some(move_text::prefix_length),
    preamble: move_text::no_preamble,
};

fn read(word: &str) -> Result<Move, ParseMoveError> {
    match *word.as_bytes() {
        [letter, file, rank] => wall(word, letter, file, rank).map(Move::wall),
        [_, _] => word.parse::<Square>().map(Move::pawn),
        _ => Err(ParseMoveError::new(word, "a move is a square (e2) or a wall (he3)")),
    }
}

/// The wall of a word in three bytes, orientation first.
pub(super) fn wall(word: &str, letter: u8, file: u8, rank: u8) -> Result<Wall, ParseMoveError> {
    let fault = |fault| ParseMoveError::new(word, fault);
    let orientation = man::orientation(letter).ok_or_else(|| fault("a wall starts with 'h' or 'v' (he3)"))?;
    let (column, row) =
        man::coordinates(file, rank).ok_or_else(|| fault("a wall is 'h' or 'v' and a square a1..h8"))?;
    let off_board = match row {
        8 => "walls run from a1 to h8; one on rank 9 proves another notation",
        _ => "walls run from a1 to h8",
    };
    Wall::new(orientation, column, row).ok_or_else(|| fault(off_board))
}

fn write(mv: Move) -> String {
    match mv.as_wall() {
        Some(wall) => format!("{}{}", man::letter(wall.orientation()), wall.anchor()),
        None => mv.to_string(),
    }
}
