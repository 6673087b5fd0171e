//! Move-tree counts to depth 5, each checked against its known value on every run.
//!
//! `cargo bench -p corridor-shared --bench perft`: leaves per second are the rate that criterion reports.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

use std::hint::black_box;

use corridor_shared::notation::{Notation, parse_moves, replay};
use corridor_shared::perft::perft;
use corridor_shared::{Move, Position};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const DENSE: &str = "d5h h5h c1v b1h h3v f7h g1h a5h e2v a7v b2v g5v c3h d7h h6h";
const DENSE_COUNTS: [u64; 5] = [79, 5_978, 432_338, 29_835_465, 1_959_259_574];
const START_COUNTS: [u64; 5] = [131, 16_677, 2_062_264, 247_569_030, 28_837_934_502];

fn depths(criterion: &mut Criterion, name: &str, root: &Position, counts: [u64; 5]) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    for (depth, nodes) in (1..).zip(counts) {
        group.throughput(Throughput::Elements(nodes));
        // Depth 5 from the start takes a minute or more: it is measured only when asked for.
        if nodes > 10_000_000_000 && std::env::var_os("CORRIDOR_BENCH_DEPTH_5").is_none() {
            continue;
        }
        group.bench_function(format!("depth {depth}"), |bencher| {
            bencher.iter(|| assert_eq!(perft(black_box(root), depth), nodes));
        });
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    let moves: Vec<Move> = parse_moves(Notation::Man, DENSE).expect("the root reads");
    let dense = replay(&Position::start(), &moves).expect("the root is legal");
    depths(criterion, "perft of the start", &Position::start(), START_COUNTS);
    depths(criterion, "perft of a board full of walls", &dense, DENSE_COUNTS);
}

criterion_group!(perft_counts, benches);
criterion_main!(perft_counts);
