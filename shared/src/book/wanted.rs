//! Which positions a search of the book has still to do with.

use super::{Node, Searched};
use crate::job::{JobLimits, RootPrune};
use crate::score::Bound;

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

impl Wanted<'_> {
    /// The limits of the search that a position still needs; `None` if what is known is enough. A stale value is searched
    /// again at least as deep as it was, or it would not be replaced.
    #[must_use]
    pub fn of(&self, node: &Node) -> Option<JobLimits> {
        if node.is_over() {
            return None;
        }
        let Some(found) = node.searched() else { return Some(self.limits) };
        let is_stale = self.stale && *found.engine != *self.engine;
        if !is_stale && self.is_enough(node, found) {
            return None;
        }
        let depth = self.limits.depth.map(|depth| depth.max(found.depth));
        Some(JobLimits { depth, ..self.limits })
    }

    fn is_enough(&self, node: &Node, found: &Searched) -> bool {
        if found.is_proven() {
            return true;
        }
        // A search of a position with one move ends as soon as that is scored.
        let is_forced = node.position().legal_moves().len() == 1;
        let is_deep = self.limits.depth.is_none_or(|depth| is_forced || found.depth >= depth);
        let has_visited = self.limits.nodes.is_none_or(|nodes| is_forced || found.nodes >= nodes);
        // Of several limits the first that is reached ends a search.
        let limited = [self.limits.depth.is_some(), self.limits.nodes.is_some()];
        let is_done = match limited {
            [true, true] => is_deep || has_visited,
            _ => is_deep && has_visited,
        };
        let is_broad = breadth(found.prune) >= breadth(self.prune) && found.multipv >= self.multipv;
        is_done && is_broad && found.bound == Bound::Exact
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
