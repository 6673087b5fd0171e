//! The search of inner nodes.

use std::sync::Arc;

use super::history::History;
use super::ordering::{Candidate, Candidates, Hints, NodeHeat};
use super::quiescence::{MAX_QDEPTH, RaceCare};
use super::race_cache::RaceCache;
use super::reductions::{depth_without_move, late_move_reduction};
use super::routes::Routes;
use super::{Directive, MAX_PLY, POLL_NODES, PruneMode, SearchHandler, Window};
use crate::board::{Move, Position};
use crate::cat::CAT_COLD_CM;
use crate::eval::{Evaluation, HandMade};
use crate::exchange::SharedEntry;
use crate::movegen;
use crate::score::{Bound, DRAW, INFINITE, MAX_CM, Score, win_in};
use crate::tt::{Hit, TranspositionTable, score_from_table, score_to_table};

/// The value of a node that repeats none of its ancestors, however deep below.
const NO_REPETITION: usize = usize::MAX;
/// Depths up to this are subject to futility.
const FUTILITY_DEPTH: i32 = 3;
/// Nodes at least this deep keep a record of the moves that are done, so that the rest can be shed.
pub(super) const SHED_DEPTH: i32 = 5;

/// One thread's search: what it remembers between calls. The table is shared.
pub struct Searcher {
    pub(super) table: Arc<TranspositionTable>,
    pub(super) history: History,
    pub(super) races: RaceCache,
    pub(super) frames: Vec<Frame>,
    /// The deep nodes of the current line, by ply.
    pub(super) open: Vec<OpenPly>,
    pub(super) evaluation: HandMade,
}

/// A deep node of the current line whose moves are being tried.
#[derive(Clone, Default)]
pub(super) struct OpenPly {
    /// 0: not open.
    pub(super) depth: i32,
    pub(super) current: Option<Move>,
    /// Moves that are done, with what was found from this node's view; losers only, or the search would have ended
    /// here, and the exact ones of a PV node.
    pub(super) done: Vec<(Move, Score, Bound)>,
}

/// What is known about one ply of the current line.
#[derive(Copy, Clone)]
pub(super) struct Frame {
    pub(super) position: Position,
    pub(super) routes: Routes,
    /// The move that leads here.
    mv: Option<Move>,
    /// Plies since a wall was placed: only so far back can a position repeat.
    reversible: usize,
    killers: [Option<Move>; 2],
    pv: PvLine,
}

/// The best line below a ply.
#[derive(Copy, Clone)]
pub(super) struct PvLine {
    moves: [Move; MAX_PLY],
    len: usize,
}

impl PvLine {
    const EMPTY: Self = Self { moves: [Move::UNSET; MAX_PLY], len: 0 };

    pub(super) fn to_vec(self) -> Vec<Move> {
        self.moves[..self.len].to_vec()
    }
}

/// A score, and the ply of the ancestor that a repetition behind it refers to.
#[derive(Copy, Clone, Debug)]
pub(super) struct Value {
    pub(super) score: Score,
    /// The score holds only on paths that come through this ply; [`NO_REPETITION`] if on all.
    pub(super) repeats: usize,
}

impl Value {
    #[inline(always)]
    pub(super) const fn of(score: Score) -> Self {
        Self { score, repeats: NO_REPETITION }
    }
}

impl std::ops::Neg for Value {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { score: -self.score, ..self }
    }
}

impl Searcher {
    /// A search thread on a table.
    #[must_use]
    pub fn new(table: Arc<TranspositionTable>) -> Self {
        let start = Position::start();
        let frame = Frame {
            position: start,
            routes: Routes::default(),
            mv: None,
            reversible: 0,
            killers: [None; 2],
            pv: PvLine::EMPTY,
        };
        Self {
            table,
            history: History::new(),
            races: RaceCache::new(),
            frames: vec![frame; 2 * MAX_PLY],
            open: vec![OpenPly::default(); 2 * MAX_PLY],
            evaluation: HandMade,
        }
    }

    /// The table it works on.
    #[must_use]
    pub fn table(&self) -> &Arc<TranspositionTable> {
        &self.table
    }

