use super::*;
use crate::job::ENGINE_EPOCH;
use crate::notation::{Notation, parse_moves, replay_all};

const START: &str = "";

fn positions(moves: &str) -> Vec<Position> {
    let moves = parse_moves(Notation::Man, moves).expect("moves");
    replay_all(&Position::start(), &moves).expect("legal")
}

fn position(moves: &str) -> Position {
    *positions(moves).last().expect("the start at least")
}

fn book(games: &[&str]) -> Book {
    let mut book = Book::new();
    for position in games.iter().flat_map(|game| positions(game)) {
        book.insert(&position).expect("no collision");
    }
    book.settle();
    book
}

fn found(depth: u8, cm: i32, best: &str) -> Searched {
    let best_move = best.parse().ok();
    Searched {
        depth,
        score_white: WhiteScore::Cm(cm),
        bound: Bound::Exact,
        best_move,
        pv: best_move.into_iter().collect(),
        nodes: 1_000,
        engine: ENGINE_EPOCH.into(),
        analysed_at: 1,
        worker: "w".into(),
        multipv: 1,
        prune: RootPrune::Cat,
        deterministic: true,
        others: Vec::new(),
        effort: Effort::default(),
    }
}

/// Gives the position after some moves what a search found; the best move is that of the moves' orientation.
fn learn(book: &mut Book, moves: &str, mut found: Searched) -> bool {
    let at = position(moves);
    let id = book.find(&at).expect("in the book");
    found.best_move = crate::exchange::folded(&at, found.best_move);
    book.learn(id, found, ENGINE_EPOCH) == Learned::Value
}

fn value(book: &Book, moves: &str) -> Option<(i32, u16, Source)> {
    let value = book.node(book.find(&position(moves)).expect("in the book")).value()?;
    match value.score_white {
        WhiteScore::Cm(cm) => Some((cm, value.depth, value.source)),
        other => panic!("{other}"),
    }
}

fn mv(text: &str) -> Move {
    text.parse().expect("a move")
}

#[test]
fn transpositions_and_mirror_images_are_one_position() {
    let book = book(&["e2 e8 d3h e7", "d3h e8 e2 e7", "e2 e8 e3h e7"]);
    // The start, three after one move (e2, d3h = e3h mirrored is not played first), ..
    let after = |moves| book.find(&position(moves));
    assert_eq!(after("e2 e8 d3h"), after("d3h e8 e2"));
    assert_eq!(after("e2 e8 d3h"), after("e2 e8 e3h"), "d3h and e3h are mirror images");
    assert_eq!(book.len(), 7);
    let e2_e8 = book.node(after("e2 e8").expect("in the book"));
    assert_eq!(e2_e8.children().len(), 1, "of two mirror images one stands for both: {:?}", e2_e8.children());
    assert_eq!(e2_e8.ply(), Some(2));
}

#[test]
fn every_legal_move_between_positions_of_the_book_is_an_edge() {
    // Nobody has played e2 after e8 came first, but the position is there.
    let book = book(&["e2 e8 e3 e7", "d2h e8 e2 d7h"]);
    let here = position("e2");
    assert!(book.find(&here).is_some());
    for id in book.ids() {
        let node = book.node(id);
        for mv in node.position().legal_moves().iter().copied() {
            let after = book.find(&node.position().after(mv));
            let smaller = links::chosen(node.position(), mv);
            let edge = node.children().iter().find(|edge| edge.mv == smaller);
            assert_eq!(after, edge.map(|edge| edge.child), "{mv} in {}", node.position());
            assert!(after.is_none_or(|child| book.node(child).parents().contains(&id)));
        }
    }
}

#[test]
fn deeper_replaces_shallower_and_never_the_other_way() {
    let mut book = book(&["e2"]);
    assert!(learn(&mut book, "e2", found(6, 10, "e8")));
    assert!(!learn(&mut book, "e2", found(6, 11, "e8")), "as good is not better");
    assert!(!learn(&mut book, "e2", found(5, 12, "e8")));
    assert!(!learn(&mut book, "e2", Searched { bound: Bound::Lower, ..found(6, 12, "e8") }));
    assert!(learn(&mut book, "e2", found(7, 13, "e8")));
    let stale = Searched { engine: "older".into(), ..found(9, 14, "e8") };
    assert!(learn(&mut book, "e2", stale));
    assert!(!learn(&mut book, "e2", found(8, 15, "e8")), "of an older engine, but deeper");
    assert!(learn(&mut book, "e2", found(9, 16, "e8")), "as deep, and of this engine");
    book.settle();
    assert_eq!(value(&book, "e2"), Some((16, 9, Source::Search)));
    let proof = Searched { score_white: WhiteScore::WhiteWinsIn(15), ..found(3, 0, "e8") };
    assert!(learn(&mut book, "e2", proof), "a proof holds at any depth");
    assert!(!learn(&mut book, "e2", found(12, 16, "e8")));
}

