//! Pawn races against an independent reference, draws included.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use corridor_shared::race::{RaceResult, RaceTable, unhindered_win};
use corridor_shared::{Color, Position};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    position: String,
    winner: Option<String>,
    plies: Option<u16>,
}

#[test]
fn golden_races_match_in_full() {
    let text = std::fs::read_to_string("tests/data/races.jsonl").expect("the golden file is in the crate");
    let goldens: Vec<Golden> =
        text.lines().map(|line| serde_json::from_str(line).expect("a golden record")).collect();
    assert_eq!(goldens.len(), 320);
    let mut unhindered = 0;
    for golden in goldens {
        let position: Position = golden.position.parse().expect("a position text");
        let expected = match (golden.winner.as_deref(), golden.plies) {
            (Some("white"), Some(plies)) => RaceResult::Win(Color::White, plies),
            (Some("black"), Some(plies)) => RaceResult::Win(Color::Black, plies),
            _ => RaceResult::Draw,
        };
        assert_eq!(RaceTable::solve(&position).result(&position), expected, "{}", golden.position);
        unhindered += u32::from(agrees_when_it_speaks(&position, expected));
    }
    assert!(unhindered > 100, "the quick answer is worth having: {unhindered} of 320");
}

/// The quick answer names the winner and no fewer plies than it takes. Whether it spoke.
fn agrees_when_it_speaks(position: &Position, expected: RaceResult) -> bool {
    let Some((color, at_most)) = unhindered_win(position) else {
        return false;
    };
    match expected {
        RaceResult::Win(winner, plies) => assert!(winner == color && plies <= at_most, "{position}"),
        RaceResult::Draw => panic!("{position} is a draw"),
    }
    true
}

#[test]
fn black_wins_the_empty_board_in_sixteen_plies() {
    let position: Position = "/ / e1 e9 / 0 0 / 1".parse().expect("a position text");
    assert_eq!(RaceTable::solve(&position).result(&position), RaceResult::Win(Color::Black, 16));
}
