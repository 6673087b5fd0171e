//! Bad input at every service: each is refused with the code that fits and one line that names the field and the fault, and
//! changes nothing: not the jobs, not the workers, not the cache.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

#[path = "../../cli/tests/common/random.rs"]
mod random;

use std::time::Duration;

use corridor_coordinator::Coordinator;
use corridor_proto::convert::spec_to_wire;
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_proto::v1::book_client::BookClient;
use corridor_proto::v1::cache_client::CacheClient;
use corridor_proto::v1::exchange_request::Kind as Offers;
use corridor_proto::v1::position_spec::Source;
use corridor_proto::v1::positions_client::PositionsClient;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_proto::v1::session_response::Kind as Told;
use corridor_shared::job::{ENGINE_EPOCH, JobSpec, StoppedBy};
use corridor_shared::{Move, Position};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status};

use corridor_tests::{
    FakeWorker, LONG, analysis, coordinator, done, found, moves, open_session, register, rest, spec, submit,
    url, worker,
};
use random::{Draw, seed};

/// A refusal, with what was asked, the code that fits, and what its text must say.
struct Refusal {
    asked: String,
    status: Option<Status>,
    code: Code,
    says: String,
}

/// Collects refusals of calls on one coordinator.
#[derive(Default)]
struct Refusals(Vec<Refusal>);

impl Refusals {
    fn add<T>(&mut self, asked: &str, answer: Result<T, Status>, code: Code, says: &str) {
        let status = answer.err();
        self.0.push(Refusal { asked: asked.to_owned(), status, code, says: says.to_owned() });
    }

    #[track_caller]
    fn check(&self) {
        for Refusal { asked, status, code, says } in &self.0 {
            let status = status.as_ref().unwrap_or_else(|| panic!("{asked}: accepted"));
            let text = status.message();
            assert_eq!(status.code(), *code, "{asked}: {status:?}");
            assert!(text.contains(says.as_str()), "{asked}: '{text}' does not say '{says}'");
            assert!(!text.contains('\n') && text.len() < 1_000, "{asked}: one short line: {text}");
        }
    }
}

/// Everything of a coordinator that bad input could change.
async fn condition(coordinator: &Coordinator) -> String {
    let mut client = analysis(coordinator).await;
    let jobs = client.list(v1::ListRequest::default()).await.expect("jobs").into_inner().jobs;
    let workers = client.workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers;
    let jobs: Vec<_> = jobs.iter().map(|job| (job.job, job.state(), job.last_seq, job.nodes)).collect();
    let workers: Vec<_> =
        workers.iter().map(|it| (it.name.clone(), it.slots, it.units, it.nodes, it.draining)).collect();
    let cache = coordinator.handle().cache().counts();
    format!("{jobs:?} {workers:?} {} entries, {} offered", cache.entries, cache.offered)
}

async fn channel(coordinator: &Coordinator) -> Channel {
    let endpoint = Channel::from_shared(url(coordinator.address())).expect("a url");
    endpoint.connect().await.expect("a channel")
}

/// A coordinator with one job that has ended, one that waits for nobody but a drained worker, and that worker.
async fn busy() -> (Coordinator, FakeWorker) {
    let coordinator = coordinator(LONG).await;
    let mut client = analysis(&coordinator).await;
    let over = spec("/ / e9 e5 / 10 10 / 2".parse().expect("a position"), 1);
    rest(&mut submit(&mut client, &over).await, Vec::new()).await;
    let lasting = JobSpec { detach: true, ..spec(Position::start(), 9) };
    client
        .submit(v1::SubmitRequest { spec: Some(spec_to_wire(&lasting)), fresh: false })
        .await
        .expect("accepted");
    let mut worker = FakeWorker::join(&coordinator, "quiet").await;
    worker.granted().await;
    worker.beat(&[]).await;
    (coordinator, worker)
}

fn position(source: Source) -> Option<v1::PositionSpec> {
    Some(v1::PositionSpec { source: Some(source) })
}

