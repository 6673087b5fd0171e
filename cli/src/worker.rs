//! `corridor worker`: one part of a real cluster. It dials out; nothing but probes connects to it.

use std::net::SocketAddr;

use anyhow::Context;
use clap::Args;
use corridor_proto::limits::MAX_NAME_BYTES;
use corridor_worker::{Worker, WorkerConfig, WorkerError};
use tokio_util::sync::CancellationToken;

use crate::client::ClusterArgs;
use crate::failure::Failure;
use crate::local_cluster::processors;
use crate::signals::Interrupts;
use crate::{http, listen, logging, memory, out, runtime, units};

/// What `worker` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    cluster: ClusterArgs,

    /// Its name, unique among the connected workers, 1 to 256 bytes [default: host and process]
    #[arg(long, value_name = "NAME", env = "CORRIDOR_NAME", value_parser = name)]
    name: Option<String>,

    /// Units that it searches at once, one search thread each, 1 to 1024 [default: the processors that it may use]
    #[arg(long, value_name = "N", env = "CORRIDOR_THREADS", value_parser = units::whole(1..=1024u32))]
    threads: Option<u32>,

    /// Transposition table, such as 64M or 1G (K, M, G), at least 1K [default: half of what a container leaves, or a
    /// quarter of the free memory, at most 1G]
    #[arg(long, value_name = "SIZE", env = "CORRIDOR_HASH", value_parser = units::table_size)]
    hash: Option<u64>,

    /// Where probes find /healthz and /readyz, IP:PORT
    #[arg(long, value_name = "ADDR", env = "CORRIDOR_HTTP", value_parser = listen::address)]
    http: Option<SocketAddr>,
}

fn name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.len() > MAX_NAME_BYTES || text.chars().any(char::is_control) {
        return Err(format!("a name has 1 to {MAX_NAME_BYTES} bytes, none of them a control character"));
    }
    Ok(text.to_owned())
}

/// Host and process: unique in a cluster whose machines have names of their own.
fn default_name() -> String {
    let host = sysinfo::System::host_name().filter(|host| !host.is_empty());
    let host: String = host.unwrap_or_else(|| "worker".to_owned()).chars().take(60).collect();
    format!("{host}-{}", std::process::id())
}

/// Searches until a signal, or its coordinator, asks for an end.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut interrupts = Interrupts::listen_as_server()?;
    logging::start_as_server().map_err(|error| Failure::bad_input(&error))?;
    let name = arguments.name.clone().unwrap_or_else(default_name);
    let threads =
        arguments.threads.unwrap_or_else(|| u32::try_from(processors()).unwrap_or(1_024).min(1_024));
    runtime::run(async {
        let probes = listen::bind_if("--http", arguments.http)?;
        let table_bytes =
            memory::bytes_of_a_worker(arguments.hash, threads).map_err(|error| Failure::bad_input(&error))?;
        let config = WorkerConfig {
            coordinators: arguments.cluster.urls().to_vec(),
            name: name.clone(),
            slots: threads,
            table_bytes,
            exchange: true,
        };
        let worker = Worker::new(config).map_err(refused)?;
        out::notice(&format!("worker {name}: {threads} threads, a table of {} MiB", table_bytes >> 20));
        if let Some(probes) = probes {
            let address = probes.local_addr().context("read the address of --http")?;
            out::notice(&format!("worker {name}: health on http://{address}"));
            let connected = worker.connected();
            http::serve(probes, axum::Router::new(), move || {
                if *connected.borrow() { Ok(()) } else { Err("no coordinator gives it work".to_owned()) }
            });
        }
        let stop = CancellationToken::new();
        let asked = async {
            interrupts.wait().await;
            out::notice(&format!("worker {name}: stopping"));
            stop.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = worker.run(stop.clone()) => {}
            () = asked => {}
        }
        Ok(())
    })
}

fn refused(error: WorkerError) -> Failure {
    match error {
        WorkerError::Table(bytes, _) => {
            Failure::bad_input(&format!("--hash: no memory for the table, {} MiB", bytes >> 20))
        }
        other => Failure::Failed(anyhow::Error::new(other).context("start worker")),
    }
}
