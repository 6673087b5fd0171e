//! What a client wants in a book: lines of a file, or positions of an earlier export. All of it is read and checked before any
//! of it goes into the book.

use std::collections::BTreeSet;
use std::sync::Arc;

use corridor_proto::convert::{
    ConvertError, book_name, check_record, notation_from_wire, record_from_wire, score_from_wire,
};
use corridor_proto::v1;
use corridor_shared::board::{Color, Position};
use corridor_shared::book::{Record, Searched, canonical};
use corridor_shared::notation::{Notation, ParseMovesError, parse_moves, qf, replay_all};
use corridor_shared::score::WhiteScore;

use crate::limits::{MAX_BOOK_POSITIONS, MAX_SHOWN_FAULTS};

/// What has come so far.
#[derive(Debug, Default)]
pub(super) struct Import {
    /// From the first part.
    head: Option<Head>,
    /// Keys of all positions, so that each is there once.
    seen: BTreeSet<u64>,
    pub(super) positions: Vec<Position>,
    pub(super) found: Vec<(Position, Searched)>,
    pub(super) games: u64,
    lines: u64,
    records: u64,
    pub(super) faults: Vec<v1::ImportFault>,
    pub(super) fault_count: u64,
}

/// What every part says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) book: Arc<str>,
    notation: Option<Notation>,
    pub(super) keep_going: bool,
}

/// Why a line cannot be imported.
struct Fault {
    ply: Option<usize>,
    message: String,
}

impl From<ParseMovesError> for Fault {
    fn from(error: ParseMovesError) -> Self {
        let ply = match &error {
            ParseMovesError::Token { ply, .. } => Some(*ply),
            ParseMovesError::Illegal(error) => Some(error.ply),
            _ => None,
        };
        Self { ply, message: without_ply(&error.to_string()) }
    }
}

/// The ply stands beside the message.
fn without_ply(message: &str) -> String {
    let rest = message.strip_prefix("ply ").and_then(|rest| rest.split_once(": "));
    rest.map_or(message, |(_, rest)| rest).to_owned()
}

/// What a line holds.
enum Content {
    /// Nothing: it is empty, a comment or a result.
    Nothing,
    /// A game: its positions, the start among them.
    Game(Vec<Position>),
    /// One position.
    Position(Position),
}

impl Import {
    /// Takes a part in.
    ///
    /// # Errors
    /// What every part must say is missing or differs, or there are too many positions.
    pub(super) fn take(&mut self, part: &v1::ImportRequest) -> Result<(), ConvertError> {
        let head = read_head(part, self.head.as_ref())?;
        self.head = Some(head.clone());
        for line in &part.games {
            self.lines += 1;
            let Some(notation) = head.notation else {
                return Err(ConvertError::new("notation", "is unspecified: an anchor is never guessed"));
            };
            match read_line(line, notation) {
                Ok(Content::Nothing) => {}
                Ok(Content::Game(positions)) => {
                    self.games += 1;
                    positions.iter().for_each(|position| self.add(position));
                }
                Ok(Content::Position(position)) => self.add(&position),
                Err(fault) => self.fault(self.lines, fault.ply, fault.message),
            }
        }
        for node in &part.records {
            self.records += 1;
            match read_record(node) {
                Ok(record) => self.add_record(record),
                Err(error) => self.fault(self.records, None, error.to_string()),
            }
        }
        if self.seen.len() > MAX_BOOK_POSITIONS {
            let fault = format!("more positions than max_book_positions {MAX_BOOK_POSITIONS}");
            return Err(ConvertError::new("games", fault));
        }
        Ok(())
    }

    pub(super) const fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    fn add(&mut self, position: &Position) {
        if self.seen.insert(position.canonical_key()) {
            self.positions.push(canonical(position));
        }
    }

    /// A record brings its position, those on the line that leads there, and what was found.
    fn add_record(&mut self, record: Record) {
        let line = record.moves.as_deref().map(|moves| replay_all(&Position::start(), moves));
        // It was checked that the moves are legal.
        line.into_iter().flatten().flatten().for_each(|position| self.add(&position));
        self.add(&record.position);
        self.found.extend(record.searched.map(|searched| (record.position, searched)));
    }

    fn fault(&mut self, line: u64, ply: Option<usize>, message: String) {
        self.fault_count += 1;
        if self.faults.len() < MAX_SHOWN_FAULTS {
            let ply = ply.and_then(|ply| u32::try_from(ply).ok());
            self.faults.push(v1::ImportFault { line, ply, message });
        }
    }
}

fn read_head(part: &v1::ImportRequest, first: Option<&Head>) -> Result<Head, ConvertError> {
    let notation = match part.notation {
        0 => None,
        notation => Some(notation_from_wire(notation, "notation")?),
    };
    let head = Head { book: book_name(&part.book, "book")?, notation, keep_going: part.keep_going };
    let Some(first) = first else { return Ok(head) };
    let fields = [
        ("book", first.book == head.book),
        ("notation", first.notation == head.notation),
        ("keep_going", first.keep_going == head.keep_going),
    ];
    match fields.into_iter().find(|(_, is_same)| !is_same) {
        Some((field, _)) => Err(ConvertError::new(field, "must be the same in every part")),
        None => Ok(head),
    }
}

