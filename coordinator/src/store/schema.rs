//! The tables, and how they come into a database: one list of migrations for all of them, in SQL that all of them run.

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::StoreError;
use super::connection::{Connection, answered, plain};

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
