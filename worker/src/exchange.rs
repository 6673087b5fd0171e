//! The worker's end of the shared cache: what its searches find goes out, what others found comes into its table.
//!
//! On a connection of its own, so that bulk never delays a heartbeat, and of no consequence for the session: without it the
//! worker searches as well as before, only alone. Search threads put results into a bounded [`Outbox`] and never wait.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use corridor_proto::convert::{batch_from_wire, batch_to_wire};
use corridor_proto::v1;
use corridor_proto::v1::cache_client::CacheClient;
use corridor_proto::v1::exchange_request::Kind as Says;
use corridor_proto::v1::exchange_response::Kind as Told;
use corridor_shared::exchange::{DepthQueue, Linger, SharedEntry};
use corridor_shared::job::{ENGINE_EPOCH, WorkerId};
use corridor_shared::tt::TranspositionTable;
use futures_util::stream;
use tokio::sync::Notify;
use tokio::time::Instant;
use tonic::transport::Endpoint;
use tonic::{Status, Streaming};
use tracing::{debug, info};

use crate::backoff::{Backoff, draw};
use crate::limits::{
    CONNECT_TIME, EXCHANGE_CREDIT, EXCHANGE_LINGER, EXCHANGE_QUEUE, MAX_BATCH_ENTRIES, MAX_MESSAGE_BYTES,
    WHOLE_LINGER,
};

/// The coordinator gets new credit when so much of the old is used.
const CREDIT_STEP: u32 = EXCHANGE_CREDIT / 8;
/// How often the use of what was received is told.
const USE_TIME: Duration = Duration::from_secs(1);
/// Nothing is wanted.
const NOTHING: u8 = u8::MAX;

/// Where search threads leave results for others.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<DepthQueue>,
    /// The depth from which the coordinator wants results.
    wanted: AtomicU8,
    /// The depth from which the queue has room.
    room: AtomicU8,
    /// Whether somebody may search the same position meanwhile as those who found what waits.
    pressing: AtomicBool,
    ready: Notify,
}

