//! A real cluster: coordinator and workers as processes of their own, and the commands that look after it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use common::{Ran, Server, eventually, hand_in, lines, refused, run, signal_to, watch};

/// A command that ended well.
#[track_caller]
fn ok(arguments: &[&str]) -> String {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}: {}", ran.stdout);
    ran.stdout
}

/// A command that failed: exit code, and one line.
#[track_caller]
fn fails(arguments: &[&str], code: i32, line: &str) {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{arguments:?}: {ran:?}");
    assert_eq!(ran.stderr, format!("corridor: {line}\n"), "{arguments:?}");
}

fn healthy(url: &str) -> bool {
    run(&["health", url]).code == 0
}

#[test]
fn a_cluster_of_processes_analyses_and_is_looked_after() {
    let mut coordinator = Server::coordinator(&["--lease", "2s"]);
    let url = coordinator.url("listening");
    let mut worker = Server::worker(&url, &["--name", "anna", "--threads", "1"]);
    worker.line("registered");
    // One of three addresses lives: that is enough, for workers and for clients.
    let urls = format!("http://127.0.0.1:1,{url},http://127.0.0.1:2");
    let mut second = Server::worker(&urls, &["--name", "berta", "--threads", "2"]);
    second.line("registered");
    let at = ["--coordinator", &urls];

    let workers = lines(&ok(&[&["workers", "--json"], &at[..]].concat()));
    let named: Vec<_> =
        workers.iter().map(|it| (it["name"].as_str().unwrap(), it["slots"].as_u64())).collect();
    assert_eq!(named, [("anna", Some(1)), ("berta", Some(2))]);
    assert!(ok(&[&["workers"], &at[..]].concat()).contains("anna"));
    assert_eq!(ok(&[&["jobs"], &at[..]].concat()), "no jobs\n");

    let analyzed = lines(&ok(&[&["analyze", "--moves", "", "--depth", "4", "--json"], &at[..]].concat()));
    assert_eq!(analyzed.first().unwrap()["job"], 1);
    assert_eq!(analyzed.last().unwrap()["event"], "done");
    // The same events, all of them and from a cursor on.
    assert_eq!(lines(&ok(&[&["watch", "1", "--json"], &at[..]].concat())), analyzed);
    assert_eq!(lines(&ok(&[&["watch", "1", "--after", "40", "--json"], &at[..]].concat())), analyzed[40..]);
    let page = ok(&[&["watch", "1", "--after", "40"], &at[..]].concat());
    assert!(page.contains("best move") && page.contains("stopped by depth"), "{page}");

    let job = &lines(&ok(&[&["jobs", "--json"], &at[..]].concat()))[0];
    assert_eq!((&job["job"], &job["state"], &job["depth"]), (&1.into(), &"done".into(), &4.into()));
    assert_eq!(job["last_seq"], u64::try_from(analyzed.len()).unwrap());
    assert!(ok(&[&["jobs"], &at[..]].concat()).contains("\u{2502}   1 \u{2506} done"));

    fails(&[&["watch", "9"], &at[..]].concat(), 2, "there is no job 9");
    fails(&[&["cancel", "9"], &at[..]].concat(), 2, "there is no job 9");
    let last = analyzed.len();
    let beyond = format!("--after: 9999 is beyond the last event {last}");
    fails(&[&["watch", "1", "--after", "9999"], &at[..]].concat(), 2, &beyond);
    fails(&[&["pause", "1"], &at[..]].concat(), 1, "coordinator: job 1 has ended");
    fails(&[&["resume", "1"], &at[..]].concat(), 1, "coordinator: job 1 has ended");
    assert_eq!(ok(&[&["cancel", "1"], &at[..]].concat()), "job 1: done, depth 4\n");
}

