//! `corridor book list`: the books of a store or a cluster.

use clap::Args;
use corridor_proto::v1;
use serde::Serialize;

use super::site::{SiteArgs, until};
use crate::client::Client;
use crate::failure::Failure;
use crate::signals::Interrupts;
use crate::units::grouped;
use crate::{listing, logging, out, runtime};

/// What `book list` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    site: SiteArgs,
}

#[derive(Serialize)]
struct BookView<'a> {
    book: &'a str,
    positions: u64,
    analysed: u64,
    stale: u64,
}

/// Lists them.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let list = async |client: &Client| {
        let list = async { client.books().await?.list().await };
        until(&interrupts, list, || "nothing was listed".to_owned()).await
    };
    let books = runtime::run(arguments.site.look(&interrupts, list))?;
    if json {
        return books.iter().try_for_each(|book| {
            let v1::BookListed { book, positions, analysed, stale } = book;
            out::json(&BookView { book, positions: *positions, analysed: *analysed, stale: *stale })
        });
    }
    if books.is_empty() {
        return out::line("no books");
    }
    let row = |book: &v1::BookListed| {
        let numbers = [book.positions, book.analysed, book.stale].map(grouped);
        let [positions, analysed, stale] = numbers;
        [book.book.clone(), positions, analysed, stale]
    };
    let rows: Vec<_> = books.iter().map(row).collect();
    out::line(&listing::table(["book", "positions", "analysed", "stale"], &rows))
}
