//! How much shallower a late move is searched.

use std::sync::LazyLock;

use crate::cat::CAT_COLD_CM;

/// Without the table's move, a node this deep is searched one ply less.
const REDUCE_WITHOUT_MOVE_DEPTH: i32 = 4;
/// Moves at the front of the list that are never reduced.
const FULL_DEPTH_MOVES: usize = 3;

const DEPTHS: usize = 64;
const MOVES: usize = 64;

/// `floor(0.5 + ln(depth) * ln(move_number) / 2.25)`, by depth and number of the move (from 1).
static TABLE: LazyLock<[[u8; MOVES]; DEPTHS]> = LazyLock::new(|| {
    std::array::from_fn(|depth| std::array::from_fn(|number| base_reduction(depth.max(1), number.max(1))))
});

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both are below 64, so that the result is between 0 and 9"
)]
fn base_reduction(depth: usize, number: usize) -> u8 {
    (0.5 + (depth as f64).ln() * (number as f64).ln() / 2.25).floor() as u8
}

/// Plies by which the move with this number (from 1) is reduced at this depth: at most half the depth, one more for a cold
/// move, none for the first moves and tactical ones.
#[inline]
#[must_use]
pub fn late_move_reduction(depth: i32, number: usize, heat_cm: u16, tactical: bool) -> i32 {
    if tactical || number <= FULL_DEPTH_MOVES || depth < 2 {
        return 0;
    }
    let row = usize::try_from(depth).unwrap_or(0).min(DEPTHS - 1);
    let base = i32::from(TABLE[row][number.min(MOVES - 1)]);
    let cold = i32::from(heat_cm < CAT_COLD_CM);
    (base + cold).min(depth / 2)
}

/// The depth to which a node is searched when its best move is not known: the next visit will know one.
#[inline]
#[must_use]
pub const fn depth_without_move(depth: i32) -> i32 {
    if depth >= REDUCE_WITHOUT_MOVE_DEPTH { depth - 1 } else { depth }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_formula() {
        assert_eq!(late_move_reduction(8, 3, 100, false), 0, "the first moves");
        assert_eq!(late_move_reduction(8, 10, 100, true), 0, "tactical");
        // 0.5 + 2.0794 * 2.3026 / 2.25 = 2.63
        assert_eq!(late_move_reduction(8, 10, 100, false), 2);
        assert_eq!(late_move_reduction(8, 10, 59, false), 3, "cold: one more");
        assert_eq!(late_move_reduction(4, 60, 0, false), 2, "at most half the depth");
    }
}
