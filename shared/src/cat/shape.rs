//! The vocabulary of shapes: cross-gaps, sealed pockets, their mouths and the gap play zone.

use super::{BLOCKS_CROSS_GAP_BONUS_CM, CAT_HOT_CM, CROSS_GAP_BONUS_CM};
use crate::board::{Color, Position, Wall};
use crate::path::{ALL_SQUARES, Passages};

const COLUMNS_A_TO_G: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const COLUMNS_B_TO_H: u64 = COLUMNS_A_TO_G << 1;
const COLUMNS_B_TO_G: u64 = COLUMNS_A_TO_G & COLUMNS_B_TO_H;
const ROWS_2_TO_7: u64 = 0x00ff_ffff_ffff_ff00;

/// The slots of each orientation that are cross-gap, and those that block one. Whether the wall is legal is not asked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shapes {
    /// The wall would cross the seam of two collinear walls.
    pub(crate) cross_gap: [u64; 2],
    /// Not itself cross-gap, and one step along its axis lies a cross-gap slot of the same orientation.
    pub(crate) blocks_cross_gap: [u64; 2],
}

impl Shapes {
    /// The shapes of a position's walls.
    #[inline(always)]
    #[must_use]
    pub fn of(position: &Position) -> Self {
        let [h, v] = position.walls;
        let across_vertical = (v << 8) & (v >> 8) & ROWS_2_TO_7;
        let across_horizontal = (h << 1) & (h >> 1) & COLUMNS_B_TO_G;
        let beside_h = ((across_vertical & COLUMNS_A_TO_G) << 1) | ((across_vertical & COLUMNS_B_TO_H) >> 1);
        let beside_v = (across_horizontal << 8) | (across_horizontal >> 8);
        Self {
            cross_gap: [across_vertical, across_horizontal],
            blocks_cross_gap: [beside_h & !across_vertical, beside_v & !across_horizontal],
        }
    }
}

/// The shape bonus of a wall in cm (ordering only): `heat_cm` is the wall's own heat, which is never below that of the
/// hottest square it touches.
#[inline(always)]
#[must_use]
pub fn wall_shape_attention_bonus(shapes: &Shapes, wall: Wall, heat_cm: u16) -> u16 {
    let orientation = wall.orientation().index();
    if heat_cm < CAT_HOT_CM {
        0
    } else if shapes.cross_gap[orientation] & wall.bit() != 0 {
        CROSS_GAP_BONUS_CM
    } else if shapes.blocks_cross_gap[orientation] & wall.bit() != 0 {
        BLOCKS_CROSS_GAP_BONUS_CM
    } else {
        0
    }
}

/// The squares that either pawn can reach, walls respected and pawns ignored: bits row * 9 + column.
#[inline]
#[must_use]
pub fn reachable_mask(position: &Position) -> u128 {
    position.passages.flood(position.pawn(Color::White).bit() | position.pawn(Color::Black).bit())
}

/// The gap play zone for a set of reachable squares: the mouths of sealed pockets and all their orthogonal neighbours,
/// walls ignored. Empty when nothing is sealed.
#[inline]
#[must_use]
pub fn gap_play_zone_mask(reachable: u128) -> u128 {
    let sealed = ALL_SQUARES & !reachable;
    if sealed == 0 {
        return 0;
    }
    // The board's own edges bound the steps, so that no phantom column can make a phantom mouth.
    let board = Passages::open();
    let mouths = board.step(sealed) & reachable;
    mouths | board.step(mouths)
}

/// The slots that touch at least one square of the set.
pub(super) fn slots_touching(squares: u128) -> u64 {
    squares_to_slots(squares | (squares >> 1) | (squares >> 9) | (squares >> 10))
}

/// The slots that touch nothing but squares of the set.
pub(super) fn slots_within(squares: u128) -> u64 {
    squares_to_slots(squares & (squares >> 1) & (squares >> 9) & (squares >> 10))
}

/// From rows of nine squares to rows of eight slots: the slot at each square's upper right corner.
fn squares_to_slots(squares: u128) -> u64 {
    (0..8).fold(0, |slots, row| slots | (row_of(squares, row) << (8 * row)))
}

#[expect(clippy::cast_possible_truncation, reason = "masked to eight bits")]
fn row_of(squares: u128, row: u32) -> u64 {
    (squares >> (9 * row)) as u64 & 0xff
}
