//! When a batch goes out.

use std::ops::Add;
use std::time::Duration;

/// Holds entries back for a short time so that they travel together. `I` is whatever instant the caller's clock gives.
#[derive(Clone, Debug)]
pub struct Linger<I> {
    longest: Duration,
    until: Option<I>,
}

impl<I: Copy + Ord + Add<Duration, Output = I>> Linger<I> {
    /// Holds entries back for at most so long.
    #[must_use]
    pub const fn new(longest: Duration) -> Self {
        Self { longest, until: None }
    }

    /// When the entries that wait are due, if some are held back.
    #[must_use]
    pub const fn until(&self) -> Option<I> {
        self.until
    }

    /// How many of the entries that wait go out now: at most a full batch and the credit, once they fill a batch or have
    /// waited for long enough.
    pub fn due(&mut self, now: I, waiting: usize, credit: usize, full: usize) -> Option<usize> {
        if waiting == 0 || credit == 0 {
            self.until = None;
            return None;
        }
        let until = *self.until.get_or_insert(now + self.longest);
        if waiting < full && now < until {
            return None;
        }
        self.until = None;
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
}
