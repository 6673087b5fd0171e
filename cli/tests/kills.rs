//! Sudden ends of real processes: one worker, all of them, the coordinator, at random moments. Whatever is killed, the answer
//! afterwards is the one of an undisturbed run, and whoever watches sees no gap and no repeat.
//!
//! `CORRIDOR_KILL_ROUNDS` says how many rounds there are (5), `CORRIDOR_KILL_SEED` repeats one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on panics"
)]

mod common;
#[path = "common/killable.rs"]
mod killable;
#[path = "common/random.rs"]
mod random;

use std::time::{Duration, Instant};

use common::{Server, analyze, answer, check_events, eventually, lines, pause, run};
use killable::{Client, Cluster, kill};
use random::{Draw, seed};
use serde_json::Value;

/// A position whose moves have no mirror images, so that there is enough to do.
const JOB: [&str; 6] = ["analyze", "--moves", "e2 e8 e3 e7 d3h e6", "--deterministic", "--depth", "7"];
const ROUNDS: usize = 5;

/// What the job comes to if nobody is killed, and how many events it has.
fn undisturbed() -> (Value, usize) {
    let ran = run(&[&JOB[..], &["--json", "--workers", "2", "--hash", "4M"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let events = lines(&ran.stdout);
    check_events(&events);
    (answer(&events), events.len())
}

fn round(draw: &mut Draw, expected: &Value, events: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::start(folder.path().join("corridor.db").to_str().unwrap());
    let mut client = Client::start(analyze(&cluster.url(), &JOB));
    let mut moments: Vec<usize> = (0..2 + draw.below(3)).map(|_| 1 + draw.below(events)).collect();
    moments.sort_unstable();
    let mut kills = 0;
    for moment in moments {
        if !client.read(moment) {
            break;
        }
        // Not only in the moment after an event.
        pause(Duration::from_millis(u64::try_from(draw.below(40)).unwrap()));
        let who = cluster.kill(draw);
        eprintln!("  after {moment} of {events} events: {who}");
        kills += 1;
    }
    let printed = client.finish();
    let seen = lines(&printed);
    check_events(&seen);
    assert_eq!(answer(&seen), *expected);

    // Whoever comes later sees the same, from the beginning and from a cursor on.
    let at = ["--json", "--coordinator", &cluster.url()];
    assert_eq!(run(&[&["watch", "1"], &at[..]].concat()).stdout, printed);
    let after = draw.below(seen.len());
    let cursor = after.to_string();
    let rest = run(&[&["watch", "1", "--after", &cursor], &at[..]].concat());
    assert_eq!(lines(&rest.stdout), seen[after..]);
    let jobs = lines(&run(&[&["jobs"], &at[..]].concat()).stdout);
    assert_eq!((jobs.len(), &jobs[0]["state"]), (1, &"done".into()));
    // Both workers are there again, with nothing in hand.
    eventually("both are there and idle", || {
        let workers = lines(&run(&[&["workers"], &at[..]].concat()).stdout);
        workers.len() == 2 && workers.iter().all(|worker| worker["units"] == 0)
    });
    kills
}

#[test]
fn whoever_is_killed_the_answer_is_the_undisturbed_one() {
    let rounds = std::env::var("CORRIDOR_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    let seed = seed("CORRIDOR_KILL_SEED");
    let mut draw = Draw::new(seed);
    let (expected, events) = undisturbed();
    let mut kills = 0;
    for number in 1..=rounds {
        let started = Instant::now();
        eprintln!("round {number} of {rounds}");
        kills += round(&mut draw, &expected, events);
        eprintln!("  {:.1} s", started.elapsed().as_secs_f64());
    }
    assert!(kills >= rounds, "only {kills} kills: the job is too short for this test");
}

#[test]
fn a_unit_over_which_three_workers_die_parks_its_job_until_it_is_resumed() {
    let (expected, _) = undisturbed();
    let mut coordinator = Server::coordinator(&[]);
    let url = coordinator.url("listening");
    let at = ["--coordinator", &url];
    let mut client = Client::start(analyze(&url, &JOB));
    let job = || lines(&run(&[&["jobs", "--json"], &at[..]].concat()).stdout)[0].clone();
    let worker = |name: &str| {
        let mut worker = Server::worker(&url, &["--threads", "1", "--name", name]);
        worker.line("registered");
        worker
    };
    // Deep enough that a unit takes longer than a kill.
    let mut first = worker("first");
    assert!(client.read(1));
    eventually("units take their time", || job()["depth"].as_u64() >= Some(5));
    kill(&mut first);
    // Only those deaths count that came one after the other over the same unit; a fast machine may finish one in between.
    let mut killed = 1;
    while job()["state"] != "parked" {
        assert!(killed < 30, "{killed} workers died, and nobody minds");
        killed += 1;
        kill(&mut worker(&format!("victim {killed}")));
    }
    assert!(killed >= 3);
    let listed = run(&[&["jobs"], &at[..]].concat()).stdout;
    let why = format!("job 1 is parked: {}", job()["reason"].as_str().unwrap());
    assert!(why.contains("3 workers died over the unit '"), "{why}");
    assert_eq!(listed.lines().last(), Some(why.as_str()));
    // Nobody gets it any more.
    let good = worker("good");
    pause(Duration::from_millis(300));
    let workers = lines(&run(&[&["workers", "--json"], &at[..]].concat()).stdout);
    assert_eq!((&workers[0]["units"], &job()["state"]), (&0.into(), &"parked".into()));
    let resumed = run(&[&["resume", "1"], &at[..]].concat());
    assert_eq!((resumed.code, resumed.stderr.as_str()), (0, ""));
    let seen = lines(&client.finish());
    check_events(&seen);
    assert_eq!(answer(&seen), expected);
    let parked: Vec<&str> = seen
        .iter()
        .filter(|event| event["event"] == "state" && event["state"] == "parked")
        .map(|event| event["reason"].as_str().unwrap())
        .collect();
    assert_eq!(parked.len(), 1, "{parked:?}");
    let last = format!("(unit_deaths), last: victim {killed}");
    assert!(
        parked[0].starts_with("3 workers died over the unit '") && parked[0].ends_with(&last),
        "{parked:?}"
    );
    drop(good);
}
