//! `corridor analyze`: the main job. Deep analysis of a position on a cluster, streamed as it happens.
//!
//! Without `--coordinator` the cluster runs in this process; the client is the same in both cases.

mod client;
mod pictures;
mod screen;
mod table;

use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use corridor_shared::job::{JobEvent, JobLimits, JobSpec, RootPrune};
use corridor_shared::search::MAX_DEPTH;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;
use crate::local_cluster::{Crew, LOOPBACK, LocalCluster, processors};
use crate::position_args::PositionArgs;
use crate::{logging, memory, out, units};
use client::{Client, Stream};
use pictures::{PictureArgs, Pictures};
use screen::Screen;

/// What `analyze` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    position: PositionArgs,

    #[command(flatten)]
    limits: LimitArgs,

    /// How many lines get exact scores
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=136))]
    multipv: u16,

    /// Which moves are searched
    #[arg(long, value_name = "MODE", default_value = "cat")]
    prune: Prune,

    /// The same answer for any number of workers, any schedule and any faults
    #[arg(long)]
    deterministic: bool,

    /// Jobs of a higher priority are served first
    #[arg(long, value_name = "P", default_value_t = 0, allow_hyphen_values = true)]
    priority: i32,

    /// Analyse on this cluster instead of in this process
    #[arg(long, value_name = "URL", conflicts_with_all = ["workers", "threads", "hash"], env = "CORRIDOR_COORDINATOR")]
    coordinator: Option<String>,

    /// Let the job go on after this command has ended
    #[arg(long, requires = "coordinator")]
    detach: bool,

    #[command(flatten)]
    crew: CrewArgs,

    #[command(flatten)]
    pictures: PictureArgs,
}

/// When an analysis stops.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LimitArgs {
    /// Deepest iteration, in plies
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_DEPTH)))]
    depth: Option<u8>,

    /// Time, such as 500ms, 30s or 2h; 30s if no limit is given
    #[arg(long, value_name = "T", value_parser = time)]
    time: Option<Duration>,

    /// Positions visited, all workers together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
}

impl LimitArgs {
    pub(crate) const fn limits(self) -> JobLimits {
        JobLimits { depth: self.depth, time: self.time, nodes: self.nodes }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time = units::duration(text)?;
    if time < Duration::from_millis(1) { Err("must be at least 1ms".to_owned()) } else { Ok(time) }
}

/// Workers of this process.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CrewArgs {
    /// Workers in this process; by default the processors that it may use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,

    /// Search threads of each worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,

    /// Transposition table of each worker, such as 64M or 1G
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    hash: Option<u64>,
}

impl CrewArgs {
    /// The crew, with what was not said filled in from the machine.
    ///
    /// # Errors
    /// The tables do not fit into memory.
    pub(crate) fn crew(self) -> Result<Crew, Failure> {
        let workers = self.workers.map_or_else(processors, usize::from);
        let bytes =
            memory::bytes_per_worker(self.hash, workers).map_err(|error| Failure::bad_input(&error))?;
        Ok(Crew { workers, threads: self.threads, table_bytes: bytes })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Prune {
    /// What the Corridor Attention Table keeps
    Cat,
    /// Every legal move
    None,
    /// As cat, then check the pruned moves
    Audit,
}

impl From<Prune> for RootPrune {
    fn from(prune: Prune) -> Self {
        match prune {
            Prune::Cat => Self::Cat,
            Prune::None => Self::None,
            Prune::Audit => Self::Audit,
        }
    }
}

/// Analyses and shows what happens.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let spec = JobSpec {
        position: arguments.position.resolve()?,
        limits: arguments.limits.limits(),
        multipv: arguments.multipv,
        prune: arguments.prune.into(),
        deterministic: arguments.deterministic,
        priority: arguments.priority,
        detach: arguments.detach,
        traceparent: None,
    };
    let pictures = Pictures::new(&arguments.pictures)?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let crew = if arguments.coordinator.is_none() { Some(arguments.crew.crew()?) } else { None };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("start runtime")))?;
    runtime.block_on(async {
        match (&arguments.coordinator, crew) {
            (Some(url), _) => analyze(url, &spec, pictures, json).await,
            (None, Some(crew)) => {
                let cluster = LocalCluster::start(LOOPBACK, crew).await?;
                let analyzed = analyze(&cluster.url(), &spec, pictures, json).await;
                cluster.stop().await;
                analyzed
            }
            (None, None) => Err(Failure::bad_input(&"no cluster to analyse on")),
        }
    })
}

async fn analyze(url: &str, spec: &JobSpec, pictures: Pictures, json: bool) -> Result<(), Failure> {
    let mut client = Client::connect(url).await?;
    let stream = client.analyze(spec).await?;
    show(client, stream, pictures, json).await
}

/// Shows a job's events until the last one. An interrupt cancels the job, whose last event then still comes; a second one
/// exits at once.
pub(crate) async fn show(
    mut client: Client,
    mut stream: Stream,
    mut pictures: Pictures,
    json: bool,
) -> Result<(), Failure> {
    let mut screen = if json { None } else { Some(Screen::new()) };
    let mut signals = Signals::listen()?;
    let mut job = None;
    let mut interrupted = false;
    loop {
        let record = tokio::select! {
            () = signals.next() => {
                if interrupted {
                    std::process::exit(1);
                }
                interrupted = true;
                if let Some(job) = job {
                    client.cancel(job).await?;
                }
                continue;
            }
            record = stream.next() => record?,
        };
        if let JobEvent::Accepted(accepted) = &record.event {
            job = Some(accepted.job);
            if interrupted {
                client.cancel(accepted.job).await?;
            }
        }
        match &mut screen {
            None => out::line(&client::json_line(&record)?)?,
            Some(screen) => screen.show(&record.event)?,
        }
        pictures.see(&record.event)?;
        match record.event {
            JobEvent::Done(_) => return Ok(()),
            JobEvent::Error(failure) => {
                return Err(Failure::Failed(anyhow::anyhow!("{}: {}", failure.code, failure.message)));
            }
            _ => {}
        }
    }
}

/// Ctrl-C, and what a supervisor sends.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let interrupt = signal(SignalKind::interrupt()).context("listen for SIGINT")?;
        let terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
        Ok(Self { interrupt, terminate })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
