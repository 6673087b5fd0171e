//! The line that leads to a position: of all lines from the start through the book the shortest, and of those the smallest,
//! move by move in the order of their names.
//!
//! A line is what is played on a board, so that both orientations of each position on the way must be told apart.

use std::collections::{BTreeMap, BTreeSet};

use super::{Book, NodeId};
use crate::board::Move;

/// A node, and whether it stands on the board as it is in the book.
type Stand = (NodeId, bool);

/// Lines through a book. They have their beginnings in common and are kept so, a move for each position, so that those of a
/// large book take little room; a line is put together when it is asked for.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// How each stand is reached: from which other one, with which move. Nothing leads to the start.
    reached: BTreeMap<Stand, Option<(Stand, Move)>>,
}

impl Lines {
    /// The line to a position as it is in the book; `None` if none leads there, or if it was not looked for.
    #[must_use]
    pub fn to(&self, id: NodeId) -> Option<Vec<Move>> {
        let mut step = self.reached.get(&(id, true))?;
        let mut line = Vec::new();
        while let Some((before, mv)) = step {
            line.push(*mv);
            step = self.reached.get(before)?;
        }
        line.reverse();
        Some(line)
    }
}

impl Book {
    /// The line to a position as it is in the book; `None` if none leads there.
    #[must_use]
    pub fn line_to(&self, id: NodeId) -> Option<Vec<Move>> {
        self.lines_to([id]).to(id)
    }

    /// The lines to all positions to which there is one.
    #[must_use]
    pub fn all_lines(&self) -> Lines {
        self.lines_to(self.ids())
    }

    fn lines_to(&self, ids: impl IntoIterator<Item = NodeId>) -> Lines {
        let mut lines = Lines::default();
        // In the order of their lines.
        let mut layer: Vec<Stand> = Vec::new();
        for (ply, ids) in self.ancestors(ids) {
            if ply == 0 {
                layer = ids.into_iter().map(|id| (id, true)).collect();
                lines.reached.extend(layer.iter().map(|&start| (start, None)));
                continue;
            }
            let next = self.next_layer(&layer, &ids);
            let step = |(&stand, &(rank, mv)): (&Stand, &(usize, Move))| (stand, Some((layer[rank], mv)));
            lines.reached.extend(next.iter().map(step));
            layer = next.keys().copied().collect();
            // Lines of a layer have the same length: the one before the last move decides, then that.
            layer.sort_by_cached_key(|stand| (next[stand].0, next[stand].1.to_string()));
        }
        lines
    }

    /// How some positions are reached from the layer before theirs: the place of the smallest line in it, and the move.
    fn next_layer(&self, layer: &[Stand], ids: &BTreeSet<NodeId>) -> BTreeMap<Stand, (usize, Move)> {
        let mut next: BTreeMap<Stand, (usize, Move)> = BTreeMap::new();
        // Parents come in the order of their lines, and a line and a position have one move between them: the first is the
        // smallest.
        for (rank, &(parent, stands)) in layer.iter().enumerate() {
            for edge in self.node(parent).children().iter().filter(|edge| ids.contains(&edge.child)) {
                for (stand, mv) in self.made(parent, stands, edge.mv, edge.child) {
                    next.entry(stand).or_insert((rank, mv));
                }
            }
        }
        next
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

    /// Some positions and all on shortest lines to them, by their plies; without those to which there is no line.
    fn ancestors(&self, ids: impl IntoIterator<Item = NodeId>) -> BTreeMap<u32, BTreeSet<NodeId>> {
        let mut found: BTreeMap<u32, BTreeSet<NodeId>> = BTreeMap::new();
        let mut waiting: Vec<NodeId> = ids.into_iter().collect();
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
