//! The only conversions between the wire and the domain.
//!
//! Outwards they cannot fail. Inwards each error names the field, as a path from the message's root, and the fault.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::{Color, Move, Position};
use corridor_shared::job;
use corridor_shared::notation::{Notation, parse_moves, replay};
use corridor_shared::score::{Bound, MAX_CM, Score, WIN, WhiteScore};
use corridor_shared::search::PruneMode;
use prost::Message;

use crate::limits::{MAX_NAME_BYTES, MAX_PLIES, MAX_UNIT_NODES};
use crate::v1;

mod cache;

pub use book::{
    BookRequest, MAX_BOOK_NAME_BYTES, book_analyze_from_wire, book_name, book_spec_from_bytes,
    book_spec_to_bytes, book_spec_to_wire, book_stop_from_wire, book_stop_to_wire, check_record,
    expand_from_wire, lines_from_bytes, lines_to_bytes, node_bytes, record_from_wire, record_to_wire,
    root_moves_from_wire, root_moves_to_wire,
};
pub use cache::{batch_from_wire, batch_to_wire, entry_from_wire, entry_to_wire};

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {fault}")]
pub struct ConvertError {
    /// The field, as a path from the message's root.
    pub field: String,
    /// What is wrong with it.
    pub fault: String,
}

impl ConvertError {
    /// An error at a field.
    pub fn new(field: impl Into<String>, fault: impl Display) -> Self {
        Self { field: field.into(), fault: fault.to_string() }
    }

    /// The same error of a message that lies below a field.
    fn below(self, parent: &str) -> Self {
        Self { field: format!("{parent}.{}", self.field), ..self }
    }
}

type Converted<T> = Result<T, ConvertError>;

fn required<T>(value: Option<T>, field: &str) -> Converted<T> {
    value.ok_or_else(|| ConvertError::new(field, "is missing"))
}

fn narrow<T: TryFrom<u64>>(value: u64, field: &str) -> Converted<T> {
    T::try_from(value).map_err(|_| ConvertError::new(field, format!("{value} is too large")))
}

/// Milliseconds for the wire; what does not fit is cut off at the largest value.
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

// ---- enumerations -------------------------------------------------------------------------------------------------

/// Declares the two directions of an enumeration; the unspecified and unknown values are refused.
macro_rules! enumeration {
    ($to:ident, $from:ident, $domain:ty, $wire:ty, { $($variant:path => $value:path),+ $(,)? }) => {
        /// The wire's value.
        #[must_use]
        pub const fn $to(value: $domain) -> $wire {
            match value { $($variant => $value,)+ }
        }

        /// The domain's value.
        ///
        /// # Errors
        /// The value is unspecified or unknown.
        pub fn $from(value: i32, field: &str) -> Converted<$domain> {
            match <$wire>::try_from(value) {
                $(Ok($value) => Ok($variant),)+
                Ok(_) => Err(ConvertError::new(field, "is unspecified")),
                Err(_) => Err(ConvertError::new(field, format!("{value} is not a value of this enumeration"))),
            }
        }
    };
}

mod book;

enumeration!(color_to_wire, color_from_wire, Color, v1::Color, {
    Color::White => v1::Color::White,
    Color::Black => v1::Color::Black,
});
enumeration!(bound_to_wire, bound_from_wire, Bound, v1::Bound, {
    Bound::Exact => v1::Bound::Exact,
    Bound::Lower => v1::Bound::Lower,
    Bound::Upper => v1::Bound::Upper,
});
enumeration!(root_prune_to_wire, root_prune_from_wire, job::RootPrune, v1::PruneMode, {
    job::RootPrune::Cat => v1::PruneMode::Cat,
    job::RootPrune::None => v1::PruneMode::None,
    job::RootPrune::Audit => v1::PruneMode::Audit,
});
enumeration!(job_state_to_wire, job_state_from_wire, job::JobState, v1::JobState, {
    job::JobState::Queued => v1::JobState::Queued,
    job::JobState::Running => v1::JobState::Running,
    job::JobState::Waiting => v1::JobState::Waiting,
    job::JobState::Paused => v1::JobState::Paused,
    job::JobState::Parked => v1::JobState::Parked,
    job::JobState::Done => v1::JobState::Done,
    job::JobState::Failed => v1::JobState::Failed,
});
enumeration!(stopped_by_to_wire, stopped_by_from_wire, job::StoppedBy, v1::StoppedBy, {
    job::StoppedBy::Depth => v1::StoppedBy::Depth,
    job::StoppedBy::Time => v1::StoppedBy::Time,
    job::StoppedBy::Nodes => v1::StoppedBy::Nodes,
    job::StoppedBy::Proof => v1::StoppedBy::Proof,
    job::StoppedBy::Cancel => v1::StoppedBy::Cancel,
    job::StoppedBy::Book => v1::StoppedBy::Book,
});
enumeration!(notation_to_wire, notation_from_wire, Notation, v1::Notation, {
    Notation::Man => v1::Notation::Man,
    Notation::Nw => v1::Notation::Nw,
    Notation::Flip => v1::Notation::Flip,
    Notation::Prefix => v1::Notation::Prefix,
    Notation::Qtp => v1::Notation::Qtp,
    Notation::Tq1 => v1::Notation::Tq1,
    Notation::Qf => v1::Notation::Qf,
});

