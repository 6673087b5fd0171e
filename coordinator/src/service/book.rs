//! `corridor.v1.Book`. What is asked about a book is read from the store, beside the driver; what changes one goes through it.

mod import;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use corridor_proto::convert::{
    book_analyze_from_wire, book_name, expand_from_wire, node_bytes, position_from_spec, record_to_wire,
    root_moves_to_wire,
};
use corridor_proto::v1;
use corridor_shared::board::Position;
use corridor_shared::book::{Book, Record, canonical};
use corridor_shared::exchange::folded;
use corridor_shared::job::{BookJobSpec, ENGINE_EPOCH, JobId, Line};
use futures_util::Stream;
use futures_util::stream::{self, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use self::import::Import;
use super::analysis::{Events, encode, traceparent};
use super::{malformed, unanswered, unread, wrong_answer};
use crate::cluster::{Answer, Entered, Question};
use crate::driver::Handle;
use crate::limits::{ENTERED_AT_ONCE, EXPORTED_AT_ONCE, EXPORTED_BYTES};
use crate::store::{BookReader, Checked, Listed};

/// Opening books.
#[derive(Clone)]
pub struct BookService {
    cluster: Handle,
    books: Option<Arc<dyn BookReader>>,
    /// What is written is kept nowhere.
    only_shows: bool,
}

impl std::fmt::Debug for BookService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BookService").finish_non_exhaustive()
    }
}

type Exported = Pin<Box<dyn Stream<Item = Result<v1::ExportResponse, Status>> + Send>>;

impl BookService {
    /// A service in front of a driver, with a look into its store if it has one.
    #[must_use]
    pub fn new(cluster: Handle, books: Option<Arc<dyn BookReader>>) -> Self {
        Self { cluster, books, only_shows: false }
    }

    /// The same in front of a driver without a store: books are shown, and nothing is changed.
    #[must_use]
    pub fn that_only_shows(self) -> Self {
        Self { only_shows: true, ..self }
    }

    /// Nothing is accepted that cannot be kept.
    fn check_writes(&self) -> Result<(), Status> {
        self.reader()?;
        let text = "this coordinator only shows the books of a store";
        if self.only_shows { Err(Status::failed_precondition(text)) } else { Ok(()) }
    }

    fn reader(&self) -> Result<&Arc<dyn BookReader>, Status> {
        let text = "this coordinator keeps no books: start it with --store";
        self.books.as_ref().ok_or_else(|| Status::failed_precondition(text))
    }

    async fn ask(&self, question: Question) -> Result<Answer, Status> {
        self.cluster.ask(question).await.map_err(|error| unanswered(&error))
    }

    /// Brings a book into memory, if it is not there. With `new` it may be one that nobody has heard of.
    async fn open(&self, name: &Arc<str>, new: bool) -> Result<(), Status> {
        if self.ask(Question::IsOpen(Arc::clone(name))).await? == Answer::IsOpen(true) {
            return Ok(());
        }
        let kept = self.reader()?.load(name).await.map_err(|error| unread(&error))?;
        let book = match kept {
            Some(book) => book,
            None if new => Book::new(),
            None => return Err(no_book(name)),
        };
        // Whoever was quicker has opened the same one.
        self.ask(Question::Open { name: Arc::clone(name), book: Box::new(book) }).await.map(drop)
    }

    async fn load(&self, name: &str) -> Result<Book, Status> {
        let kept = self.reader()?.load(name).await.map_err(|error| unread(&error))?;
        kept.ok_or_else(|| no_book(name))
    }

    /// Adds what was gathered, a little at a time, so that workers are heard in between.
    async fn enter(&self, import: Import, name: &Arc<str>) -> Result<Entered, Status> {
        self.open(name, true).await?;
        let mut all = Entered::default();
        let mut parts: Vec<Question> = Vec::new();
        for positions in import.positions.chunks(ENTERED_AT_ONCE) {
            let (book, positions) = (Arc::clone(name), positions.to_vec());
            parts.push(Question::Enter { book, positions, found: Vec::new() });
        }
        for found in import.found.chunks(ENTERED_AT_ONCE) {
            let (book, found) = (Arc::clone(name), found.to_vec());
            parts.push(Question::Enter { book, positions: Vec::new(), found });
        }
        if parts.is_empty() {
            let (book, positions) = (Arc::clone(name), Vec::new());
            parts.push(Question::Enter { book, positions, found: Vec::new() });
        }
        for part in parts {
            let Answer::Entered(entered) = self.ask(part).await? else { return Err(wrong_answer()) };
            all.new_positions += entered.new_positions;
            all.new_values += entered.new_values;
            all.positions = entered.positions;
        }
        Ok(all)
    }

