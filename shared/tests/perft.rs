//! Move-tree counts against values from an independent reference. Depth 5 is a benchmark (`benches/perft.rs`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

use corridor_shared::Position;
use corridor_shared::notation::{Notation, parse_moves, replay};
use corridor_shared::perft::{divide, perft};

const ROOTS: &str = include_str!("data/perft_roots.txt");

#[track_caller]
fn counts(moves: &str, expected: &[u64]) {
    let moves = parse_moves(Notation::Man, moves).unwrap_or_else(|error| panic!("{error}"));
    let root = replay(&Position::start(), &moves).unwrap_or_else(|error| panic!("{error}"));
    for (depth, &nodes) in (1..).zip(expected) {
        assert_eq!(perft(&root, depth), nodes, "depth {depth} of {root}");
    }
}

#[test]
fn the_start() {
    assert_eq!(perft(&Position::start(), 0), 1);
    counts("", &[131, 16_677, 2_062_264, 247_569_030]);
}

#[test]
fn jumps() {
    counts("e2 e8 e3 e7 e4 e6 e5", &[132, 16_938, 2_111_842]);
    counts("e2 e8 e3 e7 e4 e6 e5 e6h", &[129, 15_922, 1_936_376]);
    counts("e2 e8 e3 e7 e4 e6 e5 e6h a1h e5v", &[121, 14_081, 1_601_299]);
    counts("e2 e8 d2 d8 c2 c8 b2 b8 a2 b7 a3 b6 a4 b5 a5", &[133]);
}

#[test]
fn dense_walls() {
    let roots = ROOTS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let mut seen = 0;
    for (moves, row) in roots {
        let expected: Vec<u64> = row.split(' ').map(|count| count.parse().unwrap()).collect();
        assert_eq!(expected.len(), 5);
        counts(moves, &expected[..4]);
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[test]
fn a_finished_game_has_no_children() {
    let moves = parse_moves(Notation::Man, "e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9").unwrap();
    let end = replay(&Position::start(), &moves).unwrap();
    assert_eq!([0, 1, 2].map(|depth| perft(&end, depth)), [1, 0, 0]);
    assert!(divide(&end, 3).is_empty());
    // One ply before the end, exactly one of White's moves has none.
    let before = replay(&Position::start(), &moves[..14]).unwrap();
    let below = divide(&before, 2);
    assert_eq!(below.iter().filter(|(_, nodes)| *nodes == 0).count(), 1);
}

#[test]
fn divide_sums_up() {
    let start = Position::start();
    let below = divide(&start, 3);
    assert_eq!(below.len(), 131);
    assert_eq!(below.iter().map(|(_, nodes)| nodes).sum::<u64>(), 2_062_264);
    assert_eq!(divide(&start, 1).iter().map(|(_, nodes)| nodes).sum::<u64>(), 131);
    assert!(divide(&start, 0).is_empty());
}
