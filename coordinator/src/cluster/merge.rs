//! From what a unit found, at its path's end and from White's view, to what that means for the root; and back out again.

use corridor_shared::board::Color;
use corridor_shared::job::{Line, Unit, UnitReport, WhiteWindow};
use corridor_shared::score::{Bound, INFINITE, MAX_CM, Score, WhiteScore};
use corridor_shared::search::Window;

use super::plan::{Candidate, Found, RootMove, best_first};

/// Score and bound of a report from the root's side to move; `None` when it has none.
pub(crate) fn at_root(report: &UnitReport, unit: &Unit) -> Option<(Score, Bound)> {
    let (score_white, bound_white) = report.score?;
    let turn = unit.root.turn();
    let plies = Score::try_from(unit.path.len()).unwrap_or(0);
    let score = score_white.to_engine(turn);
    Some((farther(score, plies), bound_white.from_white(turn)))
}

/// The window at a path's end of so many plies, from a window at the root.
pub(crate) fn window_at_end(window: Window, turn: Color, plies: usize) -> WhiteWindow {
    let plies = Score::try_from(plies).unwrap_or(0);
    let nearer = Window { alpha: farther(window.alpha, -plies), beta: farther(window.beta, -plies) };
    WhiteWindow::from_engine(nearer, turn)
}

/// The same score when a proven win is so many plies farther away. Open ends stay open.
fn farther(score: Score, plies: Score) -> Score {
    if score.abs() <= MAX_CM || score.abs() >= INFINITE {
        return score;
    }
    score - plies * score.signum()
}

/// A root move with its score, as everybody outside sees it.
pub(crate) fn line(root_move: RootMove, found: &Found, turn: Color) -> Line {
    let mut pv = Vec::with_capacity(found.pv.len() + 1);
    pv.push(root_move.mv);
    pv.extend_from_slice(&found.pv);
    Line {
        mv: root_move.mv,
        score_white: WhiteScore::from_engine(found.score, turn),
        bound: found.bound.from_white(turn),
        depth: found.depth,
        pv,
        nodes: found.nodes,
        heat_cm: root_move.heat_cm,
    }
}

/// Every move that has a score, best first.
pub(crate) fn lines(candidates: &[Candidate], turn: Color) -> Vec<Line> {
    let mut known: Vec<&Candidate> = candidates.iter().filter(|candidate| candidate.last.is_some()).collect();
    known.sort_by(|a, b| best_first(a.last.as_ref(), b.last.as_ref()));
    let as_line = |candidate: &Candidate| Some(line(candidate.root_move, candidate.last.as_ref()?, turn));
    known.into_iter().filter_map(as_line).collect()
}
