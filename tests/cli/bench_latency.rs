//! Tests that benches/latency.py gives every figure, and leaves nothing behind.
//! How large the figures are is not tested.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{assert_positive, assert_spread, bench, build_programs, printed};
use crate::support::toolchain::{library_dir, succeed};

#[test]
fn watching_and_finding_durations_are_measured() {
    build_programs();
    let folder = TempDir::new().unwrap();
    let temporary = folder.path().join("tmp");
    let json = folder.path().join("latency.json");
    fs::create_dir(&temporary).unwrap();
    let mut command = bench("latency.py", library_dir(), &temporary);
    command.args(["--quick", "--json"]).arg(&json);

    let said = succeed(&mut command, "python3");

    let found: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let watched = found["watch"].as_array().unwrap();
    let rates: Vec<_> = watched.iter().map(|row| row["rate"].as_u64()).collect();
    assert_eq!(rates, [Some(1_000_000), Some(100_000), Some(1_000)]);
    for row in watched {
        assert_spread(row, "core_percent");
        assert_spread(row, "delay_ms");
        assert_positive(row, &["logged", "longest_ms", "lines"]);
    }
    let durations = &found["durations"];
    for figure in ["finding_ns", "reading_ns", "second_ms"] {
        assert_spread(durations, figure);
    }
    // Each other event ends a span, but for those that are still open.
    let number = |key: &str| durations[key].as_u64().unwrap();
    assert!(
        number("found").abs_diff(number("events") / 2) <= 4,
        "{durations}"
    );
    let tables = printed(said);
    for row in ["1,000,000 ", "percentiles of one second of the hour"] {
        let is_there = tables.lines().any(|line| line.starts_with(row));
        assert!(is_there, "{row}: {tables}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}
