//! A search's dealings with searches elsewhere: results that leave it, and imported ones that it uses.

use super::alphabeta::Search;
use super::{EXPORT_BUFFER, IMPORT_PROBE_DEPTH};
use crate::board::Position;
use crate::exchange::{SharedEntry, folded, shared_key};
use crate::tt::Hit;

impl Search<'_> {
    /// Asks which results are wanted, and whether others' results have come.
    pub(super) fn look_around(&mut self) {
        let floor = self.handler.export_floor();
        self.export_floor = if floor == u8::MAX { i32::MAX } else { floor.into() };
        let imported = self.searcher.table.imported_entries() > 0;
        self.fold_depth = if imported { IMPORT_PROBE_DEPTH.into() } else { i32::MAX };
    }

    /// Hands over what waits for others.
    pub(super) fn hand_over(&mut self) {
        if !self.exports.is_empty() {
            self.handler.export(&mut self.exports);
            self.exports.clear();
        }
    }

    /// Keeps what was stored about a ply for others. Beyond the buffer it is dropped.
    #[cold]
    pub(super) fn keep_for_others(&mut self, ply: usize, hit: &Hit) {
        if self.exports.len() >= EXPORT_BUFFER {
            return;
        }
        let position = &self.frame(ply).position;
        let entry = SharedEntry {
            key: shared_key(position, self.prune),
            turn: position.turn(),
            score: hit.score,
            bound: hit.bound,
            depth: hit.depth,
            mv: folded(position, hit.mv),
        };
        self.exports.push(entry);
    }

    /// What is known about the mirror image of a position that is not the canonical one, as if of the position itself:
    /// others' results come in the canonical orientation.
    #[inline(never)]
    pub(super) fn probe_image(&self, position: &Position) -> Option<Hit> {
        if position.is_canonical() {
            return None;
        }
        let hit = self.searcher.table.probe(shared_key(position, self.prune))?;
        Some(Hit { mv: folded(position, hit.mv), ..hit })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::board::Color;
    use crate::score::Bound;
    use crate::search::{PruneMode, Searcher, Undisturbed};
    use crate::tt::TranspositionTable;

    /// The move of an imported entry fits the board that it is found for.
    #[test]
    fn an_imported_move_is_mirrored_back() {
        let position = Position::start().play("d3h".parse().unwrap()).unwrap();
        let (canonical, other) = match position.is_canonical() {
            true => (position, position.mirrored()),
            false => (position.mirrored(), position),
        };
        let table = Arc::new(TranspositionTable::new(1 << 16).unwrap());
        let entry = SharedEntry {
            key: shared_key(&canonical, PruneMode::Cat),
            turn: Color::Black,
            score: 17,
            bound: Bound::Exact,
            depth: 6,
            mv: Some("b6v".parse().unwrap()),
        };
        table.import(&entry);
        let mut searcher = Searcher::new(table);
        let mut undisturbed = Undisturbed;
        let search = Search::new(&mut searcher, &mut undisturbed, PruneMode::Cat, 0, None);
        let hit = search.probe_image(&other).unwrap();
        assert_eq!((hit.mv, hit.score, hit.imported), (Some("g6v".parse().unwrap()), 17, true));
        assert_eq!(search.probe_image(&canonical), None, "the ordinary probe finds it");
        assert_eq!(search.searcher.table.probe(search.table_key(&canonical)).unwrap().mv, entry.mv);
        let all = Search::new(&mut searcher, &mut undisturbed, PruneMode::None, 0, None);
        assert_eq!(all.probe_image(&other), None, "another prune mode's");
    }
}
