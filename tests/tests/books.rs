//! Opening books over real gRPC: what goes in, what is found, what comes out, and what becomes of it when the store fails.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::time::Duration;

use corridor_coordinator::Coordinator;
use corridor_coordinator::cluster::Keep;
use corridor_coordinator::store::{Place, Store};
use corridor_proto::convert::{
    BookRequest, book_spec_to_wire, event_from_wire, notation_to_wire, position_to_spec, record_from_wire,
    spec_to_wire,
};
use corridor_proto::json::record_line;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_proto::v1::book_client::BookClient;
use corridor_shared::Position;
use corridor_shared::book::{Growth, canonical};
use corridor_shared::job::{
    BookDone, BookJobSpec, BookStop, BookTask, DoneReport, EventRecord, JobEvent, JobLimits, JobSpec,
    JobState, Line, RootPrune, StoppedBy,
};
use corridor_shared::notation::Notation;
use corridor_shared::score::Bound;
use corridor_tests::{
    ANY_PORT, LONG, Moody, analysis, eventually, file, grounds, moves, postgres, read_until, rest, serve,
    spec, store, summary, watch, worker,
};
use futures_util::stream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

const GAMES: [&str; 4] = ["# openings", "gap\te2 e8 e3 e7", "", "1-0\te2 e8 d3h"];
/// The start, e2, e2 e8, e3, e7, d3h.
const POSITIONS: u64 = 6;
const ANALYZE: BookTask = BookTask::Analyze { stale: false, most: None };

async fn durable(place: &Place) -> Coordinator {
    serve(ANY_PORT, store(place).await).await
}

async fn books(coordinator: &Coordinator) -> BookClient<Channel> {
    BookClient::connect(corridor_tests::url(coordinator.address())).await.expect("a client")
}

fn part(book: &str, lines: &[&str]) -> v1::ImportRequest {
    v1::ImportRequest {
        book: book.to_owned(),
        notation: notation_to_wire(Notation::Man).into(),
        games: lines.iter().map(ToString::to_string).collect(),
        ..v1::ImportRequest::default()
    }
}

async fn import(
    client: &mut BookClient<Channel>,
    parts: Vec<v1::ImportRequest>,
) -> Result<v1::ImportResponse, Status> {
    Ok(client.import(stream::iter(parts)).await?.into_inner())
}

async fn import_games(client: &mut BookClient<Channel>, book: &str) {
    let imported = import(client, vec![part(book, &GAMES)]).await.expect("imported");
    assert_eq!((imported.games, imported.new_positions, imported.fault_count), (2, POSITIONS, 0));
}

fn job(book: &str, task: BookTask, depth: u8) -> BookJobSpec {
    BookJobSpec {
        book: book.into(),
        task,
        limits: JobLimits { depth: Some(depth), ..JobLimits::default() },
        multipv: 1,
        prune: RootPrune::Cat,
        deterministic: true,
        priority: 0,
        detach: true,
        traceparent: None,
    }
}

const fn expand(positions: u32, growth: Growth) -> BookTask {
    BookTask::Expand { positions: Some(positions), growth, time: None }
}

/// A stream of a book's job, whichever it is.
enum Events {
    Analyze(Streaming<v1::BookAnalyzeResponse>),
    Expand(Streaming<v1::ExpandResponse>),
}

impl Events {
    /// The next event, and what the message says of its position.
    async fn next(&mut self) -> Option<(EventRecord, String)> {
        let (event, position) = match self {
            Self::Analyze(stream) => {
                let message = tokio::time::timeout(LONG, stream.message()).await.expect("in time");
                message.expect("an event").map(|it| (it.event, it.position))?
            }
            Self::Expand(stream) => {
                let message = tokio::time::timeout(LONG, stream.message()).await.expect("in time");
                message.expect("an event").map(|it| (it.event, it.position))?
            }
        };
        Some((event_from_wire(event.expect("an event")).expect("a valid event"), position))
    }

    /// All of them.
    async fn rest(mut self) -> Vec<EventRecord> {
        let mut seen = Vec::new();
        while let Some((record, position)) = self.next().await {
            let about = match &record.event {
                JobEvent::Position(report) => report.record.position.to_string(),
                _ => String::new(),
            };
            assert_eq!(position, about);
            seen.push(record);
        }
        check_book(&seen);
        seen
    }
}

async fn work_on(client: &mut BookClient<Channel>, spec: &BookJobSpec) -> Result<Events, Status> {
    Ok(match book_spec_to_wire(spec) {
        BookRequest::Analyze(request) => Events::Analyze(client.analyze(request).await?.into_inner()),
        BookRequest::Expand(request) => Events::Expand(client.expand(request).await?.into_inner()),
    })
}

async fn run(client: &mut BookClient<Channel>, spec: &BookJobSpec) -> Vec<EventRecord> {
    work_on(client, spec).await.expect("accepted").rest().await
}

