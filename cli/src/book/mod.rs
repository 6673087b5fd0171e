//! `corridor book`: opening books. One file a subcommand.
//!
//! All of them work on a store with the whole cluster in this process, or on a cluster elsewhere; they ask the same service over
//! the same wire in both cases.

mod analyze;
mod check;
mod csv_rows;
mod expand;
mod export;
mod import;
mod json_lines;
mod list;
mod parts;
mod progress;
mod screen;
mod search;
mod show;
mod site;
mod sqlite;
mod strict;
mod tree;

use clap::{Args, Subcommand};

use crate::failure::Failure;

pub(crate) use screen::{BookScreen, position as position_line};
pub(crate) use search::{Wanted, verdict};

/// What `book` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Add games, positions or an earlier export to a book
    Import(import::Arguments),
    /// Search every position of a book that is not known well enough
    Analyze(analyze::Arguments),
    /// Grow a book where it misses most, searching what is added
    Expand(expand::Arguments),
    /// Show the tree below a position, best line first
    Show(show::Arguments),
    /// Write a book as JSON Lines, CSV or an SQLite store
    Export(export::Arguments),
    /// Check a book: legality, keys, edges and values
    Check(check::Arguments),
    /// List the books
    List(list::Arguments),
}

/// Does what is asked.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    match &arguments.command {
        Command::Import(arguments) => import::run(arguments, json),
        Command::Analyze(arguments) => analyze::run(arguments, json),
        Command::Expand(arguments) => expand::run(arguments, json),
        Command::Show(arguments) => show::run(arguments, json),
        Command::Export(arguments) => export::run(arguments, json),
        Command::Check(arguments) => check::run(arguments, json),
        Command::List(arguments) => list::run(arguments, json),
    }
}
