//! What outlives a coordinator: jobs that an earlier one has left behind, and a store that cannot be written for a while.
//!
//! A restored job goes on at the depth after its last completed one, its events continue their numbers, and the time during
//! which nobody could work on it does not count.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::job::{EventRecord, JobId, JobSpec};

use super::Cluster;
use super::job::{End, Job};
use super::messages::{Effect, Keep, Refusal, Standing};
use crate::limits;

/// A job as a store has kept it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptJob {
    /// Its number.
    pub job: JobId,
    /// What was asked.
    pub spec: JobSpec,
    /// Where it stands.
    pub standing: Standing,
    /// Its events, numbered from 1 without a gap.
    pub events: Vec<Arc<EventRecord>>,
}

impl Cluster {
    /// Takes over what an earlier coordinator has left behind, before anything else happens. `last_job` is the number of the
    /// last job that was ever accepted.
    pub fn restore(&mut self, now: Duration, jobs: Vec<KeptJob>, last_job: u64, effects: &mut Vec<Effect>) {
        self.last_job = self.last_job.max(last_job);
        for kept in jobs {
            let id = kept.job;
            let mut job = Job::new(id, kept.spec.clone(), now);
            let stop = job.restore(kept, now);
            if job.state.is_final() {
                self.ended.insert((now, id));
            } else {
                self.open.insert((Reverse(job.spec.priority), id));
                self.stale.entry(id).or_default();
            }
            job.ending = stop.filter(|_| job.begin_audit());
            let over = stop.filter(|_| job.ending.is_none());
            self.last_job = self.last_job.max(id.0);
            self.jobs.insert(id, job);
            if let Some(stopped_by) = over {
                self.end_job(now, id, End::Done(stopped_by), effects);
            }
        }
        self.forget_oldest(effects);
        // Says of each open job why nothing runs yet.
        self.tell_states(effects);
    }

    /// Forgets the oldest of the jobs that have ended, if there are too many of them or of all jobs' events.
    pub(super) fn forget_oldest(&mut self, effects: &mut Vec<Effect>) {
        let mut events: usize = self.jobs.values().map(Job::events).sum();
        while self.ended.len() > limits::RETAINED_JOBS || events > limits::RETAINED_EVENTS {
            let Some((_, oldest)) = self.ended.pop_first() else { return };
            events -= self.jobs.remove(&oldest).map_or(0, |job| job.events());
            effects.push(Effect::Keep(Keep::Forget { job: oldest }));
        }
    }

    /// Where each open job stands, its last iteration apart.
    #[must_use]
    pub fn standings(&self, now: Duration) -> Vec<Keep> {
        let open = self.open.iter().filter_map(|(_, id)| self.jobs.get(id));
        open.map(|job| Keep::Standing { job: job.id, standing: Box::new(job.standing(now)) }).collect()
    }

    pub(super) fn store_lost(&mut self, now: Duration, reason: &str, effects: &mut Vec<Effect>) {
        self.store_fault = Some(reason.to_owned());
        let open: Vec<JobId> = self.open.iter().map(|&(_, id)| id).collect();
        for id in open {
            self.revoke_all(now, id, effects);
            if let Some(job) = self.jobs.get_mut(&id) {
                job.hold(now, reason, effects);
            }
        }
    }

    pub(super) fn store_back(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        self.store_fault = None;
        for (_, id) in &self.open {
            if let Some(job) = self.jobs.get_mut(id) {
                job.release(now, effects);
                self.stale.entry(*id).or_default();
            }
        }
    }

    /// Nothing is accepted that could not be kept.
    pub(super) fn check_store(&self) -> Result<(), Refusal> {
        match &self.store_fault {
            None => Ok(()),
            Some(reason) => Err(Refusal::Unavailable(reason.clone())),
        }
    }
}
