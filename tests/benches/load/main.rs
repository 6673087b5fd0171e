//! One coordinator, in a process of its own, under load from simulated workers and watchers over loopback
//! (`cargo bench -p corridor-tests --bench load`; Linux only, `ulimit -n` of 8,192 or more).
//!
//! Speed is printed beside what it must be, on a machine with nothing else to do. What must be right is asserted: nobody is
//! refused, no lease is lost, whoever keeps up sees every event once, and whoever does not is told why it was dropped.
//!
//! Names of phases as arguments run those alone: `few`, `many`, `day`, `kept-day`.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints rates for a person, and fails by panicking"
)]

#[expect(dead_code, reason = "the benchmark of the live board uses the rest")]
mod fake;
mod fleet;
#[expect(dead_code, reason = "as above")]
mod process;
mod watchers;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use corridor_shared::job::{JobLimits, JobSpec, MAX_DEPTH, RootPrune};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use fleet::{Fleet, Tally};
use process::Process;

/// Workers that connect at once, and watchers of one job.
const MANY: usize = 1_000;
/// As many as one would really have.
const FEW: usize = 32;
/// Jobs that are open at once.
const JOBS: usize = 16;
/// How long a steady state is measured.
const STEADY: Duration = Duration::from_secs(10);
/// The lease is the coordinator's default.
const LEASE: Duration = corridor_coordinator::limits::DEFAULT_LEASE;
/// Events a second of the job that is watched.
const EVENTS_A_SECOND: u32 = 50;
const SLOW_WATCHERS: usize = 20;
/// Events after which a watcher that reads nothing has been dropped: what is let wait, and what lies on the way to it.
const BEFORE_A_DROP: u64 = 1_024 + 200;
const _: () = assert!(corridor_coordinator::limits::WATCHER_BACKLOG == 1_024);
/// Events of a day at that rate.
const DAY: u64 = 24 * 3_600 * 50;

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
    let events = std::env::var("CORRIDOR_LOAD_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(DAY);
    // Threads of their own: what a thousand watchers take to read is no part of a heartbeat's way.
    let crowd = runtime();
    let crowd = crowd.handle();
    runtime().block_on(async {
        if wants("few") {
            few().await;
        }
        if wants("many") {
            many(crowd).await;
        }
        if wants("day") {
            day("without a store", None, events).await;
        }
        if wants("kept-day") {
            let directory = tempfile::tempdir().expect("a directory");
            day("with a store", Some(&directory.path().join("corridor.db")), events).await;
        }
    });
}

/// A figure, what it must be, and whether it is.
fn print(what: &str, measured: &str, must: &str, met: bool) {
    println!("{what:<58} {measured:>22}   must {must:<18} {}", if met { "met" } else { "MISSED" });
}

fn print_peak(what: &str, process: &Process) {
    let peak = process.peak();
    print(what, &format!("{peak:.0} MB"), "300 MB", peak <= 300.0);
}

fn spec(depth: u8, prune: RootPrune) -> JobSpec {
    JobSpec {
        // No mirror image of itself: one result must not answer two moves.
        position: corridor_tests::moves("e2 e8 b3h c7v"),
        limits: JobLimits { depth: Some(depth), ..JobLimits::default() },
        multipv: 1,
        prune,
        deterministic: false,
        priority: 0,
        detach: true,
        traceparent: None,
    }
}

/// Jobs that keep the workers busy: each that ends is followed by another.
struct Supply {
    stop: Arc<AtomicBool>,
    jobs: JoinSet<()>,
}

impl Supply {
    fn start(url: &str, jobs: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut set = JoinSet::new();
        for _ in 0..jobs {
            let (url, stop) = (url.to_owned(), Arc::clone(&stop));
            set.spawn(async move {
                let mut client = watchers::client(&url).await;
                while !stop.load(Ordering::Relaxed) {
                    watchers::analyse(&mut client, &spec(MAX_DEPTH, RootPrune::None)).await;
                }
            });
        }
        Self { stop, jobs: set }
    }

