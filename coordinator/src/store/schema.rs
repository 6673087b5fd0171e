//! The tables, and how they come into a database: one list of migrations for all of them, in SQL that all of them run.

use std::cmp::Ordering;

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::StoreError;
use super::connection::{Connection, answered, plain};
use super::jobs::select;

/// All schemas, the latest last.
fn migrations() -> Vec<Migration> {
    let jobs = include_str!("../../migrations/0001_jobs.sql").into_sql_str();
    let books = include_str!("../../migrations/0002_books.sql").into_sql_str();
    let effort = include_str!("../../migrations/0003_effort.sql").into_sql_str();
    vec![
        Migration::new(1, "jobs".into(), MigrationType::Simple, jobs, false),
        Migration::new(2, "books".into(), MigrationType::Simple, books, false),
        Migration::new(3, "effort".into(), MigrationType::Simple, effort, false),
    ]
}

/// Whether a database with so many tables, of which so many are the list of migrations, is somebody else's.
pub(super) const fn is_foreign(ours: i64, all: i64) -> bool {
    all > 0 && ours == 0
}

/// What is said of it.
pub(super) const FOREIGN: &str = "it is a database of something else";

/// Whether a database has the latest schema, without changing anything.
///
/// # Errors
/// It is no store, an earlier or a later version has made it, or it cannot be read.
pub(super) async fn look(connection: &mut Connection, store: &str) -> Result<(), StoreError> {
    let tables = match connection {
        Connection::Sqlite(_) => "SELECT name FROM sqlite_master WHERE type = 'table'",
        Connection::Postgres(_) => {
            "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()"
        }
    };
    let open = |reason: &str| StoreError::Open { store: store.to_owned(), reason: reason.to_owned() };
    let tables = select(connection, tables, Vec::new()).await?;
    if tables.is_empty() {
        return Err(open("there is nothing in it yet: import a book into it"));
    }
    let names = tables.iter().map(|row| row.text("name")).collect::<Result<Vec<_>, _>>()?;
    if !names.iter().any(|name| name == "_sqlx_migrations") {
        return Err(open(FOREIGN));
    }
    let applied = select(connection, "SELECT version FROM _sqlx_migrations", Vec::new()).await?;
    let versions = applied.iter().map(|row| row.number("version")).collect::<Result<Vec<_>, _>>()?;
    let found = versions.into_iter().max().unwrap_or(0);
    let known = migrations().last().map_or(0, |last| last.version);
    let store = store.to_owned();
    match found.cmp(&known) {
        Ordering::Less => Err(StoreError::Older { store, found, known }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(StoreError::Newer { store, found, known }),
    }
}

/// Brings a database up to the latest schema. Whoever calls holds it.
///
/// # Errors
/// A later version has made it, or it cannot be written.
pub(super) async fn migrate(connection: &mut Connection, store: &str) -> Result<(), StoreError> {
    let migrations = migrations();
    let known = migrations.last().map_or(0, |last| last.version);
    let mut migrator = Migrator::with_migrations(migrations);
    // The store is held already.
    migrator.set_locking(false);
    let migrated = match connection {
        Connection::Sqlite(line) => migrator.run_direct(None, line, false).await,
        Connection::Postgres(line) => answered(migrator.run_direct(None, line, false)).await,
    };
    let open = |reason: String| StoreError::Open { store: store.to_owned(), reason };
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(found) => StoreError::Newer { store: store.to_owned(), found, known },
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => open(plain(&error)),
        other => open(other.to_string()),
    })
}
