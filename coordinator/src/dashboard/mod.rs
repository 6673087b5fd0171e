//! The live board: a page for a browser, and under `/api/v1` in JSON what the page does. `openapi.json` describes all of it.
//!
//! Like the gRPC services this decodes, asks and encodes; it makes no decisions. Whoever looks on gets events over
//! server-sent events (`feed`, `picture`), many of them at the price of one: what is encoded is shared.

mod api;
mod assets;
mod failure;
mod feed;
mod picture;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio_util::sync::CancellationToken;

use crate::driver::Handle;
use crate::limits::MAX_PAGE_REQUEST_BYTES;
use crate::service::{AnalysisService, BookService};

use failure::Failure;
use feed::Feeds;
use picture::Pictures;

/// What all requests share.
pub(crate) struct Desk {
    analysis: AnalysisService,
    books: BookService,
    feeds: Feeds,
    pictures: Arc<Pictures>,
}

type Shared = axum::extract::State<Arc<Desk>>;

/// The page and its interface. Streams end when `stop` is cancelled.
pub(crate) fn router(
    cluster: &Handle,
    analysis: AnalysisService,
    books: BookService,
    stop: CancellationToken,
) -> Router {
    let desk = Desk {
        analysis,
        books,
        feeds: Feeds::new(cluster.clone(), stop.clone()),
        pictures: Arc::new(Pictures::new(cluster.clone(), stop)),
    };
    let api = Router::new()
        .route("/openapi.json", get(assets::openapi))
        .route("/position", get(api::position))
        .route("/notations", get(api::notations))
        .route("/convert", get(api::convert))
        .route("/jobs", get(api::jobs).post(api::submit))
        .route("/jobs/{job}", get(api::job))
        .route("/jobs/{job}/{order}", post(api::order))
        .route("/jobs/{job}/events", get(api::events))
        .route("/cluster", get(api::cluster))
        .route("/cluster/events", get(api::cluster_events))
        .route("/books", get(api::books))
        .route("/books/{book}/node", get(api::book_node))
        .route("/books/{book}/analyze", post(api::book_analyze))
        .route("/books/{book}/expand", post(api::book_expand))
        .fallback(async || Failure::not_found("there is no such call: see /api/v1/openapi.json"))
        .method_not_allowed_fallback(async || Failure::method());
    Router::new()
        .route("/", get(assets::page))
        .route("/assets/{version}/{name}", get(assets::asset))
        .nest("/api/v1", api)
        .layer(DefaultBodyLimit::max(MAX_PAGE_REQUEST_BYTES))
        .layer(middleware::from_fn(guard))
        .with_state(Arc::new(desk))
}

/// What a browser may do with an answer: everything comes from here, nothing is written into the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Keeps other sites' pages out of what changes something, and says to browsers how strict to be.
async fn guard(request: Request, next: Next) -> Response {
    // No other method is answered at all.
    let changes = request.method() == Method::POST;
    let mut response = match refused(&request).filter(|_| changes) {
        Some(failure) => failure.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Why somebody else's page asks for a change, if that is so. A browser sends JSON to another host only after asking, which
/// nobody answers here; and it says where a request comes from.
fn refused(request: &Request) -> Option<Failure> {
    let text = |name: &header::HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    let message = "this page is another site's: open the board at its own address";
    let origin = text(&header::ORIGIN);
    let host = text(&header::HOST).or_else(|| request.uri().authority().map(|it| it.as_str()));
    if origin.is_some_and(|origin| origin.split_once("://").map(|(_, host)| host) != host) {
        return Some(Failure::new(StatusCode::FORBIDDEN, message));
    }
    let site = text(&header::HeaderName::from_static("sec-fetch-site"));
    if site.is_some_and(|site| site == "cross-site" || site == "same-site") {
        return Some(Failure::new(StatusCode::FORBIDDEN, message));
    }
    let kind = text(&header::CONTENT_TYPE).unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
    // An order without a body needs no type, but a page of another site could send that.
    (!is_json)
        .then(|| Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type: application/json is wanted"))
}

#[cfg(test)]
mod tests;
