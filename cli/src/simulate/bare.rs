//! What everything is measured against: the search with one thread and one table, without a coordinator and without any
//! extra work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use corridor_shared::Position;
use corridor_shared::search::{Directive, IterationReport, Limits, MAX_DEPTH, SearchHandler, Searcher};
use corridor_shared::tt::TranspositionTable;

/// To which depth a position is searched.
#[derive(Copy, Clone, Debug)]
pub(super) enum Goal {
    /// This one.
    Depth(u8),
    /// The first that takes the bare search so many positions.
    Nodes(u64),
}

/// What the bare search took.
#[derive(Copy, Clone, Debug)]
pub(super) struct Bare {
    pub(super) depth: u8,
    pub(super) nodes: u64,
}

struct UntilGoal<'a> {
    goal: Goal,
    reached: Option<Bare>,
    stop: &'a AtomicBool,
}

impl SearchHandler for UntilGoal<'_> {
    fn poll(&mut self, _nodes: u64) -> Directive {
        if self.stop.load(Ordering::Relaxed) { Directive::Stop } else { Directive::Continue }
    }

    fn iteration(&mut self, report: &IterationReport) -> Directive {
        self.reached = Some(Bare { depth: report.depth, nodes: report.nodes });
        let enough = match self.goal {
            Goal::Depth(depth) => report.depth >= depth,
            Goal::Nodes(nodes) => report.nodes >= nodes,
        };
        if enough { Directive::Stop } else { Directive::Continue }
    }
}

/// Searches positions to a depth, one after the other, on one table. `None` when it was stopped before it got there.
pub(super) fn search_all(
    positions: &[Position],
    depth: u8,
    table: &Arc<TranspositionTable>,
    stop: &AtomicBool,
) -> Option<Bare> {
    let mut searcher = Searcher::new(Arc::clone(table));
    let mut nodes = 0;
    for position in positions {
        table.new_generation();
        let mut handler = UntilGoal { goal: Goal::Depth(depth), reached: None, stop };
        nodes += searcher.analyze(position, &Limits::depth(depth), &mut handler).nodes;
        if stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    Some(Bare { depth, nodes })
}

/// Searches a position on a fresh table. `None` when it was stopped before it got there.
pub(super) fn search(
    position: &Position,
    goal: Goal,
    table: Arc<TranspositionTable>,
    stop: &AtomicBool,
) -> Option<Bare> {
    let mut handler = UntilGoal { goal, reached: None, stop };
    Searcher::new(table).analyze(position, &Limits::depth(MAX_DEPTH), &mut handler);
    handler.reached.filter(|_| !stop.load(Ordering::Relaxed))
}
