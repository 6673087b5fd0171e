//! The search's node rate, one thread and two, measured in turns within one run so that noise meets both alike.
//!
//! `cargo bench -p corridor-shared --bench search`; not criterion: what matters is a rate over seconds, and a ratio.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use corridor_shared::Position;
use corridor_shared::search::{Directive, Limits, SearchHandler, ThreadPool};
use corridor_shared::tt::TranspositionTable;

const ROUNDS: usize = 4;
const TIME: Duration = Duration::from_secs(3);
const TABLE_BYTES: usize = 256 << 20;

struct Until(Instant);

impl SearchHandler for Until {
    fn poll(&mut self, _nodes: u64) -> Directive {
        if Instant::now() < self.0 { Directive::Continue } else { Directive::Stop }
    }
}

/// Nodes a second over [`TIME`], and the last completed depth.
#[expect(clippy::cast_precision_loss, reason = "a rate for a person")]
fn rate(pool: &mut ThreadPool, position: &Position) -> (f64, u8) {
    pool.clear();
    let start = Instant::now();
    let report = pool.analyze(position, &Limits::default(), &mut Until(start + TIME));
    (report.nodes as f64 / start.elapsed().as_secs_f64(), report.last.depth)
}

fn main() {
    for (name, moves) in [
        ("open middle", "e2 e8 e3 e7 e4 e6"),
        ("walled middle", "e2 e8 e3 e7 e4 e6 e3h f6h c6h a6h d3v e4h g4v h6h"),
        ("standard copy", "e2 e8 e3 e7 e4 e6 d3h e6h"),
    ] {
        let position = moves.split_whitespace().fold(Position::start(), |position, token| {
            position.play(token.parse().expect("a move")).expect("a legal move")
        });
        let table = Arc::new(TranspositionTable::new(TABLE_BYTES).expect("a table"));
        let (mut one, mut two) = (ThreadPool::new(1, &table), ThreadPool::new(2, &table));
        let mut best = [0f64; 2];
        let mut depths = [0; 2];
        for _ in 0..ROUNDS {
            for (index, pool) in [&mut one, &mut two].into_iter().enumerate() {
                let (nodes_per_second, depth) = rate(pool, &position);
                best[index] = best[index].max(nodes_per_second);
                depths[index] = depths[index].max(depth);
            }
        }
        println!(
            "{name}: 1 thread {:.2} M nodes/s, depth {} in {TIME:?}; 2 threads {:.2} M nodes/s, depth {}; ratio {:.2}",
            best[0] / 1e6,
            depths[0],
            best[1] / 1e6,
            depths[1],
            best[1] / best[0],
        );
    }
}
