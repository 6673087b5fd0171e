//! Jobs that outlive processes: `--store`, real kills, a real full disk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Server, analyze, check_events, command, eventually, lines, pause, refused, run};
use serde_json::Value;

fn store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corridor.db");
    (folder, path)
}

fn coordinator(path: &Path, listen: &str) -> Server {
    Server::start(&["coordinator", "--listen", listen, "--store", path.to_str().unwrap()])
}

#[test]
fn a_client_sees_nothing_of_a_coordinator_that_was_killed_twice() {
    let (_folder, path) = store();
    let mut first = coordinator(&path, "127.0.0.1:0");
    let url = first.url("listening");
    let address = url.strip_prefix("http://").unwrap();
    let mut worker = Server::worker(&url, &["--threads", "1", "--name", "anna"]);
    worker.line("registered");
    let mut client = command();
    client.args(["analyze", "--moves", "e2 e8 e3 e7", "--depth", "10", "--json", "--coordinator", &url]);
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
        serving = coordinator(&path, address);
        serving.line("listening");
        assert!(depth() >= wanted, "what was told is there");
    }
    let output = client.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{err}");
    // The second kill may come before it is back.
    assert!((1..=2).contains(&err.matches("trying again").count()), "{err}");
    let events = lines(&out);
    check_events(&events);
    assert_eq!(events.last().unwrap()["depth"], 10);
    // Whoever comes later sees the same.
    assert_eq!(run(&["watch", "1", "--json", "--coordinator", &url]).stdout, out);
    serving.signal("-TERM");
    assert_eq!(serving.end().0, Some(0), "{:?}", serving.said);
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
    let (_folder, path) = store();
    let mut holder = coordinator(&path, "127.0.0.1:0");
    holder.line("listening");
    let name = path.to_str().unwrap();
    for arguments in [
        &["coordinator", "--listen", "127.0.0.1:0", "--store", name][..],
        &["serve", "--listen", "127.0.0.1:0", "--workers", "1", "--hash", "1M", "--store", name],
        &["analyze", "--moves", "", "--depth", "1", "--workers", "1", "--hash", "1M", "--store", name],
    ] {
        let ran = run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        let held = format!("corridor: --store: store {name} is held by process {} on ", holder.pid());
        assert!(ran.stderr.lines().last().unwrap().starts_with(&held), "{}", ran.stderr);
    }
    holder.signal("-KILL");
    holder.end();
    coordinator(&path, "127.0.0.1:0").line("listening");
}

#[test]
fn an_analysis_of_this_process_is_kept_if_asked() {
    let (_folder, path) = store();
    let name = path.to_str().unwrap();
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

    let mut serve = coordinator(&path, "127.0.0.1:0");
    let url = serve.url("listening");
    let watched = |job: &str| run(&["watch", job, "--json", "--coordinator", &url]).stdout;
    assert_eq!(watched("1"), first.stdout);
    assert_eq!(watched("3"), third.stdout);
    let left = lines(&watched("2"));
    check_events(&left);
    assert_eq!(left.last().unwrap()["stopped_by"], "cancel");
    assert!(left.last().unwrap()["depth"].as_u64() > Some(1), "with what was known");
}

#[test]
fn a_disk_that_is_full_pauses_jobs_until_there_is_room() {
    let (_folder, path) = store();
    // Whoever writes beyond the limit of a file is told so and not killed.
    let mut limited = Command::new("sh");
    let script =
        "trap '' XFSZ; exec \"$0\" coordinator --listen 127.0.0.1:0 --http 127.0.0.1:0 --store \"$1\"";
    limited.args(["-c", script, env!("CARGO_BIN_EXE_corridor"), path.to_str().unwrap()]);
    let mut coordinator = Server::start_command(limited);
    let (url, probes) = (coordinator.url("listening"), coordinator.url("health"));
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
    let (folder, path) = store();
    let wanted = "invalid value 'postgres://host/db' for '--store <FILE>': databases are not supported by this version: \
                  the name of a file is wanted";
    refused(&["coordinator", "--store", "postgres://host/db"], wanted);
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
        "the argument '--coordinator <URL>' cannot be used with '--store <FILE>'",
    );
}
