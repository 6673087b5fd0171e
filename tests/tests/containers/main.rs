//! The image that we ship, as a cluster on a private network, and what an orchestrator, an operator or a bad day does to it:
//! after each fault the deterministic answer is the undisturbed one, and whoever watches sees neither a gap nor a repeat.
//!
//! Needs a Docker daemon and nothing else: no registry, no other image, no `docker` command.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
#![allow(clippy::print_stderr, reason = "a test that fails says what the containers have said")]

mod book;
mod cluster;
mod image;
mod job;

use std::sync::{Arc, LazyLock};

use corridor_shared::job::JobEvent;
use corridor_tests::{can_have, is_depth};
use testcontainers::core::client::docker_client_instance;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, OnceCell};

use cluster::{Cluster, Limits, Node, WORKERS};
use image::{Image, image};
use job::{EARLY, FILLING_JOB, LONG_JOB, MIDDLE, SHORT_JOB, Watcher};

/// Runs a test with the image, or says that it is skipped. One at a time: each of them wants all processors. They share a
/// runtime because they share a client of Docker's.
pub(crate) fn with_docker(test: impl AsyncFnOnce(Arc<Image>)) {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));
    static TURN: Mutex<()> = Mutex::const_new(());
    RUNTIME.block_on(async {
        if can_have("docker", docker().await) {
            let image = image().await;
            let _turn = TURN.lock().await;
            test(image).await;
        }
    });
}

/// Whether a daemon answers, or why not.
async fn docker() -> &'static Result<(), String> {
    static FOUND: OnceCell<Result<(), String>> = OnceCell::const_new();
    FOUND
        .get_or_init(async || {
            let docker = docker_client_instance().await.map_err(|error| error.to_string())?;
            docker.ping().await.map(drop).map_err(|error| error.to_string())
        })
        .await
}

#[test]
fn the_image_is_one_binary_for_nobody_in_particular() {
    with_docker(async |image| {
        let docker = docker_client_instance().await.expect("Docker");
        let found = docker.inspect_image(image.name()).await.expect("an image");
        let config = found.config.expect("a configuration");
        assert_eq!(config.user.as_deref(), Some("65532:65532"));
        assert_eq!(config.entrypoint, Some(vec!["/corridor".to_owned()]));
        let size = u64::try_from(found.size.expect("a size")).expect("bytes");
        let rest = size.checked_sub(image.binary_bytes()).expect("the binary");
        assert!(rest < 64 << 10, "{rest} bytes are neither binary nor licences");

        let cluster = Cluster::start(image).await;
        assert_eq!(cluster.probe().await, (Some(0), "ready\n".to_owned()));
        cluster.registered(&WORKERS).await;
        let names =
            cluster.coordinator.run(&["workers", "--coordinator", "http://localhost:4242", "--json"]).await;
        assert!(names.0 == Some(0) && WORKERS.iter().all(|name| names.1.contains(name)), "{names:?}");
        Watcher::start(&cluster, &SHORT_JOB).await.ends_undisturbed().await;
    });
}

#[test]
fn a_killed_worker_is_not_missed() {
    with_docker(async |image| {
        let cluster = Cluster::start(image).await;
        let mut watcher = Watcher::start(&cluster, &LONG_JOB).await;
        watcher.until(is_depth(MIDDLE)).await;
        let (hit, others) = cluster.somebody_at_work().await;
        assert_eq!(hit.kill().await, Some(137));
        cluster.registered(&others).await;
        watcher.still_runs();
        watcher.ends_undisturbed().await;
    });
}

#[test]
fn a_killed_coordinator_goes_on_where_it_was() {
    with_docker(async |image| {
        let cluster = Cluster::start(image).await;
        let mut watcher = Watcher::start(&cluster, &LONG_JOB).await;
        watcher.until(is_depth(MIDDLE)).await;
        // Somewhere within the next depth.
        watcher.next(|event| matches!(event, JobEvent::Move(_))).await;
        cluster.coordinator.kill().await;
        watcher.still_runs();
        cluster.coordinator.start_again().await;
        cluster.registered(&WORKERS).await;
        watcher.ends_undisturbed().await;
        assert!(watcher.breaks() > 0, "its stream broke");
    });
}

#[test]
fn a_frozen_worker_comes_back_too_late() {
    with_docker(async |image| {
        let cluster = Cluster::start(image).await;
        let mut watcher = Watcher::start(&cluster, &LONG_JOB).await;
        watcher.until(is_depth(MIDDLE)).await;
        let (hit, others) = cluster.somebody_at_work().await;
        hit.pause().await;
        // After a lease.
        cluster.registered(&others).await;
        watcher.still_runs();
        hit.unpause().await;
        cluster.registered(&WORKERS).await;
        watcher.ends_undisturbed().await;
        alone_it_does_right(&cluster, hit).await;
    });
}

