//! Plain HTTP: the live board, and health for probes: `/healthz` as long as the process lives, `/readyz` while work can be given
//! to it.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

/// Answers in the background, until the process ends: liveness holds through every drain. `ready` says why no work can be
/// taken, if that is so; `page` answers whatever else is asked.
pub(crate) fn serve(
    listener: TcpListener,
    page: Router,
    ready: impl Fn() -> Result<(), String> + Clone + Send + Sync + 'static,
) {
    let readiness = move || async move {
        match ready() {
            Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")),
        }
    };
    let router = page.route("/healthz", get(|| async { "alive\n" })).route("/readyz", get(readiness));
    // Events are small and must not wait for company.
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    drop(tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "serving health failed");
        }
    }));
}
