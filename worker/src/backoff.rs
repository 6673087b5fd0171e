//! Pauses between tries to connect: doubling, capped, and jittered, so that a thousand workers do not come back at once.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use crate::limits::{BACKOFF_MAX, BACKOFF_MIN};

/// A number that no other process is likely to draw.
pub(crate) fn draw() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The next pause after each failure.
#[derive(Debug)]
pub(crate) struct Backoff {
    ceiling: Duration,
    state: u64,
}

impl Backoff {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { ceiling: BACKOFF_MIN, state: seed | 1 }
    }

    /// The line was good: the next failure starts with a short pause again.
    pub(crate) const fn reset(&mut self) {
        self.ceiling = BACKOFF_MIN;
    }

    /// Between half the ceiling and the ceiling, which doubles up to its limit.
    pub(crate) fn next_pause(&mut self) -> Duration {
        let ceiling = self.ceiling;
        self.ceiling = (ceiling * 2).min(BACKOFF_MAX);
        // Xorshift: any spread will do.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let permille = u32::try_from(self.state % 501).unwrap_or(0);
        ceiling / 2 + ceiling * permille / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_limit_and_start_again() {
        let mut backoff = Backoff::new(draw());
        for ceiling in [50_u64, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            let (pause, ceiling) = (backoff.next_pause(), Duration::from_millis(ceiling));
            assert!(pause >= ceiling / 2 && pause <= ceiling, "{pause:?} of {ceiling:?}");
        }
        backoff.reset();
        assert!(backoff.next_pause() <= BACKOFF_MIN);
    }
}
