//! What `search --stats` says: what was read of one PATH, and how long it took.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use timeline::{Bytes, Nanoseconds};
use timeline_reading::json::write_line;
use timeline_search::Counts;

use crate::format::{Count, things};
use crate::output;

/// What became of the index of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexUse {
    /// There is none, or it was not asked.
    None,
    /// It was made or completed, and then asked.
    Made,
    /// It was asked as it was.
    Used,
}

/// What was read to search one PATH.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    pub path: String,
    /// How many lines were found, and in how many events.
    pub lines: u64,
    pub events: u64,
    pub index: IndexUse,
    /// How many pages the index has, and how many of these may have what was searched for.
    pub pages: u64,
    pub candidates: u64,
    /// How many candidates were read, and how many of these in vain.
    pub read: u64,
    pub vain: u64,
    pub looked_at: u64,
    pub made: u64,
    pub bytes: u64,
    pub bytes_of_all: u64,
    /// How long it took to open it, to ask its index, and to search, in nanoseconds.
    pub open_ns: u64,
    pub index_ns: u64,
    pub search_ns: u64,
}

impl Stats {
    /// Of a PATH that was opened in this time, and of which nothing was read yet.
    pub fn of(path: &Path, opened: Duration) -> Stats {
        Stats {
            path: path.display().to_string(),
            lines: 0,
            events: 0,
            index: IndexUse::None,
            pages: 0,
            candidates: 0,
            read: 0,
            vain: 0,
            looked_at: 0,
            made: 0,
            bytes: 0,
            bytes_of_all: 0,
            open_ns: nanos(opened),
            index_ns: 0,
            search_ns: 0,
        }
    }

    /// Takes what was counted.
    pub fn take(&mut self, counts: Counts) {
        (self.read, self.vain) = (counts.pages, counts.vain);
        (self.looked_at, self.made) = (counts.events, counts.made);
        self.bytes = counts.bytes;
    }

    /// Says it on standard error, in lines or as an object. It is no failure if that is closed.
    pub fn say(&self, as_json: bool) {
        if as_json {
            let mut line = Vec::new();
            let written = write_line(self, &mut line);
            let _ = written.and_then(|()| std::io::stderr().lock().write_all(&line));
            return;
        }
        let (lines, events) = (things(self.lines, "line"), things(self.events, "event"));
        output::say(format_args!("{}: found {lines} in {events}", self.path));
        let how = match self.index {
            IndexUse::None => None,
            IndexUse::Made => Some("made and used"),
            IndexUse::Used => Some("used"),
        };
        if let Some(how) = how {
            let (pages, candidates) = (things(self.pages, "page"), Count(self.candidates));
            let (read, vain) = (Count(self.read), Count(self.vain));
            output::say(format_args!(
                "index {how}: {pages}, {candidates} of them candidates; {read} read, {vain} in vain"
            ));
        }
        let (made, looked_at) = (Count(self.made), things(self.looked_at, "event"));
        if self.bytes_of_all > 0 {
            let (bytes, all) = (Bytes(self.bytes), Bytes(self.bytes_of_all));
            output::say(format_args!(
                "read {bytes} of {all}; made {made} of {looked_at}"
            ));
        } else {
            output::say(format_args!("made {made} of {looked_at}"));
        }
        let [open, index, search] = [self.open_ns, self.index_ns, self.search_ns].map(shown);
        output::say(format_args!(
            "opened in {open}, index asked in {index}, searched in {search}"
        ));
    }
}

/// Nanoseconds of a duration.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn shown(nanos: u64) -> Nanoseconds {
    // Three digits of microseconds say nothing.
    let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
    Nanoseconds(nanos / 1000 * 1000)
}
