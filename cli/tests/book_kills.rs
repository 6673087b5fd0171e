//! Sudden ends while a book is imported, analysed and grown: workers, the coordinator, clients, at random moments. Whatever is
//! killed, each of the three finishes, the book is the undisturbed one byte by byte, and no position is searched twice.
//!
//! `CORRIDOR_KILL_ROUNDS` says how many rounds there are (3), `CORRIDOR_KILL_SEED` repeats them.

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
#[path = "../../tests/src/postgres.rs"]
mod postgres;
#[path = "common/random.rs"]
mod random;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{check_events, command, lines, pause, run};
use corridor_shared::Position;
use killable::{Client, Cluster};
use random::{Draw, seed};
use serde_json::Value;
use tempfile::TempDir;

const ROUNDS: usize = 3;
/// Openings that are analysed and grown.
const OPENINGS: &str = "standard (mirrored)\te2 e8 e3 e7 e4 e6 e3v e6v\n\
                        standard (symmetrical)\te2 e8 e3 e7 e4 e6 e3v d6v\n\
                        gap\te2 e8 e3 e7 e4 e6 e3v e6v g6h\n\
                        stonewall\te2 e8 e3 e7 d2h e7h f2h d8h b2h\n\
                        rush\te2 e8 e3 e7 e4 e6 d5v e6h e4h f6 g4h f5\n";
const ANALYZE: [&str; 4] = ["analyze", "--depth", "4", "--deterministic"];
const EXPAND: [&str; 6] = ["expand", "--positions", "24", "--depth", "4", "--deterministic"];
/// A client that fails is started again so often, for each that is killed.
const TRIES: usize = 20;

/// Random games of some dozen plies, so many that their import takes its time.
fn games() -> String {
    let mut draw = Draw::new(1);
    let mut text = String::new();
    for _ in 0..80 {
        let mut position = Position::start();
        for _ in 0..60 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = moves[draw.below(moves.len())];
            position = position.after(mv);
            text.push_str(&format!("{mv} "));
        }
        text.push('\n');
    }
    text
}

/// The files that are imported.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(files.path("main"), OPENINGS).unwrap();
        std::fs::write(files.path("many"), games()).unwrap();
        files
    }

    /// The games of a book.
    fn path(&self, book: &str) -> String {
        self.folder.path().join(book).to_str().unwrap().to_owned()
    }

    fn import(&self, book: &str) -> Vec<String> {
        ["import", &self.path(book), "--notation", "man", "--book", book].map(str::to_owned).to_vec()
    }
}

/// What it all comes to if nobody is killed.
struct Expected {
    files: Files,
    many: String,
    main: String,
    /// Positions of the book that is analysed and grown.
    positions: usize,
    /// Events of the analysis and of the growth.
    events: [usize; 2],
}

impl Expected {
    fn new() -> Self {
        let files = Files::new();
        let store = files.path("undisturbed.db");
        let book = |arguments: &[&str]| {
            let ran = run(&[&["book"], arguments, &["--store", &store]].concat());
            assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
            ran.stdout
        };
        for name in ["main", "many"] {
            let import = files.import(name);
            book(&import.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let work = |arguments: &[&str]| {
            lines(&book(&[arguments, &["--json", "--workers", "2", "--hash", "4M"]].concat())).len()
        };
        let events = [work(&ANALYZE), work(&EXPAND)];
        let export = |name| timeless(&book(&["export", "--book", name]));
        let (main, many) = (export("main"), export("many"));
        let positions = main.lines().count();
        assert!(positions > 24 && many.lines().count() > 3_000, "{positions}");
        Self { files, many, main, positions, events }
    }
}

/// An export without its only field that depends on the clock, the last one of each line.
fn timeless(jsonl: &str) -> String {
    let line = |line: &str| {
        let (content, time) = line.split_once(",\"analysed_at\":").unwrap();
        assert!(time.ends_with('}') && !time.contains(','), "{time}");
        format!("{content}}}\n")
    };
    jsonl.lines().map(line).collect()
}

/// A round: a cluster on a store, and chance.
struct Round<'a> {
    cluster: Cluster,
    draw: &'a mut Draw,
    /// Jobs are handed in and watched, instead of being their client's.
    detached: bool,
    kills: usize,
}

impl Round<'_> {
    fn command(&self, arguments: &[impl AsRef<str>]) -> Command {
        let mut command = command();
        command.args(arguments.iter().map(AsRef::as_ref)).args(["--coordinator", &self.cluster.url()]);
        command
    }

    /// Asks until there is an answer: whoever is asked may be gone in this moment.
    fn ask(&self, arguments: &[&str]) -> String {
        let mut failures = Vec::new();
        while failures.len() < TRIES {
            let ran = common::finish(self.command(arguments), Vec::new());
            if ran.code == 0 {
                return ran.stdout;
            }
            failures.push(ran.stderr);
        }
        panic!("{arguments:?}: {failures:?}");
    }

    /// Not only in the moment after something was seen.
    fn wait(&mut self, most_ms: usize) {
        pause(Duration::from_millis(self.draw.below(most_ms).try_into().unwrap()));
    }

    /// Kills somebody, perhaps the client, which is then started again.
    fn kill(&mut self, client: Client, again: &dyn Fn(&Self) -> Client, what: &str) -> Client {
        self.kills += 1;
        if self.draw.below(5) == 0 {
            client.kill();
            eprintln!("  {what}: the client");
            return again(self);
        }
        let who = self.cluster.kill(self.draw);
        eprintln!("  {what}: {who}");
        client
    }

