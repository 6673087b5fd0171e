//! What a thread remembers about moves: which ones cut before.

use crate::board::{Color, Move};

/// The largest history score.
const MAX_HISTORY: i32 = 8_192;

/// Cut statistics by side and move, and the move that last refuted each move.
pub(super) struct History {
    butterfly: [[i32; Move::COUNT]; 2],
    counter: [[Option<Move>; Move::COUNT]; 2],
}

impl History {
    pub(super) fn new() -> Self {
        Self { butterfly: [[0; Move::COUNT]; 2], counter: [[None; Move::COUNT]; 2] }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Halves what was learned, for a search of another position.
    pub(super) fn age(&mut self) {
        for score in self.butterfly.iter_mut().flatten() {
            *score /= 2;
        }
    }

    /// How often a move cut, -8,192..=8,192.
    #[inline(always)]
    pub(super) fn score(&self, side: Color, mv: Move) -> i32 {
        self.butterfly[side.index()][usize::from(mv.index())]
    }

    /// The move that last refuted `previous`, for the side now to move.
    #[inline(always)]
    pub(super) fn counter_move(&self, side: Color, previous: Option<Move>) -> Option<Move> {
        previous.and_then(|previous| self.counter[side.index()][usize::from(previous.index())])
    }

    /// Records a cut by `mv` and the moves tried before it in vain.
    pub(super) fn reward(
        &mut self,
        side: Color,
        mv: Move,
        tried: &[Move],
        previous: Option<Move>,
        depth: i32,
    ) {
        let bonus = (16 * depth * depth).min(1_600);
        self.add(side, mv, bonus);
        for &other in tried {
            self.add(side, other, -bonus);
        }
        if let Some(previous) = previous {
            self.counter[side.index()][usize::from(previous.index())] = Some(mv);
        }
    }

    /// Moves towards the bonus the slower, the closer the score already is.
    #[inline(always)]
    fn add(&mut self, side: Color, mv: Move, bonus: i32) {
        let score = &mut self.butterfly[side.index()][usize::from(mv.index())];
        *score += bonus - *score * bonus.abs() / MAX_HISTORY;
    }
}
