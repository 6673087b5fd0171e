//! The files of `corridor book`: what is written over and what is not, and what is left behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[allow(unreachable_pub, reason = "other crates take the file in as well")]
#[path = "../../tests/src/outside.rs"]
mod outside;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Ran, command, eventually, finish, json, lines, many_games, refused, run, signal_to};

/// A folder with a store of some positions.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    #[track_caller]
    fn new() -> Self {
        let ground = Self { folder: tempfile::tempdir().unwrap() };
        let games = ground.path("games.txt");
        std::fs::write(&games, "e2 e8 e3 e7\ne2 e8 d1h\n").unwrap();
        ground.ok(&["import", &games, "--notation", "man"]);
        ground
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn store(&self) -> String {
        self.path("s.db")
    }

    /// Runs `corridor book` on the store, which must go well; returns what it prints.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let ran = run(&[&["book"], arguments, &["--store", &self.store()]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}: {ran:?}");
        ran.stdout
    }
}

#[test]
fn a_store_is_not_written_over_by_whatever_name_it_is_called() {
    let ground = Ground::new();
    let (store, exported) = (ground.store(), ground.ok(&["export"]));
    std::fs::hard_link(&store, ground.path("hard.jsonl")).unwrap();
    symlink("s.db", ground.path("soft.jsonl")).unwrap();
    for name in ["s.db", "./s.db", "s.db-wal", "s.db-shm", "s.db.lock", "hard.jsonl", "soft.jsonl"] {
        let out = ground.path(name);
        for format in ["jsonl", "csv", "sqlite"] {
            let line = format!("--out: {out} belongs to the store {store}, which is not written over");
            refused(&["book", "export", "--store", &store, "--out", &out, "--format", format], &line);
        }
    }
    // Not by the name either under which a file grows.
    std::fs::copy(&store, ground.path("x.jsonl.part")).unwrap();
    let (part, out) = (ground.path("x.jsonl.part"), ground.path("x.jsonl"));
    let line = format!("--out: {part} belongs to the store {part}, which is not written over");
    refused(&["book", "export", "--store", &part, "--out", &out], &line);
    // Whose store it is does not matter, nor what is written.
    let other = ground.path("other.db");
    std::fs::copy(&store, &other).unwrap();
    let line = format!("--out: {other} belongs to a database, which is not written over");
    refused(&["book", "export", "--store", &store, "--out", &other, "--format", "csv"], &line);
    let line = format!("--svg: {other} belongs to a database, which is not written over");
    refused(&["heat", "--moves", "", "--svg", &other], &line);
    let new = ground.path("new.db");
    for flag in ["--svg", "--html"] {
        let analyze = ["analyze", "--moves", "", "--depth", "1", "--store", &new, flag, &new];
        let line = format!("{flag}: {new} belongs to the store {new}, which is not written over");
        refused(&analyze, &line);
    }
    assert_eq!(ground.ok(&["export"]), exported, "nothing was lost");
}

/// A local analysis of the store that does not end by itself.
fn endless(store: &str) -> common::Server {
    let mut analyze = command();
    analyze.args(["book", "analyze", "--depth", "60", "--workers", "1", "--hash", "1M", "--store", store]);
    common::Server::start_command(analyze)
}

#[test]
fn a_store_that_another_process_works_on_is_shown_and_exported() {
    let ground = Ground::new();
    let store = ground.store();
    let mut holder = endless(&store);
    let import = ["book", "import", &ground.path("games.txt"), "--notation", "man", "--store", &store];
    let pid = holder.pid();
    // Whoever tries to have it meanwhile could be the first.
    let lock = format!("{store}.lock");
    let holds = |it: String| it.starts_with(&format!("process {pid} "));
    eventually("it is held", || std::fs::read_to_string(&lock).is_ok_and(holds));
    let refusal = run(&import).stderr;
    assert!(
        refusal.starts_with(&format!("corridor: --store: store {store} is held by process {pid} on ")),
        "{refusal}"
    );
    assert!(refusal.contains("corridor serve") && refusal.contains("--coordinator"), "{refusal}");
    assert!(ground.ok(&["show", "e2"]).starts_with("book main: e2, Black to move\n"));
    assert_eq!(ground.ok(&["export"]).lines().count(), 6);
    assert_eq!(lines(&ground.ok(&["list", "--json"]))[0]["positions"], 6);
    assert_eq!(ground.ok(&["check"]), "book main: 6 positions, no faults\n");
    let copy = ground.path("copy.db");
    let copied = run(&["book", "export", "--store", &store, "--out", &copy]);
    assert_eq!(copied.code, 0, "{copied:?}");
    // What is mended is written, and that is the holder's.
    assert_eq!(run(&["book", "check", "--fix", "--store", &store]).code, 1);
    holder.signal("-INT");
    assert_eq!(holder.end().0, Some(1));
}