/// All of a book's job: no gap, no repeat, one beginning, one end, no position twice.
#[track_caller]
fn check_book(seen: &[EventRecord]) -> BookDone {
    for (record, seq) in seen.iter().zip(1..) {
        assert_eq!(record.seq, seq, "a gap or a repeat");
    }
    assert!(matches!(seen[0].event, JobEvent::BookAccepted(_)), "{:?}", seen[0]);
    let first = seen.iter().filter(|record| matches!(record.event, JobEvent::BookAccepted(_)));
    assert_eq!((first.count(), seen.iter().filter(|record| record.event.is_last()).count()), (1, 1));
    let keys = searched(seen);
    let done = done(seen);
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "a position twice");
    assert_eq!(u64::try_from(keys.len()).unwrap(), done.searched);
    done
}

#[track_caller]
fn done(seen: &[EventRecord]) -> BookDone {
    match seen.last().map(|record| &record.event) {
        Some(JobEvent::BookDone(done)) => *done,
        other => panic!("{other:?}"),
    }
}

/// The keys of the positions that were searched.
fn searched(seen: &[EventRecord]) -> Vec<u64> {
    let key = |record: &EventRecord| match &record.event {
        JobEvent::Position(report) => Some(report.record.key()),
        _ => None,
    };
    seen.iter().filter_map(key).collect()
}

fn number(seen: &[EventRecord]) -> u64 {
    match &seen[0].event {
        JobEvent::BookAccepted(accepted) => accepted.job.0,
        other => panic!("{other:?}"),
    }
}

async fn watched(client: &mut AnalysisClient<Channel>, job: u64, after: u64) -> Vec<EventRecord> {
    let mut seen = Vec::new();
    read_until(&mut watch(client, job, after).await.expect("a stream"), &mut seen, |_| false).await;
    seen
}

async fn nodes(client: &mut BookClient<Channel>, book: &str, after_key: &str) -> Vec<v1::BookNode> {
    let request =
        v1::ExportRequest { book: book.to_owned(), after_key: after_key.to_owned(), root_moves: false };
    let mut parts = client.export(request).await.expect("exported").into_inner();
    let mut nodes = Vec::new();
    while let Some(part) = parts.message().await.expect("a part") {
        nodes.extend(part.nodes);
    }
    nodes
}

/// A book as JSON Lines.
async fn export(client: &mut BookClient<Channel>, book: &str) -> String {
    let line =
        |node: &v1::BookNode| record_line(&record_from_wire(node).expect("valid")).expect("a line") + "\n";
    nodes(client, book, "").await.iter().map(line).collect()
}

async fn check(client: &mut BookClient<Channel>, book: &str, fix: bool) -> v1::CheckResponse {
    client.check(v1::CheckRequest { book: book.to_owned(), fix }).await.expect("checked").into_inner()
}

