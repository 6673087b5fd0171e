//! `corridor book analyze`: every position of a book that is not known well enough is searched.

use clap::Args;
use corridor_shared::job::BookTask;

use super::search::{self, SearchArgs, Wanted};
use super::site::BookArgs;
use crate::failure::Failure;
use crate::units;

/// What `book analyze` is told.
#[derive(Args)]
#[command(
    override_usage = "corridor book analyze (--depth <D> | --nodes <N> | --time <T>) [OPTIONS]",
    after_help = "What is known well enough is not searched again, so an analysis that was cut short goes on where it was. \
                  Every result is in the book at once.\n\n\
                  A job takes 100,000 positions at most. The others of a larger book are for the next one, which is asked for by \
                  itself as long as each leaves fewer than the one before; with --detach and without --wait there is one job.\n\n\
                  Exit code 0 says that what was asked for is done: every position of the book is known well enough, or, with \
                  --most, so many more of them; 1 that some of that are left, that a search failed, or that the job was cancelled."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    book: BookArgs,

    #[command(flatten)]
    search: SearchArgs,

    /// Search what an older engine has found again too, at least as deep as it was
    #[arg(long)]
    stale: bool,

    /// Search at most so many positions, at least 1
    #[arg(long, value_name = "N", value_parser = units::whole(1..=u32::MAX))]
    most: Option<u32>,
}

/// Analyses and shows what happens.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let Arguments { book, search, stale, most } = arguments;
    let wanted = if most.is_some() { Wanted::Some } else { Wanted::Everything };
    search::run(book, search, BookTask::Analyze { stale: *stale, most: *most }, wanted, json)
}
