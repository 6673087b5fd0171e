//! The client's end of `Analysis`: to whichever of the named coordinators answers, again and again if the line breaks.

mod books;

use std::collections::VecDeque;
use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use corridor_proto::convert::{
    event_from_wire, job_summary_from_wire, loss_from_wire, spec_to_wire, worker_summary_from_wire,
};
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::job::{
    BookJobSpec, EventRecord, JobEvent, JobId, JobSpec, JobSummary, WorkerLoss, WorkerSummary,
};
use tokio::sync::mpsc;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Status, Streaming};

use crate::failure::Failure;

pub(crate) use books::{Exported, ExportedPosition, Shown};

/// Whoever gets no answer from any coordinator within this time, all in all, gives up.
const ANSWER_TIME: Duration = Duration::from_secs(8);
/// A coordinator that does not confirm an end within this time may still send it.
const CANCEL_TIME: Duration = Duration::from_secs(2);
/// How often a quiet connection is asked for a sign of life.
const KEEPALIVE: Duration = Duration::from_secs(8);
/// A stream that broke is taken up again for so long: a coordinator that is restarted is back by then.
const RESUME_TIME: Duration = Duration::from_secs(60);
/// Pause between two tries to take it up again.
const RESUME_PAUSE: Duration = Duration::from_millis(500);
/// Events that are read ahead of whoever shows them.
const READ_AHEAD: usize = 64;

/// Where the cluster is.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    /// The cluster, http://HOST:PORT; of several, separated by commas, the first that answers
    #[arg(long, value_name = "URL", required = true, value_delimiter = ',', env = "CORRIDOR_COORDINATOR",
          value_parser = coordinator_url)]
    coordinator: Vec<String>,
}

impl ClusterArgs {
    pub(crate) fn client(&self) -> Client {
        Client::new(self.coordinator.clone())
    }

    /// At least one.
    pub(crate) fn urls(&self) -> &[String] {
        &self.coordinator
    }
}

/// Reads `http://HOST:PORT`.
///
/// # Errors
/// Says what is missing.
pub(crate) fn coordinator_url(text: &str) -> Result<String, String> {
    const WANTED: &str = "http://HOST:PORT is wanted";
    let uri: Uri = text.parse().map_err(|_| WANTED.to_owned())?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http"), Some(host)) if !host.is_empty() => check_port(&uri).map(|()| text.to_owned()),
        (Some("https"), _) => Err(format!("https is not supported by this version: {WANTED}")),
        _ => Err(WANTED.to_owned()),
    }
}

/// Whether the port is one, if there is any.
///
/// # Errors
/// It is not.
pub(crate) fn check_port(uri: &Uri) -> Result<(), String> {
    let is_host = uri.authority().map(|authority| authority.as_str()) == uri.host();
    let is_port = uri.port_u16().is_some_and(|port| port > 0);
    if is_host || is_port { Ok(()) } else { Err("the port must be 1 to 65535".to_owned()) }
}

/// Whoever asks a cluster. Each question goes to the first of its coordinators that answers: a dead address is no error as
/// long as another one lives.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    urls: Vec<String>,
}

/// What comes of a job that is watched.
#[derive(Debug)]
pub(crate) enum Seen {
    /// The next event.
    Event(Box<EventRecord>),
    /// The line broke; it is being taken up again.
    Lost(String),
}

/// A job's events, read in the background, taken up again where they broke.
pub(crate) struct Stream {
    seen: mpsc::Receiver<Result<Seen, Failure>>,
    /// What was looked at before its time.
    waiting: VecDeque<Seen>,
}

impl Stream {
    /// What comes next. The stream must not be asked beyond the last event.
    pub(crate) async fn next(&mut self) -> Result<Seen, Failure> {
        if let Some(seen) = self.waiting.pop_front() {
            return Ok(seen);
        }
        self.receive().await
    }

    /// Which job it is, as soon as it is accepted. Nothing is lost: all that was read comes again.
    pub(crate) async fn accepted(&mut self) -> Result<JobId, Failure> {
        loop {
            let seen = self.receive().await?;
            let job = match &seen {
                Seen::Event(record) => accepted_job(&record.event),
                Seen::Lost(_) => None,
            };
            self.waiting.push_back(seen);
            if let Some(job) = job {
                return Ok(job);
            }
        }
    }

