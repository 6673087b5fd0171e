//! `analyze`, as a program and as a person meets it: the whole cluster in the binary's process.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{command, refused, run};
use serde_json::Value;

const SMALL: [&str; 4] = ["--workers", "2", "--hash", "8M"];

/// The events of a run that ends well, checked for their order.
#[track_caller]
fn events(arguments: &[&str]) -> Vec<Value> {
    let ran = run(&[&["analyze", "--json"], arguments, &SMALL].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (event, seq) in events.iter().zip(1..) {
        assert_eq!(event["seq"], seq, "a gap or a repeat");
    }
    assert_eq!(events[0]["event"], "accepted");
    assert_eq!(events.iter().filter(|event| event["event"] == "done").count(), 1);
    assert_eq!(events.last().unwrap()["event"], "done");
    events
}

#[test]
fn a_program_reads_events() {
    let events = events(&["--moves", "e2 e8 e3 e7 e4 e6", "--depth", "5", "--multipv", "3"]);
    let done = events.last().unwrap();
    assert_eq!((&done["depth"], &done["stopped_by"]), (&5.into(), &"depth".into()));
    let lines = done["lines"].as_array().unwrap();
    assert_eq!(lines.len(), events[0]["kept"].as_array().unwrap().len());
    assert!(lines[..3].iter().all(|line| line["bound"] == "exact" && line["depth"] == 5));
    assert_eq!(done["best_move"], lines[0]["move"]);
    let depths: Vec<&Value> =
        events.iter().filter(|event| event["event"] == "iteration").map(|event| &event["depth"]).collect();
    assert_eq!(depths, [1, 2, 3, 4, 5]);
    let heats: Vec<&Value> =
        events.iter().filter(|event| event["event"] == "heat").map(|event| &event["move"]).collect();
    assert!(heats[0].is_null() && heats.len() == 1 + lines.len());
    assert!(heats[1..].iter().all(|mv| lines.iter().any(|line| line["move"] == **mv)));
}

#[test]
fn nothing_is_pruned_under_none() {
    let events = events(&["--moves", "", "--depth", "2", "--prune", "none"]);
    assert_eq!(events[0]["kept"].as_array().unwrap().len(), 131);
    assert!(events[0]["pruned"].as_array().unwrap().is_empty());
    let reasons = events[0]["kept"].as_array().unwrap().iter().map(|kept| kept["reason"].as_str().unwrap());
    assert!(reasons.clone().all(|reason| ["all", "pawn"].contains(&reason)));
}

#[test]
fn a_deterministic_answer_is_the_same_with_any_number_of_workers() {
    let answer = |workers: &str| {
        let arguments = ["--deterministic", "--moves", "e2 e8 e3 e7 e4 e6", "--depth", "8", "--multipv", "2"];
        let ran =
            run(&[&["analyze", "--json", "--hash", "8M", "--workers", workers], &arguments[..]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        let mut done: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(done["event"], "done");
        let done = done.as_object_mut().unwrap();
        // How long it took, and how many events there were, is not the answer.
        done.remove("elapsed_ms").unwrap();
        done.remove("seq").unwrap();
        done.clone()
    };
    let alone = answer("1");
    assert_eq!(alone["depth"], 8);
    assert_eq!(alone, answer("2"));
    assert_eq!(alone, answer("3"));
}

#[test]
fn an_audit_searches_every_pruned_move_and_says_which_rule_failed() {
    let events = events(&["--moves", "e2 e8 e3 e7 e4 e6", "--depth", "3", "--prune", "audit"]);
    let done = events.last().unwrap();
    let mut pruned: Vec<(String, String)> = events[0]["pruned"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["move"].to_string(), it["reason"].to_string()))
        .collect();
    let audits: Vec<&Value> = events.iter().filter(|event| event["event"] == "audit").collect();
    let mut audited: Vec<(String, String)> =
        audits.iter().map(|it| (it["move"].to_string(), it["reason"].to_string())).collect();
    pruned.sort();
    audited.sort();
    assert!(pruned.len() > 20, "{pruned:?}");
    assert_eq!(audited, pruned);
    // White is to move: a miss is what scores higher than the best searched move.
    let centimetres = |score: &Value| score["cm"].as_i64().unwrap();
    let best = centimetres(&done["score_white"]);
    for audit in audits {
        assert_eq!(audit["miss"], centimetres(&audit["score_white"]) > best, "{audit}");
    }
}

#[test]
fn games_that_are_over_or_forced_answer_at_once() {
    let over = events(&["--position", "/ / e9 e5 / 10 10 / 2"]);
    let done = over.last().unwrap();
    assert!(done["best_move"].is_null() && done["lines"].as_array().unwrap().is_empty());
    assert_eq!(done["score_white"], serde_json::json!({"white_wins_in": 0}));
    let forced = events(&["--position", "/ a1 / a1 e9 / 0 0 / 1"]);
    let done = forced.last().unwrap();
    assert_eq!(done["best_move"], "a2");
    assert!(done["score_white"]["cm"].is_null(), "the race is scored exactly: {done}");
}

#[test]
fn limits_hold() {
    let started = Instant::now();
    let timed = events(&["--moves", "", "--time", "300ms"]);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(timed.last().unwrap()["stopped_by"], "time");
    let counted = events(&["--moves", "", "--nodes", "20000"]);
    assert_eq!(counted.last().unwrap()["stopped_by"], "nodes");
}

#[test]
fn an_interrupt_still_gives_the_answer() {
    let mut child = command()
        .args(["analyze", "--json", "--moves", "", "--time", "1h"])
        .args(SMALL)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let parse = |line: std::io::Result<String>| serde_json::from_str::<Value>(&line.unwrap()).unwrap();
    assert!(lines.by_ref().map(parse).any(|event| event["event"] == "iteration" && event["depth"] == 3));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let last = lines.map(parse).last().unwrap();
    assert_eq!((&last["event"], &last["stopped_by"]), (&"done".into(), &"cancel".into()));
    assert!(last["depth"].as_u64().unwrap() >= 3);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_who_leaves_ends_it() {
    let started = Instant::now();
    let mut child = command()
        .args(["analyze", "--json", "--moves", "", "--time", "1h"])
        .args(SMALL)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_person_reads_a_board_and_a_table() {
    let ran = run(&[&["analyze", "--moves", "", "--depth", "3"], &SMALL[..]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "no bars when nobody looks");
    assert!(ran.stdout.contains("best move e2") && ran.stdout.contains("stopped by depth"), "{}", ran.stdout);
    assert!(ran.stdout.contains("White to move"), "{}", ran.stdout);
    assert!(ran.stdout.contains("squares from White's view") && ran.stdout.contains("wins in plies"));
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    let over = run(&[&["analyze", "--position", "/ / e9 e5 / 10 10 / 2"], &SMALL[..]].concat());
    assert!(over.stdout.ends_with("the game is over: White has won\n"), "{}", over.stdout);
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let refused = |arguments: &[&str], line: &str| {
        refused(&[&["analyze", "--moves", ""], arguments].concat(), line);
    };
    refused(&["--depth", "0"], "invalid value '0' for '--depth <D>': a whole number from 1 to 100 is wanted");
    refused(
        &["--workers", "0"],
        "invalid value '0' for '--workers <N>': a whole number from 1 to 1024 is wanted",
    );
    refused(
        &["--multipv", "0"],
        "invalid value '0' for '--multipv <K>': a whole number from 1 to 136 is wanted",
    );
    refused(
        &["--time", "30"],
        "invalid value '30' for '--time <T>': a duration carries a unit: us, ms, s, m, h or d",
    );
    refused(
        &["--coordinator", "no url"],
        "invalid value 'no url' for '--coordinator <URL>': http://HOST:PORT is wanted",
    );
}

/// A server of one's own: what it does with each connection.
fn server(serve: fn(std::net::TcpStream)) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().for_each(|stream| serve(stream.unwrap())));
    url
}

#[test]
fn whoever_is_no_coordinator_is_told_from_nobody_in_time() {
    let silent = server(std::mem::forget);
    let web = server(|mut stream| {
        let _ = stream.read(&mut [0; 1000]);
        let _ =
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    let shy = server(drop);
    let nobody = "http://127.0.0.1:1".to_owned();
    let stranger = format!("{web} answers, but is not a Corridor coordinator");
    for (url, line) in [
        (&silent, format!("connect to {silent}: no answer in 8 s")),
        (&web, stranger),
        (&nobody, format!("connect to {nobody}: connection refused: nobody listens there")),
    ] {
        let started = Instant::now();
        let ran = run(&["analyze", "--moves", "", "--coordinator", url]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        // A web server that closes at once may be heard or not.
        let heard = ran.stderr.trim_end().trim_end_matches(": it closed the connection");
        assert_eq!(heard, format!("corridor: {line}"));
        // 10 s are promised; a test that fails on a busy machine says nothing.
        assert!(started.elapsed() < Duration::from_secs(20));
    }
    let ran = run(&["analyze", "--moves", "", "--coordinator", &shy]);
    assert!(ran.code == 1 && ran.stderr.contains(&shy) && !ran.stderr.contains("http2"), "{ran:?}");
}

/// Sends a signal to a child.
fn send(child: &std::process::Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn signals_end_an_analysis_from_the_first_moment_on() {
    for (signal, wait) in
        [("-INT", 0), ("-TERM", 0), ("-HUP", 0), ("-INT", 10), ("-TERM", 100), ("-HUP", 700)]
    {
        let mut child = command()
            .args(["analyze", "--json", "--moves", "", "--time", "1h"])
            .args(SMALL)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        listens(&child);
        pause(Duration::from_millis(wait));
        send(&child, signal);
        let text = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        let status = child.wait().unwrap();
        assert!(status.success(), "{signal} after {wait} ms: {status}");
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((&last["event"], &last["stopped_by"]), (&"done".into(), &"cancel".into()));
    }
}

/// Waits until a child handles SIGINT, SIGTERM and SIGHUP: before that nobody can expect more than an end.
fn listens(child: &std::process::Child) {
    /// Bits of the signals 1, 2 and 15.
    const WANTED: u64 = 0x4003;
    let status = format!("/proc/{}/status", child.id());
    let listening = (0..10_000).any(|_| {
        pause(Duration::from_millis(1));
        let text = std::fs::read_to_string(&status).unwrap();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & WANTED == WANTED
    });
    assert!(listening);
}

/// Waits for nothing but time.
fn pause(time: Duration) {
    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
    let _ = receiver.recv_timeout(time);
}

#[test]
fn signals_leave_what_is_counted() {
    let perft = ["perft", "--moves", "", "--depth", "6"];
    for arguments in [
        &[&perft[..], &["--divide"]].concat()[..],
        &[&perft[..], &["--threads", "3", "--json"]].concat(),
        &["bench", "--depth", "40"],
        &["bench", "--depth", "40", "--json"],
    ] {
        for signal in ["-INT", "-TERM", "-HUP"] {
            let mut child = command();
            child.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = child.spawn().unwrap();
            listens(&child);
            pause(Duration::from_millis(300));
            send(&child, signal);
            let started = Instant::now();
            let output = child.wait_with_output().unwrap();
            assert!(started.elapsed() < Duration::from_secs(3), "{arguments:?}");
            let (out, err) =
                (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert_eq!(output.status.code(), Some(1), "{arguments:?} {signal}: {out} {err}");
            assert!(err.starts_with("corridor: interrupted: ") && err.matches('\n').count() == 1, "{err}");
            assert!(out.contains("nodes"), "{out}");
            if arguments.contains(&"--json") {
                assert!(serde_json::from_str::<Value>(&out).unwrap()["nodes"].is_u64(), "{out}");
            }
        }
    }
}

#[test]
fn what_ignores_a_hang_up_goes_on() {
    let mut child = Command::new("nohup")
        .arg(env!("CARGO_BIN_EXE_corridor"))
        .args(["analyze", "--json", "--moves", "", "--time", "900ms"])
        .args(SMALL)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    pause(Duration::from_millis(400));
    send(&child, "-HUP");
    let text = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert!(child.wait().unwrap().success());
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["stopped_by"]), (&"done".into(), &"time".into()));
}