    /// Forgets what was learned about moves and races, as a fresh one (the table is its owner's).
    pub fn clear(&mut self) {
        self.history.clear();
        self.races.clear();
        for frame in &mut self.frames {
            frame.killers = [None; 2];
        }
    }

    /// Puts a root and the path below it on the line. The caller has checked that the moves are legal.
    pub(super) fn set_line(&mut self, root: &Position, path: &[Move]) {
        let first = &mut self.frames[0];
        first.position = *root;
        first.routes = Routes::fresh(root);
        first.mv = None;
        first.reversible = 0;
        for (ply, &mv) in path.iter().enumerate() {
            advance(&mut self.frames, ply, mv);
        }
    }
}

/// Fills the frame below `ply` with the position after a move.
#[inline]
pub(super) fn advance(frames: &mut [Frame], ply: usize, mv: Move) {
    let frame = &frames[ply];
    let position = frame.position.after(mv);
    let routes = frame.routes.after(mv, &position);
    let reversible = if mv.is_pawn() { frame.reversible + 1 } else { 0 };
    let next = &mut frames[ply + 1];
    next.position = position;
    next.routes = routes;
    next.mv = Some(mv);
    next.reversible = reversible;
}

/// Why a search unwinds without a result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Interrupt {
    Stop,
    Shed,
    Window(Window),
}

/// One call of a [`Searcher`].
pub(super) struct Search<'s> {
    pub(super) searcher: &'s mut Searcher,
    pub(super) handler: &'s mut dyn SearchHandler,
    pub(super) prune: PruneMode,
    /// Where the line's root stands in the frames.
    root_ply: usize,
    pub(super) nodes: u64,
    next_poll: u64,
    node_limit: u64,
    pub(super) interrupt: Option<Interrupt>,
    /// Not to be interrupted now.
    pub(super) deaf: bool,
    /// The root is a pawn race itself: every value counts its plies exactly.
    exact_races: bool,
    /// Results for others: from this depth on, and those that wait.
    pub(super) export_floor: i32,
    pub(super) exports: Vec<SharedEntry>,
    /// Nodes this deep look for their mirror image's entry too; beyond all depths while nothing was imported.
    pub(super) fold_depth: i32,
}

impl<'s> Search<'s> {
    pub(super) fn new(
        searcher: &'s mut Searcher,
        handler: &'s mut dyn SearchHandler,
        prune: PruneMode,
        root_ply: usize,
        node_limit: Option<u64>,
    ) -> Self {
        let node_limit = node_limit.unwrap_or(u64::MAX);
        let next_poll = POLL_NODES.min(node_limit);
        let exact_races = searcher.frames[root_ply].position.in_hand == [0, 0];
        let mut search = Self {
            searcher,
            handler,
            prune,
            root_ply,
            nodes: 0,
            next_poll,
            node_limit,
            interrupt: None,
            deaf: false,
            exact_races,
            export_floor: i32::MAX,
            exports: Vec::new(),
            fold_depth: i32::MAX,
        };
        search.look_around();
        search
    }

    pub(super) fn handler(&mut self) -> &mut dyn SearchHandler {
        self.handler
    }

    #[inline(always)]
    pub(super) fn frame(&self, ply: usize) -> &Frame {
        &self.searcher.frames[ply]
    }

    #[inline(always)]
    pub(super) fn interrupted(&self) -> bool {
        self.interrupt.is_some()
    }

    /// Plies below the root of the search, from which wins are counted.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "at most two hundred plies")]
    pub(super) fn height(&self, ply: usize) -> u16 {
        (ply - self.root_ply) as u16
    }

    #[inline(always)]
    pub(super) fn max_ply(&self) -> usize {
        self.root_ply + MAX_PLY - 1
    }

    pub(super) fn pv(&self, ply: usize) -> &PvLine {
        &self.frame(ply).pv
    }

    pub(super) fn clear_pv(&mut self, ply: usize) {
        self.searcher.frames[ply].pv.len = 0;
    }

