//! `corridor analyze`: the main job. Deep analysis of a position on a cluster, streamed as it happens.
//!
//! Without `--coordinator` the cluster runs in this process; the client is the same in both cases.

pub(crate) mod live;
pub(crate) mod pictures;
pub(crate) mod result;
pub(crate) mod screen;
pub(crate) mod state;
pub(crate) mod table;

use std::time::Duration;

use clap::{Args, ValueEnum};
use corridor_coordinator::store::Place;
use corridor_shared::job::{JobLimits, JobSpec, RootPrune};
use corridor_shared::search::MAX_DEPTH;

use crate::client::{Client, coordinator_url};
use crate::failure::Failure;
use crate::follow::{Interrupt, View, hand_in, show};
use crate::local_cluster::{Crew, LocalCluster, processors};
use crate::position_args::PositionArgs;
use crate::signals::Interrupts;
use crate::store::PlaceParser;
use crate::{logging, memory, runtime, store, units};
use pictures::{PictureArgs, Pictures};

/// What `analyze` is told.
#[derive(Args)]
#[command(override_usage = "corridor analyze (--moves <MOVES> | --position <TEXT>) [OPTIONS]")]
pub(crate) struct Arguments {
    #[command(flatten)]
    position: PositionArgs,

    #[command(flatten)]
    limits: LimitArgs,

    /// How many lines get exact scores, 1 to 136
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = units::whole(1..=136u16))]
    multipv: u16,

    /// Which moves are searched
    #[arg(long, value_name = "MODE", default_value = "cat")]
    prune: Prune,

    /// The same answer and node count for any number of workers, any schedule and any faults; slower
    #[arg(long)]
    deterministic: bool,

    /// Search although an opening book of the store or the cluster has the answer
    #[arg(long)]
    fresh: bool,

    /// Jobs of a higher priority are served first; any whole number
    #[arg(long, value_name = "P", default_value_t = 0, value_parser = units::whole(i32::MIN..=i32::MAX))]
    priority: i32,

    /// Analyse on this cluster, http://HOST:PORT, instead of in this process; of several,
    /// separated by commas, on the first that answers
    #[arg(long, value_name = "URL", value_delimiter = ',', conflicts_with_all = ["workers", "threads", "hash"],
          env = "CORRIDOR_COORDINATOR", value_parser = coordinator_url)]
    coordinator: Vec<String>,

    /// Keep the job in this SQLite file or PostgreSQL database (postgres://USER@HOST/DATABASE); only without
    /// --coordinator
    #[arg(long, value_name = "FILE-OR-URL", conflicts_with = "coordinator", value_parser = PlaceParser)]
    store: Option<Place>,

    /// Hand the job in, say its number and leave; `corridor watch` shows it. Only with --coordinator
    #[arg(long, requires = "coordinator", conflicts_with_all = ["svg", "html"])]
    detach: bool,

    #[command(flatten)]
    crew: CrewArgs,

    #[command(flatten)]
    pictures: PictureArgs,
}

/// When an analysis stops.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LimitArgs {
    /// Deepest iteration, 1 to 100 plies
    #[arg(long, value_name = "D", value_parser = units::whole(1..=MAX_DEPTH))]
    depth: Option<u8>,

    /// Time, such as 500ms, 30s or 2h (us, ms, s, m, h, d), at least 1ms; 30s if no limit is given
    #[arg(long, value_name = "T", value_parser = time)]
    time: Option<Duration>,

    /// Positions visited, all workers together, at least 1; a few more where several search at once
    #[arg(long, value_name = "N", value_parser = units::whole(1..=u64::MAX))]
    nodes: Option<u64>,
}

impl LimitArgs {
    pub(crate) const fn limits(self) -> JobLimits {
        JobLimits { depth: self.depth, time: self.time, nodes: self.nodes }
    }
}

/// Reads a time that something may take.
///
/// # Errors
/// It is none, or less than the wire can say.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let time = units::duration(text)?;
    if time < Duration::from_millis(1) { Err("must be at least 1ms".to_owned()) } else { Ok(time) }
}

/// Workers of this process.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CrewArgs {
    /// Workers in this process, 1 to 1024 [default: the processors that it may use]
    #[arg(long, value_name = "N", value_parser = units::whole(1..=1024u16))]
    workers: Option<u16>,

    /// Search threads of each worker, 1 to 1024
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = units::whole(1..=1024u32))]
    threads: u32,

    /// Transposition table of each worker, such as 64M or 1G (K, M, G), at least 1K [default: 128M, or
    /// less so that all together take a quarter of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = units::table_size)]
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

/// Which root moves are searched.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Prune {
    /// What the Corridor Attention Table keeps
    Cat,
    /// Every legal move
    None,
    /// As cat, then check the pruned moves against the best score
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
    let pictures = Pictures::new(&arguments.pictures, arguments.prune.into(), arguments.store.as_ref())?;
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    if arguments.coordinator.is_empty() {
        let crew = arguments.crew.crew()?;
        return runtime::run(async {
            let store = store::open(arguments.store.as_ref()).await?;
            let cluster = LocalCluster::start(crew, store).await?;
            let client = Client::new(vec![cluster.url()]);
            let analyzed = match client.analyze(&spec, arguments.fresh).await {
                Ok(stream) => {
                    show(&client, stream, interrupts, Interrupt::Cancels, pictures, View::of(json)).await
                }
                Err(failure) => Err(failure),
            };
            cluster.stop().await;
            analyzed.map(drop)
        });
    }
    runtime::run(async {
        let client = Client::new(arguments.coordinator.clone());
        let mut waiting = interrupts.clone();
        let stream = tokio::select! {
            opened = client.analyze(&spec, arguments.fresh) => opened?,
            () = waiting.wait() => {
                let whom = arguments.coordinator.join(", ");
                return Err(Failure::interrupted(&format!("{whom} had not answered yet")));
            }
        };
        if arguments.detach {
            return hand_in(stream, interrupts, &arguments.coordinator, json).await;
        }
        show(&client, stream, interrupts, Interrupt::Cancels, pictures, View::of(json)).await.map(drop)
    })
}
