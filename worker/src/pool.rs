//! The search threads: plain threads, one a slot, that share one transposition table and take units from one queue.
//!
//! A thread never waits for a message: the next unit is in the queue already. It reads stop flag and window of its unit
//! about every thousand positions. A search that panics fails its unit, not the worker.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use corridor_shared::board::{Color, Move, Position};
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::{
    DETERMINISTIC_TABLE_BYTES, Line, ShedNode, Unit, UnitIteration, UnitProgress, UnitReport, WhiteWindow,
};
use corridor_shared::score::{Bound, Score, WhiteScore};
use corridor_shared::search::{
    Directive, IterationReport, Limits, OpenNode, RootLine, SearchHandler, Searcher, StoppedBy, UnitSpec,
    Window,
};
use corridor_shared::tt::TranspositionTable;
use tokio::sync::mpsc;

use crate::exchange::Outbox;
use crate::limits::{LONG_SEARCH, UNIT_QUEUE};

/// A unit in the pool, from its grant to its outcome.
#[derive(Debug)]
pub(crate) struct Task {
    unit: Unit,
    stop: AtomicBool,
    /// No report is wanted.
    unwanted: AtomicBool,
    /// Others are to have the rest of it.
    shed: AtomicBool,
    window: Mutex<WhiteWindow>,
    /// Grows with each new window, so that the search looks at the lock only then.
    window_version: AtomicU32,
    nodes: AtomicU64,
    /// The last depth that a whole unit has completed, until somebody asks.
    reached: Mutex<Option<UnitIteration>>,
}

impl Task {
    pub(crate) const fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Stops it; with `unwanted`, without a report.
    pub(crate) fn stop(&self, unwanted: bool) {
        self.unwanted.fetch_or(unwanted, Ordering::Relaxed);
        self.stop.store(true, Ordering::Release);
    }

    /// Stops it with a report of what is done of it.
    pub(crate) fn shed(&self) {
        self.shed.store(true, Ordering::Release);
    }

    /// Gives it a new window, whether it waits or runs.
    pub(crate) fn set_window(&self, window: WhiteWindow) {
        *lock(&self.window) = window;
        self.window_version.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn progress(&self) -> UnitProgress {
        UnitProgress {
            unit: self.unit.unit,
            attempt: self.unit.attempt,
            nodes: self.nodes.load(Ordering::Relaxed),
        }
    }

    /// What a whole unit has completed since this was asked last.
    pub(crate) fn take_reached(&self) -> Option<UnitIteration> {
        lock(&self.reached).take()
    }

    pub(crate) fn is_wanted(&self) -> bool {
        !self.unwanted.load(Ordering::Relaxed)
    }
}

/// How a unit ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) task: Arc<Task>,
    /// What it found, or why it could not be searched.
    pub(crate) result: Result<UnitReport, String>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Arc<Task>>,
    closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
    table: Arc<TranspositionTable>,
    /// Job of the latest unit: a new job is a new generation in the table.
    job: AtomicU64,
    outbox: Arc<Outbox>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these locks, and all of them guard plain values.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The search threads.
///
/// They end when the pool is closed and its queue is empty; the channel of outcomes ends with the last of them.
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

impl Pool {
    /// Starts a thread for each slot. Outcomes go to the channel, results for others to the outbox.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        slots: u32,
        table: Arc<TranspositionTable>,
        outbox: Arc<Outbox>,
        outcomes: &mpsc::Sender<Outcome>,
    ) -> std::io::Result<Self> {
        Self::start_with(search, slots, table, outbox, outcomes)
    }

