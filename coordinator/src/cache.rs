//! The cluster's shared transposition cache: results of all workers by canonical position, within one engine epoch, with a
//! hard bound, and handed on to whoever else can use them.
//!
//! Runtime-free: whoever carries entries over a wire (`service`) or through virtual time (a simulation) calls
//! [`SharedCache::offer`], [`SharedCache::take`] and [`SharedCache::review`] and is woken through a callback. No guard of the
//! map is held across another call of it, let alone an await. Nothing goes back to where it came from: neither what a worker
//! has sent nor what it is known to have.

mod entries;
mod floor;
mod peer;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::WorkerId;

use entries::{Entries, Offered};
pub use floor::{FloorPolicy, HIGHEST_FLOOR, LOWEST_FLOOR, REVIEW_TIME, Signs};
pub use peer::Peer;

/// While a worker has nobody to share with, only so deep entries are wanted, in plies: for those that come later.
const LONE_FLOOR: u8 = 8;

/// What the cache has done so far, and what it holds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Entries that it holds now.
    pub entries: u64,
    /// The most that it can hold.
    pub max_entries: u64,
    /// Workers that exchange now.
    pub peers: u64,
    /// Entries that workers have offered.
    pub offered: u64,
    /// Of these, new or better ones that it has kept.
    pub accepted: u64,
    /// Entries handed to workers.
    pub sent: u64,
    /// Entries that were dropped on the way to a worker, because too many waited for it.
    pub dropped: u64,
    /// Entries that workers say they have received.
    pub received: u64,
    /// Cutoffs that workers say they had from them.
    pub cutoffs: u64,
}

#[derive(Default)]
struct Counters {
    offered: AtomicU64,
    accepted: AtomicU64,
    sent: AtomicU64,
    dropped: AtomicU64,
    received: AtomicU64,
    cutoffs: AtomicU64,
}

/// Who may exchange, and who does.
#[derive(Default)]
struct Peers {
    by_worker: BTreeMap<WorkerId, Option<Arc<Peer>>>,
    /// The lowest floors and whose they are: a worker is asked for what anybody *else* wants.
    lowest: [Option<(u8, WorkerId)>; 2],
}

impl Peers {
    fn peers(&self) -> impl Iterator<Item = &Arc<Peer>> {
        self.by_worker.values().flatten()
    }

    fn floors_have_moved(&mut self) {
        let mut floors: Vec<_> = self.peers().map(|peer| (peer.floor(), peer.worker())).collect();
        floors.sort_unstable();
        self.lowest = [floors.first().copied(), floors.get(1).copied()];
    }
}

/// The worker has no session with this coordinator.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("worker: {0} has no session")]
pub struct NoSession(pub WorkerId);

/// See the module.
pub struct SharedCache {
    entries: Entries,
    peers: RwLock<Peers>,
    counters: Counters,
}

impl std::fmt::Debug for SharedCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedCache").field("counts", &self.counts()).finish()
    }
}

/// Who sent an entry, as it is kept: two workers with the same lower bits pass for one, which only leaves out a seed.
fn origin(worker: WorkerId) -> u16 {
    let bytes = worker.0.to_le_bytes();
    u16::from_le_bytes([bytes[0], bytes[1]])
}

impl SharedCache {
    /// A cache of at most so many entries, rounded down to full shards; at least two.
    #[must_use]
    pub fn new(max_entries: usize) -> Self {
        Self { entries: Entries::new(max_entries), peers: RwLock::default(), counters: Counters::default() }
    }

