//! The order in which moves are tried: the table's move, tactical pawn moves and walls, then killers, counter moves, heat
//! and history.

use super::history::History;
use super::routes::Routes;
use crate::board::{Color, Move, MoveList, Orientation, Position, Wall, pop_lsb64, pop_lsb128};
use crate::cat::{
    CAT_HOT_CM, CorridorAttention, WallHeats, WallVerdicts, build_corridor_attention,
    wall_shape_attention_bonus,
};
use crate::movegen;

const KILLER: i32 = 9_000;
const COUNTER: i32 = 7_000;
const FORWARD: i32 = 12_000;
const WITNESS: i32 = 1_000;
/// Weight of a centi-square of heat against history (whose scores reach 8,192).
const HEAT: i32 = 8;

/// A move with what the search wants to know about it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Candidate {
    pub(super) mv: Move,
    /// Never reduced, never skipped.
    pub(super) tactical: bool,
    /// Heat of its square, or of its wall with the shape bonus, in cm.
    pub(super) heat_cm: u16,
    order: i32,
}

/// Hints from elsewhere in the tree.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Hints {
    pub(super) killers: [Option<Move>; 2],
    pub(super) counter: Option<Move>,
}

/// The moves of a node, handed out best first.
pub(super) struct Candidates {
    list: [Candidate; MoveList::CAPACITY],
    len: usize,
    next: usize,
    /// Legal walls that the pruning rules dropped, by orientation and slot.
    pruned: [u64; 2],
}

/// What a node knows about heat, worked out once.
pub(super) struct NodeHeat {
    attention: CorridorAttention,
    walls: WallHeats,
    verdicts: WallVerdicts,
}

impl NodeHeat {
    #[inline]
    pub(super) fn new(position: &Position) -> Self {
        let attention = build_corridor_attention(position);
        let walls = WallHeats::new(&attention.search);
        let verdicts = WallVerdicts::new(position, &attention, &walls);
        Self { attention, walls, verdicts }
    }

    /// A move's heat with shape bonus, and whether it is tactical: hot, and, for a wall, on the opponent's witness path.
    #[inline]
    pub(super) fn of(&self, mv: Move) -> (u16, bool) {
        match mv.as_wall() {
            Some(wall) => {
                let heat = self.walls.of(wall);
                let heat = heat + wall_shape_attention_bonus(&self.verdicts.shapes, wall, heat);
                (heat, heat >= CAT_HOT_CM && self.verdicts.is_witness(wall))
            }
            None => {
                let heat = self.attention.search[usize::from(mv.index())];
                (heat, heat >= CAT_HOT_CM)
            }
        }
    }
}

impl Candidate {
    /// A move from the table, tried before anything is known about it.
    #[inline(always)]
    pub(super) const fn from_table(mv: Move) -> Self {
        Self { mv, tactical: true, heat_cm: u16::MAX, order: 0 }
    }
}

impl Candidates {
    /// All moves that are searched; with `all`, every legal move.
    pub(super) fn new(
        position: &Position,
        routes: &Routes,
        heat: &NodeHeat,
        history: &History,
        hints: Hints,
        all: bool,
    ) -> Self {
        let unset = Candidate { mv: Move::UNSET, tactical: false, heat_cm: 0, order: 0 };
        let mut candidates = Self { list: [unset; MoveList::CAPACITY], len: 0, next: 0, pruned: [0; 2] };
        let side = position.turn();
        let mut pawns = movegen::pawn_targets(position);
        while pawns != 0 {
            let mv = Move::pawn(crate::board::Square::from_bit_index(pop_lsb128(&mut pawns)));
            let forward = advances(position, routes, side, mv);
            candidates.push(heat, history, hints, side, mv, if forward { FORWARD } else { 0 });
        }
        let legal = movegen::legal_walls_with(position, || routes.cuts());
        let searched = if all { legal } else { heat.verdicts.searched() };
        for orientation in Orientation::BOTH {
            let index = orientation.index();
            candidates.pruned[index] = legal[index] & !searched[index];
            let mut slots = legal[index] & searched[index];
            while slots != 0 {
                let mv = Move::wall(Wall::at(orientation, pop_lsb64(&mut slots)));
                candidates.push(heat, history, hints, side, mv, 0);
            }
        }
        candidates
    }

    /// Adds what was pruned, behind everything else. Whether there was anything.
    pub(super) fn add_pruned(&mut self, heat: &NodeHeat, history: &History, side: Color) -> bool {
        let pruned = std::mem::take(&mut self.pruned);
        for orientation in Orientation::BOTH {
            let mut slots = pruned[orientation.index()];
            while slots != 0 {
                let mv = Move::wall(Wall::at(orientation, pop_lsb64(&mut slots)));
                self.push(heat, history, Hints::default(), side, mv, 0);
            }
        }
        pruned != [0; 2]
    }

    #[inline]
    fn push(&mut self, heat: &NodeHeat, history: &History, hints: Hints, side: Color, mv: Move, bonus: i32) {
        let (heat_cm, tactical) = heat.of(mv);
        let mut order = bonus + HEAT * i32::from(heat_cm) + history.score(side, mv);
        if tactical && !mv.is_pawn() {
            order += WITNESS;
        }
        if hints.killers.contains(&Some(mv)) {
            order += KILLER;
        } else if hints.counter == Some(mv) {
            order += COUNTER;
        }
        self.list[self.len] = Candidate { mv, tactical, heat_cm, order };
        self.len += 1;
    }

    /// The best move not handed out yet.
    #[inline]
    pub(super) fn pick(&mut self) -> Option<Candidate> {
        let rest = self.list.get_mut(self.next..self.len)?;
        let best =
            (0..rest.len()).max_by_key(|&index| (rest[index].order, std::cmp::Reverse(rest[index].mv)))?;
        rest.swap(0, best);
        self.next += 1;
        Some(rest[0])
    }
}

/// Whether a pawn move shortens the mover's own route.
#[inline]
fn advances(position: &Position, routes: &Routes, side: Color, mv: Move) -> bool {
    let before = routes.of(side).distance;
    before == 0 || position.passages.within(1u128 << mv.index(), side.goal_mask(), before - 1)
}
