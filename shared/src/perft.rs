//! Move-tree counts: the check of the rules, and their benchmark.
//!
//! The last ply is counted without being played; no table is used. Finished games have no children.

use crate::board::{Move, Position};
use crate::movegen::count_legal_moves;

/// The number of move sequences of exactly `depth` plies. Depth 0 is one.
#[must_use]
pub fn perft(position: &Position, depth: u8) -> u64 {
    match depth {
        0 => 1,
        1 => u64::from(count_legal_moves(position)),
        _ => position.legal_moves().iter().map(|&mv| perft(&position.after(mv), depth - 1)).sum(),
    }
}

/// [`perft`] below each legal move, in the order of [`Position::legal_moves`]. Empty at depth 0.
#[must_use]
pub fn divide(position: &Position, depth: u8) -> Vec<(Move, u64)> {
    let Some(below) = depth.checked_sub(1) else {
        return Vec::new();
    };
    position.legal_moves().iter().map(|&mv| (mv, perft(&position.after(mv), below))).collect()
}
