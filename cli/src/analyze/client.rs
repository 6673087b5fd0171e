//! The client's end of `Analysis`.

use std::time::Duration;

use anyhow::anyhow;
use corridor_proto::convert::{event_from_wire, spec_to_wire};
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::job::{EventRecord, JobId, JobSpec};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

use crate::failure::Failure;

/// Whoever cannot reach a coordinator within this time gives up.
const CONNECT_TIME: Duration = Duration::from_secs(9);
/// How often a quiet connection is asked for a sign of life.
const KEEPALIVE: Duration = Duration::from_secs(8);

/// A connection to a coordinator.
pub(crate) struct Client {
    analysis: AnalysisClient<Channel>,
}

/// A job's events.
pub(crate) struct Stream {
    messages: Streaming<v1::AnalyzeResponse>,
}

impl Client {
    /// Connects to `http://HOST:PORT`.
    pub(crate) async fn connect(url: &str) -> Result<Self, Failure> {
        let endpoint = Endpoint::from_shared(url.to_owned())
            .map_err(|_| Failure::bad_input(&format!("--coordinator: '{url}' is no http://HOST:PORT")))?
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE)
            .keep_alive_while_idle(true);
        let channel = match tokio::time::timeout(CONNECT_TIME, endpoint.connect()).await {
            Ok(Ok(channel)) => channel,
            Ok(Err(error)) => {
                let error = anyhow::Error::new(error).context(format!("connect to {url}"));
                return Err(Failure::Failed(error));
            }
            Err(_) => {
                return Err(Failure::Failed(anyhow!("connect to {url}: no answer in {CONNECT_TIME:?}")));
            }
        };
        let analysis = AnalysisClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        Ok(Self { analysis })
    }

    /// Submits a job and streams its events.
    pub(crate) async fn analyze(&mut self, spec: &JobSpec) -> Result<Stream, Failure> {
        let request = v1::AnalyzeRequest { spec: Some(spec_to_wire(spec)) };
        let response = self.analysis.analyze(request).await.map_err(|status| refused(&status))?;
        Ok(Stream { messages: response.into_inner() })
    }

    /// Ends a job with what is known.
    pub(crate) async fn cancel(&mut self, job: JobId) -> Result<(), Failure> {
        let request = v1::CancelRequest { job: job.0 };
        self.analysis.cancel(request).await.map(|_| ()).map_err(|status| refused(&status))
    }
}

impl Stream {
    /// The next event. The stream must not be asked beyond the last one.
    pub(crate) async fn next(&mut self) -> Result<EventRecord, Failure> {
        let message = self.messages.message().await.map_err(|status| refused(&status))?;
        let event = message.and_then(|message| message.event).ok_or_else(|| {
            Failure::Failed(anyhow!("the coordinator closed the stream before the last event"))
        })?;
        event_from_wire(event)
            .map_err(|error| Failure::Failed(anyhow!("event from the coordinator: {error}")))
    }
}

/// A refusal as the user sees it: bad input is the user's, everything else is not.
fn refused(status: &Status) -> Failure {
    match status.code() {
        Code::InvalidArgument | Code::Unimplemented => Failure::bad_input(&status.message()),
        _ => Failure::Failed(anyhow!("coordinator: {}", status.message())),
    }
}

/// An event on one line of JSON.
pub(crate) fn json_line(record: &EventRecord) -> Result<String, Failure> {
    corridor_proto::json::event_line(record)
        .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("encode JSON")))
}