/// The prune mode of a unit for the wire.
#[must_use]
pub const fn prune_to_wire(prune: PruneMode) -> v1::PruneMode {
    match prune {
        PruneMode::Cat => v1::PruneMode::Cat,
        PruneMode::None => v1::PruneMode::None,
    }
}

/// The prune mode of a unit.
///
/// # Errors
/// The value is unspecified, unknown, or `audit`, which is for the root alone.
pub fn prune_from_wire(value: i32, field: &str) -> Converted<PruneMode> {
    match root_prune_from_wire(value, field)? {
        job::RootPrune::Cat => Ok(PruneMode::Cat),
        job::RootPrune::None => Ok(PruneMode::None),
        job::RootPrune::Audit => Err(ConvertError::new(field, "a unit cannot be searched under audit")),
    }
}

// ---- moves, positions, scores -------------------------------------------------------------------------------------

fn moves_to_wire(moves: &[Move]) -> Vec<String> {
    moves.iter().map(ToString::to_string).collect()
}

fn move_from_wire(text: &str, field: &str) -> Converted<Move> {
    text.parse().map_err(|error| ConvertError::new(field, error))
}

fn moves_from_wire(texts: &[String], field: &str) -> Converted<Vec<Move>> {
    if texts.len() > MAX_PLIES {
        return Err(ConvertError::new(
            field,
            format!("{} plies are more than max_plies {MAX_PLIES}", texts.len()),
        ));
    }
    let parse = |(index, text): (usize, &String)| move_from_wire(text, &format!("{field}[{index}]"));
    texts.iter().enumerate().map(parse).collect()
}

fn position_from_text(text: &str, field: &str) -> Converted<Position> {
    text.parse().map_err(|error| ConvertError::new(field, error))
}

/// A score for the wire.
#[must_use]
pub fn score_to_wire(score: WhiteScore) -> v1::ScoreWhite {
    use v1::score_white::Kind;
    let kind = match score {
        WhiteScore::Cm(cm) => Kind::Cm(cm),
        WhiteScore::WhiteWinsIn(plies) => Kind::WhiteWinsIn(u32::from(plies)),
        WhiteScore::BlackWinsIn(plies) => Kind::BlackWinsIn(u32::from(plies)),
    };
    v1::ScoreWhite { kind: Some(kind) }
}

/// A score from the wire.
///
/// # Errors
/// No kind is set, or the value is impossible.
pub fn score_from_wire(score: v1::ScoreWhite, field: &str) -> Converted<WhiteScore> {
    use v1::score_white::Kind;
    match required(score.kind, field)? {
        Kind::Cm(cm) if cm.unsigned_abs() > MAX_CM.unsigned_abs() => {
            Err(ConvertError::new(format!("{field}.cm"), format!("{cm} is beyond {MAX_CM}")))
        }
        Kind::Cm(cm) => Ok(WhiteScore::Cm(cm)),
        Kind::WhiteWinsIn(plies) => {
            plies_from_wire(plies, field, "white_wins_in").map(WhiteScore::WhiteWinsIn)
        }
        Kind::BlackWinsIn(plies) => {
            plies_from_wire(plies, field, "black_wins_in").map(WhiteScore::BlackWinsIn)
        }
    }
}

fn plies_from_wire(plies: u32, field: &str, kind: &str) -> Converted<u16> {
    u16::try_from(plies)
        .ok()
        .filter(|&plies| Score::from(plies) < WIN - MAX_CM)
        .ok_or_else(|| ConvertError::new(format!("{field}.{kind}"), format!("{plies} plies are too many")))
}

fn optional_score_from_wire(score: Option<v1::ScoreWhite>, field: &str) -> Converted<Option<WhiteScore>> {
    score.map(|score| score_from_wire(score, field)).transpose()
}

/// A window for the wire.
#[must_use]
pub fn window_to_wire(window: job::WhiteWindow) -> v1::Window {
    v1::Window { low_white: window.low.map(score_to_wire), high_white: window.high.map(score_to_wire) }
}

/// A window from the wire.
///
/// # Errors
/// An end is malformed.
pub fn window_from_wire(window: v1::Window, field: &str) -> Converted<job::WhiteWindow> {
    Ok(job::WhiteWindow {
        low: optional_score_from_wire(window.low_white, &format!("{field}.low_white"))?,
        high: optional_score_from_wire(window.high_white, &format!("{field}.high_white"))?,
    })
}

// ---- what a client asks -------------------------------------------------------------------------------------------

/// Reads and plays moves written in a declared notation, from the start position.
///
/// # Errors
/// The notation is undeclared or disproved, a token does not read, or a move is illegal; the ply is named.
pub fn game_from_wire(text: &v1::MoveText, field: &str) -> Converted<(Vec<Move>, Position)> {
    let notation = notation_from_wire(text.notation, &format!("{field}.notation"))?;
    let in_text = |error: &dyn Display| ConvertError::new(format!("{field}.text"), error);
    let moves = parse_moves(notation, &text.text).map_err(|error| in_text(&error))?;
    let position = replay(&Position::start(), &moves).map_err(|error| in_text(&error))?;
    Ok((moves, position))
}

