//! Jobs that outlive processes: `--store` with a file and with a database, real kills, a real full disk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[path = "../../tests/src/postgres.rs"]
mod postgres;

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Server, analyze, check_events, command, eventually, lines, pause, refused, run};
use serde_json::Value;

/// A place for a store, which goes with the test.
struct Ground {
    /// As `--store` takes it.
    name: String,
    /// As messages show it.
    shown: String,
    _folder: Option<tempfile::TempDir>,
    _database: Option<postgres::Database>,
}

fn file() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("corridor.db").to_str().unwrap().to_owned();
    Ground { shown: name.clone(), name, _folder: Some(folder), _database: None }
}

fn on(database: postgres::Database) -> Ground {
    let name = database.url.clone();
    let shown = name.replace(&format!(":{}", postgres::SECRET), "");
    Ground { name, shown, _folder: None, _database: Some(database) }
}

/// A file, and a database if this machine can have one; otherwise that is said.
fn grounds() -> Vec<Ground> {
    let mut grounds = vec![file()];
    grounds.extend(postgres::database().map(on));
    grounds
}

fn coordinator(store: &str, listen: &str) -> Server {
    Server::start(&["coordinator", "--listen", listen, "--store", store])
}

#[test]
fn a_client_sees_nothing_of_a_coordinator_that_was_killed_twice() {
    for ground in grounds() {
        let name = ground.name.as_str();
        let mut first = coordinator(name, "127.0.0.1:0");
        let url = first.url("listening");
        let address = url.strip_prefix("http://").unwrap();
        let mut worker = Server::worker(&url, &["--threads", "1", "--name", "anna"]);
        worker.line("registered");
        let mut client = command();
        client.args(["analyze", "--moves", "e2 e8 e3 e7", "--depth", "12", "--json", "--coordinator", &url]);
        let client = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let depth = || {
            let listed = run(&["jobs", "--json", "--coordinator", &url]);
            lines(&listed.stdout).first().and_then(|job| job["depth"].as_u64()).unwrap_or(0)
        };
        let mut serving = first;
        for wanted in [4, 7] {
            eventually("it is so deep", || depth() >= wanted);
            serving.signal("-KILL");
            assert_eq!(serving.end().0, None);
            serving = coordinator(name, address);
            serving.line("listening");
            assert!(depth() >= wanted, "what was told is there");
        }
        let output = client.wait_with_output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{err}");
        // The second kill may come before it is back.
        assert!((1..=2).contains(&err.matches("trying again").count()), "{err}");
        let events = lines(&out);
        check_events(&events);
        assert_eq!(events.last().unwrap()["depth"], 12);
        // Whoever comes later sees the same.
        assert_eq!(run(&["watch", "1", "--json", "--coordinator", &url]).stdout, out);
        serving.signal("-TERM");
        assert_eq!(serving.end().0, Some(0), "{:?}", serving.said);
    }
}

#[test]
fn a_job_that_a_coordinator_without_a_store_took_along_is_missed_clearly() {
    let mut first = Server::coordinator(&[]);
    let url = first.url("listening");
    let mut client = command();
    client.args(["analyze", "--moves", "", "--depth", "9", "--json", "--coordinator", &url]);
    let client = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("it is there", || run(&["jobs", "--json", "--coordinator", &url]).stdout.contains("waiting"));
    first.signal("-KILL");
    first.end();
    let mut next = Server::start(&["coordinator", "--listen", url.strip_prefix("http://").unwrap()]);
    next.line("listening");
    let output = client.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    let last = "corridor: the job is gone: the coordinator came back without it: there is no job 1";
    assert_eq!(err.lines().last(), Some(last));
}

