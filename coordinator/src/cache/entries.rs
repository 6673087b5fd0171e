//! The entries themselves: a map by canonical key with a hard bound.

use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use corridor_shared::Move;
use corridor_shared::board::Color;
use corridor_shared::exchange::SharedEntry;
use corridor_shared::score::{Bound, Score};
use dashmap::DashMap;

/// Entries of a full shard that are looked at when one must go.
const SAMPLE: usize = 8;
/// All entries of a shard are looked at so often in a round: it is over when half as many new ones have come as it holds.
const LOOKS_A_ROUND: u8 = 4;
/// Shards of a large map; a power of two.
const MOST_SHARDS: usize = 64;
/// A shard of a smaller map has at least so many entries.
const LEAST_SHARD: usize = 1_024;

/// Keys are random numbers already, but the smaller of two is small more often than not: one multiplication spreads them.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte) ^ self.0);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// An entry without its key, in eight bytes: there are a million of them.
#[derive(Copy, Clone)]
struct Packed {
    score: i16,
    depth: u8,
    /// Bit 0: Black is to move; bits 1 and 2: the bound.
    flags: u8,
    /// 0 for none, else the index + 1.
    mv: u8,
    origin: u16,
}

const _: () = assert!(size_of::<(u64, Packed)>() == 16);

impl Packed {
    fn new(entry: &SharedEntry, origin: u16) -> Self {
        let clamped = entry.score.clamp(i16::MIN.into(), i16::MAX.into());
        Self {
            score: i16::try_from(clamped).unwrap_or_default(),
            depth: entry.depth,
            flags: u8::from(entry.turn == Color::Black) | (entry.bound as u8) << 1,
            mv: entry.mv.map_or(0, |mv| mv.index() + 1),
            origin,
        }
    }

    fn entry(self, key: u64) -> SharedEntry {
        let bound = match self.flags >> 1 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            _ => Bound::Exact,
        };
        SharedEntry {
            key,
            turn: if self.flags & 1 == 0 { Color::White } else { Color::Black },
            score: Score::from(self.score),
            bound,
            depth: self.depth,
            mv: self.mv.checked_sub(1).and_then(Move::from_index),
        }
    }
}

/// What is noted of an entry beside the map, so that the least of many is found without asking it.
#[derive(Copy, Clone)]
struct Mark {
    /// Its depth when that was last looked up; it may have grown.
    depth: u8,
    /// The shard's round then.
    round: u8,
}

impl Mark {
    /// Depth, less a ply for each round that it has survived: the deep ones of a job that is long over go too.
    fn worth(self, round: u8) -> i32 {
        i32::from(self.depth) - i32::from(round.wrapping_sub(self.round))
    }
}

/// The keys of one shard, in no particular order, and how far the look-out for what must go has come.
struct Shard {
    keys: Vec<u64>,
    marks: Vec<Mark>,
    next: usize,
    looks: u8,
    round: u8,
}

impl Shard {
    fn with_room(entries: usize) -> Self {
        let (keys, marks) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        Self { keys, marks, next: 0, looks: 0, round: 0 }
    }

    fn mark(&self, depth: u8) -> Mark {
        Mark { depth, round: self.round }
    }

    /// The places of the next few entries.
    fn sample(&mut self) -> [usize; SAMPLE] {
        std::array::from_fn(|_| {
            let place = self.next;
            self.next += 1;
            if self.next >= self.keys.len() {
                self.next = 0;
                self.looks += 1;
            }
            if self.looks == LOOKS_A_ROUND {
                self.looks = 0;
                self.round = self.round.wrapping_add(1);
            }
            place
        })
    }
}

/// What became of an offered entry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// It is new.
    New,
    /// It has replaced a lesser one of the same position.
    Better,
    /// What is known of the position is at least as good.
    Known,
    /// Its shard is full of what is worth more.
    NoRoom,
}

/// Entries by canonical key, never more than the limit.
///
/// A key's shard here is its shard in the map, so no shard of the map ever holds more than its share. That share is half of
/// what the shard has room for: at that load the map cleans up after removals in place and never grows.
pub(super) struct Entries {
    map: DashMap<u64, Packed, BuildHasherDefault<KeyHasher>>,
    shards: Vec<Mutex<Shard>>,
    shard_limit: usize,
    len: AtomicUsize,
    bytes: usize,
}

