//! Move lists as text: words, move numbers, results, and moves written without spaces between them.
//!
//! What a single move looks like is the business of each notation's [`Grammar`]; everything round the moves is here.

use super::man::printable;
use super::{MAX_PLIES, ParseMoveError, ParseMovesError};
use crate::board::Move;

/// How one notation writes its moves.
pub(super) struct Grammar {
    /// Reads a move. Some notations need the next word too (`e4 h`): it is offered, and taken if the flag comes back set.
    pub(super) read: fn(word: &str, next: Option<&str>) -> ReadMove,
    /// Writes a move.
    pub(super) write: fn(Move) -> String,
    /// Where moves without spaces between them part; `None` if they cannot be told apart.
    pub(super) run_together: Option<RunTogether>,
    /// Words before a move that the notation allows, such as the name of the side that moves.
    pub(super) preamble: fn(word: &str, ply: usize) -> Result<bool, ParseMoveError>,
}

/// A move, and whether it took the next word.
pub(super) type ReadMove = Result<(Move, bool), ParseMoveError>;

/// Length in bytes of the move at the start of a word, judged by its shape and by how many plies came before it.
pub(super) type RunTogether = fn(&[u8], usize) -> Option<usize>;

/// For notations whose moves stand alone.
pub(super) fn no_preamble(_word: &str, _ply: usize) -> Result<bool, ParseMoveError> {
    Ok(false)
}

/// A result that may close a move list.
const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

/// Reads a whole move list.
pub(super) fn parse(grammar: &Grammar, text: &str) -> Result<Vec<Move>, ParseMovesError> {
    let mut reader = Reader { grammar, moves: Vec::new() };
    let words = game_words(text).map_err(|error| ParseMovesError::Token { ply: 1, error })?;
    let words = match words[..] {
        [ref moves @ .., result] if RESULTS.contains(&result) => moves,
        ref all => all,
    };
    let mut splitter = Splitter { grammar, pieces: Vec::new(), plies: 0 };
    for word in words {
        splitter.split(word);
    }
    let mut rest = splitter.pieces.into_iter().peekable();
    while let Some(piece) = rest.next() {
        let took_next = match piece {
            Piece::Number(digits, dots) => reader.number(digits, dots).map(|()| false),
            Piece::Word(word) => {
                let next = match rest.peek() {
                    Some(Piece::Word(next)) => Some(*next),
                    _ => None,
                };
                reader.word(word, next)
            }
        }?;
        if took_next {
            rest.next();
        }
    }
    Ok(reader.moves)
}

/// Writes moves separated by single spaces.
pub(super) fn format(grammar: &Grammar, moves: &[Move]) -> String {
    let words: Vec<String> = moves.iter().map(|&mv| (grammar.write)(mv)).collect();
    words.join(" ")
}

/// The words of one game, without `GAME` before them and `RESULT W` after them.
fn game_words(text: &str) -> Result<Vec<&str>, ParseMoveError> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.first() == Some(&"GAME") {
        words.remove(0);
    }
    if let [.., "RESULT", result] = words[..] {
        if super::GameResult::from_letter(result).is_none() {
            return Err(ParseMoveError::new(result, "a RESULT is W, B, D or *"));
        }
        words.truncate(words.len() - 2);
    }
    Ok(words)
}

/// A part of a word.
enum Piece<'t> {
    /// A move number: its digits and how many dots follow.
    Number(&'t str, usize),
    /// Anything else.
    Word(&'t str),
}

/// Parts words into move numbers and moves.
struct Splitter<'g, 't> {
    grammar: &'g Grammar,
    pieces: Vec<Piece<'t>>,
    /// How many words came so far. Where moves run together each is a ply; elsewhere nobody asks.
    plies: usize,
}

impl<'t> Splitter<'_, 't> {
    /// Parts a word. One that does not part cleanly stays whole, so that the error shows it.
    fn split(&mut self, word: &'t str) {
        let before = (self.pieces.len(), self.plies);
        let mut rest = word;
        while !rest.is_empty() {
            if let Some((digits, dots, after)) = move_number(rest) {
                self.pieces.push(Piece::Number(digits, dots));
                rest = after;
                continue;
            }
            let length = self.grammar.run_together.and_then(|length| length(rest.as_bytes(), self.plies));
            let Some((head, tail)) = length.and_then(|length| rest.split_at_checked(length)) else {
                // Behind a number the remainder is one move; behind a move the shape is wrong.
                if matches!(self.pieces[before.0..].last(), Some(Piece::Word(_))) {
                    self.pieces.truncate(before.0);
                    self.plies = before.1;
                    rest = word;
                }
                self.push_word(rest);
                return;
            };
            self.push_word(head);
            rest = tail;
        }
    }

    fn push_word(&mut self, word: &'t str) {
        self.pieces.push(Piece::Word(word));
        self.plies += 1;
    }
}