    async fn receive(&mut self) -> Result<Seen, Failure> {
        let gone = || Err(Failure::Failed(anyhow!("the stream of events has ended")));
        self.seen.recv().await.unwrap_or_else(gone)
    }
}

/// The job that an event says was accepted.
pub(crate) const fn accepted_job(event: &JobEvent) -> Option<JobId> {
    match event {
        JobEvent::Accepted(accepted) => Some(accepted.job),
        JobEvent::BookAccepted(accepted) => Some(accepted.job),
        _ => None,
    }
}

type Analysis = AnalysisClient<Channel>;

impl Client {
    /// A client of the first of these coordinators that answers.
    pub(crate) fn new(urls: Vec<String>) -> Self {
        Self { urls }
    }

    /// Submits a job and streams its events; `fresh` has it searched although a book may have the answer.
    pub(crate) async fn analyze(&self, spec: &JobSpec, fresh: bool) -> Result<Stream, Failure> {
        let request = v1::AnalyzeRequest { spec: Some(spec_to_wire(spec)), fresh };
        let ask = |mut analysis: Analysis| {
            let request = request.clone();
            async move { Ok(analysis.analyze(request).await?.into_inner()) }
        };
        let (messages, url) = self.first(ask).await?;
        Ok(self.stream(Messages::Analyze(messages), url, Asked::Once))
    }

    /// Streams a job's events from a cursor on.
    pub(crate) async fn watch(&self, job: JobId, after_seq: u64) -> Result<Stream, Failure> {
        let (messages, url) = self.open_watch(job, after_seq).await?;
        Ok(self.stream(Messages::Watch(messages), url, Asked::Job(job)))
    }

    async fn open_watch(
        &self,
        job: JobId,
        after_seq: u64,
    ) -> Result<(Streaming<v1::WatchResponse>, String), Failure> {
        let request = v1::WatchRequest { job: job.0, after_seq };
        self.first(|mut analysis| async move { Ok(analysis.watch(request).await?.into_inner()) }).await
    }

    fn stream_of(&self, messages: Messages, url: String, spec: BookJobSpec) -> Stream {
        self.stream(messages, url, Asked::Again(Box::new(spec)))
    }

    fn stream(&self, messages: Messages, url: String, asked: Asked) -> Stream {
        let (sender, seen) = mpsc::channel(READ_AHEAD);
        let reader = Reader { client: self.clone(), messages, url, asked, last: None, seen: sender };
        drop(tokio::spawn(reader.run()));
        Stream { seen, waiting: VecDeque::new() }
    }

    /// Ends a job with what is known. Whether that worked shows in its events: a job that has just ended cannot be
    /// cancelled, and a connection that broke ends them too.
    pub(crate) async fn try_cancel(&self, job: JobId) {
        let _ = tokio::time::timeout(CANCEL_TIME, self.cancel(job)).await;
    }

    /// Ends a job with what is known.
    pub(crate) async fn cancel(&self, job: JobId) -> Result<(), Failure> {
        let request = v1::CancelRequest { job: job.0 };
        self.first(|mut analysis| async move { analysis.cancel(request).await.map(drop) })
            .await
            .map(|((), _)| ())
    }

    /// Holds a job.
    pub(crate) async fn pause(&self, job: JobId) -> Result<(), Failure> {
        let request = v1::PauseRequest { job: job.0 };
        self.first(|mut analysis| async move { analysis.pause(request).await.map(drop) })
            .await
            .map(|((), _)| ())
    }

    /// Lets a job go on.
    pub(crate) async fn resume(&self, job: JobId) -> Result<(), Failure> {
        let request = v1::ResumeRequest { job: job.0 };
        self.first(|mut analysis| async move { analysis.resume(request).await.map(drop) })
            .await
            .map(|((), _)| ())
    }

    /// Where a job stands.
    pub(crate) async fn get(&self, job: JobId) -> Result<JobSummary, Failure> {
        let request = v1::GetRequest { job: job.0 };
        let ask =
            |mut analysis: Analysis| async move { Ok(analysis.get(request).await?.into_inner().summary) };
        let (summary, url) = self.first(ask).await?;
        let summary = summary.ok_or_else(|| unreadable(&url, &"it is missing"))?;
        job_summary_from_wire(&summary).map_err(|error| unreadable(&url, &error))
    }

