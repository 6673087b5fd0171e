//! The moves of a node for whoever splits it: the same moves in the same order as the search itself would try them, as far
//! as heat alone tells.

use super::PruneMode;
use super::history::History;
use super::ordering::{Candidates, Hints, NodeHeat};
use super::routes::Routes;
use crate::board::{Move, Position};

/// A move of a split node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SplitMove {
    /// The move.
    pub mv: Move,
    /// Heat of its square, or of its wall with the shape bonus, in cm.
    pub heat_cm: u16,
    /// Never reduced.
    pub tactical: bool,
}

/// The moves of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMoves {
    /// Those that are searched, most promising first.
    pub searched: Vec<SplitMove>,
    /// The other legal ones, which are searched before a loss is believed.
    pub pruned: Vec<SplitMove>,
}

/// The moves of a position that is not decided.
#[must_use]
pub fn split_moves(position: &Position, prune: PruneMode) -> SplitMoves {
    let heat = NodeHeat::new(position);
    let routes = Routes::fresh(position);
    let history = History::new();
    let all = prune == PruneMode::None;
    let mut candidates = Candidates::new(position, &routes, &heat, &history, Hints::default(), all);
    let searched = rest(&mut candidates);
    candidates.add_pruned(&heat, &history, position.turn());
    SplitMoves { searched, pruned: rest(&mut candidates) }
}

fn rest(candidates: &mut Candidates) -> Vec<SplitMove> {
    let picked = std::iter::from_fn(|| candidates.pick());
    picked.map(|it| SplitMove { mv: it.mv, heat_cm: it.heat_cm, tactical: it.tactical }).collect()
}
