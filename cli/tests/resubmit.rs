//! Clients of books that ask twice: `book analyze --detach --wait`, a client that stays, and whose job goes on when it does not;
//! and lines that break before anybody knows whether the question was heard.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[path = "common/cutter.rs"]
mod cutter;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};

use common::{Server, check_events, command, json, lines, refused, run, signal_to};
use cutter::{Cut, Cutter};
use serde_json::Value;

/// A client, and what it prints.
struct Client {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    /// Hands the book in and waits for the first event, which says the job's number.
    fn start(url: &str) -> (Self, Value) {
        let mut analyze = command();
        analyze.args([
            "book",
            "analyze",
            "--depth",
            "2",
            "--detach",
            "--wait",
            "--json",
            "--coordinator",
            url,
        ]);
        let mut child = analyze.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut client = Self { stdout: BufReader::new(child.stdout.take().unwrap()), child };
        let mut accepted = String::new();
        client.stdout.read_line(&mut accepted).unwrap();
        let accepted: Value = serde_json::from_str(&accepted).unwrap();
        assert_eq!(accepted["event"], "accepted", "{accepted}");
        let job = accepted["job"].clone();
        (client, job)
    }

    /// Waits for the end; returns the exit code, what was printed since and what was said.
    fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
        let mut printed = String::new();
        self.stdout.read_to_string(&mut printed).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), lines(&printed), String::from_utf8(output.stderr).unwrap())
    }
}

#[test]
fn whoever_waits_for_a_detached_job_leaves_it_alone_and_joins_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games.txt");
    std::fs::write(&games, "e2 e8\n").unwrap();
    let store = folder.path().join("corridor.db");
    let mut coordinator = Server::coordinator(&["--store", store.to_str().unwrap()]);
    let url = coordinator.url("listening");
    let imported =
        json(&["book", "import", games.to_str().unwrap(), "--notation", "man", "--coordinator", &url]);
    assert_eq!(imported["new_positions"], 3);

    // Nobody works yet, so that the job cannot end too soon.
    let (terminated, job) = Client::start(&url);
    signal_to(terminated.child.id(), "-TERM");
    let (code, _, said) = terminated.end();
    assert_eq!((code, said.as_str()), (Some(1), "corridor: interrupted: job 1 goes on\n"));
    let (killed, joined) = Client::start(&url);
    assert_eq!(joined, job);
    signal_to(killed.child.id(), "-KILL");
    assert_eq!(killed.end().0, None);
    let (last, joined) = Client::start(&url);
    assert_eq!(joined, job);
    let jobs = run(&["jobs", "--json", "--coordinator", &url]);
    assert!(jobs.stdout.lines().count() == 1 && jobs.stdout.contains("waiting"), "{jobs:?}");

    let _worker = Server::worker(&url, &["--threads", "1"]);
    let (code, events, said) = last.end();
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let done = events.last().unwrap();
    assert_eq!((&done["event"], &done["searched"], &done["left"]), (&"done".into(), &3.into(), &0.into()));
    // It has ended meanwhile: nothing is left to wait for.
    let (late, next) = Client::start(&url);
    assert_ne!(next, job);
    let (code, events, _) = late.end();
    assert_eq!((code, &events.last().unwrap()["searched"]), (Some(0), &0.into()));
}

#[test]
fn only_who_lets_a_job_go_can_wait_for_it_like_that() {
    let arguments = ["book", "analyze", "--depth", "2", "--wait", "--coordinator", "http://127.0.0.1:1"];
    refused(&arguments, "the following required arguments were not provided: --detach");
}

const LINE: [&str; 2] = ["--notation", "man"];
const NO_ANSWER: [Cut; 2] = [Cut::Headers, Cut::Data];

/// A coordinator with a store and a book of three positions.
fn coordinator_with_book(folder: &tempfile::TempDir) -> (Server, String, String) {
    let games = folder.path().join("games.txt").to_str().unwrap().to_owned();
    std::fs::write(&games, "e2 e8\n").unwrap();
    let store = folder.path().join("corridor.db");
    let mut coordinator = Server::coordinator(&["--store", store.to_str().unwrap()]);
    let url = coordinator.url("listening");
    let imported = json(&[&["book", "import", &games], &LINE[..], &["--coordinator", &url]].concat());
    assert_eq!(imported["new_positions"], 3);
    (coordinator, url, games)
}

#[test]
fn a_job_that_was_accepted_when_the_line_broke_is_joined() {
    for cut in NO_ANSWER {
        let folder = tempfile::tempdir().unwrap();
        let (_coordinator, url, _) = coordinator_with_book(&folder);
        let address = url.strip_prefix("http://").unwrap().parse().unwrap();
        for (number, work) in [&["analyze"][..], &["expand", "--positions", "2"]].into_iter().enumerate() {
            // The second time it breaks it is being asked for again.
            let cutter = Cutter::start(address, cut, 2);
            let mut client = command();
            client.arg("book").args(work).args(["--depth", "2", "--json", "--coordinator", &cutter.url()]);
            let mut child = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut printed = String::new();
            let mut stdout = BufReader::new(child.stdout.take().unwrap());
            stdout.read_line(&mut printed).unwrap();
            assert_eq!(cutter.left(), 0, "{cut:?}: {printed}");
            // Nobody works yet: all three questions were the same job.
            let jobs = run(&["jobs", "--json", "--coordinator", &url]);
            assert_eq!(jobs.stdout.lines().count(), number + 1, "{cut:?}: {jobs:?}");
            let worker = Server::worker(&url, &["--threads", "1"]);
            stdout.read_to_string(&mut printed).unwrap();
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(0) && said.contains("trying again"), "{cut:?}: {said}");
            let events = lines(&printed);
            check_events(&events);
            assert_eq!(events[0]["job"], number + 1, "{cut:?}");
            drop(worker);
        }
    }
}

#[test]
fn an_import_that_was_heard_when_the_line_broke_is_sent_again_and_changes_nothing() {
    for cut in NO_ANSWER {
        let folder = tempfile::tempdir().unwrap();
        let (_coordinator, url, games) = coordinator_with_book(&folder);
        std::fs::write(&games, "e2 e8 e3\nd1 d9\n").unwrap();
        let cutter = Cutter::start(url.strip_prefix("http://").unwrap().parse().unwrap(), cut, 2);
        let import = [&["book", "import", &games], &LINE[..], &["--json", "--coordinator", &cutter.url()]];
        let ran = run(&import.concat());
        assert!(ran.code == 0 && ran.stderr.contains("trying again"), "{cut:?}: {ran:?}");
        let report = &lines(&ran.stdout)[0];
        let counts = [&report["games"], &report["positions"], &report["new_positions"]];
        assert_eq!((cutter.left(), counts), (0, [&2.into(), &6.into(), &0.into()]), "{cut:?}");
    }
}
