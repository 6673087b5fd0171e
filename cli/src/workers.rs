//! `corridor workers`: who searches for a cluster.

use clap::Args;
use corridor_proto::json::WorkerView;
use corridor_shared::job::WorkerSummary;

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

/// Lists the workers.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let workers = runtime::run(arguments.cluster.client().workers())?;
    if json {
        return workers.iter().try_for_each(|worker| out::json(&WorkerView::from(worker)));
    }
    if workers.is_empty() {
        return out::line("no workers");
    }
    let headings = ["name", "slots", "units", "nodes", "nodes/s", "connected", "heard", "state"];
    let rows: Vec<_> = workers.iter().map(row).collect();
    out::line(&listing::table(headings, &rows))
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