    /// The memory that its entries can take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.bytes()
    }

    fn with_peers<T>(&self, read: impl FnOnce(&Peers) -> T) -> T {
        // Nothing panics under this lock, and what it guards are plain values.
        read(&self.peers.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change_peers<T>(&self, change: impl FnOnce(&mut Peers) -> T) -> T {
        let mut peers = self.peers.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut peers);
        peers.floors_have_moved();
        changed
    }

    /// A worker's session has begun: it may join.
    pub fn admit(&self, worker: WorkerId) {
        self.change_peers(|peers| {
            peers.by_worker.entry(worker).or_default();
        });
    }

    /// A worker's session has ended, and with it its exchange.
    pub fn dismiss(&self, worker: WorkerId) {
        let peer = self.change_peers(|peers| peers.by_worker.remove(&worker));
        if let Some(peer) = peer.flatten() {
            peer.close();
        }
    }

    /// A worker exchanges from now on; an earlier exchange of its own is closed. `wake` is called when something waits for
    /// it, when a whole batch does, and when the exchange is closed; it must not block.
    ///
    /// # Errors
    /// The worker has no session.
    pub fn join(
        &self,
        worker: WorkerId,
        now: Duration,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Arc<Peer>, NoSession> {
        let peer = Arc::new(Peer::new(worker, now, Box::new(wake)));
        let old = self.change_peers(|peers| {
            let place = peers.by_worker.get_mut(&worker).ok_or(NoSession(worker))?;
            Ok(place.replace(Arc::clone(&peer)))
        })?;
        if let Some(old) = old {
            old.close();
        }
        Ok(peer)
    }

    /// An exchange has ended, its session perhaps not.
    pub fn leave(&self, peer: &Arc<Peer>) {
        peer.close();
        self.change_peers(|peers| {
            if let Some(place) = peers.by_worker.get_mut(&peer.worker())
                && place.as_ref().is_some_and(|current| Arc::ptr_eq(current, peer))
            {
                *place = None;
            }
        });
    }

    /// Takes in what a worker has found, and lets what is news wait for the others; from a number without a session (0 never
    /// has one), for all. Returns how many new or better entries it has kept.
    pub fn offer(&self, from: WorkerId, entries: &[SharedEntry]) -> usize {
        let origin = origin(from);
        let mut accepted = 0;
        let mut news = Vec::with_capacity(entries.len());
        for entry in entries {
            match self.entries.offer(entry, origin) {
                Offered::Known => continue,
                Offered::New | Offered::Better => accepted += 1,
                // No reason to withhold it from those who work on the same position now.
                Offered::NoRoom => {}
            }
            news.push(*entry);
        }
        let dropped = self.with_peers(|peers| {
            if let Some(Some(sender)) = peers.by_worker.get(&from) {
                sender.sent_by_it(entries);
            }
            let others = peers.peers().filter(|peer| peer.worker() != from);
            others.map(|peer| peer.push(&news)).sum()
        });
        let count = |counter: &AtomicU64, by: usize| {
            counter.fetch_add(u64::try_from(by).unwrap_or(u64::MAX), Ordering::Relaxed)
        };
        count(&self.counters.offered, entries.len());
        count(&self.counters.accepted, accepted);
        self.counters.dropped.fetch_add(dropped, Ordering::Relaxed);
        accepted
    }

    /// Takes at most so many entries that wait for a worker, the deepest first. They count as sent.
    pub fn take(&self, peer: &Peer, most: usize) -> Vec<SharedEntry> {
        let mut entries = Vec::new();
        peer.take(most, &mut entries);
        self.counters.sent.fetch_add(u64::try_from(entries.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        entries
    }

    /// Notes what a worker says about the entries that it has received since it last did: how many, and the cutoffs that
    /// came from them.
    pub fn used(&self, peer: &Peer, received: u64, cutoffs: u64) {
        peer.used(received, cutoffs);
        self.counters.received.fetch_add(received, Ordering::Relaxed);
        self.counters.cutoffs.fetch_add(cutoffs, Ordering::Relaxed);
    }

    /// Looks at how a worker gets on with what it receives, and moves its floor. To be called every [`REVIEW_TIME`].
    pub fn review(&self, peer: &Peer, now: Duration) {
        if peer.review(now) {
            self.change_peers(|_| ());
        }
    }

    /// The depth from which a worker's own results are wanted, in plies: the lowest floor of the others.
    #[must_use]
    pub fn wanted_from(&self, worker: WorkerId) -> u8 {
        let lowest = self.with_peers(|peers| peers.lowest);
        let others = lowest.into_iter().flatten().find(|&(_, peer)| peer != worker);
        others.map_or(LONE_FLOOR, |(floor, _)| floor)
    }

    /// What is known under these keys, in their order, at most so many, without what the worker has sent itself.
    #[must_use]
    pub fn seeds(&self, to: WorkerId, keys: impl IntoIterator<Item = u64>, most: usize) -> Vec<SharedEntry> {
        let known = keys.into_iter().filter_map(|key| self.entries.get(key));
        known.filter(|&(_, from)| from != origin(to)).map(|(entry, _)| entry).take(most).collect()
    }

    /// What it has done so far, and what it holds.
    #[must_use]
    pub fn counts(&self) -> CacheCounts {
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheCounts {
            entries: wide(self.entries.len()),
            max_entries: wide(self.entries.limit()),
            peers: wide(self.with_peers(|peers| peers.peers().count())),
            offered: read(&self.counters.offered),
            accepted: read(&self.counters.accepted),
            sent: read(&self.counters.sent),
            dropped: read(&self.counters.dropped),
            received: read(&self.counters.received),
            cutoffs: read(&self.counters.cutoffs),
        }
    }
}

#[cfg(test)]
mod tests;
