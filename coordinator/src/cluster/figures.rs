//! What somebody wants to know who watches over a cluster: how often things have happened since the coordinator began, how long
//! they took, and how they stand now. Plain numbers; what they are called outside is said elsewhere.

use std::collections::BTreeMap;
use std::time::Duration;

/// Upper bounds of the classes of a [`Spread`], in seconds; a last class has what is longer.
pub const CLASSES: [f64; 15] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// How long things took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    counts: [u64; CLASSES.len() + 1],
    sum: Duration,
}

impl Spread {
    pub(crate) fn note(&mut self, time: Duration) {
        let class = CLASSES.iter().position(|&bound| time.as_secs_f64() <= bound).unwrap_or(CLASSES.len());
        self.counts[class] += 1;
        self.sum += time;
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All of them together.
    #[must_use]
    pub const fn sum(&self) -> Duration {
        self.sum
    }

    /// Of each class its upper bound in seconds, and how many took no longer than that.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let sums = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        CLASSES.into_iter().zip(sums)
    }
}

/// How leases have ended, each of them in one of these ways.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// With a result.
    pub completed: u64,
    /// With a part of the result: the worker was asked for it, or had a budget.
    pub handed_back: u64,
    /// With an error.
    pub failed: u64,
    /// The coordinator took it back: nobody needs the result any more, or somebody else can have it sooner.
    pub revoked: u64,
    /// The worker went away.
    pub lost: u64,
    /// The worker, or the search, was silent for a whole lease.
    pub expired: u64,
}

/// What has happened since the coordinator began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Units that were granted, repetitions included.
    pub granted: u64,
    /// How they have ended.
    pub ended: Ended,
    /// What workers said of units that they do not hold any more.
    pub late: u64,
    /// Positions that units have visited, whatever came of them.
    pub nodes: u64,
    /// Registrations that were accepted.
    pub workers_joined: u64,
    /// Workers whose sessions have ended, whatever the cause.
    pub workers_left: u64,
    /// Jobs that were accepted.
    pub jobs_accepted: u64,
    /// Jobs that have ended, well or not.
    pub jobs_ended: u64,
    /// From the moment on at which a slot was free to the grant that filled it.
    pub slot_idle: Spread,
    /// From a grant, or from the end of the unit before it at the same worker, to the result.
    pub unit: Spread,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// What has happened.
    pub counted: Counted,
    /// Units that are leased now.
    pub leases: u64,
    /// Connected workers, those that drain included.
    pub workers: u64,
    /// Of these, those that take no more units.
    pub draining: u64,
    /// Slots of workers that take units.
    pub slots: u64,
    /// Of these, those without a unit.
    pub free_slots: u64,
    /// Jobs in memory, by their state's name.
    pub jobs: BTreeMap<&'static str, u64>,
    /// By priority, how long the open job has waited that has waited longest without a unit at any worker.
    pub waiting: BTreeMap<i32, Duration>,
    /// Watchers of jobs.
    pub watchers: u64,
    /// Nodes of the master trees of all open jobs.
    pub tree_nodes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_counts_each_once_and_cumulates() {
        let mut spread = Spread::default();
        for micros in [400, 500, 600, 2_000_000, 31_000_000] {
            spread.note(Duration::from_micros(micros));
        }
        let cumulative: Vec<(f64, u64)> = spread.cumulative().collect();
        assert_eq!(cumulative[..3], [(0.0005, 2), (0.001, 3), (0.0025, 3)]);
        assert_eq!((cumulative[10], cumulative[11], cumulative[14]), ((1.0, 3), (2.5, 4), (30.0, 4)));
        assert_eq!((spread.count(), spread.sum()), (5, Duration::from_micros(33_001_500)));
    }
}
