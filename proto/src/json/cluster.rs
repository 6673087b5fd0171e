//! Jobs and workers in short.

use corridor_shared::job::{BookSummary, HeldUnit, JobLimits, JobSummary, WorkerLoss, WorkerSummary};
use serde::Serialize;

use super::{ScoreView, Text, texts};
use crate::convert::millis;

/// A job as JSON sees it.
#[derive(Debug, Serialize)]
pub struct JobView<'a> {
    job: u64,
    state: &'static str,
    reason: &'a str,
    /// `null` for a book's job.
    position: Option<String>,
    /// `null` for any other job.
    book: Option<BookView<'a>>,
    depth: u8,
    best_move: Option<Text>,
    score_white: Option<ScoreView>,
    nodes: u64,
    elapsed_ms: u64,
    last_seq: u64,
    priority: i32,
    limits: LimitsView,
}

/// When a search stops.
#[derive(Debug, Serialize)]
struct LimitsView {
    depth: Option<u8>,
    time_ms: Option<u64>,
    nodes: Option<u64>,
}

impl From<JobLimits> for LimitsView {
    fn from(limits: JobLimits) -> Self {
        Self { depth: limits.depth, time_ms: limits.time.map(millis), nodes: limits.nodes }
    }
}

/// What a book's job is about.
#[derive(Debug, Serialize)]
struct BookView<'a> {
    book: &'a str,
    task: &'static str,
    done: u64,
    total: u64,
}

impl<'a> From<&'a BookSummary> for BookView<'a> {
    fn from(summary: &'a BookSummary) -> Self {
        let BookSummary { book, task, done, total } = summary;
        Self { book, task: task.name(), done: *done, total: *total }
    }
}

impl<'a> From<&'a JobSummary> for JobView<'a> {
    fn from(summary: &'a JobSummary) -> Self {
        Self {
            job: summary.job.0,
            state: summary.state.name(),
            reason: &summary.reason,
            position: summary.position.map(|position| position.to_string()),
            book: summary.book.as_ref().map(Into::into),
            depth: summary.depth,
            best_move: summary.best_move.map(Text),
            score_white: summary.score_white.map(Into::into),
            nodes: summary.nodes,
            elapsed_ms: millis(summary.elapsed),
            last_seq: summary.last_seq,
            priority: summary.priority,
            limits: summary.limits.into(),
        }
    }
}

/// A worker as JSON sees it.
#[derive(Debug, Serialize)]
pub struct WorkerView<'a> {
    name: &'a str,
    slots: u32,
    units: u32,
    nodes: u64,
    nodes_per_second: u64,
    connected_ms: u64,
    silent_ms: u64,
    draining: bool,
    holds: Vec<HeldView>,
}

/// A unit that a worker searches.
#[derive(Debug, Serialize)]
struct HeldView {
    job: u64,
    moves: Vec<Text>,
    /// Of a position of a book.
    position: Option<String>,
    depth: u8,
    nodes: u64,
    running_ms: u64,
}

impl From<&HeldUnit> for HeldView {
    fn from(held: &HeldUnit) -> Self {
        Self {
            job: held.job.0,
            moves: texts(&held.moves),
            position: held.position.map(|position| position.to_string()),
            depth: held.depth,
            nodes: held.nodes,
            running_ms: millis(held.running),
        }
    }
}

impl<'a> From<&'a WorkerSummary> for WorkerView<'a> {
    fn from(worker: &'a WorkerSummary) -> Self {
        Self {
            name: &worker.name,
            slots: worker.slots,
            units: worker.units,
            nodes: worker.nodes,
            nodes_per_second: worker.nodes_per_second,
            connected_ms: millis(worker.connected),
            silent_ms: millis(worker.silent),
            draining: worker.draining,
            holds: worker.holds.iter().map(Into::into).collect(),
        }
    }
}

/// A lost worker as JSON sees it.
#[derive(Debug, Serialize)]
pub struct LossView<'a> {
    worker: &'a str,
    reason: &'a str,
    units: u32,
    ago_ms: u64,
}

impl<'a> From<&'a WorkerLoss> for LossView<'a> {
    fn from(loss: &'a WorkerLoss) -> Self {
        Self { worker: &loss.name, reason: &loss.reason, units: loss.units, ago_ms: millis(loss.ago) }
    }
}
