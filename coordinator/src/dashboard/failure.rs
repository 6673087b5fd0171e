//! How a request fails, as JSON: `{"error":{"field","message","ply"}}`.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use corridor_proto::json::requests::Fault;
use serde_json::json;
use tonic::{Code, Status};

/// A request that failed.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    fault: Fault,
}

impl Failure {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, fault: Fault { field: None, message: message.into(), ply: None } }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "this call has another method: see /api/v1/openapi.json")
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self { status: StatusCode::BAD_REQUEST, fault }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let code = match status.code() {
            Code::InvalidArgument => StatusCode::BAD_REQUEST,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::AlreadyExists | Code::FailedPrecondition | Code::Aborted => StatusCode::CONFLICT,
            Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // The services name the field that is wrong, as programs know it: `spec.limits.depth: ...`. A page knows its last name.
        let is_name = |text: &str| text.bytes().all(|it| it.is_ascii_lowercase() || it == b'_' || it == b'.');
        match status.message().split_once(": ").filter(|(name, _)| is_name(name)) {
            Some((name, fault)) if code == StatusCode::BAD_REQUEST => {
                let field = name.rsplit('.').next().unwrap_or_default();
                Self {
                    status: code,
                    fault: Fault { field: Some(field.to_owned()), message: fault.to_owned(), ply: None },
                }
            }
            _ => Self::new(code, status.message()),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Fault { field, message, ply } = self.fault;
        (self.status, Json(json!({"error": {"field": field, "message": message, "ply": ply}})))
            .into_response()
    }
}