    /// The static evaluation of a ply, in cm.
    #[inline]
    pub(super) fn evaluate(&self, ply: usize) -> Score {
        let frame = self.frame(ply);
        self.searcher.evaluation.evaluate(&frame.routes.eval_input(&frame.position))
    }

    /// The table's key of a ply: what was learned under another prune mode is another position's.
    #[inline(always)]
    pub(super) fn table_key(&self, position: &Position) -> u64 {
        position.key() ^ self.prune.salt()
    }

    /// Plays a move below `ply` and counts the new node.
    #[inline]
    pub(super) fn enter(&mut self, ply: usize, mv: Move) {
        advance(&mut self.searcher.frames, ply, mv);
        let key = self.table_key(&self.searcher.frames[ply + 1].position);
        self.searcher.table.prefetch(key);
        self.nodes += 1;
        if self.nodes >= self.next_poll {
            self.poll();
        }
    }

    #[cold]
    fn poll(&mut self) {
        self.next_poll = (self.nodes + POLL_NODES).min(self.node_limit.max(self.nodes + 1));
        self.hand_over();
        if self.deaf {
            return;
        }
        if self.nodes >= self.node_limit {
            self.interrupt = Some(Interrupt::Stop);
            return;
        }
        match self.handler.poll(self.nodes) {
            Directive::Continue => {}
            Directive::Stop => self.interrupt = Some(Interrupt::Stop),
            Directive::Shed => self.interrupt = Some(Interrupt::Shed),
            Directive::Window(window) => self.interrupt = Some(Interrupt::Window(window)),
        }
        self.look_around();
    }

    /// The ply of an ancestor with the same position, if there is one.
    #[inline]
    fn repetition(&self, ply: usize) -> Option<usize> {
        let frame = self.frame(ply);
        let key = frame.position.key();
        // A pawn needs two moves to return, and so does the other one.
        (4..=frame.reversible.min(ply))
            .step_by(2)
            .map(|back| ply - back)
            .find(|&p| self.frame(p).position.key() == key)
    }

    /// The value of a node below the root, fail-soft.
    pub(super) fn node<const PV: bool>(
        &mut self,
        ply: usize,
        alpha: Score,
        beta: Score,
        depth: i32,
    ) -> Value {
        if PV {
            self.clear_pv(ply);
        }
        if let Some(ancestor) = self.repetition(ply) {
            return Value { score: DRAW, repeats: ancestor };
        }
        let position = self.frame(ply).position;
        let care = match depth {
            _ if PV || self.exact_races => RaceCare::Exact,
            ..=0 => RaceCare::Cheap,
            _ => RaceCare::Proven,
        };
        if let Some(value) = self.settled(ply, &position, care) {
            if PV {
                let line = self.settled_line(&position);
                self.set_pv(ply, &line);
            }
            return value;
        }
        if depth <= 0 {
            return self.unsettled_quiescence(ply, &position, alpha, beta, MAX_QDEPTH);
        }
        if ply >= self.max_ply() {
            return Value::of(self.evaluate(ply));
        }
        self.inner::<PV>(ply, &position, alpha, beta, depth)
    }

    /// A node that is searched: the table, then its moves.
    fn inner<const PV: bool>(
        &mut self,
        ply: usize,
        position: &Position,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
    ) -> Value {
        // No line from here can be worth more than a win with the move after the next, or less than a loss.
        let height = self.height(ply);
        alpha = alpha.max(-win_in(height + 2));
        beta = beta.min(win_in(height + 3));
        if alpha >= beta {
            return Value::of(alpha);
        }
        let key = self.table_key(position);
        let own = self.searcher.table.probe(key);
        if !PV && let Some(score) = own.and_then(|hit| self.decided(&hit, height, alpha, beta, depth)) {
            return Value::of(score);
        }
        let image = if depth >= self.fold_depth { self.probe_image(position) } else { None };
        if !PV && let Some(score) = image.and_then(|hit| self.decided(&hit, height, alpha, beta, depth)) {
            return Value::of(score);
        }
        let eval = own.and_then(|hit| hit.eval).unwrap_or_else(|| self.evaluate(ply));
        let table_move = own
            .and_then(|hit| hit.mv)
            .or_else(|| image.and_then(|hit| hit.mv))
            .filter(|&mv| movegen::is_legal_with(position, mv, || self.frame(ply).routes.cuts()));
        if table_move.is_none() {
            depth = depth_without_move(depth);
        }
        let mut node = Node::new(alpha, beta, depth, eval);
        if depth >= SHED_DEPTH {
            let open = &mut self.searcher.open[ply];
            open.depth = depth;
            open.done.clear();
        }
        self.moves::<PV>(ply, position, table_move, &mut node);
        if !self.interrupted() {
            self.searcher.open[ply].depth = 0;
            self.store(key, ply, &node);
        }
        Value { score: node.best, repeats: if node.repeats < ply { node.repeats } else { NO_REPETITION } }
    }

