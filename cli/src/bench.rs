//! `corridor bench`: fixed positions at a fixed depth. The sum of the nodes is the build's signature: it changes when, and
//! only when, the search does.

use std::time::{Duration, Instant};

use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use corridor_shared::Position;
use corridor_shared::notation::{Notation, parse_moves, replay};
use corridor_shared::search::{Directive, Limits, MAX_DEPTH, SearchHandler, ThreadPool};
use serde::Serialize;

use crate::failure::Failure;
use crate::signals::Interrupts;
use crate::{memory, out, units};

/// Openings, open and walled middle games, jumps, a sealed pocket, few walls left, and a race.
const GAMES: [&str; 10] = [
    "",
    "e2 e8 e3 e7 e4 e6",
    "e2 e8 e3 e7 e4 e6 e5",
    "e2 e8 e3 e7 e4 e6 e3v d6v",
    "e2 e8 d2 e7 d3 e6 d4 e5 c4 e4",
    "a2h b1v e2 e8",
    "e2 e8 e3 e7 e4 e6 e3h f6h c6h a6h d3v e4h g4v",
    "e2 e8 d7v e7 e6h f7 e3 e3h g6h g7 h4h g8 d3 c3h c3 f5v b3 a3h f4h g9",
    "e2 d2v c2h e2h f2 e8 g2 g2h f1v e7 h2 h4h f4v e6 i2 e5 e3h e6 i3 f6h h6v f6 g5h h8h g6v",
    "d2h f4v b5h c4h a1h a3v e7h h5v e5h h7h b3h h1h a7h f8h h2h",
];

/// The table's size. It decides what is forgotten, and with that the nodes: it is part of the signature and so no option.
const TABLE_BYTES: u64 = 16 << 20;

/// What `bench` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Plies to search each position, 1 to 100
    #[arg(long, value_name = "D", default_value_t = 7, value_parser = units::whole(1..=MAX_DEPTH))]
    depth: u8,
}

#[derive(Serialize)]
struct Report {
    nodes: u64,
    seconds: f64,
    nodes_per_second: u64,
}

struct Row {
    position: Position,
    nodes: u64,
    elapsed: Duration,
}

/// Ends the search after an interrupt.
struct Interruptible(Interrupts);

impl SearchHandler for Interruptible {
    fn poll(&mut self, _nodes: u64) -> Directive {
        if self.0.seen() { Directive::Stop } else { Directive::Continue }
    }
}

/// Searches them all, each from a clean start, with one thread; after an interrupt, as many as are finished.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let mut interruptible = Interruptible(Interrupts::listen()?);
    let table = memory::table(TABLE_BYTES).map_err(|error| Failure::Failed(anyhow::anyhow!(error)))?;
    let mut pool = ThreadPool::new(1, &table);
    let mut rows = Vec::new();
    for game in GAMES {
        let position = position(game)?;
        pool.clear();
        let started = Instant::now();
        let report = pool.analyze(&position, &Limits::depth(arguments.depth), &mut interruptible);
        if interruptible.0.seen() {
            break;
        }
        rows.push(Row { position, nodes: report.nodes, elapsed: started.elapsed() });
    }
    let nodes = rows.iter().map(|row| row.nodes).sum();
    let elapsed: Duration = rows.iter().map(|row| row.elapsed).sum();
    let report =
        Report { nodes, seconds: elapsed.as_secs_f64(), nodes_per_second: units::per_second(nodes, elapsed) };
    if json { out::json(&report) } else { out::text(&page(&rows, &report)) }?;
    if rows.len() < GAMES.len() {
        return Err(Failure::interrupted(&format!(
            "{} of {} positions are searched, and their sum is not the build's signature",
            rows.len(),
            GAMES.len()
        )));
    }
    Ok(())
}

/// The positions are constants, and a test reads them all: what can fail here is the build.
fn position(game: &str) -> Result<Position, Failure> {
    let moves = parse_moves(Notation::Man, game).map_err(anyhow::Error::new)?;
    Ok(replay(&Position::start(), &moves).map_err(anyhow::Error::new)?)
}

fn page(rows: &[Row], report: &Report) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(80)
        .set_header(["position", "nodes", "ms", "nodes/s"]);
    for row in rows {
        table.add_row([
            row.position.to_string(),
            units::grouped(row.nodes),
            row.elapsed.as_millis().to_string(),
            units::grouped(units::per_second(row.nodes, row.elapsed)),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{table}\n{} nodes in {:.3} s, {} nodes/s\n",
        units::grouped(report.nodes),
        report.seconds,
        units::grouped(report.nodes_per_second)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positions_are_positions() {
        for game in GAMES {
            let position = position(game).unwrap();
            assert_eq!(position.winner(), None, "{game}");
        }
    }
}
