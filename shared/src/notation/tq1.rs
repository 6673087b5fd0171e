//! `tq1`: replay codes, a head `tq1#{json}` and then moves as in `man`, walls also as in `prefix`.
//!
//! The head says nothing about the moves and is dropped; written codes carry an empty one.

use super::move_text::{self, Grammar};
use super::{Notation, ParseMoveError, ParseMovesError, prefix};
use crate::board::Move;

pub(super) const GRAMMAR: Grammar = Grammar {
    read: |word, _| Ok((read(word)?, false)),
    write: |mv| mv.to_string(),
    // `e2he3` could be two walls or a step and a wall: with both forms allowed, words stay apart.
    run_together: None,
    preamble: move_text::no_preamble,
};

const HEAD: &str = "tq1#";

fn read(word: &str) -> Result<Move, ParseMoveError> {
    match *word.as_bytes() {
        [letter @ (b'h' | b'v'), file @ b'a'..=b'z', rank] => {
            prefix::wall(word, letter, file, rank).map(Move::wall)
        }
        _ => word.parse(),
    }
}

/// The moves behind the head. A text without any head is taken as it is.
pub(super) fn strip_head(text: &str) -> Result<&str, ParseMovesError> {
    let fault = |fault| ParseMovesError::Frame { notation: Notation::Tq1, fault };
    let Some(json) = text.trim_start().strip_prefix(HEAD) else {
        return Ok(text);
    };
    if !json.starts_with('{') {
        return Err(fault("after 'tq1#' comes an object in braces"));
    }
    let end = end_of_object(json).ok_or_else(|| fault("the braces of the head are not closed"))?;
    Ok(&json[end..])
}

/// Moves behind an empty head.
pub(super) fn with_head(moves: &str) -> String {
    if moves.is_empty() { format!("{HEAD}{{}}") } else { format!("{HEAD}{{}} {moves}") }
}

/// Length in bytes of the JSON object at the start of the text: braces balance, those in strings do not count.
fn end_of_object(json: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for (index, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}
