//! Edges, and the order in which values may go up them.
//!
//! A wall that stands never goes away again, so play can go round only among positions with the same walls: a *group*. Within
//! a group the strongly connected components (Tarjan 1972) are what can go round; inside one of them, values go up only those
//! edges that lead away from the start, counted in plies, and by key where that is equal. So there is an order in which each
//! position comes after all those that its value depends on, and it depends on the book's content alone.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::{Book, Edge, Node, NodeId, Searched};
use crate::board::{Color, Move, Orientation, Position, Square, Wall};

/// What the positions of a group have in common: the walls, of two mirror images the smaller, and the walls in hand.
pub(super) type Group = ([u64; 2], [u8; 2]);

pub(super) fn group(position: &Position) -> Group {
    let walls = |position: &Position| {
        [Orientation::Horizontal, Orientation::Vertical].map(|it| position.wall_slots(it))
    };
    (walls(position).min(walls(&position.mirrored())), Color::BOTH.map(|color| position.walls_in_hand(color)))
}

/// Walls in hand of both: less, the more have been played.
pub(super) fn in_hand(position: &Position) -> u8 {
    Color::BOTH.iter().map(|&color| position.walls_in_hand(color)).sum()
}

/// A move, of two that are each other's mirror image in a symmetrical position the smaller one.
pub(super) fn chosen(position: &Position, mv: Move) -> Move {
    if is_symmetrical(position) { mv.min(mv.mirrored()) } else { mv }
}

fn is_symmetrical(position: &Position) -> bool {
    position.mirrored() == *position
}

impl Book {
    /// Finds the edges of a new position, both ways.
    pub(super) fn link(&mut self, id: NodeId) {
        let position = self.node(id).position;
        for mv in position.legal_moves().iter().copied().filter(|&mv| chosen(&position, mv) == mv) {
            if let Some(child) = self.find(&position.after(mv)) {
                self.nodes[id.index()].children.push(Edge { mv, child, backs: true });
                self.nodes[child.index()].parents.push(id);
            }
        }
        self.nodes[id.index()].children.sort_by_key(|edge| edge.mv);
        for (before, mv) in predecessors(&position) {
            let Some(parent) = self.find(&before) else { continue };
            let mv = if before.is_canonical() { mv } else { mv.mirrored() };
            self.add_edge(parent, mv, id);
        }
        self.come_nearer(id);
    }

    /// A book from its positions, each once, and all its edges, as they were found before. That is much quicker than to find them,
    /// and believed: see [`Book::missing_edges`].
    ///
    /// # Errors
    /// A position is there twice, or an edge's end is not.
    pub fn assemble(
        positions: Vec<(Position, Option<Searched>)>,
        edges: impl IntoIterator<Item = (u64, Move, u64)>,
    ) -> Result<Self, AssembleError> {
        let mut book = Self::new();
        for (position, searched) in positions {
            let (id, is_new) = book.push(position);
            if !is_new {
                return Err(AssembleError::Twice(position.canonical_key()));
            }
            book.nodes[id.index()].searched = searched;
        }
        for (parent, mv, child) in edges {
            let end = |key| book.with_key(key).ok_or(AssembleError::Dangling(parent, mv));
            let (parent, child) = (end(parent)?, end(child)?);
            book.nodes[parent.index()].children.push(Edge { mv, child, backs: true });
            book.nodes[child.index()].parents.push(parent);
        }
        for node in &mut book.nodes {
            node.children.sort_by_key(|edge| edge.mv);
        }
        if let Some(start) = book.find(&Position::start()) {
            book.come_nearer(start);
        }
        book.settle();
        Ok(book)
    }

