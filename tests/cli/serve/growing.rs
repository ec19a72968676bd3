//! The counts of a log that grows are those of a log that is counted at once.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::thread;

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use serde_json::Value;
use timeline::{Priority, event};

use super::begun;
use super::http::{Served, Stream, quoted};
use crate::command::*;
use crate::growing::lacking_growth;
use crate::support::{Name, Random};

/// The counts of a log by rows of tracks, and by categories.
fn counts(served: &Served, log: &str, filter: &str) -> (BTreeMap<String, u64>, Value) {
    let tracks = served.json(&format!("{log}/tracks?buckets=50&{filter}"));
    assert_eq!(tracks["exact"], true);
    let rows = tracks["rows"].as_array().unwrap().iter();
    let count = |row: &Value| (row["tid"].to_string(), row["count"].as_u64().unwrap());
    let rows = rows.map(count).collect();
    (rows, served.json(&format!("{log}/overview")))
}

#[test]
fn counts_that_go_on_are_those_of_all_events() {
    let name = Name::new("serve-counts");
    let tl = name.create(1 << 15);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla").display().to_string();
    event!(important: true, tl, Priority::Error, "net", "begins");
    let recorder = Running::start(&["record", name.path(), "-o", &path]);
    begun(&path);
    let served = Served::begin(&[&folder.path().display().to_string()]);
    let (log, copy) = ("/api/logs/flight.tla", "/api/logs/copy.tla");
    let mut stream = Stream::begin(&served, &format!("{log}/follow"));
    let mut random = Random(crate::queries::seed());
    let mut total = 1;
    for round in 0..6_u64 {
        thread::scope(|scope| {
            for seed in 0..3 {
                let (tl, seed) = (&tl, random.next() ^ seed);
                scope.spawn(move || {
                    let mut random = Random(seed);
                    for number in 0..700_u64 {
                        match random.below(3) {
                            0 => event!(tl, Priority::Info, "net", "got {number}", number),
                            1 => event!(tl, Priority::Trace, "db", "query {number}", number),
                            _ => event!(tl, Priority::Error, "new", "{round} fails", round),
                        };
                    }
                });
            }
        });
        event!(important: true, tl, Priority::Error, "net", "round {round}", round);
        total += 3 * 700 + 1;
        stream.until(|name, data| name == "grown" && data["lines"] == total);
        for filter in [
            "",
            "category=db",
            "where=number%20%3C%20100",
            "grep=got%201",
        ] {
            let (rows, overview) = counts(&served, log, filter);
            // The same log under another name is counted from its beginning.
            std::fs::copy(&path, folder.path().join("copy.tla")).unwrap();
            eventually("the copy", || {
                let state = served.get(copy);
                state.status == 200 && state.text().contains(&format!("\"events\":{total}"))
            });
            let (expected, of_copy) = counts(&served, copy, filter);
            assert_eq!(rows, expected, "round {round} {filter}");
            assert_eq!(overview["events"], total);
            for key in ["categories", "priorities", "names", "threads"] {
                assert_eq!(overview[key], of_copy[key], "round {round} {key}");
            }
            std::fs::remove_file(folder.path().join("copy.tla")).unwrap();
        }
    }
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
}

/// What a log lacks, by the names of the server and of `info`.
const LACKS: [(&str, &str); 5] = [
    ("missed", "missed"),
    ("missed_unknown", "missed_unknown"),
    ("gone", "gone"),
    ("damaged", "damaged_bytes"),
    ("missing_files", "missing_files"),
];

#[test]
fn a_log_that_grows_says_what_it_lacks_as_info_does() {
    let (name, folder) = (Name::new("serve-lacks"), tempfile::tempdir().unwrap());
    let path = |file: &str| folder.path().join(file).display().to_string();
    let (bytes, grown_from) = lacking_growth(&name, &path("whole.tla"));
    let growing = path("growing.tla");
    fs::write(&growing, &bytes[..grown_from]).unwrap();
    // As a recorder does.
    let file = fs::OpenOptions::new().append(true).open(&growing).unwrap();
    let mut file = Flock::lock(file, FlockArg::LockExclusiveNonblock).unwrap();
    let served = Served::begin(&[&growing]);
    let log = format!("/api/logs/{}", quoted(&growing));
    let before = served.json(&log);
    for (what, _) in LACKS {
        assert_eq!(before[what], 0, "{what}");
    }
    let mut stream = Stream::begin(&served, &format!("{log}/follow"));
    stream.until(|name, data| name == "grown" && data["lines"] == before["lines"]);
    // A part of a frame that is being written is no damage.
    file.write_all(&bytes[grown_from..bytes.len() - 3]).unwrap();
    let grown = stream.until(|_, data| data["gone"].as_u64() > Some(0));
    assert_eq!(served.json(&log)["damaged"], grown["damaged"]);
    file.write_all(&bytes[bytes.len() - 3..]).unwrap();
    drop(file);
    let end = stream.until(|_, data| data["growing"] == false);
    let (state, info) = (
        served.json(&log),
        lacking(&["info", "--json", &growing]).json(),
    );
    let info = &info[0];
    for (what, of_info) in LACKS {
        assert_eq!(state[what], info[of_info], "{what}: {info}");
        assert_eq!(end[what], info[of_info], "{what}: {end}");
    }
    assert_eq!(end["missed_unknown"], 1);
    assert_eq!(end["damaged"], grown["damaged"]);
}