    /// The score of a node whose table entry is deep enough and on the right side of the window.
    #[inline(always)]
    fn decided(&self, hit: &Hit, height: u16, alpha: Score, beta: Score, depth: i32) -> Option<Score> {
        let score = score_from_table(hit.score, height.into());
        let decides = match hit.bound {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        };
        // A proof holds at any depth.
        let deep = i32::from(hit.depth) >= depth || (score.abs() > MAX_CM);
        if !(deep && decides) {
            return None;
        }
        if hit.imported {
            self.searcher.table.count_imported_cutoff();
        }
        Some(score)
    }

    /// Tries the moves of a node until one cuts. A side that seems lost is given everything legal.
    fn moves<const PV: bool>(
        &mut self,
        ply: usize,
        position: &Position,
        table_move: Option<Move>,
        node: &mut Node,
    ) {
        if let Some(mv) = table_move {
            let candidate = Candidate::from_table(mv);
            if self.try_move::<PV>(ply, candidate, node) {
                return;
            }
        }
        let heat = NodeHeat::new(position);
        let side = position.turn();
        let frame = self.frame(ply);
        let counter = self.searcher.history.counter_move(side, frame.mv);
        let hints = Hints { killers: frame.killers, counter };
        let all = self.prune == PruneMode::None;
        let mut candidates =
            Candidates::new(position, &frame.routes, &heat, &self.searcher.history, hints, all);
        loop {
            while let Some(candidate) = candidates.pick() {
                if Some(candidate.mv) == table_move || self.is_futile(&candidate, node) {
                    continue;
                }
                if self.try_move::<PV>(ply, candidate, node) {
                    return;
                }
            }
            let lost = node.best < -MAX_CM;
            if !lost || !candidates.add_pruned(&heat, &self.searcher.history, side) {
                return;
            }
        }
    }

    /// Whether a move need not be tried: shallow, hopeless, cold, and not the last straw before a loss.
    #[inline]
    fn is_futile(&self, candidate: &Candidate, node: &Node) -> bool {
        node.depth <= FUTILITY_DEPTH
            && node.best > -MAX_CM
            && !candidate.tactical
            && candidate.heat_cm < CAT_COLD_CM
            && node.eval + 100 + 100 * node.depth <= node.alpha
    }

    /// Searches one move. Whether the node is done: a cut, or an interruption.
    fn try_move<const PV: bool>(&mut self, ply: usize, candidate: Candidate, node: &mut Node) -> bool {
        node.count += 1;
        if node.depth >= SHED_DEPTH {
            self.searcher.open[ply].current = Some(candidate.mv);
        }
        self.enter(ply, candidate.mv);
        let value = self.search_child::<PV>(ply, candidate, node);
        if self.interrupted() {
            return true;
        }
        if node.depth >= SHED_DEPTH {
            let bound = Bound::of(value.score, node.alpha, node.beta);
            self.searcher.open[ply].done.push((candidate.mv, value.score, bound));
        }
        if value.score > node.best {
            node.best = value.score;
            node.repeats = value.repeats;
            if value.score > node.alpha {
                node.alpha = value.score;
                node.best_move = Some(candidate.mv);
                if PV {
                    self.extend_pv(ply, candidate.mv);
                }
            }
        }
        if node.alpha >= node.beta {
            self.reward_cut(ply, candidate.mv, node);
            return true;
        }
        node.remember(candidate.mv);
        false
    }

