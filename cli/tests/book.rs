//! `corridor book` with real processes: files that go in and come out, searches, growth, and what is killed on the way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use common::{Ran, Server, check_events, command, eventually, finish, json, lines, refused, run, signal_to};
use serde_json::{Value, json};

/// Two openings, a position, and what may stand beside them.
const GAMES: &str = "# openings\n\
                     short\te2 e8 e3 e7\n\
                     \n\
                     1-0\te2 e8 d1h\n\
                     / / e2 e8 / 10 10 / 1\n";

/// Workers of this process, small and few.
const CREW: [&str; 4] = ["--workers", "2", "--hash", "4M"];

/// A folder with files of games and a store.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, content: &str) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `corridor book` on the store.
    fn book(&self, arguments: &[&str]) -> Ran {
        run(&[&["book"], arguments, &["--store", &self.path("book.db")]].concat())
    }

    /// The same, which must go well; returns what it prints.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.book(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}: {ran:?}");
        ran.stdout
    }

    #[track_caller]
    fn import_games(&self) {
        let games = self.file("games.txt", GAMES);
        let report = "book main: 2 games read, 6 positions new, 0 new values, 6 positions in the book now\n";
        assert_eq!(self.ok(&["import", &games, "--notation", "man"]), report);
    }

    /// Analyses all of it, the same way whoever does it; returns the events.
    #[track_caller]
    fn analyze(&self, arguments: &[&str]) -> Vec<Value> {
        let all = [&["analyze", "--json", "--deterministic"], arguments, &CREW].concat();
        let events = lines(&self.ok(&all));
        check_events(&events);
        events
    }
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

/// An export without what depends on the clock.
fn timeless(jsonl: &str) -> Vec<Value> {
    let mut records = lines(jsonl);
    for record in &mut records {
        assert!(record.as_object_mut().unwrap().remove("analysed_at").is_some());
    }
    records
}