/// The position that a client means.
///
/// # Errors
/// It is missing, does not read, or cannot be reached by the moves.
pub fn position_from_spec(spec: Option<&v1::PositionSpec>, field: &str) -> Converted<Position> {
    use v1::position_spec::Source;
    let source = required(spec.and_then(|spec| spec.source.as_ref()), field)?;
    match source {
        Source::Position(text) => position_from_text(text, &format!("{field}.position")),
        Source::Moves(moves) => {
            game_from_wire(moves, &format!("{field}.moves")).map(|(_, position)| position)
        }
    }
}

/// A position for the wire, by its text.
#[must_use]
pub fn position_to_spec(position: &Position) -> v1::PositionSpec {
    v1::PositionSpec { source: Some(v1::position_spec::Source::Position(position.to_string())) }
}

fn at_least_one<T: PartialEq + From<u8>>(value: T, field: &str) -> Converted<T> {
    if value == T::from(0) { Err(ConvertError::new(field, "must be at least 1")) } else { Ok(value) }
}

fn limits_from_wire(limits: &v1::Limits, field: &str) -> Converted<job::JobLimits> {
    let depth_field = format!("{field}.depth");
    let depth = match limits.depth {
        None => None,
        Some(depth) if depth > u32::from(job::MAX_DEPTH) => {
            let fault = format!("{depth} is more than max_depth {}", job::MAX_DEPTH);
            return Err(ConvertError::new(depth_field, fault));
        }
        Some(depth) => Some(at_least_one(narrow::<u8>(depth.into(), &depth_field)?, &depth_field)?),
    };
    let time = limits.time_ms.map(|ms| at_least_one(ms, &format!("{field}.time_ms"))).transpose()?;
    let nodes = limits.nodes.map(|nodes| at_least_one(nodes, &format!("{field}.nodes"))).transpose()?;
    Ok(job::JobLimits { depth, time: time.map(Duration::from_millis), nodes })
}

/// What a client wants analysed.
///
/// # Errors
/// A field is missing, unspecified, malformed or impossible.
pub fn spec_from_wire(
    spec: Option<&v1::JobSpec>,
    traceparent: Option<Arc<str>>,
    field: &str,
) -> Converted<job::JobSpec> {
    let spec = required(spec, field)?;
    let multipv_field = format!("{field}.multipv");
    let multipv =
        at_least_one(narrow::<u16>(spec.multipv.unwrap_or(1).into(), &multipv_field)?, &multipv_field)?;
    let limits = spec.limits.unwrap_or_default();
    Ok(job::JobSpec {
        position: position_from_spec(spec.position.as_ref(), &format!("{field}.position"))?,
        limits: limits_from_wire(&limits, &format!("{field}.limits"))?,
        multipv,
        prune: root_prune_from_wire(spec.prune, &format!("{field}.prune"))?,
        deterministic: spec.deterministic,
        priority: spec.priority,
        detach: spec.detach,
        traceparent,
    })
}

/// What a client wants analysed, for the wire.
#[must_use]
pub fn spec_to_wire(spec: &job::JobSpec) -> v1::JobSpec {
    v1::JobSpec {
        position: Some(position_to_spec(&spec.position)),
        limits: Some(v1::Limits {
            depth: spec.limits.depth.map(u32::from),
            time_ms: spec.limits.time.map(millis),
            nodes: spec.limits.nodes,
        }),
        multipv: Some(spec.multipv.into()),
        prune: root_prune_to_wire(spec.prune).into(),
        deterministic: spec.deterministic,
        priority: spec.priority,
        detach: spec.detach,
    }
}

// ---- events -------------------------------------------------------------------------------------------------------

/// An event for the wire.
#[must_use]
pub fn event_to_wire(record: &job::EventRecord) -> v1::Event {
    use v1::event::Kind;
    let kind = match &record.event {
        job::JobEvent::Accepted(accepted) => Kind::Accepted(accepted_to_wire(accepted)),
        job::JobEvent::Heat(heat) => Kind::Heat(v1::HeatEvent {
            r#move: heat.mv.map(|mv| mv.to_string()),
            cat_display: heat.cat_display.iter().copied().map(u32::from).collect(),
            cat_search: heat.cat_search.iter().copied().map(u32::from).collect(),
        }),
        job::JobEvent::State(change) => Kind::State(v1::StateEvent {
            state: job_state_to_wire(change.state).into(),
            reason: change.reason.clone(),
        }),
        job::JobEvent::Move(report) => Kind::Move(move_report_to_wire(report)),
        job::JobEvent::Iteration(report) => Kind::Iteration(iteration_to_wire(report)),
        job::JobEvent::Audit(report) => Kind::Audit(v1::AuditEvent {
            r#move: report.mv.to_string(),
            score_white: Some(score_to_wire(report.score_white)),
            reason: report.reason.clone(),
            miss: report.miss,
        }),
        job::JobEvent::Done(report) => Kind::Done(done_to_wire(report)),
        job::JobEvent::Error(failure) => {
            Kind::Error(v1::ErrorEvent { code: failure.code.clone(), message: failure.message.clone() })
        }
        job::JobEvent::BookAccepted(accepted) => Kind::BookAccepted(book::accepted_to_wire(accepted)),
        job::JobEvent::Position(report) => Kind::Position(book::position_to_wire(report, job::ENGINE_EPOCH)),
        job::JobEvent::PositionFailed(failure) => {
            Kind::PositionFailed(book::position_failed_to_wire(failure))
        }
        job::JobEvent::BookDone(done) => Kind::BookDone(book::done_to_wire(done)),
    };
    v1::Event { seq: record.seq, kind: Some(kind) }
}

