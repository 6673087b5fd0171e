//! The coordinator's mind: a pure state machine.
//!
//! [`Cluster::step`] takes what happened and says what must be done. It knows no runtime, no wire, no clock and no
//! chance: time comes in with each event, numbers of sessions and watchers too, so a test can replay any schedule.
//!
//! Guaranteed after every step: each root move of a running iteration is settled, leased to exactly one worker, or free to
//! be leased; a result counts only under the attempt that is leased; a job's events are numbered without a gap and its
//! last one comes exactly once.

mod batch;
#[cfg(test)]
mod book_tests;
mod books;
mod deaths;
mod figures;
mod job;
mod known;
mod lease;
mod ledger;
mod merge;
mod messages;
mod plan;
mod restore;
#[cfg(test)]
mod split_tests;
#[cfg(test)]
mod tests;
mod whole;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::Position;
use corridor_shared::book::Book;
use corridor_shared::job::{
    Attempt, BookStop, ENGINE_EPOCH, Failure, JobEvent, JobId, JobSpec, JobState, JobSummary, MoveReport,
    Registration, StoppedBy, Terms, Unit, UnitId, UnitReport, WhiteWindow, WorkerId, WorkerLoss,
};

use crate::limits;
use batch::Batch;
pub use batch::KeptBatch;
use deaths::Deaths;
pub use figures::{CLASSES, Counted, Ended, Figures, Spread};
use job::{End, Job};
pub(crate) use known::implied_lines;
use lease::{Fleet, Lease};
use ledger::PAUSED_BY_CLIENT;
pub use messages::{
    Answer, Command, Effect, Entered, Event, Iteration, Keep, Known, Question, Refusal, Standing, Ticket,
    WatcherId, WorkerSays,
};
use plan::{Adjustment, Class, Task};
pub use restore::{Kept, KeptJob};

/// Units that an iteration is cut into, for each slot: enough that the last ones end at about the same time.
const UNITS_PER_SLOT: u64 = 12;
/// A unit of more than this is split in any case.
const LARGEST_UNIT: Duration = Duration::from_secs(2);
/// While somebody is idle, a unit sheds after so many times the size that would have been split.
const SHED_AFTER: u64 = 2;
/// One unit sheds for so many idle slots.
const SHED_SHARE: usize = 4;
/// So many free units stand ready beyond two for each slot.
const ENOUGH_UNITS: usize = 16;
/// A worker has units for so long waiting, beyond those that it runs ..
const AHEAD: Duration = Duration::from_millis(2);
/// Where less than this is left to do, nothing is taken back for an idle worker: it would be done before it got there.
const LEAST_STOLEN: Duration = Duration::from_micros(500);
/// While somebody is idle, a needed unit is given to a second worker after so many times what it was expected to take ..
const LATE_BY: u64 = 4;
/// .. and not before this time.
const LEAST_LATE: Duration = Duration::from_millis(250);
/// So much work of all workers a job may have missed and still get before the others.
const FAIR_LEAD: Duration = Duration::from_secs(1);
/// Positions per second of a slot before anything was measured.
const ASSUMED_RATE: u64 = 1_000_000;

/// How the cluster behaves.
#[derive(Copy, Clone, Debug)]
pub struct Config {
    /// How long a worker may be silent, or a unit may stand still.
    pub lease: Duration,
    /// A unit is worth its messages from so much time of search on.
    pub smallest_unit: Duration,
    /// So many deaths of workers over one unit, and its job is parked.
    pub unit_deaths: u32,
    /// Split at the root and nowhere else, for comparison.
    pub root_only: bool,
    /// The most entries of the shared cache.
    pub cache_entries: usize,
    /// Nodes of all jobs' master trees together.
    pub tree_nodes: usize,
    /// The time of day, since 1970, when the cluster's own time was 0: for people, nothing is decided by it.
    pub unix_time: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lease: limits::DEFAULT_LEASE,
            smallest_unit: limits::SMALLEST_UNIT,
            unit_deaths: limits::UNIT_DEATHS,
            root_only: false,
            cache_entries: limits::MAX_CACHE_ENTRIES,
            tree_nodes: limits::MAX_ALL_TREE_NODES,
            unix_time: Duration::ZERO,
        }
    }
}

/// Jobs, workers, leases and watchers.
#[derive(Clone, Debug)]
pub struct Cluster {
    config: Config,
    jobs: BTreeMap<JobId, Job>,
    /// Jobs that have not ended, in the order in which they are served; whole positions stand with their book's job.
    open: BTreeSet<(Reverse<i32>, JobId)>,
    /// When whole positions that are being searched are out of time, if they have a limit.
    due: BTreeSet<(Duration, JobId)>,
    /// Books in memory, and the jobs that work on them: all, and those that have not ended in the order in which they are
    /// served.
    books: BTreeMap<Arc<str>, Book>,
    /// How often each of them has changed.
    revisions: BTreeMap<Arc<str>, u64>,
    batches: BTreeMap<JobId, Batch>,
    open_batches: BTreeSet<(Reverse<i32>, JobId)>,
    last_part: u64,
    /// Jobs that have ended, oldest first.
    ended: BTreeSet<(Duration, JobId)>,
    watchers: BTreeMap<WatcherId, JobId>,
    fleet: Fleet,
    /// Workers that were lost lately and when, the latest first.
    lost: VecDeque<(Duration, WorkerLoss)>,
    failures: BTreeMap<UnitId, u32>,
    deaths: Deaths,
    /// Jobs whose tree must be looked at again, and who has reported last.
    stale: BTreeMap<JobId, Option<WorkerId>>,
    last_job: u64,
    last_unit: u64,
    /// The most that a job was given when it was given more.
    served: u64,
    /// Nodes of the master trees of all open jobs, as of their last look.
    tree_nodes: usize,
    /// Why the store cannot be written, if that is so.
    store_fault: Option<String>,
    /// What has happened, for whoever watches over it; nothing is decided by it.
    counted: Counted,
}

