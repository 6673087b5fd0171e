//! A position of a book, as it is walked through.

use corridor_shared::book::{Record, canonical};
use corridor_shared::board::{Color, Move};
use corridor_shared::exchange::folded;
use corridor_shared::score::{Bound, WhiteScore};
use serde::Serialize;

use super::requests::Game;
use super::{RecordView, ScoreView, Text};

/// A position of a book with its moves, best first, in the orientation in which it was asked for.
#[derive(Serialize)]
pub struct NodeView<'a> {
    #[serde(flatten)]
    record: RecordView<'a>,
    /// The value is another engine's.
    stale: bool,
    rows: Vec<RowView>,
}

/// A move that stays in the book.
#[derive(Serialize)]
struct RowView {
    #[serde(rename = "move")]
    mv: Text,
    score_white: Option<ScoreView>,
}