    /// Waits for the end of a client, which must be a good one sooner or later: if it fails it is started again.
    fn end(&self, mut client: Client, again: &dyn Fn(&Self) -> Client) -> String {
        let mut failures = Vec::new();
        loop {
            let (code, seen, err) = client.end();
            if code == Some(0) {
                return seen;
            }
            failures.push(err);
            assert!(failures.len() < TRIES, "{failures:?}");
            client = again(self);
        }
    }

    fn import(&mut self, arguments: &[String], length: Duration) {
        let start = |round: &Self| {
            Client::start(round.command(&[&["book".to_owned()], arguments, &["--json".to_owned()]].concat()))
        };
        let mut client = start(self);
        for number in 0..1 + self.draw.below(2) {
            self.wait(usize::try_from(length.as_millis()).unwrap().max(1));
            // Workers have no part in it.
            self.kills += 1;
            if self.draw.below(3) == 0 {
                client.kill();
                client = start(self);
                eprintln!("  import, {number}: the client");
            } else {
                let who = self.cluster.kill_coordinator();
                eprintln!("  import, {number}: {who}");
            }
        }
        self.end(client, &start);
    }

    /// Hands a job in.
    fn start(&self, arguments: &[&str]) -> Client {
        if !self.detached {
            return Client::start(self.command(&[&["book"], arguments, &["--json"]].concat()));
        }
        let accepted = self.ask(&[&["book"], arguments, &["--json", "--detach"]].concat());
        Client::start(self.command(&["watch", &lines(&accepted)[0]["job"].to_string(), "--json"]))
    }

    /// Has a job done; whoever does it may be killed a few times.
    fn work(&mut self, arguments: &[&str], events: usize) {
        let mut moments: Vec<usize> =
            (0..1 + self.draw.below(3)).map(|_| 1 + self.draw.below(events)).collect();
        moments.sort_unstable();
        let mut client = self.start(arguments);
        assert!(client.read(1), "nothing was accepted");
        let job = lines(&client.seen)[0]["job"].to_string();
        // To analyse what is known is no work; to grow once more is.
        let again = |round: &Self| match arguments[0] {
            "analyze" => round.start(arguments),
            _ => Client::start(round.command(&["watch", &job, "--json"])),
        };
        for moment in moments {
            if !client.read(moment) {
                break;
            }
            self.wait(40);
            client = self.kill(client, &again, &format!("{}, after {moment} of {events}", arguments[0]));
        }
        check_events(&lines(&self.end(client, &again)));
    }

    /// What is there in the end is what would be if nobody had been killed.
    fn check(&self, expected: &Expected) {
        for (book, wanted) in [("main", &expected.main), ("many", &expected.many)] {
            let exported = timeless(&self.ask(&["book", "export", "--book", book]));
            assert!(exported == *wanted, "{book}: {}", difference(&exported, wanted));
            let checked = lines(&self.ask(&["book", "check", "--book", book, "--json"])).remove(0);
            assert_eq!(checked["fault_count"], 0, "{checked}");
        }
        let mut searched: BTreeMap<String, usize> = BTreeMap::new();
        let (mut counted, mut jobs) = (0, 0);
        for job in lines(&self.ask(&["jobs", "--json"])) {
            let events = lines(&common::finish(watch(self, &job["job"]), Vec::new()).stdout);
            check_events(&events);
            for event in events.iter().filter(|event| event["event"] == "position") {
                *searched.entry(event["key"].as_str().unwrap().to_owned()).or_default() += 1;
            }
            let done = events.last().unwrap();
            counted += done["searched"].as_u64().unwrap();
            jobs += usize::from(done["searched"] != 0);
            assert_eq!(done["failed"], 0, "{done}");
        }
        assert!(searched.values().all(|&times| times == 1), "searched twice: {searched:?}");
        assert_eq!((searched.len(), counted), (expected.positions, expected.positions.try_into().unwrap()));
        assert_eq!(jobs, 2, "whoever comes back finds the job that there is");
    }
}

/// A job's events, even of one that has been cancelled.
fn watch(round: &Round<'_>, job: &Value) -> Command {
    round.command(&["watch", &job.to_string(), "--json"])
}

/// The first line that differs.
fn difference(found: &str, wanted: &str) -> String {
    let pairs = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    let lengths = format!("{} and {} lines", found.lines().count(), wanted.lines().count());
    pairs.map_or(lengths, |(found, wanted)| format!("\n{found}\nis not\n{wanted}"))
}

/// Every other round is on a database, if this machine can have one.
fn round(number: usize, draw: &mut Draw, expected: &Expected) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("corridor.db").to_str().unwrap().to_owned();
    let database = if number.is_multiple_of(2) { postgres::database() } else { None };
    let store = database.as_ref().map_or(&file, |database| &database.url);
    let detached = draw.below(2) == 0;
    let mut round = Round { cluster: Cluster::start(store), draw, detached, kills: 0 };
    round.import(&expected.files.import("many"), Duration::from_millis(600));
    round.import(&expected.files.import("main"), Duration::from_millis(20));
    round.work(&ANALYZE, expected.events[0]);
    round.work(&EXPAND, expected.events[1]);
    round.check(expected);
    round.kills
}

#[test]
fn whoever_is_killed_a_book_becomes_the_undisturbed_one_and_nothing_is_searched_twice() {
    let rounds = std::env::var("CORRIDOR_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    let seed = seed("CORRIDOR_KILL_SEED");
    let mut draw = Draw::new(seed);
    let expected = Expected::new();
    let mut kills = 0;
    for number in 1..=rounds {
        let started = Instant::now();
        eprintln!("round {number} of {rounds}");
        kills += round(number, &mut draw, &expected);
        eprintln!("  {:.1} s", started.elapsed().as_secs_f64());
    }
    assert!(kills >= 2 * rounds, "only {kills} kills");
}
