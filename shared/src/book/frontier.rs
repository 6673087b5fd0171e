//! Where a book is worth growing: best-first by drop-out cost.
//!
//! After Lincke, "Strategies for the automatic construction of opening books" (2001): whoever follows the book drops out of it
//! at some position with a move that is not there. How likely that is follows from how far each move on the way is from the
//! best one; a move that costs nothing will be played, one that throws the game away will not. So the cost of a line is the
//! sum of what its moves give away, those of one side and those of the other weighted apart, and a little for each ply. The
//! cheapest move outside the book is the one that it misses most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::{Book, Node, NodeId};
use crate::board::{Color, Move};
use crate::score::{MAX_CM, Score, WhiteScore};

/// So many moves more are looked for at first than are wanted.
const SPARE: usize = 16;

/// For whom a book is made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// One who plays this colour.
    Of(Color),
    /// Either of them: a line costs what it costs the one for whom it is cheaper.
    Both,
}

/// How a book grows. Weights are in percent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Whose moves are the book's own.
    pub side: Side,
    /// What each centi-square costs that an own move gives away. Own moves are the book's to choose, so this is the larger one.
    pub own_weight: u32,
    /// What each centi-square costs that a move of the other side gives away.
    pub other_weight: u32,
    /// What each ply costs, in centi-squares.
    pub ply_cost: u32,
    /// No move that costs more, in centi-squares, is added.
    pub max_cost: Option<u64>,
}

impl Default for Growth {
    fn default() -> Self {
        Self { side: Side::Both, own_weight: 200, other_weight: 100, ply_cost: 20, max_cost: None }
    }
}

/// A move that the book misses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The position in which it is made.
    pub parent: NodeId,
    /// The move.
    pub mv: Move,
    /// What the line costs, in centi-squares.
    pub cost: u64,
}

impl Book {
    /// The moves that the book misses most, the cheapest first, at most so many. A position that is in the book without a value
    /// counts as what its parent's search says of it, and nothing grows below it; so positions in flight are not chosen twice.
    #[must_use]
    pub fn frontier(&self, growth: &Growth, most: usize) -> Vec<Leaf> {
        let sides = match growth.side {
            Side::Of(color) => vec![color],
            Side::Both => Color::BOTH.to_vec(),
        };
        // Several moves may lead to one missing position, so that more of them are looked for than are wanted.
        let mut looked_for = 2 * most + SPARE;
        loop {
            // The cheapest way to each position that is missing, by its key.
            let mut leaves: BTreeMap<u64, Leaf> = BTreeMap::new();
            // All that cost less than this were looked at.
            let mut complete_below = u64::MAX;
            for &side in &sides {
                let found = self.leaves(growth, side, looked_for);
                if found.len() >= looked_for {
                    complete_below = complete_below.min(found.last().map_or(0, |leaf| leaf.cost));
                }
                for leaf in found {
                    let missing = self.node(leaf.parent).position.after(leaf.mv).canonical_key();
                    let known = leaves.entry(missing).or_insert(leaf);
                    if self.rank(&leaf) < self.rank(known) {
                        *known = leaf;
                    }
                }
            }
            let mut leaves: Vec<Leaf> = leaves.into_values().collect();
            leaves.sort_by_cached_key(|leaf| self.rank(leaf));
            leaves.truncate(most);
            let is_complete =
                leaves.len() == most && leaves.last().is_none_or(|leaf| leaf.cost < complete_below);
            if is_complete || complete_below == u64::MAX {
                return leaves;
            }
            looked_for *= 2;
        }
    }

    /// Cheaper first, then nearer to the start; the rest decides between equals, whoever came first.
    fn rank(&self, leaf: &Leaf) -> (u64, u32, u64, Move) {
        let parent = self.node(leaf.parent);
        (leaf.cost, parent.ply.unwrap_or(u32::MAX), parent.key(), leaf.mv)
    }

