//! Where a live timeline is recorded, there is no room for a time.
//!
//! A limit on the size of files is like a full disk, and can be lifted, on every machine.

use std::process::Command;

use timeline::{Priority, event};

use super::http::{Served, Stream, quoted};
use crate::command::*;
use crate::support::Name;

/// No file of the server gets larger than this from now on.
fn limit(served: &Served, most: &str) {
    let mut command = Command::new("prlimit");
    let (limit, pid) = (
        format!("--fsize={most}:unlimited"),
        served.pid().to_string(),
    );
    command.args([&limit, "--pid", &pid]);
    assert!(command.status().unwrap().success());
}

#[test]
fn a_live_timeline_says_that_there_is_no_room_and_goes_on_when_there_is() {
    let name = Name::new("serve-full");
    let tl = name.create(4096);
    let log_some = |from: u64, count: u64| {
        for number in from..from + count {
            event!(tl, Priority::Info, "net", "sent {number}", number);
        }
    };
    log_some(0, 3_000);
    let folder = tempfile::tempdir().unwrap();
    let served = Served::begin_in(folder.path(), "127.0.0.1:0", &[name.path()]);
    let log = format!("/api/logs/{}", quoted(name.path()));
    // Nothing can be written at all.
    limit(&served, "100");
    for request in ["", "/lines", "/follow"] {
        let answer = served.get(&format!("{log}{request}"));
        assert_eq!(answer.status, 503, "{}", answer.text());
        let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let error = told["error"].as_str().unwrap();
        assert!(
            error.contains("cannot write") && error.contains("room"),
            "{error}"
        );
    }
    limit(&served, "unlimited");
    eventually("room", || served.get(&log).status == 200);
    assert_eq!(served.json(&log)["lines"], 3_000);
    assert!(served.json(&log)["trouble"].is_null());
    let mut stream = Stream::begin(&served, &format!("{log}/follow"));
    stream.until(|name, data| name == "grown" && data["trouble"].is_null());
    // What was written is still served, and who follows it is told.
    limit(&served, "100");
    eventually("events that wait", || {
        log_some(3_000, 50);
        served.json(&log)["trouble"]["waiting"].as_u64() > Some(0)
    });
    let told = stream.until(|_, data| data["trouble"]["waiting"].as_u64() > Some(0));
    assert!(
        told["trouble"]["error"]
            .as_str()
            .unwrap()
            .contains("cannot write")
    );
    assert_eq!(
        served.json(&format!("{log}/lines?from=2999&count=1"))["lines"][0]["line"],
        2_999
    );
    // What the ring overwrites meanwhile is counted.
    log_some(3_500, 50_000);
    limit(&served, "unlimited");
    let now = stream.until(|_, data| data["trouble"].is_null() && data["missed"] != 0);
    assert!(now["missed"].as_u64() > Some(40_000), "{now}");
    log_some(60_000, 1);
    eventually("the last event", || {
        let last = served.json(&log)["lines"].as_u64().unwrap() - 1;
        let lines = served.json(&format!("{log}/lines?from={last}&count=1"));
        lines["lines"][0]["message"] == "sent number(60000)"
    });
}
