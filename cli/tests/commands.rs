//! `legal`, `perft`, `convert`, `heat` and `bench`, as a program and as a person meets them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

mod common;

use std::process::Stdio;

use common::{command, finish, json, run};
use serde_json::json as value;

#[test]
fn legal_as_json() {
    let start = json(&["legal", "--moves", ""]);
    assert_eq!(start["position"], "/ / e1 e9 / 10 10 / 1");
    assert_eq!(start["pawn_moves"], value!(["d1", "f1", "e2"]));
    assert_eq!(start["walls"].as_array().unwrap().len(), 128);
    assert_eq!(
        (&start["legal_count"], &start["turn"], &start["winner"]),
        (&value!(131), &value!("white"), &value!(null))
    );
    let keys: Vec<&String> = start.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 6);

    let jump = json(&["legal", "--moves", "e2 e8 e3 e7 e4 e6 e5"]);
    assert_eq!((&jump["legal_count"], &jump["turn"]), (&value!(132), &value!("black")));
    let end = json(&["legal", "--moves", "e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9"]);
    assert_eq!((&end["legal_count"], &end["winner"]), (&value!(0), &value!("white")));
    assert_eq!((&end["pawn_moves"], &end["walls"]), (&value!([]), &value!([])));
}

#[test]
fn positions_in_every_form_are_the_same() {
    let expected = "e3 / d4 / e2 e8 / 9 9 / 1";
    for arguments in [
        ["--moves", "e2 e8 e3h d4v", "--notation", "man"],
        ["--moves", "1. e2 e8 2. e4h d5v", "--notation", "nw"],
        ["--moves", "e8 e2 e6h d5v", "--notation", "flip"],
        ["--moves", "e2 e8 he3 vd4", "--notation", "prefix"],
        ["--moves", "white e2 black e8 white e4 h black d5 v", "--notation", "qtp"],
        ["--moves", "tq1#{} e2 e8 he3 d4v", "--notation", "tq1"],
        ["--position", " e3/d4/e2  e8/9 9/1 ", "--notation", "man"],
    ] {
        let found = json(&[&["legal"], &arguments[..]].concat());
        assert_eq!(found["position"], expected, "{arguments:?}");
    }
    let state = json(&["legal", "--position", "hsMBzHIPIBQ", "--notation", "qf"]);
    assert_eq!(state["position"], "c7 / d7 / e2 e8 / 9 9 / 1");
}

#[test]
fn perft_counts() {
    let start = json(&["perft", "--moves", "", "--depth", "3"]);
    assert_eq!((&start["depth"], &start["nodes"]), (&value!(3), &value!(2_062_264)));
    assert!(start["seconds"].as_f64().unwrap() > 0.0 && start["nodes_per_second"].as_u64().unwrap() > 0);
    assert!(start.get("divide").is_none());
    for threads in ["1", "2", "7"] {
        let divided = json(&["perft", "--moves", "", "--depth", "2", "--divide", "--threads", threads]);
        let below = divided["divide"].as_object().unwrap();
        assert_eq!(below.len(), 131);
        assert_eq!(below["e2"], 131);
        assert_eq!(below.values().map(|nodes| nodes.as_u64().unwrap()).sum::<u64>(), 16_677);
    }
    let one = json(&["perft", "--moves", "", "--depth", "1", "--divide"]);
    assert_eq!((&one["nodes"], &one["divide"]["a1h"]), (&value!(131), &value!(1)));
}

#[test]
fn convert_translates() {
    let flipped = json(&["convert", "--from", "flip", "--to", "man", "e8 e2 e7 e3 e6 e4 c8v"]);
    assert_eq!(flipped, value!({"moves": "e2 e8 e3 e7 e4 e6 c1v"}));
    let ran = run(&["convert", "--from", "man", "--to", "qtp", "e2", "e8", "e3h"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "e2 e8 e4 h\n"));
    assert_eq!(json(&["convert", "--from", "man", "--to", "nw", ""])["moves"], "");
    let code = "ReBPNKwglK4p8Gkm5WkJ0CvCzSZGKEZmgmRkqm8QuSQCYmJiQkBAICZGQC2+IAhqBhRERiAgRkYgIE";
    let moves = json(&["convert", "--from", "qf", "--to", "man", code])["moves"].as_str().unwrap().to_owned();
    assert!(moves.starts_with("e2 e8 d7v e7 e6h f7 e3 e3h") && moves.split(' ').count() == 94);
    assert_eq!(json(&["convert", "--from", "man", "--to", "qf", &moves])["moves"], code);
}

