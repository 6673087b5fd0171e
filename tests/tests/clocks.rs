//! What must be true after so much time, over real gRPC with a clock that the test moves: leases, searches that do not move,
//! jobs without workers and jobs without watchers.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod clock;

use std::time::Duration;

use corridor_coordinator::limits::FIRST_DEPTH_GRACE;
use corridor_proto::convert::{event_from_wire, spec_to_wire};
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_proto::v1::session_response::Kind as Told;
use corridor_shared::job::{DoneReport, EventRecord, JobEvent, JobLimits, JobSpec, JobState, StoppedBy};
use tonic::Streaming;
use tonic::transport::Channel;

use clock::{FrozenClock, STEP, eventually, tasks};
use corridor_tests::{FakeWorker, analysis, coordinator, found, moves, rest, searched, spec, submit};

const LEASE: Duration = Duration::from_secs(10);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A job whose answer depends on no schedule.
fn deterministic() -> JobSpec {
    JobSpec { deterministic: true, ..spec(moves("e2 e8 e3 e7 d3h e6"), 3) }
}

/// Everything of an answer that a fault must not change.
fn answer(done: &DoneReport) -> DoneReport {
    DoneReport { elapsed: Duration::ZERO, ..done.clone() }
}

async fn names(client: &AnalysisClient<Channel>) -> Vec<String> {
    let workers = client.clone().workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers;
    workers.into_iter().map(|worker| worker.name).collect()
}

async fn state(client: &AnalysisClient<Channel>, job: u64) -> v1::JobState {
    let answer = client.clone().get(v1::GetRequest { job }).await.expect("a job").into_inner();
    answer.summary.expect("a summary").state()
}

/// Searches everything that it is given until the job has ended. Returns the answer.
async fn work(worker: &mut FakeWorker, mut events: Streaming<v1::AnalyzeResponse>) -> DoneReport {
    let mut seen: Vec<EventRecord> = Vec::new();
    loop {
        tokio::select! {
            told = worker.told() => {
                if let Told::Grant(grant) = told.expect("an open session") {
                    let results = grant.units.iter().map(searched).collect();
                    worker.say(Says::Results(v1::UnitResults { results })).await;
                }
            }
            message = events.message() => {
                let event = message.expect("a stream").expect("an event").event.expect("an event");
                seen.push(event_from_wire(event).expect("a valid event"));
                if seen.last().is_some_and(|record| record.event.is_last()) {
                    return corridor_tests::done(&rest(&mut events, seen).await);
                }
            }
        }
    }
}

/// The answer when nothing happens.
async fn undisturbed() -> DoneReport {
    let coordinator = coordinator(LEASE).await;
    let mut worker = FakeWorker::join(&coordinator, "undisturbed").await;
    let mut client = analysis(&coordinator).await;
    let events = submit(&mut client, &deterministic()).await;
    let done = work(&mut worker, events).await;
    coordinator.stop().await;
    answer(&done)
}

#[tokio::test]
async fn a_silent_worker_is_lost_after_its_lease_and_not_before() {
    let expected = undisturbed().await;
    let coordinator = coordinator(LEASE).await;
    let clock = FrozenClock::freeze();
    let mut silent = FakeWorker::join(&coordinator, "silent").await;
    let mut client = analysis(&coordinator).await;
    let events = submit(&mut client, &deterministic()).await;
    let unit = silent.granted().await;
    clock.pass(LEASE - 2 * STEP).await;
    assert_eq!(names(&client).await, ["silent"], "a lease is a lease");
    assert_eq!(state(&client, 1).await, v1::JobState::Running);
    clock.pass(3 * STEP).await;
    assert!(names(&client).await.is_empty());
    assert_eq!(state(&client, 1).await, v1::JobState::Waiting);
    // Its session was closed: its late result reaches nobody.
    while silent.told().await.is_some() {}
    let late = silent.says.send(v1::SessionRequest { kind: Some(found(searched(&unit))) }).await;
    drop(late);
    let mut healthy = FakeWorker::join(&coordinator, "healthy").await;
    let again = healthy.granted().await;
    assert_eq!((again.unit, again.attempt), (unit.unit, unit.attempt + 1));
    healthy.say(found(searched(&again))).await;
    assert_eq!(answer(&work(&mut healthy, events).await), expected);
    clock.stop(coordinator).await;
}

#[tokio::test]
async fn search_threads_that_hang_lose_their_unit_though_heartbeats_go_on() {
    let expected = undisturbed().await;
    let coordinator = coordinator(LEASE).await;
    let clock = FrozenClock::freeze();
    let mut hung = FakeWorker::join(&coordinator, "hung").await;
    let mut client = analysis(&coordinator).await;
    let events = submit(&mut client, &deterministic()).await;
    let unit = hung.granted().await;
    // It moves for a while, and then no more.
    for nodes in [1_000, 2_000, 3_000, 3_000] {
        clock.pass(seconds(5)).await;
        hung.beat(&[(&unit, nodes)]).await;
        clock::settle().await;
    }
    assert_eq!(state(&client, 1).await, v1::JobState::Running, "it moved five seconds ago");
    for _ in 0..6 {
        clock.pass(seconds(1)).await;
        hung.beat(&[(&unit, 3_000)]).await;
    }
    // The worker stays, and is told with every heartbeat that the unit is no longer its own.
    assert_eq!(names(&client).await, ["hung"]);
    assert_eq!(hung.lease_lost().await, (unit.unit, unit.attempt));
    let mut healthy = FakeWorker::join(&coordinator, "healthy").await;
    let again = healthy.granted().await;
    assert_eq!((again.unit, again.attempt), (unit.unit, unit.attempt + 1));
    // A result after all, with a score that would change the answer.
    let wrong = v1::ScoreWhite { kind: Some(v1::score_white::Kind::WhiteWinsIn(1)) };
    hung.say(found(v1::UnitResult { score_white: Some(wrong), ..searched(&unit) })).await;
    assert_eq!(hung.lease_lost().await, (unit.unit, unit.attempt));
    // Its slot is free again, and it must not take units now.
    hung.say(Says::Draining(v1::WorkerDraining::default())).await;
    healthy.say(found(searched(&again))).await;
    assert_eq!(answer(&work(&mut healthy, events).await), expected);
    clock.stop(coordinator).await;
}

