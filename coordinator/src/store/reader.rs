//! Books as they stand in a database, for whoever only looks. A reader holds nothing: it reads beside the one who writes, what
//! is durable, and opens a line for each question.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use corridor_proto::convert::lines_from_bytes;
use corridor_shared::board::{Move, Position};
use corridor_shared::book::{Book, Bounded, Record, Searched, Value as BookValue, canonical};
use corridor_shared::job::{ENGINE_EPOCH, Line};
use corridor_shared::score::Bound;
use futures_util::future::BoxFuture;

use super::StoreError;
use super::books::{
    key_from, key_text, load_book, position_columns, position_from, searched_from, value_from,
};
use super::connection::{Connection, Row, fault, read_fault};
use super::jobs::select;
use super::place::Place;
use super::postgres::PostgresReader;
use super::rows::{bound_from, move_from, narrow, score_from};
use super::schema;
use super::sqlite::SqliteReader;

/// Looks into the books of a store.
pub trait BookReader: Send + Sync {
    /// A whole book; `None` if there is none of that name.
    ///
    /// # Errors
    /// It cannot be read, or does not make sense.
    fn load<'a>(&'a self, book: &'a str) -> BoxFuture<'a, Result<Option<Book>, StoreError>>;

    /// One position of a book without its line; `None` if it is not there.
    ///
    /// # Errors
    /// As [`BookReader::load`].
    fn position<'a>(
        &'a self,
        book: &'a str,
        position: &'a Position,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>>;

    /// What searches have found about a position, in all books in the order of their names, in canonical orientation.
    ///
    /// # Errors
    /// As [`BookReader::load`].
    fn found<'a>(&'a self, position: &'a Position) -> BoxFuture<'a, Result<Vec<Found>, StoreError>>;

    /// What searches have found about the positions of a book with keys in a range, and their root moves.
    ///
    /// # Errors
    /// As [`BookReader::load`].
    fn root_moves<'a>(
        &'a self,
        book: &'a str,
        keys: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<BTreeMap<u64, Found>, StoreError>>;

    /// All books, in the order of their names.
    ///
    /// # Errors
    /// As [`BookReader::load`].
    fn list(&self) -> BoxFuture<'_, Result<Vec<Listed>, StoreError>>;

    /// Looks at everything that stands in a book's tables; `None` if there is none of that name.
    ///
    /// # Errors
    /// It cannot be read.
    fn check<'a>(&'a self, book: &'a str) -> BoxFuture<'a, Result<Option<Checked>, StoreError>>;
}

/// What a search has found about a position, and every searched root move, best first.
pub type Found = (Searched, Vec<Line>);

/// A book in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its positions.
    pub positions: u64,
    /// Those that were analysed.
    pub analysed: u64,
    /// Those whose value is another engine's.
    pub stale: u64,
}

/// What a check has found.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Positions looked at.
    pub positions: u64,
    /// What is wrong, the first ones, a sentence each.
    pub faults: Vec<String>,
    /// How many things are wrong.
    pub fault_count: u64,
    /// What the book should be.
    pub mended: Book,
}

/// A reader of a database.
#[derive(Debug)]
pub struct DatabaseReader(Source);

#[derive(Debug)]
enum Source {
    File(SqliteReader),
    Server(PostgresReader),
}

impl DatabaseReader {
    /// A reader of a store that is there, whoever holds it.
    #[must_use]
    pub fn new(place: &Place) -> Self {
        Self(match place {
            Place::File(path) => Source::File(SqliteReader::new(path)),
            Place::Postgres(url) => Source::Server(PostgresReader::new(url.clone())),
        })
    }

    /// A reader of a store that nobody need hold, for whoever only looks: it takes no lock, makes no file of its own and changes
    /// nothing, not even the schema.
    ///
    /// # Errors
    /// It cannot be read, is no store, or was made by an earlier or a later version.
    pub async fn open(place: &Place) -> Result<Self, StoreError> {
        let (source, mut line) = match place {
            Place::File(path) => {
                let (file, line) = SqliteReader::open(path).await?;
                (Source::File(file), line)
            }
            Place::Postgres(url) => {
                let server = PostgresReader::new(url.clone());
                let line = server.connect().await?;
                (Source::Server(server), line)
            }
        };
        let looked = schema::look(&mut line, &place.to_string()).await;
        // What is known is known.
        let _ = line.close().await;
        looked.map(|()| Self(source))
    }

