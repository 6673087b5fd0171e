//! Books on the wire.

use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::{Color, Move, Position};
use corridor_shared::book::{
    Alternative, Bounded, Effort, Growth, Record, Searched, Side, Source, Value, canonical,
};
use corridor_shared::job::{
    BookAccepted, BookDone, BookJobSpec, BookProgress, BookStop, BookSummary, BookTask, JobId, JobLimits,
    Line, PositionFailure, PositionReport,
};
use corridor_shared::score::{Bound, WhiteScore};
use corridor_shared::search::MAX_DEPTH;
use prost::Message;

use super::{
    ConvertError, Converted, at_least_one, bound_from_wire, bound_to_wire, limits_from_wire, line_from_wire,
    line_to_wire, millis, move_from_wire, moves_from_wire, moves_to_wire, name_from_wire, narrow,
    optional_score_from_wire, position_from_text, required, root_prune_from_wire, root_prune_to_wire,
    score_from_wire, score_to_wire,
};
use crate::v1;

enumeration!(book_stop_to_wire, book_stop_from_wire, BookStop, v1::BookStoppedBy, {
    BookStop::Complete => v1::BookStoppedBy::Complete,
    BookStop::Cost => v1::BookStoppedBy::Cost,
    BookStop::Time => v1::BookStoppedBy::Time,
    BookStop::Cancel => v1::BookStoppedBy::Cancel,
});

/// The longest name of a book, in bytes; longer ones are refused.
pub const MAX_BOOK_NAME_BYTES: usize = 64;

/// The name of a book: letters, digits, `-`, `_` and `.`, so that it can stand in a file's name, an address and a log.
///
/// # Errors
/// It is empty, too long, or has another character.
pub fn book_name(text: &str, field: &str) -> Converted<Arc<str>> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.len() > MAX_BOOK_NAME_BYTES || !text.chars().all(fits) {
        let fault = format!("a book's name has 1 to {MAX_BOOK_NAME_BYTES} letters, digits, '-', '_' and '.'");
        return Err(ConvertError::new(field, fault));
    }
    Ok(text.into())
}

pub(super) fn limits_to_wire(limits: JobLimits) -> v1::Limits {
    v1::Limits { depth: limits.depth.map(u32::from), time_ms: limits.time.map(millis), nodes: limits.nodes }
}

fn multipv_from_wire(multipv: Option<u32>) -> Converted<u16> {
    at_least_one(narrow::<u16>(multipv.unwrap_or(1).into(), "multipv")?, "multipv")
}

/// A search of a book's positions must end.
fn limited(limits: Option<v1::Limits>) -> Converted<JobLimits> {
    let limits = limits_from_wire(&limits.unwrap_or_default(), "limits")?;
    if limits == JobLimits::default() {
        let fault = "a depth, a time or a number of nodes for each position is wanted";
        return Err(ConvertError::new("limits", fault));
    }
    Ok(limits)
}

/// What a client wants analysed of a book.
///
/// # Errors
/// A field is missing, unspecified, malformed or impossible.
pub fn book_analyze_from_wire(
    request: &v1::BookAnalyzeRequest,
    traceparent: Option<Arc<str>>,
) -> Converted<BookJobSpec> {
    let most = request.most.map(|most| at_least_one(most, "most")).transpose()?;
    Ok(BookJobSpec {
        book: book_name(&request.book, "book")?,
        task: BookTask::Analyze { stale: request.stale, most },
        limits: limited(request.limits)?,
        multipv: multipv_from_wire(request.multipv)?,
        prune: root_prune_from_wire(request.prune, "prune")?,
        deterministic: request.deterministic,
        priority: request.priority,
        detach: request.detach,
        traceparent,
    })
}

