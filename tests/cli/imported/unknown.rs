//! What an import does not know of its lines is unknown to all that show it, and no 0.

use serde_json::Value as Json;

use super::Logs;
use crate::command::succeed;

/// Spans of three seconds that begin every four seconds, in lines of JSON.
fn spans() -> String {
    let line = |n: usize| {
        let (edge, second) = [("begin", 2 * n), ("end", 2 * n + 1)][n % 2];
        let job = n / 2;
        format!(
            "{{\"time\":\"2026-11-23T14:00:{second:02}Z\",\"level\":\"info\",\"id\":\"net\",\
             \"message\":\"{edge} job {job}\",\"format\":\"{edge} job {{n}}\",\
             \"properties\":{{\"n\":{job}}}}}\n"
        )
    };
    (0..8).map(line).collect()
}

#[test]
fn the_thread_of_a_line_has_no_number() {
    let logs = Logs::new();
    let archive = logs.import(spans());
    let watch = ["watch", &archive, "--when", "span *.job > 1ms"];
    let fired = succeed(&[&watch[..], &["--json"]].concat()).json();
    assert_eq!(fired.len(), 4);
    for one in fired {
        assert_eq!((&one["tid"], &one["pid"]), (&Json::Null, &Json::Null));
        assert_eq!(one["thread"], "a.log");
    }
    let shown = succeed(&watch).stdout;
    assert_eq!(shown.matches("  a.log (?)\n").count(), 4, "{shown}");
    for span in succeed(&["outliers", &archive, "--json"]).json() {
        assert_eq!(span["tid"], Json::Null);
        let events = span["events"].as_array().unwrap();
        assert!(!events.is_empty());
        for event in events {
            assert_eq!((&event["tid"], &event["pid"]), (&Json::Null, &Json::Null));
        }
    }
}