#[test]
fn a_worker_that_is_cut_off_is_replaced_and_finds_back() {
    with_docker(async |image| {
        let cluster = Cluster::start(image).await;
        let mut watcher = Watcher::start(&cluster, &LONG_JOB).await;
        watcher.until(is_depth(MIDDLE)).await;
        let (hit, others) = cluster.somebody_at_work().await;
        hit.disconnect().await;
        cluster.registered(&others).await;
        watcher.still_runs();
        hit.reconnect().await;
        watcher.ends_undisturbed().await;
        cluster.registered(&WORKERS).await;
        alone_it_does_right(&cluster, hit).await;
    });
}

/// The others leave, and a worker that was given up before answers a job of its own.
async fn alone_it_does_right(cluster: &Cluster, back: &Node) {
    for other in cluster.workers.iter().filter(|worker| worker.name != back.name) {
        assert_eq!(other.stop().await, Some(0), "{}", other.name);
    }
    cluster.registered(&[&back.name]).await;
    Watcher::start(cluster, &SHORT_JOB).await.ends_undisturbed().await;
}

#[test]
fn all_workers_are_replaced_during_one_analysis() {
    with_docker(async |image| {
        let cluster = Cluster::start(image).await;
        let mut watcher = Watcher::start(&cluster, &LONG_JOB).await;
        watcher.until(is_depth(EARLY)).await;
        for worker in &cluster.workers {
            assert_eq!(worker.stop().await, Some(0), "{} leaves in time and in order", worker.name);
            cluster.registered(&cluster.all_but(&worker.name)).await;
            worker.start_again().await;
            cluster.registered(&WORKERS).await;
        }
        watcher.still_runs();
        watcher.ends_undisturbed().await;
    });
}

#[test]
fn a_table_fits_into_the_memory_of_its_container() {
    with_docker(async |image| {
        const LIMIT_MIB: i64 = 96;
        let limits = Limits { memory: Some(LIMIT_MIB << 20), ..Limits::default() };
        let mut cluster = Cluster::without_workers(image).await;
        for name in WORKERS {
            cluster.add(name, &["--threads", "1"], limits).await;
        }
        cluster.add("greedy", &["--threads", "1", "--hash", "1G"], limits).await;
        cluster.registered(&WORKERS).await;
        assert_eq!(cluster.workers[3].ended().await, Some(2), "what cannot be is refused");
        assert!(cluster.workers[3].said().await.contains("1024 MiB is larger than the memory that is free"));

        // The first job fills the tables, the second needs memory of its own.
        Watcher::start(&cluster, &FILLING_JOB).await.ends().await;
        Watcher::start(&cluster, &LONG_JOB).await.ends_undisturbed().await;
        for worker in &cluster.workers[..3] {
            let said = worker.said().await;
            let table = said.split_once("a table of ").expect("it says so").1;
            let table_mib: i64 = table.split_once(" MiB").expect("in MiB").0.parse().expect("a number");
            // Half of what the program, its thread and the small table of deterministic units leave.
            assert!((LIMIT_MIB / 8..LIMIT_MIB / 3).contains(&table_mib), "{said}");
            let state = worker.state().await;
            assert_eq!((state.running, state.oom_killed), (Some(true), Some(false)), "{state:?}");
        }
        cluster.registered(&WORKERS).await;
    });
}

#[test]
fn threads_follow_the_processors_of_a_container() {
    with_docker(async |image| {
        let docker = docker_client_instance().await.expect("Docker");
        let processors = docker.info().await.expect("a daemon").ncpu.expect("processors");
        let one = Limits { nano_cpus: Some(1_000_000_000), ..Limits::default() };
        let mut cluster = Cluster::without_workers(image).await;
        let hash = ["--hash", "16M"];
        cluster.add("limited", &hash, one).await;
        cluster.add("told", &[&hash[..], &["--threads", "3"]].concat(), one).await;
        cluster.add("free", &hash, Limits::default()).await;
        cluster.registered(&["limited", "told", "free"]).await;
        for (name, slots) in [("limited", 1), ("told", 3), ("free", processors)] {
            let worker = cluster.listed(name).await.expect("registered");
            assert_eq!(i64::from(worker.slots), slots, "{name}, of {processors} processors");
        }
        Watcher::start(&cluster, &LONG_JOB).await.ends_undisturbed().await;
    });
}
