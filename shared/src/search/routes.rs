//! Both sides' distances, kept up from ply to ply.
//!
//! A move changes few of them: a pawn move leaves the opponent's route as it is, and a wall leaves every route that it
//! does not cut.

use crate::board::{Color, Move, Position};
use crate::eval::EvalInput;
use crate::path::{CutSlots, ShortestRoute};

/// Both sides' routes, White's first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Routes([ShortestRoute; 2]);

impl Routes {
    pub(super) fn fresh(position: &Position) -> Self {
        Self(Color::BOTH.map(|color| fresh_route(position, color)))
    }

    /// The routes after a move, `next` being the position after it.
    #[inline]
    pub(super) fn after(mut self, mv: Move, next: &Position) -> Self {
        match mv.as_wall() {
            None => {
                let mover = !next.turn();
                self.0[mover.index()] = fresh_route(next, mover);
            }
            Some(wall) => {
                for color in Color::BOTH {
                    let route = &mut self.0[color.index()];
                    if route.cuts.contains(wall) {
                        *route = fresh_route(next, color);
                    }
                }
            }
        }
        self
    }

    #[inline(always)]
    pub(super) fn of(&self, color: Color) -> &ShortestRoute {
        &self.0[color.index()]
    }

    /// The slots that cut one shortest path of White and of Black.
    #[inline(always)]
    pub(super) fn cuts(&self) -> [CutSlots; 2] {
        self.0.map(|route| route.cuts)
    }

    /// What the evaluation looks at.
    #[inline(always)]
    pub(super) fn eval_input<'p>(&self, position: &'p Position) -> EvalInput<'p> {
        let [own, other] = [self.of(position.turn()), self.of(!position.turn())];
        EvalInput {
            position,
            distance: [own.distance, other.distance],
            walls_in_hand: [position.turn(), !position.turn()].map(|color| position.walls_in_hand(color)),
        }
    }
}

#[inline]
fn fresh_route(position: &Position, color: Color) -> ShortestRoute {
    position.passages.shortest_route(position.pawn(color), color.goal_mask()).unwrap_or_default()
}
