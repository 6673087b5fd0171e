//! The board in a terminal.

use corridor_shared::cat::{CatSnapshot, WallAttention};
use corridor_shared::{Color, Move, Orientation, Position, Square, Wall};

use super::ramp::{self, Rgb};

/// How wide a square's cell is, in columns; there is one between two of them, for walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// A pawn and its square's heat.
    Wide,
    /// The heat.
    Narrow,
    /// A colour.
    Dot,
}

impl Cell {
    /// From the widest to the narrowest.
    pub(crate) const ALL: [Self; 3] = [Self::Wide, Self::Narrow, Self::Dot];

    const fn columns(self) -> usize {
        match self {
            Self::Wide => 5,
            Self::Narrow => 3,
            Self::Dot => 1,
        }
    }

    /// Columns to the left of a row, for its number.
    const fn margin(self) -> usize {
        match self {
            Self::Wide => 4,
            Self::Narrow | Self::Dot => 2,
        }
    }

    /// Columns of a board.
    pub(crate) const fn board_columns(self) -> usize {
        self.margin() + 9 * self.columns() + 8
    }
}

/// Lines of a board.
pub(crate) const BOARD_LINES: usize = 18;

/// The colours of a board with heat, chosen to be read on a dark terminal and on a light one.
pub(crate) const INK_ON_TINT: Rgb = Rgb(40, 24, 8);
const UNREACHABLE: Rgb = Rgb(58, 54, 64);
const WALL: Rgb = Rgb(64, 140, 220);
const BEST: Rgb = Rgb(32, 160, 72);
const PAWN_WHITE: Rgb = Rgb(255, 253, 248);
const PAWN_BLACK: Rgb = Rgb(20, 18, 16);

/// A board as it is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawing<'a> {
    pub(crate) position: &'a Position,
    /// Its heat, in cm on the display table.
    pub(crate) heat: Option<&'a CatSnapshot>,
    /// The walls whose heat is shown too, where they cross.
    pub(crate) walls: &'a [WallAttention],
    /// A move that is marked.
    pub(crate) best: Option<Move>,
    pub(crate) cell: Cell,
    /// In 24 bits, or none.
    pub(crate) colours: bool,
}

/// The board without heat or colours, the walls in hand and the side to move.
pub(crate) fn plain(position: &Position) -> String {
    let drawing = Drawing { position, heat: None, walls: &[], best: None, cell: Cell::Wide, colours: false };
    page(&drawing)
}

/// The board with the display table's heat in cm; in 24-bit colours, or without any.
pub(crate) fn with_heat(position: &Position, snapshot: &CatSnapshot, colours: bool) -> String {
    let heat = Some(snapshot);
    page(&Drawing { position, heat, walls: &[], best: None, cell: Cell::Wide, colours })
}

fn page(drawing: &Drawing<'_>) -> String {
    format!("{}\n{}", drawing.lines().join("\n"), footer(drawing.position))
}

/// What there is between two squares; of two things the greater one is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Open,
    Best,
    Wall,
}

