//! Results that leave one search and help another: orientation, wins, repetitions, prune modes.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use corridor_shared::exchange::{SharedEntry, folded, shared_key};
use corridor_shared::score::{Bound, MAX_CM, Score};
use corridor_shared::search::{
    Directive, EXPORT_BUFFER, Limits, PruneMode, SearchHandler, Searcher, Undisturbed, UnitOutcome, UnitSpec,
    Window,
};
use corridor_shared::tt::TranspositionTable;
use corridor_shared::{Move, Position};
use proptest::prelude::*;

/// Takes everything from a floor on.
struct Collector {
    floor: u8,
    entries: Vec<SharedEntry>,
    polls: usize,
    longest: usize,
}

impl Collector {
    const fn from_depth(floor: u8) -> Self {
        Self { floor, entries: Vec::new(), polls: 0, longest: 0 }
    }

    fn of(&self, position: &Position) -> Option<SharedEntry> {
        let key = shared_key(position, PruneMode::Cat);
        self.entries.iter().rev().find(|entry| entry.key == key).copied()
    }
}

impl SearchHandler for Collector {
    fn poll(&mut self, _nodes: u64) -> Directive {
        self.polls += 1;
        Directive::Continue
    }

    fn export_floor(&mut self) -> u8 {
        self.floor
    }

    fn export(&mut self, entries: &mut Vec<SharedEntry>) {
        self.longest = self.longest.max(entries.len());
        self.entries.append(entries);
    }
}

fn table() -> Arc<TranspositionTable> {
    Arc::new(TranspositionTable::new(16 << 20).expect("a table"))
}

fn played(moves: &str) -> Position {
    moves.split_whitespace().fold(Position::start(), |position, token| {
        position.play(token.parse().expect("a move")).expect("a legal move")
    })
}

fn spec(depth: u8, window: Window) -> UnitSpec<'static> {
    UnitSpec { depth, window, prune: PruneMode::Cat, node_budget: None, hint: &[] }
}

fn unit(table: &Arc<TranspositionTable>, position: &Position, spec: &UnitSpec<'_>) -> UnitOutcome {
    Searcher::new(Arc::clone(table)).search_unit(position, &[], spec, &mut Undisturbed)
}

/// What a full-window search of a position exports, and what it finds.
fn exported(position: &Position, depth: u8, floor: u8) -> (Collector, UnitOutcome) {
    let mut collector = Collector::from_depth(floor);
    let outcome =
        Searcher::new(table()).search_unit(position, &[], &spec(depth, Window::FULL), &mut collector);
    (collector, outcome)
}

#[test]
fn what_is_deep_enough_is_exported_and_nothing_else() {
    let position = played("e2 e8 e3 e7 e4 e6 d3h");
    let (none, outcome) = exported(&position, 7, u8::MAX);
    assert_eq!((none.entries.len(), none.longest), (0, 0));
    let mut last = usize::MAX;
    for floor in [0, 3, 5, 7] {
        let (some, same) = exported(&position, 7, floor);
        assert_eq!(same, outcome, "an export changes nothing");
        assert!(some.entries.iter().all(|entry| entry.depth >= floor));
        assert!(!some.entries.is_empty() && some.entries.len() < last, "{} from {floor}", some.entries.len());
        assert!(some.longest <= EXPORT_BUFFER);
        last = some.entries.len();
    }
    // The last call hands over what the polls have not.
    let (shallow, _) = exported(&position, 1, 0);
    assert_eq!(shallow.polls, 0);
    assert!(shallow.of(&position).is_some());
}

#[test]
fn an_entry_cuts_off_in_the_mirror_image() {
    let position = played("e2 e8 e3 e7 e4 e6 d3h");
    for position in [position, position.mirrored()] {
        let (collector, outcome) = exported(&position, 6, 4);
        let entry = collector.of(&position).expect("the unit's own position");
        assert_eq!((entry.score, entry.bound, entry.depth), (outcome.score, Bound::Exact, 6));
        assert_eq!(entry.turn, position.turn());
        assert_eq!(folded(&position, entry.mv), outcome.pv.first().copied());

        let image = position.mirrored();
        let table = table();
        table.import(&entry);
        let found = unit(&table, &image, &spec(6, Window::null(entry.score)));
        assert_eq!((found.score, found.bound), (entry.score, Bound::Upper));
        assert!(table.imported_cutoffs() > 0);
        // With the mirrored move first, the open window finds the mirrored line again.
        let line = unit(&table, &image, &spec(6, Window::FULL)).pv;
        assert!(image.is_legal(line[0]));
    }
}

