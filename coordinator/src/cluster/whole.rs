//! Positions of a book that one worker analyses as a whole.
//!
//! With more positions than slots nothing is gained by splitting one, and each message costs. So a position is one unit, from
//! depth 1 to its limit. It becomes an ordinary search, split where that pays, as soon as it is interrupted after a depth that
//! took long: by slots that have nothing else to do, or by the loss of its worker.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Duration;

use corridor_shared::board::Move;
use corridor_shared::job::{
    Attempt, JobId, JobState, Line, StoppedBy, Unit, UnitId, UnitIteration, UnitReport, WhiteWindow, WorkerId,
};

use super::job::{End, Job, prune_mode};
use super::lease::Lease;
use super::messages::{Command, Effect, Iteration, Keep, Known};
use super::{Cluster, positions_in};

/// Positions that a search visits before anything is known of its book.
const ASSUMED_NODES: u64 = 2_000;
/// What took less is not worth going on with.
const LONG_SEARCH: Duration = Duration::from_secs(1);
/// While somebody is idle, a position is split after this time.
const SHED_AFTER: Duration = Duration::from_millis(100);

/// The one unit of a position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    leased: Option<UnitId>,
    retry: Option<(UnitId, Attempt)>,
    /// The last depth that took long.
    reached: Option<Iteration>,
    /// Its time is up: what its worker hands back is the answer.
    is_late: bool,
}

impl Whole {
    /// It may be granted.
    pub(crate) const fn is_free(&self) -> bool {
        self.leased.is_none()
    }

    pub(crate) const fn leased(&self) -> Option<UnitId> {
        self.leased
    }

    pub(crate) const fn is_late(&self) -> bool {
        self.is_late
    }
}

impl Job {
    /// It may be granted as a whole.
    pub(crate) fn is_free_whole(&self) -> bool {
        self.whole.as_ref().is_some_and(Whole::is_free)
    }

    /// All its units that are leased.
    pub(crate) fn leased_units(&self) -> impl Iterator<Item = UnitId> + '_ {
        let whole = self.whole.as_ref().and_then(Whole::leased);
        whole.into_iter().chain(self.plan.leased_units())
    }

    /// The lease of its one unit has ended without an answer.
    fn free_whole(&mut self, unit: UnitId, attempt: Attempt) {
        if let Some(whole) = &mut self.whole {
            (whole.leased, whole.is_late) = (None, false);
            whole.retry = Some((unit, attempt.next()));
            // Its time begins again with whoever gets it next.
            self.ledger.state = JobState::Queued;
        }
    }

    /// From now on it is searched as any other job, after the last depth that is known.
    fn split_up(&mut self, reached: Option<Iteration>) -> Option<StoppedBy> {
        self.whole = None;
        reached.and_then(|reached| self.resume(reached))
    }
}

/// A depth as an ordinary search would have completed it.
fn iteration(lines: Vec<Line>, nodes: u64) -> Option<Iteration> {
    let depth = lines.first()?.depth;
    let order = lines.iter().map(|line| line.mv).collect();
    Some(Iteration { depth, nodes, lines, order })
}

impl Cluster {
    /// Puts an open job where the scheduler and the clock find it: whole positions, of which there are many, with their book's
    /// job and by when they are due, all others among the open jobs.
    pub(super) fn place(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let due = job.whole.as_ref().and_then(Whole::leased).and_then(|_| job.deadline());
        let noted = std::mem::replace(&mut job.due, due);
        if noted != due {
            noted.map(|at| self.due.remove(&(at, id)));
            due.map(|at| self.due.insert((at, id)));
        }
        if let Some(batch) = job.part_of.and_then(|of| self.batches.get_mut(&of)) {
            if job.is_free_whole() {
                batch.free.insert(id)
            } else {
                batch.free.remove(&id)
            };
        }
        if job.whole.is_none() {
            self.open.insert((Reverse(job.spec.priority), id));
        }
    }

    /// Undoes [`Cluster::place`].
    pub(super) fn displace(&mut self, job: &Job) {
        let id = job.ledger.id;
        self.open.remove(&(Reverse(job.spec.priority), id));
        job.due.map(|at| self.due.remove(&(at, id)));
        if let Some(batch) = job.part_of.and_then(|of| self.batches.get_mut(&of)) {
            batch.free.remove(&id);
        }
    }

    /// A position of a book's job that may be granted as a whole.
    pub(super) fn free_whole_of(&self, batch: JobId, fits: impl Fn(&Job) -> bool) -> Option<JobId> {
        let batch = self.batches.get(&batch).filter(|batch| batch.ledger.is_open())?;
        let is_ready = |id: &JobId| self.jobs.get(id).is_some_and(|job| job.ledger.is_open() && fits(job));
        batch.free.iter().copied().find(is_ready)
    }