#[test]
fn a_job_is_held_let_go_and_ended() {
    let mut coordinator = Server::coordinator(&[]);
    let url = coordinator.url("listening");
    let at = ["--coordinator", &url];
    let handed_in = ok(&[&["analyze", "--moves", "", "--time", "1h", "--detach"], &at[..]].concat());
    assert_eq!(handed_in, format!("job 1: accepted\ncorridor watch 1 --coordinator {url}\n"));
    let jobs = || lines(&ok(&[&["jobs", "--json"], &at[..]].concat()));
    eventually("the job waits", || jobs().iter().any(|job| job["state"] == "waiting"));
    // Whoever watches leaves it alone.
    let mut shown = watch(&url, "1").spawn().unwrap();
    let (mut events, mut first) = (BufReader::new(shown.stdout.take().unwrap()), String::new());
    events.read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"event\":\"accepted\""), "{first}");
    signal_to(shown.id(), "-INT");
    let output = shown.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), err.as_str()), (Some(1), "corridor: interrupted: job 1 goes on\n"));
    let mut watching = Server::start(&[&["watch", "1"], &at[..]].concat());
    let job = &lines(&ok(&[&["pause", "1", "--json"], &at[..]].concat()))[0];
    assert_eq!(job["state"], "paused");
    let _worker = Server::worker(&url, &["--threads", "1"]);
    assert_eq!(
        ok(&[&["resume", "1"], &at[..]].concat()).split(", ").next().unwrap().split(": ").next(),
        Some("job 1")
    );
    eventually("it runs", || jobs()[0]["state"] == "running" && jobs()[0]["depth"].as_u64() > Some(2));
    assert!(ok(&[&["cancel", "1"], &at[..]].concat()).starts_with("job 1: done, depth "));
    assert_eq!(watching.end().0, Some(0));
}

#[test]
fn serve_is_a_cluster_in_one_process() {
    let arguments =
        ["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--workers", "2", "--hash", "4M"];
    let mut serve = Server::start(&arguments);
    let (url, probes) = (serve.url("listening"), serve.url("live board"));
    serve.line("2 workers");
    assert!(healthy(&url) && healthy(&format!("{probes}/readyz")));
    let events = lines(&ok(&["analyze", "--moves", "", "--depth", "3", "--json", "--coordinator", &url]));
    assert_eq!(events.last().unwrap()["event"], "done");
    serve.signal("-TERM");
    let (code, took) = serve.end();
    assert_eq!(code, Some(0), "{:?}", serve.said);
    assert!(took < Duration::from_secs(12), "{took:?}");
}

#[test]
fn readiness_falls_before_the_end_and_liveness_holds() {
    let mut coordinator = Server::coordinator(&[]);
    let (url, probes) = (coordinator.url("listening"), coordinator.url("live board"));
    let mut worker = Server::worker(&url, &["--threads", "1", "--name", "anna"]);
    let worker_probes = worker.url("health");
    let ready = |probes: &str| run(&["health", &format!("{probes}/readyz")]);
    eventually("the worker is ready", || ready(&worker_probes).code == 0);
    assert_eq!(
        (ready(&probes).stdout.as_str(), run(&["health", &url]).stdout.as_str()),
        ("ready\n", "serving\n")
    );
    // A silent client holds the drain open for its whole limit, and no longer.
    let address = url.strip_prefix("http://").unwrap();
    let _silent = std::net::TcpStream::connect(address).unwrap();
    coordinator.signal("-TERM");
    coordinator.line("stopping");
    let Ran { code, stderr, .. } = ready(&probes);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("it answers 503: not ready: it is shutting down"), "{stderr}");
    assert!(healthy(&format!("{probes}/healthz")));
    let (code, took) = coordinator.end();
    assert_eq!(code, Some(0), "{:?}", coordinator.said);
    assert!(took < Duration::from_secs(8), "{took:?}");
    // A worker without a coordinator lives, is not ready, and waits for the next one.
    eventually("the worker is not ready", || {
        ready(&worker_probes).stderr.contains("no coordinator gives it work")
    });
    assert!(healthy(&format!("{worker_probes}/healthz")));
    let _next = Server::start(&["coordinator", "--listen", address]);
    eventually("the worker is ready again", || ready(&worker_probes).code == 0);
}

