//! The end of a coordinator: every service says so before anything is closed, and nobody is dropped before that.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::time::Duration;

use corridor_proto::v1;
use corridor_shared::Position;
use corridor_tests::{LONG, analysis, coordinator, spec, submit, url};
use tokio_stream::StreamExt;
use tonic::transport::Channel;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

/// Every service that is served, by reflection; those of gRPC itself apart.
async fn services(channel: &Channel) -> BTreeSet<String> {
    use reflection::server_reflection_request::MessageRequest;
    use reflection::server_reflection_response::MessageResponse;
    use tonic_reflection::pb::v1 as reflection;
    let mut client = reflection::server_reflection_client::ServerReflectionClient::new(channel.clone());
    let list = Some(MessageRequest::ListServices(String::new()));
    let request = reflection::ServerReflectionRequest { host: String::new(), message_request: list };
    let answers = client.server_reflection_info(tokio_stream::once(request)).await.expect("reflection");
    let answer = answers.into_inner().message().await.expect("an answer").expect("an answer");
    match answer.message_response {
        Some(MessageResponse::ListServicesResponse(list)) => {
            let names = list.service.into_iter().map(|service| service.name);
            names.filter(|name| name.starts_with("corridor.")).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_service_says_that_it_does_not_serve_before_anything_is_closed() {
    let coordinator = coordinator(Duration::from_secs(10)).await;
    let endpoint = Channel::from_shared(url(coordinator.address())).expect("a url");
    let channel = endpoint.connect().await.expect("a channel");
    let mut health = HealthClient::new(channel.clone());
    // The book is described and not served yet.
    let mut names = services(&channel).await;
    assert!(names.remove("corridor.v1.Book") && names.len() >= 4, "{names:?}");
    names.insert(String::new());
    let request = |service: &String| HealthCheckRequest { service: service.clone() };
    let mut watched = Vec::new();
    for name in &names {
        let answer = health.check(request(name)).await.expect("a known service").into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{name}");
        let mut stream = health.watch(request(name)).await.expect("a stream").into_inner();
        let first = stream.next().await.expect("a status").expect("a status");
        assert_eq!(first.status(), ServingStatus::Serving, "{name}");
        watched.push((name, stream));
    }
    let mut client = analysis(&coordinator).await;
    let mut events = submit(&mut client, &spec(Position::start(), 3)).await;
    events.message().await.expect("an event");

    coordinator.begin_drain().await;
    for (name, stream) in &mut watched {
        let told = tokio::time::timeout(LONG, stream.next()).await.expect("in time");
        assert_eq!(told.expect("a status").expect("a status").status(), ServingStatus::NotServing, "{name}");
        let answer = health.check(request(name)).await.expect("it still answers").into_inner();
        assert_eq!(answer.status(), ServingStatus::NotServing, "{name}");
    }
    assert_eq!(*coordinator.readiness().borrow(), Err("it is shutting down".to_owned()));
    // It is alive all the same: questions are answered, streams are open, new work is taken.
    client.list(v1::ListRequest::default()).await.expect("an answer");
    submit(&mut client, &spec(Position::start(), 1)).await;
    assert!(events.message().await.expect("an open stream").is_some());
    drop(watched);
    coordinator.stop().await;
    while let Ok(message) = events.message().await {
        assert!(message.is_some(), "a stream that was cut off must not end as if it were complete");
    }
}
