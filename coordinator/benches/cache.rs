//! The shared cache's map at its bound, and what handing on costs: `cargo bench -p corridor-coordinator --bench cache`.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark, which fails by panicking")]

use std::hint::black_box;
use std::time::Duration;

use corridor_coordinator::cache::SharedCache;
use corridor_coordinator::limits::{MAX_BATCH_ENTRIES, MAX_CACHE_ENTRIES};
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::WorkerId;
use corridor_shared::score::Bound;
use corridor_shared::{Color, Move};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

/// Splitmix64: keys as random as real ones.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Depths as searches export them: each ply deeper is half as frequent.
    fn batch(&mut self) -> Vec<SharedEntry> {
        let entry = |_| {
            let (key, chance) = (self.next(), self.next());
            SharedEntry {
                key,
                turn: if chance & 1 == 0 { Color::White } else { Color::Black },
                score: 120,
                bound: if chance & 2 == 0 { Bound::Lower } else { Bound::Upper },
                depth: 5 + u8::try_from((chance >> 8).trailing_zeros()).expect("at most 64"),
                mv: Move::from_index(u8::try_from((chance >> 2) % 209).expect("below 209")),
            }
        };
        (0..MAX_BATCH_ENTRIES).map(entry).collect()
    }
}

/// A full cache with so many workers, who take what they get.
fn offers(c: &mut Criterion) {
    let mut group = c.benchmark_group("offer a batch");
    group.throughput(Throughput::Elements(u64::try_from(MAX_BATCH_ENTRIES).expect("few")));
    for workers in [1, 2, 8, 32] {
        let cache = SharedCache::new(MAX_CACHE_ENTRIES);
        let peers: Vec<_> = (1..=workers)
            .map(|number| {
                cache.admit(WorkerId(number));
                cache.join(WorkerId(number), Duration::ZERO, || ()).expect("a session")
            })
            .collect();
        let mut random = Random(7);
        while cache.counts().offered < 2 * u64::try_from(MAX_CACHE_ENTRIES).expect("few") {
            cache.offer(WorkerId(9_999), &random.batch());
        }
        group.bench_function(format!("{workers} workers"), |b| {
            b.iter_batched(
                || random.batch(),
                |batch| {
                    cache.offer(WorkerId(1), &batch);
                    for peer in &peers {
                        black_box(cache.take(peer, usize::MAX));
                    }
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();

    let cache = SharedCache::new(MAX_CACHE_ENTRIES);
    let mut random = Random(7);
    let mut known = Vec::new();
    for _ in 0..MAX_CACHE_ENTRIES / MAX_BATCH_ENTRIES / 2 {
        let batch = random.batch();
        known.push(batch[0].key);
        cache.offer(WorkerId(1), &batch);
    }
    let mut line = known.chunks_exact(16).cycle();
    c.bench_function("seeds for a line of 16", |b| {
        b.iter(|| cache.seeds(WorkerId(2), line.next().expect("a line").iter().copied(), 64));
    });
}

criterion_group!(benches, offers);
criterion_main!(benches);