fn accepted_to_wire(accepted: &job::Accepted) -> v1::AcceptedEvent {
    let heats = |moves: &[job::MoveHeat]| {
        let heat = |heat: &job::MoveHeat| v1::MoveHeat {
            r#move: heat.mv.to_string(),
            heat_cm: heat.heat_cm.into(),
            reason: heat.reason.clone(),
        };
        moves.iter().map(heat).collect()
    };
    v1::AcceptedEvent {
        job: accepted.job.0,
        position: accepted.position.to_string(),
        turn: color_to_wire(accepted.position.turn()).into(),
        kept: heats(&accepted.kept),
        pruned: heats(&accepted.pruned),
    }
}

fn move_report_to_wire(report: &job::MoveReport) -> v1::MoveEvent {
    let line = &report.line;
    v1::MoveEvent {
        r#move: line.mv.to_string(),
        depth: line.depth.into(),
        score_white: Some(score_to_wire(line.score_white)),
        bound: bound_to_wire(line.bound).into(),
        pv: moves_to_wire(&line.pv),
        nodes: line.nodes,
        heat_cm: line.heat_cm.into(),
        worker: report.worker.clone(),
    }
}

fn iteration_to_wire(report: &job::IterationReport) -> v1::IterationEvent {
    v1::IterationEvent {
        depth: report.depth.into(),
        best_move: report.best_move.to_string(),
        score_white: Some(score_to_wire(report.score_white)),
        pv: moves_to_wire(&report.pv),
        nodes: report.nodes,
        elapsed_ms: millis(report.elapsed),
        nodes_per_second: report.nodes_per_second,
        workers: report.workers,
    }
}

fn line_to_wire(line: &job::Line) -> v1::Line {
    v1::Line {
        r#move: line.mv.to_string(),
        score_white: Some(score_to_wire(line.score_white)),
        bound: bound_to_wire(line.bound).into(),
        depth: line.depth.into(),
        pv: moves_to_wire(&line.pv),
        nodes: line.nodes,
        heat_cm: line.heat_cm.into(),
    }
}

fn done_to_wire(report: &job::DoneReport) -> v1::DoneEvent {
    v1::DoneEvent {
        best_move: report.best_move.map(|mv| mv.to_string()),
        score_white: report.score_white.map(score_to_wire),
        depth: report.depth.into(),
        pv: moves_to_wire(&report.pv),
        nodes: report.nodes,
        elapsed_ms: millis(report.elapsed),
        lines: report.lines.iter().map(line_to_wire).collect(),
        stopped_by: stopped_by_to_wire(report.stopped_by).into(),
    }
}

