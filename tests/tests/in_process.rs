//! Coordinator and workers in one process, over real gRPC on loopback.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::time::{Duration, Instant};

use corridor_coordinator::{Config, Coordinator};
use corridor_proto::convert::spec_to_wire;
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_proto::v1::fleet_server::{Fleet, FleetServer};
use corridor_proto::v1::positions_client::PositionsClient;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_proto::v1::session_response::Kind as Told;
use corridor_shared::Position;
use corridor_shared::job::{ENGINE_EPOCH, JobEvent, JobLimits, JobSpec, StoppedBy};
use corridor_shared::score::{Bound, WhiteScore};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status, Streaming};

use corridor_tests::{
    ANY_PORT, FakeWorker, LONG, analysis, coordinator, done, found, moves, next, open_session, register,
    rest, spec, submit, url, worker, worker_without_waiting,
};

// ---- the main job -------------------------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_start_position_is_analysed() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let workers = [worker(&coordinator, "a").await, worker(&coordinator, "b").await];
    let mut client = analysis(&coordinator).await;
    let mut events = submit(&mut client, &spec(Position::start(), 3)).await;
    let events = rest(&mut events, Vec::new()).await;

    let JobEvent::Accepted(accepted) = &events[0].event else { panic!("{:?}", events[0]) };
    assert_eq!((accepted.kept.len(), accepted.pruned.len()), (35, 96));
    let heats = events.iter().filter(|record| matches!(record.event, JobEvent::Heat(_)));
    assert_eq!(heats.count(), 1 + accepted.kept.len(), "the position's heat and each kept move's");
    let depths = events.iter().filter_map(|record| match &record.event {
        JobEvent::Iteration(report) => Some(report.depth),
        _ => None,
    });
    assert_eq!(depths.collect::<Vec<_>>(), [1, 2, 3]);
    let done = done(&events);
    assert_eq!((done.depth, done.stopped_by), (3, StoppedBy::Depth));
    assert_eq!(done.lines.len(), accepted.kept.len());
    assert_eq!((done.best_move, done.lines[0].bound), (Some(done.lines[0].mv), Bound::Exact));
    assert_eq!(done.pv.first(), done.best_move.as_ref());

    for worker in workers {
        worker.stop.cancel();
        worker.task.await.expect("an orderly end");
    }
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scores_are_from_whites_view_and_wins_have_a_distance() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let _worker = worker(&coordinator, "a").await;
    let mut client = analysis(&coordinator).await;
    // Nobody has walls: from the start position Black wins in exactly 16 plies, whoever looks.
    let race = |text: &str| text.parse::<Position>().expect("a position");
    let mut events = submit(&mut client, &spec(race("/ / e1 e9 / 0 0 / 1"), 6)).await;
    let answer = done(&rest(&mut events, Vec::new()).await);
    assert_eq!(
        (answer.score_white, answer.stopped_by),
        (Some(WhiteScore::BlackWinsIn(16)), StoppedBy::Proof)
    );
    let mut events = submit(&mut client, &spec(race("/ / e2 e9 / 0 0 / 2"), 6)).await;
    let answer = done(&rest(&mut events, Vec::new()).await);
    assert_eq!(answer.score_white, Some(WhiteScore::BlackWinsIn(15)));
    coordinator.stop().await;
}

