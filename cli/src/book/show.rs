//! `corridor book show`: the tree of a book below a position.

use clap::Args;
use corridor_proto::json::record_line;
use corridor_shared::Position;
use corridor_shared::board::{Color, Move};
use corridor_shared::notation::{Notation, parse_moves, qf, replay};

use super::site::{BookArgs, until};
use super::tree::{self, Branch, Limits};
use crate::client::Client;
use crate::failure::Failure;
use crate::position_args::hint;
use crate::signals::Interrupts;
use crate::{listing, logging, out, render, runtime, units};

/// What `book show` is told.
#[derive(Args)]
#[command(
    override_usage = "corridor book show [MOVES]... [OPTIONS]\n       corridor book show --position <TEXT> [OPTIONS]",
    after_help = "Scores are in squares from White's view (\u{2264} at most, \u{2265} at least), wins in plies. Depth is how far was \
                  looked, moves within the book included. A value comes from a search of the position itself, or is backed up \
                  from the book's moves where those were looked at deeper."
)]
pub(crate) struct Arguments {
    /// Moves from the start to the position, such as e2 e8 e3h [default: the start itself]
    #[arg(value_name = "MOVES", conflicts_with = "position")]
    moves: Vec<String>,

    /// The position as a text, such as "/ / e1 e9 / 10 10 / 1"
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,

    /// How MOVES are written: man, nw, flip, prefix, qtp, tq1 or qf; what is shown is man
    #[arg(long, value_name = "NAME", default_value_t = Notation::Man)]
    notation: Notation,

    /// How many plies below the position are shown, 0 to 64
    #[arg(long, value_name = "P", default_value_t = 4, value_parser = units::whole(0..=64u32))]
    plies: u32,

    /// How many moves of each position are shown, the best ones, 1 to 136
    #[arg(long, value_name = "W", default_value_t = 5, value_parser = units::whole(1..=136usize))]
    width: usize,

    #[command(flatten)]
    book: BookArgs,
}

impl Arguments {
    /// The position, and the moves that lead there, if they are known.
    fn root(&self) -> Result<(Position, Option<Vec<Move>>), Failure> {
        if let Some(text) = &self.position {
            let position = if self.notation == Notation::Qf && !text.contains(' ') {
                let state = qf::State::decode(text).map_err(|error| error.to_string());
                state.and_then(|state| state.position().map_err(|error| error.to_string()))
            } else {
                text.parse().map_err(|error: corridor_shared::notation::ParsePositionError| error.to_string())
            };
            let at_flag = |error: String| Failure::bad_input(&format!("--position: {error}"));
            return Ok((position.map_err(at_flag)?, None));
        }
        let text = self.moves.join(" ");
        let moves = parse_moves(self.notation, &text)
            .map_err(|error| Failure::bad_input(&format!("MOVES: {error}{}", hint(self.notation, &text))))?;
        let position = replay(&Position::start(), &moves)
            .map_err(|error| Failure::bad_input(&format!("MOVES: {error}")))?;
        Ok((position, Some(moves)))
    }
}

/// Fetches and shows the tree.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let (root, moves) = arguments.root()?;
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let limits = Limits { plies: arguments.plies, width: arguments.width };
    let name = &arguments.book.name;
    let fetch = async |client: &Client| {
        let fetch = async {
            let books = client.books().await?;
            let fetch = async |position: Position| books.node(name, &position).await;
            tree::fetch(root, moves, limits, &fetch).await
        };
        until(&interrupts, fetch, || format!("nothing of book {name} was shown")).await
    };
    let tree = runtime::run(arguments.book.site.look(&interrupts, fetch))?;
    let rows = tree::best_first(&tree);
    if json {
        return rows.iter().try_for_each(|branch| {
            let line = record_line(&branch.record())
                .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("encode JSON")))?;
            out::line(&line)
        });
    }
    let columns = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    out::line(&format!("{}\n{}", headline(name, &tree[0]), fitting(&rows, columns)))
}

/// The rows as a table, as much of it as fits into so many columns: a terminal would break its lines in the middle. Of a narrow one
/// the ply takes the place of the indentation.
fn fitting(rows: &[&Branch], columns: Option<usize>) -> String {
    let fits = |table: &String| {
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        columns.is_none_or(|columns| widest <= columns)
    };
    let whole: Vec<[String; 5]> = rows.iter().map(|branch| row(branch)).collect();
    let tables = [
        listing::table(["move", "score", "depth", "from", "more"], &whole),
        listing::table(["move", "score", "depth", "from"], &first(&whole)),
        listing::table(["move", "score", "depth"], &first(&whole)),
    ];
    let narrow = || {
        let row = |branch: &&Branch| {
            let [name, score, depth, ..] = row(branch);
            [branch.ply.to_string(), name.trim_start().to_owned(), score, depth]
        };
        listing::table(["ply", "move", "score", "depth"], &rows.iter().map(row).collect::<Vec<_>>())
    };
    tables.into_iter().find(fits).unwrap_or_else(narrow)
}

/// The first cells of each row.
fn first<const CELLS: usize>(rows: &[[String; 5]]) -> Vec<[String; CELLS]> {
    rows.iter().map(|row| std::array::from_fn(|cell| row[cell].clone())).collect()
}

fn headline(name: &str, root: &Branch) -> String {
    let place = match &root.line {
        None => root.position.to_string(),
        Some(line) if line.is_empty() => "the start".to_owned(),
        Some(line) => line.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    };
    let next = match (root.position.winner(), root.position.turn()) {
        (Some(Color::White), _) => "White has won",
        (Some(Color::Black), _) => "Black has won",
        (None, Color::White) => "White to move",
        (None, Color::Black) => "Black to move",
    };
    format!("book {name}: {place}, {next}")
}

fn row(branch: &Branch) -> [String; 5] {
    let name = match branch.mv {
        None => "(here)".to_owned(),
        Some(mv) => format!("{}{mv}", "  ".repeat(branch.ply.saturating_sub(1))),
    };
    let value = branch.shown.record.value;
    let score = value.map_or_else(|| "-".to_owned(), |value| render::bounded(value.score_white, value.bound));
    let depth = value.map_or_else(|| "-".to_owned(), |value| value.depth.to_string());
    [name, score, depth, branch.origin(), branch.more()]
}
