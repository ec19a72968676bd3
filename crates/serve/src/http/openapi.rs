//! Describes all requests and answers, by OpenAPI.

use axum::Json;
use utoipa::openapi::{
    ContentBuilder, OpenApi as Description, Ref, RefOr, ResponseBuilder, path::Operation,
};
use utoipa::{Modify, OpenApi};

use super::{api, changes, control, copies, files, latency, recordings, streams, watches};

/// The description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "timeline serve",
        description = "Reads timelines, snapshots and archives. Objects come in JSON, or in CBOR \
            if that is what is accepted. In JSON, times in nanoseconds are texts, because browsers \
            round numbers beyond 2^53; in CBOR they are numbers."
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
        api::all_unknown_names,
        files::file,
        files::files,
        files::one_file,
        files::remove,
        changes::changes,
        copies::archive,
        latency::durations,
        latency::duration_list,
        latency::spans,
        streams::search_log,
        streams::follow,
        control::state,
        control::add_rules,
        control::sample,
        watches::watch,
        control::switch_channel,
        control::snapshot,
        recordings::list,
        recordings::begin,
        recordings::end
    ),
    components(schemas(crate::read::Hits)),
    modifiers(&Failures)
)]
struct Api;

/// Says of each request how it is answered if it fails.
struct Failures;

impl Modify for Failures {
    fn modify(&self, description: &mut Description) {
        let failed = ResponseBuilder::new()
            .description("What was expected, what came, and what to do")
            .content(
                "application/json",
                ContentBuilder::new()
                    .schema(Some(Ref::from_schema_name("ErrorObject")))
                    .build(),
            )
            .build();
        let add = |operation: &mut Option<Operation>| {
            if let Some(operation) = operation {
                let responses = &mut operation.responses.responses;
                responses.insert("default".into(), RefOr::T(failed.clone()));
            }
        };
        for item in description.paths.paths.values_mut() {
            for operation in [&mut item.get, &mut item.post, &mut item.delete] {
                add(operation);
                operation.iter_mut().for_each(describe_cbor);
            }
        }
    }
}

/// Says that each object comes in CBOR as well.
fn describe_cbor(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && let Some(object) = response.content.get("application/json").cloned()
        {
            response.content.insert("application/cbor".into(), object);
        }
    }
}

/// Answers with the description.
pub async fn describe() -> Json<Description> {
    Json(Api::openapi())
}
