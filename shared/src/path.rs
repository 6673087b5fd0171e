//! Distances: floods over the squares as sets of bits, one step of all squares at a time.
//!
//! Pawns do not block paths; walls do. All of it is integer arithmetic on 81-bit sets, without tables that depend on
//! the position.

use crate::board::{Orientation, Square, Wall, lsb128};

/// The set of all 81 squares.
pub(crate) const ALL_SQUARES: u128 = (1 << 81) - 1;

const COLUMN_I: u128 = {
    let mut set = 0;
    let mut row = 0;
    while row < 9 {
        set |= 1 << (row * 9 + 8);
        row += 1;
    }
    set
};

/// Which steps no wall and no edge of the board stops.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passages {
    /// Squares from which a pawn can step up, to row + 1.
    pub(crate) up: u128,
    /// Squares from which a pawn can step right, to column + 1.
    pub(crate) right: u128,
}

/// The wall slots of either orientation that would cut a path.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutSlots {
    pub(crate) horizontal: u64,
    pub(crate) vertical: u64,
}

/// A pawn's shortest routes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShortestRoute {
    /// The slots that would cut one (unspecified) of them. A wall elsewhere leaves the distance as it is.
    pub(crate) cuts: CutSlots,
    /// Their length in steps.
    pub(crate) distance: u8,
}

impl Passages {
    /// The board without walls.
    #[inline]
    pub(crate) const fn open() -> Self {
        Self { up: ALL_SQUARES & !(0x1ff << 72), right: ALL_SQUARES & !COLUMN_I }
    }

    /// A wall's segments: the squares below a horizontal one, left of a vertical one.
    #[inline(always)]
    const fn segments(wall: Wall) -> (u128, u128) {
        let anchor = wall.anchor().index();
        match wall.orientation() {
            Orientation::Horizontal => (0b11 << anchor, 0),
            Orientation::Vertical => (0, 0x201 << anchor),
        }
    }

    #[inline(always)]
    pub(crate) const fn close_wall(&mut self, wall: Wall) {
        let (up, right) = Self::segments(wall);
        self.up &= !up;
        self.right &= !right;
    }

    /// The inverse of [`Self::close_wall`]; right only because walls never share a segment.
    #[inline(always)]
    pub(crate) const fn open_wall(&mut self, wall: Wall) {
        let (up, right) = Self::segments(wall);
        self.up |= up;
        self.right |= right;
    }

    #[inline(always)]
    pub(crate) const fn with_wall(mut self, wall: Wall) -> Self {
        self.close_wall(wall);
        self
    }

    /// The squares one step away from any square of the set. (May contain squares of the set.)
    #[inline(always)]
    pub(crate) const fn step(self, set: u128) -> u128 {
        ((set & self.up) << 9)
            | ((set >> 9) & self.up)
            | ((set & self.right) << 1)
            | ((set >> 1) & self.right)
    }

    /// Steps from the nearest square of `from` to the nearest of `goal`, or `None` if none is reachable.
    #[inline]
    pub(crate) fn distance(self, from: u128, goal: u128) -> Option<u8> {
        let mut reached = from;
        let mut steps = 0;
        while reached & goal == 0 {
            let next = reached | self.step(reached);
            if next == reached {
                return None;
            }
            reached = next;
            steps += 1;
        }
        Some(steps)
    }

    /// Whether a step of at most `limit` squares joins the two sets.
    #[inline]
    pub(crate) fn within(self, from: u128, goal: u128, limit: u8) -> bool {
        let mut reached = from;
        for _ in 0..limit {
            if reached & goal != 0 {
                return true;
            }
            reached |= self.step(reached);
        }
        reached & goal != 0
    }

    /// Everything that can be reached from the set, the set included.
    #[inline]
    pub(crate) fn flood(self, from: u128) -> u128 {
        let mut reached = from;
        loop {
            let next = reached | self.step(reached);
            if next == reached {
                return reached;
            }
            reached = next;
        }
    }

    /// The shortest routes from a pawn to the goal, or `None` if there is no way.
    #[inline]
    pub(crate) fn shortest_route(self, pawn: Square, goal: u128) -> Option<ShortestRoute> {
        // Neighbours differ in distance by at most one, so distances modulo 4 are enough to walk back.
        let mut by_distance = [0u128; 4];
        let mut reached = goal;
        let mut frontier = goal;
        let mut steps = 0u8;
        while reached & pawn.bit() == 0 {
            by_distance[usize::from(steps & 3)] |= frontier;
            frontier = self.step(frontier) & !reached;
            if frontier == 0 {
                return None;
            }
            reached |= frontier;
            steps += 1;
        }
        let mut route = ShortestRoute { distance: steps, ..ShortestRoute::default() };
        let mut square = pawn;
        for remaining in (0..steps).rev() {
            let closer = by_distance[usize::from(remaining & 3)];
            let next = Square::from_bit_index(lsb128(self.step(square.bit()) & closer));
            route.cuts.add_step(square, next);
            square = next;
        }
        Some(route)
    }
}

impl CutSlots {
    /// Whether a wall is among them.
    #[inline(always)]
    pub(crate) const fn contains(self, wall: Wall) -> bool {
        let slots = match wall.orientation() {
            Orientation::Horizontal => self.horizontal,
            Orientation::Vertical => self.vertical,
        };
        slots & wall.bit() != 0
    }

    /// Adds the slots that separate two neighbouring squares.
    #[inline(always)]
    pub(crate) fn add_step(&mut self, a: Square, b: Square) {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        if high.index() - low.index() == 9 {
            self.horizontal |= CUTS_UP[usize::from(low.index())];
        } else {
            self.vertical |= CUTS_RIGHT[usize::from(low.index())];
        }
    }
}

/// Horizontal slots that separate a square from the one above it.
static CUTS_UP: [u64; 81] = {
    let mut table = [0; 81];
    let mut square = 0;
    while square < 72 {
        let (row, column) = (square / 9, square % 9);
        if column < 8 {
            table[square] |= 1 << (row * 8 + column);
        }
        if column > 0 {
            table[square] |= 1 << (row * 8 + column - 1);
        }
        square += 1;
    }
    table
};

/// Vertical slots that separate a square from the one to its right.
static CUTS_RIGHT: [u64; 81] = {
    let mut table = [0; 81];
    let mut square = 0;
    while square < 81 {
        let (row, column) = (square / 9, square % 9);
        if column < 8 {
            if row < 8 {
                table[square] |= 1 << (row * 8 + column);
            }
            if row > 0 {
                table[square] |= 1 << ((row - 1) * 8 + column);
            }
        }
        square += 1;
    }
    table
};