    /// Hands in a book's job that nobody watches yet, or joins one that does the same.
    ///
    /// # Errors
    /// There is no such book, or the cluster refuses.
    pub(crate) async fn hand_in(&self, spec: BookJobSpec) -> Result<JobId, Status> {
        self.open(&spec.book, false).await?;
        match self.ask(Question::SubmitBook { spec: Box::new(spec), watcher: None }).await? {
            Answer::Job(job) => Ok(job),
            _ => Err(wrong_answer()),
        }
    }

    /// What a book says of a position, in canonical orientation.
    ///
    /// # Errors
    /// There is no store, it cannot be read, or the position is not in the book.
    pub(crate) async fn record(&self, name: &str, position: &Position) -> Result<Record, Status> {
        let found = self.reader()?.position(name, position).await.map_err(|error| unread(&error))?;
        found.ok_or_else(|| Status::not_found(format!("position: it is not in book '{name}'")))
    }

    /// The same, or nothing if the position is not in the book.
    ///
    /// # Errors
    /// As [`BookService::record`].
    pub(crate) async fn record_if_there(
        &self,
        name: &str,
        position: &Position,
    ) -> Result<Option<Record>, Status> {
        let found = self.reader()?.position(name, position).await.map_err(|error| unread(&error))?;
        if found.is_none() && self.listed().await?.iter().all(|book| book.name != name) {
            return Err(no_book(name));
        }
        Ok(found)
    }

    /// The books; none without a store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) async fn listed(&self) -> Result<Vec<Listed>, Status> {
        let Some(books) = &self.books else { return Ok(Vec::new()) };
        books.list().await.map_err(|error| unread(&error))
    }

    /// Hands a book's job in and streams its events.
    async fn stream<T: Send + 'static>(
        &self,
        spec: BookJobSpec,
        wrap: fn(v1::Event) -> T,
    ) -> Result<Response<Events<T>>, Status> {
        self.check_writes()?;
        self.open(&spec.book, false).await?;
        let events = self.cluster.work_on_book(spec).await.map_err(|error| unanswered(&error))?;
        Ok(Response::new(encode(events, wrap)))
    }
}

/// Positions, so many at once. They are made when they are asked for, as fast as the client reads: in wire form a book takes many
/// times its size.
fn parts(records: impl Iterator<Item = Record> + Send) -> impl Iterator<Item = Vec<Record>> + Send {
    let mut records = records.fuse();
    std::iter::from_fn(move || {
        let next: Vec<Record> = records.by_ref().take(EXPORTED_AT_ONCE).collect();
        (!next.is_empty()).then_some(next)
    })
}

/// Root moves as a store keeps them, for those who ask for them.
type RootMoves = Option<(Arc<dyn BookReader>, Arc<str>)>;

/// Positions for the wire, with their root moves if they are wanted. Of one that was searched anew since the book was read there are
/// none: they would be those of another search.
async fn exported(root_moves: RootMoves, records: Vec<Record>) -> Result<Vec<v1::ExportResponse>, Status> {
    let mut found = match (root_moves, &records[..]) {
        (Some((reader, book)), [first, .., last] | [first @ last]) => {
            let found = reader.root_moves(&book, first.key()..=last.key()).await;
            found.map_err(|error| unread(&error))?
        }
        _ => BTreeMap::new(),
    };
    let node = |record: Record| {
        let mut node = record_to_wire(&record, ENGINE_EPOCH);
        let found = found.remove(&record.key());
        if let Some((_, lines)) = found.filter(|(searched, _)| Some(searched) == record.searched.as_ref()) {
            root_moves_to_wire(&mut node, &lines);
        }
        node
    };
    Ok(messages(records.into_iter().map(node)))
}

/// Messages none of which is too large.
fn messages(nodes: impl Iterator<Item = v1::BookNode>) -> Vec<v1::ExportResponse> {
    let (mut messages, mut open, mut bytes) = (Vec::new(), v1::ExportResponse::default(), 0);
    for node in nodes {
        bytes += node_bytes(&node);
        open.nodes.push(node);
        if bytes >= EXPORTED_BYTES {
            messages.push(std::mem::take(&mut open));
            bytes = 0;
        }
    }
    messages.extend((!open.nodes.is_empty()).then_some(open));
    messages
}

