//! Many games in one text, a line each: `GAME e2 e8 ...`, followed by `RESULT W`.

use std::fmt;

use super::man::printable;
use super::{FormatMovesError, Notation, ParseMovesError, format_moves, parse_moves};
use crate::board::{Color, Move};

/// How a game ended, from both sides' view.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// A side won.
    Won(Color),
    /// Drawn, by the rules of the match it was part of.
    Drawn,
    /// Broken off.
    Unfinished,
}

impl GameResult {
    /// `W`, `B`, `D` or `*`.
    #[must_use]
    pub fn from_letter(text: &str) -> Option<Self> {
        match text {
            "W" => Some(Self::Won(Color::White)),
            "B" => Some(Self::Won(Color::Black)),
            "D" => Some(Self::Drawn),
            "*" => Some(Self::Unfinished),
            _ => None,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Won(Color::White) => "W",
            Self::Won(Color::Black) => "B",
            Self::Drawn => "D",
            Self::Unfinished => "*",
        })
    }
}

/// A game of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// Its moves from the start; not necessarily legal, see [`replay`](super::replay).
    pub moves: Vec<Move>,
    /// Its result, if one was given.
    pub result: Option<GameResult>,
}

/// Why a text is not a collection of games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct ParseGamesError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: GameFault,
}

/// What can be wrong with a line of a collection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameFault {
    /// Its moves do not read.
    #[error(transparent)]
    Moves(#[from] ParseMovesError),
    /// Neither a game nor a result.
    #[error("'{0}' starts neither GAME nor RESULT")]
    Keyword(String),
    /// A result that is none, or without a game before it.
    #[error("RESULT '{0}': {1}")]
    Result(String, &'static str),
}

/// Reads `GAME` and `RESULT` lines; empty lines and lines that start with `#` are passed over.
///
/// # Errors
/// Names the first line that does not read, and the ply within it.
pub fn parse_games(notation: Notation, text: &str) -> Result<Vec<Game>, ParseGamesError> {
    let mut games: Vec<Game> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at_line = |fault| ParseGamesError { line: index + 1, fault };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match keyword {
            "GAME" => {
                let moves = parse_moves(notation, rest).map_err(|error| at_line(error.into()))?;
                games.push(Game { moves, result: None });
            }
            "RESULT" => set_result(games.last_mut(), rest.trim()).map_err(at_line)?,
            other => return Err(at_line(GameFault::Keyword(printable(other)))),
        }
    }
    Ok(games)
}

fn set_result(game: Option<&mut Game>, letter: &str) -> Result<(), GameFault> {
    let fault = |fault| GameFault::Result(printable(letter), fault);
    let result = GameResult::from_letter(letter).ok_or_else(|| fault("W, B, D or * is wanted"))?;
    match game {
        None => Err(fault("there is no game before it")),
        Some(Game { result: Some(_), .. }) => Err(fault("the game before it has one already")),
        Some(game) => {
            game.result = Some(result);
            Ok(())
        }
    }
}

/// Writes a game as a `GAME` line and, if its result is known, a `RESULT` line.
///
/// # Errors
/// As [`format_moves`].
pub fn format_game(notation: Notation, game: &Game) -> Result<String, FormatMovesError> {
    let moves = format_moves(notation, &game.moves)?;
    let mut text = if moves.is_empty() { "GAME\n".to_owned() } else { format!("GAME {moves}\n") };
    if let Some(result) = game.result {
        text.push_str(&format!("RESULT {result}\n"));
    }
    Ok(text)
}
