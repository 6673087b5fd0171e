//! A store in a database of a PostgreSQL server, in a schema of its own, so that others may use the same database.
//!
//! One process holds it, by two things that together let no two writers interleave, whatever breaks:
//! - An advisory lock of the session that writes. The server frees it with the session, however its process ends; the session's
//!   `application_name` says who it is.
//! - The number of those who have held the store so far, in the table `counter`. Every transaction looks at it first, and keeps
//!   it from being changed until its own end; who takes the store counts on. So a process that lost its session, and whose place
//!   another one took in between, finds out at its next transaction, and writes nothing any more, even if the other one has left.
//!
//! A line that breaks is replaced by a new one, which takes the lock again. If the lock is still with the old session, because the
//! server has not noticed, or is frozen, that session is ended first.

use std::fmt;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, PgConnection, Row as _};
use tokio::time::Instant;

use super::StoreError;
use super::connection::{Connection, answered, fault, plain};
use super::place::PostgresUrl;
use super::schema::{self, FOREIGN, is_foreign};
use crate::limits::{STORE_CONNECT_TIME, STORE_LOCK_TIME};

/// The schema of our tables, unless the URL sets a `search_path`.
const SCHEMA: &str = "corridor";
/// The first half of the advisory lock's key: "corr". The other half is the schema's number.
const LOCK: i32 = 0x636f_7272;
/// What stands before a holder's name in `application_name`, for those who look after the server.
const PROGRAM: &str = "corridor, ";
/// How often a lock is tried that another session has.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// What every session is told: nothing that is not said of errors; how long others may lock a table; to notice within half a
/// minute that this end is gone; and that a commit is on the disk before it is reported, whatever the server's own setting.
const SESSION: &str = "SET client_min_messages = warning; \
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; \
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// A database that is held.
pub(super) struct PostgresServer {
    name: String,
    options: PgConnectOptions,
    /// The session that has, or had, the lock: number of its process, and since when, for numbers are used again.
    session: Option<(i32, String)>,
    /// How many have held the store, this one included.
    holders: i64,
    /// Another one has held it since.
    lost: bool,
}

impl fmt::Debug for PostgresServer {
    /// The options have a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PostgresServer {
    /// Takes a database, and brings its tables up to date. `holder` is how others are told who has it.
    ///
    /// # Errors
    /// The server cannot be reached, another process has the store, its schema has other tables, or a later version has made it.
    pub(super) async fn open(url: &PostgresUrl, holder: &str) -> Result<(Self, Connection), StoreError> {
        let name = url.to_string();
        let open = |reason: String| StoreError::Open { store: name.clone(), reason };
        let options = url.options().map_err(open)?.application_name(&format!("{PROGRAM}{holder}"));
        let options = options.disable_statement_logging();
        let mut server = Self { name: name.clone(), options, session: None, holders: 0, lost: false };
        let prepared = async {
            let mut line = server.dial().await?;
            make_schema(&mut line).await?;
            Ok(line)
        };
        let mut line = prepared.await.map_err(|error: sqlx::Error| open(plain(&error)))?;
        if let Some(holder) = server.lock(&mut line).await.map_err(|error| open(plain(&error)))? {
            return Err(StoreError::Held { store: name, holder });
        }
        let (ours, all) = answered(tables(&mut line)).await.map_err(|error| open(plain(&error)))?;
        if is_foreign(ours, all) {
            return Err(open(FOREIGN.to_owned()));
        }
        let mut connection = Connection::Postgres(line);
        schema::migrate(&mut connection, &name).await?;
        let Connection::Postgres(line) = &mut connection else { return Ok((server, connection)) };
        server.holders = answered(count_holder(line)).await.map_err(|error| open(plain(&error)))?;
        Ok((server, connection))
    }

    /// Goes on after a fault: a new session, with the lock.
    ///
    /// # Errors
    /// The server cannot be reached, or another process has the store now.
    pub(super) async fn connect(&mut self) -> Result<Connection, StoreError> {
        if self.lost {
            return Err(lost());
        }
        let mut line = self.dial().await.map_err(|error| fault(&error))?;
        match self.lock(&mut line).await.map_err(|error| fault(&error))? {
            None => Ok(Connection::Postgres(line)),
            Some(holder) => Err(StoreError::Write(format!("store {} is held by {holder}", self.name))),
        }
    }

    /// Begins a transaction of the one who holds the store.
    ///
    /// # Errors
    /// The line is broken, or another process has held the store in between: then always.
    pub(super) async fn begin(&mut self, line: &mut PgConnection) -> Result<(), StoreError> {
        // One round trip. Nobody else can count on before this transaction has ended.
        let begin = "BEGIN; SELECT value FROM counter WHERE name = 'holders' FOR SHARE";
        let rows = answered(sqlx::raw_sql(begin).fetch_all(line)).await.map_err(|error| fault(&error))?;
        let holders = match rows.first() {
            Some(row) => row.try_get::<i64, _>(0).map_err(|error| fault(&error))?,
            None => 0,
        };
        self.lost = holders != self.holders;
        if self.lost { Err(lost()) } else { Ok(()) }
    }

    /// Whether another process has held the store in between.
    pub(super) const fn is_lost(&self) -> bool {
        self.lost
    }

    /// A new session, set up.
    async fn dial(&self) -> Result<PgConnection, sqlx::Error> {
        dial(&self.options).await
    }

