//! The root moves of a search of which only the best one is known, as with a book that was exported and imported.

use corridor_shared::board::{Move, Position};
use corridor_shared::book::Searched;
use corridor_shared::cat::Verdict;
use corridor_shared::job::{Line, RootPrune};
use corridor_shared::score::{Bound, MAX_CM};

use super::job::root_moves;

/// Every root move that such a search has looked at, best first; one line is exact. Of another one it is said what the book
/// knows, or else what every search says of a move that is not the best: that it is at most as good. All nodes are the best
/// one's, for nobody knows how they were spread. `None` if there is no best move with an exact score.
///
/// The position is in the orientation in which it was searched.
pub(crate) fn implied_lines(position: &Position, searched: &Searched) -> Option<Vec<Line>> {
    let best = searched.best_move.filter(|_| searched.bound == Bound::Exact)?;
    let moves = root_moves(position, searched.prune);
    let all: Vec<&Verdict> = moves.kept.iter().chain(&moves.pruned).collect();
    let heat = |mv: Move| all.iter().find(|verdict| verdict.mv == mv).map_or(0, |verdict| verdict.heat_cm);
    let at_most = Bound::Upper.from_white(position.turn());
    let line = |mv, score_white, bound| Line {
        mv,
        score_white,
        bound,
        depth: searched.depth,
        pv: vec![mv],
        nodes: 0,
        heat_cm: heat(mv),
    };
    let first = Line {
        pv: searched.pv.clone(),
        nodes: searched.nodes,
        ..line(best, searched.score_white, Bound::Exact)
    };
    let known = searched.others.iter().map(|other| line(other.mv, other.score_white, other.bound));
    let implied = looked_at(position, searched, &moves.kept, &all).into_iter();
    let implied = implied.filter(|&mv| mv != best).map(|mv| line(mv, searched.score_white, at_most));
    let others: Vec<Line> = if searched.others.is_empty() { implied.collect() } else { known.collect() };
    Some([vec![first], others].concat())
}

/// The moves that were searched: before a side is believed lost these are all.
fn looked_at(position: &Position, searched: &Searched, kept: &[Verdict], all: &[&Verdict]) -> Vec<Move> {
    let is_lost = searched.score_white.to_engine(position.turn()) < -MAX_CM;
    if is_lost && searched.prune != RootPrune::None {
        return all.iter().map(|verdict| verdict.mv).collect();
    }
    kept.iter().map(|verdict| verdict.mv).collect()
}

#[cfg(test)]
mod tests {
    use corridor_shared::book::{Alternative, Effort};
    use corridor_shared::notation::{Notation, parse_moves, replay};
    use corridor_shared::score::WhiteScore;

    use super::*;

    fn after(moves: &str) -> Position {
        let moves = parse_moves(Notation::Man, moves).expect("moves");
        replay(&Position::start(), &moves).expect("legal")
    }

    fn found(best: &str, score_white: WhiteScore) -> Searched {
        let best: Move = best.parse().expect("a move");
        Searched {
            depth: 7,
            score_white,
            bound: Bound::Exact,
            best_move: Some(best),
            pv: vec![best],
            nodes: 1_000,
            engine: "".into(),
            analysed_at: 0,
            worker: "".into(),
            multipv: 1,
            prune: RootPrune::Cat,
            deterministic: false,
            others: Vec::new(),
            effort: Effort::default(),
        }
    }

    #[test]
    fn other_moves_are_at_most_as_good_for_whoever_is_to_move() {
        for (moves, best, bound) in [("e2 e8", "e3", Bound::Upper), ("e2", "e8", Bound::Lower)] {
            let position = after(moves);
            let lines = implied_lines(&position, &found(best, WhiteScore::Cm(-30))).expect("a best move");
            let kept = root_moves(&position, RootPrune::Cat).kept;
            assert_eq!(lines.len(), kept.len(), "every move that was searched, once");
            assert_eq!(
                (lines[0].mv.to_string(), lines[0].bound, lines[0].nodes),
                (best.to_owned(), Bound::Exact, 1_000)
            );
            for line in &lines {
                let verdict = kept.iter().find(|verdict| verdict.mv == line.mv).expect("a kept move");
                assert_eq!((line.heat_cm, line.depth, line.pv[0]), (verdict.heat_cm, 7, line.mv));
                assert_eq!(line.score_white, WhiteScore::Cm(-30));
            }
            assert!(lines[1..].iter().all(|line| line.bound == bound && line.nodes == 0), "{moves}");
        }
    }

    #[test]
    fn a_loss_was_believed_when_every_move_had_been_searched() {
        let position = after("e2 e8");
        let count = |score| implied_lines(&position, &found("e3", score)).expect("a best move").len();
        let (kept, legal) = (root_moves(&position, RootPrune::Cat).kept.len(), position.legal_moves().len());
        assert!(kept < legal);
        assert_eq!(count(WhiteScore::BlackWinsIn(30)), legal);
        assert_eq!(count(WhiteScore::WhiteWinsIn(30)), kept);
    }

    #[test]
    fn what_is_known_of_other_moves_stands_and_a_bound_is_no_answer() {
        let position = after("e2 e8");
        let other = Alternative {
            mv: "e3h".parse().expect("a move"),
            score_white: WhiteScore::Cm(-44),
            bound: Bound::Exact,
        };
        let searched = Searched { others: vec![other], ..found("e3", WhiteScore::Cm(9)) };
        let lines = implied_lines(&position, &searched).expect("a best move");
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (lines[1].mv, lines[1].score_white, lines[1].bound),
            (other.mv, other.score_white, other.bound)
        );
        let bound = Searched { bound: Bound::Lower, ..found("e3", WhiteScore::Cm(9)) };
        assert_eq!(implied_lines(&position, &bound), None);
        assert_eq!(implied_lines(&position, &Searched { best_move: None, ..searched }), None);
    }
}
