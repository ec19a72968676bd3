//! Copies what a log has: its files, and archives with some of its events.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State as Shared;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;

use super::extractors::InPath;
use super::failure::{ErrorObject, RequestFailure};
use super::followers::FollowerMessage;
use super::params::{FilterParams, LogPath, Params};
use super::state::ServerState;
use crate::logs::LogHandle;
use crate::read::{ExcerptQuery, excerpt};

/// Bytes of a part of an answer, and parts that wait for a slow client. Behind them, the work
/// waits.
const PART: usize = 64 << 10;
const WAITING: usize = 8;
/// How long the work waits for a client that takes nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// Says how many bytes there are when an answer begins that goes on.
const BEGUN: HeaderName = HeaderName::from_static("timeline-bytes");

/// Says that more may come.
const GROWING: HeaderName = HeaderName::from_static("timeline-growing");

type Part = io::Result<Bytes>;

/// An archive of the wanted events: one that `timeline dump` reads. Without filters, that is what
/// the files of the log have, one behind the other. If it breaks off, so does the answer.
#[utoipa::path(get, path = "/api/logs/{log}/archive",
    params(LogPath,
        ("edges" = Option<bool>, Query,
            description = "Whether the begins and ends of all spans are wanted as well"),
        ("follow" = Option<bool>, Query,
            description = "Whether the answer goes on with what is added, until no more can come; \
                not with filters"),
        FilterParams),
    responses((status = 200, content_type = "application/octet-stream"),
        (status = 400, body = ErrorObject)))]
pub async fn archive(
    Shared(state): Shared<Arc<ServerState>>,
    InPath(id): InPath<String>,
    params: Params,
) -> Result<Response, RequestFailure> {
    params.only(&["edges", "follow"], true)?;
    let wanted = ExcerptQuery {
        query: params.query()?,
        with_edges: params.flag("edges")?,
    };
    let follows = params.flag("follow")?;
    if follows && !wanted.query.is_empty() {
        let message = "expected no filters beside follow";
        return Err(crate::error::Error::request(message).into());
    }
    // That there is such a log is said by the status.
    let log = Arc::clone(&state).log(id.clone()).await?;
    let version = Arc::clone(&state)
        .read(id.clone(), |log, _| log.version())
        .await?;
    let (sender, receiver) = channel(WAITING);
    let mut out = PartWriter::new(sender);
    if follows {
        let told = state.follow(id).await?;
        tokio::spawn(follow(
            GrowthCopy {
                log,
                written: HashMap::new(),
                out,
            },
            told,
        ));
        let mut answer = answer(receiver);
        let begun = HeaderValue::from(version.archive().bytes().len());
        answer.headers_mut().insert(BEGUN, begun);
        if version.growing {
            let grows = HeaderValue::from_static("true");
            answer.headers_mut().insert(GROWING, grows);
        }
        return Ok(answer);
    }
    let permit = state.search_permit().await?;
    spawn_blocking(move || {
        let _permit = permit;
        if let Err(error) = excerpt(&version, &wanted, &mut out).and_then(|()| out.flush()) {
            tokio::runtime::Handle::current().block_on(out.break_off(error));
        }
    });
    Ok(answer(receiver))
}

/// Copies what is added to a log, until no more can come or nobody waits for it.
async fn follow(mut copy: GrowthCopy, mut told: watch::Receiver<FollowerMessage>) {
    loop {
        told.borrow_and_update();
        let done = spawn_blocking(move || {
            let is_last = copy.step();
            (copy, is_last)
        });
        let Ok((again, is_last)) = done.await else {
            return;
        };
        copy = again;
        match is_last {
            Ok(false) => {}
            Ok(true) => return,
            Err(error) => return copy.out.break_off(error).await,
        }
        tokio::select! {
            // Where nobody looks any more, another look says whether more can come.
            _ = told.changed() => {}
            () = copy.out.sender.closed() => return,
        }
    }
}

/// What is copied of a log that grows.
struct GrowthCopy {
    log: Arc<LogHandle>,
    /// Files are removed, and their places change: so it is known of each how much is written.
    written: HashMap<PathBuf, usize>,
    out: PartWriter,
}

impl GrowthCopy {
    /// Writes what is new. Returns whether no more can come.
    fn step(&mut self) -> io::Result<bool> {
        let version = self.log.version().map_err(io::Error::other)?;
        if !self.log.is_there() {
            // What was read is not all that was to come.
            return Err(io::Error::other("the log was removed"));
        }
        let bytes = version.archive().bytes();
        let files: Vec<_> = bytes.files().collect();
        self.written
            .retain(|path, _| files.iter().any(|(there, _)| there == path));
        for (at, (path, start)) in files.iter().enumerate() {
            let end = files.get(at + 1).map_or(bytes.len(), |(_, next)| *next);
            let before = self.written.entry(path.to_path_buf()).or_default();
            bytes.copy((start + *before).min(end)..end, &mut self.out)?;
            *before = (end - start).max(*before);
        }
        self.out.flush()?;
        Ok(!version.growing)
    }
}

/// An answer of bytes, as they come.
fn answer(receiver: Receiver<Part>) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/octet-stream")];
    let body = Body::from_stream(ReceiverStream::new(receiver));
    (headers, body).into_response()
}

/// Collects what is written to parts of an answer, and waits if these are not taken.
struct PartWriter {
    sender: Sender<Part>,
    part: Vec<u8>,
}

impl PartWriter {
    fn new(sender: Sender<Part>) -> PartWriter {
        let part = Vec::with_capacity(PART);
        PartWriter { sender, part }
    }

    fn send(&self, part: Part) -> io::Result<()> {
        let handle = tokio::runtime::Handle::current();
        let sent = async { timeout(PATIENCE, self.sender.send(part)).await };
        match handle.block_on(sent) {
            Ok(Ok(())) => Ok(()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Has the client see that something is missing.
    async fn break_off(&self, error: io::Error) {
        let _ = timeout(PATIENCE, self.sender.send(Err(error))).await;
    }
}

impl Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.len() >= PART {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        let part = std::mem::replace(&mut self.part, Vec::with_capacity(PART));
        self.send(Ok(part.into()))
    }
}
