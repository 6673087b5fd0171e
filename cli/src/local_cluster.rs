//! The whole cluster in this process: a coordinator on loopback and its workers, over the same gRPC as any other.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context;
use corridor_coordinator::store::{BookReader, Store};
use corridor_coordinator::{Config, Coordinator};
use corridor_shared::job::JobId;
use corridor_worker::{Worker, WorkerConfig, WorkerError};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::Client;
use crate::failure::Failure;

/// What the workers of the process are.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Crew {
    /// How many workers.
    pub(crate) workers: usize,
    /// Search threads of each, at least 1.
    pub(crate) threads: u32,
    /// Transposition table of each, in bytes.
    pub(crate) table_bytes: usize,
}

/// A running cluster.
pub(crate) struct LocalCluster {
    coordinator: Coordinator,
    workers: TaskTracker,
    stop_workers: CancellationToken,
}

impl LocalCluster {
    /// Starts a coordinator on any free port of the loopback device, and the workers; returns when all are registered. What
    /// an earlier process has left unfinished in the store is ended with what is known: nobody waits for it.
    pub(crate) async fn start(crew: Crew, store: Option<Box<dyn Store>>) -> Result<Self, Failure> {
        let keeps = store.is_some();
        let coordinator = coordinator(store).await?;
        if keeps {
            end_leftovers(&Client::new(vec![reachable_url(coordinator.address())]), None).await?;
        }
        Self::with_crew(coordinator, crew).await
    }

    /// The same, but goes on with what an earlier process has left unfinished. Workers are not wanted for everything.
    pub(crate) async fn resume(crew: Option<Crew>, store: Option<Box<dyn Store>>) -> Result<Self, Failure> {
        let coordinator = coordinator(store).await?;
        Self::with_crew(coordinator, crew.unwrap_or_default()).await
    }

    /// Only shows the books of a store, which others may hold.
    pub(crate) async fn look(books: Arc<dyn BookReader>) -> Result<Self, Failure> {
        let started = Coordinator::show(listener().await?, Config::default(), books).await;
        let coordinator = started.context("start coordinator")?;
        Self::with_crew(coordinator, Crew::default()).await
    }

    /// Starts the workers of a coordinator; returns when all are registered.
    pub(crate) async fn with_crew(coordinator: Coordinator, crew: Crew) -> Result<Self, Failure> {
        let cluster =
            Self { coordinator, workers: TaskTracker::new(), stop_workers: CancellationToken::new() };
        for number in 1..=crew.workers {
            cluster.add_worker(number, crew).await?;
        }
        Ok(cluster)
    }

    async fn add_worker(&self, number: usize, crew: Crew) -> Result<(), Failure> {
        let worker = Worker::new(WorkerConfig {
            coordinators: vec![self.url()],
            name: format!("local-{number}"),
            slots: crew.threads,
            table_bytes: crew.table_bytes,
            exchange: true,
        })
        .map_err(|error| match error {
            // More than the allocator gives, whatever the machine has: a limit of the process (`ulimit -v`).
            WorkerError::Table(bytes, _) => Failure::bad_input(&format!(
                "--hash: no memory for the table of worker {number}, {} MiB",
                bytes >> 20
            )),
            other => Failure::Failed(anyhow::Error::new(other).context(format!("start worker {number}"))),
        })?;
        let mut connected = worker.connected();
        self.workers.spawn(worker.run(self.stop_workers.clone()));
        connected
            .wait_for(|&connected| connected)
            .await
            .with_context(|| format!("register worker {number}"))?;
        Ok(())
    }

    /// Where clients in this process connect.
    pub(crate) fn url(&self) -> String {
        reachable_url(self.coordinator.address())
    }

    /// Stops workers, then the coordinator, within their own hard limits; nobody is sent here from the beginning on.
    pub(crate) async fn stop(self) {
        self.coordinator.begin_drain().await;
        self.stop_workers.cancel();
        self.workers.close();
        self.workers.wait().await;
        self.coordinator.stop().await;
    }
}

async fn coordinator(store: Option<Box<dyn Store>>) -> Result<Coordinator, Failure> {
    let started = Coordinator::serve_with(listener().await?, Config::default(), store).await;
    Ok(started.context("start coordinator")?)
}

async fn listener() -> Result<TcpListener, Failure> {
    Ok(TcpListener::bind(LOOPBACK).await.context("listen on the loopback device")?)
}

/// Ends with what is known whatever an earlier process has left unfinished, but for one job.
pub(crate) async fn end_leftovers(client: &Client, but: Option<JobId>) -> Result<(), Failure> {
    let jobs = client.jobs().await?;
    for job in jobs.iter().filter(|job| !job.state.is_final() && Some(job.job) != but) {
        client.cancel(job.job).await?;
    }
    Ok(())
}

/// The URL under which this machine itself reaches what listens on an address.
pub(crate) fn reachable_url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}

/// Any free port of the loopback device.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Processors that this process may use: a container's quota counts.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
