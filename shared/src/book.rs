//! The opening book: positions that belong together, what was found about each, and what follows from that for the others.
//!
//! A book is a graph. A node is a position in canonical orientation, so that transpositions and mirror images are one; there is
//! an edge wherever a legal move leads from one position of the book to another, whether a game of the book has played it or
//! not. What a book says is a function of its positions and of what was found about them, and of nothing else: not of the order
//! in which they came.
//!
//! - `links` keeps the edges, and how many plies a position is from the start.
//! - `backup` carries values up the graph by minimax.
//! - `frontier` says where the book is worth growing.
//! - `paths` finds the line that leads to a position; `record` is how others see one.
//! - `wanted` says which positions are still to be searched.

mod backup;
mod frontier;
mod links;
mod paths;
mod record;
#[cfg(test)]
mod tests;
mod wanted;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::board::{Color, Move, Position};
use crate::job::RootPrune;
use crate::score::{Bound, WhiteScore};

pub use frontier::{Growth, Leaf, Side};
pub use links::AssembleError;
pub use paths::Lines;
pub use record::{Bounded, Record};
pub use wanted::{Order, Wanted};

/// Number of a position within its book, in the order of arrival; never given twice.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The number, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a search found about a position, and how. Moves are those of the canonical orientation.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// Plies searched.
    pub depth: u8,
    /// The score.
    pub score_white: WhiteScore,
    /// What the score means, from White's view.
    pub bound: Bound,
    /// The best move.
    pub best_move: Option<Move>,
    /// The expected play, the best move first.
    pub pv: Vec<Move>,
    /// Positions visited.
    pub nodes: u64,
    /// Epoch of the engine.
    pub engine: Arc<str>,
    /// When it was found, in seconds since 1970.
    pub analysed_at: u64,
    /// Who searched the best move.
    pub worker: Arc<str>,
    /// How many lines got exact scores.
    pub multipv: u16,
    /// Which root moves were searched.
    pub prune: RootPrune,
    /// The same for any number of workers.
    pub deterministic: bool,
    /// The other searched moves, as far as that is known.
    pub others: Vec<Alternative>,
    /// The most that a search of the position has been given, this one or another that has found nothing better.
    pub effort: Effort,
}

/// What a search was given.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Positions visited.
    pub nodes: u64,
    /// Time, in milliseconds.
    pub ms: u64,
}

impl Effort {
    fn max(self, other: Self) -> Self {
        Self { nodes: self.nodes.max(other.nodes), ms: self.ms.max(other.ms) }
    }
}

/// What a book has learned from a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Learned {
    /// All that it has found.
    Value,
    /// Only that what was known is not improved by so much effort.
    Effort,
    /// Nothing.
    Nothing,
}

/// A root move that is not the best one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The move.
    pub mv: Move,
    /// Its score.
    pub score_white: WhiteScore,
    /// What the score means, from White's view.
    pub bound: Bound,
}

impl Searched {
    /// Whether this says more than what is there: a proof of the present engine's, then depth, then exactness; of equals the one
    /// of the present engine, then the one that has looked at more root moves. So a deeper value is never lost for a shallower
    /// one.
    #[must_use]
    pub fn supersedes(&self, old: &Self, engine: &str) -> bool {
        let worth = |it: &Self| {
            let breadth = (wanted::breadth(it.prune), it.multipv);
            (
                it.is_proven() && *it.engine == *engine,
                it.depth,
                it.bound == Bound::Exact,
                *it.engine == *engine,
                breadth,
            )
        };
        worth(self) > worth(old)
    }

    /// The same, with smaller moves where the mirror image of a move leads to the mirror image of a position.
    fn folded(mut self, position: &Position) -> Self {
        let chosen = |mv| links::chosen(position, mv);
        if self.best_move.is_some_and(|best| chosen(best) != best) {
            self.best_move = self.best_move.map(Move::mirrored);
            self.pv.iter_mut().for_each(|mv| *mv = mv.mirrored());
        }
        let best = self.best_move;
        let mut seen = BTreeSet::new();
        self.others.iter_mut().for_each(|other| other.mv = chosen(other.mv));
        self.others.retain(|other| Some(other.mv) != best && seen.insert(other.mv));
        self
    }

    fn is_proven(&self) -> bool {
        !matches!(self.score_white, WhiteScore::Cm(_)) && self.bound == Bound::Exact
    }
}

/// Where a value comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The rules: the game is over.
    Rules,
    /// A search of this very position.
    Search,
    /// The position after this move.
    BackedUp(Move),
}

/// What a book says of a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The score.
    pub score_white: WhiteScore,
    /// What the score means, from White's view. One that is backed up is a bound where moves outside the book may be better.
    pub bound: Bound,
    /// How many plies below the position it was looked, moves within the book included.
    pub depth: u16,
    /// Where it comes from.
    pub source: Source,
}

/// A move that stays in the book.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The move, in the orientation of the position that it is made in.
    pub mv: Move,
    /// The position after it.
    pub child: NodeId,
    /// Values go up this edge. They do not where it leads back to a position nearer to the start that this one was reached from:
    /// whoever repeats has found nothing new, and without that a value could go round for ever.
    pub backs: bool,
}

