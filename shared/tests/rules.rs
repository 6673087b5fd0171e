//! The rules as values. Each case grew out of a fault that real implementations of the game have shipped.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

use corridor_shared::board::IllegalMove;
use corridor_shared::notation::{Notation, parse_moves, replay, replay_all};
use corridor_shared::{Color, Move, Position};

fn after(text: &str) -> Position {
    let moves = parse_moves(Notation::Man, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    replay(&Position::start(), &moves).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn mv(text: &str) -> Move {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn pawn_moves(position: &Position) -> String {
    let mut squares: Vec<String> =
        position.legal_moves().iter().filter(|mv| mv.is_pawn()).map(ToString::to_string).collect();
    squares.sort();
    squares.join(" ")
}

#[track_caller]
fn legal(position: &Position, moves: &str) {
    for text in moves.split(' ') {
        assert_eq!(position.play(mv(text)).err(), None, "{text} in {position}");
        assert!(position.is_legal(mv(text)) && position.legal_moves().contains(&mv(text)), "{text}");
    }
}

#[track_caller]
fn illegal(position: &Position, moves: &str) {
    for text in moves.split(' ') {
        assert!(position.play(mv(text)).is_err(), "{text} in {position}");
        assert!(!position.is_legal(mv(text)) && !position.legal_moves().contains(&mv(text)), "{text}");
    }
}

/// S1: walls never cross or overlap; they may touch.
#[test]
fn crossing_and_overlapping_walls() {
    let horizontal = after("e4h");
    assert_eq!((horizontal.turn(), horizontal.legal_moves().len()), (Color::Black, 127));
    illegal(&horizontal, "e4v e4h d4h f4h");
    legal(&horizontal, "c4h g4h d4v f4v e3v e5v");
    let wall = |text: &str| mv(text).as_wall().unwrap();
    assert_eq!(horizontal.play(mv("e4v")), Err(IllegalMove::Crosses(wall("e4v"), wall("e4h"))));
    assert_eq!(horizontal.play(mv("d4h")), Err(IllegalMove::Overlaps(wall("d4h"), wall("e4h"))));

    let vertical = after("e4v");
    assert_eq!(vertical.legal_moves().len(), 127);
    illegal(&vertical, "e4h e4v e3v e5v");
    legal(&vertical, "e2v e6v d4h f4h d4v f4v");
}

/// S2: a wall may pass exactly between two collinear ones.
#[test]
fn through_the_seam_of_two_collinear_walls() {
    let horizontal = after("a3h c3h");
    assert_eq!((horizontal.turn(), horizontal.legal_moves().len()), (Color::White, 125));
    legal(&horizontal, "b3v b2v b4v d3v");
    illegal(&horizontal, "a3v c3v b3h d3h");

    let vertical = after("a3v a5v");
    assert_eq!(vertical.legal_moves().len(), 124);
    legal(&vertical, "a4h");
    illegal(&vertical, "a3h a5h a4v");
}

/// S3: over the opponent, never onto him.
#[test]
fn the_straight_jump() {
    let position = after("e2 e8 e3 e7 e4 e6 e5");
    assert_eq!(position.turn(), Color::Black);
    assert_eq!(pawn_moves(&position), "d6 e4 e7 f6");
    illegal(&position, "e5 d5 f5");
    assert_eq!(position.legal_moves().len(), 132);
}

/// S4: with a wall behind the opponent, to his sides, where they are open.
#[test]
fn side_steps_past_a_wall() {
    let behind = after("e2 e8 e3 e7 e4 e6 e5 e6h");
    assert_eq!(pawn_moves(&behind), "d5 d6 e4 f5 f6");
    illegal(&behind, "e7 e6");
    let one_side = after("e2 e8 e3 e7 e4 e6 e5 e6h a1h e5v");
    assert_eq!((one_side.turn(), pawn_moves(&one_side).as_str()), (Color::White, "d5 d6 e4"));
}

/// S5: the board's edge behind the opponent opens the sides as a wall does ("edge counts").
#[test]
fn side_steps_at_the_edge() {
    let position = after("e2 e8 d2 d8 c2 c8 b2 b8 a2 b7 a3 b6 a4 b5 a5");
    assert_eq!(
        (position.pawn(Color::White), position.pawn(Color::Black)),
        ("a5".parse().unwrap(), "b5".parse().unwrap())
    );
    assert_eq!(pawn_moves(&position), "a4 a6 b4 b6 c5");
    illegal(&position, "a5");
    assert_eq!(position.legal_moves().len(), 133);
}

/// S6: the game ends at once on the goal row, and only there.
#[test]
fn the_goal_row_ends_the_game() {
    let text = "e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9";
    let moves = parse_moves(Notation::Man, text).unwrap();
    let positions = replay_all(&Position::start(), &moves).unwrap();
    assert_eq!(positions.len(), 16);
    assert!(positions[..15].iter().all(|position| position.winner().is_none()));
    let end = &positions[15];
    assert_eq!(end.winner(), Some(Color::White));
    assert!(end.legal_moves().is_empty());
    for text in ["d8", "a1h", "e9"] {
        assert_eq!(end.play(mv(text)), Err(IllegalMove::GameOver(Color::White)));
    }
    let before = &positions[14];
    assert_eq!((before.turn(), before.pawn(Color::White).to_string().as_str()), (Color::White, "e8"));
    legal(before, "e9 a1h");

    let back_home = after("e2 e8 e1");
    assert_eq!((back_home.winner(), back_home.turn()), (None, Color::Black));
    assert_eq!(back_home.legal_moves().len(), 132);
}

/// S7: a wall on the border row stops the lateral step there.
#[test]
fn walls_on_the_border_row() {
    let left = after("d8v");
    assert_eq!((pawn_moves(&left).as_str(), left.legal_moves().len()), ("e8 f9", 127));
    let right = after("e8v");
    assert_eq!((pawn_moves(&right).as_str(), right.legal_moves().len()), ("d9 e8", 127));
}

/// S8: a start is a start, whatever was played before it.
#[test]
fn a_new_game_starts_clean() {
    let key = Position::start().key();
    after("a3h h6h c3h e8 e2");
    let fresh = Position::start();
    assert_eq!((fresh.key(), fresh.legal_moves().len()), (key, 131));
    assert_eq!(Color::BOTH.map(|color| fresh.walls_in_hand(color)), [10, 10]);
}

/// S10: keys tell positions apart after the first wall, and transpositions are one.
#[test]
fn keys_after_the_first_wall() {
    let moves = parse_moves(Notation::Man, "e2 e8 e3 e7 e4 e6 a3h f6h e5v h6h").unwrap();
    let positions = replay_all(&Position::start(), &moves).unwrap();
    let mut keys: Vec<u64> = positions.iter().map(Position::key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 11);
    assert_ne!(after("e2 e8 e3 e7 e4 e6 a3h").key(), after("e2 e8 e3 e7 e4 e6 a6h").key());
    assert_eq!(after("e2 e8 a3h e7").key(), after("a3h e8 e2 e7").key());
    // The counts of walls in hand are state: the same board, placed by the other side.
    assert_ne!(after("a3h h3h e2 e8").key(), after("a3h e8 h3h e9 e2 e8").key());
    assert_ne!(after("e2").key(), after("e2 e8 e1 e9 e2 d9").key());
}

/// A wall may seal an empty pocket, never a side, not even its own.
#[test]
fn pockets_and_cages() {
    let pocket = after("a2h b1v");
    assert_eq!(pocket.legal_moves().iter().filter(|mv| !mv.is_pawn()).count(), 122);
    // Row 4 is closed from a to h; `h4v` behind `h5h` would close the last way, at i.
    let gap = after("a4h e8 c4h e9 e4h e8 g4h e9 h5h e8");
    let cut = mv("h4v").as_wall().unwrap();
    assert_eq!(gap.play(Move::wall(cut)), Err(IllegalMove::CutsOff(cut, Color::White)));
    legal(&gap, "h2v h6v");
    // Caging oneself.
    let lid = mv("d2h").as_wall().unwrap();
    assert_eq!(after("d1v e8 e1v e9").play(Move::wall(lid)), Err(IllegalMove::CutsOff(lid, Color::White)));
    let lid = mv("f2h").as_wall().unwrap();
    let open_above_f = after("d1v e8 f1v e9 d2h e8");
    assert_eq!(open_above_f.play(Move::wall(lid)), Err(IllegalMove::CutsOff(lid, Color::White)));
}

/// The eleventh wall of a side.
#[test]
fn nobody_has_an_eleventh_wall() {
    let text = "a1h e8 c1h e9 e1h e8 g1h e9 a2h e8 c2h e9 g2h e8 a3h e9 c3h e8 g3h e9";
    let position = after(text);
    assert_eq!(position.walls_in_hand(Color::White), 0);
    let wall = mv("a8h").as_wall().unwrap();
    assert_eq!(position.play(mv("a8h")), Err(IllegalMove::NoWallsLeft(Color::White, wall)));
    assert_eq!(pawn_moves(&position).split(' ').count(), position.legal_moves().len());
}
