//! Scores: centi-squares or a proven win in N plies, from the side to move inside the engine and from White's view
//! everywhere else.

use crate::board::Color;

/// A score from the side to move, in centi-squares (cm); 100 is about one step. Beyond ±[`MAX_CM`] it is a proven win or
/// loss, `WIN - plies` or `plies - WIN`.
pub type Score = i32;

/// A win on the spot. A win in N plies is `WIN - N`.
pub const WIN: Score = 32_000;
/// The largest score that is no proven win. What an unproven win is capped to.
pub const MAX_CM: Score = 30_000;
/// Beyond every score.
pub const INFINITE: Score = 32_500;
/// A draw: by repetition inside a search, or in a pawn race that neither side can force.
pub const DRAW: Score = 0;

/// The score of the side to move that wins in so many plies (0 or more, at most 1,900).
#[inline]
#[must_use]
pub fn win_in(plies: u16) -> Score {
    WIN - Score::from(plies)
}

/// The plies to a proven win of either side, or `None` for a score in cm.
#[inline]
#[must_use]
pub fn plies_to_win(score: Score) -> Option<u16> {
    if score.abs() > MAX_CM { u16::try_from(WIN - score.abs()).ok() } else { None }
}

/// Whether a score bounds the true value.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Bound {
    /// The true value is at most this.
    Upper = 1,
    /// The true value is at least this.
    Lower = 2,
    /// This is the value.
    Exact = 3,
}

impl Bound {
    /// `exact`, `lower` or `upper`, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Exact => "exact",
        }
    }

    /// The bound that a value of `score` is, found with a window of `alpha`..`beta` (fail-soft).
    #[must_use]
    pub const fn of(score: Score, alpha: Score, beta: Score) -> Self {
        if score <= alpha {
            Self::Upper
        } else if score >= beta {
            Self::Lower
        } else {
            Self::Exact
        }
    }
}

impl std::ops::Neg for Bound {
    type Output = Self;

    /// The same bound from the other side.
    fn neg(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
            Self::Exact => Self::Exact,
        }
    }
}

impl Bound {
    /// A bound of the side to move, as a bound of the score from White's view.
    #[must_use]
    pub fn from_white(self, side_to_move: Color) -> Self {
        if side_to_move == Color::White { self } else { -self }
    }
}

/// A score from White's view, as it leaves the engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum WhiteScore {
    /// Centi-squares, positive when White is better; within ±[`MAX_CM`].
    Cm(i32),
    /// White provably wins in at most so many plies.
    WhiteWinsIn(u16),
    /// Black provably wins in at most so many plies.
    BlackWinsIn(u16),
}

impl WhiteScore {
    /// From a score of the side to move.
    #[must_use]
    pub fn from_engine(score: Score, side_to_move: Color) -> Self {
        let white = if side_to_move == Color::White { score } else { -score };
        match plies_to_win(white) {
            None => Self::Cm(white),
            Some(plies) if white > 0 => Self::WhiteWinsIn(plies),
            Some(plies) => Self::BlackWinsIn(plies),
        }
    }

    /// Back to a score of the side to move.
    #[must_use]
    pub fn to_engine(self, side_to_move: Color) -> Score {
        let white = match self {
            Self::Cm(cm) => cm.clamp(-MAX_CM, MAX_CM),
            Self::WhiteWinsIn(plies) => win_in(plies),
            Self::BlackWinsIn(plies) => -win_in(plies),
        };
        if side_to_move == Color::White { white } else { -white }
    }
}

impl std::fmt::Display for WhiteScore {
    /// `+1.20` in squares, `White wins in 9`, `Black wins in 16`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Cm(cm) => {
                let sign = if cm < 0 { '-' } else { '+' };
                write!(f, "{sign}{}.{:02}", cm.abs() / 100, cm.abs() % 100)
            }
            Self::WhiteWinsIn(plies) => write!(f, "White wins in {plies}"),
            Self::BlackWinsIn(plies) => write!(f, "Black wins in {plies}"),
        }
    }
}
