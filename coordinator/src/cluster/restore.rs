//! What outlives a coordinator: jobs that an earlier one has left behind, and a store that cannot be written for a while.
//!
//! A restored job goes on at the depth after its last completed one, its events continue their numbers, and the time during
//! which nobody could work on it does not count.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::book::Book;
use corridor_shared::job::{EventRecord, JobId, JobSpec};

use super::Cluster;
use super::batch::{Batch, KeptBatch};
use super::job::{End, Job};
use super::messages::{Effect, Keep, Refusal, Standing};
use crate::limits;

/// What was found in a store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// All jobs, in the order of their numbers.
    pub jobs: Vec<KeptJob>,
    /// All jobs that work on books, in the order of their numbers.
    pub batches: Vec<KeptBatch>,
    /// The books on which jobs work that have not ended.
    pub books: BTreeMap<Arc<str>, Book>,
    /// Number of the last job that was ever accepted; 0 before the first.
    pub last_job: u64,
}

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
    /// Takes over what an earlier coordinator has left behind, before anything else happens.
    pub fn restore(&mut self, now: Duration, kept: Kept, effects: &mut Vec<Effect>) {
        self.last_job = self.last_job.max(kept.last_job);
        self.restore_books(now, kept.books, kept.batches);
        for kept in kept.jobs {
            let id = kept.job;
            let mut job = Job::new(id, kept.spec.clone(), now);
            let stop = job.restore(kept, now);
            if job.ledger.state.is_final() {
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

    fn restore_books(&mut self, now: Duration, books: BTreeMap<Arc<str>, Book>, batches: Vec<KeptBatch>) {
        self.books.extend(books);
        for kept in batches {
            let id = kept.job;
            let book = self.books.get(&kept.spec.book);
            let batch = Batch::restore(kept, book, now);
            if batch.ledger.state.is_final() {
                self.ended.insert((now, id));
            } else {
                self.open_batches.insert((Reverse(batch.spec.priority), id));
            }
            self.last_job = self.last_job.max(id.0);
            self.batches.insert(id, batch);
        }
    }

    /// Forgets the oldest of the jobs that have ended, if there are too many of them or of all jobs' events.
    pub(super) fn forget_oldest(&mut self, effects: &mut Vec<Effect>) {
        let ledgers = self.jobs.values().map(|job| &job.ledger);
        let ledgers = ledgers.chain(self.batches.values().map(|batch| &batch.ledger));
        let mut events: usize = ledgers.map(|ledger| ledger.events().len()).sum();
        while self.ended.len() > limits::RETAINED_JOBS || events > limits::RETAINED_EVENTS {
            let Some((_, oldest)) = self.ended.pop_first() else { return };
            let job = self.jobs.remove(&oldest).map(|job| job.ledger);
            let batch = self.batches.remove(&oldest).map(|batch| batch.ledger);
            events -= job.or(batch).map_or(0, |ledger| ledger.events().len());
            effects.push(Effect::Keep(Keep::Forget { job: oldest }));
        }
    }

    /// Where each open job stands, its last iteration apart.
    #[must_use]
    pub fn standings(&self, now: Duration) -> Vec<Keep> {
        let jobs = self.open.iter().filter_map(|(_, id)| self.jobs.get(id));
        let jobs = jobs.filter(|job| job.part_of.is_none()).map(|job| (job.ledger.id, job.standing(now)));
        let batches = self.open_batches.iter().filter_map(|(_, id)| self.batches.get(id));
        let batches = batches.map(|batch| (batch.ledger.id, batch.standing(now)));
        let standing = |(job, standing)| Keep::Standing { job, standing: Box::new(standing) };
        jobs.chain(batches).map(standing).collect()
    }

    pub(super) fn store_lost(&mut self, now: Duration, reason: &str, effects: &mut Vec<Effect>) {
        self.store_fault = Some(reason.to_owned());
        for id in self.open_searches() {
            self.revoke_all(now, id, effects);
            if let Some(job) = self.jobs.get_mut(&id) {
                job.ledger.hold(now, reason, effects);
            }
        }
        for (_, id) in &self.open_batches {
            if let Some(batch) = self.batches.get_mut(id) {
                batch.ledger.hold(now, reason, effects);
            }
        }
    }

    pub(super) fn store_back(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        self.store_fault = None;
        for id in self.open_searches() {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.ledger.release(now, effects);
                self.stale.entry(id).or_default();
            }
        }
        for (_, id) in &self.open_batches {
            if let Some(batch) = self.batches.get_mut(id) {
                batch.ledger.release(now, effects);
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
