//! Watches a live timeline, and tells what fires: `timeline watch`, as a process of its own.

use std::process::Stdio;
use std::sync::Arc;

use axum::body::Body as ResponseBody;
use axum::extract::State as Shared;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use timeline_latency::Condition;
use tokio::process::Command;
use tokio_stream::StreamExt;
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;

use super::extractors::{Body, InPath};
use super::failure::{ErrorObject, RequestFailure};
use super::params::LogPath;
use super::state::ServerState;
use crate::error::Error;
use crate::logs::{LogHandle, LogKind};

/// Most conditions of a request.
const MOST: usize = 16;

/// What is watched for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchRequest {
    /// Conditions, of which any is enough: span engine.breath > 1ms, rate(net.sent, 1s) > 1000/s.
    pub when: Vec<String>,
    /// The answer ends after so many firings.
    pub max_firings: Option<u64>,
    /// After a firing, others of the same condition are counted for this time: 10s.
    pub cooldown: Option<String>,
    /// The answer ends after this time, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// Whether a line is an object of JSON, or is for people.
    #[serde(default)]
    pub json: bool,
}

impl WatchRequest {
    /// The options of `timeline watch`. None of them runs or writes anything.
    fn options(&self) -> Result<Vec<String>, Error> {
        if self.when.is_empty() || self.when.len() > MOST {
            let count = self.when.len();
            let message = format!("expected 1 to {MOST} conditions in when, got {count}");
            return Err(Error::request(message));
        }
        for condition in &self.when {
            let parsed = Condition::parse(condition);
            parsed.map_err(|error| Error::request(format!("when: {error}")))?;
        }
        let mut options: Vec<String> = self.when.iter().map(|it| format!("--when={it}")).collect();
        if let Some(time) = &self.cooldown {
            let is_time = time
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ". ".contains(c));
            if !is_time || time.is_empty() {
                let message = format!("expected cooldown to be a time such as 10s, got {time:?}");
                return Err(Error::request(message));
            }
            options.push(format!("--cooldown={time}"));
        }
        options.extend(
            self.max_firings
                .map(|count| format!("--max-firings={count}")),
        );
        options.extend(self.duration_ns.map(|time| format!("--duration={time}ns")));
        if self.json {
            options.push("--json".into());
        }
        Ok(options)
    }
}

/// Watches a live timeline. The answer has a line for each moment at which a condition is met, as
/// it comes, and ends when the client goes.
#[utoipa::path(post, path = "/api/logs/{log}/watch", request_body = WatchRequest,
    params(LogPath),
    responses((status = 200, content_type = "application/x-ndjson"),
        (status = 400, body = ErrorObject), (status = 403, body = ErrorObject)))]
pub async fn watch(
    Shared(state): Shared<Arc<ServerState>>,
    InPath(id): InPath<String>,
    Body(asked): Body<WatchRequest>,
) -> Result<Response, RequestFailure> {
    let Some(command) = state.command.clone() else {
        let message = "nothing is watched here: that is the business of `timeline agent`";
        return Err(RequestFailure::new(StatusCode::FORBIDDEN, message));
    };
    let options = asked.options()?;
    let live = |log: &LogHandle, _: &_| match log.found.kind {
        LogKind::Live => Ok(log.found.path.clone()),
        _ => Err(Error::request("only live timelines can be watched")),
    };
    let path = Arc::clone(&state).read(id, live).await?;
    let permit = state.watch_permit().await?;
    let started = Command::new(command)
        .arg("watch")
        .args(options)
        .arg("--")
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let mut child = started.map_err(|error| Error::io("start a process that watches", error))?;
    let out = child.stdout.take().expect("it was asked for");
    // The process ends with the answer.
    let lines = ReaderStream::new(out).map(move |part| {
        let _ = (&child, &permit);
        part
    });
    let kind = match asked.json {
        true => "application/x-ndjson",
        false => "text/plain; charset=utf-8",
    };
    let headers = [(header::CONTENT_TYPE, kind)];
    Ok((headers, ResponseBody::from_stream(lines)).into_response())
}
