//! The worker's end of the conversation: dial out, register, take grants, send results and heartbeats, drain, and dial
//! again when the line breaks.

use std::collections::BTreeMap;
use std::sync::Arc;

use corridor_proto::convert::{
    heartbeat_to_wire, registration_to_wire, report_to_wire, terms_from_wire, unit_from_wire,
    unit_iteration_to_wire, window_from_wire,
};
use corridor_proto::v1;
use corridor_proto::v1::fleet_client::FleetClient;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_proto::v1::session_response::Kind as Told;
use corridor_shared::exchange::Linger;
use corridor_shared::job::{Attempt, ENGINE_EPOCH, Registration, Terms, UnitId, UnitProgress, WorkerId};
use corridor_shared::tt::TranspositionTable;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};
use tracing::{debug, info, warn};

use crate::backoff::Backoff;
use crate::exchange::{Exchange, Outbox};
use crate::limits::{
    CONNECT_TIME, DRAIN_TIME, GOODBYE_TIME, KEEPALIVE_INTERVAL, KEEPALIVE_TIMEOUT, MAX_MESSAGE_BYTES,
    MAX_RESULTS, RESULT_LINGER, SESSION_OUTBOX,
};
use crate::pool::{Outcome, Pool, Task, may_wait};

/// What a worker is.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// Where coordinators may be, as `http://HOST:PORT`; tried in turn. At least one.
    pub coordinators: Vec<String>,
    /// Its name, unique among the connected workers.
    pub name: String,
    /// Units that it searches at once, one thread each; at least 1.
    pub slots: u32,
    /// Size of the transposition table that its threads share, in bytes.
    pub table_bytes: usize,
    /// Whether it exchanges table entries with the other workers; usually yes.
    pub exchange: bool,
}

/// Why a worker does not start.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The address of a coordinator does not read.
    #[error("coordinator '{0}': {1}")]
    Coordinator(String, tonic::transport::Error),
    /// No coordinator was named.
    #[error("coordinators: at least one is needed")]
    NoCoordinator,
    /// No slots.
    #[error("slots: must be at least 1")]
    NoSlots,
    /// The table cannot be had.
    #[error("transposition table of {0} bytes: {1}")]
    Table(usize, String),
    /// The system gives no threads.
    #[error("start search threads: {0}")]
    Threads(#[from] std::io::Error),
}

/// A worker with its threads and its table, not connected yet.
pub struct Worker {
    endpoints: Vec<Endpoint>,
    registration: Registration,
    pool: Pool,
    outcomes: mpsc::Receiver<Outcome>,
    backoff: Backoff,
    connected: watch::Sender<bool>,
    table: Arc<TranspositionTable>,
    outbox: Arc<Outbox>,
    exchange: bool,
}

/// How a conversation ended.
enum End {
    /// The worker was told to stop, and has drained; whatever is left to do must be done by then.
    Drained(Instant),
    /// The coordinator does not want this worker, or not now.
    Refused(String),
    /// The line broke, or the coordinator closed it.
    Broken(String),
}

/// Why a line did not come about. Whoever answers without speaking gRPC is no coordinator.
fn refused(status: &Status) -> End {
    let message = status.message().to_owned();
    let foreign = status.code() == Code::Unimplemented
        || message.starts_with("grpc-status header missing")
        || message.contains("h2 protocol error");
    match status.code() {
        _ if foreign => End::Broken(format!("it answers, but is not a Corridor coordinator ({message})")),
        Code::AlreadyExists | Code::FailedPrecondition | Code::InvalidArgument | Code::ResourceExhausted => {
            End::Refused(message)
        }
        _ => End::Broken(message),
    }
}

impl Worker {
    /// Takes the table's memory and starts the threads.
    ///
    /// # Errors
    /// The configuration is impossible, or the system gives no memory or threads.
    pub fn new(config: WorkerConfig) -> Result<Self, WorkerError> {
        if config.coordinators.is_empty() {
            return Err(WorkerError::NoCoordinator);
        }
        if config.slots == 0 {
            return Err(WorkerError::NoSlots);
        }
        let endpoints = config.coordinators.iter().map(|url| endpoint(url)).collect::<Result<_, _>>()?;
        let table = TranspositionTable::new(config.table_bytes)
            .map_err(|error| WorkerError::Table(config.table_bytes, error.to_string()))?;
        let table_bytes = u64::try_from(table.bytes()).unwrap_or(u64::MAX);
        // Room for the outcome of every unit that can be in the pool: a search thread never waits here.
        let (sender, outcomes) = mpsc::channel(crate::limits::UNIT_QUEUE);
        let (table, outbox) = (Arc::new(table), Arc::new(Outbox::new()));
        let pool = Pool::start(config.slots, Arc::clone(&table), Arc::clone(&outbox), &sender)?;
        let instance = crate::backoff::draw();
        let registration = Registration {
            name: config.name,
            instance,
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots: config.slots,
            table_bytes,
        };
        let (connected, _) = watch::channel(false);
        Ok(Self {
            endpoints,
            registration,
            pool,
            outcomes,
            backoff: Backoff::new(instance),
            connected,
            table,
            outbox,
            exchange: config.exchange,
        })
    }

