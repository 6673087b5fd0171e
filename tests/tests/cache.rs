//! The shared cache over real gRPC on loopback: who gets what, what is refused, and who is never delayed.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::time::{Duration, Instant};

use corridor_coordinator::Coordinator;
use corridor_coordinator::cache::CacheCounts;
use corridor_coordinator::limits::{EXCHANGE_CREDIT, EXCHANGE_QUEUE, MAX_BATCH_BYTES, MAX_BATCH_ENTRIES};
use corridor_proto::convert::{batch_from_wire, batch_to_wire, entry_from_wire};
use corridor_proto::v1;
use corridor_proto::v1::cache_client::CacheClient;
use corridor_proto::v1::exchange_request::Kind as Says;
use corridor_proto::v1::exchange_response::Kind as Told;
use corridor_proto::v1::fleet_client::FleetClient;
use corridor_proto::v1::session_request::Kind as SessionSays;
use corridor_proto::v1::session_response::Kind as SessionTold;
use corridor_shared::exchange::{SharedEntry, folded, shared_key};
use corridor_shared::job::{ENGINE_EPOCH, StoppedBy};
use corridor_shared::score::Bound;
use corridor_shared::search::PruneMode;
use corridor_shared::{Color, Move, Position};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use corridor_tests::{
    LONG, TestWorker, analysis, coordinator, done, moves, rest, spec, submit, url, worker, worker_alone,
};

