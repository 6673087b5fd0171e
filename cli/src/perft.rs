//! `corridor perft`: how many move sequences there are.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use corridor_shared::perft::perft;
use corridor_shared::{Move, Position};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::failure::Failure;
use crate::position_args::PositionArgs;
use crate::signals::Interrupts;
use crate::{out, units};

/// No position has more than 136 moves: nine plies of them fit 64 bits, ten would not.
const MAX_DEPTH: u8 = 9;

/// The most threads that can be asked for.
const MAX_THREADS: u16 = 256;

/// What `perft` is told.
#[derive(Args)]
#[command(override_usage = "corridor perft (--moves <MOVES> | --position <TEXT>) --depth <D> [OPTIONS]")]
pub(crate) struct Arguments {
    #[command(flatten)]
    position: PositionArgs,

    /// Plies to count, 1 to 9
    #[arg(long, value_name = "D", value_parser = units::whole(1..=MAX_DEPTH))]
    depth: u8,

    /// Also show the count below each move
    #[arg(long)]
    divide: bool,

    /// Threads to count with, 1 to 256
    #[arg(long, value_name = "N", env = "CORRIDOR_THREADS", default_value_t = 1,
          value_parser = units::whole(1..=MAX_THREADS))]
    threads: u16,
}

#[derive(Serialize)]
struct Report {
    depth: u8,
    nodes: u64,
    seconds: f64,
    nodes_per_second: u64,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_map")]
    divide: Option<Vec<(Move, u64)>>,
}

/// `{"e2":132,...}` in the order of the moves.
#[expect(clippy::ref_option, reason = "serde hands the field over by reference")]
fn as_map<S: Serializer>(divide: &Option<Vec<(Move, u64)>>, serializer: S) -> Result<S::Ok, S::Error> {
    let rows = divide.as_deref().unwrap_or_default();
    let mut map = serializer.serialize_map(Some(rows.len()))?;
    for (mv, nodes) in rows {
        map.serialize_entry(&mv.to_string(), nodes)?;
    }
    map.end()
}

/// Counts and reports; after an interrupt, the root moves that are finished.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let interrupts = Interrupts::listen()?;
    let position = arguments.position.resolve()?;
    let started = Instant::now();
    let overseer = Overseer { interrupts, seen: AtomicU64::new(0) };
    let counts = count(&position, arguments.depth, usize::from(arguments.threads), &overseer);
    let elapsed = started.elapsed();
    let all = counts.len();
    let below: Vec<(Move, u64)> =
        counts.into_iter().filter_map(|(mv, nodes)| nodes.map(|nodes| (mv, nodes))).collect();
    let finished = below.len();
    let nodes = below.iter().map(|(_, nodes)| nodes).sum();
    let report = Report {
        depth: arguments.depth,
        nodes,
        seconds: elapsed.as_secs_f64(),
        nodes_per_second: units::per_second(nodes, elapsed),
        divide: arguments.divide.then_some(below),
    };
    if json { out::json(&report) } else { out::text(&page(&report, elapsed)) }?;
    if finished < all {
        return Err(Failure::interrupted(&format!(
            "{finished} of {all} root moves are counted, and only these are in the result; {} nodes were seen in all",
            units::grouped(overseer.seen.into_inner())
        )));
    }
    Ok(())
}

/// What is counted in one go, so that an interrupt is heard soon: some milliseconds' worth.
const DEAF_PLIES: u8 = 3;

/// What the threads share: when to stop, and how far they have come.
struct Overseer {
    interrupts: Interrupts,
    seen: AtomicU64,
}

/// [`perft`], or `None` after an interrupt.
fn count_below(position: &Position, depth: u8, overseer: &Overseer) -> Option<u64> {
    if overseer.interrupts.seen() {
        return None;
    }
    if depth <= DEAF_PLIES {
        let nodes = perft(position, depth);
        overseer.seen.fetch_add(nodes, Ordering::Relaxed);
        return Some(nodes);
    }
    let moves = position.legal_moves();
    moves.iter().map(|&mv| count_below(&position.after(mv), depth - 1, overseer)).sum()
}

/// The count below each move of the root, by so many threads that each take the next piece of work; `None` where an
/// interrupt came first.
fn count(root: &Position, depth: u8, threads: usize, overseer: &Overseer) -> Vec<(Move, Option<u64>)> {
    let moves = root.legal_moves();
    let Some(below) = depth.checked_sub(2) else {
        return moves.iter().map(|&mv| (mv, Some(1))).collect();
    };
    // Two plies make enough pieces for any number of threads to end at about the same time.
    let pieces: Vec<(usize, Position)> = moves
        .iter()
        .enumerate()
        .map(|(index, &mv)| (index, root.after(mv)))
        .flat_map(|(index, child)| {
            child.legal_moves().iter().map(move |&reply| (index, child.after(reply))).collect::<Vec<_>>()
        })
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counts = vec![Some(0u64); moves.len()];
        while let Some((index, position)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let nodes = count_below(position, below, overseer);
            counts[*index] = counts[*index].zip(nodes).map(|(total, nodes)| total + nodes);
        }
        counts
    };
    let mut totals = vec![Some(0u64); moves.len()];
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        // A helper that panicked has already said so; its pieces are missing, so the panic goes on.
        let others = helpers
            .into_iter()
            .map(|helper| helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        for counts in others.chain([own]) {
            for (total, count) in totals.iter_mut().zip(counts) {
                *total = total.zip(count).map(|(total, count)| total + count);
            }
        }
    });
    moves.iter().copied().zip(totals).collect()
}

fn page(report: &Report, elapsed: Duration) -> String {
    let mut text = String::new();
    if let Some(rows) = &report.divide {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_BORDERS_ONLY).set_header(["move", "nodes"]);
        for (mv, nodes) in rows {
            table.add_row([mv.to_string(), units::grouped(*nodes)]);
        }
        if let Some(column) = table.column_mut(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        text.push_str(&format!("{table}\n"));
    }
    text.push_str(&format!(
        "depth {}: {} nodes in {:.3} s, {} nodes/s\n",
        report.depth,
        units::grouped(report.nodes),
        elapsed.as_secs_f64(),
        units::grouped(report.nodes_per_second),
    ));
    text
}