/// An event from the wire.
///
/// # Errors
/// A field is missing, unspecified or malformed.
pub fn event_from_wire(event: v1::Event) -> Converted<job::EventRecord> {
    use v1::event::Kind;
    let parsed = match required(event.kind, "event.kind")? {
        Kind::Accepted(accepted) => job::JobEvent::Accepted(accepted_from_wire(accepted)?),
        Kind::Heat(heat) => job::JobEvent::Heat(Box::new(job::BoardHeat {
            mv: heat.r#move.map(|mv| move_from_wire(&mv, "heat.move")).transpose()?,
            cat_display: squares_from_wire(&heat.cat_display, "heat.cat_display")?,
            cat_search: squares_from_wire(&heat.cat_search, "heat.cat_search")?,
        })),
        Kind::State(change) => job::JobEvent::State(job::StateChange {
            state: job_state_from_wire(change.state, "state.state")?,
            reason: change.reason,
        }),
        Kind::Move(report) => job::JobEvent::Move(move_report_from_wire(report)?),
        Kind::Iteration(report) => job::JobEvent::Iteration(iteration_from_wire(&report)?),
        Kind::Audit(report) => job::JobEvent::Audit(job::AuditReport {
            mv: move_from_wire(&report.r#move, "audit.move")?,
            score_white: score_from_wire(
                required(report.score_white, "audit.score_white")?,
                "audit.score_white",
            )?,
            reason: report.reason,
            miss: report.miss,
        }),
        Kind::Done(report) => job::JobEvent::Done(done_from_wire(report)?),
        Kind::Error(error) => job::JobEvent::Error(job::Failure { code: error.code, message: error.message }),
        Kind::BookAccepted(accepted) => job::JobEvent::BookAccepted(book::accepted_from_wire(&accepted)?),
        Kind::Position(event) => job::JobEvent::Position(Box::new(book::position_from_wire(&event)?)),
        Kind::PositionFailed(event) => {
            job::JobEvent::PositionFailed(Box::new(book::position_failed_from_wire(event)?))
        }
        Kind::BookDone(done) => job::JobEvent::BookDone(book::done_from_wire(&done)?),
    };
    Ok(job::EventRecord { seq: event.seq, event: parsed })
}

fn squares_from_wire(values: &[u32], field: &str) -> Converted<[u16; 81]> {
    let narrowed: Vec<u16> =
        values.iter().map(|&value| narrow(value.into(), field)).collect::<Converted<_>>()?;
    <[u16; 81]>::try_from(narrowed)
        .map_err(|values| ConvertError::new(field, format!("has {} values, not 81", values.len())))
}

fn accepted_from_wire(accepted: v1::AcceptedEvent) -> Converted<job::Accepted> {
    let heats = |moves: Vec<v1::MoveHeat>, field: &str| {
        let heat = |heat: v1::MoveHeat| {
            Ok(job::MoveHeat {
                mv: move_from_wire(&heat.r#move, field)?,
                heat_cm: narrow(heat.heat_cm.into(), field)?,
                reason: heat.reason,
            })
        };
        moves.into_iter().map(heat).collect::<Converted<Vec<_>>>()
    };
    Ok(job::Accepted {
        job: job::JobId(accepted.job),
        position: position_from_text(&accepted.position, "accepted.position")?,
        kept: heats(accepted.kept, "accepted.kept")?,
        pruned: heats(accepted.pruned, "accepted.pruned")?,
    })
}

fn line_from_wire(line: &v1::Line, field: &str) -> Converted<job::Line> {
    let score_field = format!("{field}.score_white");
    Ok(job::Line {
        mv: move_from_wire(&line.r#move, &format!("{field}.move"))?,
        score_white: score_from_wire(required(line.score_white, &score_field)?, &score_field)?,
        bound: bound_from_wire(line.bound, &format!("{field}.bound"))?,
        depth: narrow(line.depth.into(), &format!("{field}.depth"))?,
        pv: moves_from_wire(&line.pv, &format!("{field}.pv"))?,
        nodes: line.nodes,
        heat_cm: narrow(line.heat_cm.into(), &format!("{field}.heat_cm"))?,
    })
}

fn move_report_from_wire(report: v1::MoveEvent) -> Converted<job::MoveReport> {
    let line = v1::Line {
        r#move: report.r#move,
        score_white: report.score_white,
        bound: report.bound,
        depth: report.depth,
        pv: report.pv,
        nodes: report.nodes,
        heat_cm: report.heat_cm,
    };
    Ok(job::MoveReport { line: line_from_wire(&line, "move")?, worker: report.worker })
}

fn iteration_from_wire(report: &v1::IterationEvent) -> Converted<job::IterationReport> {
    Ok(job::IterationReport {
        depth: narrow(report.depth.into(), "iteration.depth")?,
        best_move: move_from_wire(&report.best_move, "iteration.best_move")?,
        score_white: score_from_wire(
            required(report.score_white, "iteration.score_white")?,
            "iteration.score_white",
        )?,
        pv: moves_from_wire(&report.pv, "iteration.pv")?,
        nodes: report.nodes,
        elapsed: Duration::from_millis(report.elapsed_ms),
        nodes_per_second: report.nodes_per_second,
        workers: report.workers,
    })
}

fn done_from_wire(report: v1::DoneEvent) -> Converted<job::DoneReport> {
    let lines = report.lines.iter().enumerate();
    Ok(job::DoneReport {
        best_move: report.best_move.map(|mv| move_from_wire(&mv, "done.best_move")).transpose()?,
        score_white: optional_score_from_wire(report.score_white, "done.score_white")?,
        depth: narrow(report.depth.into(), "done.depth")?,
        pv: moves_from_wire(&report.pv, "done.pv")?,
        nodes: report.nodes,
        elapsed: Duration::from_millis(report.elapsed_ms),
        lines: lines
            .map(|(index, line)| line_from_wire(line, &format!("done.lines[{index}]")))
            .collect::<Converted<_>>()?,
        stopped_by: stopped_by_from_wire(report.stopped_by, "done.stopped_by")?,
    })
}

// ---- for a store --------------------------------------------------------------------------------------------------

/// An event as bytes: a `corridor.v1.Event`.
#[must_use]
pub fn event_to_bytes(record: &job::EventRecord) -> Vec<u8> {
    event_to_wire(record).encode_to_vec()
}

/// An event from bytes.
///
/// # Errors
/// They are no `corridor.v1.Event`, or a field is missing, unspecified or malformed.
pub fn event_from_bytes(bytes: &[u8]) -> Converted<job::EventRecord> {
    event_from_wire(v1::Event::decode(bytes).map_err(|error| ConvertError::new("event", error))?)
}

/// What a client wants analysed, as bytes: a `corridor.v1.JobSpec`. The trace context is not among them.
#[must_use]
pub fn spec_to_bytes(spec: &job::JobSpec) -> Vec<u8> {
    spec_to_wire(spec).encode_to_vec()
}

/// What a client wants analysed, from bytes.
///
/// # Errors
/// They are no `corridor.v1.JobSpec`, or as of [`spec_from_wire`].
pub fn spec_from_bytes(bytes: &[u8], traceparent: Option<Arc<str>>) -> Converted<job::JobSpec> {
    let spec = v1::JobSpec::decode(bytes).map_err(|error| ConvertError::new("spec", error))?;
    spec_from_wire(Some(&spec), traceparent, "spec")
}

/// Name of an event's kind, as in its JSON form.
#[must_use]
pub const fn event_kind(event: &job::JobEvent) -> &'static str {
    match event {
        job::JobEvent::Heat(_) => "heat",
        job::JobEvent::State(_) => "state",
        job::JobEvent::Move(_) => "move",
        job::JobEvent::Iteration(_) => "iteration",
        job::JobEvent::Audit(_) => "audit",
        job::JobEvent::Done(_) | job::JobEvent::BookDone(_) => "done",
        job::JobEvent::Error(_) => "error",
        job::JobEvent::Accepted(_) | job::JobEvent::BookAccepted(_) => "accepted",
        job::JobEvent::Position(_) => "position",
        job::JobEvent::PositionFailed(_) => "position_failed",
    }
}

// ---- summaries ----------------------------------------------------------------------------------------------------

/// A job in short, for the wire.
#[must_use]
pub fn job_summary_to_wire(summary: &job::JobSummary) -> v1::JobSummary {
    v1::JobSummary {
        job: summary.job.0,
        state: job_state_to_wire(summary.state).into(),
        position: summary.position.map_or_else(String::new, |position| position.to_string()),
        book: summary.book.as_ref().map(book::summary_to_wire),
        depth: summary.depth.into(),
        best_move: summary.best_move.map_or_else(String::new, |mv| mv.to_string()),
        score_white: summary.score_white.map(score_to_wire),
        nodes: summary.nodes,
        elapsed_ms: millis(summary.elapsed),
        last_seq: summary.last_seq,
        priority: summary.priority,
        reason: summary.reason.clone(),
        limits: Some(book::limits_to_wire(summary.limits)),
    }
}

/// A job in short, from the wire.
///
/// # Errors
/// A field is missing, unspecified or malformed.
pub fn job_summary_from_wire(summary: &v1::JobSummary) -> Converted<job::JobSummary> {
    let best_move = (!summary.best_move.is_empty()).then_some(summary.best_move.as_str());
    Ok(job::JobSummary {
        job: job::JobId(summary.job),
        state: job_state_from_wire(summary.state, "summary.state")?,
        position: match &summary.book {
            Some(_) => None,
            None => Some(position_from_text(&summary.position, "summary.position")?),
        },
        book: summary.book.as_ref().map(book::summary_from_wire).transpose()?,
        depth: narrow(summary.depth.into(), "summary.depth")?,
        best_move: best_move.map(|mv| move_from_wire(mv, "summary.best_move")).transpose()?,
        score_white: optional_score_from_wire(summary.score_white, "summary.score_white")?,
        nodes: summary.nodes,
        elapsed: Duration::from_millis(summary.elapsed_ms),
        last_seq: summary.last_seq,
        priority: summary.priority,
        reason: summary.reason.clone(),
        limits: limits_from_wire(&summary.limits.unwrap_or_default(), "summary.limits")?,
    })
}

/// A worker in short, for the wire.
#[must_use]
pub fn worker_summary_to_wire(summary: &job::WorkerSummary) -> v1::WorkerSummary {
    v1::WorkerSummary {
        name: summary.name.clone(),
        slots: summary.slots,
        units: summary.units,
        nodes: summary.nodes,
        nodes_per_second: summary.nodes_per_second,
        connected_ms: millis(summary.connected),
        silent_ms: millis(summary.silent),
        draining: summary.draining,
        holds: summary.holds.iter().map(held_to_wire).collect(),
    }
}

fn held_to_wire(held: &job::HeldUnit) -> v1::HeldUnit {
    v1::HeldUnit {
        job: held.job.0,
        moves: moves_to_wire(&held.moves),
        position: held.position.map(|position| position.to_string()).unwrap_or_default(),
        depth: held.depth.into(),
        nodes: held.nodes,
        running_ms: millis(held.running),
    }
}

fn held_from_wire(held: &v1::HeldUnit) -> Converted<job::HeldUnit> {
    let position = match held.position.as_str() {
        "" => None,
        text => Some(position_from_text(text, "holds.position")?),
    };
    Ok(job::HeldUnit {
        job: job::JobId(held.job),
        moves: moves_from_wire(&held.moves, "holds.moves")?,
        position,
        depth: narrow(held.depth.into(), "holds.depth")?,
        nodes: held.nodes,
        running: Duration::from_millis(held.running_ms),
    })
}

/// A lost worker for the wire.
#[must_use]
pub fn loss_to_wire(loss: &job::WorkerLoss) -> v1::WorkerLoss {
    v1::WorkerLoss {
        name: loss.name.clone(),
        reason: loss.reason.clone(),
        units: loss.units,
        ago_ms: millis(loss.ago),
    }
}

/// A lost worker from the wire.
#[must_use]
pub fn loss_from_wire(loss: v1::WorkerLoss) -> job::WorkerLoss {
    job::WorkerLoss {
        name: loss.name,
        reason: loss.reason,
        units: loss.units,
        ago: Duration::from_millis(loss.ago_ms),
    }
}

/// A worker in short, from the wire.
///
/// # Errors
/// What it holds does not read.
pub fn worker_summary_from_wire(summary: v1::WorkerSummary) -> Converted<job::WorkerSummary> {
    Ok(job::WorkerSummary {
        holds: summary.holds.iter().map(held_from_wire).collect::<Converted<_>>()?,
        name: summary.name,
        slots: summary.slots,
        units: summary.units,
        nodes: summary.nodes,
        nodes_per_second: summary.nodes_per_second,
        connected: Duration::from_millis(summary.connected_ms),
        silent: Duration::from_millis(summary.silent_ms),
        draining: summary.draining,
    })
}

// ---- the conversation with a worker -------------------------------------------------------------------------------

/// A registration for the wire.
#[must_use]
pub fn registration_to_wire(registration: &job::Registration) -> v1::Register {
    v1::Register {
        name: registration.name.clone(),
        instance: registration.instance,
        engine_epoch: registration.engine_epoch.clone(),
        slots: registration.slots,
        table_bytes: registration.table_bytes,
    }
}

/// A name of somebody or something, short enough to be quoted.
///
/// # Errors
/// It is empty or too long.
pub fn name_from_wire(name: String, field: &str) -> Converted<String> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(ConvertError::new(field, format!("must have 1 to {MAX_NAME_BYTES} bytes")));
    }
    // It stands in logs and tables.
    if name.chars().any(char::is_control) {
        return Err(ConvertError::new(field, "must have no control characters"));
    }
    Ok(name)
}