/// The golden races through the cluster: the shortest win of all moves, not the first that is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn races_are_exact() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let _workers = [worker(&coordinator, "a").await, worker(&coordinator, "b").await];
    let mut client = analysis(&coordinator).await;
    let golden = include_str!("../../shared/tests/data/races.jsonl");
    for record in golden.lines() {
        let record: serde_json::Value = serde_json::from_str(record).expect("a golden record");
        let position: Position =
            record["position"].as_str().expect("a position").parse().expect("a position");
        let plies = record["plies"].as_u64().map(|plies| u16::try_from(plies).expect("few plies"));
        let expected = match (record["winner"].as_str(), plies) {
            (Some("white"), Some(plies)) => WhiteScore::WhiteWinsIn(plies),
            (Some("black"), Some(plies)) => WhiteScore::BlackWinsIn(plies),
            _ => WhiteScore::Cm(0),
        };
        let answer = done(&rest(&mut submit(&mut client, &spec(position, 2)).await, Vec::new()).await);
        assert_eq!(answer.score_white, Some(expected), "{position}");
        assert_eq!(answer.lines[0].bound, Bound::Exact, "{position}");
        if let Some(plies) = plies {
            assert_eq!(
                (answer.stopped_by, answer.pv.len()),
                (StoppedBy::Proof, usize::from(plies)),
                "{position}"
            );
        }
    }
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_worker_does_not_keep_the_answer() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let killed = worker(&coordinator, "killed").await;
    let _survivor = worker(&coordinator, "survivor").await;
    let mut client = analysis(&coordinator).await;
    let mut events = submit(&mut client, &spec(moves("e2 e8 e3 e7"), 7)).await;
    let mut seen = Vec::new();
    while let Some(record) = next(&mut events).await {
        let deep = matches!(&record.event, JobEvent::Iteration(report) if report.depth == 4);
        seen.push(record);
        if deep {
            killed.task.abort();
            break;
        }
    }
    let answer = done(&rest(&mut events, seen).await);
    assert_eq!((answer.depth, answer.stopped_by), (7, StoppedBy::Depth));
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_workers_gone_is_told_and_survived() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let first = worker(&coordinator, "first").await;
    let mut client = analysis(&coordinator).await;
    let mut events = submit(&mut client, &spec(moves("e2 e8 e3 e7"), 6)).await;
    let mut seen = Vec::new();
    first.task.abort();
    let mut second = None;
    while let Some(record) = next(&mut events).await {
        let waiting = matches!(&record.event, JobEvent::State(change) if change.state.name() == "waiting");
        seen.push(record);
        if waiting {
            second = Some(worker(&coordinator, "second").await);
            break;
        }
    }
    assert!(second.is_some(), "the job says that it waits");
    assert_eq!(done(&rest(&mut events, seen).await).depth, 6);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_stop_a_job_with_its_last_depth() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let _worker = worker(&coordinator, "a").await;
    let mut client = analysis(&coordinator).await;
    let limits = JobLimits { time: Some(Duration::from_millis(300)), ..JobLimits::default() };
    let timed = JobSpec { limits, ..spec(Position::start(), 1) };
    let started = Instant::now();
    let mut events = submit(&mut client, &timed).await;
    let answer = done(&rest(&mut events, Vec::new()).await);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(answer.stopped_by, StoppedBy::Time);
    assert!(answer.depth >= 1 && answer.lines.iter().all(|line| line.depth == answer.depth));

    let limits = JobLimits { nodes: Some(50_000), ..JobLimits::default() };
    let counted = JobSpec { limits, ..spec(Position::start(), 1) };
    let mut events = submit(&mut client, &counted).await;
    let answer = done(&rest(&mut events, Vec::new()).await);
    assert_eq!(answer.stopped_by, StoppedBy::Nodes);
    assert!((49_000..60_000).contains(&answer.nodes), "{}", answer.nodes);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_looked_after() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let _worker = worker(&coordinator, "a").await;
    let mut client = analysis(&coordinator).await;
    let endless = JobSpec { detach: true, ..spec(Position::start(), 60) };
    let request = v1::SubmitRequest { spec: Some(spec_to_wire(&endless)), fresh: false };
    let job = client.submit(request).await.expect("accepted").into_inner().job;

    let workers = client.workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers;
    assert_eq!((workers.len(), workers[0].name.as_str(), workers[0].slots), (1, "a", 1));
    client.pause(v1::PauseRequest { job }).await.expect("paused");
    let summary =
        client.get(v1::GetRequest { job }).await.expect("a job").into_inner().summary.expect("a summary");
    assert_eq!(summary.state, i32::from(v1::JobState::Paused));
    client.resume(v1::ResumeRequest { job }).await.expect("resumed");
    client.cancel(v1::CancelRequest { job }).await.expect("cancelled");
    let listed = client.list(v1::ListRequest::default()).await.expect("jobs").into_inner().jobs;
    assert_eq!((listed.len(), listed[0].state), (1, i32::from(v1::JobState::Done)));

    // A watcher that comes late sees the same events, from any cursor.
    let watch = v1::WatchRequest { job, after_seq: 3 };
    let mut events = client.watch(watch).await.expect("events").into_inner();
    let mut seq = 3;
    while let Some(message) = events.message().await.expect("an event") {
        seq += 1;
        assert_eq!(message.event.expect("an event").seq, seq);
    }
    assert_eq!(seq, listed[0].last_seq);
    coordinator.stop().await;
}