    /// Takes the lock. Who leaves is given a moment; a former session of this store is made to leave. Returns who has it
    /// otherwise.
    async fn lock(&mut self, line: &mut PgConnection) -> Result<Option<String>, sqlx::Error> {
        const TAKE: &str = "SELECT pg_try_advisory_lock($1, \
             (SELECT oid FROM pg_namespace WHERE nspname = current_schema())::int)";
        const WHOSE: &str = "SELECT pid, backend_start::text, application_name FROM pg_stat_activity \
             WHERE pid = pg_backend_pid()";
        const HOLDER: &str = "SELECT a.pid, coalesce(a.backend_start::text, ''), a.application_name \
             FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
             WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid::bigint = $1 \
             AND l.objid = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        let started = Instant::now();
        loop {
            if answered(sqlx::query_scalar(TAKE).bind(LOCK).fetch_one(&mut *line)).await? {
                let (pid, since, _): (i32, String, String) =
                    answered(sqlx::query_as(WHOSE).fetch_one(&mut *line)).await?;
                self.session = Some((pid, since));
                return Ok(None);
            }
            let holder: Option<(i32, String, String)> =
                answered(sqlx::query_as(HOLDER).bind(i64::from(LOCK)).fetch_optional(&mut *line)).await?;
            // It may just have left.
            let (pid, since, name) = holder.unwrap_or_default();
            let formerly_ours = self.session.as_ref() == Some(&(pid, since));
            if formerly_ours {
                let end = sqlx::query("SELECT pg_terminate_backend($1)").bind(pid);
                answered(end.execute(&mut *line)).await?;
            }
            if started.elapsed() > STORE_LOCK_TIME {
                return Ok(Some(shown(&name, formerly_ours)));
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
    }
}

/// Whoever only looks into a database.
pub(super) struct PostgresReader(PostgresUrl);

impl fmt::Debug for PostgresReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresReader").field(&self.0.to_string()).finish()
    }
}

impl PostgresReader {
    pub(super) const fn new(url: PostgresUrl) -> Self {
        Self(url)
    }

    /// A session of its own.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(super) async fn connect(&self) -> Result<Connection, StoreError> {
        let open = |reason: String| StoreError::Open { store: self.0.to_string(), reason };
        let options = self.0.options().map_err(open)?.application_name("corridor, a reader");
        let line = dial(&options.disable_statement_logging()).await;
        line.map(Connection::Postgres).map_err(|error| open(plain(&error)))
    }
}

/// A new session, set up.
async fn dial(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let dialled = async {
        let mut line = PgConnection::connect_with(options).await?;
        sqlx::raw_sql(SESSION).execute(&mut line).await?;
        let wait = format!("SET lock_timeout = {}", STORE_LOCK_TIME.as_millis());
        sqlx::raw_sql(AssertSqlSafe(wait)).execute(&mut line).await?;
        if options.get_options().is_none_or(|options| !options.contains("search_path")) {
            let path = AssertSqlSafe(format!("SET search_path = {SCHEMA}"));
            sqlx::raw_sql(path).execute(&mut line).await?;
        }
        Ok(line)
    };
    tokio::time::timeout(STORE_CONNECT_TIME, dialled).await.unwrap_or_else(|_| {
        let text = format!("no connection within store_connect_time {} s", STORE_CONNECT_TIME.as_secs());
        Err(sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, text)))
    })
}

/// A holder as it says of itself.
fn shown(application_name: &str, formerly_ours: bool) -> String {
    if formerly_ours {
        return "a former session of this process, which does not end".to_owned();
    }
    let name = application_name.strip_prefix(PROGRAM).unwrap_or(application_name);
    if name.is_empty() { "another process".to_owned() } else { name.to_owned() }
}

fn lost() -> StoreError {
    let text = "another process has held the store since: this one must be started again to go on with what that has written";
    StoreError::Write(text.to_owned())
}

/// Makes our schema if it is missing: who may not make one can be given one. A schema that the URL names must be there.
async fn make_schema(line: &mut PgConnection) -> Result<(), sqlx::Error> {
    const THERE: &str =
        "SELECT current_schema() IS NOT NULL, split_part(current_setting('search_path'), ',', 1)";
    let (there, path): (bool, String) = answered(sqlx::query_as(THERE).fetch_one(&mut *line)).await?;
    if there {
        return Ok(());
    }
    if path != SCHEMA {
        return Err(sqlx::Error::Configuration(format!("there is no schema {path}").into()));
    }
    let make = AssertSqlSafe(format!("CREATE SCHEMA {SCHEMA}"));
    let made = answered(sqlx::raw_sql(make).execute(&mut *line)).await;
    // Another process may just have made it.
    let (there, _): (bool, String) = answered(sqlx::query_as(THERE).fetch_one(line)).await?;
    if there { Ok(()) } else { made.map(drop) }
}

/// How many tables of the schema are the list of migrations, and how many there are.
async fn tables(line: &mut PgConnection) -> Result<(i64, i64), sqlx::Error> {
    const TABLES: &str = "SELECT count(*) FILTER (WHERE tablename = '_sqlx_migrations'), count(*) \
                          FROM pg_tables WHERE schemaname = current_schema()";
    sqlx::query_as(TABLES).fetch_one(line).await
}

/// Counts on; returns how many have held the store, this one included.
async fn count_holder(line: &mut PgConnection) -> Result<i64, sqlx::Error> {
    const COUNT: &str = "INSERT INTO counter (name, value) VALUES ('holders', 1) \
                         ON CONFLICT (name) DO UPDATE SET value = counter.value + 1 RETURNING value";
    sqlx::query_scalar(COUNT).fetch_one(line).await
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_holder_is_shown_as_it_says_of_itself() {
        for (name, formerly_ours, expected) in [
            ("corridor, process 7 on alpha", false, "process 7 on alpha"),
            ("psql", false, "psql"),
            ("", false, "another process"),
            ("corridor, process 7 on alpha", true, "a former session of this process, which does not end"),
        ] {
            assert_eq!(shown(name, formerly_ours), expected);
        }
    }
}