impl Cluster {
    /// A cluster without jobs and workers.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            jobs: BTreeMap::new(),
            open: BTreeSet::new(),
            due: BTreeSet::new(),
            books: BTreeMap::new(),
            revisions: BTreeMap::new(),
            batches: BTreeMap::new(),
            open_batches: BTreeSet::new(),
            last_part: 0,
            ended: BTreeSet::new(),
            watchers: BTreeMap::new(),
            fleet: Fleet::default(),
            lost: VecDeque::new(),
            failures: BTreeMap::new(),
            deaths: Deaths::default(),
            stale: BTreeMap::new(),
            last_job: 0,
            last_unit: 0,
            served: 0,
            tree_nodes: 0,
            store_fault: None,
            counted: Counted::default(),
        }
    }

    /// Takes an event at a time that never goes back, and appends what must be done.
    pub fn step(&mut self, now: Duration, event: Event, effects: &mut Vec<Effect>) {
        self.take(now, event, effects);
        self.settle(now, effects);
    }

    /// The first half of a step. Many events may be taken before [`Self::settle`]: drawing the conclusions from each result
    /// for itself is what a large cluster would spend its time on.
    pub fn take(&mut self, now: Duration, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::Ask { ticket, question } => {
                // The answer goes out first, so that a stream learns its job before its events.
                let at = effects.len();
                let answer = self.answer(now, question, effects);
                effects.insert(at, Effect::Answer { ticket, answer });
            }
            Event::Unwatch { watcher } => self.unwatch(now, watcher),
            Event::Worker { worker, says } => self.hear(now, worker, says, effects),
            Event::StoreLost { reason } => self.store_lost(now, &reason, effects),
            Event::StoreBack => self.store_back(now, effects),
            Event::Tick => {}
        }
    }

    /// The other half of a step: what follows from the events that were taken, and from the time.
    pub fn settle(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        self.check_time(now, effects);
        self.refresh(now, effects);
        self.feed_books(now, effects);
        self.refresh(now, effects);
        self.schedule(now, effects);
    }

    /// How many watchers, workers, leases, failed units and units with deaths it knows.
    #[cfg(test)]
    pub(crate) fn holds(&self) -> [usize; 5] {
        let (workers, leases) = (self.fleet.len(), self.fleet.leases().count());
        [self.watchers.len(), workers, leases, self.failures.len(), self.deaths.len()]
    }

    /// When a [`Event::Tick`] is due, if nothing else happens before.
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        let jobs = self.open.iter().filter_map(|(_, id)| self.jobs.get(id));
        let jobs = jobs.flat_map(|job| [job.deadline(), job.ledger.abandoned_at()]);
        let batches = self.open_batches.iter().filter_map(|(_, id)| self.batches.get(id));
        let batches = batches.flat_map(|batch| [batch.growth_ends(), batch.ledger.abandoned_at()]);
        let whole = self.due.first().map(|&(at, _)| at);
        let due = jobs.chain(batches).flatten().chain(whole).min();
        let idle = self.fleet.idlest().is_some();
        let due_when_idle = || {
            self.sheddable().chain(self.stragglers()).chain(self.wholes_to_split()).map(|(due, _)| due).min()
        };
        let shed = if idle { due_when_idle() } else { None };
        [due, shed, self.fleet.next_overdue(self.config.lease)].into_iter().flatten().min()
    }

    // ---- questions ------------------------------------------------------------------------------------------------

    fn answer(
        &mut self,
        now: Duration,
        question: Question,
        effects: &mut Vec<Effect>,
    ) -> Result<Answer, Refusal> {
        match question {
            Question::Submit { spec, watcher, known } => {
                self.submit(now, *spec, watcher, known, effects).map(Answer::Job)
            }
            Question::Watch { job, watcher, after_seq } => {
                self.watch(job, watcher, after_seq, effects).map(|()| Answer::Nothing)
            }
            Question::Cancel(job) => self.cancel_job(now, job, effects).map(|()| Answer::Nothing),
            Question::Pause(job) => self.pause(now, job, effects).map(|()| Answer::Nothing),
            Question::Resume(job) => self.resume(now, job, effects).map(|()| Answer::Nothing),
            Question::Get(job) => Ok(Answer::Jobs(vec![self.summary(now, job)?])),
            Question::List { limit, before } => Ok(Answer::Jobs(self.list(now, limit, before))),
            Question::IsOpen(name) => Ok(Answer::IsOpen(self.books.contains_key(&name))),
            Question::Open { name, book } => {
                self.open_book(name, *book);
                Ok(Answer::Nothing)
            }
            Question::Enter { book, positions, found } => {
                self.enter(&book, &positions, found, effects).map(Answer::Entered)
            }
            Question::Revision(name) => Ok(Answer::Revision(self.revision(&name))),
            Question::Replace { name, book, revision } => {
                self.replace_book(name, *book, revision, effects).map(|()| Answer::Nothing)
            }
            Question::SubmitBook { spec, watcher } => {
                self.submit_book(now, *spec, watcher, effects).map(Answer::Job)
            }
            Question::Workers => {
                let job_of = |id| self.client_job(id);
                Ok(Answer::Workers(self.fleet.summaries(now, job_of)))
            }
            Question::Losses => Ok(Answer::Losses(self.losses(now))),
            Question::Figures => Ok(Answer::Figures(Box::new(self.figures(now)))),
            Question::Register { worker, registration } => {
                self.register(now, worker, registration, effects).map(Answer::Terms)
            }
        }
    }

    fn summary(&self, now: Duration, id: JobId) -> Result<JobSummary, Refusal> {
        self.ledger(id)?;
        let job = self.jobs.get(&id).map(|job| job.summary(now));
        let summary = job.or_else(|| self.batches.get(&id).map(|batch| batch.summary(now)));
        summary.ok_or_else(|| Refusal::NotFound(format!("there is no job {id}")))
    }

    /// Where jobs stand, newest first.
    fn list(&self, now: Duration, limit: usize, before: Option<JobId>) -> Vec<JobSummary> {
        let whole = self.jobs.iter().filter(|(_, job)| job.part_of.is_none()).map(|(&id, _)| id);
        let mut ids: Vec<JobId> = whole.chain(self.batches.keys().copied()).collect();
        ids.sort_unstable_by_key(|&id| Reverse(id));
        let older = ids.into_iter().filter(|&id| before.is_none_or(|before| id < before));
        older.take(limit).filter_map(|id| self.summary(now, id).ok()).collect()
    }

    fn cancel_job(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        if self.ledger(id)?.state.is_final() {
            return Ok(());
        }
        if self.batches.contains_key(&id) {
            self.end_batch(now, id, Ok(BookStop::Cancel), effects);
        } else {
            self.end_job(now, id, End::Done(StoppedBy::Cancel), effects);
        }
        Ok(())
    }

    fn submit(
        &mut self,
        now: Duration,
        spec: JobSpec,
        watcher: Option<WatcherId>,
        known: Option<Box<Known>>,
        effects: &mut Vec<Effect>,
    ) -> Result<JobId, Refusal> {
        check_multipv(spec.multipv)?;
        self.check_store()?;
        if self.open_jobs() >= limits::MAX_OPEN_JOBS {
            return Err(exhausted("max_open_jobs", limits::MAX_OPEN_JOBS));
        }
        if watcher.is_some() {
            self.check_watchers()?;
        }
        self.last_job += 1;
        let id = JobId(self.last_job);
        let mut job = Job::new(id, spec, now);
        if let Some(watcher) = watcher {
            job.ledger.watched(watcher);
            self.watchers.insert(watcher, id);
        }
        job.announce(effects);
        self.open.insert((Reverse(job.spec.priority), id));
        let over = job.plan.candidates().is_empty().then_some(StoppedBy::Proof);
        let over = over.or(known.is_some().then_some(StoppedBy::Book));
        if let Some(known) = known {
            job.know(*known);
        }
        self.jobs.insert(id, job);
        self.counted.jobs_accepted += 1;
        self.stale.entry(id).or_default();
        if let Some(stopped_by) = over {
            self.end_job(now, id, End::Done(stopped_by), effects);
        }
        Ok(id)
    }

    /// Jobs that have not ended and that somebody has asked for.
    fn open_jobs(&self) -> usize {
        let is_part = |id: &JobId| self.jobs.get(id).is_some_and(|job| job.part_of.is_some());
        let searches = self.open.iter().filter(|(_, id)| !is_part(id)).count();
        searches + self.open_batches.len()
    }

    fn check_watchers(&self) -> Result<(), Refusal> {
        if self.watchers.len() >= limits::MAX_WATCHERS {
            return Err(exhausted("max_watchers", limits::MAX_WATCHERS));
        }
        Ok(())
    }

    fn watch(
        &mut self,
        id: JobId,
        watcher: WatcherId,
        after_seq: u64,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        self.ledger(id)?;
        self.check_watchers()?;
        let Some(ledger) = self.ledger_mut(id) else { return Ok(()) };
        if after_seq > ledger.last_seq() {
            let last = ledger.last_seq();
            return Err(Refusal::Invalid(format!("after_seq: {after_seq} is beyond the last event {last}")));
        }
        let records = ledger.events_after(after_seq);
        if !records.is_empty() {
            effects.push(Effect::Deliver { job: id, watcher, records });
        }
        if ledger.state.is_final() {
            effects.push(Effect::Finish { job: id, watcher });
        } else {
            ledger.watched(watcher);
            self.watchers.insert(watcher, id);
        }
        Ok(())
    }

    fn unwatch(&mut self, now: Duration, watcher: WatcherId) {
        let Some(job) = self.watchers.remove(&watcher) else { return };
        if let Some(ledger) = self.ledger_mut(job) {
            ledger.unwatched(watcher, now);
        }
    }

    fn pause(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        if self.ledger(id)?.state.is_final() {
            return Err(Refusal::Precondition(format!("job {id} has ended")));
        }
        if self.batches.contains_key(&id) {
            self.pause_batch(now, id, true, effects);
            return Ok(());
        }
        self.revoke_all(now, id, effects);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.ledger.paused = true;
            job.ledger.set_clock(now);
            job.ledger.set_state(JobState::Paused, PAUSED_BY_CLIENT, effects);
            job.keep_standing(now, effects);
        }
        Ok(())
    }

    fn resume(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        if self.ledger(id)?.state.is_final() {
            return Err(Refusal::Precondition(format!("job {id} has ended")));
        }
        if self.batches.contains_key(&id) {
            self.pause_batch(now, id, false, effects);
            return Ok(());
        }
        self.deaths.forget(id);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.ledger.paused = false;
            job.ledger.parked = None;
            job.ledger.set_clock(now);
            job.keep_standing(now, effects);
        }
        self.stale.entry(id).or_default();
        Ok(())
    }

    // ---- workers --------------------------------------------------------------------------------------------------

    fn register(
        &mut self,
        now: Duration,
        worker: WorkerId,
        registration: Registration,
        effects: &mut Vec<Effect>,
    ) -> Result<Terms, Refusal> {
        if registration.engine_epoch != ENGINE_EPOCH {
            let theirs = &registration.engine_epoch;
            let text =
                format!("engine epoch '{theirs}' of the worker is not the coordinator's '{ENGINE_EPOCH}'");
            return Err(Refusal::Precondition(text));
        }
        if registration.slots > limits::MAX_SLOTS {
            return Err(exhausted("max_slots", limits::MAX_SLOTS));
        }
        if let Some((old, held)) = self.fleet.by_name(&registration.name) {
            // The same process under a new session: its old one is dead, whatever the network says. So is the line of
            // a process that has missed its heartbeats when another one comes under its name.
            let heard = now.saturating_sub(held.heard_at);
            let lives = heard < self.heartbeat() * limits::MISSED_HEARTBEATS;
            if held.registration.instance != registration.instance && lives {
                let text = format!(
                    "name: a worker named '{}' is connected already and was heard {} ms ago; \
                     names are unique among connected workers",
                    registration.name,
                    heard.as_millis()
                );
                return Err(Refusal::AlreadyExists(text));
            }
            self.lose(now, old, "the worker connected again", effects);
        }
        if self.fleet.len() >= limits::MAX_WORKERS {
            return Err(exhausted("max_workers", limits::MAX_WORKERS));
        }
        self.came_back(now, registration.instance, effects);
        self.fleet.join(worker, registration, now);
        self.counted.workers_joined += 1;
        self.shares_changed();
        Ok(Terms { worker, lease: self.config.lease, heartbeat: self.heartbeat() })
    }

    fn heartbeat(&self) -> Duration {
        self.config.lease / limits::HEARTBEATS_PER_LEASE
    }

    fn hear(&mut self, now: Duration, worker: WorkerId, says: WorkerSays, effects: &mut Vec<Effect>) {
        if !self.fleet.heard(worker, now) {
            return;
        }
        match says {
            WorkerSays::Heartbeat(units) => {
                self.fleet.unstick_absent(worker, &units);
                for progress in units {
                    if !self.fleet.progress(worker, progress, now) {
                        self.counted.late += 1;
                        lease_lost(worker, progress.unit, progress.attempt, effects);
                    } else if let Some(lease) = self.fleet.lease(progress.unit) {
                        self.check_nodes(now, lease.unit.job, effects);
                    }
                }
            }
            WorkerSays::Iteration(told) => self.whole_iterated(worker, told, effects),
            WorkerSays::Report(report) => self.report(now, worker, report, effects),
            WorkerSays::Failed { unit, attempt, message } => {
                self.failed(now, worker, unit, attempt, &message, effects);
            }
            WorkerSays::Draining => self.fleet.drain(worker),
            WorkerSays::Gone { reason } => self.lose(now, worker, &reason, effects),
            WorkerSays::Broken { reason } => self.broken(now, worker, &reason, effects),
        }
    }

    /// The one way in which a worker is lost, whatever the cause: its units are free again.
    fn lose(&mut self, now: Duration, worker: WorkerId, reason: &str, effects: &mut Vec<Effect>) {
        effects.push(Effect::Disconnect { worker, reason: reason.to_owned() });
        let name = self.fleet.worker(worker).map(|worker| worker.registration.name.clone());
        let leases = self.fleet.remove(worker);
        if let Some(name) = name {
            self.counted.workers_left += 1;
            self.counted.ended.lost += u64::try_from(leases.len()).unwrap_or(u64::MAX);
            let units = u32::try_from(leases.len()).unwrap_or(u32::MAX);
            self.lost.push_front((
                now,
                WorkerLoss { name, reason: reason.to_owned(), units, ago: Duration::ZERO },
            ));
            self.lost.truncate(limits::KEPT_LOSSES);
        }
        for lease in leases {
            self.was_served(now, &lease);
            self.give_back(&lease, lease.nodes);
        }
        self.shares_changed();
    }

    /// What whoever watches over the cluster wants to know.
    fn figures(&self, now: Duration) -> Figures {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let mut figures = Figures {
            counted: self.counted.clone(),
            leases: count(self.fleet.leases().count()),
            workers: count(self.fleet.len()),
            draining: count(self.fleet.draining()),
            slots: count(self.fleet.slots()),
            free_slots: count(self.fleet.free_slots()),
            watchers: count(self.watchers.len()),
            tree_nodes: count(self.tree_nodes),
            ..Figures::default()
        };
        let served: BTreeSet<JobId> =
            self.fleet.leases().map(|lease| self.client_job(lease.unit.job).0).collect();
        let jobs = self.jobs.values().filter(|job| job.part_of.is_none());
        let jobs = jobs.map(|job| (&job.ledger, job.spec.priority));
        let batches = self.batches.values().map(|batch| (&batch.ledger, batch.spec.priority));
        for (ledger, priority) in jobs.chain(batches) {
            *figures.jobs.entry(ledger.state.name()).or_default() += 1;
            if ledger.is_open() && !served.contains(&ledger.id) {
                let waits = figures.waiting.entry(priority).or_default();
                *waits = ledger.unserved(now).max(*waits);
            }
        }
        figures
    }

    fn losses(&self, now: Duration) -> Vec<WorkerLoss> {
        let ago =
            |(at, loss): &(Duration, WorkerLoss)| WorkerLoss { ago: now.saturating_sub(*at), ..loss.clone() };
        self.lost.iter().map(ago).collect()
    }

    /// What a client knows of a job: of a part its book's job and the position.
    fn client_job(&self, id: JobId) -> (JobId, Option<Position>) {
        let part = self.jobs.get(&id).and_then(|job| Some((job.part_of?, Some(job.spec.position))));
        part.unwrap_or((id, None))
    }

    /// Workers came or went: what is worth splitting has changed for every job.
    fn shares_changed(&mut self) {
        for &(_, id) in &self.open {
            self.stale.entry(id).or_default();
        }
    }

    /// A lease ended without a result.
    fn give_back(&mut self, lease: &Lease, nodes: u64) {
        if let Some(job) = self.jobs.get_mut(&lease.unit.job) {
            // A deterministic job counts accepted results only.
            job.nodes += if job.spec.deterministic { 0 } else { nodes };
            if lease.unit.whole.is_some() {
                return self.whole_lost(lease);
            }
            job.plan.take_back(lease.unit.unit, lease.unit.attempt, nodes);
            self.stale.entry(lease.unit.job).or_default();
        }
    }

    /// Ends a lease that a worker still works on.
    fn revoke(&mut self, now: Duration, unit: UnitId, effects: &mut Vec<Effect>) {
        let Some(lease) = self.end_lease(now, unit) else { return };
        self.counted.ended.revoked += 1;
        let command = Command::Cancel { unit, attempt: lease.unit.attempt };
        effects.push(Effect::Send { worker: lease.worker, command });
        self.give_back(&lease, lease.nodes);
    }

    fn revoke_all(&mut self, now: Duration, job: JobId, effects: &mut Vec<Effect>) {
        let units: Vec<UnitId> =
            self.jobs.get(&job).map(|job| job.leased_units().collect()).unwrap_or_default();
        for unit in units {
            self.revoke(now, unit, effects);
            self.failures.remove(&unit);
        }
    }

    fn report(&mut self, now: Duration, worker: WorkerId, report: UnitReport, effects: &mut Vec<Effect>) {
        self.fleet.unstick(worker, report.unit, report.attempt);
        self.fleet.credit(worker, report.nodes, report.search_time);
        self.counted.nodes += report.nodes;
        if !self.fleet.holds(worker, report.unit, report.attempt) {
            self.counted.late += 1;
            lease_lost(worker, report.unit, report.attempt, effects);
            return;
        }
        let Some(lease) = self.end_lease(now, report.unit) else { return };
        let ended = &mut self.counted.ended;
        *(if report.completed { &mut ended.completed } else { &mut ended.handed_back }) += 1;
        self.counted.unit.note(now.saturating_sub(lease.began_at));
        if lease.unit.whole.is_some() {
            return self.whole_reported(now, worker, &lease, report, effects);
        }
        match merge::at_node(&report, &lease.unit).filter(|_| report.completed) {
            Some((score, bound)) => {
                self.failures.remove(&report.unit);
                self.deaths.survived(&lease.unit);
                let Some(job) = self.jobs.get_mut(&lease.unit.job) else { return };
                job.nodes += report.nodes;
                let result = plan::Result {
                    score,
                    bound,
                    line: report.pv,
                    nodes: report.nodes,
                    path_dependent: report.path_dependent,
                };
                let twins = job.plan.record(report.unit, result);
                if job.spec.deterministic {
                    // Whether their results come before the next look depends on the schedule.
                    twins.into_iter().for_each(|unit| self.cancel(now, lease.unit.job, unit, effects));
                }
            }
            None if lease.shedding => {
                let Some(job) = self.jobs.get_mut(&lease.unit.job) else { return };
                job.nodes += report.nodes;
                let levels = merge::handed_back(&report, &lease.unit);
                job.plan.hand_back(report.unit, report.nodes, &levels);
            }
            None => {
                self.give_back(&lease, report.nodes);
                // A drain and a spent budget explain that; anything else must not go on for ever.
                let draining = self.fleet.worker(worker).is_some_and(|worker| worker.draining);
                if !draining && lease.unit.node_budget.is_none() {
                    self.count_failure(now, &lease.unit, "it came back unfinished", effects);
                }
            }
        }
        self.stale.insert(lease.unit.job, Some(worker));
    }

    /// A sibling failed high: its re-search comes before the unit that has waited at the worker, whose window is about to
    /// change. What that one did since the result was sent is next to nothing.
    fn make_way(&mut self, now: Duration, worker: WorkerId, job: JobId, effects: &mut Vec<Effect>) {
        let begun = self.fleet.just_begun(worker).filter(|lease| lease.unit.job == job);
        if let Some(unit) = begun.map(|lease| lease.unit.unit) {
            self.revoke(now, unit, effects);
        }
    }

    fn failed(
        &mut self,
        now: Duration,
        worker: WorkerId,
        unit: UnitId,
        attempt: Attempt,
        message: &str,
        effects: &mut Vec<Effect>,
    ) {
        self.fleet.unstick(worker, unit, attempt);
        if !self.fleet.holds(worker, unit, attempt) {
            self.counted.late += 1;
            lease_lost(worker, unit, attempt, effects);
            return;
        }
        let Some(lease) = self.end_lease(now, unit) else { return };
        self.counted.ended.failed += 1;
        self.give_back(&lease, lease.nodes);
        self.count_failure(now, &lease.unit, message, effects);
    }

    fn count_failure(&mut self, now: Duration, unit: &Unit, message: &str, effects: &mut Vec<Effect>) {
        let failures = self.failures.entry(unit.unit).or_default();
        *failures += 1;
        if *failures >= limits::MAX_UNIT_FAILURES {
            let times = *failures;
            self.failures.remove(&unit.unit);
            let text =
                format!("unit {} failed {times} times (max_unit_failures), last: {message}", unit.unit);
            self.end_job(now, unit.job, failure("internal", text), effects);
        }
    }

    // ---- progress of jobs -----------------------------------------------------------------------------------------

    /// Looks again at every job of which something has changed.
    fn refresh(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        while let Some((id, reporter)) = self.stale.pop_first() {
            self.advance(now, id, reporter, effects);
        }
    }

    /// Draws the conclusions from what has become known: new scores, the next depth, or the end; then the units that are
    /// leased are told, and those that are wanted stand ready.
    fn advance(&mut self, now: Duration, id: JobId, reporter: Option<WorkerId>, effects: &mut Vec<Effect>) {
        loop {
            self.stale.remove(&id);
            // A whole position is its worker's.
            if self.jobs.get(&id).is_none_or(|job| job.whole.is_some()) {
                return;
            }
            let (split_above, speculate) = self.manner_of_splitting(id);
            let slots = self.slots_for(id);
            let Some(job) = self.jobs.get_mut(&id).filter(|job| job.ledger.is_open()) else { return };
            if job.ledger.events().len() >= limits::MAX_EVENTS_PER_JOB {
                let text = format!("max_events_per_job {} is reached", limits::MAX_EVENTS_PER_JOB);
                return self.end_job(now, id, failure("resource_exhausted", text), effects);
            }
            let enough = 2 * slots + ENOUGH_UNITS;
            // As many as are left, and a fair share in any case.
            let others = self.tree_nodes - job.tree_nodes;
            let share = self.config.tree_nodes / self.open.len().max(1);
            job.plan.limit_tree(self.config.tree_nodes.saturating_sub(others).max(share));
            let news = job.plan.refresh(split_above, speculate, enough);
            job.tree_nodes = job.plan.tree_nodes();
            self.tree_nodes = others + job.tree_nodes;
            self.tell(now, id, reporter, news, effects);
            if !self.conclude(now, id, effects) {
                break;
            }
        }
        self.adjust(now, id, effects);
        self.check_nodes(now, id, effects);
    }

    /// Tells what is new about root moves.
    fn tell(
        &mut self,
        now: Duration,
        id: JobId,
        reporter: Option<WorkerId>,
        news: Vec<plan::News>,
        effects: &mut Vec<Effect>,
    ) {
        for it in news {
            let Some(job) = self.jobs.get_mut(&id) else { return };
            if job.part_of.is_some() {
                let (mv, home) = (it.root_move.mv, it.home);
                self.note_searcher(id, mv, home.or(reporter));
                continue;
            }
            let worker = it.home.and_then(|home| self.fleet.worker(home));
            let name = worker.map_or(String::new(), |worker| worker.registration.name.clone());
            let line = merge::line(it.root_move, &it.found, job.spec.position.turn());
            job.ledger.emit(JobEvent::Move(MoveReport { line, worker: name }), effects);
            if let Some(worker) = reporter.filter(|_| job.plan.is_challenge(&it.found)) {
                self.make_way(now, worker, id, effects);
            }
        }
    }

    /// Goes on to the next depth or ends the job, if it is time. Returns whether the job must be looked at again.
    fn conclude(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        if let Some(stopped_by) = job.ending {
            if job.tell_audit(effects) {
                self.end_job(now, id, End::Done(stopped_by), effects);
            }
            return false;
        }
        // In a race every move's exact length is known at once, and the shortest win is wanted.
        let won = job.plan.is_won() && !job.is_race();
        if !won && !job.plan.is_complete() {
            return false;
        }
        // Before a loss is claimed the rest is searched to the same depth.
        if !won && job.plan.is_lost() && job.widen() {
            return true;
        }
        if won || job.spec.deterministic {
            self.revoke_all(now, id, effects);
        }
        let workers = self.fleet.len();
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        match job.complete_iteration(now, workers, effects) {
            None => {
                job.plan.deepen();
                self.keep_progress(now, id, effects);
                true
            }
            Some(stopped_by) if job.begin_audit() => {
                job.ending = Some(stopped_by);
                true
            }
            Some(stopped_by) => {
                self.end_job(now, id, End::Done(stopped_by), effects);
                false
            }
        }
    }

    /// From how many positions on a job's searches are split, and whether it may guess: by the slots that it has for
    /// itself, their measured rate and the size of its iteration.
    fn manner_of_splitting(&self, id: JobId) -> (u64, bool) {
        let Some(job) = self.jobs.get(&id) else { return (u64::MAX, false) };
        let slots = self.slots_for(id);
        if slots <= 1 || self.config.root_only {
            return (u64::MAX, slots > 1);
        }
        let rate = self.slot_rate();
        let slots = u64::try_from(slots).unwrap_or(u64::MAX);
        let share = job.plan.estimate() / slots.saturating_mul(UNITS_PER_SLOT);
        let smallest = positions_in(rate, self.config.smallest_unit);
        let largest = positions_in(rate, LARGEST_UNIT);
        (rounded(share.clamp(smallest, largest.max(smallest))), true)
    }

    /// The slots that a job has for itself: those of its priority share them, a book's job being one.
    fn slots_for(&self, id: JobId) -> usize {
        let Some(job) = self.jobs.get(&id) else { return 0 };
        let like_it = |&&(Reverse(priority), _): &&(Reverse<i32>, JobId)| priority == job.spec.priority;
        let whole =
            |&&(_, id): &&(Reverse<i32>, JobId)| self.jobs.get(&id).is_some_and(|job| job.part_of.is_none());
        let rivals = self.open.iter().filter(like_it).filter(whole).count()
            + self.open_batches.iter().filter(like_it).count();
        let share = self.fleet.slots() / rivals.max(1);
        // The parts of a book's job share what it has.
        let parts = job.part_of.and_then(|of| self.batches.get(&of)).map_or(1, |batch| batch.running.len());
        share / parts.max(1)
    }

    fn slot_rate(&self) -> u64 {
        self.fleet.slot_rate().unwrap_or(ASSUMED_RATE)
    }

    fn adjust(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| job.ledger.is_open()) else { return };
        let entries = job.plan.take_learned();
        if !entries.is_empty() && !job.spec.deterministic {
            effects.push(Effect::Share { entries });
        }
        for (unit, adjustment) in job.plan.adjust() {
            let Some(lease) = self.fleet.lease(unit) else { continue };
            match adjustment {
                Adjustment::Cancel => self.cancel(now, id, unit, effects),
                Adjustment::Window(window) => {
                    let window = merge::window_at_end(window, lease.unit.turn(), lease.unit.path.len());
                    let command = Command::Window { unit, attempt: lease.unit.attempt, window };
                    effects.push(Effect::Send { worker: lease.worker, command });
                }
            }
        }
    }

    /// Ends the lease of a unit that is of no use any more.
    fn cancel(&mut self, now: Duration, id: JobId, unit: UnitId, effects: &mut Vec<Effect>) {
        let Some(lease) = self.end_lease(now, unit) else { return };
        self.counted.ended.revoked += 1;
        let command = Command::Cancel { unit, attempt: lease.unit.attempt };
        effects.push(Effect::Send { worker: lease.worker, command });
        self.failures.remove(&unit);
        if let Some(job) = self.jobs.get_mut(&id) {
            // Which of two equal units is the later one depends on the schedule.
            let nodes = if job.spec.deterministic { 0 } else { lease.nodes };
            job.nodes += nodes;
            job.plan.drop_lease(unit, nodes);
        }
    }

    fn check_nodes(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) {
        if self.nodes_left(id) == Some(0) {
            self.end_job(now, id, End::Done(StoppedBy::Nodes), effects);
        }
    }

    /// Positions that a job may still visit, those counted that its running units are known to have visited.
    fn nodes_left(&self, id: JobId) -> Option<u64> {
        let job = self.jobs.get(&id).filter(|job| job.spec.limits.nodes.is_some())?;
        let running = self.fleet.leases().filter(|lease| lease.unit.job == id).map(|lease| lease.nodes);
        job.nodes_left(running.sum())
    }

    /// Everything that only the passing of time brings about.
    fn check_time(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let before = self.counted.ended;
        for worker in self.fleet.silent(now, self.config.lease) {
            self.lose(now, worker, "nothing was heard for a whole lease", effects);
        }
        for unit in self.fleet.block_stalled(now, self.config.lease) {
            self.revoke(now, unit, effects);
        }
        // Whatever else these were, their time was up.
        let ended = &mut self.counted.ended;
        ended.expired += ended.lost - before.lost + ended.revoked - before.revoked;
        (ended.lost, ended.revoked) = (before.lost, before.revoked);
        while let Some(&(at, id)) = self.due.first().filter(|&&(at, _)| at <= now) {
            self.due.remove(&(at, id));
            self.whole_is_late(id, effects);
        }
        let open: Vec<JobId> = self.open.iter().map(|&(_, id)| id).collect();
        for id in open {
            let Some(job) = self.jobs.get(&id) else { continue };
            if job.deadline().is_some_and(|deadline| deadline <= now) {
                let end = self.out_of_time(job);
                self.end_job(now, id, end, effects);
            } else if job.ledger.abandoned_at().is_some_and(|at| at <= now) {
                self.end_job(now, id, End::Done(StoppedBy::Cancel), effects);
            }
        }
        let abandoned = |batch: &&Batch| batch.ledger.abandoned_at().is_some_and(|at| at <= now);
        let open = self.open_batches.iter().filter_map(|(_, id)| self.batches.get(id));
        let abandoned: Vec<JobId> = open.filter(abandoned).map(|batch| batch.ledger.id).collect();
        for id in abandoned {
            self.end_batch(now, id, Ok(BookStop::Cancel), effects);
        }
    }

    /// How a job ends whose time is up: with the last completed depth, unless there was nobody to search.
    fn out_of_time(&self, job: &Job) -> End {
        if self.fleet.is_empty() {
            return failure("unavailable", "the time is up and no worker is connected".to_owned());
        }
        if job.depth() == 0 {
            return failure("deadline_exceeded", "the time is up and no depth was completed".to_owned());
        }
        End::Done(StoppedBy::Time)
    }

    fn end_job(&mut self, now: Duration, id: JobId, end: End, effects: &mut Vec<Effect>) {
        self.revoke_all(now, id, effects);
        self.deaths.forget(id);
        if let Some(of) = self.jobs.get(&id).and_then(|job| job.part_of) {
            return self.end_part(now, of, id, end, effects);
        }
        // Two limits can be reached at once, and a job ends once.
        let Some(job) = self.jobs.get_mut(&id).filter(|job| !job.ledger.state.is_final()) else { return };
        for watcher in &job.ledger.watchers {
            self.watchers.remove(watcher);
        }
        self.tree_nodes -= std::mem::take(&mut job.tree_nodes);
        job.end(end, now, effects);
        self.open.remove(&(Reverse(job.spec.priority), id));
        self.counted.jobs_ended += 1;
        self.ended.insert((now, id));
        self.forget_oldest(effects);
    }

    // ---- scheduling -----------------------------------------------------------------------------------------------

    /// Hands out units: first to slots that are free, then one to wait at each worker.
    fn schedule(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        while let Some(worker) = self.fleet.idlest() {
            if !self.grant_any(now, worker, Class::Likely, effects)
                && !self.steal(now, effects)
                && !self.grant_any(now, worker, Class::Guess, effects)
            {
                self.shed(now, effects);
                self.split_wholes(now, effects);
                if !self.duplicate(now, worker, effects) {
                    break;
                }
            }
        }
        let ahead = positions_in(self.slot_rate(), AHEAD);
        while let Some(worker) = self.fleet.with_room(ahead) {
            if !self.grant_ahead(now, worker, effects) {
                break;
            }
        }
        self.tell_states(effects);
    }

    /// The job that is served next: highest priority first, then whoever was given the least. Who did not want anything for
    /// a while has a little ahead of the others, not all that it has missed.
    fn next_job(&self, worst: Class, fits: impl Fn(&Job) -> bool) -> Option<JobId> {
        let least = self.least_served();
        let ready = |&(_, id): &(Reverse<i32>, JobId)| {
            let job = self.jobs.get(&id).filter(|job| job.ledger.is_open() && fits(job));
            job.is_some_and(|job| job.plan.has_task(worst))
        };
        let whole = |&(priority, batch): &(Reverse<i32>, JobId)| {
            self.free_whole_of(batch, &fits).map(|id| (priority, id))
        };
        let share = |&(priority, id): &(Reverse<i32>, JobId)| (priority, self.served_to(id).max(least), id);
        let wholes = self.open_batches.iter().filter_map(whole);
        self.open.iter().copied().filter(ready).chain(wholes).min_by_key(share).map(|(_, id)| id)
    }

    /// What a job was given; of a part, what the whole was.
    fn served_to(&self, id: JobId) -> u64 {
        let Some(job) = self.jobs.get(&id) else { return 0 };
        let whole = job.part_of.and_then(|of| self.batches.get(&of));
        whole.map_or_else(|| job.plan.served(), |batch| batch.served)
    }

    /// What every job counts as given.
    fn least_served(&self) -> u64 {
        let slots = u64::try_from(self.fleet.slots()).unwrap_or(u64::MAX);
        self.served.saturating_sub(positions_in(self.slot_rate().saturating_mul(slots), FAIR_LEAD))
    }

    fn grant_any(
        &mut self,
        now: Duration,
        worker: WorkerId,
        worst: Class,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(id) = self.next_job(worst, |_| true) else { return false };
        let Some(job) = self.jobs.get(&id) else { return false };
        if job.is_free_whole() {
            self.grant_whole(now, worker, id, effects);
            return true;
        }
        let Some(task) = job.plan.next_task(worker, worst) else { return false };
        // What is urgent goes to whoever knows it, if that one is idle too.
        let home = task.home.filter(|&home| task.class == Class::Needed && self.fleet.has_free_slot(home));
        self.grant(now, home.unwrap_or(worker), id, &task, effects);
        true
    }

    /// A unit that waits at a busy worker, so that no thread waits for a message.
    fn grant_ahead(&mut self, now: Duration, worker: WorkerId, effects: &mut Vec<Effect>) -> bool {
        // The budget of a unit that waits would be stale when it begins, unless it is the whole job's.
        let waits = |job: &Job| job.spec.limits.nodes.is_none() || job.whole.is_some();
        let Some(id) = self.next_job(Class::Likely, waits) else {
            return false;
        };
        let Some(job) = self.jobs.get(&id) else { return false };
        if job.is_free_whole() {
            self.grant_whole(now, worker, id, effects);
            return true;
        }
        let Some(task) = job.plan.next_task(worker, Class::Likely) else { return false };
        self.grant(now, worker, id, &task, effects);
        true
    }

    fn grant(&mut self, now: Duration, worker: WorkerId, id: JobId, task: &Task, effects: &mut Vec<Effect>) {
        let (node_budget, least) = (self.nodes_left(id), self.least_served());
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let (unit_id, attempt) = task.retry.unwrap_or_else(|| {
            self.last_unit += 1;
            (UnitId(self.last_unit), Attempt::FIRST)
        });
        let mut unit = Unit {
            job: id,
            unit: unit_id,
            attempt,
            root: job.spec.position,
            path: task.path.clone(),
            depth: task.depth,
            window: WhiteWindow::default(),
            node_budget,
            pv_hint: if job.spec.deterministic { Vec::new() } else { task.hint.clone() },
            deterministic: job.spec.deterministic,
            prune: job::prune_mode(&job.spec),
            traceparent: job.spec.traceparent.clone(),
            speculative: task.class > Class::Likely,
            seeds: Vec::new(),
            whole: None,
        };
        unit.window = merge::window_at_end(task.window, unit.turn(), unit.path.len());
        job.plan.lift(least);
        if job.part_of.is_some() && job.ledger.state == JobState::Queued {
            job.ledger.begin(now);
        }
        let of = job.part_of;
        job.plan.granted(task, unit_id, worker);
        job.ledger.set_state(JobState::Running, "workers search it", effects);
        match of.and_then(|of| self.batches.get_mut(&of)) {
            None => self.served = self.served.max(job.plan.served() - task.estimate),
            Some(batch) => {
                let before = batch.served.max(least);
                self.served = self.served.max(before);
                batch.served = before + task.estimate;
            }
        }
        self.lease(now, unit, worker, task.estimate, effects);
    }

    /// Lends a unit to a worker.
    fn lease(
        &mut self,
        now: Duration,
        unit: Unit,
        worker: WorkerId,
        estimate: u64,
        effects: &mut Vec<Effect>,
    ) {
        self.counted.granted += 1;
        if let Some(idle) = self.fleet.idle(worker, now) {
            self.counted.slot_idle.note(idle);
        }
        self.fleet.grant(unit.clone(), worker, estimate, now);
        effects.push(Effect::Send { worker, command: Command::Grant(Box::new(unit)) });
    }

    /// Ends a lease, for whatever reason.
    fn end_lease(&mut self, now: Duration, unit: UnitId) -> Option<Lease> {
        let lease = self.fleet.end(unit, now)?;
        self.was_served(now, &lease);
        Some(lease)
    }

    /// A job has had a unit at a worker until now.
    fn was_served(&mut self, now: Duration, lease: &Lease) {
        let Some(job) = self.jobs.get_mut(&lease.unit.job) else { return };
        job.ledger.served(now);
        if let Some(batch) = job.part_of.and_then(|of| self.batches.get_mut(&of)) {
            batch.ledger.served(now);
        }
    }

    /// Takes a unit back that waits at a busy worker, so that an idle one can have it.
    fn steal(&mut self, now: Duration, effects: &mut Vec<Effect>) -> bool {
        let least = positions_in(self.slot_rate(), LEAST_STOLEN);
        let Some(unit) = self.fleet.waiting_elsewhere(now, least, LEAST_STOLEN) else { return false };
        self.revoke(now, unit, effects);
        self.refresh(now, effects);
        true
    }

    /// Somebody is idle: units that have run for long hand back what is not done of them.
    fn shed(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let idle = self.fleet.free_slots();
        let mut large: Vec<(Duration, UnitId)> = self.sheddable().filter(|&(due, _)| due <= now).collect();
        large.sort();
        for (_, unit) in large.into_iter().take(idle.div_ceil(SHED_SHARE)) {
            let Some(lease) = self.fleet.lease_mut(unit) else { continue };
            lease.shedding = true;
            let command = Command::Shed { unit, attempt: lease.unit.attempt };
            effects.push(Effect::Send { worker: lease.worker, command });
        }
    }

    /// Gives an idle worker a needed unit that takes another one far longer than expected: the first result wins.
    fn duplicate(&mut self, now: Duration, worker: WorkerId, effects: &mut Vec<Effect>) -> bool {
        let late = self.stragglers().filter(|&(due, _)| due <= now).min();
        let Some(lease) = late.and_then(|(_, unit)| self.fleet.lease(unit)) else { return false };
        if lease.worker == worker {
            return false;
        }
        let (unit, id) = (lease.unit.unit, lease.unit.job);
        let Some(task) = self.jobs.get(&id).and_then(|job| job.plan.twin(unit)) else { return false };
        self.grant(now, worker, id, &task, effects);
        true
    }

    /// Running units that one worker alone has, and when they are overdue.
    fn stragglers(&self) -> impl Iterator<Item = (Duration, UnitId)> + '_ {
        let rate = self.slot_rate();
        let idle = self.fleet.idlest();
        let straggler = move |lease: &Lease| {
            idle.filter(|&idle| idle != lease.worker)?;
            let job = self.jobs.get(&lease.unit.job).filter(|job| job.ledger.is_open())?;
            let expected = job.plan.held_once(lease.unit.unit).filter(|_| self.fleet.runs(lease))?;
            let micros = expected.saturating_mul(LATE_BY).saturating_mul(1_000_000) / rate.max(1);
            let late = Duration::from_micros(micros).max(LEAST_LATE);
            Some((lease.began_at.saturating_add(late), lease.unit.unit))
        };
        self.fleet.leases().filter_map(straggler)
    }

    /// Running units that may be shed, and from when on.
    fn sheddable(&self) -> impl Iterator<Item = (Duration, UnitId)> + '_ {
        let rate = self.slot_rate();
        let shed = move |lease: &Lease| {
            let unit = lease.unit.unit;
            let job = self.jobs.get(&lease.unit.job)?;
            if lease.shedding || !job.plan.may_shed(unit) || !self.fleet.runs(lease) || self.config.root_only
            {
                return None;
            }
            let (share, _) = self.manner_of_splitting(lease.unit.job);
            let micros = share.saturating_mul(SHED_AFTER).saturating_mul(1_000_000) / rate.max(1);
            Some((lease.began_at.saturating_add(Duration::from_micros(micros)), unit))
        };
        self.fleet.leases().filter_map(shed)
    }

    /// Says of each open job that runs nowhere why that is so.
    fn tell_states(&mut self, effects: &mut Vec<Effect>) {
        self.tell_book_states(effects);
        for (_, id) in &self.open {
            let Some(job) = self.jobs.get_mut(id).filter(|job| job.ledger.is_open()) else { continue };
            if self.fleet.is_empty() {
                job.ledger.set_state(JobState::Waiting, "no worker is connected", effects);
            } else if job.ledger.state != JobState::Running {
                job.ledger.set_state(JobState::Queued, "all workers are busy", effects);
            }
        }
    }
}

