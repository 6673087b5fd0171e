//! `man`, our own notation: a pawn move is its target square (`e2`), a wall the touched square nearest a1 and its
//! orientation (`e3h`, `e3v`).

use std::fmt;
use std::str::FromStr;

use super::move_text::{self, Grammar};
use crate::board::{Move, Orientation, Square, Wall};

pub(super) const GRAMMAR: Grammar = Grammar {
    read: |word, _| Ok((word.parse()?, false)),
    write: |mv| mv.to_string(),
    run_together: Some(move_text::suffix_length),
    preamble: move_text::no_preamble,
};

/// Why a token is not a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{token}' is not a move: {fault}")]
pub struct ParseMoveError {
    /// The token, cut to a printable length.
    pub token: String,
    /// What is wrong with it.
    pub fault: &'static str,
}

impl ParseMoveError {
    /// Quotes at most 20 characters of the token, with control characters made visible.
    pub(crate) fn new(token: &str, fault: &'static str) -> Self {
        Self { token: printable(token), fault }
    }
}

/// At most 20 characters of foreign text on one line.
pub(crate) fn printable(text: &str) -> String {
    let mut short: String = text.chars().take(20).flat_map(char::escape_debug).collect();
    if text.chars().nth(20).is_some() {
        short.push_str("...");
    }
    short
}

/// Column and row, both 0..=8, of a file letter and a rank digit.
pub(crate) fn coordinates(file: u8, rank: u8) -> Option<(u8, u8)> {
    let column = file.checked_sub(b'a').filter(|&column| column < 9)?;
    let row = rank.checked_sub(b'1').filter(|&row| row < 9)?;
    Some((column, row))
}

/// The letter of a wall's orientation.
pub(crate) const fn letter(orientation: Orientation) -> char {
    match orientation {
        Orientation::Horizontal => 'h',
        Orientation::Vertical => 'v',
    }
}

/// The orientation of a wall's letter.
pub(crate) fn orientation(letter: u8) -> Option<Orientation> {
    match letter {
        b'h' => Some(Orientation::Horizontal),
        b'v' => Some(Orientation::Vertical),
        _ => None,
    }
}

impl FromStr for Square {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let &[file, rank] = text.as_bytes() else {
            return Err(ParseMoveError::new(text, "a square is a file a..i and a rank 1..9"));
        };
        coordinates(file, rank)
            .and_then(|(column, row)| Self::new(column, row))
            .ok_or_else(|| ParseMoveError::new(text, "a square is a file a..i and a rank 1..9"))
    }
}

impl FromStr for Wall {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let &[file, rank, letter] = text.as_bytes() else {
            return Err(ParseMoveError::new(text, "a wall is a square a1..h8 and 'h' or 'v'"));
        };
        let (column, row) = coordinates(file, rank)
            .ok_or_else(|| ParseMoveError::new(text, "a wall is a square a1..h8 and 'h' or 'v'"))?;
        let orientation =
            orientation(letter).ok_or_else(|| ParseMoveError::new(text, "a wall ends in 'h' or 'v'"))?;
        let off_board = match row {
            8 => "walls run from a1 to h8; one on rank 9 proves another notation (nw or qtp)",
            _ => "walls run from a1 to h8",
        };
        Self::new(orientation, column, row).ok_or_else(|| ParseMoveError::new(text, off_board))
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.len() {
            2 => text.parse().map(Self::pawn),
            3 => text.parse().map(Self::wall),
            _ => Err(ParseMoveError::new(text, "a move is a square (e2) or a wall (e3h)")),
        }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.column()), self.row() + 1)
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.anchor(), letter(self.orientation()))
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.target(), self.as_wall()) {
            (_, Some(wall)) => wall.fmt(f),
            (Some(target), None) => target.fmt(f),
            (None, None) => Err(fmt::Error),
        }
    }
}
