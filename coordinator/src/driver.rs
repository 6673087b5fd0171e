//! The sole owner of the cluster: a task with a bounded mailbox that feeds events into the state machine and carries out
//! what it says.
//!
//! With a store, what is told about a job waits until what it rests on is durable (see `keeper.rs`).
//!
//! It hands events to watchers a few at a time and lets everybody else in between: no heartbeat waits for a thousand of them
//! (see `deliveries.rs`).
//! It never waits for anybody. A worker whose outbox is full counts as lost; a watcher whose backlog is full is dropped
//! with a reason. So nothing that a peer does, or fails to do, delays anybody else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use corridor_shared::exchange::shared_key;
use corridor_shared::job::{BookJobSpec, EventRecord, JobId, JobSpec, Registration, Terms, Unit, WorkerId};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::cache::SharedCache;
use crate::cluster::{
    Answer, Cluster, Command, Config, Effect, Event, Known, Question, Refusal, Ticket, WatcherId, WorkerSays,
};
use crate::deliveries::{Deliveries, Parcel};
use crate::keeper::{Keeper, Turn};
use crate::limits::{FLUSH_TIME, MAILBOX, MAX_SEEDS, STANDING_INTERVAL, WATCHER_BACKLOG, WORKER_OUTBOX};
use crate::store::Kept;
use crate::store::writer::News;

/// Watchers that have silently left are noticed this often.
const SWEEP: Duration = Duration::from_secs(1);
/// Whose results those are that the coordinator itself has concluded.
const NOBODY: WorkerId = WorkerId(0);
/// Messages taken from the mailbox before timers are looked at again.
const BATCH: usize = 256;

/// Watchers that are served before everybody else has a turn.
const SERVED: usize = 64;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The cluster said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The coordinator shuts down.
    #[error("the coordinator is shutting down")]
    Closed,
}

/// Why a stream of events ended before the job did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped(pub String);

enum Message {
    Event(Event),
    Ask { question: Question, answer: oneshot::Sender<Result<Answer, Refusal>> },
    Watcher { watcher: WatcherId, sink: WatcherSink },
    Outbox { worker: WorkerId, outbox: mpsc::Sender<Command> },
}

/// Whoever waits for an answer.
struct Asker {
    answer: oneshot::Sender<Result<Answer, Refusal>>,
    /// The job to which this is an order.
    orders: Option<JobId>,
}

struct WatcherSink {
    batches: mpsc::Sender<Batch>,
    dropped: Arc<OnceLock<Dropped>>,
    /// Events that it has not taken yet; what it came too late for does not count.
    unread: Arc<AtomicUsize>,
    /// It has what it came too late for.
    begun: bool,
}

/// Events that travel together, and how many of them count as a watcher's backlog.
struct Batch {
    records: Vec<Arc<EventRecord>>,
    counted: usize,
}

/// A stream of a job's events.
#[derive(Debug)]
pub struct EventStream {
    batches: mpsc::Receiver<Batch>,
    dropped: Arc<OnceLock<Dropped>>,
    unread: Arc<AtomicUsize>,
}

impl EventStream {
    /// The next events, in order; `Ok(None)` when the job has ended and all were seen.
    ///
    /// # Errors
    /// The watcher was too slow, or the coordinator shut down.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<EventRecord>>>, Dropped> {
        match self.batches.recv().await {
            Some(batch) => {
                self.unread.fetch_sub(batch.counted, Ordering::Relaxed);
                Ok(Some(batch.records))
            }
            None => self.dropped.get().map_or(Ok(None), |dropped| Err(dropped.clone())),
        }
    }
}

/// A way to talk to the driver. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    mailbox: mpsc::Sender<Message>,
    last_watcher: Arc<AtomicU64>,
    last_worker: Arc<AtomicU64>,
    cache: Arc<SharedCache>,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Event(_) => "Event",
            Self::Ask { .. } => "Ask",
            Self::Watcher { .. } => "Watcher",
            Self::Outbox { .. } => "Outbox",
        })
    }
}

