//! Makes answers of errors: an object with one sentence.

use std::io;

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::reply::Reply;
use crate::error::Error;

/// The answer to a request that failed.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorObject {
    /// What was expected, what came, and what to do.
    pub error: String,
}

/// A request that failed.
#[derive(Debug)]
pub struct RequestFailure {
    status: StatusCode,
    message: String,
}

impl RequestFailure {
    pub fn new(status: StatusCode, message: impl Into<String>) -> RequestFailure {
        RequestFailure {
            status,
            message: message.into(),
        }
    }

    /// Too much goes on at once.
    pub fn busy() -> RequestFailure {
        let message = "the server is busy; try again in a moment";
        RequestFailure::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// A defect of the server.
    pub fn broken() -> RequestFailure {
        let message = "the server failed; its standard error says why";
        RequestFailure::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<Error> for RequestFailure {
    fn from(error: Error) -> RequestFailure {
        let status = match &error {
            Error::NoLog { .. } => StatusCode::NOT_FOUND,
            Error::Busy { .. } => StatusCode::CONFLICT,
            Error::Request { .. } | Error::Query(_) => StatusCode::BAD_REQUEST,
            Error::Indexing { .. } | Error::NoRoom { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Error::Io { reason, .. } if is_full(reason) => StatusCode::SERVICE_UNAVAILABLE,
            // What is there is no log, or cannot be read.
            Error::Archive(_) | Error::Timeline(_) | Error::Unreadable { .. } => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        RequestFailure::new(status, error.to_string())
    }
}

/// Whether there may be room later.
fn is_full(reason: &io::Error) -> bool {
    let kinds = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    kinds.contains(&reason.kind())
}

impl IntoResponse for RequestFailure {
    fn into_response(self) -> Response {
        let wait: &[(HeaderName, &str)] = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => &[(header::RETRY_AFTER, "1")],
            _ => &[],
        };
        let mut response = (
            self.status,
            Reply(ErrorObject {
                error: self.message,
            }),
        )
            .into_response();
        for (name, value) in wait {
            response
                .headers_mut()
                .insert(name, axum::http::HeaderValue::from_static(value));
        }
        response
    }
}
