//! A position of a book, as it is walked through.

use std::cmp::Reverse;

use corridor_shared::board::Move;
use corridor_shared::book::{Record, Source, Value};
use serde::Serialize;

use super::{RecordView, ScoreView, Text};

/// A position of a book and its moves, best first.
#[derive(Serialize)]
pub struct NodeView<'a> {
    #[serde(flatten)]
    record: RecordView<'a>,
    /// The value of its own search is another engine's.
    stale: bool,
    rows: Vec<RowView>,
}

/// A move that stays in the book, and what the book says of the position after it.
#[derive(Serialize)]
struct RowView {
    #[serde(rename = "move")]
    mv: Text,
    score_white: Option<ScoreView>,
    bound: Option<&'static str>,
    /// Plies that its own search has looked at; 0: none has.
    depth: u8,
    nodes: u64,
    /// `search`, `children`, `rules` or `none`.
    source: &'static str,
    /// Plies below it that its value comes from.
    from_depth: u16,
    stale: bool,
}

fn is_stale(record: &Record, engine: &str) -> bool {
    record.searched.as_ref().is_some_and(|searched| *searched.engine != *engine)
}

impl RowView {
    fn new(mv: Move, after: &Record, engine: &str) -> Self {
        let source = after.value.map_or("none", |value| match value.source {
            Source::Rules => "rules",
            Source::Search => "search",
            Source::BackedUp(_) => "children",
        });
        Self {
            mv: Text(mv),
            score_white: after.value.map(|value| value.score_white.into()),
            bound: after.value.map(|value| value.bound.name()),
            depth: after.searched.as_ref().map_or(0, |it| it.depth),
            nodes: after.searched.as_ref().map_or(0, |it| it.nodes),
            source,
            from_depth: after.value.map_or(0, |value| value.depth),
            stale: is_stale(after, engine),
        }
    }
}

impl<'a> NodeView<'a> {
    /// A position with the records of the positions after its moves, all in one orientation.
    #[must_use]
    pub fn new(record: &'a Record, mut after: Vec<(Move, Record)>, engine: &str) -> Self {
        let turn = record.position.turn();
        let worth = |value: Value| value.score_white.to_engine(turn);
        // What nothing is known of comes last; of equals the first by name, as they come.
        after.sort_by_key(|(_, after)| Reverse(after.value.map(worth)));
        Self {
            record: RecordView::new(record),
            stale: is_stale(record, engine),
            rows: after.iter().map(|(mv, after)| RowView::new(*mv, after, engine)).collect(),
        }
    }
}
