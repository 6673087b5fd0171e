//! From what a unit found, at its path's end and from White's view, to what that means for the root; and back out again.

use corridor_shared::board::{Color, Move};
use corridor_shared::job::{Line, Unit, UnitReport, WhiteWindow};
use corridor_shared::score::{Bound, INFINITE, MAX_CM, Score, WhiteScore};
use corridor_shared::search::Window;

use super::plan::{Candidate, Found, HandedBack, RootMove, best_first};

/// Score and bound of a report from the side to move at the unit's node, wins counted from the root; `None` when it has
/// none.
pub(crate) fn at_node(report: &UnitReport, unit: &Unit) -> Option<(Score, Bound)> {
    let (score_white, bound_white) = report.score?;
    Some((score_at(score_white, unit.turn(), unit), bound_white.from_white(unit.turn())))
}

fn score_at(score_white: WhiteScore, turn: Color, unit: &Unit) -> Score {
    farther(score_white.to_engine(turn), plies(unit.path.len()))
}

/// What a worker has done of a unit that it was told to shed.
pub(crate) fn handed_back(report: &UnitReport, unit: &Unit) -> Vec<HandedBack> {
    let mut turn = unit.turn();
    let mut levels = Vec::with_capacity(report.open.len());
    for node in &report.open {
        let child = |&(mv, score, bound): &(Move, WhiteScore, Bound)| {
            (mv, score_at(score, turn, unit), bound.from_white(turn))
        };
        levels.push(HandedBack { current: node.current, done: node.done.iter().map(child).collect() });
        turn = !turn;
    }
    levels
}

/// The window at a path's end of so many plies, from the side to move there, for a worker: wins counted from that end.
pub(crate) fn window_at_end(window: Window, turn: Color, path: usize) -> WhiteWindow {
    let plies = plies(path);
    let nearer = Window { alpha: farther(window.alpha, -plies), beta: farther(window.beta, -plies) };
    WhiteWindow::from_engine(nearer, turn)
}

fn plies(path: usize) -> Score {
    Score::try_from(path).unwrap_or(0)
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
