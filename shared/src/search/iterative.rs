//! Iterative deepening at the root: aspiration windows, several principal variations, limits.

use super::alphabeta::{Interrupt, Search, Searcher};
use super::{Directive, Limits, MAX_DEPTH, PruneMode, SearchHandler};
use crate::board::{Move, Position};
use crate::cat::{Reason, SearchMoves, Verdict, collect_search_moves};
use crate::score::{Bound, INFINITE, MAX_CM, Score};

/// Half the width of the first window round the last iteration's score, in cm.
const ASPIRATION_CM: Score = 35;

/// A root move and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootLine {
    /// The move.
    pub mv: Move,
    /// From the side to move at the root.
    pub score: Score,
    /// What the score bounds.
    pub bound: Bound,
    /// The iteration that the score is of, in plies.
    pub depth: u8,
    /// The line, beginning with the move.
    pub pv: Vec<Move>,
    /// Nodes spent on it in all iterations of this thread.
    pub nodes: u64,
    /// Heat of its square or wall in cm, without shape bonus.
    pub heat_cm: u16,
    /// Why it is searched.
    pub reason: Reason,
}

/// A completed iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationReport {
    /// Its depth in plies.
    pub depth: u8,
    /// Every searched root move, best first; the first `multipv` with exact scores.
    pub lines: Vec<RootLine>,
    /// Nodes visited so far, over all threads.
    pub nodes: u64,
}

/// Why a search ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// The depth limit.
    Depth,
    /// The node limit, or the handler.
    Stop,
    /// The best lines are proven wins or losses.
    Proof,
    /// The game has ended: there is nothing to search.
    GameOver,
}

/// What a search found: the last completed iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchReport {
    /// The last completed iteration; no lines if the game has ended.
    pub last: IterationReport,
    /// Nodes visited, over all threads, those of an unfinished iteration included.
    pub nodes: u64,
    /// Why it ended.
    pub stopped_by: StoppedBy,
}

impl SearchReport {
    /// The best move, `None` if the game has ended.
    #[must_use]
    pub fn best_move(&self) -> Option<Move> {
        self.last.lines.first().map(|line| line.mv)
    }

    /// The best move's score, from the side to move.
    #[must_use]
    pub fn score(&self) -> Option<Score> {
        self.last.lines.first().map(|line| line.score)
    }
}

/// The moves of a root: what is searched and what is kept back.
fn root_moves(position: &Position, prune: PruneMode) -> (Vec<RootLine>, Vec<RootLine>) {
    let SearchMoves { kept, pruned } = collect_search_moves(position);
    let line = |verdict: &Verdict| RootLine {
        mv: verdict.mv,
        score: -INFINITE,
        bound: Bound::Upper,
        depth: 0,
        pv: vec![verdict.mv],
        nodes: 0,
        heat_cm: verdict.heat_cm,
        reason: verdict.reason,
    };
    let mut kept: Vec<&Verdict> = kept.iter().collect();
    kept.sort_by_key(|verdict| std::cmp::Reverse(verdict.heat_cm + verdict.shape_bonus_cm));
    let mut kept: Vec<RootLine> = kept.into_iter().map(line).collect();
    let mut pruned: Vec<RootLine> = pruned.iter().map(line).collect();
    if prune == PruneMode::None {
        kept.append(&mut pruned);
        for line in &mut kept {
            line.reason = if line.mv.is_pawn() { Reason::Pawn } else { Reason::All };
        }
    }
    (kept, pruned)
}

impl Searcher {
    /// Searches a position by iterative deepening until a limit, a proof or the handler ends it. The first iteration is
    /// always completed.
    pub fn analyze(
        &mut self,
        position: &Position,
        limits: &Limits,
        handler: &mut dyn SearchHandler,
    ) -> SearchReport {
        self.analyze_from(position, limits, 1, handler)
    }

    /// As [`Self::analyze`], beginning with a later iteration (helper threads spread out this way).
    pub(super) fn analyze_from(
        &mut self,
        position: &Position,
        limits: &Limits,
        first_depth: u8,
        handler: &mut dyn SearchHandler,
    ) -> SearchReport {
        self.history.age();
        self.set_line(position, &[]);
        let (kept, pruned) = if position.winner().is_some() {
            (Vec::new(), Vec::new())
        } else {
            root_moves(position, limits.prune)
        };
        let search = Search::new(self, handler, limits.prune, 0, limits.nodes);
        let multipv = limits.multipv.max(1);
        let mut root = Root { search, lines: kept, pruned, multipv, deepest: first_depth };
        root.run(limits.depth.clamp(1, MAX_DEPTH), first_depth)
    }
}

/// The root of an iterative search.
struct Root<'s> {
    search: Search<'s>,
    lines: Vec<RootLine>,
    pruned: Vec<RootLine>,
    multipv: usize,
    deepest: u8,
}

