//! A store in one SQLite file, readable with any tool while it is written.
//!
//! The file stays open for writing by one process: a lock beside it, which the system frees however that process ends,
//! and which names its holder. Every commit reaches the disk before it is reported.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use corridor_proto::convert::{
    event_from_bytes, event_kind, event_to_bytes, millis, spec_from_bytes, spec_to_bytes,
};
use corridor_shared::board::Move;
use corridor_shared::job::{ENGINE_EPOCH, EventRecord, JobId, JobSpec, JobState, Line};
use futures_util::future::BoxFuture;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, QueryBuilder, Row, SqlSafeStr, Sqlite, SqliteConnection};

use super::rows::{LineRow, big, narrow, state_from, unreadable};
use super::{Kept, Store, StoreError};
use crate::cluster::{Iteration, Keep, KeptJob, Standing};
use crate::limits::STORE_LOCK_TIME;

/// Rows of one statement.
const ROWS: usize = 500;

/// All schemas, the latest last.
fn migrations() -> Vec<Migration> {
    let jobs = include_str!("../../migrations/0001_jobs.sql").into_sql_str();
    vec![Migration::new(1, "jobs".into(), MigrationType::Simple, jobs, false)]
}

/// A store in a file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    options: SqliteConnectOptions,
    /// `None` after a fault: what a broken connection would do next is anybody's guess.
    connection: Option<SqliteConnection>,
    /// Held for as long as the store is.
    _lock: File,
}

impl SqliteStore {
    /// Opens or makes a store. `holder` is how others are told who has it.
    ///
    /// # Errors
    /// The file cannot be had, is held by another process, is no store, or was made by a later version.
    pub async fn open(path: &Path, holder: &str) -> Result<Self, StoreError> {
        let lock = lock(path, holder)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(STORE_LOCK_TIME)
            .disable_statement_logging();
        let mut store = Self { path: path.to_owned(), options, connection: None, _lock: lock };
        let opened = match store.refuse_foreign().await {
            Ok(()) => store.migrate().await,
            Err(error) => Err(error),
        };
        if opened.is_err() {
            // Nothing is held, and a refusal leaves nothing behind.
            let _ = std::fs::remove_file(lock_name(path));
        }
        opened.map(|()| store)
    }

    /// A database with tables of somebody else is left as it is.
    async fn refuse_foreign(&self) -> Result<(), StoreError> {
        const TABLES: &str = "SELECT count(*) FILTER (WHERE name = '_sqlx_migrations'), count(*) \
                              FROM sqlite_master WHERE type = 'table'";
        if !self.path.exists() {
            return Ok(());
        }
        let open = |reason: String| StoreError::Open { path: self.path.clone(), reason };
        let only_looks = SqliteConnectOptions::new().filename(&self.path).read_only(true);
        let looked = async {
            let mut connection = SqliteConnection::connect_with(&only_looks).await?;
            sqlx::query_as(TABLES).fetch_one(&mut connection).await
        };
        let (ours, all): (i64, i64) = looked.await.map_err(|error: sqlx::Error| open(plain(&error)))?;
        if all > 0 && ours == 0 {
            return Err(open("it is a database of something else".to_owned()));
        }
        Ok(())
    }

    /// Lets the file have at most so many pages of 4 KiB, as if the disk were so small; for tests of full disks.
    #[must_use]
    pub fn with_pages(mut self, pages: u32) -> Self {
        self.options = self.options.pragma("max_page_count", pages.to_string());
        self.connection = None;
        self
    }

