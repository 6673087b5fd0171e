//! `corridor workers`: who searches for a cluster.

use clap::Args;
use corridor_proto::convert::millis;
use corridor_shared::job::WorkerSummary;
use serde::Serialize;

use crate::client::ClusterArgs;
use crate::failure::Failure;
use crate::units::{grouped, span};
use crate::{listing, out, runtime};

/// What `workers` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// A worker as JSON sees it.
#[derive(Serialize)]
struct WorkerView<'a> {
    name: &'a str,
    slots: u32,
    units: u32,
    nodes: u64,
    nodes_per_second: u64,
    connected_ms: u64,
    silent_ms: u64,
    draining: bool,
}

/// Lists the workers.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let workers = runtime::run(arguments.cluster.client().workers())?;
    if json {
        return workers.iter().try_for_each(|worker| out::json(&view(worker)));
    }
    if workers.is_empty() {
        return out::line("no workers");
    }
    let headings = ["name", "slots", "units", "nodes", "nodes/s", "connected", "heard", "state"];
    let rows: Vec<_> = workers.iter().map(row).collect();
    out::line(&listing::table(headings, &rows))
}

fn view(worker: &WorkerSummary) -> WorkerView<'_> {
    WorkerView {
        name: &worker.name,
        slots: worker.slots,
        units: worker.units,
        nodes: worker.nodes,
        nodes_per_second: worker.nodes_per_second,
        connected_ms: millis(worker.connected),
        silent_ms: millis(worker.silent),
        draining: worker.draining,
    }
}

fn row(worker: &WorkerSummary) -> [String; 8] {
    [
        worker.name.clone(),
        worker.slots.to_string(),
        worker.units.to_string(),
        grouped(worker.nodes),
        grouped(worker.nodes_per_second),
        span(worker.connected),
        format!("{} ago", span(worker.silent)),
        if worker.draining { "draining" } else { "ready" }.to_owned(),
    ]
}
