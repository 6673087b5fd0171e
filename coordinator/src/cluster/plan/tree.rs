//! The master tree: what is known about the nodes below the root that are searched apart from each other.
//!
//! It is declarative. A walk asks for the value of a node at a depth and in a window; whatever is known answers at once,
//! and where nothing decides the walk says which units of search would. Results only add knowledge. So nothing has to be
//! kept in step: a unit that no walk asks for any more is of no use, whatever the reason.
//!
//! Scores are those of the side to move at the node, win distances counted from the root.

use corridor_shared::board::{Move, Position};
use corridor_shared::exchange::{SharedEntry, folded, shared_key};
use corridor_shared::job::{Attempt, UnitId, WorkerId};
use corridor_shared::score::{Bound, INFINITE, MAX_CM, Score};
use corridor_shared::search::{PruneMode, SplitMove, Window, depth_without_move, split_moves};

use super::walk::Prefix;
use super::wants::Look;
use crate::limits::MAX_TREE_NODES;

/// Depths of a node about which knowledge is kept.
const KNOWN_DEPTHS: usize = 3;
/// Results are kept of so many times as many positions as there may be nodes: they outlive the nodes that they were found
/// for, which are made again in the next iteration.
const TABLE_SHARE: usize = 3;
/// Nodes that a split one will probably need.
const SPLIT_ROOM: usize = 64;
/// Work grows by about so much with each ply.
const GROWTH: f64 = 1.8;

/// By the key of a position. It is asked for one key at a time, so its order is of no consequence.
#[expect(clippy::disallowed_types, reason = "asked in every look, and nothing depends on its order")]
type ByKey<T> = std::collections::HashMap<u64, T>;

/// A node of the tree.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    pub(super) const ROOT: Self = Self(0);

    pub(super) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Between which scores a value lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) low: Score,
    pub(super) high: Score,
}

impl Bounds {
    pub(super) const UNKNOWN: Self = Self { low: -INFINITE, high: INFINITE };

    pub(super) const fn exact(score: Score) -> Self {
        Self { low: score, high: score }
    }

    const fn of(score: Score, bound: Bound) -> Self {
        match bound {
            Bound::Exact => Self::exact(score),
            Bound::Lower => Self { low: score, high: INFINITE },
            Bound::Upper => Self { low: -INFINITE, high: score },
        }
    }

    /// As one score with its bound; `None` when nothing is known.
    const fn score(self) -> Option<(Score, Bound)> {
        if self.low == self.high {
            Some((self.low, Bound::Exact))
        } else if self.low > -INFINITE {
            Some((self.low, Bound::Lower))
        } else if self.high < INFINITE {
            Some((self.high, Bound::Upper))
        } else {
            None
        }
    }

    /// Whether nothing more is to be learned in this window.
    pub(super) const fn decide(self, alpha: Score, beta: Score) -> bool {
        self.high <= alpha || self.low >= beta || self.low == self.high
    }

    /// The part of it that is a proof.
    const fn proven(self) -> Self {
        Self {
            low: if self.low > MAX_CM { self.low } else { -INFINITE },
            high: if self.high < -MAX_CM { self.high } else { INFINITE },
        }
    }

    /// What both say; `None` when they contradict each other.
    fn and(self, other: Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }
}

impl std::ops::Neg for Bounds {
    type Output = Self;

    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

/// A child of a split node. Most are never looked at: the node is made when it first is.
#[derive(Copy, Clone, Debug)]
pub(super) struct Child {
    pub(super) by: SplitMove,
    pub(super) node: Option<NodeId>,
}

impl Child {
    const fn new(by: SplitMove) -> Self {
        Self { by, node: None }
    }
}

/// A unit that came back without a result: its next lease is the next attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// The unit.
    pub(crate) unit: UnitId,
    /// The attempt that is next.
    pub(crate) attempt: Attempt,
    /// The depth to which it searches.
    pub(crate) depth: i32,
}

