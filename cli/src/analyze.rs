//! `corridor analyze`: the main job. Deep analysis of a position on a cluster, streamed as it happens.
//!
//! Without `--coordinator` the cluster runs in this process; the client is the same in both cases.

mod live;
pub(crate) mod pictures;
mod screen;
pub(crate) mod table;

use std::time::Duration;

use clap::{Args, ValueEnum};
use corridor_coordinator::store::Place;
use corridor_shared::job::{JobEvent, JobLimits, JobSpec, RootPrune};
use corridor_shared::search::MAX_DEPTH;
use tokio::time::MissedTickBehavior;

use crate::client::{Client, Seen, Stream, coordinator_url, json_line};
use crate::failure::Failure;
use crate::local_cluster::{Crew, LocalCluster, processors};
use crate::position_args::PositionArgs;
use crate::signals::Interrupts;
use crate::store::PlaceParser;
use crate::{logging, memory, out, runtime, store, units};
use pictures::{PictureArgs, Pictures};
use screen::Screen;

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

    #[command(flatten)]
    later: LaterArgs,

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

/// What the contract names and this version cannot do yet: known, so that the refusal is a clear one, but not offered.
#[derive(Args)]
struct LaterArgs {
    #[arg(long, hide = true)]
    fresh: bool,
}

impl Arguments {
    /// Refuses what this version cannot do, by the flag's name and before anything starts.
    fn refuse_later(&self) -> Result<(), Failure> {
        let later = [("--fresh", self.later.fresh)];
        match later.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::bad_input(&format!("{flag} is not supported by this version"))),
        }
    }
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

fn time(text: &str) -> Result<Duration, String> {
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Prune {
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
    arguments.refuse_later()?;
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
    let pictures = Pictures::new(&arguments.pictures, arguments.prune.into())?;
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    if arguments.coordinator.is_empty() {
        let crew = arguments.crew.crew()?;
        return runtime::run(async {
            let store = store::open(arguments.store.as_ref()).await?;
            let cluster = LocalCluster::start(crew, store).await?;
            let client = Client::new(vec![cluster.url()]);
            let analyzed = match client.analyze(&spec).await {
                Ok(stream) => show(&client, stream, interrupts, Interrupt::Cancels, pictures, json).await,
                Err(failure) => Err(failure),
            };
            cluster.stop().await;
            analyzed
        });
    }
    runtime::run(async {
        let client = Client::new(arguments.coordinator.clone());
        let mut waiting = interrupts.clone();
        let stream = tokio::select! {
            opened = client.analyze(&spec) => opened?,
            () = waiting.wait() => {
                let whom = arguments.coordinator.join(", ");
                return Err(Failure::interrupted(&format!("{whom} had not answered yet")));
            }
        };
        if arguments.detach {
            return hand_in(stream, interrupts, &arguments.coordinator, json).await;
        }
        show(&client, stream, interrupts, Interrupt::Cancels, pictures, json).await
    })
}

/// Waits until the job is accepted, and so kept, and says what it is called.
async fn hand_in(
    mut stream: Stream,
    mut interrupts: Interrupts,
    urls: &[String],
    json: bool,
) -> Result<(), Failure> {
    loop {
        let seen = tokio::select! {
            () = interrupts.wait() => {
                return Err(Failure::interrupted(&"the job may have been accepted: corridor jobs lists it"));
            }
            seen = stream.next() => seen?,
        };
        match seen {
            Seen::Lost(reason) => lost(None, &reason),
            Seen::Event(record) => {
                let JobEvent::Accepted(accepted) = &record.event else { continue };
                if json {
                    return out::line(&json_line(&record)?);
                }
                let (job, urls) = (accepted.job, urls.join(","));
                out::line(&format!("job {job}: accepted"))?;
                return out::line(&format!("corridor watch {job} --coordinator {urls}"));
            }
        }
    }
}

/// How often the screen is looked after, and so the most often that it changes.
const REDRAW: Duration = Duration::from_millis(100);

/// What the first interrupt does to the job that is shown; a second one ends the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Cancels it; its last event then still comes.
    Cancels,
    /// Leaves it alone and ends the show.
    Leaves,
}

/// Shows a job's events until the last one.
pub(crate) async fn show(
    client: &Client,
    mut stream: Stream,
    mut interrupts: Interrupts,
    interrupt: Interrupt,
    mut pictures: Pictures,
    json: bool,
) -> Result<(), Failure> {
    let mut screen = if json { None } else { Some(Screen::new()) };
    let mut redraw = tokio::time::interval(REDRAW);
    redraw.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut job = None;
    let mut interrupted = false;
    loop {
        let seen = tokio::select! {
            () = interrupts.wait(), if !interrupted => {
                interrupted = true;
                if interrupt == Interrupt::Leaves {
                    if let Some(screen) = &mut screen {
                        screen.leave()?;
                    }
                    let which = job.map_or_else(|| "the job".to_owned(), |job| format!("job {job}"));
                    return Err(Failure::interrupted(&format!("{which} goes on")));
                }
                if let Some(job) = job {
                    client.try_cancel(job).await;
                }
                continue;
            }
            _ = redraw.tick() => {
                if let Some(screen) = &mut screen {
                    screen.redraw();
                }
                continue;
            }
            seen = stream.next() => seen?,
        };
        let record = match seen {
            Seen::Event(record) => *record,
            Seen::Lost(reason) => {
                lost(screen.as_mut(), &reason);
                continue;
            }
        };
        if let JobEvent::Accepted(accepted) = &record.event {
            job = Some(accepted.job);
            if interrupted {
                client.try_cancel(accepted.job).await;
            }
        }
        match &mut screen {
            None => out::line(&json_line(&record)?)?,
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

/// Says that the line broke: no failure, as long as it can be taken up again.
fn lost(screen: Option<&mut Screen>, reason: &str) {
    let text = format!("{reason}; trying again");
    match screen {
        None => out::complain(&text),
        Some(screen) => screen.note(&format!("corridor: {text}")),
    }
}
