//! How a cluster is while one of its jobs is shown. Events say what has happened to a job; whether anybody works on it now, and if not
//! why, is asked for beside them: between two events there may be hours.

use std::time::Duration;

use corridor_shared::job::{JobId, JobState, JobSummary, WorkerLoss, WorkerSummary};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::client::Client;

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(1);
/// What is older is not true any more.
const FRESH: Duration = Duration::from_secs(5);

/// What a cluster has said of itself and of a job.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    /// When.
    pub(crate) at: Instant,
    /// Where the job stands.
    pub(crate) job: JobSummary,
    /// How many workers are there.
    pub(crate) workers: u64,
    /// Positions a second of those that work, as measured so far; 0 before the first result.
    pub(crate) nodes_per_second: u64,
    /// Who is there.
    pub(crate) crew: Vec<WorkerSummary>,
    /// Who was lost lately, the latest first.
    pub(crate) losses: Vec<WorkerLoss>,
}

impl Beat {
    pub(crate) fn new(job: JobSummary, crew: Vec<WorkerSummary>, losses: Vec<WorkerLoss>) -> Self {
        let busy = crew.iter().filter(|worker| worker.units > 0);
        let rates = busy.map(|worker| worker.nodes_per_second);
        Self {
            at: Instant::now(),
            job,
            workers: u64::try_from(crew.len()).unwrap_or(u64::MAX),
            nodes_per_second: rates.fold(0, u64::saturating_add),
            crew,
            losses,
        }
    }

    /// Why nobody works on the job, if that is so: it is held, or the cluster does not answer.
    pub(crate) fn trouble(&self) -> Option<String> {
        let silent = self.at.elapsed();
        if silent > FRESH {
            return Some(format!("no answer from the cluster for {} s", silent.as_secs()));
        }
        let state = self.job.state;
        // Of an end the last event tells.
        let works = state == JobState::Running || state.is_final();
        (!works).then(|| trouble(state, &self.job.reason))
    }
}

/// A state in which nobody works, and why.
pub(crate) fn trouble(state: JobState, reason: &str) -> String {
    let reason = crate::listing::printable(reason);
    if reason.is_empty() { state.name().to_owned() } else { format!("{}: {reason}", state.name()) }
}

/// Asks for as long as it lives.
#[derive(Debug)]
pub(crate) struct Pulse {
    newest: watch::Receiver<Option<Beat>>,
    asking: JoinHandle<()>,
}

impl Pulse {
    /// Begins to ask.
    pub(crate) fn of(client: &Client, job: JobId) -> Self {
        let (told, newest) = watch::channel(None);
        let client = client.clone();
        let asking = tokio::spawn(async move {
            loop {
                // Who does not answer is asked again; that it does not shows in the age of what it has said.
                if let (Ok(job), Ok((crew, losses))) = tokio::join!(client.get(job), client.crew()) {
                    told.send_replace(Some(Beat::new(job, crew, losses)));
                }
                tokio::time::sleep(EVERY).await;
            }
        });
        Self { newest, asking }
    }

    /// What was said since this was asked for the last time.
    pub(crate) fn newest(&mut self) -> Option<Beat> {
        let is_new = self.newest.has_changed().unwrap_or(false);
        if is_new { self.newest.borrow_and_update().clone() } else { None }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.asking.abort();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A cluster with two workers, one of them at work, and a job that stands so.
    pub(crate) fn beat(state: JobState, reason: &str) -> Beat {
        let job = JobSummary {
            job: JobId(1),
            state,
            reason: reason.to_owned(),
            position: None,
            book: None,
            depth: 0,
            best_move: None,
            score_white: None,
            nodes: 0,
            elapsed: Duration::ZERO,
            last_seq: 1,
            priority: 0,
            limits: corridor_shared::job::JobLimits::default(),
        };
        let worker = |units| WorkerSummary {
            name: "anna".to_owned(),
            slots: 1,
            units,
            nodes: 1,
            nodes_per_second: 1_000,
            connected: Duration::ZERO,
            silent: Duration::ZERO,
            draining: false,
            holds: Vec::new(),
        };
        Beat::new(job, vec![worker(1), worker(0)], Vec::new())
    }

    #[test]
    fn a_beat_says_who_works_and_if_nobody_does_why() {
        let runs = beat(JobState::Running, "");
        assert_eq!((runs.workers, runs.nodes_per_second, runs.trouble()), (2, 1_000, None));
        let held = beat(JobState::Paused, "the store cannot be written: full");
        assert_eq!(held.trouble().as_deref(), Some("paused: the store cannot be written: full"));
        let old = Beat { at: Instant::now() - 2 * FRESH, ..runs };
        assert_eq!(old.trouble().as_deref(), Some("no answer from the cluster for 10 s"));
    }
}
