//! `corridor serve`: coordinator and workers in one process, for clients elsewhere.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use corridor_coordinator::Config;

use crate::analyze::CrewArgs;
use crate::coordinator::{self, ListenArgs};
use crate::failure::Failure;
use crate::local_cluster::LocalCluster;
use crate::signals::Interrupts;
use crate::units::counted;
use crate::{listen, logging, out, runtime};

/// Where the live board is, unless somebody wants it elsewhere.
const BOARD: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4_243);
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

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
        let http = match arguments.listen.http {
            Some(address) => listen::bind("--http", address)?,
            // Nobody has asked for this port, so that any other one will do.
            None => listen::bind("--http", BOARD).or_else(|_| listen::bind("--http", ANY_PORT))?,
        };
        let coordinator = coordinator::start(&arguments.listen, Some(http), Config::default()).await?;
        let cluster = LocalCluster::with_crew(coordinator, crew).await?;
        let workers = u64::try_from(crew.workers).unwrap_or(u64::MAX);
        out::notice(&format!("serve: {}", counted(workers, "worker")));
        interrupts.wait().await;
        out::notice("serve: stopping");
        cluster.stop().await;
        Ok(())
    })
}
