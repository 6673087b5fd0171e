//! Everything a display needs to show a position's heat.

use super::prune::{Reason, WallVerdicts};
use super::walls::WallHeats;
use super::{build_corridor_attention, reachable_mask, wall_shape_attention_bonus, witness_path};
use crate::board::{Color, Position, Square, Wall};
use crate::movegen;

/// A legal wall's heat and verdict.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WallAttention {
    /// The wall.
    pub wall: Wall,
    /// Its heat in cm on the search table, without shape bonus.
    pub heat_cm: u16,
    /// Its shape bonus in cm.
    pub shape_bonus_cm: u16,
    /// The rule that decided about it; says whether it is searched.
    pub reason: Reason,
}

/// The heat of a position as a display needs it. Tables are in cm, squares row by row from a1; the thresholds are the
/// constants of [`crate::cat`].
#[derive(Clone, Debug)]
pub struct CatSnapshot {
    /// The search table: both players' heats added.
    pub search: [u16; 81],
    /// The display table: the maximum of both players' heats.
    pub display: [u16; 81],
    /// Which squares either pawn can reach.
    pub reachable: [bool; 81],
    /// Steps to the goal row, White's first.
    pub distance: [u8; 2],
    /// The witness paths from pawn to goal row, White's first.
    pub witness: [Vec<Square>; 2],
    /// Every legal wall, horizontal ones first, each orientation row by row. Empty for a side without walls in hand.
    pub walls: Vec<WallAttention>,
}

/// The heat of a position as a display needs it.
#[must_use]
pub fn cat_snapshot(position: &Position) -> CatSnapshot {
    let attention = build_corridor_attention(position);
    let heats = WallHeats::new(&attention.search);
    let verdicts = WallVerdicts::new(position, &attention, &heats);
    let reachable = reachable_mask(position);
    let attention_of = |wall: Wall| {
        let heat_cm = heats.of(wall);
        let shape_bonus_cm = wall_shape_attention_bonus(&verdicts.shapes, wall, heat_cm);
        WallAttention { wall, heat_cm, shape_bonus_cm, reason: verdicts.reason(wall) }
    };
    CatSnapshot {
        search: attention.search,
        display: attention.display(),
        reachable: std::array::from_fn(|index| reachable >> index & 1 == 1),
        distance: attention.distance,
        witness: Color::BOTH.map(|color| witness_path(position, color)),
        walls: movegen::legal_moves(position)
            .iter()
            .filter_map(|mv| mv.as_wall())
            .map(attention_of)
            .collect(),
    }
}
