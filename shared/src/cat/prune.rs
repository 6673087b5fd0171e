//! Which moves are searched, and why.

use super::shape::{Shapes, gap_play_zone_mask, reachable_mask, slots_touching, slots_within};
use super::walls::{WallHeats, heat_of};
use super::witness::witness_cuts;
use super::{CAT_HOT_CM, CorridorAttention, build_corridor_attention};
use crate::board::{Move, Position, Wall};
use crate::movegen;
use crate::path::ALL_SQUARES;

/// The rule that decided about a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A pawn move: always searched.
    Pawn,
    /// Rule 1: touches only unreachable squares. Skipped.
    DeadZone,
    /// Rule 2: crosses the seam of two collinear walls. Searched.
    CrossGap,
    /// Rule 2: stands where it stops a cross-gap wall. Searched.
    BlocksCrossGap,
    /// Rule 3: touches the gap play zone. Searched.
    GapPlayZone,
    /// Rule 4: touches an unreachable square outside the zone. Skipped. (Rule 3 always speaks first.)
    SealedInterior,
    /// Rule 5: cuts the opponent's witness path. Searched.
    Witness,
    /// Rule 6: at least [`CAT_HOT_CM`] on the search table. Searched.
    Hot,
    /// No rule spoke. Skipped.
    Cold,
    /// Pruning is off: everything legal is searched.
    All,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Pawn,
        Self::DeadZone,
        Self::CrossGap,
        Self::BlocksCrossGap,
        Self::GapPlayZone,
        Self::SealedInterior,
        Self::Witness,
        Self::Hot,
        Self::Cold,
        Self::All,
    ];

    /// The name on the wire and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pawn => "pawn",
            Self::DeadZone => "dead_zone",
            Self::CrossGap => "cross_gap",
            Self::BlocksCrossGap => "blocks_cross_gap",
            Self::GapPlayZone => "gap_play_zone",
            Self::SealedInterior => "sealed_interior",
            Self::Witness => "witness",
            Self::Hot => "hot",
            Self::Cold => "cold",
            Self::All => "all",
        }
    }

    /// Whether a move with this verdict is searched.
    #[must_use]
    pub const fn is_searched(self) -> bool {
        !matches!(self, Self::DeadZone | Self::SealedInterior | Self::Cold)
    }
}

/// A legal move with its heat and the rule that decided about it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The move.
    pub mv: Move,
    /// Heat of its square or wall in cm, without shape bonus.
    pub heat_cm: u16,
    /// Shape bonus in cm; ordering only.
    pub shape_bonus_cm: u16,
    /// The rule.
    pub reason: Reason,
}

/// The legal moves of a position, parted by the rules. Pawn moves first, each list in the order of the move list.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SearchMoves {
    /// What is searched.
    pub kept: Vec<Verdict>,
    /// What is not.
    pub pruned: Vec<Verdict>,
}

/// The verdicts on all walls of a position as sets of slots by orientation, legal or not.
#[derive(Copy, Clone, Debug)]
pub(crate) struct WallVerdicts {
    dead_zone: [u64; 2],
    gap_play_zone: [u64; 2],
    sealed_interior: [u64; 2],
    witness: [u64; 2],
    hot: [u64; 2],
    pub(crate) shapes: Shapes,
}

impl WallVerdicts {
    /// The verdicts for the side to move.
    #[inline]
    pub(crate) fn new(position: &Position, attention: &CorridorAttention, heats: &WallHeats) -> Self {
        let opponent = !position.turn();
        let cuts = witness_cuts(position, opponent, attention.on_shortest[opponent.index()]);
        let mut verdicts = Self {
            dead_zone: [0; 2],
            gap_play_zone: [0; 2],
            sealed_interior: [0; 2],
            witness: [cuts.horizontal, cuts.vertical],
            hot: heats.at_least(CAT_HOT_CM),
            shapes: Shapes::of(position),
        };
        let reachable = reachable_mask(position);
        if reachable != ALL_SQUARES {
            verdicts.add_pockets(reachable);
        }
        verdicts
    }

