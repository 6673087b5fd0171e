//! Heat of squares.
//!
//! `delta(sq) = from(sq) + to(sq) - L` is the detour of the best route through a square. Both distances are floods over
//! sets; squares of equal distance from the pawn and equal delta share their heat, so that a value is worked out once a
//! set and written once a square.

use super::{BOTTLENECK_BONUS_CM, MAX_RELEVANT_CORRIDOR_DELTA};
use crate::board::{Color, Position, lsb64};
use crate::path::{ALL_SQUARES, Passages};

/// Deltas that have heat: 0..=3.
const DELTAS: usize = MAX_RELEVANT_CORRIDOR_DELTA as usize + 1;

/// `round(200 / (1 + delta * log2(delta + 2)))` for delta 0..=3, in cm.
const CORRIDOR_CM: [u16; DELTAS] = [200, 77, 40, 25];

/// Distances that the quick path keeps on the stack; longer mazes take the same code with room for any.
const QUICK_LAYERS: usize = 32;
const ALL_LAYERS: usize = 88;

/// Heat of all squares, for each player and added up, and what the floods found on the way.
#[derive(Clone, Debug)]
pub struct CorridorAttention {
    /// White's and Black's own heat in cm, squares row by row from a1.
    pub players: [[u16; 81]; 2],
    /// The search table: both players' heats added, in cm.
    pub search: [u16; 81],
    /// Steps from each pawn to its goal row, White's first.
    pub distance: [u8; 2],
    /// Squares on a shortest route (delta 0) of each player.
    pub(crate) on_shortest: [u128; 2],
}

impl CorridorAttention {
    /// The display table: the maximum of both players' heats, in cm, so that an open middle game does not flood a
    /// picture.
    #[must_use]
    pub fn display(&self) -> [u16; 81] {
        let mut table = self.players[0];
        for (cm, &other) in table.iter_mut().zip(&self.players[1]) {
            *cm = (*cm).max(other);
        }
        table
    }
}

/// Heat of every square of a position.
#[inline]
#[must_use]
pub fn build_corridor_attention(position: &Position) -> CorridorAttention {
    let white = player_heat(position, Color::White);
    let black = player_heat(position, Color::Black);
    let mut search = white.cm;
    for (cm, &other) in search.iter_mut().zip(&black.cm) {
        *cm = cm.saturating_add(other);
    }
    CorridorAttention {
        players: [white.cm, black.cm],
        search,
        distance: [white.distance, black.distance],
        on_shortest: [white.on_shortest, black.on_shortest],
    }
}

/// Heat by delta of a square `from` steps from a pawn whose shortest route has `length` steps.
const fn heat_of_deltas(length: usize, from: usize) -> [u16; DELTAS] {
    let from = if from < length { from } else { length };
    let weight = match (55 * (length - from)).checked_div(length) {
        Some(share) => 45 + share,
        None => 100,
    };
    let mut cm = [0; DELTAS];
    let mut delta = 0;
    while delta < DELTAS {
        let heat = CORRIDOR_CM[delta] as usize * weight / 100;
        assert!(heat <= CORRIDOR_CM[0] as usize);
        #[expect(clippy::cast_possible_truncation, reason = "checked above")]
        {
            cm[delta] = heat as u16;
        }
        delta += 1;
    }
    cm
}

/// [`heat_of_deltas`] for the routes that the quick path handles.
static HEAT_CM: [[[u16; DELTAS]; QUICK_LAYERS + DELTAS]; QUICK_LAYERS] = {
    let mut table = [[[0; DELTAS]; QUICK_LAYERS + DELTAS]; QUICK_LAYERS];
    let mut length = 0;
    while length < QUICK_LAYERS {
        let mut from = 0;
        while from < QUICK_LAYERS + DELTAS {
            table[length][from] = heat_of_deltas(length, from);
            from += 1;
        }
        length += 1;
    }
    table
};

#[inline(always)]
fn heat_at(length: usize, from: usize) -> [u16; DELTAS] {
    match HEAT_CM.get(length).and_then(|row| row.get(from)) {
        Some(&cm) => cm,
        None => heat_of_deltas(length, from),
    }
}

struct PlayerHeat {
    cm: [u16; 81],
    distance: u8,
    on_shortest: u128,
}