    /// Whether a coordinator has accepted it, now and from now on.
    #[must_use]
    pub fn connected(&self) -> watch::Receiver<bool> {
        self.connected.subscribe()
    }

    /// Serves until told to stop, by this process or by a coordinator, and drains then, all within `drain_time`. A broken
    /// line is dialled again, with growing, jittered pauses.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut next = 0;
        let mut deadline = None;
        while !stop.is_cancelled() {
            let endpoint = self.endpoints[next % self.endpoints.len()].clone();
            next += 1;
            let end = tokio::select! {
                () = stop.cancelled() => break,
                connected = connect(&endpoint, &self.registration) => match connected {
                    Ok(line) => {
                        let _exchange = self.exchange_at(&endpoint, line.terms.worker);
                        self.serve(line, &stop).await
                    }
                    Err(status) => refused(&status),
                },
            };
            match end {
                End::Drained(by) => {
                    deadline = Some(by);
                    break;
                }
                End::Refused(_) | End::Broken(_) => {
                    let pause = self.backoff.next_pause();
                    let coordinator = endpoint.uri();
                    match end {
                        End::Refused(reason) => {
                            warn!(%coordinator, %reason, ?pause, "the coordinator refuses this worker");
                        }
                        End::Broken(reason) => {
                            warn!(%coordinator, %reason, ?pause, "no line to the coordinator");
                        }
                        End::Drained(_) => {}
                    }
                    tokio::select! {
                        () = stop.cancelled() => break,
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            }
        }
        self.pool.close();
        let deadline = deadline.unwrap_or_else(|| Instant::now() + DRAIN_TIME);
        let ended = async { while self.outcomes.recv().await.is_some() {} };
        if tokio::time::timeout_at(deadline, ended).await.is_err() {
            warn!("drain_time has passed with search threads running");
        }
    }

    /// Exchanges table entries for as long as what it returns lives.
    fn exchange_at(&self, endpoint: &Endpoint, worker: WorkerId) -> Option<AbortOnDropHandle<()>> {
        let exchange = Exchange {
            endpoint: endpoint.clone(),
            worker,
            table: Arc::clone(&self.table),
            outbox: Arc::clone(&self.outbox),
        };
        self.exchange.then(|| AbortOnDropHandle::new(tokio::spawn(exchange.run())))
    }

    async fn serve(&mut self, line: Line, stop: &CancellationToken) -> End {
        self.backoff.reset();
        self.connected.send_replace(true);
        let Line { terms, says, mut told } = line;
        info!(worker = %terms.worker, name = %self.registration.name, "registered");
        let mut desk = Desk::new(&self.pool, says);
        let mut heartbeat = tokio::time::interval(terms.heartbeat);
        heartbeat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let end = loop {
            if let Some(reason) = desk.asked_to_leave.take() {
                self.connected.send_replace(false);
                break desk.drain(&mut self.outcomes, told, reason).await;
            }
            let went_on = tokio::select! {
                () = stop.cancelled() => {
                    desk.asked_to_leave = Some("told to stop".to_owned());
                    continue;
                }
                message = told.message() => match message {
                    Ok(Some(message)) => desk.take(message).await,
                    Ok(None) => break End::Broken("the coordinator closed the session".to_owned()),
                    Err(status) => break End::Broken(status.message().to_owned()),
                },
                Some(outcome) = self.outcomes.recv() => desk.settle(outcome).await,
                () = desk.linger() => desk.report(false).await,
                _ = heartbeat.tick() => desk.heartbeat().await,
            };
            if went_on.is_err() {
                break End::Broken("the session's outbox is closed".to_owned());
            }
        };
        self.connected.send_replace(false);
        end
    }
}

/// A connection on which a coordinator has accepted the worker.
struct Line {
    terms: Terms,
    says: mpsc::Sender<v1::SessionRequest>,
    told: Streaming<v1::SessionResponse>,
}

fn endpoint(url: &str) -> Result<Endpoint, WorkerError> {
    let endpoint = Endpoint::from_shared(url.to_owned())
        .map_err(|error| WorkerError::Coordinator(url.to_owned(), error))?;
    Ok(endpoint
        .connect_timeout(CONNECT_TIME)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(true))
}

async fn connect(endpoint: &Endpoint, registration: &Registration) -> Result<Line, Status> {
    let dial = async {
        let channel: Channel =
            endpoint.connect().await.map_err(|error| Status::unavailable(error_text(&error)))?;
        let mut client = FleetClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let (says, requests) = mpsc::channel(SESSION_OUTBOX);
        let register = Says::Register(registration_to_wire(registration));
        say(&says, register).await.map_err(|Closed| Status::internal("the outbox is closed"))?;
        let mut told = client.session(ReceiverStream::new(requests)).await?.into_inner();
        match told.message().await?.and_then(|message| message.kind) {
            Some(Told::Registered(registered)) => {
                let terms =
                    terms_from_wire(registered).map_err(|error| Status::internal(error.to_string()))?;
                Ok(Line { terms, says, told })
            }
            _ => Err(Status::internal("the coordinator did not answer the registration")),
        }
    };
    let dialled = tokio::time::timeout(CONNECT_TIME, dial).await;
    dialled.unwrap_or_else(|_| Err(Status::deadline_exceeded("connect_time has passed")))
}

/// An error with its causes, on one line.
pub(crate) fn error_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// The outbox is closed: the line is dead.
#[derive(Debug)]
struct Closed;

async fn say(says: &mpsc::Sender<v1::SessionRequest>, kind: Says) -> Result<(), Closed> {
    says.send(v1::SessionRequest { kind: Some(kind) }).await.map_err(|_| Closed)
}

/// One conversation: the units in hand and the way to answer.
struct Desk<'a> {
    pool: &'a Pool,
    says: mpsc::Sender<v1::SessionRequest>,
    held: BTreeMap<UnitId, Arc<Task>>,
    /// Results that wait for others to travel with.
    results: Vec<v1::UnitResult>,
    linger: Linger<Instant>,
    /// Somebody wants the worker to drain and leave, for this reason.
    asked_to_leave: Option<String>,
}

