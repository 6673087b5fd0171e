//! What a page asks, in JSON or in a query.

use std::borrow::Cow;
use std::fmt::Display;

use corridor_shared::board::{Move, Position};
use corridor_shared::job::{BookJobSpec, JobSpec};
use corridor_shared::notation::{Notation, ParseMovesError, PlyError, parse_moves, qf, replay};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::convert::{
    ConvertError, book_analyze_from_wire, expand_from_wire, position_to_spec, spec_from_wire,
};
use crate::v1;

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field at fault; `None`: the whole.
    pub field: Option<String>,
    /// What is wrong, in one line.
    pub message: String,
    /// The ply at fault, counted from 1.
    pub ply: Option<usize>,
}

impl Fault {
    /// Something is wrong with a field.
    pub fn of(field: &str, message: impl Display) -> Self {
        Self { field: Some(field.to_owned()), message: message.to_string(), ply: None }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl From<ConvertError> for Fault {
    fn from(error: ConvertError) -> Self {
        // A page knows the fields by their last names.
        let field = error.field.rsplit('.').next().unwrap_or_default();
        Self::of(field, &error.fault)
    }
}

/// An object from JSON text.
///
/// # Errors
/// It is no such object; the field at fault is named.
pub fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, Fault> {
    // No body says as much as an empty object.
    let text = if text.is_empty() { b"{}" } else { text };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        Fault {
            field: (path != "." && path != "?").then_some(path),
            message: in_words(error.inner()),
            ply: None,
        }
    })?;
    reader.end().map_err(|error| Fault { field: None, message: error.to_string(), ply: None })?;
    Ok(value)
}

/// What was wrong with a value, for somebody who typed it into a field and knows neither the language of this program nor
/// where in the body the field stands.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if !error.is_data() {
        return text;
    }
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    let Some((found, expected)) = text.rsplit_once(", expected ") else { return text.to_owned() };
    let wanted = match expected {
        "u32" | "u64" => "a whole number from 0 up",
        "i32" => "a whole number",
        "a string" => "a text",
        "a boolean" => "true or false",
        _ => return text.to_owned(),
    };
    // What it was: its kind, and often itself.
    let found = found.split_once(": ").map_or(found, |(_, found)| found);
    let kinds = ["string ", "integer ", "floating point ", "boolean "];
    let itself = kinds.iter().find_map(|kind| found.strip_prefix(kind)).unwrap_or(found);
    format!("{wanted} is wanted, not {}", itself.trim_matches('`'))
}

/// Which position is meant.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct PositionQuery {
    /// A position text; absent: the start of a game.
    pub position: Option<String>,
    /// Moves from there; absent: none.
    pub moves: Option<String>,
    /// How they are written; absent: `man`.
    pub notation: Option<String>,
}

/// A position and how it came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// Where it begins.
    pub start: Position,
    /// What was played.
    pub moves: Vec<Move>,
    /// Where it is now.
    pub position: Position,
}

fn notation(name: Option<&str>, field: &str) -> Result<Notation, Fault> {
    name.map_or(Ok(Notation::Man), |name| name.parse().map_err(|error| Fault::of(field, error)))
}

/// What is wrong with a ply stands apart from which it is.
fn in_ply(error: &PlyError) -> Fault {
    let PlyError { ply, mv, fault } = error;
    Fault { field: Some("moves".to_owned()), message: format!("ply {ply} ({mv}): {fault}"), ply: Some(*ply) }
}

impl PositionQuery {
    /// The game that is meant.
    ///
    /// # Errors
    /// Something does not read, or cannot be played.
    pub fn game(&self) -> Result<Game, Fault> {
        let notation = notation(self.notation.as_deref(), "notation")?;
        let start = match self.position.as_deref().map(str::trim) {
            None | Some("") => Position::start(),
            Some(text) => position(text, notation)?,
        };
        let moves = parse_moves(notation, self.moves.as_deref().unwrap_or_default());
        let moves = moves.map_err(|error| match &error {
            ParseMovesError::Illegal(error) => in_ply(error),
            ParseMovesError::Token { ply, .. } => Fault { ply: Some(*ply), ..Fault::of("moves", &error) },
            _ => Fault::of("moves", &error),
        })?;
        let position = replay(&start, &moves).map_err(|error| in_ply(&error))?;
        Ok(Game { start, moves, position })
    }
}

