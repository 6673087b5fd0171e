//! `corridor uci`: the engine over standard input and output, by the protocol that chess programs speak.
//!
//! Positions are `startpos` or a position text, moves are `man`, `cp` is a hundredth of a square, and scores are from the
//! side to move. What is wrong is answered by one line, `info string error ...`, and changes nothing. `stop`, `isready` and
//! `quit` are heard during a search; any other command waits for a search with a limit and ends one without.

mod go;
mod input;
mod options;
mod search;

use corridor_shared::Position;
use corridor_shared::notation::{Notation, parse_moves, replay};
use corridor_shared::search::ThreadPool;

use self::input::{Input, Line};
use self::options::Options;
use self::search::RunningSearch;
use crate::failure::Failure;
use crate::out;
use crate::signals::Interrupts;

/// Complaints in a row before the engine falls silent: rubbish on the input shall not become rubbish on the output.
const MAX_COMPLAINTS: u32 = 10;

/// Listens until `quit` or the end of the input.
pub(crate) fn run() -> Result<(), Failure> {
    let input = Input::start(Interrupts::listen()?)?;
    let mut engine = Engine::new()?;
    while let Some(line) = input.next() {
        let answer = match line {
            Line::Text(text) => engine.command(&text),
            Line::TooLong => {
                Err(Fault::new(format!("a line is longer than {} bytes", input::MAX_LINE_BYTES)))
            }
            Line::NotText => Err(Fault::new("a line is not UTF-8".to_owned())),
            Line::Interrupted | Line::End => Ok(Next::Quit),
        };
        match answer {
            Ok(Next::Listen) => engine.complaints = 0,
            Ok(Next::Ignored) => {}
            Ok(Next::Quit) => {
                engine.end_search();
                return Ok(());
            }
            Err(Fault::Output(failure)) => {
                engine.end_search();
                return Err(failure);
            }
            Err(Fault::Input(message)) => engine.complain(&message)?,
        }
    }
    // The input has ended: a search that has a limit of its own may still reach it.
    engine.settle();
    Ok(())
}

/// What comes after a command.
enum Next {
    Listen,
    /// Nothing was said.
    Ignored,
    Quit,
}

/// Why a command was not carried out.
enum Fault {
    /// It is wrong, and so answered.
    Input(String),
    /// The answer cannot be written.
    Output(Failure),
}

impl Fault {
    fn new(message: String) -> Self {
        Self::Input(message)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Output(failure)
    }
}

/// The engine's state between commands.
struct Engine {
    position: Position,
    options: Options,
    /// At rest here; a running search has taken it along.
    pool: Option<ThreadPool>,
    running: Option<RunningSearch>,
    complaints: u32,
}

impl Engine {
    fn new() -> Result<Self, Failure> {
        let options = Options::default();
        let pool = options.pool().map_err(|error| Failure::Failed(anyhow::anyhow!("table: {error}")))?;
        Ok(Self { position: Position::start(), options, pool: Some(pool), running: None, complaints: 0 })
    }

    /// Carries out one line.
    fn command(&mut self, line: &str) -> Result<Next, Fault> {
        let (word, rest) = split_word(line);
        match word {
            "" => return Ok(Next::Ignored),
            "quit" => return Ok(Next::Quit),
            "uci" => self.introduce()?,
            "isready" => out::line("readyok")?,
            "stop" => self.end_search(),
            "ucinewgame" => self.new_game()?,
            "setoption" => self.set_option(rest)?,
            "position" => self.set_position(rest)?,
            "go" => self.go(rest)?,
            // Parts of the protocol that mean nothing here.
            "debug" | "register" | "ponderhit" => {}
            _ => return Err(Fault::new(format!("unknown command '{}'", shortened(word)))),
        }
        Ok(Next::Listen)
    }

    fn introduce(&self) -> Result<(), Failure> {
        let version = env!("CARGO_PKG_VERSION");
        out::line(&format!("id name Corridor {version}\nid author the Corridor developers"))?;
        out::line(&self.options.declaration())?;
        out::line("uciok")
    }

