//! Says which names of filters are in nothing that was read, and which ones are like them.

use timeline::internal::Unknown;
use timeline_reading::{Log, unknown_names};
use timeline_search::Query;

use crate::output;

/// Says of each name in the filters that is in nothing of this which names are like it. Names that
/// filters have met meanwhile are not looked for.
pub fn tell(query: &Query, logs: &[&Log]) {
    unknown_names(query, logs)
        .iter()
        .for_each(|one| say(one, ""));
}

/// The same where timelines are followed: what is not there yet may come.
pub fn tell_so_far(query: &Query, logs: &[&Log]) {
    for one in unknown_names(query, logs) {
        say(&one, if one.may_come() { "; it may come" } else { "" });
    }
}

/// The filter that asks for what somebody took for a field.
fn filter_for(field: &str) -> Option<&'static str> {
    Some(match field {
        "category" => "--category",
        "event" | "name" => "--event",
        "priority" | "level" => "--priority",
        "thread" | "tid" => "--thread",
        "pid" | "process" => "--pid",
        "core" | "cpu" => "--core",
        "time" => "--since and --until",
        "message" | "text" => "--grep",
        _ => return None,
    })
}

fn say(unknown: &Unknown, more: &str) {
    let filter = (unknown.what() == "field").then(|| filter_for(unknown.name()));
    match filter.flatten() {
        Some(filter) => output::say(format_args!("{unknown} ({filter} is about that)")),
        None => output::say(format_args!("{unknown}{more}")),
    }
}
