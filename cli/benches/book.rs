//! What a book costs, with the real binary and an SQLite store in a folder of its own.
//!
//! `cargo bench -p corridor-cli --bench book`; phases by name: `-- large` (a book of 100,000 positions: import, one new value,
//! `show`), `-- cost` (the coordinator's own work on a position, at depth 1), `-- two` (two workers of one thread against one on
//! 200 positions, and two such jobs apart from each other, in turns, the least of three rounds).
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints, fails by panicking and waits"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use corridor_shared::Position;
use corridor_shared::book::{Book, Effort, Searched};
use corridor_shared::job::{ENGINE_EPOCH, RootPrune};
use corridor_shared::score::{Bound, WhiteScore};

const LARGE: usize = 100_000;
const COSTED: usize = 5_000;
const SHARED: usize = 200;
const SHARED_DEPTH: &str = "8";
const ROUNDS: usize = 3;

/// A generator of numbers (SplitMix64; Steele, Lea, Flood 2014), the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(end).expect("small")).expect("small")
    }
}

/// Games with so many different positions, a line each, and the positions.
fn games(positions: usize) -> (String, Vec<Position>) {
    let (mut draw, mut seen) = (Draw(7), BTreeSet::new());
    let (mut text, mut all) = (String::new(), Vec::new());
    while seen.len() < positions {
        let (mut position, mut moves) = (Position::start(), Vec::new());
        for _ in 0..40 {
            if seen.insert(position.canonical_key()) {
                all.push(position);
            }
            let legal = position.legal_moves();
            if legal.is_empty() || seen.len() >= positions {
                break;
            }
            // Pawns move as often as walls are put.
            let pawns = legal.iter().filter(|mv| mv.is_pawn()).count();
            let mv = legal[if draw.below(2) == 0 { draw.below(pawns) } else { draw.below(legal.len()) }];
            moves.push(mv.to_string());
            position = position.after(mv);
        }
        writeln!(text, "{}", moves.join(" ")).expect("a string");
    }
    (text, all)
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn games(&self, positions: usize) -> PathBuf {
        let file = self.file("games.txt");
        std::fs::write(&file, games(positions).0).expect("written");
        file
    }
}

fn corridor(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corridor"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Duration {
    let started = Instant::now();
    let output = corridor(arguments).output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    started.elapsed()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name")
}

/// A server, killed when it is dropped.
struct Server(Child);

impl Server {
    fn coordinator(store: &Path) -> (Self, String) {
        let mut command = corridor(&["coordinator", "--listen", "127.0.0.1:0", "--store", text(store)]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("a coordinator");
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut lines = lines.map_while(Result::ok);
        let line = lines.find(|line| line.contains("listening")).expect("an address");
        let url = line[line.find("http://").expect("a URL")..].to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        (Self(child), url)
    }

    fn worker(url: &str) -> Self {
        let arguments = ["worker", "--coordinator", url, "--threads", "1", "--hash", "64M"];
        Self(corridor(&arguments).stderr(Stdio::null()).spawn().expect("a worker"))
    }

    /// Time on a processor so far.
    fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("Linux");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|it| it.parse::<u64>().expect("ticks")).sum();
        // A hundred a second on every Linux that is in use.
        Duration::from_millis(ticks * 10)
    }

    /// The most memory that it had at once, in MB.
    fn peak_megabytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("Linux");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
        line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("kB") / 1_000
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn found(draw: &mut Draw, position: &Position, depth: u8) -> Searched {
    let canonical = corridor_shared::book::canonical(position);
    let moves = canonical.legal_moves();
    let best = moves[draw.below(moves.len())];
    Searched {
        depth,
        score_white: WhiteScore::Cm(i32::try_from(draw.below(400)).expect("small") - 200),
        bound: Bound::Exact,
        best_move: Some(best),
        pv: vec![best],
        nodes: 1,
        engine: ENGINE_EPOCH.into(),
        analysed_at: 0,
        worker: "w".into(),
        multipv: 1,
        prune: RootPrune::Cat,
        deterministic: false,
        others: Vec::new(),
        effort: Effort::default(),
    }
}

