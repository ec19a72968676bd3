//! Answers requests: a function for each.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State as Shared;
use serde::Serialize;
use timeline::Attached;
use timeline_archive::Preamble;
use utoipa::ToSchema;

use super::extractors::InPath;
use super::failure::{ErrorObject, RequestFailure};
use super::params::{FilterParams, LogPath, Params};
use super::reply::Reply;
use super::state::ServerState;
use crate::error::{Error, Result};
use crate::logs::{LogHandle, LogKind, LogSource, Trouble};
use crate::read::{
    Cancel, DefinitionObject, Details, EventPage, Lacks, Lines, Moment, Overview, ThreadObject,
    TraceCache, TraceObject, TrackQuery, Tracks, UnknownName, at_time, definitions, details,
    lines_at, lines_from, overview, page, threads, tracks, unknown_names,
};

/// Most lines and events of one answer.
const MOST_LINES: u64 = 1_000;
const MOST_NUMBERS: usize = 200;

type Answer<T> = std::result::Result<Reply<T>, RequestFailure>;
type Server = Shared<Arc<ServerState>>;

/// What the server is.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerObject {
    /// Its version.
    pub version: &'static str,
    /// Whether levels and channels of live timelines can be changed.
    pub control: bool,
    /// Whether requests need a token.
    pub token: bool,
}

/// All logs.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogList {
    /// By name.
    pub logs: Vec<LogObject>,
}

/// A log that can be opened.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LogObject {
    /// Its name in requests.
    pub id: String,
    /// The last part of the name.
    pub name: String,
    /// What holds its events.
    pub kind: LogKind,
    /// Where it is.
    pub path: String,
    /// The bytes of its files.
    pub bytes: Option<u64>,
    /// When it was written last, in RFC 3339.
    pub modified: Option<String>,
    /// Of an archive whose it is and how far; null as long as nobody has looked into it.
    pub trace: Option<TraceObject>,
    /// Of a timeline who writes it; null for what is none.
    pub ring: Option<RingObject>,
}

/// Who writes a timeline, and what.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RingObject {
    /// Which events are logged: the level, and rules behind it.
    pub level: String,
    /// How many processes write to it.
    pub writers: usize,
    /// How many entries were written.
    pub entries: u64,
}

/// What is known of a timeline without recording it.
fn ring(found: &LogSource) -> Option<RingObject> {
    if found.kind != LogKind::Live {
        return None;
    }
    let reached = found.reached().ok()?;
    let info = Attached::open(reached.path()).ok()?.info();
    Some(RingObject {
        level: info.rules.to_string(),
        writers: timeline::users(reached.path()).map_or(0, |users| users.len()),
        entries: info.entries_written,
    })
}

/// What is known of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogState {
    /// What the list says of it.
    #[serde(flatten)]
    pub log: LogObject,
    /// Whether more events may come.
    pub growing: bool,
    /// Changes when lines are numbered anew.
    pub version: u64,
    /// How many lines it has; null while it is being indexed.
    pub lines: Option<u64>,
    /// How many of these are of important events, which come first.
    pub important: Option<u64>,
    /// How many events it has.
    pub events: u64,
    /// The time of the first event.
    pub first: Option<Moment>,
    /// The time of the last event.
    pub last: Option<Moment>,
    /// What it is known to lack.
    #[serde(flatten)]
    pub lacks: Lacks,
    /// Why nothing is added at present; null if all is well.
    pub trouble: Option<Trouble>,
    /// The programs that wrote it.
    pub programs: Vec<Program>,
    /// Its index.
    pub index: IndexState,
}

/// A program that wrote a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct Program {
    /// The machine.
    pub host: Option<String>,
    /// The timeline.
    pub timeline: Option<String>,
}

/// The index of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct IndexState {
    /// Whether it is being made, is there, or is not worthwhile.
    pub state: &'static str,
    /// The share that is done.
    pub done: f64,
    /// Why it cannot be made; the log is read without it then.
    pub error: Option<String>,
}

/// The number of a line.
#[derive(Debug, Serialize, ToSchema)]
pub struct LineObject {
    /// The number, from 0.
    pub line: u64,
}

/// All definitions of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct DefinitionList {
    /// By their numbers.
    pub definitions: Vec<DefinitionObject>,
}

/// All threads of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThreadList {
    /// The busiest first.
    pub threads: Vec<ThreadObject>,
}

/// The names in filters that are in nothing of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnknownList {
    /// In the order of the filters.
    pub unknown: Vec<UnknownName>,
}

fn object(found: &LogSource, trace: Option<TraceObject>) -> LogObject {
    let modified = found.modified.and_then(|time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        Some(Moment::of(u64::try_from(since.as_nanos()).ok()?).time)
    });
    LogObject {
        id: found.id.clone(),
        name: found.name().to_string(),
        kind: found.kind,
        path: found.path.display().to_string(),
        bytes: found.bytes,
        modified,
        trace,
        ring: ring(found),
    }
}

