//! `corridor heat`: the Corridor Attention Table of a position, as JSON, as a board in the terminal, as SVG.

use std::path::PathBuf;

use clap::Args;
use comfy_table::{Table, presets};
use corridor_shared::cat::{CAT_HOT_CM, CatSnapshot, Reason, WallAttention, cat_snapshot};
use corridor_shared::{Color, Position, Square};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::failure::Failure;
use crate::position_args::PositionArgs;
use crate::render::svg::Picture;
use crate::{out, render};

/// Columns of a page.
const WIDTH: usize = 80;

/// What `heat` is told.
#[derive(Args)]
#[command(override_usage = "corridor heat (--moves <MOVES> | --position <TEXT>) [OPTIONS]")]
pub(crate) struct Arguments {
    #[command(flatten)]
    position: PositionArgs,

    /// Also draw the board and its heat into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(Serialize)]
struct BySide<T> {
    white: T,
    black: T,
}

impl<T> From<[T; 2]> for BySide<T> {
    fn from([white, black]: [T; 2]) -> Self {
        Self { white, black }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    position: String,
    distance: BySide<u8>,
    witness: BySide<Vec<String>>,
    cat_search: &'a [u16],
    cat_display: &'a [u16],
    #[serde(serialize_with = "as_map")]
    walls: &'a [WallAttention],
}

#[derive(Serialize)]
struct WallReport {
    heat_cm: u16,
    shape_bonus_cm: u16,
    searched: bool,
    reason: &'static str,
}

/// `{"e4h":{...},...}` in the order of the walls.
fn as_map<S: Serializer>(walls: &[WallAttention], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(walls.len()))?;
    for attention in walls {
        let report = WallReport {
            heat_cm: attention.heat_cm,
            shape_bonus_cm: attention.shape_bonus_cm,
            searched: attention.reason.is_searched(),
            reason: attention.reason.name(),
        };
        map.serialize_entry(&attention.wall.to_string(), &report)?;
    }
    map.end()
}

/// Computes and shows the heat.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let position = arguments.position.resolve()?;
    let snapshot = cat_snapshot(&position);
    if let Some(file) = &arguments.svg {
        out::check_writable("--svg", file)?;
        let picture =
            Picture { position: &position, snapshot: Some(&snapshot), best_move: None, all_searched: false };
        out::file(file, &render::svg::draw(&picture))?;
    }
    if json { out::json(&report(&position, &snapshot)) } else { out::text(&page(&position, &snapshot)) }
}

fn report<'a>(position: &Position, snapshot: &'a CatSnapshot) -> Report<'a> {
    let names = |path: &[Square]| path.iter().map(ToString::to_string).collect::<Vec<_>>();
    Report {
        position: position.to_string(),
        distance: snapshot.distance.into(),
        witness: [names(&snapshot.witness[0]), names(&snapshot.witness[1])].into(),
        cat_search: &snapshot.search,
        cat_display: &snapshot.display,
        walls: &snapshot.walls,
    }
}

/// The board in colours, the witness paths, and the walls by verdict.
fn page(position: &Position, snapshot: &CatSnapshot) -> String {
    let mut text = render::board::with_heat(position, snapshot, out::wants_colours());
    text.push('\n');
    for color in Color::BOTH {
        let path: Vec<String> = snapshot.witness[color.index()].iter().map(ToString::to_string).collect();
        for line in wrapped(&format!("{color}'s witness path: {}", path.join(" ")), WIDTH - 2) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    let mut table = Table::new();
    table.load_preset(presets::UTF8_BORDERS_ONLY).set_header(["reason", "", "walls", "which, hottest first"]);
    for reason in Reason::ALL {
        let mut walls: Vec<&WallAttention> =
            snapshot.walls.iter().filter(|attention| attention.reason == reason).collect();
        if walls.is_empty() {
            continue;
        }
        walls.sort_by_key(|attention| std::cmp::Reverse(attention.heat_cm + attention.shape_bonus_cm));
        table.add_row([
            reason.name().to_owned(),
            if reason.is_searched() { "searched" } else { "skipped" }.to_owned(),
            walls.len().to_string(),
            some_walls(&walls),
        ]);
    }
    if !snapshot.walls.is_empty() {
        text.push_str(&format!("{table}\n"));
    }
    text.push_str(&legend());
    text
}

/// What the numbers and the words are, in two lines.
fn legend() -> String {
    format!(
        "cm: centi-squares, 100 to one step; the nearer to a best way, the hotter\n\
         witness: cuts the opponent's shortest way; hot: {CAT_HOT_CM} cm or more; cold: less\n"
    )
}

/// Lines of whole words, each as long as there is room for.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push_str(&format!(" {word}"));
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines
}

/// The hottest with their heat, as many as fit into a table of [`WIDTH`] columns.
fn some_walls(walls: &[&WallAttention]) -> String {
    /// What the other columns, the blanks and the borders leave.
    const ROOM: usize = WIDTH - 42;
    const MORE: &str = " ..";
    let mut text = String::new();
    for (index, attention) in walls.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let named = format!("{separator}{} {}", attention.wall, attention.heat_cm + attention.shape_bonus_cm);
        let last = index + 1 == walls.len();
        if text.len() + named.len() + if last { 0 } else { MORE.len() } > ROOM {
            text.push_str(MORE);
            break;
        }
        text.push_str(&named);
    }
    text
}

#[cfg(test)]
mod tests {
    use corridor_shared::notation::{Notation, parse_moves, replay};

    use super::*;

    #[test]
    fn the_page_fits_eighty_columns() {
        for game in
            ["", "a2h b1v", "d2h f4v b5h c4h a1h a3v e7h h5v e5h h7h b3h h1h a7h f8h h2h", "e2 e8 e4h"]
        {
            let moves = parse_moves(Notation::Man, game).unwrap();
            let position = replay(&Position::start(), &moves).unwrap();
            let page = page(&position, &cat_snapshot(&position));
            for line in page.lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
        let long = wrapped(&"e1 ".repeat(60), 40);
        assert!(long.len() > 4 && long.iter().all(|line| line.chars().count() <= 40));
    }
}
