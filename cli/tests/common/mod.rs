//! Running the real binary.

#![allow(dead_code, reason = "each file of tests uses its share")]

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary, away from the settings of whoever runs the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corridor"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CORRIDOR_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs with arguments and nothing on standard input.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    let mut command = command();
    command.args(arguments);
    finish(command, Vec::new())
}

/// Runs with something on standard input.
pub(crate) fn finish(mut command: Command, input: Vec<u8>) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || match stdin.write_all(&input) {
        Ok(()) => {}
        // It need not read what it does not want.
        Err(error) => assert_eq!(error.kind(), ErrorKind::BrokenPipe),
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code().expect("the binary ends by itself"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The run is refused as bad input: exit code 2, nothing on standard output, exactly this one line on standard error.
#[track_caller]
pub(crate) fn refused(arguments: &[&str], line: &str) {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran:?}");
    assert_eq!(ran.stderr, format!("corridor: {line}\n"), "{arguments:?}");
}

/// The JSON object that a run prints.
#[track_caller]
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    let ran = run(&[arguments, &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    assert_eq!(ran.stdout.matches('\n').count(), 1, "one line: {}", ran.stdout);
    serde_json::from_str(&ran.stdout).unwrap()
}
