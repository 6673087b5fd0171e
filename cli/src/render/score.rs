//! Scores in words.

use corridor_shared::job::Line;
use corridor_shared::score::{Bound, WhiteScore};

/// A score with its bound, from White's view. A bound on a win that is no win for the other side says so: it may be
/// faster, or it may be none.
pub(crate) fn score(line: &Line) -> String {
    bounded(line.score_white, line.bound)
}

/// The same of a score that is no line's.
pub(crate) fn bounded(score: WhiteScore, bound: Bound) -> String {
    match (bound, score) {
        (Bound::Exact, score) => score.to_string(),
        (Bound::Upper, WhiteScore::Cm(_)) => format!("\u{2264} {score}"),
        (Bound::Lower, WhiteScore::Cm(_)) => format!("\u{2265} {score}"),
        (Bound::Upper, WhiteScore::BlackWinsIn(plies)) => format!("Black wins in \u{2264} {plies}"),
        (Bound::Lower, WhiteScore::WhiteWinsIn(plies)) => format!("White wins in \u{2264} {plies}"),
        (Bound::Upper, WhiteScore::WhiteWinsIn(plies)) => format!("at best White wins in {plies}"),
        (Bound::Lower, WhiteScore::BlackWinsIn(plies)) => format!("at best Black wins in {plies}"),
    }
}

/// A score in a sentence.
pub(crate) fn in_plies(score: WhiteScore) -> String {
    match score {
        WhiteScore::Cm(_) => score.to_string(),
        WhiteScore::WhiteWinsIn(1) | WhiteScore::BlackWinsIn(1) => format!("{score} ply"),
        WhiteScore::WhiteWinsIn(_) | WhiteScore::BlackWinsIn(_) => format!("{score} plies"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_on_wins_read_as_sentences() {
        let shown = |score_white, bound| {
            let mv = "e3h".parse().unwrap();
            score(&Line { mv, score_white, bound, depth: 12, pv: vec![mv], nodes: 1, heat_cm: 313 })
        };
        assert_eq!(shown(WhiteScore::BlackWinsIn(2), Bound::Upper), "Black wins in \u{2264} 2");
        assert_eq!(shown(WhiteScore::BlackWinsIn(2), Bound::Lower), "at best Black wins in 2");
        assert_eq!(shown(WhiteScore::WhiteWinsIn(9), Bound::Lower), "White wins in \u{2264} 9");
        assert_eq!(shown(WhiteScore::WhiteWinsIn(9), Bound::Upper), "at best White wins in 9");
        assert_eq!(shown(WhiteScore::Cm(-250), Bound::Upper), "\u{2264} -2.50");
        assert_eq!(in_plies(WhiteScore::BlackWinsIn(1)), "Black wins in 1 ply");
        assert_eq!(in_plies(WhiteScore::WhiteWinsIn(16)), "White wins in 16 plies");
    }
}