#[test]
fn heat_as_json() {
    let heat = json(&["heat", "--moves", ""]);
    assert_eq!(heat["distance"], value!({"white": 8, "black": 8}));
    assert_eq!(heat["witness"]["white"], value!(["e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9"]));
    assert_eq!(heat["cat_display"].as_array().unwrap().len(), 81);
    assert_eq!((&heat["cat_display"][4], &heat["cat_search"][4]), (&value!(200), &value!(290)));
    let walls = heat["walls"].as_object().unwrap();
    assert_eq!(walls.len(), 128);
    assert_eq!(walls.values().filter(|wall| wall["searched"] == true).count(), 32);
    assert_eq!(
        walls["e4h"],
        value!({"heat_cm": 313, "shape_bonus_cm": 0, "searched": true, "reason": "witness"})
    );
    let seam = json(&["heat", "--position", "/ e3e5 / e1 e9 / 10 10 / 1"]);
    assert_eq!(
        seam["walls"]["e4h"],
        value!({"heat_cm": 313, "shape_bonus_cm": 40, "searched": true, "reason": "cross_gap"})
    );
}

#[test]
fn heat_for_a_person_and_as_a_picture() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("heat.svg");
    let ran = run(&["heat", "--moves", "a2h b1v", "--svg", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // No terminal: no colours.
    assert!(!ran.stdout.contains('\x1b'));
    for shown in ["W200", "B200", "gap_play_zone", "dead_zone", "White to move", "witness path: e1 e2"] {
        assert!(ran.stdout.contains(shown), "{shown} in {}", ran.stdout);
    }
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("class=\"void\" x=").count(), 4 + 1, "four unreachable squares and the legend");
    assert_eq!(svg.matches("class=\"out\"").count(), 46 + 1, "the kept walls and the legend");
    assert_eq!(svg.matches("class=\"skip\"").count(), 122 - 46);
    assert!(svg.contains("a1h: 0 cm, skipped (dead_zone)"));
    let ran = run(&["heat", "--moves", "", "--svg", directory.path().to_str().unwrap()]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(ran.stderr.matches('\n').count(), 1);
}

#[test]
fn an_analysis_leaves_a_picture_and_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (svg, html) = (path("board.svg"), path("page.html"));
    let ran = run(&[
        "analyze",
        "--moves",
        "e2 e8 e3",
        "--depth",
        "3",
        "--workers",
        "1",
        "--hash",
        "1M",
        "--json",
        "--svg",
        &svg,
        "--html",
        &html,
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let done: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&done["event"], &done["depth"]), (&value!("done"), &value!(3)));
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(
        picture.starts_with("<svg ") && picture.contains("best move") | picture.contains("class=\"ring\"")
    );
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("98 moves were not searched"), "{page}");
    assert_eq!(page.matches("<tr>").count() - 1, done["lines"].as_array().unwrap().len());

    // What cannot be written is said before the work.
    let ran = run(&["analyze", "--moves", "", "--time", "1h", "--svg", directory.path().to_str().unwrap()]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.matches('\n').count()), (2, "", 1), "{ran:?}");
}

#[test]
fn bench_has_a_signature() {
    let arguments = ["bench", "--depth", "3"];
    let [first, second] = [json(&arguments), json(&arguments)];
    assert!(first["nodes"].as_u64().unwrap() > 1_000);
    assert_eq!(first["nodes"], second["nodes"]);
    assert!(first["seconds"].as_f64().is_some() && first["nodes_per_second"].as_u64().is_some());
    assert_eq!(first.as_object().unwrap().len(), 3);
}