/// Entries are told apart by their keys, which are random in truth.
fn entry(number: u64, depth: u8) -> SharedEntry {
    let key = (number + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    SharedEntry { key, turn: Color::Black, score: -45, bound: Bound::Upper, depth, mv: Move::from_index(99) }
}

fn many(numbers: std::ops::Range<u64>, depth: u8) -> Vec<SharedEntry> {
    numbers.map(|number| entry(number, depth)).collect()
}

// ---- a worker that only talks ---------------------------------------------------------------------------------------

/// A session without a search behind it.
struct Session {
    says: mpsc::Sender<v1::SessionRequest>,
    told: Streaming<v1::SessionResponse>,
    worker: u64,
}

impl Session {
    async fn open(coordinator: &Coordinator, name: &str) -> Self {
        let mut client = FleetClient::connect(url(coordinator.address())).await.expect("a client");
        let (says, requests) = mpsc::channel(16);
        let register = v1::Register {
            name: name.to_owned(),
            instance: 7,
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots: 1,
            table_bytes: 1 << 20,
        };
        let mut session = Self {
            told: {
                let kind = Some(SessionSays::Register(register));
                says.send(v1::SessionRequest { kind }).await.expect("room");
                client.session(ReceiverStream::new(requests)).await.expect("a session").into_inner()
            },
            says,
            worker: 0,
        };
        match session.told().await {
            SessionTold::Registered(registered) => session.worker = registered.worker,
            other => panic!("{other:?}"),
        }
        session
    }

    async fn told(&mut self) -> SessionTold {
        let message = tokio::time::timeout(LONG, self.told.message()).await.expect("in time");
        message.expect("a session").expect("a message").kind.expect("a kind")
    }

    /// How long the coordinator takes to answer a heartbeat (with a unit that this worker does not hold).
    async fn beat(&mut self) -> Duration {
        let units = vec![v1::UnitProgress { unit: 9_999, attempt: 1, nodes: 0 }];
        let started = Instant::now();
        let kind = Some(SessionSays::Heartbeat(v1::Heartbeat { units }));
        self.says.send(v1::SessionRequest { kind }).await.expect("a session");
        while !matches!(self.told().await, SessionTold::LeaseLost(_)) {}
        started.elapsed()
    }
}

/// The worker's end of an exchange, by hand.
struct Exchange {
    says: mpsc::Sender<v1::ExchangeRequest>,
    told: Streaming<v1::ExchangeResponse>,
    /// What the coordinator still takes.
    credit: u32,
    floor: Option<u32>,
}

async fn open(coordinator: &Coordinator, first: Says) -> Result<Exchange, Status> {
    let mut client = CacheClient::connect(url(coordinator.address())).await.expect("a client");
    let (says, requests) = mpsc::channel(64);
    says.send(v1::ExchangeRequest { kind: Some(first) }).await.expect("room");
    let told = client.exchange(ReceiverStream::new(requests)).await?.into_inner();
    Ok(Exchange { says, told, credit: 0, floor: None })
}

fn hello(worker: u64) -> Says {
    Says::Hello(v1::ExchangeHello { worker, engine_epoch: ENGINE_EPOCH.to_owned() })
}

impl Exchange {
    /// Open, and told what it needs to know.
    async fn join(coordinator: &Coordinator, session: &Session) -> Self {
        let mut exchange = open(coordinator, hello(session.worker)).await.expect("an exchange");
        while exchange.credit == 0 || exchange.floor.is_none() {
            assert_eq!(exchange.told().await.expect("a message"), None, "nothing is sent without credit");
        }
        exchange
    }

    async fn say(&self, kind: Says) {
        self.says.send(v1::ExchangeRequest { kind: Some(kind) }).await.expect("an open exchange");
    }

    async fn allow(&self, entries: u32) {
        self.say(Says::Credit(v1::CacheCredit { entries })).await;
    }

    /// Offers entries within the credit.
    async fn offer(&mut self, entries: &[SharedEntry]) {
        for batch in entries.chunks(MAX_BATCH_ENTRIES) {
            let count = u32::try_from(batch.len()).expect("few");
            while self.credit < count {
                assert_eq!(self.told().await.expect("a message"), None, "only credit");
            }
            self.credit -= count;
            self.say(Says::Batch(batch_to_wire(batch))).await;
        }
    }

    /// The next message: entries, or something that is noted.
    async fn told(&mut self) -> Result<Option<Vec<SharedEntry>>, Status> {
        let message = tokio::time::timeout(LONG, self.told.message()).await.expect("in time")?;
        let message = message.ok_or_else(|| Status::ok("the end"))?;
        match message.kind.expect("a kind") {
            Told::Batch(batch) => {
                assert!(batch.encoded_len() <= MAX_BATCH_BYTES, "{} bytes", batch.encoded_len());
                return Ok(Some(batch_from_wire(&batch).expect("a good batch")));
            }
            Told::Credit(credit) => self.credit += credit.entries,
            Told::Floor(floor) => self.floor = Some(floor.depth),
        }
        Ok(None)
    }

    /// So many entries.
    async fn entries(&mut self, count: usize) -> Vec<SharedEntry> {
        let mut entries = Vec::new();
        while entries.len() < count {
            entries.extend(self.told().await.expect("a message").unwrap_or_default());
        }
        entries
    }

    /// How it ends.
    async fn end(mut self) -> Status {
        loop {
            if let Err(status) = self.told().await {
                return status;
            }
        }
    }
}

async fn until(what: &str, coordinator: &Coordinator, holds: impl Fn(&CacheCounts) -> bool) {
    let started = Instant::now();
    while !holds(&coordinator.handle().cache().counts()) {
        assert!(started.elapsed() < LONG, "{what}: {:?}", coordinator.handle().cache().counts());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

// ---- who gets what --------------------------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_reach_all_others_within_their_credit_and_never_their_sender() {
    let coordinator = coordinator(LONG).await;
    let sessions = [
        Session::open(&coordinator, "a").await,
        Session::open(&coordinator, "b").await,
        Session::open(&coordinator, "c").await,
    ];
    let mut a = Exchange::join(&coordinator, &sessions[0]).await;
    let mut b = Exchange::join(&coordinator, &sessions[1]).await;
    let mut c = Exchange::join(&coordinator, &sessions[2]).await;
    assert_eq!(a.credit, EXCHANGE_CREDIT);

    let sent = many(0..1_000, 9);
    a.allow(100_000).await;
    b.allow(100_000).await;
    c.allow(10).await;
    a.offer(&sent).await;
    let mut got = b.entries(1_000).await;
    got.sort_by_key(|entry| sent.iter().position(|other| other == entry));
    assert_eq!(got, sent, "all of it, each once");
    assert_eq!(c.entries(10).await.len(), 10);
    until("nine hundred and ninety wait", &coordinator, |counts| counts.sent == 1_010).await;
    c.allow(990).await;
    assert_eq!(c.entries(990).await.len(), 990);

    // What comes next to the sender is another's, not its own; b's is no echo of what b was sent.
    b.offer(&sent[..500]).await;
    b.offer(&[entry(5_000, 12)]).await;
    assert_eq!(a.entries(1).await, [entry(5_000, 12)]);
    let counts = coordinator.handle().cache().counts();
    assert_eq!((counts.offered, counts.accepted, counts.peers), (1_501, 1_001, 3));
    coordinator.stop().await;
}

/// What one worker found of a position is, as a seed, known to whoever gets the mirror image to search.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_comes_with_what_is_known_of_its_mirror_image() {
    let coordinator = coordinator(LONG).await;
    let finder = Session::open(&coordinator, "finder").await;
    let mut exchange = Exchange::join(&coordinator, &finder).await;
    let root = moves("e2 e8 e3 e7 d3h");
    let known = |position: &Position, mv: &str, depth| SharedEntry {
        key: shared_key(position, PruneMode::Cat),
        turn: position.turn(),
        score: 33,
        bound: Bound::Exact,
        depth,
        mv: folded(position, Some(mv.parse().expect("a move"))),
    };
    // Of every position after a move, as somebody would who searches all of them.
    let entries: Vec<SharedEntry> =
        root.legal_moves().iter().map(|&mv| known(&root.after(mv), "e4", 9)).collect();
    exchange.offer(&entries).await;
    until("the entries are there", &coordinator, |counts| counts.offered > 100).await;

    // The finder takes no units: the other worker gets them, of the mirror image.
    finder
        .says
        .send(v1::SessionRequest { kind: Some(SessionSays::Draining(v1::WorkerDraining::default())) })
        .await
        .expect("a session");
    let image = root.mirrored();
    let mut searcher = Session::open(&coordinator, "searcher").await;
    let mut client = analysis(&coordinator).await;
    let _events = submit(&mut client, &spec(image, 6)).await;
    let unit = loop {
        if let SessionTold::Grant(grant) = searcher.told().await {
            break grant.units.into_iter().next().expect("a unit");
        }
    };
    assert_eq!(unit.root, image.to_string());
    let position = unit.path.iter().fold(image, |position, mv| position.after(mv.parse().expect("a move")));
    let seed = entry_from_wire(unit.seeds.first().expect("a seed")).expect("a good entry");
    assert_eq!(seed, known(&position, "e4", 9));
    assert_eq!(folded(&position, seed.mv), Some("e4".parse().expect("a move")));
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_workers_share_what_they_find_and_count_its_use() {
    let position = moves("e2 e8 e3 e7 e4 e6 e3h f6h");
    let analyse = async |exchange: bool| {
        let coordinator = coordinator(LONG).await;
        let workers: [TestWorker; 2] = if exchange {
            [worker(&coordinator, "a").await, worker(&coordinator, "b").await]
        } else {
            [worker_alone(&coordinator, "a").await, worker_alone(&coordinator, "b").await]
        };
        if exchange {
            until("both exchange", &coordinator, |counts| counts.peers == 2).await;
        }
        let mut client = analysis(&coordinator).await;
        let answer = done(&rest(&mut submit(&mut client, &spec(position, 10)).await, Vec::new()).await);
        assert_eq!((answer.depth, answer.stopped_by), (10, StoppedBy::Depth));
        if exchange {
            // Told once a second.
            until("use is told", &coordinator, |counts| counts.received > 0 && counts.cutoffs > 0).await;
        }
        let counts = coordinator.handle().cache().counts();
        for worker in workers {
            worker.stop.cancel();
            worker.task.await.expect("an orderly end");
        }
        until("they have left", &coordinator, |counts| counts.peers == 0).await;
        coordinator.stop().await;
        counts
    };
    let with = analyse(true).await;
    assert!(with.accepted > 100 && with.sent > 100 && with.received <= with.sent, "{with:?}");
    let without = analyse(false).await;
    assert_eq!((without.peers, without.sent, without.received), (0, 0, 0), "{without:?}");
}

// ---- what is refused ------------------------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_are_refused_with_the_right_code() {
    let coordinator = coordinator(LONG).await;
    let session = Session::open(&coordinator, "a").await;
    let refused = async |first: Says| open(&coordinator, first).await.err().expect("refused");

    let older = v1::ExchangeHello { worker: session.worker, engine_epoch: "older".to_owned() };
    let status = refused(Says::Hello(older)).await;
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert!(status.message().contains("'older'") && status.message().contains(ENGINE_EPOCH), "{status:?}");

    let status = refused(hello(777)).await;
    assert_eq!((status.code(), status.message()), (Code::FailedPrecondition, "worker: 777 has no session"));

    let status = refused(Says::Credit(v1::CacheCredit { entries: 1 })).await;
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert!(status.message().contains("must be `hello`"), "{status:?}");

    let exchange = Exchange::join(&coordinator, &session).await;
    exchange.say(hello(session.worker)).await;
    let status = exchange.end().await;
    assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "kind: a second `hello`"));
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_batches_end_their_exchange_and_nothing_else() {
    let coordinator = coordinator(LONG).await;
    let mut session = Session::open(&coordinator, "a").await;
    let good = || batch_to_wire(&many(0..3, 9));
    let with = |change: &dyn Fn(&mut v1::CacheEntry)| {
        let mut batch = good();
        change(&mut batch.entries[1]);
        batch
    };
    let oversize = batch_to_wire(&many(0..400, 9));
    assert!(oversize.encoded_len() > MAX_BATCH_BYTES);
    let cases = [
        (oversize, Code::ResourceExhausted, "max_batch_bytes"),
        (with(&|entry| entry.bound = 77), Code::InvalidArgument, "batch.entries[1].bound: 77"),
        (with(&|entry| entry.depth = 101), Code::InvalidArgument, "batch.entries[1].depth: 101"),
        (with(&|entry| entry.turn = 0), Code::InvalidArgument, "batch.entries[1].turn: is unspecified"),
        (with(&|entry| entry.score_white = None), Code::InvalidArgument, "batch.entries[1].score_white"),
        (
            with(&|entry| entry.best_move = "e9x".to_owned()),
            Code::InvalidArgument,
            "batch.entries[1].best_move",
        ),
    ];
    for (batch, code, named) in cases {
        let exchange = Exchange::join(&coordinator, &session).await;
        exchange.say(Says::Batch(batch)).await;
        let status = exchange.end().await;
        assert_eq!(status.code(), code, "{status:?}");
        assert!(status.message().contains(named), "{status:?}");
    }
    assert_eq!(coordinator.handle().cache().counts().entries, 0, "nothing of a bad batch is taken");
    // The session lives.
    session.beat().await;
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_says_nothing_is_told_so_and_holds_up_nobody() {
    let coordinator = coordinator(LONG).await;
    let mut client = CacheClient::connect(url(coordinator.address())).await.expect("a client");
    let (silent, requests) = mpsc::channel::<v1::ExchangeRequest>(1);
    let started = Instant::now();
    let status = client.exchange(ReceiverStream::new(requests)).await.expect_err("too late");
    assert_eq!((status.code(), status.message()), (Code::DeadlineExceeded, "hello_time has passed"));
    assert!(started.elapsed() >= Duration::from_secs(4));
    drop(silent);

    // Open exchanges, one silent from the start and one that has joined, do not hold up the end.
    let session = Session::open(&coordinator, "a").await;
    let joined = Exchange::join(&coordinator, &session).await;
    let (_silent, requests) = mpsc::channel::<v1::ExchangeRequest>(1);
    let mut other = CacheClient::connect(url(coordinator.address())).await.expect("a client");
    let waiting =
        tokio::spawn(async move { other.exchange(ReceiverStream::new(requests)).await.map(|_| ()) });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    coordinator.stop().await;
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    let status = joined.end().await;
    assert!(status.message().contains("shutting down"), "{status:?}");
    assert!(waiting.await.expect("no panic").is_err());
}

// ---- lives of exchanges ---------------------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_exchange_replaces_the_first_and_both_end_with_their_session() {
    let coordinator = coordinator(LONG).await;
    let session = Session::open(&coordinator, "a").await;
    let other = Session::open(&coordinator, "b").await;
    let mut sender = Exchange::join(&coordinator, &other).await;
    let first = Exchange::join(&coordinator, &session).await;
    first.allow(100).await;
    let mut second = Exchange::join(&coordinator, &session).await;
    let status = first.end().await;
    assert_eq!(status.code(), Code::Aborted, "{status:?}");
    second.allow(100).await;
    sender.offer(&many(0..3, 9)).await;
    assert_eq!(second.entries(3).await.len(), 3);

    drop(session);
    let status = second.end().await;
    assert_eq!(status.code(), Code::Aborted, "{status:?}");
    assert!(status.message().contains("session has ended"), "{status:?}");
    until("one is left", &coordinator, |counts| counts.peers == 1).await;
    // The client closes its half: the coordinator's ends too, in good order.
    let Exchange { says, mut told, .. } = sender;
    drop(says);
    while let Some(_message) = told.message().await.expect("in good order") {}
    coordinator.stop().await;
}