/// A position of the book.
#[derive(Clone, Debug)]
pub struct Node {
    position: Position,
    searched: Option<Searched>,
    value: Option<Value>,
    /// Sorted by move.
    children: Vec<Edge>,
    parents: Vec<NodeId>,
    ply: Option<u32>,
    /// Order of evaluation among the positions with the same walls; see `links`.
    place: u32,
}

impl Node {
    /// The position, in canonical orientation.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Its key.
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.position.canonical_key()
    }

    /// What a search found about it.
    #[must_use]
    pub const fn searched(&self) -> Option<&Searched> {
        self.searched.as_ref()
    }

    /// What the book says of it. After a change that is right once [`Book::settle`] has been called.
    #[must_use]
    pub const fn value(&self) -> Option<Value> {
        self.value
    }

    /// The moves that stay in the book, sorted. Of two that are each other's mirror image in a symmetrical position only the
    /// smaller one is there.
    #[must_use]
    pub fn children(&self) -> &[Edge] {
        &self.children
    }

    /// The positions from which a move leads here.
    #[must_use]
    pub fn parents(&self) -> &[NodeId] {
        &self.parents
    }

    /// Plies of the shortest line from the start through the book; `None` if there is none.
    #[must_use]
    pub const fn ply(&self) -> Option<u32> {
        self.ply
    }

    /// The game is over here.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.position.winner().is_some()
    }

    fn turn(&self) -> Color {
        self.position.turn()
    }
}

/// Two positions with the same key. Keys have 64 bits, so that nobody has ever seen this.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another position has the key {0:016x}")]
pub struct KeyCollision(pub u64);

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Book {
    nodes: Vec<Node>,
    by_key: BTreeMap<u64, NodeId>,
    /// Positions with the same walls, the only ones among which play can go round; and those of which something has changed.
    groups: BTreeMap<links::Group, Vec<NodeId>>,
    loose: BTreeSet<links::Group>,
    /// Nodes whose value must be looked at.
    stale: BTreeSet<NodeId>,
}

impl Book {
    /// A book without positions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of positions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// There is no position.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A position of the book.
    ///
    /// # Panics
    /// The number is another book's.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All positions, in the order of arrival.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// All positions, in the order of their keys.
    pub fn by_key(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.by_key.values().copied()
    }

    /// The position of the book with this key.
    #[must_use]
    pub fn with_key(&self, key: u64) -> Option<NodeId> {
        self.by_key.get(&key).copied()
    }

    /// Where a position is in the book, in either orientation.
    #[must_use]
    pub fn find(&self, position: &Position) -> Option<NodeId> {
        let id = self.with_key(position.canonical_key())?;
        (self.node(id).position == canonical(position)).then_some(id)
    }

    /// Adds a position, in either orientation, with all its edges. Returns its number, and whether it is new.
    ///
    /// # Errors
    /// Another position has the same key; nothing has changed.
    pub fn insert(&mut self, position: &Position) -> Result<(NodeId, bool), KeyCollision> {
        let position = canonical(position);
        if let Some(id) = self.with_key(position.canonical_key()) {
            let there = self.node(id).position;
            return if there == position {
                Ok((id, false))
            } else {
                Err(KeyCollision(position.canonical_key()))
            };
        }
        let (id, _) = self.push(position);
        self.link(id);
        Ok((id, true))
    }

    /// Adds a position in canonical orientation without its edges, unless its key is there.
    fn push(&mut self, position: Position) -> (NodeId, bool) {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        match self.by_key.entry(position.canonical_key()) {
            Entry::Occupied(there) => return (*there.get(), false),
            Entry::Vacant(place) => place.insert(id),
        };
        self.nodes.push(Node {
            position,
            searched: None,
            value: None,
            children: Vec::new(),
            parents: Vec::new(),
            ply: None,
            place: 0,
        });
        let group = links::group(&position);
        self.groups.entry(group).or_default().push(id);
        self.loose.insert(group);
        self.stale.insert(id);
        (id, true)
    }

    /// Takes in what a search found about a position, unless what is there says more. In a symmetrical position the smaller of
    /// two best moves stands for both.
    pub fn learn(&mut self, id: NodeId, found: Searched, engine: &str) -> Learned {
        let node = &mut self.nodes[id.index()];
        let mut found = found.folded(&node.position);
        if let Some(old) = &mut node.searched {
            // What another engine has tried says nothing about this one.
            let effort = if old.engine == found.engine { old.effort.max(found.effort) } else { found.effort };
            if !found.supersedes(old, engine) {
                let is_more = old.engine == found.engine && effort != old.effort;
                old.effort = if is_more { effort } else { old.effort };
                return if is_more { Learned::Effort } else { Learned::Nothing };
            }
            found.effort = effort;
        }
        node.searched = Some(found);
        self.stale.insert(id);
        Learned::Value
    }

    /// Brings all values up to date. Returns the positions of which the book says something else now, each once.
    pub fn settle(&mut self) -> Vec<NodeId> {
        self.order_loose_groups();
        self.back_up()
    }
}

impl PartialEq for Book {
    /// Whether two books say the same.
    fn eq(&self, other: &Self) -> bool {
        self.records().eq(other.records())
    }
}

/// A position as it stands in a book.
#[must_use]
pub fn canonical(position: &Position) -> Position {
    if position.is_canonical() { *position } else { position.mirrored() }
}
