//! A book as a store of its own: an SQLite file with all that is known of it, and nothing else.

use std::path::Path;
use std::sync::Arc;

use corridor_coordinator::cluster::Keep;
use corridor_coordinator::store::Place;
use corridor_shared::board::{Move, Position};
use corridor_shared::book::{Book, Searched};

use super::export::{Unfinished, beside};
use crate::client::Exported;
use crate::failure::Failure;
use crate::store;

/// Makes the store; returns how many positions are in it. It is there when it is complete.
pub(super) async fn write(mut exported: Exported, name: &Arc<str>, file: &Path) -> Result<u64, Failure> {
    let (mut positions, mut edges) = (Vec::new(), Vec::new());
    while let Some(records) = exported.next().await? {
        for record in records {
            edges.extend(edges_of(&record.position, record.children.iter().map(|&(mv, _)| mv)));
            positions.push((record.position, record.searched));
        }
    }
    let book = assemble(positions, edges)?;
    let count = u64::try_from(book.len()).unwrap_or(u64::MAX);
    let part = beside(file);
    // What an earlier try has left behind is no book.
    let _ = std::fs::remove_file(&part);
    let _unfinished = Unfinished(&part);
    let failure =
        |error: &dyn std::fmt::Display| Failure::Failed(anyhow::anyhow!("write {}: {error}", file.display()));
    let Some(mut store) = store::open(Some(&Place::File(part.clone()))).await? else { return Ok(0) };
    let kept = [Keep::Rewrite { name: Arc::clone(name), book: Box::new(book) }];
    let written = store.commit(&kept).await;
    store.close().await;
    // The lock that whoever opens a store leaves beside it is nobody's any more.
    let _ = std::fs::remove_file(part.with_added_extension("lock"));
    written.map_err(|error| failure(&error))?;
    std::fs::rename(&part, file).map_err(|error| failure(&error))?;
    Ok(count)
}

fn edges_of(position: &Position, moves: impl Iterator<Item = Move>) -> Vec<(u64, Move, u64)> {
    let edge = |mv: Move| Some((position.canonical_key(), mv, position.play(mv).ok()?.canonical_key()));
    moves.filter_map(edge).collect()
}

fn assemble(
    positions: Vec<(Position, Option<Searched>)>,
    edges: Vec<(u64, Move, u64)>,
) -> Result<Book, Failure> {
    Book::assemble(positions, edges)
        .map_err(|error| Failure::Failed(anyhow::anyhow!("the exported book makes no sense: {error}")))
}
