//! The tables of books: what a batch of entries writes, and what is read back. As with jobs, a batch is gathered first.

use std::collections::BTreeMap;
use std::sync::Arc;

use corridor_proto::convert::{book_spec_from_bytes, book_spec_to_bytes, lines_from_bytes, lines_to_bytes};
use corridor_shared::board::{Color, Move, Position};
use corridor_shared::book::{Alternative, Book, Edge, Effort, Node, Searched, Source, Value as BookValue};
use corridor_shared::job::{BookJobSpec, ENGINE_EPOCH, JobId, JobState, Line, RootPrune};
use corridor_shared::score::{Bound, Score, WhiteScore};

use super::StoreError;
use super::connection::{Connection, Row, Value};
use super::jobs::{load_events, load_standing, select, unix_ms};
use super::rows::{
    big, bound_from, move_from, moves_from, moves_to, narrow, score_columns, score_from, unreadable,
};
use crate::cluster::{Iteration, Keep, Kept, KeptBatch};

/// A position's key, as it stands in the tables.
pub(super) fn key_text(key: u64) -> String {
    format!("{key:016x}")
}

pub(super) fn key_from(text: &str) -> Result<u64, StoreError> {
    u64::from_str_radix(text, 16).map_err(|error| unreadable(format!("key '{text}': {error}")))
}

// ---- writing ------------------------------------------------------------------------------------------------------

/// Writes what a batch says of books, within the transaction that is open.
pub(super) async fn write(connection: &mut Connection, batch: &[Keep]) -> Result<(), sqlx::Error> {
    let mut rest = batch;
    while !rest.is_empty() {
        // What comes before a book is replaced must be there before that.
        let whole = rest.iter().position(|entry| matches!(entry, Keep::Rewrite { .. }));
        let (now, later) = rest.split_at(whole.unwrap_or(rest.len()));
        Changes::gather(now).write(connection).await?;
        rest = later;
        if let Some((Keep::Rewrite { name, book }, later)) = later.split_first() {
            rewrite(connection, name, book).await?;
            rest = later;
        }
    }
    Ok(())
}

type Place<'a> = (&'a str, u64);

/// What a batch comes to: of what is written over only the last.
#[derive(Default)]
struct Changes<'a> {
    jobs: Vec<(JobId, &'a BookJobSpec)>,
    books: Vec<&'a str>,
    positions: Vec<(&'a str, Option<JobId>, u32, &'a Position)>,
    edges: Vec<(&'a str, (u64, Move, u64))>,
    found: BTreeMap<Place<'a>, (&'a Searched, &'a [Line])>,
    efforts: BTreeMap<Place<'a>, Effort>,
    values: BTreeMap<Place<'a>, Option<BookValue>>,
    progress: BTreeMap<Place<'a>, (JobId, &'a Iteration)>,
    forgotten: Vec<JobId>,
}

impl<'a> Changes<'a> {
    fn gather(batch: &'a [Keep]) -> Self {
        let mut changes = Self::default();
        for entry in batch {
            match entry {
                Keep::BookJob { job, spec } => changes.jobs.push((*job, spec)),
                Keep::Positions { book, job, positions, edges } => {
                    changes.books.push(book);
                    changes.positions.extend(positions.iter().map(|(at, it)| (&**book, *job, *at, it)));
                    changes.edges.extend(edges.iter().map(|&edge| (&**book, edge)));
                }
                Keep::Found { book, key, searched, lines } => {
                    changes.progress.remove(&(&**book, *key));
                    changes.efforts.remove(&(&**book, *key));
                    changes.found.insert((book, *key), (searched, lines));
                }
                Keep::Effort { book, key, effort } => {
                    changes.progress.remove(&(&**book, *key));
                    changes.efforts.insert((book, *key), *effort);
                }
                Keep::Values { book, values } => {
                    changes.values.extend(values.iter().map(|&(key, value)| ((&**book, key), value)));
                }
                Keep::Progress { book, key, job, iteration } => {
                    changes.progress.insert((book, *key), (*job, iteration));
                }
                Keep::Forget { job } => changes.forgotten.push(*job),
                Keep::Job { .. } | Keep::Event { .. } | Keep::Standing { .. } | Keep::Rewrite { .. } => {}
            }
        }
        changes
    }

