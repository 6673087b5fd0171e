//! The engine's inner parts, one thread: the rows of `docs/performance.md`.
#![allow(clippy::expect_used, clippy::panic, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use corridor_shared::cat::{build_corridor_attention, collect_search_moves};
use corridor_shared::{Color, Position, perft::perft};
use criterion::{Criterion, criterion_group, criterion_main};

fn played(moves: &str) -> Position {
    moves.split_whitespace().fold(Position::start(), |position, token| {
        position.play(token.parse().expect("a move")).expect("a legal move")
    })
}

fn middle_game() -> Position {
    played("e2 e8 e3 e7 e4 e6 e3h f6h c6h a6h d3v e4h g4v h6h")
}

fn engine(c: &mut Criterion) {
    let start = Position::start();
    let middle = middle_game();
    c.bench_function("legal moves/start", |b| b.iter(|| black_box(&start).legal_moves()));
    c.bench_function("legal moves/middle", |b| b.iter(|| black_box(&middle).legal_moves()));
    c.bench_function("distance/start", |b| b.iter(|| black_box(&start).distance(Color::White)));
    c.bench_function("distance/middle", |b| b.iter(|| black_box(&middle).distance(Color::White)));
    c.bench_function("cat/start", |b| b.iter(|| build_corridor_attention(black_box(&start))));
    c.bench_function("cat/middle", |b| b.iter(|| build_corridor_attention(black_box(&middle))));
    c.bench_function("collect_search_moves/middle", |b| b.iter(|| collect_search_moves(black_box(&middle))));
}

fn counting(c: &mut Criterion) {
    let mut group = c.benchmark_group("perft");
    group.sample_size(10);
    group.bench_function("4/start", |b| b.iter(|| perft(black_box(&Position::start()), 4)));
    group.finish();
}

criterion_group!(benches, engine, counting);
criterion_main!(benches);
