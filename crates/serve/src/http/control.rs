//! Changes a live timeline: its level and channels; and copies it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State as Shared;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use timeline::internal::Unknown;
use timeline::{Attached, Control, Level, Rules};
use timeline_reading::unknown_in;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;

use super::extractors::{Body, InPath};
use super::failure::{ErrorObject, RequestFailure};
use super::params::LogPath;
use super::reply::Reply;
use super::state::ServerState;
use crate::error::{Error, Result};
use crate::logs::{LogFile, LogHandle, LogKind};
use crate::read::Cancel;

/// How long the level may be raised in bursts, without being asked for again.
const LONGEST_SAMPLE: Duration = Duration::from_secs(3600);

type Server = Shared<Arc<ServerState>>;

/// What can be changed of a live timeline.
#[derive(Debug, Serialize, ToSchema)]
pub struct ControlState {
    /// Which events are logged: the level, and rules behind it.
    pub level: String,
    /// The channels.
    pub channels: Vec<ChannelObject>,
}

/// A channel.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChannelObject {
    /// Its name.
    pub name: String,
    /// Whether it is on.
    pub on: bool,
}

/// Rules to put in force.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesRequest {
    /// Words with commas between: a level (the name of a priority, or none, or all), levels of
    /// categories (engine=packet), and names of events (+net.sent, -*.idle_*). A level alone ends
    /// all rules so far.
    pub rules: String,
    /// Whether they are of events that are defined later, although their names are like those of
    /// others.
    #[serde(default)]
    pub later: bool,
}

/// Bursts of detail.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleRequest {
    /// The level of the bursts.
    pub level: String,
    /// How long each is, in nanoseconds.
    pub for_ns: u64,
    /// How often there is one, likewise.
    pub every_ns: u64,
    /// How long all of it lasts, likewise; an hour at most.
    pub duration_ns: u64,
}

/// A channel to switch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelRequest {
    /// Its name.
    pub name: String,
    /// Whether it shall be on.
    pub on: bool,
    /// Whether it is one of events that are defined later, although its name is like that of
    /// another one.
    #[serde(default)]
    pub later: bool,
}

/// Which events of a live timeline are logged.
#[utoipa::path(get, path = "/api/logs/{log}/control",
    params(LogPath),
    responses((status = 200, body = ControlState), (status = 400, body = ErrorObject)))]
pub async fn state(
    Shared(state): Server,
    InPath(id): InPath<String>,
) -> std::result::Result<Reply<ControlState>, RequestFailure> {
    state.read(id, |log, _| control_state(log)).await.map(Reply)
}

fn control_state(log: &LogHandle) -> Result<ControlState> {
    let ring = live(log)?;
    let info = Attached::open(ring.path())?.info();
    let channels = info.channels.into_iter().map(|channel| ChannelObject {
        name: channel.name,
        on: channel.on,
    });
    Ok(ControlState {
        level: info.rules.to_string(),
        channels: channels.collect(),
    })
}

fn live(log: &LogHandle) -> Result<LogFile> {
    match log.found.kind {
        LogKind::Live => log.found.reached(),
        _ => Err(Error::request("only live timelines can be changed")),
    }
}

fn refused(error: timeline::Error) -> Error {
    Error::request(error.to_string())
}

fn allowed(state: &ServerState) -> std::result::Result<(), RequestFailure> {
    let message =
        "changes are not allowed: start `timeline serve` with --allow-control, or `timeline agent`";
    match state.allow_control {
        true => Ok(()),
        false => Err(RequestFailure::new(StatusCode::FORBIDDEN, message)),
    }
}

/// Puts rules in force in a live timeline: which events are logged.
#[utoipa::path(post, path = "/api/logs/{log}/rules", request_body = RulesRequest,
    params(LogPath),
    responses((status = 200, body = ControlState), (status = 403, body = ErrorObject)))]
