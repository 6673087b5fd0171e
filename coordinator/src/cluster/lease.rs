//! Who is connected and who holds which unit.
//!
//! A unit is leased to one worker at a time, under an attempt number; whatever arrives under another attempt is refused.
//! However a worker is lost, [`Fleet::remove`] is the one way it leaves.
//!
//! Most of what is asked after every event is about all workers together, and there may be thousands: the [`Index`] has the
//! answers ready.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use corridor_shared::board::Position;
use corridor_shared::job::{
    Attempt, HeldUnit, JobId, Registration, Unit, UnitId, UnitProgress, WorkerId, WorkerSummary,
};

use crate::limits::{self, LOOKAHEAD};

/// A connected worker.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) registration: Registration,
    pub(crate) joined_at: Duration,
    pub(crate) heard_at: Duration,
    pub(crate) draining: bool,
    /// Since when it has had a free slot, if it has one.
    free_since: Duration,
    /// Leased units in the order in which they were granted; those beyond its slots wait at the worker.
    units: Vec<Queued>,
    /// Leases that were taken back because nothing moved: each still blocks a slot.
    stuck: BTreeSet<(UnitId, Attempt)>,
    nodes: u64,
    search_time: Duration,
}

/// A unit in a worker's queue.
#[derive(Copy, Clone, Debug)]
struct Queued {
    unit: UnitId,
    /// Positions that it will probably take.
    estimate: u64,
}

impl Worker {
    /// Units at the head of its queue: those that run.
    fn heads(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.units.iter().take(self.slots()).map(|queued| queued.unit)
    }

    /// Units that wait behind those that run.
    fn waiting(&self) -> &[Queued] {
        self.units.get(self.slots()..).unwrap_or_default()
    }

    /// Positions that what waits will probably take.
    fn waiting_positions(&self) -> u64 {
        self.waiting().iter().map(|queued| queued.estimate).sum()
    }

    /// Positions that all its units will probably take.
    fn queued_positions(&self) -> u64 {
        self.units.iter().map(|queued| queued.estimate).sum()
    }

    /// Slots that are not blocked by a search that does not move.
    fn slots(&self) -> usize {
        let slots = usize::try_from(self.registration.slots).unwrap_or(usize::MAX);
        slots.saturating_sub(self.stuck.len())
    }

    fn free_slots(&self) -> usize {
        if self.draining { 0 } else { self.slots().saturating_sub(self.units.len()) }
    }

    /// Room for units, those that would wait included. A worker without a slot that moves gets none.
    fn room(&self) -> usize {
        if self.draining || self.slots() == 0 {
            return 0;
        }
        (self.slots() + LOOKAHEAD).saturating_sub(self.units.len())
    }

    /// Measured rate while searching, in positions per second.
    fn nodes_per_second(&self) -> u64 {
        let micros = self.search_time.as_micros().max(1);
        u64::try_from(u128::from(self.nodes) * 1_000_000 / micros).unwrap_or(u64::MAX)
    }
}

/// A unit in the hands of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) unit: Unit,
    pub(crate) worker: WorkerId,
    /// Positions visited as last heard.
    pub(crate) nodes: u64,
    /// When it was last seen to move, or came to the head of the queue.
    progressed_at: Duration,
    /// When it came to the head of the queue.
    pub(crate) began_at: Duration,
    /// The worker was told to shed it.
    pub(crate) shedding: bool,
}

/// What all workers are together, and in which orders they are looked for. It follows each change of a worker.
#[derive(Clone, Debug, Default)]
struct Index {
    /// By when they were last heard.
    heard: BTreeSet<(Duration, WorkerId)>,
    /// Those with free slots, by how many.
    free: BTreeSet<(usize, Reverse<WorkerId>)>,
    /// Those with room for a unit that waits, by the positions of what waits there already.
    room: BTreeSet<(u64, WorkerId)>,
    /// Those at which units wait, by the positions of all their units.
    waiting: BTreeSet<(u64, WorkerId)>,
    /// Slots of all that take units, and how many of them are free.
    slots: usize,
    free_slots: usize,
    nodes: u64,
    search_time: Duration,
}

impl Index {
    fn add(&mut self, id: WorkerId, worker: &Worker) {
        self.heard.insert((worker.heard_at, id));
        let free = worker.free_slots();
        if free > 0 {
            self.free.insert((free, Reverse(id)));
        }
        if worker.room() > 0 {
            self.room.insert((worker.waiting_positions(), id));
        }
        if !worker.waiting().is_empty() {
            self.waiting.insert((worker.queued_positions(), id));
        }
        self.slots += if worker.draining { 0 } else { worker.slots() };
        self.free_slots += free;
        self.nodes += worker.nodes;
        self.search_time += worker.search_time;
    }

