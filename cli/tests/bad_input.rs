//! Bad input: one line that says what and where, exit code 2, nothing on standard output.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

mod common;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use common::{command, finish, refused};

const OVER: &str = "e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9";

#[test]
fn walls_that_cannot_stand() {
    refused(&["legal", "--moves", "e4h e4v"], "--moves: ply 2 (e4v): wall e4v crosses e4h");
    refused(&["legal", "--moves", "e4h d4h"], "--moves: ply 2 (d4h): wall d4h overlaps e4h");
    refused(&["legal", "--moves", "e4h e4h"], "--moves: ply 2 (e4h): wall e4h overlaps e4h");
    refused(
        &["legal", "--moves", "d1v e8 e1v e9 d2h"],
        "--moves: ply 5 (d2h): wall d2h cuts White off from its goal row",
    );
    refused(&["heat", "--position", "e4 / e4 / e1 e9 / 9 9 / 1"], "--position: wall e4v crosses e4h");
    refused(&["heat", "--position", "e4f4 / / e1 e9 / 9 9 / 1"], "--position: wall f4h overlaps e4h");
    refused(
        &["perft", "--depth", "1", "--position", "d2 / d1e1 / e1 e9 / 9 9 / 1"],
        "--position: White is cut off from its goal row",
    );
}

#[test]
fn more_walls_than_there_are() {
    refused(
        &["legal", "--position", "/ / e1 e9 / 11 10 / 1"],
        "--position: White has 11 walls left, more than 10",
    );
    let twenty_one = "a1c1e1g1a2c2e2g2a3c3e3g3a4c4e4g4a5c5e5g5a6";
    refused(
        &["legal", "--position", &format!("{twenty_one} / / e1 e9 / 0 0 / 1")],
        "--position: 21 walls stand on the board, more than 20",
    );
    let moves = "a1h a8h c1h c8h e1h e8h g1h g8h a2h a7h c2h c7h e2h e7h g2h g7h a3h a6h c3h c6h e3h";
    refused(&["legal", "--moves", moves], "--moves: ply 21 (e3h): White has no walls left for e3h");
}

#[test]
fn moves_that_cannot_be_made() {
    refused(
        &["legal", "--moves", "e2 e8 e3 e7 e4 e6 e5 e6h e7"],
        "--moves: ply 9 (e7): White's pawn cannot move from e5 to e7",
    );
    refused(
        &["legal", "--moves", &format!("{OVER} d8")],
        "--moves: ply 16 (d8): the game has ended: White has reached the goal row",
    );
    refused(
        &["perft", "--depth", "2", "--moves", &format!("{OVER} a1h")],
        "--moves: ply 16 (a1h): the game has ended: White has reached the goal row",
    );
    refused(&["legal", "--position", "/ / e5 e5 / 10 10 / 1"], "--position: both pawns stand on e5");
    refused(
        &["legal", "--moves", "e2 e8 k4"],
        "--moves: ply 3: 'k4' is not a move: a square is a file a..i and a rank 1..9",
    );
}

#[test]
fn notations_are_declared_and_held_to() {
    refused(
        &["legal", "--moves", "e2 e9h"],
        "--moves: ply 2: 'e9h' is not a move: walls run from a1 to h8; one on rank 9 proves another notation (nw or qtp)",
    );
    let wanted =
        "is wanted: a notation cannot be guessed from its moves (man, nw, flip, prefix, qtp, tq1 or qf)";
    refused(&["convert", "e2 e8"], &format!("--from {wanted}"));
    refused(&["convert", "--to", "man", "e2 e8"], &format!("--from {wanted}"));
    refused(&["convert", "--from", "man", "e2 e8"], &format!("--to {wanted}"));
    refused(
        &["convert", "--from", "nw", "--to", "man", "e1h"],
        "ply 1: 'e1h' is not a move: a wall on rank 1 disproves this notation: walls run from a2 to h9",
    );
    refused(
        &["convert", "--from", "man", "--to", "flip", "e8 e2"],
        "ply 1 (e8): White's pawn cannot move from e1 to e8",
    );
    refused(
        &["convert", "--from", "chess", "--to", "man", "e2"],
        "invalid value 'chess' for '--from <NAME>': 'chess' is not a notation; there are man, nw, flip, prefix, qtp, \
         tq1 and qf",
    );
}

