//! `flip`: `man` seen from the other end. The first mover starts on e9; files stay, ranks are counted from Black's side.
//!
//! Reading and writing are the same map, and it is its own inverse.

use super::move_text::{self, Grammar};
use crate::board::{Move, Square, Wall};

pub(super) const GRAMMAR: Grammar = Grammar {
    read: |word, _| Ok((flipped(word.parse()?), false)),
    write: |mv| flipped(mv).to_string(),
    run_together: Some(move_text::suffix_length),
    preamble: move_text::no_preamble,
};

/// The same move counted from the other end: rank 10 - r for a square, 9 - r for a wall.
fn flipped(mv: Move) -> Move {
    let image = match (mv.target(), mv.as_wall()) {
        (Some(square), _) => Square::new(square.column(), 8 - square.row()).map(Move::pawn),
        (_, Some(wall)) => Wall::new(wall.orientation(), wall.column(), 7 - wall.row()).map(Move::wall),
        (None, None) => None,
    };
    // Both maps stay on the board, and every move is a square or a wall.
    image.unwrap_or(mv)
}