    /// To be called with what [`Self::add`] was called with.
    fn withdraw(&mut self, id: WorkerId, worker: &Worker) {
        self.heard.remove(&(worker.heard_at, id));
        let free = worker.free_slots();
        self.free.remove(&(free, Reverse(id)));
        self.room.remove(&(worker.waiting_positions(), id));
        self.waiting.remove(&(worker.queued_positions(), id));
        self.slots -= if worker.draining { 0 } else { worker.slots() };
        self.free_slots -= free;
        self.nodes -= worker.nodes;
        self.search_time -= worker.search_time;
    }
}

/// Workers and leases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fleet {
    workers: BTreeMap<WorkerId, Worker>,
    leases: BTreeMap<UnitId, Lease>,
    index: Index,
    /// No unit at the head of a queue has stood still since before this; `None` without any such unit.
    moved_since: Option<Duration>,
}

impl Fleet {
    /// The one way in which a worker changes.
    fn change<T>(&mut self, id: WorkerId, change: impl FnOnce(&mut Worker) -> T) -> Option<T> {
        let worker = self.workers.get_mut(&id)?;
        self.index.withdraw(id, worker);
        let changed = change(worker);
        self.index.add(id, worker);
        Some(changed)
    }

    pub(crate) fn len(&self) -> usize {
        self.workers.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    pub(crate) fn worker(&self, worker: WorkerId) -> Option<&Worker> {
        self.workers.get(&worker)
    }

    /// The connected worker of that name.
    pub(crate) fn by_name(&self, name: &str) -> Option<(WorkerId, &Worker)> {
        let named = |(_, worker): &(&WorkerId, &Worker)| worker.registration.name == name;
        self.workers.iter().find(named).map(|(&id, worker)| (id, worker))
    }

    pub(crate) fn join(&mut self, id: WorkerId, registration: Registration, now: Duration) {
        let worker = Worker {
            registration,
            joined_at: now,
            heard_at: now,
            draining: false,
            free_since: now,
            units: Vec::new(),
            stuck: BTreeSet::new(),
            nodes: 0,
            search_time: Duration::ZERO,
        };
        self.index.add(id, &worker);
        self.workers.insert(id, worker);
    }

    /// Removes a worker. Returns its leases, which are nobody's now.
    pub(crate) fn remove(&mut self, id: WorkerId) -> Vec<Lease> {
        let Some(worker) = self.workers.remove(&id) else { return Vec::new() };
        self.index.withdraw(id, &worker);
        worker.units.iter().filter_map(|queued| self.leases.remove(&queued.unit)).collect()
    }

    /// Notes a sign of life. Returns whether the worker is known.
    pub(crate) fn heard(&mut self, id: WorkerId, now: Duration) -> bool {
        let Some(worker) = self.workers.get_mut(&id) else { return false };
        self.index.heard.remove(&(worker.heard_at, id));
        worker.heard_at = now;
        self.index.heard.insert((now, id));
        true
    }

    pub(crate) fn drain(&mut self, id: WorkerId) {
        self.change(id, |worker| worker.draining = true);
    }

    /// The worker with the most free slots, if any has one.
    pub(crate) fn idlest(&self) -> Option<WorkerId> {
        self.index.free.last().map(|&(_, Reverse(id))| id)
    }

    /// Slots that could begin a unit at once.
    pub(crate) fn free_slots(&self) -> usize {
        self.index.free_slots
    }

    /// How long a worker has had a free slot, if it has one.
    pub(crate) fn idle(&self, worker: WorkerId, now: Duration) -> Option<Duration> {
        let worker = self.workers.get(&worker).filter(|worker| worker.free_slots() > 0)?;
        Some(now.saturating_sub(worker.free_since))
    }

    /// Workers that take no more units.
    pub(crate) fn draining(&self) -> usize {
        self.workers.values().filter(|worker| worker.draining).count()
    }

    /// Whether a worker could begin a unit at once.
    pub(crate) fn has_free_slot(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|worker| worker.free_slots() > 0)
    }

    /// A worker that has no free slot but room for a unit that waits: what waits there already is less than so many
    /// positions.
    pub(crate) fn with_room(&self, ahead: u64) -> Option<WorkerId> {
        // Almost always there is none.
        self.index.room.first().filter(|&&(waiting, _)| waiting < ahead)?;
        let short = |worker: &Worker| worker.room() > 0 && worker.waiting_positions() < ahead;
        self.workers.iter().find(|(_, worker)| short(worker)).map(|(&id, _)| id)
    }