/// The server: its version, and what it allows.
#[utoipa::path(get, path = "/api/server", responses((status = 200, body = ServerObject)))]
pub async fn server(Shared(state): Server) -> Reply<ServerObject> {
    Reply(ServerObject {
        version: env!("CARGO_PKG_VERSION"),
        control: state.allow_control,
        token: !state.tokens.is_empty(),
    })
}

/// All logs that are served.
#[utoipa::path(get, path = "/api/logs", responses((status = 200, body = LogList)))]
pub async fn logs(Shared(state): Server) -> Answer<LogList> {
    let listed = tokio::task::spawn_blocking(move || log_list(&state)).await;
    listed.map(Reply).map_err(|_| RequestFailure::broken())
}

/// All logs, with what is known of them.
pub fn log_list(state: &ServerState) -> LogList {
    let sources = state.logs.list();
    let traces = state.traces.of_all(&sources);
    let logs = sources.iter().zip(traces);
    LogList {
        logs: logs.map(|(source, trace)| object(source, trace)).collect(),
    }
}

/// What is known of a log.
#[utoipa::path(get, path = "/api/logs/{log}",
    params(LogPath),
    responses((status = 200, body = LogState), (status = 404, body = ErrorObject)))]
pub async fn log(Shared(state): Server, InPath(id): InPath<String>) -> Answer<LogState> {
    let shared = Arc::clone(&state);
    let read = move |log: &LogHandle, _: &Cancel| log_state(log, &shared.traces);
    state.read(id, read).await.map(Reply)
}

/// What is known of a log.
fn log_state(log: &LogHandle, traces: &TraceCache) -> Result<LogState> {
    let trace = traces.of(&log.found);
    let version = log.version()?;
    let archive = version.archive();
    let events = archive.units().map(|unit| unit.count).sum();
    let (first, last) = archive.times().unzip();
    let share = log.indexing();
    let is_ready = log.ready().is_ok();
    let lines = is_ready.then(|| version.lines());
    let version = &*version;
    let program = |preamble: &Preamble| Program {
        host: preamble.host.clone(),
        timeline: preamble.timeline.as_deref().map(|name| version.shown(name)),
    };
    Ok(LogState {
        log: object(&log.found, trace),
        growing: version.growing,
        version: version.number,
        lines: lines.map(|lines| lines.total),
        important: lines.map(|lines| lines.important),
        events,
        first: first.map(Moment::of),
        last: last.map(Moment::of),
        lacks: Lacks::of(archive),
        trouble: log.trouble(),
        programs: archive.programs().iter().map(program).collect(),
        index: IndexState {
            state: match (share, version.index().coverage().pages) {
                (Some(_), _) => "building",
                (None, 0) => "none",
                (None, _) => "ready",
            },
            done: share.unwrap_or(1.0),
            error: log.index_failure(),
        },
    })
}

/// Events by the numbers of their lines: from one on, or those with some numbers.
#[utoipa::path(get, path = "/api/logs/{log}/lines",
    params(LogPath,
        ("from" = Option<u64>, Query, description = "The first line"),
        ("count" = Option<u64>, Query, description = "How many lines, at most 1,000"),
        ("at" = Option<String>, Query, description = "At most 200 numbers, rising: 5,9,70")),
    responses((status = 200, body = Lines), (status = 400, body = ErrorObject)))]
pub async fn lines(
    Shared(state): Server,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<Lines> {
    params.only(&["from", "count", "at"], false)?;
    let (from, count) = (params.number("from")?, params.number("count")?);
    let at = params.one("at")?.map(numbers).transpose()?;
    let count: u64 = count.unwrap_or(100);
    if count > MOST_LINES {
        let message = format!("expected count to be at most {MOST_LINES}, got {count}");
        return Err(Error::request(message).into());
    }
    let read = move |log: &LogHandle, cancel: &Cancel| match at {
        Some(at) => lines_at(&*log.ready()?, &at, cancel),
        None => lines_from(&*log.ready()?, from.unwrap_or(0), count, cancel),
    };
    state.read(id, read).await.map(Reply)
}

fn numbers(text: &str) -> Result<Vec<u64>> {
    let wrong = || {
        let message =
            format!("expected at to be rising numbers, at most {MOST_NUMBERS}, got {text:?}");
        Error::request(message)
    };
    let numbers = text
        .split(',')
        .map(|number| number.parse().map_err(|_| wrong()));
    let numbers: Vec<u64> = numbers.collect::<Result<_>>()?;
    let is_rising = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    match is_rising && numbers.len() <= MOST_NUMBERS {
        true => Ok(numbers),
        false => Err(wrong()),
    }
}

/// All that is known of the event with a line.
#[utoipa::path(get, path = "/api/logs/{log}/lines/{line}",
    params(LogPath,
        ("line" = u64, Path, description = "The number of the line")),
    responses((status = 200, body = Details), (status = 400, body = ErrorObject)))]
pub async fn line(
    Shared(state): Server,
    InPath((id, line)): InPath<(String, u64)>,
) -> Answer<Details> {
    state
        .read(id, move |log, cancel| details(&*log.ready()?, line, cancel))
        .await
        .map(Reply)
}

