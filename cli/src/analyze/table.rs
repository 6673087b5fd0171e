//! Tables of lines.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use corridor_shared::Color;
use corridor_shared::job::Line;
use corridor_shared::score::Bound;

use crate::render::score;
use crate::units::grouped;

/// Columns of a page.
pub(crate) const WIDTH: usize = 80;
/// Moves of an expected play that are shown, if there is room.
const PLIES: usize = 8;
/// Columns of the expected play, however little room there is.
const LEAST_PLAY: usize = 8;

/// Columns for a table on standard output: a page, or less where the terminal is narrower.
pub(crate) fn width_of_output() -> usize {
    let columns = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    columns.map_or(WIDTH, |columns| WIDTH.min(columns.saturating_sub(1)))
}

/// A table of lines, in the order given, that fits into so many columns if that can be.
pub(crate) fn lines(lines: &[&Line], width: usize) -> String {
    let headings = ["move", "score", "depth", "nodes", "heat", "line"];
    let cells = |line: &Line| {
        [
            line.mv.to_string(),
            score(line),
            line.depth.to_string(),
            grouped(line.nodes),
            line.heat_cm.to_string(),
        ]
    };
    let rows: Vec<[String; 5]> = lines.iter().map(|line| cells(line)).collect();
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| row[column].as_str()).chain([headings[column]]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    // Each column has a blank on both sides and a border before it; one more border ends the row.
    let taken: usize = (0..5).map(|column| widest(column) + 3).sum::<usize>() + 4;
    let room = width.saturating_sub(taken).max(LEAST_PLAY);
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings);
    for (line, [mv, score, depth, nodes, heat]) in lines.iter().zip(rows) {
        table.add_row([mv, score, depth, nodes, heat, play(line, room)]);
    }
    for column in 1..=4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// The expected play, as much of it as there is room for.
fn play(line: &Line, room: usize) -> String {
    const MORE: &str = " ..";
    let mut play = String::new();
    for (index, mv) in line.pv.iter().enumerate() {
        let mv = format!("{}{mv}", if index == 0 { "" } else { " " });
        let last = index + 1 == line.pv.len();
        let needed = play.len() + mv.len() + if last { 0 } else { MORE.len() };
        if index > 0 && (index == PLIES || needed > room) {
            play.push_str(MORE);
            break;
        }
        play.push_str(&mv);
    }
    play
}

/// Deeper lines first, then those that are better for the side to move.
pub(crate) fn sort_best_first(lines: &mut [&Line], turn: Color) {
    let key = |line: &Line| (line.depth, line.score_white.to_engine(turn), line.bound == Bound::Exact);
    lines.sort_by_key(|line| std::cmp::Reverse(key(line)));
}

#[cfg(test)]
mod tests {
    use corridor_shared::score::WhiteScore;

    use super::*;

    fn line(score_white: WhiteScore, bound: Bound) -> Line {
        let pv = "e2 e8 e3 e7 e4 e6 e3h f6h c6h".split(' ').map(|mv| mv.parse().unwrap()).collect();
        let mv = "e3h".parse().unwrap();
        Line { mv, score_white, bound, depth: 12, pv, nodes: 123_456_789, heat_cm: 313 }
    }

    #[test]
    fn tables_fit_into_their_columns() {
        for score in [WhiteScore::Cm(-1234), WhiteScore::WhiteWinsIn(100)] {
            for bound in [Bound::Exact, Bound::Upper, Bound::Lower] {
                let line = line(score, bound);
                for width in [WIDTH, 120] {
                    let table = lines(&[&line], width);
                    assert!(table.lines().all(|row| row.chars().count() <= width), "{width}\n{table}");
                }
            }
        }
    }
}
