//! The only place that writes to standard output and standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;

use crate::failure::Failure;

/// Writes text to standard output and flushes it.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| failure(&error))
}

/// Writes a line to standard output and flushes it.
pub(crate) fn line(line: &str) -> Result<(), Failure> {
    text(&format!("{line}\n"))
}

/// Writes a value as one line of compact JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let encoded = serde_json::to_string(value)
        .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("encode JSON")))?;
    line(&encoded)
}

/// Writes a whole file.
pub(crate) fn file(path: &Path, content: &str) -> Result<(), Failure> {
    std::fs::write(path, content)
        .map_err(|error| Failure::Failed(anyhow::anyhow!("write {}: {error}", path.display())))
}

/// Whether a file can be written. What stands in it stays; a missing one is made.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map(drop)
        .map_err(|error| Failure::Failed(anyhow::anyhow!("write {}: {error}", path.display())))
}

/// Writes a line to standard error. If that fails nobody is left to tell.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "corridor: {message}");
}

/// Whether standard output is a terminal that wants colours: `NO_COLOR` (any value but the empty one) says no.
pub(crate) fn wants_colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn failure(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::Failed(anyhow::anyhow!("write standard output: {error}")),
    }
}
