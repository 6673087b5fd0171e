//! What outlives the coordinator: jobs, their events, and the last completed iteration of each.
//!
//! A [`Store`] is written by one task, a batch a transaction: after a kill at any instant a batch is there as a whole or not
//! at all. Writing the same batch twice changes nothing, so that one whose outcome is unknown can be tried again.
//!
//! SQLite and PostgreSQL share one code: `jobs` writes and reads rows, in SQL that both run, over a `connection` that is to
//! either; `schema` makes the tables. What differs is how a database is opened and held: `sqlite`, `postgres`.

#[cfg(test)]
mod book_tests;
mod books;
mod connection;
mod database;
mod jobs;
mod place;
mod postgres;
mod reader;
mod rows;
mod schema;
mod sqlite;
#[cfg(test)]
mod tests;
pub(crate) mod writer;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::cluster::Keep;
pub use crate::cluster::Kept;

pub use database::DatabaseStore;
pub use place::{Place, PlaceError, PostgresUrl};
pub use reader::{BookReader, Checked, DatabaseReader, Found, Listed};

/// Why a store cannot be opened, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened.
    #[error("open store {store}: {reason}")]
    Open {
        /// Which, without a password.
        store: String,
        /// What the system or the database says.
        reason: String,
    },
    /// Another process has it.
    #[error("store {store} is held by {holder}")]
    Held {
        /// Which, without a password.
        store: String,
        /// Who has it, as it says of itself.
        holder: String,
    },
    /// A later version has made it.
    #[error(
        "store {store} has schema {found}, newer than this version's {known}: use the version that wrote it"
    )]
    Newer {
        /// Which, without a password.
        store: String,
        /// Its schema.
        found: i64,
        /// The latest schema that is known here.
        known: i64,
    },
    /// An earlier version has made it, and whoever only looks does not change that.
    #[error(
        "store {store} has schema {found}, older than this version's {known}: whatever writes to it brings it up to date, such as \
         corridor book check --fix"
    )]
    Older {
        /// Which, without a password.
        store: String,
        /// Its schema.
        found: i64,
        /// The one that is wanted.
        known: i64,
    },
    /// What stands in it does not make sense, and will not the next time.
    #[error("store: {0}")]
    Unreadable(String),
    /// The database does not answer, for now: a line that broke, a lock, a disk that is full.
    #[error("the store cannot be read: {0}")]
    Read(String),
    /// The database refuses, for now: a full disk, a lock, a line that broke.
    #[error("the store cannot be written: {0}")]
    Write(String),
}

/// A place that keeps jobs. Only one process holds it.
pub trait Store: Send {
    /// Everything that was kept.
    ///
    /// # Errors
    /// It cannot be read, or does not make sense.
    fn load(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>>;

    /// Makes a batch durable, in its order and as a whole. May be called again with a batch whose outcome is not known.
    ///
    /// # Errors
    /// Nothing of the batch is there; a later call may succeed.
    fn commit<'a>(&'a mut self, batch: &'a [Keep]) -> BoxFuture<'a, Result<(), StoreError>>;

    /// A way to look into its books beside.
    fn reader(&self) -> Arc<dyn BookReader>;

    /// Leaves it in good order.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}
