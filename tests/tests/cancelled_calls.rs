//! Calls that are cancelled at random points, of every kind: nothing leaks. Slots are free again, streams and sessions end on
//! the coordinator's side too, and whoever comes afterwards is served as if nothing had been.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod clock;
#[path = "../../cli/tests/common/random.rs"]
mod random;

use std::future::Future;
use std::time::Duration;

use corridor_coordinator::Coordinator;
use corridor_proto::convert::spec_to_wire;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_proto::v1::cache_client::CacheClient;
use corridor_proto::v1::fleet_client::FleetClient;
use corridor_shared::job::{ENGINE_EPOCH, JobSpec, StoppedBy};
use corridor_tests::{LONG, analysis, coordinator, done, moves, register, rest, spec, submit, url, worker};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use random::{Draw, seed};

const CALLS: usize = 400;

/// Lets a call go on for so many of its turns, and drops it then.
async fn cancelled_after(turns: usize, call: impl Future<Output = ()>) {
    let mut call = Box::pin(call);
    let mut left = turns;
    std::future::poll_fn(|context| {
        if left == 0 {
            return std::task::Poll::Ready(());
        }
        left -= 1;
        call.as_mut().poll(context)
    })
    .await;
}

/// One call of some kind on an open connection.
async fn call(kind: usize, job: u64, mut client: AnalysisClient<Channel>) {
    let wanted = spec_to_wire(&JobSpec { multipv: 2, ..spec(moves("e2 e8"), 5) });
    // Whether it is refused is of no consequence here.
    match kind {
        0 | 1 => {
            let request = v1::AnalyzeRequest { spec: Some(wanted), fresh: false };
            let Ok(events) = client.analyze(request).await else { return };
            let mut events = events.into_inner();
            while let Ok(Some(_)) = events.message().await {}
        }
        2 => drop(client.submit(v1::SubmitRequest { spec: Some(wanted), fresh: false }).await),
        3 | 4 => {
            let Ok(events) = client.watch(v1::WatchRequest { job, after_seq: 0 }).await else { return };
            let mut events = events.into_inner();
            while let Ok(Some(_)) = events.message().await {}
        }
        5 => drop(client.cancel(v1::CancelRequest { job }).await),
        6 => drop(client.pause(v1::PauseRequest { job }).await),
        7 => drop(client.resume(v1::ResumeRequest { job }).await),
        8 => drop(client.list(v1::ListRequest::default()).await),
        _ => drop(client.workers(v1::WorkersRequest {}).await),
    }
}

/// A session of a worker that leaves in the middle of whatever it does.
async fn session(name: String, channel: Channel) {
    let (says, requests) = mpsc::channel(4);
    let register = v1::session_request::Kind::Register(v1::Register { slots: 3, ..register(&name) });
    says.send(v1::SessionRequest { kind: Some(register) }).await.expect("room");
    let answer = FleetClient::new(channel).session(ReceiverStream::new(requests)).await;
    let Ok(told) = answer else { return };
    let mut told = told.into_inner();
    while let Ok(Some(_)) = told.message().await {}
    drop(says);
}

async fn exchange(worker: u64, channel: Channel) {
    let (says, requests) = mpsc::channel(4);
    let hello = v1::ExchangeHello { worker, engine_epoch: ENGINE_EPOCH.to_owned() };
    let kind = Some(v1::exchange_request::Kind::Hello(hello));
    says.send(v1::ExchangeRequest { kind }).await.expect("room");
    let Ok(told) = CacheClient::new(channel).exchange(ReceiverStream::new(requests)).await else { return };
    let mut told = told.into_inner();
    while let Ok(Some(_)) = told.message().await {}
    drop(says);
}

async fn workers(client: &AnalysisClient<Channel>) -> Vec<v1::WorkerSummary> {
    client.clone().workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers
}

async fn jobs(client: &AnalysisClient<Channel>) -> Vec<v1::JobSummary> {
    client.clone().list(v1::ListRequest::default()).await.expect("jobs").into_inner().jobs
}

async fn until(what: &str, so: impl AsyncFn() -> bool) {
    let wait = async {
        while !so().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Disturbs a coordinator with calls of every kind, each cancelled at some point.
async fn disturb(coordinator: &Coordinator, draw: &mut Draw) {
    let channel = Channel::from_shared(url(coordinator.address())).expect("a url").connect().await;
    let channel = channel.expect("a channel");
    let client = AnalysisClient::new(channel.clone());
    let mut calls = Vec::new();
    for number in 0..CALLS {
        let (turns, kind, job) = (draw.below(12), draw.below(12), 1 + draw.next() % 40);
        let (channel, client) = (channel.clone(), client.clone());
        calls.push(tokio::spawn(cancelled_after(turns, async move {
            match kind {
                10 => session(format!("fleeting {}", number % 7), channel).await,
                11 => exchange(job, channel).await,
                _ => call(kind, job, client).await,
            }
        })));
        if draw.below(8) == 0 {
            tokio::time::sleep(Duration::from_millis(draw.next() % 15)).await;
        }
    }
    // Those that still wait for something are dropped now.
    tokio::time::sleep(Duration::from_millis(100)).await;
    for call in calls {
        call.abort();
        if let Err(error) = call.await {
            assert!(error.is_cancelled(), "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_calls_leave_nothing_behind() {
    let mut draw = Draw::new(seed("CORRIDOR_CANCEL_SEED"));
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let _workers = [worker(&coordinator, "a").await, worker(&coordinator, "b").await];
    let mut client = analysis(&coordinator).await;
    until("the exchanges are up", async || coordinator.handle().cache().counts().peers == 2).await;
    let wanted = spec(moves("e2 e8 e3 e7 d3h e6"), 5);
    let wanted = JobSpec { deterministic: true, ..wanted };
    let expected = done(&rest(&mut submit(&mut client, &wanted).await, Vec::new()).await);
    let before = clock::tasks();

    disturb(&coordinator, &mut draw).await;
    // Only the two real workers are left, whoever came and went.
    until("fleeting workers are gone", async || workers(&client).await.len() == 2).await;
    until("their exchanges are gone", async || coordinator.handle().cache().counts().peers == 2).await;
    for job in jobs(&client).await {
        client.cancel(v1::CancelRequest { job: job.job }).await.expect("cancelled");
    }
    let ended = |job: &v1::JobSummary| matches!(job.state(), v1::JobState::Done | v1::JobState::Failed);
    assert!(jobs(&client).await.iter().all(ended));
    let units = async || workers(&client).await.iter().map(|worker| worker.units).sum::<u32>();
    assert_eq!(units().await, 0, "a slot is taken by nobody's unit");
    until("their tasks have ended", async || clock::tasks() <= before).await;

    // All slots search, and the answer is right.
    let again = done(&rest(&mut submit(&mut client.clone(), &wanted).await, Vec::new()).await);
    assert_eq!(again.stopped_by, StoppedBy::Depth);
    assert_eq!((again.lines, again.nodes, again.pv), (expected.lines, expected.nodes, expected.pv));
    until("both are idle", async || units().await == 0).await;
    coordinator.stop().await;
}