    async fn write(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        self.write_jobs(connection).await?;
        self.write_positions(connection).await?;
        write_edges(connection, self.edges.iter().copied()).await?;
        write_found(connection, self.found.iter().map(|(&at, &(searched, lines))| (at, searched, lines)))
            .await?;
        write_efforts(connection, self.efforts.iter().map(|(&at, &effort)| (at, effort))).await?;
        write_values(connection, self.values.iter().map(|(&at, &value)| (at, value))).await?;
        self.write_progress(connection).await
    }

    async fn write_jobs(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        let row = |(job, spec): &(JobId, &'a BookJobSpec)| -> [Value<'a>; 14] {
            [
                big(job.0).into(),
                "".into(),
                book_spec_to_bytes(spec).into(),
                Value::Perhaps(spec.traceparent.as_deref()),
                unix_ms().into(),
                JobState::Queued.name().into(),
                0.into(),
                0.into(),
                0.into(),
                0.into(),
                0.into(),
                ENGINE_EPOCH.into(),
                Value::from(&*spec.book),
                spec.task.name().into(),
            ]
        };
        let before = "INSERT INTO job (id, position, spec, traceparent, accepted_unix_ms, state, paused, nodes, elapsed_ms, \
                      depth, depth_nodes, engine, book, task)";
        let rows = self.jobs.iter().map(row).collect();
        // One that is told again has another priority.
        connection.run_for(before, rows, "ON CONFLICT (id) DO UPDATE SET spec = excluded.spec").await
    }

    async fn write_positions(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        let mut books = self.books.clone();
        books.sort_unstable();
        books.dedup();
        let rows = books.into_iter().map(|book| [book.into(), unix_ms().into()]).collect();
        let before = "INSERT INTO book (name, created_unix_ms)";
        connection.run_for(before, rows, "ON CONFLICT (name) DO NOTHING").await?;
        let row = |&(book, job, number, position): &(&'a str, Option<JobId>, u32, &'a Position)| {
            position_row(book, job, number, position)
        };
        insert_positions(connection, self.positions.iter().map(row).collect()).await
    }

    async fn write_progress(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        let row = |(&(book, key), &(job, iteration)): (&Place<'a>, &(JobId, &'a Iteration))| {
            [
                book.into(),
                key_text(key).into(),
                big(job.0).into(),
                i64::from(iteration.depth).into(),
                big(iteration.nodes).into(),
                lines_to_bytes(&iteration.lines).into(),
                moves_to(&iteration.order).into(),
            ]
        };
        let rows = self.progress.iter().map(row).collect();
        let before = "INSERT INTO book_progress (book, key, job, depth, nodes, lines, moves)";
        let after = "ON CONFLICT (book, key) DO UPDATE SET job = excluded.job, depth = excluded.depth, \
                     nodes = excluded.nodes, lines = excluded.lines, moves = excluded.moves";
        connection.run_for(before, rows, after).await?;
        let over = self.forgotten.iter().map(|job| [big(job.0).into()]).collect();
        connection.run_for("DELETE FROM book_progress WHERE job IN (", over, ")").await
    }
}

fn position_row<'a>(book: &'a str, job: Option<JobId>, number: u32, position: &Position) -> [Value<'a>; 5] {
    [
        book.into(),
        key_text(position.canonical_key()).into(),
        i64::from(number).into(),
        position.to_string().into(),
        big(job.map_or(0, |job| job.0)).into(),
    ]
}