#[test]
fn tables_and_boards_for_a_person() {
    let legal = run(&["legal", "--moves", "e2 e8 e3h d4v"]);
    assert!(legal.stdout.contains("pawn (4):\n  e1 d2 f2 e3\n") && legal.stdout.contains("124 legal moves"));
    assert!(legal.stdout.contains(
        "\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}"
    ));
    let perft = run(&["perft", "--moves", "", "--depth", "2"]);
    assert!(perft.stdout.starts_with("depth 2: 16,677 nodes in "));
    let help = run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    assert!(help.stdout.contains("perft") && help.stdout.contains("convert"));
}

#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let mut command = command();
    command.args(["legal", "--moves", ""]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer);
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

#[test]
fn environment_variables_stand_in_for_flags() {
    let mut with_json = command();
    with_json.args(["legal", "--moves", ""]).env("CORRIDOR_JSON", "true");
    assert!(finish(with_json, Vec::new()).stdout.starts_with("{\"position\""));
    let mut with_threads = command();
    with_threads.args(["perft", "--moves", "", "--depth", "1"]).env("CORRIDOR_THREADS", "zero");
    let ran = finish(with_threads, Vec::new());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "corridor: CORRIDOR_THREADS: invalid value 'zero' for '--threads <N>': a whole number from 1 to 256 is wanted\n"
    );
}

#[test]
fn variables_of_switches_and_empty_ones() {
    let legal = |name: &str, value: &str| {
        let mut command = command();
        command.args(["legal", "--moves", ""]).env(name, value);
        finish(command, Vec::new())
    };
    for yes in ["1", "true", "yes", "on", "TRUE"] {
        assert!(legal("CORRIDOR_JSON", yes).stdout.starts_with("{\"position\""), "{yes}");
    }
    for no in ["0", "false", "no", "off", ""] {
        let ran = legal("CORRIDOR_JSON", no);
        assert!(ran.code == 0 && !ran.stdout.starts_with('{'), "{no}: {ran:?}");
    }
    let ran = legal("CORRIDOR_JSON", "perhaps");
    assert!(ran.code == 2 && ran.stderr.starts_with("corridor: CORRIDOR_JSON: "), "{ran:?}");

    let mut analysis = command();
    analysis
        .args(["analyze", "--moves", "", "--depth", "1", "--workers", "1", "--hash", "1M"])
        .envs([("CORRIDOR_COORDINATOR", ""), ("CORRIDOR_LOG", "")]);
    assert_eq!(finish(analysis, Vec::new()).code, 0);
    let mut conflict = command();
    conflict
        .args(["analyze", "--moves", "", "--workers", "1"])
        .env("CORRIDOR_COORDINATOR", "http://127.0.0.1:1");
    let ran = finish(conflict, Vec::new());
    assert!(ran.code == 2 && ran.stderr.starts_with("corridor: CORRIDOR_COORDINATOR: "), "{ran:?}");
    let mut uci = command();
    uci.arg("uci").env("CORRIDOR_JSON", "1");
    assert_eq!(finish(uci, b"quit\n".to_vec()).code, 0);
}

#[test]
fn help_says_ranges_units_and_what_is_wanted() {
    for (command, shown) in [
        (
            "analyze",
            "1 to 100 plies|us, ms, s, m, h, d|at least 1ms|1 to 1024|1 to 136|K, M, G|default: 128M|exactly one of",
        ),
        ("perft", "1 to 9|1 to 256|exactly one of|--depth <D>"),
        ("legal", "exactly one of|(--moves <MOVES> | --position <TEXT>)"),
        ("heat", "exactly one of"),
        ("bench", "1 to 100|default: 7"),
        ("convert", "--from <NAME> --to <NAME>|always wanted"),
    ] {
        let help = run(&[command, "--help"]).stdout;
        let folded = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in shown.split('|') {
            assert!(folded.contains(words), "{words} in {command}: {help}");
        }
    }
}