/// A position text; only `qf` has a form of its own for it.
fn position(text: &str, notation: Notation) -> Result<Position, Fault> {
    if notation == Notation::Qf && !text.contains(' ') {
        let state = qf::State::decode(text).map_err(|error| Fault::of("position", error))?;
        return state.position().map_err(|error| Fault::of("position", error));
    }
    text.parse().map_err(|error| Fault::of("position", error))
}

/// Moves that are to be written in another way.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvertQuery {
    /// How they are written; absent: `man`.
    pub from: Option<String>,
    /// How they are to be written.
    pub to: Option<String>,
    /// The moves.
    pub moves: Option<String>,
}

impl ConvertQuery {
    /// The moves in the other notation.
    ///
    /// # Errors
    /// A notation is unknown, the moves do not read, or have no form in the other notation.
    pub fn converted(&self) -> Result<String, Fault> {
        let from = notation(self.from.as_deref(), "from")?;
        let to = notation(self.to.as_deref(), "to")?;
        let query = PositionQuery {
            position: None,
            moves: self.moves.clone(),
            notation: Some(from.name().to_owned()),
        };
        corridor_shared::notation::format_moves(to, &query.game()?.moves)
            .map_err(|error| Fault::of("to", error))
    }
}

/// An analysis that a page wants.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    position: Option<String>,
    moves: Option<String>,
    notation: Option<String>,
    depth: Option<u32>,
    time_ms: Option<u64>,
    nodes: Option<u64>,
    multipv: Option<u32>,
    prune: Option<String>,
    priority: Option<i32>,
    deterministic: Option<bool>,
    fresh: Option<bool>,
    detach: Option<bool>,
}

fn prune(name: Option<&str>) -> Result<i32, Fault> {
    Ok(i32::from(match name {
        None | Some("cat") => v1::PruneMode::Cat,
        Some("none") => v1::PruneMode::None,
        Some("audit") => v1::PruneMode::Audit,
        Some(_) => return Err(Fault::of("prune", "there are cat, none and audit")),
    }))
}

impl JobRequest {
    /// The job, and whether no book is to be asked first. It goes on without a watcher unless it says otherwise.
    ///
    /// # Errors
    /// A field is wrong.
    pub fn job(self) -> Result<(JobSpec, bool), Fault> {
        let query = PositionQuery { position: self.position, moves: self.moves, notation: self.notation };
        let spec = v1::JobSpec {
            position: Some(position_to_spec(&query.game()?.position)),
            limits: Some(v1::Limits { depth: self.depth, time_ms: self.time_ms, nodes: self.nodes }),
            multipv: self.multipv,
            prune: prune(self.prune.as_deref())?,
            deterministic: self.deterministic.unwrap_or(false),
            priority: self.priority.unwrap_or(0),
            detach: self.detach.unwrap_or(true),
        };
        Ok((spec_from_wire(Some(&spec), None, "spec")?, self.fresh.unwrap_or(false)))
    }
}

/// The analysis of a book that a page wants.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BookAnalyzeRequest {
    depth: Option<u32>,
    time_ms: Option<u64>,
    nodes: Option<u64>,
    stale: Option<bool>,
    most: Option<u32>,
    priority: Option<i32>,
}

