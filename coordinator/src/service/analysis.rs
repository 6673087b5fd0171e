//! `corridor.v1.Analysis`.

use std::pin::Pin;
use std::sync::Arc;

use corridor_proto::convert::{
    event_to_wire, job_summary_to_wire, loss_to_wire, spec_from_wire, worker_summary_to_wire,
};
use corridor_proto::v1;
use corridor_shared::book::{Searched, canonical};
use corridor_shared::job::{ENGINE_EPOCH, JobId, JobSpec, JobSummary};
use corridor_shared::score::WhiteScore;
use futures_util::Stream;
use futures_util::stream::{self, StreamExt};
use tonic::{Request, Response, Status};

use super::book::turned;
use super::{dropped, malformed, unanswered, wrong_answer};
use crate::cluster::{Answer, Known, Question, implied_lines};
use crate::driver::{EventStream, Handle};
use crate::limits::MAX_LISTED_JOBS;
use crate::store::{BookReader, Found};

/// Jobs and their events.
#[derive(Clone)]
pub struct AnalysisService {
    cluster: Handle,
    books: Option<Arc<dyn BookReader>>,
}

impl std::fmt::Debug for AnalysisService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnalysisService").finish_non_exhaustive()
    }
}

pub(super) type Events<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl AnalysisService {
    /// A service in front of a driver, with a look into the books of its store if it has one.
    #[must_use]
    pub fn new(cluster: Handle, books: Option<Arc<dyn BookReader>>) -> Self {
        Self { cluster, books }
    }

    /// The answer, if a book has it: at the depth that is asked for or deeper, from this engine, with as many exact lines. One that
    /// was imported has only the best line; what follows from that for the other moves is said of them. A book that cannot be
    /// read knows nothing.
    async fn known(&self, spec: &JobSpec, fresh: bool) -> Option<Box<Known>> {
        let (books, depth) = (self.books.as_ref().filter(|_| !fresh)?, spec.limits.depth?);
        let found = books.found(&spec.position).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "no book was asked");
            Vec::new()
        });
        let fits = |it: &Searched| {
            let proven = !matches!(it.score_white, WhiteScore::Cm(_));
            (it.depth >= depth || proven)
                && *it.engine == *ENGINE_EPOCH
                && it.multipv >= spec.multipv
                && it.prune == spec.prune
                && (it.deterministic || !spec.deterministic)
        };
        let answer = |(it, lines): Found| {
            let is_whole = !lines.is_empty();
            let implied = || implied_lines(&canonical(&spec.position), &it).filter(|_| spec.multipv == 1);
            let lines = if is_whole { lines } else { implied()? };
            Some((it.depth, is_whole, lines))
        };
        let answers = found.into_iter().filter(|(it, _)| fits(it)).filter_map(answer);
        let (depth, _, lines) = answers.max_by_key(|&(depth, is_whole, _)| (depth, is_whole))?;
        let lines = lines.into_iter().map(|line| turned(&spec.position, line)).collect();
        Some(Box::new(Known { depth, lines }))
    }

    /// Hands a job in that nobody watches yet. Whoever is content with what a book knows gets that.
    ///
    /// # Errors
    /// The cluster refuses it, or does not answer.
    pub(crate) async fn hand_in(&self, spec: JobSpec, fresh: bool) -> Result<JobId, Status> {
        let known = self.known(&spec, fresh).await;
        let question = Question::Submit { spec: Box::new(spec), watcher: None, known };
        match self.cluster.ask(question).await.map_err(|error| unanswered(&error))? {
            Answer::Job(job) => Ok(job),
            _ => Err(wrong_answer()),
        }
    }

    /// Gives an order that has no answer but that it is carried out.
    ///
    /// # Errors
    /// The cluster refuses it, or does not answer.
    pub(crate) async fn act(&self, question: Question) -> Result<(), Status> {
        self.cluster.ask(question).await.map(|_| ()).map_err(|error| unanswered(&error))
    }

    /// Asks where jobs stand.
    ///
    /// # Errors
    /// As [`AnalysisService::act`].
    pub(crate) async fn jobs(&self, question: Question) -> Result<Vec<JobSummary>, Status> {
        match self.cluster.ask(question).await.map_err(|error| unanswered(&error))? {
            Answer::Jobs(jobs) => Ok(jobs),
            _ => Err(wrong_answer()),
        }
    }
}

/// The trace context that came along with a request.
pub(super) fn traceparent<T>(request: &Request<T>) -> Option<Arc<str>> {
    // A W3C trace context has 55 characters; what is no such thing is not passed on.
    let text = request.metadata().get("traceparent").and_then(|value| value.to_str().ok());
    text.filter(|text| text.len() == 55).map(Arc::from)
}

/// The job that a request describes, with the trace context that came along.
fn decode_spec<T>(
    request: &Request<T>,
    spec: impl Fn(&T) -> Option<&v1::JobSpec>,
) -> Result<JobSpec, Status> {
    let traceparent = traceparent(request);
    spec_from_wire(spec(request.get_ref()), traceparent, "spec").map_err(|error| malformed(&error))
}

