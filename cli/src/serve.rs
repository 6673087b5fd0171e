//! `corridor serve`: coordinator and workers in one process, for clients elsewhere.

use clap::Args;
use corridor_coordinator::Config;

use crate::analyze::CrewArgs;
use crate::coordinator::{self, ListenArgs};
use crate::failure::Failure;
use crate::local_cluster::LocalCluster;
use crate::signals::Interrupts;
use crate::{logging, out, runtime};

/// What `serve` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    listen: ListenArgs,

    #[command(flatten)]
    crew: CrewArgs,
}

/// Serves until a signal asks for an end.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut interrupts = Interrupts::listen_as_server()?;
    logging::start_as_server().map_err(|error| Failure::bad_input(&error))?;
    let crew = arguments.crew.crew()?;
    runtime::run(async {
        let coordinator = coordinator::start(&arguments.listen, Config::default()).await?;
        let cluster = LocalCluster::with_crew(coordinator, crew).await?;
        out::notice(&format!("serve: {} workers", crew.workers));
        interrupts.wait().await;
        out::notice("serve: stopping");
        cluster.stop().await;
        Ok(())
    })
}
