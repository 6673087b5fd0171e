//! The only place that writes to standard output and standard error.

mod terminal;

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::failure::Failure;
use crate::overwrite;

use terminal::above;
pub(crate) use terminal::{draw, leave_page, show_page};

/// Links that are followed one after the other, as many as the system does.
const MAX_LINKS: usize = 40;

/// Writes text to standard output and flushes it. A page that covers the terminal is taken away first, or it would take the
/// text away with it.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    leave_page();
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

/// Whether a file can and may be written, tried without leaving anything behind: what stands in it stays, and a missing one is
/// missing afterwards. A database may not.
pub(crate) fn check_writable(flag: &str, path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::bad_input(&format!("{flag}: '-' is no file; name one")));
    }
    overwrite::refuse_database(flag, path)?;
    let failure =
        |error: io::Error| Failure::bad_input(&format!("{flag}: write {}: {error}", path.display()));
    match std::fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => std::fs::remove_file(path).map_err(failure),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::OpenOptions::new().append(true).open(path).map(drop).map_err(failure)
        }
        Err(error) => Err(failure(error)),
    }
}

/// Whether two paths lead to the same file, as far as that can be said before it exists: by its place, or by another name for it.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    let is_linked = || identity(one).is_some_and(|found| Some(found) == identity(other));
    one == other || place(one).is_some_and(|found| Some(found) == place(other)) || is_linked()
}

/// Where a path leads. What is not there yet, or only the end of a link to it, is where its folder is.
fn place(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(whole) = path.canonicalize() {
            return Some(whole);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        match path.read_link() {
            Ok(target) => path = folder.join(target),
            Err(_) => return Some(folder.join(path.file_name()?)),
        }
    }
    None
}

/// Writes bytes to standard error, for [`crate::processor`]: nothing but a call into the standard library.
pub(crate) fn last_words(message: &[u8]) {
    let _ = io::stderr().write_all(message);
}

/// Writes a line to standard error. If that fails nobody is left to tell.
pub(crate) fn complain(message: &str) {
    above(format!("corridor: {message}\n").as_bytes());
}

/// Writes a line to standard error that is no complaint.
pub(crate) fn notice(message: &str) {
    above(format!("{message}\n").as_bytes());
}

/// Where the log is written to, a whole entry at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        above(entry);
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