/// Runs a script where it may mount what nobody else sees; `None` if this machine lets nobody.
fn mounting(script: &str) -> Option<Ran> {
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-euc", script]);
    let probe = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    let found = match probe {
        Ok(probe) if probe.status.success() => Ok(()),
        Ok(probe) => Err(String::from_utf8_lossy(&probe.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    };
    outside::can_have("unshare", &found).then(|| finish(shell, Vec::new()))
}

#[test]
fn a_store_that_cannot_be_written_is_shown_all_the_same() {
    let ground = Ground::new();
    let (exported, binary) = (ground.ok(&["export"]), env!("CARGO_BIN_EXE_corridor"));
    let all = format!("for it in export list check; do {binary} book $it --store /mnt/s.db; done");
    let expected = format!("{exported}{}{}", ground.ok(&["list"]), ground.ok(&["check"]));
    let store = ground.store();
    // A folder that nobody can write, root included, and a disk without a free byte.
    for (what, spoil) in [
        ("a read-only folder", "mount -o remount,ro /mnt"),
        ("a full disk", "head -c 10000000 /dev/zero > /mnt/filler 2>/dev/null || true"),
    ] {
        let script = format!("mount -t tmpfs -o size=1m tmpfs /mnt; cp {store} /mnt/s.db; {spoil}; {all}");
        let Some(ran) = mounting(&script) else { return };
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, &*expected, ""),
            "{what}: {ran:?}"
        );
    }
}

#[test]
fn an_import_that_is_interrupted_says_what_is_in_the_book_and_goes_on() {
    let ground = Ground::new();
    let (games, count) = many_games(400);
    std::fs::write(ground.path("many.txt"), games).unwrap();
    let (store, many) = (ground.path("many.db"), ground.path("many.txt"));
    let import = ["book", "import", &many, "--notation", "man", "--store", &store];
    let mut client = command();
    let client = client.args(import).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let known = || {
        let listed = run(&["book", "list", "--json", "--store", &store]);
        listed.stdout.lines().next().map_or(0, |_| lines(&listed.stdout)[0]["positions"].as_u64().unwrap())
    };
    eventually("some of it is there", || known() > 0);
    signal_to(client.id(), "-INT");
    let output = client.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{said}");
    let there = known();
    assert!(there < u64::try_from(count).unwrap(), "it was stopped on its way: {there}");
    let digits: String = said.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits, there.to_string(), "{said}");
    assert!(said.starts_with("corridor: interrupted: book main: import stopped, "), "{said}");
    assert!(said.ends_with(" positions are in the book; importing the same again goes on\n"), "{said}");
    assert_eq!(json(&import)["positions"], count);
}

#[test]
fn whoever_waits_for_a_pipe_can_be_stopped() {
    let ground = Ground::new();
    let mut client = command();
    client.args(["book", "import", "-", "--notation", "man", "--store", &ground.path("none.db")]);
    let mut client =
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Its other end stays open. Before it listens a signal would end it at once, without a word.
    eventually("it listens", || listens(client.id()));
    signal_to(client.id(), "-INT");
    let _open = client.stdin.take().unwrap();
    let output = client.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let line = "corridor: interrupted: standard input: 0 lines read, nothing is imported\n";
    assert_eq!((output.status.code(), said.as_str()), (Some(1), line));
    assert!(!Path::new(&ground.path("none.db")).exists());
}

/// Whether a process handles SIGINT, signal 2, itself.
fn listens(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
}

