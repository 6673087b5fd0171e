//! `corridor cancel`, `pause` and `resume`: one order for one job, and where it stands afterwards.

use clap::Args;
use corridor_proto::json::JobView;
use corridor_shared::job::JobId;

use crate::client::ClusterArgs;
use crate::failure::Failure;
use crate::jobs::work;
use crate::{out, runtime, units};

/// What each of the three is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The job's number
    #[arg(value_name = "JOB", value_parser = units::whole(1..=u64::MAX))]
    job: u64,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// What is to be done with a job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// End it with what is known.
    Cancel,
    /// Hold it.
    Pause,
    /// Let it go on.
    Resume,
}

/// Gives the order.
pub(crate) fn run(arguments: &Arguments, order: Order, json: bool) -> Result<(), Failure> {
    let client = arguments.cluster.client();
    let job = JobId(arguments.job);
    let summary = runtime::run(async {
        match order {
            Order::Cancel => client.cancel(job).await?,
            Order::Pause => client.pause(job).await?,
            Order::Resume => client.resume(job).await?,
        }
        client.get(job).await
    })?;
    if json {
        return out::json(&JobView::from(&summary));
    }
    let so_far = if summary.book.is_some() { work(&summary) } else { format!("depth {}", summary.depth) };
    out::line(&format!("job {job}: {}, {so_far}", summary.state.name()))
}
