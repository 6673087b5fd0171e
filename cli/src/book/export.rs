//! `corridor book export`: a whole book as JSON Lines, CSV or a store of its own.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use corridor_coordinator::store::Place;
use corridor_proto::json::record_line;
use corridor_shared::book::Record;
use serde::Serialize;

use super::progress::{self, Counter};
use super::search::positions;
use super::site::{BookArgs, positions_of, until};
use super::{csv_rows, sqlite};
use crate::client::{Client, Exported, ExportedPosition};
use crate::failure::Failure;
use crate::signals::Interrupts;
use crate::{logging, out, overwrite, runtime};

/// What `book export` is told.
#[derive(Args)]
#[command(
    after_help = "Positions come in the order of their keys; the same book is the same file, byte for byte, but for analysed_at. \
                  `corridor book import` reads JSON Lines and CSV again; an SQLite file is a --store."
)]
pub(crate) struct Arguments {
    /// How it is written [default: by the ending of --out, .jsonl, .csv or .db, or else jsonl]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Write into this file instead of to the standard output; it is there when it is complete
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    book: BookArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A position a line, as JSON
    Jsonl,
    /// A position a line, with a header
    Csv,
    /// A new store with just this book, with all that is known; only with --out
    Sqlite,
}

impl Format {
    fn of(file: Option<&Path>) -> Self {
        match file.and_then(Path::extension).and_then(|ending| ending.to_str()) {
            Some("csv") => Self::Csv,
            Some("db" | "sqlite" | "sqlite3") => Self::Sqlite,
            _ => Self::Jsonl,
        }
    }

    fn header(self) -> String {
        if self == Self::Csv { csv_rows::header() } else { String::new() }
    }

    fn text(self, record: &Record) -> Result<String, Failure> {
        if self == Self::Csv {
            return Ok(csv_rows::write(record));
        }
        let line = record_line(record);
        line.map(|line| line + "\n")
            .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("encode JSON")))
    }
}

#[derive(Serialize)]
struct Report<'a> {
    book: &'a str,
    positions: u64,
    out: String,
}

/// Exports.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let Arguments { format, out: file, book } = arguments;
    let format = format.unwrap_or_else(|| Format::of(file.as_deref()));
    check(format, file.as_deref(), book.site.place().as_ref())?;
    if json && file.is_none() && format == Format::Csv {
        let text =
            "--json is JSON on standard output, and --format csv is not: export it to a file with --out";
        return Err(Failure::bad_input(&text));
    }
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let export = async |client: &Client| {
        let done = Counter::default();
        let source = Source::new(client, book, file.as_deref(), &interrupts, &done);
        let Some(file) = file else { return print(source, format).await.map(|_| None) };
        let total = if progress::is_seen() { positions_of(client, &book.name).await } else { None };
        let work = async {
            match format {
                Format::Sqlite => sqlite::write(source.with_root_moves(), &book.name, file).await,
                Format::Jsonl | Format::Csv => write(source, format, file).await,
            }
        };
        let what = format!("book {}: exporting", book.name);
        progress::shown(&what, "positions", total, &done, work).await.map(Some)
    };
    let exported = runtime::run(book.site.look(&interrupts, export))?;
    let (Some(count), Some(file)) = (exported, file) else { return Ok(()) };
    let (out, book) = (file.display().to_string(), &*book.name);
    if json {
        return out::json(&Report { book, positions: count, out });
    }
    out::notice(&format!("book {book}: {} written to {out}", positions(count)));
    Ok(())
}

/// Where positions come from until somebody wants an end. That comes between two parts, so that whoever writes them can put
/// things in order.
pub(super) struct Source {
    exported: Exported,
    interrupts: Interrupts,
    done: Counter,
    book: Arc<str>,
    /// What an end leaves behind.
    leaves: String,
}

impl Source {
    fn new(
        client: &Client,
        book: &BookArgs,
        file: Option<&Path>,
        interrupts: &Interrupts,
        done: &Counter,
    ) -> Self {
        Self {
            exported: Exported::new(client, &book.name),
            interrupts: interrupts.clone(),
            done: done.clone(),
            book: Arc::clone(&book.name),
            leaves: file.map(|file| format!("; {} is as it was", file.display())).unwrap_or_default(),
        }
    }

    fn with_root_moves(self) -> Self {
        Self { exported: self.exported.with_root_moves(), ..self }
    }