/// A node that is, or may be, searched apart.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: Option<NodeId>,
    /// The move that leads here.
    pub(super) mv: Move,
    pub(super) ply: u8,
    pub(super) position: Position,
    /// Deepest first.
    known: Vec<(i32, Bounds)>,
    /// Expected play from here, or the first moves of what proves a bound.
    pub(super) line: Vec<Move>,
    /// The depth and the exact score to which the line leads. Two bounds can meet in a score without one.
    lined: Option<(i32, Score)>,
    /// In the order in which they are tried.
    pub(super) children: Vec<Child>,
    /// Legal moves that are searched only before a loss is believed.
    unsearched: Vec<SplitMove>,
    /// The depth for which the children are in order.
    ordered_for: i32,
    /// It is split when it is searched to this depth.
    pub(super) split_for: Option<i32>,
    /// The depth to which its children are searched, plus one: less than what was asked when it had no best move.
    pub(super) searched_depth: i32,
    /// What is known of it holds on its path only.
    pub(super) path_dependent: bool,
    /// It sheds: it is split for whatever depth it is wanted next.
    pub(super) must_split: bool,
    /// The leading children that are decided.
    pub(super) prefix: Option<Prefix>,
    /// What the last look at it has said, if nothing has changed since.
    pub(super) look: Option<Box<Look>>,
    /// Another node of the same position.
    twin: Option<NodeId>,
    /// The look that last named it as wanted, and its place there.
    pub(super) wanted: (u64, u32),
    /// The iteration that last walked through it as a split node.
    pub(super) walked: u8,
    /// The depth that is wanted now, and what was spent on it so far.
    wanted_depth: i32,
    pub(super) nodes: u64,
    /// What a search to a depth took.
    cost: Option<(i32, u64)>,
    /// Who searched it last: whose table knows it.
    pub(super) home: Option<WorkerId>,
    pub(super) leases: Vec<UnitId>,
    /// Leases of this node and of all below it.
    pub(super) active: u32,
    pub(super) retry: Option<Retry>,
}

impl Node {
    fn new(parent: Option<NodeId>, mv: Move, ply: u8, position: Position) -> Self {
        Self {
            parent,
            mv,
            ply,
            position,
            known: Vec::new(),
            line: Vec::new(),
            lined: None,
            children: Vec::new(),
            unsearched: Vec::new(),
            ordered_for: -1,
            split_for: None,
            searched_depth: -1,
            path_dependent: false,
            must_split: false,
            prefix: None,
            look: None,
            twin: None,
            wanted: (0, 0),
            walked: 0,
            wanted_depth: -1,
            nodes: 0,
            cost: None,
            home: None,
            leases: Vec::new(),
            active: 0,
            retry: None,
        }
    }

    /// What is known about a search of at least this depth. Proofs hold at any depth.
    ///
    /// Searches to different depths may contradict each other. Then the depth that was asked for speaks, and the deeper ones
    /// only as far as they agree: a search that was just made decides what it was made for.
    pub(super) fn bounds(&self, depth: i32) -> Bounds {
        let deep_enough =
            self.known.iter().rev().filter(|&&(known, _)| known >= depth).map(|&(_, bounds)| bounds);
        let proven = self.known.iter().map(|&(_, bounds)| bounds.proven());
        let mut bounds = Bounds::UNKNOWN;
        for known in deep_enough.chain(proven) {
            bounds = bounds.and(known).unwrap_or(bounds);
        }
        bounds
    }

    /// Whether the line leads to this score at this depth or a deeper one.
    pub(super) fn is_lined(&self, depth: i32, score: Score) -> bool {
        let reaches = |lined| lined >= depth || score.abs() > MAX_CM;
        self.lined.is_some_and(|(lined, exact)| reaches(lined) && exact == score)
    }

    /// Whether what is known answers a search in this window: by a bound outside, or by an exact score with its line.
    pub(super) fn settles(&self, known: Bounds, depth: i32, window: Window) -> bool {
        let Bounds { low, high } = known;
        high <= window.alpha || low >= window.beta || (low == high && self.is_lined(depth, low))
    }

    /// Takes a line over, unless the present one leads to an exact score of a search as deep, and this one to a bound.
    fn take_line(&mut self, depth: i32, line: Vec<Move>, exact: Option<Score>) {
        if exact.is_none() && self.lined.is_some_and(|(lined, _)| lined >= depth) {
            return;
        }
        self.line = line;
        self.lined = exact.map(|score| (depth, score));
    }

