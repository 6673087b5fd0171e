//! Which positions a search of the book has still to do with.

use super::{Node, Searched};
use crate::job::{JobLimits, RootPrune};
use crate::score::Bound;
use crate::search::MAX_DEPTH;

/// What is wanted to be known of each position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// When a search stops.
    pub limits: JobLimits,
    /// How many lines get exact scores.
    pub multipv: u16,
    /// Which root moves are searched.
    pub prune: RootPrune,
    /// Values of another engine are not good enough.
    pub stale: bool,
    /// The present engine's epoch.
    pub engine: &'a str,
}

/// A search that a position still needs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// When it stops.
    pub limits: JobLimits,
    /// How many lines get exact scores.
    pub multipv: u16,
    /// Which root moves are searched.
    pub prune: RootPrune,
}

impl Wanted<'_> {
    /// The search that a position still needs; `None` if what is known is enough. A value that must be replaced, because it is
    /// stale or looks at too few root moves, is searched again at least as deep and as broadly as it was: nothing less would
    /// replace it.
    #[must_use]
    pub fn of(&self, node: &Node) -> Option<Order> {
        if node.is_over() {
            return None;
        }
        let order = Order { limits: self.limits, multipv: self.multipv, prune: self.prune };
        let Some(found) = node.searched() else { return Some(order) };
        let is_stale = self.stale && *found.engine != *self.engine;
        let is_broad = breadth(found.prune) >= breadth(self.prune) && found.multipv >= self.multipv;
        let is_known = found.is_proven() || (is_broad && found.bound == Bound::Exact);
        if !is_stale && is_known && (found.is_proven() || self.is_enough(node, found)) {
            return None;
        }
        if !is_stale && is_known {
            return Some(Order { limits: self.deeper_than(found), ..order });
        }
        let prune = [found.prune, self.prune].into_iter().max_by_key(|&prune| breadth(prune));
        Some(Order {
            limits: JobLimits {
                depth: Some(self.limits.depth.map_or(found.depth, |depth| depth.max(found.depth))),
                nodes: None,
                time: None,
            },
            multipv: self.multipv.max(found.multipv),
            prune: prune.unwrap_or(self.prune),
        })
    }

    fn deeper_than(&self, found: &Searched) -> JobLimits {
        JobLimits { depth: self.limits.depth.map(|depth| depth.max(found.depth)), ..self.limits }
    }

    /// Whether a search with these limits would be a repetition. Of several limits the first that is reached ends it.
    fn is_enough(&self, node: &Node, found: &Searched) -> bool {
        let JobLimits { depth, nodes, time } = self.limits;
        let reached = [
            depth.map(|depth| found.depth >= depth),
            nodes.map(|nodes| found.effort.nodes >= nodes),
            time.map(|time| u128::from(found.effort.ms) >= time.as_millis()),
        ];
        // A search of a position with one move ends as soon as that is scored, and none goes deeper than this.
        let is_done = found.depth >= MAX_DEPTH || node.position().legal_moves().len() == 1;
        is_done || reached.iter().all(Option::is_none) || reached.contains(&Some(true))
    }
}

/// How much of the root a search looks at.
pub(super) const fn breadth(prune: RootPrune) -> u8 {
    match prune {
        RootPrune::Cat => 0,
        RootPrune::Audit => 1,
        RootPrune::None => 2,
    }
}