async fn listed(client: &mut BookClient<Channel>) -> Vec<(String, u64, u64, u64)> {
    let books = client.list(v1::ListBooksRequest {}).await.expect("listed").into_inner().books;
    books.into_iter().map(|it| (it.book, it.positions, it.analysed, it.stale)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_are_imported_once_and_faults_change_nothing() {
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let mut client = books(&coordinator).await;
        import_games(&mut client, "main").await;
        let again = import(&mut client, vec![part("main", &GAMES)]).await.expect("imported");
        let counts = (again.games, again.new_positions, again.positions, again.new_values);
        assert_eq!(counts, (2, 0, POSITIONS, 0));
        // Two parts are one file: lines are counted through.
        let faulty =
            || vec![part("main", &["e2 e8 e4", "d1 d9"]), part("main", &["", "e2 x9", "/ / e2 / 1"])];
        let refused = import(&mut client, faulty()).await.expect("an answer");
        let faults: Vec<_> = refused.faults.iter().map(|it| (it.line, it.ply)).collect();
        assert_eq!(faults, [(1, Some(3)), (4, Some(2)), (5, None)]);
        assert_eq!((refused.fault_count, refused.new_positions), (3, 0));
        assert_eq!(listed(&mut client).await, [("main".to_owned(), POSITIONS, 0, 0)]);
        let going: Vec<_> =
            faulty().into_iter().map(|part| v1::ImportRequest { keep_going: true, ..part }).collect();
        let rest = import(&mut client, going).await.expect("an answer");
        assert_eq!((rest.games, rest.fault_count, rest.new_positions), (1, 3, 2));
        assert_eq!(rest.positions, POSITIONS + 2);
        // A book without positions is not there.
        let nothing = import(&mut client, vec![part("empty", &["# nothing"])]).await.expect("an answer");
        assert_eq!((nothing.games, nothing.positions), (0, 0));
        assert_eq!(check(&mut client, "main", false).await.fault_count, 0);
        coordinator.stop().await;
        // It is all there for the next one.
        let coordinator = durable(&ground.place).await;
        assert_eq!(listed(&mut books(&coordinator).await).await, [("main".to_owned(), POSITIONS + 2, 0, 0)]);
        coordinator.stop().await;
    }
}

#[tokio::test]
async fn parts_that_contradict_each_other_are_refused_and_change_nothing() {
    let ground = file();
    let coordinator = durable(&ground.place).await;
    let mut client = books(&coordinator).await;
    let first = || part("main", &["e2"]);
    let undeclared = v1::ImportRequest { notation: 0, ..first() };
    let unknown = v1::ImportRequest { notation: 99, ..first() };
    for (parts, field) in [
        (vec![undeclared.clone()], "notation"),
        (vec![unknown], "notation"),
        (vec![first(), undeclared], "notation"),
        (vec![first(), part("other", &["e2"])], "book"),
        (vec![first(), v1::ImportRequest { keep_going: true, ..first() }], "keep_going"),
        (vec![part("no name", &["e2"])], "book"),
        (vec![part("", &["e2"])], "book"),
        (vec![], "book"),
    ] {
        let refused = import(&mut client, parts).await.expect_err("refused");
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        assert!(refused.message().starts_with(&format!("{field}: ")), "{field}: {}", refused.message());
    }
    assert_eq!(listed(&mut client).await, []);
    // Positions of an export have no notation.
    import_games(&mut client, "main").await;
    let records = nodes(&mut client, "main", "").await;
    let part = v1::ImportRequest { book: "copy".to_owned(), records, ..v1::ImportRequest::default() };
    assert_eq!(import(&mut client, vec![part]).await.expect("imported").new_positions, POSITIONS);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_is_the_same_book_wherever_it_is_imported() {
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let _worker = worker(&coordinator, "a").await;
        let mut client = books(&coordinator).await;
        import_games(&mut client, "main").await;
        run(&mut client, &job("main", ANALYZE, 2)).await;
        run(&mut client, &job("main", expand(5, Growth::default()), 3)).await;
        let (whole, all) = (export(&mut client, "main").await, nodes(&mut client, "main", "").await);
        assert_eq!(whole.lines().count(), 11);
        assert!(all.is_sorted_by(|one, next| one.key < next.key));
        // From a key on it is the rest.
        let after = all[3].key.clone();
        assert_eq!(nodes(&mut client, "main", &after).await, all[4..]);
        // In two parts, backwards.
        let part = |records: &[v1::BookNode]| v1::ImportRequest {
            book: "copy".to_owned(),
            records: records.iter().rev().cloned().collect(),
            ..v1::ImportRequest::default()
        };
        let parts = vec![part(&all[6..]), part(&all[..6])];
        for (positions, values) in [(11, 11), (0, 0)] {
            let imported = import(&mut client, parts.clone()).await.expect("imported");
            assert_eq!(
                (imported.new_positions, imported.new_values, imported.faults.len()),
                (positions, values, 0)
            );
        }
        assert_eq!(export(&mut client, "copy").await, whole);
        let bad = |change: fn(&mut v1::BookNode)| {
            let mut node = all[2].clone();
            change(&mut node);
            vec![v1::ImportRequest {
                book: "bad".to_owned(),
                records: vec![all[1].clone(), node],
                ..part(&[])
            }]
        };
        for (change, field) in [
            ((|it| it.key = "0".repeat(16)) as fn(&mut v1::BookNode), "key"),
            (|it| it.pv = vec!["e9".to_owned()], "pv"),
            (|it| it.moves = vec!["a1h".to_owned()], "moves"),
            (|it| it.position = "/ / e2".to_owned(), "position"),
        ] {
            let refused = import(&mut client, bad(change)).await.expect("an answer");
            assert_eq!((refused.fault_count, refused.faults[0].line, refused.positions), (1, 2, 0));
            assert!(refused.faults[0].message.starts_with(field), "{:?}", refused.faults);
        }
        let names: Vec<String> = listed(&mut client).await.into_iter().map(|book| book.0).collect();
        assert_eq!(names, ["copy", "main"]);
        coordinator.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_joined_watched_held_and_ended_and_lists_show_the_book() {
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let (mut client, mut jobs) = (books(&coordinator).await, analysis(&coordinator).await);
        import_games(&mut client, "main").await;
        let spec = job("main", ANALYZE, 3);
        // Whoever asks for the same work joins it, other work is another job.
        let first = work_on(&mut client, &spec).await.expect("accepted");
        let second = work_on(&mut client, &spec).await.expect("joined");
        let mut other =
            work_on(&mut client, &job("main", expand(4, Growth::default()), 3)).await.expect("accepted");
        let found = summary(&mut jobs, 1).await;
        let book = found.book.expect("a book's");
        assert_eq!((&*book.book, book.done, book.total, found.position), ("main", 0, POSITIONS, None));
        assert_eq!(found.state, JobState::Waiting);
        let list = jobs.list(v1::ListRequest { limit: 9, before: 0 }).await.expect("listed").into_inner();
        assert_eq!(list.jobs.iter().map(|job| job.job).collect::<Vec<_>>(), [2, 1]);
        jobs.pause(v1::PauseRequest { job: 1 }).await.expect("paused");
        jobs.cancel(v1::CancelRequest { job: 2 }).await.expect("cancelled");
        let mut cancelled = Vec::new();
        while let Some((record, _)) = other.next().await {
            cancelled.push(record);
        }
        let end = check_book(&cancelled);
        assert_eq!((end.stopped_by, end.searched, end.left), (BookStop::Cancel, 0, POSITIONS));

        let _worker = worker(&coordinator, "a").await;
        assert_eq!(summary(&mut jobs, 1).await.state, JobState::Paused);
        jobs.resume(v1::ResumeRequest { job: 1 }).await.expect("resumed");
        let (first, second) = tokio::join!(first.rest(), second.rest());
        assert_eq!(first, second);
        let end = done(&first);
        assert_eq!((end.searched, end.left, end.stopped_by), (POSITIONS, 0, BookStop::Complete));
        let states: Vec<JobState> = first
            .iter()
            .filter_map(|record| match &record.event {
                JobEvent::State(change) => Some(change.state),
                _ => None,
            })
            .collect();
        assert!(states.contains(&JobState::Paused) && states.contains(&JobState::Running), "{states:?}");
        // From every cursor the rest, and of what is over there is nothing to join.
        for after in 0..=u64::try_from(first.len()).unwrap() {
            assert_eq!(watched(&mut jobs, 1, after).await, first[usize::try_from(after).unwrap()..]);
        }
        let again = run(&mut client, &spec).await;
        assert_eq!((number(&again), done(&again).searched), (3, 0));
        assert_eq!(listed(&mut client).await, [("main".to_owned(), POSITIONS, POSITIONS, 0)]);
        coordinator.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_grows_to_its_limits() {
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let _worker = worker(&coordinator, "a").await;
        let mut client = books(&coordinator).await;
        import_games(&mut client, "main").await;
        // What is there is searched before anything is added.
        let grown = run(&mut client, &job("main", expand(7, Growth::default()), 2)).await;
        let end = done(&grown);
        assert_eq!((end.added, end.searched, end.positions), (7, POSITIONS + 7, POSITIONS + 7));
        assert_eq!((end.stopped_by, end.left), (BookStop::Complete, 0));
        let free = Growth { max_cost: Some(0), ..Growth::default() };
        let task = BookTask::Expand { positions: None, growth: free, time: None };
        let end = done(&run(&mut client, &job("main", task, 2)).await);
        assert_eq!((end.stopped_by, end.added), (BookStop::Cost, 0), "each ply costs something");
        let most = BookTask::Analyze { stale: false, most: Some(4) };
        let end = done(&run(&mut client, &job("main", most, 3)).await);
        assert_eq!((end.searched, end.left, end.stopped_by), (4, POSITIONS + 3, BookStop::Complete));
        assert_eq!(check(&mut client, "main", false).await.fault_count, 0);
        coordinator.stop().await;
    }
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_the_field_at_fault() {
    let ground = file();
    let coordinator = durable(&ground.place).await;
    let mut client = books(&coordinator).await;
    import_games(&mut client, "main").await;
    let good = |task| match book_spec_to_wire(&job("main", task, 3)) {
        BookRequest::Analyze(request) => (Some(request), None),
        BookRequest::Expand(request) => (None, Some(request)),
    };
    let (Some(analyze), Some(grow)) = (good(ANALYZE).0, good(expand(3, Growth::default())).1) else {
        panic!()
    };
    let limits = |depth, nodes, time_ms| Some(v1::Limits { depth, nodes, time_ms });
    for (request, field) in [
        (v1::BookAnalyzeRequest { limits: None, ..analyze.clone() }, "limits"),
        (v1::BookAnalyzeRequest { limits: limits(None, None, None), ..analyze.clone() }, "limits"),
        (v1::BookAnalyzeRequest { limits: limits(Some(0), None, None), ..analyze.clone() }, "limits.depth"),
        (v1::BookAnalyzeRequest { limits: limits(Some(101), None, None), ..analyze.clone() }, "limits.depth"),
        (v1::BookAnalyzeRequest { limits: limits(None, Some(0), None), ..analyze.clone() }, "limits.nodes"),
        (v1::BookAnalyzeRequest { limits: limits(None, None, Some(0)), ..analyze.clone() }, "limits.time_ms"),
        (v1::BookAnalyzeRequest { multipv: Some(0), ..analyze.clone() }, "multipv"),
        (v1::BookAnalyzeRequest { most: Some(0), ..analyze.clone() }, "most"),
        (v1::BookAnalyzeRequest { prune: 77, ..analyze.clone() }, "prune"),
        (v1::BookAnalyzeRequest { book: "a/b".to_owned(), ..analyze.clone() }, "book"),
        (v1::BookAnalyzeRequest { book: "x".repeat(65), ..analyze.clone() }, "book"),
    ] {
        let refused = client.analyze(request).await.expect_err("refused");
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        assert!(refused.message().starts_with(&format!("{field}: ")), "{field}: {}", refused.message());
    }
    for (request, field) in [
        (v1::ExpandRequest { positions: 0, ..grow.clone() }, "positions"),
        (v1::ExpandRequest { time_ms: Some(0), ..grow.clone() }, "time_ms"),
        (v1::ExpandRequest { side: 9, ..grow.clone() }, "side"),
        (v1::ExpandRequest { limits: None, ..grow.clone() }, "limits"),
    ] {
        let refused = client.expand(request).await.expect_err("refused");
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        assert!(refused.message().starts_with(&format!("{field}: ")), "{field}: {}", refused.message());
    }
    let request = v1::ExportRequest {
        book: "main".to_owned(),
        after_key: "xyz".to_owned(),
        ..v1::ExportRequest::default()
    };
    let refused = client.export(request).await.expect_err("refused");
    assert_eq!((refused.code(), &refused.message()[..11]), (Code::InvalidArgument, "after_key: "));
    let node = v1::NodeRequest { book: "main".to_owned(), position: None };
    let refused = client.node(node).await.expect_err("refused");
    assert_eq!((refused.code(), &refused.message()[..10]), (Code::InvalidArgument, "position: "));
    coordinator.stop().await;
}

/// What each call comes to.
async fn all_calls(client: &mut BookClient<Channel>, book: &str) -> Vec<(&'static str, Status)> {
    let name = || book.to_owned();
    let position = Some(position_to_spec(&moves("a1h")));
    let node = client.node(v1::NodeRequest { book: name(), position }).await.map(drop);
    let export =
        client.export(v1::ExportRequest { book: name(), ..v1::ExportRequest::default() }).await.map(drop);
    let checked = client.check(v1::CheckRequest { book: name(), fix: true }).await.map(drop);
    let analyze = work_on(client, &job(book, ANALYZE, 1)).await.map(drop);
    let grow = work_on(client, &job(book, expand(1, Growth::default()), 1)).await.map(drop);
    let calls =
        [("node", node), ("export", export), ("check", checked), ("analyze", analyze), ("expand", grow)];
    calls.map(|(call, result)| (call, result.expect_err(call))).to_vec()
}

#[tokio::test]
async fn what_is_not_there_is_said_to_be_so() {
    let coordinator = corridor_tests::coordinator(Duration::from_secs(10)).await;
    let mut client = books(&coordinator).await;
    let mut answers = all_calls(&mut client, "main").await;
    answers.push(("import", import(&mut client, vec![part("main", &GAMES)]).await.expect_err("refused")));
    answers.push(("list", client.list(v1::ListBooksRequest {}).await.expect_err("refused")));
    for (call, status) in answers {
        assert_eq!(status.code(), Code::FailedPrecondition, "{call}: {status:?}");
        assert!(status.message().contains("--store"), "{call}: {}", status.message());
    }
    coordinator.stop().await;
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let mut client = books(&coordinator).await;
        import_games(&mut client, "main").await;
        for (call, status) in all_calls(&mut client, "other").await {
            assert_eq!(status.code(), Code::NotFound, "{call}: {status:?}");
            assert!(status.message().contains("'other'"), "{call}: {}", status.message());
        }
        let position = Some(position_to_spec(&moves("a1h")));
        let missing = client.node(v1::NodeRequest { book: "main".to_owned(), position }).await;
        assert_eq!(missing.expect_err("not there").message(), "position: it is not in book 'main'");
        coordinator.stop().await;
    }
}

async fn analyse(client: &mut AnalysisClient<Channel>, spec: &JobSpec, fresh: bool) -> DoneReport {
    let request = v1::AnalyzeRequest { spec: Some(spec_to_wire(spec)), fresh };
    let mut events = client.analyze(request).await.expect("accepted").into_inner();
    corridor_tests::done(&rest(&mut events, Vec::new()).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_position_that_a_book_knows_is_answered_from_there() {
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let crew = worker(&coordinator, "a").await;
        let (mut client, mut jobs) = (books(&coordinator).await, analysis(&coordinator).await);
        import_games(&mut client, "main").await;
        run(&mut client, &job("main", ANALYZE, 4)).await;
        let position = canonical(&moves("e2 e8 d3h"));
        let wanted = JobSpec { deterministic: true, ..spec(position, 4) };
        assert_eq!(analyse(&mut jobs, &wanted, true).await.stopped_by, StoppedBy::Depth, "fresh");
        let node = v1::NodeRequest { book: "main".to_owned(), position: Some(position_to_spec(&position)) };
        let node = client.node(node).await.expect("there").into_inner().node.expect("a node");
        let there = record_from_wire(&node).expect("valid").searched.expect("searched");
        assert_ne!(position, position.mirrored());
        // Nobody is left who could search.
        crew.stop.cancel();
        crew.task.await.expect("an orderly end");
        eventually("it is gone", async || {
            let workers = jobs.clone().workers(v1::WorkersRequest {}).await.expect("an answer");
            workers.into_inner().workers.is_empty()
        })
        .await;
        for depth in [4, 2] {
            let known = analyse(
                &mut jobs,
                &JobSpec { limits: spec(position, depth).limits, ..wanted.clone() },
                false,
            )
            .await;
            assert_eq!((known.stopped_by, known.depth), (StoppedBy::Book, 4));
            let best = &known.lines[0];
            assert_eq!((Some(best.mv), &best.pv), (there.best_move, &there.pv));
            assert_eq!((best.score_white, best.bound), (there.score_white, there.bound));
            assert_eq!((known.lines.len(), known.nodes), (there.others.len() + 1, 0), "nothing was searched");
        }
        // The mirror image has the mirrored answer.
        let mirrored = |line: &Line| Line {
            mv: line.mv.mirrored(),
            pv: line.pv.iter().map(|mv| mv.mirrored()).collect(),
            ..line.clone()
        };
        let known = analyse(&mut jobs, &wanted, false).await;
        let image = JobSpec { position: position.mirrored(), ..wanted.clone() };
        let turned = analyse(&mut jobs, &image, false).await;
        assert_eq!(turned.lines, known.lines.iter().map(mirrored).collect::<Vec<_>>());
        // What is not known as well as that waits for somebody.
        for deeper in [
            JobSpec { limits: spec(position, 5).limits, ..wanted.clone() },
            JobSpec { multipv: 2, ..wanted.clone() },
            JobSpec { prune: RootPrune::None, ..wanted.clone() },
            spec(moves("e2 e8 d3h e7"), 1),
        ] {
            let request = v1::SubmitRequest {
                spec: Some(spec_to_wire(&JobSpec { detach: true, ..deeper })),
                fresh: false,
            };
            let job = jobs.submit(request).await.expect("accepted").into_inner().job;
            assert_eq!(summary(&mut jobs, job).await.state, JobState::Waiting);
        }
        let request = v1::SubmitRequest { spec: Some(spec_to_wire(&wanted)), fresh: false };
        let job = jobs.submit(request).await.expect("accepted").into_inner().job;
        assert_eq!(summary(&mut jobs, job).await.state, JobState::Done);
        coordinator.stop().await;
    }
}

/// As an export as JSON Lines or CSV has it.
fn exported(node: &v1::BookNode) -> v1::BookNode {
    let (worker, others, deterministic) = (String::new(), Vec::new(), false);
    v1::BookNode { worker, others, deterministic, value: None, ..node.clone() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_position_that_was_imported_with_its_best_line_is_answered_from_there() {
    let first = file();
    let coordinator = durable(&first.place).await;
    let crew = worker(&coordinator, "a").await;
    let (mut client, mut jobs) = (books(&coordinator).await, analysis(&coordinator).await);
    import_games(&mut client, "whole").await;
    run(&mut client, &job("whole", ANALYZE, 4)).await;
    let all = nodes(&mut client, "whole", "").await;
    let position = canonical(&moves("e2 e8 d3h"));
    let whole = analyse(&mut jobs, &spec(position, 4), false).await;
    crew.task.abort();
    coordinator.stop().await;
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let (mut client, mut jobs) = (books(&coordinator).await, analysis(&coordinator).await);
        let records = all.iter().map(exported).collect();
        let part = v1::ImportRequest { book: "main".to_owned(), records, ..v1::ImportRequest::default() };
        assert_eq!(import(&mut client, vec![part]).await.expect("imported").new_values, POSITIONS);
        for depth in [4, 2] {
            let known = analyse(&mut jobs, &spec(position, depth), false).await;
            assert_eq!((known.stopped_by, known.depth, known.nodes), (StoppedBy::Book, 4, 0));
            let (best, there) = (&known.lines[0], &whole.lines[0]);
            assert_eq!((best.mv, &best.pv, best.score_white), (there.mv, &there.pv, there.score_white));
            // The same moves, and nothing is said of them that is not so.
            let moves = |lines: &[Line]| lines.iter().map(|it| (it.mv, it.heat_cm)).collect::<BTreeSet<_>>();
            assert_eq!(moves(&known.lines), moves(&whole.lines));
            for line in &known.lines[1..] {
                assert_eq!((line.bound, line.score_white), (Bound::Lower, best.score_white), "Black moves");
            }
        }
        let image = JobSpec { position: position.mirrored(), ..spec(position, 4) };
        let turned = analyse(&mut jobs, &image, false).await;
        assert_eq!((turned.stopped_by, turned.lines[0].mv), (StoppedBy::Book, whole.lines[0].mv.mirrored()));
        // How it was searched is not known: whoever wants more waits for somebody.
        for more in [
            spec(position, 5),
            JobSpec { multipv: 2, ..spec(position, 4) },
            JobSpec { prune: RootPrune::None, ..spec(position, 4) },
            JobSpec { deterministic: true, ..spec(position, 4) },
        ] {
            let spec = Some(spec_to_wire(&JobSpec { detach: true, ..more }));
            let request = v1::SubmitRequest { spec, fresh: false };
            let job = jobs.submit(request).await.expect("accepted").into_inner().job;
            assert_eq!(summary(&mut jobs, job).await.state, JobState::Waiting);
        }
        coordinator.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_position_is_shown_with_what_follows_for_it() {
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let _worker = worker(&coordinator, "a").await;
        let mut client = books(&coordinator).await;
        import_games(&mut client, "main").await;
        run(&mut client, &job("main", ANALYZE, 3)).await;
        let all = nodes(&mut client, "main", "").await;
        for node in &all {
            let position: Position = node.position.parse().expect("a position");
            for position in [position, position.mirrored()] {
                let request =
                    v1::NodeRequest { book: "main".to_owned(), position: Some(position_to_spec(&position)) };
                let shown = client.node(request).await.expect("there").into_inner().node.expect("a node");
                // Its line is not looked for.
                assert_eq!(shown, v1::BookNode { moves: Vec::new(), ..node.clone() });
            }
        }
        coordinator.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_that_was_damaged_is_mended_unless_somebody_works_on_it() {
    for ground in grounds() {
        let coordinator = durable(&ground.place).await;
        let crew = worker(&coordinator, "a").await;
        let mut client = books(&coordinator).await;
        import_games(&mut client, "main").await;
        run(&mut client, &job("main", ANALYZE, 2)).await;
        let whole = export(&mut client, "main").await;
        crew.task.abort();
        coordinator.stop().await;
        // Somebody says something else of the start.
        let mut kept = store(&ground.place).await;
        let values = vec![(Position::start().canonical_key(), None)];
        kept.commit(&[Keep::Values { book: "main".into(), values }]).await.expect("written");
        Box::new(kept).close().await;

        let coordinator = durable(&ground.place).await;
        let (mut client, mut jobs) = (books(&coordinator).await, analysis(&coordinator).await);
        let found = check(&mut client, "main", false).await;
        assert_eq!((found.positions, found.fault_count, found.fixed), (POSITIONS, 1, false));
        assert!(found.faults[0].contains("the book says nothing, not "), "{:?}", found.faults);
        let _job = work_on(&mut client, &job("main", ANALYZE, 3)).await.expect("accepted");
        let request = v1::CheckRequest { book: "main".to_owned(), fix: true };
        let refused = client.check(request).await.expect_err("refused");
        assert_eq!(refused.code(), Code::FailedPrecondition);
        assert!(refused.message().contains("job 2 works on book 'main'"), "{}", refused.message());
        jobs.cancel(v1::CancelRequest { job: 2 }).await.expect("cancelled");
        assert!(check(&mut client, "main", true).await.fixed);
        let after = check(&mut client, "main", true).await;
        assert_eq!((after.fault_count, after.fixed), (0, false));
        assert_eq!(export(&mut client, "main").await, whole);
        coordinator.stop().await;
    }
}

// ---- stores that fail ---------------------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_told_that_something_is_there_before_it_is_durable() {
    let ground = file();
    let (moody, mood) = Moody::new(store(&ground.place).await);
    let coordinator = serve(ANY_PORT, moody).await;
    let client = books(&coordinator).await;
    let busy = mood.busy.write().await;
    let started = |mut client: BookClient<Channel>| {
        tokio::spawn(async move { import(&mut client, vec![part("main", &GAMES)]).await.expect("imported") })
    };
    let first = started(client.clone());
    eventually("it is being written", async || mood.commits() > 0).await;
    // To the second one nothing is new; to both it is not there yet.
    let mut second = started(client.clone());
    let early = tokio::time::timeout(Duration::from_millis(300), &mut second).await;
    assert!(early.is_err() && !first.is_finished(), "{early:?}");
    assert_eq!(listed(&mut client.clone()).await, []);
    drop(busy);
    let (first, second) = (first.await.expect("no panic"), second.await.expect("no panic"));
    assert_eq!((first.new_positions, second.new_positions, second.positions), (POSITIONS, 0, POSITIONS));
    // Nor is whoever joins a job that is not there yet.
    let busy = mood.busy.write().await;
    let joined = |mut client: BookClient<Channel>| {
        tokio::spawn(async move {
            work_on(&mut client, &job("main", ANALYZE, 1)).await.map(drop).expect("accepted");
        })
    };
    let commits = mood.commits();
    let first = joined(client.clone());
    eventually("it is being written", async || mood.commits() > commits).await;
    let mut second = joined(client.clone());
    let early = tokio::time::timeout(Duration::from_millis(300), &mut second).await;
    assert!(early.is_err() && !first.is_finished(), "{early:?}");
    drop(busy);
    first.await.expect("no panic");
    second.await.expect("no panic");
    coordinator.stop().await;
}

/// A book as nobody has disturbed it, without the moments of its searches.
async fn undisturbed(spec: &BookJobSpec) -> String {
    let ground = file();
    let coordinator = durable(&ground.place).await;
    let _worker = worker(&coordinator, "a").await;
    let mut client = books(&coordinator).await;
    import_games(&mut client, "main").await;
    run(&mut client, spec).await;
    let whole = timeless(&export(&mut client, "main").await);
    coordinator.stop().await;
    whole
}

fn timeless(jsonl: &str) -> String {
    jsonl.lines().map(|line| line.split(",\"analysed_at\":").next().unwrap().to_owned() + "\n").collect()
}

/// The states that a job has gone through, with their reasons.
fn states(seen: &[EventRecord]) -> Vec<(JobState, &str)> {
    let mut states = Vec::new();
    for record in seen {
        if let JobEvent::State(change) = &record.event {
            states.push((change.state, change.reason.as_str()));
        }
    }
    states
}

fn is_position(event: &JobEvent) -> bool {
    matches!(event, JobEvent::Position(_))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_pauses_a_book_s_job_which_goes_on_afterwards() {
    let spec = job("main", expand(6, Growth::default()), 5);
    let whole = undisturbed(&spec).await;
    for ground in grounds() {
        let (moody, mood) = Moody::new(store(&ground.place).await);
        let coordinator = serve(ANY_PORT, moody).await;
        let mut ready = coordinator.readiness();
        let _worker = worker(&coordinator, "a").await;
        let (mut client, mut jobs) = (books(&coordinator).await, analysis(&coordinator).await);
        import_games(&mut client, "main").await;
        drop(work_on(&mut client, &spec).await.expect("accepted"));
        let (mut events, mut seen) = (watch(&mut jobs, 1, 0).await.expect("a stream"), Vec::new());
        read_until(&mut events, &mut seen, is_position).await;
        mood.set_full(true);
        ready.wait_for(|ready| ready.is_err()).await.expect("a coordinator");
        let why = "the store cannot be written: database or disk is full";
        let held = summary(&mut jobs, 1).await;
        assert_eq!((held.state, held.reason.as_str()), (JobState::Paused, why));
        // Nothing is accepted, what is durable can be read.
        for refused in [
            import(&mut client, vec![part("main", &["d1"])]).await.map(drop),
            work_on(&mut client, &spec).await.map(drop),
            work_on(&mut client, &job("main", ANALYZE, 2)).await.map(drop),
        ] {
            let refused = refused.expect_err("refused");
            assert_eq!((refused.code(), refused.message()), (Code::Unavailable, why));
        }
        assert_eq!(check(&mut client, "main", false).await.fault_count, 0);
        let tried = mood.commits();
        eventually("it is tried again", async || mood.commits() > tried).await;
        assert_eq!(summary(&mut jobs, 1).await.nodes, held.nodes, "nothing is searched");
        mood.set_full(false);
        ready.wait_for(Result::is_ok).await.expect("a coordinator");
        read_until(&mut events, &mut seen, |_| false).await;
        let end = check_book(&seen);
        assert_eq!((end.added, end.searched, end.failed), (6, POSITIONS + 6, 0));
        assert!(states(&seen).contains(&(JobState::Paused, why)), "{:?}", states(&seen));
        assert_eq!(timeless(&export(&mut client, "main").await), whole);
        assert_eq!(check(&mut client, "main", false).await.fault_count, 0);
        coordinator.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_pauses_a_book_s_job_until_it_is_back() {
    let Some(server) = postgres::server() else { return };
    let database = server.database();
    let place: Place = database.url.parse().expect("a URL");
    let spec = job("main", expand(6, Growth::default()), 6);
    let whole = undisturbed(&spec).await;
    let coordinator = durable(&place).await;
    let mut ready = coordinator.readiness();
    let _worker = worker(&coordinator, "a").await;
    let (mut client, mut jobs) = (books(&coordinator).await, analysis(&coordinator).await);
    import_games(&mut client, "main").await;
    drop(work_on(&mut client, &spec).await.expect("accepted"));
    let (mut events, mut seen) = (watch(&mut jobs, 1, 0).await.expect("a stream"), Vec::new());
    read_until(&mut events, &mut seen, is_position).await;
    server.stop_at_once();
    let gone = tokio::time::timeout(LONG, ready.wait_for(|ready| ready.is_err())).await;
    drop(gone.expect("in time").expect("a coordinator"));
    assert_eq!(summary(&mut jobs, 1).await.state, JobState::Paused);
    let unread = client.list(v1::ListBooksRequest {}).await.expect_err("nobody there");
    assert_eq!(unread.code(), Code::Unavailable);
    assert!(!unread.message().contains(postgres::SECRET), "{}", unread.message());
    server.start_again();
    let back = tokio::time::timeout(LONG, ready.wait_for(Result::is_ok)).await;
    drop(back.expect("in time").expect("a coordinator"));
    read_until(&mut events, &mut seen, |_| false).await;
    let end = check_book(&seen);
    assert_eq!((end.added, end.searched, end.failed), (6, POSITIONS + 6, 0));
    let paused = |&(state, why): &(JobState, &str)| {
        state == JobState::Paused && why.starts_with("the store cannot be written: ")
    };
    assert!(states(&seen).iter().any(paused), "{:?}", states(&seen));
    assert_eq!(timeless(&export(&mut client, "main").await), whole);
    assert_eq!(check(&mut client, "main", false).await.fault_count, 0);
    coordinator.stop().await;
}