fn no_book(name: &str) -> Status {
    Status::not_found(format!("book: there is no book '{name}'"))
}

/// The position's text of an event that is about one.
fn position_of(event: &v1::Event) -> String {
    match &event.kind {
        Some(v1::event::Kind::Position(event)) => {
            event.node.as_ref().map_or_else(String::new, |node| node.position.clone())
        }
        Some(v1::event::Kind::PositionFailed(event)) => event.position.clone(),
        _ => String::new(),
    }
}

#[tonic::async_trait]
impl v1::book_server::Book for BookService {
    type AnalyzeStream = Events<v1::BookAnalyzeResponse>;
    type ExpandStream = Events<v1::ExpandResponse>;
    type ExportStream = Exported;

    async fn import(
        &self,
        request: Request<Streaming<v1::ImportRequest>>,
    ) -> Result<Response<v1::ImportResponse>, Status> {
        self.check_writes()?;
        let mut parts = request.into_inner();
        let mut import = Import::default();
        while let Some(part) = parts.message().await? {
            import.take(&part).map_err(|error| malformed(&error))?;
            tokio::task::yield_now().await;
        }
        let Some(head) = import.head().cloned() else {
            return Err(Status::invalid_argument("book: nothing was sent"));
        };
        let (games, fault_count) = (import.games, import.fault_count);
        let faults = std::mem::take(&mut import.faults);
        let entered = if fault_count == 0 || head.keep_going {
            self.enter(import, &head.book).await?
        } else {
            Entered::default()
        };
        Ok(Response::new(v1::ImportResponse {
            games,
            new_positions: entered.new_positions,
            positions: entered.positions,
            new_values: entered.new_values,
            faults,
            fault_count,
        }))
    }

    async fn analyze(
        &self,
        request: Request<v1::BookAnalyzeRequest>,
    ) -> Result<Response<Self::AnalyzeStream>, Status> {
        let traceparent = traceparent(&request);
        let spec =
            book_analyze_from_wire(request.get_ref(), traceparent).map_err(|error| malformed(&error))?;
        self.stream(spec, |event| v1::BookAnalyzeResponse {
            position: position_of(&event),
            event: Some(event),
        })
        .await
    }

    async fn expand(
        &self,
        request: Request<v1::ExpandRequest>,
    ) -> Result<Response<Self::ExpandStream>, Status> {
        let traceparent = traceparent(&request);
        let spec = expand_from_wire(request.get_ref(), traceparent).map_err(|error| malformed(&error))?;
        self.stream(spec, |event| v1::ExpandResponse { position: position_of(&event), event: Some(event) })
            .await
    }

    async fn node(&self, request: Request<v1::NodeRequest>) -> Result<Response<v1::NodeResponse>, Status> {
        let request = request.get_ref();
        let name = book_name(&request.book, "book").map_err(|error| malformed(&error))?;
        let position =
            position_from_spec(request.position.as_ref(), "position").map_err(|error| malformed(&error))?;
        let record = self.record(&name, &position).await?;
        let node = v1::BookNode { unreachable: false, ..record_to_wire(&record, ENGINE_EPOCH) };
        Ok(Response::new(v1::NodeResponse { node: Some(node) }))
    }

    async fn export(
        &self,
        request: Request<v1::ExportRequest>,
    ) -> Result<Response<Self::ExportStream>, Status> {
        let request = request.into_inner();
        let name = book_name(&request.book, "book").map_err(|error| malformed(&error))?;
        let after =
            match request.after_key.as_str() {
                "" => None,
                key => Some(u64::from_str_radix(key, 16).map_err(|_| {
                    Status::invalid_argument("after_key: sixteen hexadecimal digits are wanted")
                })?),
            };
        // The book is the client's own, of one moment: whoever reads slowly holds neither a lock nor a line to the store.
        let records = self.load(&name).await?.into_records(after);
        let root_moves = if request.root_moves { Some((Arc::clone(self.reader()?), name)) } else { None };
        let parts = stream::iter(parts(records)).then(move |records| {
            let root_moves = root_moves.clone();
            async {
                tokio::task::yield_now().await;
                exported(root_moves, records).await
            }
        });
        let messages = parts.flat_map(|part| match part {
            Ok(messages) => stream::iter(messages.into_iter().map(Ok).collect::<Vec<_>>()),
            Err(status) => stream::iter(vec![Err(status)]),
        });
        Ok(Response::new(Box::pin(messages)))
    }

