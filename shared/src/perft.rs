//! Move-tree counts: the check of the rules, and their benchmark.
//!
//! The last ply is counted without being played; no table is used. Finished games have no children.

use crate::board::{Color, Move, Position};
use crate::movegen;
use crate::path::CutSlots;

/// The number of move sequences of exactly `depth` plies. Depth 0 is one.
#[must_use]
pub fn perft(position: &Position, depth: u8) -> u64 {
    let mut position = *position;
    count(&mut position, KnownPaths::default(), depth)
}

/// [`perft`] below each legal move, in the order of [`Position::legal_moves`]. Empty at depth 0.
#[must_use]
pub fn divide(position: &Position, depth: u8) -> Vec<(Move, u64)> {
    let Some(below) = depth.checked_sub(1) else {
        return Vec::new();
    };
    position.legal_moves().iter().map(|&mv| (mv, perft(&position.after(mv), below))).collect()
}

/// The slots that cut a path of White and of Black, where a path is known. A wall elsewhere cannot cut that side off, so
/// that most positions need no path of their own.
#[derive(Copy, Clone, Default)]
struct KnownPaths([Option<CutSlots>; 2]);

impl KnownPaths {
    /// Finds the paths that are not known.
    fn complete(mut self, position: &Position) -> Self {
        for color in Color::BOTH {
            self.0[color.index()].get_or_insert_with(|| movegen::path_cuts(position, color));
        }
        self
    }

    /// What is still known after a move of `mover`.
    fn after(mut self, mover: Color, mv: Move) -> Self {
        match mv.as_wall() {
            None => self.0[mover.index()] = None,
            Some(wall) => {
                for known in &mut self.0 {
                    *known = known.filter(|cuts| !cuts.contains(wall));
                }
            }
        }
        self
    }

    fn cuts(self, position: &Position) -> [CutSlots; 2] {
        Color::BOTH.map(|color| self.0[color.index()].unwrap_or_else(|| movegen::path_cuts(position, color)))
    }
}

/// Plays and takes back in place: measured a fifth faster here than copying (`make a move` in `benches/engine.rs`).
fn count(position: &mut Position, known: KnownPaths, depth: u8) -> u64 {
    match depth {
        0 => 1,
        1 => movegen::count_legal_moves_with(position, || known.cuts(position)).into(),
        _ => {
            let known = known.complete(position);
            let mover = position.turn();
            let mut sum = 0;
            for &mv in position.legal_moves().iter() {
                let undo = position.do_move(mv);
                sum += count(position, known.after(mover, mv), depth - 1);
                position.undo_move(undo);
            }
            sum
        }
    }
}
