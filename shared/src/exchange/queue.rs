//! Results that wait to be sent.

use std::collections::VecDeque;

use super::SharedEntry;
use crate::search::MAX_DEPTH;

/// Memory of an emptied depth that is kept for the next ones, in entries.
const KEPT_ROOM: usize = 64;

/// A bounded queue that never says no: the deepest leave first, and when it is full the shallowest make room.
#[derive(Clone, Debug)]
pub struct DepthQueue {
    by_depth: Vec<VecDeque<SharedEntry>>,
    len: usize,
    limit: usize,
    /// No entry is deeper.
    top: usize,
    /// No entry is shallower.
    bottom: usize,
}

impl DepthQueue {
    /// A queue of at most so many entries.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let depths = usize::from(MAX_DEPTH) + 1;
        Self { by_depth: vec![VecDeque::new(); depths], len: 0, limit, top: 0, bottom: 0 }
    }

    /// Entries that wait.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The most that can wait.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Adds an entry. Returns how many were dropped for it: none, or one of the shallowest, which may be itself.
    pub fn push(&mut self, entry: SharedEntry) -> usize {
        let depth = usize::from(entry.depth.min(MAX_DEPTH));
        let dropped = usize::from(self.len >= self.limit);
        if dropped > 0 {
            let Some(shallowest) = self.shallowest().filter(|&shallowest| shallowest < depth) else {
                return dropped;
            };
            self.by_depth[shallowest].pop_front();
            self.len -= 1;
        }
        (self.top, self.bottom) = match self.len {
            0 => (depth, depth),
            _ => (self.top.max(depth), self.bottom.min(depth)),
        };
        self.by_depth[depth].push_back(entry);
        self.len += 1;
        dropped
    }

    /// Takes the oldest of the deepest.
    pub fn pop(&mut self) -> Option<SharedEntry> {
        if self.len == 0 {
            return None;
        }
        while self.by_depth[self.top].is_empty() {
            self.top -= 1;
        }
        let queue = &mut self.by_depth[self.top];
        let entry = queue.pop_front();
        if queue.is_empty() && queue.capacity() > KEPT_ROOM {
            // A burst at one depth must not hold memory for ever.
            *queue = VecDeque::new();
        }
        self.len -= 1;
        entry
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    /// The depth below which an entry would be dropped at once, in plies; 0 while there is room.
    #[must_use]
    pub fn floor(&mut self) -> u8 {
        if self.len < self.limit {
            return 0;
        }
        let shallowest = self.shallowest().unwrap_or_default();
        u8::try_from(shallowest + 1).unwrap_or(u8::MAX)
    }

    fn shallowest(&mut self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        while self.by_depth[self.bottom].is_empty() {
            self.bottom += 1;
        }
        Some(self.bottom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::Color;
    use crate::score::Bound;

    fn entry(key: u64, depth: u8) -> SharedEntry {
        SharedEntry { key, turn: Color::White, score: 0, bound: Bound::Exact, depth, mv: None }
    }

    #[test]
    fn the_deepest_leave_first_and_the_shallowest_make_room() {
        let mut queue = DepthQueue::new(3);
        for (key, depth, dropped) in [(1, 5, 0), (2, 3, 0), (3, 5, 0), (4, 3, 1), (5, 2, 1), (6, 9, 1)] {
            assert_eq!(queue.push(entry(key, depth)), dropped, "entry {key}");
        }
        assert_eq!(queue.floor(), 6, "all are at least 5 deep");
        let order: Vec<u64> = std::iter::from_fn(|| queue.pop()).map(|entry| entry.key).collect();
        assert_eq!(order, [6, 1, 3]);
        assert_eq!((queue.len(), queue.floor()), (0, 0));
        assert_eq!(DepthQueue::new(0).push(entry(1, 1)), 1);
    }

    proptest! {
        /// The queue holds what a sorted list cut off at the limit holds.
        #[test]
        fn it_keeps_the_deepest(steps in prop::collection::vec(prop::option::weighted(0.8, 0_u8..120), 0..300)) {
            let mut queue = DepthQueue::new(16);
            let mut model: Vec<SharedEntry> = Vec::new();
            for (key, step) in (0..).zip(steps) {
                if let Some(depth) = step {
                    let new = entry(key, depth);
                    let rank = |entry: &SharedEntry| entry.depth.min(MAX_DEPTH);
                    model.push(new);
                    // Full: the first of the shallowest goes, the newest only if none is shallower.
                    if model.len() > 16 {
                        let least = model.iter().map(rank).min().expect("seventeen");
                        let place = if rank(&new) == least { 16 } else {
                            model.iter().position(|entry| rank(entry) == least).expect("the least")
                        };
                        model.remove(place);
                    }
                    queue.push(new);
                } else {
                    let most = model.iter().map(|entry| entry.depth.min(MAX_DEPTH)).max();
                    let place = model.iter().position(|entry| Some(entry.depth.min(MAX_DEPTH)) == most);
                    prop_assert_eq!(queue.pop(), place.map(|place| model.remove(place)));
                }
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }
}
