//! The page: what stands where in a terminal of some size. A function of what is known, and of nothing else but the clock.

use corridor_shared::board::{Color, Position};

use super::paint::{Paint, cut, fitted};
use super::panel;
use crate::analyze::live::width;
use crate::analyze::state::{Asked, State};
use crate::render::board::{BOARD_LINES, Cell, Drawing};

/// Columns between the board and what is beside it.
const GAP: usize = 2;
/// Lines of a board with what is said of it: a line a player.
const BLOCK_LINES: usize = BOARD_LINES + 2;
/// Lines for the rest if the board is to stand above it.
const LEAST_BELOW: usize = 11;
/// What the numbers and the marks on the board are.
const LEGEND: &str = "  heat in cm; \u{2500}\u{2502}\u{253c}: walls searched";
/// With fewer lines each of them is wanted for something better than the last.
const LEAST_WITH_HINT: usize = 8;

/// Where the board stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Beside(Cell),
    Above(Cell),
    Nowhere,
}

impl Place {
    /// The largest board that leaves room for the rest.
    fn of(rows: usize, columns: usize) -> Self {
        let beside = |cell: &Cell| block_columns(*cell) + GAP + least_beside(*cell) <= columns;
        let above = |cell: &Cell| block_columns(*cell) <= columns;
        let cells = Cell::ALL.iter();
        if rows >= BLOCK_LINES
            && let Some(&cell) = cells.clone().find(|cell| beside(cell))
        {
            return Self::Beside(cell);
        }
        if rows >= BLOCK_LINES + 1 + LEAST_BELOW
            && let Some(&cell) = cells.clone().find(|cell| above(cell))
        {
            return Self::Above(cell);
        }
        Self::Nowhere
    }
}

/// Columns that what stands beside a board needs.
const fn least_beside(cell: Cell) -> usize {
    match cell {
        Cell::Wide => 58,
        Cell::Narrow => 38,
        Cell::Dot => 30,
    }
}

/// Columns of a board with what is said of it.
const fn block_columns(cell: Cell) -> usize {
    match cell {
        Cell::Wide | Cell::Narrow => cell.board_columns(),
        Cell::Dot => 22,
    }
}

/// The page for a terminal of so many rows and columns: at most as many lines, none wider.
pub(super) fn page(state: &State, (rows, columns): (usize, usize), paint: Paint) -> Vec<String> {
    let mut lines = vec![panel::title(state, columns, paint)];
    let with_hint = rows >= LEAST_WITH_HINT;
    let room = rows.saturating_sub(1 + usize::from(with_hint));
    lines.extend(body(state, room, columns, paint));
    if with_hint {
        lines.push(cut(&paint.dim("Ctrl-C leaves, the job goes on"), columns));
    }
    lines.truncate(rows);
    lines
}

fn body(state: &State, rows: usize, columns: usize, paint: Paint) -> Vec<String> {
    let Some(asked) = &state.asked else { return Vec::new() };
    match Place::of(rows, columns) {
        Place::Nowhere => panel::lines(state, rows, columns, paint),
        Place::Above(cell) => {
            let mut lines = block(state, asked, cell, paint);
            lines.push(String::new());
            lines.extend(panel::lines(state, rows - lines.len(), columns, paint));
            lines
        }
        Place::Beside(cell) => {
            let taken = block_columns(cell) + GAP;
            let mut board = block(state, asked, cell, paint);
            if rows > board.len() && cell != Cell::Dot {
                board.push(cut(&paint.dim(LEGEND), block_columns(cell)));
            }
            let panel = panel::lines(state, rows, columns - taken, paint);
            side_by_side(&board, &panel, taken)
        }
    }
}

/// Two columns of lines, the second one after so many columns.
fn side_by_side(left: &[String], right: &[String], taken: usize) -> Vec<String> {
    let line = |lines: &[String], index: usize| lines.get(index).cloned().unwrap_or_default();
    let both = |index| match (line(left, index), line(right, index)) {
        (left, right) if right.is_empty() => left,
        (left, right) => fitted(&left, taken) + &right,
    };
    (0..left.len().max(right.len())).map(both).collect()
}

/// The board and a line a player, with room to spare at their right ends.
fn block(state: &State, asked: &Asked, cell: Cell, paint: Paint) -> Vec<String> {
    let searched: Vec<_> =
        asked.heat.walls.iter().filter(|attention| attention.reason.is_searched()).copied().collect();
    let drawing = Drawing {
        position: &asked.position,
        // Numbers need no colours.
        heat: Some(&asked.heat),
        walls: &searched,
        best: state.last_iteration().map(|report| report.best_move),
        cell,
        colours: paint.colours,
    };
    let mut lines = drawing.lines();
    for color in [Color::Black, Color::White] {
        lines.push(cut(&player(&asked.position, color, cell, paint), block_columns(cell)));
    }
    lines
}

/// `> White on e1: 8 to go, 10 walls`, the side to move with the mark.
fn player(position: &Position, color: Color, cell: Cell, paint: Paint) -> String {
    let to_move = position.winner().is_none() && position.turn() == color;
    let steps = position.distance(color).map_or_else(|| "?".to_owned(), |steps| steps.to_string());
    let walls = position.walls_in_hand(color);
    let full = match cell {
        Cell::Dot => format!("{color}: {steps} to go, {walls} w."),
        _ => format!("{color} on {}: {steps} to go, {walls} walls", position.pawn(color)),
    };
    let mark = if to_move { "> " } else { "  " };
    let moves = if to_move && width(&full) + 12 <= block_columns(cell) { ", to move" } else { "" };
    let line = format!("{mark}{full}{moves}");
    if to_move { paint.bold(&line) } else { line }
}
