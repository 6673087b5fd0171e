//! The transposition table: fixed size, no locks, shared by all search threads of a worker.
//!
//! An entry is two words, the key xor-ed with the data and the data (Hyatt and Mann, "A lockless transposition-table
//! implementation for parallel search", 2002): a read torn between two writers does not match any key and is a miss.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::board::Move;
use crate::exchange::{Rank, SharedEntry};
use crate::score::{Bound, MAX_CM, Score};

/// Entries that share a cache line.
const BUCKET_ENTRIES: usize = 4;
/// Generations before the counter wraps.
const GENERATIONS: u8 = 64;

struct Entry {
    check: AtomicU64,
    data: AtomicU64,
}

const _: () = assert!(size_of::<Entry>() == 16);

#[repr(align(64))]
struct Bucket([Entry; BUCKET_ENTRIES]);

const _: () = assert!(size_of::<Bucket>() == 64);

/// What the table knows about a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The best move known.
    pub mv: Option<Move>,
    /// The score, as of the position itself (a win counts from it).
    pub score: Score,
    /// The static evaluation, in cm; an imported entry has none.
    pub eval: Option<Score>,
    /// How deep below the position it was searched, in plies.
    pub depth: u8,
    /// What the score bounds.
    pub bound: Bound,
    /// It comes from another table.
    pub imported: bool,
}

/// Why a table cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Less than one bucket.
    #[error("a table of {0} bytes is too small: 64 is the least")]
    TooSmall(usize),
    /// The allocator refused.
    #[error("no memory for a table of {0} bytes")]
    OutOfMemory(usize),
}

/// A table of fixed size. All methods take `&self`; any number of threads may use it at once.
pub struct TranspositionTable {
    buckets: Vec<Bucket>,
    generation: AtomicU8,
    imports: Imports,
}

/// What came from other tables and was of use, on a cache line of its own: the generation is read with every store.
#[derive(Default)]
#[repr(align(64))]
struct Imports {
    entries: AtomicU64,
    cutoffs: AtomicU64,
}

/// Stands for an evaluation that is not known: no score is so low.
const NO_EVAL: i16 = i16::MIN;

/// Scores fit sixteen bits by their definition.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of i16 first")]
const fn to_i16(score: Score) -> i16 {
    if score > i16::MAX as i32 {
        i16::MAX
    } else if score < i16::MIN as i32 {
        i16::MIN
    } else {
        score as i16
    }
}

impl TranspositionTable {
    /// A table of at most `bytes`, rounded down to whole cache lines.
    ///
    /// # Errors
    /// When that is less than one bucket, or more than the allocator gives.
    pub fn new(bytes: usize) -> Result<Self, TableError> {
        let count = bytes / size_of::<Bucket>();
        if count == 0 {
            return Err(TableError::TooSmall(bytes));
        }
        let mut buckets = Vec::new();
        buckets.try_reserve_exact(count).map_err(|_| TableError::OutOfMemory(bytes))?;
        buckets.extend((0..count).map(|_| Bucket(std::array::from_fn(|_| Entry::empty()))));
        Ok(Self { buckets, generation: AtomicU8::new(0), imports: Imports::default() })
    }

