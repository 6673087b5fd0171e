//! `corridor book check`: whether all that a book says follows from what is in it.

use clap::Args;
use corridor_proto::v1::CheckResponse;
use serde::Serialize;

use super::progress::{self, Counter};
use super::search::positions;
use super::site::{BookArgs, Store, positions_of, until};
use crate::client::Client;
use crate::failure::Failure;
use crate::local_cluster::end_leftovers;
use crate::signals::Interrupts;
use crate::units::{counted, grouped};
use crate::{listing, logging, out, runtime};

/// What `book check` is told.
#[derive(Args)]
#[command(after_help = "Exit code 0 says that nothing is wrong, or that it is mended.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    book: BookArgs,

    /// Mend what is wrong: what makes no sense is removed, what can be computed is computed
    #[arg(long)]
    fix: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    book: &'a str,
    positions: u64,
    faults: &'a [String],
    fault_count: u64,
    fixed: bool,
}

/// Checks, and mends if that is wanted.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let Arguments { book, fix } = arguments;
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let work = async |client: &Client| {
        let changed = if *fix { "; corridor book check says what is mended" } else { "" };
        let known = || format!("book {}: not checked to its end{changed}", book.name);
        until(&interrupts, check(client, book, *fix), known).await
    };
    let found = runtime::run(async {
        // Only what is mended is written.
        if *fix {
            book.site.ask(Store::Existing, &interrupts, work).await
        } else {
            book.site.look(&interrupts, work).await
        }
    })?;
    let CheckResponse { positions, faults, fault_count, fixed } = &found;
    if json {
        let (positions, fault_count, fixed) = (*positions, *fault_count, *fixed);
        out::json(&Report { book: &book.name, positions, faults, fault_count, fixed })?;
    } else {
        out::text(&text(&book.name, &found))?;
    }
    if found.fault_count == 0 || found.fixed {
        return Ok(());
    }
    let hint = if *fix { "" } else { "; --fix mends what can be mended" };
    Err(Failure::Failed(anyhow::anyhow!("book {}: {}{hint}", book.name, count(found.fault_count))))
}

async fn check(client: &Client, book: &BookArgs, fix: bool) -> Result<CheckResponse, Failure> {
    if fix && !book.site.is_remote() {
        // A book is not mended below a job that works on it; here such a job is one that a dead process has left behind.
        end_leftovers(client, None).await?;
    }
    let many = if progress::is_seen() { positions_of(client, &book.name).await } else { None };
    let what = format!("book {}: checking {}", book.name, many.map(positions).unwrap_or_default());
    let work = async { client.books().await?.check(&book.name, fix).await };
    progress::shown(what.trim_end(), "", None, &Counter::default(), work).await
}

fn text(name: &str, found: &CheckResponse) -> String {
    let mut text: String =
        found.faults.iter().map(|fault| format!("{}\n", listing::printable(fault))).collect();
    let shown = u64::try_from(found.faults.len()).unwrap_or(u64::MAX);
    if found.fault_count > shown {
        text.push_str(&format!("and {} more\n", grouped(found.fault_count - shown)));
    }
    let mended = if found.fixed && found.fault_count > 0 { ", mended" } else { "" };
    text.push_str(&format!(
        "book {name}: {}, {}{mended}\n",
        positions(found.positions),
        count(found.fault_count)
    ));
    text
}

fn count(faults: u64) -> String {
    if faults == 0 { "no faults".to_owned() } else { counted(faults, "fault") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_shown_and_how_many_there_are() {
        let found = CheckResponse { positions: 1_234, ..CheckResponse::default() };
        assert_eq!(text("main", &found), "book main: 1,234 positions, no faults\n");
        let faults = vec!["position a: \u{7}".to_owned(), "position b".to_owned()];
        let found = CheckResponse { positions: 1, faults, fault_count: 3, fixed: true };
        let shown = "position a: \\u{7}\nposition b\nand 1 more\nbook main: 1 position, 3 faults, mended\n";
        assert_eq!(text("main", &found), shown);
    }
}
