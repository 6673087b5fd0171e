//! The calls of `/api/v1`: decode, ask, encode.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use corridor_proto::convert::book_name;
use corridor_proto::json::requests::{
    BookAnalyzeRequest, ConvertQuery, ExpandRequest, Fault, JobRequest, PositionQuery, from_json,
};
use corridor_proto::json::{JobView, NodeView, PositionView};
use corridor_shared::job::{ENGINE_EPOCH, JobId};
use corridor_shared::notation::Notation;
use futures_util::Stream;
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::failure::Failure;
use super::{Desk, Shared};
use crate::cluster::Question;
use crate::limits::MAX_LISTED_JOBS;

type Answer = Result<Response, Failure>;
type Asked<T> = Result<Query<T>, QueryRejection>;
type Named<T> = Result<Path<T>, PathRejection>;
type Said = Result<Bytes, BytesRejection>;

fn query<T>(asked: Asked<T>) -> Result<T, Failure> {
    asked.map(|Query(query)| query).map_err(|error| Failure::new(StatusCode::BAD_REQUEST, error.body_text()))
}

fn named<T>(name: Named<T>) -> Result<T, Failure> {
    name.map(|Path(name)| name).map_err(|error| Failure::new(StatusCode::BAD_REQUEST, error.body_text()))
}

fn said(body: Said) -> Result<Bytes, Failure> {
    body.map_err(|error| Failure::new(error.status(), error.body_text()))
}

/// JSON that nobody keeps: it is of this moment.
fn fresh(value: impl serde::Serialize) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], Json(value)).into_response()
}

fn accepted(job: JobId) -> Response {
    (StatusCode::CREATED, Json(json!({"job": job.0}))).into_response()
}

// ---- positions ----------------------------------------------------------------------------------------------------

pub(super) async fn position(asked: Asked<PositionQuery>) -> Answer {
    let game = query(asked)?.game()?;
    // It says the same for ever, as long as this is the same version.
    Ok(([(header::CACHE_CONTROL, "no-cache")], Json(PositionView::from(&game))).into_response())
}

pub(super) async fn notations() -> Json<Value> {
    let names: Vec<Value> =
        Notation::ALL.iter().map(|it| json!({"name": it.name(), "title": it.title()})).collect();
    Json(json!({"notations": names}))
}

pub(super) async fn convert(asked: Asked<ConvertQuery>) -> Answer {
    Ok(Json(json!({"moves": query(asked)?.converted()?})).into_response())
}

// ---- jobs ---------------------------------------------------------------------------------------------------------

/// Which part of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    limit: Option<usize>,
    before: Option<u64>,
}

pub(super) async fn jobs(State(desk): Shared, asked: Asked<Listing>) -> Answer {
    let Listing { limit, before } = query(asked)?;
    let limit = limit.unwrap_or(50).min(MAX_LISTED_JOBS);
    if limit == 0 {
        let message = format!("must be 1 to {MAX_LISTED_JOBS}");
        return Err(Fault { field: Some("limit".to_owned()), message, ply: None }.into());
    }
    let jobs = desk.analysis.jobs(Question::List { limit, before: before.map(JobId) }).await?;
    let jobs: Vec<JobView<'_>> = jobs.iter().map(Into::into).collect();
    Ok(fresh(json!({"jobs": jobs})))
}

pub(super) async fn submit(State(desk): Shared, body: Said) -> Answer {
    let request: JobRequest = from_json(&said(body)?)?;
    let (spec, fresh) = request.job()?;
    Ok(accepted(desk.analysis.hand_in(spec, fresh).await?))
}

async fn summary(desk: &Desk, job: u64) -> Answer {
    let jobs = desk.analysis.jobs(Question::Get(JobId(job))).await?;
    let job = jobs.first().ok_or_else(|| Failure::not_found(format!("there is no job {job}")))?;
    Ok(fresh(JobView::from(job)))
}

pub(super) async fn job(State(desk): Shared, name: Named<u64>) -> Answer {
    summary(&desk, named(name)?).await
}

pub(super) async fn order(State(desk): Shared, name: Named<(u64, String)>) -> Answer {
    let (job, order) = named(name)?;
    let question = match order.as_str() {
        "pause" => Question::Pause(JobId(job)),
        "resume" => Question::Resume(JobId(job)),
        "cancel" => Question::Cancel(JobId(job)),
        _ => return Err(Failure::not_found("a job can be told to pause, resume or cancel")),
    };
    desk.analysis.act(question).await?;
    summary(&desk, job).await
}

/// From where on a job is watched.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cursor {
    after: Option<u64>,
    picture: Option<bool>,
}

/// The last number that a browser has seen before its line broke.
fn last_seen(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.parse().ok()
}

/// A stream of messages that are encoded already.
fn server_sent(messages: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(messages.map(Ok::<_, Infallible>))).into_response()
}

pub(super) async fn events(
    State(desk): Shared,
    name: Named<u64>,
    asked: Asked<Cursor>,
    headers: HeaderMap,
) -> Answer {
    let (job, Cursor { after, picture }) = (named(name)?, query(asked)?);
    let after = last_seen(&headers).or(after).unwrap_or(0);
    let viewer = desk.feeds.view(JobId(job), after, picture.unwrap_or(false)).await?;
    Ok(server_sent(viewer))
}

// ---- the cluster --------------------------------------------------------------------------------------------------

pub(super) async fn cluster(State(desk): Shared) -> Answer {
    let text = desk.pictures.now().await?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, text).into_response())
}

pub(super) async fn cluster_events(State(desk): Shared) -> Answer {
    Ok(server_sent(Arc::clone(&desk.pictures).view().await?))
}

// ---- books --------------------------------------------------------------------------------------------------------

pub(super) async fn books(State(desk): Shared) -> Answer {
    let listed = desk.books.listed().await?;
    let book = |it: &crate::store::Listed| json!({"book": it.name, "positions": it.positions, "analysed": it.analysed, "stale": it.stale});
    Ok(fresh(json!({"books": listed.iter().map(book).collect::<Vec<_>>()})))
}

fn checked(book: &str) -> Result<Arc<str>, Failure> {
    Ok(book_name(book, "book").map_err(corridor_proto::json::requests::Fault::from)?)
}

pub(super) async fn book_node(
    State(desk): Shared,
    name: Named<String>,
    asked: Asked<PositionQuery>,
) -> Answer {
    let (book, game) = (checked(&named(name)?)?, query(asked)?.game()?);
    // Who plays leaves a book sooner or later: that is no fault.
    let Some(record) = desk.books.record_if_there(&book, &game.position).await? else {
        return Ok(fresh(json!({"in_book": false})));
    };
    let record = record.turned(&game.position);
    let mut after = Vec::with_capacity(record.children.len());
    for (mv, _) in &record.children {
        let position = game.position.after(*mv);
        let child = desk.books.record(&book, &position).await;
        after.extend(child.ok().map(|child| (*mv, child.turned(&position))));
    }
    Ok(fresh(NodeView::new(&record, after, ENGINE_EPOCH)))
}

pub(super) async fn book_analyze(State(desk): Shared, name: Named<String>, body: Said) -> Answer {
    let (book, request) = (checked(&named(name)?)?, from_json::<BookAnalyzeRequest>(&said(body)?)?);
    Ok(accepted(desk.books.hand_in(request.job(&book)?).await?))
}

pub(super) async fn book_expand(State(desk): Shared, name: Named<String>, body: Said) -> Answer {
    let (book, request) = (checked(&named(name)?)?, from_json::<ExpandRequest>(&said(body)?)?);
    Ok(accepted(desk.books.hand_in(request.job(&book)?).await?))
}
