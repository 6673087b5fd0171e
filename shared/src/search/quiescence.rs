//! Quiescence: path shocks are played out, everything else stands pat.
//!
//! Noisy are a pawn move that shortens the mover's own route and a wall that lengthens the opponent's. A wall can do so
//! only if it cuts the opponent's known shortest path, which is the gate; a distance confirms it.

use super::alphabeta::{Search, Value};
use crate::board::{Color, Move, Orientation, Position, Square, Wall, pop_lsb64, pop_lsb128};
use crate::eval::{EvalInput, Evaluation};
use crate::movegen;
use crate::race::unhindered_win;
use crate::score::{Score, win_in};
use crate::tt::score_from_table;

/// Plies of quiescence.
pub(super) const MAX_QDEPTH: u8 = 6;
/// Noisy moves tried at a node.
const MAX_NOISY: usize = 8;
/// What a noisy move can gain beyond what the static evaluation sees at once, in cm.
const DELTA_MARGIN_CM: Score = 120;

/// How much a node wants to know about a pawn race.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum RaceCare {
    /// The winner and the exact number of plies.
    Exact,
    /// The winner; the plies may be an upper bound.
    Proven,
    /// The winner, if that is cheap: at the leaves a new set of walls is not worth solving.
    Cheap,
}

struct Noisy {
    moves: [(Move, Score); MAX_NOISY],
    len: usize,
}

impl Noisy {
    /// Keeps the best eight by their static evaluation, in order.
    fn push(&mut self, mv: Move, after: Score) {
        let place = self.moves[..self.len].iter().position(|&(_, other)| after > other).unwrap_or(self.len);
        if place == MAX_NOISY {
            return;
        }
        self.len = (self.len + 1).min(MAX_NOISY);
        self.moves[place..self.len].rotate_right(1);
        self.moves[place] = (mv, after);
    }
}

impl Search<'_> {
    /// The score of a node at the end of the regular search. `left` is the number of quiescence plies that remain.
    pub(super) fn quiescence(&mut self, ply: usize, alpha: Score, beta: Score, left: u8) -> Value {
        let position = self.frame(ply).position;
        match self.settled(ply, &position, RaceCare::Cheap) {
            Some(value) => value,
            None => self.unsettled_quiescence(ply, &position, alpha, beta, left),
        }
    }

    /// [`Self::quiescence`] of a node that is known not to be settled.
    pub(super) fn unsettled_quiescence(
        &mut self,
        ply: usize,
        position: &Position,
        mut alpha: Score,
        beta: Score,
        left: u8,
    ) -> Value {
        let stand_pat = self.evaluate(ply);
        if stand_pat >= beta || left == 0 || ply + 1 >= self.max_ply() {
            return Value::of(stand_pat);
        }
        let mut best = stand_pat;
        alpha = alpha.max(stand_pat);
        let noisy = self.noisy_moves(ply, position, alpha - DELTA_MARGIN_CM);
        for &(mv, _) in &noisy.moves[..noisy.len] {
            self.enter(ply, mv);
            let score = -self.quiescence(ply + 1, -beta, -alpha, left - 1).score;
            if self.interrupted() {
                return Value::of(best);
            }
            if score > best {
                best = score;
                if score >= beta {
                    break;
                }
                alpha = alpha.max(score);
            }
        }
        Value::of(best)
    }

    /// A node whose score needs no search: finished, won by the next step, or a race.
    #[inline]
    pub(super) fn settled(&mut self, ply: usize, position: &Position, care: RaceCare) -> Option<Value> {
        let height = self.height(ply);
        if position.winner().is_some() {
            return Some(Value::of(-win_in(height)));
        }
        let mover = position.turn();
        let near = self.frame(ply).routes.of(mover).distance <= 2;
        if near && movegen::pawn_targets(position) & mover.goal_mask() != 0 {
            return Some(Value::of(win_in(height + 1)));
        }
        if position.in_hand != [0, 0] {
            return None;
        }
        let score = self.race_score(position, care)?;
        Some(Value::of(score_from_table(score, height.into())))
    }

    /// The line of a settled node: the winning step, or the race played out.
    #[cold]
    pub(super) fn settled_line(&mut self, position: &Position) -> Vec<Move> {
        let mut home = movegen::pawn_targets(position) & position.turn().goal_mask();
        if position.winner().is_some() {
            Vec::new()
        } else if home != 0 {
            vec![Move::pawn(Square::from_bit_index(pop_lsb128(&mut home)))]
        } else {
            self.searcher.races.table(position).line(position)
        }
    }

    /// The score of a position without walls in hand.
    fn race_score(&mut self, position: &Position, care: RaceCare) -> Option<Score> {
        let races = &mut self.searcher.races;
        if care == RaceCare::Exact {
            return Some(races.table(position).score(position));
        }
        if let Some((color, plies)) = unhindered_win(position) {
            return Some(if color == position.turn() { win_in(plies) } else { -win_in(plies) });
        }
        races
            .known(position)
            .or_else(|| (care == RaceCare::Proven).then(|| races.table(position).score(position)))
    }

    /// The noisy moves after which the static evaluation is above `wanted` cm, the best first.
    fn noisy_moves(&self, ply: usize, position: &Position, wanted: Score) -> Noisy {
        let mut noisy = Noisy { moves: [(Move::UNSET, 0); MAX_NOISY], len: 0 };
        let side = position.turn();
        let routes = &self.frame(ply).routes;
        let now = routes.eval_input(position);
        let closer = now.distance[0].saturating_sub(1);
        let after =
            self.searcher.evaluation.evaluate(&EvalInput { distance: [closer, now.distance[1]], ..now });
        if after > wanted {
            let mut targets = movegen::pawn_targets(position);
            while targets != 0 {
                let square = Square::from_bit_index(pop_lsb128(&mut targets));
                if position.passages.within(square.bit(), side.goal_mask(), closer) {
                    noisy.push(Move::pawn(square), after);
                }
            }
        }
        if position.walls_in_hand(side) > 0 {
            self.noisy_walls(ply, &now, wanted, &mut noisy);
        }
        noisy
    }

    fn noisy_walls(&self, ply: usize, now: &EvalInput<'_>, wanted: Score, noisy: &mut Noisy) {
        let position = now.position;
        let side = position.turn();
        let routes = &self.frame(ply).routes;
        let (own, other) = (*routes.of(side), *routes.of(!side));
        let walls_in_hand = [now.walls_in_hand[0] - 1, now.walls_in_hand[1]];
        let free = movegen::free_slots(position);
        let gate = [free[0] & other.cuts.horizontal, free[1] & other.cuts.vertical];
        for orientation in Orientation::BOTH {
            let mut slots = gate[orientation.index()];
            while slots != 0 {
                let wall = Wall::at(orientation, pop_lsb64(&mut slots));
                let passages = position.passages.with_wall(wall);
                let distance =
                    |color: Color| passages.distance(position.pawn(color).bit(), color.goal_mask());
                let Some(longer) = distance(!side).filter(|&longer| longer > other.distance) else {
                    continue;
                };
                let own_after = if own.cuts.contains(wall) { distance(side) } else { Some(own.distance) };
                let Some(own_after) = own_after else {
                    continue;
                };
                let input = EvalInput { distance: [own_after, longer], walls_in_hand, ..*now };
                let after = self.searcher.evaluation.evaluate(&input);
                if after > wanted {
                    noisy.push(Move::wall(wall), after);
                }
            }
        }
    }
}