// ---- a worker's session, by hand ----------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_workers_units_run_elsewhere_within_a_lease() {
    let coordinator = coordinator(Duration::from_millis(500)).await;
    let mut silent = FakeWorker::join(&coordinator, "silent").await;
    let mut client = analysis(&coordinator).await;
    let mut events = submit(&mut client, &spec(Position::start(), 3)).await;
    silent.granted().await;
    let _healthy = worker(&coordinator, "healthy").await;
    let answer = done(&rest(&mut events, Vec::new()).await);
    assert_eq!(answer.depth, 3);
    // The session of the silent one was closed.
    while silent.told().await.is_some() {}
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_other_attempts_are_answered_lease_lost() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let mut fake = FakeWorker::join(&coordinator, "fake").await;
    let mut client = analysis(&coordinator).await;
    let _events = submit(&mut client, &spec(Position::start(), 3)).await;
    let unit = fake.granted().await;
    let result = v1::UnitResult {
        unit: unit.unit,
        attempt: unit.attempt + 1,
        score_white: Some(v1::ScoreWhite { kind: Some(v1::score_white::Kind::Cm(5)) }),
        bound: v1::Bound::Exact.into(),
        nodes: 1,
        completed: true,
        ..v1::UnitResult::default()
    };
    fake.say(found(result)).await;
    assert_eq!(fake.lease_lost().await, (unit.unit, unit.attempt + 1));
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_registrations_are_refused_with_the_right_code() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let refused = async |first: Says| open_session(&coordinator, first).await.err().expect("refused");
    let status = refused(Says::Heartbeat(v1::Heartbeat::default())).await;
    assert_eq!(status.code(), Code::FailedPrecondition, "{status:?}");
    let status = refused(Says::Register(v1::Register { slots: 0, ..register("a") })).await;
    assert_eq!(
        (status.code(), status.message()),
        (Code::InvalidArgument, "register.slots: must be at least 1")
    );
    let status = refused(Says::Register(register(""))).await;
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    let status = refused(Says::Register(v1::Register { slots: 1 << 20, ..register("a") })).await;
    assert!(status.code() == Code::ResourceExhausted && status.message().contains("max_slots"), "{status:?}");
    let other = v1::Register { engine_epoch: "older".to_owned(), ..register("a") };
    let status = refused(Says::Register(other)).await;
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert!(status.message().contains("older") && status.message().contains(ENGINE_EPOCH), "{status:?}");
    let _lives = FakeWorker::join(&coordinator, "b").await;
    let status = refused(Says::Register(v1::Register { instance: 8, ..register("b") })).await;
    assert_eq!(status.code(), Code::AlreadyExists, "{status:?}");
    coordinator.stop().await;
}

