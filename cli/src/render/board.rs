//! The board in a terminal.

use corridor_shared::cat::CatSnapshot;
use corridor_shared::{Color, Orientation, Position, Square, Wall};

use super::ramp::{self, Rgb};

/// Cells are five characters wide, with one between them for walls.
const CELL: usize = 5;

/// How a board is drawn.
struct Style<'a> {
    /// The inside of a square's cell: exactly [`CELL`] columns wide, with whatever colours.
    cell: &'a dyn Fn(Square) -> String,
    /// A wall, in whatever colours.
    wall: &'a dyn Fn(&str) -> String,
}

/// The board without heat or colours, the walls in hand and the side to move.
pub(crate) fn plain(position: &Position) -> String {
    let cell = |square| match pawn_letter(position, square) {
        Some(letter) => format!("  {letter}  "),
        None => "  \u{b7}  ".to_owned(),
    };
    let style = Style { cell: &cell, wall: &str::to_owned };
    format!("{}{}", draw(position, &style), footer(position))
}

/// The colours of a board with heat, chosen to be read on a dark terminal and on a light one.
const INK_ON_TINT: Rgb = Rgb(40, 24, 8);
const UNREACHABLE: Rgb = Rgb(58, 54, 64);
const WALL: Rgb = Rgb(64, 140, 220);

/// The board with the display table's heat in cm; in 24-bit colours, or without any.
pub(crate) fn with_heat(position: &Position, snapshot: &CatSnapshot, colours: bool) -> String {
    let cell = |square: Square| {
        let index = usize::from(square.index());
        let heat_cm = snapshot.display[index];
        let inside = match (pawn_letter(position, square), heat_cm) {
            (Some(letter), 0) => format!("  {letter}  "),
            (Some(letter), heat_cm) => format!("{letter}{heat_cm:>3} "),
            (None, 0) if snapshot.reachable[index] => "  \u{b7}  ".to_owned(),
            (None, 0) => "\u{2591}".repeat(CELL),
            (None, heat_cm) => format!("{heat_cm:>4} "),
        };
        if colours && let Some(pawn) = coloured_pawn(position, square) {
            // Two columns of pawn, three of heat.
            let number = format!("{heat_cm:>3}");
            let heat = ramp::tint(heat_cm).map(|tint| coloured(&number, Some(INK_ON_TINT), Some(tint)));
            return format!("{pawn}{}", heat.unwrap_or(number));
        }
        match (colours, ramp::tint(heat_cm)) {
            (false, _) => inside,
            (true, _) if !snapshot.reachable[index] => coloured(&" ".repeat(CELL), None, Some(UNREACHABLE)),
            (true, None) => inside,
            (true, Some(tint)) => coloured(&inside, Some(INK_ON_TINT), Some(tint)),
        }
    };
    let wall = |text: &str| if colours { coloured(text, Some(WALL), None) } else { text.to_owned() };
    let style = Style { cell: &cell, wall: &wall };
    format!("{}{}", draw(position, &style), footer(position))
}

/// A pawn in its own colours, two columns wide.
fn coloured_pawn(position: &Position, square: Square) -> Option<String> {
    const WHITE: Rgb = Rgb(255, 253, 248);
    const BLACK: Rgb = Rgb(20, 18, 16);
    let (ink, paper) = if position.pawn(Color::White) == square { (BLACK, WHITE) } else { (WHITE, BLACK) };
    pawn_letter(position, square).map(|letter| coloured(&format!("{letter} "), Some(ink), Some(paper)))
}

/// Text in 24-bit colours, by the escape sequences that terminals share.
fn coloured(text: &str, ink: Option<Rgb>, paper: Option<Rgb>) -> String {
    let mut codes = Vec::new();
    if let Some(Rgb(red, green, blue)) = ink {
        codes.push(format!("38;2;{red};{green};{blue}"));
    }
    if let Some(Rgb(red, green, blue)) = paper {
        codes.push(format!("48;2;{red};{green};{blue}"));
    }
    format!("\x1b[{}m{text}\x1b[0m", codes.join(";"))
}

