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

    /// The solved races on the walls of a position without walls in hand.
    pub(super) fn table(&mut self, position: &Position) -> &RaceTable {
        let walls = walls_of(position);
        let slot = &mut self.slots[Self::slot(walls)];
        if slot.as_ref().is_some_and(|(owner, _)| *owner != walls) {
            *slot = None;
        }
        &slot.get_or_insert_with(|| (walls, RaceTable::solve(position))).1
    }

    /// The exact score, if the race on these walls is solved already.
    pub(super) fn known(&self, position: &Position) -> Option<Score> {
        let walls = walls_of(position);
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

fn walls_of(position: &Position) -> [u64; 2] {
    Orientation::BOTH.map(|orientation| position.wall_slots(orientation))
}