// ---- malformed requests and large ones ----------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_jobs_are_refused_with_field_and_fault() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let mut client = analysis(&coordinator).await;
    let good = spec_to_wire(&spec(Position::start(), 3));
    let text =
        |text: &str| v1::PositionSpec { source: Some(v1::position_spec::Source::Position(text.to_owned())) };
    let played = |text: &str, notation: v1::Notation| v1::PositionSpec {
        source: Some(v1::position_spec::Source::Moves(v1::MoveText {
            text: text.to_owned(),
            notation: notation.into(),
        })),
    };
    let limits = |limits: v1::Limits| v1::JobSpec { limits: Some(limits), ..good.clone() };
    let position = |position: v1::PositionSpec| v1::JobSpec { position: Some(position), ..good.clone() };
    let cases = [
        (v1::JobSpec { position: None, ..good.clone() }, "spec.position"),
        (position(text("nonsense")), "spec.position.position"),
        (position(text("/ / e1 e1 / 10 10 / 1")), "spec.position.position"),
        (position(text("/ / e1 e9 / 11 10 / 1")), "spec.position.position"),
        (position(text("e4e4 / / e1 e9 / 8 10 / 1")), "spec.position.position"),
        (position(played("e2 e8 e5", v1::Notation::Man)), "ply 3"),
        (position(played("e2", v1::Notation::Unspecified)), "spec.position.moves.notation"),
        (v1::JobSpec { prune: 0, ..good.clone() }, "spec.prune"),
        (v1::JobSpec { prune: 99, ..good.clone() }, "spec.prune"),
        (v1::JobSpec { multipv: Some(0), ..good.clone() }, "spec.multipv"),
        (v1::JobSpec { multipv: Some(1_000), ..good.clone() }, "max_multipv"),
        (limits(v1::Limits { depth: Some(0), ..v1::Limits::default() }), "spec.limits.depth"),
        (limits(v1::Limits { depth: Some(101), ..v1::Limits::default() }), "max_depth"),
        (limits(v1::Limits { time_ms: Some(0), ..v1::Limits::default() }), "spec.limits.time_ms"),
        (limits(v1::Limits { nodes: Some(0), ..v1::Limits::default() }), "spec.limits.nodes"),
    ];
    for (spec, named) in cases {
        let status =
            client.submit(v1::SubmitRequest { spec: Some(spec), fresh: false }).await.expect_err(named);
        assert_eq!(status.code(), Code::InvalidArgument, "{named}: {status:?}");
        assert!(status.message().contains(named) && !status.message().contains('\n'), "{named}: {status:?}");
    }
    assert_eq!(
        client.submit(v1::SubmitRequest { spec: None, fresh: false }).await.expect_err("no spec").code(),
        Code::InvalidArgument
    );
    assert_eq!(client.get(v1::GetRequest { job: 5 }).await.expect_err("no job").code(), Code::NotFound);
    assert_eq!(client.cancel(v1::CancelRequest { job: 5 }).await.expect_err("no job").code(), Code::NotFound);
    assert!(client.list(v1::ListRequest::default()).await.expect("jobs").into_inner().jobs.is_empty());
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_messages_reach_every_service_and_too_large_ones_none() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let address = url(coordinator.address());
    let large = "x".repeat(5 << 20);
    let too_large = "x".repeat(MAX_MESSAGE_BYTES + 1);
    let spec =
        |text: &str| v1::PositionSpec { source: Some(v1::position_spec::Source::Position(text.to_owned())) };

    let channel = Channel::from_shared(address).expect("an address").connect().await.expect("a channel");
    let mut positions = PositionsClient::new(channel.clone());
    let mut analysis = AnalysisClient::new(channel);
    for (text, code) in [(&large, Code::InvalidArgument), (&too_large, Code::OutOfRange)] {
        let request = v1::LegalMovesRequest { position: Some(spec(text)) };
        let status = positions.legal_moves(request).await.expect_err("no position");
        assert_eq!(status.code(), code, "{status:?}");
        assert!(status.message().len() < 1_000, "the fault is quoted in short");
        let job = v1::JobSpec { position: Some(spec(text)), ..v1::JobSpec::default() };
        let status = analysis
            .submit(v1::SubmitRequest { spec: Some(job), fresh: false })
            .await
            .expect_err("no position");
        assert_eq!(status.code(), code, "{status:?}");
    }
    let mut fake = FakeWorker::join(&coordinator, "fake").await;
    fake.say(Says::Failed(v1::UnitFailed { unit: 5, attempt: 1, message: large })).await;
    assert!(matches!(fake.told().await, Some(Told::LeaseLost(_))));
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_are_answered() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let mut client = PositionsClient::connect(url(coordinator.address())).await.expect("a client");
    let start = || {
        Some(v1::PositionSpec {
            source: Some(v1::position_spec::Source::Moves(v1::MoveText {
                text: String::new(),
                notation: v1::Notation::Man.into(),
            })),
        })
    };
    let legal =
        client.legal_moves(v1::LegalMovesRequest { position: start() }).await.expect("moves").into_inner();
    assert_eq!((legal.legal_count, legal.pawn_moves.len(), legal.walls.len()), (131, 3, 128));
    let heat = client.heat(v1::HeatRequest { position: start() }).await.expect("heat").into_inner();
    assert_eq!((heat.white_distance, heat.cat_search.len(), heat.walls.len()), (8, 81, 128));
    let moves = v1::MoveText { text: "e2 e8 e4h".to_owned(), notation: v1::Notation::Nw.into() };
    let request = v1::ConvertRequest { moves: Some(moves), to: v1::Notation::Man.into() };
    assert_eq!(client.convert(request.clone()).await.expect("moves").into_inner().moves, "e2 e8 e3h");
    let undeclared = v1::ConvertRequest { to: 0, ..request };
    assert_eq!(client.convert(undeclared).await.expect_err("undeclared").code(), Code::InvalidArgument);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_and_reflection_are_served() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let channel =
        Channel::from_shared(url(coordinator.address())).expect("a url").connect().await.expect("a channel");
    let mut health = tonic_health::pb::health_client::HealthClient::new(channel.clone());
    for service in ["Analysis", "Positions", "Book", "Fleet", "Cache"] {
        let request = tonic_health::pb::HealthCheckRequest { service: format!("corridor.v1.{service}") };
        let status = health.check(request).await.expect("health").into_inner();
        assert_eq!(status.status(), tonic_health::pb::health_check_response::ServingStatus::Serving);
    }

    use tonic_reflection::pb::v1alpha as reflection;
    let mut client = reflection::server_reflection_client::ServerReflectionClient::new(channel);
    let list = reflection::server_reflection_request::MessageRequest::ListServices(String::new());
    let request = reflection::ServerReflectionRequest { host: String::new(), message_request: Some(list) };
    let mut answers =
        client.server_reflection_info(tokio_stream::once(request)).await.expect("reflection").into_inner();
    let answer = answers.message().await.expect("an answer").expect("an answer");
    let text = format!("{answer:?}");
    for service in ["Analysis", "Book", "Fleet"] {
        assert!(text.contains(&format!("corridor.v1.{service}")), "{text}");
    }
    coordinator.stop().await;
}

