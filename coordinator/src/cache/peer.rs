//! One worker's end of the cache: what waits for it, what it is known to have, and which floor it gets.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use corridor_proto::limits::MAX_BATCH_ENTRIES;
use corridor_shared::exchange::{DepthQueue, SharedEntry};
use corridor_shared::job::WorkerId;

use super::floor::{FloorPolicy, Signs};
use crate::limits::EXCHANGE_QUEUE;

/// Results that a peer is remembered to have; a power of two.
const REMEMBERED: usize = 2_048;

/// What a peer has sent or been sent, lately: a memory that forgets, never one that invents.
struct Memory {
    /// The upper bits of a key, and the rank of the result.
    slots: Vec<u64>,
}

impl Memory {
    const RANK_BITS: u64 = 0x3ff;

    fn new() -> Self {
        Self { slots: vec![0; REMEMBERED] }
    }

    fn slot(entry: &SharedEntry) -> (usize, u64) {
        let index = usize::from(u16::from_le_bytes([entry.key.to_le_bytes()[0], entry.key.to_le_bytes()[1]]));
        (index % REMEMBERED, (entry.key & !Self::RANK_BITS) | u64::from(entry.rank().to_bits()))
    }

    /// Whether it is known to have this result or a better one of the position.
    fn has(&self, entry: &SharedEntry) -> bool {
        let (index, wanted) = Self::slot(entry);
        let known = self.slots[index];
        known >= wanted && known & !Self::RANK_BITS == wanted & !Self::RANK_BITS
    }

    fn note(&mut self, entry: &SharedEntry) {
        if !self.has(entry) {
            let (index, code) = Self::slot(entry);
            self.slots[index] = code;
        }
    }
}

struct State {
    queue: DepthQueue,
    memory: Memory,
    policy: FloorPolicy,
    /// Since the last look of the policy.
    seen: Signs,
}

/// One worker's exchange. It lasts until the worker's session ends or another exchange replaces it.
pub struct Peer {
    worker: WorkerId,
    state: Mutex<State>,
    floor: AtomicU8,
    closed: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("worker", &self.worker).finish_non_exhaustive()
    }
}

impl Peer {
    pub(super) fn new(worker: WorkerId, now: Duration, wake: Box<dyn Fn() + Send + Sync>) -> Self {
        let policy = FloorPolicy::new(now);
        let floor = AtomicU8::new(policy.floor());
        let queue = DepthQueue::new(EXCHANGE_QUEUE);
        let state = State { queue, memory: Memory::new(), policy, seen: Signs::default() };
        Self { worker, state: Mutex::new(state), floor, closed: AtomicBool::new(false), wake }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics under this lock, and what it guards are plain values.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose it is.
    #[must_use]
    pub const fn worker(&self) -> WorkerId {
        self.worker
    }

    /// The depth from which it gets entries, in plies.
    #[must_use]
    pub fn floor(&self) -> u8 {
        self.floor.load(Ordering::Relaxed)
    }

    /// Whether it is over: the session has ended, or another exchange has taken its place.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Entries that wait for it.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.state().queue.len()
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.state().queue.clear();
        (self.wake)();
    }

    /// Notes what it has sent itself.
    pub(super) fn sent_by_it(&self, entries: &[SharedEntry]) {
        let memory = &mut self.state().memory;
        entries.iter().for_each(|entry| memory.note(entry));
    }

    /// Lets others' entries wait for it, and wakes it when there is something to do. Returns how many were dropped for want
    /// of room.
    pub(super) fn push(&self, entries: &[SharedEntry]) -> u64 {
        let floor = self.floor();
        let mut state = self.state();
        let before = state.queue.len();
        let mut dropped = 0;
        for entry in entries {
            if entry.depth >= floor && !state.memory.has(entry) {
                dropped += state.queue.push(*entry);
            }
        }
        let dropped = u64::try_from(dropped).unwrap_or(u64::MAX);
        state.seen.dropped += dropped;
        let after = state.queue.len();
        drop(state);
        let first = before == 0 && after > 0;
        let batch = before < MAX_BATCH_ENTRIES && after >= MAX_BATCH_ENTRIES;
        if first || batch {
            (self.wake)();
        }
        dropped
    }

    /// Takes at most so many entries that wait, the deepest first; what it has meanwhile sent itself is left out.
    pub(super) fn take(&self, most: usize, into: &mut Vec<SharedEntry>) {
        let mut state = self.state();
        while into.len() < most
            && let Some(entry) = state.queue.pop()
        {
            if !state.memory.has(&entry) {
                state.memory.note(&entry);
                into.push(entry);
            }
        }
    }

    /// Notes what it says about the use of what it has received.
    pub(super) fn used(&self, received: u64, cutoffs: u64) {
        let seen = &mut self.state().seen;
        seen.received = seen.received.saturating_add(received);
        seen.cutoffs = seen.cutoffs.saturating_add(cutoffs);
    }

    /// Lets the policy look. Whether the floor has moved.
    pub(super) fn review(&self, now: Duration) -> bool {
        let mut state = self.state();
        let seen = std::mem::take(&mut state.seen);
        let signs = Signs { waiting: state.queue.len(), room: state.queue.limit(), ..seen };
        let floor = state.policy.look(now, signs);
        self.floor.swap(floor, Ordering::Relaxed) != floor
    }
}