    /// Every open job, parts and whole positions included.
    pub(super) fn open_searches(&self) -> Vec<JobId> {
        let parts = self.open_batches.iter().filter_map(|(_, id)| self.batches.get(id));
        let parts = parts.flat_map(|batch| batch.running.keys().copied());
        let open: BTreeSet<JobId> = self.open.iter().map(|&(_, id)| id).chain(parts).collect();
        open.into_iter().collect()
    }

    pub(super) fn grant_whole(
        &mut self,
        now: Duration,
        worker: WorkerId,
        id: JobId,
        effects: &mut Vec<Effect>,
    ) {
        let estimate = self.estimate_of(id);
        let least = self.least_served();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let depth = job.last_depth();
        let Some(whole) = &mut job.whole else { return };
        let (unit, attempt) = whole.retry.take().unwrap_or_else(|| {
            self.last_unit += 1;
            (UnitId(self.last_unit), Attempt::FIRST)
        });
        whole.leased = Some(unit);
        let unit = Unit {
            job: id,
            unit,
            attempt,
            root: job.spec.position,
            path: Vec::new(),
            depth,
            window: WhiteWindow::default(),
            node_budget: job.spec.limits.nodes,
            pv_hint: Vec::new(),
            deterministic: false,
            prune: prune_mode(&job.spec),
            traceparent: job.spec.traceparent.clone(),
            speculative: false,
            seeds: Vec::new(),
            whole: Some(job.spec.multipv),
        };
        if job.ledger.state == JobState::Queued {
            job.ledger.begin(now);
        }
        job.ledger.set_state(JobState::Running, "workers search it", effects);
        if let Some(batch) = job.part_of.and_then(|of| self.batches.get_mut(&of)) {
            let before = batch.served.max(least);
            self.served = self.served.max(before);
            batch.served = before + estimate;
        }
        self.place(id);
        self.lease(now, unit, worker, estimate, effects);
    }

    /// Positions that the search of one of a book's positions will probably visit.
    pub(super) fn estimate_of(&self, id: JobId) -> u64 {
        let batch = self.jobs.get(&id).and_then(|job| job.part_of).and_then(|of| self.batches.get(&of));
        batch.and_then(|batch| batch.nodes_each()).unwrap_or(ASSUMED_NODES).max(1)
    }

    /// How many of its positions a book's job has searched at once for each slot: so many more, the shorter they are, that the
    /// next one is there before the last is done.
    pub(super) fn parts_per_slot(&self, nodes_each: Option<u64>) -> usize {
        let ahead = positions_in(self.slot_rate(), super::AHEAD);
        let more = ahead / nodes_each.unwrap_or(ASSUMED_NODES).max(1);
        2 + usize::try_from(more).unwrap_or(0).min(crate::limits::LOOKAHEAD)
    }

    /// A whole unit has ended, one way or the other. Its lease is over.
    pub(super) fn whole_reported(
        &mut self,
        now: Duration,
        worker: WorkerId,
        lease: &Lease,
        report: UnitReport,
        effects: &mut Vec<Effect>,
    ) {
        let id = lease.unit.job;
        if let Some(fault) = fault_in(&report.lines, &lease.unit) {
            self.give_back(lease, report.nodes);
            return self.count_failure(now, &lease.unit, &fault, effects);
        }
        let draining = self.fleet.worker(worker).is_some_and(|worker| worker.draining);
        let name = self.fleet.worker(worker).map(|worker| worker.registration.name.clone());
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let is_late = job.whole.as_ref().is_some_and(Whole::is_late);
        if (report.completed || is_late) && !report.lines.is_empty() {
            self.failures.remove(&lease.unit.unit);
            self.deaths.survived(&lease.unit);
            let Some(job) = self.jobs.get_mut(&id) else { return };
            let Some(Iteration { depth, lines, .. }) = iteration(report.lines, report.nodes) else { return };
            job.searchers.extend(lines.first().map(|best| best.mv).zip(name));
            job.nodes = report.nodes;
            job.know(Known { depth, lines });
            job.whole = None;
            let stopped_by = if is_late { StoppedBy::Time } else { StoppedBy::Depth };
            return self.end_job(now, id, End::Done(stopped_by), effects);
        }
        job.nodes += report.nodes;
        job.free_whole(lease.unit.unit, lease.unit.attempt);
        self.place(id);
        let took_long = report.search_time >= LONG_SEARCH;
        let reached = iteration(report.lines, report.nodes).filter(|_| took_long || lease.shedding);
        if lease.shedding || reached.is_some() {
            self.go_on_split(now, id, reached, effects);
        } else if !draining {
            self.count_failure(now, &lease.unit, "it came back unfinished", effects);
        }
    }

