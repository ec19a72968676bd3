//! Answers requests about durations: summed up, listed, and as spans of tracks.

use std::sync::Arc;

use axum::extract::State as Shared;

use super::extractors::InPath;
use super::failure::{ErrorObject, RequestFailure};
use super::params::{FilterParams, LogPath, Params};
use super::reply::Reply;
use super::state::ServerState;
use crate::error::{Error, Result};
use crate::logs::LogHandle;
use crate::read::{
    DurationFilter, DurationList, DurationQuery, Durations, ListQuery, SpanQuery, Spans,
    durations as sum, list, long_spans, spans as find,
};

/// Durations and spans of one answer, if nobody asked for more or fewer, and the most.
const LISTED: usize = 100;
const MOST_LISTED: usize = 10_000;
const BARS: usize = 5_000;
const MOST_BARS: usize = 20_000;

type Answer<T> = std::result::Result<Reply<T>, RequestFailure>;

fn asked(params: &Params) -> Result<DurationFilter> {
    Ok(DurationFilter {
        measures: params.measures()?,
        range: params.range()?,
        query: params.query()?,
    })
}

/// How long spans take, and durations between other events: percentiles of each name, over time,
/// as heat maps and as spectra. A duration belongs to the time at which it ends, and filters are
/// about the event that ends it. Its begin is looked for up to 10 seconds before the range.
#[utoipa::path(get, path = "/api/logs/{log}/durations",
    params(LogPath,
        ("what" = Option<Vec<String>>, Query,
            description = "What is measured: a span (`engine.breath`, patterns are allowed), \
                `a..b` (from one event to another of the same thread), `a..b by field` (with the \
                same value), or `every a`; all spans if nothing is said"),
        ("from" = Option<u64>, Query, description = "In nanoseconds since 1970"),
        ("to" = Option<u64>, Query, description = "Likewise, behind the range"),
        ("columns" = Option<u64>, Query, description = "Parts of the range, at most 512"),
        FilterParams),
    responses((status = 200, body = Durations), (status = 400, body = ErrorObject)))]
pub async fn durations(
    Shared(state): Shared<Arc<ServerState>>,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<Durations> {
    params.only(&["what", "from", "to", "columns"], true)?;
    let query = DurationQuery {
        asked: asked(&params)?,
        columns: params.number("columns")?.unwrap_or(200),
    };
    let read = move |log: &LogHandle, cancel: &_| sum(&*log.version()?, &query, cancel);
    state.measure(id, read).await.map(Reply)
}

/// The durations of a range of time and of lengths, the longest first.
#[utoipa::path(get, path = "/api/logs/{log}/durations/list",
    params(LogPath,
        ("what" = Option<Vec<String>>, Query, description = "As for durations"),
        ("series" = Option<String>, Query, description = "The `id` of a series"),
        ("from" = Option<u64>, Query, description = "In nanoseconds since 1970"),
        ("to" = Option<u64>, Query, description = "Likewise, behind the range"),
        ("min" = Option<u64>, Query, description = "The shortest, in nanoseconds"),
        ("max" = Option<u64>, Query, description = "The longest, in nanoseconds"),
        ("limit" = Option<usize>, Query, description = "How many, at most 10,000"), FilterParams),
    responses((status = 200, body = DurationList), (status = 400, body = ErrorObject)))]
pub async fn duration_list(
    Shared(state): Shared<Arc<ServerState>>,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<DurationList> {
    let known = ["what", "series", "from", "to", "min", "max", "limit"];
    params.only(&known, true)?;
    let limit: usize = params.number("limit")?.unwrap_or(LISTED);
    let query = ListQuery {
        asked: asked(&params)?,
        series: params.one("series")?.map(String::from),
        min: params.number("min")?.unwrap_or(0),
        max: params.number("max")?.unwrap_or(u64::MAX),
        limit: limit.clamp(1, MOST_LISTED),
    };
    let read = move |log: &LogHandle, cancel: &_| list(&*log.version()?, &query, cancel);
    state.measure(id, read).await.map(Reply)
}

/// The spans that are open in a range of time, by thread or core: those of up to 10 seconds, or
/// with `long` the others. Those are of more than 10 seconds, or have not ended. The first request
/// for them reads all of the log, and they are kept. A span with a key that has not ended is left
/// out: it may end in any thread.
#[utoipa::path(get, path = "/api/logs/{log}/spans",
    params(LogPath,
        ("by" = Option<String>, Query, description = "thread or core"),
        ("from" = u64, Query, description = "In nanoseconds since 1970"),
        ("to" = u64, Query, description = "Likewise, behind the range"),
        ("min" = Option<u64>, Query,
            description = "Shorter spans are counted, and not listed; in nanoseconds"),
        ("limit" = Option<usize>, Query,
            description = "How many, at most 20,000; the longest are listed"),
        ("long" = Option<bool>, Query, description = "Whether those that last long are wanted"),
        FilterParams),
    responses((status = 200, body = Spans), (status = 400, body = ErrorObject)))]
pub async fn spans(
    Shared(state): Shared<Arc<ServerState>>,
    InPath(id): InPath<String>,
    params: Params,
) -> Answer<Spans> {
    params.only(&["by", "from", "to", "min", "limit", "long"], true)?;
    let limit: usize = params.number("limit")?.unwrap_or(BARS);
    let missing = || Error::request("expected the parameters from and to");
    let query = SpanQuery {
        by_core: params.by_core()?,
        range: params.range()?.ok_or_else(missing)?,
        min: params.number("min")?.unwrap_or(0),
        limit: limit.clamp(1, MOST_BARS),
        query: params.query()?,
    };
    if params.flag("long")? {
        let key = params.key(&query.query);
        let read =
            move |log: &LogHandle, cancel: &_| long_spans(&*log.version()?, &query, &key, cancel);
        return state.read_long(id, read).await.map(Reply);
    }
    let read = move |log: &LogHandle, cancel: &_| find(&*log.version()?, &query, cancel);
    state.measure(id, read).await.map(Reply)
}
