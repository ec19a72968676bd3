//! Durations as the command shows them, against a naive search in the events of `dump --json`.

mod display;
mod histogram;
mod holes;
mod live;
mod logs;
mod naive;
mod outliers;
mod units;

use std::path::Path;
use std::thread;

use timeline::{Priority, Timeline, event};

use crate::command::*;
use crate::support::Name;
use naive::{Duration, durations};

/// Logs well-nested spans of some threads, spans by key that cross threads, and parts whose other
/// half is missing.
fn log_spans(tl: &Timeline, threads: u64, rounds: u64) {
    thread::scope(|scope| {
        for number in 0..threads {
            scope.spawn(move || log_rounds(tl, number, rounds));
        }
    });
}

fn log_rounds(tl: &Timeline, thread: u64, rounds: u64) {
    for round in 0..rounds {
        let id = thread * rounds + round;
        event!(tl, Priority::Info, "engine", "begin breath {round}", round);
        event!(tl, Priority::Info, "http", "start request {id}", id);
        for app in 0..round % 3 {
            let name = ["nic", "firewall"][app as usize];
            event!(tl, Priority::Trace, "engine", "begin app {name}", name);
            if app == 1 {
                event!(tl, Priority::Trace, "engine", "begin app {name}", name);
                event!(tl, Priority::Trace, "engine", "end app {name}", name);
            }
            event!(tl, Priority::Trace, "engine", "end app {name}", name);
        }
        event!(
            tl,
            Priority::Trace,
            "net",
            "packet {id} of {size}",
            id,
            size = round * 100
        );
        if round % 7 == 3 {
            event!(tl, Priority::Info, "engine", "end nothing");
            event!(tl, Priority::Info, "engine", "begin something");
        }
        // The one before, which may be that of another thread.
        let other = (id + 3 * rounds - 1) % (3 * rounds);
        let status = 200 + 300 * u64::from(round % 5 == 0);
        event!(
            tl,
            Priority::Info,
            "http",
            "finish request {id} with {status}",
            id = other,
            status
        );
        event!(tl, Priority::Info, "engine", "end breath {round}", round);
    }
}

/// The same events as a ring, a snapshot and archives of both forms.
fn sources(name: &Name, directory: &Path) -> Vec<String> {
    let file = snapshot(name, directory);
    let mut sources = vec![name.path().to_owned(), file.clone()];
    for form in ["blocks", "plain"] {
        let path = directory.join(format!("{form}.tla")).display().to_string();
        let mut words = vec!["record", "--once", &file, "-o", &path, "--fsync", "never"];
        if form == "plain" {
            words.push("--plain");
        }
        succeed(&words);
        sources.push(path);
    }
    sources
}

/// All events of a source, oldest first, and the durations that a naive search finds.
fn searched(source: &str) -> (Vec<serde_json::Value>, Vec<Duration>) {
    let events = succeed(&["dump", source, "--json", "--reverse"]).json();
    let found = durations(&events);
    (events, found)
}
