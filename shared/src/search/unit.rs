//! A unit of search: one node of somebody's tree, to a depth, with a window.

use super::alphabeta::{Interrupt, Search, Searcher};
use super::{MAX_DEPTH, MAX_PLY, PruneMode, SearchHandler, Window};
use crate::board::{Move, Position};
use crate::score::{Bound, Score};

/// What the table knows is good enough to begin with when it is at most so many plies behind (the last iteration, and a ply
/// that a node without a table move is searched less).
const FRESH_PLIES: u8 = 2;

/// What to search below the end of a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnitSpec {
    /// Plies below the path's end; 0 is quiescence alone, at most [`MAX_DEPTH`].
    pub depth: u8,
    /// From the side to move at the path's end, wins counted from there.
    pub window: Window,
    /// Which moves are searched.
    pub prune: PruneMode,
    /// Nodes after which to give up.
    pub node_budget: Option<u64>,
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
    /// The best line from the path's end; may be empty for a bound.
    pub pv: Vec<Move>,
    /// Nodes visited, also when not completed.
    pub nodes: u64,
    /// Whether the search ended by itself.
    pub completed: bool,
}

impl Searcher {
    /// Searches the node at the end of a path of legal moves from `root`. Repetitions of positions on the path are seen.
    pub fn search_unit(
        &mut self,
        root: &Position,
        path: &[Move],
        spec: &UnitSpec,
        handler: &mut dyn SearchHandler,
    ) -> UnitOutcome {
        // What lies further back than the line can hold cannot matter: no repetition reaches there.
        let (early, path) = path.split_at(path.len().saturating_sub(MAX_PLY - 1));
        let root = early.iter().fold(*root, |position, &mv| position.after(mv));
        self.set_line(&root, path);
        let mut search = Search::new(self, handler, spec.prune, path.len(), spec.node_budget);
        let outcome = search.run_unit(path.len(), spec);
        search.hand_over();
        outcome
    }
}

impl Search<'_> {
    fn run_unit(&mut self, ply: usize, spec: &UnitSpec) -> UnitOutcome {
        let depth = spec.depth.min(MAX_DEPTH);
        let mut window = spec.window;
        loop {
            self.nodes += 1;
            // A null window leaves no line, and an earlier unit's must not be taken for one.
            self.clear_pv(ply);
            let score = self.deepen(ply, window, depth);
            let bound = Bound::of(score, window.alpha, window.beta);
            let pv = self.pv(ply).to_vec();
            match self.interrupt.take() {
                None => return UnitOutcome { score, bound, pv, nodes: self.nodes, completed: true },
                Some(Interrupt::Stop) => {
                    return UnitOutcome { score, bound, pv: Vec::new(), nodes: self.nodes, completed: false };
                }
                Some(Interrupt::Window(narrower)) => window = narrower,
            }
        }
    }

    /// Searches a node to a depth, by way of shallower ones where the table has nothing of them.
    fn deepen(&mut self, ply: usize, window: Window, depth: u8) -> Score {
        let hit = self.searcher.table.probe(self.table_key(&self.frame(ply).position));
        // An imported entry stands alone: nothing below it is known here, and the shallow depths find the order of moves.
        let known = hit.filter(|hit| !hit.imported).map_or(0, |hit| hit.depth);
        let first = if depth - known.min(depth) <= FRESH_PLIES { depth } else { known + 1 };
        let mut score = 0;
        for depth in first..=depth {
            let value = if window.beta - window.alpha > 1 {
                self.node::<true>(ply, window.alpha, window.beta, depth.into())
            } else {
                self.node::<false>(ply, window.alpha, window.beta, depth.into())
            };
            score = value.score;
            if self.interrupted() {
                break;
            }
        }
        score
    }
}