#[test]
fn an_export_that_does_not_end_well_leaves_nothing_behind() {
    let ground = Ground::new();
    let (games, _) = many_games(300);
    std::fs::write(ground.path("many.txt"), games).unwrap();
    ground.ok(&["import", &ground.path("many.txt"), "--notation", "man"]);
    let folder = ground.path("out");
    std::fs::create_dir(&folder).unwrap();
    let names = || {
        let found = std::fs::read_dir(&folder).unwrap();
        found.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    for name in ["x.jsonl", "x.db"] {
        let out = format!("{folder}/{name}");
        let mut client = command();
        client.args(["book", "export", "--store", &ground.store(), "--out", &out]);
        let client = client.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        eventually("it writes", || names().iter().any(|name| name.ends_with(".part")));
        signal_to(client.id(), "-INT");
        let output = client.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("corridor: interrupted: book main: export stopped after "), "{said}");
        assert!(said.ends_with(&format!("; {out} is as it was\n")), "{said}");
        assert_eq!(names(), Vec::<String>::new(), "{name}");
    }
    // A disk that is full while it is written.
    let store = ground.store();
    let binary = env!("CARGO_BIN_EXE_corridor");
    for name in ["x.jsonl", "x.csv", "x.db"] {
        let export = format!("{binary} book export --store {store} --out /mnt/{name}");
        let script = format!("mount -t tmpfs -o size=300k tmpfs /mnt; {export} || echo $?; ls -A /mnt");
        let Some(ran) = mounting(&script) else { return };
        assert_eq!(ran.stdout, "1\n", "{name}: {ran:?}");
        assert!(ran.stderr.starts_with(&format!("corridor: write /mnt/{name}: ")), "{ran:?}");
    }
}

#[test]
fn what_is_no_file_is_named() {
    let ground = Ground::new();
    let folder = ground.path("");
    let store = ground.store();
    let line = format!("open {folder}: it is a folder, not a file");
    refused(&["book", "import", &folder, "--notation", "man", "--store", &store], &line);
    for command in [&["list"][..], &["show"], &["export"], &["check"], &["check", "--fix"]] {
        for (place, why) in
            [(&*folder, "is a folder, not a file"), ("/dev/null", "is no file that keeps anything")]
        {
            refused(&[&["book"], command, &["--store", place]].concat(), &format!("--store: {place} {why}"));
        }
    }
    let line = "--json is JSON on standard output, and --format csv is not: export it to a file with --out";
    refused(&["book", "export", "--json", "--format", "csv", "--store", &store], line);
    let out = ground.path("x.csv");
    assert_eq!(json(&["book", "export", "--out", &out, "--store", &store])["positions"], 6);
}

#[test]
fn values_that_cannot_be_are_refused_with_line_and_field() {
    let ground = Ground::new();
    let (store, bad) = (ground.store(), ground.path("bad.jsonl"));
    ground.ok(&["analyze", "--depth", "1", "--workers", "1", "--hash", "1M"]);
    let line = ground.ok(&["export"]).lines().next().unwrap().to_owned();
    let record = &lines(&line)[0];
    let white = record["position"].as_str().unwrap().ends_with(" 1");
    let (own, other) = if white { ("white", "black") } else { ("black", "white") };
    let with = |field: &str, value: serde_json::Value| {
        let mut record = record.clone();
        record[field] = value;
        record.to_string()
    };
    let wins =
        |side: &str, plies: u32| with("score_white", serde_json::json!({ format!("{side}_wins_in"): plies }));
    for (text, fault) in [
        (wins(own, 4), "score_white: "),
        (wins(other, 3), "score_white: "),
        (wins(other, 0), "score_white: a win in 0 plies, but the game is not over"),
        (with("depth", 101.into()), "depth: 101 plies are more than 100"),
        (line.replacen('{', "{\"depth\":9,", 1), "record: \"depth\" stands there twice"),
    ] {
        std::fs::write(&bad, format!("{line}\n{text}\n")).unwrap();
        let ran = run(&["book", "import", &bad, "--store", &store]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.starts_with(&format!("{bad}:2: {fault}")), "{fault}: {}", ran.stderr);
    }
    for text in [wins(own, 3), wins(other, 4)] {
        std::fs::write(&bad, text).unwrap();
        assert_eq!(run(&["book", "import", &bad, "--book", "other", "--store", &store]).code, 0);
    }
}
