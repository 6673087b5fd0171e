//! The client's end of `Analysis`.

use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

use anyhow::anyhow;
use corridor_proto::convert::{event_from_wire, spec_to_wire};
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::job::{EventRecord, JobId, JobSpec};
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Status, Streaming};

use crate::failure::Failure;

/// Whoever gets no answer from a coordinator within this time, all in all, gives up.
const ANSWER_TIME: Duration = Duration::from_secs(9);
/// A coordinator that does not confirm an end within this time may still send it.
const CANCEL_TIME: Duration = Duration::from_secs(2);
/// How often a quiet connection is asked for a sign of life.
const KEEPALIVE: Duration = Duration::from_secs(8);

/// Reads `http://HOST:PORT`.
///
/// # Errors
/// Says what is missing.
pub(crate) fn coordinator_url(text: &str) -> Result<String, String> {
    const WANTED: &str = "http://HOST:PORT is wanted";
    let uri: Uri = text.parse().map_err(|_| WANTED.to_owned())?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http"), Some(host)) if !host.is_empty() => Ok(text.to_owned()),
        (Some("https"), _) => Err(format!("https is not supported by this version: {WANTED}")),
        _ => Err(WANTED.to_owned()),
    }
}

/// A connection to a coordinator.
pub(crate) struct Client {
    analysis: AnalysisClient<Channel>,
}

/// A job's events.
pub(crate) struct Stream {
    messages: Streaming<v1::AnalyzeResponse>,
    url: String,
}

impl Client {
    /// Connects to `http://HOST:PORT`, submits a job and streams its events.
    pub(crate) async fn analyze(url: &str, spec: &JobSpec) -> Result<(Self, Stream), Failure> {
        match tokio::time::timeout(ANSWER_TIME, Self::open(url, spec)).await {
            Ok(opened) => opened,
            Err(_) => Err(unreachable(url, &format!("no answer in {} s", ANSWER_TIME.as_secs()))),
        }
    }

    async fn open(url: &str, spec: &JobSpec) -> Result<(Self, Stream), Failure> {
        let endpoint = Endpoint::from_shared(url.to_owned())
            .map_err(|_| Failure::bad_input(&format!("--coordinator: '{url}' is no http://HOST:PORT")))?
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE)
            .keep_alive_while_idle(true);
        let channel = endpoint.connect().await.map_err(|error| broken(url, &error))?;
        let mut analysis = AnalysisClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let request = v1::AnalyzeRequest { spec: Some(spec_to_wire(spec)) };
        let response = analysis.analyze(request).await.map_err(|status| first_refusal(url, &status))?;
        Ok((Self { analysis }, Stream { messages: response.into_inner(), url: url.to_owned() }))
    }

    /// Ends a job with what is known. Whether that worked shows in its events: a job that has just ended cannot be
    /// cancelled, and a connection that broke ends them too.
    pub(crate) async fn cancel(&mut self, job: JobId) {
        let cancelled = self.analysis.cancel(v1::CancelRequest { job: job.0 });
        let _ = tokio::time::timeout(CANCEL_TIME, cancelled).await;
    }
}

impl Stream {
    /// The next event. The stream must not be asked beyond the last one.
    pub(crate) async fn next(&mut self) -> Result<EventRecord, Failure> {
        let message = self.messages.message().await.map_err(|status| refused(&self.url, &status))?;
        let event = message.and_then(|message| message.event).ok_or_else(|| {
            Failure::Failed(anyhow!("{} closed the stream before the last event", self.url))
        })?;
        event_from_wire(event)
            .map_err(|error| Failure::Failed(anyhow!("an event of {} does not read: {error}", self.url)))
    }
}

/// Nobody to speak to at an address.
fn unreachable(url: &str, why: &str) -> Failure {
    Failure::Failed(anyhow!("connect to {url}: {why}"))
}

/// Somebody else lives there.
fn stranger(url: &str) -> Failure {
    Failure::Failed(anyhow!("{url} answers, but is not a Corridor coordinator"))
}

/// What the system says at the bottom of an error, if it speaks there.
fn system_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e std::io::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(system) = error.downcast_ref() {
            return Some(system);
        }
        cause = error.source();
    }
    None
}

