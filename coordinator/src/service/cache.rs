//! `corridor.v1.Cache`.
//!
//! An exchange has two halves: a task that reads what the worker says, and the stream of answers, which is written only as
//! fast as the connection takes it. Entries wait in the cache's own bounded queue, so a slow worker delays nobody.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use corridor_proto::convert::{batch_from_wire, batch_to_wire};
use corridor_proto::v1;
use corridor_proto::v1::exchange_request::Kind as Says;
use corridor_proto::v1::exchange_response::Kind as Told;
use corridor_shared::exchange::Linger;
use corridor_shared::job::{ENGINE_EPOCH, WorkerId};
use futures_util::{Stream, stream};
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tonic::{Request, Response, Status, Streaming};
use tracing::debug;

use super::malformed;
use crate::cache::{Peer, REVIEW_TIME, SharedCache};
use crate::limits::{EXCHANGE_CREDIT, EXCHANGE_LINGER, HELLO_TIME, MAX_BATCH_ENTRIES};

/// A worker gets new credit when so much of the old is used.
const CREDIT_STEP: u32 = EXCHANGE_CREDIT / 8;

/// The exchanges with workers.
#[derive(Clone, Debug)]
pub struct CacheService {
    cache: Arc<SharedCache>,
    tasks: TaskTracker,
    stop: CancellationToken,
    started: Instant,
}

type Answers = Pin<Box<dyn Stream<Item = Result<v1::ExchangeResponse, Status>> + Send>>;

impl CacheService {
    /// A service in front of a cache. Exchanges run as tasks of the tracker and end with the token.
    #[must_use]
    pub fn new(cache: Arc<SharedCache>, tasks: TaskTracker, stop: CancellationToken) -> Self {
        Self { cache, tasks, stop, started: Instant::now() }
    }
}

fn shutting_down() -> Status {
    Status::unavailable("the coordinator is shutting down")
}

/// What a new exchange says first.
async fn hello(messages: &mut Streaming<v1::ExchangeRequest>) -> Result<v1::ExchangeHello, Status> {
    let first = tokio::time::timeout(HELLO_TIME, messages.message());
    let first = first.await.map_err(|_| Status::deadline_exceeded("hello_time has passed"))??;
    match first.and_then(|message| message.kind) {
        Some(Says::Hello(hello)) if hello.engine_epoch == ENGINE_EPOCH => Ok(hello),
        Some(Says::Hello(v1::ExchangeHello { engine_epoch: theirs, .. })) => {
            let text =
                format!("engine epoch '{theirs}' of the worker is not the coordinator's '{ENGINE_EPOCH}'");
            Err(Status::failed_precondition(text))
        }
        _ => Err(Status::failed_precondition("kind: the first message must be `hello`")),
    }
}

/// What the two halves of an exchange know of each other.
struct Line {
    cache: Arc<SharedCache>,
    peer: Arc<Peer>,
    /// There may be something to tell.
    ready: Arc<Notify>,
    /// Entries that the worker still takes.
    credit: AtomicU32,
    /// Entries that the worker may still send.
    allowed: AtomicU32,
    /// What it has sent, and is not told yet that it may send again.
    owed: AtomicU32,
    /// How the reading half has ended; without a status if in good order.
    end: OnceLock<Option<Status>>,
}

impl Line {
    /// Reads until the worker has nothing more to say, or says something impossible.
    async fn read(
        &self,
        mut messages: Streaming<v1::ExchangeRequest>,
        started: Instant,
    ) -> Result<(), Status> {
        let mut review = tokio::time::interval(REVIEW_TIME);
        review.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.peer.is_closed() {
            let message = tokio::select! {
                message = messages.message() => message?,
                _ = review.tick() => {
                    self.cache.review(&self.peer, started.elapsed());
                    self.ready.notify_one();
                    continue;
                }
            };
            let Some(message) = message else { return Ok(()) };
            match message.kind {
                Some(Says::Batch(batch)) => self.batch(&batch)?,
                Some(Says::Credit(credit)) => self.credited(credit.entries),
                Some(Says::Use(used)) => self.cache.used(&self.peer, used.received, used.cutoffs),
                Some(Says::Hello(_)) => return Err(Status::invalid_argument("kind: a second `hello`")),
                None => return Err(Status::invalid_argument("kind: is missing")),
            }
        }
        Ok(())
    }

