//! `corridor simulate`: what a cluster of so many workers would do, by the real planner and the real search in virtual
//! time.

mod bare;
mod positions;
mod schedule;
mod virtual_cluster;
mod virtual_worker;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use corridor_shared::Position;
use corridor_shared::book::canonical;
use corridor_shared::job::JobSpec;
use corridor_shared::search::MAX_DEPTH;
use corridor_shared::tt::TranspositionTable;
use serde::Serialize;

use crate::failure::Failure;
use crate::signals::Interrupts;
use crate::{memory, out, units};
use bare::{Bare, Goal};
use positions::Named;
use virtual_cluster::{Outcome, Work, World};

/// What `simulate` is told.
#[derive(Args)]
#[command(
    override_usage = "corridor simulate (--positions <FILE> | --book <FILE>) (--depth <D> | --nodes <N>) [OPTIONS]"
)]
pub(crate) struct Arguments {
    /// Numbers of workers, separated by commas, each 1 to 256
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "1,2,4,8,16,32", value_parser = units::whole(1..=256usize))]
    workers: Vec<usize>,

    /// The positions, one a line: moves, a position text, or a name, a tab and either
    #[arg(long, value_name = "FILE", required_unless_present = "book", conflicts_with = "book")]
    positions: Option<PathBuf>,

    /// Instead: the positions as a book, whose analysis is one job; with --depth
    #[arg(long, value_name = "FILE", conflicts_with = "nodes")]
    book: Option<PathBuf>,

    /// Plies to which each position is searched, 1 to 100
    #[arg(long, value_name = "D", value_parser = units::whole(1..=MAX_DEPTH), conflicts_with = "nodes", required_unless_present = "nodes")]
    depth: Option<u8>,

    /// Instead: each position to the first depth that takes the bare search so many positions
    #[arg(long, value_name = "N", value_parser = units::whole(1..=u64::MAX))]
    nodes: Option<u64>,

    /// Round trip between coordinator and workers
    #[arg(long, value_name = "T", default_value = "500us", value_parser = units::duration)]
    rtt: Duration,

    /// What a message costs the coordinator
    #[arg(long, value_name = "T", default_value = "10us", value_parser = units::duration)]
    message_cost: Duration,

    /// What each unit in a message costs it
    #[arg(long, value_name = "T", default_value = "20us", value_parser = units::duration)]
    unit_cost: Duration,

    /// Positions that a worker visits in a second
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = units::whole(1_000..=1_000_000_000u64))]
    rate: u64,

    /// Transposition table of each worker, and of the bare search
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = units::table_size)]
    hash: u64,

    /// Split at the root and nowhere else
    #[arg(long)]
    root_only: bool,

    /// Without the shared cache
    #[arg(long)]
    no_exchange: bool,

    /// Entries of the shared cache that the coordinator can send in a second, over all links
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = units::whole(1..=1_000_000_000u64))]
    exchange_rate: u64,

    /// Also write who worked on what, when, into this file, a JSON object a line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Also draw it: the first position with the last number of workers
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Arguments {
    fn goal(&self) -> Goal {
        match (self.depth, self.nodes) {
            (Some(depth), _) => Goal::Depth(depth),
            (None, nodes) => Goal::Nodes(nodes.unwrap_or(1)),
        }
    }

    fn world(&self, workers: usize) -> World {
        World {
            workers,
            round_trip: self.rtt,
            message_cost: self.message_cost,
            unit_cost: self.unit_cost,
            nodes_per_second: self.rate,
            table_bytes: self.table_bytes(),
            root_only: self.root_only,
            exchange_rate: (!self.no_exchange).then_some(self.exchange_rate),
        }
    }

    fn tasks(&self) -> Result<Vec<Task>, Failure> {
        let Some(file) = &self.book else {
            let file = self.positions.as_deref().unwrap_or(Path::new(""));
            let task = |named: Named| Task { name: named.name, positions: vec![named.position] };
            return Ok(positions::read("--positions", file)?.into_iter().map(task).collect());
        };
        let mut seen = BTreeSet::new();
        // Of a position and its mirror image a book has one.
        let positions = positions::read("--book", file)?.into_iter().map(|named| canonical(&named.position));
        let positions = positions.filter(|position| seen.insert(position.key())).collect();
        Ok(vec![Task { name: file.display().to_string(), positions }])
    }

    /// What the parser cannot see.
    fn check(&self) -> Result<(), Failure> {
        if self.trace.is_some() && self.trace == self.svg {
            return Err(Failure::bad_input(&"--svg: the same file as --trace"));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.workers.iter().find(|&&workers| !seen.insert(workers)) {
            return Err(Failure::bad_input(&format!("--workers: {twice} is there twice")));
        }
        // Each virtual worker has a table, and so has the bare search.
        let tables = self.workers.iter().max().copied().unwrap_or(1) + 1;
        memory::bytes_per_worker(Some(self.hash), tables).map_err(|error| Failure::bad_input(&error))?;
        Ok(())
    }

    fn table_bytes(&self) -> usize {
        usize::try_from(self.hash).unwrap_or(usize::MAX)
    }
}

/// Something to simulate: a position, or all of a book.
struct Task {
    name: String,
    positions: Vec<Position>,
}

impl Task {
    fn work(&self, arguments: &Arguments, bare: Bare) -> Work {
        match self.positions.first() {
            Some(position) if arguments.book.is_none() => {
                Work::Position(JobSpec { detach: true, ..JobSpec::new(*position).to_depth(bare.depth) })
            }
            _ => Work::Book(self.positions.clone(), bare.depth),
        }
    }
}

/// One task with one number of workers.
struct Sample {
    index: usize,
    workers: usize,
    bare: Bare,
    outcome: Outcome,
}

/// One number of workers, over all positions: geometric means of ratios and times, arithmetic ones of shares.
#[derive(Serialize)]
struct Row {
    workers: usize,
    speedup: f64,
    search_overhead: f64,
    idle: f64,
    communication: f64,
    time_to_depth_s: f64,
}

/// Runs all positions with all numbers of workers; after an interrupt, tells of those that are done.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let tasks = arguments.tasks()?;
    for (flag, path) in [("--trace", &arguments.trace), ("--svg", &arguments.svg)] {
        path.as_ref().map_or(Ok(()), |path| out::check_writable(flag, path))?;
    }
    arguments.check()?;
    let interrupts = Interrupts::listen()?;
    let samples = simulate(arguments, &tasks, &interrupts)?;
    let wanted = tasks.len() * arguments.workers.len();
    let rows: Vec<Row> =
        arguments.workers.iter().filter_map(|&workers| row(workers, arguments.rate, &samples)).collect();
    if json {
        rows.iter().try_for_each(out::json)?;
    } else {
        out::text(&page(&rows))?;
    }
    draw(arguments, &tasks, &samples)?;
    if samples.len() < wanted {
        let text = format!("{} of {wanted} runs are done, and the means are over those", samples.len());
        return Err(Failure::interrupted(&text));
    }
    Ok(())
}

