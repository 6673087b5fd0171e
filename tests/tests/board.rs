//! Hours in front of the live board: a page that stays open takes no more memory, however much happens.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "../benches/load/fake.rs"]
#[allow(dead_code, reason = "the benchmark's other searches")]
mod fake;

use std::time::Duration;

use corridor_coordinator::Coordinator;
use corridor_proto::v1;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_shared::job::{JobSpec, JobState, MAX_DEPTH, RootPrune};
use corridor_tests::browser::Browser;
use corridor_tests::{
    ANY_PORT, FakeWorker, accept, analysis, coordinator, eventually, found, lasting, moves, summary,
};
use tokio::task::JoinHandle;

/// What a busy job tells in half an hour: 50 events a second.
const HALF_AN_HOUR: u64 = 30 * 60 * 50;
/// Root moves of the position: all of them are searched.
const ROWS: u64 = 131;

/// The page on a free port.
async fn page(coordinator: &Coordinator) -> String {
    let listener = tokio::net::TcpListener::bind(ANY_PORT).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let router = coordinator.page();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/")
}

/// A worker that finds at once that everything is a draw.
async fn quick_worker(coordinator: &Coordinator) -> JoinHandle<()> {
    let mut worker = FakeWorker::join(coordinator, "quick").await;
    tokio::spawn(async move {
        loop {
            let unit: v1::Unit = worker.granted().await;
            let result: Says = found(fake::flat(&unit));
            worker.say(result).await;
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_an_hour_of_events_leaves_the_page_as_light_as_it_was() {
    let Some(browser) = Browser::open_for_hours().await else { return };
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let page = page(&coordinator).await;
    let worker = quick_worker(&coordinator).await;
    let mut client = analysis(&coordinator).await;
    browser.goto(&page).await;
    let panel = "document.querySelector('#analysis-panel').dataset";
    let (mut seen, mut sizes) = (0, Vec::new());
    while seen < HALF_AN_HOUR {
        // Its moves have no mirror images.
        let spec = JobSpec { prune: RootPrune::None, ..lasting(moves("d1 e8"), MAX_DEPTH) };
        let job = accept(&mut client, &spec).await.expect("accepted");
        browser.run("location.hash = arguments[0]", &[format!("#job={job}").into()]).await;
        eventually("the job ends", async || summary(&mut client, job).await.state == JobState::Done).await;
        let last = summary(&mut client, job).await.last_seq;
        browser
            .until(&format!("[{panel}.job, {panel}.state, {panel}.lastSeq]"), |shown| {
                *shown == serde_json::json!([job.to_string(), "done", last.to_string()])
            })
            .await;
        assert_eq!(browser.value("document.querySelectorAll('.c-body .c-row').length").await, ROWS);
        for count in ["gaps", "repeats"] {
            assert_eq!(browser.value(&format!("{panel}.{count} ?? '0'")).await, "0", "{count} of job {job}");
        }
        assert!(last > u64::from(MAX_DEPTH) * ROWS, "job {job} told {last} events");
        seen += last;
        sizes.push(browser.memory().await);
    }
    assert_eq!(browser.console().await, Vec::<String>::new());
    // After the first job everything is there that stays.
    let [first, .., last] = &sizes[..] else { panic!("{sizes:?}") };
    assert!(last.heap_bytes < first.heap_bytes * 5 / 4 + 500_000, "{sizes:?}");
    assert!(last.nodes < first.nodes + first.nodes / 10, "{sizes:?}");
    assert!(last.listeners < first.listeners + 20, "{sizes:?}");
    worker.abort();
    browser.close().await;
    coordinator.stop().await;
}
