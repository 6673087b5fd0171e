//! Legal moves.
//!
//! Pawn moves follow the *edge counts* rule: with the straight jump closed by a wall or by the board's edge, the pawn may
//! step to either side of the opponent. Walls are found as sets of slots; only those that could close a ring are checked
//! with a flood.

use crate::board::{Color, Move, MoveList, Orientation, Position, Square, Wall, pop_lsb64};
use crate::path::{CutSlots, Passages};

const COLUMN_A: u64 = 0x0101_0101_0101_0101;
const COLUMN_H: u64 = COLUMN_A << 7;
const ROW_1: u64 = 0xff;
const ROW_8: u64 = ROW_1 << 56;

/// All legal moves, pawn moves first; empty when the game has ended.
#[inline]
pub(crate) fn legal_moves(position: &Position) -> MoveList {
    let mut list = MoveList::new();
    if position.winner().is_some() {
        return list;
    }
    list.push_pawns(pawn_targets(position));
    let walls = legal_walls(position);
    list.push_walls(Orientation::Horizontal, walls[0]);
    list.push_walls(Orientation::Vertical, walls[1]);
    list
}

/// How many legal moves there are, without listing them.
#[inline]
#[must_use]
pub fn count_legal_moves(position: &Position) -> u32 {
    count_legal_moves_with(position, || Color::BOTH.map(|color| path_cuts(position, color)))
}

/// As [`count_legal_moves`]; `cuts` as for [`legal_walls_with`].
#[inline]
pub(crate) fn count_legal_moves_with(position: &Position, cuts: impl FnOnce() -> [CutSlots; 2]) -> u32 {
    if position.winner().is_some() {
        return 0;
    }
    let walls = legal_walls_with(position, cuts);
    pawn_targets(position).count_ones() + walls[0].count_ones() + walls[1].count_ones()
}

/// The squares that the side to move can step or jump to. Never empty in an unfinished position.
#[inline]
pub(crate) fn pawn_targets(position: &Position) -> u128 {
    pawn_targets_of(position, position.turn)
}

/// As [`pawn_targets`], for either side.
#[inline]
pub(crate) fn pawn_targets_of(position: &Position, mover: Color) -> u128 {
    let own = position.pawn(mover);
    let other = position.pawn(!mover);
    let steps = position.passages.step(own.bit());
    if steps & other.bit() == 0 {
        steps
    } else {
        (steps & !other.bit()) | jump_targets(position.passages, own, other)
    }
}

/// Where a pawn on `own` lands that faces the opponent on `other` without a wall between.
pub(crate) fn jump_targets(passages: Passages, own: Square, other: Square) -> u128 {
    let around = passages.step(other.bit()) & !own.bit();
    let (behind_column, behind_row) =
        ((2 * other.column()).checked_sub(own.column()), (2 * other.row()).checked_sub(own.row()));
    let behind = behind_column.zip(behind_row).and_then(|(column, row)| Square::new(column, row));
    match behind {
        Some(square) if around & square.bit() != 0 => square.bit(),
        // The straight jump is closed: what is open around the opponent lies to its sides.
        _ => around,
    }
}

/// The slots, horizontal and vertical, where the side to move can legally put a wall.
#[inline]
pub(crate) fn legal_walls(position: &Position) -> [u64; 2] {
    legal_walls_with(position, || Color::BOTH.map(|color| path_cuts(position, color)))
}

/// As [`legal_walls`]; `cuts` gives slots that hold all walls that can cut White's and Black's path, and is asked only
/// when needed.
#[inline]
pub(crate) fn legal_walls_with(position: &Position, cuts: impl FnOnce() -> [CutSlots; 2]) -> [u64; 2] {
    if position.in_hand[position.turn.index()] == 0 {
        return [0; 2];
    }
    let free = free_slots(position);
    let ring = may_close_ring(position.walls);
    let suspects = [free[0] & ring[0], free[1] & ring[1]];
    if suspects[0] | suspects[1] == 0 {
        return free;
    }
    let cut_off = cutting_off(position, suspects, cuts());
    [free[0] & !cut_off[0], free[1] & !cut_off[1]]
}

/// Whether a move is legal in an unfinished position; `cuts` as for [`legal_walls_with`].
#[inline]
pub(crate) fn is_legal_with(position: &Position, mv: Move, cuts: impl FnOnce() -> [CutSlots; 2]) -> bool {
    let Some(wall) = mv.as_wall() else {
        return pawn_targets(position) & (1 << mv.index()) != 0;
    };
    let index = wall.orientation().index();
    if position.in_hand[position.turn.index()] == 0 || free_slots(position)[index] & wall.bit() == 0 {
        return false;
    }
    if may_close_ring(position.walls)[index] & wall.bit() == 0 {
        return true;
    }
    let mut suspects = [0; 2];
    suspects[index] = wall.bit();
    cutting_off(position, suspects, cuts()) == [0; 2]
}

/// The slots of each orientation where a wall would neither overlap nor cross a standing one.
#[inline(always)]
pub(crate) fn free_slots(position: &Position) -> [u64; 2] {
    let [h, v] = position.walls;
    [!(h | v | ((h & !COLUMN_H) << 1) | ((h & !COLUMN_A) >> 1)), !(h | v | (v << 8) | (v >> 8))]
}

/// The slots that cut one shortest path of a side.
pub(crate) fn path_cuts(position: &Position, color: Color) -> CutSlots {
    let route = position.passages.shortest_route(position.pawn(color), color.goal_mask());
    route.map_or(CutSlots::default(), |route| route.cuts)
}

/// The slots where a wall would touch the existing walls or the border in at least two of its three points. Only such a
/// wall can close a ring, and only a closed ring can cut a side off.
#[inline(always)]
fn may_close_ring([h, v]: [u64; 2]) -> [u64; 2] {
    // A slot is also the point in its middle; walls of either orientation reach one point further along their axis.
    let touched = h | v | ((h & !COLUMN_H) << 1) | ((h & !COLUMN_A) >> 1) | (v << 8) | (v >> 8);
    let left = ((touched & !COLUMN_H) << 1) | COLUMN_A;
    let right = ((touched & !COLUMN_A) >> 1) | COLUMN_H;
    let below = (touched << 8) | ROW_1;
    let above = (touched >> 8) | ROW_8;
    let two_of = |a: u64, b: u64| (a & b) | (touched & (a | b));
    [two_of(left, right), two_of(below, above)]
}

/// Those of the suspects that would leave a side without a path.
#[inline(never)]
fn cutting_off(position: &Position, suspects: [u64; 2], cuts: [CutSlots; 2]) -> [u64; 2] {
    let mut cut_off = [0; 2];
    for color in Color::BOTH {
        let pawn = position.pawn(color).bit();
        let goal = color.goal_mask();
        let cuts = cuts[color.index()];
        for (orientation, cuts) in
            [(Orientation::Horizontal, cuts.horizontal), (Orientation::Vertical, cuts.vertical)]
        {
            let index = orientation.index();
            let mut unsure = suspects[index] & cuts & !cut_off[index];
            while unsure != 0 {
                let wall = Wall::at(orientation, pop_lsb64(&mut unsure));
                if position.passages.with_wall(wall).distance(pawn, goal).is_none() {
                    cut_off[index] |= wall.bit();
                }
            }
        }
    }
    cut_off
}