/// Simulates on as many threads as there are processors, a task each. The results do not depend on that.
fn simulate(arguments: &Arguments, tasks: &[Task], interrupts: &Interrupts) -> Result<Vec<Sample>, Failure> {
    let (stop, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (sender, results) = channel();
    let mut samples = Vec::new();
    let mut failure = None;
    std::thread::scope(|scope| {
        for _ in 0..threads.min(tasks.len()) {
            let (sender, stop, next) = (sender.clone(), &stop, &next);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { return };
                    if !simulate_one(arguments, index, task, stop, &sender) {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match results.recv_timeout(Duration::from_millis(100)) {
                Ok(Ok(sample)) => {
                    progress(&tasks[sample.index].name, &sample, arguments.rate);
                    samples.push(sample);
                }
                Ok(Err(error)) => {
                    stop.store(true, Ordering::Relaxed);
                    failure.get_or_insert(error);
                }
                Err(RecvTimeoutError::Timeout) if interrupts.seen() => stop.store(true, Ordering::Relaxed),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    match failure.filter(|_| !interrupts.seen()) {
        Some(error) => Err(Failure::Failed(error)),
        None => {
            samples.sort_by_key(|sample: &Sample| (sample.index, sample.workers));
            Ok(samples)
        }
    }
}

/// Simulates one task. False when there is no going on.
fn simulate_one(
    arguments: &Arguments,
    index: usize,
    task: &Task,
    stop: &AtomicBool,
    results: &Sender<anyhow::Result<Sample>>,
) -> bool {
    let simulated = || -> anyhow::Result<bool> {
        let table = Arc::new(TranspositionTable::new(arguments.table_bytes())?);
        let bare = match (&task.positions[..], arguments.depth.filter(|_| arguments.book.is_some())) {
            (positions, Some(depth)) => bare::search_all(positions, depth, &table, stop),
            (positions, None) => {
                positions.first().and_then(|it| bare::search(it, arguments.goal(), table, stop))
            }
        };
        let Some(bare) = bare else { return Ok(false) };
        for &workers in &arguments.workers {
            let outcome = virtual_cluster::run(task.work(arguments, bare), arguments.world(workers), stop)?;
            if results.send(Ok(Sample { index, workers, bare, outcome })).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    };
    simulated().unwrap_or_else(|error| {
        // Whoever listens ends everything.
        let _ = results.send(Err(error));
        false
    })
}

fn progress(name: &str, sample: &Sample, rate: u64) {
    if std::io::stderr().is_terminal() {
        let (workers, bare) = (sample.workers, sample.bare);
        let speedup = ratio(bare.nodes, rate) / sample.outcome.time.as_secs_f64();
        out::notice(&format!(
            "{name}: depth {}, {} positions alone; {workers} workers: {speedup:.2} times as fast",
            bare.depth,
            units::grouped(bare.nodes)
        ));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of counts far below 2^52")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / u32::try_from(values.len()).map_or(1.0, f64::from)
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    mean(values.map(f64::ln)).exp()
}

fn row(workers: usize, rate: u64, samples: &[Sample]) -> Option<Row> {
    let samples: Vec<&Sample> = samples.iter().filter(|sample| sample.workers == workers).collect();
    if samples.is_empty() {
        return None;
    }
    let time = |sample: &Sample| sample.outcome.time.as_secs_f64();
    let all = |sample: &Sample| time(sample) * u32::try_from(workers).map_or(1.0, f64::from);
    Some(Row {
        workers,
        speedup: geometric_mean(samples.iter().map(|sample| ratio(sample.bare.nodes, rate) / time(sample))),
        search_overhead: geometric_mean(samples.iter().map(|it| ratio(it.outcome.nodes, it.bare.nodes)))
            - 1.0,
        idle: mean(samples.iter().map(|sample| sample.outcome.idle.as_secs_f64() / all(sample))),
        communication: mean(samples.iter().map(|it| it.outcome.communication.as_secs_f64() / all(it))),
        time_to_depth_s: geometric_mean(samples.iter().map(|sample| time(sample))),
    })
}

fn page(rows: &[Row]) -> String {
    let mut table = Table::new();
    let header = ["workers", "speedup", "search overhead", "idle", "communication", "time to depth"];
    table.load_preset(presets::UTF8_BORDERS_ONLY).set_width(80).set_header(header);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    for row in rows {
        table.add_row([
            row.workers.to_string(),
            format!("{:.2}", row.speedup),
            percent(row.search_overhead),
            percent(row.idle),
            percent(row.communication),
            format!("{:.3} s", row.time_to_depth_s),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{table}\n")
}

fn draw(arguments: &Arguments, tasks: &[Task], samples: &[Sample]) -> Result<(), Failure> {
    let name = |sample: &Sample| tasks[sample.index].name.as_str();
    if let Some(path) = &arguments.trace {
        let lines =
            samples.iter().map(|sample| schedule::trace(name(sample), sample.workers, &sample.outcome));
        let text = lines.collect::<serde_json::Result<String>>().map_err(anyhow::Error::new)?;
        out::file(path, &text)?;
    }
    let last = arguments.workers.last().copied();
    let drawn = samples.iter().find(|sample| sample.index == 0 && Some(sample.workers) == last);
    if let (Some(path), Some(sample)) = (&arguments.svg, drawn) {
        out::file(path, &schedule::picture(name(sample), sample.workers, &sample.outcome))?;
    }
    Ok(())
}