    /// Where all jobs stand, newest first.
    pub(crate) async fn jobs(&self) -> Result<Vec<JobSummary>, Failure> {
        let mut jobs: Vec<JobSummary> = Vec::new();
        loop {
            let before = jobs.last().map_or(0, |oldest| oldest.job.0);
            let request = v1::ListRequest { limit: 0, before };
            let ask =
                |mut analysis: Analysis| async move { Ok(analysis.list(request).await?.into_inner().jobs) };
            let (page, url) = self.first(ask).await?;
            if page.is_empty() {
                return Ok(jobs);
            }
            for summary in &page {
                let summary = job_summary_from_wire(summary).map_err(|error| unreadable(&url, &error))?;
                // A coordinator that does not count down would keep us here for ever.
                if jobs.last().is_some_and(|last| last.job <= summary.job) {
                    return Err(unreadable(&url, &"jobs do not come newest first"));
                }
                jobs.push(summary);
            }
        }
    }

    /// Who is connected.
    pub(crate) async fn workers(&self) -> Result<Vec<WorkerSummary>, Failure> {
        Ok(self.crew().await?.0)
    }

    /// Who is connected, and who was lost lately, the latest first.
    pub(crate) async fn crew(&self) -> Result<(Vec<WorkerSummary>, Vec<WorkerLoss>), Failure> {
        let ask = |mut analysis: Analysis| async move {
            Ok(analysis.workers(v1::WorkersRequest {}).await?.into_inner())
        };
        let (answer, url) = self.first(ask).await?;
        let read = |worker| worker_summary_from_wire(worker).map_err(|error| unreadable(&url, &error));
        let workers = answer.workers.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok((workers, answer.losses.into_iter().map(loss_from_wire).collect()))
    }

    /// Asks the coordinators in turn until one answers; returns the answer and whose it is.
    async fn first<T, A>(&self, ask: impl Fn(Analysis) -> A) -> Result<(T, String), Failure>
    where
        A: Future<Output = Result<T, Status>>,
    {
        self.first_connected(|channel| ask(analysis(channel))).await
    }

    /// The same, for whatever can be asked over a connection.
    async fn first_connected<T, A>(&self, ask: impl Fn(Channel) -> A) -> Result<(T, String), Failure>
    where
        A: Future<Output = Result<T, Status>>,
    {
        let many = u32::try_from(self.urls.len()).unwrap_or(u32::MAX).max(1);
        let patience = ANSWER_TIME / many;
        let mut dead = None;
        for url in &self.urls {
            match tokio::time::timeout(patience, ask_one(url, &ask)).await {
                Ok(Ok(answer)) => return Ok((answer, url.clone())),
                Ok(Err(NoAnswer::Refused(failure))) => return Err(failure),
                Ok(Err(NoAnswer::Dead(failure))) => dead = Some(failure),
                Err(_) => dead = Some(unreachable(url, &format!("no answer in {} s", patience.as_secs()))),
            }
        }
        match dead {
            Some(Failure::Failed(error)) if self.urls.len() > 1 => {
                Err(Failure::Failed(anyhow!("none of {many} coordinators answers, the last: {error:#}")))
            }
            Some(failure) => Err(failure),
            None => Err(Failure::bad_input(&"--coordinator: http://HOST:PORT is wanted")),
        }
    }
}

/// Why a coordinator gave no answer.
enum NoAnswer {
    /// It said no; no other one has to be asked.
    Refused(Failure),
    /// Nobody is there, or nobody who can answer now.
    Dead(Failure),
}

fn analysis(channel: Channel) -> Analysis {
    AnalysisClient::new(channel)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES)
}

async fn ask_one<T, A>(url: &str, ask: &impl Fn(Channel) -> A) -> Result<T, NoAnswer>
where
    A: Future<Output = Result<T, Status>>,
{
    let endpoint = Endpoint::from_shared(url.to_owned())
        .map_err(|_| NoAnswer::Refused(bad_url(url)))?
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE)
        .keep_alive_while_idle(true);
    let channel = endpoint.connect().await.map_err(|error| NoAnswer::Dead(broken(url, &error)))?;
    ask(channel).await.map_err(|status| first_refusal(url, &status))
}

fn bad_url(url: &str) -> Failure {
    Failure::bad_input(&format!("--coordinator: '{url}' is no http://HOST:PORT"))
}

enum Messages {
    Analyze(Streaming<v1::AnalyzeResponse>),
    Watch(Streaming<v1::WatchResponse>),
    BookAnalyze(Streaming<v1::BookAnalyzeResponse>),
    Expand(Streaming<v1::ExpandResponse>),
}

