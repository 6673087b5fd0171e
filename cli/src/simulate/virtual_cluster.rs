//! The virtual cluster: the real coordinator's mind and the real search, in virtual time. Time is what is counted: a
//! position costs a fixed time, a message its way and the coordinator's work. So a run is the same on any machine, and
//! thirty-two workers need no more processors than one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use corridor_coordinator::cache::{Peer, REVIEW_TIME, SharedCache};
use corridor_coordinator::cluster::{
    Cluster, Command, Config, Effect, Event, Question, Ticket, WatcherId, WorkerSays,
};
use corridor_coordinator::limits::{EXCHANGE_LINGER, MAX_CACHE_ENTRIES};
use corridor_shared::Position;
use corridor_shared::book::Book;
use corridor_shared::exchange::{Linger, SharedEntry};
use corridor_shared::job::{
    BookJobSpec, BookTask, ENGINE_EPOCH, JobEvent, JobLimits, JobSpec, Registration, RootPrune, Unit,
    UnitReport, WorkerId,
};
use corridor_shared::tt::{TableError, TranspositionTable};
use corridor_worker::limits::{MAX_RESULTS, RESULT_LINGER};
use corridor_worker::may_wait;
use serde::Serialize;

use super::virtual_worker::{Stand, VirtualWorker};

/// What the virtual machines and their network are like.
#[derive(Copy, Clone, Debug)]
pub(super) struct World {
    pub(super) workers: usize,
    pub(super) round_trip: Duration,
    /// What a message costs the coordinator ..
    pub(super) message_cost: Duration,
    /// .. and what each unit costs it that is granted or reported.
    pub(super) unit_cost: Duration,
    pub(super) nodes_per_second: u64,
    pub(super) table_bytes: usize,
    pub(super) root_only: bool,
    /// Entries of the shared cache that the coordinator can send in a second, over all links; `None`: no exchange.
    pub(super) exchange_rate: Option<u64>,
}

/// What a run took.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Depth of the answer, or of each position's.
    pub(super) depth: u8,
    pub(super) time: Duration,
    /// Positions visited by all workers, whether of use or not.
    pub(super) nodes: u64,
    /// Time of all workers together without a unit: because there was none ..
    pub(super) idle: Duration,
    /// .. and because the messages were on their way.
    pub(super) communication: Duration,
    pub(super) spans: Vec<Span>,
}

/// A unit on a worker, for the picture.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) worker: usize,
    pub(super) from: Duration,
    pub(super) to: Duration,
    pub(super) path: String,
    pub(super) depth: u8,
    pub(super) speculative: bool,
    pub(super) end: Ending,
}

/// How a unit ended on its worker.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ending {
    /// With a result.
    Done,
    /// It was too large: what was not done of it went to others.
    Shed,
    /// Nobody wanted it any more.
    Cancelled,
}

enum Happening {
    Arrives(usize, Vec<UnitReport>),
    Told(usize, Vec<Command>),
    /// Results that wait at a worker are due.
    Lingers(usize),
    Runs(usize),
    Offers(usize, Vec<SharedEntry>),
    /// The coordinator looks at what waits for a worker's table.
    Takes(usize),
    Shares(usize, Vec<SharedEntry>),
    /// The use of what was exchanged is looked at.
    Review,
    Tick,
}

/// Events in the order of their times, then of their making.
struct Agenda {
    heap: BinaryHeap<Reverse<(Duration, u64)>>,
    items: BTreeMap<u64, Happening>,
    last: u64,
}

impl Agenda {
    fn push(&mut self, at: Duration, happening: Happening) {
        self.last += 1;
        self.items.insert(self.last, happening);
        self.heap.push(Reverse((at, self.last)));
    }

    fn pop(&mut self) -> Option<(Duration, Happening)> {
        let Reverse((at, number)) = self.heap.pop()?;
        Some((at, self.items.remove(&number)?))
    }
}