impl Outbox {
    /// An empty one; nothing is wanted yet.
    pub(crate) fn new() -> Self {
        Self {
            queue: Mutex::new(DepthQueue::new(EXCHANGE_QUEUE)),
            wanted: AtomicU8::new(NOTHING),
            room: AtomicU8::new(0),
            pressing: AtomicBool::new(false),
            ready: Notify::new(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, DepthQueue> {
        // Nothing panics under this lock, and what it guards are plain values.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The depth from which results are of use.
    pub(crate) fn floor(&self) -> u8 {
        self.wanted.load(Ordering::Relaxed).max(self.room.load(Ordering::Relaxed))
    }

    /// Takes results, the deepest rather than the others. Of a whole position they may wait ([`WHOLE_LINGER`]).
    pub(crate) fn put(&self, entries: &[SharedEntry], whole: bool) {
        let mut queue = self.queue();
        let before = queue.len();
        for entry in entries {
            queue.push(*entry);
        }
        let after = queue.len();
        self.room.store(queue.floor(), Ordering::Relaxed);
        let pressing = !whole && after > 0 && !self.pressing.swap(true, Ordering::Relaxed);
        drop(queue);
        let first = before == 0 && after > 0;
        let batch = before < MAX_BATCH_ENTRIES && after >= MAX_BATCH_ENTRIES;
        if first || batch || pressing {
            self.ready.notify_one();
        }
    }

    fn waiting(&self) -> usize {
        self.queue().len()
    }

    pub(crate) fn take(&self, most: usize) -> Vec<SharedEntry> {
        let mut queue = self.queue();
        let entries = std::iter::from_fn(|| queue.pop()).take(most).collect();
        self.room.store(queue.floor(), Ordering::Relaxed);
        if queue.is_empty() {
            self.pressing.store(false, Ordering::Relaxed);
        }
        entries
    }

    /// How long what waits may do so.
    fn patience(&self) -> Duration {
        if self.pressing.load(Ordering::Relaxed) { EXCHANGE_LINGER } else { WHOLE_LINGER }
    }

    pub(crate) fn want(&self, floor: u8) {
        self.wanted.store(floor, Ordering::Relaxed);
    }

    /// Nobody listens: what waits would be stale when somebody does.
    fn close(&self) {
        self.want(NOTHING);
        self.queue().clear();
        self.room.store(0, Ordering::Relaxed);
        self.pressing.store(false, Ordering::Relaxed);
    }
}

/// A worker's exchange during one session.
pub(crate) struct Exchange {
    pub(crate) endpoint: Endpoint,
    pub(crate) worker: WorkerId,
    pub(crate) table: Arc<TranspositionTable>,
    pub(crate) outbox: Arc<Outbox>,
}

impl Exchange {
    /// Exchanges until it is dropped. A broken line is dialled again, with growing, jittered pauses.
    pub(crate) async fn run(self) {
        let mut backoff = Backoff::new(draw());
        loop {
            let started = Instant::now();
            let end = self.converse().await;
            // A line that has lasted was good: the next try comes soon.
            if started.elapsed() > CONNECT_TIME {
                backoff.reset();
            }
            let reason = end.err().map_or_else(|| "closed".to_owned(), |status| status.message().to_owned());
            let pause = backoff.next_pause();
            info!(worker = %self.worker, %reason, ?pause, "no exchange of table entries");
            tokio::time::sleep(pause).await;
        }
    }

    async fn converse(&self) -> Result<(), Status> {
        let line = Arc::new(Line::new(Arc::clone(&self.outbox), &self.table));
        let dial = async {
            let channel = self.endpoint.connect().await;
            let channel = channel.map_err(|error| Status::unavailable(crate::session::error_text(&error)))?;
            let mut client = CacheClient::new(channel)
                .max_decoding_message_size(MAX_MESSAGE_BYTES)
                .max_encoding_message_size(MAX_MESSAGE_BYTES);
            let teller = Teller::new(Arc::clone(&line), Arc::clone(&self.table), self.worker);
            let requests = stream::unfold(teller, |mut teller| async {
                let message = teller.next().await;
                Some((message, teller))
            });
            Ok::<_, Status>(client.exchange(requests).await?.into_inner())
        };
        let dialled = tokio::time::timeout(CONNECT_TIME, dial).await;
        let told = dialled.map_err(|_| Status::deadline_exceeded("connect_time has passed"))??;
        debug!(worker = %self.worker, "table entries are exchanged");
        line.listen(told, &self.table).await
    }
}

/// What the two halves of an exchange know of each other.
struct Line {
    outbox: Arc<Outbox>,
    /// Entries that the coordinator still takes.
    credit: AtomicU32,
    /// Credit for the coordinator that is not on its way yet.
    owed: AtomicU32,
    /// Entries received since that was last told.
    received: AtomicU64,
    /// Cutoffs from imported entries when the line was opened or that was last told.
    cutoffs: AtomicU64,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.outbox.close();
    }
}

impl Line {
    fn new(outbox: Arc<Outbox>, table: &TranspositionTable) -> Self {
        Self {
            outbox,
            credit: AtomicU32::new(0),
            owed: AtomicU32::new(EXCHANGE_CREDIT),
            received: AtomicU64::new(0),
            cutoffs: AtomicU64::new(table.imported_cutoffs()),
        }
    }

    /// Does what the coordinator says until it has nothing more to say.
    async fn listen(
        &self,
        mut told: Streaming<v1::ExchangeResponse>,
        table: &TranspositionTable,
    ) -> Result<(), Status> {
        while let Some(message) = told.message().await? {
            match message.kind {
                Some(Told::Batch(batch)) => self.batch(&batch, table)?,
                Some(Told::Credit(credit)) => {
                    let more = |left: u32| Some(left.saturating_add(credit.entries));
                    // It cannot fail: the closure always has an answer.
                    let _ = self.credit.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
                    self.outbox.ready.notify_one();
                }
                Some(Told::Floor(floor)) => {
                    self.outbox.want(u8::try_from(floor.depth).unwrap_or(NOTHING));
                }
                None => debug!("a message without meaning was ignored"),
            }
        }
        Ok(())
    }

    fn batch(&self, batch: &v1::CacheBatch, table: &TranspositionTable) -> Result<(), Status> {
        let entries = batch_from_wire(batch).map_err(|error| Status::internal(error.to_string()))?;
        entries.iter().for_each(|entry| table.import(entry));
        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        self.received.fetch_add(count.into(), Ordering::Relaxed);
        if self.owed.fetch_add(count, Ordering::Relaxed) + count >= CREDIT_STEP {
            self.outbox.ready.notify_one();
        }
        Ok(())
    }
}

/// The half that tells.
struct Teller {
    line: Arc<Line>,
    table: Arc<TranspositionTable>,
    hello: Option<v1::ExchangeHello>,
    /// When the entries that wait are sent, though they do not fill a batch.
    linger: Linger<Instant>,
    use_at: Instant,
}

impl Teller {
    fn new(line: Arc<Line>, table: Arc<TranspositionTable>, worker: WorkerId) -> Self {
        let hello = v1::ExchangeHello { worker: worker.0, engine_epoch: ENGINE_EPOCH.to_owned() };
        Self {
            line,
            table,
            hello: Some(hello),
            linger: Linger::new(EXCHANGE_LINGER),
            use_at: Instant::now() + USE_TIME,
        }
    }

    /// The next thing to tell. It is asked for only when the connection takes it.
    async fn next(&mut self) -> v1::ExchangeRequest {
        loop {
            if let Some(kind) = self.due() {
                return v1::ExchangeRequest { kind: Some(kind) };
            }
            let at = self.linger.until().map_or(self.use_at, |at| at.min(self.use_at));
            tokio::select! {
                () = self.line.outbox.ready.notified() => {}
                () = tokio::time::sleep_until(at) => {}
            }
        }
    }

    fn due(&mut self) -> Option<Says> {
        if let Some(hello) = self.hello.take() {
            return Some(Says::Hello(hello));
        }
        let owed = self.line.owed.load(Ordering::Relaxed);
        if owed >= CREDIT_STEP {
            // Only this half takes away from it.
            self.line.owed.fetch_sub(owed, Ordering::Relaxed);
            return Some(Says::Credit(v1::CacheCredit { entries: owed }));
        }
        self.use_of_entries().map(Says::Use).or_else(|| self.batch().map(Says::Batch))
    }

    fn use_of_entries(&mut self) -> Option<v1::CacheUse> {
        let now = Instant::now();
        if now < self.use_at {
            return None;
        }
        self.use_at = now + USE_TIME;
        let received = self.line.received.swap(0, Ordering::Relaxed);
        let total = self.table.imported_cutoffs();
        let cutoffs = total.saturating_sub(self.line.cutoffs.swap(total, Ordering::Relaxed));
        (received > 0 || cutoffs > 0).then_some(v1::CacheUse { received, cutoffs })
    }

    /// Entries that wait, if they fill a batch or have waited long enough.
    fn batch(&mut self) -> Option<v1::CacheBatch> {
        let waiting = self.line.outbox.waiting();
        let credit = usize::try_from(self.line.credit.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        self.linger.hold(self.line.outbox.patience());
        let most = self.linger.due(Instant::now(), waiting, credit, MAX_BATCH_ENTRIES)?;
        let entries = self.line.outbox.take(most);
        // Only this half takes credit away.
        self.line.credit.fetch_sub(u32::try_from(entries.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        (!entries.is_empty()).then(|| batch_to_wire(&entries))
    }
}

#[cfg(test)]
mod tests {
    use corridor_shared::Color;
    use corridor_shared::score::Bound;

    use super::*;

    fn entries(count: usize, depth: u8) -> Vec<SharedEntry> {
        let entry =
            |key| SharedEntry { key, turn: Color::White, score: 0, bound: Bound::Exact, depth, mv: None };
        (0..).map(entry).take(count).collect()
    }

    #[test]
    fn a_full_outbox_asks_for_deeper_results_and_keeps_the_deepest() {
        let outbox = Outbox::new();
        assert_eq!(outbox.floor(), NOTHING, "nobody listens yet");
        outbox.want(4);
        outbox.put(&entries(EXCHANGE_QUEUE, 5), false);
        assert_eq!((outbox.floor(), outbox.waiting()), (6, EXCHANGE_QUEUE));
        outbox.put(&entries(10, 9), false);
        assert_eq!(outbox.waiting(), EXCHANGE_QUEUE);
        let taken = outbox.take(12);
        assert_eq!(taken.iter().filter(|entry| entry.depth == 9).count(), 10);
        assert_eq!(outbox.floor(), 4, "there is room again");
        outbox.close();
        assert_eq!((outbox.floor(), outbox.waiting()), (NOTHING, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_told_keeps_to_the_credit_and_waits_for_a_full_batch() {
        let outbox = Arc::new(Outbox::new());
        let table = Arc::new(TranspositionTable::new(1 << 16).expect("a table"));
        let line = Arc::new(Line::new(Arc::clone(&outbox), &table));
        let mut teller = Teller::new(Arc::clone(&line), Arc::clone(&table), WorkerId(3));
        assert!(matches!(teller.next().await.kind, Some(Says::Hello(hello)) if hello.worker == 3));
        let credit = v1::CacheCredit { entries: EXCHANGE_CREDIT };
        assert_eq!(teller.next().await.kind, Some(Says::Credit(credit)));
        outbox.put(&entries(MAX_BATCH_ENTRIES + 5, 7), false);
        assert_eq!(teller.due(), None, "no credit yet");
        line.credit.store(u32::try_from(MAX_BATCH_ENTRIES).expect("few") + 2, Ordering::Relaxed);
        let sizes = |kind| match kind {
            Some(Says::Batch(batch)) => batch.entries.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(sizes(teller.due()), MAX_BATCH_ENTRIES);
        let before = Instant::now();
        assert_eq!(teller.due(), None, "five may still become a batch");
        assert_eq!(sizes(teller.next().await.kind), 2, "the rest of the credit");
        assert_eq!(before.elapsed().as_millis(), EXCHANGE_LINGER.as_millis());
        // What somebody may need at once does not wait as long as what a whole position has found.
        line.credit.store(100, Ordering::Relaxed);
        outbox.take(usize::MAX);
        outbox.put(&entries(3, 7), true);
        let before = Instant::now();
        assert_eq!(sizes(teller.next().await.kind), 3);
        assert_eq!(before.elapsed().as_millis(), WHOLE_LINGER.as_millis());
        outbox.put(&entries(3, 7), true);
        assert_eq!(teller.due(), None);
        outbox.put(&entries(2, 7), false);
        let before = Instant::now();
        assert_eq!(sizes(teller.next().await.kind), 5);
        assert_eq!(before.elapsed().as_millis(), EXCHANGE_LINGER.as_millis());
        // What was received is told, and credited again in steps.
        let received = batch_to_wire(&entries(200, 7));
        for _ in 0..6 {
            line.batch(&received, &table).expect("a good batch");
        }
        assert_eq!(teller.next().await.kind, Some(Says::Credit(v1::CacheCredit { entries: 1_200 })));
        assert_eq!(teller.next().await.kind, Some(Says::Use(v1::CacheUse { received: 1_200, cutoffs: 0 })));
        assert!(table.imported_entries() >= 200);
    }
}