/// A worker that takes nothing loses the shallowest of what waits for it; others get all, and heartbeats are answered at
/// once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_worker_delays_neither_others_nor_heartbeats() {
    let coordinator = coordinator(LONG).await;
    let mut sessions = [
        Session::open(&coordinator, "fast").await,
        Session::open(&coordinator, "quick").await,
        Session::open(&coordinator, "slow").await,
    ];
    let mut sender = Exchange::join(&coordinator, &sessions[0]).await;
    let mut receiver = Exchange::join(&coordinator, &sessions[1]).await;
    let slow = Exchange::join(&coordinator, &sessions[2]).await;
    slow.allow(u32::MAX).await;
    receiver.allow(u32::MAX).await;

    let total = 200_000;
    let (progress, mut received) = tokio::sync::watch::channel(0);
    let receiving = tokio::spawn(async move {
        let mut count = 0;
        while count < total {
            count += receiver.entries(1).await.len();
            progress.send_replace(count);
        }
        count
    });
    // In step with the quick one, so that its own queue is never full.
    let sending = tokio::spawn(async move {
        for start in (0..total).step_by(1_000) {
            let near = received.wait_for(|&received| received + 2_000 >= start).await.map(|_| ());
            near.expect("the quick one reads on");
            let start = u64::try_from(start).expect("few");
            sender.offer(&many(start..start + 1_000, 9)).await;
        }
        sender
    });
    let mut slowest = Duration::ZERO;
    while !receiving.is_finished() {
        slowest = slowest.max(sessions[2].beat().await).max(sessions[0].beat().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(receiving.await.expect("no panic"), total);
    // A third of a lease of ten seconds is the least that a heartbeat may take; far less is the rule.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    let counts = coordinator.handle().cache().counts();
    let least = u64::try_from(total / 2).expect("few");
    assert!(counts.dropped > least, "the slow one's queue of {EXCHANGE_QUEUE} is full: {counts:?}");
    drop(sending.await.expect("no panic"));
    coordinator.stop().await;
    drop(slow);
}
