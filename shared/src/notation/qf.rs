//! `qf`: codes in standard base64, six bits a character, of a state or of a whole game (a record).
//!
//! Two flag bits (state, record) come first. A state knows who placed which wall, so it is read from a code or made from
//! a game, never from a bare position. A record names pawn moves by their direction, so it is read by playing it.

use super::man::{ParseMoveError, printable};
use super::{FormatMovesError, MAX_MOVES_BYTES, Notation, ParseMovesError, PlyError, replay_all};
use crate::board::{Color, InvalidPosition, Move, Orientation, Position, Square, Wall};

/// The most plies a record holds: its count has ten bits.
pub const MAX_RECORD_PLIES: usize = 1023;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Steps in columns and rows for the eight directions, north first, clockwise.
const DIRECTIONS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

const DIRECTION_NAMES: [&str; 8] =
    ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"];

/// The position of a `qf` code, with what only such a code knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Squares of White's and Black's pawn.
    pub pawns: [Square; 2],
    /// The walls of White and of Black, horizontal ones before vertical ones.
    pub walls: [Vec<Wall>; 2],
    /// Who moved last.
    pub last_mover: Color,
    /// The slot (0..=63) of the wall that the last move placed, if it placed one.
    pub last_wall: Option<u8>,
    /// The number of the turn to come, 1..=1023; odd: White to move.
    pub turn_number: u16,
}

