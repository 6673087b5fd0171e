//! When a batch goes out.

use std::ops::Add;
use std::time::Duration;

/// Holds entries back for a short time so that they travel together. `I` is whatever instant the caller's clock gives.
#[derive(Clone, Debug)]
pub struct Linger<I> {
    longest: Duration,
    since: Option<I>,
}

impl<I: Copy + Ord + Add<Duration, Output = I>> Linger<I> {
    /// Holds entries back for at most so long.
    #[must_use]
    pub const fn new(longest: Duration) -> Self {
        Self { longest, since: None }
    }

    /// From now on for at most so long, also what is held back already.
    pub const fn hold(&mut self, longest: Duration) {
        self.longest = longest;
    }

    /// When the entries that wait are due, if some are held back.
    #[must_use]
    pub fn until(&self) -> Option<I> {
        self.since.map(|since| since + self.longest)
    }

    /// How many of the entries that wait go out now: at most a full batch and the credit, once they fill a batch or have
    /// waited for long enough.
    pub fn due(&mut self, now: I, waiting: usize, credit: usize, full: usize) -> Option<usize> {
        if waiting == 0 || credit == 0 {
            self.since = None;
            return None;
        }
        let since = *self.since.get_or_insert(now);
        if waiting < full && now < since + self.longest {
            return None;
        }
        self.since = None;
        Some(full.min(credit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn entries_wait_for_a_full_batch_or_their_time() {
        let mut linger = Linger::new(5 * MS);
        assert_eq!(linger.due(MS, 0, 9, 10), None);
        assert_eq!((linger.due(MS, 3, 9, 10), linger.until()), (None, Some(6 * MS)));
        assert_eq!(linger.due(5 * MS, 9, 9, 10), None);
        assert_eq!((linger.due(6 * MS, 4, 20, 10), linger.until()), (Some(10), None));
        // A full batch does not wait; without credit nothing goes out, and the wait begins anew.
        assert_eq!(linger.due(6 * MS, 10, 7, 10), Some(7));
        assert_eq!(linger.due(7 * MS, 1, 1, 10), None);
        assert_eq!((linger.due(8 * MS, 10, 0, 10), linger.until()), (None, None));
    }

    #[test]
    fn another_patience_counts_for_what_waits_already() {
        let mut linger = Linger::new(50 * MS);
        assert_eq!((linger.due(MS, 1, 9, 10), linger.until()), (None, Some(51 * MS)));
        linger.hold(5 * MS);
        assert_eq!((linger.due(4 * MS, 2, 9, 10), linger.until()), (None, Some(6 * MS)));
        assert_eq!(linger.due(6 * MS, 2, 9, 10), Some(9));
    }
}
