//! Position text: `HWALLS / VWALLS / WHITE BLACK / WHITEWALLS BLACKWALLS / TURN`.
//!
//! Walls are bare squares run together; TURN 1 is White, 2 is Black. Printed in canonical order (by file, then rank), an
//! empty list as nothing between single spaces; read in any order and spacing.

use std::fmt;
use std::str::FromStr;

use super::man::{self, printable};
use crate::board::{Color, InvalidPosition, Orientation, Position, Square, Wall};

/// Why a text is not a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParsePositionError {
    /// Not five parts.
    #[error("a position has 5 parts separated by '/', not {0}")]
    Parts(usize),
    /// A part that does not read.
    #[error("{field} '{text}': {fault}")]
    Field {
        /// Which part.
        field: &'static str,
        /// What stands there, cut to a printable length.
        text: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// It reads, and is no position of the game.
    #[error(transparent)]
    Invalid(#[from] InvalidPosition),
}

fn fault(field: &'static str, text: &str, fault: &'static str) -> ParsePositionError {
    ParsePositionError::Field { field, text: printable(text.trim()), fault }
}

/// Bare squares run together (or spaced), as walls.
fn walls(
    field: &'static str,
    text: &str,
    orientation: Orientation,
    into: &mut Vec<Wall>,
) -> Result<(), ParsePositionError> {
    let squares: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    // More than twenty walls cannot be right: stop before reading megabytes of them.
    if squares.len() > 2 * 64 {
        return Err(fault(field, text, "more walls than slots"));
    }
    for pair in squares.chunks(2) {
        let wall = match *pair {
            [file, rank] => {
                man::coordinates(file, rank).and_then(|(column, row)| Wall::new(orientation, column, row))
            }
            _ => None,
        };
        into.push(wall.ok_or_else(|| fault(field, text, "walls are squares a1..h8 run together"))?);
    }
    Ok(())
}

/// Exactly two words.
fn two_words<'t>(
    field: &'static str,
    text: &'t str,
    expected: &'static str,
) -> Result<[&'t str; 2], ParsePositionError> {
    let mut words = text.split_ascii_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(first), Some(second), None) => Ok([first, second]),
        _ => Err(fault(field, text, expected)),
    }
}

impl FromStr for Position {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let count = text.split('/').count();
        let mut parts = text.split('/');
        let (Some(h), Some(v), Some(pawns), Some(in_hand), Some(turn), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(ParsePositionError::Parts(count));
        };
        let mut standing = Vec::new();
        walls("horizontal walls", h, Orientation::Horizontal, &mut standing)?;
        walls("vertical walls", v, Orientation::Vertical, &mut standing)?;
        let pawns = two_words("pawns", pawns, "White's square and Black's square are wanted")?;
        let square = |text: &str| text.parse::<Square>().map_err(|error| fault("pawns", text, error.fault));
        let in_hand = two_words("walls left", in_hand, "White's count and Black's count are wanted")?;
        let number = |text: &str| {
            text.parse::<u8>().map_err(|_| fault("walls left", text, "a count is a number from 0 to 10"))
        };
        let turn = match turn.trim() {
            "1" => Color::White,
            "2" => Color::Black,
            other => return Err(fault("turn", other, "1 is White, 2 is Black")),
        };
        let pawns = [square(pawns[0])?, square(pawns[1])?];
        let in_hand = [number(in_hand[0])?, number(in_hand[1])?];
        Ok(Self::from_parts(&standing, pawns, in_hand, turn)?)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for orientation in Orientation::BOTH {
            for wall in self.walls().filter(|wall| wall.orientation() == orientation) {
                write!(f, "{}", wall.anchor())?;
            }
            // An empty first list leaves "/ ...": nothing between single spaces.
            let written = self.wall_slots(orientation) != 0;
            f.write_str(if written { " / " } else { "/ " })?;
        }
        write!(
            f,
            "{} {} / {} {} / {}",
            self.pawn(Color::White),
            self.pawn(Color::Black),
            self.walls_in_hand(Color::White),
            self.walls_in_hand(Color::Black),
            self.turn().index() + 1,
        )
    }
}