impl Entries {
    /// Room for so many entries, rounded down to full shards; at least two.
    pub(super) fn new(limit: usize) -> Self {
        let shards = (limit / LEAST_SHARD).clamp(2, MOST_SHARDS);
        let shards = if shards.is_power_of_two() { shards } else { shards.next_power_of_two() / 2 };
        let shard_limit = (limit / shards).max(1);
        let room = 2 * shard_limit * shards;
        let map =
            DashMap::with_capacity_and_hasher_and_shard_amount(room, BuildHasherDefault::default(), shards);
        let slots = map.capacity() / 7 * 8;
        let beside = size_of::<u64>() + size_of::<Mark>();
        let bytes = slots * (size_of::<(u64, Packed)>() + 1) + shards * shard_limit * beside;
        let shard = || Mutex::new(Shard::with_room(shard_limit));
        let shards = std::iter::repeat_with(shard).take(shards).collect();
        Self { map, shards, shard_limit, len: AtomicUsize::new(0), bytes }
    }

    /// The most entries.
    pub(super) fn limit(&self) -> usize {
        self.shard_limit * self.shards.len()
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// The memory that it takes when it is full, in bytes: the map's slots with their control bytes, and what is beside it.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is known under a key, and who sent it.
    pub(super) fn get(&self, key: u64) -> Option<(SharedEntry, u16)> {
        let packed = *self.map.get(&key)?;
        Some((packed.entry(key), packed.origin))
    }

    /// Takes an entry in, if it is worth more than what would have to go.
    pub(super) fn offer(&self, entry: &SharedEntry, origin: u16) -> Offered {
        let key = entry.key;
        let shard = &self.shards[self.map.determine_shard(self.map.hash_usize(&key))];
        // Nothing panics under this lock, and what it guards are plain values.
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(better) = self.update(entry, origin) {
            return if better { Offered::Better } else { Offered::Known };
        }
        let mark = shard.mark(entry.depth);
        if shard.keys.len() < self.shard_limit {
            shard.keys.push(key);
            shard.marks.push(mark);
            self.len.fetch_add(1, Ordering::Relaxed);
        } else if let Some(place) = self.make_room(&mut shard, entry.depth) {
            shard.keys[place] = key;
            shard.marks[place] = mark;
        } else {
            return Offered::NoRoom;
        }
        self.map.insert(key, Packed::new(entry, origin));
        Offered::New
    }

    /// Replaces what is known of the same position, if that is worth less; `None` if nothing is known.
    fn update(&self, entry: &SharedEntry, origin: u16) -> Option<bool> {
        let mut known = self.map.get_mut(&entry.key)?;
        let old = known.entry(entry.key);
        let better = old.rank() < entry.rank();
        if better {
            *known = Packed::new(&SharedEntry { mv: entry.mv.or(old.mv), ..*entry }, origin);
        }
        Some(better)
    }

    /// Removes the shallowest and oldest of the next few entries of a full shard, and returns its place; `None` if all of
    /// them are worth more than what is `depth` deep.
    fn make_room(&self, shard: &mut Shard, depth: u8) -> Option<usize> {
        let sample = shard.sample();
        loop {
            let worth = |place: usize| shard.marks[place].worth(shard.round);
            let place = sample.into_iter().min_by_key(|&place| worth(place))?;
            if worth(place) > i32::from(depth) {
                return None;
            }
            let noted = shard.marks[place].depth;
            if self.map.remove_if(&shard.keys[place], |_, packed| packed.depth <= noted).is_some() {
                return Some(place);
            }
            // It has become deeper since: it is judged anew, and in the end one goes or all are deeper.
            let known = self.map.get(&shard.keys[place]).map(|packed| packed.depth)?;
            shard.marks[place] = shard.mark(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn entry(key: u64, depth: u8, bound: Bound) -> SharedEntry {
        SharedEntry { key, turn: Color::Black, score: -12, bound, depth, mv: Move::from_index(200) }
    }

    /// As keys are: random.
    fn key(number: u64) -> u64 {
        (number + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn deeper_wins_then_exact_and_what_is_packed_comes_out_again() {
        let entries = Entries::new(100);
        for (depth, bound, offered) in [
            (5, Bound::Upper, Offered::New),
            (5, Bound::Lower, Offered::Known),
            (4, Bound::Exact, Offered::Known),
            (5, Bound::Exact, Offered::Better),
            (6, Bound::Lower, Offered::Better),
            (6, Bound::Lower, Offered::Known),
        ] {
            assert_eq!(
                entries.offer(&entry(7, depth, bound), u16::from(depth)),
                offered,
                "{depth} {bound:?}"
            );
        }
        assert_eq!(entries.get(7), Some((entry(7, 6, Bound::Lower), 6)));
        let without_move =
            SharedEntry { mv: None, score: 30_000, turn: Color::White, ..entry(7, 8, Bound::Exact) };
        assert_eq!(entries.offer(&without_move, 1), Offered::Better);
        let kept = SharedEntry { mv: Move::from_index(200), ..without_move };
        assert_eq!(entries.get(7), Some((kept, 1)), "a known move is better than none");
        assert_eq!((entries.get(8), entries.len()), (None, 1));
    }

    #[test]
    fn the_shallowest_go_first_and_with_time_the_deepest_too() {
        let entries = Entries::new(2_048);
        for number in 0..4_096 {
            entries.offer(&entry(key(number), 9, Bound::Exact), 0);
        }
        assert_eq!(entries.len(), 2_048);
        let deep = |entries: &Entries| {
            (0..4_096)
                .filter(|&number| entries.get(key(number)).is_some_and(|(entry, _)| entry.depth == 9))
                .count()
        };
        assert_eq!(entries.offer(&entry(key(9_999), 3, Bound::Exact), 0), Offered::NoRoom);
        assert_eq!(deep(&entries), 2_048);
        let mut offered = 10_000;
        while deep(&entries) == 2_048 {
            entries.offer(&entry(key(offered), 3, Bound::Exact), 0);
            offered += 1;
        }
        // 1,024 offers are a round, after which all count a ply less.
        assert!((10_000 + 2_000..10_000 + 8_000).contains(&offered), "{offered}");
    }

    #[test]
    fn the_map_never_grows() {
        let entries = Entries::new(7_168);
        assert_eq!(entries.bytes(), 16_384 * 17 + 7_168 * 10);
        let room = entries.map.capacity();
        for number in 0..200_000 {
            entries.offer(&entry(key(number), u8::try_from(number % 13).unwrap(), Bound::Exact), 0);
        }
        assert_eq!((entries.len(), entries.map.len()), (7_168, 7_168));
        assert!(entries.map.capacity() <= room, "{} of {room}", entries.map.capacity());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Under any offers: never more than the bound, never a lesser one for a better one, and nothing that was not offered.
        #[test]
        fn the_bound_holds(
            limit in 0_usize..40,
            offers in prop::collection::vec((0_u64..200, 0_u8..12, any::<bool>()), 0..600)
        ) {
            let entries = Entries::new(limit);
            let mut best: BTreeMap<u64, SharedEntry> = BTreeMap::new();
            for (number, depth, exact) in offers {
                let bound = if exact { Bound::Exact } else { Bound::Upper };
                let new = entry(key(number), depth, bound);
                let before = entries.get(new.key);
                let offered = entries.offer(&new, 3);
                match offered {
                    Offered::New => prop_assert!(before.is_none()),
                    Offered::Better => prop_assert!(before.is_some_and(|(old, _)| old.rank() < new.rank())),
                    Offered::Known => prop_assert!(before.is_some_and(|(old, _)| old.rank() >= new.rank())),
                    Offered::NoRoom => prop_assert!(before.is_none() && entries.len() >= 1),
                }
                let stored = matches!(offered, Offered::New | Offered::Better);
                prop_assert_eq!(entries.get(new.key).map(|(entry, _)| entry) == Some(new), stored || before == Some((new, 3)));
                best.entry(new.key).and_modify(|old| if old.rank() < new.rank() { *old = new }).or_insert(new);
                prop_assert!(entries.len() <= limit.max(2) && entries.len() == entries.map.len());
            }
            for (key, most) in &best {
                prop_assert!(entries.get(*key).is_none_or(|(entry, _)| entry.rank() <= most.rank()));
            }
        }
    }
}
