//! Both sides' distances, kept up from ply to ply.
//!
//! A move changes few of them: a pawn move leaves the opponent's route as it is, and a wall leaves every route that it
//! does not cut.

use crate::board::{Color, Move, Position};
use crate::path::CutSlots;

/// A side's shortest route.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    /// Steps to the goal row.
    pub(super) distance: u8,
    /// The slots that cut one shortest path. A wall elsewhere does not change the distance.
    pub(super) cuts: CutSlots,
}

/// Both sides' routes, White's first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Routes([Route; 2]);

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
    pub(super) fn of(&self, color: Color) -> &Route {
        &self.0[color.index()]
    }

    /// The slots that cut one shortest path of White and of Black.
    #[inline(always)]
    pub(super) fn cuts(&self) -> [CutSlots; 2] {
        self.0.map(|route| route.cuts)
    }

    /// Distances of a side and of its opponent, in steps.
    #[inline(always)]
    pub(super) fn distances(&self, own: Color) -> [u8; 2] {
        [self.of(own).distance, self.of(!own).distance]
    }
}

#[inline]
fn fresh_route(position: &Position, color: Color) -> Route {
    let found = position.passages.shortest_path_cuts(position.pawn(color), color.goal_mask());
    found.map_or(Route::default(), |(cuts, distance)| Route { distance, cuts })
}
