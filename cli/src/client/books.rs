//! The client's end of `Book`.
//!
//! What is asked about a book may take long: it has to come from the store, or thousands of positions have to be checked. So a
//! coordinator that answers at all is found with a small question, and then has all the time that it wants as long as the
//! connection lives.

use std::sync::Arc;

use corridor_proto::convert::{
    BookRequest, book_spec_to_wire, position_to_spec, record_from_wire, root_moves_from_wire,
};
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::book_client::BookClient;
use corridor_shared::board::Position;
use corridor_shared::book::Record;
use corridor_shared::job::{BookJobSpec, Line};
use prost::Message;
use tokio::time::Instant;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

use super::{
    Broken, Client, Messages, RESUME_PAUSE, RESUME_TIME, Stream, analysis, interrupted, refused, unreadable,
};
use crate::failure::Failure;
use crate::out;

/// A connection to a coordinator that has answered, for questions about books. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    calls: BookClient<Channel>,
    url: String,
}

/// A position of a book.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// What the book has of it.
    pub(crate) record: Record,
    /// The search's value is of another engine.
    pub(crate) is_stale: bool,
}

impl Client {
    /// Connects to the first coordinator that answers.
    pub(crate) async fn books(&self) -> Result<Books, Failure> {
        let ask = |channel: Channel| async move {
            analysis(channel.clone()).list(v1::ListRequest { limit: 1, before: 0 }).await?;
            Ok(channel)
        };
        let (channel, url) = self.first_connected(ask).await?;
        let calls = BookClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        Ok(Books { calls, url })
    }

    /// Has work done on a book, and streams the job's events. If the line breaks before the job is accepted the same is asked for
    /// again: whoever does that joins the job.
    pub(crate) async fn work_on(&self, spec: &BookJobSpec) -> Result<Stream, Failure> {
        let (messages, url) = self.insist(async |books: Books| books.work_on(spec).await).await?;
        Ok(self.stream_of(messages, url, spec.clone()))
    }

    /// Asks for work on a book once more.
    pub(super) async fn work_on_again(&self, spec: &BookJobSpec) -> Result<(Messages, String), Broken> {
        let books = self.books().await.map_err(Broken::Line)?;
        books.work_on(spec).await
    }

    /// Imports parts, encoded as `corridor.v1.ImportRequest`, which is how they take least memory. If the line breaks all of them
    /// are sent again: whatever is there already is not entered twice.
    pub(crate) async fn import(&self, parts: &Arc<[Vec<u8>]>) -> Result<v1::ImportResponse, Failure> {
        self.insist(async |books: Books| books.import(parts).await).await
    }

    /// Asks something that may be asked twice, again and again while it is the line that breaks.
    async fn insist<T>(&self, ask: impl AsyncFn(Books) -> Result<T, Broken>) -> Result<T, Failure> {
        let mut patience = Patience::default();
        loop {
            let asked = match self.books().await {
                Ok(books) => ask(books).await,
                // Whoever was never there is not waited for.
                Err(failure) if !patience.is_tried() => return Err(failure),
                Err(failure) => Err(Broken::Line(failure)),
            };
            match asked {
                Ok(answer) => return Ok(answer),
                Err(Broken::Final(failure)) => return Err(failure),
                Err(Broken::Line(failure)) => patience.wait(failure).await?,
            }
        }
    }
}

impl Books {
    async fn work_on(self, spec: &BookJobSpec) -> Result<(Messages, String), Broken> {
        let Self { mut calls, url } = self;
        let opened = match book_spec_to_wire(spec) {
            BookRequest::Analyze(request) => {
                calls.analyze(request).await.map(|answer| Messages::BookAnalyze(answer.into_inner()))
            }
            BookRequest::Expand(request) => {
                calls.expand(request).await.map(|answer| Messages::Expand(answer.into_inner()))
            }
        };
        match opened {
            Ok(messages) => Ok((messages, url)),
            Err(status) => Err(interrupted(&url, &status)),
        }
    }

    async fn import(&self, parts: &Arc<[Vec<u8>]>) -> Result<v1::ImportResponse, Broken> {
        let (parts, count) = (Arc::clone(parts), parts.len());
        let read = move |index: usize| v1::ImportRequest::decode(&*parts[index]).unwrap_or_default();
        // One at a time, so that there is never a second copy of all of them.
        let sent = tokio_stream::iter((0..count).map(read));
        let answer = self.calls.clone().import(sent).await;
        answer.map(tonic::Response::into_inner).map_err(|status| interrupted(&self.url, &status))
    }

    /// One position.
    pub(crate) async fn node(&self, book: &str, position: &Position) -> Result<Shown, Failure> {
        let request = v1::NodeRequest { book: book.to_owned(), position: Some(position_to_spec(position)) };
        let answer = self.calls.clone().node(request).await.map_err(|status| self.refused(&status))?;
        let node = answer.into_inner().node.ok_or_else(|| unreadable(&self.url, &"it is empty"))?;
        let record = record_from_wire(&node).map_err(|error| unreadable(&self.url, &error))?;
        Ok(Shown { record, is_stale: node.stale })
    }

