//! `corridor jobs`: what a cluster is about, newest first.

use clap::Args;
use corridor_proto::json::ScoreView;
use corridor_shared::job::{BookSummary, JobState, JobSummary};
use serde::Serialize;

use crate::client::ClusterArgs;
use crate::failure::Failure;
use crate::units::{grouped, span};
use crate::{listing, out, runtime};

/// What `jobs` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// A job as JSON sees it.
#[derive(Serialize)]
pub(crate) struct JobView {
    job: u64,
    state: &'static str,
    reason: String,
    /// `null` for a book's job.
    position: Option<String>,
    /// `null` for any other job.
    book: Option<BookView>,
    depth: u8,
    best_move: Option<String>,
    score_white: Option<ScoreView>,
    nodes: u64,
    elapsed_ms: u64,
    last_seq: u64,
    priority: i32,
}

/// What a book's job is about.
#[derive(Serialize)]
struct BookView {
    book: String,
    task: &'static str,
    done: u64,
    total: u64,
}

impl From<&BookSummary> for BookView {
    fn from(summary: &BookSummary) -> Self {
        let BookSummary { book, task, done, total } = summary;
        Self { book: book.to_string(), task: task.name(), done: *done, total: *total }
    }
}

impl From<&JobSummary> for JobView {
    fn from(summary: &JobSummary) -> Self {
        Self {
            job: summary.job.0,
            state: summary.state.name(),
            reason: summary.reason.clone(),
            position: summary.position.map(|position| position.to_string()),
            book: summary.book.as_ref().map(Into::into),
            depth: summary.depth,
            best_move: summary.best_move.map(|mv| mv.to_string()),
            score_white: summary.score_white.map(Into::into),
            nodes: summary.nodes,
            elapsed_ms: corridor_proto::convert::millis(summary.elapsed),
            last_seq: summary.last_seq,
            priority: summary.priority,
        }
    }
}

/// Lists the jobs.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let jobs = runtime::run(arguments.cluster.client().jobs())?;
    if json {
        return jobs.iter().try_for_each(|job| out::json(&JobView::from(job)));
    }
    if jobs.is_empty() {
        return out::line("no jobs");
    }
    let headings = ["job", "state", "priority", "work", "depth", "best", "score", "nodes", "time"];
    let rows: Vec<_> = jobs.iter().map(row).collect();
    out::line(&listing::table(headings, &rows))?;
    // What runs, or waits its turn, needs no explanation.
    let held = |job: &&JobSummary| {
        matches!(job.state, JobState::Waiting | JobState::Paused | JobState::Parked | JobState::Failed)
    };
    jobs.iter().filter(held).try_for_each(|job| {
        let reason = listing::printable(&job.reason);
        out::line(&format!("job {} is {}: {reason}", job.job, job.state.name()))
    })
}

/// What a job does, in a few words: `book main: analyze 17/200`.
pub(crate) fn work(job: &JobSummary) -> String {
    match &job.book {
        None => "position".to_owned(),
        Some(BookSummary { book, task, done, total }) => {
            format!("book {book}: {} {done}/{total}", task.name())
        }
    }
}

fn row(job: &JobSummary) -> [String; 9] {
    let depth = if job.book.is_some() { "-".to_owned() } else { job.depth.to_string() };
    [
        job.job.to_string(),
        job.state.name().to_owned(),
        job.priority.to_string(),
        work(job),
        depth,
        job.best_move.map_or_else(|| "-".to_owned(), |mv| mv.to_string()),
        job.score_white.map_or_else(|| "-".to_owned(), |score| score.to_string()),
        grouped(job.nodes),
        span(job.elapsed),
    ]
}
