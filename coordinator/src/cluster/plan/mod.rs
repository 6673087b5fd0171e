//! One job's iterations over its root moves: which units of search come next, with which windows, and when a depth is
//! complete.
//!
//! Eldest brother first: the leaders (the K best of the last iteration) get open windows, then their siblings null
//! windows against alpha, the K-th best exact score of this iteration. One that fails high is searched again with the
//! open window. Below the root moves the [`tree`] does the same wherever a search is large enough to be shared.
//! Everything is decided from scores and bounds against alpha, never from the window that was asked for, so a late window
//! update or a guess that was wrong costs work, not truth.
//!
//! All scores of root moves are from the root's side to move, win distances counted from the root.

mod resume;
mod tree;
mod walk;
mod wants;

use std::collections::BTreeMap;

use corridor_shared::board::{Move, Position};
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::{Attempt, UnitId, WorkerId};
use corridor_shared::score::{Bound, INFINITE, MAX_CM, Score};
use corridor_shared::search::{PruneMode, Window};

pub(crate) use tree::NodeId;
use tree::{Bounds, Tree};
pub(crate) use walk::Class;
use walk::{Cut, Kind, Request, Walk};
use wants::{Want, Wants};

/// Half the first window round the last iteration's score, in centi-squares, as in the engine's own iterations.
const ASPIRATION_CM: Score = 35;
/// Each try that fails widens the window so many times ..
const ASPIRATION_GROWTH: Score = 4;
/// .. until it is wider than this, and then it is open.
const ASPIRATION_LIMIT_CM: Score = 2_000;
/// Guesses are not worth a message in iterations shallower than this.
const SPECULATION_FROM_DEPTH: u8 = 5;
/// Searches of one move at one depth after which its score is taken as it is: instability must not loop.
const MAX_SEARCHES: u32 = 8;
/// Plies of the principal variation along which a deterministic job is split, and the least depth for that.
const CHAIN_PLIES: usize = 3;
const CHAIN_DEPTH: u8 = 7;
/// An iteration takes about so many times the last one.
const ITERATION_GROWTH: u64 = 2;

/// A root move to be searched.
#[derive(Copy, Clone, Debug)]
pub(crate) struct RootMove {
    /// The move.
    pub(crate) mv: Move,
    /// Heat without shape bonus, in centi-squares.
    pub(crate) heat_cm: u16,
    /// Heat with shape bonus: the order of the first iteration.
    pub(crate) order_cm: u16,
}

/// What is known about a root move.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The score.
    pub(crate) score: Score,
    /// What it means.
    pub(crate) bound: Bound,
    /// Plies searched, the move itself included.
    pub(crate) depth: u8,
    /// The expected play after the move.
    pub(crate) pv: Vec<Move>,
    /// Positions visited for the move at this depth so far.
    pub(crate) nodes: u64,
}

/// A unit to be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The node.
    pub(crate) node: NodeId,
    /// Moves from the root to it.
    pub(crate) path: Vec<Move>,
    /// Plies below it.
    pub(crate) depth: u8,
    /// The window, from the side to move at the node, wins counted from the root.
    pub(crate) window: Window,
    /// How sure it is to be needed.
    pub(crate) class: Class,
    /// Positions that it will probably take.
    pub(crate) estimate: u64,
    /// The expected play from the node.
    pub(crate) hint: Vec<Move>,
    /// The attempt that the lease is, if the same unit was leased before.
    pub(crate) retry: Option<(UnitId, Attempt)>,
    /// Whose table knows the node best: who searched it last.
    pub(crate) home: Option<WorkerId>,
}

/// How a leased unit must follow what has become known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Adjustment {
    /// Use this window, from the side to move at the unit's node.
    Window(Window),
    /// Stop: the result is of no use.
    Cancel,
}

/// A root move with new knowledge.
#[derive(Clone, Debug)]
pub(crate) struct News {
    pub(crate) root_move: RootMove,
    pub(crate) found: Found,
    /// Who searched it.
    pub(crate) home: Option<WorkerId>,
}

/// What a unit of search found at its node, from the side to move there, wins counted from the root.
#[derive(Clone, Debug)]
pub(crate) struct Result {
    pub(crate) score: Score,
    pub(crate) bound: Bound,
    pub(crate) line: Vec<Move>,
    pub(crate) nodes: u64,
    pub(crate) path_dependent: bool,
}

