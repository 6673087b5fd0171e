//! `nw`: as `man`, but a wall is named by its upper left square, ranks 2..9.

use super::ParseMoveError;
use super::man;
use super::move_text::{self, Grammar};
use crate::board::{Move, Orientation, Square, Wall};

pub(super) const GRAMMAR: Grammar = Grammar {
    read: |word, _| Ok((read(word)?, false)),
    write,
    run_together: Some(move_text::suffix_length),
    preamble: move_text::no_preamble,
};

fn read(word: &str) -> Result<Move, ParseMoveError> {
    match *word.as_bytes() {
        [file, rank, letter] => {
            let orientation = man::orientation(letter)
                .ok_or_else(|| ParseMoveError::new(word, "a wall ends in 'h' or 'v'"))?;
            wall(word, file, rank, orientation).map(Move::wall)
        }
        [_, _] => word.parse::<Square>().map(Move::pawn),
        _ => Err(ParseMoveError::new(word, "a move is a square (e2) or a wall (e4h)")),
    }
}

/// The wall whose upper left square is given; `word` is quoted in the error.
pub(super) fn wall(word: &str, file: u8, rank: u8, orientation: Orientation) -> Result<Wall, ParseMoveError> {
    let fault = |fault| ParseMoveError::new(word, fault);
    let (column, row) =
        man::coordinates(file, rank).ok_or_else(|| fault("a wall is a square a2..h9 and an orientation"))?;
    let below = row
        .checked_sub(1)
        .ok_or_else(|| fault("a wall on rank 1 disproves this notation: walls run from a2 to h9"))?;
    Wall::new(orientation, column, below).ok_or_else(|| fault("walls run from a2 to h9"))
}

/// File and rank of the upper left square.
pub(super) fn upper_left(wall: Wall) -> (char, u8) {
    (char::from(b'a' + wall.column()), wall.row() + 2)
}

fn write(mv: Move) -> String {
    match mv.as_wall() {
        Some(wall) => {
            let (file, rank) = upper_left(wall);
            format!("{file}{rank}{}", man::letter(wall.orientation()))
        }
        None => mv.to_string(),
    }
}
