//! Tables of lines.

use comfy_table::{CellAlignment, Table, presets};
use corridor_shared::Color;
use corridor_shared::job::Line;
use corridor_shared::score::Bound;

use crate::units::grouped;

/// Moves of an expected play that are shown.
const PLIES: usize = 8;

/// A table of lines, in the order given.
pub(crate) fn lines(lines: &[&Line]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["move", "score", "depth", "nodes", "heat", "line"]);
    for line in lines {
        table.add_row([
            line.mv.to_string(),
            score(line),
            line.depth.to_string(),
            grouped(line.nodes),
            line.heat_cm.to_string(),
            play(line),
        ]);
    }
    for column in 1..=4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

fn score(line: &Line) -> String {
    let sign = match line.bound {
        Bound::Exact => "",
        Bound::Lower => "≥ ",
        Bound::Upper => "≤ ",
    };
    format!("{sign}{}", line.score_white)
}

fn play(line: &Line) -> String {
    let mut play: Vec<String> = line.pv.iter().take(PLIES).map(ToString::to_string).collect();
    if line.pv.len() > PLIES {
        play.push("..".to_owned());
    }
    play.join(" ")
}

/// Deeper lines first, then those that are better for the side to move.
pub(crate) fn sort_best_first(lines: &mut [&Line], turn: Color) {
    let key = |line: &Line| (line.depth, line.score_white.to_engine(turn), line.bound == Bound::Exact);
    lines.sort_by_key(|line| std::cmp::Reverse(key(line)));
}