/// A node that a worker handed back: the move in hand, and the scores of those that are done.
#[derive(Clone, Debug)]
pub(crate) struct HandedBack {
    pub(crate) current: Move,
    pub(crate) done: Vec<(Move, Score, Bound)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Leased {
    node: NodeId,
    depth: i32,
    window: Window,
    pub(crate) class: Class,
    pub(crate) estimate: u64,
    pub(crate) worker: WorkerId,
}

/// A root move and what is known about it.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) root_move: RootMove,
    node: NodeId,
    /// Of the last iteration that completed with it.
    pub(crate) last: Option<Found>,
    found: Option<Found>,
    searches: u32,
    /// At all depths: what was hard to refute is likelier to be good.
    all_nodes: u64,
}

impl Candidate {
    fn exact(&self) -> Option<Score> {
        self.found.as_ref().filter(|found| found.bound == Bound::Exact).map(|found| found.score)
    }
}

/// A pruned root move that is checked after the last iteration.
#[derive(Clone, Debug)]
struct Suspect {
    root_move: RootMove,
    node: NodeId,
    bounds: Option<Bounds>,
}

/// How a job is to be searched.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) multipv: u16,
    pub(crate) prune: PruneMode,
    pub(crate) deterministic: bool,
}

/// The iterations of one job.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    root: Position,
    manner: Manner,
    depth: u8,
    multipv: usize,
    candidates: Vec<Candidate>,
    tree: Tree,
    leases: BTreeMap<UnitId, Leased>,
    /// Units that are wanted and not leased, the most urgent first.
    ready: Vec<Want>,
    suspects: Vec<Suspect>,
    /// What was concluded about split nodes since it was last asked for.
    learned: Vec<SharedEntry>,
    /// How often the leased units were compared with what is wanted.
    looks: u64,
    /// Positions that it was given: those of its units that have ended, and what the leased ones will probably take.
    served: u64,
    /// Positions visited in this iteration, and in the last.
    nodes: u64,
    last_nodes: u64,
}

