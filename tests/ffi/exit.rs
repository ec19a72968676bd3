//! Tests timelines that are closed while threads still log: when a program ends, and before.

use std::path::Path;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::support::size;
use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{C99, CPP17, cc, cxx, limited, succeed};

fn info(ring: &Path) -> Json {
    let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
    let output = succeed(command.args(["info", "--json"]).arg(ring), "nothing");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The events that were dropped, by cause.
fn dropped(ring: &Path) -> Json {
    info(ring)["dropped"].clone()
}

#[test]
fn threads_log_while_their_program_ends() {
    for link in [Link::Shared, Link::Static] {
        let dir = TempDir::new().unwrap();
        let sources = ["tests/cpp/exit.cpp"];
        let program = compile(cxx(), CPP17, &sources, link, dir.path());
        for how in ["return", "exit", "thread", "quick_exit", "last", "twice"] {
            let mut counts = Vec::new();
            for _ in 0..3 * size() {
                let dir = TempDir::new().unwrap();
                assert_eq!(execute(&program, dir.path(), &[how]), "exit: ok\n", "{how}");
                counts.push(dropped(&dir.path().join("ring"))["closed"].as_u64());
            }
            // Where its destructors ran while threads logged, their events are counted. If a thread
            // was in a call then, it is the last owner and closes the ring: then the program may
            // end before anybody is late.
            if ["return", "exit", "thread", "twice"].contains(&how) {
                assert!(
                    counts.iter().any(|count| *count > Some(0)),
                    "{how}: {counts:?}"
                );
            }
        }
    }
}

#[test]
fn what_was_freed_is_closed_and_counts_who_comes_late() {
    let dir = TempDir::new().unwrap();
    let program = compile(cc(), C99, &["tests/c/freed.c"], Link::Shared, dir.path());
    assert_eq!(execute(&program, dir.path(), &[]), "freed: ok\n");
    let dropped = dropped(&dir.path().join("ring"));
    assert_eq!(
        (&dropped["closed"], &dropped["total"]),
        (&5.into(), &5.into())
    );
}

/// Each event is in the ring or counted, but for one of each thread that was just being written.
#[test]
fn no_event_is_lost_while_a_timeline_is_closed() {
    let dir = TempDir::new().unwrap();
    let program = compile(cc(), C99, &["tests/c/closed.c"], Link::Shared, dir.path());
    for _ in 0..20 * size() {
        let dir = TempDir::new().unwrap();
        let said = execute(&program, dir.path(), &[]);
        let logged = said.strip_prefix("closed: ").unwrap().trim();
        let logged: u64 = logged.parse().unwrap();
        let info = info(&dir.path().join("ring"));
        let [written, dropped] = [&info["entries_written"], &info["dropped"]["total"]];
        let known = written.as_u64().unwrap() + dropped.as_u64().unwrap();
        assert!((logged - 4..=logged).contains(&known), "{logged} {known}");
    }
}

#[test]
fn a_program_that_locks_all_its_memory_pays_for_a_ring_once() {
    let dir = TempDir::new().unwrap();
    let program = compile(cc(), C99, &["tests/c/locked.c"], Link::Shared, dir.path());
    // Without a limit; with room for one ring, and not for two; and not even for one.
    for limit in ["0", "4096", "1024"] {
        let dir = TempDir::new().unwrap();
        let said = execute(&program, dir.path(), &[limit]);
        assert_eq!(said, "locked: ok\n", "{limit}");
        assert_eq!(dropped(&dir.path().join("ring"))["total"], 1, "{limit}");
    }
}
