//! Entries through the exchange: from one worker's connection to another's, over gRPC on loopback, with everything that a
//! real worker does to them (`cargo bench -p corridor-tests --bench exchange`).
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark prints, and fails by panicking"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use corridor_coordinator::Coordinator;
use corridor_coordinator::limits::MAX_BATCH_ENTRIES;
use corridor_proto::convert::{batch_from_wire, batch_to_wire};
use corridor_proto::v1;
use corridor_proto::v1::cache_client::CacheClient;
use corridor_proto::v1::exchange_request::Kind as Says;
use corridor_proto::v1::exchange_response::Kind as Told;
use corridor_proto::v1::fleet_client::FleetClient;
use corridor_proto::v1::session_request::Kind as SessionSays;
use corridor_proto::v1::session_response::Kind as SessionTold;
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::ENGINE_EPOCH;
use corridor_shared::score::Bound;
use corridor_shared::tt::TranspositionTable;
use corridor_shared::{Color, Move};
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use corridor_tests::{LONG, coordinator, url};

const ROUNDS: u64 = 5;
const ENTRIES: usize = 1_000_000;
/// Entries on their way at most, in step: below the queue that waits for a worker, so that none is dropped.
const IN_FLIGHT: usize = 3_000;

struct Line {
    says: mpsc::Sender<v1::ExchangeRequest>,
    told: Streaming<v1::ExchangeResponse>,
    /// Entries that the coordinator still takes.
    credit: usize,
    _session: (mpsc::Sender<v1::SessionRequest>, Streaming<v1::SessionResponse>),
}

impl Line {
    async fn open(coordinator: &Coordinator, name: &str) -> Self {
        let mut fleet = FleetClient::connect(url(coordinator.address())).await.expect("a client");
        let (session, requests) = mpsc::channel(4);
        let register = v1::Register {
            name: name.to_owned(),
            instance: 1,
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots: 1,
            table_bytes: 0,
        };
        let kind = Some(SessionSays::Register(register));
        session.send(v1::SessionRequest { kind }).await.expect("room");
        let mut told = fleet.session(ReceiverStream::new(requests)).await.expect("a session").into_inner();
        let answer = told.message().await.expect("an answer").and_then(|message| message.kind);
        let Some(SessionTold::Registered(registered)) = answer else { panic!("{answer:?}") };

        let mut cache = CacheClient::connect(url(coordinator.address())).await.expect("a client");
        let (says, requests) = mpsc::channel(8);
        let hello = v1::ExchangeHello { worker: registered.worker, engine_epoch: ENGINE_EPOCH.to_owned() };
        says.send(v1::ExchangeRequest { kind: Some(Says::Hello(hello)) }).await.expect("room");
        let exchange = cache.exchange(ReceiverStream::new(requests)).await.expect("an exchange").into_inner();
        Self { says, told: exchange, credit: 0, _session: (session, told) }
    }

    async fn say(&self, kind: Says) {
        self.says.send(v1::ExchangeRequest { kind: Some(kind) }).await.expect("an open exchange");
    }
}

fn entry(number: u64) -> SharedEntry {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mv = Move::from_index(u8::try_from((z >> 3) % 209).expect("below 209"));
    SharedEntry { key: z, turn: Color::Black, score: -345, bound: Bound::Upper, depth: 30, mv }
}

/// What both ends know of the entries under way.
#[derive(Default)]
struct Progress {
    received: AtomicUsize,
    moved: Notify,
}

async fn receive(mut line: Line, progress: Arc<Progress>) {
    let table = TranspositionTable::new(64 << 20).expect("a table");
    line.say(Says::Credit(v1::CacheCredit { entries: 8_192 })).await;
    let mut owed = 0;
    while let Ok(Some(message)) = line.told.message().await {
        let Some(Told::Batch(batch)) = message.kind else { continue };
        let entries = batch_from_wire(&batch).expect("a good batch");
        entries.iter().for_each(|entry| table.import(entry));
        progress.received.fetch_add(entries.len(), Ordering::Relaxed);
        progress.moved.notify_one();
        owed += u32::try_from(entries.len()).expect("few");
        if owed >= 1_024 {
            line.say(Says::Credit(v1::CacheCredit { entries: std::mem::take(&mut owed) })).await;
        }
    }
}

async fn send(line: &mut Line, first: u64, progress: &Progress) {
    let already = progress.received.load(Ordering::Relaxed);
    let numbers: Vec<u64> = (first..).take(ENTRIES).collect();
    let mut sent = 0;
    for chunk in numbers.chunks(MAX_BATCH_ENTRIES) {
        let batch: Vec<SharedEntry> = chunk.iter().map(|&number| entry(number)).collect();
        while line.credit < batch.len() {
            let message = line.told.message().await.expect("a message").expect("a message");
            if let Some(Told::Credit(more)) = message.kind {
                line.credit += usize::try_from(more.entries).expect("few");
            }
        }
        while already + sent >= progress.received.load(Ordering::Relaxed) + IN_FLIGHT {
            progress.moved.notified().await;
        }
        line.credit -= batch.len();
        sent += batch.len();
        line.say(Says::Batch(batch_to_wire(&batch))).await;
    }
    while progress.received.load(Ordering::Relaxed) < already + ENTRIES {
        let moved = tokio::time::timeout(Duration::from_secs(5), progress.moved.notified()).await;
        moved.expect("entries were lost");
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for a person")]
fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let coordinator = coordinator(LONG).await;
        let receiver = Line::open(&coordinator, "receiver").await;
        let mut sender = Line::open(&coordinator, "sender").await;
        let progress = Arc::new(Progress::default());
        let receiving = tokio::spawn(receive(receiver, Arc::clone(&progress)));
        let mut rates = Vec::new();
        for round in 0..ROUNDS {
            let started = Instant::now();
            send(&mut sender, round << 32, &progress).await;
            rates.push(ENTRIES as f64 / started.elapsed().as_secs_f64());
        }
        let counts = coordinator.handle().cache().counts();
        let text: Vec<String> = rates.iter().map(|rate| format!("{:.0} k", rate / 1e3)).collect();
        println!("entries/s from one worker to another, {ROUNDS} rounds of {ENTRIES}: {}", text.join(", "));
        println!("{counts:?}");
        assert!(counts.dropped == 0, "in step nothing is dropped");
        receiving.abort();
        coordinator.stop().await;
    });
}
