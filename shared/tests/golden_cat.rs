//! The Corridor Attention Table against 300 positions of an independent reference, and the shapes worked out by hand.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use corridor_shared::cat::{Reason, cat_snapshot};
use corridor_shared::{Move, Position};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    moves: String,
    position: String,
    pawn_moves: Vec<String>,
    legal_count: usize,
    distance: [u8; 2],
    cat_search: Vec<u16>,
    cat_display: Vec<u16>,
    witness: [Vec<String>; 2],
    walls: BTreeMap<String, (u16, String)>,
}

fn goldens() -> Vec<Golden> {
    let text =
        std::fs::read_to_string("tests/data/positions.jsonl").expect("the golden file is in the crate");
    text.lines().map(|line| serde_json::from_str(line).expect("a golden record")).collect()
}

fn played(moves: &str) -> Position {
    moves.split_whitespace().fold(Position::start(), |position, token| {
        let mv: Move = token.parse().expect("a move");
        position.play(mv).unwrap_or_else(|error| panic!("{token} in {moves}: {error}"))
    })
}

#[test]
fn golden_positions_match_in_full() {
    let goldens = goldens();
    assert_eq!(goldens.len(), 300);
    for golden in goldens {
        let position = played(&golden.moves);
        assert_eq!(position.to_string(), golden.position);
        assert_eq!(golden.position.parse::<Position>().expect("a position text"), position);
        let legal = position.legal_moves();
        assert_eq!(legal.len(), golden.legal_count, "{}", golden.position);
        let pawns: Vec<String> = legal.iter().filter(|mv| mv.is_pawn()).map(ToString::to_string).collect();
        let mut expected = golden.pawn_moves.clone();
        expected.sort_by_key(|square| (square.as_bytes()[1], square.as_bytes()[0]));
        assert_eq!(pawns, expected, "{}", golden.position);
        let snapshot = cat_snapshot(&position);
        assert_eq!(snapshot.distance, golden.distance, "{}", golden.position);
        assert_eq!(snapshot.search.as_slice(), golden.cat_search, "{}", golden.position);
        assert_eq!(snapshot.display.as_slice(), golden.cat_display, "{}", golden.position);
        for (path, expected) in snapshot.witness.iter().zip(&golden.witness) {
            let path: Vec<String> = path.iter().map(ToString::to_string).collect();
            assert_eq!(&path, expected, "{}", golden.position);
        }
        let walls: BTreeMap<String, (u16, String)> = snapshot
            .walls
            .iter()
            .map(|wall| (wall.wall.to_string(), (wall.heat_cm, wall.reason.name().to_owned())))
            .collect();
        assert_eq!(walls, golden.walls, "{}", golden.position);
    }
}

/// `wall heat bonus reason` rows on a position.
fn check(position: &Position, rows: &str) {
    let snapshot = cat_snapshot(position);
    for row in rows.split(';').map(str::trim).filter(|row| !row.is_empty()) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [name, heat, bonus, reason] = words[..] else { panic!("bad row {row}") };
        let wall = snapshot
            .walls
            .iter()
            .find(|wall| wall.wall.to_string() == name)
            .unwrap_or_else(|| panic!("{name} is not legal"));
        let found = format!("{name} {} {} {}", wall.heat_cm, wall.shape_bonus_cm, wall.reason.name());
        assert_eq!(found, format!("{name} {heat} {bonus} {reason}"), "{position}");
    }
}

fn at(text: &str) -> Position {
    text.parse().expect("a position text")
}

#[test]
fn seam_in_file_e() {
    let position = at("/ e3e5 / e1 e9 / 10 10 / 1");
    check(
        &position,
        "e4h 313 40 cross_gap; d4h 313 35 blocks_cross_gap; f4h 111 0 blocks_cross_gap; e2h 313 0 witness; \
         e6h 312 0 witness; a1h 30 0 cold",
    );
    assert!(!position.is_legal("e4v".parse().expect("a wall")));
}

#[test]
fn four_walls_in_file_c() {
    check(
        &played("c1v c3v c5v c7v"),
        "c2h 184 40 cross_gap; c4h 185 40 cross_gap; c6h 186 40 cross_gap; d2h 333 35 blocks_cross_gap; \
         d4h 333 35 blocks_cross_gap; d6h 332 35 blocks_cross_gap; b2h 20 0 blocks_cross_gap; \
         b4h 26 0 blocks_cross_gap; b6h 32 0 blocks_cross_gap; c8h 193 0 hot; a4h 12 0 cold; b8h 59 0 cold",
    );
    check(
        &at("/ c1c3c5c7 / a4 a6 / 10 10 / 1"),
        "c4h 133 0 cross_gap; d4h 0 0 blocks_cross_gap; b4h 163 35 blocks_cross_gap",
    );
}

#[test]
fn horizontal_seam() {
    let position = played("c4h e4h");
    check(
        &position,
        "d4v 230 40 cross_gap; d3v 242 35 blocks_cross_gap; d5v 230 35 blocks_cross_gap; d2v 255 0 hot",
    );
    assert!(!position.is_legal("c4v".parse().expect("a wall")));
}

