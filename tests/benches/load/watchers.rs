//! Watchers of jobs: those that keep up, each checking that it sees every event once, and those that do not read at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use corridor_proto::convert::spec_to_wire;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_proto::v1::event::Kind;
use corridor_shared::job::JobSpec;
use tokio::sync::Notify;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Streaming};

/// Of a stream that is not read, so many bytes are taken all the same.
const SLOW_WINDOW: u32 = 1_024;

pub(crate) async fn client(url: &str) -> AnalysisClient<Channel> {
    AnalysisClient::connect(url.to_owned()).await.expect("a client")
}

/// Submits a job that goes on without a watcher.
pub(crate) async fn submit(client: &mut AnalysisClient<Channel>, spec: &JobSpec) -> u64 {
    let request = v1::SubmitRequest { spec: Some(spec_to_wire(spec)), fresh: false };
    client.submit(request).await.expect("accepted").into_inner().job
}

fn is_last(event: &v1::Event) -> bool {
    matches!(event.kind, Some(Kind::Done(_) | Kind::Error(_)))
}

/// Reads a stream to its end and checks that nothing is missing and nothing comes twice. Returns the number of the last event
/// and how it ended: in order, or with a status.
async fn read(
    mut events: Streaming<v1::WatchResponse>,
    after: u64,
    seen: &AtomicU64,
) -> (u64, Result<(), tonic::Status>) {
    let mut last = after;
    loop {
        match events.message().await {
            Ok(Some(message)) => {
                let event = message.event.expect("an event");
                assert_eq!(event.seq, last + 1, "a gap or a repeat");
                last = event.seq;
                seen.fetch_add(1, Ordering::Relaxed);
            }
            Ok(None) => return (last, Ok(())),
            Err(status) => return (last, Err(status)),
        }
    }
}

/// Watches a job over a connection of its own until it ends. Returns the number of its last event.
pub(crate) async fn watch(url: String, job: u64, seen: Arc<AtomicU64>) -> u64 {
    let mut client = client(&url).await;
    let request = v1::WatchRequest { job, after_seq: 0 };
    let events = client.watch(request).await.expect("events").into_inner();
    let (last, end) = read(events, 0, &seen).await;
    end.expect("whoever keeps up sees the end");
    last
}

/// Watches a job without reading until told to; then reads what there is, is told why it was dropped, and comes back with its
/// cursor. Returns the reason and the number of the last event.
pub(crate) async fn watch_slowly(url: String, job: u64, wake: Arc<Notify>) -> (String, u64) {
    let endpoint = Endpoint::from_shared(url).expect("a url").initial_stream_window_size(Some(SLOW_WINDOW));
    let mut client = AnalysisClient::new(endpoint.connect().await.expect("a connection"));
    let request = v1::WatchRequest { job, after_seq: 0 };
    let events = client.watch(request).await.expect("events").into_inner();
    wake.notified().await;
    let seen = AtomicU64::new(0);
    let (cursor, end) = read(events, 0, &seen).await;
    let status = end.expect_err("whoever does not read is dropped");
    assert_eq!(status.code(), Code::Aborted, "{status:?}");
    let request = v1::WatchRequest { job, after_seq: cursor };
    let events = client.watch(request).await.expect("events").into_inner();
    let (last, end) = read(events, cursor, &seen).await;
    end.expect("it keeps up now");
    (status.message().to_owned(), last)
}

/// Submits a job and reads its events to the last one. Returns how many there were.
pub(crate) async fn analyse(client: &mut AnalysisClient<Channel>, spec: &JobSpec) -> u64 {
    let request = v1::AnalyzeRequest { spec: Some(spec_to_wire(spec)), fresh: false };
    let mut events = client.analyze(request).await.expect("accepted").into_inner();
    let (mut last, mut ended) = (0, false);
    while let Some(message) = events.message().await.expect("a stream that keeps up") {
        let event = message.event.expect("an event");
        assert!(event.seq == last + 1 && !ended, "a gap, a repeat, or an event after the last one");
        (last, ended) = (event.seq, is_last(&event));
    }
    assert!(ended, "a stream without its last event");
    last
}

pub(crate) async fn cancel(client: &mut AnalysisClient<Channel>, job: u64) {
    client.cancel(v1::CancelRequest { job }).await.expect("cancelled");
}

/// Cancels whatever has not ended.
pub(crate) async fn cancel_all(client: &mut AnalysisClient<Channel>) {
    let listed = client.list(v1::ListRequest::default()).await.expect("jobs").into_inner();
    let ended = [v1::JobState::Done.into(), v1::JobState::Failed.into()];
    for summary in listed.jobs.iter().filter(|summary| !ended.contains(&summary.state)) {
        cancel(client, summary.job).await;
    }
}

/// Number of a job's latest event.
pub(crate) async fn last_seq(client: &mut AnalysisClient<Channel>, job: u64) -> u64 {
    let got = client.get(v1::GetRequest { job }).await.expect("a job").into_inner();
    got.summary.expect("a summary").last_seq
}
