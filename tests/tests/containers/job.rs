//! Deterministic jobs, what they answer when nothing disturbs them, and somebody who watches them through every fault.

use std::time::Duration;

use corridor_coordinator::limits::DEFAULT_LEASE;
use corridor_shared::job::{DoneReport, EventRecord, IterationReport, JobEvent, JobLimits, JobSpec};
use corridor_tests::{
    accept, analysis, answer, check, coordinator, lasting, moves, read_until, rest, submit, watch, worker,
};
use tokio::sync::{OnceCell, watch as shared};
use tokio::task::JoinHandle;

use crate::cluster::{Address, Cluster};

/// A job that tests share, and what it answers.
pub(crate) struct Job {
    spec: fn() -> JobSpec,
    undisturbed: OnceCell<Outcome>,
}

/// Takes ten seconds or more, time for several things to happen.
pub(crate) static LONG_JOB: Job = Job::new(|| deterministic(12));
/// Takes a moment.
pub(crate) static SHORT_JOB: Job = Job::new(|| deterministic(6));
/// Uses the workers' own tables for some seconds, as a deterministic job does not.
pub(crate) static FILLING_JOB: Job = Job::new(|| {
    let limits = JobLimits { time: Some(Duration::from_secs(4)), ..JobLimits::default() };
    JobSpec { limits, ..lasting(moves(OPENING), 1) }
});

/// The depth of the long job after which nearly everything is left to do.
pub(crate) const EARLY: u8 = 6;
/// The depth of the long job after which three quarters of it are left to do.
pub(crate) const MIDDLE: u8 = 9;

const OPENING: &str = "e2 e8 e3 e7";

fn deterministic(depth: u8) -> JobSpec {
    JobSpec { deterministic: true, ..lasting(moves(OPENING), depth) }
}

impl Job {
    const fn new(spec: fn() -> JobSpec) -> Self {
        Self { spec, undisturbed: OnceCell::const_new() }
    }

    /// What one worker answers in this process, which nobody disturbs.
    async fn undisturbed(&self) -> &Outcome {
        let run = async || {
            let coordinator = coordinator(DEFAULT_LEASE).await;
            let worker = worker(&coordinator, "undisturbed").await;
            let mut client = analysis(&coordinator).await;
            let events = rest(&mut submit(&mut client, &(self.spec)()).await, Vec::new()).await;
            worker.stop.cancel();
            worker.task.await.expect("an orderly end");
            coordinator.stop().await;
            Outcome::of(&events)
        };
        self.undisturbed.get_or_init(run).await
    }
}

/// What no schedule and no fault may change: everything about each depth and about the end, but for time and who was there.
#[derive(Debug, PartialEq)]
struct Outcome {
    depths: Vec<IterationReport>,
    done: DoneReport,
}

impl Outcome {
    /// Checks the events' order too.
    #[track_caller]
    fn of(events: &[EventRecord]) -> Self {
        let depths = events.iter().filter_map(|record| match &record.event {
            JobEvent::Iteration(report) => Some(IterationReport {
                elapsed: Duration::ZERO,
                nodes_per_second: 0,
                workers: 0,
                ..report.clone()
            }),
            _ => None,
        });
        Self { depths: depths.collect(), done: answer(&check(events)) }
    }
}

/// Somebody who follows a job to its end, and goes on after the last event seen whenever the stream breaks.
pub(crate) struct Watcher {
    job: &'static Job,
    seen: shared::Receiver<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    events: Vec<EventRecord>,
    /// How often the stream broke.
    breaks: u32,
}

impl Seen {
    fn ended(&self) -> bool {
        self.events.last().is_some_and(|record| record.event.is_last())
    }
}

impl Watcher {
    /// Submits a job and watches it.
    pub(crate) async fn start(cluster: &Cluster, job: &'static Job) -> Self {
        let address = cluster.coordinator.address();
        let number = accept(&mut address.client().await, &(job.spec)()).await.expect("accepted");
        let (sender, seen) = shared::channel(Seen::default());
        let task = tokio::spawn(follow(address, number, sender));
        Self { job, seen, task }
    }

    /// Waits until such an event has been seen.
    pub(crate) async fn until(&mut self, enough: impl Fn(&JobEvent) -> bool) {
        self.until_after(0, enough).await;
    }

    /// Waits for the next such event.
    pub(crate) async fn next(&mut self, enough: impl Fn(&JobEvent) -> bool) {
        let known = self.seen.borrow().events.len();
        self.until_after(known, enough).await;
    }

    async fn until_after(&mut self, known: usize, enough: impl Fn(&JobEvent) -> bool) {
        let found = |seen: &Seen| seen.events.iter().skip(known).any(|record| enough(&record.event));
        let seen = self.seen.wait_for(|seen| found(seen) || seen.ended()).await.expect("the watcher lives");
        assert!(found(&seen), "it has ended before that");
    }

    /// What happened has happened in the middle of the job, or the test has tested nothing.
    #[track_caller]
    pub(crate) fn still_runs(&self) {
        assert!(!self.seen.borrow().ended(), "the job was over too soon");
    }

    /// How often its stream broke so far.
    pub(crate) fn breaks(&self) -> u32 {
        self.seen.borrow().breaks
    }

    /// Waits for the end, whatever the answer is.
    pub(crate) async fn ends(&mut self) {
        self.seen.wait_for(Seen::ended).await.expect("the watcher lives");
        check(&self.seen.borrow().events);
    }

    /// Waits for the end: no gap, no repeat, one end, and the answer of a cluster in which nothing ever happens.
    pub(crate) async fn ends_undisturbed(&mut self) {
        self.ends().await;
        let outcome = Outcome::of(&self.seen.borrow().events);
        assert_eq!(&outcome, self.job.undisturbed().await);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn follow(coordinator: Address, job: u64, seen: shared::Sender<Seen>) {
    loop {
        let mut client = coordinator.client().await;
        let cursor = seen.borrow().events.last().map_or(0, |record| record.seq);
        // It may be gone again.
        if let Ok(mut stream) = watch(&mut client, job, cursor).await {
            let mut news = Vec::new();
            while read_until(&mut stream, &mut news, |_| true).await {
                seen.send_modify(|seen| seen.events.append(&mut news));
            }
        }
        if seen.borrow().ended() {
            return;
        }
        seen.send_modify(|seen| seen.breaks += 1);
    }
}
