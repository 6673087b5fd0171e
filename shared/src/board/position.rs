//! A position: the full state of a game, with what is derived from it kept up move by move.

use super::zobrist::{self, KeyPair};
use super::{Color, Move, MoveList, Orientation, Square, Wall};
use crate::movegen;
use crate::path::Passages;

/// Walls in hand at the start, and the most a side can hold.
pub(crate) const WALLS_EACH: u8 = 10;

/// The full state: both pawns, both wall sets, both counts of walls in hand and the side to move.
///
/// Invariants: no two walls overlap or cross; both sides have a path to their goal row; the pawns stand on different
/// squares; at most one side has reached its goal; [`Self::key`] equals that of the same state built afresh.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub(crate) passages: Passages,
    pub(crate) walls: [u64; 2],
    keys: KeyPair,
    pub(crate) pawns: [Square; 2],
    pub(crate) in_hand: [u8; 2],
    pub(crate) turn: Color,
}

/// What [`Position::undo_move`] needs to take back a move.
#[derive(Copy, Clone, Debug)]
pub struct Undo {
    mv: Move,
    from: Square,
    keys: KeyPair,
}

/// Why a move cannot be played.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalMove {
    /// Somebody has reached the goal row.
    #[error("the game has ended: {0} has reached the goal row")]
    GameOver(Color),
    /// The pawn cannot go there.
    #[error("{2}'s pawn cannot move from {1} to {0}")]
    Unreachable(Square, Square, Color),
    /// No walls in hand.
    #[error("{0} has no walls left for {1}")]
    NoWallsLeft(Color, Wall),
    /// The same slot, or one that shares a segment.
    #[error("wall {0} overlaps {1}")]
    Overlaps(Wall, Wall),
    /// The other orientation in the same slot.
    #[error("wall {0} crosses {1}")]
    Crosses(Wall, Wall),
    /// A side would be left without any path.
    #[error("wall {0} cuts {1} off from its goal row")]
    CutsOff(Wall, Color),
}

/// Why the parts do not make a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPosition {
    /// Both pawns on one square.
    #[error("both pawns stand on {0}")]
    SameSquare(Square),
    /// More than ten in hand.
    #[error("{0} has {1} walls left, more than 10")]
    TooManyInHand(Color, u8),
    /// More than twenty on the board.
    #[error("{0} walls stand on the board, more than 20")]
    TooManyWalls(u32),
    /// The same slot, or one that shares a segment.
    #[error("wall {0} overlaps {1}")]
    Overlaps(Wall, Wall),
    /// The other orientation in the same slot.
    #[error("wall {0} crosses {1}")]
    Crosses(Wall, Wall),
    /// A side has no path to its goal row.
    #[error("{0} is cut off from its goal row")]
    CutOff(Color),
    /// Both sides have reached their goal row.
    #[error("both sides stand on their goal row")]
    TwoWinners,
}

impl Position {
    /// The start: e1 against e9, ten walls each, White to move.
    #[must_use]
    pub fn start() -> Self {
        let mut position = Self {
            passages: Passages::open(),
            walls: [0; 2],
            keys: KeyPair::default(),
            pawns: [Square::E1, Square::E9],
            in_hand: [WALLS_EACH; 2],
            turn: Color::White,
        };
        position.keys = position.fresh_keys();
        position
    }

    /// A position from its parts; walls in any order.
    ///
    /// # Errors
    /// Names the first part that breaks an invariant of [`Position`].
    pub fn from_parts(
        walls: &[Wall],
        pawns: [Square; 2],
        in_hand: [u8; 2],
        turn: Color,
    ) -> Result<Self, InvalidPosition> {
        let mut position = Self { pawns, in_hand, turn, ..Self::start() };
        for color in Color::BOTH {
            let count = in_hand[color.index()];
            if count > WALLS_EACH {
                return Err(InvalidPosition::TooManyInHand(color, count));
            }
        }
        for &wall in walls {
            match position.obstacle(wall) {
                Some(other) if other.orientation() == wall.orientation() => {
                    return Err(InvalidPosition::Overlaps(wall, other));
                }
                Some(other) => return Err(InvalidPosition::Crosses(wall, other)),
                None => position.stand(wall),
            }
        }
        let standing = position.walls[0].count_ones() + position.walls[1].count_ones();
        if standing > u32::from(2 * WALLS_EACH) {
            return Err(InvalidPosition::TooManyWalls(standing));
        }
        if pawns[0] == pawns[1] {
            return Err(InvalidPosition::SameSquare(pawns[0]));
        }
        if pawns[0].row() == Color::White.goal_row() && pawns[1].row() == Color::Black.goal_row() {
            return Err(InvalidPosition::TwoWinners);
        }
        for color in Color::BOTH {
            if position.distance(color).is_none() {
                return Err(InvalidPosition::CutOff(color));
            }
        }
        position.keys = position.fresh_keys();
        Ok(position)
    }

