//! The cache between its workers.

use std::sync::atomic::AtomicUsize;

use corridor_shared::Color;
use corridor_shared::score::Bound;
use proptest::prelude::*;

use super::*;
use crate::limits::EXCHANGE_QUEUE;

const START: Duration = Duration::ZERO;

fn entry(key: u64, depth: u8) -> SharedEntry {
    let key = (key + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    SharedEntry { key, turn: Color::White, score: 5, bound: Bound::Lower, depth, mv: None }
}

/// A cache with so many workers, numbered from 1.
fn shared(workers: u64) -> (SharedCache, Vec<Arc<Peer>>) {
    let cache = SharedCache::new(1_000);
    let join = |number| {
        cache.admit(WorkerId(number));
        cache.join(WorkerId(number), START, || ()).expect("a session")
    };
    let peers = (1..=workers).map(join).collect();
    (cache, peers)
}

#[test]
fn entries_go_to_everybody_else_once() {
    let (cache, peers) = shared(3);
    let entries = [entry(1, 7), entry(2, 9)];
    assert_eq!(cache.offer(WorkerId(1), &entries), 2);
    assert_eq!(cache.take(&peers[0], 10), [], "nothing goes back to where it came from");
    for peer in &peers[1..] {
        assert_eq!(cache.take(peer, 10), [entries[1], entries[0]], "the deepest first");
        assert_eq!(cache.take(peer, 10), []);
    }
    // The second worker has the first entry by now: it is known, and nobody gets it again.
    assert_eq!(cache.offer(WorkerId(2), &entries[..1]), 0);
    assert!(peers.iter().all(|peer| peer.waiting() == 0));
    let counts = cache.counts();
    assert_eq!((counts.offered, counts.accepted, counts.sent, counts.entries, counts.peers), (3, 2, 4, 2, 3));
}

#[test]
fn what_the_coordinator_knows_goes_to_all() {
    let (cache, peers) = shared(2);
    assert_eq!(cache.offer(WorkerId(0), &[entry(1, 7)]), 1);
    assert!(peers.iter().all(|peer| cache.take(peer, 10) == [entry(1, 7)]));
    assert_eq!(cache.seeds(WorkerId(1), [entry(1, 7).key], 1), [entry(1, 7)]);
}

#[test]
fn what_a_worker_has_found_itself_meanwhile_is_not_sent_to_it() {
    let (cache, peers) = shared(2);
    cache.offer(WorkerId(1), &[entry(1, 7), entry(2, 7)]);
    assert_eq!(cache.offer(WorkerId(2), &[entry(1, 8), entry(2, 6)]), 1);
    assert_eq!(cache.take(&peers[1], 10), [entry(2, 7)], "it has one of them deeper itself");
    assert_eq!(cache.take(&peers[0], 10), [entry(1, 8)], "a deeper one of an own position is news");
}

/// What the map has forgotten is new to it, but not to those who have it.
#[test]
fn a_forgotten_entry_is_no_news_to_who_has_sent_it() {
    let (cache, peers) = shared(2);
    let forgotten = entry(0, 9);
    cache.offer(WorkerId(1), &[forgotten]);
    for key in 1..20_000 {
        cache.offer(WorkerId(3), &[entry(key, 20)]);
    }
    assert_eq!(cache.seeds(WorkerId(9), [forgotten.key], 1), [], "the map is full of others");
    cache.take(&peers[1], usize::MAX);
    let before = (peers[0].waiting(), cache.counts().dropped);
    // (Shallow in a map full of deep ones: it needs a few tries to get in.)
    assert!((0..5_000).any(|_| cache.offer(WorkerId(2), &[forgotten]) == 1));
    assert_eq!((peers[0].waiting(), cache.counts().dropped), before);
}

#[test]
fn a_full_queue_drops_the_shallowest_and_delays_nobody() {
    let (cache, peers) = shared(3);
    let many: Vec<SharedEntry> = (0..10_000).map(|key| entry(key, 8 + u8::from(key >= 7_000))).collect();
    for batch in many.chunks(100) {
        cache.offer(WorkerId(1), batch);
        // The second worker takes what it gets, the third does not.
        cache.take(&peers[1], 100);
    }
    assert_eq!((peers[1].waiting(), peers[2].waiting()), (0, EXCHANGE_QUEUE));
    let late = cache.take(&peers[2], usize::MAX);
    assert_eq!(late.iter().filter(|entry| entry.depth == 9).count(), 3_000, "all the deepest are there");
    let dropped = cache.counts().accepted - u64::try_from(late.len()).expect("few");
    assert_eq!(cache.counts().dropped, dropped);
}

#[test]
fn a_full_queue_raises_its_own_floor_and_what_others_are_asked_for() {
    let (cache, peers) = shared(3);
    let wanted = || [1, 2, 3].map(|worker| cache.wanted_from(WorkerId(worker)));
    let first = peers[0].floor();
    assert_eq!(wanted(), [first; 3]);
    let many: Vec<SharedEntry> = (0..5_000).map(|key| entry(key, 8)).collect();
    for batch in many.chunks(100) {
        cache.offer(WorkerId(1), batch);
        cache.take(&peers[1], 100);
    }
    for peer in &peers {
        cache.review(peer, REVIEW_TIME);
    }
    assert_eq!((peers[1].floor(), peers[2].floor()), (first - 1, first + 1));
    assert_eq!(wanted(), [first - 1; 3]);
    // The lowest floor of the *others* counts.
    cache.dismiss(WorkerId(1));
    assert_eq!((cache.wanted_from(WorkerId(2)), cache.wanted_from(WorkerId(3))), (first + 1, first - 1));
    // Entries below a floor do not even wait.
    let waiting = peers[2].waiting();
    cache.offer(WorkerId(2), &[entry(9_000_000, first), entry(9_000_001, first + 1)]);
    cache.take(&peers[2], 100);
    assert!(peers[2].waiting() < waiting);
    cache.dismiss(WorkerId(3));
    assert_eq!(cache.wanted_from(WorkerId(2)), LONE_FLOOR);
}

#[test]
fn useless_entries_raise_the_floor() {
    let (cache, peers) = shared(2);
    let floor = peers[1].floor();
    cache.used(&peers[1], 5_000, 3);
    cache.review(&peers[1], REVIEW_TIME);
    assert_eq!(peers[1].floor(), floor + 1);
    assert_eq!((cache.counts().received, cache.counts().cutoffs), (5_000, 3));
}

#[test]
fn only_who_has_a_session_may_join_and_a_second_exchange_replaces_the_first() {
    let cache = SharedCache::new(100);
    let refused = cache.join(WorkerId(7), START, || ()).expect_err("no session");
    assert_eq!(refused.to_string(), "worker: 7 has no session");
    cache.admit(WorkerId(7));
    let wakes = Arc::new(AtomicUsize::new(0));
    let woken = Arc::clone(&wakes);
    let count = move || {
        woken.fetch_add(1, Ordering::Relaxed);
    };
    let first = cache.join(WorkerId(7), START, count).expect("a session");
    let second = cache.join(WorkerId(7), START, || ()).expect("a session");
    assert!(first.is_closed() && !second.is_closed());
    assert_eq!(wakes.load(Ordering::Relaxed), 1, "it is told");
    cache.leave(&first);
    assert_eq!(cache.counts().peers, 1, "the second is not the first");
    cache.leave(&second);
    assert_eq!(cache.counts().peers, 0);
    let third = cache.join(WorkerId(7), START, || ()).expect("still a session");
    cache.dismiss(WorkerId(7));
    assert!(third.is_closed() && cache.join(WorkerId(7), START, || ()).is_err());
}

#[test]
fn a_waker_hears_of_the_first_entry_and_of_a_full_batch() {
    let cache = SharedCache::new(100_000);
    let wakes = Arc::new(AtomicUsize::new(0));
    let woken = Arc::clone(&wakes);
    cache.admit(WorkerId(1));
    let _peer = cache.join(WorkerId(1), START, move || {
        woken.fetch_add(1, Ordering::Relaxed);
    });
    let heard: Vec<usize> = (0..400)
        .filter(|&key| {
            let before = wakes.load(Ordering::Relaxed);
            cache.offer(WorkerId(2), &[entry(key, 9)]);
            wakes.load(Ordering::Relaxed) > before
        })
        .map(|key| usize::try_from(key).expect("few"))
        .collect();
    assert_eq!(heard, [0, corridor_proto::limits::MAX_BATCH_ENTRIES - 1]);
}

#[test]
fn seeds_come_in_the_order_of_the_line_and_never_from_their_receiver() {
    let cache = SharedCache::new(100);
    cache.offer(WorkerId(1), &[entry(1, 9), entry(3, 4)]);
    cache.offer(WorkerId(2), &[entry(2, 6)]);
    let line = || (0..5).map(|key| entry(key, 0).key);
    assert_eq!(cache.seeds(WorkerId(3), line(), 9), [entry(1, 9), entry(2, 6), entry(3, 4)]);
    assert_eq!(cache.seeds(WorkerId(3), line(), 2), [entry(1, 9), entry(2, 6)]);
    assert_eq!(cache.seeds(WorkerId(1), line(), 9), [entry(2, 6)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However offers, takes and departures are mixed: nobody gets what it has sent, or gets anything twice.
    #[test]
    fn there_is_no_echo(
        steps in prop::collection::vec((0_u64..4, 0_u64..30, 3_u8..12, any::<bool>(), 0_u8..12), 1..300)
    ) {
        let (cache, mut peers) = shared(4);
        let mut has: Vec<BTreeMap<u64, SharedEntry>> = vec![BTreeMap::new(); 4];
        for (worker, key, depth, exact, act) in steps {
            let index = usize::try_from(worker).expect("few");
            let id = WorkerId(worker + 1);
            match act {
                0 => {
                    cache.dismiss(id);
                    cache.admit(id);
                    peers[index] = cache.join(id, START, || ()).expect("a session");
                    has[index].clear();
                }
                1..6 => {
                    for got in cache.take(&peers[index], 3) {
                        let old = has[index].insert(got.key, got);
                        prop_assert!(old.is_none_or(|old| old.rank() < got.rank()), "{old:?} {got:?}");
                    }
                }
                _ => {
                    let bound = if exact { Bound::Exact } else { Bound::Upper };
                    let new = SharedEntry { bound, ..entry(key, depth) };
                    cache.offer(id, &[new]);
                    let old = has[index].entry(new.key).or_insert(new);
                    if old.rank() < new.rank() {
                        *old = new;
                    }
                }
            }
        }
    }
}