    /// Takes a batch in.
    fn batch(&self, batch: &v1::CacheBatch) -> Result<(), Status> {
        let entries = batch_from_wire(batch).map_err(|error| match error.field.as_str() {
            "batch" => Status::resource_exhausted(error.to_string()),
            _ => malformed(&error),
        })?;
        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        // Only this half takes away from it.
        let allowed = self.allowed.load(Ordering::Relaxed);
        if count > allowed {
            let text = format!("batch: {count} entries are more than the {allowed} left of exchange_credit");
            return Err(Status::resource_exhausted(text));
        }
        self.allowed.fetch_sub(count, Ordering::Relaxed);
        self.cache.offer(self.peer.worker(), &entries);
        if self.owed.fetch_add(count, Ordering::Relaxed) + count >= CREDIT_STEP {
            self.ready.notify_one();
        }
        Ok(())
    }

    fn credited(&self, entries: u32) {
        let more = |credit: u32| Some(credit.saturating_add(entries));
        // It cannot fail: the closure always has an answer.
        let _ = self.credit.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        self.ready.notify_one();
    }

    /// Why nothing more is told, if so.
    fn over(&self) -> Option<Option<Status>> {
        if self.peer.is_closed() && self.end.get().is_none() {
            let text = "the worker's session has ended, or another exchange of its own has begun";
            return Some(Some(Status::aborted(text)));
        }
        self.end.get().cloned()
    }
}

/// The half that tells.
struct Teller {
    line: Arc<Line>,
    told_floor: Option<u8>,
    /// When the entries that wait are sent, though they do not fill a batch.
    linger: Linger<Instant>,
    over: bool,
    /// Ends the reading half when the worker is gone.
    _gone: DropGuard,
}

