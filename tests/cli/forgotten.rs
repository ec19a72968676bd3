//! Tests what the command says of events whose threads the timeline has forgotten.

use timeline::Timeline;

use crate::command::{Events, Ran, succeed};
use crate::support::Name;

/// Threads that a ring of so many entries remembers.
pub const RECORDS: i64 = 64;

/// Each thread logs one event.
pub fn short_threads(tl: &Timeline, events: &Events, count: i64) {
    for number in 0..count {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| tl.log(events.sum, [number, 0, 0]));
            thread.join().expect("ended");
        });
    }
}

/// What `info` says on its line about threads.
fn threads(ran: &Ran) -> &str {
    let line = ran
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("threads"));
    line.expect("a line about threads").trim()
}

#[test]
fn info_counts_events_of_forgotten_threads_and_a_filter_by_pid_says_what_it_leaves_out() {
    let name = Name::new("forgotten");
    let tl = name.create(1024);
    let events = Events::define(&tl);
    short_threads(&tl, &events, RECORDS);
    let said = "64; the names of 64 are kept";
    assert_eq!(threads(&succeed(&["info", name.path()])), said);
    let pid = std::process::id().to_string();
    let ran = succeed(&["dump", name.path(), "--json", "--pid", &pid]);
    assert_eq!(
        (ran.stdout.lines().count(), ran.stderr.as_str()),
        (RECORDS as usize, "")
    );

    short_threads(&tl, &events, 36);
    let said = "100; the names of 64 are kept; 36 events are of threads that are forgotten";
    let ran = succeed(&["info", name.path()]);
    assert_eq!(threads(&ran), said);
    assert!(
        ran.stdout.contains("nothing"),
        "nothing was dropped: {}",
        ran.stdout
    );
    let json = succeed(&["info", name.path(), "--json"]).json();
    assert_eq!(json[0]["events_of_forgotten_threads"], 36);
    assert_eq!(
        (&json[0]["threads"], &json[0]["threads_remembered"]),
        (&100.into(), &64.into())
    );

    // A recorder waits for it.
    drop(tl);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (snapshot, archive, blocks) = (path("s.timeline"), path("plain.tla"), path("blocks.tla"));
    succeed(&["save", name.path(), &snapshot]);
    succeed(&["record", "--once", name.path(), "--plain", "-o", &archive]);
    succeed(&["record", "--once", name.path(), "-o", &blocks]);
    let left_out = "36 events of an unknown process are left out by --pid";
    for from in [name.path(), &snapshot, &archive, &blocks] {
        for pid in [&pid, "1"] {
            let shown = if pid == "1" { 0 } else { RECORDS as usize };
            let ran = succeed(&["dump", from, "--json", "--pid", pid]);
            assert_eq!(ran.stdout.lines().count(), shown, "{from}: {}", ran.stdout);
            assert!(ran.stderr.contains(left_out), "{from}: {}", ran.stderr);
        }
        // Of those only that meet the other conditions.
        let ran = succeed(&["dump", from, "--pid", "1", "--where", "tcp < 5"]);
        assert!(
            ran.stderr.contains("5 events of an unknown process"),
            "{from}: {}",
            ran.stderr
        );
        let ran = succeed(&["dump", from, "--pid", "1", "--grep", "tcp(7)"]);
        assert!(
            ran.stderr.contains("1 event of an unknown process is"),
            "{from}: {}",
            ran.stderr
        );
        let ran = succeed(&["dump", from, "--json"]);
        assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (100, ""));
    }
    let some = path("some.tla");
    let ran = succeed(&["record", "--once", name.path(), "--pid", &pid, "-o", &some]);
    assert!(ran.stderr.contains(left_out), "{}", ran.stderr);
}