#[tokio::test]
async fn a_result_that_comes_twice_is_counted_once() {
    let expected = undisturbed().await;
    let coordinator = coordinator(LEASE).await;
    let mut worker = FakeWorker::join(&coordinator, "stutters").await;
    let mut client = analysis(&coordinator).await;
    let events = submit(&mut client, &deterministic()).await;
    let unit = worker.granted().await;
    // Its reply was lost, or so it believes.
    for _ in 0..3 {
        worker.say(found(searched(&unit))).await;
    }
    for _ in 0..2 {
        // Grants that come in between are searched again under a later attempt.
        assert_eq!(worker.lease_lost().await, (unit.unit, unit.attempt));
    }
    drop(worker);
    let mut next = FakeWorker::join(&coordinator, "next").await;
    assert_eq!(answer(&work(&mut next, events).await), expected);
    coordinator.stop().await;
}

#[tokio::test]
async fn a_job_without_workers_says_that_it_waits_and_ends_with_its_own_time() {
    let coordinator = coordinator(LEASE).await;
    let clock = FrozenClock::freeze();
    let mut client = analysis(&coordinator).await;
    let limits = JobLimits { time: Some(seconds(3_600)), ..JobLimits::default() };
    let mut events = submit(&mut client, &JobSpec { limits, ..deterministic() }).await;
    clock.pass(seconds(3_600) - STEP).await;
    assert_eq!(state(&client, 1).await, v1::JobState::Waiting);
    // Before the first depth it is given a little more.
    clock.pass(FIRST_DEPTH_GRACE + 2 * STEP).await;
    assert_eq!(state(&client, 1).await, v1::JobState::Failed);
    let events = rest(&mut events, Vec::new()).await;
    let waits = |record: &EventRecord| match &record.event {
        JobEvent::State(change) => {
            change.state == JobState::Waiting && change.reason == "no worker is connected"
        }
        _ => false,
    };
    assert!(events.iter().any(waits));
    let JobEvent::Error(failure) = &events.last().expect("events").event else { panic!("{events:?}") };
    let said = (failure.code.as_str(), failure.message.as_str());
    assert_eq!(said, ("unavailable", "the time is up and no worker is connected"));
    clock.stop(coordinator).await;
}

/// Watches a job, and has read everything so far.
async fn watch(client: &AnalysisClient<Channel>, job: u64) -> Streaming<v1::WatchResponse> {
    let request = v1::WatchRequest { job, after_seq: 0 };
    client.clone().watch(request).await.expect("a stream").into_inner()
}

#[tokio::test]
async fn a_job_that_nobody_watches_any_more_ends_after_half_a_minute_and_leaves_nothing() {
    let coordinator = coordinator(seconds(3_600)).await;
    let clock = FrozenClock::freeze();
    let mut worker = FakeWorker::join(&coordinator, "a").await;
    let mut client = analysis(&coordinator).await;
    assert!(names(&client).await == ["a"], "the line is up");
    let before = tasks();

    let unlimited = JobLimits { time: Some(seconds(86_400)), ..JobLimits::default() };
    let lasting = JobSpec { limits: unlimited, ..deterministic() };
    let first = submit(&mut client, &lasting).await;
    let unit = worker.granted().await;
    let second = watch(&client, unit.job).await;
    let third = watch(&client, unit.job).await;
    drop(first);
    drop(third);
    clock.pass(seconds(120)).await;
    assert_eq!(state(&client, unit.job).await, v1::JobState::Running, "somebody watches");
    drop(second);
    clock.pass(seconds(29)).await;
    assert_eq!(state(&client, unit.job).await, v1::JobState::Running, "it is given half a minute");
    // Somebody who comes back in time starts the half minute anew.
    let again = watch(&client, unit.job).await;
    clock.pass(seconds(60)).await;
    drop(again);
    clock.pass(seconds(29)).await;
    assert_eq!(state(&client, unit.job).await, v1::JobState::Running);
    clock.pass(seconds(3)).await;
    let mut ended = watch(&client, unit.job).await;
    let mut events = Vec::new();
    while let Some(message) = ended.message().await.expect("a stream") {
        events.push(event_from_wire(message.event.expect("an event")).expect("a valid event"));
    }
    assert_eq!(corridor_tests::done(&events).stopped_by, StoppedBy::Cancel);
    // The worker was told, and nothing is leased to it.
    let cancelled = loop {
        if let Told::Cancel(cancel) = worker.told().await.expect("an open session") {
            break cancel;
        }
    };
    assert_eq!((cancelled.unit, cancelled.attempt), (unit.unit, unit.attempt));
    let workers = client.workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers;
    assert_eq!(workers[0].units, 0);
    eventually("its tasks have ended", async || tasks() <= before).await;

    // A detached one goes on for ever.
    let detached =
        v1::SubmitRequest { spec: Some(spec_to_wire(&JobSpec { detach: true, ..lasting })), fresh: false };
    let job = client.submit(detached).await.expect("accepted").into_inner().job;
    drop(watch(&client, job).await);
    clock.pass(seconds(600)).await;
    assert_eq!(state(&client, job).await, v1::JobState::Running);
    clock.stop(coordinator).await;
}
