//! A few solved pawn races, by their walls: solving one costs as much as some hundred nodes, and all positions below share
//! it.

use crate::board::{Orientation, Position};
use crate::race::RaceTable;
use crate::score::Score;

/// Tables kept a thread, some 26 KB each.
const SLOTS: usize = 256;

/// A direct-mapped cache of race tables.
pub(super) struct RaceCache {
    slots: Vec<Option<([u64; 2], RaceTable)>>,
}

impl RaceCache {
    pub(super) fn new() -> Self {
        Self { slots: (0..SLOTS).map(|_| None).collect() }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// The exact score of a position without walls in hand, for the side to move.
    pub(super) fn score(&mut self, position: &Position) -> Score {
        let walls = Orientation::BOTH.map(|orientation| position.wall_slots(orientation));
        let slot = &mut self.slots[Self::slot(walls)];
        match slot {
            Some((owner, table)) if *owner == walls => table.score(position),
            _ => {
                let table = RaceTable::solve(position);
                let score = table.score(position);
                *slot = Some((walls, table));
                score
            }
        }
    }

    /// The exact score, if the race on these walls is solved already.
    pub(super) fn known(&self, position: &Position) -> Option<Score> {
        let walls = Orientation::BOTH.map(|orientation| position.wall_slots(orientation));
        match &self.slots[Self::slot(walls)] {
            Some((owner, table)) if *owner == walls => Some(table.score(position)),
            _ => None,
        }
    }

    fn slot(walls: [u64; 2]) -> usize {
        let mixed =
            walls[0].wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ walls[1].wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::from(u16::from_le_bytes([mixed.to_le_bytes()[6], mixed.to_le_bytes()[7]])) % SLOTS
    }
}