    fn complain(&mut self, message: &str) -> Result<(), Failure> {
        self.complaints += 1;
        match self.complaints {
            1..MAX_COMPLAINTS => out::line(&format!("info string error {message}")),
            MAX_COMPLAINTS => out::line("info string error and so on; silent until the next good command"),
            _ => Ok(()),
        }
    }

    /// Asks a running search to stop and waits for its `bestmove`.
    fn end_search(&mut self) {
        if let Some(running) = &self.running {
            running.stop();
        }
        self.join();
    }

    /// Waits for a search with a limit; ends one without.
    fn settle(&mut self) {
        if self.running.as_ref().is_some_and(RunningSearch::is_infinite) {
            self.end_search();
        }
        self.join();
    }

    fn join(&mut self) {
        if let Some(running) = self.running.take() {
            self.pool = running.join();
        }
    }

    /// Nothing of the last game may be seen in the next.
    fn new_game(&mut self) -> Result<(), Fault> {
        self.settle();
        self.position = Position::start();
        self.resting_pool()?.clear();
        Ok(())
    }

    /// The threads and the table, made again if a search took them down with it.
    fn resting_pool(&mut self) -> Result<&mut ThreadPool, Fault> {
        let pool = match self.pool.take() {
            Some(pool) => pool,
            None => self.options.pool().map_err(Fault::new)?,
        };
        Ok(self.pool.insert(pool))
    }

    fn set_option(&mut self, text: &str) -> Result<(), Fault> {
        self.settle();
        let changed = self.options.with(text).map_err(|error| Fault::new(format!("setoption: {error}")))?;
        if changed.needs_new_pool(&self.options) {
            // The old table goes first: both together may be more than there is.
            self.pool = None;
            match changed.pool() {
                Ok(pool) => self.pool = Some(pool),
                Err(error) => {
                    self.resting_pool()?;
                    return Err(Fault::new(format!("setoption: {error}")));
                }
            }
        }
        if options::clears_table(text) {
            self.resting_pool()?.clear();
        }
        self.options = changed;
        Ok(())
    }

    fn set_position(&mut self, text: &str) -> Result<(), Fault> {
        self.settle();
        self.position = read_position(text).map_err(|error| Fault::new(format!("position: {error}")))?;
        Ok(())
    }

    fn go(&mut self, text: &str) -> Result<(), Fault> {
        self.settle();
        let order = go::Order::read(text, self.position.turn())
            .map_err(|error| Fault::new(format!("go: {error}")))?;
        if self.position.winner().is_some() {
            return Ok(out::line("bestmove (none)")?);
        }
        self.resting_pool()?;
        let Some(pool) = self.pool.take() else { return Ok(()) };
        self.running = Some(RunningSearch::start(pool, self.position, order, &self.options)?);
        Ok(())
    }
}

/// `startpos` or a position text, then perhaps `moves` and moves.
fn read_position(text: &str) -> Result<Position, String> {
    let (root, moves) = match text.split_once("moves") {
        Some((root, moves)) => (root.trim(), moves),
        None => (text.trim(), ""),
    };
    let start = match root.strip_prefix("fen ").unwrap_or(root) {
        "startpos" => Position::start(),
        "" => return Err("'startpos' or a position text is wanted".to_owned()),
        text => {
            text.parse().map_err(|error: corridor_shared::notation::ParsePositionError| error.to_string())?
        }
    };
    let moves = parse_moves(Notation::Man, moves).map_err(|error| error.to_string())?;
    replay(&start, &moves).map_err(|error| error.to_string())
}

/// The first word and what follows it.
fn split_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).unwrap_or((line, ""))
}

/// At most thirty characters of foreign text, on one line.
fn shortened(text: &str) -> String {
    text.chars().take(30).flat_map(char::escape_debug).collect()
}