/// Events of a long batch that are encoded in one go: no more than 8 KiB.
const AT_ONCE: usize = 16;

/// A job's events for the wire, one message each. They are converted one at a time, as they are sent: a long history in wire
/// form takes many times its size, and a thousand watchers may come at once.
pub(super) fn encode<T: Send + 'static>(events: EventStream, wrap: fn(v1::Event) -> T) -> Events<T> {
    let batches = stream::unfold(Some(events), move |events| async move {
        let mut events = events?;
        match events.next().await {
            Ok(None) => None,
            Ok(Some(batch)) => {
                let records: Vec<_> = batch.into_iter().map(Ok).enumerate().collect();
                Some((records, Some(events)))
            }
            Err(reason) => Some((vec![(0, Err(dropped(reason)))], None)),
        }
    });
    let records = batches.map(stream::iter).flatten();
    Box::pin(records.then(move |(place, record)| async move {
        // What is ready at once is encoded at once, into a buffer that stays as large as it was: a pause keeps it small.
        if place % AT_ONCE == AT_ONCE - 1 {
            tokio::task::yield_now().await;
        }
        record.map(|record| wrap(event_to_wire(&record)))
    }))
}

#[tonic::async_trait]
impl v1::analysis_server::Analysis for AnalysisService {
    type AnalyzeStream = Events<v1::AnalyzeResponse>;
    type WatchStream = Events<v1::WatchResponse>;

    async fn analyze(
        &self,
        request: Request<v1::AnalyzeRequest>,
    ) -> Result<Response<Self::AnalyzeStream>, Status> {
        let spec = decode_spec(&request, |request| request.spec.as_ref())?;
        let known = self.known(&spec, request.get_ref().fresh).await;
        let events = self.cluster.analyze(spec, known).await.map_err(|error| unanswered(&error))?;
        Ok(Response::new(encode(events, |event| v1::AnalyzeResponse { event: Some(event) })))
    }

    async fn submit(
        &self,
        request: Request<v1::SubmitRequest>,
    ) -> Result<Response<v1::SubmitResponse>, Status> {
        let spec = decode_spec(&request, |request| request.spec.as_ref())?;
        let job = self.hand_in(spec, request.get_ref().fresh).await?;
        Ok(Response::new(v1::SubmitResponse { job: job.0 }))
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Result<Response<v1::GetResponse>, Status> {
        let jobs = self.jobs(Question::Get(JobId(request.get_ref().job))).await?;
        let summary = jobs.first().map(job_summary_to_wire);
        Ok(Response::new(v1::GetResponse { summary }))
    }

    async fn list(&self, request: Request<v1::ListRequest>) -> Result<Response<v1::ListResponse>, Status> {
        let v1::ListRequest { limit, before } = *request.get_ref();
        let limit = match usize::try_from(limit).unwrap_or(usize::MAX) {
            0 => MAX_LISTED_JOBS,
            limit => limit.min(MAX_LISTED_JOBS),
        };
        let before = (before != 0).then_some(JobId(before));
        let jobs = self.jobs(Question::List { limit, before }).await?;
        Ok(Response::new(v1::ListResponse { jobs: jobs.iter().map(job_summary_to_wire).collect() }))
    }

    async fn watch(&self, request: Request<v1::WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let v1::WatchRequest { job, after_seq } = *request.get_ref();
        let events = self.cluster.watch(JobId(job), after_seq).await.map_err(|error| unanswered(&error))?;
        Ok(Response::new(encode(events, |event| v1::WatchResponse { event: Some(event) })))
    }

    async fn cancel(
        &self,
        request: Request<v1::CancelRequest>,
    ) -> Result<Response<v1::CancelResponse>, Status> {
        self.act(Question::Cancel(JobId(request.get_ref().job))).await?;
        Ok(Response::new(v1::CancelResponse {}))
    }

    async fn pause(&self, request: Request<v1::PauseRequest>) -> Result<Response<v1::PauseResponse>, Status> {
        self.act(Question::Pause(JobId(request.get_ref().job))).await?;
        Ok(Response::new(v1::PauseResponse {}))
    }

    async fn resume(
        &self,
        request: Request<v1::ResumeRequest>,
    ) -> Result<Response<v1::ResumeResponse>, Status> {
        self.act(Question::Resume(JobId(request.get_ref().job))).await?;
        Ok(Response::new(v1::ResumeResponse {}))
    }

    async fn workers(
        &self,
        _request: Request<v1::WorkersRequest>,
    ) -> Result<Response<v1::WorkersResponse>, Status> {
        let ask = async |question| self.cluster.ask(question).await.map_err(|error| unanswered(&error));
        match (ask(Question::Workers).await?, ask(Question::Losses).await?) {
            (Answer::Workers(workers), Answer::Losses(losses)) => {
                let workers = workers.iter().map(worker_summary_to_wire).collect();
                let losses = losses.iter().map(loss_to_wire).collect();
                Ok(Response::new(v1::WorkersResponse { workers, losses }))
            }
            _ => Err(wrong_answer()),
        }
    }
}