struct Station {
    worker: VirtualWorker,
    /// Since when it has nothing to do.
    idle_since: Option<Duration>,
    began: Duration,
    /// Its place in the exchange.
    peer: Option<Arc<Peer>>,
    /// A look at what waits for it is due.
    takes: bool,
    /// Imported entries and the cutoffs from them, as last told.
    used: (u64, u64),
    /// Results that wait for others to travel with.
    results: Vec<UnitReport>,
    linger: Linger<Duration>,
}

struct Run {
    world: World,
    cluster: Cluster,
    agenda: Agenda,
    stations: Vec<Station>,
    /// Until when the coordinator is busy.
    busy: Duration,
    next_tick: Option<Duration>,
    done: Option<(Duration, Result<u8, String>)>,
    nodes: u64,
    idle: Duration,
    communication: Duration,
    spans: Vec<Span>,
    /// The greatest depth of a position of a book.
    depth: u8,
    cache: SharedCache,
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Workers count from one.
fn worker_id(index: usize) -> WorkerId {
    WorkerId(wide(index) + 1)
}

fn worker_index(worker: WorkerId) -> usize {
    usize::try_from(worker.0).unwrap_or(1) - 1
}

/// What the coordinator says in one step, by worker. Units granted one after the other travel together.
#[derive(Default)]
struct Messages(Vec<(usize, Vec<Command>)>);

impl Messages {
    fn add(&mut self, index: usize, command: Command) {
        let is_grant = |command: &Command| matches!(command, Command::Grant(_));
        match self.0.iter_mut().rfind(|(to, _)| *to == index) {
            Some((_, commands)) if is_grant(&command) && commands.iter().all(is_grant) => {
                commands.push(command);
            }
            _ => self.0.push((index, vec![command])),
        }
    }
}

/// What a unit is called: its path, or its position if it is the whole of one.
fn path(unit: &Unit) -> String {
    if unit.whole.is_some() {
        return unit.root.to_string();
    }
    unit.path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub(super) enum SimulationError {
    #[error("{0}")]
    Table(#[from] TableError),
    #[error("start a virtual worker: {0}")]
    Thread(#[from] std::io::Error),
    #[error("the job ended without an answer: {0}")]
    NoAnswer(String),
}

/// What a virtual cluster has to do.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Analyse a position.
    Position(JobSpec),
    /// Analyse all positions of a book, each to this depth.
    Book(Vec<Position>, u8),
}

/// Lets a virtual cluster work.
///
/// # Errors
/// The machine has no memory or no thread for a worker, the job failed, or `stop` was set.
pub(super) fn run(work: Work, world: World, stop: &AtomicBool) -> Result<Outcome, SimulationError> {
    let mut stations = Vec::new();
    for _ in 0..world.workers {
        let table = Arc::new(TranspositionTable::new(world.table_bytes)?);
        stations.push(Station {
            worker: VirtualWorker::start(table)?,
            idle_since: Some(Duration::ZERO),
            began: Duration::ZERO,
            peer: None,
            takes: false,
            used: (0, 0),
            results: Vec::new(),
            linger: Linger::new(RESULT_LINGER),
        });
    }
    // Nobody is lost here, so no heartbeats are sent.
    let config =
        Config { lease: Duration::from_secs(1_000_000), root_only: world.root_only, ..Config::default() };
    let mut run = Run {
        world,
        cluster: Cluster::new(config),
        agenda: Agenda { heap: BinaryHeap::new(), items: BTreeMap::new(), last: 0 },
        stations,
        busy: Duration::ZERO,
        next_tick: None,
        done: None,
        nodes: 0,
        idle: Duration::ZERO,
        communication: Duration::ZERO,
        spans: Vec::new(),
        depth: 0,
        cache: SharedCache::new(MAX_CACHE_ENTRIES),
    };
    for index in 0..world.workers {
        run.register(index);
    }
    run.join_exchange();
    for question in questions(work) {
        run.step(Duration::ZERO, [Event::Ask { ticket: Ticket(0), question }]);
    }
    while run.done.is_none() {
        if stop.load(Ordering::Relaxed) {
            return Err(SimulationError::NoAnswer("it was interrupted".to_owned()));
        }
        let Some((at, happening)) = run.agenda.pop() else {
            return Err(SimulationError::NoAnswer("nothing is left to happen".to_owned()));
        };
        run.happen(at, happening);
    }
    run.finish()
}

/// How a client would ask for that.
fn questions(work: Work) -> Vec<Question> {
    let watcher = Some(WatcherId(1));
    match work {
        Work::Position(spec) => vec![Question::Submit { spec: Box::new(spec), watcher, known: None }],
        Work::Book(positions, depth) => {
            let name: Arc<str> = "simulated".into();
            let spec = BookJobSpec {
                book: Arc::clone(&name),
                task: BookTask::Analyze { stale: false, most: None },
                limits: JobLimits { depth: Some(depth), ..JobLimits::default() },
                multipv: 1,
                prune: RootPrune::Cat,
                deterministic: false,
                priority: 0,
                detach: true,
                traceparent: None,
            };
            vec![
                Question::Open { name: Arc::clone(&name), book: Box::new(Book::new()) },
                Question::Enter { book: name, positions, found: Vec::new() },
                Question::SubmitBook { spec: Box::new(spec), watcher },
            ]
        }
    }
}

impl Run {
    fn register(&mut self, index: usize) {
        let number = wide(index) + 1;
        let registration = Registration {
            name: format!("worker-{number}"),
            instance: number,
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots: 1,
            table_bytes: wide(self.world.table_bytes),
        };
        let question = Question::Register { worker: WorkerId(number), registration };
        self.step(Duration::ZERO, [Event::Ask { ticket: Ticket(number), question }]);
    }

    /// Hands events to the coordinator, together, and sends out what it says.
    fn step(&mut self, at: Duration, events: impl IntoIterator<Item = Event>) {
        let mut effects = Vec::new();
        for event in events {
            self.cluster.take(at, event, &mut effects);
        }
        self.cluster.settle(at, &mut effects);
        let mut messages = Messages::default();
        for effect in effects {
            match effect {
                Effect::Send { worker, command } => messages.add(worker_index(worker), command),
                Effect::Deliver { records, .. } => {
                    for record in records {
                        match &record.event {
                            JobEvent::Done(done) => self.done = Some((at, Ok(done.depth))),
                            JobEvent::BookDone(done) if done.left > 0 => {
                                let text = format!("{} positions are left", done.left);
                                self.done = Some((at, Err(text)));
                            }
                            JobEvent::BookDone(_) => self.done = Some((at, Ok(self.depth))),
                            JobEvent::Position(report) => {
                                let depth = report.record.searched.as_ref().map_or(0, |it| it.depth);
                                self.depth = self.depth.max(depth);
                            }
                            JobEvent::Error(failure) => self.done = Some((at, Err(failure.message.clone()))),
                            _ => {}
                        }
                    }
                }
                Effect::Share { entries } if self.world.exchange_rate.is_some() => {
                    self.offer(at, WorkerId(0), &entries);
                }
                Effect::Share { .. }
                | Effect::Keep(_)
                | Effect::Answer { .. }
                | Effect::Disconnect { .. }
                | Effect::Finish { .. } => {}
            }
        }
        for (index, commands) in messages.0 {
            self.send(at, index, commands);
        }
        let wake = self.cluster.next_wake();
        if wake.is_some_and(|wake| self.next_tick.is_none_or(|next| wake < next || next <= at)) {
            self.next_tick = wake;
            if let Some(wake) = wake {
                self.agenda.push(wake.max(at), Happening::Tick);
            }
        }
    }

    /// Sends a message, when the coordinator comes to it.
    fn send(&mut self, at: Duration, index: usize, commands: Vec<Command>) {
        let granted = commands.iter().filter(|command| matches!(command, Command::Grant(_))).count();
        self.busy = self.busy.max(at) + self.cost_of(granted);
        self.agenda.push(self.busy + self.world.round_trip / 2, Happening::Told(index, commands));
    }

    /// What a message costs the coordinator with so many units in it.
    fn cost_of(&self, units: usize) -> Duration {
        self.world.message_cost + self.world.unit_cost * u32::try_from(units).unwrap_or(u32::MAX)
    }

    fn happen(&mut self, at: Duration, happening: Happening) {
        match happening {
            Happening::Arrives(index, reports) => {
                self.busy = self.busy.max(at) + self.cost_of(reports.len());
                let worker = worker_id(index);
                let says = reports.into_iter().map(WorkerSays::Report);
                self.step(self.busy, says.map(|says| Event::Worker { worker, says }));
            }
            Happening::Lingers(index) => self.report(at, index, false),
            Happening::Tick => {
                // A coordinator that is busy looks at the clock later.
                if self.next_tick.is_some_and(|next| next <= at) {
                    self.next_tick = None;
                    let now = self.busy.max(at);
                    self.step(now, [Event::Tick]);
                }
            }
            Happening::Told(index, commands) => {
                commands.into_iter().for_each(|command| self.told(at, index, command));
            }
            Happening::Runs(index) => self.run_worker(at, index),
            Happening::Offers(index, entries) => self.offer(at, worker_id(index), &entries),
            Happening::Takes(index) => self.take(at, index),
            Happening::Shares(index, entries) => {
                entries.iter().for_each(|entry| self.stations[index].worker.table.import(entry));
            }
            Happening::Review => self.review(at),
        }
    }

    // ---- the exchange -----------------------------------------------------------------------------------------------

    fn join_exchange(&mut self) {
        if self.world.exchange_rate.is_none() {
            return;
        }
        for index in 0..self.stations.len() {
            self.cache.admit(worker_id(index));
            self.stations[index].peer = self.cache.join(worker_id(index), Duration::ZERO, || ()).ok();
        }
        self.set_floors();
        self.agenda.push(REVIEW_TIME, Happening::Review);
    }

    fn set_floors(&self) {
        for (index, station) in self.stations.iter().enumerate() {
            station.worker.set_floor(self.cache.wanted_from(worker_id(index)));
        }
    }

    fn offer(&mut self, at: Duration, from: WorkerId, entries: &[SharedEntry]) {
        self.cache.offer(from, entries);
        for index in 0..self.stations.len() {
            let station = &mut self.stations[index];
            let waits = station.peer.as_ref().is_some_and(|peer| peer.waiting() > 0);
            if waits && !std::mem::replace(&mut station.takes, true) {
                self.agenda.push(at + EXCHANGE_LINGER, Happening::Takes(index));
            }
        }
    }

    /// Sends a worker what waits for it, as far as its share of the link goes.
    fn take(&mut self, at: Duration, index: usize) {
        let share = self.world.exchange_rate.unwrap_or(0) / wide(self.stations.len().max(1));
        let most = share * u64::try_from(EXCHANGE_LINGER.as_micros()).unwrap_or(0) / 1_000_000;
        let station = &mut self.stations[index];
        let Some(peer) = &station.peer else { return };
        let entries = self.cache.take(peer, usize::try_from(most.max(1)).unwrap_or(1));
        station.takes = peer.waiting() > 0;
        if station.takes {
            self.agenda.push(at + EXCHANGE_LINGER, Happening::Takes(index));
        }
        self.agenda.push(at + self.world.round_trip / 2, Happening::Shares(index, entries));
    }

    /// Looks at the use of what was exchanged; floors may move.
    fn review(&mut self, at: Duration) {
        for station in &mut self.stations {
            let table = &station.worker.table;
            let used = (table.imported_entries(), table.imported_cutoffs());
            if let Some(peer) = &station.peer {
                self.cache.used(peer, used.0 - station.used.0, used.1 - station.used.1);
                self.cache.review(peer, at);
            }
            station.used = used;
        }
        self.set_floors();
        self.agenda.push(at + REVIEW_TIME, Happening::Review);
    }

    // ---- workers ----------------------------------------------------------------------------------------------------

    fn told(&mut self, at: Duration, index: usize, command: Command) {
        let ways = self.world.round_trip + 2 * self.cost_of(1);
        let station = &mut self.stations[index];
        match command {
            Command::Grant(unit) => {
                station.worker.push(*unit);
                if let Some(since) = station.idle_since.take() {
                    let waited = at.saturating_sub(since);
                    self.communication += waited.min(ways);
                    self.idle += waited.saturating_sub(ways);
                    station.began = at;
                    self.agenda.push(at, Happening::Runs(index));
                }
            }
            Command::Window { unit, attempt, window } => station.worker.set_window(unit, attempt, window),
            Command::Shed { unit, attempt } => station.worker.shed(unit, attempt),
            Command::Cancel { unit, attempt } | Command::LeaseLost { unit, attempt } => {
                station.worker.cancel(unit, attempt);
            }
        }
    }

    fn run_worker(&mut self, at: Duration, index: usize) {
        let rate = self.world.nodes_per_second;
        let station = &mut self.stations[index];
        let Some(held) = station.worker.queue.front() else {
            station.idle_since = Some(at);
            return;
        };
        let before = held.nodes;
        let Some(stand) = station.worker.run() else { return };
        let nodes = match &stand {
            Stand::At(nodes) => *nodes,
            Stand::Ended(report) => report.nodes,
        };
        let spent = nodes.saturating_sub(before);
        self.nodes += spent;
        let then = at + Duration::from_nanos(spent * 1_000_000_000 / rate);
        match stand {
            Stand::At(nodes) => {
                if let Some(held) = station.worker.queue.front_mut() {
                    held.nodes = nodes;
                }
            }
            Stand::Ended(mut report) => {
                let Some(held) = station.worker.queue.pop_front() else { return };
                report.search_time = then.saturating_sub(station.began);
                let end = if held.unwanted {
                    Ending::Cancelled
                } else if report.completed {
                    Ending::Done
                } else {
                    Ending::Shed
                };
                self.spans.push(Span {
                    worker: index,
                    from: station.began,
                    to: then,
                    path: path(&held.unit),
                    depth: held.unit.depth,
                    speculative: held.unit.speculative,
                    end,
                });
                station.began = then;
                if !held.unwanted {
                    let may_wait = may_wait(&report, held.unit.turn()) && !station.worker.queue.is_empty();
                    station.results.push(*report);
                    self.report(then, index, !may_wait);
                }
            }
        }
        let exports = self.stations[index].worker.exports();
        if !exports.is_empty() {
            self.agenda.push(then + self.world.round_trip / 2, Happening::Offers(index, exports));
        }
        self.agenda.push(then, Happening::Runs(index));
    }

    /// Sends the results that wait at a worker, if it is time, as a real one does.
    fn report(&mut self, at: Duration, index: usize, now: bool) {
        let station = &mut self.stations[index];
        let (waiting, full) = (station.results.len(), if now { 1 } else { MAX_RESULTS });
        if station.linger.due(at, waiting, waiting, full).is_some() {
            let reports = std::mem::take(&mut station.results);
            self.agenda.push(at + self.world.round_trip / 2, Happening::Arrives(index, reports));
        } else if let Some(until) = station.linger.until().filter(|_| waiting == 1) {
            self.agenda.push(until, Happening::Lingers(index));
        }
    }

    fn finish(mut self) -> Result<Outcome, SimulationError> {
        let Some((time, done)) = self.done.take() else {
            return Err(SimulationError::NoAnswer("it never ended".to_owned()));
        };
        let depth = done.map_err(SimulationError::NoAnswer)?;
        for station in &self.stations {
            if let Some(since) = station.idle_since {
                self.idle += time.saturating_sub(since);
            }
        }
        Ok(Outcome {
            depth,
            time,
            nodes: self.nodes,
            idle: self.idle,
            communication: self.communication,
            spans: self.spans,
        })
    }
}
