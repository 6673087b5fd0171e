//! The whole cluster in this process: a coordinator on loopback and its workers, over the same gRPC as any other.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use corridor_coordinator::{Config, Coordinator};
use corridor_worker::{Worker, WorkerConfig, WorkerError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::failure::Failure;

/// What the workers of the process are.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Crew {
    /// How many workers, at least 1.
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
    /// Starts the coordinator on an address (port 0: any free one) and the workers; returns when all are registered.
    pub(crate) async fn start(address: SocketAddr, crew: Crew) -> Result<Self, Failure> {
        let coordinator =
            Coordinator::start(address, Config::default()).await.context("start coordinator")?;
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

    /// Where clients connect.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.coordinator.address())
    }

    /// Stops workers, then the coordinator, within their own hard limits.
    pub(crate) async fn stop(self) {
        self.stop_workers.cancel();
        self.workers.close();
        self.workers.wait().await;
        self.coordinator.stop().await;
    }
}

/// Any free port of the loopback device.
pub(crate) const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Processors that this process may use: a container's quota counts.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
