//! A book as a store of its own: an SQLite file with all that is known of it, and nothing else.

use std::path::Path;
use std::sync::Arc;

use corridor_coordinator::cluster::Keep;
use corridor_coordinator::store::{Place, Store, StoreError};
use corridor_shared::board::{Move, Position};
use corridor_shared::book::{Book, Searched};

use super::export::{Source, Unfinished, beside};
use crate::client::ExportedPosition;
use crate::failure::Failure;
use crate::store;

/// Makes the store; returns how many positions are in it. It is there when it is complete. Root moves are asked for by whoever made
/// the source.
pub(super) async fn write(source: Source, name: &Arc<str>, file: &Path) -> Result<u64, Failure> {
    let part = beside(file);
    let unfinished = Unfinished::store(&part);
    // What an earlier try has left behind is no book.
    unfinished.remove();
    let Some(mut store) = store::open(Some(&Place::File(part.clone()))).await? else { return Ok(0) };
    let copied = copy(source, name, file, &mut *store).await;
    store.close().await;
    let count = copied?;
    std::fs::rename(&part, file).map_err(|error| failure(file, &error))?;
    Ok(count)
}

fn failure(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Failed(anyhow::anyhow!("write {}: {error}", file.display()))
}

/// Writes what was found as it comes, for all root moves at once take much room, and at the end what follows from it.
async fn copy(
    mut source: Source,
    name: &Arc<str>,
    file: &Path,
    store: &mut dyn Store,
) -> Result<u64, Failure> {
    let full = |error: StoreError| failure(file, &error);
    let (mut positions, mut edges) = (Vec::new(), Vec::new());
    while let Some(some) = source.next().await? {
        store.commit(&found(name, positions.len(), &some)).await.map_err(full)?;
        for ExportedPosition { record, .. } in some {
            edges.extend(edges_of(&record.position, record.children.iter().map(|&(mv, _)| mv)));
            positions.push((record.position, record.searched));
        }
    }
    let book = assemble(positions, edges.clone())?;
    store.commit(&following(name, &book, edges)).await.map_err(full)?;
    Ok(u64::try_from(book.len()).unwrap_or(u64::MAX))
}

/// Positions, the first of them with its number, and what searches have found about them.
fn found(name: &Arc<str>, first: usize, some: &[ExportedPosition]) -> Vec<Keep> {
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    let positions = (first..).zip(some.iter().map(|it| it.record.position)).collect();
    let added = Keep::Positions { book: Arc::clone(name), job: None, positions, edges: Vec::new() };
    let found = some.iter().filter_map(|it| {
        Some(Keep::Found {
            book: Arc::clone(name),
            key: it.record.key(),
            searched: Box::new(it.record.searched.clone()?),
            lines: it.root_moves.clone(),
        })
    });
    [added].into_iter().chain(found).collect()
}

/// What follows from them. A book without positions is one all the same.
fn following(name: &Arc<str>, book: &Book, edges: Vec<(u64, Move, u64)>) -> Vec<Keep> {
    let values = book.ids().map(|id| (book.node(id).key(), book.node(id).value())).collect();
    vec![
        Keep::Positions { book: Arc::clone(name), job: None, positions: Vec::new(), edges },
        Keep::Values { book: Arc::clone(name), values },
    ]
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