#[test]
fn last_row_is_never_cross_gap() {
    check(&at("/ c5c7 / e1 e9 / 10 10 / 1"), "c6h 190 40 cross_gap; c8h 193 0 hot");
}

#[test]
fn sealed_pocket_has_no_phantom_mouths() {
    let position = played("a2h b1v");
    check(
        &position,
        "a1h 0 0 dead_zone; a1v 0 0 dead_zone; c1h 155 0 gap_play_zone; c1v 155 0 gap_play_zone; \
         c2h 154 0 gap_play_zone; c3h 120 0 gap_play_zone; a3v 19 0 gap_play_zone; b3v 107 0 gap_play_zone; \
         d1v 362 0 gap_play_zone; e4h 313 0 witness; h8h 30 0 cold",
    );
    let reachable = corridor_shared::cat::reachable_mask(&position);
    let zone = corridor_shared::cat::gap_play_zone_mask(reachable);
    let names = |set: u128| {
        let squares = corridor_shared::Square::all().filter(|square| set >> square.index() & 1 == 1);
        let mut names: Vec<String> = squares.map(|square| square.to_string()).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(names(!reachable & ((1 << 81) - 1)), "a1 a2 b1 b2");
    assert_eq!(names(zone), "a2 a3 a4 b1 b2 b3 b4 c1 c2 c3 d1 d2");
}

#[test]
fn opened_middle() {
    let position = played("e2 e8 e3 e7 e4 e6");
    check(
        &position,
        "d4h 386 0 witness; d5h 386 0 witness; e4h 386 0 witness; e5h 386 0 witness; d6h 385 0 hot; e3v 398 0 hot; \
         c5h 133 0 cold; h1v 13 0 cold",
    );
    assert_eq!(kept(&position), (128, 26));
}

/// Legal walls, and how many of them are searched.
fn kept(position: &Position) -> (usize, usize) {
    let walls = cat_snapshot(position).walls;
    (walls.len(), walls.iter().filter(|wall| wall.reason.is_searched()).count())
}

#[test]
fn counts_of_kept_walls() {
    assert_eq!(kept(&Position::start()), (128, 32));
    assert_eq!(kept(&played("e2 e8 e3")), (128, 30));
    assert_eq!(kept(&played("e2 e8 d2 e7 d3 e6 d4 e5 c4 e4")), (128, 32));
    assert_eq!(kept(&played("a2h b1v")), (122, 46));
}

#[test]
fn start_position_as_printed_in_the_definition() {
    let attention = corridor_shared::cat::build_corridor_attention(&Position::start());
    let rows: Vec<u16> = (0..9).rev().flat_map(|row| (0..9).map(move |column| row * 9 + column)).collect();
    let heat: Vec<u16> = rows.iter().map(|&index| attention.players[0][usize::from(index)]).collect();
    let printed = [
        0, 11, 18, 34, 90, 34, 18, 11, 0, 0, 11, 18, 34, 102, 34, 18, 11, 0, 0, 11, 18, 39, 116, 39, 18, 11,
        0, 0, 11, 20, 44, 130, 44, 20, 11, 0, 0, 12, 23, 50, 144, 50, 23, 12, 0, 0, 14, 26, 55, 158, 55, 26,
        14, 0, 0, 16, 28, 60, 172, 60, 28, 16, 0, 0, 18, 31, 66, 186, 66, 31, 18, 0, 0, 19, 34, 71, 200, 71,
        34, 19, 0,
    ];
    assert_eq!(heat, printed);
    check(
        &Position::start(),
        "a1h 30 0 cold; d4h 313 0 witness; e4h 313 0 witness; e1v 362 0 hot; e8h 316 0 witness; c4h 111 0 cold; \
         a8v 37 0 cold",
    );
}

#[test]
fn rule_four_never_fires() {
    for golden in goldens() {
        let position = at(&golden.position);
        for wall in cat_snapshot(&position).walls {
            assert_ne!(wall.reason, Reason::SealedInterior, "{} in {position}", wall.wall);
        }
    }
}

/// A blocker stays one when the cross-gap it blocks is itself blocked already, and when it is cold: the rule asks for the
/// standing walls alone, neither for legality nor for heat.
#[test]
fn blocked_blocker_is_searched() {
    let position = at("d4 / e3e5 / e1 e9 / 9 10 / 2");
    assert!(!position.is_legal("e4h".parse().expect("a wall")), "d4h overlaps the cross-gap wall");
    let f4h = cat_snapshot(&position).walls.into_iter().find(|wall| wall.wall.to_string() == "f4h");
    let f4h = f4h.expect("f4h is legal");
    assert_eq!(f4h.reason, Reason::BlocksCrossGap);
    check(&at("/ c1c3c5c7 / a4 a6 / 10 10 / 1"), "d4h 0 0 blocks_cross_gap");
    check(&at("/ e3e5 / e1 e9 / 10 10 / 1"), "f4h 111 0 blocks_cross_gap");
}
