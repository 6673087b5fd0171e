//! Answers beyond gRPC's own limit of four megabytes reach whoever asked; what is beyond `max_message_bytes` is an error with
//! a name. No real coordinator has so much to say: this one does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;

use common::{lines, run};
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::analysis_server::{Analysis, AnalysisServer};
use tonic::codegen::tokio_stream::{Iter, iter};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

type Events<T> = Iter<std::vec::IntoIter<Result<T, Status>>>;
type Answer<T> = Result<Response<T>, Status>;

/// Says everything at great length.
struct Talker {
    bytes: usize,
}

impl Talker {
    fn text(&self) -> String {
        "x".repeat(self.bytes)
    }

    /// A job's events, the last one very long.
    fn events(&self) -> [v1::Event; 2] {
        let accepted = v1::AcceptedEvent {
            job: 1,
            position: "/ / e1 e9 / 10 10 / 1".to_owned(),
            turn: v1::Color::White.into(),
            ..v1::AcceptedEvent::default()
        };
        let error = v1::ErrorEvent { code: "internal".to_owned(), message: self.text() };
        let event = |seq, kind| v1::Event { seq, kind: Some(kind) };
        [event(1, v1::event::Kind::Accepted(accepted)), event(2, v1::event::Kind::Error(error))]
    }

    fn summary(&self) -> v1::JobSummary {
        v1::JobSummary {
            job: 1,
            state: v1::JobState::Failed.into(),
            position: "/ / e1 e9 / 10 10 / 1".to_owned(),
            reason: self.text(),
            ..v1::JobSummary::default()
        }
    }
}

#[tonic::async_trait]
impl Analysis for Talker {
    type AnalyzeStream = Events<v1::AnalyzeResponse>;
    type WatchStream = Events<v1::WatchResponse>;

    async fn analyze(&self, _: Request<v1::AnalyzeRequest>) -> Answer<Self::AnalyzeStream> {
        let wrap = |event| Ok(v1::AnalyzeResponse { event: Some(event) });
        Ok(Response::new(iter(self.events().map(wrap).into_iter().collect::<Vec<_>>())))
    }

    async fn watch(&self, _: Request<v1::WatchRequest>) -> Answer<Self::WatchStream> {
        let wrap = |event| Ok(v1::WatchResponse { event: Some(event) });
        Ok(Response::new(iter(self.events().map(wrap).into_iter().collect::<Vec<_>>())))
    }

    async fn submit(&self, _: Request<v1::SubmitRequest>) -> Answer<v1::SubmitResponse> {
        Ok(Response::new(v1::SubmitResponse { job: 1 }))
    }

    async fn get(&self, _: Request<v1::GetRequest>) -> Answer<v1::GetResponse> {
        Ok(Response::new(v1::GetResponse { summary: Some(self.summary()) }))
    }

    async fn list(&self, request: Request<v1::ListRequest>) -> Answer<v1::ListResponse> {
        let jobs = if request.get_ref().before == 0 { vec![self.summary()] } else { Vec::new() };
        Ok(Response::new(v1::ListResponse { jobs }))
    }

    async fn cancel(&self, _: Request<v1::CancelRequest>) -> Answer<v1::CancelResponse> {
        Ok(Response::new(v1::CancelResponse {}))
    }

    async fn pause(&self, _: Request<v1::PauseRequest>) -> Answer<v1::PauseResponse> {
        Ok(Response::new(v1::PauseResponse {}))
    }

    async fn resume(&self, _: Request<v1::ResumeRequest>) -> Answer<v1::ResumeResponse> {
        Ok(Response::new(v1::ResumeResponse {}))
    }

    async fn workers(&self, _: Request<v1::WorkersRequest>) -> Answer<v1::WorkersResponse> {
        let worker = v1::WorkerSummary { name: self.text(), slots: 1, ..v1::WorkerSummary::default() };
        Ok(Response::new(v1::WorkersResponse { workers: vec![worker], losses: Vec::new() }))
    }
}

/// A coordinator that says everything with so many bytes; it lives as long as the runtime.
fn talker(bytes: usize) -> (tokio::runtime::Runtime, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = AnalysisServer::new(Talker { bytes }).max_encoding_message_size(usize::MAX);
    let server = tonic::transport::Server::builder().add_service(service);
    drop(runtime.spawn(server.serve_with_incoming(TcpIncoming::from(listener))));
    (runtime, url)
}

const ASKED: [&[&str]; 4] = [
    &["jobs", "--json"],
    &["workers", "--json"],
    &["watch", "1", "--json"],
    &["analyze", "--moves", "", "--depth", "1", "--json"],
];

#[test]
fn answers_of_more_than_four_megabytes_are_read() {
    let bytes = 5 << 20;
    let (_runtime, url) = talker(bytes);
    for arguments in ASKED {
        let ran = run(&[arguments, &["--coordinator", &url]].concat());
        let last = lines(&ran.stdout).pop().unwrap_or_else(|| panic!("{arguments:?}: {}", ran.stderr));
        let text = ["reason", "name", "message"].iter().find_map(|field| last[field].as_str()).unwrap();
        assert_eq!(text.len(), bytes, "{arguments:?}");
    }
}

#[test]
fn answers_beyond_the_limit_are_an_error_with_a_name() {
    let (_runtime, url) = talker(MAX_MESSAGE_BYTES);
    for arguments in ASKED {
        let ran = run(&[arguments, &["--coordinator", &url]].concat());
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("16777216"), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.lines().count() == 1 && ran.stderr.len() < 500, "{arguments:?}: {}", ran.stderr);
    }
}
