//! Answers that go on: searches, and logs that grow.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State as Shared;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::spawn_blocking;
use tokio_stream::wrappers::ReceiverStream;

use super::extractors::InPath;
use super::failure::{ErrorObject, RequestFailure};
use super::followers::{Growth, is_last};
use super::params::{FilterParams, LogPath, Params};
use super::state::ServerState;
use crate::read::{Hits, Progress, SearchRequest, search};

/// Parts of an answer that wait for a slow client. Behind them, the search waits.
pub const WAITING: usize = 16;
/// How long a search waits for a client that does not read.
const PATIENCE: Duration = Duration::from_secs(30);
/// Hits that are delivered, if nobody asked for more or fewer, and the most.
const HITS: u64 = 100_000;
const MOST_HITS: u64 = 10_000_000;

pub type EventStream = Sse<axum::response::sse::KeepAliveStream<Parts>>;
type Parts = ReceiverStream<std::result::Result<Event, Infallible>>;

pub fn event(name: &str, data: &impl Serialize) -> Event {
    // All that is sent here can be written as JSON.
    let event = Event::default().event(name).json_data(data);
    event.unwrap_or_else(|_| Event::default().event("error"))
}

fn failed(message: &str) -> Event {
    let error = message.to_string();
    event("error", &ErrorObject { error })
}

pub fn answer(receiver: Receiver<std::result::Result<Event, Infallible>>) -> EventStream {
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default())
}

/// Sends a part. Returns whether somebody still reads.
fn send(sender: &Sender<std::result::Result<Event, Infallible>>, event: Event) -> bool {
    let handle = tokio::runtime::Handle::current();
    let sent =
        handle.block_on(async { tokio::time::timeout(PATIENCE, sender.send(Ok(event))).await });
    matches!(sent, Ok(Ok(())))
}

/// Searches a log. The answer is a stream of events: `hits` as they are found, `progress`, and at
/// the end `end` or `error`.
#[utoipa::path(get, path = "/api/logs/{log}/search",
    params(LogPath,
        ("q" = Option<String>, Query, description = "The text"),
        ("regex" = Option<bool>, Query, description = "Whether it is a regular expression"),
        ("case" = Option<String>, Query, description = "smart, sensitive or insensitive"),
        ("from" = Option<u64>, Query,
            description = "The line to begin with: `next` of the search that is to go on"),
        ("limit" = Option<u64>, Query, description = "The most hits"), FilterParams),
    responses((status = 200, content_type = "text/event-stream", body = Progress),
        (status = 400, body = ErrorObject)))]
pub async fn search_log(
    Shared(state): Shared<Arc<ServerState>>,
    InPath(id): InPath<String>,
    params: Params,
) -> std::result::Result<EventStream, RequestFailure> {
    params.only(&["q", "regex", "case", "from", "limit"], true)?;
    let limit = params.number("limit")?.unwrap_or(HITS).min(MOST_HITS);
    let wanted = SearchRequest {
        needle: params.needle()?,
        query: params.query()?,
        from: params.number("from")?.unwrap_or(0),
        limit,
    };
    // That there is such a log is said by the status.
    let version = Arc::clone(&state).read(id, |log, _| log.ready()).await?;
    let permit = state.search_permit().await?;
    let (sender, receiver) = channel(WAITING);
    spawn_blocking(move || {
        let _permit = permit;
        let mut last = None;
        let result = search(&version, &wanted, |hits: Hits, progress: &Progress| {
            last = Some(progress.clone());
            let has_hits = !hits.lines.is_empty();
            (!has_hits || send(&sender, event("hits", &hits)))
                && send(&sender, event("progress", progress))
        });
        match (result, last) {
            (Err(error), _) => send(&sender, failed(&error.to_string())),
            (Ok(()), Some(last)) => send(&sender, event("end", &last)),
            (Ok(()), None) => true,
        };
    });
    Ok(answer(receiver))
}

/// Follows a log. The answer is a stream of events `grown`, and `end` when no more can come.
#[utoipa::path(get, path = "/api/logs/{log}/follow",
    params(LogPath),
    responses((status = 200, content_type = "text/event-stream", body = Growth),
        (status = 404, body = ErrorObject)))]
pub async fn follow(
    Shared(state): Shared<Arc<ServerState>>,
    InPath(id): InPath<String>,
) -> std::result::Result<EventStream, RequestFailure> {
    let mut told = state.follow(id).await?;
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(async move {
        loop {
            let now = told.borrow_and_update().clone();
            let parts = match &now {
                Ok(growth) if is_last(&now) => vec![event("grown", growth), event("end", growth)],
                Ok(growth) => vec![event("grown", growth)],
                Err(reason) => vec![failed(reason)],
            };
            for part in parts {
                if sender.send(Ok(part)).await.is_err() {
                    return;
                }
            }
            if is_last(&now) {
                return;
            }
            tokio::select! {
                changed = told.changed() => if changed.is_err() {
                    return;
                },
                () = sender.closed() => return,
            }
        }
    });
    Ok(answer(receiver))
}