/// Why a text is no state code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseStateError {
    /// The code itself is broken.
    #[error("not qf: {0}")]
    Code(&'static str),
    /// A character outside of base64.
    #[error("not qf: '{0}' is not a character of standard base64")]
    Character(String),
    /// More than ten walls of one side.
    #[error("{0} has placed {1} walls, more than 10")]
    TooManyWalls(Color, usize),
    /// It reads, and is no position of the game.
    #[error(transparent)]
    Invalid(#[from] InvalidPosition),
}

impl From<ParseStateError> for ParseMovesError {
    fn from(error: ParseStateError) -> Self {
        let fault = match error {
            ParseStateError::Code(fault) => fault,
            _ => "the code has characters outside of standard base64",
        };
        Self::Frame { notation: Notation::Qf, fault }
    }
}

/// Bits of a code, most significant first.
struct Bits {
    sextets: Vec<u8>,
    next: usize,
}

impl Bits {
    fn decode(code: &str) -> Result<Self, ParseStateError> {
        if code.len() > MAX_MOVES_BYTES {
            return Err(ParseStateError::Code("the code is too long"));
        }
        let mut sextets = Vec::with_capacity(code.len());
        for character in code.trim().trim_end_matches('=').chars() {
            let value = (0u8..64).find(|&value| char::from(ALPHABET[usize::from(value)]) == character);
            let value = value.ok_or_else(|| ParseStateError::Character(printable(&character.to_string())))?;
            sextets.push(value);
        }
        Ok(Self { sextets, next: 0 })
    }

    /// The next `count` (up to 16) bits as a number.
    fn take(&mut self, count: usize) -> Result<u16, ParseStateError> {
        let mut value = 0;
        for _ in 0..count {
            let sextet =
                self.sextets.get(self.next / 6).ok_or(ParseStateError::Code("the code ends early"))?;
            value = (value << 1) | u16::from((sextet >> (5 - self.next % 6)) & 1);
            self.next += 1;
        }
        Ok(value)
    }

    fn flag(&mut self) -> Result<bool, ParseStateError> {
        Ok(self.take(1)? == 1)
    }

    fn square(&mut self) -> Result<Square, ParseStateError> {
        u8::try_from(self.take(7)?)
            .ok()
            .and_then(Square::from_index)
            .ok_or(ParseStateError::Code("a pawn stands outside of the board"))
    }

    fn slot(&mut self) -> Result<u8, ParseStateError> {
        u8::try_from(self.take(6)?).map_err(|_| ParseStateError::Code("a wall stands outside of the board"))
    }

    /// What is left has to be padding: zeros, less than three characters of them.
    fn finish(mut self) -> Result<(), ParseStateError> {
        let left = self.sextets.len() * 6 - self.next;
        let clean = left < 18 && self.take(left)? == 0;
        if clean { Ok(()) } else { Err(ParseStateError::Code("the code goes on after its end")) }
    }
}

/// Bits on their way into a code.
#[derive(Default)]
struct Writer {
    code: String,
    pending: u8,
    bits: usize,
}

impl Writer {
    /// Appends the lowest `count` bits of a number.
    fn put(&mut self, value: u16, count: usize) {
        for bit in (0..count).rev() {
            self.pending = (self.pending << 1) | u8::from((value >> bit) & 1 == 1);
            self.bits += 1;
            if self.bits.is_multiple_of(6) {
                self.code.push(char::from(ALPHABET[usize::from(self.pending)]));
                self.pending = 0;
            }
        }
    }

    fn finish(mut self) -> String {
        while !self.bits.is_multiple_of(6) {
            self.put(0, 1);
        }
        self.code
    }
}

impl State {
    /// Reads a state code.
    ///
    /// # Errors
    /// Says what is wrong with the code, or why it is no position of the game.
    pub fn decode(code: &str) -> Result<Self, ParseStateError> {
        let mut bits = Bits::decode(code)?;
        match (bits.flag()?, bits.flag()?) {
            (true, false) => {}
            (false, true) => {
                return Err(ParseStateError::Code("the code holds a record of moves, not a state"));
            }
            (true, true) => {
                return Err(ParseStateError::Code(
                    "the code holds a state and a record; one of them is wanted",
                ));
            }
            (false, false) => return Err(ParseStateError::Code("the code is neither a state nor a record")),
        }
        let pawns = [bits.square()?, bits.square()?];
        let mut walls = [Vec::new(), Vec::new()];
        for (color, side) in Color::BOTH.into_iter().zip(&mut walls) {
            for orientation in Orientation::BOTH {
                for _ in 0..bits.take(4)? {
                    side.extend(Wall::from_slot(orientation, bits.slot()?));
                }
            }
            if side.len() > 10 {
                return Err(ParseStateError::TooManyWalls(color, side.len()));
            }
        }
        let last_mover = if bits.flag()? { Color::Black } else { Color::White };
        let last_wall = if bits.flag()? { Some(bits.slot()?) } else { None };
        let turn_number = bits.take(10)?;
        bits.finish()?;
        let state = Self { pawns, walls, last_mover, last_wall, turn_number };
        state.check()?;
        Ok(state)
    }

    /// The state after moves from the start of a game.
    ///
    /// # Errors
    /// Names the first illegal ply; a code has room for 1,022 plies.
    pub fn after(moves: &[Move]) -> Result<Self, FormatMovesError> {
        let too_many = FormatMovesError::TooManyPlies {
            notation: Notation::Qf,
            limit: MAX_RECORD_PLIES - 1,
            plies: moves.len(),
        };
        let turn_number = u16::try_from(moves.len() + 1).map_err(|_| too_many.clone())?;
        if usize::from(turn_number) > MAX_RECORD_PLIES {
            return Err(too_many);
        }
        let end = super::replay(&Position::start(), moves)?;
        let mut walls = [Vec::new(), Vec::new()];
        for (ply, mv) in moves.iter().enumerate() {
            walls[ply % 2].extend(mv.as_wall());
        }
        for side in &mut walls {
            side.sort_unstable();
        }
        Ok(Self {
            pawns: Color::BOTH.map(|color| end.pawn(color)),
            walls,
            last_mover: !end.turn(),
            last_wall: moves.last().and_then(|mv| mv.as_wall()).map(Wall::slot),
            turn_number,
        })
    }

    /// The code of the state.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut writer = Writer::default();
        writer.put(0b10, 2);
        for pawn in self.pawns {
            writer.put(u16::from(pawn.index()), 7);
        }
        for side in &self.walls {
            for orientation in Orientation::BOTH {
                let slots: Vec<u8> = side
                    .iter()
                    .filter(|wall| wall.orientation() == orientation)
                    .map(|wall| wall.slot())
                    .collect();
                // At most ten by construction; the count has four bits.
                writer.put(u16::try_from(slots.len()).unwrap_or(15), 4);
                for slot in slots {
                    writer.put(u16::from(slot), 6);
                }
            }
        }
        writer.put(u16::from(self.last_mover == Color::Black), 1);
        writer.put(u16::from(self.last_wall.is_some()), 1);
        if let Some(slot) = self.last_wall {
            writer.put(u16::from(slot), 6);
        }
        writer.put(self.turn_number, 10);
        writer.finish()
    }

    /// The side to move.
    #[must_use]
    pub const fn turn(&self) -> Color {
        if self.turn_number % 2 == 1 { Color::White } else { Color::Black }
    }

    /// The position, without who placed what.
    ///
    /// # Errors
    /// Says why the parts make no position of the game.
    pub fn position(&self) -> Result<Position, InvalidPosition> {
        let standing = self.walls.concat();
        let in_hand = [&self.walls[0], &self.walls[1]]
            .map(|side| 10u8.saturating_sub(u8::try_from(side.len()).unwrap_or(u8::MAX)));
        Position::from_parts(&standing, self.pawns, in_hand, self.turn())
    }

    /// Whether the parts agree with each other and with the rules.
    fn check(&self) -> Result<(), ParseStateError> {
        self.position()?;
        if self.turn_number == 0 {
            return Err(ParseStateError::Code("turns are counted from 1"));
        }
        // Before the first move nobody has moved, whatever the bit says.
        if self.turn_number > 1 && self.last_mover == self.turn() {
            return Err(ParseStateError::Code("the last mover and the number of the turn disagree"));
        }
        let stands = |slot| self.walls[self.last_mover.index()].iter().any(|wall| wall.slot() == slot);
        if self.last_wall.is_some_and(|slot| !stands(slot)) {
            return Err(ParseStateError::Code("the last wall does not stand"));
        }
        Ok(())
    }
}

