//! Entries of the shared cache.

use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::MAX_DEPTH;
use corridor_shared::score::WhiteScore;
use prost::Message;

use super::{
    ConvertError, Converted, bound_from_wire, bound_to_wire, color_from_wire, color_to_wire, move_from_wire,
    narrow, required, score_from_wire, score_to_wire,
};
use crate::limits::{MAX_BATCH_BYTES, MAX_SEEDS};
use crate::v1;

/// An entry for the wire, its score from White's view.
#[must_use]
pub fn entry_to_wire(entry: &SharedEntry) -> v1::CacheEntry {
    v1::CacheEntry {
        key: entry.key,
        score_white: Some(score_to_wire(WhiteScore::from_engine(entry.score, entry.turn))),
        bound: bound_to_wire(entry.bound.from_white(entry.turn)).into(),
        depth: entry.depth.into(),
        best_move: entry.mv.map(|mv| mv.to_string()).unwrap_or_default(),
        turn: color_to_wire(entry.turn).into(),
    }
}

/// An entry from the wire. That its move is legal is for the search to check.
///
/// # Errors
/// A field is missing, unspecified, malformed or impossible; it is named from the entry on.
pub fn entry_from_wire(entry: &v1::CacheEntry) -> Converted<SharedEntry> {
    let turn = color_from_wire(entry.turn, "turn")?;
    let score = score_from_wire(required(entry.score_white, "score_white")?, "score_white")?;
    let depth: u8 = narrow(entry.depth.into(), "depth")?;
    if depth > MAX_DEPTH {
        return Err(ConvertError::new("depth", format!("{depth} is more than max_depth {MAX_DEPTH}")));
    }
    let mv = match entry.best_move.as_str() {
        "" => None,
        text => Some(move_from_wire(text, "best_move")?),
    };
    Ok(SharedEntry {
        key: entry.key,
        turn,
        score: score.to_engine(turn),
        // The same step leads there and back.
        bound: bound_from_wire(entry.bound, "bound")?.from_white(turn),
        depth,
        mv,
    })
}

/// A batch for the wire; of at most [`MAX_BATCH_ENTRIES`](crate::limits::MAX_BATCH_ENTRIES) entries it is within
/// [`MAX_BATCH_BYTES`].
#[must_use]
pub fn batch_to_wire(entries: &[SharedEntry]) -> v1::CacheBatch {
    v1::CacheBatch { entries: entries.iter().map(entry_to_wire).collect() }
}

/// The entries of a batch.
///
/// # Errors
/// It is larger than [`MAX_BATCH_BYTES`], or an entry is malformed; both are named.
pub fn batch_from_wire(batch: &v1::CacheBatch) -> Converted<Vec<SharedEntry>> {
    let bytes = batch.encoded_len();
    if bytes > MAX_BATCH_BYTES {
        let fault = format!("{bytes} bytes are more than max_batch_bytes {MAX_BATCH_BYTES}");
        return Err(ConvertError::new("batch", fault));
    }
    entries_from_wire(&batch.entries, "batch.entries")
}

/// The entries that come with a unit.
pub(super) fn seeds_from_wire(seeds: &[v1::CacheEntry]) -> Converted<Vec<SharedEntry>> {
    if seeds.len() > MAX_SEEDS {
        let fault = format!("{} entries are more than max_seeds {MAX_SEEDS}", seeds.len());
        return Err(ConvertError::new("unit.seeds", fault));
    }
    entries_from_wire(seeds, "unit.seeds")
}

fn entries_from_wire(entries: &[v1::CacheEntry], field: &str) -> Converted<Vec<SharedEntry>> {
    let convert = |(index, entry)| {
        entry_from_wire(entry).map_err(|error: ConvertError| error.below(&format!("{field}[{index}]")))
    };
    entries.iter().enumerate().map(convert).collect()
}