impl Handle {
    async fn send(&self, message: Message) -> Result<(), AskError> {
        self.mailbox.send(message).await.map_err(|_| AskError::Closed)
    }

    /// What the workers share.
    #[must_use]
    pub const fn cache(&self) -> &Arc<SharedCache> {
        &self.cache
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// The cluster refuses, or the coordinator shuts down.
    pub async fn ask(&self, question: Question) -> Result<Answer, AskError> {
        let (answer, answered) = oneshot::channel();
        self.send(Message::Ask { question, answer }).await?;
        Ok(answered.await.map_err(|_| AskError::Closed)??)
    }

    /// Submits a job and watches it from its first event on. What is known already need not be searched.
    ///
    /// # Errors
    /// As [`Handle::ask`].
    pub async fn analyze(&self, spec: JobSpec, known: Option<Box<Known>>) -> Result<EventStream, AskError> {
        let (watcher, stream) = self.new_watcher().await?;
        self.ask(Question::Submit { spec: Box::new(spec), watcher: Some(watcher), known }).await?;
        Ok(stream)
    }

    /// Hands in a job on a book that is in memory, or joins one that does the same, and watches it from its first event on.
    ///
    /// # Errors
    /// As [`Handle::ask`].
    pub async fn work_on_book(&self, spec: BookJobSpec) -> Result<EventStream, AskError> {
        let (watcher, stream) = self.new_watcher().await?;
        self.ask(Question::SubmitBook { spec: Box::new(spec), watcher: Some(watcher) }).await?;
        Ok(stream)
    }

    /// Watches a job from a cursor on.
    ///
    /// # Errors
    /// As [`Handle::ask`].
    pub async fn watch(&self, job: JobId, after_seq: u64) -> Result<EventStream, AskError> {
        let (watcher, stream) = self.new_watcher().await?;
        self.ask(Question::Watch { job, watcher, after_seq }).await?;
        Ok(stream)
    }

    async fn new_watcher(&self) -> Result<(WatcherId, EventStream), AskError> {
        let watcher = WatcherId(self.last_watcher.fetch_add(1, Ordering::Relaxed) + 1);
        let (batches, received) = mpsc::channel(WATCHER_BACKLOG);
        let (dropped, unread) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let sink =
            WatcherSink { batches, dropped: Arc::clone(&dropped), unread: Arc::clone(&unread), begun: false };
        self.send(Message::Watcher { watcher, sink }).await?;
        Ok((watcher, EventStream { batches: received, dropped, unread }))
    }

    /// Registers a worker. Its commands come through the receiver, which ends when the session must.
    ///
    /// # Errors
    /// As [`Handle::ask`].
    pub async fn register(
        &self,
        registration: Registration,
    ) -> Result<(Terms, mpsc::Receiver<Command>), AskError> {
        let worker = WorkerId(self.last_worker.fetch_add(1, Ordering::Relaxed) + 1);
        let (outbox, commands) = mpsc::channel(WORKER_OUTBOX);
        self.send(Message::Outbox { worker, outbox }).await?;
        match self.ask(Question::Register { worker, registration }).await? {
            Answer::Terms(terms) => Ok((terms, commands)),
            _ => Err(AskError::Closed),
        }
    }

    /// Passes on what a worker says.
    ///
    /// # Errors
    /// The coordinator shuts down.
    pub async fn worker_says(&self, worker: WorkerId, says: WorkerSays) -> Result<(), AskError> {
        self.send(Message::Event(Event::Worker { worker, says })).await
    }
}

/// A driver that has not started, and the way to talk to it.
#[must_use]
pub fn new(config: Config) -> (Driver, Handle) {
    #[expect(clippy::disallowed_methods, reason = "for people who look at values; nothing is decided by it")]
    let now = SystemTime::now();
    let config = Config { unix_time: now.duration_since(UNIX_EPOCH).unwrap_or_default(), ..config };
    let (mailbox, messages) = mpsc::channel(MAILBOX);
    let cache = Arc::new(SharedCache::new(config.cache_entries));
    let driver = Driver {
        cluster: Cluster::new(config),
        messages,
        started: Instant::now(),
        tickets: BTreeMap::new(),
        last_ticket: 0,
        outboxes: BTreeMap::new(),
        watchers: BTreeMap::new(),
        effects: Vec::new(),
        unsettled: false,
        issued_before: 0,
        deliveries: Deliveries::new(Instant::now()),
        keeper: None,
        cache: Arc::clone(&cache),
    };
    let handle = Handle {
        mailbox,
        last_watcher: Arc::new(AtomicU64::new(0)),
        last_worker: Arc::new(AtomicU64::new(0)),
        cache,
    };
    (driver, handle)
}

/// See the module.
pub struct Driver {
    cluster: Cluster,
    messages: mpsc::Receiver<Message>,
    started: Instant,
    tickets: BTreeMap<Ticket, Asker>,
    last_ticket: u64,
    outboxes: BTreeMap<WorkerId, mpsc::Sender<Command>>,
    watchers: BTreeMap<WatcherId, WatcherSink>,
    effects: Vec<Effect>,
    /// Something was taken from which no conclusions are drawn yet, and the number of the last entry before that.
    unsettled: bool,
    issued_before: u64,
    deliveries: Deliveries,
    keeper: Option<Keeper>,
    cache: Arc<SharedCache>,
}

impl Driver {
    /// Keeps what happens from now on, and goes on with what was kept.
    pub(crate) fn restore(&mut self, kept: Kept, keeper: Keeper) {
        self.keeper = Some(keeper);
        let mut effects = Vec::new();
        self.cluster.restore(self.started.elapsed(), kept, &mut effects);
        let caused = self.carry_out_all(&mut effects, 0);
        debug_assert!(caused.is_empty(), "nobody is connected yet");
    }