    async fn check(&self, request: Request<v1::CheckRequest>) -> Result<Response<v1::CheckResponse>, Status> {
        let v1::CheckRequest { book, fix } = request.into_inner();
        let name = book_name(&book, "book").map_err(|error| malformed(&error))?;
        if fix {
            self.check_writes()?;
        }
        let reader = self.reader()?;
        let was = self.ask(Question::Revision(Arc::clone(&name))).await?;
        let Answer::Revision(revision) = was else { return Err(wrong_answer()) };
        let checked = reader.check(&name).await.map_err(|error| unread(&error))?;
        let Checked { positions, faults, fault_count, mended } = checked.ok_or_else(|| no_book(&name))?;
        let fixed = fix && fault_count > 0;
        if fixed {
            self.ask(Question::Replace { name, book: Box::new(mended), revision }).await?;
        }
        Ok(Response::new(v1::CheckResponse { positions, faults, fault_count, fixed }))
    }

    async fn list(
        &self,
        _request: Request<v1::ListBooksRequest>,
    ) -> Result<Response<v1::ListBooksResponse>, Status> {
        let listed = self.reader()?.list().await.map_err(|error| unread(&error))?;
        let book = |it: crate::store::Listed| v1::BookListed {
            book: it.name,
            positions: it.positions,
            analysed: it.analysed,
            stale: it.stale,
        };
        Ok(Response::new(v1::ListBooksResponse { books: listed.into_iter().map(book).collect() }))
    }
}

/// A root move as it stands in a book, in the orientation of the position that was asked for.
pub(super) fn turned(position: &corridor_shared::Position, line: Line) -> Line {
    if canonical(position) == *position {
        return line;
    }
    Line {
        mv: folded(position, Some(line.mv)).unwrap_or(line.mv),
        pv: line.pv.into_iter().map(corridor_shared::Move::mirrored).collect(),
        ..line
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// So many records, all of the same position; counts those that were asked for.
    fn records(number: usize, made: &AtomicUsize) -> impl Iterator<Item = Record> + Send {
        let mut book = Book::new();
        book.insert(&corridor_shared::Position::start()).expect("no collision");
        let record = book.into_records(None).next().expect("a record");
        std::iter::repeat_n(record, number).inspect(|_| {
            made.fetch_add(1, Ordering::Relaxed);
        })
    }

    #[test]
    fn an_export_makes_a_message_when_it_is_asked_for() {
        let made = AtomicUsize::new(0);
        let mut messages = parts(records(2 * EXPORTED_AT_ONCE + 1, &made));
        let mut next = || (messages.next().map_or(0, |part| part.len()), made.load(Ordering::Relaxed));
        assert_eq!(made.load(Ordering::Relaxed), 0, "nobody has read yet");
        let wanted = [1, 2, 3, 3].map(|part: usize| (part * EXPORTED_AT_ONCE).min(2 * EXPORTED_AT_ONCE + 1));
        let sizes = [EXPORTED_AT_ONCE, EXPORTED_AT_ONCE, 1, 0];
        for (size, made) in sizes.into_iter().zip(wanted) {
            assert_eq!(next(), (size, made));
        }
    }

    #[test]
    fn messages_are_small_however_much_is_known() {
        let root_moves = vec![v1::Line { pv: vec!["e2".to_owned(); 128], ..v1::Line::default() }; 136];
        let node = v1::BookNode { root_moves, ..v1::BookNode::default() };
        let (number, bytes) = (EXPORTED_AT_ONCE, node_bytes(&node));
        let messages = messages(std::iter::repeat_n(node, number));
        let sizes: Vec<usize> = messages.iter().map(|message| message.nodes.len()).collect();
        let full = EXPORTED_BYTES.div_ceil(bytes);
        assert!(full < 20 && sizes[..sizes.len() - 1].iter().all(|&size| size == full), "{full}: {sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), number, "nothing is left out");
    }

    #[test]
    fn a_book_without_positions_is_no_message() {
        assert_eq!(parts(records(0, &AtomicUsize::new(0))).count(), 0);
    }
}
