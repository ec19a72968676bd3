//! Tests that benches/store.py gives every figure, and leaves nothing behind.
//! How large the figures are is not tested.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{assert_positive, assert_spread, bench, build_programs, printed};
use crate::support::toolchain::{library_dir, succeed};

#[test]
fn recorders_and_a_store_are_measured() {
    build_programs();
    let folder = TempDir::new().unwrap();
    let temporary = folder.path().join("tmp");
    let json = folder.path().join("store.json");
    fs::create_dir(&temporary).unwrap();
    let mut command = bench("store.py", library_dir(), &temporary);
    command.args(["--quick", "--json"]).arg(&json);

    let said = succeed(&mut command, "python3");

    let found: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let recording = found["recording"].as_array().unwrap();
    let ways: Vec<_> = recording.iter().map(|row| row["way"].as_str()).collect();
    assert_eq!(ways, [Some("files"), Some("store"), Some("store, TLS")]);
    for row in recording {
        assert_spread(row, "rate");
        assert_spread(row, "cpu_ns");
        assert_positive(row, &["events"]);
    }
    assert_positive(
        &found["silent"],
        &["connections", "plain_bytes", "tls_bytes"],
    );
    assert_positive(&found["outage"], &["buffer_bytes", "most_bytes"]);
    let searching = found["searching"].as_array().unwrap();
    assert_eq!(searching.len(), 2);
    for row in searching {
        assert_spread(row, "file");
        assert_spread(row, "store");
    }
    assert_spread(&found["controlling"], "seconds");
    let working = found["working"].as_array().unwrap();
    assert_eq!(working.len(), 3);
    for row in working {
        assert_spread(row, "ratio");
    }
    let tables = printed(said);
    for row in [
        "store, TLS ",
        "a recorder without its store",
        "one event ",
        "from a request to an agent",
        "beside a worker ",
        "beside a recorder ",
    ] {
        let is_there = tables.lines().any(|line| line.starts_with(row));
        assert!(is_there, "{row}: {tables}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}
