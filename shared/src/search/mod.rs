//! The search: negamax alpha-beta with principal-variation search, iterative deepening and aspiration windows over a
//! shared transposition table, reductions by heat and a quiescence of path shocks.
//!
//! A [`Searcher`] is one thread's search: it owns history and caches and borrows a table that any number of searchers
//! share. It speaks to its owner through a [`SearchHandler`] alone, so that a cluster, a simulator or a terminal can drive
//! it: progress goes out, stop and new windows come in, and no clock is read here.
//!
//! Guarantees: the same table contents, options and handler answers give the same result; a score beyond
//! [`crate::score::MAX_CM`] is a proof, since a side that seems to lose is searched with *all* its legal moves before that
//! is believed; a score that comes from a repetition never enters the table; what is not completed is not reported.

mod alphabeta;
mod history;
mod iterative;
mod ordering;
mod quiescence;
mod race_cache;
mod reductions;
mod routes;
mod sharing;
mod smp;
mod split;
mod unit;

pub use alphabeta::Searcher;
pub use iterative::{IterationReport, RootLine, SearchReport, StoppedBy};
pub use reductions::{depth_without_move, late_move_reduction};
pub use smp::ThreadPool;
pub use split::{SplitMove, SplitMoves, split_moves};
pub use unit::{OpenNode, UnitOutcome, UnitSpec};

use crate::exchange::SharedEntry;
use crate::score::{INFINITE, Score};

/// The deepest line the search follows below its root, in plies.
pub const MAX_PLY: usize = 128;
/// The largest depth that may be asked for, in plies.
pub const MAX_DEPTH: u8 = 100;
/// The handler is asked about every so many nodes.
pub const POLL_NODES: u64 = 1_000;
/// Results that wait for the next [`SearchHandler::export`], at most: more than are found between two polls.
pub const EXPORT_BUFFER: usize = 4_096;
/// Nodes this deep ask for imported results of their mirror image too; shallower ones are searched sooner than asked for.
pub const IMPORT_PROBE_DEPTH: u8 = 3;

/// Which moves of a node are searched.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum PruneMode {
    /// What the Corridor Attention Table keeps (and everything before a loss is believed).
    #[default]
    Cat,
    /// All legal moves.
    None,
}

impl PruneMode {
    /// What was learned under another prune mode is another position's: its keys differ by this.
    #[inline(always)]
    pub(crate) const fn salt(self) -> u64 {
        match self {
            Self::Cat => 0,
            Self::None => 0x5bd1_e995_7f4a_7c15,
        }
    }
}

/// A window of scores, from the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Scores up to this do not matter.
    pub alpha: Score,
    /// Scores from this up do not matter.
    pub beta: Score,
}

impl Window {
    /// Every score.
    pub const FULL: Self = Self { alpha: -INFINITE, beta: INFINITE };

    /// A null window: is the score above `alpha`?
    #[must_use]
    pub const fn null(alpha: Score) -> Self {
        Self { alpha, beta: alpha + 1 }
    }
}

/// What the owner of a search wants from it now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Go on.
    Continue,
    /// Stop as soon as possible; what is not completed is dropped.
    Stop,
    /// Stop, and say what is done so far of each deep node on the current line, so that others can do the rest (units
    /// only; elsewhere the same as `Stop`).
    Shed,
    /// Go on with another window (units only). What the table learned is kept.
    Window(Window),
}

/// The owner of a search.
pub trait SearchHandler {
    /// Called about every [`POLL_NODES`] nodes with the nodes visited so far by this call. May block, to pace the search.
    fn poll(&mut self, nodes: u64) -> Directive;

    /// Called when an iteration of [`Searcher::analyze`] is complete. To stop there is to keep its result.
    fn iteration(&mut self, _report: &IterationReport) -> Directive {
        Directive::Continue
    }

    /// The depth, in plies, from which results are wanted by [`Self::export`]. Asked at the start of a call and after each
    /// poll; by default none are.
    fn export_floor(&mut self) -> u8 {
        u8::MAX
    }

    /// Takes results for others, at polls (before [`Self::poll`]) and at the end of a call, if there are any: at most
    /// [`EXPORT_BUFFER`] of them. What it leaves in the list is dropped.
    fn export(&mut self, entries: &mut Vec<SharedEntry>) {
        entries.clear();
    }
}

/// A handler that never interferes.
#[derive(Copy, Clone, Debug, Default)]
pub struct Undisturbed;

impl SearchHandler for Undisturbed {
    fn poll(&mut self, _nodes: u64) -> Directive {
        Directive::Continue
    }
}

/// When a search ends by itself, and what it answers. Time is the handler's business.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The last iteration, 1..=[`MAX_DEPTH`] plies.
    pub depth: u8,
    /// Nodes after which to stop, over all threads.
    pub nodes: Option<u64>,
    /// How many best moves get exact scores, at least 1.
    pub multipv: usize,
    /// Which moves are searched.
    pub prune: PruneMode,
}

impl Limits {
    /// One line to a depth (clamped to 1..=[`MAX_DEPTH`]) with the default pruning.
    #[must_use]
    pub fn depth(depth: u8) -> Self {
        Self { depth: depth.clamp(1, MAX_DEPTH), nodes: None, multipv: 1, prune: PruneMode::Cat }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::depth(MAX_DEPTH)
    }
}
