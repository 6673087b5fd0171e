//! The page at many sizes: nothing is wider than the terminal, and what matters is there.

use std::time::Duration;

use corridor_shared::board::{Move, Position};
use corridor_shared::job::{
    Accepted, AuditReport, HeldUnit, IterationReport, JobEvent, JobId, JobLimits, JobState, Line, MoveHeat,
    MoveReport, StateChange, WorkerLoss, WorkerSummary,
};
use corridor_shared::score::{Bound, WhiteScore};
use tokio::time::Instant;

use super::layout::page;
use super::paint::Paint;
use crate::analyze::live::width;
use crate::analyze::state::State;
use crate::pulse::{Beat, tests::beat};

/// Rows and columns.
const SIZES: [(usize, usize); 8] =
    [(60, 200), (40, 100), (24, 80), (24, 60), (50, 40), (12, 40), (5, 20), (2, 2)];

fn mv(name: &str) -> Move {
    name.parse().unwrap()
}

fn moves(names: &str) -> Vec<Move> {
    names.split(' ').map(mv).collect()
}

fn accepted(position: &str) -> JobEvent {
    let position: Position = position.parse().unwrap();
    let heat = |mv| MoveHeat { mv, heat_cm: 120, reason: "pawn".to_owned() };
    let mut kept: Vec<MoveHeat> = position.legal_moves().iter().copied().map(heat).collect();
    let pruned = kept.split_off(30);
    JobEvent::Accepted(Accepted { job: JobId(7), position, kept, pruned })
}

fn searched(name: &str, score_white: WhiteScore, bound: Bound, depth: u8, worker: &str) -> JobEvent {
    let pv = [vec![mv(name)], moves("e8 e3 e7 e4 e6 e3h f6h c6h")].concat();
    let line = Line { mv: mv(name), score_white, bound, depth, pv, nodes: 123_456_789, heat_cm: 240 };
    JobEvent::Move(MoveReport { line, worker: worker.to_owned() })
}

fn iteration(depth: u8, best: &str, cm: i32) -> JobEvent {
    JobEvent::Iteration(IterationReport {
        depth,
        best_move: mv(best),
        score_white: WhiteScore::Cm(cm),
        pv: moves("e2 e8 e3 e7"),
        nodes: 4_567_890,
        elapsed: Duration::from_secs(12),
        nodes_per_second: 456_789,
        workers: 3,
    })
}

fn worker(name: &str, silent: u64) -> WorkerSummary {
    let unit = HeldUnit {
        job: JobId(7),
        moves: moves("d3h e8"),
        position: None,
        depth: 9,
        nodes: 1_234_567,
        running: Duration::from_millis(2_500),
    };
    WorkerSummary {
        name: name.to_owned(),
        slots: 1,
        units: 3,
        nodes: 9_999_999,
        nodes_per_second: 500_000,
        connected: Duration::from_secs(60),
        silent: Duration::from_secs(silent),
        draining: false,
        holds: vec![unit],
    }
}

fn crew() -> Beat {
    let mut told = beat(JobState::Running, "");
    told.job.job = JobId(7);
    told.job.nodes = 5_000_000;
    told.job.limits = JobLimits { depth: Some(30), time: Some(Duration::from_secs(3_600)), nodes: None };
    let loss = WorkerLoss {
        name: "dora".to_owned(),
        reason: "silent for 10 s".to_owned(),
        units: 2,
        ago: Duration::from_secs(30),
    };
    let workers = vec![worker("anna", 0), worker("\u{6f22}\u{5b57}", 0), worker("carla", 8)];
    Beat::new(told.job, workers, vec![loss])
}

/// A job in the middle of its tenth depth.
fn state() -> State {
    let mut state = State::new();
    state.see(&accepted("a2g6 / b1d6e3 / e4 e6 / 7 8 / 2"));
    for depth in 1..=9 {
        let best = if depth < 5 { "e5" } else { "d3h" };
        state.see(&iteration(depth, best, i32::from(depth) * 20));
    }
    state.see(&searched("e5", WhiteScore::Cm(-50), Bound::Exact, 9, "berta"));
    state.see(&searched("f4", WhiteScore::WhiteWinsIn(13), Bound::Upper, 9, "anna"));
    state.see(&searched("d3h", WhiteScore::Cm(180), Bound::Exact, 10, "anna"));
    state.feel(crew());
    state
}

fn plain(state: &State, size: (usize, usize)) -> String {
    page(state, size, Paint { colours: false }).join("\n")
}

#[test]
fn no_page_is_larger_than_the_terminal() {
    let mut others = vec![State::new(), state(), state(), state()];
    others[0].see(&accepted("/ / e1 e9 / 10 10 / 1"));
    others[2].lose(&"a very long reason ".repeat(30));
    others[3].feel(beat(JobState::Paused, &"\u{6f22}\u{5b57} ".repeat(200)));
    for state in &others {
        for colours in [false, true] {
            for rows in 1..64 {
                for columns in [1, 2, 7, 19, 20, 39, 53, 76, 79, 99, 117, 118, 199] {
                    let lines = page(state, (rows, columns), Paint { colours });
                    assert!(lines.len() <= rows, "{rows} rows: {}", lines.len());
                    for line in &lines {
                        assert!(width(line) <= columns, "{columns} columns: {line:?}");
                        assert!(!line.contains('\n'));
                    }
                }
            }
        }
    }
}

