//! The engine's inner parts, one thread: the rows of `docs/performance.md`.
#![allow(clippy::expect_used, clippy::panic, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use corridor_shared::cat::{build_corridor_attention, collect_search_moves};
use corridor_shared::race::{RaceTable, unhindered_win};
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

/// Leaves at depth 3 by copying the position for each move, and by playing and taking back in place.
fn copy_or_undo(c: &mut Criterion) {
    fn by_copy(position: &Position, depth: u8) -> u64 {
        if depth == 0 {
            return position.key() & 1;
        }
        position.legal_moves().iter().map(|&mv| by_copy(&position.after(mv), depth - 1)).sum()
    }
    fn by_undo(position: &mut Position, depth: u8) -> u64 {
        if depth == 0 {
            return position.key() & 1;
        }
        let mut sum = 0;
        for &mv in position.legal_moves().iter() {
            let undo = position.do_move(mv);
            sum += by_undo(position, depth - 1);
            position.undo_move(undo);
        }
        sum
    }
    let mut group = c.benchmark_group("make a move");
    group.sample_size(20);
    let position = middle_game();
    group.bench_function("copy", |b| b.iter(|| by_copy(black_box(&position), 3)));
    group.bench_function("undo", |b| b.iter(|| by_undo(&mut black_box(position), 3)));
    group.finish();
}

fn races(c: &mut Criterion) {
    let race: Position = "b5f2 / b1c3d3e8 / e3 e9 / 0 0 / 1".parse().expect("a position");
    c.bench_function("race/solve all", |b| b.iter(|| RaceTable::solve(black_box(&race))));
    c.bench_function("race/quick answer", |b| b.iter(|| unhindered_win(black_box(&race))));
}

fn counting(c: &mut Criterion) {
    let mut group = c.benchmark_group("perft");
    group.sample_size(10);
    group.bench_function("4/start", |b| b.iter(|| perft(black_box(&Position::start()), 4)));
    group.finish();
}

criterion_group!(benches, engine, copy_or_undo, races, counting);
criterion_main!(benches);
