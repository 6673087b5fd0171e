//! What outlives the coordinator: jobs, their events, and the last completed iteration of each.
//!
//! A [`Store`] is written by one task, a batch a transaction: after a kill at any instant a batch is there as a whole or not
//! at all. Writing the same batch twice changes nothing, so that one whose outcome is unknown can be tried again.

mod rows;
mod sqlite;
#[cfg(test)]
mod tests;
pub(crate) mod writer;

use std::path::PathBuf;

use futures_util::future::BoxFuture;

use crate::cluster::Keep;
pub use crate::cluster::Kept;

pub use sqlite::SqliteStore;

/// Why a store cannot be opened, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened.
    #[error("open store {path}: {reason}")]
    Open {
        /// Which.
        path: PathBuf,
        /// What the system or the database says.
        reason: String,
    },
    /// Another process has it.
    #[error("store {path} is held by {holder}")]
    Held {
        /// Which.
        path: PathBuf,
        /// Who has it, as it says of itself.
        holder: String,
    },
    /// A later version has made it.
    #[error(
        "store {path} has schema {found}, newer than this version's {known}: use the version that wrote it"
    )]
    Newer {
        /// Which.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The latest schema that is known here.
        known: i64,
    },
    /// What stands in it does not make sense.
    #[error("store: {0}")]
    Unreadable(String),
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

    /// Leaves it in good order.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}
