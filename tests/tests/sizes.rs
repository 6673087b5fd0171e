//! Messages beyond gRPC's own limit of four megabytes, at every service: taken, and answered for what they say. What is beyond
//! `max_message_bytes` is refused by `rubbish_and_oversize_are_refused_by_every_service`.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::time::Duration;

use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_proto::v1::cache_client::CacheClient;
use corridor_proto::v1::positions_client::PositionsClient;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_shared::job::ENGINE_EPOCH;
use corridor_tests::{FakeWorker, coordinator, url};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use tonic::transport::Channel;

const LARGE: usize = 5 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_service_takes_more_than_four_megabytes() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let endpoint = Channel::from_shared(url(coordinator.address())).expect("a url");
    let channel = endpoint.connect().await.expect("a channel");
    let large = "x".repeat(LARGE);
    let source = v1::position_spec::Source::Position(large.clone());
    let position = Some(v1::PositionSpec { source: Some(source) });

    let mut analysis = AnalysisClient::new(channel.clone());
    let spec = Some(v1::JobSpec { position: position.clone(), prune: 1, ..v1::JobSpec::default() });
    let status = analysis
        .analyze(v1::AnalyzeRequest { spec: spec.clone(), fresh: false })
        .await
        .expect_err("no position");
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    let status = analysis.submit(v1::SubmitRequest { spec, fresh: false }).await.expect_err("no position");
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");

    let mut positions = PositionsClient::new(channel.clone());
    let status = positions.heat(v1::HeatRequest { position }).await.expect_err("no position");
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");

    let mut worker = FakeWorker::join(&coordinator, "a").await;
    worker.say(Says::Failed(v1::UnitFailed { unit: 5, attempt: 1, message: large.clone() })).await;
    assert_eq!(worker.lease_lost().await, (5, 1));

    // A batch may have eight kilobytes; that is another complaint than the wire's.
    let (says, requests) = mpsc::channel(2);
    let hello = v1::ExchangeHello { worker: 1, engine_epoch: ENGINE_EPOCH.to_owned() };
    let entries = vec![v1::CacheEntry { best_move: "e2".to_owned(), ..v1::CacheEntry::default() }; LARGE / 4];
    for kind in [
        v1::exchange_request::Kind::Hello(hello),
        v1::exchange_request::Kind::Batch(v1::CacheBatch { entries }),
    ] {
        says.send(v1::ExchangeRequest { kind: Some(kind) }).await.expect("room");
    }
    let mut cache = CacheClient::new(channel.clone()).max_encoding_message_size(usize::MAX);
    let mut told = cache.exchange(ReceiverStream::new(requests)).await.expect("an exchange").into_inner();
    let status = loop {
        match told.message().await {
            Ok(message) => assert!(message.is_some(), "it ends without a word"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(status.message().contains("max_batch_bytes 8192"), "{status:?}");

    let mut health = tonic_health::pb::health_client::HealthClient::new(channel.clone());
    let request = tonic_health::pb::HealthCheckRequest { service: large.clone() };
    assert_eq!(health.check(request).await.expect_err("unknown").code(), Code::NotFound);

    macro_rules! reflects {
        ($version:ident) => {{
            use tonic_reflection::pb::$version as reflection;
            let list = reflection::server_reflection_request::MessageRequest::ListServices(String::new());
            let request =
                reflection::ServerReflectionRequest { host: large.clone(), message_request: Some(list) };
            let mut client =
                reflection::server_reflection_client::ServerReflectionClient::new(channel.clone())
                    .max_decoding_message_size(MAX_MESSAGE_BYTES);
            let answers = client.server_reflection_info(tokio_stream::once(request)).await.expect("answers");
            let answer = answers.into_inner().message().await.expect("an answer").expect("an answer");
            // It repeats what it was asked: more than four megabytes that way, too.
            assert_eq!(answer.original_request.map(|request| request.host.len()), Some(LARGE));
        }};
    }
    reflects!(v1);
    reflects!(v1alpha);
    coordinator.stop().await;
}
