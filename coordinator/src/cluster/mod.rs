//! The coordinator's mind: a pure state machine.
//!
//! [`Cluster::step`] takes what happened and says what must be done. It knows no runtime, no wire, no clock and no
//! chance: time comes in with each event, numbers of sessions and watchers too, so a test can replay any schedule.
//!
//! Guaranteed after every step: each root move of a running iteration is settled, leased to exactly one worker, or free to
//! be leased; a result counts only under the attempt that is leased; a job's events are numbered without a gap and its
//! last one comes exactly once.

mod job;
mod lease;
mod merge;
mod messages;
mod plan;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use corridor_shared::job::{
    Attempt, ENGINE_EPOCH, Failure, JobEvent, JobId, JobSpec, JobState, MoveReport, Registration, RootPrune,
    StoppedBy, Terms, Unit, UnitId, UnitReport, WorkerId,
};
use corridor_shared::search::PruneMode;

use crate::limits;
use job::{End, Job};
use lease::{Fleet, Lease};
pub use messages::{Answer, Command, Effect, Event, Question, Refusal, Ticket, WatcherId, WorkerSays};
use plan::{Adjustment, Role, Task};

/// How the cluster behaves.
#[derive(Copy, Clone, Debug)]
pub struct Config {
    /// How long a worker may be silent, or a unit may stand still.
    pub lease: Duration,
    /// The most entries of the shared cache.
    pub cache_entries: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { lease: limits::DEFAULT_LEASE, cache_entries: limits::MAX_CACHE_ENTRIES }
    }
}

/// Jobs, workers, leases and watchers.
#[derive(Clone, Debug)]
pub struct Cluster {
    config: Config,
    jobs: BTreeMap<JobId, Job>,
    /// Jobs that have not ended, in the order in which they are served.
    open: BTreeSet<(Reverse<i32>, JobId)>,
    /// Jobs that have ended, oldest first.
    ended: BTreeSet<(Duration, JobId)>,
    watchers: BTreeMap<WatcherId, JobId>,
    fleet: Fleet,
    failures: BTreeMap<UnitId, u32>,
    last_job: u64,
    last_unit: u64,
}