/// About as many, so that a measured rate does not change everything a little all the time.
const fn rounded(positions: u64) -> u64 {
    match positions.checked_ilog2() {
        Some(bits) if bits > 3 => positions >> (bits - 3) << (bits - 3),
        _ => positions,
    }
}

/// Positions that a slot visits in a time.
fn positions_in(rate: u64, time: Duration) -> u64 {
    let positions = u128::from(rate) * time.as_micros() / 1_000_000;
    u64::try_from(positions).unwrap_or(u64::MAX)
}

fn check_multipv(multipv: u16) -> Result<(), Refusal> {
    if multipv > limits::MAX_MULTIPV {
        let text = format!("spec.multipv: {multipv} is more than max_multipv {}", limits::MAX_MULTIPV);
        return Err(Refusal::Invalid(text));
    }
    Ok(())
}

fn exhausted(name: &str, limit: impl std::fmt::Display) -> Refusal {
    Refusal::Exhausted(format!("{name} {limit} is reached"))
}

fn failure(code: &str, message: String) -> End {
    End::Failed(Failure { code: code.to_owned(), message })
}

fn lease_lost(worker: WorkerId, unit: UnitId, attempt: Attempt, effects: &mut Vec<Effect>) {
    effects.push(Effect::Send { worker, command: Command::LeaseLost { unit, attempt } });
}