    /// Runs until told to stop.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut sweep = tokio::time::interval(SWEEP);
        sweep.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut standing = tokio::time::interval(STANDING_INTERVAL);
        standing.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            self.serve(SERVED);
            if let Some(keeper) = &mut self.keeper {
                keeper.flush();
            }
            let wake = self.cluster.next_wake().map(|at| self.started + at);
            let due = until(wake);
            let next_delivery = self.deliveries.next_due();
            let told = async {
                match next_delivery {
                    // The others' turn.
                    Some(at) if at <= Instant::now() => tokio::task::yield_now().await,
                    later => until(later).await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                received = self.messages.recv_many(&mut batch, BATCH) => {
                    if received == 0 {
                        break;
                    }
                    for message in batch.drain(..) {
                        self.take(message);
                    }
                    self.settle();
                }
                news = news(&mut self.keeper) => self.hear(news),
                () = due => self.step(Event::Tick),
                () = told => {}
                _ = sweep.tick() => self.sweep(),
                _ = standing.tick() => self.keep_standings(),
            }
        }
        for (watcher, parcel) in self.deliveries.take_all() {
            self.hand_over(watcher, parcel);
        }
        self.flush().await;
        for sink in self.watchers.values() {
            let reason = "the coordinator is shutting down; watch the job again later".to_owned();
            // Only the first reason counts.
            let _ = sink.dropped.set(Dropped(reason));
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Event(event) => self.hear_of(event),
            Message::Ask { question, answer } => {
                self.last_ticket += 1;
                let ticket = Ticket(self.last_ticket);
                self.tickets.insert(ticket, Asker { answer, orders: ordered(&question) });
                self.step(Event::Ask { ticket, question });
            }
            Message::Watcher { watcher, sink } => {
                self.watchers.insert(watcher, sink);
            }
            Message::Outbox { worker, outbox } => {
                self.outboxes.insert(worker, outbox);
            }
        }
    }

