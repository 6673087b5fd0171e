//! The static evaluation, behind one interface.
//!
//! The search hands over the position and both distances, which it keeps up as it goes; an evaluation answers in
//! centi-squares from the side to move, within ±[`MAX_EVAL_CM`]. Heat is never part of it.

use crate::board::Position;
use crate::score::Score;

/// No static evaluation is beyond this, so that it can never be mistaken for a win.
pub const MAX_EVAL_CM: Score = 20_000;

/// What an evaluation may look at, gathered by the search. Arrays hold the side to move first, then its opponent. The search
/// also asks about changed distances and walls, to see what a move could gain before it plays it.
#[derive(Copy, Clone, Debug)]
pub struct EvalInput<'p> {
    /// The position. Not finished.
    pub position: &'p Position,
    /// Steps to the goal row.
    pub distance: [u8; 2],
    /// Walls in hand, 0..=10.
    pub walls_in_hand: [u8; 2],
}

impl<'p> EvalInput<'p> {
    /// From a position alone.
    #[must_use]
    pub fn of(position: &'p Position) -> Self {
        let own = position.turn();
        Self {
            position,
            distance: [own, !own].map(|color| position.distance(color).unwrap_or(0)),
            walls_in_hand: [own, !own].map(|color| position.walls_in_hand(color)),
        }
    }
}

/// A static evaluation.
pub trait Evaluation {
    /// The score of the side to move in cm, within ±[`MAX_EVAL_CM`].
    fn evaluate(&self, input: &EvalInput<'_>) -> Score;
}

/// The hand-made evaluation: distances, weighted by how many walls can still change them, nearness to the goal, walls in
/// hand and tempo. Its numbers are fitted on self-play (`docs/performance.md` says how, and what did not help).
#[derive(Copy, Clone, Debug, Default)]
pub struct HandMade;

/// Being on move, in cm.
const TEMPO_CM: Score = 22;

/// A step of difference between the shortest routes, in cm, by the walls that both sides together have in hand: the more
/// walls, the less a lead means.
const STEP_CM: [Score; 21] =
    [145, 143, 115, 100, 95, 90, 87, 80, 68, 60, 54, 38, 24, 14, 8, 5, 5, 5, 8, 10, 10];

/// The worth of n walls in hand, in cm: each further one is worth less.
const WALLS_CM: [Score; 11] = [0, 300, 600, 785, 995, 1_135, 1_240, 1_340, 1_412, 1_474, 1_544];

/// The worth of being n steps from the goal, in cm: `2400 / (n + 1)`.
const NEARNESS_CM: Score = 2_400;

impl Evaluation for HandMade {
    #[inline]
    fn evaluate(&self, input: &EvalInput<'_>) -> Score {
        let [own_walls, other_walls] = input.walls_in_hand.map(usize::from);
        let [own_distance, other_distance] = input.distance.map(Score::from);
        let step = STEP_CM[(own_walls + other_walls).min(STEP_CM.len() - 1)];
        let nearness = |distance: Score| NEARNESS_CM / (distance + 1);
        TEMPO_CM + step * (other_distance - own_distance) + nearness(own_distance) - nearness(other_distance)
            + WALLS_CM[own_walls.min(10)]
            - WALLS_CM[other_walls.min(10)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;

    #[test]
    fn the_start_is_worth_the_tempo() {
        assert_eq!(HandMade.evaluate(&EvalInput::of(&Position::start())), TEMPO_CM);
    }

    #[test]
    fn sides_and_mirror_images_count_alike() {
        for text in [
            "e3f6c6a6c2g3h6d5 / d3g4c4d1g6 / f4 e6 / 3 2 / 1",
            "a3c3e3e6f4g6h4 / d7f5 / b3 g9 / 5 6 / 1",
            "d6e3 / / e4 e6 / 9 9 / 2",
        ] {
            let position: Position = text.parse().unwrap();
            let score = HandMade.evaluate(&EvalInput::of(&position));
            assert_eq!(score, HandMade.evaluate(&EvalInput::of(&position.mirrored())));
            let own = EvalInput::of(&position);
            let swapped = EvalInput {
                distance: [own.distance[1], own.distance[0]],
                walls_in_hand: [own.walls_in_hand[1], own.walls_in_hand[0]],
                ..own
            };
            assert_eq!(score - TEMPO_CM, TEMPO_CM - HandMade.evaluate(&swapped), "{}", position.turn());
        }
    }

    #[test]
    fn extremes_stay_below_every_win() {
        let position = Position::start();
        assert_eq!(position.turn(), Color::White);
        // No route visits a square twice.
        for distance in [[1, 80], [80, 1]] {
            for walls_in_hand in [[0, 10], [10, 0], [0, 0]] {
                let score = HandMade.evaluate(&EvalInput { position: &position, distance, walls_in_hand });
                assert!(score.abs() <= MAX_EVAL_CM, "{distance:?} {walls_in_hand:?}: {score}");
            }
        }
    }
}
