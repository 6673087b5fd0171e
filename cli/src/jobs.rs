//! `corridor jobs`: what a cluster is about, newest first.

use clap::Args;
use corridor_proto::json::JobView;
use corridor_shared::job::{BookSummary, JobState, JobSummary};

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

/// The state of a job; of one that was not to go on, that.
fn state(job: &JobSummary) -> &str {
    if job.state == JobState::Done && !job.reason.is_empty() { &job.reason } else { job.state.name() }
}

fn row(job: &JobSummary) -> [String; 9] {
    let depth = if job.book.is_some() { "-".to_owned() } else { job.depth.to_string() };
    [
        job.job.to_string(),
        state(job).to_owned(),
        job.priority.to_string(),
        work(job),
        depth,
        job.best_move.map_or_else(|| "-".to_owned(), |mv| mv.to_string()),
        job.score_white.map_or_else(|| "-".to_owned(), |score| score.to_string()),
        grouped(job.nodes),
        span(job.elapsed),
    ]
}