    /// All books.
    pub(crate) async fn list(&self) -> Result<Vec<v1::BookListed>, Failure> {
        let answer = self.calls.clone().list(v1::ListBooksRequest {}).await;
        answer.map(|answer| answer.into_inner().books).map_err(|status| self.refused(&status))
    }

    /// Checks a book, and mends it if that is wanted.
    pub(crate) async fn check(&self, book: &str, fix: bool) -> Result<v1::CheckResponse, Failure> {
        let answer = self.calls.clone().check(v1::CheckRequest { book: book.to_owned(), fix }).await;
        answer.map(tonic::Response::into_inner).map_err(|status| self.refused(&status))
    }

    fn refused(&self, status: &Status) -> Failure {
        refused(&self.url, status)
    }
}

/// A position as it is exported.
#[derive(Clone, Debug)]
pub(crate) struct ExportedPosition {
    /// What the book has of it.
    pub(crate) record: Record,
    /// Every searched root move, best first, if they were asked for and are kept.
    pub(crate) root_moves: Vec<Line>,
}

/// A whole book, in parts, in the order of keys. A line that breaks is taken up again behind the last position.
pub(crate) struct Exported {
    client: Client,
    book: String,
    open: Option<(Streaming<v1::ExportResponse>, String)>,
    /// Key of the last position that was passed on.
    last: String,
    /// With all root moves.
    root_moves: bool,
    patience: Patience,
}

impl Exported {
    pub(crate) fn new(client: &Client, book: &str) -> Self {
        Self {
            client: client.clone(),
            book: book.to_owned(),
            open: None,
            last: String::new(),
            root_moves: false,
            patience: Patience::default(),
        }
    }

    /// The same with every searched root move.
    pub(crate) fn with_root_moves(self) -> Self {
        Self { root_moves: true, ..self }
    }

    /// The next positions; `None` behind the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<ExportedPosition>>, Failure> {
        loop {
            match self.try_next().await {
                Ok(records) => {
                    self.patience = Patience::default();
                    return Ok(records);
                }
                Err(Broken::Final(failure)) => return Err(failure),
                Err(Broken::Line(failure)) => {
                    self.open = None;
                    self.patience.wait(failure).await?;
                }
            }
        }
    }

    async fn try_next(&mut self) -> Result<Option<Vec<ExportedPosition>>, Broken> {
        let (messages, url) = match &mut self.open {
            Some(open) => open,
            closed => {
                // Whoever was never there is not waited for.
                let is_first = self.last.is_empty() && !self.patience.is_tried();
                let broken = |failure| if is_first { Broken::Final(failure) } else { Broken::Line(failure) };
                let books = self.client.books().await.map_err(broken)?;
                let request = v1::ExportRequest {
                    book: self.book.clone(),
                    after_key: self.last.clone(),
                    root_moves: self.root_moves,
                };
                let opened = books.calls.clone().export(request).await;
                let messages = opened.map_err(|status| interrupted(&books.url, &status))?.into_inner();
                closed.insert((messages, books.url))
            }
        };
        let Some(part) = messages.message().await.map_err(|status| interrupted(url, &status))? else {
            return Ok(None);
        };
        let mut positions = Vec::with_capacity(part.nodes.len());
        for node in &part.nodes {
            // Whoever sends a position twice would keep us here for ever.
            if node.key <= self.last {
                let text = format!("key {} comes after {}", node.key, self.last);
                return Err(Broken::Final(unreadable(url, &text)));
            }
            self.last.clone_from(&node.key);
            let unreadable = |error| Broken::Final(unreadable(url, &error));
            let root_moves = root_moves_from_wire(node).map_err(unreadable)?;
            positions
                .push(ExportedPosition { record: record_from_wire(node).map_err(unreadable)?, root_moves });
        }
        Ok(Some(positions))
    }
}

/// How long a line that broke is tried again: from the first break on, [`RESUME_TIME`].
#[derive(Clone, Copy, Debug, Default)]
struct Patience {
    ends: Option<Instant>,
}

impl Patience {
    const fn is_tried(&self) -> bool {
        self.ends.is_some()
    }

    /// Says what broke and pauses, or gives up.
    async fn wait(&mut self, failure: Failure) -> Result<(), Failure> {
        let ends = *self.ends.get_or_insert_with(|| {
            if let Failure::Failed(error) = &failure {
                out::complain(&format!("{error:#}; trying again"));
            }
            Instant::now() + RESUME_TIME
        });
        if Instant::now() >= ends {
            return Err(failure);
        }
        tokio::time::sleep(RESUME_PAUSE).await;
        Ok(())
    }
}