async fn insert_positions(connection: &mut Connection, rows: Vec<[Value<'_>; 5]>) -> Result<(), sqlx::Error> {
    let before = "INSERT INTO book_position (book, key, number, position, job)";
    connection.run_for(before, rows, "ON CONFLICT (book, key) DO NOTHING").await
}

async fn write_edges<'a>(
    connection: &mut Connection,
    edges: impl Iterator<Item = (&'a str, (u64, Move, u64))>,
) -> Result<(), sqlx::Error> {
    let row = |(book, (parent, mv, child)): (&'a str, (u64, Move, u64))| {
        [book.into(), key_text(parent).into(), mv.to_string().into(), key_text(child).into()]
    };
    let before = "INSERT INTO book_edge (book, parent, move, child)";
    let after = "ON CONFLICT (book, parent, move) DO NOTHING";
    connection.run_for(before, edges.map(row).collect(), after).await
}

async fn write_found<'a>(
    connection: &mut Connection,
    found: impl Iterator<Item = (Place<'a>, &'a Searched, &'a [Line])>,
) -> Result<(), sqlx::Error> {
    let (mut rows, mut over): (Vec<[Value<'_>; 19]>, Vec<[Value<'_>; 2]>) = (Vec::new(), Vec::new());
    for ((book, key), searched, lines) in found {
        let (kind, score) = score_columns(searched.score_white);
        rows.push([
            book.into(),
            key_text(key).into(),
            i64::from(searched.depth).into(),
            kind.into(),
            score.into(),
            searched.bound.name().into(),
            searched.best_move.map_or_else(String::new, |mv| mv.to_string()).into(),
            moves_to(&searched.pv).into(),
            big(searched.nodes).into(),
            Value::from(&*searched.engine),
            big(searched.analysed_at).into(),
            Value::from(&*searched.worker),
            i64::from(searched.multipv).into(),
            prune_name(searched.prune).into(),
            i64::from(searched.deterministic).into(),
            lines_to_bytes(lines).into(),
            others_to_bytes(&searched.others).into(),
            big(searched.effort.nodes).into(),
            big(searched.effort.ms).into(),
        ]);
        over.push([book.into(), key_text(key).into()]);
    }
    let before = "WITH new (book, key, depth, score_kind, score_white, bound_white, best_move, pv, nodes, engine, \
                  analysed_unix_s, worker, multipv, prune, deterministic, lines, others, effort_nodes, \
                  effort_ms) AS (";
    let after = ") UPDATE book_position SET depth = new.depth, score_kind = new.score_kind, \
                 score_white = new.score_white, bound_white = new.bound_white, best_move = new.best_move, pv = new.pv, \
                 nodes = new.nodes, engine = new.engine, analysed_unix_s = new.analysed_unix_s, worker = new.worker, \
                 multipv = new.multipv, prune = new.prune, deterministic = new.deterministic, lines = new.lines, \
                 others = new.others, effort_nodes = new.effort_nodes, effort_ms = new.effort_ms FROM new WHERE book_position.book = new.book AND book_position.key = new.key";
    connection.run_for(before, rows, after).await?;
    end_progress(connection, over).await
}

/// Searches have found nothing better than what is there.
async fn write_efforts<'a>(
    connection: &mut Connection,
    efforts: impl Iterator<Item = (Place<'a>, Effort)>,
) -> Result<(), sqlx::Error> {
    let (mut rows, mut over): (Vec<[Value<'_>; 4]>, Vec<[Value<'_>; 2]>) = (Vec::new(), Vec::new());
    for ((book, key), effort) in efforts {
        rows.push([book.into(), key_text(key).into(), big(effort.nodes).into(), big(effort.ms).into()]);
        over.push([book.into(), key_text(key).into()]);
    }
    let before = "WITH new (book, key, nodes, ms) AS (";
    let after = ") UPDATE book_position SET effort_nodes = new.nodes, effort_ms = new.ms FROM new \
                 WHERE book_position.book = new.book AND book_position.key = new.key";
    connection.run_for(before, rows, after).await?;
    end_progress(connection, over).await
}

/// What was kept of searches that have ended is of no use any more.
async fn end_progress(connection: &mut Connection, over: Vec<[Value<'_>; 2]>) -> Result<(), sqlx::Error> {
    let before = "WITH new (book, key) AS (";
    let after = ") DELETE FROM book_progress WHERE EXISTS (SELECT 1 FROM new \
                 WHERE new.book = book_progress.book AND new.key = book_progress.key)";
    connection.run_for(before, over, after).await
}

async fn write_values<'a>(
    connection: &mut Connection,
    values: impl Iterator<Item = (Place<'a>, Option<BookValue>)>,
) -> Result<(), sqlx::Error> {
    let row = |((book, key), value): (Place<'a>, Option<BookValue>)| -> [Value<'a>; 8] {
        let columns = ValueColumns::new(value);
        [
            book.into(),
            key_text(key).into(),
            columns.source.into(),
            columns.kind.into(),
            columns.score.into(),
            columns.bound.into(),
            columns.depth.into(),
            columns.mv.into(),
        ]
    };
    let before = "WITH new (book, key, source, kind, white, bound, depth, move) AS (";
    let after = ") UPDATE book_position SET value_source = new.source, value_kind = new.kind, \
                 value_white = new.white, value_bound = new.bound, value_depth = new.depth, value_move = new.move \
                 FROM new WHERE book_position.book = new.book AND book_position.key = new.key";
    connection.run_for(before, values.map(row).collect(), after).await
}

/// A book is another one now: its positions, edges and values are those, whatever was there. Root moves and the jobs that have
/// added positions stay where the positions do.
async fn rewrite(connection: &mut Connection, name: &str, book: &Book) -> Result<(), sqlx::Error> {
    let created = vec![[name.into(), unix_ms().into()]];
    let before = "INSERT INTO book (name, created_unix_ms)";
    connection.run_for(before, created, "ON CONFLICT (name) DO NOTHING").await?;
    let lines = root_moves(connection, name).await?;
    connection.run_for("DELETE FROM book_edge WHERE book IN (", vec![[name.into()]], ")").await?;
    let there = connection.fetch("SELECT key FROM book_position WHERE book = $1", vec![name.into()]).await?;
    let mut gone = Vec::new();
    for row in there {
        // A key that does not read is no position's.
        let Ok(text) = row.text("key") else { continue };
        let known = key_from(&text).ok().filter(|&key| key_text(key) == text);
        if known.is_none_or(|key| book.with_key(key).is_none()) {
            gone.push([name.into(), text.into()]);
        }
    }
    let before = "WITH gone (book, key) AS (";
    let after = ") DELETE FROM book_position WHERE EXISTS (SELECT 1 FROM gone \
                 WHERE gone.book = book_position.book AND gone.key = book_position.key)";
    connection.run_for(before, gone, after).await?;
    rewrite_positions(connection, name, book, &lines).await?;
    let edges = book.ids().flat_map(|id| edges_of(book, book.node(id)));
    write_edges(connection, edges.map(|edge| (name, edge))).await
}

async fn rewrite_positions(
    connection: &mut Connection,
    name: &str,
    book: &Book,
    lines: &BTreeMap<String, Vec<Line>>,
) -> Result<(), sqlx::Error> {
    let number = |id: corridor_shared::book::NodeId| u32::try_from(id.index()).unwrap_or(u32::MAX);
    let row = |id| position_row(name, None, number(id), book.node(id).position());
    insert_positions(connection, book.ids().map(row).collect()).await?;
    // What stands there under the key may be anything.
    let place = |id| -> [Value<'_>; 4] {
        let node = book.node(id);
        [
            name.into(),
            key_text(node.key()).into(),
            i64::from(number(id)).into(),
            node.position().to_string().into(),
        ]
    };
    let before = "WITH new (book, key, number, position) AS (";
    let after = ") UPDATE book_position SET number = new.number, position = new.position \
                 FROM new WHERE book_position.book = new.book AND book_position.key = new.key";
    connection.run_for(before, book.ids().map(place).collect(), after).await?;
    rewrite_searches(connection, name, book, lines).await?;
    let value = |id| ((name, book.node(id).key()), book.node(id).value());
    write_values(connection, book.ids().map(value)).await
}

/// What searches have found, with the root moves that were there.
async fn rewrite_searches(
    connection: &mut Connection,
    name: &str,
    book: &Book,
    lines: &BTreeMap<String, Vec<Line>>,
) -> Result<(), sqlx::Error> {
    let nothing = Searched {
        depth: 0,
        score_white: WhiteScore::Cm(0),
        bound: Bound::Exact,
        best_move: None,
        pv: Vec::new(),
        nodes: 0,
        engine: "".into(),
        analysed_at: 0,
        worker: "".into(),
        multipv: 0,
        prune: RootPrune::Cat,
        deterministic: false,
        others: Vec::new(),
        effort: Effort::default(),
    };
    let none: Vec<Line> = Vec::new();
    let found = book.ids().map(|id| {
        let node = book.node(id);
        let lines = node.searched().and_then(|_| lines.get(&node.position().to_string()));
        ((name, node.key()), node.searched().unwrap_or(&nothing), lines.unwrap_or(&none).as_slice())
    });
    write_found(connection, found).await
}

/// Root moves by their positions, as those stand there, whatever the key says.
async fn root_moves(
    connection: &mut Connection,
    name: &str,
) -> Result<BTreeMap<String, Vec<Line>>, sqlx::Error> {
    let sql = "SELECT position, lines FROM book_position WHERE book = $1 AND depth > 0";
    let mut kept = BTreeMap::new();
    for row in connection.fetch(sql, vec![name.into()]).await? {
        if let (Ok(position), Ok(bytes)) = (row.text("position"), row.bytes("lines")) {
            kept.insert(position, lines_from_bytes(&bytes).unwrap_or_default());
        }
    }
    Ok(kept)
}

fn edges_of<'a>(book: &'a Book, node: &'a Node) -> impl Iterator<Item = (u64, Move, u64)> + 'a {
    let ends = |edge: &Edge| (node.key(), edge.mv, book.node(edge.child).key());
    node.children().iter().map(ends)
}

const fn prune_name(prune: RootPrune) -> &'static str {
    match prune {
        RootPrune::Cat => "cat",
        RootPrune::None => "none",
        RootPrune::Audit => "audit",
    }
}

fn prune_from(name: &str) -> Result<RootPrune, StoreError> {
    let all = [RootPrune::Cat, RootPrune::None, RootPrune::Audit];
    let found = all.into_iter().find(|&prune| prune_name(prune) == name);
    found.ok_or_else(|| unreadable(format!("prune: there is no '{name}'")))
}

/// See the table.
fn others_to_bytes(others: &[Alternative]) -> Vec<u8> {
    let bytes = |other: &Alternative| {
        let score = i16::try_from(other.score_white.to_engine(Color::White)).unwrap_or(0);
        let [high, low] = score.to_be_bytes();
        [other.mv.index(), high, low, other.bound as u8]
    };
    others.iter().flat_map(bytes).collect()
}

fn others_from_bytes(bytes: &[u8]) -> Result<Vec<Alternative>, StoreError> {
    let (whole, rest) = bytes.as_chunks::<4>();
    let other = |&[mv, high, low, bound]: &[u8; 4]| {
        let score = Score::from(i16::from_be_bytes([high, low]));
        let bound = [Bound::Upper, Bound::Lower, Bound::Exact].into_iter().find(|it| *it as u8 == bound);
        Some(Alternative {
            mv: Move::from_index(mv)?,
            score_white: WhiteScore::from_engine(score, Color::White),
            bound: bound?,
        })
    };
    let others: Option<Vec<Alternative>> = whole.iter().map(other).collect();
    others.filter(|_| rest.is_empty()).ok_or_else(|| unreadable("others: no root moves"))
}

/// A value's columns.
struct ValueColumns {
    source: &'static str,
    kind: &'static str,
    score: i64,
    bound: &'static str,
    depth: i64,
    mv: String,
}

impl ValueColumns {
    fn new(value: Option<BookValue>) -> Self {
        let Some(value) = value else {
            return Self { source: "", kind: "", score: 0, bound: "", depth: 0, mv: String::new() };
        };
        let (kind, score) = score_columns(value.score_white);
        let (source, mv) = match value.source {
            Source::Rules => ("rules", String::new()),
            Source::Search => ("search", String::new()),
            Source::BackedUp(mv) => ("backed_up", mv.to_string()),
        };
        Self { source, kind, score, bound: value.bound.name(), depth: value.depth.into(), mv }
    }
}

// ---- reading ------------------------------------------------------------------------------------------------------

/// What stands in a row of a position, its own search.
pub(super) fn searched_from(row: &Row) -> Result<Option<Searched>, StoreError> {
    let depth: u8 = narrow(row.number("depth")?, "depth")?;
    if depth == 0 {
        return Ok(None);
    }
    let best = row.text("best_move")?;
    Ok(Some(Searched {
        depth,
        score_white: score_from(&row.text("score_kind")?, row.number("score_white")?)?,
        bound: bound_from(&row.text("bound_white")?)?,
        best_move: if best.is_empty() { None } else { Some(move_from(&best)?) },
        pv: moves_from(&row.text("pv")?)?,
        nodes: narrow(row.number("nodes")?, "nodes")?,
        engine: row.text("engine")?.into(),
        analysed_at: narrow(row.number("analysed_unix_s")?, "analysed_unix_s")?,
        worker: row.text("worker")?.into(),
        multipv: narrow(row.number("multipv")?, "multipv")?,
        prune: prune_from(&row.text("prune")?)?,
        deterministic: row.number("deterministic")? != 0,
        others: others_from_bytes(&row.bytes("others")?)?,
        effort: Effort {
            nodes: narrow(row.number("effort_nodes")?.max(row.number("nodes")?), "effort_nodes")?,
            ms: narrow(row.number("effort_ms")?, "effort_ms")?,
        },
    }))
}

/// What a book says, as a row has it.
pub(super) fn value_from(row: &Row) -> Result<Option<BookValue>, StoreError> {
    let source = match row.text("value_source")?.as_str() {
        "" => return Ok(None),
        "rules" => Source::Rules,
        "search" => Source::Search,
        "backed_up" => Source::BackedUp(move_from(&row.text("value_move")?)?),
        other => return Err(unreadable(format!("value_source: there is no '{other}'"))),
    };
    Ok(Some(BookValue {
        score_white: score_from(&row.text("value_kind")?, row.number("value_white")?)?,
        bound: bound_from(&row.text("value_bound")?)?,
        depth: narrow(row.number("value_depth")?, "value_depth")?,
        source,
    }))
}

pub(super) fn position_from(text: &str) -> Result<Position, StoreError> {
    text.parse().map_err(|error| unreadable(format!("position '{text}': {error}")))
}

/// The columns of a position that are read as a whole: everything but the root moves.
macro_rules! position_columns {
    () => {
        "key, number, position, depth, score_kind, score_white, bound_white, best_move, pv, nodes, engine, \
         analysed_unix_s, worker, multipv, prune, deterministic, others, effort_nodes, effort_ms, value_source, value_kind, value_white, \
         value_bound, value_depth, value_move"
    };
}
pub(super) use position_columns;

/// A book; `None` if there is none of that name.
pub(super) async fn load_book(connection: &mut Connection, name: &str) -> Result<Option<Book>, StoreError> {
    let positions =
        concat!("SELECT ", position_columns!(), " FROM book_position WHERE book = $1 ORDER BY number");
    let (mut found, mut edges) = (Vec::new(), Vec::new());
    let take = |row: Row| {
        found.push((position_from(&row.text("position")?)?, searched_from(&row)?));
        Ok(())
    };
    connection.each(positions, vec![name.into()], take).await?;
    if found.is_empty() {
        let there = select(connection, "SELECT name FROM book WHERE name = $1", vec![name.into()]).await?;
        return Ok((!there.is_empty()).then(Book::new));
    }
    let sql = "SELECT parent, move, child FROM book_edge WHERE book = $1";
    let take = |row: Row| {
        let [parent, child] = ["parent", "child"].map(|end| row.text(end).and_then(|key| key_from(&key)));
        edges.push((parent?, move_from(&row.text("move")?)?, child?));
        Ok(())
    };
    connection.each(sql, vec![name.into()], take).await?;
    let book = Book::assemble(found, edges);
    book.map(Some).map_err(|error| {
        unreadable(format!("book '{name}': {error}: corridor book check --fix --book {name} mends that"))
    })
}

/// The jobs that work on books, and the books of those that have not ended.
pub(super) async fn load(connection: &mut Connection, kept: &mut Kept) -> Result<(), StoreError> {
    let jobs = select(connection, "SELECT * FROM job WHERE book <> '' ORDER BY id", Vec::new()).await?;
    let mut added: BTreeMap<i64, i64> = BTreeMap::new();
    if !jobs.is_empty() {
        let sql = "SELECT job, count(*) AS positions FROM book_position WHERE job > 0 GROUP BY job";
        for row in select(connection, sql, Vec::new()).await? {
            added.insert(row.number("job")?, row.number("positions")?);
        }
    }
    for row in jobs {
        let id = row.number("id")?;
        let job = JobId(narrow(id, "id")?);
        let added = narrow(added.get(&id).copied().unwrap_or(0), "positions")?;
        let batch = load_batch(connection, job, &row, added).await.map_err(|error| match error {
            StoreError::Unreadable(text) => unreadable(format!("job {job}: {text}")),
            other => other,
        })?;
        if !batch.standing.state.is_final() && !kept.books.contains_key(&batch.spec.book) {
            let book = load_book(connection, &batch.spec.book).await?.unwrap_or_default();
            kept.books.insert(Arc::clone(&batch.spec.book), book);
        }
        kept.batches.push(batch);
    }
    Ok(())
}

async fn load_batch(
    connection: &mut Connection,
    job: JobId,
    row: &Row,
    added: u64,
) -> Result<KeptBatch, StoreError> {
    let traceparent = row.perhaps("traceparent")?.map(Arc::from);
    let spec = book_spec_from_bytes(&row.text("task")?, &row.bytes("spec")?, traceparent)
        .map_err(|error| unreadable(error.to_string()))?;
    let standing = load_standing(row)?;
    let sql = "SELECT key, depth, nodes, lines, moves FROM book_progress WHERE job = $1";
    let mut progress = BTreeMap::new();
    for row in select(connection, sql, vec![big(job.0).into()]).await? {
        progress.insert(key_from(&row.text("key")?)?, iteration_from(&row)?);
    }
    let events = load_events(connection, job).await?;
    Ok(KeptBatch { job, spec, standing, events, added, progress })
}

fn iteration_from(row: &Row) -> Result<Iteration, StoreError> {
    Ok(Iteration {
        depth: narrow(row.number("depth")?, "depth")?,
        nodes: narrow(row.number("nodes")?, "nodes")?,
        lines: lines_from_bytes(&row.bytes("lines")?).map_err(|error| unreadable(error.to_string()))?,
        order: moves_from(&row.text("moves")?)?,
    })
}