    pub(crate) fn grant(&mut self, unit: Unit, worker: WorkerId, estimate: u64, now: Duration) {
        debug_assert!(!self.leases.contains_key(&unit.unit), "a unit is leased once");
        let queued = Queued { unit: unit.unit, estimate };
        if self.change(worker, |holder| holder.units.push(queued)).is_none() {
            return;
        }
        self.moved_since.get_or_insert(now);
        let lease = Lease { unit, worker, nodes: 0, progressed_at: now, began_at: now, shedding: false };
        self.leases.insert(queued.unit, lease);
    }

    pub(crate) fn lease(&self, unit: UnitId) -> Option<&Lease> {
        self.leases.get(&unit)
    }

    pub(crate) fn lease_mut(&mut self, unit: UnitId) -> Option<&mut Lease> {
        self.leases.get_mut(&unit)
    }

    /// Slots of all workers that take units.
    pub(crate) fn slots(&self) -> usize {
        self.index.slots
    }

    /// Positions per second of a slot, on average over what was searched so far; `None` before the first result.
    pub(crate) fn slot_rate(&self) -> Option<u64> {
        let micros = self.index.search_time.as_micros();
        let rate = || u128::from(self.index.nodes) * 1_000_000 / micros;
        (micros > 0).then(|| u64::try_from(rate()).unwrap_or(u64::MAX))
    }

    /// Whether a unit is at the head of its worker's queue.
    pub(crate) fn runs(&self, lease: &Lease) -> bool {
        let head = |worker: &Worker| worker.heads().any(|unit| unit == lease.unit.unit);
        self.workers.get(&lease.worker).is_some_and(head)
    }

