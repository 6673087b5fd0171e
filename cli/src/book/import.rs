//! `corridor book import`: games, positions and earlier exports go into a book.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use corridor_proto::v1::ImportResponse;
use corridor_shared::notation::Notation;
use serde::Serialize;
use tokio::sync::oneshot;

use super::csv_rows::Header;
use super::json_lines;
use super::parts::{Packed, Parts};
use super::progress::{self, Counter};
use super::search::positions;
use super::site::{BookArgs, Store, positions_of, until};
use crate::client::Client;
use crate::failure::Failure;
use crate::signals::Interrupts;
use crate::units::{counted, grouped};
use crate::{listing, logging, out, runtime};

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Faults that are shown; of the others it is said how many there are.
const SHOWN_FAULTS: usize = 100;

/// What `book import` is told.
#[derive(Args, Clone)]
#[command(
    override_usage = "corridor book import <FILE> --notation <NAME> [OPTIONS]\n       \
                      corridor book import <FILE.jsonl | FILE.csv> [OPTIONS]",
    after_help = "A line of a file of games is a game (\"e2 e8 e3\", \"1. e2 e8 2. e3\", \"GAME e2 e8\"), a name or a result and a \
                  tab and then a game, a position text, or a replay code; empty lines and those that begin with '#' are passed \
                  over. Every position on the way of a game goes into the book.\n\n\
                  To import the same thing again changes nothing. Unless --keep-going is given nothing is imported if anything \
                  is wrong."
)]
pub(crate) struct Arguments {
    /// The file; '-' is the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// How the moves of games are written, always wanted for them, for an anchor cannot be guessed: man, nw,
    /// flip, prefix, qtp, tq1 or qf
    #[arg(long, value_name = "NAME")]
    notation: Option<Notation>,

    /// What the file holds [default: by its ending, .jsonl or .csv, or else lines]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Import what is right although something else is wrong
    #[arg(long)]
    keep_going: bool,

    /// Import only the Ith of N shares of the lines, I from 0 to N-1, such as 3/8: one for each pod of an
    /// indexed job
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,

    #[command(flatten)]
    book: BookArgs,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A game, a position or a replay code a line
    Lines,
    /// An export as JSON Lines
    Jsonl,
    /// An export as CSV
    Csv,
}

impl Format {
    fn of(file: &Path) -> Self {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl" | "ndjson") => Self::Jsonl,
            Some("csv") => Self::Csv,
            _ => Self::Lines,
        }
    }
}

/// One of several equal shares of a file's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    /// Whether a line, counted from 1, is in it.
    const fn holds(self, number: u64) -> bool {
        (number - 1) % self.of == self.index
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let read = text.split_once('/').and_then(|(index, of)| {
        Some(Shard { index: index.trim().parse().ok()?, of: of.trim().parse().ok()? })
    });
    let wanted = || "I/N is wanted, I from 0 to N-1, such as 3/8".to_owned();
    read.filter(|shard| shard.index < shard.of).ok_or_else(wanted)
}

/// What has come of it, for programs.
#[derive(Serialize)]
struct Report<'a> {
    book: &'a str,
    games: u64,
    new_positions: u64,
    new_values: u64,
    positions: u64,
    faults: u64,
}

/// Reads and imports.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let format = arguments.format.unwrap_or_else(|| Format::of(&arguments.file));
    if format == Format::Lines && arguments.notation.is_none() {
        return Err(Failure::bad_input(
            &"--notation is wanted: a notation cannot be guessed from its moves (man, nw, flip, prefix, qtp, tq1 or qf)",
        ));
    }
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let name = listing::printable(&shown_name(&arguments.file));
    let (packed, mut faults) = runtime::run(read(arguments, format, &name, &interrupts))?;
    if faults.count > 0 && !arguments.keep_going {
        return Err(faults.refusal());
    }
    let imported = runtime::run(enter(arguments, &packed, &interrupts))?;
    show_faults(&mut faults, &packed, &imported);
    if faults.count > 0 && !arguments.keep_going {
        return Err(faults.refusal());
    }
    show(&arguments.book.name, &imported, faults.count, json)?;
    if faults.count == 0 {
        return Ok(());
    }
    let text = format!("{name}: {}, the rest is imported", count(faults.count));
    Err(Failure::Failed(anyhow::anyhow!(text)))
}

