//! Values go up the graph by minimax.
//!
//! A search of a position has looked at all its moves to its depth; the book knows some of them deeper. Where a move of the
//! book was looked at deeper than by the search, that is what the move is worth. What was looked at less deep cannot be better
//! than what the search says of all moves. And where the book has refuted the best move of the search, the others are known
//! to be no better than that one was; what the book has of them stands, as a bound.

use std::collections::BTreeSet;

use super::links::in_hand;
use super::{Book, Node, NodeId, Source, Value};
use crate::board::Move;
use crate::score::{Bound, MAX_CM, Score, WhiteScore, win_in};

/// What a move is worth to the side that makes it, and how deep that was looked at.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    score: Score,
    depth: u16,
}

/// A score one ply further up, for the other side.
const fn one_ply_up(score: Score) -> Score {
    if score > MAX_CM {
        1 - score
    } else if score < -MAX_CM {
        -1 - score
    } else {
        -score
    }
}

const fn is_proven(score: Score) -> bool {
    score.abs() > MAX_CM
}

impl Book {
    /// Looks at all nodes that may have changed, and at whatever depends on them. Returns those that have.
    pub(super) fn back_up(&mut self) -> Vec<NodeId> {
        let order = |book: &Self, id: NodeId| {
            let node = book.node(id);
            (in_hand(&node.position), node.place, id)
        };
        let stale = std::mem::take(&mut self.stale);
        let mut waiting: BTreeSet<_> = stale.into_iter().map(|id| order(self, id)).collect();
        let mut changed = Vec::new();
        while let Some((_, _, id)) = waiting.pop_first() {
            let value = self.evaluate(id);
            if value == self.node(id).value {
                continue;
            }
            self.nodes[id.index()].value = value;
            changed.push(id);
            waiting.extend(self.node(id).parents.iter().map(|&parent| order(self, parent)));
        }
        changed
    }

    /// What the book says of a position, from what it says of those after it.
    pub(super) fn evaluate(&self, id: NodeId) -> Option<Value> {
        let node = self.node(id);
        if let Some(winner) = node.position.winner() {
            let score = if winner == node.turn() { win_in(0) } else { -win_in(0) };
            let score_white = WhiteScore::from_engine(score, node.turn());
            return Some(Value { score_white, bound: Bound::Exact, depth: 0, source: Source::Rules });
        }
        let own = node.searched.as_ref().map(|it| Value {
            score_white: it.score_white,
            bound: it.bound,
            depth: u16::from(it.depth),
            source: Source::Search,
        });
        match (own, self.backed_up(node, own.filter(|own| own.bound == Bound::Exact))) {
            // A bound is not much, but it is more than what is less deep.
            (Some(own), Some(found)) if own.bound != Bound::Exact && own.depth >= found.depth => Some(own),
            (_, Some(found)) => Some(found),
            (own, None) => own,
        }
    }

    /// The better of what the book's moves are worth and what a search has found, which must be exact; `None` if no move has a
    /// value.
    fn backed_up(&self, node: &Node, own: Option<Value>) -> Option<Value> {
        let turn = node.turn();
        let own = own.map(|own| (own, own.score_white.to_engine(turn)));
        let best = node.searched.as_ref().and_then(|it| it.best_move);
        let mut is_refuted = false;
        let mut leader: Option<(Worth, Move, Bound)> = None;
        for edge in node.children.iter().filter(|edge| edge.backs) {
            let Some(value) = self.node(edge.child).value else { continue };
            let mut worth = Worth {
                score: one_ply_up(value.score_white.to_engine(!turn)),
                depth: value.depth.saturating_add(1),
            };
            if let Some((own, score)) = own {
                let is_deeper = is_proven(worth.score) || worth.depth > own.depth;
                if is_proven(score) || !is_deeper {
                    // A proof stands, unless by a shorter one.
                    let limit = if is_proven(worth.score) { worth.score } else { score };
                    worth.score = worth.score.min(limit);
                } else {
                    is_refuted |= best == Some(edge.mv);
                }
            }
            // Of equals the deeper, then the smaller move.
            if leader.is_none_or(|(best, ..)| worth > best) {
                leader = Some((worth, edge.mv, value.bound));
            }
        }
        let (worth, mv, bound) = leader?;
        let limit = own.map(|(_, score)| score);
        match own {
            Some((own, score)) if !is_refuted && score >= worth.score => return Some(own),
            _ => {}
        }
        // No move outside the book is better than a win, or than what the search says of all moves.
        let is_best = limit.is_some_and(|limit| worth.score >= limit) || worth.score > MAX_CM;
        let bound = if is_best { bound } else { Bound::Lower.from_white(turn) };
        let score_white = WhiteScore::from_engine(worth.score, turn);
        Some(Value { score_white, bound, depth: worth.depth, source: Source::BackedUp(mv) })
    }
}