#[test]
fn values_are_backed_up_from_deeper_searches() {
    let mut book = book(&["e2 e8", "e2 e7h"]);
    learn(&mut book, "e2", found(8, 50, "e8"));
    book.settle();
    assert_eq!(value(&book, START), Some((50, 9, Source::BackedUp(mv("e2")))), "no search of its own");
    // Black's best move is refuted by a deeper look; nothing else is known to be as good as the search said.
    learn(&mut book, "e2 e8", found(10, 90, "e3"));
    book.settle();
    assert_eq!(value(&book, "e2"), Some((90, 11, Source::BackedUp(mv("e8")))));
    // Another move, not looked at as deep as the search of the position: not better than what that said.
    learn(&mut book, "e2 e7h", found(5, 20, "e3"));
    book.settle();
    assert_eq!(value(&book, "e2").expect("a value").0, 50);
    // Looked at deeper it may be.
    learn(&mut book, "e2 e7h", found(9, 20, "e3"));
    book.settle();
    let (cm, depth, source) = value(&book, "e2").expect("a value");
    let e7h = links::chosen(&position("e2"), mv("e7h"));
    assert_eq!((cm, depth, source), (20, 10, Source::BackedUp(e7h)));
    assert_eq!(value(&book, START).expect("a value").0, 20);
}

#[test]
fn what_a_search_says_stands_against_what_is_less_deep() {
    let mut book = book(&["e2 e8"]);
    learn(&mut book, "e2", found(8, 50, "e8"));
    learn(&mut book, "e2 e8", found(6, -10, "e3"));
    book.settle();
    assert_eq!(value(&book, "e2"), Some((50, 8, Source::Search)));
    // The best move outside the book is better than the one in it.
    learn(&mut book, "e2", found(9, 40, "e7h"));
    learn(&mut book, "e2 e8", found(12, 70, "e3"));
    book.settle();
    assert_eq!(value(&book, "e2"), Some((40, 9, Source::Search)));
}

#[test]
fn wins_are_counted_in_plies_on_the_way_up() {
    let mut book = book(&["e2 e8 e3"]);
    let win = Searched { score_white: WhiteScore::WhiteWinsIn(20), ..found(4, 0, "e7") };
    learn(&mut book, "e2 e8 e3", win);
    learn(&mut book, "e2 e8", found(12, 30, "d3h"));
    book.settle();
    // White is to move after e8 and can have the win, however deep the search looked for another one.
    let win = Some((WhiteScore::WhiteWinsIn(21), Bound::Exact, Source::BackedUp(mv("e3"))));
    assert_eq!(verdict(&book, "e2 e8"), win);
    // Black need not play e8: that it would lose says nothing, until a search has found no better move.
    assert_eq!(verdict(&book, "e2"), None);
    learn(&mut book, "e2", found(12, 30, "e8"));
    book.settle();
    assert_eq!(verdict(&book, "e2"), Some((WhiteScore::Cm(30), Bound::Lower, Source::Search)));
}

fn verdict(book: &Book, moves: &str) -> Option<(WhiteScore, Bound, Source)> {
    let value = book.node(book.find(&position(moves)).expect("in the book")).value();
    value.map(|value| (value.score_white, value.bound, value.source))
}

#[test]
fn a_game_that_was_lost_proves_nothing_about_the_moves_before() {
    let game = "e2 e8 e3 e7 e4 e6 d4 e5 d5 e4 d6 e3 d7 e2 d8 e1";
    let mut book = book(&[game]);
    let lost = |plies: u16| {
        let moves: Vec<&str> = game.split(' ').take(16 - usize::from(plies)).collect();
        verdict(&book, &moves.join(" ")).map(|(score, bound, _)| (score, bound))
    };
    assert_eq!(lost(0), Some((WhiteScore::BlackWinsIn(0), Bound::Exact)));
    assert_eq!(lost(1), Some((WhiteScore::BlackWinsIn(1), Bound::Exact)), "Black moves and has won");
    // White to move could have played anything else: that it may lose says nothing.
    assert_eq!((2..=16).filter_map(lost).collect::<Vec<_>>(), []);
    learn(&mut book, START, found(4, 22, "e2"));
    book.settle();
    assert_eq!(verdict(&book, START), Some((WhiteScore::Cm(22), Bound::Exact, Source::Search)));
}