    /// The latest exact score of any depth.
    pub(super) fn last_exact(&self) -> Option<Score> {
        self.known.iter().find(|(_, bounds)| bounds.low == bounds.high).map(|&(_, bounds)| bounds.low)
    }

    /// Adds what a search to a depth found, and what it took.
    pub(super) fn learn(&mut self, depth: i32, bounds: Bounds) {
        self.know(depth, bounds);
        self.cost = Some((depth, self.nodes.max(1)));
    }

    /// Adds knowledge about a depth. What contradicts it at that depth is older, and goes.
    fn know(&mut self, depth: i32, bounds: Bounds) {
        match self.known.iter_mut().find(|(known, _)| *known == depth) {
            Some((_, known)) => *known = known.and(bounds).unwrap_or(bounds),
            None => {
                let place = self.known.partition_point(|&(known, _)| known > depth);
                self.known.insert(place, (depth, bounds));
                // What was just learned stays in any case, or it would be asked for again for ever.
                if self.known.len() > KNOWN_DEPTHS {
                    self.known.remove(if place == KNOWN_DEPTHS { KNOWN_DEPTHS - 1 } else { KNOWN_DEPTHS });
                }
            }
        }
    }

    /// What a search to a depth will probably take; `None` when nothing is known.
    pub(super) fn estimate(&self, depth: i32) -> Option<u64> {
        let (known, nodes) = self.cost?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let estimate = nodes as f64 * GROWTH.powi((depth - known).clamp(-12, 12));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and an estimate"
        )]
        Some(estimate as u64)
    }

    /// Begins the account of another depth.
    pub(super) fn want(&mut self, depth: i32) {
        if self.wanted_depth != depth {
            self.wanted_depth = depth;
            self.nodes = 0;
        }
    }

    pub(super) fn best(&self) -> Option<Move> {
        self.line.first().copied()
    }
}

/// The nodes, root first.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    prune: PruneMode,
    /// It splits no further when it has so many nodes.
    most: usize,
    /// What is known about positions, whatever the path.
    table: ByKey<SharedEntry>,
    /// By position the last node that was made of it.
    twins: ByKey<NodeId>,
    /// How often a node has learned something from another one of its position.
    stirred: u64,
}

/// A root-relative score as of the node itself, where a win is as many plies nearer as the node is from the root.
const fn from_root(score: Score, ply: u8) -> Score {
    match score {
        win if win > MAX_CM => win + ply as Score,
        loss if loss < -MAX_CM => loss - ply as Score,
        cm => cm,
    }
}

/// The inverse of [`from_root`].
const fn to_root(score: Score, ply: u8) -> Score {
    match score {
        win if win > MAX_CM => win - ply as Score,
        loss if loss < -MAX_CM => loss + ply as Score,
        cm => cm,
    }
}

impl Tree {
    pub(super) fn new(root: Position, prune: PruneMode) -> Self {
        // No move leads to the root: its own is never looked at.
        let none = Move::pawn(root.pawn(root.turn()));
        Self {
            nodes: vec![Node::new(None, none, 0, root)],
            prune,
            most: MAX_TREE_NODES,
            table: ByKey::new(),
            twins: ByKey::new(),
            stirred: 0,
        }
    }

