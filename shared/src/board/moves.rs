//! Moves, packed into a byte, and a list of them that needs no allocation.

use super::{Orientation, Square, Wall};

/// A pawn move, named by its target square, or a wall.
///
/// One byte: 0..=80 is a pawn move to that square, 81..=144 a horizontal wall (81 + slot), 145..=208 a vertical one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(u8);

const HORIZONTAL: u8 = 81;
const VERTICAL: u8 = 145;

impl Move {
    /// One more than the largest index.
    pub const COUNT: usize = 209;
    /// Fills arrays before they hold moves; never read as one.
    pub(crate) const UNSET: Self = Self(0);

    /// A pawn move to `target`.
    #[inline(always)]
    #[must_use]
    pub const fn pawn(target: Square) -> Self {
        Self(target.index())
    }

    /// A wall.
    #[inline(always)]
    #[must_use]
    pub const fn wall(wall: Wall) -> Self {
        match wall.orientation() {
            Orientation::Horizontal => Self(HORIZONTAL + wall.slot()),
            Orientation::Vertical => Self(VERTICAL + wall.slot()),
        }
    }

    /// The move with an index of 0..=208, or `None`.
    #[inline]
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < 209 { Some(Self(index)) } else { None }
    }

    /// The move's byte, 0..=208.
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The target of a pawn move.
    #[inline(always)]
    #[must_use]
    pub const fn target(self) -> Option<Square> {
        Square::from_index(self.0)
    }

    /// The wall of a wall move.
    #[inline(always)]
    #[must_use]
    pub const fn as_wall(self) -> Option<Wall> {
        if self.0 < HORIZONTAL {
            None
        } else if self.0 < VERTICAL {
            Some(Wall::at(Orientation::Horizontal, self.0 - HORIZONTAL))
        } else {
            Some(Wall::at(Orientation::Vertical, self.0 - VERTICAL))
        }
    }

    /// Whether this is a pawn move.
    #[inline(always)]
    #[must_use]
    pub const fn is_pawn(self) -> bool {
        self.0 < HORIZONTAL
    }

    /// The same move on the left-right mirrored board.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self.as_wall() {
            Some(wall) => Self::wall(wall.mirrored()),
            None => Self::pawn(Square::from_bit_index(self.0).mirrored()),
        }
    }
}

/// Up to [`MoveList::CAPACITY`] moves on the stack. Dereferences to a slice.
#[derive(Clone)]
pub struct MoveList {
    moves: [Move; Self::CAPACITY],
    len: usize,
}

impl MoveList {
    /// No position has more: at most five pawn moves and 128 walls.
    pub const CAPACITY: usize = 136;

    /// An empty list.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { moves: [Move(0); Self::CAPACITY], len: 0 }
    }

    /// Appends a move.
    #[inline(always)]
    pub(crate) fn push(&mut self, mv: Move) {
        self.moves[self.len] = mv;
        self.len += 1;
    }

    /// Appends a wall move for each slot of the set, lowest first.
    #[inline(always)]
    pub(crate) fn push_walls(&mut self, orientation: Orientation, mut slots: u64) {
        while slots != 0 {
            self.push(Move::wall(Wall::at(orientation, super::pop_lsb64(&mut slots))));
        }
    }

    /// Appends a pawn move for each square of the set, lowest first.
    #[inline(always)]
    pub(crate) fn push_pawns(&mut self, mut targets: u128) {
        while targets != 0 {
            self.push(Move(super::pop_lsb128(&mut targets)));
        }
    }
}

impl Default for MoveList {
    fn default() -> Self {
        Self::new()
    }
}

impl std::ops::Deref for MoveList {
    type Target = [Move];

    #[inline(always)]
    fn deref(&self) -> &[Move] {
        &self.moves[..self.len]
    }
}

impl std::fmt::Debug for MoveList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(ToString::to_string)).finish()
    }
}