#[test]
fn a_bound_goes_up_as_what_it_is() {
    let mut book = book(&["e2 e8 e3", "e2 e7h"]);
    // Black has at least -30 after e2; so White's e2 is worth at most 30, which tells nothing about the start.
    learn(&mut book, "e2 e8", found(9, 30, "e3"));
    book.settle();
    assert_eq!(verdict(&book, "e2"), Some((WhiteScore::Cm(30), Bound::Upper, Source::BackedUp(mv("e8")))));
    assert_eq!(verdict(&book, START), None);
    // With a search of the start, whose best move that is: less than it has said, so no move is better than that.
    learn(&mut book, START, found(6, 50, "e2"));
    book.settle();
    assert_eq!(verdict(&book, START), Some((WhiteScore::Cm(50), Bound::Upper, Source::Search)));
    // At most more than the search has said is no news.
    learn(&mut book, START, found(7, 20, "e2"));
    book.settle();
    assert_eq!(verdict(&book, START), Some((WhiteScore::Cm(20), Bound::Exact, Source::Search)));
    // A search says how good e2 is, and what Black's other moves are worth at most; then all is exact.
    learn(&mut book, "e2", found(8, 40, "e8"));
    book.settle();
    assert_eq!(verdict(&book, "e2"), Some((WhiteScore::Cm(30), Bound::Exact, Source::BackedUp(mv("e8")))));
    assert_eq!(verdict(&book, START), Some((WhiteScore::Cm(30), Bound::Exact, Source::BackedUp(mv("e2")))));
    // A proof stands, whatever is known of its move.
    let lost = Searched { score_white: WhiteScore::WhiteWinsIn(20), ..found(4, 0, "e8") };
    let mut proven = book.clone();
    learn(&mut proven, "e2", lost);
    let sooner =
        Searched { score_white: WhiteScore::WhiteWinsIn(9), bound: Bound::Lower, ..found(12, 0, "e3") };
    learn(&mut proven, "e2 e8", sooner);
    proven.settle();
    assert_eq!(verdict(&proven, "e2"), Some((WhiteScore::WhiteWinsIn(20), Bound::Exact, Source::Search)));
    // Black's e8 is refuted; of the other moves one is known, less deep, and none is better than e8 seemed.
    learn(&mut book, "e2 e7h", found(5, 60, "e3"));
    learn(&mut book, "e2 e8", found(10, 90, "e3"));
    book.settle();
    let e7h = links::chosen(&position("e2"), mv("e7h"));
    assert_eq!(verdict(&book, "e2"), Some((WhiteScore::Cm(60), Bound::Upper, Source::BackedUp(e7h))));
}

#[test]
fn a_cycle_ends_and_a_value_does_not_come_back_to_itself() {
    // Both step forth and back: the start again, with White to move.
    let mut book = book(&["e2 e8 e1 e9", "e2 e8 d2 e9 e2 e8"]);
    assert_eq!(book.len(), 6);
    learn(&mut book, "e2 e8", found(6, 33, "e3"));
    learn(&mut book, "e2", found(6, 33, "e8"));
    let changed = book.settle();
    assert!(!changed.is_empty() && changed.len() <= book.len());
    let depths: Vec<u16> = book.ids().filter_map(|id| book.node(id).value()).map(|it| it.depth).collect();
    assert!(depths.iter().all(|&depth| depth <= 12), "{depths:?}");
    assert!(book.settle().is_empty());
    assert_eq!(value(&book, START).expect("a value").0, 33);
}

#[test]
fn the_line_to_a_position_is_the_shortest_and_then_the_smallest() {
    let book = book(&["e2 e8 d2 e7", "d1 e8 d2 e7 d3", "e2 e8 d3h", "e2 e8 e3h"]);
    let line = |moves: &str| {
        let at = position(moves);
        let id = book.find(&at).expect("in the book");
        let line = book.line_to(id).expect("a line");
        let end = line.iter().fold(Position::start(), |position, &mv| position.play(mv).expect("legal"));
        assert_eq!(end, *book.node(id).position(), "as it is in the book");
        assert_eq!(book.all_lines().to(id).as_ref(), Some(&line));
        line.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line(START), "");
    assert_eq!(line("e2 e8"), "e2 e8");
    let walled = line("e2 e8 d3h");
    assert!(walled == "e2 e8 d3h" || walled == "e2 e8 e3h", "{walled}");
}