    /// No job follows; those that run are cancelled, and their watchers see the end.
    async fn end(mut self, url: &str) {
        self.stop.store(true, Ordering::Relaxed);
        let mut client = watchers::client(url).await;
        while !self.jobs.is_empty() {
            watchers::cancel_all(&mut client).await;
            let ended = tokio::time::timeout(Duration::from_millis(200), self.jobs.join_next());
            if let Ok(Some(job)) = ended.await {
                job.expect("every event once");
            }
        }
    }
}

/// Grants and results in a steady state, answered at once.
async fn throughput(what: &str, process: &Process, fleet: &Fleet) {
    let tally = &fleet.common.tally;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let read = || (Tally::read(&tally.results) - Tally::read(&tally.crossed), Tally::read(&tally.grants));
    let (before, cpu, started) = (read(), process.processor_time(), Instant::now());
    tally.heartbeats();
    tokio::time::sleep(STEADY).await;
    let (after, seconds) = (read(), started.elapsed().as_secs_f64());
    let busy = (process.processor_time() - cpu).as_secs_f64();
    let results = (after.0 - before.0) as f64;
    let rate = results / seconds;
    print(&format!("{what}: accepted results"), &format!("{rate:.0} /s"), "5,000 /s", rate >= 5_000.0);
    println!(
        "    grants {:.0} /s, coordinator {:.2} of a processor, {:.0} ms of it for 1,000 results; heartbeats {}",
        (after.1 - before.1) as f64 / seconds,
        busy / seconds,
        busy * 1e6 / results.max(1.0),
        Spread::of(&tally.heartbeats())
    );
}

/// How long heartbeats took, there and back.
struct Spread {
    count: usize,
    median: Duration,
    p99: Duration,
    most: Duration,
}

impl Spread {
    fn of(sorted: &[Duration]) -> Self {
        let at = |share: usize| sorted.get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1)));
        let at = |share: usize| at(share).copied().unwrap_or_default();
        Self { count: sorted.len(), median: at(50), p99: at(99), most: at(100) }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, p99, most) = (ms(self.median), ms(self.p99), ms(self.most));
        write!(f, "p50 {median:.1} p99 {p99:.1} max {most:.1} ms ({})", self.count)
    }
}

/// As many workers as one would really have, and as much as they can take.
async fn few() {
    let process = Process::start(None);
    let fleet = Fleet::connect(&process.url(), FEW);
    let supply = Supply::start(&process.url(), JOBS);
    throughput(&format!("{FEW} workers, flat jobs"), &process, &fleet).await;
    fleet.common.orders.search_like(fake::deep);
    supply.end(&process.url()).await;
    let supply = Supply::start(&process.url(), JOBS);
    throughput(&format!("{FEW} workers, jobs that are split"), &process, &fleet).await;
    supply.end(&process.url()).await;
    assert_eq!(Tally::read(&fleet.common.tally.lost), 0, "leases lost");
    println!("    coordinator {:.0} MB, at most {:.0} MB", process.resident(), process.peak());
    fleet.leave().await;
}

/// A thousand workers that connect at once, then a thousand watchers, then all of that at full speed.
async fn many(crowd: &Handle) {
    let process = Process::start(None);
    let url = process.url();
    let supply = Supply::start(&url, JOBS);
    let fleet = connect_at_once(&process).await;
    let watched = watch_at_once(&process, &fleet, crowd).await;
    fleet.common.orders.take(Duration::ZERO);
    throughput(&format!("{MANY} workers and watchers, flat jobs"), &process, &fleet).await;
    print_peak("coordinator's memory with all of that, at most", &process);
    watched.end(&url).await;
    fleet.common.orders.search_like(fake::deep);
    supply.end(&url).await;
    let supply = Supply::start(&url, JOBS);
    throughput(&format!("{MANY} workers, jobs that are split"), &process, &fleet).await;
    print_peak(&format!("its memory with {JOBS} such jobs, at most"), &process);
    supply.end(&url).await;
    assert_eq!(Tally::read(&fleet.common.tally.lost), 0, "leases lost");
    fleet.leave().await;
}

