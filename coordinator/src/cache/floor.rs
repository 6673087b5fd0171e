//! Which depth is worth sending: pure, with time handed in, so that a simulation runs the same policy.

use std::time::Duration;

use corridor_shared::search::IMPORT_PROBE_DEPTH;

/// No shallower floor: a search does not ask for less.
pub const LOWEST_FLOOR: u8 = IMPORT_PROBE_DEPTH;
/// No higher floor: what is so deep is always worth its few bytes.
pub const HIGHEST_FLOOR: u8 = 24;
/// Where a floor starts.
const FIRST_FLOOR: u8 = 5;
/// A floor moves at most this often.
pub const REVIEW_TIME: Duration = Duration::from_secs(1);
/// After it rose, it stays up this long.
const HOLD_TIME: Duration = Duration::from_secs(10);
/// So many entries must have come before their use is judged.
const JUDGED_ENTRIES: u64 = 1_000;
/// Cutoffs a thousand received entries must be good for. One entry costs its receiver about half a microsecond, one cutoff
/// saves it hundreds.
const USEFUL_PERMILLE: u64 = 5;

/// What was seen of one receiver since the last look.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Entries that wait for it now.
    pub waiting: usize,
    /// The most that can wait.
    pub room: usize,
    /// Entries that were dropped because no more could wait.
    pub dropped: u64,
    /// Entries that it has received.
    pub received: u64,
    /// Cutoffs that it had from them.
    pub cutoffs: u64,
}

/// The depth from which one receiver gets entries. It rises when they pile up or are of no use, and falls when there is
/// room.
#[derive(Clone, Debug)]
pub struct FloorPolicy {
    floor: u8,
    moved_at: Duration,
    held_until: Duration,
    dropped: u64,
    received: u64,
    cutoffs: u64,
}

impl FloorPolicy {
    /// A policy that starts now.
    #[must_use]
    pub const fn new(now: Duration) -> Self {
        Self { floor: FIRST_FLOOR, moved_at: now, held_until: now, dropped: 0, received: 0, cutoffs: 0 }
    }

    /// The floor, in plies.
    #[must_use]
    pub const fn floor(&self) -> u8 {
        self.floor
    }

    /// Takes in what was seen, and returns the floor from now on.
    pub fn look(&mut self, now: Duration, signs: Signs) -> u8 {
        self.dropped += signs.dropped;
        self.received = self.received.saturating_add(signs.received);
        self.cutoffs = self.cutoffs.saturating_add(signs.cutoffs);
        if now < self.moved_at + REVIEW_TIME {
            return self.floor;
        }
        self.moved_at = now;
        let full = self.dropped > 0 || signs.waiting > signs.room / 2;
        self.dropped = 0;
        if full || self.is_useless() {
            self.floor = (self.floor + 1).min(HIGHEST_FLOOR);
            self.held_until = now + HOLD_TIME;
        } else if now >= self.held_until && signs.waiting <= signs.room / 8 {
            self.floor = (self.floor - 1).max(LOWEST_FLOOR);
        }
        self.floor
    }

    /// Judges a sample when it is large enough, and starts the next one.
    fn is_useless(&mut self) -> bool {
        if self.received < JUDGED_ENTRIES {
            return false;
        }
        let useless = self.cutoffs.saturating_mul(1_000) < self.received.saturating_mul(USEFUL_PERMILLE);
        (self.received, self.cutoffs) = (0, 0);
        useless
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EMPTY: Signs = Signs { waiting: 0, room: 100, dropped: 0, received: 0, cutoffs: 0 };

    fn after(policy: &mut FloorPolicy, seconds: u64, signs: Signs) -> u8 {
        policy.look(Duration::from_secs(seconds), signs)
    }

    #[test]
    fn it_falls_while_there_is_room_and_no_further_than_anybody_asks() {
        let mut policy = FloorPolicy::new(Duration::ZERO);
        let floors: Vec<u8> = (0..5).map(|second| after(&mut policy, second, EMPTY)).collect();
        assert_eq!(floors, [5, 4, 3, 3, 3]);
    }

    #[test]
    fn it_rises_when_entries_pile_up_or_are_dropped_and_stays_for_a_while() {
        let mut policy = FloorPolicy::new(Duration::ZERO);
        assert_eq!(after(&mut policy, 1, Signs { waiting: 51, ..EMPTY }), 6);
        assert_eq!(after(&mut policy, 2, Signs { waiting: 50, ..EMPTY }), 6, "half full is neither");
        // Looks between two reviews are not lost.
        assert_eq!(policy.look(Duration::from_millis(2_100), Signs { dropped: 1, ..EMPTY }), 6);
        assert_eq!(after(&mut policy, 3, EMPTY), 7);
        assert_eq!(after(&mut policy, 12, EMPTY), 7, "held");
        assert_eq!(after(&mut policy, 13, EMPTY), 6);
        assert_eq!(after(&mut policy, 14, Signs { waiting: 13, ..EMPTY }), 6, "little room is no room");
    }

    #[test]
    fn it_rises_when_a_fair_sample_was_of_no_use() {
        let mut policy = FloorPolicy::new(Duration::ZERO);
        let use_of = |received, cutoffs| Signs { received, cutoffs, ..EMPTY };
        assert_eq!(after(&mut policy, 1, use_of(999, 0)), 4, "too few to judge");
        assert_eq!(after(&mut policy, 2, use_of(1, 0)), 5, "a thousand without a cutoff");
        assert_eq!(after(&mut policy, 3, use_of(2_000, 9)), 6);
        assert_eq!(after(&mut policy, 12, use_of(2_000, 10)), 6, "useful, but held");
        assert_eq!(after(&mut policy, 13, use_of(2_000, 10)), 5);
    }

    proptest! {
        /// Whatever is seen, the floor stays between its ends and moves a ply a second at most.
        #[test]
        fn it_moves_slowly_between_its_ends(
            looks in prop::collection::vec((0_u64..3_000, 0_usize..200, 0_u64..3, any::<u64>(), any::<u64>()), 0..100)
        ) {
            let mut policy = FloorPolicy::new(Duration::ZERO);
            let (mut now, mut moved_at, mut last) = (Duration::ZERO, Duration::ZERO, policy.floor());
            for (millis, waiting, dropped, received, cutoffs) in looks {
                now += Duration::from_millis(millis);
                let floor = policy.look(now, Signs { waiting, room: 100, dropped, received, cutoffs });
                prop_assert!((LOWEST_FLOOR..=HIGHEST_FLOOR).contains(&floor));
                if floor != last {
                    prop_assert!(floor.abs_diff(last) == 1 && now >= moved_at + REVIEW_TIME);
                    (last, moved_at) = (floor, now);
                }
            }
        }
    }
}