    /// The size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
    }

    /// Makes what is stored from now on newer than all that was stored before.
    pub fn new_generation(&self) {
        let next = (self.generation.load(Ordering::Relaxed) + 1) % GENERATIONS;
        self.generation.store(next, Ordering::Relaxed);
    }

    /// Forgets everything, the counts of imports included.
    pub fn clear(&self) {
        for entry in self.buckets.iter().flat_map(|bucket| &bucket.0) {
            entry.check.store(0, Ordering::Relaxed);
            entry.data.store(0, Ordering::Relaxed);
        }
        self.generation.store(0, Ordering::Relaxed);
        self.imports.entries.store(0, Ordering::Relaxed);
        self.imports.cutoffs.store(0, Ordering::Relaxed);
    }

    /// Entries that came from other tables since it was made or cleared, whether they still are here or not.
    #[must_use]
    pub fn imported_entries(&self) -> u64 {
        self.imports.entries.load(Ordering::Relaxed)
    }

    /// Nodes that an imported entry decided since the table was made or cleared.
    #[must_use]
    pub fn imported_cutoffs(&self) -> u64 {
        self.imports.cutoffs.load(Ordering::Relaxed)
    }

    #[cold]
    pub(crate) fn count_imported_cutoff(&self) {
        self.imports.cutoffs.fetch_add(1, Ordering::Relaxed);
    }

    #[inline(always)]
    fn bucket(&self, key: u64) -> &Bucket {
        // Multiply-shift: a uniform key to a uniform index without a division, for any size.
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        #[expect(clippy::cast_possible_truncation, reason = "below the length, which is a usize")]
        &self.buckets[index as usize]
    }

    /// Asks the processor to load a position's entries.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: u64) {
        prefetch(self.bucket(key));
    }

    /// What is known about the position with this key.
    #[inline]
    #[must_use]
    pub fn probe(&self, key: u64) -> Option<Hit> {
        self.bucket(key).0.iter().find_map(|entry| {
            let data = entry.data.load(Ordering::Relaxed);
            let matches = entry.check.load(Ordering::Relaxed) ^ data == key;
            if matches { Data(data).hit() } else { None }
        })
    }

    /// Stores what was found about a position. A deeper entry of the same position and generation is kept, unless the
    /// new score is exact.
    #[inline]
    pub fn store(&self, key: u64, hit: Hit) {
        let generation = self.generation.load(Ordering::Relaxed);
        let bucket = self.bucket(key);
        let mut victim = &bucket.0[0];
        let mut least = i32::MAX;
        let mut mv = hit.mv;
        for entry in &bucket.0 {
            let data = Data(entry.data.load(Ordering::Relaxed));
            if entry.check.load(Ordering::Relaxed) ^ data.0 == key && data.0 != 0 {
                let fresh = data.generation() == generation;
                if fresh && data.depth() > hit.depth.saturating_add(2) && hit.bound != Bound::Exact {
                    return;
                }
                mv = mv.or_else(|| data.mv());
                victim = entry;
                break;
            }
            let worth = data.worth(generation);
            if worth < least {
                least = worth;
                victim = entry;
            }
        }
        victim.set(key, Data::new(Hit { mv, ..hit }, generation));
    }

    /// Takes in another table's result, under the key of the canonical position. It makes room only where an own result is
    /// not: a deeper one of the same position stays, and at equal depth only exact replaces a bound; of other positions'
    /// entries, those of this generation that are deeper stay.
    pub fn import(&self, entry: &SharedEntry) {
        let generation = self.generation.load(Ordering::Relaxed);
        let hit = Hit {
            mv: entry.mv,
            score: entry.score,
            eval: None,
            depth: entry.depth,
            bound: entry.bound,
            imported: true,
        };
        let bucket = self.bucket(entry.key);
        let same = bucket.0.iter().find_map(|place| Some((place, place.get(entry.key)?)));
        if let Some((place, data)) = same {
            let known = data.hit().map(|hit| hit.rank());
            if known < Some(entry.rank()) {
                place.set(entry.key, Data::new(Hit { mv: hit.mv.or_else(|| data.mv()), ..hit }, generation));
                self.imports.entries.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        let places =
            bucket.0.iter().map(|place| (place, Data(place.data.load(Ordering::Relaxed)).worth(generation)));
        if let Some((place, worth)) = places.min_by_key(|&(_, worth)| worth)
            && worth <= i32::from(entry.depth)
        {
            place.set(entry.key, Data::new(hit, generation));
            self.imports.entries.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Hit {
    const fn rank(&self) -> Rank {
        Rank::of(self.score, self.bound, self.depth)
    }
}

impl Entry {
    const fn empty() -> Self {
        Self { check: AtomicU64::new(0), data: AtomicU64::new(0) }
    }

    /// What it holds of the position with this key.
    #[inline(always)]
    fn get(&self, key: u64) -> Option<Data> {
        let data = self.data.load(Ordering::Relaxed);
        let matches = self.check.load(Ordering::Relaxed) ^ data == key && data != 0;
        matches.then_some(Data(data))
    }

    #[inline(always)]
    fn set(&self, key: u64, data: Data) {
        self.check.store(key ^ data.0, Ordering::Relaxed);
        self.data.store(data.0, Ordering::Relaxed);
    }
}

/// bits 0..16 score, 16..32 evaluation, 32..40 move (0 for none, else index + 1), 40..48 depth, 48..50 bound (never 0 in
/// a filled entry), 50..56 generation, 56 imported.
#[derive(Copy, Clone)]
struct Data(u64);

impl Data {
    #[inline(always)]
    #[expect(clippy::cast_sign_loss, reason = "two's complement in a field of its own width")]
    fn new(hit: Hit, generation: u8) -> Self {
        let mv = hit.mv.map_or(0, |mv| mv.index() + 1);
        let eval = hit.eval.map_or(NO_EVAL, to_i16);
        Self(
            u64::from(to_i16(hit.score) as u16)
                | u64::from(eval as u16) << 16
                | u64::from(mv) << 32
                | u64::from(hit.depth) << 40
                | (hit.bound as u64) << 48
                | u64::from(generation) << 50
                | u64::from(hit.imported) << 56,
        )
    }

    #[inline(always)]
    const fn byte(self, shift: u32) -> u8 {
        self.0.to_le_bytes()[shift as usize / 8]
    }

    #[inline(always)]
    const fn depth(self) -> u8 {
        self.byte(40)
    }

    #[inline(always)]
    const fn generation(self) -> u8 {
        self.byte(48) >> 2
    }

    /// How much it is worth to keep: the emptiest least, then the oldest, then the shallowest.
    #[inline(always)]
    fn worth(self, generation: u8) -> i32 {
        let age = i32::from((GENERATIONS + generation - self.generation()) % GENERATIONS);
        if self.0 == 0 { i32::MIN } else { i32::from(self.depth()) - 8 * age }
    }

    #[inline(always)]
    fn mv(self) -> Option<Move> {
        self.byte(32).checked_sub(1).and_then(Move::from_index)
    }

    #[inline(always)]
    fn hit(self) -> Option<Hit> {
        let bound = match self.byte(48) & 3 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            3 => Bound::Exact,
            _ => return None,
        };
        let score = i16::from_le_bytes([self.byte(0), self.byte(8)]);
        let eval = i16::from_le_bytes([self.byte(16), self.byte(24)]);
        Some(Hit {
            mv: self.mv(),
            score: score.into(),
            eval: (eval != NO_EVAL).then(|| eval.into()),
            depth: self.depth(),
            bound,
            imported: self.byte(56) != 0,
        })
    }
}

/// A score of the search, which counts wins from `height` plies above the position, as the table keeps it.
#[inline(always)]
pub(crate) fn score_to_table(score: Score, height: Score) -> Score {
    match score {
        win if win > MAX_CM => win + height,
        loss if loss < -MAX_CM => loss - height,
        cm => cm,
    }
}

/// The inverse of [`score_to_table`].
#[inline(always)]
pub(crate) fn score_from_table(score: Score, height: Score) -> Score {
    match score {
        win if win > MAX_CM => win - height,
        loss if loss < -MAX_CM => loss + height,
        cm => cm,
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(unsafe_code, reason = "a prefetch has no safe form; it reads nothing and cannot fault")]
fn prefetch(bucket: &Bucket) {
    // SAFETY: a prefetch is a hint without effect on memory, and the address is that of a live reference.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
            std::ptr::from_ref(bucket).cast(),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch(_bucket: &Bucket) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;
    use crate::score::win_in;

    fn hit(depth: u8, score: Score, bound: Bound) -> Hit {
        Hit { mv: Move::from_index(77), score, eval: Some(-123), depth, bound, imported: false }
    }

    #[test]
    fn what_is_stored_is_found_and_nothing_else() {
        let table = TranspositionTable::new(1 << 16).unwrap();
        for score in [0, 1, -1, MAX_CM, -MAX_CM, win_in(3), -win_in(200)] {
            let stored = hit(9, score, Bound::Exact);
            table.store(0x1234_5678_9abc_def0, stored);
            assert_eq!(table.probe(0x1234_5678_9abc_def0), Some(stored));
            assert_eq!(table.probe(0x1234_5678_9abc_def1), None);
        }
    }

    #[test]
    fn a_torn_entry_is_a_miss() {
        let table = TranspositionTable::new(64).unwrap();
        table.store(1, hit(3, 10, Bound::Lower));
        for entry in &table.buckets[0].0 {
            let data = entry.data.load(Ordering::Relaxed);
            if data != 0 {
                // Half of another writer's entry.
                entry.data.store(data ^ 0xff, Ordering::Relaxed);
            }
        }
        assert_eq!(table.probe(1), None);
    }

    #[test]
    fn deeper_and_newer_stay() {
        let table = TranspositionTable::new(64).unwrap();
        for depth in 1..=4 {
            table.store(u64::from(depth), hit(depth, 0, Bound::Exact));
        }
        table.store(5, hit(1, 0, Bound::Exact));
        assert_eq!(table.probe(1), None, "the shallowest makes room");
        table.new_generation();
        table.store(6, hit(1, 0, Bound::Exact));
        assert_eq!(table.probe(5), None, "then the shallowest of the oldest");
        assert!(table.probe(4).is_some());
        table.store(4, hit(1, 7, Bound::Lower));
        table.store(4, hit(9, 8, Bound::Lower));
        table.store(4, hit(2, 9, Bound::Upper));
        assert_eq!(
            table.probe(4).map(|hit| hit.score),
            Some(8),
            "a shallow bound does not replace a deep one"
        );
    }

    fn entry(key: u64, depth: u8, score: Score, bound: Bound) -> SharedEntry {
        SharedEntry { key, turn: Color::White, score, bound, depth, mv: Move::from_index(5) }
    }

    #[test]
    fn an_import_replaces_what_is_worth_less_of_the_same_position() {
        let table = TranspositionTable::new(64).unwrap();
        let score = || table.probe(1).map(|hit| (hit.score, hit.imported));
        table.store(1, hit(5, 10, Bound::Lower));
        table.import(&entry(1, 4, 20, Bound::Exact));
        assert_eq!(score(), Some((10, false)), "a deeper own one stays");
        table.import(&entry(1, 5, 30, Bound::Upper));
        assert_eq!(score(), Some((10, false)), "a bound replaces no bound of the same depth");
        assert_eq!((table.imported_entries(), table.imported_cutoffs()), (0, 0));
        table.import(&entry(1, 5, 40, Bound::Exact));
        assert_eq!(score(), Some((40, true)), "exact replaces a bound");
        assert_eq!(table.probe(1).map(|hit| hit.eval), Some(None), "nobody sends evaluations");
        table.import(&SharedEntry { mv: None, ..entry(1, 7, 50, Bound::Lower) });
        assert_eq!(table.probe(1).map(|hit| (hit.score, hit.mv)), Some((50, Move::from_index(5))));
        table.import(&entry(1, 2, win_in(6), Bound::Lower));
        assert_eq!(score(), Some((win_in(6), true)), "a proof is the deepest of all");
        assert_eq!(table.imported_entries(), 3);
        table.store(1, hit(9, 60, Bound::Exact));
        assert_eq!(score(), Some((60, false)), "own results are stored as ever");
        table.clear();
        assert_eq!((table.imported_entries(), table.probe(1)), (0, None));
    }

    #[test]
    fn an_import_takes_the_room_of_what_is_shallower_or_old() {
        let table = TranspositionTable::new(64).unwrap();
        for key in 1..=4 {
            table.store(key, hit(6, 0, Bound::Exact));
        }
        table.import(&entry(5, 5, 0, Bound::Exact));
        assert_eq!(
            (table.probe(5), table.imported_entries()),
            (None, 0),
            "deeper ones of this generation stay"
        );
        table.import(&entry(5, 6, 0, Bound::Exact));
        assert!(table.probe(5).is_some_and(|hit| hit.imported));
        table.new_generation();
        table.import(&entry(6, 0, 0, Bound::Upper));
        assert!(table.probe(6).is_some_and(|hit| hit.imported), "older ones make room");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert_eq!(TranspositionTable::new(63).err(), Some(TableError::TooSmall(63)));
        assert_eq!(TranspositionTable::new(1 << 60).err(), Some(TableError::OutOfMemory(1 << 60)));
    }

    #[test]
    fn wins_are_kept_relative_to_the_position() {
        let at_height_3 = win_in(8);
        let kept = score_to_table(at_height_3, 3);
        assert_eq!(kept, win_in(5));
        assert_eq!(score_from_table(kept, 6), win_in(11));
        assert_eq!(score_from_table(score_to_table(-120, 9), 2), -120);
    }
}