/// The smallest of the shortest lines to each position, found by playing all that stay in the book.
fn played(book: &Book) -> BTreeMap<u64, Vec<Move>> {
    let names = |line: &[Move]| line.iter().map(Move::to_string).collect::<Vec<_>>();
    let mut layer = vec![(Position::start(), Vec::<Move>::new())];
    let (mut found, mut seen) = (BTreeMap::new(), BTreeSet::new());
    while !layer.is_empty() {
        layer.sort_by_cached_key(|(_, line)| names(line));
        let mut here = BTreeSet::new();
        // Of two lines to what is on the board the first goes on.
        layer.retain(|(position, _)| here.insert(position.to_string()));
        layer.retain(|(position, _)| !seen.contains(&position.to_string()));
        seen.extend(here);
        let mut next = Vec::new();
        for (position, line) in layer {
            if canonical(&position) == position {
                found.entry(position.canonical_key()).or_insert_with(|| line.clone());
            }
            for mv in position.legal_moves().iter().copied() {
                let after = position.after(mv);
                if book.find(&after).is_some() {
                    next.push((after, [&line[..], &[mv]].concat()));
                }
            }
        }
        layer = next;
    }
    found
}

#[test]
fn records_come_one_by_one_with_the_lines_that_play_finds() {
    let games = ["e2 e8 d2 e7 d3", "d1 e8 d2 e7 d3", "e2 e8 d3h c7h", "e3h e7h e2 e8", "f1 d9 e1 e9 e2h"];
    let book = book(&games);
    let played = played(&book);
    let records: Vec<Record> = book.records().collect();
    assert_eq!(records.len(), book.len());
    for record in &records {
        assert_eq!(record.moves, played.get(&record.key()).cloned(), "{}", record.position);
    }
    assert!(records.iter().all(|record| record.moves.is_some()));
    assert!(book.clone().into_records(None).eq(records.iter().cloned()));
    for (place, record) in records.iter().enumerate() {
        let rest: Vec<Record> = book.clone().into_records(Some(record.key())).collect();
        assert_eq!(rest, records[place + 1..]);
    }
    // A key that is nobody's lies between two others.
    let between = records[1].key() - 1;
    assert_eq!(book.into_records(Some(between)).next().as_ref(), Some(&records[1]));
}

#[test]
fn a_book_grows_where_a_move_costs_least() {
    let mut book = book(&["e2 e8", "e2 e7h"]);
    let other =
        |text: &str, cm| Alternative { mv: mv(text), score_white: WhiteScore::Cm(cm), bound: Bound::Exact };
    learn(&mut book, START, Searched { others: vec![other("d3h", -30)], ..found(8, 10, "e2") });
    learn(&mut book, "e2", Searched { others: vec![other("e8h", 12)], ..found(8, 10, "e8") });
    learn(&mut book, "e2 e8", found(8, 10, "e3"));
    learn(&mut book, "e2 e7h", found(8, 40, "e3"));
    book.settle();
    let growth = Growth { ply_cost: 1, ..Growth::default() };
    let leaves = book.frontier(&growth, 10);
    let shown = |leaf: &Leaf| (book.node(leaf.parent).ply(), leaf.mv.to_string(), leaf.cost);
    let shown: Vec<_> = leaves.iter().map(shown).collect();
    let e8h = links::chosen(&position("e2"), mv("e8h")).to_string();
    // Black gives away 2 with e8h and 30 with e7h, White 40 with d3h; what the other side gives away costs half.
    assert_eq!(shown.iter().map(|it| it.2).collect::<Vec<_>>(), [3, 4, 33, 41], "{shown:?}");
    assert_eq!((shown[0].0, shown[1].0, &shown[1].1), (Some(2), Some(1), &e8h));
    assert_eq!(book.frontier(&Growth { max_cost: Some(10), ..growth }, 10).len(), 2);
    // For White alone d3h is dear.
    let own = Growth { side: Side::Of(Color::White), ..growth };
    assert_eq!(book.frontier(&own, 10).iter().map(|leaf| leaf.cost).collect::<Vec<_>>(), [3, 4, 33, 81]);
    // What is in flight is not chosen again.
    let first = leaves[0];
    let next = book.node(first.parent).position().after(first.mv);
    book.insert(&next).expect("no collision");
    book.settle();
    assert_eq!(book.frontier(&growth, 10).len(), 3);
}
