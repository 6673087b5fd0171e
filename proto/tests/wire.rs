//! The wire's promises: nothing is lost on the way, and what is malformed is refused by the name of its field.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use corridor_proto::convert::{
    batch_from_wire, batch_to_wire, book_name, book_spec_from_bytes, book_spec_to_bytes, check_record,
    entry_to_wire, event_from_wire, event_to_wire, expand_from_wire, heartbeat_from_wire, heartbeat_to_wire,
    position_from_spec, record_from_wire, record_to_wire, registration_from_wire, registration_to_wire,
    report_from_wire, report_to_wire, spec_from_wire, spec_to_wire, terms_from_wire, terms_to_wire,
    unit_from_wire, unit_iteration_from_wire, unit_iteration_to_wire, unit_to_wire,
};
use corridor_proto::json::{event_line, record_line};
use corridor_proto::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES, MAX_UNIT_NODES};
use corridor_proto::v1;
use corridor_shared::book::{Alternative, Effort, Growth, Record, Searched, Side, Source, Value, canonical};
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::{
    Accepted, Attempt, AuditReport, BoardHeat, BookAccepted, BookDone, BookJobSpec, BookProgress, BookStop,
    BookTask, DoneReport, EventRecord, Failure, IterationReport, JobEvent, JobId, JobLimits, JobSpec,
    JobState, Line, MAX_DEPTH, MoveHeat, MoveReport, PositionFailure, PositionReport, Registration,
    RootPrune, ShedNode, StateChange, StoppedBy, Terms, Unit, UnitId, UnitIteration, UnitProgress,
    UnitReport, WhiteWindow, WorkerId,
};
use corridor_shared::notation::replay;
use corridor_shared::score::{Bound, MAX_CM, WhiteScore, win_in};
use corridor_shared::search::PruneMode;
use corridor_shared::{Color, Move, Position};
use prost::Message;

fn mv(text: &str) -> Move {
    text.parse().expect("a move")
}

fn line() -> Line {
    Line {
        mv: mv("e2"),
        score_white: WhiteScore::WhiteWinsIn(9),
        bound: Bound::Lower,
        depth: 7,
        pv: vec![mv("e2"), mv("e8")],
        nodes: 1_234,
        heat_cm: 288,
    }
}

fn events() -> Vec<(JobEvent, &'static str)> {
    let heat = |text: &str, reason: &str| MoveHeat { mv: mv(text), heat_cm: 160, reason: reason.to_owned() };
    let accepted = Accepted {
        job: JobId(3),
        position: Position::start(),
        kept: vec![heat("e2", "pawn")],
        pruned: vec![heat("a1h", "cold")],
    };
    let iteration = IterationReport {
        depth: 7,
        best_move: mv("e2"),
        score_white: WhiteScore::Cm(120),
        pv: vec![mv("e2")],
        nodes: 5_000,
        elapsed: Duration::from_millis(2_500),
        nodes_per_second: 2_000,
        workers: 2,
    };
    let done = DoneReport {
        best_move: Some(mv("e2")),
        score_white: Some(WhiteScore::Cm(-5)),
        depth: 7,
        pv: vec![mv("e2")],
        nodes: 5_000,
        elapsed: Duration::from_millis(2_500),
        lines: vec![line()],
        stopped_by: StoppedBy::Proof,
    };
    let nothing = DoneReport {
        best_move: None,
        score_white: None,
        depth: 0,
        pv: Vec::new(),
        lines: Vec::new(),
        stopped_by: StoppedBy::Cancel,
        ..done.clone()
    };
    let audit = AuditReport {
        mv: mv("a1h"),
        score_white: WhiteScore::BlackWinsIn(16),
        reason: "cold".to_owned(),
        miss: true,
    };
    let error = Failure { code: "unavailable".to_owned(), message: "no \"worker\"".to_owned() };
    vec![
        (
            JobEvent::Accepted(accepted),
            r#"{"event":"accepted","job":3,"position":"/ / e1 e9 / 10 10 / 1","turn":"white","kept":[{"move":"e2","heat_cm":160,"reason":"pawn"}],"pruned":[{"move":"a1h","heat_cm":160,"reason":"cold"}],"seq":1}"#,
        ),
        (
            JobEvent::State(StateChange { state: JobState::Waiting, reason: "no worker".to_owned() }),
            r#"{"event":"state","state":"waiting","reason":"no worker","seq":1}"#,
        ),
        (
            JobEvent::Move(MoveReport { line: line(), worker: "w".to_owned() }),
            r#"{"event":"move","move":"e2","depth":7,"score_white":{"white_wins_in":9},"bound":"lower","pv":["e2","e8"],"nodes":1234,"heat_cm":288,"worker":"w","seq":1}"#,
        ),
        (
            JobEvent::Iteration(iteration),
            r#"{"event":"iteration","depth":7,"best_move":"e2","score_white":{"cm":120},"pv":["e2"],"nodes":5000,"elapsed_ms":2500,"nodes_per_second":2000,"workers":2,"seq":1}"#,
        ),
        (
            JobEvent::Audit(audit),
            r#"{"event":"audit","move":"a1h","score_white":{"black_wins_in":16},"reason":"cold","miss":true,"seq":1}"#,
        ),
        (
            JobEvent::Done(done),
            r#"{"event":"done","best_move":"e2","score_white":{"cm":-5},"depth":7,"pv":["e2"],"nodes":5000,"elapsed_ms":2500,"lines":[{"move":"e2","score_white":{"white_wins_in":9},"bound":"lower","depth":7,"pv":["e2","e8"],"nodes":1234,"heat_cm":288}],"stopped_by":"proof","seq":1}"#,
        ),
        (
            JobEvent::Done(nothing),
            r#"{"event":"done","best_move":null,"score_white":null,"depth":0,"pv":[],"nodes":5000,"elapsed_ms":2500,"lines":[],"stopped_by":"cancel","seq":1}"#,
        ),
        (
            JobEvent::Error(error),
            r#"{"event":"error","code":"unavailable","message":"no \"worker\"","seq":1}"#,
        ),
    ]
}

