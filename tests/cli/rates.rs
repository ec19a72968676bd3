//! Rates and reach where an important event was kept from before the others.

use std::time::{Duration, Instant};

use serde_json::Value;
use timeline::{Priority, event};

use crate::command::*;
use crate::support::Name;

/// Whether it is that, but for the rounding of a fraction.
fn is_about(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

/// Waits until its events can be told by their times from those before.
fn pass_time() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2) {
        std::hint::spin_loop();
    }
}

#[test]
fn an_important_event_from_before_changes_no_rate_and_no_reach() {
    let name = Name::new("rates");
    let tl = name.create(1024);
    event!(important: true, tl, Priority::Error, "net", "link is up");
    pass_time();
    for number in 0..100 {
        event!(tl, Priority::Info, "net", "packet {number}", number);
        if number == 50 {
            event!(important: true, tl, Priority::Error, "net", "link is up");
            pass_time();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(&name, folder.path());
    let archive = folder.path().join("flight.tla").display().to_string();
    succeed(&["record", &snapshot, "-o", &archive]);
    let events = succeed(&["dump", &snapshot, "--json"]).json();
    let packets = events.iter().filter(|event| {
        event["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("packet"))
    });
    let times: Vec<u64> = packets
        .map(|event| crate::json::nanos(&event["unix_ns"]).unwrap())
        .collect();
    assert_eq!(times.len(), 100);
    let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    let seconds = (last - first) as f64 / 1e9;
    for file in [&snapshot, &archive] {
        for filter in [&[][..], &["--event", "net.*"]] {
            let words = [&["stats", "--json", file], filter].concat();
            let found = succeed(&words).json();
            let of = |name: &str| {
                let line = found.iter().find(|line| line["event"] == name);
                line.expect("counted")
            };
            is_about(&of("net.packet")["per_second"], 100.0 / seconds);
            let link = of("net.link_is_up");
            assert_eq!(link["events"], 2);
            // The one of that time.
            is_about(&link["per_second"], 1.0 / seconds);
        }
        // Alone, they have a time of their own.
        let words = ["stats", "--json", file, "--event", "net.link_is_up"];
        let alone = succeed(&words).json();
        assert!(alone[0]["per_second"].as_f64().unwrap() < 2.0 / 0.002);
        assert!(alone[0]["per_second"].as_f64().unwrap() > 0.0);
    }
    let info = &succeed(&["info", &archive, "--json"]).json()[0];
    is_about(&info["span_seconds"], seconds);
    is_about(&info["events_per_second"], 100.0 / seconds);
    assert_eq!(info["events"], 102);
    let first_of_all = crate::json::nanos(&info["first_unix_ns"]).unwrap();
    assert!(first_of_all < *first, "{first_of_all}");
}
