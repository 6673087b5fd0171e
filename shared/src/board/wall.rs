//! Walls and the slots they stand in.

use super::Square;

/// Which way a wall runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Orientation {
    /// Lies on top of two squares: blocks steps between rows.
    Horizontal = 0,
    /// Stands right of two squares: blocks steps between columns.
    Vertical = 1,
}

impl Orientation {
    /// Horizontal, then vertical.
    pub const BOTH: [Self; 2] = [Self::Horizontal, Self::Vertical];

    /// 0 for horizontal, 1 for vertical: an index into arrays kept per orientation.
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    #[must_use]
    pub const fn crossing(self) -> Self {
        match self {
            Self::Horizontal => Self::Vertical,
            Self::Vertical => Self::Horizontal,
        }
    }
}

/// A wall: its orientation and its slot. The slot (row r, column c), both 0..=7, is the corner shared by the squares
/// (r, c), (r, c+1), (r+1, c) and (r+1, c+1); its index is r * 8 + c. In `man` the anchor is the square (r, c).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall {
    orientation: Orientation,
    slot: u8,
}

impl Wall {
    /// How many walls there are, legal or not.
    pub const COUNT: usize = 128;

    /// The wall whose anchor is in `column` and `row` (both 0..=7), or `None` outside a1..h8.
    #[inline]
    #[must_use]
    pub const fn new(orientation: Orientation, column: u8, row: u8) -> Option<Self> {
        if column < 8 && row < 8 { Some(Self { orientation, slot: row * 8 + column }) } else { None }
    }

    /// The wall in slot 0..=63 (row * 8 + column), or `None`.
    #[inline]
    #[must_use]
    pub const fn from_slot(orientation: Orientation, slot: u8) -> Option<Self> {
        if slot < 64 { Some(Self { orientation, slot }) } else { None }
    }

    /// As [`Self::from_slot`], for a slot that came from a set of 64.
    #[inline(always)]
    pub(crate) const fn at(orientation: Orientation, slot: u8) -> Self {
        debug_assert!(slot < 64);
        Self { orientation, slot }
    }

    /// All 128 walls: horizontal ones first, each orientation row by row from a1.
    pub fn all() -> impl Iterator<Item = Self> {
        Orientation::BOTH
            .into_iter()
            .flat_map(|orientation| (0..64u8).map(move |slot| Self { orientation, slot }))
    }

    /// Which way it runs.
    #[inline(always)]
    #[must_use]
    pub const fn orientation(self) -> Orientation {
        self.orientation
    }

    /// row * 8 + column, 0..=63.
    #[inline(always)]
    #[must_use]
    pub const fn slot(self) -> u8 {
        self.slot
    }

    /// Row of the anchor, 0..=7.
    #[inline(always)]
    #[must_use]
    pub const fn row(self) -> u8 {
        self.slot / 8
    }

    /// Column of the anchor, 0..=7.
    #[inline(always)]
    #[must_use]
    pub const fn column(self) -> u8 {
        self.slot % 8
    }

    /// The touched square nearest a1.
    #[inline(always)]
    #[must_use]
    pub const fn anchor(self) -> Square {
        Square::from_bit_index(self.row() * 9 + self.column())
    }

    /// The slot's bit, 1 << slot.
    #[inline(always)]
    pub(crate) const fn bit(self) -> u64 {
        1 << self.slot
    }

    /// The same wall of the left-right mirrored board.
    #[inline]
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self { orientation: self.orientation, slot: self.row() * 8 + 7 - self.column() }
    }
}
