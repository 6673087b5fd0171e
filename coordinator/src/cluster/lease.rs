//! Who is connected and who holds which unit.
//!
//! A unit is leased to one worker at a time, under an attempt number; whatever arrives under another attempt is refused.
//! However a worker is lost, [`Fleet::remove`] is the one way it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use corridor_shared::job::{Attempt, Registration, Unit, UnitId, UnitProgress, WorkerId, WorkerSummary};

use crate::limits::LOOKAHEAD;

/// A connected worker.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) registration: Registration,
    pub(crate) joined_at: Duration,
    pub(crate) heard_at: Duration,
    pub(crate) draining: bool,
    /// Leased units in the order in which they were granted; those beyond its slots wait at the worker.
    units: Vec<UnitId>,
    /// Leases that were taken back because nothing moved: each still blocks a slot.
    stuck: BTreeSet<(UnitId, Attempt)>,
    nodes: u64,
    search_time: Duration,
}

impl Worker {
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
    /// Positions that it will probably take.
    estimate: u64,
    /// Positions visited as last heard.
    pub(crate) nodes: u64,
    /// When it was last seen to move, or came to the head of the queue.
    progressed_at: Duration,
    /// When it came to the head of the queue.
    pub(crate) began_at: Duration,
    /// The worker was told to shed it.
    pub(crate) shedding: bool,
}

/// Workers and leases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fleet {
    workers: BTreeMap<WorkerId, Worker>,
    leases: BTreeMap<UnitId, Lease>,
}

