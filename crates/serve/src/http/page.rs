//! The files of the page. They are in the program, so that nothing has to be installed beside it.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

use super::failure::Failure;
use super::given::InPath;

/// All files.
#[derive(Embed)]
#[folder = "page"]
struct Files;

/// The page.
pub async fn index() -> Response {
    answer("index.html").into_response()
}

/// A file of the page.
pub async fn file(InPath(name): InPath<String>) -> Response {
    answer(&name).into_response()
}

fn answer(name: &str) -> Result<Response, Failure> {
    let found = Files::get(name).ok_or_else(|| {
        Failure::new(
            StatusCode::NOT_FOUND,
            format!("the page has no file {name:?}"),
        )
    })?;
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, found.data).into_response())
}
