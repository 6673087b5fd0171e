//! What tests of the whole have in common: a coordinator and workers in this process, over real gRPC on loopback, and a
//! client that checks the order of events as it reads them.
//!
//! A panic here is a failed test.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

pub mod browser;
mod fake_worker;
mod moody;
pub mod postgres;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use corridor_coordinator::store::{DatabaseStore, Place, Store, StoreError};
use corridor_coordinator::{Config, Coordinator};
use corridor_proto::convert::{event_from_wire, job_summary_from_wire, spec_to_wire};
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::Position;
use corridor_shared::job::{DoneReport, EventRecord, JobEvent, JobSpec, JobSummary};
use corridor_worker::{Worker, WorkerConfig};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

pub use fake_worker::{FakeWorker, found, open_session, open_session_at, register, searched};
pub use moody::{Mood, Moody};
pub use postgres::outside::can_have;

/// Loopback, a port that is free.
pub const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Nothing in a test should take so long.
pub const LONG: Duration = Duration::from_secs(60);

/// A coordinator on a free port, with this lease.
pub async fn coordinator(lease: Duration) -> Coordinator {
    Coordinator::start(ANY_PORT, Config { lease, ..Config::default() }).await.expect("a coordinator")
}

/// A place for a store, which goes with the test.
pub struct Ground {
    /// Where it is.
    pub place: Place,
    /// The database; a file has none.
    pub database: Option<postgres::Database>,
    _folder: Option<tempfile::TempDir>,
}

/// A file, and a database if this machine can have one; otherwise that is said.
pub fn grounds() -> Vec<Ground> {
    let mut grounds = vec![file()];
    grounds.extend(postgres::database().map(Ground::on));
    grounds
}

/// A file.
pub fn file() -> Ground {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::file(&folder.path().join("corridor.db"));
    Ground { place, database: None, _folder: Some(folder) }
}

impl Ground {
    /// A database.
    pub fn on(database: postgres::Database) -> Self {
        let place = database.url.parse().expect("a URL");
        Self { place, database: Some(database), _folder: None }
    }
}