/// Reads the file, beside the runtime: whoever reads a pipe waits for its other end, and may be told to stop meanwhile.
async fn read(
    arguments: &Arguments,
    format: Format,
    name: &str,
    interrupts: &Interrupts,
) -> Result<(Packed, Faults), Failure> {
    let mut faults = Faults { file: name.to_owned(), count: 0 };
    let lines = Counter::default();
    let (arguments, counted) = (arguments.clone(), lines.clone());
    let (told, packed) = oneshot::channel();
    let reading = move || {
        let packed = pack(&arguments, format, &mut faults, &counted);
        // Nobody may wait for it any more.
        let _ = told.send(packed.map(|packed| (packed, faults)));
    };
    std::thread::Builder::new().name("reading".to_owned()).spawn(reading).context("start a thread")?;
    let reading = async { packed.await.context("read the file")? };
    let what = format!("reading {name}");
    let reading = progress::shown(&what, "lines", None, &lines, reading);
    let known = || format!("{name}: {}, nothing is imported", counted_lines(lines.get()));
    until(interrupts, reading, known).await
}

fn counted_lines(number: u64) -> String {
    format!("{} read", counted(number, "line"))
}

/// Imports what was read. Whoever wants an end is told what of it is in the book.
async fn enter(
    arguments: &Arguments,
    packed: &Packed,
    interrupts: &Interrupts,
) -> Result<ImportResponse, Failure> {
    let book = &arguments.book;
    let import = async |client: &Client| {
        let known = Counter::default();
        let sent = client.import(&packed.parts);
        let work = async {
            if !progress::is_seen() {
                return sent.await;
            }
            known.set(positions_of(client, &book.name).await.unwrap_or(0));
            let what = format!("book {}: importing {}", book.name, counted(packed.entries(), "line"));
            let followed = known.follow(client, &book.name, sent);
            progress::shown(&what, "positions in the book", None, &known, followed).await
        };
        until(interrupts, work, String::new).await
    };
    match book.site.ask(Store::Any, interrupts, import).await {
        // How far it came is known when it has ended.
        Err(Failure::Interrupted(why)) if why.is_empty() => {
            let known = match book.site.positions_of(&book.name).await {
                Some(known) => format!(", {} in the book", are(known)),
                None => String::new(),
            };
            let text = format!("book {}: import stopped{known}; importing the same again goes on", book.name);
            Err(Failure::interrupted(&text))
        }
        ended => ended,
    }
}

fn are(number: u64) -> String {
    format!("{} {}", positions(number), if number == 1 { "is" } else { "are" })
}

fn shown_name(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".to_owned() } else { file.display().to_string() }
}

fn show_faults(faults: &mut Faults, packed: &Packed, imported: &ImportResponse) {
    for fault in &imported.faults {
        let ply = fault.ply.map(|ply| format!("ply {ply}: ")).unwrap_or_default();
        faults.add(packed.line(fault.line), &format!("{ply}{}", fault.message));
    }
    let told = u64::try_from(imported.faults.len()).unwrap_or(u64::MAX);
    faults.count += imported.fault_count.saturating_sub(told);
    faults.close();
}

fn show(book: &str, imported: &ImportResponse, faults: u64, json: bool) -> Result<(), Failure> {
    let ImportResponse { games, new_positions, new_values, positions: all, .. } = *imported;
    if json {
        return out::json(&Report { book, games, new_positions, new_values, positions: all, faults });
    }
    out::line(&format!(
        "book {book}: {} read, {} new, {}, {} in the book now",
        counted(games, "game"),
        positions(new_positions),
        counted(new_values, "new value"),
        positions(all),
    ))
}

fn count(faults: u64) -> String {
    counted(faults, "fault")
}

/// What is wrong with a file, said as soon as it is known.
struct Faults {
    file: String,
    count: u64,
}

impl Faults {
    fn add(&mut self, line: u64, message: &str) {
        self.count += 1;
        if self.count <= Self::shown() {
            out::notice(&format!("{}:{line}: {}", self.file, listing::printable(message)));
        }
    }

    /// Says how many were not shown.
    fn close(&self) {
        let hidden = self.count.saturating_sub(Self::shown());
        if hidden > 0 {
            out::notice(&format!("{}: and {} more", self.file, grouped(hidden)));
        }
    }

    fn shown() -> u64 {
        u64::try_from(SHOWN_FAULTS).unwrap_or(u64::MAX)
    }

    fn refusal(&self) -> Failure {
        Failure::bad_input(&format!("{}: {}, nothing is imported", self.file, count(self.count)))
    }
}

