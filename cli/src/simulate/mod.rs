//! `corridor simulate`: what a cluster of so many workers would do, by the real planner and the real search in virtual
//! time.

mod virtual_cluster;
mod virtual_worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Args;
use corridor_shared::Position;
use corridor_shared::job::{JobLimits, JobSpec, RootPrune};
use corridor_shared::search::{Limits, Searcher, Undisturbed};
use corridor_shared::tt::TranspositionTable;

use crate::failure::Failure;
use crate::units;
use virtual_cluster::{Outcome, World};

/// What `simulate` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Numbers of workers
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', default_value = "1,2,4,8,16,32")]
    workers: Vec<usize>,
    /// Positions, one a line
    #[arg(long, value_name = "FILE")]
    positions: PathBuf,
    /// Plies
    #[arg(long, value_name = "D")]
    depth: Option<u8>,
    /// Bare nodes: each position is searched to the first depth that takes the bare search so many
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    nodes: u64,
    /// Round trip
    #[arg(long, value_name = "T", default_value = "500us", value_parser = units::duration)]
    rtt: Duration,
    /// Message cost
    #[arg(long, value_name = "T", default_value = "10us", value_parser = units::duration)]
    message_cost: Duration,
    /// Table
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = units::table_size)]
    hash: u64,
    /// Split at the root only
    #[arg(long)]
    root_only: bool,
    /// Without the shared cache
    #[arg(long)]
    no_exchange: bool,
    /// Entries of the shared cache that the coordinator sends in a second
    #[arg(long, default_value_t = 1_000_000)]
    exchange_rate: u64,
    /// Max positions
    #[arg(long, default_value_t = 1000)]
    first: usize,
}

struct Bare {
    depth: u8,
    nodes: u64,
}

fn bare(position: &Position, depth: Option<u8>, nodes: u64, bytes: usize) -> Bare {
    struct UntilEnough(u64, u8);
    impl corridor_shared::search::SearchHandler for UntilEnough {
        fn poll(&mut self, _nodes: u64) -> corridor_shared::search::Directive {
            corridor_shared::search::Directive::Continue
        }
        fn iteration(
            &mut self,
            report: &corridor_shared::search::IterationReport,
        ) -> corridor_shared::search::Directive {
            self.1 = report.depth;
            if report.nodes >= self.0 {
                corridor_shared::search::Directive::Stop
            } else {
                corridor_shared::search::Directive::Continue
            }
        }
    }
    let table = Arc::new(TranspositionTable::new(bytes).expect("a table"));
    let mut searcher = Searcher::new(table);
    match depth {
        Some(depth) => {
            let report = searcher.analyze(position, &Limits::depth(depth), &mut Undisturbed);
            Bare { depth, nodes: report.nodes }
        }
        None => {
            let mut handler = UntilEnough(nodes, 0);
            let report = searcher.analyze(position, &Limits::depth(100), &mut handler);
            Bare { depth: handler.1, nodes: report.nodes }
        }
    }
}

fn spec(position: Position, depth: u8) -> JobSpec {
    JobSpec {
        position,
        limits: JobLimits { depth: Some(depth), ..JobLimits::default() },
        multipv: 1,
        prune: RootPrune::Cat,
        deterministic: false,
        priority: 0,
        detach: true,
        traceparent: None,
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, _json: bool) -> Result<(), Failure> {
    let text = std::fs::read_to_string(&arguments.positions).map_err(|e| Failure::bad_input(&format!("--positions: {e}")))?;
    let positions: Vec<(String, Position)> = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            let moves = line.split('\t').next_back().unwrap_or(line);
            let moves = corridor_shared::notation::parse_moves(corridor_shared::notation::Notation::Man, moves).expect("moves");
            (line.to_owned(), corridor_shared::notation::replay(&Position::start(), &moves).expect("legal"))
        })
        .take(arguments.first)
        .collect();
    let bytes = usize::try_from(arguments.hash).unwrap_or(usize::MAX);
    let next = AtomicUsize::new(0);
    let results: std::sync::Mutex<Vec<(usize, usize, u64, Outcome)>> = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, position)) = positions.get(index) else { return };
                    let bare = bare(position, arguments.depth, arguments.nodes, bytes);
                    eprintln!("{name}: depth {} nodes {}", bare.depth, bare.nodes);
                    for &workers in &arguments.workers {
                        let world = World {
                            workers,
                            round_trip: arguments.rtt,
                            message_cost: arguments.message_cost,
                            nodes_per_second: 1_000_000,
                            table_bytes: bytes,
                            root_only: arguments.root_only,
                            exchange_rate: (!arguments.no_exchange).then_some(arguments.exchange_rate),
                        };
                        let started = std::time::Instant::now();
                        let outcome = virtual_cluster::run(spec(*position, bare.depth), world).expect("an outcome");
                        let total = outcome.time.as_secs_f64() * workers as f64;
                        eprintln!(
                            "  {index} w {workers} speedup {:.2} overhead {:.3} idle {:.3} comm {:.3} messages {} units {} exchanged {} {} {} {} time {:.2} real {:.1} score {:?} best {:?}",
                            bare.nodes as f64 / 1e6 / outcome.time.as_secs_f64(),
                            outcome.nodes as f64 / bare.nodes as f64 - 1.0,
                            outcome.idle.as_secs_f64() / total,
                            outcome.communication.as_secs_f64() / total,
                            outcome.messages,
                            outcome.spans.len(), outcome.exchanged.offered, outcome.exchanged.accepted, outcome.exchanged.sent, outcome.exchanged.dropped,
                            outcome.time.as_secs_f64(),
                            started.elapsed().as_secs_f64(),
                            outcome.done.score_white, outcome.done.best_move,
                        );
                        let mut kinds: std::collections::BTreeMap<(bool, &str), (u64, f64)> = std::collections::BTreeMap::new();
                        for span in &outcome.spans {
                            let e = kinds.entry((span.speculative, span.end)).or_default();
                            e.0 += 1;
                            e.1 += (span.to - span.from).as_secs_f64();
                        }
                        for (k, v) in kinds { eprintln!("    {k:?} {} {:.3}", v.0, v.1 / total); }
                        results.lock().unwrap().push((index, workers, bare.nodes, outcome));
                    }
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    for &workers in &arguments.workers {
        let rows: Vec<_> = results.iter().filter(|row| row.1 == workers).collect();
        let n = rows.len() as f64;
        let speedup = rows.iter().map(|r| (r.2 as f64 / 1e6 / r.3.time.as_secs_f64()).ln()).sum::<f64>() / n;
        let overhead = rows.iter().map(|r| (r.3.nodes as f64 / r.2 as f64).ln()).sum::<f64>() / n;
        let idle = rows.iter().map(|r| r.3.idle.as_secs_f64() / (r.3.time.as_secs_f64() * workers as f64)).sum::<f64>() / n;
        let comm = rows.iter().map(|r| r.3.communication.as_secs_f64() / (r.3.time.as_secs_f64() * workers as f64)).sum::<f64>() / n;
        println!("{workers:3} speedup {:.2} overhead {:.3} idle {idle:.3} comm {comm:.3}", speedup.exp(), overhead.exp() - 1.0);
    }
    Ok(())
}