#[test]
fn a_worker_hands_back_and_leaves_within_its_limit() {
    let mut coordinator = Server::coordinator(&[]);
    let url = coordinator.url("listening");
    let mut worker = Server::worker(&url, &["--threads", "2", "--name", "anna"]);
    worker.line("registered");
    let at = ["--coordinator", &url];
    let shown = watch(&url, &hand_in(&url, &["analyze", "--moves", "", "--depth", "60"])).spawn().unwrap();
    let jobs = || lines(&ok(&[&["jobs", "--json"], &at[..]].concat()));
    eventually("it is deep in its work", || {
        jobs().first().is_some_and(|job| job["depth"].as_u64() > Some(7))
    });
    worker.signal("-TERM");
    let (code, took) = worker.end();
    assert_eq!(code, Some(0), "{:?}", worker.said);
    assert!(took < Duration::from_secs(6), "{took:?}");
    assert!(worker.line("stopping").contains("anna"));
    eventually("the job waits", || jobs()[0]["state"] == "waiting");
    assert_eq!(ok(&[&["workers"], &at[..]].concat()), "no workers\n");
    // Another one of the same name goes on where it stopped.
    let depth = jobs()[0]["depth"].as_u64();
    let mut next = Server::worker(&url, &["--threads", "2", "--name", "anna"]);
    next.line("registered");
    eventually("it goes on", || jobs()[0]["depth"].as_u64() > depth);
    ok(&[&["cancel", "1"], &at[..]].concat());
    assert!(shown.wait_with_output().unwrap().status.success());
}

