//! The driver's side of the store: what must be durable first, and what waits for that.
//!
//! Entries go to the writer in groups, one group at a time: while one is being written the next one grows. What is told about
//! a job (deliveries, ends of streams, answers) waits until every entry of the job that came before it is durable, in
//! order; nothing else waits, and nobody is ever blocked.

use std::collections::BTreeMap;
use std::time::Duration;

use corridor_shared::job::JobId;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::cluster::{Effect, Keep};
use crate::limits::{STORE_BACKLOG, STORE_TIME};
use crate::store::writer::{Batch, News};

/// Why the store cannot be written, if that is so.
pub(crate) type StoreFault = Option<String>;

/// See the module.
pub(crate) struct Keeper {
    batches: mpsc::Sender<Batch>,
    news: mpsc::Receiver<News>,
    /// Entries that no batch holds yet.
    pending: Vec<Keep>,
    /// Entries so far, and how many of them are durable.
    issued: u64,
    committed: u64,
    /// When the batch that is being written was sent.
    writing_since: Option<Instant>,
    /// Number of each job's last entry that is not durable.
    last_of: BTreeMap<JobId, u64>,
    /// What waits, by the number of the entry that it waits for.
    held: BTreeMap<u64, Vec<Effect>>,
    fault: watch::Sender<StoreFault>,
}

/// What a change in the store's condition means for the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It cannot be written, for this reason.
    Lost(String),
    /// It can be written again.
    Back,
}

impl Keeper {
    /// A keeper in front of a writer.
    pub(crate) fn new(batches: mpsc::Sender<Batch>, news: mpsc::Receiver<News>) -> Self {
        Self {
            batches,
            news,
            pending: Vec::new(),
            issued: 0,
            committed: 0,
            writing_since: None,
            last_of: BTreeMap::new(),
            held: BTreeMap::new(),
            fault: watch::Sender::new(None),
        }
    }

    /// Why the store cannot be written, now and from now on.
    pub(crate) fn fault(&self) -> watch::Receiver<StoreFault> {
        self.fault.subscribe()
    }

    /// What the writer says next; never if it is gone.
    pub(crate) async fn news(&mut self) -> News {
        match self.news.recv().await {
            Some(news) => news,
            None => std::future::pending().await,
        }
    }

    /// Number of the last entry.
    pub(crate) const fn issued(&self) -> u64 {
        self.issued
    }

    /// Takes an entry.
    pub(crate) fn keep(&mut self, entry: Keep) {
        self.issued += 1;
        if let Some(job) = entry.job() {
            self.last_of.insert(job, self.issued);
        }
        self.pending.push(entry);
    }

    /// Number of the last entry of a job.
    pub(crate) fn last_of(&self, job: JobId) -> u64 {
        self.last_of.get(&job).copied().unwrap_or(0)
    }

    /// Gives an effect back if it need not wait for the entry of that number; otherwise holds it.
    pub(crate) fn hold_until(&mut self, entry: u64, effect: Effect) -> Option<Effect> {
        if entry <= self.committed {
            return Some(effect);
        }
        self.held.entry(entry).or_default().push(effect);
        None
    }

    /// Gives back what is held although it waits, if it matches.
    pub(crate) fn release(&mut self, matches: impl Fn(&Effect) -> bool) -> Vec<Effect> {
        let mut released = Vec::new();
        for held in self.held.values_mut() {
            released.extend(held.extract_if(.., |effect| matches(effect)));
        }
        released
    }

    /// Whether the store cannot be written.
    pub(crate) fn is_faulty(&self) -> bool {
        self.fault.borrow().is_some()
    }

    /// Sends what is pending, unless a batch is still being written.
    pub(crate) fn flush(&mut self) {
        if self.pending.is_empty() || self.writing_since.is_some() {
            return;
        }
        let batch = Batch { last: self.issued, entries: std::mem::take(&mut self.pending) };
        // There is room: the writer has taken the last one. If it is gone there is nobody to write.
        if self.batches.try_send(batch).is_ok() {
            self.writing_since = Some(Instant::now());
        }
    }

