//! What stays on the terminal of an analysis: the board, the final table, the answer.

use corridor_shared::board::Position;
use corridor_shared::cat::cat_snapshot;
use corridor_shared::job::{AuditReport, DoneReport, Line, StoppedBy};
use corridor_shared::score::WhiteScore;

use super::table;
use crate::units::counted;
use crate::{out, render};

/// Rows of the table.
const FINAL_ROWS: usize = 20;

/// All of it.
pub(crate) fn page(position: Option<&Position>, report: &DoneReport) -> String {
    let mut page = position.map(board).unwrap_or_default();
    page.push_str(&ranking(&report.lines.iter().collect::<Vec<_>>()));
    page.push_str(&verdict(report));
    page
}

/// The board, and an empty line.
pub(crate) fn board(position: &Position) -> String {
    let board = if out::wants_colours() {
        render::board::with_heat(position, &cat_snapshot(position), true)
    } else {
        render::board::plain(position)
    };
    format!("{board}\n")
}

/// A pruned move that is better than what was searched.
pub(crate) fn missed(report: &AuditReport) -> String {
    format!("audit: pruned {} is better: {}", report.mv, report.score_white)
}

/// The best of the moves as a table, with what its numbers are.
pub(crate) fn ranking(lines: &[&Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown = &lines[..lines.len().min(FINAL_ROWS)];
    let mut text = format!("{}\n", table::lines(shown, table::width_of_output()));
    let hidden = lines.len() - shown.len();
    if hidden > 0 {
        text.push_str(&format!("and {hidden} more move{}\n", if hidden == 1 { "" } else { "s" }));
    }
    text.push_str(LEGEND);
    text
}

/// What the table's numbers are.
const LEGEND: &str = "\
scores in squares from White's view (\u{2264} at most, \u{2265} at least), wins in plies;
heat in cm, 100 to a square; nodes are those of the line's last depth
";

fn verdict(report: &DoneReport) -> String {
    let numbers = format!("{} in {:.1} s", counted(report.nodes, "node"), report.elapsed.as_secs_f64());
    let answer = match (report.best_move, report.score_white) {
        (Some(best), Some(score)) => format!("best move {best}, {}", render::in_plies(score)),
        (None, Some(WhiteScore::WhiteWinsIn(_))) => return "the game is over: White has won".to_owned(),
        (None, Some(WhiteScore::BlackWinsIn(_))) => return "the game is over: Black has won".to_owned(),
        _ => return format!("no depth was completed, {numbers}, stopped by {}", report.stopped_by.name()),
    };
    if report.stopped_by == StoppedBy::Book {
        return format!("{answer}, depth {}, from the book (--fresh searches it again)", report.depth);
    }
    format!("{answer}, depth {}, {numbers}, stopped by {}", report.depth, report.stopped_by.name())
}