impl Drop for Desk<'_> {
    /// However a conversation ends: whatever is still held belongs to somebody else now.
    fn drop(&mut self) {
        for task in self.held.values() {
            task.stop(true);
        }
    }
}

impl<'a> Desk<'a> {
    fn new(pool: &'a Pool, says: mpsc::Sender<v1::SessionRequest>) -> Self {
        Self {
            pool,
            says,
            held: BTreeMap::new(),
            results: Vec::new(),
            linger: Linger::new(RESULT_LINGER),
            asked_to_leave: None,
        }
    }

    async fn say(&self, kind: Says) -> Result<(), Closed> {
        say(&self.says, kind).await
    }

    /// Does what the coordinator says.
    async fn take(&mut self, message: v1::SessionResponse) -> Result<(), Closed> {
        match message.kind {
            Some(Told::Grant(grant)) => return self.grant(grant).await,
            Some(Told::Window(update)) => {
                if let Some(task) = self.holds(update.unit, update.attempt) {
                    match window_from_wire(update.window.unwrap_or_default(), "window") {
                        Ok(window) => task.set_window(window),
                        Err(error) => warn!(%error, "a malformed window was ignored"),
                    }
                }
            }
            Some(Told::Cancel(cancel)) => self.drop_unit(cancel.unit, cancel.attempt),
            Some(Told::Shed(shed)) => {
                if let Some(task) = self.holds(shed.unit, shed.attempt) {
                    task.shed();
                }
            }
            Some(Told::LeaseLost(lost)) => self.drop_unit(lost.unit, lost.attempt),
            Some(Told::Drain(drain)) => {
                info!(reason = %drain.reason, "the coordinator asks for a drain");
                self.asked_to_leave = Some(drain.reason);
            }
            Some(Told::Registered(_)) | None => warn!("a message without meaning was ignored"),
        }
        Ok(())
    }

    fn holds(&self, unit: u64, attempt: u32) -> Option<&Arc<Task>> {
        self.held.get(&UnitId(unit)).filter(|task| task.unit().attempt == Attempt(attempt))
    }