/// A win counts from the position that the entry is of, wherever that position is met.
#[test]
fn wins_count_from_the_entrys_position() {
    let mut seen = 0;
    for text in ["b5f2 / b1c3d3e8 / e3 e9 / 1 1 / 1", "/ / e5 e6 / 1 0 / 1", "c4f4 / / e6 d7 / 1 1 / 2"] {
        let parent: Position = text.parse().expect("a position");
        for &mv in parent.legal_moves().iter() {
            let position = parent.after(mv);
            let (collector, outcome) = exported(&position, 5, 1);
            let Some(entry) = collector.of(&position).filter(|entry| entry.score > MAX_CM) else { continue };
            assert_eq!(entry.score, outcome.score);
            let table = table();
            table.import(&entry);
            // One ply above, the win is one ply longer: a loss for whoever moves there.
            let limits = Limits::depth(2);
            let report = Searcher::new(Arc::clone(&table)).analyze(&parent, &limits, &mut Undisturbed);
            let line = report.last.lines.iter().find(|line| line.mv == mv && line.bound == Bound::Upper);
            if let Some(line) = line.filter(|_| table.imported_cutoffs() > 0) {
                assert_eq!(line.score, -(entry.score - 1), "{position}");
                seen += 1;
            }
        }
    }
    assert!(seen > 5, "the test saw wins: {seen}");
}

#[test]
fn nothing_from_a_repetition_is_exported() {
    let start = Position::start();
    let path: Vec<Move> = "e2 e8 e1 e9".split(' ').map(|token| token.parse().expect("a move")).collect();
    for len in [3, 4] {
        let mut collector = Collector::from_depth(0);
        let outcome =
            Searcher::new(table()).search_unit(&start, &path[..len], &spec(5, Window::FULL), &mut collector);
        assert!(outcome.completed);
        assert_eq!(collector.of(&start), None);
        assert_eq!(collector.entries.is_empty(), len == 4, "below the repetition nothing is searched");
    }
}

#[test]
fn prune_modes_do_not_mix() {
    let position = played("e2 e8 e3 e7 e4 e6");
    let (collector, _) = exported(&position, 6, 0);
    let table_with_imports = table();
    for entry in &collector.entries {
        table_with_imports.import(entry);
    }
    let all = UnitSpec { prune: PruneMode::None, ..spec(4, Window::null(0)) };
    let with = unit(&table_with_imports, &position, &all);
    assert_eq!((with, table_with_imports.imported_cutoffs()), (unit(&table(), &position, &all), 0));
}

/// Plays what the numbers choose, as far as the game goes on.
fn position_from(choices: &[u16]) -> Position {
    choices.iter().fold(Position::start(), |position, &choice| {
        let moves = position.legal_moves();
        if moves.is_empty() { position } else { position.after(moves[usize::from(choice) % moves.len()]) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// An exact result in an empty table is the answer to the same question, whichever side of it is asked about.
    #[test]
    fn an_imported_exact_score_is_the_score(choices in prop::collection::vec(any::<u16>(), 0..16), depth in 2_u8..6) {
        let position = position_from(&choices);
        let (collector, outcome) = exported(&position, depth, 1);
        let Some(entry) = collector.of(&position).filter(|entry| entry.depth == depth) else { return Ok(()) };
        prop_assert_eq!((entry.score, entry.bound), (outcome.score, outcome.bound));
        for image in [position, position.mirrored()] {
            for alpha in [entry.score - 1, entry.score] {
                let table = table();
                table.import(&entry);
                let asked = unit(&table, &image, &spec(depth, Window::null(alpha)));
                let score: Score = asked.score;
                prop_assert_eq!(score, entry.score);
            }
        }
    }
}