    /// The legal moves between positions of the book that are no edges; none, unless it was assembled without them.
    pub fn missing_edges(&self) -> impl Iterator<Item = (NodeId, Move)> + '_ {
        self.ids().flat_map(move |id| {
            let node = self.node(id);
            let is_missing = move |mv: &Move| {
                chosen(&node.position, *mv) == *mv
                    && node.children.binary_search_by_key(mv, |edge| edge.mv).is_err()
                    && self.find(&node.position.after(*mv)).is_some()
            };
            let moves: Vec<Move> = node.position.legal_moves().iter().copied().filter(is_missing).collect();
            moves.into_iter().map(move |mv| (id, mv))
        })
    }

    fn add_edge(&mut self, parent: NodeId, mv: Move, child: NodeId) {
        let node = &mut self.nodes[parent.index()];
        let mv = chosen(&node.position, mv);
        if let Err(place) = node.children.binary_search_by_key(&mv, |edge| edge.mv) {
            node.children.insert(place, Edge { mv, child, backs: true });
            self.nodes[child.index()].parents.push(parent);
        }
    }

    /// Counts the plies to a new position, and to those that are nearer to the start through it.
    fn come_nearer(&mut self, id: NodeId) {
        let node = self.node(id);
        let through_a_parent = node.parents.iter().filter_map(|&parent| self.node(parent).ply).min();
        let is_start = node.position == Position::start();
        let Some(ply) = (if is_start { Some(0) } else { through_a_parent.map(|ply| ply + 1) }) else {
            return;
        };
        self.nodes[id.index()].ply = Some(ply);
        let mut reached = VecDeque::from([id]);
        while let Some(from) = reached.pop_front() {
            let Node { ply, children, .. } = &self.nodes[from.index()];
            let next = ply.map_or(u32::MAX, |ply| ply + 1);
            for child in children.iter().map(|edge| edge.child).collect::<Vec<_>>() {
                let node = &mut self.nodes[child.index()];
                if node.ply.is_none_or(|ply| ply > next) {
                    node.ply = Some(next);
                    self.loose.insert(group(&node.position));
                    reached.push_back(child);
                }
            }
        }
    }

    /// Finds the order of evaluation in the groups of which something has changed.
    pub(super) fn order_loose_groups(&mut self) {
        for group in std::mem::take(&mut self.loose) {
            let Some(members) = self.groups.get_mut(&group) else { continue };
            members.sort_unstable();
            let members = members.clone();
            self.order(&members);
            self.stale.extend(members);
        }
    }

    /// How far from the start a position is, for comparison within a group.
    fn distance(&self, id: NodeId) -> (u32, u64) {
        let node = self.node(id);
        (node.ply.unwrap_or(u32::MAX), node.key())
    }

    fn order(&mut self, members: &[NodeId]) {
        let edges: Vec<Vec<usize>> = members
            .iter()
            .map(|&id| {
                let children = self.node(id).children.iter();
                children.filter_map(|edge| members.binary_search(&edge.child).ok()).collect()
            })
            .collect();
        let components = components(&edges);
        let mut component_of = vec![0; members.len()];
        let mut place = 0;
        for (number, component) in components.into_iter().enumerate() {
            let mut ids: Vec<usize> = component;
            ids.sort_by_key(|&member| Reverse(self.distance(members[member])));
            for member in ids {
                component_of[member] = number;
                self.nodes[members[member].index()].place = place;
                place += 1;
            }
        }
        for (member, &id) in members.iter().enumerate() {
            let here = self.distance(id);
            let goes_on = |edge: &Edge| match members.binary_search(&edge.child) {
                Ok(child) if component_of[child] == component_of[member] => self.distance(edge.child) > here,
                _ => true,
            };
            let backs: Vec<bool> = self.node(id).children.iter().map(goes_on).collect();
            for (edge, backs) in self.nodes[id.index()].children.iter_mut().zip(backs) {
                edge.backs = backs;
            }
        }
    }
}

/// Why positions and edges do not make a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// A position is there twice.
    #[error("key {0:016x} is there twice")]
    Twice(u64),
    /// An edge leads to or from a position that is not there.
    #[error("move {1} of position {0:016x} leads from or to a position that is not in the book")]
    Dangling(u64, Move),
}

/// Tarjan's algorithm without recursion: the strongly connected components, each after all that it leads to.
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut index = vec![UNSEEN; edges.len()];
    let mut low = vec![UNSEEN; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        // Each call in progress, and which of its edges comes next.
        let mut calls = if index[root] == UNSEEN { vec![(root, 0)] } else { Vec::new() };
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 {
                (index[node], low[node], on_stack[node]) = (next, next, true);
                stack.push(node);
                next += 1;
            } else {
                let child = edges[node][edge - 1];
                if on_stack[child] {
                    low[node] = low[node].min(low[child]);
                }
            }
            if let Some(&child) = edges[node].get(edge) {
                calls.push((node, edge + 1));
                if index[child] == UNSEEN {
                    calls.push((child, 0));
                }
                continue;
            }
            if low[node] == index[node] {
                let first = stack.iter().rposition(|&it| it == node).unwrap_or(0);
                let component = stack.split_off(first);
                component.iter().for_each(|&it| on_stack[it] = false);
                found.push(component);
            }
        }
    }
    found
}

/// The positions from which a legal move leads to this one, with the moves.
fn predecessors(position: &Position) -> Vec<(Position, Move)> {
    let mover = !position.turn();
    let walls: Vec<Wall> = position.walls().collect();
    let in_hand = Color::BOTH.map(|color| position.walls_in_hand(color));
    let pawns = Color::BOTH.map(|color| position.pawn(color));
    let mut found = Vec::new();
    let mut consider = |walls: &[Wall], pawns: [Square; 2], in_hand: [u8; 2], mv: Move| {
        if let Ok(before) = Position::from_parts(walls, pawns, in_hand, mover)
            && before.play(mv).is_ok_and(|after| after == *position)
        {
            found.push((before, mv));
        }
    };
    let mut with_one_more = in_hand;
    with_one_more[mover.index()] += 1;
    for (place, &wall) in walls.iter().enumerate() {
        let mut others = walls.clone();
        others.remove(place);
        consider(&others, pawns, with_one_more, Move::wall(wall));
    }
    let target = pawns[mover.index()];
    for from in Square::all() {
        let apart = from.row().abs_diff(target.row()) + from.column().abs_diff(target.column());
        if (1..=2).contains(&apart) {
            let mut before = pawns;
            before[mover.index()] = from;
            consider(&walls, before, in_hand, Move::pawn(target));
        }
    }
    found
}
