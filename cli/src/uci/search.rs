//! A search on a thread of its own, with its `info` lines and its `bestmove`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use corridor_shared::Position;
use corridor_shared::score::{Bound, Score, plies_to_win};
use corridor_shared::search::{
    Directive, IterationReport, Limits, MAX_DEPTH, RootLine, SearchHandler, ThreadPool,
};

use super::go::Order;
use super::options::Options;
use crate::failure::Failure;
use crate::{out, units};

/// A search that may still be running.
pub(super) struct RunningSearch {
    thread: JoinHandle<ThreadPool>,
    stop: Arc<AtomicBool>,
    infinite: bool,
}

impl RunningSearch {
    /// Starts it; the pool comes back with [`Self::join`].
    pub(super) fn start(
        pool: ThreadPool,
        position: Position,
        order: Order,
        options: &Options,
    ) -> Result<Self, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let infinite = order.infinite;
        let limits = Limits {
            depth: order.depth.unwrap_or(MAX_DEPTH),
            nodes: order.nodes,
            multipv: options.multi_pv,
            prune: options.prune,
        };
        let handler =
            Handler { started: Instant::now(), order, multi_pv: options.multi_pv, stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new()
            .name("uci search".to_owned())
            .spawn(move || search(pool, &position, &limits, handler))
            .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("start the search thread")))?;
        Ok(Self { thread, stop, infinite })
    }

    /// Whether only [`Self::stop`] ends it.
    pub(super) fn is_infinite(&self) -> bool {
        self.infinite
    }

    /// Asks it to end.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
    }

    /// Waits for its end. `None` if it panicked; the panic has been reported then.
    pub(super) fn join(self) -> Option<ThreadPool> {
        self.thread.join().ok()
    }
}

fn search(mut pool: ThreadPool, position: &Position, limits: &Limits, mut handler: Handler) -> ThreadPool {
    let infinite = handler.order.infinite;
    let stop = Arc::clone(&handler.stop);
    let report = pool.analyze(position, limits, &mut handler);
    // An infinite search may know all there is to know; its answer is due at `stop` all the same.
    while infinite && !stop.load(Ordering::Relaxed) {
        std::thread::park();
    }
    let best = report.best_move().map_or_else(|| "(none)".to_owned(), |mv| mv.to_string());
    // Without a reader there is nobody to tell; the input thread's end ends the process.
    let _ = out::line(&format!("bestmove {best}"));
    pool
}

/// Keeps the limits of time, hears `stop`, and writes what is found.
struct Handler {
    started: Instant,
    order: Order,
    multi_pv: usize,
    stop: Arc<AtomicBool>,
}

impl SearchHandler for Handler {
    fn poll(&mut self, _nodes: u64) -> Directive {
        let late = self.order.hard.is_some_and(|limit| self.started.elapsed() >= limit);
        if late || self.stop.load(Ordering::Relaxed) { Directive::Stop } else { Directive::Continue }
    }

    fn iteration(&mut self, report: &IterationReport) -> Directive {
        let elapsed = self.started.elapsed();
        for (index, line) in report.lines.iter().take(self.multi_pv).enumerate() {
            let pv: Vec<String> = line.pv.iter().map(ToString::to_string).collect();
            let info = format!(
                "info depth {} multipv {} score {} nodes {} nps {} time {} pv {}",
                report.depth,
                index + 1,
                score(line),
                report.nodes,
                units::per_second(report.nodes, elapsed),
                elapsed.as_millis(),
                pv.join(" ")
            );
            if out::line(&info).is_err() {
                return Directive::Stop;
            }
        }
        let enough = self.order.soft.is_some_and(|limit| elapsed >= limit);
        if enough || self.stop.load(Ordering::Relaxed) { Directive::Stop } else { Directive::Continue }
    }
}

/// `cp` in cm, or `mate` in full moves, negative for the side to move's loss.
fn score(line: &RootLine) -> String {
    let value = match plies_to_win(line.score) {
        None => format!("cp {}", line.score),
        Some(plies) => {
            let moves = Score::from(plies.div_ceil(2));
            format!("mate {}", if line.score > 0 { moves } else { -moves })
        }
    };
    match line.bound {
        Bound::Exact => value,
        Bound::Lower => format!("{value} lowerbound"),
        Bound::Upper => format!("{value} upperbound"),
    }
}
