//! The shared cache's memory at its bound, in a process of its own: `cargo bench -p corridor-coordinator --bench
//! cache_memory`. Linux only: it reads what the system says about this process.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]

use std::time::{Duration, Instant};

use corridor_coordinator::cache::SharedCache;
use corridor_coordinator::limits::{MAX_BATCH_ENTRIES, MAX_CACHE_ENTRIES};
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::WorkerId;
use corridor_shared::score::Bound;
use corridor_shared::{Color, Move};

const OFFERS: u64 = 10_000_000;
const PAGE_BYTES: usize = 4_096;

/// What this process has in memory, in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize =
        text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * PAGE_BYTES
}

fn entry(number: u64) -> SharedEntry {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let depth = 5 + u8::try_from(z.trailing_zeros()).expect("at most 64");
    SharedEntry { key: z, turn: Color::White, score: 9, bound: Bound::Lower, depth, mv: Move::from_index(7) }
}

#[expect(clippy::cast_precision_loss, reason = "for a person")]
fn main() {
    let before = resident();
    let cache = SharedCache::new(MAX_CACHE_ENTRIES);
    // Four workers of which none takes anything: their queues are full too.
    let peers: Vec<_> = (1..=4)
        .map(|number| {
            cache.admit(WorkerId(number));
            cache.join(WorkerId(number), Duration::ZERO, || ()).expect("a session")
        })
        .collect();
    let started = Instant::now();
    let mut batch = Vec::with_capacity(MAX_BATCH_ENTRIES);
    let mut most = 0;
    for number in 0..OFFERS {
        batch.push(entry(number));
        if batch.len() == MAX_BATCH_ENTRIES || number + 1 == OFFERS {
            cache.offer(WorkerId(1 + number % 4), &batch);
            batch.clear();
        }
        if number % 100_000 == 0 {
            most = most.max(resident());
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let grown = most.max(resident()) - before;
    let bound = cache.bytes();
    let counts = cache.counts();
    println!(
        "{} offers in {seconds:.1} s, {} entries of at most {}, {} dropped on the way to {} workers",
        counts.offered,
        counts.entries,
        counts.max_entries,
        counts.dropped,
        peers.len()
    );
    let ratio = grown as f64 / bound as f64;
    println!("resident {:.1} MB, bound {:.1} MB, ratio {ratio:.3}", grown as f64 / 1e6, bound as f64 / 1e6);
    assert!(ratio <= 1.1, "beyond the bound");
}
