//! `corridor simulate`: the same figures on every run, the documented fields, and what it leaves in files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{lines, refused, run};
use serde_json::Value;

/// Small enough for a test, and split finely: a slow worker makes few positions worth a message.
const SMALL: [&str; 6] = ["--nodes", "20000", "--rate", "50000", "--hash", "4M"];

/// A folder with a file of positions in all three forms; the name of one has to be escaped in a picture.
fn positions() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("positions.txt");
    let text =
        "# two openings and a race\na<b & \"c\"\te2 e8 e3 e7 d3h e6\ne2 e8 e3 e7\n\n/ / e4 d7 / 2 3 / 1\n";
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs it on a file. Returns what it prints.
#[track_caller]
fn simulate(file: &Path, arguments: &[&str]) -> String {
    let ran = run(&[&["simulate", "--positions", name(file)][..], &SMALL, arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    ran.stdout
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"))
}

/// Everything in a trace, in the order in which it stands there.
fn trace_of(file: &Path, folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let trace = folder.join("trace.jsonl");
    simulate(file, &[&["--trace", name(&trace)], arguments].concat());
    lines(&std::fs::read_to_string(&trace).unwrap())
}

#[test]
fn figures_are_the_same_on_every_run_and_named_as_documented() {
    let (folder, file) = positions();
    let files =
        |run: &str| [folder.path().join(format!("{run}.jsonl")), folder.path().join(format!("{run}.svg"))];
    let ran = |run: &str| {
        let [trace, svg] = files(run);
        let arguments = ["--workers", "1,2,4", "--json", "--trace", name(&trace), "--svg", name(&svg)];
        let printed = simulate(&file, &arguments);
        (printed, std::fs::read_to_string(trace).unwrap(), std::fs::read_to_string(svg).unwrap())
    };
    let first = ran("first");
    assert_eq!(first, ran("second"), "virtual time knows no chance");
    let rows = lines(&first.0);
    assert_eq!(rows.iter().map(|row| row["workers"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 4]);
    for (row, line) in rows.iter().zip(first.0.lines()) {
        let fields = ["workers", "speedup", "search_overhead", "idle", "communication", "time_to_depth_s"];
        let places: Vec<_> = fields.iter().map(|field| line.find(&format!("\"{field}\":"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{line}");
        assert_eq!(row.as_object().unwrap().len(), fields.len(), "{line}");
        let workers = number(row, "workers");
        assert!((0.05..=workers * 1.5).contains(&number(row, "speedup")), "{row}");
        assert!((0.0..1.0).contains(&number(row, "idle")), "{row}");
        assert!((0.0..1.0).contains(&number(row, "communication")), "{row}");
        assert!(number(row, "time_to_depth_s") > 0.0 && number(row, "search_overhead") > -0.9, "{row}");
    }
    // One worker is never idle for want of others, and does not outrun itself.
    assert!(number(&rows[0], "speedup") < 1.2, "{}", rows[0]);
    assert!(number(&rows[2], "time_to_depth_s") < number(&rows[0], "time_to_depth_s"), "{rows:?}");
    // The order in which the numbers are asked for changes no figure.
    let mut turned = lines(&simulate(&file, &["--workers", "4,1,2", "--json"]));
    turned.sort_by_key(|row| row["workers"].as_u64());
    assert_eq!(turned, rows);
}

#[test]
fn a_person_reads_a_table() {
    let (_folder, file) = positions();
    let page = simulate(&file, &["--workers", "2"]);
    for heading in ["workers", "speedup", "search overhead", "idle", "communication", "time to depth"] {
        assert!(page.contains(heading), "{page}");
    }
    assert_eq!(page.lines().filter(|line| line.contains(" s ")).count(), 1, "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
}

#[test]
fn a_trace_says_who_worked_when_and_nobody_does_two_things_at_once() {
    let (folder, file) = positions();
    let trace = trace_of(&file, folder.path(), &["--workers", "1,3"]);
    let mut spans: BTreeMap<(String, u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for line in &trace {
        let key = (
            line["position"].as_str().unwrap().to_owned(),
            line["workers"].as_u64().unwrap(),
            line["worker"].as_u64().unwrap(),
        );
        assert!((1..=key.1).contains(&key.2), "{line}");
        assert!(line["depth"].is_u64() && line["speculative"].is_boolean(), "{line}");
        assert!(["done", "shed", "cancelled"].contains(&line["end"].as_str().unwrap()), "{line}");
        let moves = line["path"].as_str().unwrap().split_whitespace();
        assert!(moves.clone().count() >= 1, "{line}");
        let (from, to) = (number(line, "from_s"), number(line, "to_s"));
        assert!(0.0 <= from && from <= to, "{line}");
        spans.entry(key).or_default().push((from, to));
    }
    // Each of three positions, alone and with three workers.
    assert_eq!(spans.len(), 3 * (1 + 3));
    for (who, mut spans) in spans {
        spans.sort_by(|one, other| one.partial_cmp(other).unwrap());
        for pair in spans.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{who:?} does two things at once: {pair:?}");
        }
    }
}

#[test]
fn comparisons_leave_out_what_they_say() {
    let (folder, file) = positions();
    let below_the_root = |arguments: &[&str]| {
        let trace = trace_of(&file, folder.path(), &[&["--workers", "4"], arguments].concat());
        trace.iter().filter(|line| line["path"].as_str().unwrap().split_whitespace().count() > 1).count()
    };
    assert!(below_the_root(&[]) > 0, "nothing is split at all");
    assert_eq!(below_the_root(&["--root-only"]), 0);
    let figures = |arguments: &[&str]| simulate(&file, &[&["--workers", "4", "--json"], arguments].concat());
    let with = figures(&[]);
    let without = figures(&["--no-exchange"]);
    assert_ne!(with, without, "an exchange that changes nothing");
    // Without the cache its rate cannot matter.
    assert_eq!(figures(&["--no-exchange", "--exchange-rate", "1"]), without);
}

/// Whether a text is well-formed XML, as far as a picture goes: tags that close, quoted attributes, escaped text.
#[track_caller]
fn assert_well_formed(xml: &str) {
    let entity = |text: &str| {
        text.split('&')
            .skip(1)
            .all(|rest| ["lt;", "gt;", "amp;", "quot;", "apos;"].iter().any(|known| rest.starts_with(known)))
    };
    let (mut open, mut rest) = (Vec::new(), xml);
    while let Some((text, after)) = rest.split_once('<') {
        assert!(entity(text) && !text.contains('>'), "unescaped: {text}");
        let (tag, after) = after.split_once('>').expect("a tag that ends");
        rest = after;
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "closed in the wrong order");
            continue;
        }
        let alone = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let element = tag.split_whitespace().next().expect("a name");
        let parts: Vec<&str> = tag[element.len()..].split('"').collect();
        assert!(parts.len() % 2 == 1, "a quote that stays open: {tag}");
        for (name, value) in parts.iter().step_by(2).zip(parts.iter().skip(1).step_by(2)) {
            assert!(name.starts_with(' ') && name.ends_with('=') && entity(value), "attributes of {tag}");
        }
        if !alone {
            open.push(element);
        }
    }
    assert!(rest.trim().is_empty() && open.is_empty(), "{open:?} stay open before '{rest}'");
}

#[test]
fn a_picture_is_well_formed_and_has_a_bar_for_each_unit() {
    let (folder, file) = positions();
    let (svg, trace) = (folder.path().join("a.svg"), folder.path().join("a.jsonl"));
    simulate(&file, &["--workers", "1,3", "--svg", name(&svg), "--trace", name(&trace)]);
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{picture}");
    assert_well_formed(&picture);
    assert!(picture.contains("a&lt;b &amp; "), "the first position's name");
    // The first position with the last number of workers; the background is a rectangle too.
    let drawn = lines(&std::fs::read_to_string(&trace).unwrap());
    let drawn = drawn.iter().filter(|line| line["position"] == "a<b & \"c\"" && line["workers"] == 3).count();
    assert_eq!(picture.matches("<rect ").count(), drawn + 1);
}

#[test]
fn files_that_are_no_positions_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("positions.txt");
    let check = |content: &[u8], fault: &str| {
        std::fs::write(&file, content).unwrap();
        let line = format!("--positions: {}: {fault}", file.display());
        refused(&["simulate", "--depth", "2", "--positions", name(&file)], &line);
    };
    check(b"", "there is no position in it");
    check(b"# only words\n\n", "there is no position in it");
    check(b"e2 e8\nname\te2 e8 e9\n", "line 2: ply 3 (e9): White's pawn cannot move from e2 to e9");
    check(b"e2\n/ / e9 e5 / 10 10 / 2\n", "line 2: the game is over");
    check(&[b'#'; 10 << 20], "it has more than 1048576 bytes");
    check(&b"e2 e8\n".repeat(2 << 20), "it has more than 1048576 bytes");
    check(b"e2\xff\n", "it is no text");
    let missing = folder.path().join("missing");
    let line = format!("--positions: read {}: No such file or directory (os error 2)", missing.display());
    refused(&["simulate", "--depth", "2", "--positions", name(&missing)], &line);
}

#[test]
fn impossible_flags_are_refused_in_one_line() {
    let (_folder, file) = positions();
    let base = ["simulate", "--positions", name(&file), "--depth", "2"];
    for (flag, value, shown, why) in [
        ("--workers", "0", "--workers <N,..>", "a whole number from 1 to 256 is wanted"),
        ("--workers", "257", "--workers <N,..>", "a whole number from 1 to 256 is wanted"),
        ("--rate", "1", "--rate <N>", "a whole number from 1000 to 1000000000 is wanted"),
        ("--rtt", "5", "--rtt <T>", "a duration carries a unit: us, ms, s, m, h or d"),
    ] {
        let line = format!("invalid value '{value}' for '{shown}': {why}");
        refused(&[&base[..], &[flag, value]].concat(), &line);
    }
    for arguments in [
        &["simulate", "--positions", name(&file)][..],
        &["simulate", "--depth", "2"],
        &["simulate", "--positions", name(&file), "--depth", "0"],
        &["simulate", "--positions", name(&file), "--depth", "2", "--nodes", "5"],
        &["simulate", "--positions", name(&file), "--depth", "2", "--workers", ""],
        &["simulate", "--positions", name(&file), "--depth", "2", "--workers", "1,,2"],
        &["simulate", "--positions", name(&file), "--depth", "2", "--workers", "1,x"],
    ] {
        let ran = run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.matches('\n').count()), (2, "", 1), "{ran:?}");
    }
    for (flags, line) in [
        (&["--workers", "2,4,2"][..], "--workers: 2 is there twice"),
        (&["--trace", "both", "--svg", "both"], "--svg: the same file as --trace"),
    ] {
        refused(&[&base[..], flags].concat(), line);
    }
    let ran = run(&[&base[..], &["--hash", "10000G"]].concat());
    assert!(
        ran.code == 2 && ran.stderr.starts_with("corridor: --hash: ") && !Path::new("both").exists(),
        "{ran:?}"
    );
    // What cannot be written is said before the work.
    let nowhere = ["--trace", "/nowhere/trace.jsonl"];
    let ran = run(&[&base[..], &nowhere].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.matches('\n').count()), (2, "", 1), "{ran:?}");
}