    /// A line on which all answers are of one moment, whatever is written meanwhile.
    async fn connect(&self) -> Result<Connection, StoreError> {
        let (mut line, begin) = match &self.0 {
            Source::File(file) => (file.connect().await?, "BEGIN"),
            Source::Server(server) => {
                (server.connect().await?, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            }
        };
        line.run(begin).await.map_err(|error| read_fault(&error))?;
        Ok(line)
    }
}

/// Asks on a line of its own.
macro_rules! asked {
    ($reader:expr, $line:ident => $question:expr) => {
        Box::pin(async move {
            let mut $line = $reader.connect().await?;
            let answer = $question;
            // What is known is known.
            let _ = $line.close().await.map_err(|error| fault(&error));
            answer
        })
    };
}

impl BookReader for DatabaseReader {
    fn load<'a>(&'a self, book: &'a str) -> BoxFuture<'a, Result<Option<Book>, StoreError>> {
        asked!(self, line => load_book(&mut line, book).await)
    }

    fn position<'a>(
        &'a self,
        book: &'a str,
        position: &'a Position,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>> {
        asked!(self, line => load_position(&mut line, book, position).await)
    }

    fn found<'a>(&'a self, position: &'a Position) -> BoxFuture<'a, Result<Vec<Found>, StoreError>> {
        asked!(self, line => load_found(&mut line, position).await)
    }

