//! What watchers are to be told, and when.
//!
//! A watcher is told at once while there are few of them. Many are told at intervals, one after the other, each everything
//! since its last time: a message for each event to each of a thousand would take the processor that heartbeats and results
//! need, and so would all of them at the same moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::job::EventRecord;
use tokio::time::Instant;

use crate::cluster::WatcherId;
use crate::limits::{WATCHER_INTERVAL, WATCHERS_AT_ONCE};

/// Each watcher more makes the interval so much longer.
const INTERVAL_A_WATCHER: Duration = Duration::from_micros(100);
/// The watchers' turns are spread over so many moments of an interval.
const MOMENTS: u32 = 64;

/// What waits for a watcher.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    pub(crate) records: Vec<Arc<EventRecord>>,
    /// Nothing comes after it.
    pub(crate) last: bool,
}

/// What waits for all watchers, and when each is told.
#[derive(Debug)]
pub(crate) struct Deliveries {
    started: Instant,
    parcels: BTreeMap<WatcherId, Parcel>,
    due: BTreeSet<(Instant, WatcherId)>,
}

impl Deliveries {
    /// Nothing waits.
    pub(crate) fn new(now: Instant) -> Self {
        Self { started: now, parcels: BTreeMap::new(), due: BTreeSet::new() }
    }

    /// Adds to what waits for a watcher, one of so many.
    pub(crate) fn add(
        &mut self,
        now: Instant,
        watcher: WatcherId,
        records: Vec<Arc<EventRecord>>,
        all: usize,
    ) {
        self.parcel(now, watcher, all).records.extend(records);
    }

    /// A watcher, one of so many, has nothing more to expect.
    pub(crate) fn finish(&mut self, now: Instant, watcher: WatcherId, all: usize) {
        self.parcel(now, watcher, all).last = true;
    }

    fn parcel(&mut self, now: Instant, watcher: WatcherId, all: usize) -> &mut Parcel {
        self.parcels.entry(watcher).or_insert_with(|| {
            self.due.insert((now + until_turn(now - self.started, watcher, interval(all)), watcher));
            Parcel::default()
        })
    }

    /// When the next watcher is to be told something.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|&(at, _)| at)
    }

    /// What a watcher is to be told by now.
    pub(crate) fn next(&mut self, now: Instant) -> Option<(WatcherId, Parcel)> {
        let &next = self.due.first().filter(|&&(at, _)| at <= now)?;
        self.due.remove(&next);
        Some((next.1, self.parcels.remove(&next.1)?))
    }

    /// What waits for any watcher, due or not.
    pub(crate) fn take_all(&mut self) -> Vec<(WatcherId, Parcel)> {
        let due = std::mem::take(&mut self.due);
        due.into_iter().filter_map(|(_, watcher)| Some((watcher, self.parcels.remove(&watcher)?))).collect()
    }
}

/// How long until a watcher's next turn, at this time.
fn until_turn(time: Duration, watcher: WatcherId, interval: Duration) -> Duration {
    if interval.is_zero() {
        return Duration::ZERO;
    }
    let moment = u32::try_from(watcher.0 % u64::from(MOMENTS)).unwrap_or_default();
    let (turn, micros) = (interval * moment / MOMENTS, interval.as_micros());
    let gone = (time.as_micros() + micros - turn.as_micros()) % micros;
    interval - Duration::from_micros(u64::try_from(gone).unwrap_or_default())
}

/// How far apart a watcher's turns are, with so many watchers.
fn interval(watchers: usize) -> Duration {
    if watchers <= WATCHERS_AT_ONCE {
        return Duration::ZERO;
    }
    let interval = INTERVAL_A_WATCHER * u32::try_from(watchers).unwrap_or(u32::MAX);
    interval.min(WATCHER_INTERVAL)
}

#[cfg(test)]
mod tests {
    use corridor_shared::job::{JobEvent, JobState, StateChange};

    use super::*;

    fn record(seq: u64) -> Arc<EventRecord> {
        let event = JobEvent::State(StateChange { state: JobState::Running, reason: String::new() });
        Arc::new(EventRecord { seq, event })
    }

    fn numbers(parcel: &Parcel) -> Vec<u64> {
        parcel.records.iter().map(|record| record.seq).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn few_are_told_at_once_and_many_at_their_turns_in_order() {
        let (now, few, many) = (Instant::now(), WATCHERS_AT_ONCE, 1_000);
        let mut deliveries = Deliveries::new(now);
        deliveries.add(now, WatcherId(1), vec![record(1)], few);
        let (watcher, parcel) = deliveries.next(now).expect("due at once");
        assert_eq!((watcher, numbers(&parcel), parcel.last), (WatcherId(1), vec![1], false));
        assert!(deliveries.next(now).is_none() && deliveries.next_due().is_none());

        // Two moments apart.
        let (second, third) = (WatcherId(u64::from(MOMENTS)), WatcherId(2));
        let later = now + WATCHER_INTERVAL / 2;
        deliveries.add(now, second, vec![record(1)], many);
        deliveries.add(later, third, vec![record(1)], many);
        deliveries.add(later, second, vec![record(2), record(3)], many);
        deliveries.finish(later, second, many);
        assert!(deliveries.next(later).is_none());
        assert_eq!(deliveries.next_due(), Some(now + WATCHER_INTERVAL));
        let (watcher, parcel) = deliveries.next(now + WATCHER_INTERVAL).expect("due");
        assert_eq!((watcher, numbers(&parcel), parcel.last), (second, vec![1, 2, 3], true));
        assert_eq!(deliveries.next_due(), Some(now + WATCHER_INTERVAL + WATCHER_INTERVAL * 2 / MOMENTS));
        let all = deliveries.take_all();
        assert_eq!(all.iter().map(|(watcher, _)| *watcher).collect::<Vec<_>>(), [third]);
        assert!(deliveries.next_due().is_none() && deliveries.parcels.is_empty());
    }

    #[test]
    fn the_interval_grows_with_the_watchers_up_to_its_limit() {
        assert_eq!(interval(WATCHERS_AT_ONCE), Duration::ZERO);
        assert_eq!(interval(200), Duration::from_millis(20));
        assert_eq!(interval(100_000), WATCHER_INTERVAL);
    }
}