impl Drawing<'_> {
    /// [`BOARD_LINES`] lines without blanks at their ends, at most [`Cell::board_columns`] wide.
    pub(crate) fn lines(&self) -> Vec<String> {
        let margin = self.cell.margin();
        let mut lines = Vec::with_capacity(BOARD_LINES);
        for row in (0..9).rev() {
            let number = format!("{:>width$} ", row + 1, width = margin - 1);
            lines.push(ended(number + &self.squares(row)));
            if row > 0 {
                lines.push(ended(" ".repeat(margin) + &self.gaps(row - 1)));
            }
        }
        let width = self.cell.columns() + 1;
        let files: String = ('a'..='i').map(|file| format!("{file:^width$}")).collect();
        lines.push(ended(" ".repeat(margin) + &files));
        lines
    }

    /// A row of squares, and what is between them.
    fn squares(&self, row: u8) -> String {
        let mut text = String::new();
        for column in 0..9 {
            if let Some(square) = Square::new(column, row) {
                text.push_str(&self.square(square));
            }
            if column < 8 {
                let below = row.checked_sub(1);
                let edge =
                    self.edge(Orientation::Vertical, [(Some(column), Some(row)), (Some(column), below)]);
                text.push_str(&self.vertical(edge));
            }
        }
        text
    }

    /// Between a row of squares (0..=7) and the row above it.
    fn gaps(&self, row: u8) -> String {
        let mut text = String::new();
        for column in 0..9u8 {
            let left = column.checked_sub(1);
            let edge = self.edge(Orientation::Horizontal, [(Some(column), Some(row)), (left, Some(row))]);
            text.push_str(&self.horizontal(edge, self.cell.columns()));
            if column < 8 {
                text.push_str(&self.crossing(column, row));
            }
        }
        text
    }

    /// Where walls cross.
    fn crossing(&self, column: u8, row: u8) -> String {
        let here = [(Some(column), Some(row))];
        let across = self.edge(Orientation::Horizontal, here);
        let along = self.edge(Orientation::Vertical, here);
        match (across, along) {
            (Edge::Open, Edge::Open) => self.wall_heat(column, row),
            (across, along) if across >= along => self.horizontal(across, 1),
            (_, along) => self.vertical(along),
        }
    }

    /// The walls that could stand there, in the colour of the hottest.
    fn wall_heat(&self, column: u8, row: u8) -> String {
        let of = |orientation| {
            let wall = Wall::new(orientation, column, row)?;
            self.walls.iter().find(|attention| attention.wall == wall).map(|attention| attention.heat_cm)
        };
        let (across, along) = (of(Orientation::Horizontal), of(Orientation::Vertical));
        let mark = match (across, along) {
            (Some(_), Some(_)) => "\u{253c}",
            (Some(_), None) => "\u{2500}",
            (None, Some(_)) => "\u{2502}",
            (None, None) => return " ".to_owned(),
        };
        match across.max(along).and_then(ramp::tint).filter(|_| self.colours) {
            Some(tint) => coloured(mark, Some(INK_ON_TINT), Some(tint)),
            None => mark.to_owned(),
        }
    }

    /// What stands at one of some slots.
    fn edge<const SLOTS: usize>(
        &self,
        orientation: Orientation,
        slots: [(Option<u8>, Option<u8>); SLOTS],
    ) -> Edge {
        let at = |(column, row): (Option<u8>, Option<u8>)| {
            let Some(wall) = column.zip(row).and_then(|(column, row)| Wall::new(orientation, column, row))
            else {
                return Edge::Open;
            };
            if self.position.has_wall(wall) {
                Edge::Wall
            } else if self.best == Some(Move::wall(wall)) {
                Edge::Best
            } else {
                Edge::Open
            }
        };
        slots.into_iter().map(at).max().unwrap_or(Edge::Open)
    }

    fn vertical(&self, edge: Edge) -> String {
        self.line(edge, ["\u{2503}", "\u{254f}"], 1)
    }

    fn horizontal(&self, edge: Edge, columns: usize) -> String {
        self.line(edge, ["\u{2501}", "\u{254d}"], columns)
    }

    /// A wall, a dashed one if it is only the best, or nothing.
    fn line(&self, edge: Edge, [wall, best]: [&str; 2], columns: usize) -> String {
        let (piece, ink) = match edge {
            Edge::Open => return " ".repeat(columns),
            Edge::Wall => (wall, WALL),
            Edge::Best => (best, BEST),
        };
        let text = piece.repeat(columns);
        if self.colours { coloured(&text, Some(ink), None) } else { text }
    }

    /// The inside of a square's cell.
    fn square(&self, square: Square) -> String {
        if self.best == Some(Move::pawn(square)) {
            return self.best_square(square);
        }
        let Some(snapshot) = self.heat else { return self.centred(self.letter(square).unwrap_or('\u{b7}')) };
        let index = usize::from(square.index());
        let heat_cm = snapshot.display[index];
        if self.colours
            && let Some(pawn) = self.coloured_pawn(square, heat_cm)
        {
            return pawn;
        }
        let inside = self.inside(square, heat_cm, snapshot.reachable[index]);
        match (self.colours, ramp::tint(heat_cm)) {
            (false, _) => inside,
            (true, _) if !snapshot.reachable[index] => {
                coloured(&" ".repeat(self.cell.columns()), None, Some(UNREACHABLE))
            }
            (true, None) => inside,
            (true, Some(tint)) => coloured(&inside, Some(INK_ON_TINT), Some(tint)),
        }
    }

    /// What a cell says, without colours.
    fn inside(&self, square: Square, heat_cm: u16, reachable: bool) -> String {
        match (self.letter(square), heat_cm, self.cell) {
            (Some(letter), 1.., Cell::Wide) => format!("{letter}{heat_cm:>3} "),
            (Some(letter), ..) => self.centred(letter),
            (None, 0, _) if !reachable => "\u{2591}".repeat(self.cell.columns()),
            (None, 0, _) | (None, _, Cell::Dot) => self.centred('\u{b7}'),
            (None, heat_cm, Cell::Narrow) => format!("{heat_cm:>3}"),
            (None, heat_cm, Cell::Wide) => format!("{heat_cm:>4} "),
        }
    }

    /// The square that is best to go to.
    fn best_square(&self, square: Square) -> String {
        let heat_cm = self.heat.map_or(0, |snapshot| snapshot.display[usize::from(square.index())]);
        let inside = match (self.cell, heat_cm) {
            (Cell::Dot, _) => "*".to_owned(),
            (Cell::Wide, 1..) => format!("[{heat_cm:>3}]"),
            (Cell::Narrow, 1..) if self.colours => format!("{heat_cm:>3}"),
            (Cell::Narrow, _) => "[\u{b7}]".to_owned(),
            (Cell::Wide, 0) => " [\u{b7}] ".to_owned(),
        };
        if self.colours { coloured(&inside, Some(PAWN_WHITE), Some(BEST)) } else { inside }
    }

    /// A pawn in its own colours; where there is room for it, with its square's heat.
    fn coloured_pawn(&self, square: Square, heat_cm: u16) -> Option<String> {
        let letter = self.letter(square)?;
        let (ink, paper) = if letter == 'W' { (PAWN_BLACK, PAWN_WHITE) } else { (PAWN_WHITE, PAWN_BLACK) };
        if self.cell != Cell::Wide {
            return Some(coloured(&self.centred(letter), Some(ink), Some(paper)));
        }
        // Two columns of pawn, three of heat.
        let pawn = coloured(&format!("{letter} "), Some(ink), Some(paper));
        let number = format!("{heat_cm:>3}");
        let heat = ramp::tint(heat_cm).map(|tint| coloured(&number, Some(INK_ON_TINT), Some(tint)));
        Some(format!("{pawn}{}", heat.unwrap_or(number)))
    }

    fn centred(&self, character: char) -> String {
        format!("{character:^width$}", width = self.cell.columns())
    }

    /// `W` or `B` where a pawn stands.
    fn letter(&self, square: Square) -> Option<char> {
        let of = |color| self.position.pawn(color) == square;
        if of(Color::White) {
            Some('W')
        } else if of(Color::Black) {
            Some('B')
        } else {
            None
        }
    }
}

