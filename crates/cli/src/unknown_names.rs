//! Says which names of filters are in nothing that was read, and which ones are like them.

use timeline_reading::{Log, unknown_names};
use timeline_search::Query;

use crate::fetch;
use crate::output;

/// Says of each name in the filters that is in nothing of this which names are like it. Names that
/// filters have met meanwhile are not looked for.
pub fn tell(query: &Query, logs: &[&Log]) {
    if let Some(trace) = logs.iter().find(|log| fetch::is_trace(log.path())) {
        let is_met = query.has_met_definitions() && query.has_met_threads();
        // Of several, nobody has all names.
        if logs.len() == 1 && !is_met {
            let unknown = fetch::unknown_names(trace.path(), query);
            unknown
                .iter()
                .for_each(|one| say((&one.what, &one.name), &one.sentence, ""));
        }
        return;
    }
    for one in unknown_names(query, logs) {
        say((one.what(), one.name()), &one.to_string(), "");
    }
}

/// The same where timelines are followed: what is not there yet may come.
pub fn tell_so_far(query: &Query, logs: &[&Log]) {
    for one in unknown_names(query, logs) {
        let more = if one.may_come() { "; it may come" } else { "" };
        say((one.what(), one.name()), &one.to_string(), more);
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

fn say((what, name): (&str, &str), sentence: &str, more: &str) {
    let filter = (what == "field").then(|| filter_for(name));
    match filter.flatten() {
        Some(filter) => output::say(format_args!("{sentence} ({filter} is about that)")),
        None => output::say(format_args!("{sentence}{more}")),
    }
}
