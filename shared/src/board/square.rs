//! Squares and the two sides.

/// A side. White starts on e1, moves first and wins on rank 9; Black starts on e9 and wins on rank 1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Color {
    /// The first mover.
    White = 0,
    /// The second mover.
    Black = 1,
}

impl Color {
    /// Both sides, White first.
    pub const BOTH: [Self; 2] = [Self::White, Self::Black];

    /// 0 for White, 1 for Black: an index into arrays kept per side.
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The row (0..=8) this side has to reach.
    #[inline(always)]
    #[must_use]
    pub const fn goal_row(self) -> u8 {
        match self {
            Self::White => 8,
            Self::Black => 0,
        }
    }

    /// The squares of this side's goal row, as bits row * 9 + column.
    #[inline(always)]
    pub(crate) const fn goal_mask(self) -> u128 {
        match self {
            Self::White => 0x1ff << 72,
            Self::Black => 0x1ff,
        }
    }

    /// `white` or `black`, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::Black => "black",
        }
    }
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::White => "White",
            Self::Black => "Black",
        })
    }
}

impl std::ops::Not for Color {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// One of the 81 squares, numbered row by row from a1: index = row * 9 + column.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// How many squares there are.
    pub const COUNT: usize = 81;
    /// White's start.
    pub const E1: Self = Self(4);
    /// Black's start.
    pub const E9: Self = Self(76);

    /// The square in `column` and `row` (both 0..=8), or `None` off the board.
    #[inline]
    #[must_use]
    pub const fn new(column: u8, row: u8) -> Option<Self> {
        if column < 9 && row < 9 { Some(Self(row * 9 + column)) } else { None }
    }

    /// The square with an index of 0..=80, or `None`.
    #[inline]
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < 81 { Some(Self(index)) } else { None }
    }

    /// As [`Self::from_index`], for an index that is a square by construction.
    #[inline(always)]
    pub(crate) const fn from_bit_index(index: u8) -> Self {
        debug_assert!(index < 81);
        Self(index)
    }

    /// All squares, a1 first, row by row.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..81u8).map(Self)
    }

    /// row * 9 + column, 0..=80.
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// 0 for rank 1 to 8 for rank 9.
    #[inline(always)]
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / 9
    }

    /// 0 for file a to 8 for file i.
    #[inline(always)]
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 9
    }

    /// The square's bit, 1 << index.
    #[inline(always)]
    pub(crate) const fn bit(self) -> u128 {
        1 << self.0
    }

    /// The same square of the left-right mirrored board.
    #[inline]
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self(self.row() * 9 + 8 - self.column())
    }
}
