//! The line that leads to a position: of all lines from the start through the book the shortest, and of those the smallest,
//! move by move in the order of their names.
//!
//! A line is what is played on a board, so that both orientations of each position on the way must be told apart.

use std::collections::{BTreeMap, BTreeSet};

use super::{Book, NodeId};
use crate::board::Move;

/// A node, and whether it stands on the board as it is in the book.
type Stand = (NodeId, bool);

impl Book {
    /// The line to a position as it is in the book; `None` if none leads there.
    #[must_use]
    pub fn line_to(&self, id: NodeId) -> Option<Vec<Move>> {
        self.lines_to([id]).remove(&id)
    }

    /// The lines to all positions to which there is one.
    #[must_use]
    pub fn all_lines(&self) -> BTreeMap<NodeId, Vec<Move>> {
        self.lines_to(self.ids())
    }

    fn lines_to(&self, ids: impl IntoIterator<Item = NodeId>) -> BTreeMap<NodeId, Vec<Move>> {
        let wanted: Vec<NodeId> = ids.into_iter().filter(|&id| self.node(id).ply().is_some()).collect();
        let mut lines: BTreeMap<Stand, Vec<Move>> = BTreeMap::new();
        let mut layer: Vec<Stand> = Vec::new();
        for ids in self.ancestors(&wanted).into_values() {
            let mut next: BTreeMap<Stand, Vec<Move>> = BTreeMap::new();
            if layer.is_empty() {
                for &id in &ids {
                    next.insert((id, true), Vec::new());
                }
            }
            // Parents come in the order of their lines, and a line and a position have one move between them: the first is the
            // smallest.
            for &(parent, stands) in &layer {
                let line = &lines[&(parent, stands)];
                for edge in self.node(parent).children().iter().filter(|edge| ids.contains(&edge.child)) {
                    for (stand, mv) in self.made(parent, stands, edge.mv, edge.child) {
                        next.entry(stand).or_insert_with(|| [&line[..], &[mv]].concat());
                    }
                }
            }
            layer = next.keys().copied().collect();
            lines.extend(next);
            layer.sort_by_cached_key(|stand| names(&lines[stand]));
        }
        wanted.into_iter().filter_map(|id| Some((id, lines.remove(&(id, true))?))).collect()
    }

    /// What is on the board after a move of the book, in the orientations in which it can be made, with what is played.
    fn made(&self, parent: NodeId, stands: bool, mv: Move, child: NodeId) -> Vec<(Stand, Move)> {
        let here = self.node(parent).position();
        let board = if stands { *here } else { here.mirrored() };
        let played = if stands { mv } else { mv.mirrored() };
        let mut plays = vec![played];
        if here.mirrored() == *here && played.mirrored() != played {
            plays.push(played.mirrored());
        }
        let mut made = Vec::new();
        for mv in plays {
            let after = board.after(mv);
            let position = self.node(child).position();
            if after == *position {
                made.push(((child, true), mv));
            }
            if after == position.mirrored() {
                made.push(((child, false), mv));
            }
        }
        made
    }

    /// All positions on shortest lines to some, by their plies.
    fn ancestors(&self, ids: &[NodeId]) -> BTreeMap<u32, BTreeSet<NodeId>> {
        let mut found: BTreeMap<u32, BTreeSet<NodeId>> = BTreeMap::new();
        let mut waiting = ids.to_vec();
        while let Some(id) = waiting.pop() {
            let Some(ply) = self.node(id).ply() else { continue };
            if !found.entry(ply).or_default().insert(id) {
                continue;
            }
            let parents = self.node(id).parents().iter().copied();
            waiting.extend(parents.filter(|&parent| self.node(parent).ply().is_some_and(|it| it + 1 == ply)));
        }
        found
    }
}

fn names(line: &[Move]) -> Vec<String> {
    line.iter().map(Move::to_string).collect()
}