fn text(text: &str) -> Option<v1::PositionSpec> {
    position(Source::Position(text.to_owned()))
}

fn played(text: &str, notation: i32) -> Option<v1::PositionSpec> {
    position(Source::Moves(v1::MoveText { text: text.to_owned(), notation }))
}

/// Positions that are none, and what is said about them below the name of their field.
fn positions() -> Vec<(Option<v1::PositionSpec>, &'static str)> {
    let man = v1::Notation::Man.into();
    vec![
        (None, ""),
        (Some(v1::PositionSpec { source: None }), ""),
        (text(""), ".position: "),
        (text("nonsense"), ".position: "),
        (text("/ / e1 e9 / 10 10 / 3"), ".position: "),
        (text("/ / e1 e1 / 10 10 / 1"), ".position: "),
        (text("/ / e1 e9 / 11 10 / 1"), ".position: "),
        (text("/ / e0 e9 / 10 10 / 1"), ".position: "),
        (text("e4e4 / / e1 e9 / 8 10 / 1"), ".position: "),
        (text("\u{0} / / e1 e9 / 10 10 / 1"), ".position: "),
        (played("e2 e8", 0), ".moves.notation: is unspecified"),
        (played("e2 e8", 99), ".moves.notation: 99 is not a value"),
        (played("e2 e8", -1), ".moves.notation: -1 is not a value"),
        (played("e2 e8 e5", man), ".moves.text: ply 3 ("),
        (played("e2 e8 zz", man), ".moves.text: ply 3: 'zz' is not a move"),
        (played("e3h e3h", man), ".moves.text: ply 2 ("),
        (played(&"e2 e8 e1 e9 ".repeat(1_025), man), ".moves.text: the game has more than 4096 plies"),
        (played(&"x".repeat(5 << 20), man), ".moves.text: the move text has 5242880 bytes"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_jobs_are_refused_by_submit_and_analyze_alike() {
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    let mut client = analysis(&coordinator).await;
    let good = spec_to_wire(&spec(Position::start(), 3));
    let limits = |limits: v1::Limits| v1::JobSpec { limits: Some(limits), ..good.clone() };
    let none = v1::Limits::default();
    let mut bad = vec![
        (v1::JobSpec { prune: 0, ..good.clone() }, "spec.prune: is unspecified".to_owned()),
        (v1::JobSpec { prune: 99, ..good.clone() }, "spec.prune: 99 is not a value".to_owned()),
        (v1::JobSpec { prune: i32::MIN, ..good.clone() }, "spec.prune: -2147483648 is not".to_owned()),
        (v1::JobSpec { multipv: Some(0), ..good.clone() }, "spec.multipv: must be at least 1".to_owned()),
        (
            v1::JobSpec { multipv: Some(137), ..good.clone() },
            "spec.multipv: 137 is more than max_multipv".to_owned(),
        ),
        (v1::JobSpec { multipv: Some(u32::MAX), ..good.clone() }, "spec.multipv: ".to_owned()),
        (limits(v1::Limits { depth: Some(0), ..none }), "spec.limits.depth: must be at least 1".to_owned()),
        (limits(v1::Limits { depth: Some(101), ..none }), "spec.limits.depth: 101 is more than".to_owned()),
        (limits(v1::Limits { depth: Some(u32::MAX), ..none }), "spec.limits.depth: 4294967295 is".to_owned()),
        (
            limits(v1::Limits { time_ms: Some(0), ..none }),
            "spec.limits.time_ms: must be at least 1".to_owned(),
        ),
        (limits(v1::Limits { nodes: Some(0), ..none }), "spec.limits.nodes: must be at least 1".to_owned()),
    ];
    for (position, says) in positions() {
        bad.push((v1::JobSpec { position, ..good.clone() }, format!("spec.position{says}")));
    }
    let mut refusals = Refusals::default();
    for (spec, says) in bad {
        let request = v1::SubmitRequest { spec: Some(spec.clone()), fresh: false };
        refusals.add(&format!("submit: {says}"), client.submit(request).await, Code::InvalidArgument, &says);
        let request = v1::AnalyzeRequest { spec: Some(spec), fresh: false };
        refusals.add(
            &format!("analyze: {says}"),
            client.analyze(request).await,
            Code::InvalidArgument,
            &says,
        );
    }
    let nothing = v1::SubmitRequest { spec: None, fresh: false };
    refusals.add("submit nothing", client.submit(nothing).await, Code::InvalidArgument, "spec: is missing");
    let nothing = v1::AnalyzeRequest { spec: None, fresh: false };
    refusals.add("analyze nothing", client.analyze(nothing).await, Code::InvalidArgument, "spec: is missing");
    refusals.check();
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_orders_are_refused() {
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    let mut client = analysis(&coordinator).await;
    let mut refusals = Refusals::default();
    for job in [0, 99, u64::MAX] {
        let says = format!("there is no job {job}");
        let code = Code::NotFound;
        refusals.add("get", client.get(v1::GetRequest { job }).await, code, &says);
        refusals.add("watch", client.watch(v1::WatchRequest { job, after_seq: 0 }).await, code, &says);
        refusals.add("cancel", client.cancel(v1::CancelRequest { job }).await, code, &says);
        refusals.add("pause", client.pause(v1::PauseRequest { job }).await, code, &says);
        refusals.add("resume", client.resume(v1::ResumeRequest { job }).await, code, &says);
    }
    for after_seq in [9_999, u64::MAX] {
        for job in [1, 2] {
            let request = v1::WatchRequest { job, after_seq };
            let says = format!("after_seq: {after_seq} is beyond the last event");
            refusals.add("watch beyond", client.watch(request).await, Code::InvalidArgument, &says);
        }
    }
    let ended = (Code::FailedPrecondition, "job 1 has ended");
    refusals.add("pause", client.pause(v1::PauseRequest { job: 1 }).await, ended.0, ended.1);
    refusals.add("resume", client.resume(v1::ResumeRequest { job: 1 }).await, ended.0, ended.1);
    refusals.check();
    // The ends of what a list can be asked for are no faults.
    for (limit, before, count) in [(0, 0, 2), (u32::MAX, u64::MAX, 2), (1, 0, 1), (5, 1, 0)] {
        let request = v1::ListRequest { limit, before };
        assert_eq!(client.list(request).await.expect("jobs").into_inner().jobs.len(), count);
    }
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_positions_are_refused_by_every_question_about_one() {
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    let mut client = PositionsClient::new(channel(&coordinator).await);
    let mut refusals = Refusals::default();
    for (position, says) in positions() {
        let says = format!("position{says}");
        let request = v1::LegalMovesRequest { position: position.clone() };
        let code = Code::InvalidArgument;
        refusals.add(&format!("legal: {says}"), client.legal_moves(request).await, code, &says);
        let request = v1::HeatRequest { position };
        refusals.add(&format!("heat: {says}"), client.heat(request).await, code, &says);
    }
    let man = v1::Notation::Man.into();
    let shuffled = "e2 e8 e1 e9 ".repeat(300);
    let moves = |text: &str, notation: i32| Some(v1::MoveText { text: text.to_owned(), notation });
    for (moves, to, says) in [
        (None, man, "moves.notation: is unspecified"),
        (moves("e2", 0), man, "moves.notation: is unspecified"),
        (moves("e2", 8), man, "moves.notation: 8 is not a value"),
        (moves("e2", man), 0, "to: is unspecified"),
        (moves("e2", man), 77, "to: 77 is not a value"),
        (moves("e2 e8 e9", man), man, "moves.text: ply 3 ("),
        (moves("e2 e8 e9", man), 0, "to: is unspecified"),
        (moves(&shuffled, man), v1::Notation::Qf.into(), "moves: qf holds at most 1023 plies, not 1200"),
    ] {
        let answer = client.convert(v1::ConvertRequest { moves, to }).await;
        refusals.add(&format!("convert: {says}"), answer, Code::InvalidArgument, says);
    }
    refusals.check();
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_registrations_are_refused() {
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    let mut refusals = Refusals::default();
    let good = || register("b");
    let epoch = |epoch: &str| v1::Register { engine_epoch: epoch.to_owned(), ..good() };
    let (invalid, precondition) = (Code::InvalidArgument, Code::FailedPrecondition);
    let name = "register.name: must have 1 to 256 bytes";
    let long_epoch = "register.engine_epoch: must have 1 to 256 bytes";
    for (register, code, says) in [
        (register(""), invalid, name),
        (register(&"n".repeat(257)), invalid, name),
        (register(&"n".repeat(5 << 20)), invalid, name),
        (v1::Register { slots: 0, ..good() }, invalid, "register.slots: must be at least 1"),
        (v1::Register { slots: 1_025, ..good() }, Code::ResourceExhausted, "max_slots 1024"),
        (v1::Register { slots: u32::MAX, ..good() }, Code::ResourceExhausted, "max_slots 1024"),
        (epoch(""), invalid, long_epoch),
        (epoch(&"e".repeat(5 << 20)), invalid, long_epoch),
        (epoch("corridor-0.0.1"), precondition, "engine epoch 'corridor-0.0.1' of the worker is not the"),
        (epoch("corridor-0.0.1"), precondition, ENGINE_EPOCH),
        (
            v1::Register { instance: 8, ..register("quiet") },
            Code::AlreadyExists,
            "name: a worker named 'quiet' is connected already",
        ),
    ] {
        refusals.add(says, open_session(&coordinator, Says::Register(register)).await, code, says);
    }
    let first = "kind: the first message must be `register`";
    for kind in [
        Says::Heartbeat(v1::Heartbeat::default()),
        found(v1::UnitResult { unit: 1, attempt: 1, ..v1::UnitResult::default() }),
        Says::Failed(v1::UnitFailed::default()),
        Says::Draining(v1::WorkerDraining::default()),
    ] {
        refusals.add("no registration", open_session(&coordinator, kind).await, precondition, first);
    }
    // A session that ends before it has begun.
    let mut client = v1::fleet_client::FleetClient::new(channel(&coordinator).await);
    let nothing = client.session(tokio_stream::empty()).await;
    refusals.add("an empty session", nothing, precondition, first);
    let vague = client.session(tokio_stream::once(v1::SessionRequest { kind: None })).await;
    refusals.add("a message of no kind", vague, precondition, first);
    refusals.check();
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_worker_says_of_units_that_it_does_not_hold_has_no_effect() {
    let (coordinator, mut worker) = busy().await;
    let before = condition(&coordinator).await;
    let result = |unit: u64| v1::UnitResult {
        unit,
        attempt: 1,
        score_white: Some(v1::ScoreWhite { kind: Some(v1::score_white::Kind::Cm(1)) }),
        bound: v1::Bound::Exact.into(),
        completed: true,
        ..v1::UnitResult::default()
    };
    let cm = |cm: i32| Some(v1::ScoreWhite { kind: Some(v1::score_white::Kind::Cm(cm)) });
    for (unit, says) in (7_000..).zip([
        found(result(7_000)),
        found(v1::UnitResult { bound: 99, ..result(7_001) }),
        found(v1::UnitResult { score_white: None, ..result(7_002) }),
        found(v1::UnitResult { score_white: cm(i32::MIN), ..result(7_003) }),
        found(v1::UnitResult { pv: vec!["z9".to_owned()], ..result(7_004) }),
        found(v1::UnitResult { pv: vec!["e2".to_owned(); 2_000], ..result(7_005) }),
        found(v1::UnitResult { open: vec![v1::ShedNode::default()], ..result(7_006) }),
        Says::Failed(v1::UnitFailed { unit: 7_007, attempt: 0, message: "x".repeat(5 << 20) }),
    ]) {
        worker.say(says).await;
        assert_eq!(worker.lease_lost().await.0, unit);
    }
    // What has no meaning now is ignored, and the session goes on.
    worker.says.send(v1::SessionRequest { kind: None }).await.expect("an open session");
    worker.say(Says::Register(register("quiet"))).await;
    let stranger = v1::Unit { unit: u64::MAX, attempt: u32::MAX, ..v1::Unit::default() };
    worker.beat(&[(&stranger, u64::MAX)]).await;
    assert_eq!(worker.lease_lost().await, (u64::MAX, u32::MAX));
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

async fn exchange(coordinator: &Coordinator, first: Option<Offers>) -> Result<(), Status> {
    let mut client = CacheClient::new(channel(coordinator).await);
    let (says, requests) = mpsc::channel(2);
    says.send(v1::ExchangeRequest { kind: first }).await.expect("room");
    let mut told = client.exchange(ReceiverStream::new(requests)).await?.into_inner();
    while tokio::time::timeout(LONG, told.message()).await.expect("in time")?.is_some() {}
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_exchanges_are_refused() {
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    let mut refusals = Refusals::default();
    let hello = |worker: u64, engine_epoch: String| Offers::Hello(v1::ExchangeHello { worker, engine_epoch });
    let precondition = Code::FailedPrecondition;
    let first = "kind: the first message must be `hello`";
    for (kind, code, says) in [
        (None, precondition, first),
        (Some(Offers::Batch(v1::CacheBatch::default())), precondition, first),
        (Some(Offers::Credit(v1::CacheCredit { entries: u32::MAX })), precondition, first),
        (Some(Offers::Use(v1::CacheUse { received: u64::MAX, cutoffs: u64::MAX })), precondition, first),
        (Some(hello(0, ENGINE_EPOCH.to_owned())), precondition, "worker: 0 has no session"),
        (Some(hello(u64::MAX, ENGINE_EPOCH.to_owned())), precondition, "has no session"),
        (Some(hello(1, "older".to_owned())), precondition, "engine epoch 'older' of the worker is not"),
        (
            Some(hello(1, "e".repeat(5 << 20))),
            Code::InvalidArgument,
            "hello.engine_epoch: must have 1 to 256 bytes",
        ),
    ] {
        refusals.add(says, exchange(&coordinator, kind).await, code, says);
    }
    refusals.check();
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_questions_about_health_and_books_and_unknown_methods_are_refused() {
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    let channel = channel(&coordinator).await;
    let mut refusals = Refusals::default();
    let mut health = HealthClient::new(channel.clone());
    for service in ["corridor.v1.Nothing", "nobody", "\u{0}", &"s".repeat(5 << 20)] {
        let request = HealthCheckRequest { service: service.to_owned() };
        let asked = format!("health of {} bytes", service.len());
        refusals.add(&asked, health.check(request).await, Code::NotFound, "service not registered");
    }
    let mut book = BookClient::new(channel.clone());
    let (storeless, bad) = (Code::FailedPrecondition, Code::InvalidArgument);
    let why = "this coordinator keeps no books: start it with --store";
    refusals.add("import", book.import(tokio_stream::empty()).await, storeless, why);
    refusals.add("list", book.list(v1::ListBooksRequest {}).await, storeless, why);
    let name = "book: a book's name has 1 to 64 letters";
    refusals.add("analyze", book.analyze(v1::BookAnalyzeRequest::default()).await, bad, name);
    refusals.add("expand", book.expand(v1::ExpandRequest::default()).await, bad, "positions: ");
    refusals.add("node", book.node(v1::NodeRequest::default()).await, bad, name);
    refusals.add("export", book.export(v1::ExportRequest::default()).await, bad, name);
    refusals.add("check", book.check(v1::CheckRequest::default()).await, bad, name);
    refusals.check();
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

// ---- what is no message at all ------------------------------------------------------------------------------------

/// Bytes as they are, in place of a message.
#[derive(Copy, Clone, Default)]
struct Raw;

impl tonic::codec::Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl tonic::codec::Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, into: &mut tonic::codec::EncodeBuf<'_>) -> Result<(), Status> {
        prost::bytes::BufMut::put_slice(into, &item);
        Ok(())
    }
}

impl tonic::codec::Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut tonic::codec::DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let length = prost::bytes::Buf::remaining(from);
        Ok(Some(prost::bytes::Buf::copy_to_bytes(from, length).to_vec()))
    }
}

/// Sends bytes to a method, and returns the refusal; a stream's is that of its first message.
async fn send_raw(channel: &Channel, method: &str, bytes: Vec<u8>) -> Result<(), Status> {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.expect("a channel");
    let path = method.parse().expect("a path");
    let request = tonic::Request::new(tokio_stream::once(bytes));
    let mut answers = grpc.streaming(request, path, Raw).await?.into_inner();
    while answers.message().await?.is_some() {}
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rubbish_and_oversize_are_refused_by_every_service() {
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    let channel = channel(&coordinator).await;
    let mut refusals = Refusals::default();
    // A field of the wrong type, a length beyond the end, a broken number.
    let rubbish: [&[u8]; 3] = [&[0x0f, 1, 2], &[0x0a, 0xff, 0xff, 0x7f, 1], &[0xff; 12]];
    let limit = format!("the limit is: {MAX_MESSAGE_BYTES} bytes");
    for method in [
        "/corridor.v1.Analysis/Submit",
        "/corridor.v1.Analysis/Analyze",
        "/corridor.v1.Analysis/Watch",
        "/corridor.v1.Analysis/List",
        "/corridor.v1.Positions/LegalMoves",
        "/corridor.v1.Positions/Heat",
        "/corridor.v1.Positions/Convert",
        "/corridor.v1.Fleet/Session",
        "/corridor.v1.Cache/Exchange",
        "/grpc.health.v1.Health/Check",
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    ] {
        for bytes in rubbish {
            let answer = send_raw(&channel, method, bytes.to_vec()).await;
            let reflects = method.contains("eflection");
            // Reflection ends the stream of whoever makes no sense.
            if !(reflects && answer.is_ok()) {
                refusals.add(method, answer, Code::Internal, "rotobuf");
            }
        }
        let answer = send_raw(&channel, method, vec![0; MAX_MESSAGE_BYTES + 1]).await;
        if !(method.contains("eflection") && answer.is_ok()) {
            refusals.add(method, answer, Code::OutOfRange, &limit);
        }
    }
    for method in ["/corridor.v1.Analysis/Nothing", "/corridor.v2.Analysis/Submit", "/"] {
        refusals.add(method, send_raw(&channel, method, Vec::new()).await, Code::Unimplemented, "");
    }
    refusals.check();
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_speaks_no_http_2_is_cut_off_and_nobody_else_notices() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (coordinator, _worker) = busy().await;
    let before = condition(&coordinator).await;
    for words in [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nrubbish rubbish",
    ] {
        let mut stream = tokio::net::TcpStream::connect(coordinator.address()).await.expect("a connection");
        stream.write_all(words.as_bytes()).await.expect("sent");
        stream.write_all(&[0xff; 64 << 10]).await.ok();
        let mut rest = Vec::new();
        let cut = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await;
        assert!(cut.is_ok(), "{words:?} keeps a connection open");
    }
    assert_eq!(condition(&coordinator).await, before);
    coordinator.stop().await;
}

// ---- a worker that lies -------------------------------------------------------------------------------------------

/// Something that reads as a result, whatever it says.
fn lie(draw: &mut Draw, unit: &v1::Unit) -> v1::UnitResult {
    use v1::score_white::Kind;
    let mv = |draw: &mut Draw| {
        let index = u8::try_from(draw.below(209)).expect("small");
        Move::from_index(index).map_or_else(|| "e2".to_owned(), |mv| mv.to_string())
    };
    let score = |draw: &mut Draw| {
        let kind = match draw.below(4) {
            0 => Kind::WhiteWinsIn(u32::try_from(draw.below(1_000)).expect("small")),
            1 => Kind::BlackWinsIn(u32::try_from(draw.below(1_000)).expect("small")),
            _ => Kind::Cm(i32::try_from(draw.below(3_000)).expect("small") - 1_500),
        };
        Some(v1::ScoreWhite { kind: Some(kind) })
    };
    // Mostly what can be believed: what does not even read is refused before it does harm.
    let nodes = |draw: &mut Draw| match draw.below(30) {
        0 => u64::MAX,
        1 => draw.next(),
        _ => draw.next() % 10_000,
    };
    let open = (0..draw.below(4))
        .map(|_| v1::ShedNode {
            current: mv(draw),
            done: (0..draw.below(5))
                .map(|_| v1::ShedChild {
                    r#move: mv(draw),
                    score_white: score(draw),
                    bound: 1 + i32::try_from(draw.below(3)).expect("small"),
                })
                .collect(),
        })
        .collect();
    v1::UnitResult {
        unit: unit.unit,
        attempt: unit.attempt + u32::from(draw.below(20) == 0),
        score_white: score(draw),
        bound: if draw.below(20) == 0 { 4 } else { 1 + i32::try_from(draw.below(3)).expect("small") },
        pv: (0..draw.below(6)).map(|_| mv(draw)).collect(),
        nodes: nodes(draw),
        completed: draw.below(5) > 0,
        search_us: nodes(draw),
        open,
        path_dependent: draw.below(2) == 0,
        lines: Vec::new(),
    }
}

/// Whatever a worker reports, the coordinator lives, and the next job, which honest workers search, has the right answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lies_harms_its_jobs_and_nothing_else() {
    let mut draw = Draw::new(seed("CORRIDOR_LIE_SEED"));
    let deterministic = JobSpec { deterministic: true, ..spec(moves("e2 e8 e3 e7 d3h e6"), 4) };
    let honest = async |coordinator: &Coordinator, name: &str| {
        let worker = worker(coordinator, name).await;
        let mut client = analysis(coordinator).await;
        let answer = done(&rest(&mut submit(&mut client, &deterministic).await, Vec::new()).await);
        worker.stop.cancel();
        worker.task.await.expect("an orderly end");
        assert_eq!(answer.stopped_by, StoppedBy::Depth);
        (answer.score_white, answer.pv, answer.lines, answer.nodes)
    };
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let expected = honest(&coordinator, "honest").await;
    let mut client: AnalysisClient<Channel> = analysis(&coordinator).await;
    for round in 0..30_u64 {
        let position = moves(["", "e2 e8", "e2 e8 e3 e7 d3h e6"][draw.below(3)]);
        let job = JobSpec {
            multipv: 1 + u16::try_from(draw.below(3)).expect("small"),
            deterministic: draw.below(4) == 0,
            detach: true,
            ..spec(position, 12)
        };
        client
            .submit(v1::SubmitRequest { spec: Some(spec_to_wire(&job)), fresh: false })
            .await
            .expect("accepted");
        let registration = v1::Register {
            instance: round,
            slots: 1 + u32::try_from(draw.below(3)).unwrap(),
            ..register(&format!("liar {round}"))
        };
        let mut liar = open_session(&coordinator, Says::Register(registration)).await.expect("a session");
        for _ in 0..draw.below(150) {
            // A job may fail, and then there is nothing more to lie about.
            let Ok(told) = tokio::time::timeout(Duration::from_millis(200), liar.told.message()).await else {
                break;
            };
            if let Some(Told::Grant(grant)) = told.expect("a session").and_then(|message| message.kind) {
                for unit in &grant.units {
                    if draw.below(4) == 0 {
                        liar.beat(&[(unit, draw.next())]).await;
                    }
                }
                let results = grant.units.iter().map(|unit| lie(&mut draw, unit)).collect();
                liar.say(Says::Results(v1::UnitResults { results })).await;
            }
        }
        drop(liar);
        client.list(v1::ListRequest::default()).await.expect("it lives");
    }
    for job in client.list(v1::ListRequest::default()).await.expect("jobs").into_inner().jobs {
        client.cancel(v1::CancelRequest { job: job.job }).await.expect("cancelled");
    }
    assert_eq!(honest(&coordinator, "honest again").await, expected);
    coordinator.stop().await;
}
