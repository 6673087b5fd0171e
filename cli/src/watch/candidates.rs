//! The candidates: a move a line, as many columns of facts as there is room for.

use corridor_shared::job::Line;
use corridor_shared::score::{Bound, WhiteScore};

use super::bars;
use super::paint::{Paint, cut, fitted, right};
use crate::analyze::live::width;
use crate::analyze::state::State;
use crate::units::short;

/// Blanks between two columns.
const GAP: usize = 2;
/// Columns of a bar of heat.
const HEAT_BAR: usize = 6;
/// With fewer columns heat is its number alone.
const WIDE: usize = 56;
/// The most columns of workers' names.
const MAX_NAMES: usize = 16;
/// The least columns of expected play that are worth it.
const LEAST_PLAY: usize = 9;

/// A column of the table.
struct Column {
    heading: &'static str,
    at_right: bool,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| width(cell)).chain([self.heading.len()]).max().unwrap_or(0)
    }

    fn aligned(&self, text: &str) -> String {
        if self.at_right { right(text, self.width()) } else { fitted(text, self.width()) }
    }
}

/// The heading and as many of the best moves as there are lines for; nothing if there is not one.
pub(super) fn table(state: &State, lines: usize, columns: usize, paint: Paint) -> Vec<String> {
    let best = state.best_first();
    let shown = &best[..best.len().min(lines.saturating_sub(1))];
    if shown.is_empty() {
        return Vec::new();
    }
    let table = fitting(state, shown, columns, paint);
    let row = |cells: Vec<String>| cut(cells.join(&" ".repeat(GAP)).trim_end(), columns);
    let headings = table.iter().map(|column| paint.dim(&column.aligned(column.heading)));
    let mut text = vec![row(headings.collect())];
    for (index, line) in shown.iter().enumerate() {
        let cells = table.iter().map(|column| {
            let cell = column.aligned(&column.cells[index]);
            match index {
                0 => paint.bold(&cell),
                _ if line.depth < shown[0].depth => paint.dim(&cell),
                _ => cell,
            }
        });
        text.push(row(cells.collect()));
    }
    text
}

/// The columns of the table in their order, those that matter most if not all of them fit.
fn fitting(state: &State, lines: &[&Line], columns: usize, paint: Paint) -> Vec<Column> {
    let column = |heading, at_right, cell: &dyn Fn(&Line) -> String| Column {
        heading,
        at_right,
        cells: lines.iter().map(|line| cell(line)).collect(),
    };
    let mut table = vec![
        column("move", false, &|line| line.mv.to_string()),
        column("score", true, &brief_line),
        column("depth", true, &|line| line.depth.to_string()),
    ];
    let mut left = columns;
    for column in &table {
        left = left.saturating_sub(column.width() + GAP);
    }
    let with_bar = columns >= WIDE;
    let heat = |line: &Line| match (line.heat_cm, with_bar) {
        (heat_cm, true) => format!("{heat_cm:>3} {}", bars::heat(heat_cm, HEAT_BAR, paint)),
        (heat_cm, false) => bars::heat_number(heat_cm, paint),
    };
    let mut add = |column: Column, left: &mut usize| {
        if column.width() <= *left {
            *left = left.saturating_sub(column.width() + GAP);
            table.push(column);
        }
    };
    add(column("heat", !with_bar, &heat), &mut left);
    let names = left.min(MAX_NAMES);
    add(column("worker", false, &|line| workers(state, line, names)), &mut left);
    add(column("nodes", true, &|line| short(line.nodes)), &mut left);
    if left >= LEAST_PLAY {
        table.push(column("line", false, &|line| play(line, left)));
    }
    table
}

/// A score in few columns: wins by their side's letter.
pub(super) fn brief(score: WhiteScore) -> String {
    match score {
        WhiteScore::Cm(_) => score.to_string(),
        WhiteScore::WhiteWinsIn(plies) => format!("W in {plies}"),
        WhiteScore::BlackWinsIn(plies) => format!("B in {plies}"),
    }
}

fn brief_line(line: &Line) -> String {
    let sign = match line.bound {
        Bound::Exact => "",
        Bound::Upper => "\u{2264}",
        Bound::Lower => "\u{2265}",
    };
    format!("{sign}{}", brief(line.score_white))
}

/// Who searches a move now, with a mark; else who has sent its score. In so many columns.
fn workers(state: &State, line: &Line, columns: usize) -> String {
    let others = |count: usize| if count > 0 { format!(" +{count}") } else { String::new() };
    match state.holders(line.mv).as_slice() {
        [] => cut(state.sender(line.mv).unwrap_or_default(), columns),
        [first, rest @ ..] => {
            let others = others(rest.len());
            format!("\u{25b8}{}{others}", cut(first, columns.saturating_sub(1 + others.len())))
        }
    }
}

/// The expected play, as many whole moves as fit.
fn play(line: &Line, columns: usize) -> String {
    let mut play = String::new();
    for mv in &line.pv {
        let mv = mv.to_string();
        if play.len() + 1 + mv.len() > columns {
            break;
        }
        if !play.is_empty() {
            play.push(' ');
        }
        play.push_str(&mv);
    }
    play
}
