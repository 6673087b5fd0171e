//! The static evaluation, behind one interface.
//!
//! The search hands over the position and both distances, which it keeps up as it goes; an evaluation answers in
//! centi-squares from the side to move, within ±[`MAX_EVAL_CM`]. Heat is never part of it.

use crate::board::Position;
use crate::score::Score;

/// No static evaluation is beyond this, so that it can never be mistaken for a win.
pub const MAX_EVAL_CM: Score = 20_000;

/// What an evaluation may look at, gathered by the search.
#[derive(Copy, Clone, Debug)]
pub struct EvalInput<'p> {
    /// The position. Not finished.
    pub position: &'p Position,
    /// Steps to the goal row of the side to move, then of its opponent.
    pub distance: [u8; 2],
    /// How many squares all shortest routes of a side share, in the same order.
    pub forced_steps: [u8; 2],
}

impl<'p> EvalInput<'p> {
    /// From a position alone.
    #[must_use]
    pub fn of(position: &'p Position) -> Self {
        let own = position.turn();
        let routes = [own, !own].map(|color| {
            position.passages.shortest_route(position.pawn(color), color.goal_mask()).unwrap_or_default()
        });
        Self { position, distance: routes.map(|r| r.distance), forced_steps: routes.map(|r| r.forced) }
    }
}

/// A static evaluation.
pub trait Evaluation {
    /// The score of the side to move in cm, within ±[`MAX_EVAL_CM`].
    fn evaluate(&self, input: &EvalInput<'_>) -> Score;

    /// What the side to move gives up, in cm, with one of its `in_hand` walls (1..=10).
    fn wall_cost(&self, in_hand: u8) -> Score;
}

/// The hand-made evaluation: distances, walls in hand, tempo, bottlenecks.
#[derive(Copy, Clone, Debug, Default)]
pub struct HandMade;

/// Being on move, in cm.
const TEMPO_CM: Score = 30;
/// A step of difference between the shortest routes, in cm.
const STEP_CM: Score = 100;
/// The worth of n walls in hand, in cm: each further one is worth less.
const WALLS_CM: [Score; 11] = [0, 150, 380, 595, 765, 930, 1_080, 1_190, 1_285, 1_350, 1_395];
/// A step of one's shortest route that has no equal alternative, in cm, for each wall the opponent holds (up to five).
const FORCED_STEP_CM: Score = 1;

impl Evaluation for HandMade {
    #[inline]
    fn evaluate(&self, input: &EvalInput<'_>) -> Score {
        let position = input.position;
        let (own, other) = (position.turn(), !position.turn());
        let [own_walls, other_walls] = [own, other].map(|color| usize::from(position.walls_in_hand(color)));
        let [own_distance, other_distance] = input.distance.map(Score::from);
        let [own_forced, other_forced] = input.forced_steps.map(Score::from);
        let threat =
            |forced: Score, walls: usize| forced * FORCED_STEP_CM * Score::from(position_count(walls));
        TEMPO_CM + STEP_CM * (other_distance - own_distance) + WALLS_CM[own_walls] - WALLS_CM[other_walls]
            + threat(other_forced, own_walls)
            - threat(own_forced, other_walls)
    }

    #[inline]
    fn wall_cost(&self, in_hand: u8) -> Score {
        let in_hand = usize::from(in_hand.clamp(1, 10));
        WALLS_CM[in_hand] - WALLS_CM[in_hand - 1]
    }
}

/// Walls that count for a threat: five at most.
fn position_count(walls: usize) -> u8 {
    u8::try_from(walls.min(5)).unwrap_or(5)
}