/// How a client wants a book to grow.
///
/// # Errors
/// A field is missing, unspecified, malformed or impossible, or nothing would end the growth.
pub fn expand_from_wire(
    request: &v1::ExpandRequest,
    traceparent: Option<Arc<str>>,
) -> Converted<BookJobSpec> {
    let side = match v1::BookSide::try_from(request.side) {
        Ok(v1::BookSide::Unspecified) => Side::Both,
        Ok(v1::BookSide::White) => Side::Of(Color::White),
        Ok(v1::BookSide::Black) => Side::Of(Color::Black),
        Err(_) => {
            let fault = format!("{} is not a value of this enumeration", request.side);
            return Err(ConvertError::new("side", fault));
        }
    };
    let usual = Growth::default();
    let growth = Growth {
        side,
        own_weight: request.own_weight_percent.unwrap_or(usual.own_weight),
        other_weight: request.other_weight_percent.unwrap_or(usual.other_weight),
        ply_cost: request.ply_cost_cm.unwrap_or(usual.ply_cost),
        max_cost: request.max_cost_cm,
    };
    let positions = (request.positions > 0).then_some(request.positions);
    let time = request.time_ms.map(|ms| at_least_one(ms, "time_ms")).transpose()?;
    if positions.is_none() && time.is_none() && growth.max_cost.is_none() {
        let fault = "a number of positions, a cost or a time is wanted that ends the growth";
        return Err(ConvertError::new("positions", fault));
    }
    Ok(BookJobSpec {
        book: book_name(&request.book, "book")?,
        task: BookTask::Expand { positions, growth, time: time.map(Duration::from_millis) },
        limits: limited(request.limits)?,
        multipv: multipv_from_wire(request.multipv)?,
        prune: root_prune_from_wire(request.prune, "prune")?,
        deterministic: request.deterministic,
        priority: request.priority,
        detach: request.detach,
        traceparent,
    })
}

fn analyze_to_wire(spec: &BookJobSpec, stale: bool, most: Option<u32>) -> v1::BookAnalyzeRequest {
    v1::BookAnalyzeRequest {
        book: spec.book.to_string(),
        limits: Some(limits_to_wire(spec.limits)),
        multipv: Some(spec.multipv.into()),
        prune: root_prune_to_wire(spec.prune).into(),
        deterministic: spec.deterministic,
        priority: spec.priority,
        detach: spec.detach,
        stale,
        most,
    }
}

fn growth_to_wire(
    spec: &BookJobSpec,
    positions: Option<u32>,
    growth: Growth,
    time: Option<Duration>,
) -> v1::ExpandRequest {
    let side = match growth.side {
        Side::Both => v1::BookSide::Unspecified,
        Side::Of(Color::White) => v1::BookSide::White,
        Side::Of(Color::Black) => v1::BookSide::Black,
    };
    v1::ExpandRequest {
        book: spec.book.to_string(),
        positions: positions.unwrap_or(0),
        limits: Some(limits_to_wire(spec.limits)),
        prune: root_prune_to_wire(spec.prune).into(),
        deterministic: spec.deterministic,
        priority: spec.priority,
        detach: spec.detach,
        multipv: Some(spec.multipv.into()),
        max_cost_cm: growth.max_cost,
        time_ms: time.map(millis),
        side: side.into(),
        own_weight_percent: Some(growth.own_weight),
        other_weight_percent: Some(growth.other_weight),
        ply_cost_cm: Some(growth.ply_cost),
    }
}

/// A request for work on a book.
#[derive(Clone, Debug, PartialEq)]
pub enum BookRequest {
    /// An analysis.
    Analyze(v1::BookAnalyzeRequest),
    /// Growth.
    Expand(v1::ExpandRequest),
}

/// What a client wants done with a book, for the wire.
#[must_use]
pub fn book_spec_to_wire(spec: &BookJobSpec) -> BookRequest {
    match spec.task {
        BookTask::Analyze { stale, most } => BookRequest::Analyze(analyze_to_wire(spec, stale, most)),
        BookTask::Expand { positions, growth, time } => {
            BookRequest::Expand(growth_to_wire(spec, positions, growth, time))
        }
    }
}

/// What a client wants done with a book, as bytes: a `corridor.v1.BookAnalyzeRequest` or `ExpandRequest`, as the task's name
/// says. The trace context is not among them.
#[must_use]
pub fn book_spec_to_bytes(spec: &BookJobSpec) -> Vec<u8> {
    match book_spec_to_wire(spec) {
        BookRequest::Analyze(request) => request.encode_to_vec(),
        BookRequest::Expand(request) => request.encode_to_vec(),
    }
}