impl Fleet {
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
            units: Vec::new(),
            stuck: BTreeSet::new(),
            nodes: 0,
            search_time: Duration::ZERO,
        };
        self.workers.insert(id, worker);
    }

    /// Removes a worker. Returns its leases, which are nobody's now.
    pub(crate) fn remove(&mut self, id: WorkerId) -> Vec<Lease> {
        let units = self.workers.remove(&id).map(|worker| worker.units).unwrap_or_default();
        units.iter().filter_map(|unit| self.leases.remove(unit)).collect()
    }

    /// Notes a sign of life. Returns whether the worker is known.
    pub(crate) fn heard(&mut self, id: WorkerId, now: Duration) -> bool {
        match self.workers.get_mut(&id) {
            Some(worker) => {
                worker.heard_at = now;
                true
            }
            None => false,
        }
    }

    pub(crate) fn drain(&mut self, id: WorkerId) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.draining = true;
        }
    }

    /// The worker with the most free slots, if any has one.
    pub(crate) fn idlest(&self) -> Option<WorkerId> {
        let free = |(&id, worker): (&WorkerId, &Worker)| Some((worker.free_slots(), id));
        let best =
            self.workers.iter().filter_map(free).max_by_key(|&(free, id)| (free, std::cmp::Reverse(id)));
        best.filter(|&(free, _)| free > 0).map(|(_, id)| id)
    }

    /// Slots that could begin a unit at once.
    pub(crate) fn free_slots(&self) -> usize {
        self.workers.values().map(Worker::free_slots).sum()
    }

    /// Whether a worker could begin a unit at once.
    pub(crate) fn has_free_slot(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|worker| worker.free_slots() > 0)
    }

    /// A worker that has no free slot but room for a unit that waits: what waits there already is less than so many
    /// positions.
    pub(crate) fn with_room(&self, ahead: u64) -> Option<WorkerId> {
        let waiting = |worker: &Worker| {
            let waiting = worker.units.get(worker.slots()..).unwrap_or_default();
            waiting.iter().filter_map(|unit| self.leases.get(unit)).map(|lease| lease.estimate).sum::<u64>()
        };
        let short = |worker: &Worker| worker.room() > 0 && waiting(worker) < ahead;
        self.workers.iter().find(|(_, worker)| short(worker)).map(|(&id, _)| id)
    }

    pub(crate) fn grant(&mut self, unit: Unit, worker: WorkerId, estimate: u64, now: Duration) {
        debug_assert!(!self.leases.contains_key(&unit.unit), "a unit is leased once");
        if let Some(holder) = self.workers.get_mut(&worker) {
            holder.units.push(unit.unit);
            self.leases.insert(
                unit.unit,
                Lease {
                    unit,
                    worker,
                    estimate,
                    nodes: 0,
                    progressed_at: now,
                    began_at: now,
                    shedding: false,
                },
            );
        }
    }

    pub(crate) fn lease(&self, unit: UnitId) -> Option<&Lease> {
        self.leases.get(&unit)
    }

    pub(crate) fn lease_mut(&mut self, unit: UnitId) -> Option<&mut Lease> {
        self.leases.get_mut(&unit)
    }

    /// Slots of all workers that take units.
    pub(crate) fn slots(&self) -> usize {
        self.workers.values().filter(|worker| !worker.draining).map(Worker::slots).sum()
    }

    /// Positions per second of a slot, on average over what was searched so far; `None` before the first result.
    pub(crate) fn slot_rate(&self) -> Option<u64> {
        let nodes: u64 = self.workers.values().map(|worker| worker.nodes).sum();
        let time: Duration = self.workers.values().map(|worker| worker.search_time).sum();
        let micros = time.as_micros();
        (micros > 0).then(|| u64::try_from(u128::from(nodes) * 1_000_000 / micros).unwrap_or(u64::MAX))
    }

    /// Whether a unit is at the head of its worker's queue.
    pub(crate) fn runs(&self, lease: &Lease) -> bool {
        let head =
            |worker: &Worker| worker.units.iter().take(worker.slots()).any(|&unit| unit == lease.unit.unit);
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
        if let Some(worker) = self.workers.get_mut(&lease.worker) {
            worker.units.retain(|&held| held != unit);
            // The next one in the queue comes to its head now: its clock starts here.
            for waiting in &worker.units {
                if let Some(waiting) = self.leases.get_mut(waiting).filter(|waiting| waiting.nodes == 0) {
                    waiting.progressed_at = now;
                    waiting.began_at = now;
                }
            }
        }
        Some(lease)
    }

    /// Work done by a worker.
    pub(crate) fn credit(&mut self, worker: WorkerId, nodes: u64, search_time: Duration) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.nodes += nodes;
            worker.search_time += search_time;
        }
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
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.stuck.remove(&(unit, attempt));
        }
    }

    /// The same for every such search that the worker no longer lists.
    pub(crate) fn unstick_absent(&mut self, worker: WorkerId, listed: &[UnitProgress]) {
        let runs = |unit, attempt| listed.iter().any(|it| it.unit == unit && it.attempt == attempt);
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.stuck.retain(|&(unit, attempt)| runs(unit, attempt));
        }
    }

    /// A unit that waits at a busy worker and could run elsewhere now.
    pub(crate) fn waiting_elsewhere(&self) -> Option<UnitId> {
        let waiting =
            |worker: &Worker| worker.units.get(worker.slots()..).unwrap_or_default().first().copied();
        let not_started = |unit: &UnitId| self.leases.get(unit).is_some_and(|lease| lease.nodes == 0);
        self.workers.values().filter_map(waiting).find(not_started)
    }

    /// The unit that waited at a worker and began when its last lease ended.
    pub(crate) fn just_begun(&self, worker: WorkerId) -> Option<&Lease> {
        let worker = self.workers.get(&worker)?;
        let last_slot = worker.slots().checked_sub(1)?;
        let unit = worker.units.get(last_slot)?;
        self.leases.get(unit).filter(|lease| lease.nodes == 0)
    }

    /// Workers that were silent for a whole lease.
    pub(crate) fn silent(&self, now: Duration, lease: Duration) -> Vec<WorkerId> {
        let silent = |worker: &Worker| now.saturating_sub(worker.heard_at) >= lease;
        self.workers.iter().filter(|(_, worker)| silent(worker)).map(|(&id, _)| id).collect()
    }

    /// Units at the head of a live worker's queue that have not moved for a whole lease. Their slots count as blocked.
    pub(crate) fn block_stalled(&mut self, now: Duration, lease: Duration) -> Vec<UnitId> {
        let mut stalled = Vec::new();
        for worker in self.workers.values_mut() {
            let slots = worker.slots();
            for unit in worker.units.iter().take(slots) {
                let Some(held) = self.leases.get(unit) else { continue };
                if now.saturating_sub(held.progressed_at) >= lease {
                    stalled.push(*unit);
                    worker.stuck.insert((*unit, held.unit.attempt));
                }
            }
            // With no slot left that moves, what waits there would wait for ever.
            if worker.slots() == 0 && slots > 0 {
                stalled.extend(worker.units.iter().skip(slots));
            }
        }
        stalled
    }

    /// The earliest time at which a worker or a unit can be overdue.
    pub(crate) fn next_overdue(&self, lease: Duration) -> Option<Duration> {
        let silent = self.workers.values().map(|worker| worker.heard_at);
        let heads = self.workers.values().flat_map(|worker| worker.units.iter().take(worker.slots()));
        let moved = heads.filter_map(|unit| self.leases.get(unit)).map(|held| held.progressed_at);
        silent.chain(moved).min().map(|since| since + lease)
    }

    pub(crate) fn summaries(&self, now: Duration) -> Vec<WorkerSummary> {
        let summary = |worker: &Worker| WorkerSummary {
            name: worker.registration.name.clone(),
            slots: worker.registration.slots,
            units: u32::try_from(worker.units.len()).unwrap_or(u32::MAX),
            nodes: worker.nodes,
            nodes_per_second: if worker.nodes == 0 { 0 } else { worker.nodes_per_second() },
            connected: now.saturating_sub(worker.joined_at),
            silent: now.saturating_sub(worker.heard_at),
            draining: worker.draining,
        };
        self.workers.values().map(summary).collect()
    }
}