#[test]
fn a_book_is_imported_analysed_and_exported_and_an_export_is_imported() {
    let ground = Ground::new();
    ground.import_games();
    let games = ground.path("games.txt");
    let again = ground.ok(&["import", &games, "--notation", "man", "--json"]);
    let report =
        json!({"book": "main", "games": 2, "new_positions": 0, "new_values": 0, "positions": 6, "faults": 0});
    assert_eq!(lines(&again), [report]);

    let events = ground.analyze(&["--depth", "2"]);
    let accepted = of_kind(&events, "accepted")[0];
    assert_eq!([&accepted["book"], &accepted["task"]], [&json!("main"), &json!("analyze")]);
    assert_eq!([&accepted["positions"], &accepted["total"]], [6, 6]);
    assert_eq!(of_kind(&events, "position").len(), 6);
    let done = events.last().unwrap();
    assert_eq!([&done["searched"], &done["failed"], &done["left"]], [6, 0, 0]);
    assert_eq!(done["stopped_by"], "complete");
    // What is known is not searched again.
    assert_eq!(ground.analyze(&["--depth", "2"]).last().unwrap()["searched"], 0);

    let jsonl = ground.ok(&["export"]);
    let records = lines(&jsonl);
    let keys: Vec<&str> = records.iter().map(|record| record["key"].as_str().unwrap()).collect();
    assert!(keys.len() == 6 && keys.is_sorted());
    assert!(records.iter().all(|record| record["depth"] == 2 && record["bound"] == "exact"));
    let csv = ground.ok(&["export", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 7);
    let counted = "book main: 6 positions written to ";
    for name in ["a.jsonl", "a.csv", "a.db"] {
        let out = ground.path(name);
        let ran = ground.book(&["export", "--out", &out]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert_eq!(ran.stderr, format!("{counted}{out}\n"));
    }
    assert_eq!((ground.text("a.jsonl"), ground.text("a.csv")), (jsonl.clone(), csv.clone()));
    for (book, file) in [("from-jsonl", "a.jsonl"), ("from-csv", "a.csv")] {
        let at = ["--book", book];
        let said = ground.ok(&[&["import", ground.path(file).as_str()], &at[..]].concat());
        assert!(said.contains(": 0 games read, 6 positions new, 6 new values, 6 positions"), "{said}");
        assert_eq!(ground.ok(&[&["export"], &at[..]].concat()), jsonl, "{book}");
        assert_eq!(ground.ok(&[&["export", "--format", "csv"], &at[..]].concat()), csv, "{book}");
    }
    assert_eq!(run(&["book", "export", "--store", &ground.path("a.db")]).stdout, jsonl);
    let refusal = format!("--out: {} is there already; a store is not written over", ground.path("a.db"));
    let out = ground.book(&["export", "--out", &ground.path("a.db")]);
    assert_eq!((out.code, out.stderr), (2, format!("corridor: {refusal}\n")));
    for (name, earlier) in [("b.jsonl", without_bounds(&jsonl)), ("b.csv", without_bound_columns(&csv))] {
        let earlier = ground.file(name, &earlier);
        let at = ["--book", name];
        ground.ok(&[&["import", earlier.as_str()], &at[..]].concat());
        assert_eq!(ground.ok(&[&["export"], &at[..]].concat()), jsonl, "an earlier version wrote no bounds");
    }
    let listed = lines(&ground.ok(&["list", "--json"]));
    let book = |name: &str| json!({"book": name, "positions": 6, "analysed": 6, "stale": 0});
    assert_eq!(listed, ["b.csv", "b.jsonl", "from-csv", "from-jsonl", "main"].map(book));
    assert_eq!(ground.ok(&["check"]), "book main: 6 positions, no faults\n");
    let left: Vec<_> = std::fs::read_dir(ground.folder.path()).unwrap().flatten().collect();
    assert!(left.iter().all(|it| !it.file_name().to_string_lossy().contains(".part")), "{left:?}");
}

/// An export as it was before scores of children had bounds.
fn without_bounds(jsonl: &str) -> String {
    let mut records = lines(jsonl);
    for record in &mut records {
        for field in ["backed_up_bound", "children_bounds"] {
            assert!(record.as_object_mut().unwrap().remove(field).is_some(), "{field}: {record}");
        }
    }
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// The same for CSV; none of its fields has a comma in it.
fn without_bound_columns(csv: &str) -> String {
    let row = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells.len(), 15, "{row}");
        [&cells[..10], &cells[11..12], &cells[13..]].concat().join(",") + "\n"
    };
    csv.lines().map(row).collect()
}

#[test]
fn a_bound_travels_with_every_score_of_a_book() {
    let ground = Ground::new();
    ground.import_games();
    // Of the game's last position alone something is known: whoever is to move before has at least that.
    let games = ground.path("games.txt");
    ground.analyze(&["--depth", "2"]);
    let known = lines(&ground.ok(&["export"]));
    let last = known.iter().find(|record| record["moves"] == json!(["e2", "e8", "e3", "e7"])).unwrap();
    ground.ok(&["import", &games, "--notation", "man", "--book", "ends"]);
    let ends = ground.file("ends.jsonl", &format!("{last}\n"));
    ground.ok(&["import", &ends, "--book", "ends"]);
    let exported = ground.ok(&["export", "--book", "ends"]);
    let records = lines(&exported);
    let found = |moves: Value| records.iter().find(|record| record["moves"] == moves).unwrap();
    let black = found(json!(["e2", "e8", "e3"]));
    assert_eq!((&black["backed_up_bound"], &black["children_bounds"]), (&json!("upper"), &json!({})));
    let white = found(json!(["e2", "e8"]));
    assert_eq!(white["backed_up_bound"], Value::Null, "nothing follows from an upper bound");
    assert_eq!(white["children"]["e3"], black["backed_up_white"]);
    assert_eq!(white["children_bounds"], json!({"e3": "upper"}), "{white}");
    let shown = lines(&ground.ok(&["show", "e2", "e8", "--plies", "0", "--json", "--book", "ends"]));
    assert_eq!((shown.len(), &shown[0]), (1, white));
    for format in ["jsonl", "csv"] {
        let (out, book) = (ground.path(&format!("again.{format}")), format!("again-{format}"));
        assert_eq!(ground.book(&["export", "--book", "ends", "--out", &out]).code, 0);
        ground.ok(&["import", &out, "--book", &book]);
        assert_eq!(ground.ok(&["export", "--book", &book]), exported, "{format}");
    }
}

#[test]
fn faults_name_line_and_ply_and_nothing_is_imported() {
    let ground = Ground::new();
    let bad = ground.file("bad.txt", "e2 e8\ne2 x9\n\nname\te2 e8 e3 e1\n/ / e1 e9 / 11 10 / 1\n\u{ff}\n");
    let faults = format!(
        "{bad}:2: ply 2: 'x9' is not a move: a square is a file a..i and a rank 1..9\n\
         {bad}:4: ply 4: Black's pawn cannot move from e8 to e1\n\
         {bad}:5: position: White has 11 walls left, more than 10\n\
         {bad}:6: ply 1: '\u{ff}' is not a move: a square is a file a..i and a rank 1..9\n"
    );
    let ran = ground.book(&["import", &bad, "--notation", "man"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(ran.stderr, format!("{faults}corridor: {bad}: 4 faults, nothing is imported\n"));
    assert_eq!(ground.ok(&["list"]), "no books\n");
    let ran = ground.book(&["import", &bad, "--notation", "man", "--keep-going", "--json"]);
    assert_eq!(ran.code, 1);
    let report =
        json!({"book": "main", "games": 1, "new_positions": 3, "new_values": 0, "positions": 3, "faults": 4});
    assert_eq!(lines(&ran.stdout), [report]);
    assert_eq!(ran.stderr, format!("{faults}corridor: {bad}: 4 faults, the rest is imported\n"));

    let many = ground.file("many.txt", &"x\n".repeat(150));
    let ran = ground.book(&["import", &many, "--notation", "man"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 102));
    let end = format!("{many}: and 50 more\ncorridor: {many}: 150 faults, nothing is imported\n");
    assert!(ran.stderr.ends_with(&end), "{}", ran.stderr);

    let mut stdin = command();
    stdin.args(["book", "import", "-", "--notation", "nw", "--store", &ground.path("book.db")]);
    let ran = finish(stdin, b"e2 e8 e1h\n".to_vec());
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.starts_with("standard input:1: ply 3: 'e1h' is not a move: a wall on rank 1 disproves")
    );
}

#[test]
fn a_bad_export_names_line_and_field() {
    let ground = Ground::new();
    ground.import_games();
    ground.analyze(&["--depth", "1"]);
    let good = ground.ok(&["export"]);
    let mut records = lines(&good);
    records[1]["depth"] = json!("deep");
    records[3]["key"] = json!("0000000000000000");
    records[4]["pv"] = json!(["a1"]);
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    let bad = ground.file("bad.jsonl", &text);
    let ran = ground.book(&["import", &bad, "--book", "other"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.starts_with(&format!("{bad}:2: depth: a whole number is wanted")), "{}", ran.stderr);
    let ran = ground.book(&["import", &bad, "--book", "other", "--keep-going", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(lines(&ran.stdout)[0]["faults"], 3);
    for (line, field) in [(2, "depth"), (4, "key"), (5, "pv")] {
        assert!(ran.stderr.contains(&format!("{bad}:{line}: {field}: ")), "{}", ran.stderr);
    }
    let headless = ground.file("bad.csv", "position,moves\n");
    let line = format!("{headless}:1: key: the first line has no such column");
    refused(&["book", "import", &headless, "--store", &ground.path("book.db")], &line);
}

#[test]
fn shares_of_a_file_are_together_the_whole() {
    let ground = Ground::new();
    let games: String =
        (b'a'..=b'h').flat_map(|file| [1, 2].map(|rank| format!("{}{rank}h\n", file as char))).collect();
    let games = ground.file("games.txt", &games);
    ground.ok(&["import", &games, "--notation", "man"]);
    for share in ["0/3", "1/3", "2/3"] {
        ground.ok(&["import", &games, "--notation", "man", "--shard", share, "--book", "shared"]);
    }
    let whole = ground.ok(&["export"]);
    assert_eq!(ground.ok(&["export", "--book", "shared"]), whole);
    for share in ["0/2", "1/2"] {
        let part = ground.file("whole.jsonl", &whole);
        ground.ok(&["import", &part, "--shard", share, "--book", "again"]);
    }
    assert_eq!(ground.ok(&["export", "--book", "again"]), whole);
    let bad = ground.file("bad.txt", "e2\nx\ne2\nx\n");
    let ran = ground.book(&["import", &bad, "--notation", "man", "--shard", "1/2"]);
    assert!(ran.stderr.starts_with(&format!("{bad}:2: ply 1: ")) && ran.stderr.contains(":4: "), "{ran:?}");
}

#[test]
fn requests_that_cannot_be_are_refused_in_a_line() {
    let ground = Ground::new();
    ground.import_games();
    let (store, games) = (ground.path("book.db"), ground.path("games.txt"));
    let declared = "--notation is wanted: a notation cannot be guessed from its moves (man, nw, flip, prefix, qtp, tq1 or qf)";
    let missing = ground.path("none.db");
    let no_file = format!(
        "--store: there is no file {missing}: import a book into it, or name another one or a --coordinator"
    );
    let at = ["--store", &store];
    for (arguments, line) in [
        (&["import", &games][..], declared),
        (
            &["import", &games, "--notation", "man", "--shard", "3/3"],
            "invalid value '3/3' for '--shard <I/N>': I/N is wanted, I from 0 to N-1, such as 3/8",
        ),
        (
            &["show", "--book", "a/b"],
            "invalid value 'a/b' for '--book <NAME>': a book's name has 1 to 64 letters, digits, '-', '_' and '.'",
        ),
        (&["show", "--book", "other"], "position: it is not in book 'other'"),
        (&["show", "e2", "e9"], "MOVES: ply 2 (e9): Black's pawn cannot move from e9 to e9"),
        (&["show", "a1h"], "position: it is not in book 'main'"),
        (&["show", "--position", "x"], "--position: a position has 5 parts separated by '/', not 1"),
        (&["export", "--book", "other"], "--book: there is no book 'other'"),
        (&["check", "--book", "other"], "--book: there is no book 'other'"),
        (
            &["analyze", "--book", "other", "--depth", "1", "--workers", "1", "--hash", "1M"],
            "--book: there is no book 'other'",
        ),
        (&["export", "--format", "sqlite"], "--format sqlite wants --out: a store is a file"),
        (&["analyze"], "a limit for each position is wanted: --depth, --nodes or --time"),
        (
            &["expand", "--depth", "3"],
            "an end of the growth is wanted: --positions, --max-cost or --stop-after",
        ),
    ] {
        refused(&[&["book"], arguments, &at[..]].concat(), line);
    }
    refused(&["book", "show", "--store", &missing], &no_file);
    assert!(!Path::new(&missing).exists(), "nothing was made");
    refused(&["book"], "a subcommand is wanted: see 'corridor book --help'");
    let url = ["--coordinator", "http://127.0.0.1:1"];
    // Workers of this process are none of a cluster's, as with `analyze`.
    for crew in [["--workers", "1"], ["--threads", "1"], ["--threads", "2"], ["--hash", "1M"]] {
        for work in [
            &["book", "analyze", "--depth", "1"][..],
            &["book", "expand", "--positions", "1", "--depth", "1"],
        ] {
            let ran = run(&[work, &crew[..], &url[..]].concat());
            let names_both = ran.stderr.contains(crew[0]) && ran.stderr.contains("cannot be used with");
            assert!(ran.code == 2 && names_both && ran.stderr.lines().count() == 1, "{crew:?}: {ran:?}");
        }
    }
    let ran = run(&[&["book", "list"], &url[..]].concat());
    let line = "corridor: connect to http://127.0.0.1:1: connection refused: nobody listens there\n";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (1, "", line));
}

#[test]
fn a_tree_is_shown_best_line_first() {
    let ground = Ground::new();
    ground.import_games();
    let shown = ground.ok(&["show"]);
    assert!(shown.starts_with("book main: the start, White to move\n"), "{shown}");
    assert!(shown.contains("not analysed"), "{shown}");
    ground.analyze(&["--depth", "2"]);
    let scores: BTreeMap<String, Value> = lines(&ground.ok(&["export"]))
        .into_iter()
        .map(|record| (record["key"].as_str().unwrap().to_owned(), record))
        .collect();
    let shown = lines(&ground.ok(&["show", "--json"]));
    assert_eq!(shown.len(), 6);
    for record in &shown {
        assert_eq!(record, &scores[record["key"].as_str().unwrap()], "as it is exported");
    }
    let moves = |record: &Value| record["moves"].as_array().unwrap().len();
    // The start, e2, e8, and then the better of White's moves with all that follows.
    assert_eq!(shown[..3].iter().map(moves).collect::<Vec<_>>(), [0, 1, 2]);
    let best =
        |record: &Value| record["backed_up_white"]["cm"].as_i64().or(record["score_white"]["cm"].as_i64());
    let thirds: Vec<&Value> = shown.iter().filter(|record| moves(record) == 3).collect();
    assert!(best(thirds[0]) >= best(thirds[1]), "{thirds:?}");
    // The mirror image of a line, in its own orientation.
    let tree = ground.ok(&["show", "e2", "e8", "e1h", "--plies", "0"]);
    assert!(
        tree.starts_with("book main: e2 e8 e1h, Black to move\n") && tree.contains("search, best "),
        "{tree}"
    );
    let cut = ground.ok(&["show", "e2", "e8", "--plies", "1", "--width", "1"]);
    assert_eq!(cut.matches("1 move").count(), 2, "each has one more: {cut}");
    let text = ground.ok(&["show", "--position", "/ / e2 e8 / 10 10 / 1", "--plies", "0"]);
    assert!(text.starts_with("book main: / / e2 e8 / 10 10 / 1, White to move\n"), "{text}");
}

#[test]
fn a_book_grows_and_an_answer_that_it_has_is_given() {
    let ground = Ground::new();
    ground.import_games();
    let grow = ["expand", "--depth", "2", "--positions", "7", "--deterministic", "--json"];
    let events = lines(&ground.ok(&[&grow[..], &CREW].concat()));
    check_events(&events);
    assert_eq!(events[0]["task"], "expand");
    let done = events.last().unwrap();
    assert_eq!([&done["added"], &done["searched"], &done["positions"], &done["left"]], [7, 13, 13, 0]);
    assert_eq!(done["stopped_by"], "complete");
    let ran = ground.book(&[&["expand", "--depth", "2", "--max-cost", "0"], &CREW[..]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.starts_with("book main: 0 added, 0 positions searched, ")
            && ran.stdout.ends_with("nothing cheaper is missing\n"),
        "{}",
        ran.stdout
    );
    let most = ["analyze", "--depth", "3", "--most", "2"];
    let ran = ground.book(&[&most[..], &CREW].concat());
    assert_eq!(ran.code, 0, "as many as were asked for");
    assert!(
        ran.stdout.contains("13 positions in the book, 11 of them not known as well as was asked; the part that was asked for is done"),
        "{}",
        ran.stdout
    );

    let store = ground.path("book.db");
    let analyze = ["analyze", "--moves", "e2 e8", "--depth", "2", "--deterministic", "--store", &store];
    let known = run(&[&analyze[..], &CREW].concat());
    assert!(known.stdout.ends_with(", depth 2, from the book (--fresh searches it again)\n"), "{known:?}");
    let fresh = run(&[&analyze[..], &CREW, &["--fresh"]].concat());
    assert!(fresh.stdout.ends_with(", stopped by depth\n"), "{fresh:?}");

    // A copy answers as the original does, of every line that this has.
    let (all, copy) = (["--multipv", "3", "--json"], ground.path("copy.db"));
    ground.ok(&[&["analyze", "--depth", "2", "--deterministic"], &all[..], &CREW].concat());
    assert_eq!(ground.book(&["export", "--out", &copy]).code, 0);
    let answer = |store: &str, moves: &str| {
        let analyze = ["analyze", "--moves", moves, "--depth", "2", "--deterministic", "--store", store];
        let events = lines(&run(&[&analyze[..], &all, &CREW].concat()).stdout);
        assert_eq!(events.last().unwrap()["stopped_by"], "book", "{moves} of {store}");
        common::answer(&events)
    };
    for moves in ["", "e2", "e2 e8"] {
        let known = answer(&store, moves);
        assert!(known["lines"].as_array().unwrap().len() > 3, "every root move: {known}");
        assert_eq!(answer(&copy, moves), known, "{moves}");
    }

    // So it is where an export was imported.
    for format in ["jsonl", "csv"] {
        let (export, copy) = (ground.path(&format!("export.{format}")), ground.path(&format!("{format}.db")));
        assert_eq!(ground.book(&["export", "--out", &export]).code, 0);
        json(&["book", "import", &export, "--store", &copy]);
        let known =
            run(&[&["analyze", "--moves", "e2 e8", "--depth", "2", "--store", &copy], &CREW[..]].concat());
        assert!(
            known.stdout.ends_with(", depth 2, from the book (--fresh searches it again)\n"),
            "{known:?}"
        );
    }
}

#[test]
fn a_job_on_a_cluster_is_handed_in_watched_held_and_ended() {
    let ground = Ground::new();
    let mut coordinator = Server::coordinator(&["--store", &ground.path("book.db")]);
    let url = coordinator.url("listening");
    let at = ["--coordinator", &url];
    let games = ground.file("games.txt", GAMES);
    let ok = |arguments: &[&str]| {
        let ran = run(&[arguments, &at[..]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}: {ran:?}");
        ran.stdout
    };
    ok(&["book", "import", &games, "--notation", "man"]);
    let said = ok(&["book", "analyze", "--depth", "2", "--detach"]);
    assert_eq!(said, format!("job 1: accepted\ncorridor watch 1 --coordinator {url}\n"));
    // Whoever hands in the same joins it.
    assert_eq!(lines(&ok(&["book", "analyze", "--depth", "2", "--detach", "--json"]))[0]["job"], 1);
    eventually("it waits", || ok(&["jobs"]).contains("job 1 is waiting: "));
    assert!(ok(&["jobs"]).contains("book main: analyze 0/6"));
    assert_eq!(ok(&["pause", "1"]), "job 1: paused, book main: analyze 0/6\n");
    let job = &lines(&ok(&["jobs", "--json"]))[0];
    assert_eq!(job["book"], json!({"book": "main", "task": "analyze", "done": 0, "total": 6}));
    assert_eq!((&job["state"], &job["position"]), (&json!("paused"), &Value::Null));
    ok(&["resume", "1"]);
    let watching = common::watch(&url, "1").spawn().unwrap();
    let mut worker = Server::worker(&url, &["--threads", "1", "--name", "anna"]);
    worker.line("registered");
    let output = watching.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let events = lines(&String::from_utf8(output.stdout).unwrap());
    check_events(&events);
    let found = of_kind(&events, "position");
    assert!(found.len() == 6 && found.iter().all(|event| event["worker"] == "anna"), "{found:?}");
    let log = ok(&["watch", "1"]);
    assert!(log.starts_with("job 1: book main: analyze, 6 of 6 positions to be searched\n"), "{log}");
    for done in 1..=6 {
        assert_eq!(log.matches(&format!("\n{done}/6 ")).count(), 1, "a position a line: {log}");
    }
    assert!(log.contains("\nbook main: 6 positions searched, "), "{log}");

    let endless = lines(&ok(&["book", "analyze", "--depth", "60", "--detach", "--json"]));
    let job = endless[0]["job"].as_u64().unwrap().to_string();
    let cancelled = ok(&["cancel", &job]);
    assert!(cancelled.starts_with(&format!("job {job}: done, book main: analyze ")), "{cancelled}");
    let ran = run(&[&["watch", job.as_str()], &at[..]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "corridor: cancelled: 6 positions are left\n"));
    assert!(ran.stdout.ends_with("6 of them not known as well as was asked; cancelled\n"), "{}", ran.stdout);
}

#[test]
fn an_interrupt_ends_it_and_says_what_is_known() {
    let ground = Ground::new();
    ground.import_games();
    // The last of these searches would take for ever.
    let mut client = command();
    client.args(["book", "analyze", "--depth", "60", "--store", &ground.path("book.db"), "--json"]);
    let client = client.args(CREW).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("it is accepted", || {
        // The store is held; its events show in the log of what is kept.
        std::fs::metadata(ground.path("book.db-wal")).is_ok_and(|log| log.len() > 0)
    });
    signal_to(client.id(), "-INT");
    let output = client.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    if !err.contains("nothing had begun yet") {
        assert_eq!(err, "corridor: cancelled: 6 positions are left\n");
        let events = lines(&String::from_utf8(output.stdout).unwrap());
        check_events(&events);
        assert_eq!(events.last().unwrap()["stopped_by"], "cancel");
    }
}

#[test]
fn growth_that_was_killed_goes_on_where_it_was() {
    let [killed, whole] = [Ground::new(), Ground::new()];
    killed.import_games();
    whole.import_games();
    let grow =
        [&["expand", "--depth", "4", "--positions", "40", "--deterministic", "--json"], &CREW[..]].concat();
    let undisturbed = lines(&whole.ok(&grow));
    let mut client = command();
    client.arg("book").args(&grow).args(["--store", &killed.path("book.db")]);
    let mut client = client.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = std::io::BufReader::new(client.stdout.take().unwrap());
    let mut searched = 0;
    let mut line = String::new();
    while searched < 12 && std::io::BufRead::read_line(&mut first, &mut line).unwrap() > 0 {
        searched += usize::from(line.starts_with("{\"event\":\"position\""));
        line.clear();
    }
    client.kill().unwrap();
    client.wait().unwrap();
    let events = lines(&killed.ok(&grow));
    check_events(&events);
    assert_eq!(events[0]["job"], 1, "the same job");
    let (ends, end) = (undisturbed.last().unwrap(), events.last().unwrap());
    for field in ["added", "searched", "positions", "left", "stopped_by"] {
        assert_eq!(end[field], ends[field], "{field}");
    }
    assert_eq!(timeless(&killed.ok(&["export"])), timeless(&whole.ok(&["export"])));
}

#[test]
fn an_import_whose_coordinator_is_killed_is_sent_again() {
    let ground = Ground::new();
    let (games, count) = common::many_games(200);
    let games = ground.file("games.txt", &games);
    let store = ground.path("book.db");
    let mut first = Server::coordinator(&["--store", &store]);
    let url = first.url("listening");
    let at = ["--coordinator", &url];
    let known = || {
        let listed = run(&[&["book", "list", "--json"], &at[..]].concat());
        lines(&listed.stdout).first().and_then(|book| book["positions"].as_u64()).unwrap_or(0)
    };
    let mut client = command();
    client.args(["book", "import", &games, "--notation", "man", "--json"]).args(at);
    let client = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("some of it is there", || known() > 0);
    first.signal("-KILL");
    first.end();
    let listen = url.strip_prefix("http://").unwrap();
    let mut next = Server::start(&["coordinator", "--listen", listen, "--store", &store]);
    next.line("listening");
    let output = client.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    let report = &lines(&String::from_utf8(output.stdout).unwrap())[0];
    assert_eq!((&report["games"], &report["positions"]), (&json!(200), &json!(count)));
    // What was there when it was killed is not new.
    let new = report["new_positions"].as_u64().unwrap();
    assert_eq!(err.contains("trying again"), new < u64::try_from(count).unwrap(), "{err}");
    assert_eq!(known(), u64::try_from(count).unwrap());
}