// ---- lines that break ---------------------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_finds_its_coordinator_when_it_comes_and_when_it_comes_back() {
    let first = coordinator(Duration::from_secs(10)).await;
    let address = first.address();
    first.stop().await;
    // One of the addresses is dead for good, and nobody notices.
    let dead = "http://127.0.0.1:1".to_owned();
    let (worker, mut connected) = worker_without_waiting(&[dead, url(address)], "patient");
    for _ in 0..2 {
        let coordinator = loop {
            // The port may linger for a moment.
            match Coordinator::start(address, Config::default()).await {
                Ok(coordinator) => break coordinator,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
        tokio::time::timeout(LONG, connected.wait_for(|&connected| connected))
            .await
            .expect("in time")
            .expect("runs");
        coordinator.stop().await;
        tokio::time::timeout(LONG, connected.wait_for(|&connected| !connected))
            .await
            .expect("in time")
            .expect("runs");
    }
    worker.stop.cancel();
    worker.task.await.expect("an orderly end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_client_does_not_hold_up_the_end() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let _silent = tokio::net::TcpStream::connect(coordinator.address()).await.expect("a connection");
    let _worker = worker(&coordinator, "a").await;
    // One that spoke once, and then fell silent in the middle of a request, is no better.
    let mut dumb = tokio::net::TcpStream::connect(coordinator.address()).await.expect("a connection");
    tokio::io::AsyncWriteExt::write_all(&mut dumb, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("sent");
    let started = Instant::now();
    coordinator.stop().await;
    assert!(started.elapsed() < Duration::from_secs(7), "{:?}", started.elapsed());
    // The port is free again, and whoever holds on to the old connection is cut off.
    let mut rest = Vec::new();
    let cut = tokio::time::timeout(LONG, tokio::io::AsyncReadExt::read_to_end(&mut dumb, &mut rest));
    assert!(cut.await.is_ok(), "still connected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drained_worker_hands_back_and_leaves() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let drained = worker(&coordinator, "drained").await;
    let mut client = analysis(&coordinator).await;
    let mut events = submit(&mut client, &spec(moves("e2 e8 e3 e7"), 7)).await;
    let mut seen = Vec::new();
    while let Some(record) = next(&mut events).await {
        let deep = matches!(&record.event, JobEvent::Iteration(report) if report.depth == 4);
        seen.push(record);
        if deep {
            break;
        }
    }
    drained.stop.cancel();
    tokio::time::timeout(Duration::from_secs(2), drained.task)
        .await
        .expect("in time")
        .expect("an orderly end");
    let _second = worker(&coordinator, "second").await;
    assert_eq!(done(&rest(&mut events, seen).await).depth, 7);
    coordinator.stop().await;
}

// ---- a coordinator by hand ----------------------------------------------------------------------------------------

/// A coordinator that says what the test tells it to, and lets the test hear the answers.
struct FakeCoordinator {
    says: tokio::sync::Mutex<Option<mpsc::Receiver<v1::SessionResponse>>>,
    heard: mpsc::Sender<v1::SessionRequest>,
}

#[tonic::async_trait]
impl Fleet for FakeCoordinator {
    type SessionStream =
        std::pin::Pin<Box<dyn tokio_stream::Stream<Item = Result<v1::SessionResponse, Status>> + Send>>;

    async fn session(
        &self,
        request: Request<Streaming<v1::SessionRequest>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let heard = self.heard.clone();
        let mut messages = request.into_inner();
        tokio::spawn(async move {
            while let Ok(Some(message)) = messages.message().await {
                if heard.send(message).await.is_err() {
                    break;
                }
            }
        });
        let says = self.says.lock().await.take().ok_or_else(|| Status::unavailable("one session only"))?;
        use tokio_stream::StreamExt;
        Ok(Response::new(Box::pin(ReceiverStream::new(says).map(Ok))))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_malformed_unit_fails_alone_and_large_messages_pass_both_ways() {
    let (says, to_say) = mpsc::channel(16);
    let (heard, mut hears) = mpsc::channel(16);
    let fake = FakeCoordinator { says: tokio::sync::Mutex::new(Some(to_say)), heard };
    let listener = tokio::net::TcpListener::bind(ANY_PORT).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let service = FleetServer::new(fake)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
    tokio::spawn(tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming));

    let (worker, _) = worker_without_waiting(&[url(address)], "a");
    let say =
        async |kind: Told| says.send(v1::SessionResponse { kind: Some(kind) }).await.expect("a session");
    let mut answer = async || loop {
        let message = tokio::time::timeout(LONG, hears.recv()).await.expect("in time").expect("a worker");
        match message.kind.expect("a kind") {
            Says::Heartbeat(_) | Says::Register(_) => continue,
            other => return other,
        }
    };
    say(Told::Registered(v1::Registered { worker: 1, lease_ms: 1_000, heartbeat_ms: 100 })).await;
    let good = v1::Unit {
        job: 1,
        unit: 1,
        attempt: 1,
        root: Position::start().to_string(),
        path: vec!["e2".to_owned()],
        depth: 2,
        prune: v1::PruneMode::Cat.into(),
        ..v1::Unit::default()
    };
    let bad = [
        v1::Unit::default(),
        v1::Unit { root: "rubbish".to_owned(), ..good.clone() },
        v1::Unit { path: vec!["e5".to_owned()], ..good.clone() },
        v1::Unit { prune: 0, ..good.clone() },
    ];
    for unit in bad {
        let number = unit.unit;
        say(Told::Grant(v1::Grant { units: vec![unit] })).await;
        match answer().await {
            Says::Failed(failed) => assert_eq!(failed.unit, number, "{failed:?}"),
            other => panic!("{other:?}"),
        }
    }
    say(Told::Grant(v1::Grant { units: vec![good] })).await;
    match answer().await {
        Says::Results(found) => {
            assert!(found.results.iter().all(|result| result.completed && result.nodes > 0), "{found:?}");
            assert_eq!(found.results.len(), 1);
        }
        other => panic!("{other:?}"),
    }
    let large = "x".repeat(5 << 20);
    say(Told::Drain(v1::DrainRequest { reason: large.clone() })).await;
    match answer().await {
        Says::Draining(draining) => assert_eq!(draining.reason, large),
        other => panic!("{other:?}"),
    }
    // Told to leave, it leaves, without another word from anybody.
    tokio::time::timeout(LONG, worker.task).await.expect("in time").expect("an orderly end");
}