    async fn connect(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => SqliteConnection::connect_with(&self.options).await?,
        };
        Ok(self.connection.insert(connection))
    }

    async fn migrate(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let open = |reason: String| StoreError::Open { path: path.clone(), reason };
        let connection = self.connect().await.map_err(|error| open(plain(&error)))?;
        let migrations = migrations();
        let known = migrations.last().map_or(0, |last| last.version);
        let migrator = Migrator::with_migrations(migrations);
        migrator.run_direct(None, connection, false).await.map_err(|error| match error {
            MigrateError::VersionMissing(found) => StoreError::Newer { path: path.clone(), found, known },
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => open(plain(&error)),
            other => open(other.to_string()),
        })
    }

    async fn write(&mut self, batch: &[Keep]) -> Result<(), sqlx::Error> {
        let connection = self.connect().await?;
        let mut transaction = connection.begin().await?;
        write_all(&mut transaction, batch).await?;
        transaction.commit().await
    }
}

fn lock_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// The lock file beside a store.
fn lock(path: &Path, holder: &str) -> Result<File, StoreError> {
    let name = lock_name(path);
    let open = |error: std::io::Error| StoreError::Open { path: path.to_owned(), reason: error.to_string() };
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(name).map_err(open)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Whoever has just taken it may not have written yet.
            let _ = file.read_to_string(&mut holder);
            let holder = if holder.trim().is_empty() { "another process" } else { holder.trim() };
            return Err(StoreError::Held { path: path.to_owned(), holder: holder.to_owned() });
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

/// What the database says, without the library's frame round it.
fn plain(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    }
}

impl Store for SqliteStore {
    fn load(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>> {
        Box::pin(async {
            let path = self.path.clone();
            let connection = self
                .connect()
                .await
                .map_err(|error| StoreError::Open { path: path.clone(), reason: plain(&error) })?;
            load(connection).await
        })
    }

    fn commit<'a>(&'a mut self, batch: &'a [Keep]) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let written = self.write(batch).await;
            written.map_err(|error| {
                self.connection = None;
                StoreError::Write(plain(&error))
            })
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Some(connection) = self.connection else { return };
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "the store was not closed in good order; nothing is lost");
            }
        })
    }
}

// ---- writing ------------------------------------------------------------------------------------------------------

async fn write_all(connection: &mut SqliteConnection, batch: &[Keep]) -> Result<(), sqlx::Error> {
    // Events are written many at a time; the order among rows of one transaction shows to nobody, but what is forgotten
    // must not come back.
    let mut events: Vec<(JobId, &EventRecord)> = Vec::new();
    for entry in batch {
        match entry {
            Keep::Job { job, spec } => write_job(connection, *job, spec).await?,
            Keep::Event { job, record } => events.push((*job, record)),
            Keep::Standing { job, standing } => write_standing(connection, *job, standing).await?,
            Keep::Forget { job } => {
                events.retain(|(of, _)| of != job);
                forget(connection, *job).await?;
            }
            _ => {}
        }
    }
    for rows in events.chunks(ROWS) {
        let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO job_event (job, seq, kind, body) ");
        query.push_values(rows, |mut row, (job, record)| {
            row.push_bind(big(job.0)).push_bind(big(record.seq));
            row.push_bind(event_kind(&record.event)).push_bind(event_to_bytes(record));
        });
        query.push(" ON CONFLICT (job, seq) DO NOTHING");
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

async fn write_job(connection: &mut SqliteConnection, job: JobId, spec: &JobSpec) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO job (id, position, spec, traceparent, accepted_unix_ms, state, paused, nodes, elapsed_ms, depth, depth_nodes, engine) \
         VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, 0, $7) ON CONFLICT (id) DO NOTHING",
    )
    .bind(big(job.0))
    .bind(spec.position.to_string())
    .bind(spec_to_bytes(spec))
    .bind(spec.traceparent.as_deref())
    .bind(unix_ms())
    .bind(JobState::Queued.name())
    .bind(ENGINE_EPOCH)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "INSERT INTO counter (name, value) VALUES ('last_job', $1) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE counter.value < excluded.value",
    )
    .bind(big(job.0))
    .execute(connection)
    .await?;
    Ok(())
}

/// The time of day, for people who look into the store.
fn unix_ms() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "nothing is decided by it")]
    let now = SystemTime::now();
    big(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis())
}

