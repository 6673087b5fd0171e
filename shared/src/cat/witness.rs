//! The witness path: one fixed shortest path of each player, a cheap gate for walls.
//!
//! Defined as breadth-first search from the goal row (queue filled a..i), neighbours in the order up, right, down, left,
//! the first discoverer being the parent. Parents of squares on shortest routes lie on shortest routes themselves, so that
//! the search may be confined to those.

use crate::board::{Color, Position, Square, lsb128, pop_lsb128};
use crate::path::{CutSlots, Passages};

const NOBODY: u8 = u8::MAX;

/// The witness path of a player, from the pawn to the goal row, both included.
#[must_use]
pub fn witness_path(position: &Position, color: Color) -> Vec<Square> {
    let attention = super::build_corridor_attention(position);
    let parents = parents(position.passages, color.goal_mask(), attention.on_shortest[color.index()]);
    let mut path = vec![position.pawn(color)];
    let mut square = position.pawn(color);
    while let Some(next) = Square::from_index(parents[usize::from(square.index())]) {
        path.push(next);
        square = next;
    }
    path
}

/// The slots that cut the witness path of a player, `on_shortest` being the squares of delta 0.
#[inline]
pub(super) fn witness_cuts(position: &Position, color: Color, on_shortest: u128) -> CutSlots {
    let mut cuts = CutSlots::default();
    let mut square = position.pawn(color);
    // A single square a step leaves no choice, and no queue is needed.
    if let Some(only) = single_route(position.passages, square, color.goal_mask(), on_shortest) {
        return only;
    }
    let parents = parents(position.passages, color.goal_mask(), on_shortest);
    while let Some(next) = Square::from_index(parents[usize::from(square.index())]) {
        cuts.add_step(square, next);
        square = next;
    }
    cuts
}

/// The cuts of the only shortest route, or `None` if there are several.
#[inline(always)]
fn single_route(passages: Passages, pawn: Square, goal: u128, on_shortest: u128) -> Option<CutSlots> {
    let mut cuts = CutSlots::default();
    let mut left = on_shortest & !pawn.bit();
    let mut square = pawn;
    while square.bit() & goal == 0 {
        let next = passages.step(square.bit()) & left;
        if next & next.wrapping_sub(1) != 0 || next == 0 {
            return None;
        }
        let next = Square::from_bit_index(lsb128(next));
        cuts.add_step(square, next);
        left &= !next.bit();
        square = next;
    }
    Some(cuts)
}

/// The parent of each square on a shortest route, in the search from the goal row; [`NOBODY`] elsewhere and on the goal.
#[inline]
fn parents(passages: Passages, goal: u128, on_shortest: u128) -> [u8; 81] {
    let mut parents = [NOBODY; 81];
    let mut queue = [0u8; 81];
    let (mut head, mut tail) = (0, 0);
    let mut starts = on_shortest & goal;
    let mut unseen = on_shortest & !goal;
    while starts != 0 {
        queue[tail] = pop_lsb128(&mut starts);
        tail += 1;
    }
    while head < tail {
        let square = queue[head];
        head += 1;
        let bit = 1u128 << square;
        let open = passages.step(bit) & unseen;
        unseen &= !open;
        // Up, right, down, left; `open` holds only neighbours, so that no step leaves the board.
        for (neighbour, index) in [
            (bit << 9, square.wrapping_add(9)),
            (bit << 1, square.wrapping_add(1)),
            (bit >> 9, square.wrapping_sub(9)),
            (bit >> 1, square.wrapping_sub(1)),
        ] {
            if open & neighbour != 0 {
                parents[usize::from(index)] = square;
                queue[tail] = index;
                tail += 1;
            }
        }
    }
    parents
}