/// Text in 24-bit colours, by the escape sequences that terminals share.
pub(crate) fn coloured(text: &str, ink: Option<Rgb>, paper: Option<Rgb>) -> String {
    let mut codes = Vec::new();
    if let Some(Rgb(red, green, blue)) = ink {
        codes.push(format!("38;2;{red};{green};{blue}"));
    }
    if let Some(Rgb(red, green, blue)) = paper {
        codes.push(format!("48;2;{red};{green};{blue}"));
    }
    format!("\x1b[{}m{text}\x1b[0m", codes.join(";"))
}

/// A line without blanks before its end.
fn ended(mut line: String) -> String {
    line.truncate(line.trim_end_matches(' ').len());
    line
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
        console::strip_ansi_codes(text).into_owned()
    }

    fn position() -> Position {
        "a2g6 / b1d6e3 / e4 e6 / 7 8 / 2".parse().unwrap()
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        let snapshot = cat_snapshot(&position());
        let [plain, colourful] = [false, true].map(|colours| with_heat(&position(), &snapshot, colours));
        assert!(!plain.contains('\x1b') && colourful.contains("\x1b[38;2;"));
        let shown = shown(&colourful);
        for (plain, shown) in plain.lines().zip(shown.lines()) {
            let blank = |line: &str| line.replace(['W', 'B', '\u{2591}', ' '], "");
            assert_eq!(blank(plain), blank(shown));
        }
        assert_eq!(plain.lines().count(), BOARD_LINES + 3);
    }

    /// A board of each width, with everything that can be on it.
    fn boards(best: &str, colours: bool) -> Vec<(Cell, Vec<String>)> {
        let (position, snapshot) = (position(), cat_snapshot(&position()));
        let draw = |cell| {
            let heat = Some(&snapshot);
            let best = Some(best.parse().unwrap());
            Drawing { position: &position, heat, walls: &snapshot.walls, best, cell, colours }.lines()
        };
        Cell::ALL.map(|cell| (cell, draw(cell))).to_vec()
    }

    #[test]
    fn a_board_has_its_size_and_its_pieces_whatever_its_cells() {
        for colours in [false, true] {
            for (cell, lines) in boards("e5", colours) {
                let lines: Vec<String> = lines.iter().map(|line| shown(line)).collect();
                assert_eq!(lines.len(), BOARD_LINES);
                let widest = lines.iter().map(|line| console::measure_text_width(line)).max();
                assert!(widest <= Some(cell.board_columns()), "{cell:?}: {widest:?}");
                let text = lines.join("\n");
                for (piece, count) in [('W', 1), ('B', 1), ('\u{2501}', 2 * (2 * cell.columns() + 1))] {
                    assert_eq!(text.matches(piece).count(), count, "{cell:?} {piece}\n{text}");
                }
                assert_eq!(text.matches('\u{2503}').count(), 3 * 3, "three vertical walls\n{text}");
            }
        }
    }

    #[test]
    fn the_best_move_is_marked() {
        let dashes = |best: &str| {
            boards(best, false).into_iter().map(|(_, lines)| {
                let text = lines.join("\n");
                ['\u{254d}', '\u{254f}', '[', '*'].map(|mark| text.matches(mark).count())
            })
        };
        assert_eq!(dashes("g1h").collect::<Vec<_>>(), [[11, 0, 0, 0], [7, 0, 0, 0], [3, 0, 0, 0]]);
        assert_eq!(dashes("g3v").collect::<Vec<_>>(), [[0, 3, 0, 0]; 3]);
        assert_eq!(dashes("e5").collect::<Vec<_>>(), [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]);
    }
}