    /// Whether everything is durable.
    pub(crate) const fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.writing_since.is_none()
    }

    /// Takes news in. Returns what need not wait any more, in order, and whether the store's condition has changed.
    pub(crate) fn take(&mut self, news: News) -> (Vec<Effect>, Option<Turn>) {
        match news {
            News::Fault(reason) => (Vec::new(), self.set_fault(reason)),
            News::Committed(last) => {
                self.committed = last;
                self.writing_since = None;
                self.last_of.retain(|_, entry| *entry > last);
                let waiting = self.held.split_off(&(last + 1));
                let free = std::mem::replace(&mut self.held, waiting).into_values().flatten().collect();
                let was_faulty = self.fault.send_if_modified(|fault| fault.take().is_some());
                (free, was_faulty.then_some(Turn::Back))
            }
        }
    }

    /// Notices a store that is too slow. To be called now and then.
    pub(crate) fn check(&mut self, now: Instant) -> Option<Turn> {
        let late = |since: Instant| now.saturating_duration_since(since) > STORE_TIME;
        if self.pending.len() > STORE_BACKLOG {
            self.set_fault(format!("the store is too slow: store_backlog {STORE_BACKLOG} is full"))
        } else if self.writing_since.is_some_and(late) && self.fault.borrow().is_none() {
            self.set_fault(format!(
                "the store does not answer: store_time {} s has passed",
                seconds(STORE_TIME)
            ))
        } else {
            None
        }
    }

    fn set_fault(&mut self, reason: String) -> Option<Turn> {
        let was = self.fault.send_replace(Some(reason.clone()));
        was.is_none().then_some(Turn::Lost(reason))
    }
}

const fn seconds(time: Duration) -> u64 {
    time.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::WatcherId;

    fn forget(job: u64) -> Keep {
        Keep::Forget { job: JobId(job) }
    }

    fn finish(job: u64) -> Effect {
        Effect::Finish { job: JobId(job), watcher: WatcherId(job) }
    }

    fn jobs(effects: &[Effect]) -> Vec<u64> {
        let job = |effect: &Effect| match effect {
            Effect::Finish { job, .. } => job.0,
            other => panic!("{other:?}"),
        };
        effects.iter().map(job).collect()
    }

    fn keeper() -> (Keeper, mpsc::Receiver<Batch>, mpsc::Sender<News>) {
        let (batches, written) = mpsc::channel(1);
        let (say, news) = mpsc::channel(1);
        (Keeper::new(batches, news), written, say)
    }

    fn say(keeper: &mut Keeper, effect: Effect) -> bool {
        let Effect::Finish { job, .. } = effect else { panic!("{effect:?}") };
        keeper.hold_until(keeper.last_of(job), effect).is_some()
    }

    #[tokio::test]
    async fn a_job_waits_for_its_own_entries_and_groups_grow_while_one_is_written() {
        let (mut keeper, mut written, _news) = keeper();
        assert!(say(&mut keeper, finish(1)), "nothing to wait for");
        keeper.keep(forget(1));
        assert!(!say(&mut keeper, finish(1)));
        assert!(say(&mut keeper, finish(2)), "another job does not wait");
        keeper.flush();
        assert_eq!(written.try_recv().expect("a batch").entries.len(), 1);
        keeper.keep(forget(2));
        keeper.keep(forget(1));
        keeper.flush();
        assert!(written.try_recv().is_err(), "one batch at a time");
        assert!(!say(&mut keeper, finish(2)) && !say(&mut keeper, finish(1)));
        let (free, turn) = keeper.take(News::Committed(1));
        assert_eq!((jobs(&free), turn), (vec![1], None));
        keeper.flush();
        let batch = written.try_recv().expect("a batch");
        assert_eq!((batch.last, batch.entries.len()), (3, 2));
        assert!(!keeper.is_idle());
        let (free, _) = keeper.take(News::Committed(3));
        assert_eq!(jobs(&free), [2, 1]);
        assert!(keeper.is_idle() && say(&mut keeper, finish(1)));
    }

    #[tokio::test]
    async fn faults_come_and_go_once() {
        let (mut keeper, _written, _news) = keeper();
        let fault = keeper.fault();
        keeper.keep(forget(1));
        keeper.flush();
        let (now, later) = (Instant::now(), Instant::now() + STORE_TIME * 2);
        assert_eq!(keeper.check(now), None);
        assert!(matches!(keeper.check(later), Some(Turn::Lost(reason)) if reason.contains("store_time")));
        assert_eq!(keeper.check(later), None, "told once");
        let (_, turn) = keeper.take(News::Fault("full".to_owned()));
        assert_eq!((turn, fault.borrow().as_deref(), keeper.is_faulty()), (None, Some("full"), true));
        assert!(!say(&mut keeper, finish(1)) && keeper.hold_until(1, finish(9)).is_none());
        let nine = |effect: &Effect| matches!(effect, Effect::Finish { job: JobId(9), .. });
        assert_eq!((jobs(&keeper.release(nine)), jobs(&keeper.release(nine))), (vec![9], vec![]));
        let (free, turn) = keeper.take(News::Committed(1));
        assert_eq!((jobs(&free), turn), (vec![1], Some(Turn::Back)));
        assert_eq!(*fault.borrow(), None);
        for job in 0..=STORE_BACKLOG {
            keeper.keep(forget(job.try_into().expect("small")));
        }
        assert!(matches!(keeper.check(now), Some(Turn::Lost(reason)) if reason.contains("store_backlog")));
    }
}
