//! Real input through the cluster: every opening that players know by name, and every tenth position of human games.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::time::Duration;

use corridor_shared::job::{JobEvent, JobSpec, RootPrune, StoppedBy};
use corridor_shared::{Move, Position};
use corridor_tests::{analysis, coordinator, done, moves, rest, spec, submit, worker};

const NAMED: &str = include_str!("../../shared/tests/data/named.txt");
const GAMES: &str = include_str!("../../shared/tests/data/games.txt");
const DEPTH: u8 = 6;

/// The positions of both files with a name each.
fn positions() -> Vec<(String, Position)> {
    let rows = |text: &'static str| {
        let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        rows.map(|line| line.split_once('\t').expect("two columns"))
    };
    let mut positions: Vec<(String, Position)> =
        rows(NAMED).map(|(name, line)| (name.to_owned(), moves(line))).collect();
    for (number, (_, game)) in (1..).zip(rows(GAMES)) {
        let tokens: Vec<&str> = game.split_whitespace().collect();
        for ply in (0..=tokens.len()).step_by(10) {
            positions.push((format!("game {number}, ply {ply}"), moves(&tokens[..ply].join(" "))));
        }
    }
    positions
}

/// Whatever is pruned, kept and pruned moves together are the legal ones, and every line can be played.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_positions_are_analysed_and_prune_modes_agree_on_legality() {
    let positions = positions();
    assert_eq!(positions.len(), 46);
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let _workers = [worker(&coordinator, "a").await, worker(&coordinator, "b").await];
    let mut client = analysis(&coordinator).await;
    for (name, position) in positions {
        let legal: BTreeSet<Move> = position.legal_moves().iter().copied().collect();
        for prune in [RootPrune::Cat, RootPrune::None] {
            let job = JobSpec { prune, ..spec(position, DEPTH) };
            let events = rest(&mut submit(&mut client, &job).await, Vec::new()).await;
            let JobEvent::Accepted(accepted) = &events[0].event else { panic!("{name}: {:?}", events[0]) };
            let announced: BTreeSet<Move> =
                accepted.kept.iter().chain(&accepted.pruned).map(|heat| heat.mv).collect();
            assert_eq!(announced, legal, "{name}");
            assert!(prune == RootPrune::Cat || accepted.pruned.is_empty(), "{name}");
            let answer = done(&events);
            let proven = answer.stopped_by == StoppedBy::Proof;
            assert!(answer.depth == DEPTH || proven, "{name}: depth {}", answer.depth);
            assert_eq!(answer.lines.is_empty(), position.winner().is_some(), "{name}");
            for line in &answer.lines {
                assert_eq!(line.pv.first(), Some(&line.mv), "{name}");
                line.pv.iter().fold(position, |position, &mv| position.play(mv).expect("a line is playable"));
            }
        }
    }
    coordinator.stop().await;
}