/// One new value in a large book, backed up as far as it goes.
fn back_up(positions: &[Position]) {
    let (mut draw, mut book) = (Draw(11), Book::new());
    for position in positions {
        book.insert(position).expect("no collision");
    }
    let open: Vec<&Position> = positions.iter().filter(|position| position.winner().is_none()).collect();
    for position in &open {
        let id = book.find(position).expect("in the book");
        let found = found(&mut draw, position, 8);
        book.learn(id, found, ENGINE_EPOCH);
    }
    book.settle();
    let mut times = Vec::new();
    for round in 0..200 {
        let position = open[draw.below(open.len())];
        let id = book.find(position).expect("in the book");
        let found = found(&mut draw, position, 9 + u8::try_from(round / 4).expect("small"));
        let started = Instant::now();
        book.learn(id, found, ENGINE_EPOCH);
        book.settle();
        times.push(started.elapsed());
    }
    // The start, below which the most depends on each other.
    let start = book.find(&Position::start()).expect("in the book");
    let started = Instant::now();
    book.learn(start, found(&mut draw, &Position::start(), 60), ENGINE_EPOCH);
    book.settle();
    let at_start = started.elapsed();
    times.sort();
    let growth = corridor_shared::book::Growth::default();
    let started = Instant::now();
    let leaves = book.frontier(&growth, 64).len();
    println!(
        "| where it is worth growing, {leaves} moves | {:.0} ms | |",
        started.elapsed().as_secs_f64() * 1e3
    );
    println!(
        "| one new value in a book of {LARGE}: median, worst of 200, the start's | {:.1} us, {:.1} us, {:.1} us | 20 ms |",
        times[100].as_secs_f64() * 1e6,
        times[199].as_secs_f64() * 1e6,
        at_start.as_secs_f64() * 1e6
    );
}

fn large() {
    let folder = Folder::new();
    let (store, lines) = (folder.file("book.db"), folder.games(LARGE));
    let (server, url) = Server::coordinator(&store);
    let took = run(&["book", "import", text(&lines), "--notation", "man", "--coordinator", &url]);
    let peak = server.peak_megabytes();
    println!(
        "| import of {LARGE} different positions | {:.2} s, {peak} MB | 20 s, 500 MB |",
        took.as_secs_f64()
    );
    drop(server);
    let shown = (0..5).map(|_| run(&["book", "show", "--store", text(&store)])).min().expect("a round");
    println!("| opening `show` on that book | {:.0} ms | 200 ms |", shown.as_secs_f64() * 1e3);
    let took = run(&["book", "check", "--store", text(&store)]);
    println!("| `check` of that book | {:.2} s | |", took.as_secs_f64());
    let out = folder.file("book.jsonl");
    let took = run(&["book", "export", "--store", text(&store), "--out", text(&out)]);
    println!("| `export` of that book | {:.2} s | |", took.as_secs_f64());
    back_up(&games(LARGE).1);
}

fn cost() {
    let folder = Folder::new();
    let (server, url) = Server::coordinator(&folder.file("book.db"));
    let lines = folder.games(COSTED);
    run(&["book", "import", text(&lines), "--notation", "man", "--coordinator", &url]);
    let _worker = Server::worker(&url);
    let before = server.processor_time();
    let took = run(&["book", "analyze", "--depth", "1", "--coordinator", &url]);
    let own = server.processor_time().saturating_sub(before).as_secs_f64() * 1e3;
    let each = f64::from(u32::try_from(COSTED).expect("small"));
    println!(
        "| coordinator's own cost a position, SQLite, depth 1 ({COSTED} positions, one worker) | {:.3} ms; {:.3} ms from end to end | 1 ms |",
        own / each,
        took.as_secs_f64() * 1e3 / each
    );
}

fn analyzed(workers: usize) -> Duration {
    let folder = Folder::new();
    let store = folder.file("book.db");
    let lines = folder.games(SHARED);
    run(&["book", "import", text(&lines), "--notation", "man", "--store", text(&store)]);
    let (_server, url) = Server::coordinator(&store);
    let workers: Vec<Server> = (0..workers).map(|_| Server::worker(&url)).collect();
    // Until all are there.
    let there = || {
        let output = corridor(&["workers", "--json", "--coordinator", &url]).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    while there() < workers.len() {
        std::thread::sleep(Duration::from_millis(20));
    }
    run(&["book", "analyze", "--depth", SHARED_DEPTH, "--coordinator", &url])
}

/// Two such jobs on two books that know nothing of each other, until both are done: all that the machine has.
fn apart() -> Duration {
    let other = std::thread::spawn(|| analyzed(1));
    let one = analyzed(1);
    one.max(other.join().expect("a job"))
}

fn two() {
    let (mut ones, mut twos, mut aparts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ones.push(analyzed(1));
        twos.push(analyzed(2));
        aparts.push(apart());
    }
    let least = |times: &[Duration]| times.iter().min().expect("a round").as_secs_f64();
    let (one, two, apart) = (least(&ones), least(&twos), least(&aparts));
    println!(
        "| two workers against one, {SHARED} positions to depth {SHARED_DEPTH} | {two:.2} s against {one:.2} s: {:.2} times | 1.8 times |",
        one / two
    );
    println!(
        "| two such jobs apart from each other, against one of them | {apart:.2} s: {:.2} times | |",
        2.0 * one / apart
    );
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|it| it == name);
    println!("| what | measured | must |\n| --- | ---: | ---: |");
    for (name, phase) in [("large", large as fn()), ("cost", cost), ("two", two)] {
        if runs(name) {
            phase();
        }
    }
}