impl BookAnalyzeRequest {
    /// The job on this book.
    ///
    /// # Errors
    /// A field is wrong.
    pub fn job(&self, book: &str) -> Result<BookJobSpec, Fault> {
        let request = v1::BookAnalyzeRequest {
            book: book.to_owned(),
            limits: Some(v1::Limits { depth: self.depth, time_ms: self.time_ms, nodes: self.nodes }),
            multipv: None,
            prune: i32::from(v1::PruneMode::Cat),
            deterministic: false,
            priority: self.priority.unwrap_or(0),
            detach: true,
            stale: self.stale.unwrap_or(false),
            most: self.most,
        };
        Ok(book_analyze_from_wire(&request, None)?)
    }
}

/// The growth of a book that a page wants.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpandRequest {
    positions: Option<u32>,
    depth: Option<u32>,
    time_ms: Option<u64>,
    nodes: Option<u64>,
    max_cost_cm: Option<u64>,
    stop_after_ms: Option<u64>,
    side: Option<Cow<'static, str>>,
    priority: Option<i32>,
}

impl ExpandRequest {
    /// The job on this book.
    ///
    /// # Errors
    /// A field is wrong.
    pub fn job(&self, book: &str) -> Result<BookJobSpec, Fault> {
        let side = match self.side.as_deref() {
            None | Some("both") => v1::BookSide::Unspecified,
            Some("white") => v1::BookSide::White,
            Some("black") => v1::BookSide::Black,
            Some(_) => return Err(Fault::of("side", "there are both, white and black")),
        };
        let request = v1::ExpandRequest {
            book: book.to_owned(),
            positions: self.positions.unwrap_or(0),
            limits: Some(v1::Limits { depth: self.depth, time_ms: self.time_ms, nodes: self.nodes }),
            prune: i32::from(v1::PruneMode::Cat),
            priority: self.priority.unwrap_or(0),
            detach: true,
            max_cost_cm: self.max_cost_cm,
            time_ms: self.stop_after_ms,
            side: i32::from(side),
            ..v1::ExpandRequest::default()
        };
        expand_from_wire(&request, None).map_err(|error| match &*error.field {
            // A page has two times, and one level of names.
            "time_ms" => Fault::of("stop_after_ms", &error.fault),
            _ => error.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use corridor_shared::job::{BookTask, RootPrune};

    use super::*;

    fn job(text: &str) -> Result<(JobSpec, bool), String> {
        let request: Result<JobRequest, Fault> = from_json(text.as_bytes());
        request.and_then(JobRequest::job).map_err(|fault| fault.to_string())
    }

    #[test]
    fn an_analysis_is_read_from_json() {
        let (spec, fresh) = job(
            r#"{"moves":"e2 e8","depth":7,"time_ms":1500,"nodes":9,"multipv":3,"prune":"audit","priority":-2,"fresh":true,"detach":false}"#,
        )
        .expect("a job");
        assert_eq!((spec.limits.depth, spec.limits.nodes, spec.multipv), (Some(7), Some(9), 3));
        assert_eq!((spec.limits.time, spec.prune), (Some(Duration::from_millis(1_500)), RootPrune::Audit));
        assert_eq!((spec.priority, fresh, spec.detach), (-2, true, false));
        assert_eq!(spec.position.to_string(), "/ / e2 e8 / 10 10 / 1");
        let (usual, fresh) = job("").expect("a job");
        assert_eq!((usual.position, usual.detach, usual.multipv, fresh), (Position::start(), true, 1, false));
    }

    #[test]
    fn what_is_wrong_is_said_of_its_field() {
        for (text, said) in [
            (r#"{"depth":101}"#, "depth: 101 is more than max_depth 100"),
            (r#"{"depth":0}"#, "depth: must be at least 1"),
            (r#"{"depth":"x"}"#, "depth: a whole number from 0 up is wanted, not \"x\""),
            (r#"{"moves":"e2 e2"}"#, "moves: ply 2 (e2): Black's pawn cannot move from e9 to e2"),
            (r#"{"moves":"e2 zz"}"#, "moves: ply 2: "),
            (r#"{"position":"x"}"#, "position: "),
            (r#"{"notation":"x"}"#, "notation: 'x' is not a notation"),
            (r#"{"prune":"x"}"#, "prune: there are cat, none and audit"),
            (r#"{"deep":1}"#, "deep: unknown field `deep`"),
            ("[", "EOF while parsing"),
            ("{} x", "trailing characters"),
        ] {
            let error = job(text).expect_err(text);
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }

    #[test]
    fn moves_are_converted_and_the_ply_is_named() {
        let query = |from: &str, to: &str, moves: &str| ConvertQuery {
            from: Some(from.to_owned()),
            to: Some(to.to_owned()),
            moves: Some(moves.to_owned()),
        };
        let code = query("man", "qf", "e2 e8 e3h").converted().expect("a code");
        assert_eq!(query("qf", "man", &code).converted(), Ok("e2 e8 e3h".to_owned()));
        let fault = query("man", "qf", "e2 e8 e9").converted().expect_err("illegal");
        assert_eq!((fault.field.as_deref(), fault.ply), (Some("moves"), Some(3)));
    }

    #[test]
    fn a_wrong_value_is_named_in_a_persons_words() {
        let fault = |text: &str| {
            let fault = from_json::<JobRequest>(text.as_bytes()).map(drop).expect_err("refused");
            (fault.field.unwrap_or_default(), fault.message)
        };
        for (text, field, message) in [
            (r#"{"depth":"x"}"#, "depth", r#"a whole number from 0 up is wanted, not "x""#),
            (r#"{"depth":-1}"#, "depth", "a whole number from 0 up is wanted, not -1"),
            (r#"{"nodes":1.5}"#, "nodes", "a whole number from 0 up is wanted, not 1.5"),
            (
                r#"{"nodes":"at line , expected u64"}"#,
                "nodes",
                "a whole number from 0 up is wanted, not \"at line , expected u64\"",
            ),
            (r#"{"priority":"high"}"#, "priority", r#"a whole number is wanted, not "high""#),
            (r#"{"fresh":1}"#, "fresh", "true or false is wanted, not 1"),
            (r#"{"moves":1}"#, "moves", "a text is wanted, not 1"),
        ] {
            assert_eq!(fault(text), (field.to_owned(), message.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_books_work_is_read_from_json() {
        let grow: ExpandRequest =
            from_json(br#"{"positions":5,"depth":3,"side":"white"}"#).expect("it reads");
        let spec = grow.job("main").expect("a job");
        assert_eq!((&*spec.book, spec.limits.depth, spec.detach), ("main", Some(3), true));
        let endless: ExpandRequest = from_json(br#"{"depth":3}"#).expect("it reads");
        assert_eq!(endless.job("main").expect_err("refused").field.as_deref(), Some("positions"));
        let timed: ExpandRequest =
            from_json(br#"{"positions":5,"time_ms":1500,"stop_after_ms":9000}"#).expect("it reads");
        let spec = timed.job("main").expect("a job");
        let stop = match spec.task {
            BookTask::Expand { time, .. } => time,
            BookTask::Analyze { .. } => None,
        };
        let times = (spec.limits.time, stop);
        assert_eq!(times, (Some(Duration::from_millis(1500)), Some(Duration::from_secs(9))));
        for (text, field) in [
            (r#"{"positions":5,"time_ms":0}"#, "time_ms"),
            (r#"{"positions":5,"depth":1,"stop_after_ms":0}"#, "stop_after_ms"),
        ] {
            let wrong: ExpandRequest = from_json(text.as_bytes()).expect("it reads");
            assert_eq!(wrong.job("main").expect_err("refused").field.as_deref(), Some(field));
        }
        let analyze: BookAnalyzeRequest = from_json(br#"{"time_ms":3000,"stale":true}"#).expect("it reads");
        assert_eq!(analyze.job("main").expect("a job").limits.time, Some(Duration::from_secs(3)));
        assert_eq!(analyze.job("").expect_err("refused").field.as_deref(), Some("book"));
    }
}