/// The first line at or behind a time. Important events do not count.
#[utoipa::path(get, path = "/api/logs/{log}/at",
    params(LogPath,
        ("time" = u64, Query, description = "In nanoseconds since 1970")),
    responses((status = 200, body = LineObject), (status = 400, body = ErrorObject)))]
pub async fn at(
    Shared(state): Server,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<LineObject> {
    params.only(&["time"], false)?;
    let time = params.number("time")?;
    let time: u64 = time.ok_or_else(|| Error::request("expected the parameter time"))?;
    let read = move |log: &LogHandle, cancel: &Cancel| {
        Ok(LineObject {
            line: at_time(&*log.ready()?, time, cancel)?,
        })
    };
    state.read(id, read).await.map(Reply)
}

/// Wanted events in the order of their lines, in pages.
#[utoipa::path(get, path = "/api/logs/{log}/events",
    params(LogPath,
        ("limit" = Option<usize>, Query, description = "Events of a page, at most 1,000"),
        ("after" = Option<String>, Query, description = "`next` of the page before"), FilterParams),
    responses((status = 200, body = EventPage), (status = 400, body = ErrorObject)))]
pub async fn events(
    Shared(state): Server,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<EventPage> {
    params.only(&["limit", "after"], true)?;
    let limit = params
        .number("limit")?
        .unwrap_or(100)
        .clamp(1, MOST_LINES as usize);
    let (query, after) = (params.query()?, params.one("after")?.map(String::from));
    let read = move |log: &LogHandle, cancel: &Cancel| {
        let version = log.ready()?;
        page(&version, &query, after.as_deref(), limit, cancel)
    };
    state.read_long(id, read).await.map(Reply)
}

/// Counts of events by thread or core, in equal parts of a range of time.
#[utoipa::path(get, path = "/api/logs/{log}/tracks",
    params(LogPath,
        ("by" = Option<String>, Query, description = "thread or core"),
        ("from" = Option<u64>, Query, description = "In nanoseconds since 1970"),
        ("to" = Option<u64>, Query, description = "Likewise, behind the range"),
        ("buckets" = Option<u64>, Query, description = "Parts of the range, at most 4,096"),
        FilterParams),
    responses((status = 200, body = Tracks), (status = 400, body = ErrorObject)))]
pub async fn track_counts(
    Shared(state): Server,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<Tracks> {
    params.only(&["by", "from", "to", "buckets"], true)?;
    let (by_core, range) = (params.by_core()?, params.range()?);
    let query = params.query()?;
    let asked = TrackQuery {
        by_core,
        range,
        buckets: params.number("buckets")?.unwrap_or(1_000),
        query: query.clone(),
        key: params.key(&query),
    };
    state
        .read_long(id, move |log, cancel| {
            tracks(&*log.version()?, &asked, cancel)
        })
        .await
        .map(Reply)
}

/// Counts of the events of a log.
#[utoipa::path(get, path = "/api/logs/{log}/overview",
    params(LogPath),
    responses((status = 200, body = Overview)))]
pub async fn counts(Shared(state): Server, InPath(id): InPath<String>) -> Answer<Overview> {
    state
        .read_long(id, |log, cancel| overview(&*log.version()?, cancel))
        .await
        .map(Reply)
}

/// The definitions of a log.
#[utoipa::path(get, path = "/api/logs/{log}/definitions",
    params(LogPath),
    responses((status = 200, body = DefinitionList)))]
pub async fn all_definitions(
    Shared(state): Server,
    InPath(id): InPath<String>,
) -> Answer<DefinitionList> {
    let read = |log: &LogHandle, cancel: &Cancel| {
        let definitions = definitions(&*log.version()?, cancel)?;
        Ok(DefinitionList { definitions })
    };
    state.read_long(id, read).await.map(Reply)
}

/// The threads of a log.
#[utoipa::path(get, path = "/api/logs/{log}/threads",
    params(LogPath),
    responses((status = 200, body = ThreadList)))]
pub async fn all_threads(Shared(state): Server, InPath(id): InPath<String>) -> Answer<ThreadList> {
    let read = |log: &LogHandle, cancel: &Cancel| {
        let threads = threads(&*log.version()?, cancel)?;
        Ok(ThreadList { threads })
    };
    state.read_long(id, read).await.map(Reply)
}

/// The names in filters that are in nothing of a log, each with those like it.
#[utoipa::path(get, path = "/api/logs/{log}/unknown",
    params(LogPath, FilterParams),
    responses((status = 200, body = UnknownList), (status = 400, body = ErrorObject)))]
pub async fn all_unknown_names(
    Shared(state): Server,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<UnknownList> {
    params.only(&[], true)?;
    let query = params.query()?;
    let read = move |log: &LogHandle, cancel: &Cancel| {
        let unknown = unknown_names(&*log.version()?, &query, cancel)?;
        Ok(UnknownList { unknown })
    };
    state.read_long(id, read).await.map(Reply)
}
