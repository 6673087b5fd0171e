//! A store in one SQLite file, readable with any tool while it is written.
//!
//! The file stays open for writing by one process: a lock beside it, which the system frees however that process ends,
//! and which names its holder. Every commit reaches the disk before it is reported.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection as _, SqliteConnection};

use super::StoreError;
use super::connection::{Connection, plain};
use super::schema::{self, FOREIGN, is_foreign};
use crate::limits::STORE_LOCK_TIME;

/// A file that is held.
#[derive(Debug)]
pub(super) struct SqliteFile {
    options: SqliteConnectOptions,
    /// Held for as long as the store is.
    _lock: File,
}

impl SqliteFile {
    /// Takes a file, or makes one, and brings its tables up to date. `holder` is how others are told who has it.
    ///
    /// # Errors
    /// The file cannot be had, is held by another process, is no store, or was made by a later version.
    pub(super) async fn open(path: &Path, holder: &str) -> Result<(Self, Connection), StoreError> {
        refuse_no_file(path)?;
        let lock = lock(path, holder)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(STORE_LOCK_TIME)
            .disable_statement_logging();
        let file = Self { options, _lock: lock };
        let opened = file.prepare(path).await;
        if opened.is_err() {
            // Nothing is held, and a refusal leaves nothing behind.
            let _ = std::fs::remove_file(lock_name(path));
        }
        opened.map(|connection| (file, connection))
    }

    async fn prepare(&self, path: &Path) -> Result<Connection, StoreError> {
        let open = |error: sqlx::Error| refusal(path, plain(&error));
        refuse_foreign(path).await?;
        let mut connection = self.connect().await.map_err(open)?;
        schema::migrate(&mut connection, &path.display().to_string()).await?;
        Ok(connection)
    }

    /// Opens the file once more.
    pub(super) async fn connect(&self) -> Result<Connection, sqlx::Error> {
        SqliteConnection::connect_with(&self.options).await.map(Connection::Sqlite)
    }

    /// See [`super::DatabaseStore::with_pages`].
    pub(super) fn with_pages(mut self, pages: u32) -> Self {
        self.options = self.options.pragma("max_page_count", pages.to_string());
        self
    }
}

/// Whoever only looks into a file.
#[derive(Debug)]
pub(super) struct SqliteReader {
    path: PathBuf,
    /// Nobody writes, and nothing can be made beside it.
    is_fixed: bool,
}

impl SqliteReader {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), is_fixed: false }
    }

    /// Finds out how a file can be looked into. SQLite makes a file beside it, by which readers and a writer know of each other;
    /// where none can be made, in a folder that is read-only or on a disk that is full, and there is no log of a writer either,
    /// nobody writes, and it is read as it is.
    ///
    /// # Errors
    /// It is not there, or is no database.
    pub(super) async fn open(path: &Path) -> Result<(Self, Connection), StoreError> {
        const LOOK: &str = "SELECT name FROM sqlite_master LIMIT 1";
        refuse_no_file(path)?;
        let looked = async |reader: Self| {
            let mut line = SqliteConnection::connect_with(&reader.options()).await?;
            sqlx::query(LOOK).fetch_optional(&mut line).await?;
            Ok((reader, Connection::Sqlite(line)))
        };
        let first = match looked(Self::new(path)).await {
            Err(error) if makes_nothing(&error) && !has_log(path) => error,
            opened => return opened.map_err(|error: sqlx::Error| refusal(path, plain(&error))),
        };
        let fixed = looked(Self { is_fixed: true, ..Self::new(path) }).await;
        fixed.map_err(|_| refusal(path, plain(&first)))
    }

    fn options(&self) -> SqliteConnectOptions {
        SqliteConnectOptions::new()
            .filename(&self.path)
            .read_only(true)
            .immutable(self.is_fixed)
            .busy_timeout(STORE_LOCK_TIME)
            .disable_statement_logging()
    }

    /// Opens the file.
    ///
    /// # Errors
    /// It is not there, or is no store.
    pub(super) async fn connect(&self) -> Result<Connection, StoreError> {
        let line = SqliteConnection::connect_with(&self.options()).await;
        line.map(Connection::Sqlite).map_err(|error| refusal(&self.path, plain(&error)))
    }
}

/// Whether a database cannot be read because nothing can be written beside it.
fn makes_nothing(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    let code = error.code().and_then(|code| code.parse::<u32>().ok());
    // Extended codes have the code in their last byte: SQLITE_PERM, READONLY, IOERR, FULL, CANTOPEN.
    code.is_some_and(|code| matches!(code & 0xff, 3 | 8 | 10 | 13 | 14))
}

/// Whether there is a log with something in it, which must be read with the file.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).metadata().is_ok_and(|log| log.len() > 0)
}

/// SQLite's own words for what is no file lead astray.
fn refuse_no_file(path: &Path) -> Result<(), StoreError> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Err(refusal(path, "it is a folder, not a file".to_owned())),
        Ok(found) if !found.is_file() => Err(refusal(path, "it is no file that keeps anything".to_owned())),
        _ => Ok(()),
    }
}

fn refusal(path: &Path, reason: String) -> StoreError {
    StoreError::Open { store: path.display().to_string(), reason }
}

/// A database with tables of somebody else is left as it is.
async fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    const TABLES: &str = "SELECT count(*) FILTER (WHERE name = '_sqlx_migrations'), count(*) \
                          FROM sqlite_master WHERE type = 'table'";
    if !path.exists() {
        return Ok(());
    }
    let only_looks = SqliteConnectOptions::new().filename(path).read_only(true);
    let looked = async {
        let mut connection = SqliteConnection::connect_with(&only_looks).await?;
        sqlx::query_as(TABLES).fetch_one(&mut connection).await
    };
    let (ours, all): (i64, i64) = looked.await.map_err(|error: sqlx::Error| refusal(path, plain(&error)))?;
    if is_foreign(ours, all) { Err(refusal(path, FOREIGN.to_owned())) } else { Ok(()) }
}

fn lock_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// The lock file beside a store.
fn lock(path: &Path, holder: &str) -> Result<File, StoreError> {
    let name = lock_name(path);
    let open = |error: std::io::Error| refusal(path, error.to_string());
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(name).map_err(open)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Whoever has just taken it may not have written yet.
            let _ = file.read_to_string(&mut holder);
            let holder = if holder.trim().is_empty() { "another process" } else { holder.trim() };
            return Err(StoreError::Held { store: path.display().to_string(), holder: holder.to_owned() });
        }
        Err(TryLockError::Error(error)) => return Err(open(error)),
    }
    let written = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{holder}"))
        .and_then(|()| file.flush());
    written.map_err(open)?;
    Ok(file)
}