    /// Takes what a worker says. The conclusions are drawn from all that is in the mailbox together.
    fn hear_of(&mut self, event: Event) {
        if !self.unsettled {
            self.unsettled = true;
            self.issued_before = self.keeper.as_ref().map_or(0, Keeper::issued);
        }
        self.cluster.take(self.started.elapsed(), event, &mut self.effects);
    }

    /// Draws the conclusions from what was taken.
    fn settle(&mut self) {
        if !std::mem::take(&mut self.unsettled) {
            return;
        }
        let mut effects = std::mem::take(&mut self.effects);
        self.cluster.settle(self.started.elapsed(), &mut effects);
        let caused = self.carry_out_all(&mut effects, self.issued_before);
        self.effects = effects;
        for event in caused {
            self.step(event);
        }
    }

    fn step(&mut self, event: Event) {
        self.settle();
        let mut pending = vec![event];
        while let Some(event) = pending.pop() {
            let mut effects = std::mem::take(&mut self.effects);
            let before = self.keeper.as_ref().map_or(0, Keeper::issued);
            self.cluster.step(self.started.elapsed(), event, &mut effects);
            pending.extend(self.carry_out_all(&mut effects, before));
            self.effects = effects;
        }
    }

    /// Carries out the effects of a step, and holds those that must wait for the store; `before` is the number of the last
    /// entry before that step. Returns what went wrong.
    fn carry_out_all(&mut self, effects: &mut Vec<Effect>, before: u64) -> Vec<Event> {
        if let Some(keeper) = &mut self.keeper {
            // An answer stands before the entries that it waits for.
            for effect in &*effects {
                if let Effect::Keep(entry) = effect {
                    keeper.keep(entry.clone());
                }
            }
        }
        let mut caused = Vec::new();
        for effect in effects.drain(..) {
            let effect = match &mut self.keeper {
                Some(keeper) => {
                    let entry =
                        awaited(&effect, keeper, before).max(rested_on(&effect, keeper, &self.tickets));
                    keeper.hold_until(entry, effect)
                }
                None => Some(effect),
            };
            caused.extend(effect.and_then(|effect| self.carry_out(effect)));
        }
        caused
    }

    /// The store's writer says something.
    fn hear(&mut self, news: News) {
        let Some(keeper) = &mut self.keeper else { return };
        let (free, turn) = keeper.take(news);
        let mut caused = Vec::new();
        for effect in free {
            caused.extend(self.carry_out(effect));
        }
        for event in caused {
            self.step(event);
        }
        self.turn(turn);
    }

    fn turn(&mut self, turn: Option<Turn>) {
        match turn {
            None => {}
            Some(Turn::Lost(reason)) => {
                warn!(%reason, "all jobs pause");
                let is_look = |effect: &Effect| {
                    matches!(effect, Effect::Answer { answer: Ok(Answer::Jobs(_) | Answer::Revision(_)), .. })
                };
                for look in self.keeper.as_mut().map(|keeper| keeper.release(is_look)).unwrap_or_default() {
                    self.carry_out(look);
                }
                self.step(Event::StoreLost { reason });
            }
            Some(Turn::Back) => {
                info!("the store can be written again");
                self.step(Event::StoreBack);
            }
        }
    }

    /// Keeps how far open jobs are while nothing else happens to them.
    fn keep_standings(&mut self) {
        let Some(keeper) = self.keeper.as_mut().filter(|keeper| keeper.is_idle()) else { return };
        for entry in self.cluster.standings(self.started.elapsed()) {
            keeper.keep(entry);
        }
    }

    /// Makes durable what is not yet, within a limit.
    async fn flush(&mut self) {
        let standings = self.cluster.standings(self.started.elapsed());
        let Some(keeper) = &mut self.keeper else { return };
        for entry in standings {
            keeper.keep(entry);
        }
        let written = async {
            while !keeper.is_idle() {
                keeper.flush();
                let news = keeper.news().await;
                // What it sets free is for watchers, who come back with their cursors.
                drop(keeper.take(news));
            }
        };
        if tokio::time::timeout(FLUSH_TIME, written).await.is_err() {
            warn!("flush_time has passed with entries that are not stored");
        }
    }