/// A registration from the wire.
///
/// # Errors
/// The name is empty, too long or not to be printed, or there are no slots.
pub fn registration_from_wire(register: v1::Register) -> Converted<job::Registration> {
    Ok(job::Registration {
        name: name_from_wire(register.name, "register.name")?,
        slots: at_least_one(register.slots, "register.slots")?,
        instance: register.instance,
        engine_epoch: name_from_wire(register.engine_epoch, "register.engine_epoch")?,
        table_bytes: register.table_bytes,
    })
}

/// The terms of a session for the wire.
#[must_use]
pub fn terms_to_wire(terms: job::Terms) -> v1::Registered {
    v1::Registered {
        worker: terms.worker.0,
        lease_ms: millis(terms.lease),
        heartbeat_ms: millis(terms.heartbeat),
    }
}

/// The terms of a session from the wire.
///
/// # Errors
/// The heartbeat's interval is zero.
pub fn terms_from_wire(registered: v1::Registered) -> Converted<job::Terms> {
    Ok(job::Terms {
        worker: job::WorkerId(registered.worker),
        lease: Duration::from_millis(registered.lease_ms),
        heartbeat: Duration::from_millis(at_least_one(registered.heartbeat_ms, "registered.heartbeat_ms")?),
    })
}

/// A unit for the wire.
#[must_use]
pub fn unit_to_wire(unit: &job::Unit) -> v1::Unit {
    v1::Unit {
        job: unit.job.0,
        unit: unit.unit.0,
        attempt: unit.attempt.0,
        root: unit.root.to_string(),
        path: moves_to_wire(&unit.path),
        depth: unit.depth.into(),
        window: Some(window_to_wire(unit.window)),
        node_budget: unit.node_budget,
        pv_hint: moves_to_wire(&unit.pv_hint),
        deterministic: unit.deterministic,
        prune: prune_to_wire(unit.prune).into(),
        traceparent: unit.traceparent.as_deref().unwrap_or_default().to_owned(),
        speculative: unit.speculative,
        seeds: unit.seeds.iter().map(entry_to_wire).collect(),
        whole_multipv: unit.whole.map(u32::from),
    }
}

