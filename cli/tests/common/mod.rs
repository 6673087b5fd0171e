//! Running the real binary.

#![allow(dead_code, reason = "each file of tests uses its share")]
#![allow(clippy::panic, reason = "a test that cannot go on panics")]

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use corridor_shared::Position;
use serde_json::Value;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary, away from the settings of whoever runs the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corridor"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CORRIDOR_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs with arguments and nothing on standard input.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    let mut command = command();
    command.args(arguments);
    finish(command, Vec::new())
}

/// Runs with something on standard input.
pub(crate) fn finish(mut command: Command, input: Vec<u8>) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || match stdin.write_all(&input) {
        Ok(()) => {}
        // It need not read what it does not want.
        Err(error) => assert_eq!(error.kind(), ErrorKind::BrokenPipe),
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code().expect("the binary ends by itself"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The run is refused as bad input: exit code 2, nothing on standard output, exactly this one line on standard error.
#[track_caller]
pub(crate) fn refused(arguments: &[&str], line: &str) {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran:?}");
    assert_eq!(ran.stderr, format!("corridor: {line}\n"), "{arguments:?}");
}

/// The JSON object that a run prints.
#[track_caller]
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    let ran = run(&[arguments, &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    assert_eq!(ran.stdout.matches('\n').count(), 1, "one line: {}", ran.stdout);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The JSON objects of a stream, one a line.
#[track_caller]
pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Hands a job in that goes on without a client; `arguments` are those of `analyze`. Returns its number.
#[track_caller]
pub(crate) fn hand_in(url: &str, arguments: &[&str]) -> String {
    let ran = run(&[arguments, &["--json", "--detach", "--coordinator", url]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let events = lines(&ran.stdout);
    assert_eq!((events.len(), &events[0]["event"]), (1, &"accepted".into()), "{}", ran.stdout);
    events[0]["job"].as_u64().unwrap().to_string()
}

/// Somebody who has a job analysed on a cluster and reads all of it.
pub(crate) fn analyze(url: &str, arguments: &[&str]) -> Command {
    let mut analyze = command();
    analyze.args(arguments).args(["--json", "--coordinator", url]);
    analyze.stdout(Stdio::piped()).stderr(Stdio::piped());
    analyze
}

/// Watches all of a job's events.
pub(crate) fn watch(url: &str, job: &str) -> Command {
    let mut watch = command();
    watch.args(["watch", job, "--json", "--coordinator", url]);
    watch.stdout(Stdio::piped()).stderr(Stdio::piped());
    watch
}

/// A whole stream of events: numbered from 1 without a gap, one beginning, one end, no depth twice.
#[track_caller]
pub(crate) fn check_events(events: &[Value]) {
    for (event, seq) in events.iter().zip(1_u64..) {
        assert_eq!(event["seq"], seq, "a gap or a repeat: {event}");
    }
    assert_eq!(events.iter().filter(|event| event["event"] == "accepted").count(), 1);
    assert_eq!(events.iter().filter(|event| event["event"] == "done").count(), 1);
    assert_eq!(events.last().unwrap()["event"], "done");
    let depths = events.iter().filter(|event| event["event"] == "iteration");
    for (event, depth) in depths.zip(1_u64..) {
        assert_eq!(event["depth"], depth, "a depth twice, or none");
    }
}

/// What a deterministic `done` says but for what depends on the clock and on the events before it.
#[track_caller]
pub(crate) fn answer(events: &[Value]) -> Value {
    let mut done = events.last().unwrap().clone();
    assert_eq!(done["event"], "done", "{done}");
    for field in ["elapsed_ms", "seq"] {
        assert!(done.as_object_mut().unwrap().remove(field).is_some(), "no {field}");
    }
    done
}

/// Nothing in a test should take so long.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A server of the binary: `coordinator`, `worker` or `serve`. It is killed when the test is over.
pub(crate) struct Server {
    child: Child,
    lines: mpsc::Receiver<String>,
    /// What it has said so far.
    pub(crate) said: Vec<String>,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = command();
        command.args(arguments);
        Self::start_command(command)
    }

    pub(crate) fn start_command(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines, said: Vec::new() }
    }

    /// A coordinator on free ports.
    pub(crate) fn coordinator(arguments: &[&str]) -> Self {
        let ports = ["coordinator", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
        Self::start(&[&ports[..], arguments].concat())
    }

    /// A small worker.
    pub(crate) fn worker(url: &str, arguments: &[&str]) -> Self {
        let small = ["worker", "--coordinator", url, "--hash", "4M", "--http", "127.0.0.1:0"];
        Self::start(&[&small[..], arguments].concat())
    }

    /// Waits for a line with a word in it.
    #[track_caller]
    pub(crate) fn line(&mut self, word: &str) -> String {
        if let Some(line) = self.said.iter().find(|line| line.contains(word)) {
            return line.clone();
        }
        loop {
            match self.lines.recv_timeout(LONG) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(word) {
                        return line;
                    }
                }
                Err(error) => panic!("no '{word}' ({error}) in {:?}", self.said),
            }
        }
    }

    /// Takes in what it has said by now.
    pub(crate) fn catch_up(&mut self) {
        self.said.extend(self.lines.try_iter());
    }

    /// The URL at the end of a line with a word in it.
    #[track_caller]
    pub(crate) fn url(&mut self, word: &str) -> String {
        let line = self.line(word);
        line[line.find("http://").unwrap()..].to_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, such as `-TERM`.
    pub(crate) fn signal(&self, signal: &str) {
        signal_to(self.pid(), signal);
    }

    /// Waits for its end; returns the exit code and how long that took.
    #[track_caller]
    pub(crate) fn end(&mut self) -> (Option<i32>, Duration) {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.said.extend(self.lines.iter());
                return (status.code(), started.elapsed());
            }
            assert!(started.elapsed() < LONG, "it does not end: {:?}", self.said);
            pause(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
pub(crate) fn signal_to(pid: u32, signal: &str) {
    let sent = Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits for nothing but time.
pub(crate) fn pause(time: Duration) {
    let (_sender, receiver) = mpsc::channel::<()>();
    let _ = receiver.recv_timeout(time);
}

/// Tries until something is so.
#[track_caller]
pub(crate) fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < LONG, "never: {what}");
        pause(Duration::from_millis(20));
    }
}

/// Games of some hundred positions, each its own, a line each, and how many positions that are.
pub(crate) fn many_games(games: u64) -> (String, usize) {
    let mut draw = 0x9e37_79b9_7f4a_7c15_u64;
    let mut text = String::new();
    let mut keys = std::collections::BTreeSet::new();
    for _ in 0..games {
        let mut position = Position::start();
        keys.insert(position.canonical_key());
        for _ in 0..100 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let index = usize::try_from(draw >> 33).unwrap() % moves.len();
            let mv = moves[index];
            position = position.after(mv);
            keys.insert(position.canonical_key());
            text.push_str(&format!("{mv} "));
        }
        text.push('\n');
    }
    (text, keys.len())
}
