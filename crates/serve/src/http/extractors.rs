//! Reads paths and bodies of requests. What cannot be read is answered as all errors are.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::failure::RequestFailure;

/// What a path has in its places.
#[derive(Debug)]
pub struct InPath<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for InPath<T> {
    type Rejection = RequestFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<InPath<T>, RequestFailure> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(value)| InPath(value))
            .map_err(|refused| RequestFailure::new(refused.status(), refused.body_text()))
    }
}

/// An object in JSON.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = RequestFailure;

    async fn from_request(request: Request, state: &S) -> Result<Body<T>, RequestFailure> {
        let read = Json::from_request(request, state).await;
        read.map(|Json(value)| Body(value))
            .map_err(|refused| RequestFailure::new(refused.status(), refused.body_text()))
    }
}