#[inline]
fn player_heat(position: &Position, color: Color) -> PlayerHeat {
    let pawn = position.pawn(color).bit();
    let goal = color.goal_mask();
    match heat_with_layers::<QUICK_LAYERS>(position.passages, pawn, goal) {
        Some(heat) => heat,
        None => maze_heat(position.passages, pawn, goal),
    }
}

#[cold]
fn maze_heat(passages: Passages, pawn: u128, goal: u128) -> PlayerHeat {
    // No shortest path visits a square twice, so that this many layers are always enough.
    heat_with_layers::<ALL_LAYERS>(passages, pawn, goal).unwrap_or(PlayerHeat {
        cm: [0; 81],
        distance: 0,
        on_shortest: 0,
    })
}

/// The sets of squares at 0, 1, 2, ... steps from the goal, as far as heat can reach, and the pawn's distance. `None`
/// when there are more than `N`.
#[inline(always)]
fn layers_to_goal<const N: usize>(passages: Passages, pawn: u128, goal: u128) -> Option<([u128; N], usize)> {
    let mut layers = [0u128; N];
    let mut reached = goal;
    let mut frontier = goal;
    let mut distance = 0;
    layers[0] = goal;
    while frontier & pawn == 0 {
        frontier = passages.step(frontier) & !reached;
        reached |= frontier;
        distance += 1;
        if distance + DELTAS > N || frontier == 0 {
            return None;
        }
        layers[distance] = frontier;
    }
    for layer in layers.iter_mut().skip(distance + 1).take(DELTAS - 1) {
        frontier = passages.step(frontier) & !reached;
        reached |= frontier;
        *layer = frontier;
    }
    Some((layers, distance))
}

#[inline(always)]
fn heat_with_layers<const N: usize>(passages: Passages, pawn: u128, goal: u128) -> Option<PlayerHeat> {
    let (to_goal, distance) = layers_to_goal::<N>(passages, pawn, goal)?;
    let mut cm = [0u16; 81];
    let mut by_delta = [0u128; DELTAS];
    // Squares with heat by their distance from the pawn modulo 4; neighbours differ by exactly one.
    let mut by_from = [0u128; 4];
    let mut reached = pawn;
    let mut frontier = pawn;
    for from in 0..distance + DELTAS {
        let cm_of_delta = heat_at(distance, from);
        // to = length + delta - from must not be negative.
        for delta in from.saturating_sub(distance)..DELTAS {
            let set = frontier & to_goal[distance + delta - from];
            by_delta[delta] |= set;
            by_from[from & 3] |= set;
            write(&mut cm, set, cm_of_delta[delta]);
        }
        frontier = passages.step(frontier) & !reached;
        reached |= frontier;
    }
    let narrow = bottlenecks(passages, by_from) & (by_delta[0] | by_delta[1] | by_delta[2]) & !goal;
    for_each(narrow, |square| cm[square] += BOTTLENECK_BONUS_CM);
    let distance = u8::try_from(distance).ok()?;
    Some(PlayerHeat { cm, distance, on_shortest: by_delta[0] })
}

/// Squares with heat that have at most one forward continuation: an open neighbour with heat, one step further from the
/// pawn.
#[inline(always)]
fn bottlenecks(passages: Passages, by_from: [u128; 4]) -> u128 {
    let Passages { up, right } = passages;
    let mut narrow = 0;
    for class in 0..4 {
        let ahead = by_from[(class + 1) & 3];
        let above = (ahead >> 9) & up;
        let below = (ahead & up) << 9;
        let on_right = (ahead >> 1) & right;
        let on_left = (ahead & right) << 1;
        let two = (above & below) | (on_right & on_left) | ((above | below) & (on_right | on_left));
        narrow |= by_from[class] & !two;
    }
    narrow & ALL_SQUARES
}

#[inline(always)]
fn write(cm: &mut [u16; 81], set: u128, value: u16) {
    for_each(set, |square| cm[square] = value);
}

/// Calls `f` with the index of each square. Two halves, because a 64-bit scan is cheaper than a 128-bit one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
pub(crate) fn for_each(set: u128, mut f: impl FnMut(usize)) {
    let mut low = set as u64;
    while low != 0 {
        f(usize::from(lsb64(low)));
        low &= low - 1;
    }
    let mut high = (set >> 64) as u64;
    while high != 0 {
        f(64 + usize::from(lsb64(high)));
        high &= high - 1;
    }
}
