//! Values go up the graph by minimax.
//!
//! A search of a position has looked at all its moves to its depth; the book knows some of them deeper. Where a move of the
//! book was looked at deeper than by the search, that is what the move is worth. What was looked at less deep cannot be better
//! than what the search says of all moves. And where the book has refuted the best move of the search, the others are known
//! to be no better than that one was; what the book has of them stands, as a bound.
//!
//! Of a position without a search of its own the book knows nothing but the moves that are in it. So it says at most that the
//! side to move has that much, and nothing where that would only be that it may lose.

use std::collections::BTreeSet;

use super::links::in_hand;
use super::{Book, Node, NodeId, Source, Value};
use crate::board::{Color, Move};
use crate::score::{Bound, MAX_CM, Score, WhiteScore, win_in};

/// What a move is worth to the side that makes it, and how deep that was looked at.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    score: Score,
    depth: u16,
}

/// What is known of a move of the book, from the view of the side that makes it.
#[derive(Copy, Clone)]
struct Known {
    mv: Move,
    worth: Worth,
    bound: Bound,
}

impl Known {
    /// It is worth at least so much.
    fn is_floor(&self) -> bool {
        self.bound != Bound::Upper
    }

    /// It is worth at most so much.
    fn is_ceiling(&self) -> bool {
        self.bound != Bound::Lower
    }

    /// It wins or loses for sure.
    fn is_proof(&self) -> bool {
        let score = self.worth.score;
        (score > MAX_CM && self.is_floor()) || (score < -MAX_CM && self.is_ceiling())
    }

    /// Of equals the deeper, then the first.
    fn better(self, other: Self) -> Self {
        if other.worth > self.worth { other } else { self }
    }

    /// As a position's value; the bound is the mover's.
    fn value(&self, turn: Color, bound: Bound) -> Value {
        Value {
            score_white: WhiteScore::from_engine(self.worth.score, turn),
            bound: bound.from_white(turn),
            depth: self.worth.depth,
            source: Source::BackedUp(self.mv),
        }
    }
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
        let found = match own.filter(|own| own.bound == Bound::Exact) {
            Some(own) => Some(self.beside(node, own)),
            None => self.without_search(node),
        };
        match (own, found) {
            // A bound is not much, but it is more than what is less deep.
            (Some(own), Some(found)) if own.bound != Bound::Exact && own.depth >= found.depth => Some(own),
            (own, found) => found.or(own),
        }
    }

    /// What the moves of the book are known to be worth, as far as values go up.
    fn moves_of<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Known> + 'a {
        let turn = node.turn();
        node.children.iter().filter(|edge| edge.backs).filter_map(move |edge| {
            let value = self.node(edge.child).value?;
            let worth = Worth {
                score: one_ply_up(value.score_white.to_engine(!turn)),
                depth: value.depth.saturating_add(1),
            };
            Some(Known { mv: edge.mv, worth, bound: value.bound.from_white(turn) })
        })
    }

    /// What a position is worth of which only some moves are known: the best of those, for the side to move has at least that.
    fn without_search(&self, node: &Node) -> Option<Value> {
        let leader = self.moves_of(node).filter(Known::is_floor).reduce(Known::better)?;
        if leader.worth.score < -MAX_CM {
            return None;
        }
        // No move outside the book is better than a win.
        let is_win = leader.worth.score > MAX_CM;
        Some(leader.value(node.turn(), if is_win { leader.bound } else { Bound::Lower }))
    }

    /// What an exact search and the moves that the book knows deeper say together.
    fn beside(&self, node: &Node, own: Value) -> Value {
        let turn = node.turn();
        let score = own.score_white.to_engine(turn);
        let best = node.searched.as_ref().and_then(|it| it.best_move);
        let (mut is_refuted, mut is_open) = (false, false);
        let mut leader: Option<Known> = None;
        for mut known in self.moves_of(node) {
            let is_deeper = known.is_proof() || (known.worth.depth > own.depth && !is_proven(score));
            if is_deeper {
                let is_worse = known.worth.score < score;
                is_refuted |= best == Some(known.mv) && is_worse && known.is_ceiling();
                // Better than the search has said, and nobody knows how much.
                is_open |= !is_worse && known.bound == Bound::Lower && known.worth.score <= MAX_CM;
            } else {
                known.worth.score = known.worth.score.min(score);
            }
            if known.is_floor() {
                leader = Some(leader.map_or(known, |leader| leader.better(known)));
            }
        }
        // A proof stands, unless there is a shorter win.
        if is_proven(score) && leader.is_none_or(|leader| leader.worth.score <= score.max(MAX_CM)) {
            return own;
        }
        match leader {
            Some(leader) if leader.worth.score > score => {
                leader.value(turn, if is_open { Bound::Lower } else { leader.bound })
            }
            Some(leader) if is_refuted && leader.worth.score == score => leader.value(turn, Bound::Exact),
            _ if !is_refuted => own,
            // The other moves are no better than that one was; the side to move has what is known of them.
            Some(leader) if leader.worth.score >= -MAX_CM => leader.value(turn, Bound::Lower),
            _ => Value { bound: Bound::Upper.from_white(turn), ..own },
        }
    }
}
