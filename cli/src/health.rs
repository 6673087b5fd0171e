//! `corridor health`: a probe for containers, which have no other program in them.

use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::Args;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::transport::{Endpoint, Uri};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::client::check_port;
use crate::failure::Failure;
use crate::{out, runtime};

/// A server that has not answered within this time is not well.
const PROBE_TIME: Duration = Duration::from_secs(3);
/// Of an answer, so much is read.
const MAX_ANSWER_BYTES: u64 = 4_096;

/// What `health` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// http://HOST:PORT asks over gRPC, http://HOST:PORT/readyz and /healthz over HTTP
    #[arg(value_name = "URL", value_parser = probe_url)]
    url: Uri,
}

fn probe_url(text: &str) -> Result<Uri, String> {
    const WANTED: &str = "http://HOST:PORT or http://HOST:PORT/PATH is wanted";
    let uri: Uri = text.parse().map_err(|_| WANTED.to_owned())?;
    let complete = uri.scheme_str() == Some("http") && uri.host().is_some_and(|host| !host.is_empty());
    if complete { check_port(&uri).map(|()| uri) } else { Err(WANTED.to_owned()) }
}

/// Asks, and says what the answer was.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let url = &arguments.url;
    let probe = async {
        let asked = async { if url.path() == "/" { over_grpc(url).await } else { over_http(url).await } };
        match tokio::time::timeout(PROBE_TIME, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(anyhow!("no answer in {} s", PROBE_TIME.as_secs())),
        }
    };
    let answer = runtime::run(async { probe.await.map_err(|error| error.context(url.to_string()).into()) })?;
    if json {
        out::json(&serde_json::json!({ "healthy": true, "answer": answer }))
    } else {
        out::line(&answer)
    }
}

async fn over_grpc(url: &Uri) -> anyhow::Result<String> {
    let channel =
        Endpoint::from(url.clone()).connect().await.map_err(|error| anyhow!("{}", root_cause(&error)))?;
    let answer = HealthClient::new(channel).check(HealthCheckRequest::default()).await;
    let answer = answer.map_err(|status| {
        let hint = "if this is the address of --http, add /readyz";
        anyhow!("it does not serve gRPC health ({}); {hint}", status.message())
    })?;
    match answer.into_inner().status() {
        ServingStatus::Serving => Ok("serving".to_owned()),
        ServingStatus::NotServing => bail!("not serving"),
        other => bail!("its state is {}", other.as_str_name()),
    }
}

/// What is at the bottom of an error.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Asks a plain HTTP server: anything but 200 is no good sign.
async fn over_http(url: &Uri) -> anyhow::Result<String> {
    let host = url.host().unwrap_or_default();
    let address = format!("{host}:{}", url.port_u16().unwrap_or(80));
    let mut stream = TcpStream::connect(&address).await?;
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.strip_prefix("HTTP/1.").and_then(|rest| rest.split_whitespace().nth(1));
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).trim();
    match status {
        Some("200") => Ok(body.to_owned()),
        Some(status) => bail!("it answers {status}: {body}"),
        None => bail!("it does not speak HTTP"),
    }
}

#[cfg(test)]
mod tests {
    use super::probe_url;

    #[test]
    fn probes_need_a_scheme_and_a_host() {
        for text in ["http://localhost:4242", "http://127.0.0.1:8080/readyz", "http://[::1]:1/healthz"] {
            assert!(probe_url(text).is_ok(), "{text}");
        }
        for text in
            ["", "localhost:1", "https://h:1/readyz", "/readyz", "no url", "http://h:99999", "http://h:0"]
        {
            assert!(probe_url(text).is_err(), "{text}");
        }
    }
}
