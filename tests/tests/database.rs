//! A store on a PostgreSQL server that goes away in the middle of a job: jobs pause and say so, and go on when it is back; the
//! answer is the undisturbed one, and no entry is lost or doubled.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "../../cli/tests/common/proxy.rs"]
mod proxy;

use std::time::Duration;

use corridor_coordinator::Coordinator;
use corridor_coordinator::store::{Place, Store};
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::job::{DoneReport, EventRecord, JobEvent, JobSpec, JobState};
use corridor_tests::postgres::{self, Database, SECRET, Server};
use corridor_tests::{
    ANY_PORT, LONG, TestWorker, accept, analysis, answer, check, is_depth, lasting, moves, read_until, serve,
    store, summary, watch, worker,
};
use tonic::transport::Channel;

use proxy::Proxy;

/// Deep enough that it is not over before it is disturbed.
const DEPTH: u8 = 10;

fn deterministic() -> JobSpec {
    JobSpec { deterministic: true, ..lasting(moves("e2 e8 e3 e7 d3h e6"), DEPTH) }
}

/// What nobody has disturbed.
async fn undisturbed() -> DoneReport {
    let coordinator = corridor_tests::coordinator(Duration::from_secs(10)).await;
    let _worker = worker(&coordinator, "a").await;
    let mut client = analysis(&coordinator).await;
    let mut events = corridor_tests::submit(&mut client, &deterministic()).await;
    let done = corridor_tests::done(&corridor_tests::rest(&mut events, Vec::new()).await);
    coordinator.stop().await;
    done
}

/// A coordinator in the middle of a job.
struct Running {
    coordinator: Coordinator,
    client: AnalysisClient<Channel>,
    events: corridor_tests::Watched,
    seen: Vec<EventRecord>,
    worker: TestWorker,
}

impl Running {
    async fn start(place: &Place) -> Self {
        let coordinator = serve(ANY_PORT, store(place).await).await;
        let worker = worker(&coordinator, "a").await;
        let mut client = analysis(&coordinator).await;
        let job = accept(&mut client, &deterministic()).await.expect("accepted");
        let mut events = watch(&mut client, job, 0).await.expect("a stream");
        let mut seen = Vec::new();
        read_until(&mut events, &mut seen, is_depth(2)).await;
        Self { coordinator, client, events, seen, worker }
    }

    /// Takes its worker away, so that the job is not over before the fault is noticed.
    fn without_worker(self) -> Self {
        self.worker.task.abort();
        self
    }

    /// Waits until it is not ready; returns why.
    async fn fault(&mut self) -> String {
        let mut ready = self.coordinator.readiness();
        let fault = tokio::time::timeout(LONG, ready.wait_for(|ready| ready.is_err())).await;
        let why = fault.expect("in time").expect("a coordinator").clone().unwrap_err();
        assert_eq!(summary(&mut self.client, 1).await.state, JobState::Paused);
        let refused = accept(&mut self.client, &deterministic()).await.expect_err("refused");
        assert_eq!(refused.code(), tonic::Code::Unavailable);
        why
    }

    /// Waits until it is ready, and for the end of the job, which is the undisturbed one; it has paused for this reason, and
    /// all that was told is in the store, once.
    async fn end(mut self, place: &Place, reason: &str) {
        let mut ready = self.coordinator.readiness();
        let healed = tokio::time::timeout(LONG, ready.wait_for(Result::is_ok)).await;
        healed.expect("in time").expect("a coordinator");
        let _another = worker(&self.coordinator, "b").await;
        read_until(&mut self.events, &mut self.seen, |_| false).await;
        assert_eq!(answer(&check(&self.seen)), answer(&undisturbed().await));
        let paused = |record: &EventRecord| match &record.event {
            JobEvent::State(change) => change.state == JobState::Paused && change.reason.contains(reason),
            _ => false,
        };
        assert!(self.seen.iter().any(paused), "no {reason}");
        assert!(!format!("{:?}", self.seen).contains(SECRET));
        self.coordinator.stop().await;
        let kept = store(place).await.load().await.expect("readable");
        let events: Vec<EventRecord> = kept.jobs[0].events.iter().map(|record| (**record).clone()).collect();
        assert_eq!((kept.jobs.len(), events), (1, self.seen));
    }
}

fn on_a_server() -> Option<(Server, Database, Place)> {
    let server = postgres::server()?;
    let database = server.database();
    let place = database.url.parse().expect("a URL");
    Some((server, database, place))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_stopped_at_once_and_started_again_changes_nothing() {
    let Some((server, _database, place)) = on_a_server() else { return };
    let mut running = Running::start(&place).await;
    server.stop_at_once();
    let why = running.fault().await;
    assert!(why.starts_with("the store cannot be written: "), "{why}");
    server.start_again();
    running.end(&place, "the store cannot be written: ").await;
}

/// Nobody is told of a server that is frozen: only time shows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_frozen_is_a_fault_and_heals() {
    let Some((server, database, place)) = on_a_server() else { return };
    let mut running = Running::start(&place).await.without_worker();
    let frozen = [server.process(), database.holder()];
    for process in frozen {
        server.signal(process, "-STOP");
    }
    let why = running.fault().await;
    assert_eq!(why, "the store does not answer: store_time 5 s has passed");
    for process in frozen {
        server.signal(process, "-CONT");
    }
    running.end(&place, "store_time").await;
}

/// The server keeps the old session, with the lock, and knows nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_loses_everything_without_a_reset_is_replaced() {
    let Some((server, database, place)) = on_a_server() else { return };
    let proxy = Proxy::start(([127, 0, 0, 1], server.port()).into());
    let at = proxy.url().replace("http://", "");
    let through = database.url.replace(&format!("127.0.0.1:{}", server.port()), &at);
    let mut running = Running::start(&through.parse().expect("a URL")).await.without_worker();
    let old = database.holder();
    proxy.fail();
    running.fault().await;
    assert_eq!(database.holder(), old);
    proxy.heal();
    running.end(&place, "the store").await;
}