    /// Principal-variation search of a child: a null window first, unless it is the first of a PV node.
    #[inline]
    fn search_child<const PV: bool>(&mut self, ply: usize, candidate: Candidate, node: &Node) -> Value {
        let below = node.depth - 1;
        if node.count == 1 {
            return -self.node::<PV>(ply + 1, -node.beta, -node.alpha, below);
        }
        let reduction = late_move_reduction(node.depth, node.count, candidate.heat_cm, candidate.tactical);
        let mut value = -self.node::<false>(ply + 1, -node.alpha - 1, -node.alpha, below - reduction);
        if value.score > node.alpha && reduction > 0 && !self.interrupted() {
            value = -self.node::<false>(ply + 1, -node.alpha - 1, -node.alpha, below);
        }
        if PV && value.score > node.alpha && value.score < node.beta && !self.interrupted() {
            value = -self.node::<true>(ply + 1, -node.beta, -node.alpha, below);
        }
        value
    }

    fn set_pv(&mut self, ply: usize, line: &[Move]) {
        let pv = &mut self.searcher.frames[ply].pv;
        pv.len = line.len().min(MAX_PLY);
        pv.moves[..pv.len].copy_from_slice(&line[..pv.len]);
    }

    pub(super) fn extend_pv(&mut self, ply: usize, mv: Move) {
        let (above, below) = self.searcher.frames.split_at_mut(ply + 1);
        let (pv, rest) = (&mut above[ply].pv, &below[0].pv);
        let len = rest.len.min(MAX_PLY - 1);
        pv.moves[0] = mv;
        pv.moves[1..=len].copy_from_slice(&rest.moves[..len]);
        pv.len = len + 1;
    }

    fn reward_cut(&mut self, ply: usize, mv: Move, node: &Node) {
        let frame = &mut self.searcher.frames[ply];
        if frame.killers[0] != Some(mv) {
            frame.killers = [Some(mv), frame.killers[0]];
        }
        let (side, previous) = (frame.position.turn(), frame.mv);
        self.searcher.history.reward(side, mv, node.tried(), previous, node.depth);
    }

    #[inline]
    fn store(&mut self, key: u64, ply: usize, node: &Node) {
        if node.repeats < ply {
            // True on this path only.
            return;
        }
        let hit = Hit {
            mv: node.best_move,
            score: score_to_table(node.best, self.height(ply).into()),
            eval: Some(node.eval),
            depth: u8::try_from(node.depth.max(0)).unwrap_or(u8::MAX),
            bound: Bound::of(node.best, node.first_alpha, node.beta),
            imported: false,
        };
        self.searcher.table.store(key, hit);
        if node.depth >= self.export_floor {
            self.keep_for_others(ply, &hit);
        }
    }
}

/// Moves tried in vain that are remembered, to be marked down after a cut.
const REMEMBERED: usize = 32;

/// The state of a node while its moves are tried.
struct Node {
    first_alpha: Score,
    alpha: Score,
    beta: Score,
    depth: i32,
    eval: Score,
    best: Score,
    best_move: Option<Move>,
    repeats: usize,
    count: usize,
    tried: [Move; REMEMBERED],
    tried_len: usize,
}

impl Node {
    #[inline]
    fn new(alpha: Score, beta: Score, depth: i32, eval: Score) -> Self {
        Self {
            first_alpha: alpha,
            alpha,
            beta,
            depth,
            eval,
            best: -INFINITE,
            best_move: None,
            repeats: NO_REPETITION,
            count: 0,
            tried: [Move::UNSET; REMEMBERED],
            tried_len: 0,
        }
    }

    #[inline]
    fn remember(&mut self, mv: Move) {
        if self.tried_len < REMEMBERED {
            self.tried[self.tried_len] = mv;
            self.tried_len += 1;
        }
    }

    fn tried(&self) -> &[Move] {
        &self.tried[..self.tried_len]
    }
}
