//! Faults of real processes and of the network between them that are no kills: signals, freezes, doubles, dead addresses and
//! half-open lines. The answer afterwards is the one of an undisturbed run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[path = "common/proxy.rs"]
mod proxy;

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Server, analyze, answer, check_events, eventually, lines, pause, run};
use proxy::Proxy;
use serde_json::Value;

const JOB: [&str; 6] = ["analyze", "--moves", "e2 e8 e3 e7 d3h e6", "--deterministic", "--depth", "6"];

fn undisturbed() -> Value {
    let ran = run(&[&JOB[..], &["--json", "--workers", "2", "--hash", "4M"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    answer(&lines(&ran.stdout))
}

/// Has the job analysed; to be waited for.
fn client(url: &str) -> std::process::Child {
    analyze(url, &JOB).spawn().unwrap()
}

/// Everything that a client has printed, checked, and what it complained about.
#[track_caller]
fn finish(client: std::process::Child) -> (Vec<Value>, String) {
    let output = client.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    let events = lines(std::str::from_utf8(&output.stdout).unwrap());
    check_events(&events);
    (events, err)
}

/// A cluster as a client sees it.
struct Looked<'a>(&'a str);

impl Looked<'_> {
    fn list(&self, what: &str) -> Vec<Value> {
        lines(&run(&[what, "--json", "--coordinator", self.0]).stdout)
    }

    /// The last completed depth of the only job.
    fn depth(&self) -> u64 {
        self.list("jobs").first().map_or(0, |job| job["depth"].as_u64().unwrap())
    }

    fn workers(&self) -> Vec<String> {
        self.list("workers").iter().map(|worker| worker["name"].as_str().unwrap().to_owned()).collect()
    }

    fn units_of(&self, name: &str) -> u64 {
        let workers = self.list("workers");
        let named = workers.iter().find(|worker| worker["name"] == name);
        named.map_or(0, |worker| worker["units"].as_u64().unwrap())
    }
}

fn worker(url: &str, name: &str) -> Server {
    Server::worker(url, &["--threads", "1", "--name", name])
}

#[test]
fn a_worker_that_is_told_to_stop_in_the_middle_of_a_unit_hands_it_back() {
    let expected = undisturbed();
    let mut coordinator = Server::coordinator(&[]);
    let url = coordinator.url("listening");
    let cluster = Looked(&url);
    let mut leaving = worker(&url, "leaving");
    leaving.line("registered");
    let client = client(&url);
    eventually("it is at work", || cluster.depth() >= 4 && cluster.units_of("leaving") > 0);
    leaving.signal("-TERM");
    let (code, took) = leaving.end();
    assert_eq!(code, Some(0), "{:?}", leaving.said);
    // `drain_time` is five seconds; the rest is for a busy machine.
    assert!(took < Duration::from_secs(10), "{took:?}");
    eventually("it waits for somebody", || cluster.list("jobs")[0]["state"] == "waiting");
    let _next = worker(&url, "next");
    let (events, _) = finish(client);
    assert_eq!(answer(&events), expected);
    // A drain is no death.
    assert!(!events.iter().any(|event| event["state"] == "parked"));
}

#[test]
fn a_worker_that_was_frozen_for_longer_than_its_lease_loses_its_unit_and_comes_back() {
    let expected = undisturbed();
    let mut coordinator = Server::coordinator(&["--lease", "1s"]);
    let url = coordinator.url("listening");
    let cluster = Looked(&url);
    let mut frozen = worker(&url, "frozen");
    frozen.line("registered");
    let client = client(&url);
    eventually("it is at work", || cluster.depth() >= 3 && cluster.units_of("frozen") > 0);
    frozen.signal("-STOP");
    eventually("it is given up", || cluster.workers().is_empty());
    let mut healthy = worker(&url, "healthy");
    healthy.line("registered");
    eventually("its unit runs elsewhere", || cluster.units_of("healthy") > 0);
    frozen.signal("-CONT");
    eventually("it is back", || cluster.workers() == ["frozen", "healthy"] || cluster.workers().len() == 2);
    let (events, _) = finish(client);
    assert_eq!(answer(&events), expected);
    // Nothing that it had found under its old lease was counted, and it works again.
    healthy.signal("-KILL");
    healthy.end();
    let again = finish(self::client(&url)).0;
    assert_eq!(answer(&again), expected);
    frozen.line("no line to the coordinator");
}

#[test]
fn a_process_that_takes_over_a_killed_one_is_accepted_at_once() {
    let mut coordinator = Server::coordinator(&["--lease", "1h"]);
    let url = coordinator.url("listening");
    let mut first = worker(&url, "anna");
    first.line("registered");
    for _ in 0..3 {
        first.signal("-KILL");
        first.end();
        let mut next = worker(&url, "anna");
        next.line("registered");
        assert_eq!(Looked(&url).workers(), ["anna"]);
        first = next;
    }
}

#[test]
fn a_double_is_refused_with_the_reason_and_disturbs_nobody_until_the_first_is_gone() {
    let expected = undisturbed();
    let mut coordinator = Server::coordinator(&["--lease", "2s"]);
    let url = coordinator.url("listening");
    let cluster = Looked(&url);
    let mut first = worker(&url, "anna");
    first.line("registered");
    let mut double = worker(&url, "anna");
    let refused = double.line("names are unique among connected workers");
    assert!(refused.contains("name: a worker named 'anna' is connected already"), "{refused}");
    let client = client(&url);
    let (events, err) = finish(client);
    assert_eq!((answer(&events), err.as_str()), (expected, ""));
    assert!(!events.iter().any(|event| event["state"] == "waiting"), "the first was disturbed");
    assert_eq!(cluster.workers(), ["anna"]);
    // It has kept trying, with growing pauses, and still does.
    let tries = |double: &mut Server| {
        double.catch_up();
        double.said.iter().filter(|line| line.contains("the coordinator refuses this worker")).count()
    };
    eventually("it tries again", || tries(&mut double) >= 4);
    assert!(!double.said.iter().any(|line| line.contains("registered ")), "{:?}", double.said);
    first.catch_up();
    assert!(!first.said.iter().any(|line| line.contains("no line")), "{:?}", first.said);
    first.signal("-KILL");
    first.end();
    double.line("registered ");
    assert_eq!(cluster.workers(), ["anna"]);
}

#[test]
fn a_frozen_workers_name_is_free_for_its_successor_and_it_is_the_double_when_it_wakes() {
    let mut coordinator = Server::coordinator(&["--lease", "2s"]);
    let url = coordinator.url("listening");
    let mut first = worker(&url, "anna");
    first.line("registered ");
    first.signal("-STOP");
    let mut next = worker(&url, "anna");
    next.line("registered ");
    first.signal("-CONT");
    first.line("names are unique among connected workers");
    assert_eq!(Looked(&url).workers(), ["anna"]);
    next.catch_up();
    assert!(!next.said.iter().any(|line| line.contains("the coordinator closed")), "{:?}", next.said);
}

/// A listener that accepts and never says anything.
fn mute() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

#[test]
fn one_of_three_addresses_is_dead_one_is_mute_and_nobody_notices() {
    let expected = undisturbed();
    let mut coordinator = Server::coordinator(&[]);
    let url = coordinator.url("listening");
    let (_mute, silent) = mute();
    let urls = format!("http://127.0.0.1:1,{silent},{url}");
    let mut anna = worker(&urls, "anna");
    anna.line("registered ");
    let (events, err) = finish(client(&urls));
    assert_eq!((answer(&events), err.as_str()), (expected, ""));
    for command in [&["jobs"][..], &["workers"], &["watch", "1"], &["cancel", "1"]] {
        let ran = run(&[command, &["--coordinator", &urls]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command:?}: {ran:?}");
    }
}

#[test]
fn whoever_watches_over_a_half_open_line_notices_and_goes_on_without_a_gap() {
    let mut coordinator = Server::coordinator(&["--lease", "60s"]);
    let url = coordinator.url("listening");
    let proxy = Proxy::start(url.strip_prefix("http://").unwrap().parse().unwrap());
    // Nobody works yet: the line is quiet, and only its keepalive can show that it is dead.
    let mut watching = client(&proxy.url());
    let cluster = Looked(&url);
    eventually("the job waits", || cluster.list("jobs").first().is_some_and(|job| job["state"] == "waiting"));
    eventually("it is watched over the proxy", || proxy.connections() >= 1);
    pause(Duration::from_millis(300));
    let started = Instant::now();
    proxy.fail();
    proxy.heal();
    eventually("both ends have noticed", || proxy.given_up() == (1, 1));
    // Keepalives of 8 s and 8 s; the rest is for a busy machine.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(watching.try_wait().unwrap().is_none(), "it has given up altogether");
    let _worker = worker(&url, "anna");
    let (events, err) = finish(watching);
    assert_eq!(err.matches("trying again").count(), 1, "{err}");
    assert_eq!(answer(&events), undisturbed());
}

#[test]
fn a_worker_has_as_many_threads_as_processors_that_it_may_use_and_a_flag_wins() {
    let confined = |arguments: &[&str]| {
        let mut command = Command::new("taskset");
        let worker = ["worker", "--coordinator", "http://127.0.0.1:1", "--hash", "1M", "--name", "a"];
        command.args(["-c", "0", env!("CARGO_BIN_EXE_corridor")]).args(worker).args(arguments);
        Server::start_command(command).line("worker a: ")
    };
    assert_eq!(confined(&[]), "worker a: 1 threads, a table of 1 MiB");
    assert_eq!(confined(&["--threads", "2"]), "worker a: 2 threads, a table of 1 MiB");
}
