//! A unit of search: one node of somebody's tree, to a depth, with a window.

use super::alphabeta::{Interrupt, OpenPly, Search, Searcher, Value, advance};
use super::{MAX_DEPTH, MAX_PLY, PruneMode, SearchHandler, Window};
use crate::board::{Move, Position};
use crate::score::{Bound, MAX_CM, Score};
use crate::tt::Hit;

/// What the table knows is good enough to begin with when it is at most so many plies behind (the last iteration, and a ply
/// that a node without a table move is searched less).
const FRESH_PLIES: u8 = 2;
/// A bound comes with so many moves of the line that proves it, as far as the table knows them.
const BOUND_LINE: usize = 6;

/// What to search below the end of a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnitSpec<'h> {
    /// Plies below the path's end; 0 is quiescence alone, at most [`MAX_DEPTH`].
    pub depth: u8,
    /// From the side to move at the path's end, wins counted from there.
    pub window: Window,
    /// Which moves are searched.
    pub prune: PruneMode,
    /// Nodes after which to give up.
    pub node_budget: Option<u64>,
    /// Expected play from the path's end: tried first where the table knows no move. Illegal moves end it.
    pub hint: &'h [Move],
}

/// A deep node on the line of a search that was told to shed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenNode {
    /// Its moves that are done, with score and bound from the side to move there, wins counted from the path's end.
    pub done: Vec<(Move, Score, Bound)>,
    /// The move that was being searched.
    pub current: Move,
}

/// What a unit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitOutcome {
    /// From the side to move at the path's end, wins counted from there (a ply further up they are one ply
    /// longer).
    /// Meaningless unless completed.
    pub score: Score,
    /// What the score bounds.
    pub bound: Bound,
    /// The best line from the path's end; for a bound the first moves that prove it, if the table still has them.
    pub pv: Vec<Move>,
    /// Nodes visited, also when not completed.
    pub nodes: u64,
    /// Whether the search ended by itself.
    pub completed: bool,
    /// The score holds on this path only: a repetition of one of its positions is behind it.
    pub path_dependent: bool,
    /// After [`super::Directive::Shed`]: the nodes from the path's end downwards whose moves were being tried at the full
    /// depth.
    pub open: Vec<OpenNode>,
}

impl Searcher {
    /// Searches the node at the end of a path of legal moves from `root`. Repetitions of positions on the path are seen.
    pub fn search_unit(
        &mut self,
        root: &Position,
        path: &[Move],
        spec: &UnitSpec<'_>,
        handler: &mut dyn SearchHandler,
    ) -> UnitOutcome {
        // What lies further back than the line can hold cannot matter: no repetition reaches there.
        let (early, path) = path.split_at(path.len().saturating_sub(MAX_PLY - 1));
        let root = early.iter().fold(*root, |position, &mv| position.after(mv));
        self.set_line(&root, path);
        for open in &mut self.open {
            open.depth = 0;
        }
        let mut search = Search::new(self, handler, spec.prune, path.len(), spec.node_budget);
        let outcome = search.run_unit(path.len(), spec);
        search.hand_over();
        outcome
    }
}

impl Search<'_> {
    fn run_unit(&mut self, ply: usize, spec: &UnitSpec<'_>) -> UnitOutcome {
        let depth = spec.depth.min(MAX_DEPTH);
        self.take_hint(ply, spec.hint);
        let mut window = spec.window;
        loop {
            self.nodes += 1;
            // A null window leaves no line, and an earlier unit's must not be taken for one.
            self.clear_pv(ply);
            let value = self.deepen(ply, window, depth);
            let score = value.score;
            let bound = Bound::of(score, window.alpha, window.beta);
            let mut outcome =
                UnitOutcome {
                score,
                bound,
                pv: Vec::new(),
                nodes: self.nodes,
                completed: false,
                path_dependent: value.repeats < ply,
                open: Vec::new(),
            };
            match self.interrupt.take() {
                None => {
                    outcome.completed = true;
                    outcome.pv = self.pv(ply).to_vec();
                    if bound != Bound::Exact {
                        outcome.pv = self.table_line(ply);
                    }
                    return outcome;
                }
                Some(Interrupt::Stop) => return outcome,
                Some(Interrupt::Shed) => {
                    outcome.open = self.open_nodes(ply, depth);
                    return outcome;
                }
                Some(Interrupt::Window(narrower)) => window = narrower,
            }
        }
    }

    /// Leaves the hint's moves in the table, as if a search without depth had found them.
    fn take_hint(&mut self, ply: usize, hint: &[Move]) {
        for (ply, &mv) in (ply..self.max_ply()).zip(hint) {
            let position = self.frame(ply).position;
            if !position.is_legal(mv) || position.winner().is_some() {
                return;
            }
            let key = self.table_key(&position);
            if self.searcher.table.probe(key).is_none_or(|hit| hit.mv.is_none()) {
                // True of every position that is not lost, and so weak that it decides nothing.
                let hit = Hit { mv: Some(mv), score: -MAX_CM, eval: None, depth: 0, bound: Bound::Lower, imported: false };
                self.searcher.table.store(key, hit);
            }
            advance(&mut self.searcher.frames, ply, mv);
        }
    }

    /// The moves that the table holds for best from a ply on.
    fn table_line(&self, ply: usize) -> Vec<Move> {
        let mut position = self.frame(ply).position;
        let mut line = Vec::new();
        while line.len() < BOUND_LINE && position.winner().is_none() {
            let hit = self.searcher.table.probe(self.table_key(&position));
            let Some(mv) = hit.and_then(|hit| hit.mv).filter(|&mv| position.is_legal(mv)) else { break };
            position = position.after(mv);
            line.push(mv);
        }
        line
    }

    /// The deep nodes of the line from a ply on, unless they belong to a shallower search on the way to the depth.
    fn open_nodes(&self, ply: usize, depth: u8) -> Vec<OpenNode> {
        // A node without a table move is searched a ply less.
        if self.searcher.open[ply].depth + 1 < i32::from(depth) {
            return Vec::new();
        }
        let open = self.searcher.open[ply..].iter().take_while(|open| open.depth > 0);
        let node = |open: &OpenPly| Some(OpenNode { done: open.done.clone(), current: open.current? });
        open.map_while(node).collect()
    }

    /// Searches a node to a depth, by way of shallower ones where the table has nothing of them.
    fn deepen(&mut self, ply: usize, window: Window, depth: u8) -> Value {
        let hit = self.searcher.table.probe(self.table_key(&self.frame(ply).position));
        // An imported entry stands alone: nothing below it is known here, and the shallow depths find the order of moves.
        let known = hit.filter(|hit| !hit.imported).map_or(0, |hit| hit.depth);
        let first = if depth - known.min(depth) <= FRESH_PLIES { depth } else { known + 1 };
        let mut value = Value::of(0);
        for depth in first..=depth {
            value = if window.beta - window.alpha > 1 {
                self.node::<true>(ply, window.alpha, window.beta, depth.into())
            } else {
                self.node::<false>(ply, window.alpha, window.beta, depth.into())
            };
            if self.interrupted() {
                break;
            }
        }
        value
    }
}