/// Reads the file. What cannot be read is a fault of its line.
fn pack(
    arguments: &Arguments,
    format: Format,
    faults: &mut Faults,
    read: &Counter,
) -> Result<Packed, Failure> {
    let source: Box<dyn Read> = if arguments.file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = &arguments.file;
        let unreadable =
            |why: &dyn std::fmt::Display| Failure::bad_input(&format!("open {}: {why}", file.display()));
        if file.is_dir() {
            return Err(unreadable(&"it is a folder, not a file"));
        }
        Box::new(File::open(file).map_err(|error| unreadable(&error))?)
    };
    // The games of an earlier export are positions: they have no notation to declare.
    let notation = arguments.notation.filter(|_| format == Format::Lines);
    let mut parts = Parts::new(&arguments.book.name, notation, arguments.keep_going);
    let mut lines = Lines { source: BufReader::new(source), number: 0 };
    let mut header = None;
    while let Some(line) = lines
        .next()
        .map_err(|error| Failure::Failed(anyhow::anyhow!("read {}: {error}", arguments.file.display())))?
    {
        let number = lines.number;
        read.set(number);
        let text = match line {
            Ok(text) => text,
            Err(fault) => {
                if arguments.shard.is_none_or(|shard| shard.holds(number)) {
                    faults.add(number, &fault);
                }
                continue;
            }
        };
        if format == Format::Csv && header.is_none() {
            // Nothing reads without it.
            let read = Header::read(&text).map_err(|error| error.to_string());
            header = Some(
                read.map_err(|error| Failure::bad_input(&format!("{}:{number}: {error}", faults.file)))?,
            );
            continue;
        }
        if arguments.shard.is_some_and(|shard| !shard.holds(number)) {
            continue;
        }
        let node = match (format, &header) {
            (Format::Lines, _) => {
                parts.push_line(number, text);
                continue;
            }
            _ if text.trim().is_empty() => continue,
            (Format::Csv, Some(header)) => header.record(&text),
            (Format::Csv | Format::Jsonl, _) => json_lines::read(&text),
        };
        match node {
            Ok(node) => parts.push_record(number, node),
            Err(error) => faults.add(number, &error.to_string()),
        }
    }
    if !arguments.keep_going {
        faults.close();
    }
    Ok(parts.pack())
}

/// The lines of a file, counted from 1, none of them too long.
struct Lines<R> {
    source: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// The next line without its end, or what is wrong with it; `None` behind the last one.
    fn next(&mut self) -> io::Result<Option<Result<String, String>>> {
        let mut bytes = Vec::new();
        if self.read_some(&mut bytes)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if bytes.len() > MAX_LINE_BYTES {
            while !bytes.ends_with(b"\n") {
                bytes.clear();
                if self.read_some(&mut bytes)? == 0 {
                    break;
                }
            }
            return Ok(Some(Err(format!("the line is longer than {MAX_LINE_BYTES} bytes"))));
        }
        while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            bytes.pop();
        }
        // Some editors begin a file with a mark of its encoding.
        if self.number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        Ok(Some(String::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned())))
    }

    /// Reads up to a line's end, but not much more than a line may have.
    fn read_some(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let most = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX) + 1;
        (&mut self.source).take(most).read_until(b'\n', bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<String, String>> {
        let mut lines = Lines { source: BufReader::new(bytes), number: 0 };
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    #[test]
    fn lines_have_any_end_and_a_limit() {
        let good = |text: &str| Ok(text.to_owned());
        assert_eq!(read(b"\xef\xbb\xbfe2\r\ne8\n\nlast"), [good("e2"), good("e8"), good(""), good("last")]);
        assert_eq!(read(b""), []);
        let mut long = vec![b'x'; 3 * MAX_LINE_BYTES];
        long.extend(b"\nnext\n\xff\n");
        let lines = read(&long);
        assert!(lines[0].as_ref().is_err_and(|fault| fault.contains("longer than")), "{:?}", lines[0]);
        assert_eq!(lines[1], good("next"));
        assert_eq!(lines[2], Err("the line is not UTF-8".to_owned()));
        assert_eq!(lines.len(), 3);
        let exact = [vec![b'x'; MAX_LINE_BYTES - 1], b"\n".to_vec()].concat();
        assert_eq!(read(&exact)[0].as_ref().unwrap().len(), MAX_LINE_BYTES - 1);
    }

    #[test]
    fn shares_are_disjoint_and_complete() {
        let shares: Vec<Shard> = (0..3).map(|index| Shard { index, of: 3 }).collect();
        for number in 1..=10 {
            assert_eq!(shares.iter().filter(|share| share.holds(number)).count(), 1);
        }
        assert!(shard("0/1").unwrap().holds(1));
        assert_eq!(shard("3/8"), Ok(Shard { index: 3, of: 8 }));
        for text in ["8/8", "0/0", "3", "-1/2", "a/b", ""] {
            assert!(shard(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_ending_says_what_a_file_holds() {
        let of = |name: &str| Format::of(Path::new(name));
        assert_eq!(
            [of("a.jsonl"), of("a.csv"), of("games.txt")],
            [Format::Jsonl, Format::Csv, Format::Lines]
        );
        assert_eq!(of("-"), Format::Lines);
    }
}