/// `12.` or `12...` at the start of a word: digits, dots, and what follows.
fn move_number(word: &str) -> Option<(&str, usize, &str)> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let dots = word.bytes().skip(digits).take_while(|&byte| byte == b'.').count();
    if digits + dots == 0 || dots == 0 {
        return None;
    }
    Some((&word[..digits], dots, &word[digits + dots..]))
}

/// Length of a square with an optional orientation behind it: `e2`, `e3h`.
///
/// An `h` may also start the next move (`e2h8`). Digits behind it decide: none, and it is an orientation; digits that are
/// a move number (`e3h2.`), and it is one too; otherwise it is a file. In `e3h12.` both `e3h 12.` and `e3 h1 2.` are
/// possible, and it counts that a move number stands before White's plies only.
pub(super) fn suffix_length(word: &[u8], plies_before: usize) -> Option<usize> {
    let &[b'a'..=b'i', b'1'..=b'9', ref rest @ ..] = word else {
        return None;
    };
    let after_h = match *rest {
        [b'v', ..] => return Some(3),
        [b'h', ref after_h @ ..] => after_h,
        _ => return Some(2),
    };
    let digits = after_h.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_orientation = match (digits, after_h.get(digits)) {
        (0, _) | (1, Some(b'.')) => true,
        (_, Some(b'.')) => plies_before % 2 == 1,
        _ => false,
    };
    Some(if is_orientation { 3 } else { 2 })
}

/// Length of a square with an optional orientation before it: `e2`, `he3`.
pub(super) fn prefix_length(word: &[u8], _plies_before: usize) -> Option<usize> {
    match *word {
        [b'h' | b'v', b'a'..=b'i', b'1'..=b'9', ..] => Some(3),
        [b'a'..=b'i', b'1'..=b'9', ..] => Some(2),
        _ => None,
    }
}

/// The state of reading one move list.
struct Reader<'g> {
    grammar: &'g Grammar,
    moves: Vec<Move>,
}

impl Reader<'_> {
    fn ply(&self) -> usize {
        self.moves.len() + 1
    }

    fn fault(&self, token: &str, fault: &'static str) -> ParseMovesError {
        ParseMovesError::Token { ply: self.ply(), error: ParseMoveError { token: printable(token), fault } }
    }

    /// Holds a move number against the plies so far: a gap means that moves are missing.
    fn number(&self, digits: &str, dots: usize) -> Result<(), ParseMovesError> {
        let plies = self.moves.len();
        let blacks = dots > 1;
        if digits.is_empty() {
            // `1. e2 ... e8`: dots alone say that Black moves.
            let placed = blacks && plies % 2 == 1;
            return if placed { Ok(()) } else { Err(self.fault("..", "dots stand before Black's moves")) };
        }
        // More digits than any game needs cannot be the right number either.
        let names_this_ply = digits.parse() == Ok(plies / 2 + 1) && blacks == (plies % 2 == 1);
        if names_this_ply { Ok(()) } else { Err(self.fault(digits, "this move number is out of order")) }
    }

    /// Takes a word; says whether the next one belonged to it.
    fn word(&mut self, word: &str, next: Option<&str>) -> Result<bool, ParseMovesError> {
        let ply = self.ply();
        let at_ply = |error| ParseMovesError::Token { ply, error };
        if (self.grammar.preamble)(word, ply).map_err(at_ply)? {
            return Ok(false);
        }
        let (mv, took_next) = (self.grammar.read)(word, next).map_err(at_ply)?;
        if self.moves.len() == MAX_PLIES {
            return Err(ParseMovesError::TooManyPlies);
        }
        self.moves.push(mv);
        Ok(took_next)
    }
}