#[test]
fn a_store_has_one_holder_and_a_kill_frees_it() {
    for ground in grounds() {
        let name = ground.name.as_str();
        let mut holder = coordinator(name, "127.0.0.1:0");
        holder.line("listening");
        for arguments in [
            &["coordinator", "--listen", "127.0.0.1:0", "--store", name][..],
            &["serve", "--listen", "127.0.0.1:0", "--workers", "1", "--hash", "1M", "--store", name],
            &["analyze", "--moves", "", "--depth", "1", "--workers", "1", "--hash", "1M", "--store", name],
        ] {
            let ran = run(arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
            let held =
                format!("corridor: --store: store {} is held by process {} on ", ground.shown, holder.pid());
            assert!(ran.stderr.lines().last().unwrap().starts_with(&held), "{}", ran.stderr);
        }
        holder.signal("-KILL");
        holder.end();
        coordinator(name, "127.0.0.1:0").line("listening");
    }
}

#[test]
fn an_analysis_of_this_process_is_kept_if_asked() {
    for ground in grounds() {
        let name = ground.name.as_str();
        let small = ["analyze", "--json", "--workers", "1", "--hash", "4M", "--store", name, "--moves"];
        let first = run(&[&small[..], &["e2 e8", "--depth", "4"]].concat());
        assert_eq!(first.code, 0, "{}", first.stderr);
        // Killed in the middle; the next run ends what was left.
        let mut killed = Server::start(&[&small[..], &["e2", "--time", "1h"]].concat());
        pause(Duration::from_millis(1_500));
        killed.signal("-KILL");
        killed.end();
        let third = run(&[&small[..], &["", "--depth", "3"]].concat());
        assert_eq!((third.code, third.stderr.as_str()), (0, ""));
        assert_eq!(lines(&third.stdout)[0]["job"], 3);

        let mut serve = coordinator(name, "127.0.0.1:0");
        let url = serve.url("listening");
        let watched = |job: &str| run(&["watch", job, "--json", "--coordinator", &url]).stdout;
        assert_eq!(watched("1"), first.stdout);
        assert_eq!(watched("3"), third.stdout);
        let left = lines(&watched("2"));
        check_events(&left);
        assert_eq!(left.last().unwrap()["stopped_by"], "cancel");
        assert!(left.last().unwrap()["depth"].as_u64() > Some(1), "with what was known");
    }
}

#[test]
fn a_disk_that_is_full_pauses_jobs_until_there_is_room() {
    let ground = file();
    // Whoever writes beyond the limit of a file is told so and not killed.
    let mut limited = Command::new("sh");
    let script =
        "trap '' XFSZ; exec \"$0\" coordinator --listen 127.0.0.1:0 --http 127.0.0.1:0 --store \"$1\"";
    limited.args(["-c", script, env!("CARGO_BIN_EXE_corridor"), &ground.name]);
    let mut coordinator = Server::start_command(limited);
    let (url, probes) = (coordinator.url("listening"), coordinator.url("live board"));
    let mut worker = Server::worker(&url, &["--threads", "1"]);
    worker.line("registered");
    let at = ["--coordinator", &url];
    let client = analyze(&url, &["analyze", "--moves", "", "--time", "1h"]).spawn().unwrap();
    let ready = || run(&["health", &format!("{probes}/readyz")]);
    let state =
        || lines(&run(&[&["jobs", "--json"], &at[..]].concat()).stdout).last().unwrap()["state"].clone();
    eventually("it runs", || run(&[&["jobs"], &at[..]].concat()).stdout.contains("running"));
    let pid = coordinator.pid().to_string();
    let disk = |bytes: &str| {
        let limit = format!("--fsize={bytes}:unlimited");
        assert!(Command::new("prlimit").args(["--pid", &pid, &limit]).status().unwrap().success());
    };
    disk("4096");
    eventually("the disk is full", || ready().stderr.contains("not ready: the store cannot be written: "));
    assert_eq!(state(), "paused");
    assert_eq!(run(&["health", &url]).code, 1);
    assert_eq!(run(&["health", &format!("{probes}/healthz")]).code, 0);
    let refused = run(&[&["analyze", "--moves", "", "--depth", "1"], &at[..]].concat());
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.starts_with("corridor: coordinator: the store cannot be written: "),
        "{refused:?}"
    );

    disk("unlimited");
    eventually("there is room", || ready().code == 0);
    eventually("it goes on", || state() == "running");
    pause(Duration::from_millis(300));
    assert_eq!(run(&[&["cancel", "1"], &at[..]].concat()).code, 0);
    let output = client.wait_with_output().unwrap();
    let events = lines(std::str::from_utf8(&output.stdout).unwrap());
    check_events(&events);
    let paused = |event: &&Value| event["event"] == "state" && event["state"] == "paused";
    let reason = events.iter().find(paused).expect("it says so")["reason"].as_str().unwrap();
    assert!(reason.starts_with("the store cannot be written: "), "{reason}");
}

