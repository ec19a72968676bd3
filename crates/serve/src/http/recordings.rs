//! Starts and stops recordings of an agent, and lists them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::extract::State as Shared;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use timeline_agent::{
    Agent, Error, KeepingRequest, RecordingPhase, RecordingRequest, RecordingState, RecordingTarget,
};
use tokio::task::spawn_blocking;
use utoipa::ToSchema;

use super::extractors::{Body, InPath};
use super::failure::{ErrorObject, RequestFailure};
use super::reply::Reply;
use super::state::ServerState;
use crate::read::Moment;

type Server = Shared<Arc<ServerState>>;
type Answer<T> = Result<Reply<T>, RequestFailure>;

/// A recording to begin. It goes either to a file or to a store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingOrder {
    /// The name of the timeline.
    pub timeline: String,
    /// A file in the directory of the agent; with a slash at the end, a directory of files.
    pub file: Option<String>,
    /// The host of a store, with a port or without.
    pub store: Option<String>,
    /// A new file begins before one has more bytes.
    pub rotate_size: Option<u64>,
    /// The oldest files are removed when all have more bytes.
    pub keep_size: Option<u64>,
    /// What a store keeps with it.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// How far a recording is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordingStage {
    /// It records.
    Running,
    /// Its program has ended, or somebody stopped it, and everything is written.
    Complete,
    /// It ended before everything was written.
    Failed,
}

/// A recording of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordingObject {
    /// Its number, by which it is stopped.
    pub number: u64,
    /// The name of the timeline.
    pub timeline: String,
    /// The file, if it goes to one.
    pub file: Option<String>,
    /// The store, if it goes to one.
    pub store: Option<String>,
    /// Whether the agent began it by itself.
    pub automatic: bool,
    /// How far it is.
    pub state: RecordingStage,
    /// When it began.
    pub since: Moment,
    /// How many events were recorded.
    pub events: u64,
    /// How many entries were overwritten before they could be recorded.
    pub missed: u64,
    /// What fails at present, or why it ended.
    pub trouble: Option<String>,
}

/// All recordings.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordingList {
    /// In the order in which they began.
    pub recordings: Vec<RecordingObject>,
}

fn object(state: RecordingState) -> RecordingObject {
    let since = state.since.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (file, store) = match state.target {
        RecordingTarget::File(name) => (Some(name), None),
        RecordingTarget::Store(address) => (None, Some(address)),
    };
    RecordingObject {
        number: state.number,
        timeline: state.timeline,
        file,
        store,
        automatic: state.is_of_fleet,
        state: match state.phase {
            RecordingPhase::Running => RecordingStage::Running,
            RecordingPhase::Complete => RecordingStage::Complete,
            RecordingPhase::Failure => RecordingStage::Failed,
        },
        since: Moment::of(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)),
        events: state.totals.events,
        missed: state.totals.missed,
        trouble: state.trouble,
    }
}

fn refused(error: &Error) -> RequestFailure {
    let status = match error {
        Error::NoRecording { .. } => StatusCode::NOT_FOUND,
        Error::TooMany { .. } => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    RequestFailure::new(status, error.to_string())
}

/// Asks the agent, in a thread that may wait for the disk.
async fn ask<T: Send + 'static>(
    state: &ServerState,
    ask: impl FnOnce(&Agent) -> Result<T, Error> + Send + 'static,
) -> Result<T, RequestFailure> {
    let Some(agent) = state.agent.clone() else {
        let message = "nothing is recorded here: that is the business of `timeline agent`";
        return Err(RequestFailure::new(StatusCode::NOT_FOUND, message));
    };
    let done = spawn_blocking(move || ask(&agent)).await;
    done.map_err(|_| RequestFailure::broken())?
        .map_err(|error| refused(&error))
}

/// The recordings of an agent that run, and those that have ended last.
#[utoipa::path(get, path = "/api/recordings",
    responses((status = 200, body = RecordingList)))]
pub async fn list(Shared(state): Server) -> Answer<RecordingList> {
    let all = match state.agent {
        Some(_) => ask(&state, |agent| Ok(agent.recordings())).await?,
        None => Vec::new(),
    };
    let recordings = all.into_iter().map(object).collect();
    Ok(Reply(RecordingList { recordings }))
}

/// Begins to record a timeline.
#[utoipa::path(post, path = "/api/recordings", request_body = RecordingOrder,
    responses((status = 200, body = RecordingObject), (status = 400, body = ErrorObject)))]
pub async fn begin(
    Shared(state): Server,
    Body(order): Body<RecordingOrder>,
) -> Answer<RecordingObject> {
    let target = match (order.file, order.store) {
        (Some(name), None) => RecordingTarget::File(name),
        (None, Some(address)) => RecordingTarget::Store(address),
        _ => {
            let message = "expected either file or store";
            return Err(RequestFailure::new(StatusCode::BAD_REQUEST, message));
        }
    };
    let request = RecordingRequest {
        timeline: order.timeline,
        target,
        keeping: KeepingRequest {
            rotate_size: order.rotate_size,
            keep_size: order.keep_size,
        },
        labels: order.labels.into_iter().collect(),
    };
    let begun = ask(&state, move |agent| agent.record(request)).await?;
    Ok(Reply(object(begun)))
}

/// Stops a recording. What was logged by now is written.
#[utoipa::path(delete, path = "/api/recordings/{number}",
    params(("number" = u64, Path, description = "The number of the recording")),
    responses((status = 200, body = RecordingObject), (status = 404, body = ErrorObject)))]
pub async fn end(Shared(state): Server, InPath(number): InPath<u64>) -> Answer<RecordingObject> {
    let ended = ask(&state, move |agent| agent.end(number)).await?;
    Ok(Reply(object(ended)))
}