    #[cold]
    fn add_pockets(&mut self, reachable: u128) {
        let sealed = ALL_SQUARES & !reachable;
        let zone = gap_play_zone_mask(reachable);
        self.dead_zone = [slots_within(sealed); 2];
        self.gap_play_zone = [slots_touching(zone); 2];
        self.sealed_interior = [slots_touching(sealed & !zone); 2];
    }

    /// The slots of each orientation that the rules keep, legal or not.
    #[inline(always)]
    pub(crate) fn searched(&self) -> [u64; 2] {
        [0, 1].map(|i| {
            let by_shape = self.shapes.cross_gap[i] | self.shapes.blocks_cross_gap[i] | self.gap_play_zone[i];
            let by_heat = (self.witness[i] | self.hot[i]) & !self.sealed_interior[i];
            (by_shape | by_heat) & !self.dead_zone[i]
        })
    }

    /// Whether a wall cuts the opponent's witness path.
    #[inline(always)]
    pub(crate) fn is_witness(&self, wall: Wall) -> bool {
        self.witness[wall.orientation().index()] & wall.bit() != 0
    }

    /// The first rule that speaks about a wall.
    pub(crate) fn reason(&self, wall: Wall) -> Reason {
        let in_set = |set: &[u64; 2]| set[wall.orientation().index()] & wall.bit() != 0;
        let rules = [
            (&self.dead_zone, Reason::DeadZone),
            (&self.shapes.cross_gap, Reason::CrossGap),
            (&self.shapes.blocks_cross_gap, Reason::BlocksCrossGap),
            (&self.gap_play_zone, Reason::GapPlayZone),
            (&self.sealed_interior, Reason::SealedInterior),
            (&self.witness, Reason::Witness),
            (&self.hot, Reason::Hot),
        ];
        rules.into_iter().find(|(set, _)| in_set(set)).map_or(Reason::Cold, |(_, reason)| reason)
    }
}

/// The rule that decides about a legal wall.
#[must_use]
pub fn wall_should_search(position: &Position, attention: &CorridorAttention, wall: Wall) -> Reason {
    WallVerdicts::new(position, attention, &WallHeats::new(&attention.search)).reason(wall)
}

/// All legal moves with their heat, parted by the rules into those that are searched and those that are not.
#[must_use]
pub fn collect_search_moves(position: &Position) -> SearchMoves {
    let attention = build_corridor_attention(position);
    let heats = WallHeats::new(&attention.search);
    let verdicts = WallVerdicts::new(position, &attention, &heats);
    let mut moves = SearchMoves::default();
    for &mv in movegen::legal_moves(position).iter() {
        let verdict = verdict_on(mv, &attention, &heats, &verdicts);
        let list = if verdict.reason.is_searched() { &mut moves.kept } else { &mut moves.pruned };
        list.push(verdict);
    }
    if moves.kept.is_empty() {
        // Nothing left: everything legal is searched.
        std::mem::swap(&mut moves.kept, &mut moves.pruned);
        for verdict in &mut moves.kept {
            verdict.reason = Reason::All;
        }
    }
    moves
}

fn verdict_on(
    mv: Move,
    attention: &CorridorAttention,
    heats: &WallHeats,
    verdicts: &WallVerdicts,
) -> Verdict {
    match (mv.as_wall(), mv.target()) {
        (Some(wall), _) => {
            let heat_cm = heats.of(wall);
            let shape_bonus_cm = super::wall_shape_attention_bonus(&verdicts.shapes, wall, heat_cm);
            Verdict { mv, heat_cm, shape_bonus_cm, reason: verdicts.reason(wall) }
        }
        (None, target) => {
            let heat_cm = target.map_or(0, |target| heat_of(&attention.search, target));
            Verdict { mv, heat_cm, shape_bonus_cm: 0, reason: Reason::Pawn }
        }
    }
}