async fn connect_at_once(process: &Process) -> Fleet {
    let started = Instant::now();
    let fleet = Fleet::connect(&process.url(), MANY);
    fleet.common.orders.take(Duration::from_secs(1));
    fleet.registered(u64::try_from(MANY).expect("few")).await;
    let seconds = started.elapsed().as_secs_f64();
    print(&format!("{MANY} workers connect at once"), &format!("{seconds:.2} s"), "5 s", seconds <= 5.0);
    // Whoever was starved meanwhile loses its lease within this time.
    let cpu = process.processor_time();
    tokio::time::sleep(LEASE * 3 / 2 - started.elapsed().min(LEASE)).await;
    let heartbeats = Spread::of(&fleet.common.tally.heartbeats());
    print(
        "    heartbeats meanwhile",
        &heartbeats.to_string(),
        "p99 below 3333 ms",
        heartbeats.p99 < LEASE / 3,
    );
    let lost = Tally::read(&fleet.common.tally.lost);
    print("    leases lost", &lost.to_string(), "0", lost == 0);
    assert_eq!(lost, 0, "leases lost");
    let busy = (process.processor_time() - cpu).as_secs_f64();
    println!(
        "    {} grants; coordinator {busy:.1} s of processor time, {:.0} MB",
        Tally::read(&fleet.common.tally.grants),
        process.resident()
    );
    fleet
}

/// Watchers of one job that have not ended yet.
struct Watched {
    job: u64,
    /// Whoever reads nothing is dropped before the job has so many events.
    enough: u64,
    fast: JoinSet<u64>,
    slow: JoinSet<(String, u64)>,
    wake: Arc<Notify>,
}