    /// The side to move.
    #[inline(always)]
    #[must_use]
    pub const fn turn(&self) -> Color {
        self.turn
    }

    /// Where a side's pawn stands.
    #[inline(always)]
    #[must_use]
    pub const fn pawn(&self, color: Color) -> Square {
        self.pawns[color.index()]
    }

    /// Walls a side has in hand, 0..=10.
    #[inline(always)]
    #[must_use]
    pub const fn walls_in_hand(&self, color: Color) -> u8 {
        self.in_hand[color.index()]
    }

    /// The standing walls of one orientation, as bits row * 8 + column.
    #[inline(always)]
    #[must_use]
    pub const fn wall_slots(&self, orientation: Orientation) -> u64 {
        self.walls[orientation.index()]
    }

    /// Whether a wall stands.
    #[inline]
    #[must_use]
    pub const fn has_wall(&self, wall: Wall) -> bool {
        self.walls[wall.orientation().index()] & wall.bit() != 0
    }

    /// The standing walls in canonical order: horizontal ones first, each orientation by file, then rank.
    pub fn walls(&self) -> impl Iterator<Item = Wall> + '_ {
        Orientation::BOTH.into_iter().flat_map(move |orientation| {
            (0..64u8)
                .filter_map(move |i| Wall::new(orientation, i / 8, i % 8))
                .filter(move |&wall| self.has_wall(wall))
        })
    }

    /// Who has reached the goal row, if anybody.
    #[inline(always)]
    #[must_use]
    pub const fn winner(&self) -> Option<Color> {
        if self.pawns[0].index() >= 72 {
            Some(Color::White)
        } else if self.pawns[1].index() < 9 {
            Some(Color::Black)
        } else {
            None
        }
    }

    /// The key of the whole state, stable across builds.
    #[inline(always)]
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.keys.own
    }

    /// A key shared by a position and its left-right mirror image, and by no other.
    #[inline(always)]
    #[must_use]
    pub const fn canonical_key(&self) -> u64 {
        if self.keys.own < self.keys.mirrored { self.keys.own } else { self.keys.mirrored }
    }

    /// Whether this position, and not its mirror image, is the one that the canonical key stands for.
    #[inline(always)]
    #[must_use]
    pub const fn is_canonical(&self) -> bool {
        self.keys.own <= self.keys.mirrored
    }

    /// The left-right mirror image.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mut image = Self { pawns: self.pawns.map(Square::mirrored), ..*self };
        image.passages = Passages::open();
        image.walls = [0; 2];
        for wall in self.walls() {
            image.stand(wall.mirrored());
        }
        image.keys = KeyPair { own: self.keys.mirrored, mirrored: self.keys.own };
        image
    }

    /// Steps from a side's pawn to its goal row, walls respected, pawns ignored. `None` cannot happen in a valid position.
    #[inline]
    #[must_use]
    pub fn distance(&self, color: Color) -> Option<u8> {
        self.passages.distance(self.pawn(color).bit(), color.goal_mask())
    }

    /// All legal moves, pawn moves first; empty when the game has ended.
    #[inline]
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        movegen::legal_moves(self)
    }

    /// Whether a move is legal.
    #[must_use]
    pub fn is_legal(&self, mv: Move) -> bool {
        self.check(mv).is_ok()
    }

    /// The position after a move.
    ///
    /// # Errors
    /// Says why the move is illegal; the position is unchanged.
    pub fn play(&self, mv: Move) -> Result<Self, IllegalMove> {
        self.check(mv)?;
        Ok(self.after(mv))
    }

    /// The position after a move that is known to be legal. An illegal one breaks the invariants of the result.
    #[inline(always)]
    #[must_use]
    pub fn after(&self, mv: Move) -> Self {
        let mut next = *self;
        next.do_move(mv);
        next
    }

    /// Plays a move that is known to be legal in place; give the result to [`Self::undo_move`] to take it back.
    #[inline(always)]
    pub fn do_move(&mut self, mv: Move) -> Undo {
        let mover = self.turn;
        let undo = Undo { mv, from: self.pawn(mover), keys: self.keys };
        if let Some(wall) = mv.as_wall() {
            let count = self.in_hand[mover.index()];
            self.in_hand[mover.index()] = count - 1;
            self.keys.toggle(zobrist::in_hand(mover, count));
            self.keys.toggle(zobrist::in_hand(mover, count - 1));
            self.keys.toggle(zobrist::wall(wall));
            self.stand(wall);
        } else {
            let target = Square::from_bit_index(mv.index());
            self.keys.toggle(zobrist::pawn(mover, undo.from));
            self.keys.toggle(zobrist::pawn(mover, target));
            self.pawns[mover.index()] = target;
        }
        self.turn = !mover;
        self.keys.toggle(zobrist::black_to_move());
        undo
    }

    /// Takes back the last move, whose [`Undo`] this is.
    #[inline(always)]
    pub fn undo_move(&mut self, undo: Undo) {
        self.turn = !self.turn;
        self.keys = undo.keys;
        if let Some(wall) = undo.mv.as_wall() {
            self.in_hand[self.turn.index()] += 1;
            self.walls[wall.orientation().index()] &= !wall.bit();
            self.passages.open_wall(wall);
        } else {
            self.pawns[self.turn.index()] = undo.from;
        }
    }

    /// Why a move is illegal, if it is.
    fn check(&self, mv: Move) -> Result<(), IllegalMove> {
        if let Some(winner) = self.winner() {
            return Err(IllegalMove::GameOver(winner));
        }
        let Some(wall) = mv.as_wall() else {
            let target = Square::from_bit_index(mv.index());
            let reachable = movegen::pawn_targets(self) & target.bit() != 0;
            let unreachable = IllegalMove::Unreachable(target, self.pawn(self.turn), self.turn);
            return if reachable { Ok(()) } else { Err(unreachable) };
        };
        match self.obstacle(wall) {
            Some(other) if other.orientation() == wall.orientation() => {
                return Err(IllegalMove::Overlaps(wall, other));
            }
            Some(other) => return Err(IllegalMove::Crosses(wall, other)),
            None => {}
        }
        if self.in_hand[self.turn.index()] == 0 {
            return Err(IllegalMove::NoWallsLeft(self.turn, wall));
        }
        let passages = self.passages.with_wall(wall);
        for color in Color::BOTH {
            if passages.distance(self.pawn(color).bit(), color.goal_mask()).is_none() {
                return Err(IllegalMove::CutsOff(wall, color));
            }
        }
        Ok(())
    }

    /// A standing wall that overlaps or crosses `wall`, if there is one.
    fn obstacle(&self, wall: Wall) -> Option<Wall> {
        let along = match wall.orientation() {
            Orientation::Horizontal => [
                wall.column().checked_sub(1).map(|column| (column, wall.row())),
                Some((wall.column() + 1, wall.row())),
            ],
            Orientation::Vertical => [
                wall.row().checked_sub(1).map(|row| (wall.column(), row)),
                Some((wall.column(), wall.row() + 1)),
            ],
        };
        let overlapping = along
            .into_iter()
            .flatten()
            .filter_map(|(column, row)| Wall::new(wall.orientation(), column, row));
        std::iter::once(wall)
            .chain(overlapping)
            .chain([Wall::at(wall.orientation().crossing(), wall.slot())])
            .find(|&other| self.has_wall(other))
    }

    /// Puts a wall on the board, nothing else.
    #[inline(always)]
    fn stand(&mut self, wall: Wall) {
        self.walls[wall.orientation().index()] |= wall.bit();
        self.passages.close_wall(wall);
    }

    fn fresh_keys(&self) -> KeyPair {
        let mut keys = KeyPair::default();
        for color in Color::BOTH {
            keys.toggle(zobrist::pawn(color, self.pawn(color)));
            keys.toggle(zobrist::in_hand(color, self.walls_in_hand(color)));
        }
        for wall in self.walls() {
            keys.toggle(zobrist::wall(wall));
        }
        if self.turn == Color::Black {
            keys.toggle(zobrist::black_to_move());
        }
        keys
    }
}
