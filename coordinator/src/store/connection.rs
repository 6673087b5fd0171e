//! A line to a database, whichever it is: one code reads and writes both, in SQL that both understand. What differs, and is
//! hidden here, is how a place for a value is marked, and that a server may not answer.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{Error as IoError, ErrorKind};
use std::time::Duration;

use futures_util::TryStreamExt;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{
    AssertSqlSafe, Connection as _, Decode, PgConnection, Postgres, Row as _, Sqlite, SqliteConnection, Type,
};

use super::StoreError;
use super::rows::unreadable;
use crate::limits::STORE_ANSWER_TIME;

/// Rows of one statement.
const ROWS: usize = 500;
/// A database remembers the statement for so many rows or fewer, and the one for the most rows: each number of rows has its own.
const REMEMBERED_ROWS: usize = 16;
/// How long a server is told goodbye.
const GOODBYE_TIME: Duration = Duration::from_secs(1);

/// A line to a database.
#[derive(Debug)]
pub(super) enum Connection {
    /// A file of this process.
    Sqlite(SqliteConnection),
    /// A session with a server.
    Postgres(PgConnection),
}

/// A value for a column. Every number has 64 bits.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Number(i64),
    Text(Cow<'a, str>),
    /// Text, or nothing.
    Perhaps(Option<&'a str>),
    Bytes(Vec<u8>),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Perhaps(text)
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// A row of an answer.
#[derive(Debug)]
pub(super) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A query with its values.
macro_rules! bound {
    ($sql:expr, $values:expr) => {{
        let mut query = sqlx::query($sql);
        for value in $values {
            query = match value {
                Value::Number(number) => query.bind(number),
                Value::Text(text) => query.bind(text.into_owned()),
                Value::Perhaps(text) => query.bind(text.map(str::to_owned)),
                Value::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }};
}

/// Waits for a server, so long for each answer: of one that is gone without a word nobody is told for a quarter of an hour.
pub(super) async fn answered<T, E: From<sqlx::Error>>(
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::time::timeout(STORE_ANSWER_TIME, answer).await.unwrap_or_else(|_| {
        let text =
            format!("the database has not answered for store_answer_time {} s", STORE_ANSWER_TIME.as_secs());
        Err(E::from(sqlx::Error::Io(IoError::new(ErrorKind::TimedOut, text))))
    })
}

impl Connection {
    /// Runs a statement without values.
    pub(super) async fn run(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(line) => sqlx::raw_sql(sql).execute(line).await.map(drop),
            Self::Postgres(line) => answered(sqlx::raw_sql(sql).execute(line)).await.map(drop),
        }
    }

    /// Runs a statement that has a list of rows in it: `before`, `VALUES (...), (...)`, `after`; as often as so many rows
    /// need. Without rows it does nothing.
    pub(super) async fn run_for<const N: usize>(
        &mut self,
        before: &str,
        rows: Vec<[Value<'_>; N]>,
        after: &str,
    ) -> Result<(), sqlx::Error> {
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let values: Vec<Value<'_>> = rows.by_ref().take(ROWS).flatten().collect();
            let number = values.len() / N;
            let sql = AssertSqlSafe(format!("{before} {} {after}", self.list(number, N)));
            let again = number <= REMEMBERED_ROWS || number == ROWS;
            match self {
                Self::Sqlite(line) => bound!(sql, values).persistent(again).execute(line).await.map(drop)?,
                Self::Postgres(line) => {
                    answered(bound!(sql, values).persistent(again).execute(line)).await.map(drop)?;
                }
            }
        }
        Ok(())
    }

    /// `VALUES (?,?),(?,?)`, or with numbers, which a server wants and which SQLite looks up one by one.
    fn list(&self, rows: usize, columns: usize) -> String {
        let numbered = matches!(self, Self::Postgres(_));
        let mut list = String::from("VALUES ");
        for place in 0..rows * columns {
            list.push_str(match place % columns {
                0 if place == 0 => "(",
                0 => "),(",
                _ => ",",
            });
            if numbered {
                // A string takes everything.
                let _ = write!(list, "${}", place + 1);
            } else {
                list.push('?');
            }
        }
        list.push(')');
        list
    }

    /// The rows of an answer; the values' places are `$1`, `$2`, ... in every database.
    pub(super) async fn fetch(
        &mut self,
        sql: &'static str,
        values: Vec<Value<'_>>,
    ) -> Result<Vec<Row>, sqlx::Error> {
        match self {
            Self::Sqlite(line) => bound!(sql, values).fetch(line).map_ok(Row::Sqlite).try_collect().await,
            Self::Postgres(line) => {
                let mut answer = bound!(sql, values).fetch(line);
                let mut rows = Vec::new();
                // However many there are, each must come in time.
                while let Some(row) = answered(answer.try_next()).await? {
                    rows.push(Row::Postgres(row));
                }
                Ok(rows)
            }
        }
    }

    /// Hands on the rows of an answer one by one, as they come: a row takes many times the room of what is made of it, and a
    /// book has hundreds of thousands.
    ///
    /// # Errors
    /// The answer does not come, or whoever takes a row does not want more.
    pub(super) async fn each(
        &mut self,
        sql: &'static str,
        values: Vec<Value<'_>>,
        mut take: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = |error: sqlx::Error| read_fault(&error);
        match self {
            Self::Sqlite(line) => {
                let mut answer = bound!(sql, values).fetch(line);
                while let Some(row) = answer.try_next().await.map_err(failed)? {
                    take(Row::Sqlite(row))?;
                }
            }
            Self::Postgres(line) => {
                let mut answer = bound!(sql, values).fetch(line);
                // However many there are, each must come in time.
                while let Some(row) = answered(answer.try_next()).await.map_err(failed)? {
                    take(Row::Postgres(row))?;
                }
            }
        }
        Ok(())
    }

    /// Leaves in good order.
    pub(super) async fn close(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(line) => line.close().await,
            // It need not hear it.
            Self::Postgres(line) => tokio::time::timeout(GOODBYE_TIME, line.close()).await.unwrap_or(Ok(())),
        }
    }
}

impl Row {
    fn get<'r, T>(&'r self, column: &str) -> Result<T, StoreError>
    where
        T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>,
    {
        let found = match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        };
        found.map_err(|error| unreadable(plain(&error)))
    }

    /// A number.
    pub(super) fn number(&self, column: &str) -> Result<i64, StoreError> {
        self.get(column)
    }

    /// A text.
    pub(super) fn text(&self, column: &str) -> Result<String, StoreError> {
        self.get(column)
    }

    /// A text, or nothing.
    pub(super) fn perhaps(&self, column: &str) -> Result<Option<String>, StoreError> {
        self.get(column)
    }

    /// Bytes.
    pub(super) fn bytes(&self, column: &str) -> Result<Vec<u8>, StoreError> {
        self.get(column)
    }
}

/// What the database or the system says, without the library's frame round it.
pub(super) fn plain(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// As the fault of a write.
pub(super) fn fault(error: &sqlx::Error) -> StoreError {
    StoreError::Write(plain(error))
}

/// As the fault of a read. Whether what stands there makes sense is known only if it was had.
pub(super) fn read_fault(error: &sqlx::Error) -> StoreError {
    if is_damage(error) { unreadable(plain(error)) } else { StoreError::Read(plain(error)) }
}

/// Whether it is what stands in the database that is wrong, and not the way there.
fn is_damage(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            // SQLite's extended codes have the code in their last byte: SQLITE_CORRUPT, SQLITE_NOTADB.
            let is_broken_file = || code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 11 | 26));
            // Class XX of PostgreSQL: data and index corrupted.
            let is_server = error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some();
            if is_server { matches!(&*code, "XX001" | "XX002") } else { is_broken_file() }
        }
        sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnIndexOutOfBounds { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::TypeNotFound { .. } => true,
        _ => false,
    }
}
