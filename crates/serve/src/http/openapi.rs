//! Describes all requests and answers, by OpenAPI.

use axum::Json;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Description;

use super::{api, control, streams};

/// The description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "timeline serve",
        description = "Reads timelines, snapshots and archives. Times in nanoseconds are texts, \
            because browsers round numbers beyond 2^53."
    ),
    paths(
        api::server,
        api::logs,
        api::log,
        api::lines,
        api::line,
        api::at,
        api::events,
        api::track_counts,
        api::counts,
        api::all_definitions,
        api::all_threads,
        api::file,
        streams::search_log,
        streams::follow,
        control::state,
        control::set_level,
        control::switch_channel,
        control::snapshot
    ),
    components(schemas(crate::read::Hits))
)]
struct Api;

/// Answers with the description.
pub async fn describe() -> Json<Description> {
    Json(Api::openapi())
}