impl Messages {
    async fn next(&mut self) -> Result<Option<v1::Event>, Status> {
        Ok(match self {
            Self::Analyze(messages) => messages.message().await?.and_then(|message| message.event),
            Self::Watch(messages) => messages.message().await?.and_then(|message| message.event),
            Self::BookAnalyze(messages) => messages.message().await?.and_then(|message| message.event),
            Self::Expand(messages) => messages.message().await?.and_then(|message| message.event),
        })
    }
}

/// How a stream that broke is asked for again.
enum Asked {
    /// It is this job's: known from the beginning, or from the first event on.
    Job(JobId),
    /// Not at all: to ask for the same twice would be two jobs.
    Once,
    /// By asking for the same work on a book: nothing is known of a job yet, but if there is one it is joined.
    Again(Box<BookJobSpec>),
}

/// Reads a job's events in the background.
struct Reader {
    client: Client,
    messages: Messages,
    url: String,
    asked: Asked,
    /// The last event that was passed on.
    last: Option<EventRecord>,
    seen: mpsc::Sender<Result<Seen, Failure>>,
}

/// Why nothing more is read from a stream.
enum Broken {
    /// The line; worth another try.
    Line(Failure),
    /// The job or the coordinator; there is nothing to wait for.
    Final(Failure),
}

impl Reader {
    /// Passes on events until the last one, or until nobody listens.
    async fn run(mut self) {
        loop {
            let failure = match self.next().await {
                Ok(record) => {
                    let last = record.event.is_last();
                    if self.seen.send(Ok(Seen::Event(Box::new(record)))).await.is_err() || last {
                        return;
                    }
                    continue;
                }
                Err(Broken::Final(failure)) => failure,
                Err(Broken::Line(failure)) => match self.take_up(failure).await {
                    Ok(()) => continue,
                    Err(failure) => failure,
                },
            };
            // Whoever listened may have left; then nobody has to know.
            let _ = self.seen.send(Err(failure)).await;
            return;
        }
    }

    async fn next(&mut self) -> Result<EventRecord, Broken> {
        loop {
            let event = match self.messages.next().await {
                Ok(Some(event)) => event,
                Ok(None) => {
                    let text = format!("{} closed the stream before the last event", self.url);
                    return Err(Broken::Line(Failure::Failed(anyhow!(text))));
                }
                Err(status) => return Err(interrupted(&self.url, &status)),
            };
            let record =
                event_from_wire(event).map_err(|error| Broken::Final(unreadable(&self.url, &error)))?;
            if let Some(job) = accepted_job(&record.event) {
                self.asked = Asked::Job(job);
            }
            match &self.last {
                // The event before the cursor is asked for once more, to see that this is still the same job.
                Some(last) if last.seq == record.seq && *last == record => {}
                Some(last) if last.seq >= record.seq => {
                    let text = "the job is gone: the coordinator came back without it";
                    return Err(Broken::Final(Failure::Failed(anyhow!(text))));
                }
                _ => {
                    self.last = Some(record.clone());
                    return Ok(record);
                }
            }
        }
    }

    /// Goes on behind the last event that was passed on, as soon as a coordinator answers.
    async fn take_up(&mut self, failure: Failure) -> Result<(), Failure> {
        if matches!(self.asked, Asked::Once) {
            return Err(failure);
        }
        let told = match &failure {
            Failure::Failed(error) => format!("{error:#}"),
            _ => "the line broke".to_owned(),
        };
        let _ = self.seen.send(Ok(Seen::Lost(told))).await;
        let deadline = tokio::time::Instant::now() + RESUME_TIME;
        loop {
            tokio::time::sleep(RESUME_PAUSE).await;
            match self.open_again().await {
                Ok((messages, url)) => {
                    self.messages = messages;
                    self.url = url;
                    return Ok(());
                }
                Err(Broken::Final(failure)) => return Err(failure),
                Err(Broken::Line(_)) if self.seen.is_closed() || tokio::time::Instant::now() > deadline => {
                    return Err(failure);
                }
                Err(Broken::Line(_)) => {}
            }
        }
    }

