//! `uci`: the engine in a dialogue, and under rubbish.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use common::{command, finish};

/// A running engine.
struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn start() -> Self {
        let mut command = command();
        command.arg("uci").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut engine = Self { child, input, output };
        engine.say("setoption name Hash value 1");
        engine
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// The lines up to and with the first that starts so.
    fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "ended before '{start}': {lines:?}");
            let line = line.trim_end().to_owned();
            let found = line.starts_with(start);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// Says something and returns what was answered before `readyok`.
    fn answer(&mut self, line: &str) -> Vec<String> {
        self.say(line);
        self.say("isready");
        let mut lines = self.until("readyok");
        lines.pop();
        lines
    }

    /// The `info` lines and the `bestmove` of a search, without what depends on time.
    fn search(&mut self, go: &str) -> Vec<String> {
        self.say(go);
        let timed = ["nps", "time"];
        let clean = |line: String| {
            let words: Vec<&str> = line.split(' ').collect();
            let kept = (0..words.len()).filter(|&index| {
                !timed.contains(&words[index]) && (index == 0 || !timed.contains(&words[index - 1]))
            });
            kept.map(|index| words[index]).collect::<Vec<_>>().join(" ")
        };
        self.until("bestmove").into_iter().map(clean).collect()
    }

    fn quit(mut self) {
        self.say("quit");
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn it_introduces_itself_with_ranges() {
    let mut engine = Engine::start();
    engine.say("uci");
    let lines = engine.until("uciok");
    assert!(lines[0].starts_with("id name Corridor"));
    for option in [
        "option name Hash type spin default 64 min 1 max 1048576",
        "option name Threads type spin default 1 min 1 max 256",
        "option name MultiPV type spin default 1 min 1 max 136",
        "option name Prune type combo default cat var cat var none",
    ] {
        assert!(lines.iter().any(|line| line == option), "{option}");
    }
    engine.quit();
}

#[test]
fn it_searches_to_every_kind_of_limit() {
    let mut engine = Engine::start();
    engine.say("position startpos moves e2 e8 e3 e7 e4 e6");
    let lines = engine.search("go depth 4");
    let last = &lines[lines.len() - 2];
    assert!(last.starts_with("info depth 4 multipv 1 score cp ") && last.contains(" pv "), "{last}");
    engine.search("go nodes 5000");
    let started = Instant::now();
    engine.search("go movetime 100");
    assert!(started.elapsed() >= Duration::from_millis(60) && started.elapsed() < Duration::from_secs(5));
    engine.search("go wtime 1000 btime 1000 winc 10 binc 10");
    engine.say("go infinite");
    engine.until("info depth 3");
    // Heard during the search.
    engine.say("isready");
    engine.until("readyok");
    engine.say("stop");
    engine.until("bestmove");
    engine.quit();
}

#[test]
fn several_lines_and_proven_scores() {
    let mut engine = Engine::start();
    engine.say("setoption name MultiPV value 3");
    let lines = engine.search("go depth 2");
    let last = lines.iter().filter(|line| line.starts_with("info depth 2")).count();
    assert_eq!(last, 3);
    // One step from the goal.
    engine.say("position / / e8 e5 / 0 0 / 1");
    let lines = engine.search("go depth 3");
    assert!(lines.iter().any(|line| line.contains("score mate 1 ")), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "bestmove e9");
    // Without walls the start is lost for White, in 16 plies.
    engine.say("setoption name MultiPV value 1");
    engine.say("position / / e1 e9 / 0 0 / 1");
    let lines = engine.search("go depth 4");
    assert!(lines.iter().any(|line| line.contains("score mate -8 ")), "{lines:?}");
    engine.quit();
}

#[test]
fn a_finished_game_has_no_best_move() {
    let mut engine = Engine::start();
    engine.say("position startpos moves e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9");
    assert_eq!(engine.search("go depth 3"), ["bestmove (none)"]);
    engine.quit();
}

#[test]
fn a_new_game_starts_clean() {
    let search = |engine: &mut Engine| {
        engine.say("position startpos");
        engine.search("go depth 5")
    };
    let mut used = Engine::start();
    used.say("position startpos moves a3h h6h c3h e8 e2");
    used.search("go depth 5");
    used.say("ucinewgame");
    let again = search(&mut used);
    let mut fresh = Engine::start();
    assert_eq!(again, search(&mut fresh));
    assert_eq!(fresh.answer("position startpos moves e2 e8"), Vec::<String>::new());
    used.quit();
    fresh.quit();
}

#[test]
fn what_is_wrong_changes_nothing() {
    let mut engine = Engine::start();
    engine.say("position startpos moves e2 e8");
    for (line, answer) in [
        ("position startpos moves e2 e8 e4", "position: ply 3 (e4): White's pawn cannot move from e2 to e4"),
        (
            "position startpos moves e2 x",
            "position: ply 2: 'x' is not a move: a move is a square (e2) or a wall (e3h)",
        ),
        ("position / / e5 e5 / 10 10 / 1", "position: both pawns stand on e5"),
        ("position", "position: 'startpos' or a position text is wanted"),
        ("go depth 0", "go: depth wants a whole number of 1 to 100, not '0'"),
        ("setoption name Threads value 0", "setoption: a whole number of 1 to 256 is wanted, not '0'"),
        ("setoption name Hash value 1048576", ""),
        ("setoption name Ponder value true", "setoption: there is no option 'Ponder'"),
        ("checkmate", "unknown command 'checkmate'"),
    ] {
        let said = engine.answer(line);
        assert_eq!(said.len(), 1, "{line}: {said:?}");
        assert!(said[0].starts_with(&format!("info string error {answer}")), "{line}: {said:?}");
    }
    let lines = engine.search("go depth 1");
    let best = lines.last().unwrap().strip_prefix("bestmove ").unwrap();
    assert!(["e3", "e1", "d2", "f2"].contains(&best) || best.len() == 3, "still at e2 e8: {best}");
    engine.quit();
}

#[test]
fn it_survives_rubbish() {
    let mut one_line = vec![b'x'; 10 << 20];
    one_line.extend_from_slice(b"\nisready\n");
    let mut many_lines = b"rubbish \xff\n".repeat(1 << 20);
    many_lines.extend_from_slice(b"isready\nposition startpos\ngo depth 1\n");
    for input in [one_line, many_lines] {
        let mut command = command();
        command.arg("uci");
        let started = Instant::now();
        let ran = finish(command, input);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("readyok") && ran.stdout.len() < 4_000, "{}", ran.stdout);
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn the_end_of_the_input_is_the_end() {
    let mut with_limit = command();
    with_limit.arg("uci");
    let ran = finish(with_limit, b"position startpos\ngo depth 4\n".to_vec());
    assert!(ran.code == 0 && ran.stdout.contains("info depth 4") && ran.stdout.contains("bestmove"));
    let mut without = command();
    without.arg("uci");
    let ran = finish(without, b"go infinite\n".to_vec());
    assert!(ran.code == 0 && ran.stdout.contains("bestmove"), "{ran:?}");
    let mut nothing = command();
    nothing.arg("uci");
    assert_eq!(finish(nothing, Vec::new()).stdout, "");
}

/// What is known is said before a signal ends the engine.
#[test]
fn a_signal_ends_a_search_with_its_best_move() {
    for signal in ["-INT", "-TERM"] {
        let mut engine = Engine::start();
        engine.say("go infinite");
        engine.until("info depth 3");
        let id = engine.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
        let best = engine.until("bestmove").pop().unwrap();
        assert!(best.len() > "bestmove ".len(), "{best}");
        assert_eq!(engine.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}
