//! A session against a coordinator that says what a test tells it to.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use corridor_proto::v1::fleet_server::{Fleet, FleetServer};
use corridor_shared::Position;
use tokio::net::TcpListener;
use tokio_stream::{Stream, StreamExt, wrappers::TcpListenerStream};
use tonic::{Request, Response};

use super::*;

const LONG: Duration = Duration::from_secs(60);

/// A coordinator of one session.
struct Teller {
    says: tokio::sync::Mutex<Option<mpsc::Receiver<v1::SessionResponse>>>,
    heard: mpsc::UnboundedSender<Says>,
}

#[tonic::async_trait]
impl Fleet for Teller {
    type SessionStream = Pin<Box<dyn Stream<Item = Result<v1::SessionResponse, Status>> + Send>>;

    async fn session(
        &self,
        request: Request<Streaming<v1::SessionRequest>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let says = self.says.lock().await.take().ok_or_else(|| Status::unavailable("one session only"))?;
        let (heard, mut messages) = (self.heard.clone(), request.into_inner());
        drop(tokio::spawn(async move {
            while let Ok(Some(v1::SessionRequest { kind: Some(kind) })) = messages.message().await {
                if heard.send(kind).is_err() {
                    break;
                }
            }
        }));
        Ok(Response::new(Box::pin(ReceiverStream::new(says).map(Ok))))
    }
}

/// The coordinator's end of a session that has just been accepted.
struct Line {
    says: mpsc::Sender<v1::SessionResponse>,
    heard: mpsc::UnboundedReceiver<Says>,
}

