//! Gives the files of a log, whole or in ranges, and removes them.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tower_http::services::ServeFile;
use utoipa::ToSchema;

use super::extractors::InPath;
use super::failure::{ErrorObject, RequestFailure};
use super::params::LogPath;
use super::reply::Reply;
use super::state::ServerState;
use crate::error::Error;

type Server = Shared<Arc<ServerState>>;

/// The files of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct FileList {
    /// The oldest first.
    pub files: Vec<FileObject>,
}

/// A file of an archive.
#[derive(Debug, Serialize, ToSchema)]
pub struct FileObject {
    /// Its name.
    pub name: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// What was removed.
#[derive(Debug, Serialize, ToSchema)]
pub struct RemovalObject {
    /// The files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// The bytes of an archive or a snapshot that is one file. Ranges can be asked for.
#[utoipa::path(get, path = "/api/logs/{log}/file",
    params(LogPath),
    responses((status = 200, content_type = "application/octet-stream"), (status = 206)))]
pub async fn file(
    Shared(state): Server,
    InPath(id): InPath<String>,
    request: Request,
) -> Result<Response, RequestFailure> {
    let (file, name) = state
        .read(id, |log, _| Ok((log.file()?, log.found.name().to_string())))
        .await?;
    send(file, &name, request).await
}

/// The files that an archive consists of.
#[utoipa::path(get, path = "/api/logs/{log}/files",
    params(LogPath),
    responses((status = 200, body = FileList), (status = 404, body = ErrorObject)))]
pub async fn files(
    Shared(state): Server,
    InPath(id): InPath<String>,
) -> Result<Reply<FileList>, RequestFailure> {
    let files = state.read(id, |log, _| log.files()).await?;
    let files = files.into_iter();
    let files = files.map(|(name, bytes)| FileObject { name, bytes });
    Ok(Reply(FileList {
        files: files.collect(),
    }))
}

/// The bytes of a file of an archive. Ranges can be asked for.
#[utoipa::path(get, path = "/api/logs/{log}/files/{name}",
    params(LogPath, ("name" = String, Path, description = "The name of the file")),
    responses((status = 200, content_type = "application/octet-stream"), (status = 206)))]
pub async fn one_file(
    Shared(state): Server,
    InPath((id, name)): InPath<(String, String)>,
    request: Request,
) -> Result<Response, RequestFailure> {
    let wanted = name.clone();
    let file = state.read(id, move |log, _| log.one_file(&wanted)).await?;
    send(file, &name, request).await
}

/// Removes an archive, unless somebody writes it. Only a store that allows it does so.
#[utoipa::path(delete, path = "/api/logs/{log}",
    params(LogPath),
    responses((status = 200, body = RemovalObject), (status = 403, body = ErrorObject),
        (status = 409, body = ErrorObject)))]
pub async fn remove(
    Shared(state): Server,
    InPath(id): InPath<String>,
) -> Result<Reply<RemovalObject>, RequestFailure> {
    if !state.allow_removal {
        let message = "removing is not allowed: start `timeline store` with --allow-removal";
        return Err(RequestFailure::new(StatusCode::FORBIDDEN, message));
    }
    let removed = Arc::clone(&state).read(id.clone(), |log, _| log.remove());
    let (files, bytes) = removed.await?;
    state.logs.forget(&id);
    Ok(Reply(RemovalObject { files, bytes }))
}

/// Sends a file that is open.
async fn send(file: File, name: &str, request: Request) -> Result<Response, RequestFailure> {
    // The file that was checked is read, whatever has its name meanwhile.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let served = ServeFile::new(path).try_call(request).await;
    drop(file);
    let mut response = served
        .map_err(|error| RequestFailure::from(Error::io("read the file", error)))?
        .into_response();
    if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
        let message = "expected ranges of bytes that the file has";
        let told = RequestFailure::new(response.status(), message).into_response();
        let (head, body) = told.into_parts();
        response.headers_mut().extend(head.headers);
        *response.body_mut() = body;
        return Ok(response);
    }
    let plain: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c))
        .collect();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{plain}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}
