//! The Python client in `clients/python`, tested by its own tests against the binary of this build: types and style as well.
//!
//! Needs `python3` with what the extras `test` and `lint` of its `pyproject.toml` name, and for one of them `grpcurl`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[path = "../../tests/src/outside.rs"]
pub mod outside;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the tests import, and what looks at types and style.
const WANTED: &str = "import google.protobuf, grpc, grpc_tools.protoc, mypy, pytest, ruff";

fn client() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("clients/python")
}

/// Python on the client, which leaves nothing behind there.
fn python(arguments: &[&str]) -> Command {
    let mut python = Command::new("python3");
    python.args(arguments).current_dir(client()).env("PYTHONDONTWRITEBYTECODE", "1");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CORRIDOR_") {
            python.env_remove(name);
        }
    }
    python
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn has_python() -> bool {
    let found = match python(&["-c", WANTED]).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(told(&output).lines().last().unwrap_or_default().to_owned()),
        Err(error) => Err(format!("python3: {error}")),
    };
    outside::can_have("python", &found)
}

#[track_caller]
fn succeeds(mut python: Command) -> String {
    let output = python.output().unwrap();
    let told = told(&output);
    assert!(output.status.success(), "{python:?}:\n{told}");
    told
}

#[test]
fn its_own_tests_pass() {
    if !has_python() {
        return;
    }
    tests_pass("not grpcurl");
}

#[test]
fn what_the_docs_say_of_grpcurl_is_so() {
    let found = match Command::new("grpcurl").arg("-version").output() {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("grpcurl: {error}")),
    };
    if outside::can_have("grpcurl", &found) && has_python() {
        tests_pass("grpcurl");
    }
}

/// Those with a marker, none of which is skipped.
#[track_caller]
fn tests_pass(marker: &str) {
    let mut tests = python(&["-m", "pytest", "-q", "-m", marker]);
    tests.env("CORRIDOR_BINARY", env!("CARGO_BIN_EXE_corridor"));
    let told = succeeds(tests);
    let counts = told.lines().rfind(|line| line.contains(" passed")).expect("a last line");
    assert!(!counts.contains("skipped"), "{counts}");
}

#[test]
fn its_types_and_its_style_are_right() {
    if !has_python() {
        return;
    }
    succeeds(python(&["-m", "mypy", "--cache-dir", "/dev/null"]));
    succeeds(python(&["-m", "ruff", "check", "--no-cache", "."]));
    succeeds(python(&["-m", "ruff", "format", "--no-cache", "--check", "."]));
}
