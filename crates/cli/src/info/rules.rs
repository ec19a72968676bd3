//! Rules that are about nothing that is defined so far, and what may be meant.
//!
//! A program may set a rule for events that it defines later, so such a rule is taken in silence.
//! Here people see that it has matched nothing yet.

use serde_json::{Value, json};
use timeline::internal::Unknown;

/// A rule for people: its word, and the nearest names that there are.
pub fn line((word, unknown): &(String, Unknown)) -> String {
    let near = match unknown.near() {
        [] => String::new(),
        near => format!("; nearest: {}", near.join(", ")),
    };
    format!("{word}  no such {} yet{near}", unknown.what())
}

/// The rules for programs.
pub fn objects(rules: &[(String, Unknown)]) -> Value {
    let object = |(word, unknown): &(String, Unknown)| {
        json!({
            "rule": word,
            "what": unknown.what(),
            "name": unknown.name(),
            "nearest": unknown.near(),
        })
    };
    rules.iter().map(object).collect()
}
