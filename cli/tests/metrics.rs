//! What Prometheus reads from a real coordinator: right after a search, and in a form that its own tool accepts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[path = "../../tests/src/outside.rs"]
pub mod outside;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use common::{Server, finish, lines, run};

/// The body of `/metrics`.
fn scrape(page: &str) -> String {
    let address = page.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(common::LONG)).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    body.to_owned()
}

/// The value of a series, by its whole name.
fn value(text: &str, series: &str) -> f64 {
    let of = |line: &str| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok();
    text.lines().find_map(of).unwrap_or_else(|| panic!("no {series} in\n{text}"))
}

#[test]
fn figures_are_those_of_the_search() {
    let serve =
        ["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--workers", "2", "--hash", "4M"];
    let mut server = Server::start(&serve);
    let (cluster, page) = (server.url("listening"), server.url("live board"));
    // All workers are there.
    server.line("serve:");
    let before = scrape(&page);
    assert_eq!(value(&before, "corridor_workers{state=\"serving\"}"), 2.0);
    assert_eq!(value(&before, "corridor_leases_granted_total"), 0.0);

    let job = ["analyze", "--moves", "e2 e8 e3 e7", "--depth", "5", "--deterministic", "--json"];
    let ran = run(&[&job[..], &["--coordinator", &cluster]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let nodes = lines(&ran.stdout).last().unwrap()["nodes"].as_f64().unwrap();
    let after = scrape(&page);
    assert_eq!(value(&after, "corridor_jobs_ended_total"), 1.0);
    assert_eq!(value(&after, "corridor_jobs{state=\"done\"}"), 1.0);
    assert_eq!(value(&after, "corridor_leases_active"), 0.0);
    // Speculative units count, too, and so do those that were cancelled with a part of their work done.
    assert!(value(&after, "corridor_nodes_total") >= nodes, "{nodes} nodes\n{after}");
    let granted = value(&after, "corridor_leases_granted_total");
    let ended: f64 = ["completed", "handed_back", "failed", "revoked", "lost", "expired"]
        .iter()
        .map(|how| value(&after, &format!("corridor_leases_ended_total{{how=\"{how}\"}}")))
        .sum();
    assert!(granted > 10.0);
    assert_eq!(granted, ended);
    let results = value(&after, "corridor_unit_seconds_count");
    assert_eq!(results, value(&after, "corridor_unit_seconds_bucket{le=\"+Inf\"}"));
    assert!(results > 10.0 && results <= granted);
    check(&after);
}

/// Prometheus' own tool has nothing to say against it.
fn check(text: &str) {
    let found = Command::new("promtool").arg("--version").output();
    if !outside::can_have("promtool", &found.map(|_| ()).map_err(|error| error.to_string())) {
        return;
    }
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]);
    let ran = finish(promtool, text.as_bytes().to_vec());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{text}");
}