    async fn open_again(&self) -> Result<(Messages, String), Broken> {
        let job = match &self.asked {
            Asked::Job(job) => *job,
            Asked::Again(spec) => return self.client.work_on_again(spec).await,
            Asked::Once => return Err(Broken::Final(Failure::Failed(anyhow!("the line broke")))),
        };
        let after_seq = self.last.as_ref().map_or(0, |last| last.seq - 1);
        match self.client.open_watch(job, after_seq).await {
            Ok((messages, url)) => Ok((Messages::Watch(messages), url)),
            Err(Failure::BadInput(text)) => {
                let text = format!("the job is gone: the coordinator came back without it: {text}");
                Err(Broken::Final(Failure::Failed(anyhow!(text))))
            }
            Err(failure) => Err(Broken::Line(failure)),
        }
    }
}

/// What ended a stream before its last event.
fn interrupted(url: &str, status: &Status) -> Broken {
    let failure = refused(url, status);
    match status.code() {
        // It shuts down, or was too fast for us, or the line itself broke.
        Code::Unavailable | Code::Aborted | Code::Cancelled | Code::Unknown => Broken::Line(failure),
        _ if status.source().is_some() => Broken::Line(failure),
        _ => Broken::Final(failure),
    }
}

/// An answer that does not read.
fn unreadable(url: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::Failed(anyhow!("an answer of {url} does not read: {error}"))
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

/// The refusal of a question as the user sees it. What is no word of a coordinator is somebody else's.
fn first_refusal(url: &str, status: &Status) -> NoAnswer {
    let ours = match status.code() {
        // A coordinator names the field that it does not support; others do not know the service.
        Code::Unimplemented => status.message().starts_with("spec."),
        // What has a source is no answer but a failure on the way.
        _ => status.source().is_none() && is_plain(status.message()),
    };
    if ours && status.code() == Code::Unavailable {
        NoAnswer::Dead(refused(url, status))
    } else if ours {
        NoAnswer::Refused(refused(url, status))
    } else if system_error(status).is_some() {
        NoAnswer::Dead(broken(url, status))
    } else {
        NoAnswer::Dead(stranger(url))
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
        Code::InvalidArgument | Code::Unimplemented | Code::NotFound => Failure::bad_input(&by_flag(message)),
        _ if status.source().is_some() || !is_plain(message) => {
            Failure::Failed(anyhow!("the connection to {url} broke"))
        }
        _ => Failure::Failed(anyhow!("coordinator: {message}")),
    }
}

/// Fields of requests whose flags have other names.
const FLAGS: [(&str, &str); 7] = [
    ("after_seq", "--after"),
    ("max_cost_cm", "--max-cost"),
    ("time_ms", "--stop-after"),
    ("own_weight_percent", "--own-weight"),
    ("other_weight_percent", "--other-weight"),
    ("ply_cost_cm", "--ply-cost"),
    ("limits.time_ms", "--time"),
];

/// Fields of requests for a book's job whose flags have their names.
const BOOK_FIELDS: [&str; 6] = ["book", "most", "multipv", "positions", "prune", "side"];

/// A complaint about a field, as one about the flag that sets it.
fn by_flag(message: &str) -> String {
    let flag =
        message.split_once(':').and_then(|(field, fault)| Some(format!("{}:{fault}", flag_of(field)?)));
    flag.unwrap_or_else(|| message.to_owned())
}

/// The flag that sets a field.
fn flag_of(field: &str) -> Option<String> {
    if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == field) {
        return Some((*flag).to_owned());
    }
    let is_books = BOOK_FIELDS.contains(&field) || field.starts_with("limits.");
    let name = field.strip_prefix("spec.").or(is_books.then_some(field))?;
    Some(format!("--{}", name.strip_prefix("limits.").unwrap_or(name)))
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
        assert_eq!(by_flag("after_seq: 9 is beyond"), "--after: 9 is beyond");
        assert_eq!(by_flag("limits.time_ms: no"), "--time: no");
        assert_eq!(by_flag("time_ms: must be at least 1"), "--stop-after: must be at least 1");
        assert_eq!(by_flag("positions: a number"), "--positions: a number");
        assert_eq!(by_flag("too many"), "too many");
        assert_eq!(by_flag("there is no job 1: it was forgotten"), "there is no job 1: it was forgotten");
    }

    #[test]
    fn strangers_are_told_from_coordinators() {
        let said = |status: &Status| {
            let (NoAnswer::Dead(failure) | NoAnswer::Refused(failure)) = first_refusal("http://h:1", status);
            match failure {
                Failure::BadInput(message) => (2, message),
                other => (1, format!("{other:?}")),
            }
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