#[test]
fn stores_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corridor.db");
    for (place, wanted) in [
        (
            "mysql://u:geheim@host/db",
            "stores in mysql:// are not supported: the name of a file, or a URL that begins with postgres:// is wanted",
        ),
        ("postgres://u:geheim@host:port/db", "invalid port number"),
        ("", "the name of a file or a URL is wanted"),
    ] {
        let line = format!("invalid value for '--store <FILE-OR-URL>': {wanted}");
        refused(&["coordinator", "--store", place], &line);
        refused(&["serve", "--store", place], &line);
        refused(&["analyze", "--moves", "", "--store", place], &line);
        if !place.is_empty() {
            let mut command = command();
            command.arg("coordinator").env("CORRIDOR_STORE", place);
            let ran = common::finish(command, Vec::new());
            assert_eq!((ran.code, ran.stderr), (2, format!("corridor: CORRIDOR_STORE: {line}\n")));
        }
    }
    let mut help = command();
    help.args(["coordinator", "--help"]).env("CORRIDOR_STORE", "postgres://u:geheim@host/db");
    let help = common::finish(help, Vec::new());
    assert!(help.stdout.contains("CORRIDOR_STORE") && !help.stdout.contains("geheim"), "{}", help.stdout);
    let missing = folder.path().join("missing/corridor.db");
    let ran = run(&["coordinator", "--listen", "127.0.0.1:0", "--store", missing.to_str().unwrap()]);
    let line = format!("corridor: --store: {} is no folder\n", missing.parent().unwrap().display());
    assert_eq!((ran.code, ran.stderr), (2, line));
    std::fs::write(&path, "this is a diary, not a database\n".repeat(100)).unwrap();
    let ran = run(&["serve", "--listen", "127.0.0.1:0", "--hash", "1M", "--store", path.to_str().unwrap()]);
    let line = format!("corridor: --store: open store {}: file is not a database\n", path.display());
    assert_eq!((ran.code, ran.stderr), (1, line));
    refused(
        &["analyze", "--moves", "", "--coordinator", "http://127.0.0.1:1", "--store", "a.db"],
        "the argument '--coordinator <URL>' cannot be used with '--store <FILE-OR-URL>'",
    );
}

/// Nobody at that port, and somebody who says nothing: both are told of in time, and in one line.
#[test]
fn a_database_that_cannot_be_reached_is_named_within_ten_seconds() {
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let mute = mute.local_addr().unwrap().port();
    for (port, reason) in
        [(1, "Connection refused (os error 111)"), (mute, "no connection within store_connect_time 5 s")]
    {
        let name = format!("postgres://ada:geheim@127.0.0.1:{port}/games");
        for arguments in [
            &["coordinator", "--listen", "127.0.0.1:0", "--store", &name][..],
            &["analyze", "--moves", "", "--depth", "1", "--workers", "1", "--hash", "1M", "--store", &name],
        ] {
            let started = Instant::now();
            let ran = run(arguments);
            assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
            let line =
                format!("corridor: --store: open store postgres://ada@127.0.0.1:{port}/games: {reason}\n");
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (1, "", line));
        }
    }
}

/// The worst that a server's owner can do, while clients watch.
#[test]
fn a_database_that_goes_away_pauses_jobs_until_it_is_back() {
    let Some(server) = postgres::server() else { return };
    let ground = on(server.database());
    let mut coordinator = Server::coordinator(&["--store", &ground.name]);
    let (url, probes) = (coordinator.url("listening"), coordinator.url("live board"));
    let mut worker = Server::worker(&url, &["--threads", "1"]);
    worker.line("registered");
    let at = ["--coordinator", &url];
    let job = common::hand_in(&url, &["analyze", "--moves", "", "--time", "1h"]);
    let client = common::watch(&url, &job).spawn().unwrap();
    let ready = || run(&["health", &format!("{probes}/readyz")]);
    let jobs = || run(&[&["jobs"], &at[..]].concat()).stdout;
    eventually("it runs", || jobs().contains("running"));
    server.stop_at_once();
    eventually("the database is away", || {
        ready().stderr.contains("not ready: the store cannot be written: ")
    });
    assert!(jobs().contains("paused"));
    server.start_again();
    eventually("it is back", || ready().code == 0);
    eventually("it goes on", || jobs().contains("running"));
    // Killed, and started again on what is there.
    coordinator.signal("-KILL");
    coordinator.end();
    let listen = url.strip_prefix("http://").unwrap();
    let mut again = self::coordinator(&ground.name, listen);
    again.line("listening");
    eventually("it goes on", || jobs().contains("running"));
    assert_eq!(run(&[&["cancel", "1"], &at[..]].concat()).code, 0);
    let output = client.wait_with_output().unwrap();
    let events = lines(std::str::from_utf8(&output.stdout).unwrap());
    check_events(&events);
    again.signal("-TERM");
    assert_eq!(again.end().0, Some(0), "{:?}", again.said);
    coordinator.said.extend(again.said.iter().cloned());
    assert!(!coordinator.said.join(" ").contains(postgres::SECRET), "{:?}", coordinator.said);
}