impl Root<'_> {
    fn run(&mut self, last_depth: u8, first_depth: u8) -> SearchReport {
        let mut last = IterationReport { depth: 0, lines: Vec::new(), nodes: 0 };
        if self.lines.is_empty() {
            return SearchReport { last, nodes: 0, stopped_by: StoppedBy::GameOver };
        }
        let mut stopped_by = StoppedBy::Depth;
        for depth in first_depth.min(last_depth)..=last_depth {
            self.deepest = depth;
            let must_finish = last.lines.is_empty();
            if !self.iteration(depth, must_finish) {
                stopped_by = StoppedBy::Stop;
                break;
            }
            last = IterationReport { depth, lines: self.lines.clone(), nodes: self.search.nodes };
            if self.search.handler().iteration(&last) == Directive::Stop {
                stopped_by = StoppedBy::Stop;
                break;
            }
            if self.lines.iter().take(self.multipv).all(|line| line.score.abs() > MAX_CM) {
                stopped_by = StoppedBy::Proof;
                break;
            }
        }
        self.search.hand_over();
        SearchReport { last, nodes: self.search.nodes, stopped_by }
    }

    /// Searches all root moves to a depth. False if interrupted, with the lines of no use.
    fn iteration(&mut self, depth: u8, must_finish: bool) -> bool {
        self.search.set_deaf(must_finish);
        let mut next = 0;
        loop {
            while next < self.lines.len() {
                if !self.search_move(next, depth) {
                    return false;
                }
                next += 1;
            }
            let lost = self.lines.first().is_some_and(|line| line.score < -MAX_CM);
            if !lost || self.pruned.is_empty() {
                break;
            }
            // A loss is believed only when every legal move was tried.
            self.lines.append(&mut self.pruned);
        }
        // The rest in the order of the work they made: what was hard to refute is likelier to be good.
        let exact = self.multipv.min(self.lines.len());
        self.lines[exact..].sort_by_key(|line| std::cmp::Reverse(line.nodes));
        self.search.set_deaf(false);
        true
    }

    /// Searches the move at `index` and puts it in its place. False if interrupted.
    fn search_move(&mut self, index: usize, depth: u8) -> bool {
        let nodes_before = self.search.nodes;
        let alpha = self.alpha(index);
        let score = if index >= self.multipv {
            self.null_window_first(index, depth, alpha)
        } else if index == 0 && self.multipv == 1 && self.lines[0].depth > 0 {
            self.aspirate(depth, self.lines[0].score)
        } else {
            self.child::<true>(index, -INFINITE, INFINITE, depth)
        };
        if self.search.interrupted() {
            return false;
        }
        let line = &mut self.lines[index];
        line.nodes += self.search.nodes - nodes_before;
        line.depth = depth;
        line.score = score;
        line.bound = if index < self.multipv || score > alpha { Bound::Exact } else { Bound::Upper };
        if line.bound == Bound::Exact {
            line.pv = std::iter::once(line.mv).chain(self.search.pv(1).to_vec()).collect();
            let place = self.lines[..index].iter().take(self.multipv).position(|other| score > other.score);
            if let Some(place) = place {
                self.lines[place..=index].rotate_right(1);
            }
            // Whoever is pushed out of the exact ones keeps a true upper bound: its score.
            if let Some(out) = self.lines[..=index].get_mut(self.multipv) {
                out.bound = Bound::Upper;
            }
        } else {
            line.pv.truncate(1);
        }
        true
    }

    /// The score that a further move has to beat: that of the worst of the best.
    fn alpha(&self, index: usize) -> Score {
        if index < self.multipv { -INFINITE } else { self.lines[self.multipv - 1].score }
    }

    fn null_window_first(&mut self, index: usize, depth: u8, alpha: Score) -> Score {
        let score = self.child::<false>(index, alpha, alpha + 1, depth);
        if score > alpha && !self.search.interrupted() {
            return self.child::<true>(index, alpha, INFINITE, depth);
        }
        score
    }

    /// The first move, with a window round its last score that opens where it fails.
    fn aspirate(&mut self, depth: u8, last: Score) -> Score {
        let mut width = ASPIRATION_CM;
        let (mut alpha, mut beta) = (last - width, last + width);
        loop {
            let score = self.child::<true>(0, alpha, beta, depth);
            if self.search.interrupted() || (alpha < score && score < beta) {
                return score;
            }
            width *= 4;
            if score <= alpha {
                alpha = if width > 2_000 { -INFINITE } else { score - width };
            } else {
                beta = if width > 2_000 { INFINITE } else { score + width };
            }
        }
    }

    /// The score of a root move, from the side to move at the root.
    fn child<const PV: bool>(&mut self, index: usize, alpha: Score, beta: Score, depth: u8) -> Score {
        let mv = self.lines[index].mv;
        self.search.clear_pv(1);
        self.search.enter(0, mv);
        -self.search.node::<PV>(1, -beta, -alpha, i32::from(depth) - 1).score
    }
}

impl Search<'_> {
    /// While deaf, a search is not interrupted: the first iteration must give an answer.
    fn set_deaf(&mut self, deaf: bool) {
        self.deaf = deaf;
        if deaf && self.interrupt == Some(Interrupt::Stop) {
            self.interrupt = None;
        }
    }
}