/// A connection that does not come about, or breaks before anybody has answered.
fn broken(url: &str, error: &(dyn Error + 'static)) -> Failure {
    let Some(system) = system_error(error) else { return stranger(url) };
    let text = system.to_string();
    match system.kind() {
        ErrorKind::ConnectionRefused => unreachable(url, "connection refused: nobody listens there"),
        ErrorKind::TimedOut => unreachable(url, "the connection timed out"),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => Failure::Failed(
            anyhow!("{url} answers, but is not a Corridor coordinator: it closed the connection"),
        ),
        _ if text.contains("lookup address") => unreachable(url, "there is no host of this name"),
        _ => unreachable(url, &text),
    }
}

/// The refusal of a job as the user sees it. What is no word of a coordinator is somebody else's.
fn first_refusal(url: &str, status: &Status) -> Failure {
    let ours = match status.code() {
        // A coordinator names the field that it does not support; others do not know the service.
        Code::Unimplemented => status.message().starts_with("spec."),
        // What has a source is no answer but a failure on the way.
        _ => status.source().is_none() && is_plain(status.message()),
    };
    if ours {
        refused(url, status)
    } else if system_error(status).is_some() {
        broken(url, status)
    } else {
        stranger(url)
    }
}

/// Whether a message was written by a coordinator, and not by the library here about an answer that is no gRPC.
fn is_plain(message: &str) -> bool {
    !["grpc-status", "h2 protocol", "transport error", "content-type", "compression flag"]
        .iter()
        .any(|foreign| message.contains(foreign))
}

/// A refusal as the user sees it: bad input is the user's, everything else is not.
fn refused(url: &str, status: &Status) -> Failure {
    let message = status.message();
    match status.code() {
        Code::InvalidArgument | Code::Unimplemented => Failure::bad_input(&by_flag(message)),
        _ if status.source().is_some() || !is_plain(message) => {
            Failure::Failed(anyhow!("the connection to {url} broke"))
        }
        _ => Failure::Failed(anyhow!("coordinator: {message}")),
    }
}

/// A complaint about a field of the job, as one about the flag that sets it.
fn by_flag(message: &str) -> String {
    match message.strip_prefix("spec.") {
        Some(rest) => format!("--{}", rest.strip_prefix("limits.").unwrap_or(rest)),
        None => message.to_owned(),
    }
}

/// An event on one line of JSON.
pub(crate) fn json_line(record: &EventRecord) -> Result<String, Failure> {
    corridor_proto::json::event_line(record)
        .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("encode JSON")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_scheme_and_a_host() {
        for text in ["http://localhost:4242", "http://10.0.0.1:80", "http://[::1]:1", "http://host"] {
            assert_eq!(coordinator_url(text).as_deref(), Ok(text));
        }
        for text in
            ["", "foo", "foo:80", "localhost:4242", "http://", "https://host:1", "ftp://host:1", "no url"]
        {
            assert!(coordinator_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn complaints_name_flags() {
        assert_eq!(by_flag("spec.multipv: must be at most 136"), "--multipv: must be at most 136");
        assert_eq!(by_flag("spec.limits.depth: must be at least 1"), "--depth: must be at least 1");
        assert_eq!(by_flag("too many"), "too many");
    }

    #[test]
    fn strangers_are_told_from_coordinators() {
        let said = |status: &Status| match first_refusal("http://h:1", status) {
            Failure::BadInput(message) => (2, message),
            other => (1, format!("{other:?}")),
        };
        for foreign in [
            Status::unimplemented(""),
            Status::unimplemented("unknown service corridor.v1.Analysis"),
            Status::unimplemented("grpc-status header missing, mapped from HTTP status code 404"),
            Status::unavailable("grpc-status header missing, mapped from HTTP status code 503"),
            Status::internal("h2 protocol error: http2 error"),
        ] {
            let (code, message) = said(&foreign);
            assert!(code == 1 && message.contains("answers, but is not a Corridor coordinator"), "{message}");
        }
        assert_eq!(
            said(&Status::unimplemented("spec.prune: not yet supported")),
            (2, "--prune: not yet supported".to_owned())
        );
        assert_eq!(said(&Status::invalid_argument("spec.limits.depth: no")), (2, "--depth: no".to_owned()));
        assert!(said(&Status::resource_exhausted("max_open_jobs")).1.contains("coordinator: max_open_jobs"));
    }
}