#[test]
fn events_survive_the_wire_and_look_as_documented() {
    for (event, json) in events() {
        let record = EventRecord { seq: 1, event };
        assert_eq!(event_from_wire(event_to_wire(&record)).as_ref(), Ok(&record));
        assert_eq!(event_line(&record).expect("JSON"), json);
    }
    let heat = |mv| BoardHeat { mv, cat_display: [7; 81], cat_search: [9; 81] };
    for (mv, start) in [
        (None, r#"{"event":"heat","move":null,"cat_display":[7,7,"#),
        (Some(mv("e3h")), r#"{"event":"heat","move":"e3h","#),
    ] {
        let record = EventRecord { seq: 2, event: JobEvent::Heat(Box::new(heat(mv))) };
        assert_eq!(event_from_wire(event_to_wire(&record)).as_ref(), Ok(&record));
        let json = event_line(&record).expect("JSON");
        assert!(json.starts_with(start) && json.ends_with(r#"9],"seq":2}"#), "{json}");
    }
}

fn unit() -> Unit {
    Unit {
        job: JobId(1),
        unit: UnitId(2),
        attempt: Attempt(3),
        root: Position::start(),
        path: vec![mv("e2"), mv("e8"), mv("e3h")],
        depth: 9,
        window: WhiteWindow { low: Some(WhiteScore::Cm(-30)), high: None },
        node_budget: Some(77),
        pv_hint: vec![mv("e3")],
        deterministic: true,
        prune: PruneMode::None,
        traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into()),
        speculative: true,
        seeds: vec![entry()],
        whole: None,
    }
}

fn entry() -> SharedEntry {
    SharedEntry {
        key: u64::MAX - 5,
        turn: Color::Black,
        score: 120,
        bound: Bound::Lower,
        depth: 9,
        mv: Some(mv("e3h")),
    }
}

#[test]
fn cache_entries_survive_the_wire_in_whites_view() {
    let mut entries = Vec::new();
    for turn in Color::BOTH {
        for bound in [Bound::Exact, Bound::Lower, Bound::Upper] {
            for score in [0, -7, MAX_CM, -MAX_CM, win_in(0), win_in(9), -win_in(1_900)] {
                entries.push(SharedEntry { turn, bound, score, ..entry() });
                entries.push(SharedEntry { turn, bound, score, depth: MAX_DEPTH, mv: None, ..entry() });
            }
        }
    }
    assert_eq!(batch_from_wire(&batch_to_wire(&entries)), Ok(entries));
    // Black is a square ahead, or more: for White at most that.
    let wire = entry_to_wire(&entry());
    assert_eq!(wire.score_white.and_then(|score| score.kind), Some(v1::score_white::Kind::Cm(-120)));
    assert_eq!((wire.bound(), wire.turn()), (v1::Bound::Upper, v1::Color::Black));
}

#[test]
fn a_batch_of_the_largest_entries_is_small_enough() {
    let largest = SharedEntry { score: -MAX_CM, depth: MAX_DEPTH, ..entry() };
    let batch = batch_to_wire(&vec![largest; MAX_BATCH_ENTRIES]);
    assert!(batch.encoded_len() <= MAX_BATCH_BYTES, "{} bytes", batch.encoded_len());
    assert!(batch_from_wire(&batch).is_ok());
    let more = batch_to_wire(&vec![largest; MAX_BATCH_ENTRIES + 1]);
    let error = batch_from_wire(&more).expect_err("too large").to_string();
    assert!(error.contains("max_batch_bytes 8192"), "{error}");
}

#[test]
fn malformed_cache_entries_are_refused_by_name() {
    let good = || entry_to_wire(&entry());
    let cases = [
        (v1::CacheEntry { turn: 0, ..good() }, "turn: is unspecified"),
        (v1::CacheEntry { turn: 3, ..good() }, "turn: 3"),
        (v1::CacheEntry { bound: 0, ..good() }, "bound: is unspecified"),
        (v1::CacheEntry { bound: 9, ..good() }, "bound: 9"),
        (v1::CacheEntry { score_white: None, ..good() }, "score_white: is missing"),
        (v1::CacheEntry { depth: 101, ..good() }, "depth: 101 is more than max_depth 100"),
        (v1::CacheEntry { depth: 256, ..good() }, "depth: 256"),
        (v1::CacheEntry { best_move: "z9".to_owned(), ..good() }, "best_move: "),
        (v1::CacheEntry { best_move: "e9h".to_owned(), ..good() }, "best_move: "),
    ];
    for (bad, fault) in cases {
        let batch = v1::CacheBatch { entries: vec![good(), bad.clone()] };
        let error = batch_from_wire(&batch).expect_err(fault).to_string();
        assert!(error.starts_with(&format!("batch.entries[1].{fault}")), "{error}");
        let seeded = v1::Unit { seeds: vec![bad], ..unit_to_wire(&unit()) };
        let error = unit_from_wire(seeded).expect_err(fault).to_string();
        assert!(error.starts_with(&format!("unit.seeds[0].{fault}")), "{error}");
    }
    let flood = v1::Unit { seeds: vec![good(); 65], ..unit_to_wire(&unit()) };
    let error = unit_from_wire(flood).expect_err("too many").to_string();
    assert!(error.contains("max_seeds 64"), "{error}");
}

#[test]
fn the_conversation_with_a_worker_survives_the_wire() {
    assert_eq!(unit_from_wire(unit_to_wire(&unit())), Ok(unit()));
    let whole = Unit { whole: Some(3), ..unit() };
    assert_eq!(unit_from_wire(unit_to_wire(&whole)), Ok(whole));
    let nothing = v1::Unit { whole_multipv: Some(0), ..unit_to_wire(&unit()) };
    let error = unit_from_wire(nothing).expect_err("no line").to_string();
    assert_eq!(error, "unit.whole_multipv: must be at least 1");
    let report = UnitReport {
        open: vec![ShedNode {
            current: mv("e3h"),
            done: vec![
                (mv("e8"), WhiteScore::Cm(-12), Bound::Lower),
                (mv("d8"), WhiteScore::WhiteWinsIn(7), Bound::Exact),
            ],
        }],
        path_dependent: true,
        lines: vec![Line {
            mv: mv("e2"),
            score_white: WhiteScore::Cm(7),
            bound: Bound::Exact,
            depth: 3,
            pv: vec![mv("e2"), mv("e8")],
            nodes: 5,
            heat_cm: 120,
        }],
        unit: UnitId(2),
        attempt: Attempt(3),
        score: Some((WhiteScore::BlackWinsIn(15), Bound::Upper)),
        pv: vec![mv("e2")],
        nodes: 99,
        completed: true,
        search_time: Duration::from_micros(1_500),
    };
    assert_eq!(report_from_wire(&report_to_wire(&report)), Ok(report.clone()));
    let (lines, nodes) = (report.lines.clone(), 9);
    let iteration = UnitIteration { unit: UnitId(2), attempt: Attempt(3), lines, nodes };
    assert_eq!(unit_iteration_from_wire(&unit_iteration_to_wire(&iteration)), Ok(iteration));
    let stopped = UnitReport { score: None, completed: false, ..report };
    assert_eq!(report_from_wire(&report_to_wire(&stopped)), Ok(stopped));
    let progress = vec![UnitProgress { unit: UnitId(2), attempt: Attempt(3), nodes: 5 }];
    assert_eq!(heartbeat_from_wire(&heartbeat_to_wire(&progress)), progress);
    let terms =
        Terms { worker: WorkerId(4), lease: Duration::from_secs(10), heartbeat: Duration::from_secs(1) };
    assert_eq!(terms_from_wire(terms_to_wire(terms)), Ok(terms));
    let registration = Registration {
        name: "w".to_owned(),
        instance: u64::MAX,
        engine_epoch: "e".to_owned(),
        slots: 2,
        table_bytes: 1 << 30,
    };
    assert_eq!(registration_from_wire(registration_to_wire(&registration)), Ok(registration));
    let spec = JobSpec {
        position: Position::start(),
        limits: JobLimits { depth: Some(100), time: Some(Duration::from_millis(1)), nodes: Some(1) },
        multipv: 3,
        prune: RootPrune::Audit,
        deterministic: true,
        priority: -4,
        detach: true,
        traceparent: None,
    };
    assert_eq!(spec_from_wire(Some(&spec_to_wire(&spec)), None, "spec"), Ok(spec));
}

#[test]
fn what_is_malformed_is_refused_by_name() {
    let good = unit_to_wire(&unit());
    let score = |kind| Some(v1::ScoreWhite { kind });
    let window = |low_white| Some(v1::Window { low_white, high_white: None });
    let cm = v1::score_white::Kind::Cm;
    let cases = [
        (v1::Unit { root: String::new(), ..good.clone() }, "unit.root"),
        (v1::Unit { path: vec!["e2".to_owned(), "z9".to_owned()], ..good.clone() }, "unit.path[1]"),
        (v1::Unit { path: vec!["e2".to_owned(); 5_000], ..good.clone() }, "max_plies"),
        (v1::Unit { depth: 300, ..good.clone() }, "unit.depth"),
        (v1::Unit { window: window(score(None)), ..good.clone() }, "unit.window.low_white"),
        (v1::Unit { window: window(score(Some(cm(i32::MIN)))), ..good.clone() }, "unit.window.low_white.cm"),
        (
            v1::Unit {
                window: window(score(Some(v1::score_white::Kind::WhiteWinsIn(2_000)))),
                ..good.clone()
            },
            "unit.window.low_white.white_wins_in",
        ),
        (v1::Unit { prune: 0, ..good.clone() }, "unit.prune: is unspecified"),
        (v1::Unit { prune: 3, ..good.clone() }, "unit.prune"),
        (v1::Unit { prune: -1, ..good }, "unit.prune: -1"),
    ];
    for (unit, named) in cases {
        let error = unit_from_wire(unit).expect_err(named).to_string();
        assert!(error.contains(named), "{error} does not name {named}");
    }
    let completed = v1::UnitResult { completed: true, ..v1::UnitResult::default() };
    assert_eq!(report_from_wire(&completed).expect_err("no score").field, "result.score_white");
    let unbounded = v1::UnitResult { score_white: score(Some(cm(5))), ..v1::UnitResult::default() };
    assert_eq!(report_from_wire(&unbounded).expect_err("no bound").field, "result.bound");
    // Sums of what workers say must not overflow.
    let endless = v1::UnitResult { nodes: u64::MAX, ..v1::UnitResult::default() };
    assert_eq!(report_from_wire(&endless).expect_err("too many").field, "result.nodes");
    let units = vec![v1::UnitProgress { unit: 1, attempt: 1, nodes: u64::MAX }];
    assert_eq!(heartbeat_from_wire(&v1::Heartbeat { units })[0].nodes, MAX_UNIT_NODES);
    assert_eq!(event_from_wire(v1::Event::default()).expect_err("no kind").field, "event.kind");
    assert_eq!(position_from_spec(None, "position").expect_err("nothing").field, "position");
}

// ---- books ----------------------------------------------------------------------------------------------------------

fn record() -> Record {
    let position = canonical(&replay(&Position::start(), &moves("e2 e8")).expect("legal"));
    Record {
        position,
        moves: Some(moves("e2 e8")),
        searched: Some(Searched {
            depth: 7,
            score_white: WhiteScore::Cm(-31),
            bound: Bound::Exact,
            best_move: Some(mv("e3")),
            pv: moves("e3 e7"),
            nodes: 12_345,
            engine: "an engine".into(),
            analysed_at: 1_796_040_000,
            worker: "anna".into(),
            multipv: 2,
            prune: RootPrune::None,
            deterministic: true,
            others: vec![Alternative {
                mv: mv("d3h"),
                score_white: WhiteScore::BlackWinsIn(8),
                bound: Bound::Exact,
            }],
            effort: Effort { nodes: 54_321, ms: 900 },
        }),
        value: Some(Value {
            score_white: WhiteScore::Cm(12),
            bound: Bound::Lower,
            depth: 11,
            source: Source::BackedUp(mv("e3")),
        }),
        children: vec![
            (mv("d3h"), None),
            (mv("e3"), Some((WhiteScore::Cm(12), Bound::Upper))),
            (mv("e4h"), Some((WhiteScore::Cm(-3), Bound::Exact))),
        ],
    }
}

fn moves(text: &str) -> Vec<Move> {
    text.split_whitespace().map(mv).collect()
}

#[test]
fn a_position_of_a_book_survives_the_wire_and_is_exported_as_the_contract_says() {
    let node = record_to_wire(&record(), "another engine");
    assert!(node.stale, "of another engine");
    assert_eq!(record_from_wire(&node), Ok(record()));
    assert_eq!(check_record(&record(), Some(&node.key)), Ok(()));
    let line = record_line(&record()).expect("JSON");
    let expected = format!(
        "{{\"position\":\"/ / e2 e8 / 10 10 / 1\",\"moves\":[\"e2\",\"e8\"],\"key\":\"{}\",\"depth\":7,\
         \"score_white\":{{\"cm\":-31}},\"bound\":\"exact\",\"best_move\":\"e3\",\"pv\":[\"e3\",\"e7\"],\"nodes\":12345,\
         \"backed_up_white\":{{\"cm\":12}},\"backed_up_bound\":\"lower\",\
         \"children\":{{\"d3h\":null,\"e3\":{{\"cm\":12}},\"e4h\":{{\"cm\":-3}}}},\"children_bounds\":{{\"e3\":\"upper\"}},\
         \"engine\":\"an engine\",\"analysed_at\":\"2026-11-30T12:00:00Z\"}}",
        node.key
    );
    assert_eq!(line, expected);
    // Somebody who has not learned of bounds yet means the score.
    let mut silent = node.clone();
    silent.children[1].bound = 0;
    let read = record_from_wire(&silent).expect("a position");
    assert_eq!(read.children[1].1, Some((WhiteScore::Cm(12), Bound::Exact)));
    let bare = Record { searched: None, value: None, moves: None, children: Vec::new(), ..record() };
    assert_eq!(record_from_wire(&record_to_wire(&bare, "e")), Ok(bare));
}

#[test]
fn positions_of_a_book_that_make_no_sense_are_refused_by_field() {
    let good = || record_to_wire(&record(), "e");
    let check = |node: &v1::BookNode| {
        let record = record_from_wire(node)?;
        check_record(&record, Some(&node.key))
    };
    assert_eq!(check(&good()), Ok(()));
    let wins = |kind| v1::BookNode { score_white: Some(v1::ScoreWhite { kind: Some(kind) }), ..good() };
    for possible in [v1::score_white::Kind::WhiteWinsIn(7), v1::score_white::Kind::BlackWinsIn(8)] {
        assert_eq!(check(&wins(possible)), Ok(()));
    }
    // A bound is where a search has stopped to look.
    let bound =
        v1::BookNode { bound: v1::Bound::Lower.into(), ..wins(v1::score_white::Kind::WhiteWinsIn(8)) };
    assert_eq!(check(&bound), Ok(()));
    let cases = [
        (v1::BookNode { position: "x".to_owned(), ..good() }, "position: "),
        (v1::BookNode { position: "/ / d2 e8 / 10 10 / 1".to_owned(), ..good() }, "position: is not"),
        (v1::BookNode { position: "/ / f2 e8 / 10 10 / 1".to_owned(), ..good() }, "key: is not"),
        (v1::BookNode { key: "0".repeat(16), ..good() }, "key: is not the position's"),
        (v1::BookNode { moves: vec!["e2".to_owned()], ..good() }, "moves: do not lead"),
        (v1::BookNode { moves: vec!["e3".to_owned()], ..good() }, "moves[0]: "),
        (v1::BookNode { best_move: "d3h".to_owned(), ..good() }, "pv: does not begin"),
        (v1::BookNode { pv: vec!["e3".to_owned(), "e3".to_owned()], ..good() }, "pv[1]: "),
        (v1::BookNode { depth: 300, ..good() }, "depth: "),
        (v1::BookNode { depth: 101, ..good() }, "depth: 101 plies are more than 100"),
        (wins(v1::score_white::Kind::WhiteWinsIn(0)), "score_white: a win in 0 plies"),
        (
            wins(v1::score_white::Kind::WhiteWinsIn(8)),
            "score_white: White does not win in 8 plies with White to move",
        ),
        (
            wins(v1::score_white::Kind::BlackWinsIn(7)),
            "score_white: Black does not win in 7 plies with White to move",
        ),
        (v1::BookNode { bound: 0, ..good() }, "bound: is unspecified"),
        (v1::BookNode { engine: String::new(), ..good() }, "engine: "),
    ];
    for (bad, fault) in cases {
        let error = check(&bad).expect_err(fault).to_string();
        assert!(error.starts_with(fault), "{fault}: {error}");
    }
}

#[test]
fn work_on_a_book_survives_the_wire_and_a_store() {
    let spec = BookJobSpec {
        book: "main".into(),
        task: BookTask::Analyze { stale: true, most: Some(7) },
        limits: JobLimits { depth: Some(9), time: Some(Duration::from_secs(2)), nodes: Some(5) },
        multipv: 3,
        prune: RootPrune::Audit,
        deterministic: true,
        priority: -4,
        detach: true,
        traceparent: None,
    };
    let growth = Growth { side: Side::Of(Color::Black), max_cost: Some(80), ..Growth::default() };
    let task = BookTask::Expand { positions: Some(3), growth, time: Some(Duration::from_secs(9)) };
    for spec in [spec.clone(), BookJobSpec { task, ..spec }] {
        let bytes = book_spec_to_bytes(&spec);
        assert_eq!(book_spec_from_bytes(spec.task.name(), &bytes, None), Ok(spec));
    }
    let endless = v1::ExpandRequest {
        book: "main".to_owned(),
        prune: v1::PruneMode::Cat.into(),
        limits: Some(v1::Limits { depth: Some(1), ..v1::Limits::default() }),
        ..v1::ExpandRequest::default()
    };
    let error = expand_from_wire(&endless, None).expect_err("endless").to_string();
    assert!(error.starts_with("positions: "), "{error}");
    let error = expand_from_wire(&v1::ExpandRequest { limits: None, positions: 1, ..endless }, None);
    assert!(error.expect_err("no limit").to_string().starts_with("limits: "));
    for name in ["", "a b", "a/b", &"x".repeat(65)] {
        assert!(book_name(name, "book").is_err(), "{name}");
    }
}

#[test]
fn events_of_a_books_job_survive_the_wire() {
    let progress =
        BookProgress { done: 3, total: 9, nodes: 77, elapsed: Duration::from_millis(1_234), workers: 2 };
    let done = BookDone {
        positions: 9,
        searched: 8,
        added: 2,
        failed: 1,
        left: 1,
        nodes: 99,
        elapsed: Duration::from_secs(3),
        stopped_by: BookStop::Cost,
    };
    let task = BookTask::Analyze { stale: false, most: None };
    let events = [
        JobEvent::BookAccepted(BookAccepted {
            job: JobId(4),
            book: "main".into(),
            task,
            positions: 9,
            total: 8,
        }),
        JobEvent::Position(Box::new(PositionReport { record: record(), progress })),
        JobEvent::PositionFailed(Box::new(PositionFailure {
            position: record().position,
            message: "why".to_owned(),
        })),
        JobEvent::BookDone(done),
    ];
    let lines = [
        r#"{"event":"accepted","job":4,"book":"main","task":"analyze","positions":9,"total":8,"seq":1}"#,
        r#"{"event":"position","position":"/ / e2 e8 / 10 10 / 1","moves":["e2","e8"],"#,
        r#"{"event":"position_failed","position":"/ / e2 e8 / 10 10 / 1","message":"why","seq":3}"#,
        r#"{"event":"done","positions":9,"searched":8,"added":2,"failed":1,"left":1,"nodes":99,"elapsed_ms":3000,"stopped_by":"cost","seq":4}"#,
    ];
    for ((event, seq), start) in events.into_iter().zip(1..).zip(lines) {
        let record = EventRecord { seq, event };
        assert_eq!(event_from_wire(event_to_wire(&record)), Ok(record.clone()));
        let line = event_line(&record).expect("JSON");
        assert!(line.starts_with(start), "{line}");
    }
}