#[test]
fn flags_out_of_range() {
    refused(
        &["perft", "--moves", "", "--depth", "0"],
        "invalid value '0' for '--depth <D>': a whole number from 1 to 9 is wanted",
    );
    refused(
        &["perft", "--moves", "", "--depth", "-1"],
        "invalid value '-1' for '--depth <D>': a whole number from 1 to 9 is wanted",
    );
    refused(
        &["perft", "--moves", "", "--depth", "1", "--threads", "0"],
        "invalid value '0' for '--threads <N>': a whole number from 1 to 256 is wanted",
    );
    refused(&["perft", "--moves", ""], "the following required arguments were not provided: --depth <D>");
    refused(
        &["bench", "--depth", "0"],
        "invalid value '0' for '--depth <D>': a whole number from 1 to 100 is wanted",
    );
    refused(&["bench", "--hash", "64M"], "unexpected argument '--hash' found");
}

#[test]
fn numbers_are_refused_in_words_and_by_flag() {
    let analyze = ["analyze", "--moves", ""];
    for (flag, wanted) in [
        ("--depth <D>", "a whole number from 1 to 100 is wanted"),
        ("--nodes <N>", "a whole number from 1 to 18446744073709551615 is wanted"),
        ("--multipv <K>", "a whole number from 1 to 136 is wanted"),
        ("--workers <N>", "a whole number from 1 to 1024 is wanted"),
        ("--threads <N>", "a whole number from 1 to 1024 is wanted"),
        ("--priority <P>", "a whole number from -2147483648 to 2147483647 is wanted"),
    ] {
        let name = flag.split(' ').next().unwrap();
        for value in ["x", "99999999999999999999999", "1.5", "-99999999999", "--json"] {
            let line = format!("invalid value '{value}' for '{flag}': {wanted}");
            refused(&[&analyze[..], &[name, value]].concat(), &line);
        }
    }
    for (flag, value, wrong) in [
        ("--time <T>", "-1s", "a duration cannot be negative"),
        ("--time <T>", "5us", "must be at least 1ms"),
        ("--time <T>", "1y", "the units of a duration are us, ms, s, m, h and d"),
        ("--hash <SIZE>", "-1M", "a size cannot be negative"),
        ("--hash <SIZE>", "0M", "a table has at least 1K"),
        ("--hash <SIZE>", "64", "a size carries a unit: K, M or G"),
    ] {
        let name = flag.split(' ').next().unwrap();
        let line = format!("invalid value '{value}' for '{flag}': {wrong}");
        refused(&[&analyze[..], &[name, value]].concat(), &line);
    }
}

#[test]
fn what_speaks_a_language_of_its_own_has_no_json() {
    refused(&["uci", "--json"], "uci has no --json: it speaks UCI");
    assert!(!common::run(&["uci", "--help"]).stdout.contains("--json"));
}

#[test]
fn a_table_that_the_system_refuses_names_its_flag() {
    let mut command = std::process::Command::new("sh");
    let script = "ulimit -v 700000 && exec \"$0\" analyze --moves '' --depth 2 --workers 1 --hash 1G";
    command.args(["-c", script, env!("CARGO_BIN_EXE_corridor")]);
    let ran = finish(command, Vec::new());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert_eq!(ran.stderr, "corridor: --hash: no memory for the table of worker 1, 1024 MiB\n");
}

#[test]
fn addresses_of_a_coordinator() {
    for url in ["foo", "foo:80", "no url", "ftp://host:1"] {
        refused(
            &["analyze", "--moves", "", "--coordinator", url],
            &format!("invalid value '{url}' for '--coordinator <URL>': http://HOST:PORT is wanted"),
        );
    }
    for url in ["http://host:99999", "http://host:0", "http://[::1]:65536"] {
        refused(
            &["jobs", "--coordinator", url],
            &format!("invalid value '{url}' for '--coordinator <URL>': the port must be 1 to 65535"),
        );
    }
}

