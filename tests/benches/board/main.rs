//! The live board's figures: a real browser on a coordinator in a process of its own, with simulated workers; and a thousand viewers
//! without a browser (`cargo bench -p corridor-tests --bench board`; Linux only, `ulimit -n` of 4,096 or more, Chromium).
//!
//! Speed is printed beside what it must be, on a machine with nothing else to do. What must be right is asserted: every viewer sees
//! every event once, however slow it was, and the page misses none.
//!
//! Names of phases as arguments run those alone: `weight`, `open`, `pixels`, `thread`, `viewers`. `look` says where the page of such a job is,
//! for whoever wants to look into it with a browser's own tools, and goes on until its input ends.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints figures for a person, and fails by panicking"
)]

#[path = "../load/fake.rs"]
#[allow(dead_code, reason = "the load benchmark uses the rest")]
mod fake;
#[path = "../load/fleet.rs"]
#[allow(dead_code, reason = "the load benchmark uses the rest")]
mod fleet;
mod page;
#[path = "../load/process.rs"]
#[allow(dead_code, reason = "the load benchmark uses the rest")]
mod process;
mod viewers;
#[path = "../load/watchers.rs"]
#[allow(dead_code, reason = "the load benchmark uses the rest")]
mod watchers;

use std::io::Read;
use std::time::Duration;

use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::job::{JobLimits, JobSpec, MAX_DEPTH, RootPrune};
use tonic::transport::Channel;

use fleet::Fleet;
use process::Process;

/// Events a second of the job that is looked at.
const EVENTS_A_SECOND: u32 = 50;
/// As many as make results come in turns, and the cluster's panel of a usual size.
const WORKERS: usize = 4;
/// Root moves of the position: no walls, and a pawn at the edge. It is no mirror image of itself: one result must not answer two moves.
const ROOT_MOVES: usize = 131;
const POSITION: &str = "e2 e8 e1 d8";

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

fn main() {
    if process::serve_if_told() {
        return;
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wants = |phase: &str| wanted.is_empty() || wanted.iter().any(|it| it == phase);
    let load = std::fs::read_to_string("/proc/loadavg").expect("Linux");
    println!("load of the machine: {load}");
    let crowd = runtime();
    runtime().block_on(async {
        if wants("weight") {
            page::weight().await;
        }
        if wants("open") {
            page::open().await;
        }
        if wants("pixels") {
            page::pixels().await;
        }
        if wants("thread") {
            page::thread().await;
        }
        if wants("viewers") {
            viewers::many(crowd.handle().clone()).await;
        }
        if wanted.iter().any(|it| it == "look") {
            look().await;
        }
    });
}

/// A job to look at, until the input ends.
async fn look() {
    let mut cluster = Cluster::start().await;
    let job = cluster.job().await;
    println!("http://{}/#job={job}", cluster.process.page());
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = ended.send(());
    });
    let _ = end.await;
    cluster.stop().await;
}

/// A figure, what it must be, and whether it is.
fn print(what: &str, measured: &str, must: &str, met: bool) {
    println!("{what:<58} {measured:>30}   must {must:<12} {}", if met { "met" } else { "MISSED" });
}

/// Figures in order.
struct Spread(Vec<f64>);

impl Spread {
    fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        Self(figures)
    }

    /// The figure below which so many percent are.
    fn at(&self, share: usize) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((self.0.len() * share / 100).min(last)).copied().unwrap_or(f64::NAN)
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [median, p99, most] = [50, 99, 100].map(|share| self.at(share));
        write!(f, "p50 {median:.0} p99 {p99:.0} max {most:.0} ms ({})", self.0.len())
    }
}

/// A coordinator with workers that search nothing and say something new fifty times a second.
struct Cluster {
    process: Process,
    fleet: Fleet,
    client: AnalysisClient<Channel>,
}

impl Cluster {
    async fn start() -> Self {
        let process = Process::start(None);
        let fleet = Fleet::connect(&process.url(), WORKERS);
        fleet.registered(u64::try_from(WORKERS).expect("few")).await;
        fleet.common.orders.search_like(fake::lively);
        let client = watchers::client(&process.url()).await;
        Self { process, fleet, client }
    }

    /// A job with a row for every move, which goes on without a watcher.
    async fn job(&mut self) -> u64 {
        let spec = JobSpec {
            position: corridor_tests::moves(POSITION),
            limits: JobLimits { depth: Some(MAX_DEPTH), ..JobLimits::default() },
            multipv: 1,
            prune: RootPrune::None,
            deterministic: false,
            priority: 0,
            detach: true,
            traceparent: None,
        };
        let job = watchers::submit(&mut self.client, &spec).await;
        self.fleet.common.orders.pace(job, Duration::from_secs(1) / EVENTS_A_SECOND);
        job
    }

    async fn stop(mut self) {
        watchers::cancel_all(&mut self.client).await;
        self.fleet.leave().await;
    }
}