    /// The moves that the book of one side misses, with what the cheapest line to them costs (Dijkstra 1959): the cheapest, so
    /// many, in order.
    fn leaves(&self, growth: &Growth, side: Color, most: usize) -> Vec<Leaf> {
        let limit = growth.max_cost.unwrap_or(u64::MAX);
        let mut known = vec![false; self.len()];
        let mut queue: BinaryHeap<Reverse<(u64, NodeId)>> = self.roots().map(|id| Reverse((0, id))).collect();
        let mut cheapest: BTreeSet<((u64, u32, u64, Move), NodeId)> = BTreeSet::new();
        while let Some(Reverse((cost, id))) = queue.pop() {
            let worst = if cheapest.len() < most { None } else { cheapest.last().map(|(rank, _)| rank.0) };
            if worst.is_some_and(|worst| worst < cost) {
                break;
            }
            if std::mem::replace(&mut known[id.index()], true) {
                continue;
            }
            let node = self.node(id);
            let Some(best) = node.best_score() else { continue };
            let weight = if node.turn() == side { growth.own_weight } else { growth.other_weight };
            let price = |score: Score| {
                let given_away = u64::try_from(best.saturating_sub(score)).unwrap_or(0);
                cost + u64::from(growth.ply_cost) + given_away * u64::from(weight) / 100
            };
            for edge in &node.children {
                let score = self.score_of(node, edge.mv, edge.child);
                if let Some(cost) = score.map(price).filter(|&cost| cost <= limit) {
                    queue.push(Reverse((cost, edge.child)));
                }
            }
            for (mv, score) in node.missing() {
                let cost = price(score);
                if cost <= limit && worst.is_none_or(|worst| cost <= worst) {
                    cheapest.insert((self.rank(&Leaf { parent: id, mv, cost }), id));
                }
            }
            while cheapest.len() > most {
                cheapest.pop_last();
            }
        }
        let leaf = |((cost, _, _, mv), parent)| Leaf { parent, mv, cost };
        cheapest.into_iter().map(leaf).collect()
    }

    /// Where lines begin: the start, and what no line leads to.
    fn roots(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.ids().filter(|&id| {
            let node = self.node(id);
            node.ply == Some(0) || (node.ply.is_none() && node.parents.is_empty())
        })
    }

    /// What a move of the book is worth to the side that makes it.
    fn score_of(&self, node: &Node, mv: Move, child: NodeId) -> Option<Score> {
        let value = self.node(child).value.map(|value| value.score_white);
        value.or_else(|| node.found(mv)).map(|white| white.to_engine(node.turn()))
    }
}

impl Node {
    /// What the best move is worth to the side to move; `None` if that is not known, or if nothing can be learnt any more.
    fn best_score(&self) -> Option<Score> {
        match self.value?.score_white {
            WhiteScore::Cm(_) => Some(self.value?.score_white.to_engine(self.turn())),
            WhiteScore::WhiteWinsIn(_) | WhiteScore::BlackWinsIn(_) => None,
        }
    }

    /// What this position's own search says of a move.
    fn found(&self, mv: Move) -> Option<WhiteScore> {
        let searched = self.searched.as_ref()?;
        if searched.best_move == Some(mv) {
            return Some(searched.score_white);
        }
        searched.others.iter().find(|other| other.mv == mv).map(|other| other.score_white)
    }

    /// The moves of its search that are not in the book and do not lose, with their scores for the side to move. The scores of
    /// all but the best are mostly bounds: they are worth at most that.
    fn missing(&self) -> impl Iterator<Item = (Move, Score)> + '_ {
        let searched = self.searched.as_ref();
        let best = searched.and_then(|it| Some((it.best_move?, it.score_white)));
        let others = searched.into_iter().flat_map(|it| it.others.iter().map(|it| (it.mv, it.score_white)));
        // None of them ends the game, or the position were won.
        let is_missing = |mv: Move| self.children.binary_search_by_key(&mv, |edge| edge.mv).is_err();
        best.into_iter()
            .chain(others)
            .filter(move |&(mv, _)| is_missing(mv))
            .map(|(mv, score)| (mv, score.to_engine(self.turn())))
            .filter(|&(_, score)| score >= -MAX_CM)
    }
}