    /// It shares the memory for nodes with others, and this is its part.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most.min(MAX_TREE_NODES);
    }

    /// How many nodes it has.
    pub(super) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How many nodes it may have.
    pub(super) const fn most(&self) -> usize {
        self.most
    }

    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn get_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// Whether another node may be split.
    pub(super) fn has_room(&self) -> bool {
        self.nodes.len() + SPLIT_ROOM < self.most
    }

    /// No more nodes are made below those that are split already.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() >= self.most
    }

    /// The opposite of [`Self::split`]: it is searched whole again.
    pub(super) fn join(&mut self, id: NodeId) {
        self.touch(id);
        let node = self.get_mut(id);
        node.split_for = None;
        node.must_split = false;
    }

    /// A new node below another. The move is legal there.
    pub(super) fn add(&mut self, parent: NodeId, mv: Move) -> NodeId {
        let above = self.get(parent);
        let mut node = Node::new(Some(parent), mv, above.ply.saturating_add(1), above.position.after(mv));
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        node.twin = self.twins.insert(shared_key(&node.position, self.prune), id);
        self.nodes.push(node);
        id
    }

    /// See the field.
    pub(super) const fn stirred(&self) -> u64 {
        self.stirred
    }

    /// Something has changed at a node: nobody above it has seen that yet.
    pub(super) fn touch(&mut self, id: NodeId) {
        let mut at = Some(id);
        while let Some(id) = at {
            let node = self.get_mut(id);
            node.look = None;
            at = node.parent;
        }
    }

    fn touch_twins(&mut self, id: NodeId, key: u64) {
        let mut at = self.twins.get(&key).copied();
        while let Some(twin) = at {
            at = self.get(twin).twin;
            if twin != id {
                self.stirred += 1;
                self.touch(twin);
            }
        }
    }

    /// Moves from the root to a node.
    pub(super) fn path(&self, id: NodeId) -> Vec<Move> {
        let mut path = Vec::with_capacity(usize::from(self.get(id).ply));
        let mut at = id;
        while let Some(parent) = self.get(at).parent {
            path.push(self.get(at).mv);
            at = parent;
        }
        path.reverse();
        path
    }

    /// Whether what is known of a child holds on its path only.
    pub(super) fn is_tainted(&self, id: NodeId) -> bool {
        self.get(id).children.iter().filter_map(|child| child.node).any(|node| self.get(node).path_dependent)
    }

    /// Whether the node repeats a position on its own path.
    pub(super) fn repeats(&self, id: NodeId) -> bool {
        let node = self.get(id);
        let mut at = node;
        while let Some(above) = at.parent.map(|parent| self.get(parent)) {
            if !at.mv.is_pawn() {
                return false;
            }
            if above.position.key() == node.position.key() {
                return true;
            }
            at = above;
        }
        false
    }

    /// Counts positions visited below a node, for it and all above it.
    pub(super) fn spend(&mut self, id: NodeId, nodes: u64) {
        let mut at = Some(id);
        while let Some(id) = at {
            let node = self.get_mut(id);
            node.nodes += nodes;
            at = node.parent;
        }
    }

    /// Notes a lease of a node.
    pub(super) fn lease(&mut self, id: NodeId, unit: UnitId) {
        self.get_mut(id).leases.push(unit);
        self.count_active(id, 1);
    }

    /// The lease of a node has ended.
    pub(super) fn release(&mut self, id: NodeId, unit: UnitId) {
        let leases = &mut self.get_mut(id).leases;
        if let Some(place) = leases.iter().position(|&held| held == unit) {
            leases.remove(place);
            self.count_active(id, -1);
        }
    }

    #[cfg(test)]
    pub(super) fn forget_looks(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.look = None);
    }

    /// How many leases the nodes know; each is counted by the node and all above it.
    #[cfg(test)]
    pub(super) fn leased(&self) -> usize {
        let below = |id: usize| {
            let children =
                self.nodes.iter().filter(|node| node.parent.is_some_and(|parent| parent.index() == id));
            children.map(|node| node.active).sum::<u32>()
        };
        for (id, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.active > 0) {
            let own = u32::try_from(node.leases.len()).expect("few");
            assert_eq!(node.active, own + below(id), "the count of active leases");
        }
        self.nodes.iter().map(|node| node.leases.len()).sum()
    }

    fn count_active(&mut self, id: NodeId, change: i32) {
        let mut at = Some(id);
        while let Some(id) = at {
            let node = self.get_mut(id);
            node.active = node.active.saturating_add_signed(change);
            node.look = None;
            at = node.parent;
        }
    }

    /// Splits a node: its moves become children, best known first.
    pub(super) fn split(&mut self, id: NodeId, depth: i32) {
        if self.get(id).children.is_empty() {
            let moves = split_moves(&self.get(id).position, self.prune);
            let node = self.get_mut(id);
            node.children = moves.searched.into_iter().map(Child::new).collect();
            node.unsearched = moves.pruned;
        }
        self.get_mut(id).split_for = Some(depth);
        self.get_mut(id).must_split = false;
        if self.get(id).ordered_for != depth {
            self.order(id, depth);
            let node = self.get_mut(id);
            node.searched_depth = if node.line.is_empty() { depth_without_move(depth) } else { depth };
        }
    }

    /// The node of a child, which is made if it is the first look at it.
    pub(super) fn child(&mut self, parent: NodeId, index: usize) -> NodeId {
        let Child { by, node } = self.get(parent).children[index];
        node.unwrap_or_else(|| {
            let node = self.add(parent, by.mv);
            self.get_mut(parent).children[index].node = Some(node);
            node
        })
    }

    /// The best move of the last search comes first; the others stay as they are.
    fn order(&mut self, id: NodeId, depth: i32) {
        let best = self.get(id).best();
        let place = best.and_then(|best| self.place_of(id, best));
        let node = self.get_mut(id);
        node.prefix = None;
        if let Some(place) = place {
            node.children[..=place].rotate_right(1);
        }
        node.ordered_for = depth;
    }

    /// The first child from this one on that is leased, or something below it.
    pub(super) fn next_held(&self, id: NodeId, from: usize) -> Option<usize> {
        let held = |child: &Child| child.node.is_some_and(|node| self.get(node).active > 0);
        let place = self.get(id).children.get(from..)?.iter().position(held)?;
        Some(from + place)
    }

    fn place_of(&self, id: NodeId, mv: Move) -> Option<usize> {
        self.get(id).children.iter().position(|child| child.by.mv == mv)
    }

    /// The child by a move, if the node has it.
    pub(super) fn child_by(&mut self, id: NodeId, mv: Move) -> Option<NodeId> {
        self.place_of(id, mv).map(|index| self.child(id, index))
    }

    /// Adds the moves that pruning left out. Returns whether there were any.
    pub(super) fn widen(&mut self, id: NodeId) -> bool {
        let node = self.get_mut(id);
        let rest = std::mem::take(&mut node.unsearched);
        node.children.extend(rest.iter().copied().map(Child::new));
        !rest.is_empty()
    }

    /// Expected play from a split node: its best child's, to an exact score or to a bound.
    pub(super) fn learn_line(&mut self, id: NodeId, best: NodeId, depth: i32, exact: Option<Score>) {
        let child = self.get(best);
        let mut line = Vec::with_capacity(child.line.len() + 1);
        line.push(child.mv);
        line.extend_from_slice(&child.line);
        self.get_mut(id).take_line(depth, line, exact);
    }

    /// Takes a result into account. Without a line an exact score tells what the node is worth, but not why.
    pub(super) fn record(
        &mut self,
        id: NodeId,
        depth: i32,
        score: Score,
        bound: Bound,
        line: Option<Vec<Move>>,
        path_dependent: bool,
    ) {
        self.touch(id);
        let node = self.get_mut(id);
        node.path_dependent = path_dependent;
        node.learn(depth, Bounds::of(score, bound));
        let exact = (bound == Bound::Exact).then_some(score);
        if let Some(line) = line.filter(|line| exact.is_some() || !line.is_empty()) {
            node.take_line(depth, line, exact);
        }
        self.remember(id, depth);
    }

    /// Makes what is known about a node known for its transpositions. Returns it for others to share.
    pub(super) fn remember(&mut self, id: NodeId, depth: i32) -> Option<SharedEntry> {
        let node = self.get(id);
        if node.path_dependent {
            return None;
        }
        let bounds = node.known.iter().find(|(known, _)| *known == depth)?.1;
        let (score, bound) = bounds.score()?;
        let entry = SharedEntry {
            key: shared_key(&node.position, self.prune),
            turn: node.position.turn(),
            score: from_root(score, node.ply),
            bound,
            depth: u8::try_from(depth.max(0)).unwrap_or(u8::MAX),
            mv: folded(&node.position, node.best()),
        };
        if self.table.len() >= TABLE_SHARE * self.most {
            let twins = &self.twins;
            self.table.retain(|key, _| twins.contains_key(key));
        }
        let is_news = self.table.get(&entry.key).is_none_or(|known| entry.rank() > known.rank());
        if is_news {
            self.table.insert(entry.key, entry);
            self.touch_twins(id, entry.key);
        }
        Some(entry)
    }

    /// What a transposition of a node tells about it, as far as that decides a null window. An exact score without the line
    /// that leads to it is none: as in the search, an open window is searched.
    pub(super) fn recall(&mut self, id: NodeId, depth: i32, window: Window) {
        let node = self.get(id);
        let Some(entry) = self.table.get(&shared_key(&node.position, self.prune)).copied() else { return };
        let best = folded(&node.position, entry.mv);
        let score = to_root(entry.score, node.ply);
        let node = self.get_mut(id);
        if node.line.is_empty() {
            node.line.extend(best);
        }
        let known = i32::from(entry.depth);
        if known < depth || window.beta - window.alpha > 1 {
            return;
        }
        if score <= window.alpha && entry.bound != Bound::Lower {
            node.know(known, Bounds::of(score, Bound::Upper));
        } else if score >= window.beta && entry.bound != Bound::Upper {
            node.know(known, Bounds::of(score, Bound::Lower));
        }
    }

    /// Finds the nodes of the same positions again.
    fn pair(&mut self) {
        self.twins.clear();
        for index in 1..self.nodes.len() {
            let key = shared_key(&self.nodes[index].position, self.prune);
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            self.nodes[index].twin = self.twins.insert(key, id);
        }
    }

    /// Forgets nodes below what was not split at the last depth, when the tree grows large. Returns where nodes have gone.
    pub(super) fn compact(&mut self, keep: impl Fn(&Node) -> bool) -> Option<Vec<Option<NodeId>>> {
        if self.nodes.len() < self.most / 2 {
            return None;
        }
        let mut moved: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        let mut nodes: Vec<Node> = Vec::new();
        // Parents stand before their children.
        for (index, node) in self.nodes.iter().enumerate() {
            let stays = match node.parent {
                None => true,
                Some(parent) => {
                    moved[parent.index()].is_some() && (parent == NodeId::ROOT || keep(self.get(parent)))
                }
            };
            if stays {
                moved[index] = Some(NodeId(u32::try_from(nodes.len()).unwrap_or(u32::MAX)));
                nodes.push(node.clone());
            }
        }
        let to = |id: NodeId| moved[id.index()];
        for node in &mut nodes {
            node.parent = node.parent.and_then(to);
            node.prefix = None;
            node.look = None;
            if !keep(node) {
                node.children.clear();
                node.split_for = None;
            }
            for child in &mut node.children {
                child.node = child.node.and_then(to);
            }
        }
        self.nodes = nodes;
        self.pair();
        Some(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_meet_are_a_score_but_no_line() {
        let mut tree = Tree::new(Position::start(), PruneMode::Cat);
        let child = tree.add(NodeId::ROOT, "e2".parse().expect("a move"));
        let line = |text: &str| text.split_whitespace().map(|mv| mv.parse().expect("a move")).collect();
        let open = Window { alpha: -50, beta: 50 };
        let settles = |tree: &Tree, depth, window| {
            let node = tree.get(child);
            node.settles(node.bounds(depth), depth, window)
        };
        tree.record(child, 4, 7, Bound::Lower, Some(line("e8")), false);
        tree.record(child, 4, 7, Bound::Upper, Some(Vec::new()), false);
        assert_eq!(tree.get(child).bounds(4), Bounds::exact(7));
        assert!(settles(&tree, 4, Window::null(7)) && settles(&tree, 4, Window::null(6)));
        assert!(!settles(&tree, 4, open), "an open window wants the line");
        tree.record(child, 4, 7, Bound::Exact, Some(line("e8 e3")), false);
        assert!(settles(&tree, 4, open) && !settles(&tree, 5, open));
        // A bound of the same depth does not take the line away, one of a deeper search does.
        tree.record(child, 4, 7, Bound::Upper, Some(line("d8")), false);
        assert!(settles(&tree, 4, open) && tree.get(child).line.len() == 2);
        tree.record(child, 5, 9, Bound::Lower, Some(line("d8")), false);
        assert_eq!(tree.get(child).line, line("d8"));
    }
}