/// `W` or `B` where a pawn stands.
fn pawn_letter(position: &Position, square: Square) -> Option<char> {
    if position.pawn(Color::White) == square {
        Some('W')
    } else if position.pawn(Color::Black) == square {
        Some('B')
    } else {
        None
    }
}

fn draw(position: &Position, style: &Style<'_>) -> String {
    let mut text = String::new();
    for row in (0..9).rev() {
        text.push_str(&format!("  {} ", row + 1));
        for column in 0..9 {
            if let Some(square) = Square::new(column, row) {
                text.push_str(&(style.cell)(square));
            }
            if column < 8 {
                text.push_str(&vertical_gap(position, style, column, row));
            }
        }
        end_line(&mut text);
        if row > 0 {
            text.push_str("    ");
            text.push_str(&horizontal_gaps(position, style, row - 1));
            end_line(&mut text);
        }
    }
    text.push_str("    ");
    for file in 'a'..='i' {
        text.push_str(&format!("{file:^width$}", width = CELL + 1));
    }
    end_line(&mut text);
    text
}

/// Ends a line, without blanks before its end.
fn end_line(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}

fn stands(position: &Position, orientation: Orientation, column: Option<u8>, row: Option<u8>) -> bool {
    column
        .zip(row)
        .and_then(|(column, row)| Wall::new(orientation, column, row))
        .is_some_and(|wall| position.has_wall(wall))
}

/// Between a square and its right neighbour.
fn vertical_gap(position: &Position, style: &Style<'_>, column: u8, row: u8) -> String {
    let blocked = stands(position, Orientation::Vertical, Some(column), Some(row))
        || stands(position, Orientation::Vertical, Some(column), row.checked_sub(1));
    if blocked { (style.wall)("\u{2503}") } else { " ".to_owned() }
}

/// Between a row of squares (0..=7) and the row above it.
fn horizontal_gaps(position: &Position, style: &Style<'_>, row: u8) -> String {
    let mut text = String::new();
    for column in 0..9u8 {
        let blocked = stands(position, Orientation::Horizontal, Some(column), Some(row))
            || stands(position, Orientation::Horizontal, column.checked_sub(1), Some(row));
        let segment = if blocked { (style.wall)(&"\u{2501}".repeat(CELL)) } else { " ".repeat(CELL) };
        text.push_str(&segment);
        if column < 8 {
            let through = |orientation| stands(position, orientation, Some(column), Some(row));
            text.push_str(&if through(Orientation::Horizontal) {
                (style.wall)("\u{2501}")
            } else if through(Orientation::Vertical) {
                (style.wall)("\u{2503}")
            } else {
                " ".to_owned()
            });
        }
    }
    text
}

/// Walls in hand, distances and whose turn it is.
fn footer(position: &Position) -> String {
    let mut text = String::new();
    for color in Color::BOTH {
        let steps = position.distance(color).map_or_else(|| "?".to_owned(), |steps| steps.to_string());
        text.push_str(&format!(
            "  {color} on {}: {steps} to go, {} walls\n",
            position.pawn(color),
            position.walls_in_hand(color)
        ));
    }
    text.push_str(&match position.winner() {
        Some(winner) => format!("  {winner} has won\n"),
        None => format!("  {} to move\n", position.turn()),
    });
    text
}

#[cfg(test)]
mod tests {
    use corridor_shared::cat::cat_snapshot;

    use super::*;

    /// What a terminal shows of a text: everything but its escape sequences.
    fn shown(text: &str) -> String {
        let mut parts = text.split('\x1b');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |shown, part| shown + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        let position: Position = "a2g6 / b1d6e3 / e4 e6 / 7 8 / 2".parse().unwrap();
        let snapshot = cat_snapshot(&position);
        let [plain, colourful] = [false, true].map(|colours| with_heat(&position, &snapshot, colours));
        assert!(!plain.contains('\x1b') && colourful.contains("\x1b[38;2;"));
        let shown = shown(&colourful);
        for (plain, shown) in plain.lines().zip(shown.lines()) {
            let blank = |line: &str| line.replace(['W', 'B', '\u{2591}', ' '], "");
            assert_eq!(blank(plain), blank(shown));
        }
        assert_eq!(plain.lines().count(), 17 + 1 + 3);
    }
}
