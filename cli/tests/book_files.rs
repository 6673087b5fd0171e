//! The files of `corridor book`: what is written over and what is not, and what is left behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;

use std::os::unix::fs::symlink;

use common::{refused, run};

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