impl Cluster {
    /// A cluster without jobs and workers.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            jobs: BTreeMap::new(),
            open: BTreeSet::new(),
            ended: BTreeSet::new(),
            watchers: BTreeMap::new(),
            fleet: Fleet::default(),
            failures: BTreeMap::new(),
            last_job: 0,
            last_unit: 0,
        }
    }

    /// Takes an event at a time that never goes back, and appends what must be done.
    pub fn step(&mut self, now: Duration, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::Ask { ticket, question } => {
                // The answer goes out first, so that a stream learns its job before its events.
                let at = effects.len();
                let answer = self.answer(now, question, effects);
                effects.insert(at, Effect::Answer { ticket, answer });
            }
            Event::Unwatch { watcher } => self.unwatch(now, watcher),
            Event::Worker { worker, says } => self.hear(now, worker, says, effects),
            Event::Tick => {}
        }
        self.check_time(now, effects);
        self.schedule(now, effects);
    }

    /// When a [`Event::Tick`] is due, if nothing else happens before.
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        let jobs = self.open.iter().filter_map(|(_, id)| self.jobs.get(id));
        let due = jobs.flat_map(|job| [job.deadline(), job.abandoned_at()]).flatten().min();
        [due, self.fleet.next_overdue(self.config.lease)].into_iter().flatten().min()
    }

    // ---- questions ------------------------------------------------------------------------------------------------

    fn answer(
        &mut self,
        now: Duration,
        question: Question,
        effects: &mut Vec<Effect>,
    ) -> Result<Answer, Refusal> {
        match question {
            Question::Submit { spec, watcher } => self.submit(now, *spec, watcher, effects).map(Answer::Job),
            Question::Watch { job, watcher, after_seq } => {
                self.watch(job, watcher, after_seq, effects).map(|()| Answer::Nothing)
            }
            Question::Cancel(job) => {
                if !self.job(job)?.state.is_final() {
                    self.end_job(now, job, End::Done(StoppedBy::Cancel), effects);
                }
                Ok(Answer::Nothing)
            }
            Question::Pause(job) => self.pause(now, job, effects).map(|()| Answer::Nothing),
            Question::Resume(job) => self.resume(job).map(|()| Answer::Nothing),
            Question::Get(job) => Ok(Answer::Jobs(vec![self.job(job)?.summary(now)])),
            Question::List { limit, before } => {
                let older = |job: &&Job| before.is_none_or(|before| job.id < before);
                let jobs = self.jobs.values().rev().filter(older).take(limit);
                Ok(Answer::Jobs(jobs.map(|job| job.summary(now)).collect()))
            }
            Question::Workers => Ok(Answer::Workers(self.fleet.summaries(now))),
            Question::Register { worker, registration } => {
                self.register(now, worker, registration, effects).map(Answer::Terms)
            }
        }
    }

    fn job(&self, job: JobId) -> Result<&Job, Refusal> {
        self.jobs.get(&job).ok_or_else(|| Refusal::NotFound(format!("there is no job {job}")))
    }

    fn submit(
        &mut self,
        now: Duration,
        spec: JobSpec,
        watcher: Option<WatcherId>,
        effects: &mut Vec<Effect>,
    ) -> Result<JobId, Refusal> {
        check_supported(&spec)?;
        if self.open.len() >= limits::MAX_OPEN_JOBS {
            return Err(exhausted("max_open_jobs", limits::MAX_OPEN_JOBS));
        }
        if watcher.is_some() {
            self.check_watchers()?;
        }
        self.last_job += 1;
        let id = JobId(self.last_job);
        let mut job = Job::new(id, spec, now);
        if let Some(watcher) = watcher {
            job.watched(watcher);
            self.watchers.insert(watcher, id);
        }
        job.announce(effects);
        self.open.insert((Reverse(job.spec.priority), id));
        let over = job.plan.candidates().is_empty();
        self.jobs.insert(id, job);
        if over {
            self.end_job(now, id, End::Done(StoppedBy::Proof), effects);
        }
        Ok(id)
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
        self.job(id)?;
        self.check_watchers()?;
        let Some(job) = self.jobs.get_mut(&id) else { return Ok(()) };
        if after_seq > job.last_seq() {
            let last = job.last_seq();
            return Err(Refusal::Invalid(format!("after_seq: {after_seq} is beyond the last event {last}")));
        }
        let records = job.events_after(after_seq);
        if !records.is_empty() {
            effects.push(Effect::Deliver { watcher, records });
        }
        if job.state.is_final() {
            effects.push(Effect::Finish { watcher });
        } else {
            job.watched(watcher);
            self.watchers.insert(watcher, id);
        }
        Ok(())
    }

    fn unwatch(&mut self, now: Duration, watcher: WatcherId) {
        let job = self.watchers.remove(&watcher).and_then(|job| self.jobs.get_mut(&job));
        if let Some(job) = job {
            job.unwatched(watcher, now);
        }
    }

    fn pause(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        if self.job(id)?.state.is_final() {
            return Err(Refusal::Precondition(format!("job {id} has ended")));
        }
        self.revoke_all(now, id, effects);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.paused = true;
            job.set_state(JobState::Paused, "paused by a client", effects);
        }
        Ok(())
    }

    fn resume(&mut self, id: JobId) -> Result<(), Refusal> {
        if self.job(id)?.state.is_final() {
            return Err(Refusal::Precondition(format!("job {id} has ended")));
        }
        if let Some(job) = self.jobs.get_mut(&id) {
            job.paused = false;
        }
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
            // The same process under a new session: its old one is dead, whatever the network says.
            if held.registration.instance != registration.instance {
                let text = format!("a worker named '{}' is connected already", registration.name);
                return Err(Refusal::AlreadyExists(text));
            }
            self.lose(now, old, "the worker connected again", effects);
        }
        if self.fleet.len() >= limits::MAX_WORKERS {
            return Err(exhausted("max_workers", limits::MAX_WORKERS));
        }
        self.fleet.join(worker, registration, now);
        Ok(Terms { worker, lease: self.config.lease, heartbeat: self.config.lease / 10 })
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
                        lease_lost(worker, progress.unit, progress.attempt, effects);
                    } else if let Some(lease) = self.fleet.lease(progress.unit) {
                        self.check_nodes(now, lease.unit.job, effects);
                    }
                }
            }
            WorkerSays::Report(report) => self.report(now, worker, report, effects),
            WorkerSays::Failed { unit, attempt, message } => {
                self.failed(now, worker, unit, attempt, &message, effects);
            }
            WorkerSays::Draining => self.fleet.drain(worker),
            WorkerSays::Gone { reason } => self.lose(now, worker, &reason, effects),
        }
    }

    /// The one way in which a worker is lost, whatever the cause: its units are free again.
    fn lose(&mut self, now: Duration, worker: WorkerId, reason: &str, effects: &mut Vec<Effect>) {
        effects.push(Effect::Disconnect { worker, reason: reason.to_owned() });
        for lease in self.fleet.remove(worker) {
            self.give_back(now, &lease, lease.nodes);
        }
    }

    /// A lease ended without a result.
    fn give_back(&mut self, _now: Duration, lease: &Lease, nodes: u64) {
        if let Some(job) = self.jobs.get_mut(&lease.unit.job) {
            job.nodes += nodes;
            job.plan.take_back(lease.unit.unit, lease.unit.attempt, nodes);
        }
    }

    /// Ends a lease that a worker still works on.
    fn revoke(&mut self, now: Duration, unit: UnitId, effects: &mut Vec<Effect>) {
        let Some(lease) = self.fleet.end(unit, now) else { return };
        let command = Command::Cancel { unit, attempt: lease.unit.attempt };
        effects.push(Effect::Send { worker: lease.worker, command });
        self.give_back(now, &lease, lease.nodes);
    }

    fn revoke_all(&mut self, now: Duration, job: JobId, effects: &mut Vec<Effect>) {
        let units: Vec<UnitId> =
            self.jobs.get(&job).map(|job| job.plan.leased_units().collect()).unwrap_or_default();
        for unit in units {
            self.revoke(now, unit, effects);
            self.failures.remove(&unit);
        }
    }

    fn report(&mut self, now: Duration, worker: WorkerId, report: UnitReport, effects: &mut Vec<Effect>) {
        self.fleet.unstick(worker, report.unit, report.attempt);
        self.fleet.credit(worker, report.nodes, report.search_time);
        if !self.fleet.holds(worker, report.unit, report.attempt) {
            lease_lost(worker, report.unit, report.attempt, effects);
            return;
        }
        let Some(lease) = self.fleet.end(report.unit, now) else { return };
        match merge::at_root(&report, &lease.unit).filter(|_| report.completed) {
            None => {
                self.give_back(now, &lease, report.nodes);
                // A drain and a spent budget explain that; anything else must not go on for ever.
                let draining = self.fleet.worker(worker).is_some_and(|worker| worker.draining);
                if !draining && lease.unit.node_budget.is_none() {
                    self.count_failure(now, &lease.unit, "it came back unfinished", effects);
                }
            }
            Some((score, bound)) => {
                self.failures.remove(&report.unit);
                let Some(job) = self.jobs.get_mut(&lease.unit.job) else { return };
                job.nodes += report.nodes;
                let known = job.plan.record(report.unit, score, bound, report.pv, report.nodes);
                if let Some((root_move, found)) = known {
                    let line = merge::line(root_move, &found, job.spec.position.turn());
                    let name =
                        self.fleet.worker(worker).map_or(String::new(), |it| it.registration.name.clone());
                    job.emit(JobEvent::Move(MoveReport { line, worker: name }), effects);
                    let challenged = job.plan.is_challenge(&found);
                    if challenged {
                        self.make_way(now, worker, lease.unit.job, effects);
                    }
                }
            }
        }
        self.advance(now, lease.unit.job, effects);
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
            lease_lost(worker, unit, attempt, effects);
            return;
        }
        let Some(lease) = self.fleet.end(unit, now) else { return };
        self.give_back(now, &lease, lease.nodes);
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

    /// Draws the conclusions from a new result: window updates, the next depth, or the end.
    fn advance(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| !job.state.is_final()) else { return };
        if job.events() >= limits::MAX_EVENTS_PER_JOB {
            let text = format!("max_events_per_job {} is reached", limits::MAX_EVENTS_PER_JOB);
            return self.end_job(now, id, failure("resource_exhausted", text), effects);
        }
        // In a race every move's exact length is known at once, and the shortest win is wanted.
        let won = job.plan.is_won() && !job.is_race();
        if !won && !job.plan.is_complete() {
            self.adjust(now, id, effects);
        } else if !won && job.plan.is_lost() && job.widen() {
            // The rest is searched at the same depth before anything is claimed.
        } else {
            return self.complete(now, id, effects);
        }
        self.check_nodes(now, id, effects);
    }

    fn adjust(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let turn = job.spec.position.turn();
        for (unit, adjustment) in job.plan.adjust() {
            match adjustment {
                Adjustment::Cancel => self.revoke(now, unit, effects),
                Adjustment::Window(window) => {
                    let Some(lease) = self.fleet.lease(unit) else { continue };
                    let window = merge::window_at_end(window, turn, lease.unit.path.len());
                    let command = Command::Window { unit, attempt: lease.unit.attempt, window };
                    effects.push(Effect::Send { worker: lease.worker, command });
                }
            }
        }
    }

    fn complete(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) {
        self.revoke_all(now, id, effects);
        let workers = self.fleet.len();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match job.complete_iteration(now, workers, effects) {
            Some(stopped_by) => self.end_job(now, id, End::Done(stopped_by), effects),
            None => {
                job.plan.deepen();
                self.check_nodes(now, id, effects);
            }
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
        for worker in self.fleet.silent(now, self.config.lease) {
            self.lose(now, worker, "nothing was heard for a whole lease", effects);
        }
        for unit in self.fleet.block_stalled(now, self.config.lease) {
            self.revoke(now, unit, effects);
        }
        let open: Vec<JobId> = self.open.iter().map(|&(_, id)| id).collect();
        for id in open {
            let Some(job) = self.jobs.get(&id) else { continue };
            if job.deadline().is_some_and(|deadline| deadline <= now) {
                let end = self.out_of_time(job);
                self.end_job(now, id, end, effects);
            } else if job.abandoned_at().is_some_and(|at| at <= now) {
                self.end_job(now, id, End::Done(StoppedBy::Cancel), effects);
            }
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
        let Some(job) = self.jobs.get_mut(&id) else { return };
        for watcher in &job.watchers {
            self.watchers.remove(watcher);
        }
        job.end(end, now, effects);
        self.open.remove(&(Reverse(job.spec.priority), id));
        self.ended.insert((now, id));
        while self.ended.len() > limits::RETAINED_JOBS {
            if let Some((_, oldest)) = self.ended.pop_first() {
                self.jobs.remove(&oldest);
            }
        }
    }

    // ---- scheduling -----------------------------------------------------------------------------------------------

    /// Hands out units: first to slots that are free, then one to wait at each worker.
    fn schedule(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        while let Some(worker) = self.fleet.idlest() {
            if !self.grant_any(now, worker, Ask::Needed, effects)
                && !self.steal(now, effects)
                && !self.grant_any(now, worker, Ask::Guess, effects)
            {
                break;
            }
        }
        while let Some(worker) = self.fleet.with_room() {
            if !self.grant_any(now, worker, Ask::Ahead, effects) {
                break;
            }
        }
        self.tell_states(effects);
    }

    fn grant_any(&mut self, now: Duration, worker: WorkerId, ask: Ask, effects: &mut Vec<Effect>) -> bool {
        let next = self.open.iter().find_map(|&(_, id)| {
            let job = self.jobs.get(&id).filter(|job| job.is_open())?;
            // The budget of a unit that waits would be stale when it begins.
            if ask == Ask::Ahead && job.spec.limits.nodes.is_some() {
                return None;
            }
            Some((id, job.plan.next_task(worker, ask == Ask::Guess)?))
        });
        let Some((id, task)) = next else { return false };
        // What is urgent goes to whoever knows it, if that one is idle too.
        let urgent = matches!(task.role, Role::Leader | Role::Challenger);
        let home = task.home.filter(|&home| urgent && self.fleet.has_free_slot(home));
        self.grant(now, home.unwrap_or(worker), id, &task, effects);
        true
    }

    fn grant(&mut self, now: Duration, worker: WorkerId, id: JobId, task: &Task, effects: &mut Vec<Effect>) {
        let node_budget = self.nodes_left(id);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let candidate = &job.plan.candidates()[task.index];
        let (unit_id, attempt) = match job.plan.retry(task.index) {
            Some(retry) => (retry.unit, retry.attempt),
            None => {
                self.last_unit += 1;
                (UnitId(self.last_unit), Attempt::FIRST)
            }
        };
        let path = vec![candidate.root_move.mv];
        let unit = Unit {
            job: id,
            unit: unit_id,
            attempt,
            root: job.spec.position,
            depth: job.plan.depth() - 1,
            window: merge::window_at_end(task.window, job.spec.position.turn(), path.len()),
            path,
            node_budget,
            pv_hint: candidate.pv_hint().to_vec(),
            deterministic: job.spec.deterministic,
            prune: if job.spec.prune == RootPrune::None { PruneMode::None } else { PruneMode::Cat },
            traceparent: job.spec.traceparent.clone(),
            speculative: task.role == Role::Guess,
            seeds: Vec::new(),
        };
        job.plan.granted(task, unit_id, worker);
        job.set_state(JobState::Running, "workers search it", effects);
        self.fleet.grant(unit.clone(), worker, now);
        effects.push(Effect::Send { worker, command: Command::Grant(Box::new(unit)) });
    }

    /// Takes a unit back that waits at a busy worker, so that an idle one can have it.
    fn steal(&mut self, now: Duration, effects: &mut Vec<Effect>) -> bool {
        let Some(unit) = self.fleet.waiting_elsewhere() else { return false };
        self.revoke(now, unit, effects);
        true
    }

    /// Says of each open job that runs nowhere why that is so.
    fn tell_states(&mut self, effects: &mut Vec<Effect>) {
        for (_, id) in &self.open {
            let Some(job) = self.jobs.get_mut(id).filter(|job| job.is_open()) else { continue };
            if self.fleet.is_empty() {
                job.set_state(JobState::Waiting, "no worker is connected", effects);
            } else if job.state != JobState::Running {
                job.set_state(JobState::Queued, "all workers are busy", effects);
            }
        }
    }
}

/// What kind of unit is wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Ask {
    /// One that must be searched, to begin at once.
    Needed,
    /// One that must be searched, to wait at a worker.
    Ahead,
    /// Any, also one that only may have to be searched.
    Guess,
}

fn check_supported(spec: &JobSpec) -> Result<(), Refusal> {
    if spec.deterministic {
        return Err(Refusal::Unsupported("spec.deterministic: not yet supported".to_owned()));
    }
    if spec.prune == RootPrune::Audit {
        return Err(Refusal::Unsupported("spec.prune: audit is not yet supported".to_owned()));
    }
    if spec.multipv > limits::MAX_MULTIPV {
        let text = format!("spec.multipv: {} is more than max_multipv {}", spec.multipv, limits::MAX_MULTIPV);
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