/// What a client wants done with a book, from bytes; `task` is the task's name.
///
/// # Errors
/// They are not what the task's name says, or as of [`book_analyze_from_wire`] and [`expand_from_wire`].
pub fn book_spec_from_bytes(
    task: &str,
    bytes: &[u8],
    traceparent: Option<Arc<str>>,
) -> Converted<BookJobSpec> {
    let broken = |error| ConvertError::new("spec", error);
    match task {
        "analyze" => {
            let request = v1::BookAnalyzeRequest::decode(bytes).map_err(broken)?;
            book_analyze_from_wire(&request, traceparent)
        }
        "expand" => expand_from_wire(&v1::ExpandRequest::decode(bytes).map_err(broken)?, traceparent),
        other => Err(ConvertError::new("spec", format!("'{other}' is no task of a book"))),
    }
}

// ---- positions ----------------------------------------------------------------------------------------------------

/// A position of a book for the wire; `engine` is the present epoch.
#[must_use]
pub fn record_to_wire(record: &Record, engine: &str) -> v1::BookNode {
    let child = |(mv, said): &(Move, Option<Bounded>)| v1::BookChild {
        r#move: mv.to_string(),
        score_white: said.map(|(score, _)| score_to_wire(score)),
        bound: said.map_or(0, |(_, bound)| bound_to_wire(bound).into()),
    };
    let backed_up = record.backed_up();
    let mut node = v1::BookNode {
        position: record.position.to_string(),
        moves: record.moves.as_deref().map(moves_to_wire).unwrap_or_default(),
        key: format!("{:016x}", record.key()),
        backed_up_white: backed_up.map(|value| score_to_wire(value.score_white)),
        backed_up_bound: backed_up.map_or(0, |value| bound_to_wire(value.bound).into()),
        children: record.children.iter().map(child).collect(),
        value: record.value.map(value_to_wire),
        unreachable: record.moves.is_none(),
        ..v1::BookNode::default()
    };
    let over = record.value.filter(|value| value.source == Source::Rules);
    if let Some(value) = over {
        node.score_white = Some(score_to_wire(value.score_white));
        node.bound = bound_to_wire(value.bound).into();
    }
    if let Some(searched) = &record.searched {
        write_searched(&mut node, searched, engine);
    }
    node
}

fn write_searched(node: &mut v1::BookNode, searched: &Searched, engine: &str) {
    node.depth = searched.depth.into();
    node.score_white = Some(score_to_wire(searched.score_white));
    node.bound = bound_to_wire(searched.bound).into();
    node.best_move = searched.best_move.map_or_else(String::new, |mv| mv.to_string());
    node.pv = moves_to_wire(&searched.pv);
    node.nodes = searched.nodes;
    node.engine = searched.engine.to_string();
    node.analysed_at = searched.analysed_at;
    node.stale = *searched.engine != *engine;
    node.worker = searched.worker.to_string();
    node.multipv = searched.multipv.into();
    node.prune = root_prune_to_wire(searched.prune).into();
    node.deterministic = searched.deterministic;
    node.others = searched.others.iter().map(alternative_to_wire).collect();
    node.effort_nodes = searched.effort.nodes;
    node.effort_ms = searched.effort.ms;
}

fn alternative_to_wire(other: &Alternative) -> v1::BookAlternative {
    v1::BookAlternative {
        r#move: other.mv.to_string(),
        score_white: Some(score_to_wire(other.score_white)),
        bound: bound_to_wire(other.bound).into(),
    }
}

