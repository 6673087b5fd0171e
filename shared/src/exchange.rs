//! What searches that share no memory tell each other: single results of the transposition table.
//!
//! A [`SharedEntry`] stands for a position and its left-right mirror image alike. It leaves a search through
//! [`SearchHandler::export`](crate::search::SearchHandler::export) and enters another's table through
//! [`TranspositionTable::import`](crate::tt::TranspositionTable::import). What holds on one path only (a repetition below) is
//! never in one.

mod linger;
mod queue;

pub use linger::Linger;
pub use queue::DepthQueue;

use crate::board::{Color, Move, Position};
use crate::score::{Bound, MAX_CM, Score};
use crate::search::PruneMode;

/// One position's result, in the orientation that its canonical key stands for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SharedEntry {
    /// The table's key of the canonical position, as [`shared_key`] gives it.
    pub key: u64,
    /// The side to move.
    pub turn: Color,
    /// From the side to move; a win counts from the position.
    pub score: Score,
    /// What the score bounds, from the side to move.
    pub bound: Bound,
    /// Plies searched below the position.
    pub depth: u8,
    /// The best move known, on the canonical board.
    pub mv: Option<Move>,
}

/// The key under which results of a position and of its mirror image are shared. Prune modes do not mix.
#[inline]
#[must_use]
pub const fn shared_key(position: &Position, prune: PruneMode) -> u64 {
    position.canonical_key() ^ prune.salt()
}

/// A move of a position as it is on the canonical board, or back: the mirror image of a mirror image is the original.
#[inline]
#[must_use]
pub fn folded(position: &Position, mv: Option<Move>) -> Option<Move> {
    if position.is_canonical() { mv } else { mv.map(Move::mirrored) }
}

impl SharedEntry {
    /// How much a result is worth beside another one of the same position: deeper wins, at equal depth exact beats a bound.
    /// A proof holds at any depth, and so counts as the deepest.
    #[inline]
    #[must_use]
    pub const fn rank(&self) -> Rank {
        Rank::of(self.score, self.bound, self.depth)
    }
}

/// The worth of a result, the least first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    proof: bool,
    depth: u8,
    exact: bool,
}

impl Rank {
    /// The rank of a score of the side to move, searched to a depth.
    #[inline]
    #[must_use]
    pub const fn of(score: Score, bound: Bound, depth: u8) -> Self {
        // At most a win, or at least a loss, says nothing.
        let proof = match bound {
            Bound::Exact => score > MAX_CM || score < -MAX_CM,
            Bound::Lower => score > MAX_CM,
            Bound::Upper => score < -MAX_CM,
        };
        Self { proof, depth, exact: matches!(bound, Bound::Exact) }
    }

    /// Ten bits that are in the same order as ranks.
    #[inline]
    #[must_use]
    pub fn to_bits(self) -> u16 {
        u16::from(self.proof) << 9 | u16::from(self.depth) << 1 | u16::from(self.exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::win_in;

    #[test]
    fn deeper_wins_then_exact_and_proofs_beat_all() {
        let by_worth = [
            Rank::of(-win_in(9), Bound::Lower, 3),
            Rank::of(120, Bound::Exact, 3),
            Rank::of(120, Bound::Upper, 4),
            Rank::of(120, Bound::Exact, 4),
            Rank::of(win_in(9), Bound::Upper, 90),
            Rank::of(-win_in(9), Bound::Upper, 1),
            Rank::of(win_in(9), Bound::Exact, 1),
            Rank::of(win_in(7), Bound::Lower, 2),
        ];
        assert!(by_worth.is_sorted_by(|a, b| a < b && a.to_bits() < b.to_bits()), "{by_worth:?}");
    }

    #[test]
    fn mirror_images_share_a_key_and_a_move() {
        let position = Position::start().play("d3h".parse().unwrap()).unwrap();
        let image = position.mirrored();
        assert_ne!(position.key(), image.key());
        for prune in [PruneMode::Cat, PruneMode::None] {
            assert_eq!(shared_key(&position, prune), shared_key(&image, prune));
        }
        assert_ne!(shared_key(&position, PruneMode::Cat), shared_key(&position, PruneMode::None));
        let mv: Move = "c3h".parse().unwrap();
        assert_eq!(folded(&position, Some(mv)), folded(&image, Some(mv.mirrored())));
        assert_eq!(folded(&position, folded(&position, Some(mv))), Some(mv));
    }
}