#[test]
fn a_second_signal_ends_a_server_at_once() {
    let mut coordinator = Server::coordinator(&[]);
    let url = coordinator.url("listening");
    let _silent = std::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    coordinator.signal("-TERM");
    coordinator.line("stopping");
    let started = Instant::now();
    coordinator.signal("-INT");
    assert_eq!(coordinator.end().0, Some(1));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn a_worker_that_finds_nobody_keeps_trying_and_can_be_stopped() {
    let mut worker = Server::worker("http://127.0.0.1:1", &["--threads", "1"]);
    worker.line("no line to the coordinator");
    let name = worker.line("worker ");
    assert!(
        name.contains(&format!("-{}: 1 threads, a table of 4 MiB", worker.pid())),
        "host and process: {name}"
    );
    worker.signal("-TERM");
    assert_eq!(worker.end().0, Some(0), "{:?}", worker.said);
}

#[test]
fn whoever_finds_no_coordinator_says_so_in_time() {
    let started = Instant::now();
    for command in
        [&["jobs"][..], &["workers"], &["watch", "1"], &["cancel", "1"], &["pause", "1"], &["resume", "1"]]
    {
        let line = "connect to http://127.0.0.1:1: connection refused: nobody listens there";
        fails(&[command, &["--coordinator", "http://127.0.0.1:1"]].concat(), 1, line);
        fails(
            &[command, &["--coordinator", "http://127.0.0.1:2,http://127.0.0.1:1"]].concat(),
            1,
            &format!("none of 2 coordinators answers, the last: {line}"),
        );
    }
    fails(
        &["health", "http://127.0.0.1:1/readyz"],
        1,
        "http://127.0.0.1:1/readyz: Connection refused (os error 111)",
    );
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn servers_are_refused_what_cannot_be() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().to_string();
    let busy = |flag: &str| format!("{flag}: listen on {port}: the port is taken");
    fails(&["coordinator", "--listen", &port], 1, &busy("--listen"));
    fails(&["coordinator", "--listen", "127.0.0.1:0", "--http", &port], 1, &busy("--http"));
    fails(&["serve", "--listen", &port, "--workers", "1", "--hash", "1M"], 1, &busy("--listen"));
    fails(&["worker", "--coordinator", "http://127.0.0.1:1", "--http", &port], 1, &busy("--http"));
    let foreign = "192.0.2.1:4242";
    fails(
        &["coordinator", "--listen", foreign],
        1,
        &format!("--listen: listen on {foreign}: this machine has no such address"),
    );

    let wanted = "IP:PORT is wanted, such as 127.0.0.1:4242, or 0.0.0.0:4242 for all networks";
    for (command, flag) in [("coordinator", "listen"), ("coordinator", "http"), ("serve", "listen")] {
        for address in ["4242", "host:1", "127.0.0.1:65536", ""] {
            let given = format!("--{flag}={address}");
            let line = format!("invalid value '{address}' for '--{flag} <ADDR>': {wanted}");
            refused(&[command, &given], &line);
        }
    }
    for (lease, why) in [
        ("0s", "a lease has 100ms to 1h"),
        ("2h", "a lease has 100ms to 1h"),
        ("10", "a duration carries a unit: us, ms, s, m, h or d"),
        ("-1s", "a duration cannot be negative"),
    ] {
        refused(
            &["coordinator", "--lease", lease],
            &format!("invalid value '{lease}' for '--lease <TIME>': {why}"),
        );
    }
    refused(
        &["coordinator", "--unit-deaths", "0"],
        "invalid value '0' for '--unit-deaths <N>': a whole number from 1 to 1000 is wanted",
    );
}

#[test]
fn workers_and_clients_are_refused_what_cannot_be() {
    let worker = ["worker", "--coordinator", "http://127.0.0.1:1"];
    for (flag, value, shown, why) in [
        ("--threads", "0", "--threads <N>", "a whole number from 1 to 1024 is wanted"),
        ("--hash", "0M", "--hash <SIZE>", "a table has at least 1K"),
        ("--name", " ", "--name <NAME>", "a name has 1 to 256 bytes, none of them a control character"),
    ] {
        let line = format!("invalid value '{value}' for '{shown}': {why}");
        refused(&[&worker[..], &[flag, value]].concat(), &line);
    }
    // What cannot be printed is not repeated either.
    refused(
        &[&worker[..], &["--name", "a\u{1}b"]].concat(),
        "invalid value 'ab' for '--name <NAME>': a name has 1 to 256 bytes, none of them a control character",
    );
    let ran = run(&[&worker[..], &["--hash", "99999999G"]].concat());
    assert!(
        ran.code == 2
            && ran.stderr.starts_with("corridor: --hash: ")
            && ran.stderr.matches('\n').count() == 1
    );
    for command in [&["worker"][..], &["jobs"], &["workers"], &["watch", "1"], &["cancel", "1"]] {
        refused(command, "the following required arguments were not provided: --coordinator <URL>");
        for url in ["host:1", "https://host:1x", ""] {
            let ran = run(&[command, &["--coordinator", url]].concat());
            assert!(ran.code == 2 && ran.stderr.contains("http://HOST:PORT is wanted"), "{ran:?}");
        }
    }
    for job in ["0", "x", "-1", "18446744073709551616"] {
        let ran = run(&["watch", job, "--coordinator", "http://127.0.0.1:1"]);
        assert!(ran.code == 2 && ran.stderr.matches('\n').count() == 1, "{ran:?}");
    }
    refused(
        &["health", "127.0.0.1:1"],
        "invalid value '127.0.0.1:1' for '<URL>': http://HOST:PORT or http://HOST:PORT/PATH is wanted",
    );
}

#[test]
fn settings_come_from_the_environment_too() {
    let mut command = common::command();
    command.arg("coordinator").env("CORRIDOR_LISTEN", "127.0.0.1:0").env("CORRIDOR_LEASE", "3s");
    let mut coordinator = Server::start_command(command);
    let url = coordinator.url("listening");
    let mut command = common::command();
    command.arg("worker").envs([
        ("CORRIDOR_COORDINATOR", url.as_str()),
        ("CORRIDOR_NAME", "from the environment"),
        ("CORRIDOR_THREADS", "3"),
        ("CORRIDOR_HASH", "2M"),
    ]);
    let mut worker = Server::start_command(command);
    assert!(worker.line("threads").contains("from the environment: 3 threads, a table of 2 MiB"));
    worker.line("registered");
    let mut command = common::command();
    command.args(["workers", "--json"]).env("CORRIDOR_COORDINATOR", &url);
    let workers = lines(&common::finish(command, Vec::new()).stdout);
    assert_eq!((workers.len(), &workers[0]["slots"]), (1, &3.into()));
}