/// A unit from the wire. That the path can be played is for the worker to check.
///
/// # Errors
/// A field is missing, unspecified or malformed.
pub fn unit_from_wire(unit: v1::Unit) -> Converted<job::Unit> {
    Ok(job::Unit {
        job: job::JobId(unit.job),
        unit: job::UnitId(unit.unit),
        attempt: job::Attempt(unit.attempt),
        root: position_from_text(&unit.root, "unit.root")?,
        path: moves_from_wire(&unit.path, "unit.path")?,
        depth: narrow(unit.depth.into(), "unit.depth")?,
        window: window_from_wire(unit.window.unwrap_or_default(), "unit.window")?,
        node_budget: unit.node_budget,
        pv_hint: moves_from_wire(&unit.pv_hint, "unit.pv_hint")?,
        deterministic: unit.deterministic,
        prune: prune_from_wire(unit.prune, "unit.prune")?,
        traceparent: (!unit.traceparent.is_empty()).then(|| unit.traceparent.into()),
        speculative: unit.speculative,
        seeds: cache::seeds_from_wire(&unit.seeds)?,
        whole: match unit.whole_multipv {
            None => None,
            Some(lines) => {
                let field = "unit.whole_multipv";
                Some(at_least_one(narrow(lines.into(), field)?, field)?)
            }
        },
    })
}