impl Line {
    async fn open() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (says, to_say) = mpsc::channel(16);
        let (heard, hears) = mpsc::unbounded_channel();
        let service = FleetServer::new(Teller { says: tokio::sync::Mutex::new(Some(to_say)), heard });
        let server = tonic::transport::Server::builder().add_service(service);
        drop(tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener))));
        let line = Self { says, heard: hears };
        line.say(Told::Registered(v1::Registered { worker: 1, lease_ms: 500, heartbeat_ms: 50 })).await;
        (line, url)
    }

    async fn say(&self, kind: Told) {
        self.says.send(v1::SessionResponse { kind: Some(kind) }).await.expect("a session");
    }

    async fn grant(&self, unit: u64, depth: u32) {
        let unit = v1::Unit {
            job: 1,
            unit,
            attempt: 1,
            root: Position::start().to_string(),
            path: vec!["e2".to_owned()],
            depth,
            prune: v1::PruneMode::Cat.into(),
            ..v1::Unit::default()
        };
        self.say(Told::Grant(v1::Grant { units: vec![unit] })).await;
    }

    async fn hear(&mut self) -> Says {
        tokio::time::timeout(LONG, self.heard.recv()).await.expect("in time").expect("a session")
    }

    /// The next heartbeat: each unit with its nodes. Anything else is a fault.
    async fn heartbeat(&mut self) -> Vec<(u64, u64)> {
        loop {
            match self.hear().await {
                Says::Heartbeat(beat) => return beat.units.iter().map(|it| (it.unit, it.nodes)).collect(),
                Says::Register(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn worker(url: String) -> Worker {
    let config = WorkerConfig {
        coordinators: vec![url],
        name: "a".to_owned(),
        slots: 1,
        table_bytes: 1 << 20,
        exchange: false,
    };
    Worker::new(config).expect("a worker")
}

/// Search threads that hang do not stop heartbeats, which say that nothing moves; a drain is over in time all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heartbeats_tell_that_frozen_threads_do_not_move_and_a_drain_does_not_wait_for_them() {
    static FROZEN: AtomicBool = AtomicBool::new(true);
    let (mut line, url) = Line::open().await;
    let mut worker = worker(url);
    let (sender, outcomes) = mpsc::channel(8);
    let frozen: crate::pool::SearchUnit = |_, _, _| {
        while FROZEN.load(Ordering::Acquire) {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        Err("it was frozen".to_owned())
    };
    let pool = Pool::start_with(frozen, 1, Arc::clone(&worker.table), Arc::clone(&worker.outbox), &sender);
    drop(sender);
    (worker.pool, worker.outcomes) = (pool.expect("threads"), outcomes);
    let connected = worker.connected();
    let stop = CancellationToken::new();
    let task = tokio::spawn(worker.run(stop.clone()));
    line.grant(1, 30).await;
    line.grant(2, 30).await;
    while line.heartbeat().await.len() < 2 {}
    for _ in 0..10 {
        assert_eq!(line.heartbeat().await, [(1, 0), (2, 0)]);
    }
    stop.cancel();
    loop {
        match line.hear().await {
            Says::Draining(_) => break,
            Says::Heartbeat(_) => {}
            other => panic!("{other:?}"),
        }
    }
    // Not ready before it is gone.
    assert!(!*connected.borrow() && !task.is_finished());
    // `drain_time` is its whole limit; the rest is for a busy machine.
    tokio::time::timeout(2 * DRAIN_TIME, task).await.expect("in time").expect("an orderly end");
    FROZEN.store(false, Ordering::Release);
}

/// A unit whose lease is lost, or that is cancelled, is stopped, and nothing is said of it any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_that_is_lost_or_cancelled_is_stopped_without_a_result() {
    let (mut line, url) = Line::open().await;
    let stop = CancellationToken::new();
    let task = tokio::spawn(worker(url).run(stop.clone()));
    for number in 1..=3 {
        line.grant(number, 60).await;
        while line.heartbeat().await.iter().all(|&(unit, nodes)| (unit, nodes) <= (number, 0)) {}
        let (unit, attempt) = (number, 1);
        // Of another attempt: not its own.
        line.say(Told::LeaseLost(v1::LeaseLost { unit, attempt: 2 })).await;
        line.say(Told::Cancel(v1::CancelUnit { unit: 99, attempt })).await;
        assert_eq!(line.heartbeat().await.iter().map(|&(unit, _)| unit).collect::<Vec<_>>(), [number]);
        let lost = if number % 2 == 1 {
            Told::LeaseLost(v1::LeaseLost { unit, attempt })
        } else {
            Told::Cancel(v1::CancelUnit { unit, attempt })
        };
        line.say(lost).await;
        // A result would not be a heartbeat.
        while !line.heartbeat().await.is_empty() {}
    }
    // Its slot is free: the next one is searched to its end.
    line.grant(4, 2).await;
    loop {
        match line.hear().await {
            Says::Results(found) => {
                let ended = found.results.iter().map(|result| (result.unit, result.completed));
                assert_eq!(ended.collect::<Vec<_>>(), [(4, true)]);
                break;
            }
            Says::Heartbeat(_) => {}
            other => panic!("{other:?}"),
        }
    }
    stop.cancel();
    tokio::time::timeout(LONG, task).await.expect("in time").expect("an orderly end");
}

#[tokio::test(start_paused = true)]
async fn results_wait_for_others_for_so_long_and_no_longer() {
    let (sender, _outcomes) = mpsc::channel(1);
    let table = Arc::new(TranspositionTable::new(1 << 20).expect("a table"));
    let pool = Pool::start(1, table, Arc::new(Outbox::new()), &sender).expect("a thread");
    let (says, mut said) = mpsc::channel(8);
    let mut desk = Desk::new(&pool, says);
    let result = |unit| v1::UnitResult { unit, ..v1::UnitResult::default() };
    let mut sent = |desk: &Desk<'_>| match said.try_recv() {
        Ok(v1::SessionRequest { kind: Some(Says::Results(found)) }) => {
            assert!(desk.results.is_empty() && desk.linger.until().is_none());
            found.results.iter().map(|result| result.unit).collect::<Vec<_>>()
        }
        other => {
            assert!(other.is_err(), "{other:?}");
            Vec::new()
        }
    };
    desk.results.push(result(1));
    desk.report(false).await.expect("a line");
    assert!(sent(&desk).is_empty());
    tokio::time::advance(RESULT_LINGER / 2).await;
    desk.results.push(result(2));
    desk.report(false).await.expect("a line");
    assert!(sent(&desk).is_empty(), "the first has waited for half of the time");
    let until = desk.linger.until().expect("they wait");
    assert_eq!(until - Instant::now(), RESULT_LINGER / 2);
    desk.linger().await;
    desk.report(false).await.expect("a line");
    assert_eq!(sent(&desk), [1, 2]);
    // What matters takes with it what waits; so does a heartbeat, and a full message waits for nothing.
    desk.results.extend([result(3), result(4)]);
    desk.report(false).await.expect("a line");
    desk.report(true).await.expect("a line");
    assert_eq!(sent(&desk), [3, 4]);
    desk.results.push(result(5));
    desk.report(false).await.expect("a line");
    desk.heartbeat().await.expect("a line");
    assert_eq!(sent(&desk), [5]);
    assert!(matches!(said.try_recv(), Ok(v1::SessionRequest { kind: Some(Says::Heartbeat(_)) })));
    desk.results.extend((0..MAX_RESULTS).map(|_| result(6)));
    desk.report(false).await.expect("a line");
    assert!(matches!(said.try_recv(), Ok(v1::SessionRequest { kind: Some(Says::Results(_)) })));
}
