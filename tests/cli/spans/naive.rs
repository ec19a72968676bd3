//! Finds durations in the plainest way: for each end, a look at all events before it.

use serde_json::Value;

/// A duration, with the places of both events.
#[derive(Debug, Clone, PartialEq)]
pub struct Duration {
    pub name: String,
    pub begin: usize,
    pub end: usize,
    pub nanos: u64,
}

pub fn time(event: &Value) -> u64 {
    crate::json::nanos(&event["unix_ns"]).expect("events have times")
}

/// The first word of a message up to its first value, and the category with its other words.
fn part(event: &Value) -> Option<(String, String)> {
    let template = event["template"].as_str()?;
    let words = template.split(['$', '{']).next()?.split_whitespace();
    let words: Vec<&str> = words.collect();
    let (first, others) = words.split_first()?;
    let name = format!("{}.{}", event["category"].as_str()?, others.join("_"));
    (!others.is_empty()).then(|| (first.to_string(), name))
}

/// All durations of spans, by their ends. The events are the oldest first.
pub fn durations(events: &[Value]) -> Vec<Duration> {
    let mut used = vec![false; events.len()];
    let mut found = Vec::new();
    for (end, event) in events.iter().enumerate() {
        let Some((word, name)) = part(event) else {
            continue;
        };
        let begins = match &*word {
            "end" => "begin",
            "finish" => "start",
            _ => continue,
        };
        let is_begin = |place: &usize| {
            let other = &events[*place];
            let is_it = part(other) == Some((begins.into(), name.clone()));
            let is_same = match begins {
                "begin" => other["tid"] == event["tid"],
                _ => other["args"]["id"] == event["args"]["id"],
            };
            !used[*place] && is_it && is_same
        };
        let Some(begin) = (0..end).rev().find(is_begin) else {
            continue;
        };
        // What is still open inside of it will not end any more.
        for place in begin..end {
            let is_inside = events[place]["tid"] == event["tid"] && begins == "begin";
            let is_begin = part(&events[place]).is_some_and(|(word, _)| word == "begin");
            used[place] |= place == begin || (is_inside && is_begin);
        }
        let nanos = time(event) - time(&events[begin]);
        found.push(Duration {
            name,
            begin,
            end,
            nanos,
        });
    }
    found
}
