//! Lazy SMP: threads that search the same root on one table, each at its own pace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Directive, IterationReport, Limits, SearchHandler, SearchReport, Searcher};
use crate::board::Position;
use crate::exchange::SharedEntry;
use crate::tt::TranspositionTable;

/// Search threads on a shared table.
pub struct ThreadPool {
    main: Searcher,
    helpers: Vec<Searcher>,
}

/// What the threads of one search share besides the table.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    helper_nodes: AtomicU64,
}

impl ThreadPool {
    /// So many threads (at least one) on a table.
    #[must_use]
    pub fn new(threads: usize, table: &Arc<TranspositionTable>) -> Self {
        let helpers = (1..threads).map(|_| Searcher::new(Arc::clone(table))).collect();
        Self { main: Searcher::new(Arc::clone(table)), helpers }
    }

    /// Forgets everything, the table included.
    pub fn clear(&mut self) {
        self.main.table().clear();
        self.main.clear();
        for helper in &mut self.helpers {
            helper.clear();
        }
    }

    /// As [`Searcher::analyze`], with all threads. Nodes are those of all threads.
    pub fn analyze(
        &mut self,
        position: &Position,
        limits: &Limits,
        handler: &mut dyn SearchHandler,
    ) -> SearchReport {
        self.main.table().new_generation();
        if self.helpers.is_empty() {
            return self.main.analyze(position, limits, handler);
        }
        let shared = Shared::default();
        let own_limits = Limits { nodes: None, ..*limits };
        let mut report = std::thread::scope(|scope| {
            for (index, helper) in self.helpers.iter_mut().enumerate() {
                let (shared, limits) = (&shared, &own_limits);
                // Every other helper begins one iteration later, so that they do not all do the same.
                let first_depth = 1 + u8::from(index % 2 == 0);
                scope.spawn(move || {
                    let mut handler = Helper { shared, reported: 0 };
                    helper.analyze_from(position, limits, first_depth, &mut handler);
                });
            }
            let mut handler = Main { shared: &shared, owner: handler, node_limit: limits.nodes };
            let report = self.main.analyze(position, &own_limits, &mut handler);
            shared.stop.store(true, Ordering::Relaxed);
            report
        });
        report.nodes += shared.helper_nodes.load(Ordering::Relaxed);
        report
    }
}

/// Passes the owner's wishes on, with the nodes of all threads.
struct Main<'h> {
    shared: &'h Shared,
    owner: &'h mut dyn SearchHandler,
    node_limit: Option<u64>,
}

impl SearchHandler for Main<'_> {
    fn poll(&mut self, nodes: u64) -> Directive {
        let nodes = nodes + self.shared.helper_nodes.load(Ordering::Relaxed);
        if self.node_limit.is_some_and(|limit| nodes >= limit) {
            Directive::Stop
        } else {
            self.owner.poll(nodes)
        }
    }

    fn iteration(&mut self, report: &IterationReport) -> Directive {
        let nodes = report.nodes + self.shared.helper_nodes.load(Ordering::Relaxed);
        self.owner.iteration(&IterationReport { nodes, ..report.clone() })
    }

    // What helpers find stays in the table.
    fn export_floor(&mut self) -> u8 {
        self.owner.export_floor()
    }

    fn export(&mut self, entries: &mut Vec<SharedEntry>) {
        self.owner.export(entries);
    }
}

/// Runs until the main thread is done.
struct Helper<'h> {
    shared: &'h Shared,
    reported: u64,
}

impl Helper<'_> {
    fn directive(&self) -> Directive {
        if self.shared.stop.load(Ordering::Relaxed) { Directive::Stop } else { Directive::Continue }
    }
}

impl SearchHandler for Helper<'_> {
    fn poll(&mut self, nodes: u64) -> Directive {
        self.shared.helper_nodes.fetch_add(nodes - self.reported, Ordering::Relaxed);
        self.reported = nodes;
        self.directive()
    }

    fn iteration(&mut self, _report: &IterationReport) -> Directive {
        self.directive()
    }
}