#[test]
fn what_matters_is_seen_at_every_size() {
    let state = state();
    for (rows, columns) in SIZES.into_iter().filter(|&(rows, _)| rows > 2) {
        let text = plain(&state, (rows, columns));
        for part in ["job 7", "running", "d3h is best: +1.80", "depth 10 ", "1/30"] {
            assert!(text.contains(&part[..part.len().min(columns)]), "{rows}x{columns}: {part}\n{text}");
        }
        if rows >= 12 {
            for part in ["5,000,000 nodes", "heat", "e5", "\u{25b8}an", "Ctrl-C"] {
                assert!(text.contains(part), "{rows}x{columns}: {part}\n{text}");
            }
        }
        if rows >= 24 {
            let parts = ["> Black", "7 w", "e5 1-4", "silent for", "dora", "30 searched"];
            for part in parts {
                assert!(text.contains(part), "{rows}x{columns}: {part}\n{text}");
            }
        }
    }
}

#[test]
fn the_board_is_as_large_as_there_is_room_for() {
    let state = state();
    // The dashes of the best wall: two squares and what is between them.
    let dashes = |size| plain(&state, size).matches('\u{254d}').count();
    assert_eq!(SIZES.map(dashes), [11, 7, 7, 3, 7, 0, 0, 0]);
    let small = plain(&state, (24, 80));
    let first = small.lines().nth(1).unwrap_or_default();
    assert!(first.starts_with("9 ") && first.contains("is best"), "beside what is said of it: {first}");
    // Above what is said of it, in a terminal that is high and narrow.
    let high = page(&state, (50, 40), Paint { colours: false });
    assert_eq!((high[1].trim_start().split(' ').next(), high[21].as_str()), (Some("9"), ""));
}

#[test]
fn a_page_says_that_it_is_old() {
    let mut state = state();
    state.lose("the connection to http://a:1 broke\u{1b}[2J");
    let text = plain(&state, (24, 80));
    let title = text.lines().next().unwrap_or_default();
    assert!(title.starts_with("job 7  not connected for 0.0 s, trying again: the connection"), "{title}");
    assert!(!text.contains('\u{1b}'), "nothing that a terminal would obey");
    // It is connected again as soon as anything is heard.
    state.feel(crew());
    assert!(plain(&state, (24, 80)).lines().next().is_some_and(|title| title.contains("cluster: 3 workers")));
    state.lose("again");
    state.see(&iteration(10, "e5", 1));
    assert!(plain(&state, (24, 80)).starts_with("job 7  running"));
    state.feel(Beat { at: Instant::now() - Duration::from_secs(9), ..crew() });
    assert!(plain(&state, (24, 80)).starts_with("job 7  no answer from the cluster for 9 s"));
}

#[test]
fn what_others_say_is_never_obeyed() {
    let mut state = state();
    let nasty = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\r\n";
    let mut told = crew();
    told.crew[0].name = nasty.to_owned();
    told.losses[0].reason = nasty.to_owned();
    told.losses[0].name = nasty.to_owned();
    state.feel(told);
    state.see(&searched("f4", WhiteScore::Cm(1), Bound::Exact, 10, nasty));
    let change = StateChange { state: JobState::Parked, reason: nasty.to_owned() };
    for _ in 0..2 {
        let text = plain(&state, (60, 200));
        let obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!text.contains(obeyed) && text.contains("\\u{1b}]0;x"), "{text:?}");
        state.see(&JobEvent::State(change.clone()));
    }
}

#[test]
fn missed_moves_are_named() {
    let mut state = state();
    let audit = |name: &str, miss| {
        let mv = mv(name);
        let score_white = WhiteScore::Cm(-100);
        JobEvent::Audit(AuditReport { mv, score_white, reason: "cold".to_owned(), miss })
    };
    state.see(&audit("h8h", false));
    assert!(plain(&state, (60, 200)).contains("1 of them checked, none is better"));
    state.see(&audit("h7h", true));
    assert!(plain(&state, (60, 200)).contains("2 of them checked, better: h7h -1.00"));
}

#[test]
fn of_many_workers_the_silent_ones_are_seen_and_the_others_counted() {
    let mut state = state();
    let mut told = crew();
    told.crew =
        (0..50).map(|number| worker(&format!("w{number}"), if number == 40 { 9 } else { 0 })).collect();
    state.feel(told);
    let text = plain(&state, (24, 80));
    assert!(text.contains("\u{25cb} w40") && text.contains("more workers"), "{text}");
    let listed = text.matches(['\u{25cf}', '\u{25cb}']).count();
    assert!(text.contains(&format!("{} more workers", 50 - listed)), "{listed} of 50\n{text}");
}