    fn go_on_split(
        &mut self,
        now: Duration,
        id: JobId,
        reached: Option<Iteration>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let over = job.split_up(reached);
        self.place(id);
        self.stale.entry(id).or_default();
        if let Some(stopped_by) = over {
            self.end_job(now, id, End::Done(stopped_by), effects);
        }
    }

    /// The lease of a whole unit has ended without a word of its worker.
    pub(super) fn whole_lost(&mut self, lease: &Lease) {
        let Some(job) = self.jobs.get_mut(&lease.unit.job) else { return };
        job.free_whole(lease.unit.unit, lease.unit.attempt);
        let reached = job.whole.as_mut().and_then(|whole| whole.reached.take());
        if reached.is_some() {
            // Had it been the last depth, the unit would have ended.
            job.ending = job.split_up(reached);
        }
        self.place(lease.unit.job);
        self.stale.entry(lease.unit.job).or_default();
    }

    /// A whole unit has completed a depth that took long, and goes on.
    pub(super) fn whole_iterated(
        &mut self,
        worker: WorkerId,
        told: UnitIteration,
        effects: &mut Vec<Effect>,
    ) {
        if !self.fleet.holds(worker, told.unit, told.attempt) {
            return;
        }
        let Some(lease) = self.fleet.lease(told.unit) else { return };
        if fault_in(&told.lines, &lease.unit).is_some() {
            return;
        }
        let id = lease.unit.job;
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let (Some(whole), Some(reached)) = (&mut job.whole, iteration(told.lines, told.nodes)) else {
            return;
        };
        whole.reached = Some(reached.clone());
        if let Some(batch) = job.part_of.and_then(|of| self.batches.get(&of)) {
            effects.push(Effect::Keep(Keep::Progress {
                book: batch.spec.book.clone(),
                key: job.spec.position.canonical_key(),
                job: batch.ledger.id,
                iteration: Box::new(reached),
            }));
        }
    }

    /// The time of a whole unit is up: its worker is told to hand back what it has.
    pub(super) fn whole_is_late(&mut self, id: JobId, effects: &mut Vec<Effect>) {
        let Some(whole) = self.jobs.get_mut(&id).and_then(|job| job.whole.as_mut()) else { return };
        whole.is_late = true;
        let leased = whole.leased;
        self.place(id);
        let Some(lease) = leased.and_then(|unit| self.fleet.lease_mut(unit)) else { return };
        if !std::mem::replace(&mut lease.shedding, true) {
            let command = Command::Shed { unit: lease.unit.unit, attempt: lease.unit.attempt };
            effects.push(Effect::Send { worker: lease.worker, command });
        }
    }

    /// Running whole units that are split because slots are idle, and from when on: one for each such slot.
    pub(super) fn wholes_to_split(&self) -> impl Iterator<Item = (Duration, UnitId)> + '_ {
        let running = || self.fleet.leases().filter(|lease| lease.unit.whole.is_some());
        let enough = running().filter(|lease| lease.shedding).count() >= self.fleet.free_slots();
        let splits = move |lease: &&Lease| !enough && !lease.shedding && self.fleet.runs(lease);
        running().filter(splits).map(|lease| (lease.began_at.saturating_add(SHED_AFTER), lease.unit.unit))
    }

    /// Somebody is idle and no position is left: those that have run for long are split.
    pub(super) fn split_wholes(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        loop {
            let due = self.wholes_to_split().filter(|&(due, _)| due <= now).min();
            let Some(lease) = due.and_then(|(_, unit)| self.fleet.lease_mut(unit)) else { return };
            lease.shedding = true;
            let command = Command::Shed { unit: lease.unit.unit, attempt: lease.unit.attempt };
            effects.push(Effect::Send { worker: lease.worker, command });
        }
    }
}

/// What is impossible about the root moves that a worker has told.
fn fault_in(lines: &[Line], unit: &Unit) -> Option<String> {
    let mut seen = std::collections::BTreeSet::new();
    let depth = lines.first().map_or(0, |line| line.depth);
    for line in lines {
        let plays = |moves: &[Move]| {
            let mut position = unit.root;
            moves.iter().all(|&mv| position.play(mv).map(|next| position = next).is_ok())
        };
        let is_right = line.pv.first() == Some(&line.mv)
            && plays(&line.pv)
            && seen.insert(line.mv)
            && line.depth == depth
            && (1..=unit.depth).contains(&depth);
        if !is_right {
            return Some(format!("its root move {} makes no sense", line.mv));
        }
    }
    None
}