    fn root_moves<'a>(
        &'a self,
        book: &'a str,
        keys: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<BTreeMap<u64, Found>, StoreError>> {
        asked!(self, line => load_root_moves(&mut line, book, keys).await)
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Listed>, StoreError>> {
        asked!(self, line => load_list(&mut line).await)
    }

    fn check<'a>(&'a self, book: &'a str) -> BoxFuture<'a, Result<Option<Checked>, StoreError>> {
        asked!(self, line => check(&mut line, book).await)
    }
}

async fn load_position(
    line: &mut Connection,
    book: &str,
    position: &Position,
) -> Result<Option<Record>, StoreError> {
    let key = key_text(position.canonical_key());
    let sql = concat!("SELECT ", position_columns!(), " FROM book_position WHERE book = $1 AND key = $2");
    let rows = select(line, sql, vec![book.into(), key.as_str().into()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let there = position_from(&row.text("position")?)?;
    if there != canonical(position) {
        return Ok(None);
    }
    let sql = "SELECT e.move AS made, p.value_source, p.value_kind, p.value_white, p.value_bound FROM book_edge e \
               JOIN book_position p ON p.book = e.book AND p.key = e.child WHERE e.book = $1 AND e.parent = $2 \
               ORDER BY e.move";
    let child = |row: &Row| -> Result<(Move, Option<Bounded>), StoreError> {
        let mv = move_from(&row.text("made")?)?;
        if row.text("value_source")?.is_empty() {
            return Ok((mv, None));
        }
        let score = score_from(&row.text("value_kind")?, row.number("value_white")?)?;
        Ok((mv, Some((score, bound_from(&row.text("value_bound")?)?))))
    };
    let children = select(line, sql, vec![book.into(), key.into()]).await?;
    let mut children = children.iter().map(child).collect::<Result<Vec<_>, _>>()?;
    // However the database sorts.
    children.sort_by_cached_key(|(mv, _)| mv.to_string());
    Ok(Some(Record {
        position: there,
        moves: None,
        searched: searched_from(row)?,
        value: value_from(row)?,
        children,
    }))
}

async fn load_found(line: &mut Connection, position: &Position) -> Result<Vec<Found>, StoreError> {
    let key = key_text(position.canonical_key());
    let sql = concat!(
        "SELECT book, ",
        position_columns!(),
        ", lines FROM book_position WHERE key = $1 AND depth > 0"
    );
    let wanted = canonical(position).to_string();
    let mut found = Vec::new();
    let rows = select(line, sql, vec![key.into()]).await?;
    let rows = rows.into_iter().map(|row| Ok((row.text("book")?, row)));
    let mut rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
    // In the same order whatever the database is.
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (_, row) in rows {
        if row.text("position")? != wanted {
            continue;
        }
        let lines = lines_in(&row)?;
        found.extend(searched_from(&row)?.map(|searched| (searched, lines)));
    }
    Ok(found)
}

fn lines_in(row: &Row) -> Result<Vec<Line>, StoreError> {
    lines_from_bytes(&row.bytes("lines")?).map_err(|error| super::rows::unreadable(error.to_string()))
}

async fn load_root_moves(
    line: &mut Connection,
    book: &str,
    keys: RangeInclusive<u64>,
) -> Result<BTreeMap<u64, Found>, StoreError> {
    // Whatever a database thinks of letters, digits come before them, and each key has as many of either.
    let sql = concat!(
        "SELECT ",
        position_columns!(),
        ", lines FROM book_position WHERE book = $1 AND key >= $2 AND key <= $3 AND depth > 0"
    );
    let (first, last) = (key_text(*keys.start()), key_text(*keys.end()));
    let rows = select(line, sql, vec![book.into(), first.into(), last.into()]).await?;
    let mut found = BTreeMap::new();
    for row in rows {
        let Some(searched) = searched_from(&row)? else { continue };
        found.insert(key_from(&row.text("key")?)?, (searched, lines_in(&row)?));
    }
    Ok(found)
}

async fn load_list(line: &mut Connection) -> Result<Vec<Listed>, StoreError> {
    let sql = "SELECT b.name AS name, count(p.key) AS positions, \
               count(CASE WHEN p.depth > 0 THEN 1 END) AS analysed, \
               count(CASE WHEN p.depth > 0 AND p.engine <> $1 THEN 1 END) AS stale \
               FROM book b LEFT JOIN book_position p ON p.book = b.name GROUP BY b.name";
    let listed = |row: &Row| -> Result<Listed, StoreError> {
        Ok(Listed {
            name: row.text("name")?,
            positions: narrow(row.number("positions")?, "positions")?,
            analysed: narrow(row.number("analysed")?, "analysed")?,
            stale: narrow(row.number("stale")?, "stale")?,
        })
    };
    let rows = select(line, sql, vec![ENGINE_EPOCH.into()]).await?;
    let mut books = rows.iter().map(listed).collect::<Result<Vec<_>, _>>()?;
    books.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(books)
}

// ---- checking -----------------------------------------------------------------------------------------------------

impl Checked {
    fn fault(&mut self, text: String) {
        self.fault_count += 1;
        if self.faults.len() < crate::limits::MAX_SHOWN_FAULTS {
            self.faults.push(text);
        }
    }
}

/// What a row says of a position, as far as it can be read.
struct Kept {
    key: String,
    value: Option<Result<BookValue, StoreError>>,
}

async fn check(line: &mut Connection, name: &str) -> Result<Option<Checked>, StoreError> {
    let there = select(line, "SELECT name FROM book WHERE name = $1", vec![name.into()]).await?;
    if there.is_empty() {
        return Ok(None);
    }
    let mut checked = Checked::default();
    let sql =
        concat!("SELECT ", position_columns!(), " FROM book_position WHERE book = $1 ORDER BY number, key");
    let mut kept: Vec<Kept> = Vec::new();
    let take = |row: Row| {
        kept.extend(check_row(&mut checked, &row)?);
        Ok(())
    };
    line.each(sql, vec![name.into()], take).await?;
    checked.mended.settle();
    check_edges(line, name, &mut checked).await?;
    check_values(&mut checked, &kept);
    Ok(Some(checked))
}

/// Takes over what a row says of a position; `None` if it says nothing that makes sense.
fn check_row(checked: &mut Checked, row: &Row) -> Result<Option<Kept>, StoreError> {
    checked.positions += 1;
    let key = row.text("key")?;
    let position = match row.text("position").and_then(|text| position_from(&text)) {
        Ok(position) => position,
        Err(error) => {
            checked.fault(format!("{key}: {}", plain(&error)));
            return Ok(None);
        }
    };
    if let Some(fault) = check_position(&position, &key) {
        checked.fault(format!("{key}: {fault}"));
    }
    // Whatever stands beside it, where a position belongs can be computed.
    if let Err(error) = checked.mended.insert(&position) {
        checked.fault(format!("{key}: {error}"));
        return Ok(None);
    }
    // The moves of a search are those of one orientation.
    if canonical(&position) == position {
        check_search(checked, row, &key, &position);
    }
    Ok(Some(Kept { key, value: value_from(row).transpose() }))
}

/// Why a position does not belong into the row in which it stands.
fn check_position(position: &Position, key: &str) -> Option<String> {
    if canonical(position) != *position {
        return Some(format!("position '{position}' is not in canonical orientation"));
    }
    let right = key_text(position.canonical_key());
    (right != key).then(|| format!("key is not that of '{position}', which is {right}"))
}

fn plain(error: &StoreError) -> String {
    let text = error.to_string();
    text.strip_prefix("store: ").unwrap_or(&text).to_owned()
}

/// Takes over what a search found, if it makes sense.
fn check_search(checked: &mut Checked, row: &Row, key: &str, position: &Position) {
    let searched = match searched_from(row) {
        Ok(None) => return,
        Ok(Some(_)) if position.winner().is_some() => {
            return checked.fault(format!("{key}: the game is over, but a search has a score for it"));
        }
        Ok(Some(searched)) => searched,
        Err(error) => return checked.fault(format!("{key}: {}", plain(&error))),
    };
    let record = Record {
        position: *position,
        moves: None,
        searched: Some(searched.clone()),
        value: None,
        children: Vec::new(),
    };
    match corridor_proto::convert::check_record(&record, None) {
        Ok(()) => {
            if let Some(id) = checked.mended.find(position) {
                checked.mended.learn(id, searched, ENGINE_EPOCH);
            }
        }
        Err(error) => checked.fault(format!("{key}: {error}")),
    }
}

async fn check_edges(line: &mut Connection, name: &str, checked: &mut Checked) -> Result<(), StoreError> {
    let sql = "SELECT parent, move, child FROM book_edge WHERE book = $1";
    let mut right = BTreeSet::new();
    for id in checked.mended.ids() {
        let node = checked.mended.node(id);
        let child = |edge: &corridor_shared::book::Edge| key_text(checked.mended.node(edge.child).key());
        right.extend(
            node.children().iter().map(|edge| (key_text(node.key()), edge.mv.to_string(), child(edge))),
        );
    }
    let take = |row: Row| {
        let edge = (row.text("parent")?, row.text("move")?, row.text("child")?);
        if right.remove(&edge) {
            return Ok(());
        }
        let (parent, mv, child) = edge;
        let is_there =
            |key: &str| u64::from_str_radix(key, 16).is_ok_and(|key| checked.mended.with_key(key).is_some());
        let why = if is_there(&parent) && is_there(&child) {
            "does not lead there"
        } else {
            "dangles: one end is not in the book"
        };
        checked.fault(format!("{parent}: edge {mv} to {child} {why}"));
        Ok(())
    };
    line.each(sql, vec![name.into()], take).await?;
    for (parent, mv, child) in right {
        checked.fault(format!("{parent}: edge {mv} to {child} is missing"));
    }
    Ok(())
}

/// What a bound means, before the score.
const fn at(bound: Bound) -> &'static str {
    match bound {
        Bound::Exact => "",
        Bound::Lower => "at least ",
        Bound::Upper => "at most ",
    }
}

fn check_values(checked: &mut Checked, kept: &[Kept]) {
    for Kept { key, value } in kept {
        let id = u64::from_str_radix(key, 16).ok().and_then(|key| checked.mended.with_key(key));
        let Some(id) = id else { continue };
        let right = checked.mended.node(id).value();
        match value {
            Some(Err(error)) => checked.fault(format!("{key}: {}", plain(error))),
            Some(Ok(value)) if Some(*value) == right => {}
            None if right.is_none() => {}
            Some(Ok(_)) | None => {
                let shown = |value: Option<BookValue>| {
                    value.map_or_else(
                        || "nothing".to_owned(),
                        |it| format!("{}{} from depth {}", at(it.bound), it.score_white, it.depth),
                    )
                };
                let is = value.as_ref().and_then(|value| value.as_ref().ok()).copied();
                checked.fault(format!("{key}: the book says {}, not {}", shown(is), shown(right)));
            }
        }
    }
}