    /// The same with another search.
    pub(crate) fn start_with(
        search: SearchUnit,
        slots: u32,
        table: Arc<TranspositionTable>,
        outbox: Arc<Outbox>,
        outcomes: &mpsc::Sender<Outcome>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            ready: Condvar::new(),
            table,
            job: AtomicU64::new(0),
            outbox,
        });
        let spawn = |slot| {
            let (shared, outcomes) = (Arc::clone(&shared), outcomes.clone());
            let body = move || run(search, &shared, &outcomes);
            std::thread::Builder::new().name(format!("search-{slot}")).spawn(body)
        };
        for slot in 0..slots {
            spawn(slot)?;
        }
        Ok(Self { shared })
    }

    /// Puts a unit into the queue.
    ///
    /// # Errors
    /// The queue is full.
    pub(crate) fn push(&self, unit: Unit) -> Result<Arc<Task>, String> {
        let mut queue = lock(&self.shared.queue);
        if queue.waiting.len() >= UNIT_QUEUE {
            return Err(format!("unit_queue {UNIT_QUEUE} is full"));
        }
        let task = Arc::new(Task {
            window: Mutex::new(unit.window),
            unit,
            stop: AtomicBool::new(false),
            unwanted: AtomicBool::new(false),
            shed: AtomicBool::new(false),
            window_version: AtomicU32::new(0),
            nodes: AtomicU64::new(0),
            reached: Mutex::default(),
        });
        queue.waiting.push_back(Arc::clone(&task));
        drop(queue);
        self.shared.ready.notify_one();
        Ok(task)
    }

    /// Whether units wait for a thread.
    pub(crate) fn has_waiting(&self) -> bool {
        !lock(&self.shared.queue).waiting.is_empty()
    }

    /// Tells the threads to end when their queue is empty.
    pub(crate) fn close(&self) {
        lock(&self.shared.queue).closed = true;
        self.shared.ready.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

/// How a thread searches a unit.
pub(crate) type SearchUnit = fn(&mut Searchers, &Task, &Outbox) -> Result<UnitReport, String>;

/// What a thread searches with.
pub(crate) struct Searchers {
    /// For ordinary units, on the table of all threads.
    sharing: Searcher,
    /// The small table of deterministic units, from the first of them on. It is cleared for each and kept: an allocator that
    /// is asked for so much again and again keeps several of them, more than a small container has.
    alone: Option<Arc<TranspositionTable>>,
}

impl Searchers {
    fn new(table: &Arc<TranspositionTable>) -> Self {
        Self { sharing: Searcher::new(Arc::clone(table)), alone: None }
    }

    /// A searcher that knows nothing.
    fn fresh(&mut self) -> Result<Searcher, String> {
        let table = match self.alone.take() {
            Some(table) => {
                table.clear();
                table
            }
            None => Arc::new(
                TranspositionTable::new(DETERMINISTIC_TABLE_BYTES).map_err(|error| error.to_string())?,
            ),
        };
        Ok(Searcher::new(Arc::clone(self.alone.insert(table))))
    }
}

/// A thread's life.
fn run(search: SearchUnit, shared: &Shared, outcomes: &mpsc::Sender<Outcome>) {
    let mut searchers = Searchers::new(&shared.table);
    while let Some(task) = next(shared) {
        if shared.job.swap(task.unit.job.0, Ordering::Relaxed) != task.unit.job.0 {
            shared.table.new_generation();
        }
        let searched = catch_unwind(AssertUnwindSafe(|| search(&mut searchers, &task, &shared.outbox)));
        let result = searched.unwrap_or_else(|panic| {
            // What the search left behind cannot be trusted.
            searchers = Searchers::new(&shared.table);
            Err(format!("the search panicked: {}", panic_text(panic.as_ref())))
        });
        if outcomes.blocking_send(Outcome { task, result }).is_err() {
            return;
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

fn next(shared: &Shared) -> Option<Arc<Task>> {
    let mut queue = lock(&shared.queue);
    loop {
        if let Some(task) = queue.waiting.pop_front() {
            return Some(task);
        }
        if queue.closed {
            return None;
        }
        queue = shared.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Searches a unit on this thread.
fn search(searchers: &mut Searchers, task: &Task, outbox: &Outbox) -> Result<UnitReport, String> {
    let unit = &task.unit;
    if task.stop.load(Ordering::Acquire) {
        return Ok(unfinished(unit));
    }
    let turn = unit.turn();
    // A deterministic unit knows nothing of others, and tells them nothing.
    let outbox = (!unit.deterministic).then_some(outbox);
    if outbox.is_some() {
        unit.seeds.iter().for_each(|seed| searchers.sharing.table().import(seed));
    }
    let seen_version = task.window_version.load(Ordering::Acquire);
    let window = lock(&task.window).to_engine(turn);
    let started = Instant::now();
    let mut handler = Handler { task, turn, seen_version, outbox, started };
    let report = if unit.deterministic {
        search_unit(&mut searchers.fresh()?, unit, window, &mut handler)
    } else {
        search_unit(&mut searchers.sharing, unit, window, &mut handler)
    };
    Ok(UnitReport { search_time: started.elapsed(), ..report? })
}

/// Searches a unit with a window that may have changed since it was granted. The report tells no time.
///
/// # Errors
/// The unit's path cannot be played.
pub fn search_unit(
    searcher: &mut Searcher,
    unit: &Unit,
    window: Window,
    handler: &mut dyn SearchHandler,
) -> Result<UnitReport, String> {
    check_path(unit)?;
    if let Some(multipv) = unit.whole {
        return Ok(search_whole(searcher, unit, multipv, handler));
    }
    let turn = unit.turn();
    let spec = UnitSpec {
        depth: unit.depth,
        window,
        prune: unit.prune,
        node_budget: unit.node_budget,
        hint: &unit.pv_hint,
    };
    let outcome = searcher.search_unit(&unit.root, &unit.path, &spec, handler);
    let score = (WhiteScore::from_engine(outcome.score, turn), outcome.bound.from_white(turn));
    Ok(UnitReport {
        score: outcome.completed.then_some(score),
        pv: outcome.pv,
        nodes: outcome.nodes,
        completed: outcome.completed,
        path_dependent: outcome.path_dependent,
        open: shed_nodes(&outcome.open, turn),
        ..unfinished(unit)
    })
}

/// Analyses the root of a whole unit, from depth 1 on.
fn search_whole(
    searcher: &mut Searcher,
    unit: &Unit,
    multipv: u16,
    handler: &mut dyn SearchHandler,
) -> UnitReport {
    let limits = Limits {
        depth: unit.depth,
        nodes: unit.node_budget,
        multipv: usize::from(multipv),
        prune: unit.prune,
    };
    let found = searcher.analyze(&unit.root, &limits, handler);
    // The budget is a limit like depth; only whoever was stopped has not ended.
    let is_spent = unit.node_budget.is_some_and(|budget| found.nodes >= budget);
    let completed = found.stopped_by != StoppedBy::Stop || is_spent;
    let lines = lines(&found.last, unit.root.turn());
    UnitReport {
        score: lines.first().map(|best| (best.score_white, best.bound)),
        pv: lines.first().map(|best| best.pv.clone()).unwrap_or_default(),
        nodes: found.nodes,
        completed: completed && !lines.is_empty(),
        lines,
        ..unfinished(unit)
    }
}

/// A completed depth, as it is told.
fn lines(iteration: &IterationReport, turn: Color) -> Vec<Line> {
    let line = |line: &RootLine| Line {
        mv: line.mv,
        score_white: WhiteScore::from_engine(line.score, turn),
        bound: line.bound.from_white(turn),
        depth: iteration.depth,
        pv: line.pv.clone(),
        nodes: line.nodes,
        heat_cm: line.heat_cm,
    };
    iteration.lines.iter().map(line).collect()
}

/// Whether a report may wait for others to travel with: it says of a move that it was refuted, which most are.
#[must_use]
pub fn may_wait(report: &UnitReport, turn: Color) -> bool {
    if !report.lines.is_empty() {
        // A position of many, and the next one is there already.
        return report.completed;
    }
    let refuted = report.score.is_some_and(|(_, bound)| bound.from_white(turn) == Bound::Lower);
    report.completed && refuted
}

/// What is done of a unit that sheds, from White's view.
fn shed_nodes(open: &[OpenNode], turn: Color) -> Vec<ShedNode> {
    let mut turn = turn;
    let mut nodes = Vec::with_capacity(open.len());
    for node in open {
        let child = |&(mv, score, bound): &(Move, Score, Bound)| {
            (mv, WhiteScore::from_engine(score, turn), bound.from_white(turn))
        };
        nodes.push(ShedNode { current: node.current, done: node.done.iter().map(child).collect() });
        turn = !turn;
    }
    nodes
}

/// The report of a unit that was never searched.
const fn unfinished(unit: &Unit) -> UnitReport {
    UnitReport {
        unit: unit.unit,
        attempt: unit.attempt,
        score: None,
        pv: Vec::new(),
        nodes: 0,
        completed: false,
        search_time: std::time::Duration::ZERO,
        path_dependent: false,
        lines: Vec::new(),
        open: Vec::new(),
    }
}

/// Whether the path can be played: the search itself trusts it.
fn check_path(unit: &Unit) -> Result<(), String> {
    let mut position: Position = unit.root;
    for (index, &mv) in unit.path.iter().enumerate() {
        position = position.play(mv).map_err(|fault| format!("path[{index}]: {fault}"))?;
    }
    Ok(())
}

/// What a running search asks about every thousand positions.
struct Handler<'a> {
    task: &'a Task,
    turn: Color,
    seen_version: u32,
    outbox: Option<&'a Outbox>,
    started: Instant,
}

impl SearchHandler for Handler<'_> {
    fn iteration(&mut self, report: &IterationReport) -> Directive {
        // What was quick is quick again.
        if self.task.unit.whole.is_some() && self.started.elapsed() >= LONG_SEARCH {
            *lock(&self.task.reached) = Some(UnitIteration {
                unit: self.task.unit.unit,
                attempt: self.task.unit.attempt,
                lines: lines(report, self.turn),
                nodes: report.nodes,
            });
        }
        Directive::Continue
    }

    fn poll(&mut self, nodes: u64) -> Directive {
        self.task.nodes.store(nodes, Ordering::Relaxed);
        if self.task.stop.load(Ordering::Acquire) {
            return Directive::Stop;
        }
        if self.task.shed.load(Ordering::Acquire) {
            return Directive::Shed;
        }
        let version = self.task.window_version.load(Ordering::Acquire);
        if version == self.seen_version {
            return Directive::Continue;
        }
        self.seen_version = version;
        Directive::Window(lock(&self.task.window).to_engine(self.turn))
    }

    fn export_floor(&mut self) -> u8 {
        self.outbox.map_or(u8::MAX, Outbox::floor)
    }

    fn export(&mut self, entries: &mut Vec<SharedEntry>) {
        if let Some(outbox) = self.outbox {
            outbox.put(entries, self.task.unit.whole.is_some());
        }
        entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use corridor_shared::exchange::shared_key;
    use corridor_shared::job::{Attempt, JobId, UnitId};
    use corridor_shared::search::PruneMode;

    use super::*;

    fn unit(number: u64, depth: u8) -> Unit {
        Unit {
            job: JobId(1),
            unit: UnitId(number),
            attempt: Attempt::FIRST,
            root: Position::start(),
            path: vec!["e2".parse().expect("a move")],
            depth,
            window: WhiteWindow::default(),
            node_budget: None,
            pv_hint: Vec::new(),
            deterministic: false,
            prune: PruneMode::Cat,
            traceparent: None,
            speculative: false,
            seeds: Vec::new(),
            whole: None,
        }
    }

    fn table() -> Arc<TranspositionTable> {
        Arc::new(TranspositionTable::new(1 << 20).expect("a table"))
    }

    fn next(outcomes: &mut mpsc::Receiver<Outcome>) -> Outcome {
        outcomes.blocking_recv().expect("an outcome")
    }

    #[test]
    fn units_are_searched_in_order_and_stopped_on_demand() {
        let (sender, mut outcomes) = mpsc::channel(8);
        let pool = Pool::start(1, table(), Arc::new(Outbox::new()), &sender).expect("threads");
        drop(sender);
        pool.push(unit(1, 2)).expect("room");
        let endless = pool.push(unit(2, 60)).expect("room");
        let waiting = pool.push(unit(3, 60)).expect("room");
        let first = next(&mut outcomes);
        assert!(first.result.is_ok_and(|report| report.completed && report.nodes > 0));
        // A new window, open to nothing, ends nothing; a stop does, for the running one and the waiting one.
        endless.set_window(WhiteWindow { low: Some(WhiteScore::Cm(0)), high: Some(WhiteScore::Cm(1)) });
        waiting.stop(true);
        endless.stop(false);
        for (task, wanted) in [(endless, true), (waiting, false)] {
            let outcome = next(&mut outcomes);
            assert!(Arc::ptr_eq(&outcome.task, &task) && outcome.task.is_wanted() == wanted);
            assert!(outcome.result.is_ok_and(|report| !report.completed && report.score.is_none()));
        }
        drop(pool);
        assert!(outcomes.blocking_recv().is_none(), "threads end with their pool");
    }

    #[test]
    fn only_refutations_may_wait() {
        let report = |bound, completed| UnitReport {
            score: Some((WhiteScore::Cm(3), bound)),
            completed,
            ..unfinished(&unit(1, 2))
        };
        // A side that finds a score at or above its window refutes the move that led there; Black's is low for White.
        assert!(may_wait(&report(Bound::Lower, true), Color::White));
        assert!(may_wait(&report(Bound::Upper, true), Color::Black));
        for (bound, turn) in [
            (Bound::Upper, Color::White),
            (Bound::Lower, Color::Black),
            (Bound::Exact, Color::White),
            (Bound::Exact, Color::Black),
        ] {
            assert!(!may_wait(&report(bound, true), turn));
        }
        assert!(!may_wait(&report(Bound::Lower, false), Color::White));
        assert!(!may_wait(&unfinished(&unit(1, 2)), Color::White));
    }

    #[test]
    fn a_panic_fails_its_unit_and_the_thread_goes_on() {
        let (sender, mut outcomes) = mpsc::channel(8);
        let odd_ones_panic: SearchUnit = |searchers, task, outbox| {
            assert!(task.unit().unit.0.is_multiple_of(2), "an odd unit");
            search(searchers, task, outbox)
        };
        let outbox = Arc::new(Outbox::new());
        let pool = Pool::start_with(odd_ones_panic, 1, table(), outbox, &sender).expect("threads");
        for number in 1..=4 {
            pool.push(unit(number, 2)).expect("room");
        }
        for number in 1..=4_u64 {
            let outcome = next(&mut outcomes);
            match outcome.result {
                Ok(report) => assert!(number.is_multiple_of(2) && report.completed),
                Err(message) => assert!(message.contains("panicked: an odd unit"), "{message}"),
            }
        }
    }

    #[test]
    fn impossible_units_fail_with_a_reason() {
        let (sender, mut outcomes) = mpsc::channel(8);
        let pool = Pool::start(1, table(), Arc::new(Outbox::new()), &sender).expect("threads");
        let illegal = Unit { path: vec!["e2".parse().expect("a move"); 2], ..unit(1, 2) };
        pool.push(illegal).expect("room");
        let message = next(&mut outcomes).result.expect_err("illegal");
        assert!(message.starts_with("path[1]: "), "{message}");
    }

    /// The same units in another order, on a thread that has searched others before, are the same searches.
    #[test]
    fn deterministic_units_know_nothing_of_each_other() {
        let numbers_and_depths = [(1, 5), (2, 6), (3, 5), (4, 6), (5, 5)];
        let (sender, mut outcomes) = mpsc::channel(8);
        let pool = Pool::start(1, table(), Arc::new(Outbox::new()), &sender).expect("threads");
        let reports = numbers_and_depths.map(|(number, depth)| {
            pool.push(Unit { deterministic: true, ..unit(number, depth) }).expect("room");
            let report = next(&mut outcomes).result.expect("a report");
            (depth, report.nodes, report.score, report.pv)
        });
        let (shallow, deep) = (&reports[0], &reports[1]);
        assert!(shallow.1 > 0 && deep.1 > shallow.1, "{reports:?}");
        for report in &reports[2..] {
            assert_eq!(report, if report.0 == 5 { shallow } else { deep });
        }
    }

    #[test]
    fn the_small_table_is_made_once() {
        let mut searchers = Searchers::new(&table());
        let first = Arc::as_ptr(searchers.fresh().expect("a searcher").table());
        assert_eq!(first, Arc::as_ptr(searchers.fresh().expect("a searcher").table()));
        assert_eq!(searchers.alone.map(|table| table.bytes()), Some(DETERMINISTIC_TABLE_BYTES));
    }

    /// What one worker exports of a unit is, as a seed, the answer at another.
    #[test]
    fn results_leave_through_the_outbox_and_seeds_come_in() {
        let (sender, mut outcomes) = mpsc::channel(8);
        let outbox = Arc::new(Outbox::new());
        let pool = Pool::start(1, table(), Arc::clone(&outbox), &sender).expect("threads");
        pool.push(unit(1, 5)).expect("room");
        let first = next(&mut outcomes).result.expect("a report");
        assert_eq!(outbox.take(usize::MAX), [], "nobody wanted anything");
        outbox.want(4);
        pool.push(unit(2, 6)).expect("room");
        let second = next(&mut outcomes).result.expect("a report");
        let entries = outbox.take(usize::MAX);
        assert!(!entries.is_empty() && entries.iter().all(|entry| entry.depth >= 4));
        let position = unit(2, 6).root.after(unit(2, 6).path[0]);
        let seed = entries
            .iter()
            .find(|entry| entry.key == shared_key(&position, PruneMode::Cat) && entry.depth == 6);
        let seed = *seed.expect("the unit's own position");
        let (score, _) = second.score.expect("a score");
        assert_eq!(WhiteScore::from_engine(seed.score, seed.turn), score);

        let other = table();
        let pool = Pool::start(1, Arc::clone(&other), Arc::new(Outbox::new()), &sender).expect("threads");
        let WhiteScore::Cm(cm) = score else { panic!("{score:?}") };
        let window = WhiteWindow { low: Some(WhiteScore::Cm(cm - 1)), high: Some(score) };
        pool.push(Unit { seeds: vec![seed], window, ..unit(3, 6) }).expect("room");
        let seeded = next(&mut outcomes).result.expect("a report");
        assert_eq!((seeded.score.map(|(score, _)| score), other.imported_entries()), (Some(score), 1));
        assert!(seeded.nodes < first.nodes && other.imported_cutoffs() > 0, "{} nodes", seeded.nodes);
    }

    #[test]
    fn progress_is_seen_while_a_unit_runs() {
        let (sender, mut outcomes) = mpsc::channel(8);
        let pool = Pool::start(1, table(), Arc::new(Outbox::new()), &sender).expect("threads");
        let task = pool.push(unit(1, 60)).expect("room");
        let started = Instant::now();
        while task.progress().nodes == 0 {
            assert!(started.elapsed() < Duration::from_secs(30), "no progress");
            std::thread::yield_now();
        }
        task.stop(false);
        assert!(next(&mut outcomes).result.is_ok_and(|report| report.nodes > 0));
    }
}
