//! A position of a book as others see it: with its line, its value and where that came from.

use std::ops::Bound as End;

use super::{Book, Edge, Node, NodeId, Searched, Source, Value};
use crate::board::{Move, Position};
use crate::score::{Bound, WhiteScore};

/// A score from White's view, and what it means, without which an upper bound would look like a value.
pub type Bounded = (WhiteScore, Bound);

/// A position of a book, complete in itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The position, in canonical orientation.
    pub position: Position,
    /// The shortest and then smallest line from the start through the book to it; `None` if there is none.
    pub moves: Option<Vec<Move>>,
    /// What a search found about it.
    pub searched: Option<Searched>,
    /// What the book says of it.
    pub value: Option<Value>,
    /// The moves that stay in the book, sorted by name, with what the book says of the positions after them.
    pub children: Vec<(Move, Option<Bounded>)>,
}

impl Record {
    /// The position's key.
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.position.canonical_key()
    }

    /// The same in the orientation of a position: this one, or its mirror image.
    #[must_use]
    pub fn turned(mut self, position: &Position) -> Self {
        if self.position == *position {
            return self;
        }
        self.position = *position;
        let turn = |mv: &mut Move| *mv = mv.mirrored();
        self.moves.iter_mut().flatten().for_each(turn);
        if let Some(searched) = &mut self.searched {
            searched.best_move.iter_mut().for_each(turn);
            searched.pv.iter_mut().for_each(turn);
            searched.others.iter_mut().for_each(|other| turn(&mut other.mv));
        }
        if let Some(Value { source: Source::BackedUp(mv), .. }) = &mut self.value {
            turn(mv);
        }
        self.children.iter_mut().for_each(|(mv, _)| turn(mv));
        self.children.sort_by_cached_key(|(mv, _)| mv.to_string());
        self
    }

    /// The value of the book's moves and the search together; `None` if no move of the book has a value.
    #[must_use]
    pub fn backed_up(&self) -> Option<Value> {
        let is_backed = self.children.iter().any(|(_, score)| score.is_some());
        self.value.filter(|value| is_backed && value.source != Source::Rules)
    }
}

impl Book {
    /// One position.
    #[must_use]
    pub fn record(&self, id: NodeId) -> Record {
        self.record_with(id, self.line_to(id))
    }

    /// All positions, in the order of their keys.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        let lines = self.all_lines();
        self.by_key().map(move |id| self.record_with(id, lines.to(id)))
    }

    /// All positions, or those behind a key, in the order of their keys. Each is made when it is asked for: a record takes many
    /// times the room of the position that it is made of.
    pub fn into_records(self, after: Option<u64>) -> impl Iterator<Item = Record> + Send + use<> {
        let lines = self.all_lines();
        let mut from = after.map_or(End::Unbounded, End::Excluded);
        std::iter::from_fn(move || {
            let (&key, &id) = self.by_key.range((from, End::Unbounded)).next()?;
            from = End::Excluded(key);
            Some(self.record_with(id, lines.to(id)))
        })
    }

    fn record_with(&self, id: NodeId, moves: Option<Vec<Move>>) -> Record {
        let node: &Node = self.node(id);
        let said = |edge: &Edge| {
            let value = self.node(edge.child).value;
            (edge.mv, value.map(|value| (value.score_white, value.bound)))
        };
        let mut children: Vec<_> = node.children.iter().map(said).collect();
        children.sort_by_cached_key(|(mv, _)| mv.to_string());
        Record {
            position: node.position,
            moves,
            searched: node.searched.clone(),
            value: node.value,
            children,
        }
    }
}
