//! The board as SVG: pawns, walls, coordinates, walls in hand, side to move; with a snapshot also heat, and every legal
//! wall with its heat and verdict on hover, the searched ones outlined.

use std::fmt::Write;

use corridor_shared::cat::{
    CAT_COLD_CM, CAT_DISPLAY_CEILING_CM, CAT_HOT_CM, CatSnapshot, Reason, WallAttention,
};
use corridor_shared::{Color, Move, Orientation, Position, Square, Wall};

use super::{escape, ramp};

/// Lengths in pixels: a square's side, the gap between squares, the frame round them.
const SQUARE: i32 = 46;
const GAP: i32 = 10;
const PITCH: i32 = SQUARE + GAP;
const FRAME: i32 = 14;
/// Upper left corner of the frame.
const LEFT: i32 = 40;
const TOP: i32 = 56;
const BOARD: i32 = 9 * SQUARE + 8 * GAP + 2 * FRAME;
const WIDTH: i32 = LEFT + BOARD + 16;

/// Colours by role; the dark half only where the viewer asks for it.
const STYLE: &str = "\
.cb{--paper:#fbf9f4;--ink:#2b2722;--faint:#8d857a;--frame:#d9cdb8;--square:#f3ecdf;--void:#4a4550;--wall:#5b3a1e;\
--outline:#1971c2;--best:#0b7285;font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
@media (prefers-color-scheme:dark){.cb{--paper:#16181d;--ink:#e9e6df;--faint:#8b8f98;--frame:#2d3038;--square:#3d414b;\
--void:#0c0d10;--wall:#e0b37e;--outline:#74c0fc;--best:#3bc9db}}\
.cb .paper{fill:var(--paper)}.cb .frame{fill:var(--frame)}.cb .sq{fill:var(--square)}.cb .void{fill:var(--void)}\
.cb text{fill:var(--ink)}.cb .co{fill:var(--faint);font-size:13px;text-anchor:middle}\
.cb .cm{font-size:12.5px;text-anchor:middle;font-variant-numeric:tabular-nums}.cb .cold{fill:var(--faint)}.cb .warm{fill:#3a1d05}\
.cb .wall{fill:var(--wall)}.cb .hand{fill:var(--wall)}.cb .spent{fill:var(--frame)}\
.cb .out{fill:var(--paper);fill-opacity:.55;stroke:var(--outline);stroke-width:1.5}.cb .skip{fill:transparent}\
.cb .out:hover,.cb .skip:hover{fill:var(--outline);fill-opacity:.9}\
.cb .white{fill:#fffdf8;stroke:#3b3630;stroke-width:2}.cb .black{fill:#26231f;stroke:#fffdf8;stroke-width:2}\
.cb .onwhite{fill:#26231f}.cb .onblack{fill:#fffdf8}.cb .name{font-size:15px;font-weight:600}.cb .side{font-size:13px;font-weight:400;fill:var(--faint)}\
.cb .best{fill:var(--best)}.cb .ring{fill:none;stroke:var(--best);stroke-width:4}";

/// What to draw.
#[derive(Copy, Clone)]
pub(crate) struct Picture<'a> {
    pub(crate) position: &'a Position,
    /// Heat and verdicts, if they are to be shown.
    pub(crate) snapshot: Option<&'a CatSnapshot>,
    /// Whether pruning is off, so that every legal wall is searched whatever its verdict.
    pub(crate) all_searched: bool,
    /// A move to point out.
    pub(crate) best_move: Option<Move>,
}

/// The picture as a complete SVG document (which may also stand inside of a page).
pub(crate) fn draw(picture: &Picture<'_>) -> String {
    let height = TOP + BOARD + if picture.snapshot.is_some() { 144 } else { 84 };
    let mut svg = Canvas(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"cb\" role=\"img\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\"><title>Quoridor position {}</title><style>{STYLE}</style>\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"10\"/>",
        escape(&picture.position.to_string())
    ));
    svg.add(format_args!(
        "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{BOARD}\" height=\"{BOARD}\" rx=\"10\"/>"
    ));
    coordinates(&mut svg);
    for square in Square::all() {
        draw_square(&mut svg, picture, square);
    }
    if let Some(snapshot) = picture.snapshot {
        for attention in &snapshot.walls {
            draw_legal_wall(&mut svg, attention, picture.all_searched);
        }
    }
    for wall in picture.position.walls() {
        draw_standing_wall(&mut svg, wall, "wall", &format!("{wall} stands"));
    }
    for color in Color::BOTH {
        draw_pawn(&mut svg, picture, color);
    }
    draw_best_move(&mut svg, picture);
    side_line(&mut svg, picture, Color::Black, 34);
    side_line(&mut svg, picture, Color::White, TOP + BOARD + 54);
    if picture.snapshot.is_some() {
        legend(&mut svg, TOP + BOARD + 84, picture.best_move.is_some());
    }
    svg.0.push_str("</svg>\n");
    svg.0
}

/// The document as it grows. Writing to a string cannot fail.
struct Canvas(String);

impl Canvas {
    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(arguments);
    }
}

/// Left edge of a column's squares.
fn x_of(column: u8) -> i32 {
    LEFT + FRAME + i32::from(column) * PITCH
}

/// Upper edge of a row's squares.
fn y_of(row: u8) -> i32 {
    TOP + FRAME + (8 - i32::from(row)) * PITCH
}

fn coordinates(svg: &mut Canvas) {
    for (column, file) in (0u8..).zip('a'..='i') {
        let (x, y) = (x_of(column) + SQUARE / 2, TOP + BOARD + 20);
        svg.add(format_args!("<text class=\"co\" x=\"{x}\" y=\"{y}\">{file}</text>"));
    }
    for row in 0..9 {
        let (x, y) = (LEFT - 16, y_of(row) + SQUARE / 2 + 5);
        svg.add(format_args!("<text class=\"co\" x=\"{x}\" y=\"{y}\">{}</text>", row + 1));
    }
}

fn draw_square(svg: &mut Canvas, picture: &Picture<'_>, square: Square) {
    let (x, y) = (x_of(square.column()), y_of(square.row()));
    let frame = format!("x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" rx=\"6\"");
    let Some(snapshot) = picture.snapshot else {
        svg.add(format_args!("<rect class=\"sq\" {frame}/>"));
        return;
    };
    let index = usize::from(square.index());
    let heat_cm = snapshot.display[index];
    if !snapshot.reachable[index] {
        svg.add(format_args!("<rect class=\"void\" {frame}><title>{square}: unreachable</title></rect>"));
        return;
    }
    let tint = ramp::tint(heat_cm);
    let fill = tint.map(|tint| format!(" style=\"fill:{}\"", tint.hex())).unwrap_or_default();
    svg.add(format_args!(
        "<rect class=\"sq\" {frame}{fill}><title>{square}: {heat_cm} cm shown, {} cm in the search</title></rect>",
        snapshot.search[index]
    ));
    let taken = Color::BOTH.iter().any(|&color| picture.position.pawn(color) == square);
    if heat_cm > 0 && !taken {
        let class = if tint.is_some() { "warm" } else { "cold" };
        number(svg, class, square, heat_cm);
    }
}

/// A square's heat, in its middle.
fn number(svg: &mut Canvas, class: &str, square: Square, heat_cm: u16) {
    let (x, y) = (x_of(square.column()) + SQUARE / 2, y_of(square.row()) + SQUARE / 2 + 4);
    // The square below shows its own title on hover.
    svg.add(format_args!(
        "<text class=\"cm {class}\" x=\"{x}\" y=\"{y}\" pointer-events=\"none\">{heat_cm}</text>"
    ));
}

fn draw_pawn(svg: &mut Canvas, picture: &Picture<'_>, color: Color) {
    let square = picture.position.pawn(color);
    let (x, y) = (x_of(square.column()) + SQUARE / 2, y_of(square.row()) + SQUARE / 2);
    let name = color.name();
    svg.add(format_args!(
        "<circle class=\"{name}\" cx=\"{x}\" cy=\"{y}\" r=\"17\"><title>{color} on {square}</title></circle>"
    ));
    if let Some(snapshot) = picture.snapshot {
        let heat_cm = snapshot.display[usize::from(square.index())];
        if heat_cm > 0 {
            number(svg, if color == Color::White { "onwhite" } else { "onblack" }, square, heat_cm);
        }
    }
}

/// A whole wall, two squares long.
fn draw_standing_wall(svg: &mut Canvas, wall: Wall, class: &str, title: &str) {
    let (x, y) = (x_of(wall.column()), y_of(wall.row()));
    let long = 2 * SQUARE + GAP;
    let (x, y, width, height) = match wall.orientation() {
        Orientation::Horizontal => (x, y - GAP + 1, long, GAP - 2),
        Orientation::Vertical => (x + SQUARE + 1, y - PITCH, GAP - 2, long),
    };
    svg.add(format_args!(
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"><title>{}</title></rect>",
        escape(title)
    ));
}

/// A wall that could be placed. Drawn round its middle and shorter than it is, so that neighbouring ones (which would
/// overlap) can be told apart.
fn draw_legal_wall(svg: &mut Canvas, attention: &WallAttention, all_searched: bool) {
    const LENGTH: i32 = 38;
    const BREADTH: i32 = 8;
    let wall = attention.wall;
    let (x, y) = (x_of(wall.column()) + SQUARE + GAP / 2, y_of(wall.row()) - GAP / 2);
    let (width, height) = match wall.orientation() {
        Orientation::Horizontal => (LENGTH, BREADTH),
        Orientation::Vertical => (BREADTH, LENGTH),
    };
    let reason = if all_searched { Reason::All } else { attention.reason };
    let searched = reason.is_searched();
    let bonus = match attention.shape_bonus_cm {
        0 => String::new(),
        bonus => format!(" + {bonus}"),
    };
    svg.add(format_args!(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" rx=\"4\"><title>{wall}: {}{bonus} cm, {} \
         ({})</title></rect>",
        if searched { "out" } else { "skip" },
        x - width / 2,
        y - height / 2,
        attention.heat_cm,
        if searched { "searched" } else { "skipped" },
        reason.name(),
    ));
}

fn draw_best_move(svg: &mut Canvas, picture: &Picture<'_>) {
    let Some(mv) = picture.best_move else { return };
    if let Some(wall) = mv.as_wall() {
        draw_standing_wall(svg, wall, "best", &format!("best move {wall}"));
    } else if let Some(target) = mv.target() {
        let (x, y) = (x_of(target.column()) + SQUARE / 2, y_of(target.row()) + SQUARE / 2);
        svg.add(format_args!(
            "<circle class=\"ring\" cx=\"{x}\" cy=\"{y}\" r=\"19\" pointer-events=\"none\"/>"
        ));
    }
}

/// One side's name, way to go and walls in hand; an arrow before the side to move.
fn side_line(svg: &mut Canvas, picture: &Picture<'_>, color: Color, y: i32) {
    let position = picture.position;
    let steps = position.distance(color).map_or_else(String::new, |steps| format!("{steps} to go"));
    let state = match position.winner() {
        Some(winner) if winner == color => "has won".to_owned(),
        Some(_) => String::new(),
        None if position.turn() == color => format!("to move \u{b7} {steps}"),
        None => steps,
    };
    svg.add(format_args!(
        "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"7\"/><text class=\"name\" x=\"{}\" y=\"{y}\">{color}\
         <tspan class=\"side\" dx=\"10\">{state}</tspan></text>",
        color.name(),
        LEFT + 8,
        y - 5,
        LEFT + 24,
    ));
    let in_hand = i32::from(position.walls_in_hand(color));
    let right = LEFT + BOARD;
    for index in 0..10 {
        let class = if index < in_hand { "hand" } else { "spent" };
        let x = right - 10 * 11 + index * 11;
        svg.add(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"6\" height=\"18\" rx=\"2\"/>",
            y - 14
        ));
    }
    svg.add(format_args!(
        "<text class=\"side\" x=\"{}\" y=\"{y}\" text-anchor=\"end\">{in_hand} walls</text>",
        right - 10 * 11 - 10
    ));
}

/// What the colours mean.
fn legend(svg: &mut Canvas, y: i32, with_best_move: bool) {
    const STEPS: u16 = 30;
    let from = LEFT;
    let width = 240;
    let range = CAT_DISPLAY_CEILING_CM - CAT_COLD_CM;
    let x_of_cm = |cm: u16| from + width * i32::from(cm - CAT_COLD_CM) / i32::from(range);
    for step in 0..STEPS {
        let [start, end] = [step, step + 1].map(|step| CAT_COLD_CM + range * step / STEPS);
        let Some(tint) = ramp::tint(start) else { continue };
        let x = x_of_cm(start);
        svg.add(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"10\" fill=\"{}\"/>",
            // One more than there is room for, so that no seam shows; the next one lies on top.
            x_of_cm(end) - x + 1,
            tint.hex()
        ));
    }
    for (cm, text) in [
        (CAT_COLD_CM, CAT_COLD_CM.to_string()),
        (CAT_HOT_CM, format!("{CAT_HOT_CM} hot")),
        (CAT_DISPLAY_CEILING_CM, format!("{CAT_DISPLAY_CEILING_CM} cm")),
    ] {
        svg.add(format_args!("<text class=\"co\" x=\"{}\" y=\"{}\">{text}</text>", x_of_cm(cm), y + 26));
    }
    let x = from + width + 44;
    svg.add(format_args!(
        "<rect class=\"out\" x=\"{x}\" y=\"{}\" width=\"38\" height=\"8\" rx=\"4\"/>\
         <text class=\"side\" x=\"{}\" y=\"{}\">wall that is searched</text>\
         <rect class=\"void\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\" style=\"stroke:var(--faint)\"/>\
         <text class=\"side\" x=\"{}\" y=\"{}\">unreachable square</text>",
        y + 1,
        x + 48,
        y + 10,
        x + 26,
        y + 17,
        x + 48,
        y + 27,
    ));
    if with_best_move {
        // As on the board: a wall is a bar, a step is a ring.
        svg.add(format_args!(
            "<rect class=\"best\" x=\"{x}\" y=\"{}\" width=\"18\" height=\"8\" rx=\"3\"/>\
             <circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"5\" style=\"stroke-width:2.5\"/>\
             <text class=\"side\" x=\"{}\" y=\"{}\">best move</text>",
            y + 36,
            x + 31,
            y + 40,
            x + 48,
            y + 44,
        ));
    }
}
