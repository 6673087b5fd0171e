//! What the cluster costs: `corridor analyze` with one worker against the bare search, to the same depth, in turns.
//!
//! `cargo bench -p corridor-cli --bench overhead`; with `-- two`, two workers of one thread each against one. Both have one search thread and a table of the same size; the cluster
//! runs in a process of its own, over gRPC on loopback. The least of several rounds is compared: noise only adds.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corridor_shared::Position;
use corridor_shared::search::{Limits, Searcher, Undisturbed};
use corridor_shared::tt::TranspositionTable;

const ROUNDS: usize = 2;
const TABLE_MIB: usize = 64;
/// A depth that takes the bare search at least this long is compared.
const LEAST: Duration = Duration::from_secs(5);

const POSITIONS: [(&str, &str); 8] = [
    ("start", ""),
    ("open middle", "e2 e8 e3 e7 e4 e6"),
    ("standard copy", "e2 e8 e3 e7 e4 e6 d3h e6h"),
    ("walled middle", "e2 e8 e3 e7 e4 e6 e3h f6h c6h a6h d3v e4h g4v h6h"),
    ("stonewall", "e2 e8 e3 e7 d2h e7h f2h d8h b2h"),
    ("shatranj", "d1v"),
    ("shiller", "e2 e8 e3 e7 e4 e6 c1v"),
    ("game 3, ply 20", "e2 e8 d7v e7 e6h f7 e3 e3h g6h g7 h4h g8 d3 c3h c3 f5v b3 a3h f4h g9"),
];

struct Run {
    time: Duration,
    nodes: u64,
}

fn bare(moves: &str, depth: u8) -> Run {
    let position = moves.split_whitespace().fold(Position::start(), |position, token| {
        position.play(token.parse().expect("a move")).expect("a legal move")
    });
    let table = Arc::new(TranspositionTable::new(TABLE_MIB << 20).expect("a table"));
    let mut searcher = Searcher::new(table);
    let start = Instant::now();
    let report = searcher.analyze(&position, &Limits::depth(depth), &mut Undisturbed);
    Run { time: start.elapsed(), nodes: report.nodes }
}

fn cluster(moves: &str, depth: u8, workers: u8) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_corridor"))
        .args(["analyze", "--json", "--workers", &workers.to_string(), "--hash", &format!("{TABLE_MIB}M")])
        .args(["--moves", moves, "--depth", &depth.to_string()])
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    let done: serde_json::Value =
        serde_json::from_str(text.lines().last().expect("a last line")).expect("JSON");
    assert_eq!(done["event"], "done", "{done}");
    Run {
        time: Duration::from_millis(done["elapsed_ms"].as_u64().expect("a time")),
        nodes: done["nodes"].as_u64().expect("nodes"),
    }
}

fn least(runs: &[Run]) -> &Run {
    runs.iter().min_by_key(|run| run.time).expect("a round")
}

fn main() {
    let two = std::env::args().any(|argument| argument == "two");
    let first = |moves, depth| if two { cluster(moves, depth, 1) } else { bare(moves, depth) };
    let (mut times, mut nodes) = (1.0, 1.0);
    for (name, moves) in POSITIONS {
        let depth = (6..60).find(|&depth| bare(moves, depth).time >= LEAST).expect("a depth");
        let (mut bares, mut clusters) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bares.push(first(moves, depth));
            clusters.push(cluster(moves, depth, if two { 2 } else { 1 }));
        }
        let (bare, cluster) = (least(&bares), least(&clusters));
        let time_ratio = cluster.time.as_secs_f64() / bare.time.as_secs_f64();
        let node_ratio = ratio(cluster.nodes, bare.nodes);
        (times, nodes) = (times * time_ratio, nodes * node_ratio);
        println!(
            "| {name} | {depth} | {:.2} s, {:.1} M | {:.2} s, {:.1} M | {time_ratio:.3} | {node_ratio:.3} | {:.3} |",
            bare.time.as_secs_f64(),
            ratio(bare.nodes, 1_000_000),
            cluster.time.as_secs_f64(),
            ratio(cluster.nodes, 1_000_000),
            time_ratio / node_ratio,
        );
    }
    let mean = |product: f64| product.powf(1.0 / f64::from(u32::try_from(POSITIONS.len()).unwrap_or(1)));
    let (times, nodes) = (mean(times), mean(nodes));
    println!("| geometric mean | | | | {times:.3} | {nodes:.3} | {:.3} |", times / nodes);
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}