    /// Leases of units that match.
    pub(crate) fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.leases.values()
    }

    /// Whether this worker holds this attempt.
    pub(crate) fn holds(&self, worker: WorkerId, unit: UnitId, attempt: Attempt) -> bool {
        let held = |lease: &Lease| lease.worker == worker && lease.unit.attempt == attempt;
        self.leases.get(&unit).is_some_and(held)
    }

    /// Ends a lease, for whatever reason.
    pub(crate) fn end(&mut self, unit: UnitId, now: Duration) -> Option<Lease> {
        let lease = self.leases.remove(&unit)?;
        self.change(lease.worker, |worker| {
            let was_busy = worker.free_slots() == 0;
            worker.units.retain(|held| held.unit != unit);
            if was_busy && worker.free_slots() > 0 {
                worker.free_since = now;
            }
        });
        let Some(worker) = self.workers.get(&lease.worker) else { return Some(lease) };
        for (place, queued) in worker.units.iter().enumerate() {
            let Some(held) = self.leases.get_mut(&queued.unit) else { continue };
            // The next one in the queue comes to its head now: its clock starts here.
            if held.nodes == 0 {
                held.progressed_at = now;
                held.began_at = now;
            }
            // What stands still is about to be taken back.
            let stuck = worker.stuck.contains(&(queued.unit, held.unit.attempt));
            if place < worker.slots() && !stuck {
                self.moved_since = earlier(self.moved_since, held.progressed_at);
            }
        }
        Some(lease)
    }

    /// Work done by a worker.
    pub(crate) fn credit(&mut self, worker: WorkerId, nodes: u64, search_time: Duration) {
        self.change(worker, |worker| {
            worker.nodes += nodes;
            worker.search_time += search_time;
        });
    }

    /// Notes how far a unit is. Returns whether the worker holds that attempt.
    pub(crate) fn progress(&mut self, worker: WorkerId, progress: UnitProgress, now: Duration) -> bool {
        if !self.holds(worker, progress.unit, progress.attempt) {
            return false;
        }
        if let Some(lease) = self.leases.get_mut(&progress.unit).filter(|lease| progress.nodes > lease.nodes)
        {
            lease.nodes = progress.nodes;
            lease.progressed_at = now;
        }
        true
    }

    /// A search that did not move has ended after all: its slot is free again.
    pub(crate) fn unstick(&mut self, worker: WorkerId, unit: UnitId, attempt: Attempt) {
        self.unstick_if(worker, |it| it == (unit, attempt));
    }

    fn unstick_if(&mut self, worker: WorkerId, ended: impl Fn((UnitId, Attempt)) -> bool) {
        if self.workers.get(&worker).is_none_or(|worker| !worker.stuck.iter().any(|&it| ended(it))) {
            return;
        }
        self.change(worker, |worker| worker.stuck.retain(|&it| !ended(it)));
        // A unit that has waited may be at the head now, and its clock has not been looked at.
        self.moved_since = Some(Duration::ZERO);
    }

    /// The same for every such search that the worker no longer lists.
    pub(crate) fn unstick_absent(&mut self, worker: WorkerId, listed: &[UnitProgress]) {
        let runs = |unit, attempt| listed.iter().any(|it| it.unit == unit && it.attempt == attempt);
        self.unstick_if(worker, |(unit, attempt)| !runs(unit, attempt));
    }

    /// A unit that waits at a worker and could run elsewhere now: the last one where most is left to do, at least so many
    /// positions, or the unit at the head has run for so long.
    pub(crate) fn waiting_elsewhere(&self, now: Duration, positions: u64, time: Duration) -> Option<UnitId> {
        let last = |&(queued, id): &(u64, WorkerId)| {
            let worker = self.workers.get(&id)?;
            let last = worker.waiting().last()?.unit;
            let began_at =
                worker.heads().filter_map(|unit| self.leases.get(&unit)).map(|it| it.began_at).min()?;
            let long = queued >= positions || now.saturating_sub(began_at) >= time;
            let not_started = self.leases.get(&last).is_some_and(|lease| lease.nodes == 0);
            (long && not_started).then_some(last)
        };
        self.index.waiting.iter().rev().find_map(last)
    }

    /// The unit that waited at a worker and began when its last lease ended.
    pub(crate) fn just_begun(&self, worker: WorkerId) -> Option<&Lease> {
        let worker = self.workers.get(&worker)?;
        let last_slot = worker.slots().checked_sub(1)?;
        let queued = worker.units.get(last_slot)?;
        self.leases.get(&queued.unit).filter(|lease| lease.nodes == 0)
    }

    /// Workers that were silent for a whole lease.
    pub(crate) fn silent(&self, now: Duration, lease: Duration) -> Vec<WorkerId> {
        let silent = |&&(heard_at, _): &&(Duration, WorkerId)| now.saturating_sub(heard_at) >= lease;
        self.index.heard.iter().take_while(silent).map(|&(_, id)| id).collect()
    }

    /// Units at the head of a live worker's queue that have not moved for a whole lease. Their slots count as blocked.
    pub(crate) fn block_stalled(&mut self, now: Duration, lease: Duration) -> Vec<UnitId> {
        if self.moved_since.is_none_or(|since| now.saturating_sub(since) < lease) {
            return Vec::new();
        }
        let mut late = Vec::new();
        self.moved_since = None;
        for (&id, worker) in &self.workers {
            let mut stuck = Vec::new();
            for held in worker.heads().filter_map(|unit| self.leases.get(&unit)) {
                if now.saturating_sub(held.progressed_at) >= lease {
                    stuck.push((held.unit.unit, held.unit.attempt));
                } else {
                    self.moved_since = earlier(self.moved_since, held.progressed_at);
                }
            }
            if !stuck.is_empty() {
                late.push((id, stuck));
            }
        }
        let mut stalled = Vec::new();
        for (id, stuck) in late {
            stalled.extend(stuck.iter().map(|&(unit, _)| unit));
            let behind = self.change(id, |worker| {
                let waiting = worker.waiting().to_vec();
                worker.stuck.extend(stuck);
                // With no slot left that moves, what waits there would wait for ever.
                if worker.slots() == 0 { waiting } else { Vec::new() }
            });
            stalled.extend(behind.unwrap_or_default().iter().map(|queued| queued.unit));
        }
        stalled
    }

    /// The earliest time at which a worker or a unit can be overdue.
    pub(crate) fn next_overdue(&self, lease: Duration) -> Option<Duration> {
        let silent = self.index.heard.first().map(|&(heard_at, _)| heard_at);
        [silent, self.moved_since].into_iter().flatten().min().map(|since| since + lease)
    }

    /// The workers in short; `job_of` says what a client knows of a unit's job.
    pub(crate) fn summaries(
        &self,
        now: Duration,
        job_of: impl Fn(JobId) -> (JobId, Option<Position>),
    ) -> Vec<WorkerSummary> {
        let held = |lease: &Lease| {
            let (job, position) = job_of(lease.unit.job);
            HeldUnit {
                job,
                moves: lease.unit.path.clone(),
                position,
                depth: lease.unit.depth,
                nodes: lease.nodes,
                running: now.saturating_sub(lease.began_at),
            }
        };
        let holds = |worker: &Worker| {
            let heads = worker.heads().filter_map(|unit| self.leases.get(&unit));
            heads.take(limits::MAX_HELD_SHOWN).map(held).collect()
        };
        let summary = |worker: &Worker| WorkerSummary {
            name: worker.registration.name.clone(),
            slots: worker.registration.slots,
            units: u32::try_from(worker.units.len()).unwrap_or(u32::MAX),
            nodes: worker.nodes,
            nodes_per_second: if worker.nodes == 0 { 0 } else { worker.nodes_per_second() },
            connected: now.saturating_sub(worker.joined_at),
            silent: now.saturating_sub(worker.heard_at),
            draining: worker.draining,
            holds: holds(worker),
        };
        self.workers.values().map(summary).collect()
    }
}

fn earlier(a: Option<Duration>, b: Duration) -> Option<Duration> {
    Some(a.map_or(b, |a| a.min(b)))
}