pub async fn add_rules(
    Shared(state): Server,
    InPath(id): InPath<String>,
    Body(asked): Body<RulesRequest>,
) -> std::result::Result<Reply<ControlState>, RequestFailure> {
    allowed(&state)?;
    let change = move |log: &LogHandle, _: &Cancel| {
        let rules: Rules = asked.rules.parse().map_err(refused)?;
        let ring = live(log)?;
        let unknown = unknown_in(&rules, &Attached::open(ring.path())?);
        let mut unknown = unknown.into_iter().filter(|_| !asked.later);
        if let Some(misspelt) = unknown.find(Unknown::has_near) {
            let way_out = "if it is to be defined later, add \"later\": true";
            return Err(Error::request(format!("{misspelt} ({way_out})")));
        }
        let control = Control::open(ring.path()).map_err(refused)?;
        control.switch(&rules).map_err(refused)?;
        control_state(log)
    };
    state.read(id, change).await.map(Reply)
}

/// Raises the level of a live timeline for short times, again and again, for a while.
#[utoipa::path(post, path = "/api/logs/{log}/sample", request_body = SampleRequest,
    params(LogPath),
    responses((status = 200, body = ControlState), (status = 403, body = ErrorObject)))]
pub async fn sample(
    Shared(state): Server,
    InPath(id): InPath<String>,
    Body(asked): Body<SampleRequest>,
) -> std::result::Result<Reply<ControlState>, RequestFailure> {
    allowed(&state)?;
    let duration = Duration::from_nanos(asked.duration_ns);
    if duration > LONGEST_SAMPLE {
        let message = "expected duration_ns to be an hour at most";
        return Err(Error::request(message).into());
    }
    let begin = move |log: &LogHandle, _: &Cancel| {
        let level: Level = asked.level.parse().map_err(refused)?;
        let (length, every) = [asked.for_ns, asked.every_ns]
            .map(Duration::from_nanos)
            .into();
        let ring = live(log)?;
        let control = Control::open(ring.path()).map_err(refused)?;
        let sampler = control.sample(level, length, every).map_err(refused)?;
        Ok((sampler, control_state(log)?))
    };
    let (sampler, now) = state.read(id, begin).await?;
    tokio::spawn(async move {
        sleep(duration).await;
        // It ends a thread, which may be in a burst.
        let _ = spawn_blocking(move || drop(sampler)).await;
    });
    Ok(Reply(now))
}

/// Switches a channel of a live timeline.
#[utoipa::path(post, path = "/api/logs/{log}/channels", request_body = ChannelRequest,
    params(LogPath),
    responses((status = 200, body = ControlState), (status = 403, body = ErrorObject)))]
pub async fn switch_channel(
    Shared(state): Server,
    InPath(id): InPath<String>,
    Body(asked): Body<ChannelRequest>,
) -> std::result::Result<Reply<ControlState>, RequestFailure> {
    allowed(&state)?;
    let change = move |log: &LogHandle, _: &Cancel| {
        let ring = live(log)?;
        let control = Control::open(ring.path()).map_err(refused)?;
        let known = Attached::open(ring.path())?.info().channels;
        let names = known.into_iter().map(|channel| channel.name).collect();
        let unknown = Unknown::of("channel", &asked.name, &names);
        if let Some(misspelt) = unknown.filter(|one| !asked.later && !one.may_come()) {
            let way_out = "if it is to be defined later, add \"later\": true";
            return Err(Error::request(format!("{misspelt} ({way_out})")));
        }
        control.channel(&asked.name, asked.on).map_err(refused)?;
        control_state(log)
    };
    state.read(id, change).await.map(Reply)
}

/// Copies a live timeline: the answer is a snapshot.
#[utoipa::path(post, path = "/api/logs/{log}/snapshot",
    params(LogPath),
    responses((status = 200, content_type = "application/octet-stream"),
        (status = 403, body = ErrorObject)))]
pub async fn snapshot(
    Shared(state): Server,
    InPath(id): InPath<String>,
) -> std::result::Result<Response, RequestFailure> {
    allowed(&state)?;
    let save = |log: &LogHandle, _: &Cancel| {
        let failed = |error| Error::io("make a snapshot", error);
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("snapshot.timeline");
        let ring = live(log)?;
        Attached::open(ring.path())?.save(&path)?;
        // It stays readable after its directory is removed.
        std::fs::File::open(path).map_err(failed)
    };
    let file = state.read(id, save).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"snapshot.timeline\"",
        ),
    ];
    let stream = ReaderStream::new(tokio::fs::File::from_std(file));
    Ok((headers, axum::body::Body::from_stream(stream)).into_response())
}