    /// Carries out an effect. What goes wrong with it comes back as an event.
    fn carry_out(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::Answer { ticket, answer } => {
                if let Ok(Answer::Terms(terms)) = &answer {
                    self.cache.admit(terms.worker);
                }
                if let Some(asker) = self.tickets.remove(&ticket) {
                    // Whoever asked may have left.
                    let _ = asker.answer.send(answer);
                }
                None
            }
            Effect::Send { worker, command } => self.send(worker, command),
            // Taken before, if there is a store.
            Effect::Keep(_) => None,
            Effect::Share { entries } => {
                self.cache.offer(NOBODY, &entries);
                None
            }
            Effect::Disconnect { worker, reason } => {
                info!(%worker, %reason, "worker left");
                self.outboxes.remove(&worker);
                self.cache.dismiss(worker);
                None
            }
            Effect::Deliver { watcher, records, .. } => {
                self.deliveries.add(Instant::now(), watcher, records, self.watchers.len());
                None
            }
            Effect::Finish { watcher, .. } => {
                self.deliveries.finish(Instant::now(), watcher, self.watchers.len());
                None
            }
        }
    }

    /// Tells watchers what they are to be told by now, so many at most.
    fn serve(&mut self, most: usize) {
        let now = Instant::now();
        for _ in 0..most {
            let Some((watcher, parcel)) = self.deliveries.next(now) else { return };
            self.hand_over(watcher, parcel);
        }
    }

    fn hand_over(&mut self, watcher: WatcherId, parcel: Parcel) {
        let caused = if parcel.records.is_empty() { None } else { self.deliver(watcher, parcel.records) };
        if parcel.last {
            self.watchers.remove(&watcher);
        }
        if let Some(event) = caused {
            self.step(event);
        }
    }

    fn send(&mut self, worker: WorkerId, mut command: Command) -> Option<Event> {
        if let Command::Grant(unit) = &mut command
            && !unit.deterministic
        {
            unit.seeds = self.cache.seeds(worker, line_keys(unit), MAX_SEEDS);
        }
        let fault = self.outboxes.get(&worker)?.try_send(command).err()?;
        let says = match fault {
            mpsc::error::TrySendError::Full(_) => {
                WorkerSays::Gone { reason: format!("worker_outbox {WORKER_OUTBOX} is full") }
            }
            mpsc::error::TrySendError::Closed(_) => {
                WorkerSays::Broken { reason: "its session has ended".to_owned() }
            }
        };
        Some(Event::Worker { worker, says })
    }

    fn deliver(&mut self, watcher: WatcherId, records: Vec<Arc<EventRecord>>) -> Option<Event> {
        let sink = self.watchers.get_mut(&watcher)?;
        let counted = if std::mem::replace(&mut sink.begun, true) { records.len() } else { 0 };
        let before = sink.unread.fetch_add(counted, Ordering::Relaxed);
        let is_full = before > 0 && before + counted > WATCHER_BACKLOG;
        let batch = Batch { records, counted };
        let fault = if is_full {
            mpsc::error::TrySendError::Full(batch)
        } else {
            sink.batches.try_send(batch).err()?
        };
        if matches!(fault, mpsc::error::TrySendError::Full(_)) {
            let reason = format!("too slow: watcher_backlog {WATCHER_BACKLOG} is full");
            warn!(watcher = watcher.0, %reason, "watcher dropped");
            let _ = sink.dropped.set(Dropped(reason));
        }
        self.watchers.remove(&watcher);
        Some(Event::Unwatch { watcher })
    }

    /// Notices watchers that have left without a word, refused workers, and a store that is too slow.
    fn sweep(&mut self) {
        let turn = self.keeper.as_mut().and_then(|keeper| keeper.check(Instant::now()));
        self.turn(turn);
        let left: Vec<WatcherId> =
            self.watchers.iter().filter(|(_, sink)| sink.batches.is_closed()).map(|(&id, _)| id).collect();
        for watcher in left {
            debug!(watcher = watcher.0, "watcher left");
            self.watchers.remove(&watcher);
            self.step(Event::Unwatch { watcher });
        }
        let gone: Vec<WorkerId> =
            self.outboxes.iter().filter(|(_, outbox)| outbox.is_closed()).map(|(&id, _)| id).collect();
        for worker in gone {
            self.outboxes.remove(&worker);
            let reason = "its session has ended".to_owned();
            self.step(Event::Worker { worker, says: WorkerSays::Broken { reason } });
        }
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn news(keeper: &mut Option<Keeper>) -> News {
    match keeper {
        Some(keeper) => keeper.news().await,
        None => std::future::pending().await,
    }
}

/// Number of the entry that an effect must wait for; 0 if it need not wait.
fn awaited(effect: &Effect, keeper: &Keeper, before: u64) -> u64 {
    match effect {
        Effect::Deliver { job, .. } | Effect::Finish { job, .. } => keeper.last_of(*job),
        // How things stand must not be told before that is durable; while nothing can be, it is wanted all the more.
        Effect::Answer { answer: Ok(Answer::Jobs(_) | Answer::Revision(_)), .. } if !keeper.is_faulty() => {
            keeper.issued()
        }
        // Nobody may be told that something is there already while whoever brought it still waits.
        Effect::Answer { answer: Ok(Answer::Entered(_)), .. } => keeper.issued(),
        Effect::Answer { answer: Ok(Answer::Job(job)), .. } => keeper.last_of(*job),
        // What was ordered is durable before it is confirmed.
        Effect::Answer { answer: Ok(Answer::Nothing), .. } if keeper.issued() > before => keeper.issued(),
        Effect::Answer { .. }
        | Effect::Send { .. }
        | Effect::Disconnect { .. }
        | Effect::Share { .. }
        | Effect::Keep(_) => 0,
    }
}

/// Number of the entry on which the answer to an order rests: that a job has ended already must be durable as well, whether it
/// is confirmed or the reason of a refusal.
fn rested_on(effect: &Effect, keeper: &Keeper, tickets: &BTreeMap<Ticket, Asker>) -> u64 {
    let Effect::Answer { ticket, .. } = effect else { return 0 };
    let job = tickets.get(ticket).and_then(|asker| asker.orders);
    job.map_or(0, |job| keeper.last_of(job))
}

/// The job to which a question is an order.
const fn ordered(question: &Question) -> Option<JobId> {
    match question {
        Question::Cancel(job) | Question::Pause(job) | Question::Resume(job) => Some(*job),
        _ => None,
    }
}

/// The shared keys of a unit's position and of the play that is expected from there, as far as it is legal.
fn line_keys(unit: &Unit) -> Vec<u64> {
    let mut position = unit.root;
    for &mv in &unit.path {
        position = position.after(mv);
    }
    let mut keys = vec![shared_key(&position, unit.prune)];
    for &mv in &unit.pv_hint {
        let Ok(next) = position.play(mv) else { break };
        position = next;
        keys.push(shared_key(&position, unit.prune));
    }
    keys
}

#[cfg(test)]
#[path = "driver_leak_tests.rs"]
mod leak_tests;

#[cfg(test)]
mod tests {
    use corridor_shared::job::{ENGINE_EPOCH, JobEvent, Unit, UnitReport};
    use corridor_shared::score::{Bound, WhiteScore};

    use super::*;
    use crate::cluster::Keep;
    use crate::limits::WATCHERS_AT_ONCE;

    fn spec(depth: u8) -> JobSpec {
        let spec = JobSpec::new(corridor_shared::Position::start()).to_depth(depth);
        JobSpec { detach: true, ..spec }
    }

    fn running() -> (Handle, CancellationToken) {
        let (driver, handle) = new(Config::default());
        let stop = CancellationToken::new();
        drop(tokio::spawn(driver.run(stop.clone())));
        (handle, stop)
    }

    /// A worker that finds every unit to be a draw, at once.
    async fn register(handle: &Handle) -> (WorkerId, mpsc::Receiver<Command>) {
        let registration = Registration {
            name: "w".to_owned(),
            instance: 1,
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots: 1,
            table_bytes: 0,
        };
        let (terms, commands) = handle.register(registration).await.expect("accepted");
        (terms.worker, commands)
    }

    fn draw(unit: &Unit) -> WorkerSays {
        WorkerSays::Report(UnitReport {
            unit: unit.unit,
            attempt: unit.attempt,
            score: Some((WhiteScore::Cm(0), Bound::Exact)),
            pv: Vec::new(),
            nodes: 1,
            completed: true,
            search_time: Duration::from_micros(1),
            open: Vec::new(),
            path_dependent: false,
            lines: Vec::new(),
        })
    }

    async fn work(handle: Handle, worker: WorkerId, mut commands: mpsc::Receiver<Command>) {
        while let Some(command) = commands.recv().await {
            if let Command::Grant(unit) = command {
                handle.worker_says(worker, draw(&unit)).await.expect("a driver");
            }
        }
    }

    #[tokio::test]
    async fn a_slow_watcher_is_dropped_with_a_reason_and_nobody_else_notices() {
        let (handle, _stop) = running();
        let job =
            match handle.ask(Question::Submit { spec: Box::new(spec(60)), watcher: None, known: None }).await
            {
                Ok(Answer::Job(job)) => job,
                other => panic!("{other:?}"),
            };
        let mut slow = handle.watch(job, 0).await.expect("a stream");
        let mut fast = handle.watch(job, 0).await.expect("a stream");
        let (worker, commands) = register(&handle).await;
        drop(tokio::spawn(work(handle.clone(), worker, commands)));
        let mut seen = 0;
        let mut last = None;
        while let Some(batch) = fast.next().await.expect("never dropped") {
            seen += batch.len();
            last = batch.last().cloned();
        }
        assert!(seen > WATCHER_BACKLOG + 100, "{seen} events are too few for this test");
        assert!(last.is_some_and(|record| matches!(record.event, JobEvent::Done(_))));
        let dropped = loop {
            match slow.next().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream of a slow watcher must not end as if it were complete"),
                Err(dropped) => break dropped,
            }
        };
        assert!(dropped.0.contains("watcher_backlog"), "{dropped:?}");
        // It may come back with its cursor.
        let mut again = handle.watch(job, 5).await.expect("a stream");
        assert_eq!(again.next().await.expect("events").map(|batch| batch[0].seq), Some(6));
    }

    #[tokio::test]
    async fn many_watchers_see_everything_once_in_order_and_the_end() {
        let (handle, _stop) = running();
        let job =
            match handle.ask(Question::Submit { spec: Box::new(spec(12)), watcher: None, known: None }).await
            {
                Ok(Answer::Job(job)) => job,
                other => panic!("{other:?}"),
            };
        let mut streams = Vec::new();
        for _ in 0..4 * WATCHERS_AT_ONCE {
            streams.push(handle.watch(job, 0).await.expect("a stream"));
        }
        let (worker, commands) = register(&handle).await;
        drop(tokio::spawn(work(handle.clone(), worker, commands)));
        let watch = async |mut stream: EventStream| {
            let mut seen = Vec::new();
            while let Some(batch) = stream.next().await.expect("never dropped") {
                seen.extend(batch);
            }
            seen
        };
        let seen = futures_util::future::join_all(streams.into_iter().map(watch)).await;
        let last = seen[0].last().expect("events").clone();
        assert!(matches!(last.event, JobEvent::Done(_)));
        for seen in seen {
            assert!(seen.iter().map(|record| record.seq).eq(1..=last.seq), "a gap or a repeat");
        }
    }

    #[tokio::test]
    async fn a_worker_without_room_for_a_message_is_lost_like_any_other() {
        let (handle, _stop) = running();
        let (worker, commands) = register(&handle).await;
        handle
            .ask(Question::Submit { spec: Box::new(spec(3)), watcher: None, known: None })
            .await
            .expect("accepted");
        // It stops listening without a word; the next message to it shows that.
        drop(commands);
        for _ in 0..3 {
            let says = WorkerSays::Failed {
                unit: corridor_shared::job::UnitId(1),
                attempt: corridor_shared::job::Attempt::FIRST,
                message: "test".to_owned(),
            };
            handle.worker_says(worker, says).await.expect("a driver");
        }
        assert_eq!(handle.ask(Question::Workers).await, Ok(Answer::Workers(Vec::new())));
    }

    #[tokio::test]
    async fn whoever_orders_what_has_happened_already_waits_until_it_is_durable() {
        let (mut driver, handle) = new(Config::default());
        let (batches, mut written) = mpsc::channel(1);
        let (say, news) = mpsc::channel(1);
        driver.restore(Kept::default(), Keeper::new(batches, news));
        drop(tokio::spawn(driver.run(CancellationToken::new())));
        let ask = |question| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.ask(question).await })
        };
        let submitted = ask(Question::Submit { spec: Box::new(spec(9)), watcher: None, known: None });
        let accepted = written.recv().await.expect("a batch").last;
        say.send(News::Committed(accepted)).await.expect("a driver");
        let Ok(Ok(Answer::Job(job))) = submitted.await else { panic!("refused") };

        let first = ask(Question::Cancel(job));
        let is_end = |entry: &Keep| matches!(entry, Keep::Event { record, .. } if record.event.is_last());
        let ended = loop {
            let batch = written.recv().await.expect("a batch");
            if batch.entries.iter().any(is_end) {
                break batch.last;
            }
            say.send(News::Committed(batch.last)).await.expect("a driver");
        };
        // The job is over for the driver, and for nobody else.
        let again = [Question::Cancel(job), Question::Pause(job), Question::Resume(job)].map(ask);
        let unknown = ask(Question::Cancel(JobId(99))).await.expect("no panic");
        assert!(matches!(unknown, Err(AskError::Refused(Refusal::NotFound(_)))), "{unknown:?}");
        // Questions are heard in their order, so that those before it have been.
        assert!(!first.is_finished() && again.iter().all(|it| !it.is_finished()));
        say.send(News::Committed(ended)).await.expect("a driver");
        assert_eq!(first.await.expect("no panic"), Ok(Answer::Nothing));
        let [cancelled, paused, resumed] = again;
        assert_eq!(cancelled.await.expect("no panic"), Ok(Answer::Nothing));
        for refused in [paused.await, resumed.await] {
            let refused = refused.expect("no panic");
            assert!(matches!(refused, Err(AskError::Refused(Refusal::Precondition(_)))), "{refused:?}");
        }
        // What is durable already is confirmed at once.
        assert_eq!(ask(Question::Cancel(job)).await.expect("no panic"), Ok(Answer::Nothing));
    }

    #[tokio::test]
    async fn who_asks_a_stopped_driver_is_told() {
        let (handle, stop) = running();
        let job = match handle
            .ask(Question::Submit { spec: Box::new(spec(3)), watcher: None, known: None })
            .await
        {
            Ok(Answer::Job(job)) => job,
            other => panic!("{other:?}"),
        };
        let mut stream = handle.watch(job, 0).await.expect("a stream");
        stop.cancel();
        let dropped = loop {
            match stream.next().await {
                Ok(Some(_)) => {}
                other => break other,
            }
        };
        assert!(dropped.is_err_and(|dropped| dropped.0.contains("shutting down")));
        assert_eq!(handle.ask(Question::Workers).await, Err(AskError::Closed));
    }
}
