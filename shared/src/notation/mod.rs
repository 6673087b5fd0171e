//! Notations: how squares, walls, moves and positions are written. One file a notation.
//!
//! Inside Corridor everything is [`man`](Notation::Man). The other notations are read and written at the edges, and
//! **never guessed**: a game written in one anchor is often legal when misread in another, so the caller names the
//! notation. What a notation cannot contain (a wall on rank 9 in `man`, one on rank 1 in `nw`) is refused.
//!
//! ```
//! use corridor_shared::notation::{Notation, format_moves, parse_moves};
//!
//! let moves = parse_moves(Notation::Flip, "e8 e2 c3h")?;
//! assert_eq!(format_moves(Notation::Man, &moves)?, "e2 e8 c6h");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod flip;
mod game_lines;
mod man;
mod move_text;
mod nw;
mod position_text;
mod prefix;
pub mod qf;
mod qtp;
mod replay;
mod tq1;

use std::fmt;
use std::str::FromStr;

pub use game_lines::{Game, GameFault, GameResult, ParseGamesError, format_game, parse_games};
pub use man::ParseMoveError;
pub use position_text::ParsePositionError;
pub use qf::ParseStateError;
pub use replay::{PlyError, replay, replay_all};

use crate::board::Move;

/// The longest move text that is read, in bytes; real games stay below 10,000.
pub const MAX_MOVES_BYTES: usize = 256 * 1024;

/// The longest game that is read, in plies.
pub const MAX_PLIES: usize = 4096;

/// A way of writing moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Notation {
    /// Ours: `e2`, `e3h`; walls by the touched square nearest a1.
    Man,
    /// Walls by their upper left square, ranks 2..9.
    Nw,
    /// `man` seen from the other end: the first mover starts on e9.
    Flip,
    /// As `man`, orientation first: `he3`.
    Prefix,
    /// A text protocol: anchors as [`Self::Nw`], orientation as a token of its own: `e4 h`.
    Qtp,
    /// Replay codes: `tq1#{json} e2 e8 ...`.
    Tq1,
    /// Base64 codes, six bits a character.
    Qf,
}

impl Notation {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Man, Self::Nw, Self::Flip, Self::Prefix, Self::Qtp, Self::Tq1, Self::Qf];

    /// The name by which a user declares it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Man => "man",
            Self::Nw => "nw",
            Self::Flip => "flip",
            Self::Prefix => "prefix",
            Self::Qtp => "qtp",
            Self::Tq1 => "tq1",
            Self::Qf => "qf",
        }
    }

    /// What it looks like, in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Man => "e2, e3h: walls by the square nearest a1",
            Self::Nw => "walls by their upper left square",
            Self::Flip => "seen from the other end: the first mover starts on e9",
            Self::Prefix => "he3: orientation first",
            Self::Qtp => "text protocol: e4 h",
            Self::Tq1 => "replay code, tq1#...",
            Self::Qf => "base64 code",
        }
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no notation's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a notation; there are man, nw, flip, prefix, qtp, tq1 and qf")]
pub struct UnknownNotation(
    /// The name, cut to a printable length.
    pub String,
);

impl FromStr for Notation {
    type Err = UnknownNotation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|notation| notation.name() == text)
            .ok_or_else(|| UnknownNotation(man::printable(text)))
    }
}

/// Why a text is not a list of moves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseMovesError {
    /// Longer than [`MAX_MOVES_BYTES`].
    #[error("the move text has {0} bytes, more than {MAX_MOVES_BYTES}")]
    TooLong(usize),
    /// More moves than [`MAX_PLIES`].
    #[error("the game has more than {MAX_PLIES} plies")]
    TooManyPlies,
    /// A token that is no move.
    #[error("ply {ply}: {error}")]
    Token {
        /// Which ply it would have been, from 1.
        ply: usize,
        /// The token and what is wrong with it.
        error: ParseMoveError,
    },
    /// A move that does not fit the game, where reading needs the game.
    #[error(transparent)]
    Illegal(#[from] PlyError),
    /// The code or head round the moves.
    #[error("not {notation}: {fault}")]
    Frame {
        /// The declared notation.
        notation: Notation,
        /// What is wrong.
        fault: &'static str,
    },
}

/// Why moves cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatMovesError {
    /// A move that does not fit the game, where writing needs the game.
    #[error(transparent)]
    Illegal(#[from] PlyError),
    /// The notation has no room for so many.
    #[error("{notation} holds at most {limit} plies, not {plies}")]
    TooManyPlies {
        /// The notation asked for.
        notation: Notation,
        /// Its limit.
        limit: usize,
        /// How many there are.
        plies: usize,
    },
}

/// Reads moves from the start of a game, in a declared notation.
///
/// Between the moves there may be any white space, move numbers (`1. e2 e8 2. ...`, with or without spaces; they have to
/// count up), a result at the end, and the words `GAME` before and `RESULT W` after. The moves need not be legal, except
/// in [`Notation::Qf`], whose directions only a game can resolve; see [`replay`].
///
/// # Errors
/// Names the first ply that does not read, and why.
pub fn parse_moves(notation: Notation, text: &str) -> Result<Vec<Move>, ParseMovesError> {
    if text.len() > MAX_MOVES_BYTES {
        return Err(ParseMovesError::TooLong(text.len()));
    }
    match notation {
        Notation::Qf => qf::parse_record(text),
        Notation::Tq1 => move_text::parse(&tq1::GRAMMAR, tq1::strip_head(text)?),
        _ => move_text::parse(grammar(notation), text),
    }
}

/// Writes moves, played from the start of a game, separated by single spaces.
///
/// # Errors
/// Only [`Notation::Qf`] can fail: it has room for 1,023 plies and needs the moves to be legal.
pub fn format_moves(notation: Notation, moves: &[Move]) -> Result<String, FormatMovesError> {
    match notation {
        Notation::Qf => qf::format_record(moves),
        Notation::Tq1 => Ok(tq1::with_head(&move_text::format(&tq1::GRAMMAR, moves))),
        _ => Ok(move_text::format(grammar(notation), moves)),
    }
}

/// How the moves of a notation that is text look.
const fn grammar(notation: Notation) -> &'static move_text::Grammar {
    match notation {
        Notation::Man | Notation::Qf => &man::GRAMMAR,
        Notation::Nw => &nw::GRAMMAR,
        Notation::Flip => &flip::GRAMMAR,
        Notation::Prefix => &prefix::GRAMMAR,
        Notation::Qtp => &qtp::GRAMMAR,
        Notation::Tq1 => &tq1::GRAMMAR,
    }
}