impl Plan {
    /// A plan before its first iteration; hottest moves first.
    pub(crate) fn new(root: Position, moves: impl IntoIterator<Item = RootMove>, manner: Manner) -> Self {
        let mut plan = Self {
            root,
            manner,
            depth: 1,
            multipv: 1,
            candidates: Vec::new(),
            tree: Tree::new(root, manner.prune),
            leases: BTreeMap::new(),
            ready: Vec::new(),
            suspects: Vec::new(),
            learned: Vec::new(),
            looks: 0,
            served: 0,
            nodes: 0,
            last_nodes: 0,
        };
        plan.admit(moves);
        plan.candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.root_move.order_cm));
        plan.multipv = usize::from(manner.multipv).clamp(1, plan.candidates.len().max(1));
        plan
    }

    /// The depth of the iteration that runs, in plies.
    pub(crate) const fn depth(&self) -> u8 {
        self.depth
    }

    /// How many lines get exact scores.
    pub(crate) const fn multipv(&self) -> usize {
        self.multipv
    }

    /// The moves in the present order: best of the last iteration first.
    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The K-th best exact score of this iteration.
    pub(crate) fn alpha(&self) -> Option<Score> {
        kth_best(self.candidates.iter().filter_map(Candidate::exact), self.multipv)
    }

    /// What alpha will probably be.
    fn guessed_alpha(&self) -> Option<Score> {
        let exact = |candidate: &Candidate| {
            candidate.last.as_ref().filter(|last| last.bound == Bound::Exact).map(|last| last.score)
        };
        kth_best(self.candidates.iter().filter_map(exact), self.multipv)
    }

    fn is_settled(&self, index: usize, alpha: Option<Score>) -> bool {
        let candidate = &self.candidates[index];
        match (&candidate.found, alpha) {
            (None, _) => false,
            (Some(found), _) if found.bound == Bound::Exact => true,
            (Some(found), Some(alpha)) => {
                index >= self.multipv && found.bound == Bound::Upper && found.score <= alpha
            }
            (Some(_), None) => false,
        }
    }

    /// Every move is settled: the K best are exact, no other can be better.
    pub(crate) fn is_complete(&self) -> bool {
        let alpha = self.alpha();
        (0..self.candidates.len()).all(|index| self.is_settled(index, alpha))
    }

    /// The K best are proven wins: nothing better than a win can come.
    pub(crate) fn is_won(&self) -> bool {
        self.alpha().is_some_and(|alpha| alpha > MAX_CM)
    }

    /// Nothing but proven losses was found.
    pub(crate) fn is_lost(&self) -> bool {
        let best = self.candidates.iter().filter_map(Candidate::exact).max();
        best.is_some_and(|best| best < -MAX_CM)
    }

    /// Adds moves to the running iteration, as siblings.
    pub(crate) fn admit(&mut self, moves: impl IntoIterator<Item = RootMove>) {
        for root_move in moves {
            let node = self.tree.add(NodeId::ROOT, root_move.mv);
            self.candidates.push(Candidate {
                root_move,
                node,
                last: None,
                found: None,
                searches: 0,
                all_nodes: 0,
            });
        }
    }

    /// Positions that this iteration will probably visit; 0 when nothing tells.
    pub(crate) fn estimate(&self) -> u64 {
        self.last_nodes.saturating_mul(ITERATION_GROWTH)
    }

    /// Lets the tree have so many nodes from now on.
    pub(crate) fn limit_tree(&mut self, most: usize) {
        self.tree.limit(most);
    }

    /// How many nodes the tree has.
    pub(crate) const fn tree_nodes(&self) -> usize {
        self.tree.len()
    }

    // ---- looking at the tree ----------------------------------------------------------------------------------------

    /// Looks at everything again: which units are wanted now. Searches that will probably take more than `split_above`
    /// positions are split. Returns the root moves with new knowledge.
    pub(crate) fn refresh(&mut self, split_above: u64, speculate: bool, enough: usize) -> Vec<News> {
        let deterministic = self.manner.deterministic;
        let cut = Cut {
            above: if deterministic { u64::MAX } else { split_above },
            deterministic,
            speculate: speculate && !deterministic,
            iteration: self.depth,
            enough,
        };
        let mut news = Vec::new();
        let wants = loop {
            let before = news.len();
            let wants = self.look(cut, &mut news);
            // What was just found may change every window.
            if news.len() == before {
                break wants;
            }
        };
        #[cfg(test)]
        self.check_look(cut, &wants);
        self.ready = wants.list;
        news
    }

    /// A look that goes only where something has changed says what one that goes everywhere does.
    #[cfg(test)]
    fn check_look(&self, cut: Cut, wants: &Wants) {
        let mut fresh = self.clone();
        fresh.tree.forget_looks();
        let again = fresh.look(cut, &mut Vec::new());
        // A full tree gives up nodes that it looks at.
        let full = [self, &fresh].iter().any(|plan| plan.tree.is_full());
        if !full && [wants, &again].iter().all(|wants| wants.free_up_to(Class::Guess) < cut.enough) {
            assert_eq!(wants.list, again.list, "what the last look has said does not hold any more");
        }
    }

    /// The wanted units, given what is known.
    fn look(&mut self, cut: Cut, news: &mut Vec<News>) -> Wants {
        if !self.suspects.is_empty() {
            return self.look_at_suspects(cut);
        }
        let mut wants = self.look_at_leaders(cut, news);
        match self.alpha() {
            Some(_) if cut.deterministic => self.look_in_order(cut, &mut wants, news),
            Some(_) => self.look_at_siblings(cut, &mut wants, news),
            None => self.look_early(cut, &mut wants),
        }
        wants
    }

    /// Asks about a root move.
    fn ask(
        &mut self,
        index: usize,
        window: Window,
        class: Class,
        kind: Kind,
        cut: Cut,
        wants: &mut Wants,
    ) -> Bounds {
        let share = self.estimate() / u64::try_from(self.candidates.len()).unwrap_or(1).max(1);
        let request = Request {
            depth: i32::from(self.depth) - 1,
            window: Window { alpha: -window.beta, beta: -window.alpha },
            class,
            kind,
            estimate: if index < self.multipv { self.estimate() / 2 } else { share },
        };
        let mut walk = Walk {
            tree: &mut self.tree,
            cut,
            wants: std::mem::take(wants),
            limited: false,
            learned: std::mem::take(&mut self.learned),
        };
        let bounds = -walk.visit(self.candidates[index].node, request);
        *wants = walk.wants;
        self.learned = walk.learned;
        bounds
    }

    fn look_at_leaders(&mut self, cut: Cut, news: &mut Vec<News>) -> Wants {
        let mut wants = Wants::default();
        for index in 0..self.multipv.min(self.candidates.len()) {
            while self.candidates[index].exact().is_none() {
                let window = self.leader_window(&self.candidates[index]);
                let bounds = self.ask(index, window, Class::Needed, Kind::Principal, cut, &mut wants);
                if !bounds.decide(window.alpha, window.beta) {
                    break;
                }
                if !self.find(index, bounds, window, news) {
                    break;
                }
            }
        }
        wants
    }

    fn look_at_siblings(&mut self, cut: Cut, wants: &mut Wants, news: &mut Vec<News>) {
        for index in self.multipv..self.candidates.len() {
            let Some(alpha) = self.alpha() else { return };
            if self.is_settled(index, Some(alpha)) {
                continue;
            }
            let null = Window::null(alpha);
            let bounds = self.ask(index, null, Class::Needed, Kind::Cut, cut, wants);
            if bounds.decide(null.alpha, null.beta) {
                self.find(index, bounds, null, news);
            }
            if bounds.low > alpha {
                let open = Window { alpha, beta: INFINITE };
                let bounds = self.ask(index, open, Class::Needed, Kind::Principal, cut, wants);
                if bounds.decide(open.alpha, open.beta) {
                    self.find(index, bounds, open, news);
                }
            }
        }
    }

    /// As `look_at_siblings`, in an order that no schedule changes: all against the leaders' alpha, then those that failed
    /// high again, one at a time.
    fn look_in_order(&mut self, cut: Cut, wants: &mut Wants, news: &mut Vec<News>) {
        let leaders = self.candidates.iter().take(self.multipv).filter_map(Candidate::exact);
        let Some(leaders_alpha) = kth_best(leaders, self.multipv) else { return };
        let null = Window::null(leaders_alpha);
        let mut challengers = Vec::new();
        for index in self.multipv..self.candidates.len() {
            if self.candidates[index].exact().is_some() {
                continue;
            }
            if self.candidates[index].found.is_none() {
                let bounds = self.ask(index, null, Class::Needed, Kind::Cut, cut, wants);
                if bounds.decide(null.alpha, null.beta) {
                    self.find(index, bounds, null, news);
                }
            }
            let found = self.candidates[index].found.as_ref();
            if found.is_some_and(|found| found.bound == Bound::Lower) {
                challengers.push(index);
            }
        }
        if !wants.list.is_empty() {
            return;
        }
        for index in challengers {
            let Some(alpha) = self.alpha() else { return };
            let open = Window { alpha, beta: INFINITE };
            let bounds = self.ask(index, open, Class::Needed, Kind::Principal, cut, wants);
            if !bounds.decide(open.alpha, open.beta) {
                return;
            }
            self.find(index, bounds, open, news);
        }
    }

    /// Siblings before alpha is known, against the last iteration's.
    fn look_early(&mut self, cut: Cut, wants: &mut Wants) {
        let Some(alpha) = self.guessed_alpha().filter(|alpha| alpha.abs() <= MAX_CM && cut.speculate) else {
            return;
        };
        if self.depth < SPECULATION_FROM_DEPTH || self.a_leader_failed_low() {
            return;
        }
        for index in self.multipv..self.candidates.len() {
            self.ask(index, Window::null(alpha), Class::Guess, Kind::Cut, cut, wants);
        }
    }

    fn look_at_suspects(&mut self, cut: Cut) -> Wants {
        let best = self.candidates.first().and_then(|best| best.last.as_ref()).map_or(0, |last| last.score);
        let depth = i32::from(self.depth) - 1;
        let mut wants = Wants::default();
        for suspect in &mut self.suspects {
            let window = Window { alpha: -best - 1, beta: -best };
            let estimate = self.last_nodes / 8;
            let request = Request { depth, window, class: Class::Needed, kind: Kind::Cut, estimate };
            let mut walk = Walk {
                tree: &mut self.tree,
                cut,
                wants: std::mem::take(&mut wants),
                limited: false,
                learned: std::mem::take(&mut self.learned),
            };
            let bounds = walk.visit(suspect.node, request);
            wants = walk.wants;
            self.learned = walk.learned;
            suspect.bounds = bounds.decide(window.alpha, window.beta).then_some(-bounds);
        }
        wants
    }

    /// Round the last score, wider with each try; the end that held stays.
    fn leader_window(&self, candidate: &Candidate) -> Window {
        let single = self.multipv == 1 && !self.manner.deterministic;
        let Some(last) = candidate.last.as_ref().filter(|_| single) else { return Window::FULL };
        let width = ASPIRATION_CM * ASPIRATION_GROWTH.saturating_pow(candidate.searches.min(MAX_SEARCHES));
        let wide = width > ASPIRATION_LIMIT_CM;
        let low = |score: Score| if wide { -INFINITE } else { (score - width).max(-INFINITE) };
        let high = |score: Score| if wide { INFINITE } else { (score + width).min(INFINITE) };
        match &candidate.found {
            None => Window { alpha: low(last.score), beta: high(last.score) },
            Some(found) if found.bound == Bound::Lower => {
                Window { alpha: found.score - 1, beta: high(found.score) }
            }
            Some(found) => Window { alpha: low(found.score), beta: found.score + 1 },
        }
    }

    fn a_leader_failed_low(&self) -> bool {
        let failed =
            |candidate: &Candidate| candidate.found.as_ref().is_some_and(|found| found.bound == Bound::Upper);
        self.candidates.iter().take(self.multipv).any(failed)
    }

    /// A root move is decided in a window. Returns whether that is new.
    fn find(&mut self, index: usize, bounds: Bounds, window: Window, news: &mut Vec<News>) -> bool {
        let candidate = &mut self.candidates[index];
        let node = self.tree.get(candidate.node);
        let over = node.position.winner().is_some();
        let lined = over || node.is_lined(i32::from(self.depth) - 1, -bounds.low);
        let (score, bound) = if bounds.low == bounds.high && lined {
            (bounds.low, Bound::Exact)
        } else if bounds.high <= window.alpha {
            (bounds.high, Bound::Upper)
        } else {
            (bounds.low, Bound::Lower)
        };
        if candidate.found.as_ref().is_some_and(|found| found.score == score && found.bound == bound) {
            return false;
        }
        candidate.searches += 1;
        let bound = if candidate.searches >= MAX_SEARCHES { Bound::Exact } else { bound };
        let found = Found { score, bound, depth: self.depth, pv: node.line.clone(), nodes: node.nodes };
        candidate.found = Some(found.clone());
        news.push(News { root_move: candidate.root_move, found, home: node.home });
        true
    }

    // ---- leases -----------------------------------------------------------------------------------------------------

    /// What was concluded about split nodes since the last call, for the workers' tables.
    pub(crate) fn take_learned(&mut self) -> Vec<SharedEntry> {
        std::mem::take(&mut self.learned)
    }

    /// What the leased units must be told, now that the tree was looked at. Takes them off the wanted ones.
    pub(crate) fn adjust(&mut self) -> Vec<(UnitId, Adjustment)> {
        self.number_wants();
        let (tree, ready, looks) = (&self.tree, &self.ready, self.looks);
        let wanted = |node: NodeId| {
            let (look, place) = tree.get(node).wanted;
            ready.get(usize::try_from(place).ok()?).filter(|_| look == looks)
        };
        let mut adjustments = Vec::new();
        // A window that moves on the way makes a search depend on the schedule: it is the twin of one that has failed high.
        let moves = !self.manner.deterministic;
        for (&unit, lease) in &mut self.leases {
            let fits = |want: &&Want| want.depth == lease.depth && (moves || want.window == lease.window);
            match wanted(lease.node).filter(fits) {
                None => adjustments.push((unit, Adjustment::Cancel)),
                Some(want) => {
                    lease.class = want.class;
                    if lease.window != want.window {
                        lease.window = want.window;
                        adjustments.push((unit, Adjustment::Window(want.window)));
                    }
                }
            }
        }
        let (tree, leases) = (&self.tree, &self.leases);
        let held = |want: &Want| {
            tree.get(want.node)
                .leases
                .iter()
                .filter_map(|unit| leases.get(unit))
                .any(|lease| lease.depth == want.depth && lease.window == want.window)
        };
        self.ready.retain(|want| !held(want));
        self.ready.sort_by_key(|want| want.class);
        adjustments
    }

    /// Tells each node that is wanted its place. A node may be named by more than one question; the first counts.
    fn number_wants(&mut self) {
        self.looks += 1;
        let (tree, looks) = (&mut self.tree, self.looks);
        let mut place = 0;
        self.ready.retain(|want| {
            let node = tree.get_mut(want.node);
            let first = node.wanted.0 != looks;
            if first {
                node.wanted = (looks, place);
                place += 1;
            }
            first
        });
    }

    /// Whether there is a unit of one of these classes.
    pub(crate) fn has_task(&self, worst: Class) -> bool {
        self.ready.first().is_some_and(|want| want.class <= worst)
    }

    /// The next unit for a worker, of one of these classes, most urgent first. Among siblings those come first that this
    /// worker's table knows, or nobody's.
    pub(crate) fn next_task(&self, worker: WorkerId, worst: Class) -> Option<Task> {
        let first = self.ready.first().filter(|want| want.class <= worst)?;
        let home = |want: &Want| self.tree.get(want.node).home;
        let peers = self.ready.iter().take_while(|want| want.class == first.class).take(16);
        let want = peers.min_by_key(|want| home(want).is_some_and(|home| home != worker)).copied()?;
        let node = self.tree.get(want.node);
        let retry = node.retry.filter(|retry| retry.depth == want.depth);
        Some(Task {
            node: want.node,
            path: self.tree.path(want.node),
            depth: u8::try_from(want.depth.max(0)).unwrap_or(u8::MAX),
            window: want.window,
            class: want.class,
            estimate: want.estimate,
            hint: node.line.clone(),
            retry: retry.map(|retry| (retry.unit, retry.attempt)),
            home: node.home,
        })
    }

    /// A task was leased.
    pub(crate) fn granted(&mut self, task: &Task, unit: UnitId, worker: WorkerId) {
        self.ready.retain(|want| want.node != task.node);
        let node = self.tree.get_mut(task.node);
        node.retry = None;
        node.home = Some(worker);
        self.tree.lease(task.node, unit);
        let (node, depth, window) = (task.node, i32::from(task.depth), task.window);
        let leased = Leased { node, depth, window, class: task.class, estimate: task.estimate, worker };
        self.served += task.estimate;
        self.leases.insert(unit, leased);
    }

    fn end(&mut self, unit: UnitId, nodes: u64) -> Option<Leased> {
        let lease = self.leases.remove(&unit)?;
        self.served = (self.served + nodes).saturating_sub(lease.estimate);
        self.nodes += nodes;
        self.tree.release(lease.node, unit);
        self.tree.spend(lease.node, nodes);
        Some(lease)
    }

    /// A lease ended that is of no use.
    pub(crate) fn drop_lease(&mut self, unit: UnitId, nodes: u64) {
        self.end(unit, nodes);
    }

    /// A lease ended without a result: the node is free again, its next lease is the next attempt.
    pub(crate) fn take_back(&mut self, unit: UnitId, attempt: Attempt, nodes: u64) {
        let counted = if self.manner.deterministic { 0 } else { nodes };
        let Some(lease) = self.end(unit, counted) else { return };
        let retry = tree::Retry { unit, attempt: attempt.next(), depth: lease.depth };
        let node = self.tree.get_mut(lease.node);
        if node.leases.is_empty() {
            node.retry = Some(retry);
        }
    }

    /// A worker stopped a unit that was too large, and says what is done of it.
    pub(crate) fn hand_back(&mut self, unit: UnitId, nodes: u64, levels: &[HandedBack]) {
        let Some(lease) = self.end(unit, nodes) else { return };
        let (mut at, mut depth) = (lease.node, lease.depth);
        self.tree.get_mut(at).must_split = true;
        for level in levels {
            if depth <= 2 || !self.tree.has_room() {
                return;
            }
            if self.tree.get(at).children.is_empty() {
                self.tree.split(at, depth);
            }
            self.tree.touch(at);
            self.tree.get_mut(at).must_split = true;
            for &(mv, score, bound) in &level.done {
                if let Some(child) = self.tree.child_by(at, mv) {
                    // Whether it holds on this path only is not told.
                    self.tree.record(child, depth - 1, -score, -bound, None, true);
                    self.tree.get_mut(child).home = Some(lease.worker);
                }
            }
            let Some(current) = self.tree.child_by(at, level.current) else { return };
            self.tree.get_mut(current).home = Some(lease.worker);
            at = current;
            depth -= 1;
        }
    }

    /// A unit has a result. Returns its twins, which others still have.
    pub(crate) fn record(&mut self, unit: UnitId, result: Result) -> Vec<UnitId> {
        let Some(lease) = self.end(unit, result.nodes) else { return Vec::new() };
        self.tree.record(
            lease.node,
            lease.depth,
            result.score,
            result.bound,
            Some(result.line),
            result.path_dependent,
        );
        let node = self.tree.get_mut(lease.node);
        node.retry = None;
        node.leases.clone()
    }

    /// Whether a root move has just failed high, so that it must be searched again.
    pub(crate) fn is_challenge(&self, found: &Found) -> bool {
        found.bound == Bound::Lower && self.alpha().is_some_and(|alpha| found.score > alpha)
    }

    /// The units that are leased now.
    pub(crate) fn leased_units(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.leases.keys().copied()
    }

    /// Positions that it was given, as its share of the workers.
    pub(crate) const fn served(&self) -> u64 {
        self.served
    }

    /// It counts as given at least so much.
    pub(crate) fn lift(&mut self, least: u64) {
        self.served = self.served.max(least);
    }

    /// What a leased unit was expected to take, in positions, if nobody else has it as well.
    pub(crate) fn held_once(&self, unit: UnitId) -> Option<u64> {
        let lease = self.leases.get(&unit).filter(|lease| lease.class == Class::Needed)?;
        (self.tree.get(lease.node).leases.len() == 1).then_some(lease.estimate)
    }

    /// The same search as a leased unit's, for somebody else to be quicker.
    pub(crate) fn twin(&self, unit: UnitId) -> Option<Task> {
        let lease = self.leases.get(&unit)?;
        Some(Task {
            node: lease.node,
            path: self.tree.path(lease.node),
            depth: u8::try_from(lease.depth.max(0)).unwrap_or(u8::MAX),
            window: lease.window,
            class: lease.class,
            estimate: lease.estimate,
            hint: self.tree.get(lease.node).line.clone(),
            retry: None,
            home: None,
        })
    }

    /// Whether it may be shed: it is deep enough and not of a job whose units are fixed.
    pub(crate) fn may_shed(&self, unit: UnitId) -> bool {
        let deep = |lease: &Leased| lease.depth >= walk::MIN_SPLIT_DEPTH && self.tree.has_room();
        !self.manner.deterministic && self.leases.get(&unit).is_some_and(deep)
    }

    // ---- iterations -------------------------------------------------------------------------------------------------

    /// Ends the iteration: its settled results become the last ones, and the order follows them.
    pub(crate) fn finish_iteration(&mut self) {
        let alpha = self.alpha();
        for index in 0..self.candidates.len() {
            if self.is_settled(index, alpha) {
                let candidate = &mut self.candidates[index];
                candidate.last = candidate.found.take();
                candidate.all_nodes += candidate.last.as_ref().map_or(0, |last| last.nodes);
            }
        }
        self.candidates.sort_by(|a, b| best_first(a.last.as_ref(), b.last.as_ref()));
        let leaders = self.multipv.min(self.candidates.len());
        if self.manner.deterministic {
            let nodes = |candidate: &Candidate| candidate.last.as_ref().map_or(0, |last| last.nodes);
            self.candidates[leaders..].sort_by_key(|candidate| std::cmp::Reverse(nodes(candidate)));
        } else {
            self.candidates[leaders..].sort_by_key(|candidate| std::cmp::Reverse(candidate.all_nodes));
        }
    }

    /// Begins the next depth.
    pub(crate) fn deepen(&mut self) {
        self.depth += 1;
        self.last_nodes = std::mem::take(&mut self.nodes);
        for candidate in &mut self.candidates {
            candidate.found = None;
            candidate.searches = 0;
        }
        if self.manner.deterministic {
            self.start_afresh();
        } else {
            self.forget();
        }
    }

    /// A tree that depends on nothing but the last iteration's results: split along the leaders' principal variations.
    fn start_afresh(&mut self) {
        debug_assert!(self.leases.is_empty(), "a lease outlived its deterministic iteration");
        let most = self.tree.most();
        self.tree = Tree::new(self.root, self.manner.prune);
        self.tree.limit(most);
        for index in 0..self.candidates.len() {
            let node = self.tree.add(NodeId::ROOT, self.candidates[index].root_move.mv);
            self.candidates[index].node = node;
            if index < self.multipv && self.depth >= CHAIN_DEPTH {
                let pv = self.candidates[index].last.as_ref().map(|last| last.pv.clone()).unwrap_or_default();
                self.split_along(node, &pv);
            }
        }
    }

    fn split_along(&mut self, node: NodeId, pv: &[Move]) {
        let mut at = node;
        for (ply, &mv) in pv.iter().take(CHAIN_PLIES).enumerate() {
            let node = self.tree.get_mut(at);
            if node.position.winner().is_some() {
                return;
            }
            node.line = pv[ply..].to_vec();
            let depth = i32::from(self.depth) - 1 - i32::try_from(ply).unwrap_or(0);
            self.tree.split(at, depth);
            let Some(child) = self.tree.child_by(at, mv) else { return };
            at = child;
        }
    }

    /// Drops what the last iteration did not use, if the tree is large.
    fn forget(&mut self) {
        let last = self.depth.saturating_sub(2);
        let Some(moved) = self.tree.compact(|node| node.walked >= last || !node.leases.is_empty()) else {
            return;
        };
        let to = |node: NodeId| moved.get(node.index()).copied().flatten();
        for candidate in &mut self.candidates {
            candidate.node = to(candidate.node).unwrap_or(candidate.node);
        }
        self.leases.retain(|_, lease| match to(lease.node) {
            Some(node) => {
                lease.node = node;
                true
            }
            None => false,
        });
        self.ready.clear();
    }

    /// What must hold at any time: leases and the nodes' own lists of them agree, and what is leased does not stand ready.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        for (unit, lease) in &self.leases {
            assert!(self.tree.get(lease.node).leases.contains(unit), "a lease that its node does not know");
        }
        assert_eq!(self.tree.leased(), self.leases.len(), "the nodes' leases");
        let mut nodes: Vec<NodeId> = self.ready.iter().map(|want| want.node).collect();
        nodes.sort();
        nodes.dedup();
        assert_eq!(nodes.len(), self.ready.len(), "a node stands ready twice");
        let busy = |want: &&Want| {
            self.leases.values().any(|lease| lease.node == want.node && lease.depth == want.depth)
        };
        assert!(!self.ready.iter().any(|want| busy(&want)), "a leased node stands ready");
    }

    // ---- audit ------------------------------------------------------------------------------------------------------

    /// Begins to check pruned root moves against the best score of the last iteration.
    pub(crate) fn suspect(&mut self, moves: impl IntoIterator<Item = RootMove>) {
        for root_move in moves {
            let node = self.tree.add(NodeId::ROOT, root_move.mv);
            self.suspects.push(Suspect { root_move, node, bounds: None });
        }
    }

    /// Whether pruned moves are being checked.
    pub(crate) fn is_audit(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// The checked moves so far with their scores and bounds, and whether they are better than the best; none is left when all are told.
    pub(crate) fn audited(&mut self) -> Vec<(RootMove, Score, bool)> {
        let best = self.candidates.first().and_then(|best| best.last.as_ref()).map_or(0, |last| last.score);
        let verdict = |suspect: &Suspect| {
            let bounds = suspect.bounds?;
            let miss = bounds.low > best;
            Some((suspect.root_move, if miss { bounds.low } else { bounds.high }, miss))
        };
        let told: Vec<_> = self.suspects.iter().filter_map(verdict).collect();
        self.suspects.retain(|suspect| suspect.bounds.is_none());
        told
    }
}

fn kth_best(scores: impl Iterator<Item = Score>, k: usize) -> Option<Score> {
    let mut best: Vec<Score> = scores.collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.get(k.checked_sub(1)?).copied()
}

/// Deeper results first, then higher scores, exact ones before bounds, then those that took more work; unknown ones last.
pub(crate) fn best_first(a: Option<&Found>, b: Option<&Found>) -> std::cmp::Ordering {
    let key = |found: Option<&Found>| {
        found.map(|found| (found.depth, found.score, found.bound == Bound::Exact, found.nodes))
    };
    key(b).cmp(&key(a))
}