/// Whether a code says that it holds a state, and so no record of moves; what is in it may still be broken.
#[must_use]
pub fn is_state(code: &str) -> bool {
    let Ok(mut bits) = Bits::decode(code) else { return false };
    matches!((bits.flag(), bits.flag()), (Ok(true), Ok(false)))
}

/// Reads a record, playing it from the start.
pub(super) fn parse_record(code: &str) -> Result<Vec<Move>, ParseMovesError> {
    if code.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut bits = Bits::decode(code)?;
    match (bits.flag()?, bits.flag()?) {
        (false, true) => {}
        (true, _) => {
            return Err(ParseStateError::Code("the code holds a state, not a record of moves").into());
        }
        (false, false) => {
            return Err(ParseStateError::Code("the code is neither a state nor a record").into());
        }
    }
    let count = usize::from(bits.take(10)?);
    let mut position = Position::start();
    let mut moves = Vec::with_capacity(count);
    for ply in 1..=count {
        let mv = if bits.flag()? { wall_move(&mut bits)? } else { pawn_move(&mut bits, &position, ply)? };
        position = position.play(mv).map_err(|fault| PlyError { ply, mv, fault })?;
        moves.push(mv);
    }
    bits.finish()?;
    Ok(moves)
}

fn wall_move(bits: &mut Bits) -> Result<Move, ParseStateError> {
    let orientation = if bits.flag()? { Orientation::Vertical } else { Orientation::Horizontal };
    Wall::from_slot(orientation, bits.slot()?)
        .map(Move::wall)
        .ok_or(ParseStateError::Code("a wall stands outside of the board"))
}

/// A pawn move by its direction: a step, or over the opponent if he stands there.
fn pawn_move(bits: &mut Bits, position: &Position, ply: usize) -> Result<Move, ParseMovesError> {
    let direction = usize::from(bits.take(3)?);
    let own = position.pawn(position.turn());
    let step = neighbour(own, direction);
    let landing = match step {
        Some(square) if square == position.pawn(!position.turn()) => neighbour(square, direction),
        other => other,
    };
    landing.map(Move::pawn).ok_or_else(|| ParseMovesError::Token {
        ply,
        error: ParseMoveError::new(DIRECTION_NAMES[direction], "the pawn would leave the board"),
    })
}

fn neighbour(square: Square, direction: usize) -> Option<Square> {
    let (columns, rows) = DIRECTIONS[direction];
    Square::new(square.column().checked_add_signed(columns)?, square.row().checked_add_signed(rows)?)
}

/// Writes a record.
pub(super) fn format_record(moves: &[Move]) -> Result<String, FormatMovesError> {
    let too_many = || FormatMovesError::TooManyPlies {
        notation: Notation::Qf,
        limit: MAX_RECORD_PLIES,
        plies: moves.len(),
    };
    let count = u16::try_from(moves.len()).map_err(|_| too_many())?;
    if moves.len() > MAX_RECORD_PLIES {
        return Err(too_many());
    }
    let positions = replay_all(&Position::start(), moves)?;
    let mut writer = Writer::default();
    writer.put(0b01, 2);
    writer.put(count, 10);
    for (mv, position) in moves.iter().zip(&positions) {
        match (mv.as_wall(), mv.target()) {
            (Some(wall), _) => {
                writer.put(1, 1);
                writer.put(u16::from(wall.orientation() == Orientation::Vertical), 1);
                writer.put(u16::from(wall.slot()), 6);
            }
            (None, Some(target)) => {
                writer.put(0, 1);
                writer.put(direction_of(position.pawn(position.turn()), target), 3);
            }
            (None, None) => {}
        }
    }
    Ok(writer.finish())
}

/// The direction, 0..=7, from one square towards another.
fn direction_of(from: Square, to: Square) -> u16 {
    let towards = (to.column().cmp(&from.column()) as i8, to.row().cmp(&from.row()) as i8);
    // A legal move never stays where it is, so one of the eight fits.
    let direction = DIRECTIONS.iter().position(|&direction| direction == towards).unwrap_or(0);
    u16::try_from(direction).unwrap_or(0)
}