async fn watch_at_once(process: &Process, fleet: &Fleet, crowd: &Handle) -> Watched {
    let url = process.url();
    let mut client = watchers::client(&url).await;
    let job = JobSpec { priority: 10, ..spec(MAX_DEPTH, RootPrune::None) };
    let job = watchers::submit(&mut client, &job).await;
    fleet.common.orders.pace(job, Duration::from_secs(1) / EVENTS_A_SECOND);
    let (seen, wake) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let mut watched = Watched { job, enough: 0, fast: JoinSet::new(), slow: JoinSet::new(), wake };
    watched.fast.spawn_on(watchers::watch(url.clone(), job, Arc::clone(&seen)), crowd);
    let alone = steady_watching("one watcher", process, fleet, &seen, 1).await;
    for _ in 1..MANY {
        watched.fast.spawn_on(watchers::watch(url.clone(), job, Arc::clone(&seen)), crowd);
    }
    for _ in 0..SLOW_WATCHERS {
        let slow = watchers::watch_slowly(url.clone(), job, Arc::clone(&watched.wake));
        watched.slow.spawn_on(slow, crowd);
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    watched.enough = watchers::last_seq(&mut client, job).await + BEFORE_A_DROP;
    let all = steady_watching(&format!("{MANY} watchers"), process, fleet, &seen, MANY).await;
    let ratio = all.as_secs_f64() / alone.as_secs_f64();
    print("    heartbeats' p99 against one watcher's", &format!("{ratio:.2}"), "2", ratio <= 2.0);
    watched
}

/// Heartbeats' p99 with so many watchers.
async fn steady_watching(
    what: &str,
    process: &Process,
    fleet: &Fleet,
    seen: &AtomicU64,
    watchers: usize,
) -> Duration {
    tokio::time::sleep(Duration::from_secs(2)).await;
    fleet.common.tally.heartbeats();
    let (before, cpu, started) = (seen.load(Ordering::Relaxed), process.processor_time(), Instant::now());
    tokio::time::sleep(STEADY).await;
    let seconds = started.elapsed().as_secs_f64();
    let events = (seen.load(Ordering::Relaxed) - before) as f64;
    let heartbeats = Spread::of(&fleet.common.tally.heartbeats());
    let busy = (process.processor_time() - cpu).as_secs_f64();
    println!(
        "{what}: {:.1} events/s each, heartbeats {heartbeats}; coordinator {:.2} of a processor, {:.0} MB",
        events / seconds / watchers as f64,
        busy / seconds,
        process.resident()
    );
    heartbeats.p99
}

impl Watched {
    /// The job ends, and everybody must have seen what there was.
    async fn end(mut self, url: &str) {
        let mut client = watchers::client(url).await;
        while watchers::last_seq(&mut client, self.job).await < self.enough {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.wake.notify_waiters();
        watchers::cancel(&mut client, self.job).await;
        let mut lasts = Vec::new();
        while let Some(last) = self.fast.join_next().await {
            lasts.push(last.expect("every event once"));
        }
        let mut reasons = Vec::new();
        while let Some(slow) = self.slow.join_next().await {
            let (reason, last) = slow.expect("dropped, and back again");
            assert!(reason.contains("watcher_backlog"), "{reason}");
            reasons.push(reason);
            lasts.push(last);
        }
        assert!(lasts.iter().all(|last| last == &lasts[0]), "not everybody has seen the end");
        let reason = reasons.first().map_or("", String::as_str);
        println!(
            "    {} watchers saw all {} events once; {} slow ones were dropped ('{reason}') and came back",
            lasts.len(),
            lasts[0],
            reasons.len()
        );
    }
}

/// A day's events at speed: jobs large and small, watched to their ends.
async fn day(what: &str, store: Option<&Path>, events: u64) {
    const DEPTHS: [u8; 5] = [1, 4, 12, 2, MAX_DEPTH];
    let process = Process::start(store);
    let fleet = Fleet::connect(&process.url(), FEW);
    let seen = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    let started = Instant::now();
    for client in 0..JOBS {
        let (url, seen) = (process.url(), Arc::clone(&seen));
        clients.spawn(async move {
            let mut analysis = watchers::client(&url).await;
            for depth in DEPTHS.iter().cycle().skip(client) {
                if seen.load(Ordering::Relaxed) >= events {
                    return;
                }
                let job = spec(*depth, RootPrune::None);
                seen.fetch_add(watchers::analyse(&mut analysis, &job).await, Ordering::Relaxed);
            }
        });
    }
    let mut samples = Vec::new();
    let mut due = 0;
    while !clients.is_empty() {
        let ended = tokio::time::timeout(Duration::from_millis(100), clients.join_next()).await;
        if let Ok(Some(ended)) = ended {
            ended.expect("every event once");
        }
        let so_far = seen.load(Ordering::Relaxed);
        if so_far >= due {
            samples.push(process.resident());
            due = (so_far + events / 20).min(events.max(so_far + 1));
        }
    }
    let text: Vec<String> = samples.iter().map(|mb| format!("{mb:.0}")).collect();
    let rate = seen.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64();
    // By then the shared cache and the events of ended jobs are at their bounds.
    let warm_up = samples.len() / 2;
    let warm = samples.get(warm_up).copied().unwrap_or_default();
    let most = samples.iter().skip(warm_up).copied().fold(0.0, f64::max);
    let growth = format!("{warm:.0} to {most:.0} MB");
    print(&format!("a day's events, {what}"), &growth, "flat, 300 MB", most <= warm * 1.1 && most <= 300.0);
    println!("    {} events at {rate:.0} /s; MB: {}", seen.load(Ordering::Relaxed), text.join(" "));
    println!(
        "    coordinator {:.1} us of processor time an event",
        process.processor_time().as_secs_f64() * 1e6 / seen.load(Ordering::Relaxed) as f64
    );
    assert_eq!(Tally::read(&fleet.common.tally.lost), 0, "leases lost");
    fleet.leave().await;
}
