//! Answers with an object, in JSON or CBOR, whichever the client asks for.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// The type of CBOR.
const CBOR: &str = "application/cbor";

/// An answer that is an object.
pub struct Reply<T>(pub T);

/// How the object of an answer is written as CBOR.
#[derive(Clone)]
struct CborWriter(Arc<dyn Fn() -> Option<Vec<u8>> + Send + Sync>);

impl<T: Serialize + Send + Sync + 'static> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        let object = Arc::new(self.0);
        let mut response = Json(&*object).into_response();
        let write = move || {
            let mut bytes = Vec::new();
            ciborium::into_writer(&*object, &mut bytes).ok()?;
            Some(bytes)
        };
        response
            .extensions_mut()
            .insert(CborWriter(Arc::new(write)));
        response
    }
}

/// Writes the object of an answer as CBOR if the client would rather have that than JSON.
pub async fn negotiate(request: Request, next: Next) -> Response {
    let wants_cbor = prefers_cbor(request.headers());
    let mut response = next.run(request).await;
    let Some(CborWriter(write)) = response.extensions_mut().remove() else {
        return response;
    };
    let vary = HeaderValue::from_static("accept");
    response.headers_mut().append(header::VARY, vary);
    // All that is answered here can be written so; if not, it stays JSON, and says so.
    let Some(bytes) = wants_cbor.then(|| write()).flatten() else {
        return response;
    };
    let (mut head, _) = response.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    let kind = HeaderValue::from_static(CBOR);
    head.headers.insert(header::CONTENT_TYPE, kind);
    Response::from_parts(head, bytes.into())
}

/// Whether a client names CBOR, with no less weight than JSON.
fn prefers_cbor(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter();
    let accept: Vec<&str> = accept.filter_map(|value| value.to_str().ok()).collect();
    let weight = |wanted: &str| {
        let ranges = accept.iter().flat_map(|value| value.split(','));
        let named = ranges.filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let is_named = parts.next()?.eq_ignore_ascii_case(wanted);
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
            is_named.then(|| weight.unwrap_or(1.0_f32))
        });
        named.fold(0.0, f32::max)
    };
    let cbor = weight(CBOR);
    cbor > 0.0 && cbor >= weight("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_chooses() {
        for (accept, expected) in [
            ("", false),
            ("*/*", false),
            ("application/json", false),
            ("application/cbor", true),
            ("Application/CBOR", true),
            ("application/json, application/cbor", true),
            ("application/json;q=0.9, application/cbor;q=0.5", false),
            ("application/cbor;q=0.9, application/json;q=0.5", true),
            ("application/cbor;q=0", false),
            ("text/html, application/cbor ; q=0.3", true),
            ("application/cborx", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(prefers_cbor(&headers), expected, "{accept}");
        }
    }
}