/// A heartbeat for the wire.
#[must_use]
pub fn heartbeat_to_wire(units: &[job::UnitProgress]) -> v1::Heartbeat {
    let progress = |progress: &job::UnitProgress| v1::UnitProgress {
        unit: progress.unit.0,
        attempt: progress.attempt.0,
        nodes: progress.nodes,
    };
    v1::Heartbeat { units: units.iter().map(progress).collect() }
}

/// A heartbeat from the wire.
#[must_use]
pub fn heartbeat_from_wire(heartbeat: &v1::Heartbeat) -> Vec<job::UnitProgress> {
    let progress = |progress: &v1::UnitProgress| job::UnitProgress {
        unit: job::UnitId(progress.unit),
        attempt: job::Attempt(progress.attempt),
        nodes: progress.nodes.min(MAX_UNIT_NODES),
    };
    heartbeat.units.iter().map(progress).collect()
}

/// What a unit found, for the wire.
#[must_use]
pub fn report_to_wire(report: &job::UnitReport) -> v1::UnitResult {
    v1::UnitResult {
        unit: report.unit.0,
        attempt: report.attempt.0,
        score_white: report.score.map(|(score, _)| score_to_wire(score)),
        bound: report.score.map_or(v1::Bound::Unspecified, |(_, bound)| bound_to_wire(bound)).into(),
        pv: moves_to_wire(&report.pv),
        nodes: report.nodes,
        completed: report.completed,
        search_us: u64::try_from(report.search_time.as_micros()).unwrap_or(u64::MAX),
        open: report.open.iter().map(shed_node_to_wire).collect(),
        path_dependent: report.path_dependent,
        lines: report.lines.iter().map(line_to_wire).collect(),
    }
}

/// A completed depth of a whole unit, for the wire.
#[must_use]
pub fn unit_iteration_to_wire(iteration: &job::UnitIteration) -> v1::UnitIteration {
    v1::UnitIteration {
        unit: iteration.unit.0,
        attempt: iteration.attempt.0,
        lines: iteration.lines.iter().map(line_to_wire).collect(),
        nodes: iteration.nodes,
    }
}

/// A completed depth of a whole unit, from the wire.
///
/// # Errors
/// A field is missing or malformed.
pub fn unit_iteration_from_wire(iteration: &v1::UnitIteration) -> Converted<job::UnitIteration> {
    Ok(job::UnitIteration {
        unit: job::UnitId(iteration.unit),
        attempt: job::Attempt(iteration.attempt),
        lines: lines_from_wire(&iteration.lines, "iteration.lines")?,
        nodes: iteration.nodes.min(MAX_UNIT_NODES),
    })
}

fn lines_from_wire(lines: &[v1::Line], field: &str) -> Converted<Vec<job::Line>> {
    let line = |(index, line)| line_from_wire(line, &format!("{field}[{index}]"));
    lines.iter().enumerate().map(line).collect()
}

fn shed_node_to_wire(node: &job::ShedNode) -> v1::ShedNode {
    let child = |&(mv, score, bound): &(Move, WhiteScore, Bound)| v1::ShedChild {
        r#move: mv.to_string(),
        score_white: Some(score_to_wire(score)),
        bound: bound_to_wire(bound).into(),
    };
    v1::ShedNode { current: node.current.to_string(), done: node.done.iter().map(child).collect() }
}

fn shed_node_from_wire(node: &v1::ShedNode) -> Converted<job::ShedNode> {
    let child = |child: &v1::ShedChild| {
        let field = "result.open.done.score_white";
        Ok((
            move_from_wire(&child.r#move, "result.open.done.move")?,
            score_from_wire(required(child.score_white, field)?, field)?,
            bound_from_wire(child.bound, "result.open.done.bound")?,
        ))
    };
    let done = node.done.iter().map(child).collect::<Converted<Vec<_>>>()?;
    Ok(job::ShedNode { current: move_from_wire(&node.current, "result.open.current")?, done })
}

/// What a unit found, from the wire.
///
/// # Errors
/// A field is malformed, or a completed unit has no score.
pub fn report_from_wire(result: &v1::UnitResult) -> Converted<job::UnitReport> {
    let score = match optional_score_from_wire(result.score_white, "result.score_white")? {
        Some(score) => Some((score, bound_from_wire(result.bound, "result.bound")?)),
        None if result.completed => return Err(ConvertError::new("result.score_white", "is missing")),
        None => None,
    };
    if result.nodes > MAX_UNIT_NODES {
        let fault = format!("{} is more than max_unit_nodes {MAX_UNIT_NODES}", result.nodes);
        return Err(ConvertError::new("result.nodes", fault));
    }
    Ok(job::UnitReport {
        unit: job::UnitId(result.unit),
        attempt: job::Attempt(result.attempt),
        score,
        pv: moves_from_wire(&result.pv, "result.pv")?,
        nodes: result.nodes,
        completed: result.completed,
        search_time: Duration::from_micros(result.search_us),
        open: result.open.iter().map(shed_node_from_wire).collect::<Converted<_>>()?,
        path_dependent: result.path_dependent,
        lines: lines_from_wire(&result.lines, "result.lines")?,
    })
}
