//! Searches that only pretend: well-formed results at next to no cost.

use std::time::Duration;

use corridor_proto::convert::{report_to_wire, unit_from_wire};
use corridor_proto::v1;
use corridor_shared::job::{Unit, UnitReport};
use corridor_shared::score::{Bound, WhiteScore};
use corridor_shared::{Color, Move};

/// A search takes so many times more positions with each ply.
const GROWTH: f64 = 1.8;
const FIRST_PLY_NODES: f64 = 20.0;
/// The most positions that a search says it has visited.
const MOST_NODES: f64 = 50e6;
/// What a move costs its side at most, in centi-squares.
const WORST_MOVE_CM: u64 = 60;
/// What scores differ by from depth to depth, and the moves of a line, where searches are lively.
const LIVELY_CM: u64 = 9;
const LIVELY_LINE: u64 = 7;

/// Everything is a draw and took one position, so that a job is its root moves, again and again: as little for the
/// coordinator to decide as there can be.
#[expect(clippy::needless_pass_by_value, reason = "a search, as the others are")]
pub(crate) fn flat(unit: v1::Unit) -> v1::UnitResult {
    v1::UnitResult {
        unit: unit.unit,
        attempt: unit.attempt,
        score_white: Some(v1::ScoreWhite { kind: Some(v1::score_white::Kind::Cm(0)) }),
        bound: v1::Bound::Exact.into(),
        nodes: 1,
        search_us: 1,
        completed: true,
        ..v1::UnitResult::default()
    }
}

/// Scores that hang together, windows that are kept and positions that grow with the depth, so that jobs are split as
/// those of a real search are.
pub(crate) fn deep(unit: v1::Unit) -> v1::UnitResult {
    let unit = unit_from_wire(unit).expect("a good unit");
    let mut position = unit.root;
    let mut score = 0;
    for &mv in &unit.path {
        score += worth(mv, position.turn());
        position = position.after(mv);
    }
    let best = position.legal_moves().iter().copied().min_by_key(|&mv| cost(mv));
    let nodes = nodes(&unit);
    report_to_wire(&UnitReport {
        unit: unit.unit,
        attempt: unit.attempt,
        score: Some(in_window(score, &unit)),
        pv: best.into_iter().collect(),
        nodes,
        completed: true,
        search_time: Duration::from_micros(nodes),
        path_dependent: false,
        lines: Vec::new(),
        open: Vec::new(),
    })
}

/// Scores that change a little with each depth, lines of several moves, and searches that are too small to be split: as much
/// as there can be to see of a job's root moves.
pub(crate) fn lively(unit: v1::Unit) -> v1::UnitResult {
    let unit = unit_from_wire(unit).expect("a good unit");
    let mut position = unit.root;
    let mut score = 0;
    for &mv in &unit.path {
        score += worth(mv, position.turn()) + drift(mv, unit.depth);
        position = position.after(mv);
    }
    let mut pv = Vec::new();
    for ply in 0..LIVELY_LINE {
        let salt = u64::from(unit.depth / 4) + ply;
        let next =
            position.legal_moves().iter().copied().min_by_key(|&mv| cost(mv).wrapping_mul(salt | 1) % 97);
        let Some(mv) = next else { break };
        pv.push(mv);
        position = position.after(mv);
    }
    let nodes = 500 + 37 * u64::from(unit.depth);
    report_to_wire(&UnitReport {
        unit: unit.unit,
        attempt: unit.attempt,
        score: Some(in_window(score, &unit)),
        pv,
        nodes,
        completed: true,
        search_time: Duration::from_micros(nodes),
        path_dependent: false,
        lines: Vec::new(),
        open: Vec::new(),
    })
}

/// What a move's score differs by at a depth.
fn drift(mv: Move, depth: u8) -> i32 {
    let mixed =
        (u64::from(mv.index()) + 1).wrapping_mul(u64::from(depth) + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    i32::try_from((mixed >> 33) % LIVELY_CM).expect("small")
}

/// What a move costs whoever plays it: most positions have one that costs nearly nothing, so scores hardly change with the
/// depth.
fn cost(mv: Move) -> u64 {
    let mut z = (u64::from(mv.index()) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z >> 33) % WORST_MOVE_CM
}

fn worth(mv: Move, turn: Color) -> i32 {
    let cost = i32::try_from(cost(mv)).expect("small");
    if turn == Color::White { -cost } else { cost }
}

fn in_window(score: i32, unit: &Unit) -> (WhiteScore, Bound) {
    let cm = |end: Option<WhiteScore>| match end {
        Some(WhiteScore::Cm(cm)) => Some(cm),
        _ => None,
    };
    let bound = if cm(unit.window.low).is_some_and(|low| score <= low) {
        Bound::Upper
    } else if cm(unit.window.high).is_some_and(|high| score >= high) {
        Bound::Lower
    } else {
        Bound::Exact
    };
    (WhiteScore::Cm(score), bound)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
fn nodes(unit: &Unit) -> u64 {
    (FIRST_PLY_NODES * GROWTH.powi(unit.depth.into())).min(MOST_NODES) as u64
}
