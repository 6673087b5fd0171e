//! Every named opening and every tenth position of human games to depth 6, pruned and not: the table of
//! `docs/performance.md`, as Markdown.
//!
//! `cargo bench -p corridor-cli --bench openings`
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]

use std::process::Command;

use serde_json::Value;

const NAMED: &str = include_str!("../../shared/tests/data/named.txt");
const GAMES: &str = include_str!("../../shared/tests/data/games.txt");

fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| line.split_once('\t').expect("two columns"))
}

fn positions() -> Vec<(String, String)> {
    let mut positions: Vec<(String, String)> =
        rows(NAMED).map(|(name, moves)| (name.to_owned(), moves.to_owned())).collect();
    for (number, (_, game)) in (1..).zip(rows(GAMES)) {
        let tokens: Vec<&str> = game.split_whitespace().collect();
        for ply in (0..=tokens.len()).step_by(10) {
            positions.push((format!("game {number}, ply {ply}"), tokens[..ply].join(" ")));
        }
    }
    positions
}

/// The last event of an analysis to depth 6, and how many moves were kept.
fn analyse(moves: &str, prune: &str) -> (Value, usize) {
    let output = Command::new(env!("CARGO_BIN_EXE_corridor"))
        .args(["analyze", "--json", "--depth", "6", "--prune", prune, "--moves", moves])
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    let event =
        |line: Option<&str>| -> Value { serde_json::from_str(line.expect("an event")).expect("JSON") };
    let kept = event(text.lines().next())["kept"].as_array().map_or(0, Vec::len);
    (event(text.lines().last()), kept)
}

fn score(done: &Value) -> String {
    let score = done["score_white"].as_object().and_then(|score| score.iter().next());
    score.map_or_else(
        || "-".to_owned(),
        |(kind, value)| match kind.as_str() {
            "cm" => format!("{:+} cm", value.as_i64().unwrap_or(0)),
            kind => format!("{} {value}", kind.replace('_', " ")),
        },
    )
}

fn main() {
    println!(
        "| position | `cat`: best, score | moves | nodes | ms | `none`: best, score | moves | nodes | ms |"
    );
    println!("| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |");
    let (mut same, mut total) = (0, 0);
    for (name, moves) in positions() {
        let mut line = format!("| {name} ");
        let mut best = Vec::new();
        for prune in ["cat", "none"] {
            let (done, kept) = analyse(&moves, prune);
            let mv = done["best_move"].as_str().unwrap_or("-").to_owned();
            line +=
                &format!("| {mv}, {} | {kept} | {} | {} ", score(&done), done["nodes"], done["elapsed_ms"]);
            best.push(score(&done));
        }
        total += 1;
        same += usize::from(best[0] == best[1]);
        println!("{line}|");
    }
    println!("\nThe same score with and without pruning in {same} of {total} positions.");
}
