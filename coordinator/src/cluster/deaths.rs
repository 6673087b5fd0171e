//! Units over which workers die.
//!
//! A worker whose line breaks without a word may be dead, killed by what it searched. It counts as that until it comes back:
//! whoever was frozen, drained or merely cut off does not count in the end. A unit is known by its line, so that its
//! deaths follow it from attempt to attempt.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use corridor_shared::board::Move;
use corridor_shared::job::{JobId, JobState, Unit, WorkerId};

use super::failure;
use super::messages::Effect;
use super::{Cluster, Lease};

/// Which processes died over which line of which job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deaths(BTreeMap<(JobId, Vec<Move>), BTreeSet<u64>>);

impl Deaths {
    /// A process was lost while it searched a unit. Returns how many were.
    fn count(&mut self, unit: &Unit, instance: u64) -> usize {
        let dead = self.0.entry((unit.job, unit.path.clone())).or_default();
        dead.insert(instance);
        dead.len()
    }

    /// A unit has been searched to its end.
    pub(crate) fn survived(&mut self, unit: &Unit) {
        if !self.0.is_empty() {
            self.0.remove(&(unit.job, unit.path.clone()));
        }
    }

    /// A job begins anew or has ended.
    pub(crate) fn forget(&mut self, job: JobId) {
        self.0.retain(|&(of, _), _| of != job);
    }

    /// A process has come back: it was not dead. Returns the jobs that had counted it.
    fn absolve(&mut self, instance: u64) -> BTreeSet<JobId> {
        let mut absolved = BTreeSet::new();
        self.0.retain(|&(job, _), dead| {
            if dead.remove(&instance) {
                absolved.insert(job);
            }
            !dead.is_empty()
        });
        absolved
    }

    /// How many units it knows.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The most deaths over one unit of a job.
    pub(super) fn most(&self, job: JobId) -> usize {
        self.0.iter().filter(|((of, _), _)| *of == job).map(|(_, dead)| dead.len()).max().unwrap_or(0)
    }
}

impl Cluster {
    /// A worker's line broke: it is lost, and unless it was about to leave its searches are suspected.
    pub(super) fn broken(
        &mut self,
        now: Duration,
        worker: WorkerId,
        reason: &str,
        effects: &mut Vec<Effect>,
    ) {
        let Some(lost) = self.fleet.worker(worker).filter(|lost| !lost.draining) else {
            return self.lose(now, worker, reason, effects);
        };
        let (instance, name) = (lost.registration.instance, lost.registration.name.clone());
        let suspects: Vec<Lease> = self
            .fleet
            .leases()
            .filter(|lease| lease.worker == worker && self.fleet.runs(lease))
            .cloned()
            .collect();
        self.lose(now, worker, reason, effects);
        for Lease { unit, .. } in suspects {
            let deaths = self.deaths.count(&unit, instance);
            if deaths >= self.death_limit() {
                let line: Vec<String> = unit.path.iter().map(ToString::to_string).collect();
                let text = format!(
                    "{deaths} workers died over the unit '{}' at depth {} (unit_deaths), last: {name}",
                    line.join(" "),
                    unit.depth
                );
                self.park(now, unit.job, text, effects);
            }
        }
    }

    fn death_limit(&self) -> usize {
        usize::try_from(self.config.unit_deaths).unwrap_or(usize::MAX)
    }

    fn park(&mut self, now: Duration, id: JobId, reason: String, effects: &mut Vec<Effect>) {
        if self.jobs.get(&id).is_none_or(|job| !job.ledger.is_open()) {
            return;
        }
        if self.jobs.get(&id).is_some_and(|job| job.part_of.is_some()) {
            // The others go on; of this position the job says that it failed.
            return self.end_job(now, id, failure("aborted", reason), effects);
        }
        self.revoke_all(now, id, effects);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.ledger.set_state(JobState::Parked, &reason, effects);
            job.ledger.parked = Some(reason);
            job.ledger.set_clock(now);
            job.keep_standing(now, effects);
        }
    }

    /// A process is there, again or for the first time: whatever its loss has stopped goes on.
    pub(super) fn came_back(&mut self, now: Duration, instance: u64, effects: &mut Vec<Effect>) {
        for id in self.deaths.absolve(instance) {
            if self.deaths.most(id) < self.death_limit()
                && let Some(job) = self.jobs.get_mut(&id).filter(|job| job.ledger.parked.is_some())
            {
                job.ledger.parked = None;
                job.ledger.set_clock(now);
                job.keep_standing(now, effects);
                self.stale.entry(id).or_default();
            }
        }
    }
}