    /// The next positions; `None` behind the last one.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<ExportedPosition>>, Failure> {
        let Self { exported, interrupts, done, book, leaves } = self;
        let stopped = || format!("book {book}: export stopped after {}{leaves}", positions(done.get()));
        if interrupts.seen() {
            return Err(Failure::interrupted(&stopped()));
        }
        let some = until(interrupts, exported.next(), stopped).await?;
        let number = some.as_ref().map_or(0, Vec::len);
        done.set(done.get().saturating_add(u64::try_from(number).unwrap_or(u64::MAX)));
        Ok(some)
    }
}

/// Finds out at once what would go wrong at the end.
fn check(format: Format, file: Option<&Path>, store: Option<&Place>) -> Result<(), Failure> {
    let Some(file) = file else {
        let wanted = "--format sqlite wants --out: a store is a file";
        return if format == Format::Sqlite { Err(Failure::bad_input(&wanted)) } else { Ok(()) };
    };
    overwrite::refuse_store("--out", file, store)?;
    // It grows under another name, and a store beside that.
    for ending in overwrite::STORE_FILES {
        overwrite::refuse_store("--out", &overwrite::with_ending(&beside(file), ending), store)?;
    }
    if format == Format::Sqlite && file.exists() {
        let text = format!("--out: {} is there already; a store is not written over", file.display());
        return Err(Failure::bad_input(&text));
    }
    out::check_writable("--out", file)
}

async fn print(mut source: Source, format: Format) -> Result<u64, Failure> {
    let (mut count, mut text) = (0, format.header());
    while let Some(positions) = source.next().await? {
        for ExportedPosition { record, .. } in &positions {
            text.push_str(&format.text(record)?);
            count += 1;
        }
        out::text(&text)?;
        text.clear();
    }
    out::text(&text)?;
    Ok(count)
}

/// Writes beside the file and puts that in its place when it is complete, so that nobody takes half a book for a whole one.
async fn write(mut source: Source, format: Format, file: &Path) -> Result<u64, Failure> {
    let failure =
        |error: std::io::Error| Failure::Failed(anyhow::anyhow!("write {}: {error}", file.display()));
    let part = beside(file);
    let mut count = 0;
    let mut writer = BufWriter::new(File::create(&part).map_err(failure)?);
    let _unfinished = Unfinished::text(&part);
    writer.write_all(format.header().as_bytes()).map_err(failure)?;
    while let Some(positions) = source.next().await? {
        for ExportedPosition { record, .. } in &positions {
            writer.write_all(format.text(record)?.as_bytes()).map_err(failure)?;
            count += 1;
        }
    }
    let written = writer.into_inner().map_err(|error| failure(error.into_error()))?;
    written.sync_all().map_err(failure)?;
    if part != file {
        std::fs::rename(&part, file).map_err(failure)?;
    }
    Ok(count)
}

/// Where a file grows until it is complete. What is no file of its own, such as a pipe, is written at once.
pub(super) fn beside(file: &Path) -> PathBuf {
    if file.metadata().is_ok_and(|found| !found.is_file()) {
        return file.to_owned();
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    file.with_file_name(name)
}

/// A file that is not complete and is taken away unless it becomes so.
pub(super) struct Unfinished<'a> {
    file: &'a Path,
    /// How the names of all that belongs to it end.
    endings: &'static [&'static str],
}

impl<'a> Unfinished<'a> {
    fn text(file: &'a Path) -> Self {
        Self { file, endings: &[""] }
    }

    /// A store, with what stands beside one.
    pub(super) fn store(file: &'a Path) -> Self {
        Self { file, endings: &overwrite::STORE_FILES }
    }

    /// Takes it away now.
    pub(super) fn remove(&self) {
        for file in self.endings.iter().map(|ending| overwrite::with_ending(self.file, ending)) {
            if file.symlink_metadata().is_ok_and(|found| found.is_file()) {
                let _ = std::fs::remove_file(file);
            }
        }
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_how_it_is_written() {
        let of = |name: &str| Format::of(Some(Path::new(name)));
        assert_eq!(
            [of("a.jsonl"), of("a.csv"), of("a.db"), of("a")],
            [Format::Jsonl, Format::Csv, Format::Sqlite, Format::Jsonl]
        );
        assert_eq!(Format::of(None), Format::Jsonl);
        assert_eq!(beside(Path::new("x/a.csv")), Path::new("x/a.csv.part"));
        assert_eq!(beside(Path::new("/dev/null")), Path::new("/dev/null"));
    }
}