/// A store that is free, or soon is: the last holder may be dying.
pub async fn store(place: &Place) -> DatabaseStore {
    let started = Instant::now();
    loop {
        match DatabaseStore::open(place, "this test").await {
            Ok(store) => return store,
            Err(StoreError::Held { .. }) if started.elapsed() < LONG => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A coordinator with a store, at an address that is free, or soon is.
pub async fn serve(address: SocketAddr, store: impl Store + 'static) -> Coordinator {
    let started = Instant::now();
    let listener = loop {
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            // The port may linger for a moment.
            Err(_) if started.elapsed() < LONG => tokio::time::sleep(Duration::from_millis(5)).await,
            Err(error) => panic!("{error}"),
        }
    };
    Coordinator::serve_with(listener, Config::default(), Some(Box::new(store))).await.expect("a coordinator")
}

/// The URL of an address.
pub fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// A real worker. Aborting its task is as sudden as a process can be killed.
pub struct TestWorker {
    /// Cancel it for an orderly end.
    pub stop: CancellationToken,
    /// Its session and all its threads.
    pub task: JoinHandle<()>,
}

/// A worker of one slot and a small table.
pub fn small_worker(coordinators: &[String], name: &str) -> WorkerConfig {
    WorkerConfig {
        coordinators: coordinators.to_vec(),
        name: name.to_owned(),
        slots: 1,
        table_bytes: 4 << 20,
        exchange: true,
    }
}

/// A small worker, and a signal that is true while it is connected.
pub fn worker_without_waiting(
    coordinators: &[String],
    name: &str,
) -> (TestWorker, tokio::sync::watch::Receiver<bool>) {
    start_worker(small_worker(coordinators, name))
}

fn start_worker(config: WorkerConfig) -> (TestWorker, tokio::sync::watch::Receiver<bool>) {
    let worker = Worker::new(config).expect("a worker");
    let connected = worker.connected();
    let stop = CancellationToken::new();
    let task = tokio::spawn(worker.run(stop.clone()));
    (TestWorker { stop, task }, connected)
}

/// A worker that is connected.
pub async fn worker(coordinator: &Coordinator, name: &str) -> TestWorker {
    connected(small_worker(&[url(coordinator.address())], name)).await
}

/// A worker that is connected and exchanges no table entries.
pub async fn worker_alone(coordinator: &Coordinator, name: &str) -> TestWorker {
    let config = small_worker(&[url(coordinator.address())], name);
    connected(WorkerConfig { exchange: false, ..config }).await
}

async fn connected(config: WorkerConfig) -> TestWorker {
    let (worker, mut connected) = start_worker(config);
    tokio::time::timeout(LONG, connected.wait_for(|&connected| connected))
        .await
        .expect("in time")
        .expect("connected");
    worker
}

/// A client of the Analysis service.
pub async fn analysis(coordinator: &Coordinator) -> AnalysisClient<Channel> {
    AnalysisClient::connect(url(coordinator.address())).await.expect("a client")
}

/// A job to a depth, everything else by default.
pub fn spec(position: Position, depth: u8) -> JobSpec {
    JobSpec::new(position).to_depth(depth)
}

/// A job that goes on when nobody watches.
pub fn lasting(position: Position, depth: u8) -> JobSpec {
    JobSpec { detach: true, ..spec(position, depth) }
}

/// The position after moves in `man` from the start.
pub fn moves(text: &str) -> Position {
    let play =
        |position: Position, token: &str| position.play(token.parse().expect("a move")).expect("legal");
    text.split_whitespace().fold(Position::start(), play)
}

/// The stream of a job.
pub type Events = Streaming<v1::AnalyzeResponse>;

/// Submits a job and returns its events.
pub async fn submit(client: &mut AnalysisClient<Channel>, spec: &JobSpec) -> Events {
    let request = v1::AnalyzeRequest { spec: Some(spec_to_wire(spec)), fresh: false };
    client.analyze(request).await.expect("accepted").into_inner()
}

/// The next event; `None` at the end of the stream.
pub async fn next(events: &mut Events) -> Option<EventRecord> {
    let message = tokio::time::timeout(LONG, events.message()).await.expect("in time").expect("an event")?;
    Some(event_from_wire(message.event.expect("an event")).expect("a valid event"))
}

/// All events to the end of the stream, checked for order.
pub async fn rest(events: &mut Events, mut seen: Vec<EventRecord>) -> Vec<EventRecord> {
    while let Some(record) = next(events).await {
        seen.push(record);
    }
    for (record, seq) in seen.iter().zip(1..) {
        assert_eq!(record.seq, seq, "a gap or a repeat");
    }
    assert!(matches!(seen.first().map(|record| &record.event), Some(JobEvent::Accepted(_))));
    assert_eq!(seen.iter().filter(|record| record.event.is_last()).count(), 1);
    assert!(seen.last().is_some_and(|record| record.event.is_last()));
    seen
}

/// The report of the last event, which must be `done`.
pub fn done(events: &[EventRecord]) -> DoneReport {
    match events.last().map(|record| &record.event) {
        Some(JobEvent::Done(done)) => done.clone(),
        other => panic!("{other:?}"),
    }
}

/// Submits a job and returns its number.
///
/// # Errors
/// It is refused.
pub async fn accept(client: &mut AnalysisClient<Channel>, spec: &JobSpec) -> Result<u64, Status> {
    let request = v1::SubmitRequest { spec: Some(spec_to_wire(spec)), fresh: false };
    Ok(client.submit(request).await?.into_inner().job)
}

/// A job in short.
pub async fn summary(client: &mut AnalysisClient<Channel>, job: u64) -> JobSummary {
    let answer = client.get(v1::GetRequest { job }).await.expect("a job").into_inner();
    job_summary_from_wire(&answer.summary.expect("a summary")).expect("valid")
}

/// The stream of a job that was submitted before.
pub type Watched = Streaming<v1::WatchResponse>;

/// A job's events after a cursor.
///
/// # Errors
/// There is no such job, or the cursor is beyond its events.
pub async fn watch(
    client: &mut AnalysisClient<Channel>,
    job: u64,
    after_seq: u64,
) -> Result<Watched, Status> {
    Ok(client.watch(v1::WatchRequest { job, after_seq }).await?.into_inner())
}

/// Reads on until an event matches, or the stream ends or breaks; returns whether one did.
pub async fn read_until(
    stream: &mut Watched,
    seen: &mut Vec<EventRecord>,
    enough: impl Fn(&JobEvent) -> bool,
) -> bool {
    loop {
        let message = tokio::time::timeout(LONG, stream.message()).await.expect("in time");
        let Ok(Some(message)) = message else { return false };
        let record = event_from_wire(message.event.expect("an event")).expect("a valid event");
        let matches = enough(&record.event);
        seen.push(record);
        if matches {
            return true;
        }
    }
}

/// Whether an event is the end of a depth.
pub fn is_depth(depth: u8) -> impl Fn(&JobEvent) -> bool {
    move |event| matches!(event, JobEvent::Iteration(report) if report.depth == depth)
}

/// All of a job's events: no gap, no repeat, one beginning, one end; every depth is completed once.
#[track_caller]
pub fn check(seen: &[EventRecord]) -> DoneReport {
    for (record, seq) in seen.iter().zip(1..) {
        assert_eq!(record.seq, seq, "a gap or a repeat");
    }
    let accepted = seen.iter().filter(|record| matches!(record.event, JobEvent::Accepted(_)));
    assert_eq!(accepted.count(), 1);
    let depths = seen.iter().filter_map(|record| match &record.event {
        JobEvent::Iteration(report) => Some(report.depth),
        _ => None,
    });
    for (depth, expected) in depths.zip(1..) {
        assert_eq!(depth, expected, "a depth twice, or none");
    }
    assert_eq!(seen.iter().filter(|record| record.event.is_last()).count(), 1);
    done(seen)
}

/// What no schedule and no fault may change of a deterministic job's end: all but its time.
pub fn answer(done: &DoneReport) -> DoneReport {
    DoneReport { elapsed: Duration::ZERO, ..done.clone() }
}

/// Tries until something is so.
pub async fn eventually(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !so().await {
        assert!(started.elapsed() < LONG, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