#[test]
fn files_to_draw_into() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (svg, missing) = (path("a.svg"), path("missing/b.html"));
    let analyze = ["analyze", "--moves", "", "--depth", "1", "--workers", "1", "--hash", "1M"];
    let ran = common::run(&[&analyze[..], &["--svg", &svg, "--html", &missing]].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.matches('\n').count()), (2, "", 1), "{ran:?}");
    assert!(!std::path::Path::new(&svg).exists(), "nothing is left of what was not begun");
    let same = directory.path().join(".").join("a.svg");
    refused(
        &[&analyze[..], &["--svg", &svg, "--html", same.to_str().unwrap()]].concat(),
        &format!("--svg and --html are the same file, {svg}"),
    );
    refused(&[&analyze[..], &["--html", "-"]].concat(), "--html: '-' is no file; name one");
    refused(&["heat", "--moves", "", "--svg", "-"], "--svg: '-' is no file; name one");
}

#[test]
fn slips_of_the_pen_get_a_hint() {
    let ran = common::run(&["legal", "--moves", "e2,e8"]);
    assert!(ran.code == 2 && ran.stderr.ends_with("(moves are separated by blanks)\n"), "{ran:?}");
    let ran = common::run(&["convert", "--from", "man", "--to", "nw", "E2"]);
    assert!(ran.code == 2 && ran.stderr.ends_with("in lower case)\n"), "{ran:?}");
}

#[test]
fn an_analysis_that_cannot_be() {
    for (flag, value, range) in [
        ("--depth <D>", "0", "1 to 100"),
        ("--depth <D>", "101", "1 to 100"),
        ("--multipv <K>", "0", "1 to 136"),
        ("--workers <N>", "0", "1 to 1024"),
        ("--threads <N>", "0", "1 to 1024"),
    ] {
        let name = flag.split(' ').next().unwrap();
        let line = format!("invalid value '{value}' for '{flag}': a whole number from {range} is wanted");
        refused(&["analyze", "--moves", "", name, value], &line);
    }
    refused(
        &["analyze", "--moves", "", "--time", "30"],
        "invalid value '30' for '--time <T>': a duration carries a unit: us, ms, s, m, h or d",
    );
    refused(
        &["analyze", "--moves", "e2 e8 e9"],
        "--moves: ply 3 (e9): White's pawn cannot move from e2 to e9",
    );
    let ran = common::run(&["analyze", "--moves", "", "--depth", "1", "--hash", "9999999G"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.matches('\n').count()), (2, "", 1), "{ran:?}");
}

#[test]
fn positions_are_given_exactly_once() {
    let wanted = "a position is wanted: --moves \"e2 e8 ...\" or --position \"TEXT\"";
    refused(&["legal"], wanted);
    refused(
        &["legal", "--moves", "", "--position", "/ / e1 e9 / 10 10 / 1"],
        "give --moves or --position, not both",
    );
    refused(&["legal", "--position", ""], "--position: a position has 5 parts separated by '/', not 1");
    refused(
        &["legal", "--position", "/ / e1 e9 / 10 10 / 3"],
        "--position: turn '3': 1 is White, 2 is Black",
    );
}

#[test]
fn no_command_or_an_unknown_one() {
    refused(&[], "a subcommand is wanted: see 'corridor --help'");
    refused(&["frobnicate"], "unrecognized subcommand 'frobnicate'");
    refused(&["legal", "--moves", "", "--frobnicate"], "unexpected argument '--frobnicate' found");
}

#[test]
fn rubbish_is_answered_fast_with_one_short_line() {
    let long = "x".repeat(100_000);
    let tokens = "e2 ".repeat(40_000);
    for arguments in [
        ["legal", "--moves", long.as_str()],
        ["legal", "--moves", tokens.as_str()],
        ["heat", "--position", long.as_str()],
        ["legal", "--moves", "e2\u{7}\u{1b}[31m\n"],
    ] {
        let ran = common::run(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(
            ran.stderr.len() < 500 && ran.stderr.ends_with('\n') && ran.stderr.matches('\n').count() == 1
        );
        assert!(!ran.stderr.contains('\x1b'), "control characters are shown, not sent: {}", ran.stderr);
    }
    let ran = common::run(&[long.as_str()]);
    assert!(ran.code == 2 && ran.stderr.len() < 500, "{}", ran.stderr);
}

#[test]
fn arguments_that_are_no_utf_8() {
    for (arguments, flag) in [(["legal", "--moves"], "--moves"), (["heat", "--position"], "--position")] {
        let mut command = command();
        command.args(arguments).arg(OsStr::from_bytes(b"e2 \xff\xfe"));
        let ran = finish(command, Vec::new());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert_eq!(ran.stderr, format!("corridor: argument 3 (after {flag}) is not valid UTF-8\n"));
    }
}
