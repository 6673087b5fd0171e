//! `corridor book export`: a whole book as JSON Lines, CSV or a store of its own.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use corridor_coordinator::store::Place;
use corridor_proto::json::record_line;
use corridor_shared::book::Record;
use serde::Serialize;

use super::search::positions;
use super::site::{BookArgs, Store};
use super::{csv_rows, sqlite};
use crate::client::{Client, Exported};
use crate::failure::Failure;
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
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let export = async |client: &Client| {
        let exported = Exported::new(client, &book.name);
        match (format, file) {
            (_, None) => print(exported, format).await.map(|_| None),
            (Format::Sqlite, Some(file)) => sqlite::write(exported, &book.name, file).await.map(Some),
            (_, Some(file)) => write(exported, format, file).await.map(Some),
        }
    };
    let exported = runtime::run(book.site.ask(Store::Existing, export))?;
    let (Some(count), Some(file)) = (exported, file) else { return Ok(()) };
    let (out, book) = (file.display().to_string(), &*book.name);
    if json {
        return out::json(&Report { book, positions: count, out });
    }
    out::notice(&format!("book {book}: {} written to {out}", positions(count)));
    Ok(())
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

async fn print(mut exported: Exported, format: Format) -> Result<u64, Failure> {
    let (mut count, mut text) = (0, format.header());
    while let Some(records) = exported.next().await? {
        for record in &records {
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
async fn write(mut exported: Exported, format: Format, file: &Path) -> Result<u64, Failure> {
    let failure =
        |error: std::io::Error| Failure::Failed(anyhow::anyhow!("write {}: {error}", file.display()));
    let part = beside(file);
    let mut count = 0;
    let mut writer = BufWriter::new(File::create(&part).map_err(failure)?);
    writer.write_all(format.header().as_bytes()).map_err(failure)?;
    let _unfinished = Unfinished(&part);
    while let Some(records) = exported.next().await? {
        for record in &records {
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
pub(super) struct Unfinished<'a>(pub(super) &'a Path);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.0.metadata().is_ok_and(|found| found.is_file()) {
            let _ = std::fs::remove_file(self.0);
        }
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
