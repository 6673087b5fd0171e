//! Heat of walls and of moves, on a table of squares.

use super::CorridorAttention;
use super::shape::{Shapes, wall_shape_attention_bonus};
use crate::board::{Move, Orientation, Position, Square, Wall};

/// Heat of every wall in cm, without shape bonus, by orientation and slot.
#[derive(Clone, Debug)]
pub(crate) struct WallHeats {
    pub(crate) cm: [[u16; 64]; 2],
}

/// Two segments' heats as one wall's: the hotter one and a quarter of the other.
#[inline(always)]
fn combine(first: u16, second: u16) -> u16 {
    first.max(second) + first.min(second) / 4
}

/// Heat of one wall in cm on a table of squares (row by row from a1), without shape bonus.
#[inline]
#[must_use]
pub fn wall_edge_heat(table: &[u16; 81], wall: Wall) -> u16 {
    let anchor = usize::from(wall.anchor().index());
    let [own, right, above, across] = [0, 1, 9, 10].map(|offset| table[anchor + offset]);
    match wall.orientation() {
        Orientation::Horizontal => combine(own.max(above), right.max(across)),
        Orientation::Vertical => combine(own.max(right), above.max(across)),
    }
}

impl WallHeats {
    /// Heat of all 128 walls, a row of slots at a time (the loops become vector instructions).
    #[inline]
    pub(crate) fn new(table: &[u16; 81]) -> Self {
        let mut cm = [[0u16; 64]; 2];
        for row in 0..8 {
            let lower = &table[row * 9..row * 9 + 9];
            let upper = &table[row * 9 + 9..row * 9 + 18];
            let horizontal = &mut cm[0][row * 8..row * 8 + 8];
            for column in 0..8 {
                let (left, right) =
                    (lower[column].max(upper[column]), lower[column + 1].max(upper[column + 1]));
                horizontal[column] = combine(left, right);
            }
            let vertical = &mut cm[1][row * 8..row * 8 + 8];
            for column in 0..8 {
                let (below, above) =
                    (lower[column].max(lower[column + 1]), upper[column].max(upper[column + 1]));
                vertical[column] = combine(below, above);
            }
        }
        Self { cm }
    }

    /// Heat of one wall in cm, without shape bonus.
    #[inline(always)]
    pub(crate) fn of(&self, wall: Wall) -> u16 {
        self.cm[wall.orientation().index()][usize::from(wall.slot())]
    }

    /// The slots of each orientation whose heat is at least `cm`.
    #[inline]
    pub(crate) fn at_least(&self, cm: u16) -> [u64; 2] {
        self.cm.map(|heats| {
            let mut set = 0u64;
            for (row, heats) in heats.chunks_exact(8).enumerate() {
                let mut bits = 0u64;
                for (column, &heat) in heats.iter().enumerate() {
                    bits |= u64::from(heat >= cm) << column;
                }
                set |= bits << (8 * row);
            }
            set
        })
    }
}

/// Heat of a move in cm on the search table: that of its target square, or of its wall with the shape bonus.
#[must_use]
pub fn move_corridor_attention(position: &Position, attention: &CorridorAttention, mv: Move) -> u16 {
    match mv.as_wall() {
        Some(wall) => {
            let heat = wall_edge_heat(&attention.search, wall);
            heat + wall_shape_attention_bonus(&Shapes::of(position), wall, heat)
        }
        None => mv.target().map_or(0, |target| heat_of(&attention.search, target)),
    }
}

/// Heat of a square in cm.
#[inline(always)]
pub(super) fn heat_of(table: &[u16; 81], square: Square) -> u16 {
    table[usize::from(square.index())]
}