fn read_record(node: &v1::BookNode) -> Result<Record, ConvertError> {
    let record = record_from_wire(node)?;
    let key = (!node.key.is_empty()).then_some(node.key.as_str());
    check_record(&record, key)?;
    let score = node.score_white.map(|score| score_from_wire(score, "score_white")).transpose()?;
    match (record.position.winner(), score) {
        (None, None) if node.depth > 0 => {
            Err(ConvertError::new("depth", "a position that was searched has a score"))
        }
        (Some(winner), Some(score)) if score != over(winner) => {
            Err(ConvertError::new("score_white", format!("the game is over: {winner} has won")))
        }
        _ => Ok(record),
    }
}

const fn over(winner: Color) -> WhiteScore {
    match winner {
        Color::White => WhiteScore::WhiteWinsIn(0),
        Color::Black => WhiteScore::BlackWinsIn(0),
    }
}

/// A line: perhaps a name or a result and a tab, then a game or a position's text.
fn read_line(line: &str, notation: Notation) -> Result<Content, Fault> {
    let line = line.trim_end_matches(['\r', '\n']);
    let text = line.split_once('\t').map_or(line, |(_, rest)| rest).trim();
    let is_result = text.split_whitespace().next() == Some("RESULT");
    if text.is_empty() || line.starts_with('#') || is_result {
        return Ok(Content::Nothing);
    }
    if text.starts_with("/ ") || text.contains(" / ") {
        let position = text.parse();
        let fault = |message| Fault { ply: None, message };
        return position.map(Content::Position).map_err(|error| fault(format!("position: {error}")));
    }
    // A code may be of a position instead of a game.
    if notation == Notation::Qf && qf::is_state(text) {
        let state = qf::State::decode(text).map_err(|error| error.to_string());
        let position = state.and_then(|state| state.position().map_err(|error| error.to_string()));
        let fault = |error| Fault { ply: None, message: format!("position: {error}") };
        return position.map(Content::Position).map_err(fault);
    }
    let moves = parse_moves(notation, text)?;
    let positions = replay_all(&Position::start(), &moves)
        .map_err(|error| Fault { ply: Some(error.ply), message: without_ply(&error.to_string()) })?;
    Ok(Content::Game(positions))
}

#[cfg(test)]
mod tests {
    use corridor_proto::convert::notation_to_wire;

    use super::*;

    fn part(lines: &[&str]) -> v1::ImportRequest {
        v1::ImportRequest {
            book: "main".to_owned(),
            notation: notation_to_wire(Notation::Man).into(),
            games: lines.iter().map(ToString::to_string).collect(),
            ..v1::ImportRequest::default()
        }
    }

    #[test]
    fn lines_of_every_kind_are_read_and_faults_name_line_and_ply() {
        let mut import = Import::default();
        let lines = [
            "# a comment",
            "gap\te2 e8 e3",
            "1-0\te2 e8 e3h",
            "",
            "GAME e2 e8",
            "RESULT W",
            "1. e2 e8 2. e3 e7",
            "/ / e2 e9 / 10 10 / 2",
            "e2 e8 e5",
            "e2 x9",
            "name\te2 e8 e3 e2",
        ];
        import.take(&part(&lines)).expect("a part");
        let faults: Vec<(u64, Option<u32>)> = import.faults.iter().map(|it| (it.line, it.ply)).collect();
        assert_eq!(faults, [(9, Some(3)), (10, Some(2)), (11, Some(4))]);
        assert!(!import.faults[0].message.contains("ply"), "{:?}", import.faults);
        // The start, e2, e8, e3, e3h, e7.
        assert_eq!((import.games, import.positions.len(), import.fault_count), (4, 6, 3));
        let other = v1::ImportRequest { book: "other".to_owned(), ..part(&[]) };
        assert!(import.take(&other).is_err());
    }

    #[test]
    fn a_broken_code_of_a_position_is_told_as_one() {
        let state = qf::State::after(&[]).expect("a state").encode();
        let qf = |text: &str| {
            let notation = notation_to_wire(Notation::Qf).into();
            let mut import = Import::default();
            import.take(&v1::ImportRequest { notation, ..part(&[text]) }).expect("a part");
            (import.positions.len(), import.faults.first().map(|fault| fault.message.clone()))
        };
        assert_eq!(qf(&state), (1, None));
        let (_, fault) = qf(&state[..state.len() - 3]);
        let fault = fault.expect("it is cut off");
        assert!(fault.starts_with("position: not qf: ") && !fault.contains("holds a state"), "{fault}");
    }

    #[test]
    fn finished_games_have_no_other_score_and_unsearched_positions_no_depth() {
        let over = canonical(&"/ / e9 d9 / 10 10 / 2".parse().expect("a position")).to_string();
        let node = |position: &str, kind, depth| v1::BookNode {
            position: position.to_owned(),
            unreachable: true,
            score_white: Some(v1::ScoreWhite { kind }).filter(|score| score.kind.is_some()),
            depth,
            ..v1::BookNode::default()
        };
        let wins = |plies| Some(v1::score_white::Kind::WhiteWinsIn(plies));
        assert!(read_record(&node(&over, wins(0), 0)).is_ok());
        assert!(read_record(&node(&over, None, 0)).is_ok());
        let fault = read_record(&node(&over, wins(1), 0)).expect_err("over").to_string();
        assert_eq!(fault, "score_white: the game is over: White has won");
        let fault = read_record(&node("/ / e1 e9 / 10 10 / 1", None, 5)).expect_err("no score");
        assert_eq!(fault.field, "depth");
    }

    #[test]
    fn an_anchor_is_never_guessed() {
        let undeclared = v1::ImportRequest { notation: 0, ..part(&["e2"]) };
        let error = Import::default().take(&undeclared).expect_err("refused");
        assert_eq!(error.field, "notation");
    }
}