impl Teller {
    /// The next thing to tell. It is asked for only when the connection takes it.
    async fn next(&mut self) -> Option<Result<v1::ExchangeResponse, Status>> {
        while !self.over {
            if let Some(end) = self.line.over() {
                self.over = true;
                return end.map(Err);
            }
            if let Some(kind) = self.due() {
                return Some(Ok(v1::ExchangeResponse { kind: Some(kind) }));
            }
            let flush_at = self.linger.until();
            let flush = async {
                match flush_at {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.line.ready.notified() => {}
                () = flush => {}
            }
        }
        None
    }

    fn due(&mut self) -> Option<Told> {
        let owed = self.line.owed.load(Ordering::Relaxed);
        if owed >= CREDIT_STEP {
            // Only this half takes away from it.
            self.line.owed.fetch_sub(owed, Ordering::Relaxed);
            self.line.allowed.fetch_add(owed, Ordering::Relaxed);
            return Some(Told::Credit(v1::CacheCredit { entries: owed }));
        }
        let wanted = self.line.cache.wanted_from(self.line.peer.worker());
        if self.told_floor.replace(wanted) != Some(wanted) {
            return Some(Told::Floor(v1::CacheFloor { depth: wanted.into() }));
        }
        self.batch().map(Told::Batch)
    }

    /// Entries that wait, if they fill a batch or have waited long enough.
    fn batch(&mut self) -> Option<v1::CacheBatch> {
        let waiting = self.line.peer.waiting();
        let credit = usize::try_from(self.line.credit.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        let most = self.linger.due(Instant::now(), waiting, credit, MAX_BATCH_ENTRIES)?;
        let entries = self.line.cache.take(&self.line.peer, most);
        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        // Only this half takes credit away.
        self.line.credit.fetch_sub(count, Ordering::Relaxed);
        (!entries.is_empty()).then(|| batch_to_wire(&entries))
    }
}

#[tonic::async_trait]
impl v1::cache_server::Cache for CacheService {
    type ExchangeStream = Answers;

    async fn exchange(
        &self,
        request: Request<Streaming<v1::ExchangeRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let mut messages = request.into_inner();
        let hello = tokio::select! {
            () = self.stop.cancelled() => return Err(shutting_down()),
            hello = hello(&mut messages) => hello?,
        };
        let worker = WorkerId(hello.worker);
        let ready = Arc::new(Notify::new());
        let wake = Arc::clone(&ready);
        let peer = self
            .cache
            .join(worker, self.started.elapsed(), move || wake.notify_one())
            .map_err(|error| Status::failed_precondition(error.to_string()))?;
        let line = Arc::new(Line {
            cache: Arc::clone(&self.cache),
            peer,
            ready,
            credit: AtomicU32::new(0),
            allowed: AtomicU32::new(0),
            owed: AtomicU32::new(EXCHANGE_CREDIT),
            end: OnceLock::new(),
        });
        let gone = CancellationToken::new();
        self.tasks.spawn(listen(Arc::clone(&line), messages, self.started, self.stop.clone(), gone.clone()));
        let teller = Teller {
            line,
            told_floor: None,
            linger: Linger::new(EXCHANGE_LINGER),
            over: false,
            _gone: gone.drop_guard(),
        };
        let answers = stream::unfold(teller, |mut teller| async {
            let answer = teller.next().await?;
            Some((answer, teller))
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// The reading half's life. However it ends, the cache hears of it, and then the worker.
async fn listen(
    line: Arc<Line>,
    messages: Streaming<v1::ExchangeRequest>,
    started: Instant,
    stop: CancellationToken,
    gone: CancellationToken,
) {
    let end = tokio::select! {
        () = stop.cancelled() => Some(shutting_down()),
        () = gone.cancelled() => None,
        read = line.read(messages, started) => read.err(),
    };
    debug!(worker = %line.peer.worker(), reason = end.as_ref().map(Status::message), "exchange ended");
    if !line.peer.is_closed() {
        // Nobody else sets it: there is one reading half.
        let _ = line.end.set(end);
    }
    line.cache.leave(&line.peer);
    line.ready.notify_one();
}

#[cfg(test)]
mod tests {
    use corridor_shared::Color;
    use corridor_shared::exchange::SharedEntry;
    use corridor_shared::score::Bound;

    use super::*;

    /// What is sent must have been allowed, and what was taken is allowed again in steps.
    #[test]
    fn more_than_the_credit_is_refused_by_name() {
        let cache = Arc::new(SharedCache::new(100_000));
        cache.admit(WorkerId(1));
        let peer = cache.join(WorkerId(1), std::time::Duration::ZERO, || ()).expect("a session");
        let line = Arc::new(Line {
            cache,
            peer,
            ready: Arc::new(Notify::new()),
            credit: AtomicU32::new(0),
            allowed: AtomicU32::new(0),
            owed: AtomicU32::new(EXCHANGE_CREDIT),
            end: OnceLock::new(),
        });
        let gone = CancellationToken::new().drop_guard();
        let mut teller = Teller {
            line: Arc::clone(&line),
            told_floor: None,
            linger: Linger::new(EXCHANGE_LINGER),
            over: false,
            _gone: gone,
        };
        let entry =
            |key| SharedEntry { key, turn: Color::White, score: 0, bound: Bound::Exact, depth: 9, mv: None };
        let batch = batch_to_wire(&(0..256).map(entry).collect::<Vec<_>>());
        let allowed = |kind| matches!(kind, Some(Told::Credit(credit)) if credit.entries >= CREDIT_STEP);

        assert_eq!(line.batch(&batch).expect_err("too early").code(), tonic::Code::ResourceExhausted);
        assert!(allowed(teller.due()));
        assert!(matches!(teller.due(), Some(Told::Floor(_))));
        for _ in 0..EXCHANGE_CREDIT / 256 {
            line.batch(&batch).expect("allowed");
        }
        let refused = line.batch(&batch).expect_err("too much");
        assert_eq!(refused.message(), "batch: 256 entries are more than the 0 left of exchange_credit");
        assert!(allowed(teller.due()));
        assert_eq!(teller.due(), None);
        line.batch(&batch).expect("allowed again");
    }
}