async fn write_standing(
    connection: &mut SqliteConnection,
    job: JobId,
    standing: &Standing,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE job SET state = $2, paused = $3, nodes = $4, elapsed_ms = $5 WHERE id = $1")
        .bind(big(job.0))
        .bind(standing.state.name())
        .bind(i64::from(standing.paused))
        .bind(big(standing.nodes))
        .bind(big(millis(standing.elapsed)))
        .execute(&mut *connection)
        .await?;
    let Some(iteration) = &standing.iteration else { return Ok(()) };
    sqlx::query("UPDATE job SET depth = $2, depth_nodes = $3, engine = $4 WHERE id = $1")
        .bind(big(job.0))
        .bind(i64::from(iteration.depth))
        .bind(big(iteration.nodes))
        .bind(ENGINE_EPOCH)
        .execute(&mut *connection)
        .await?;
    write_lines(connection, job, iteration).await
}

async fn write_lines(
    connection: &mut SqliteConnection,
    job: JobId,
    iteration: &Iteration,
) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM job_line WHERE job = $1").bind(big(job.0)).execute(&mut *connection).await?;
    let order = &iteration.order;
    let next_place = |line: &Line| order.iter().position(|&mv| mv == line.mv).unwrap_or(order.len()) + 1;
    let row = |(place, line)| (place, big(next_place(line)), LineRow::new(line));
    let rows: Vec<(i64, i64, LineRow)> = (1..).zip(&iteration.lines).map(row).collect();
    for rows in rows.chunks(ROWS) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO job_line (job, place, next_place, root_move, score_kind, score_white, bound_white, depth, pv, nodes, heat_cm) ",
        );
        query.push_values(rows, |mut row, (place, next_place, line)| {
            row.push_bind(big(job.0))
                .push_bind(*place)
                .push_bind(*next_place)
                .push_bind(line.root_move.clone());
            row.push_bind(line.score_kind.clone()).push_bind(line.score_white);
            row.push_bind(line.bound_white.clone()).push_bind(line.depth).push_bind(line.pv.clone());
            row.push_bind(line.nodes).push_bind(line.heat_cm);
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

async fn forget(connection: &mut SqliteConnection, job: JobId) -> Result<(), sqlx::Error> {
    for statement in [
        "DELETE FROM job_event WHERE job = $1",
        "DELETE FROM job_line WHERE job = $1",
        "DELETE FROM job WHERE id = $1",
    ] {
        sqlx::query(statement).bind(big(job.0)).execute(&mut *connection).await?;
    }
    Ok(())
}

// ---- reading ------------------------------------------------------------------------------------------------------

async fn load(connection: &mut SqliteConnection) -> Result<Kept, StoreError> {
    let read = |error: sqlx::Error| unreadable(plain(&error));
    let last = sqlx::query("SELECT value FROM counter WHERE name = 'last_job'");
    let last = last.fetch_optional(&mut *connection).await.map_err(read)?;
    let last_job = match last {
        None => 0,
        Some(row) => narrow(row.try_get("value").map_err(read)?, "last_job")?,
    };
    let jobs =
        sqlx::query("SELECT * FROM job ORDER BY id").fetch_all(&mut *connection).await.map_err(read)?;
    let mut kept = Kept { jobs: Vec::with_capacity(jobs.len()), last_job, ..Kept::default() };
    for row in jobs {
        let job = JobId(narrow(row.try_get("id").map_err(read)?, "id")?);
        let loaded = load_job(connection, job, &row).await;
        kept.jobs.push(loaded.map_err(|error| match error {
            StoreError::Unreadable(text) => unreadable(format!("job {job}: {text}")),
            other => other,
        })?);
    }
    Ok(kept)
}

async fn load_job(
    connection: &mut SqliteConnection,
    job: JobId,
    row: &SqliteRow,
) -> Result<KeptJob, StoreError> {
    let read = |error: sqlx::Error| unreadable(plain(&error));
    let traceparent: Option<String> = row.try_get("traceparent").map_err(read)?;
    let spec: Vec<u8> = row.try_get("spec").map_err(read)?;
    let spec =
        spec_from_bytes(&spec, traceparent.map(Arc::from)).map_err(|error| unreadable(error.to_string()))?;
    let state: String = row.try_get("state").map_err(read)?;
    let number = |column: &str| row.try_get::<i64, _>(column).map_err(read);
    let mut standing = Standing {
        state: state_from(&state)?,
        paused: number("paused")? != 0,
        nodes: narrow(number("nodes")?, "nodes")?,
        elapsed: Duration::from_millis(narrow(number("elapsed_ms")?, "elapsed_ms")?),
        iteration: None,
    };
    let engine: String = row.try_get("engine").map_err(read)?;
    let depth: u8 = narrow(number("depth")?, "depth")?;
    // Scores of another engine are worth nothing to this one, unless they are an answer that was given.
    if depth > 0 && (engine == ENGINE_EPOCH || standing.state.is_final()) {
        let nodes = narrow(number("depth_nodes")?, "depth_nodes")?;
        let (lines, order) = load_lines(connection, job).await?;
        standing.iteration = Some(Iteration { depth, nodes, lines, order });
    }
    Ok(KeptJob { job, spec, standing, events: load_events(connection, job).await? })
}

/// Lines, best first, and their moves in the order of the next iteration.
async fn load_lines(
    connection: &mut SqliteConnection,
    job: JobId,
) -> Result<(Vec<Line>, Vec<Move>), StoreError> {
    let read = |error: sqlx::Error| unreadable(plain(&error));
    let rows = sqlx::query("SELECT * FROM job_line WHERE job = $1 ORDER BY place").bind(big(job.0));
    let rows = rows.fetch_all(connection).await.map_err(read)?;
    let line = |row: &SqliteRow| {
        let row = LineRow {
            root_move: row.try_get("root_move").map_err(read)?,
            score_kind: row.try_get("score_kind").map_err(read)?,
            score_white: row.try_get("score_white").map_err(read)?,
            bound_white: row.try_get("bound_white").map_err(read)?,
            depth: row.try_get("depth").map_err(read)?,
            pv: row.try_get("pv").map_err(read)?,
            nodes: row.try_get("nodes").map_err(read)?,
            heat_cm: row.try_get("heat_cm").map_err(read)?,
        };
        row.line()
    };
    let lines = rows.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    let place = |row: &SqliteRow| row.try_get::<i64, _>("next_place").map_err(read);
    let places = rows.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let mut order: Vec<(i64, Move)> = places.into_iter().zip(lines.iter().map(|line| line.mv)).collect();
    order.sort_by_key(|&(place, _)| place);
    Ok((lines, order.into_iter().map(|(_, mv)| mv).collect()))
}

async fn load_events(
    connection: &mut SqliteConnection,
    job: JobId,
) -> Result<Vec<Arc<EventRecord>>, StoreError> {
    let read = |error: sqlx::Error| unreadable(plain(&error));
    let rows = sqlx::query("SELECT body FROM job_event WHERE job = $1 ORDER BY seq").bind(big(job.0));
    let rows = rows.fetch_all(connection).await.map_err(read)?;
    let mut events = Vec::with_capacity(rows.len());
    for (row, seq) in rows.iter().zip(1..) {
        let body: Vec<u8> = row.try_get("body").map_err(read)?;
        let record = event_from_bytes(&body).map_err(|error| unreadable(format!("event {seq}: {error}")))?;
        if record.seq != seq {
            return Err(unreadable(format!("event {seq} is missing")));
        }
        events.push(Arc::new(record));
    }
    if events.is_empty() {
        return Err(unreadable("event 1 is missing"));
    }
    Ok(events)
}
