//! `corridor coordinator`: one part of a real cluster.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use corridor_coordinator::limits::{DEFAULT_LEASE, LEASE_RANGE, UNIT_DEATHS};
use corridor_coordinator::store::Place;
use corridor_coordinator::{Config, Coordinator};
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::signals::Interrupts;
use crate::store::PlaceParser;
use crate::{listen, logging, out, runtime, store, units};

/// What `coordinator` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    listen: ListenArgs,

    /// How long a worker may be silent, or a unit may stand still, before its work is given to others: 100ms to 1h
    /// [default: 10s]
    #[arg(long, value_name = "TIME", env = "CORRIDOR_LEASE", value_parser = lease)]
    lease: Option<Duration>,

    /// Workers that a unit may kill before it is parked, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = UNIT_DEATHS, env = "CORRIDOR_UNIT_DEATHS",
          value_parser = units::whole(1..=1_000u32))]
    unit_deaths: u32,
}

/// Where to listen, and where to keep what must outlive the process.
#[derive(Args, Clone, Debug)]
pub(crate) struct ListenArgs {
    /// Where clients and workers connect, IP:PORT; port 0 is any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4242", env = "CORRIDOR_LISTEN",
          value_parser = listen::address)]
    pub(crate) listen: SocketAddr,

    /// Where browsers find the live board, and probes /healthz and /readyz, IP:PORT; port 0 is any free one [default of serve:
    /// 127.0.0.1:4243, or any free port if that is taken]
    #[arg(long, value_name = "ADDR", env = "CORRIDOR_HTTP", value_parser = listen::address)]
    pub(crate) http: Option<SocketAddr>,

    /// Keep jobs in this SQLite file or PostgreSQL database (postgres://USER@HOST/DATABASE), and go on with those that are
    /// in it; without it they end with the process
    #[arg(long, value_name = "FILE-OR-URL", env = "CORRIDOR_STORE", hide_env_values = true, value_parser = PlaceParser)]
    pub(crate) store: Option<Place>,
}

fn lease(text: &str) -> Result<Duration, String> {
    let lease = units::duration(text)?;
    if LEASE_RANGE.contains(&lease) { Ok(lease) } else { Err("a lease has 100ms to 1h".to_owned()) }
}

/// Serves until a signal asks for an end.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut interrupts = Interrupts::listen_as_server()?;
    logging::start_as_server().map_err(|error| Failure::bad_input(&error))?;
    let config = Config {
        lease: arguments.lease.unwrap_or(DEFAULT_LEASE),
        unit_deaths: arguments.unit_deaths,
        ..Config::default()
    };
    runtime::run(async {
        let http = listen::bind_if("--http", arguments.listen.http)?;
        let coordinator = start(&arguments.listen, http, config).await?;
        interrupts.wait().await;
        out::notice("coordinator: stopping");
        coordinator.stop().await;
        Ok(())
    })
}

/// Takes the port for clients and workers, and starts.
pub(crate) async fn start(
    at: &ListenArgs,
    http: Option<TcpListener>,
    config: Config,
) -> Result<Coordinator, Failure> {
    let listener = listen::bind("--listen", at.listen)?;
    let store = store::open(at.store.as_ref()).await?;
    let started = Coordinator::serve_with(listener, config, store).await;
    let coordinator = started.context("start coordinator")?;
    out::notice(&format!("coordinator: listening on http://{}", coordinator.address()));
    if let Some(http) = http {
        let address = http.local_addr().context("read the address of --http")?;
        out::notice(&format!("coordinator: live board on http://{address}"));
        let readiness = coordinator.readiness();
        let pages = coordinator.page().merge(coordinator.metrics());
        crate::http::serve(http, pages, move || readiness.borrow().clone());
    }
    Ok(coordinator)
}