fn alternative_from_wire(other: &v1::BookAlternative) -> Converted<Alternative> {
    Ok(Alternative {
        mv: move_from_wire(&other.r#move, "others.move")?,
        score_white: score_from_wire(
            required(other.score_white, "others.score_white")?,
            "others.score_white",
        )?,
        bound: bound_from_wire(other.bound, "others.bound")?,
    })
}

fn value_to_wire(value: Value) -> v1::BookValue {
    let (source, mv) = match value.source {
        Source::Rules => (v1::BookSource::Rules, None),
        Source::Search => (v1::BookSource::Search, None),
        Source::BackedUp(mv) => (v1::BookSource::BackedUp, Some(mv)),
    };
    v1::BookValue {
        score_white: Some(score_to_wire(value.score_white)),
        bound: bound_to_wire(value.bound).into(),
        depth: value.depth.into(),
        source: source.into(),
        r#move: mv.map_or_else(String::new, |mv| mv.to_string()),
    }
}

fn value_from_wire(value: &v1::BookValue) -> Converted<Value> {
    let source = match v1::BookSource::try_from(value.source) {
        Ok(v1::BookSource::Rules) => Source::Rules,
        Ok(v1::BookSource::Search) => Source::Search,
        Ok(v1::BookSource::BackedUp) => Source::BackedUp(move_from_wire(&value.r#move, "value.move")?),
        Ok(v1::BookSource::Unspecified) | Err(_) => {
            return Err(ConvertError::new("value.source", "is unspecified or unknown"));
        }
    };
    let field = "value.score_white";
    Ok(Value {
        score_white: score_from_wire(required(value.score_white, field)?, field)?,
        bound: bound_from_wire(value.bound, "value.bound")?,
        depth: narrow(value.depth.into(), "value.depth")?,
        source,
    })
}

/// A position of a book from the wire. That its moves are legal is not checked here: see [`check_record`].
///
/// # Errors
/// A field is missing, unspecified or malformed.
pub fn record_from_wire(node: &v1::BookNode) -> Converted<Record> {
    let position = position_from_text(&node.position, "position")?;
    let is_searched = node.score_white.is_some() && position.winner().is_none();
    Ok(Record {
        position,
        moves: if node.unreachable { None } else { Some(moves_from_wire(&node.moves, "moves")?) },
        searched: if is_searched { Some(searched_from_wire(node)?) } else { None },
        value: node.value.as_ref().map(value_from_wire).transpose()?,
        children: node.children.iter().map(child_from_wire).collect::<Converted<_>>()?,
    })
}

/// Whoever sends a score without a bound knows nothing of bounds of children, and has always meant the score itself.
fn child_from_wire(child: &v1::BookChild) -> Converted<(Move, Option<Bounded>)> {
    let mv = move_from_wire(&child.r#move, "children.move")?;
    let Some(score) = optional_score_from_wire(child.score_white, "children.score_white")? else {
        return Ok((mv, None));
    };
    let is_said = child.bound != i32::from(v1::Bound::Unspecified);
    let bound = if is_said { bound_from_wire(child.bound, "children.bound")? } else { Bound::Exact };
    Ok((mv, Some((score, bound))))
}

fn searched_from_wire(node: &v1::BookNode) -> Converted<Searched> {
    let best = (!node.best_move.is_empty()).then_some(node.best_move.as_str());
    Ok(Searched {
        depth: narrow(node.depth.into(), "depth")?,
        score_white: score_from_wire(required(node.score_white, "score_white")?, "score_white")?,
        bound: bound_from_wire(node.bound, "bound")?,
        best_move: best.map(|mv| move_from_wire(mv, "best_move")).transpose()?,
        pv: moves_from_wire(&node.pv, "pv")?,
        nodes: node.nodes,
        engine: name_from_wire(node.engine.clone(), "engine")?.into(),
        analysed_at: node.analysed_at,
        worker: match node.worker.as_str() {
            "" => "".into(),
            name => name_from_wire(name.to_owned(), "worker")?.into(),
        },
        multipv: narrow::<u16>(node.multipv.into(), "multipv")?.max(1),
        prune: root_prune_from_wire(node.prune, "prune")?,
        deterministic: node.deterministic,
        others: node.others.iter().map(alternative_from_wire).collect::<Converted<_>>()?,
        effort: Effort { nodes: node.effort_nodes.max(node.nodes), ms: node.effort_ms },
    })
}

/// How many bytes a position takes within a message, give or take its frame.
#[must_use]
pub fn node_bytes(node: &v1::BookNode) -> usize {
    node.encoded_len()
}

/// Every searched root move of a position, for the wire.
pub fn root_moves_to_wire(node: &mut v1::BookNode, lines: &[Line]) {
    node.root_moves = lines.iter().map(line_to_wire).collect();
}

/// Every searched root move of a position from the wire; none if none were sent. That they are legal is not checked here.
///
/// # Errors
/// A field is missing, unspecified or malformed.
pub fn root_moves_from_wire(node: &v1::BookNode) -> Converted<Vec<Line>> {
    node.root_moves.iter().map(|line| line_from_wire(line, "root_moves")).collect()
}

/// Whether a position of a book makes sense: its orientation, its key, and that every move in it is legal where it is made.
/// What follows from other positions (values that are backed up, children) is not looked at.
///
/// # Errors
/// Names the first field that does not.
pub fn check_record(record: &Record, key: Option<&str>) -> Converted<()> {
    let position = record.position;
    if canonical(&position) != position {
        return Err(ConvertError::new("position", "is not in canonical orientation"));
    }
    let right = format!("{:016x}", record.key());
    if key.is_some_and(|key| key != right) {
        return Err(ConvertError::new("key", format!("is not the position's, which is {right}")));
    }
    if let Some(moves) = &record.moves {
        let end = play(Position::start(), moves, "moves")?;
        if end != position {
            return Err(ConvertError::new("moves", "do not lead to the position"));
        }
    }
    let Some(searched) = &record.searched else { return Ok(()) };
    if searched.pv.first().copied() != searched.best_move {
        return Err(ConvertError::new("pv", "does not begin with the best move"));
    }
    play(position, &searched.pv, "pv")?;
    for other in &searched.others {
        play(position, &[other.mv], "others")?;
    }
    if searched.depth == 0 {
        return Err(ConvertError::new("depth", "a position with a score was searched to 1 ply at least"));
    }
    if searched.depth > MAX_DEPTH {
        return Err(ConvertError::new(
            "depth",
            format!("{} plies are more than {MAX_DEPTH}", searched.depth),
        ));
    }
    check_win(&position, searched.score_white, searched.bound, "score_white")?;
    for other in &searched.others {
        check_win(&position, other.score_white, other.bound, "others.score_white")?;
    }
    Ok(())
}

/// Whether a side can win in so many plies: it does so by a move of its own, and the game is not over yet. A bound may lie between
/// two of those numbers.
fn check_win(position: &Position, score: WhiteScore, bound: Bound, field: &str) -> Converted<()> {
    let (winner, plies) = match score {
        WhiteScore::Cm(_) => return Ok(()),
        WhiteScore::WhiteWinsIn(plies) => (Color::White, plies),
        WhiteScore::BlackWinsIn(plies) => (Color::Black, plies),
    };
    if plies == 0 {
        return Err(ConvertError::new(field, "a win in 0 plies, but the game is not over"));
    }
    let turn = position.turn();
    let is_possible = (plies % 2 == 1) == (winner == turn);
    if is_possible || bound != Bound::Exact {
        return Ok(());
    }
    let fault = format!("{winner} does not win in {plies} plies with {turn} to move");
    Err(ConvertError::new(field, fault))
}

fn play(from: Position, moves: &[Move], field: &str) -> Converted<Position> {
    let mut position = from;
    for (index, &mv) in moves.iter().enumerate() {
        position =
            position.play(mv).map_err(|error| ConvertError::new(format!("{field}[{index}]"), error))?;
    }
    Ok(position)
}

// ---- events -------------------------------------------------------------------------------------------------------

const fn task_to_wire(task: BookTask) -> v1::BookTaskKind {
    match task {
        BookTask::Analyze { .. } => v1::BookTaskKind::Analyze,
        BookTask::Expand { .. } => v1::BookTaskKind::Expand,
    }
}

/// Only the kind of a task travels with its events; its details were the request's.
fn task_from_wire(task: i32, field: &str) -> Converted<BookTask> {
    match v1::BookTaskKind::try_from(task) {
        Ok(v1::BookTaskKind::Analyze) => Ok(BookTask::Analyze { stale: false, most: None }),
        Ok(v1::BookTaskKind::Expand) => {
            Ok(BookTask::Expand { positions: None, growth: Growth::default(), time: None })
        }
        Ok(v1::BookTaskKind::Unspecified) => Err(ConvertError::new(field, "is unspecified")),
        Err(_) => Err(ConvertError::new(field, format!("{task} is not a value of this enumeration"))),
    }
}

pub(super) fn accepted_to_wire(accepted: &BookAccepted) -> v1::BookAcceptedEvent {
    v1::BookAcceptedEvent {
        job: accepted.job.0,
        book: accepted.book.to_string(),
        task: task_to_wire(accepted.task).into(),
        positions: accepted.positions,
        total: accepted.total,
    }
}

pub(super) fn accepted_from_wire(accepted: &v1::BookAcceptedEvent) -> Converted<BookAccepted> {
    Ok(BookAccepted {
        job: JobId(accepted.job),
        book: book_name(&accepted.book, "book_accepted.book")?,
        task: task_from_wire(accepted.task, "book_accepted.task")?,
        positions: accepted.positions,
        total: accepted.total,
    })
}

pub(super) fn position_to_wire(report: &PositionReport, engine: &str) -> v1::PositionEvent {
    v1::PositionEvent {
        node: Some(record_to_wire(&report.record, engine)),
        done: report.progress.done,
        total: report.progress.total,
        nodes: report.progress.nodes,
        elapsed_ms: millis(report.progress.elapsed),
        workers: report.progress.workers,
    }
}

pub(super) fn position_from_wire(event: &v1::PositionEvent) -> Converted<PositionReport> {
    let node = required(event.node.as_ref(), "position.node")?;
    Ok(PositionReport {
        record: record_from_wire(node).map_err(|error| error.below("position.node"))?,
        progress: BookProgress {
            done: event.done,
            total: event.total,
            nodes: event.nodes,
            elapsed: Duration::from_millis(event.elapsed_ms),
            workers: event.workers,
        },
    })
}

pub(super) fn position_failed_to_wire(failure: &PositionFailure) -> v1::PositionFailedEvent {
    v1::PositionFailedEvent { position: failure.position.to_string(), message: failure.message.clone() }
}

pub(super) fn position_failed_from_wire(event: v1::PositionFailedEvent) -> Converted<PositionFailure> {
    Ok(PositionFailure {
        position: position_from_text(&event.position, "position_failed.position")?,
        message: event.message,
    })
}

pub(super) fn done_to_wire(done: &BookDone) -> v1::BookDoneEvent {
    v1::BookDoneEvent {
        positions: done.positions,
        searched: done.searched,
        added: done.added,
        failed: done.failed,
        left: done.left,
        nodes: done.nodes,
        elapsed_ms: millis(done.elapsed),
        stopped_by: book_stop_to_wire(done.stopped_by).into(),
    }
}

pub(super) fn done_from_wire(done: &v1::BookDoneEvent) -> Converted<BookDone> {
    Ok(BookDone {
        positions: done.positions,
        searched: done.searched,
        added: done.added,
        failed: done.failed,
        left: done.left,
        nodes: done.nodes,
        elapsed: Duration::from_millis(done.elapsed_ms),
        stopped_by: book_stop_from_wire(done.stopped_by, "book_done.stopped_by")?,
    })
}

pub(super) fn summary_to_wire(summary: &BookSummary) -> v1::BookSummary {
    v1::BookSummary {
        book: summary.book.to_string(),
        task: task_to_wire(summary.task).into(),
        done: summary.done,
        total: summary.total,
    }
}

pub(super) fn summary_from_wire(summary: &v1::BookSummary) -> Converted<BookSummary> {
    Ok(BookSummary {
        book: book_name(&summary.book, "summary.book.book")?,
        task: task_from_wire(summary.task, "summary.book.task")?,
        done: summary.done,
        total: summary.total,
    })
}

// ---- for a store --------------------------------------------------------------------------------------------------

/// Root moves with their scores and lines as bytes: the `lines` of a `corridor.v1.DoneEvent`.
#[must_use]
pub fn lines_to_bytes(lines: &[Line]) -> Vec<u8> {
    v1::DoneEvent { lines: lines.iter().map(line_to_wire).collect(), ..v1::DoneEvent::default() }
        .encode_to_vec()
}

/// Root moves with their scores and lines from bytes.
///
/// # Errors
/// They are not what [`lines_to_bytes`] has made.
pub fn lines_from_bytes(bytes: &[u8]) -> Converted<Vec<Line>> {
    let done = v1::DoneEvent::decode(bytes).map_err(|error| ConvertError::new("lines", error))?;
    done.lines.iter().map(|line| line_from_wire(line, "lines")).collect()
}
