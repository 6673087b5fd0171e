//! Lines that lose everything without a reset: every end of one notices within twenty seconds, and gives it up.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod clock;
#[path = "../../cli/tests/common/proxy.rs"]
mod proxy;

use std::time::Duration;

use corridor_proto::v1;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_shared::job::JobSpec;
use corridor_tests::{
    FakeWorker, analysis, coordinator, open_session_at, register, small_worker, spec, submit, url,
    worker_without_waiting,
};
use corridor_worker::{Worker, WorkerConfig};
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

use clock::{FrozenClock, eventually};
use proxy::Proxy;

/// By when a dead line must have been noticed.
const NOTICED: Duration = Duration::from_secs(20);

/// So long a lease that only the line itself can show that it is dead.
const HOUR: Duration = Duration::from_secs(3_600);

/// Fails a proxy: by the time that is allowed, both ends have given up so many of its connections. The clock stands still
/// while the proxy's own threads see that.
async fn fail(proxy: &Proxy, connections: usize, clock: &FrozenClock) {
    proxy.fail();
    clock.pass(NOTICED).await;
    eventually("both ends give up", async || {
        let (dialled, accepted) = proxy.given_up();
        dialled >= connections && accepted >= connections
    })
    .await;
}

#[tokio::test]
async fn a_worker_and_its_coordinator_give_up_a_half_open_line_and_find_another_way() {
    let coordinator = coordinator(HOUR).await;
    let (broken, good) = (Proxy::start(coordinator.address()), Proxy::start(coordinator.address()));
    let config = small_worker(&[broken.url(), good.url()], "a");
    // The exchange has a connection of its own.
    let worker = Worker::new(WorkerConfig { exchange: true, ..config }).expect("a worker");
    let mut connected = worker.connected();
    let stop = CancellationToken::new();
    let task = tokio::spawn(worker.run(stop.clone()));
    connected.wait_for(|&connected| connected).await.expect("a worker");
    eventually("both lines are up", async || {
        broken.connections() == 2 && coordinator.handle().cache().counts().peers == 1
    })
    .await;
    let clock = FrozenClock::freeze();
    fail(&broken, 2, &clock).await;
    // The other proxy's threads have no part in the clock, and need time to carry a new session.
    clock.resume();
    eventually("it has another line", async || *connected.borrow() && good.connections() >= 1).await;
    let mut client = analysis(&coordinator).await;
    let workers = client.workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers;
    assert_eq!(workers.len(), 1, "the old session is gone: {workers:?}");
    stop.cancel();
    eventually("it leaves", async || task.is_finished()).await;
    coordinator.stop().await;
}

#[tokio::test]
async fn units_of_a_worker_that_was_cut_off_run_elsewhere_within_its_lease() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let proxy = Proxy::start(coordinator.address());
    let mut cut_off =
        open_session_at(proxy.url(), Says::Register(register("cut off"))).await.expect("a session");
    let mut client = analysis(&coordinator).await;
    let _events = submit(&mut client, &spec(corridor_shared::Position::start(), 3)).await;
    let unit = cut_off.granted().await;
    let clock = FrozenClock::freeze();
    let mut healthy = FakeWorker::join(&coordinator, "healthy").await;
    proxy.fail();
    for _ in 0..11 {
        clock.pass(Duration::from_secs(1)).await;
        healthy.beat(&[]).await;
        // It knows nothing of that yet, and goes on.
        let _ = cut_off
            .says
            .try_send(v1::SessionRequest { kind: Some(Says::Heartbeat(v1::Heartbeat::default())) });
    }
    // The same search, as a later attempt or as its twin.
    let again = healthy.granted().await;
    assert_eq!((again.job, again.path), (unit.job, unit.path));
    let workers = client.workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers;
    assert_eq!(workers.iter().map(|worker| worker.name.as_str()).collect::<Vec<_>>(), ["healthy"]);
    clock.stop(coordinator).await;
}

#[tokio::test]
async fn the_coordinator_gives_up_watchers_behind_a_half_open_line_and_they_give_up_it() {
    let coordinator = coordinator(HOUR).await;
    let proxy = Proxy::start(coordinator.address());
    let keepalive = Duration::from_secs(8);
    let endpoint = Endpoint::from_shared(proxy.url()).expect("a url");
    let channel = endpoint
        .http2_keep_alive_interval(keepalive)
        .keep_alive_timeout(keepalive)
        .keep_alive_while_idle(true)
        .connect()
        .await
        .expect("a channel");
    let mut client = v1::analysis_client::AnalysisClient::new(channel);
    let limits = corridor_shared::job::JobLimits { time: Some(HOUR), ..Default::default() };
    let job = JobSpec { limits, ..spec(corridor_shared::Position::start(), 3) };
    let mut events = submit(&mut client, &job).await;
    assert!(events.message().await.expect("a stream").is_some());
    let clock = FrozenClock::freeze();
    fail(&proxy, 1, &clock).await;
    while let Ok(message) = events.message().await {
        assert!(message.is_some(), "a line that broke is no end of a stream");
    }
    // Nobody watches it any more: half a minute later it ends.
    let mut other = analysis(&coordinator).await;
    let state = async |client: &v1::analysis_client::AnalysisClient<_>| {
        let answer = client.clone().get(v1::GetRequest { job: 1 }).await.expect("a job").into_inner();
        answer.summary.expect("a summary").state()
    };
    assert_eq!(state(&other).await, v1::JobState::Waiting);
    clock.pass(Duration::from_secs(32)).await;
    assert_eq!(state(&other).await, v1::JobState::Done);
    let workers = other.workers(v1::WorkersRequest {}).await.expect("workers").into_inner().workers;
    assert!(workers.is_empty());
    clock.stop(coordinator).await;
}

/// The first address accepts and never answers; the second is dead; the third is good.
#[tokio::test]
async fn a_worker_passes_by_addresses_that_never_answer() {
    let coordinator = coordinator(HOUR).await;
    let mute = Proxy::start(coordinator.address());
    mute.fail();
    let clock = FrozenClock::freeze();
    let addresses = [mute.url(), "http://127.0.0.1:1".to_owned(), url(coordinator.address())];
    let (worker, connected) = worker_without_waiting(&addresses, "a");
    // `connect_time` is five seconds, the pauses in between are short.
    let took = clock.pass_until("it is connected", async || *connected.borrow()).await;
    assert!(took < Duration::from_secs(7), "{took:?}");
    worker.stop.cancel();
    eventually("it leaves", async || worker.task.is_finished()).await;
    clock.stop(coordinator).await;
}