    fn drop_unit(&self, unit: u64, attempt: u32) {
        if let Some(task) = self.holds(unit, attempt) {
            task.stop(true);
        }
    }

    async fn grant(&mut self, grant: v1::Grant) -> Result<(), Closed> {
        for unit in grant.units {
            self.take_unit(unit).await?;
        }
        Ok(())
    }

    /// Takes a unit into the pool. One that does not read fails alone.
    async fn take_unit(&mut self, wire: v1::Unit) -> Result<(), Closed> {
        let (unit, attempt) = (wire.unit, wire.attempt);
        let pushed =
            unit_from_wire(wire).map_err(|error| error.to_string()).and_then(|unit| self.pool.push(unit));
        match pushed {
            Ok(task) => {
                if let Some(old) = self.held.insert(task.unit().unit, task) {
                    old.stop(true);
                }
                Ok(())
            }
            Err(message) => {
                warn!(unit, %message, "a unit cannot be searched");
                self.say(Says::Failed(v1::UnitFailed { unit, attempt, message })).await
            }
        }
    }

    /// Reports how a unit ended, if anybody wants to know.
    async fn settle(&mut self, outcome: Outcome) -> Result<(), Closed> {
        let Outcome { task, result } = outcome;
        let unit = task.unit().unit;
        let current = self.held.get(&unit).is_some_and(|held| Arc::ptr_eq(held, &task));
        if !current {
            debug!(%unit, "an outcome of an earlier lease is dropped");
            return Ok(());
        }
        self.held.remove(&unit);
        if !task.is_wanted() {
            return Ok(());
        }
        match result {
            Ok(report) => {
                self.results.push(report_to_wire(&report));
                let may_wait = may_wait(&report, task.unit().turn()) && self.pool.has_waiting();
                self.report(!may_wait).await
            }
            Err(message) => {
                warn!(%unit, %message, "a unit cannot be searched");
                let attempt = task.unit().attempt.0;
                self.say(Says::Failed(v1::UnitFailed { unit: unit.0, attempt, message })).await
            }
        }
    }

    /// Until results have waited for long enough, if some wait.
    async fn linger(&self) {
        match self.linger.until() {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }

    /// Sends the results that wait, if it is time.
    async fn report(&mut self, now: bool) -> Result<(), Closed> {
        let full = if now { 1 } else { MAX_RESULTS };
        let waiting = self.results.len();
        if self.linger.due(Instant::now(), waiting, waiting, full).is_none() {
            return Ok(());
        }
        let results = std::mem::take(&mut self.results);
        self.say(Says::Results(v1::UnitResults { results })).await
    }

    async fn heartbeat(&mut self) -> Result<(), Closed> {
        // What has ended is no longer held.
        self.report(true).await?;
        for iteration in self.held.values().filter_map(|task| task.take_reached()).collect::<Vec<_>>() {
            self.say(Says::Iteration(unit_iteration_to_wire(&iteration))).await?;
        }
        let progress: Vec<UnitProgress> = self.held.values().map(|task| task.progress()).collect();
        self.say(Says::Heartbeat(heartbeat_to_wire(&progress))).await
    }

    /// Takes no more, hands back what is unfinished, and leaves, all inside a hard limit.
    async fn drain(
        &mut self,
        outcomes: &mut mpsc::Receiver<Outcome>,
        mut told: Streaming<v1::SessionResponse>,
        reason: String,
    ) -> End {
        let deadline = Instant::now() + DRAIN_TIME;
        let hand_back = async {
            self.say(Says::Draining(v1::WorkerDraining { reason })).await?;
            for task in self.held.values() {
                task.stop(false);
            }
            while !self.held.is_empty() {
                let Some(outcome) = outcomes.recv().await else { break };
                self.settle(outcome).await?;
            }
            self.report(true).await
        };
        if tokio::time::timeout_at(deadline, hand_back).await.is_err() {
            warn!("drain_time has passed with units unfinished");
        }
        // Closing our half ends the session; the coordinator then closes its own.
        let (closed, _) = mpsc::channel(1);
        self.says = closed;
        let goodbye = async { while let Ok(Some(_)) = told.message().await {} };
        let patience = deadline.min(Instant::now() + GOODBYE_TIME);
        if tokio::time::timeout_at(patience, goodbye).await.is_err() {
            debug!("the coordinator did not close the session");
        }
        End::Drained(deadline)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
