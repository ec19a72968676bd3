//! How a recording goes: one line on a terminal that is written again and again.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use timeline::archive::Totals;

use crate::human::{Bytes, Count, Rate, percent, things};

/// The rate is that of so long a time.
const RECENT: Duration = Duration::from_secs(2);

/// The line.
pub struct Progress {
    shown: bool,
    /// When it was looked, and how many events there were.
    looks: VecDeque<(Instant, u64)>,
}

/// What it shows.
pub struct State {
    /// What was recorded.
    pub totals: Totals,
    /// Entries of the ring that are not read.
    pub unread: u64,
    /// Entries that the ring holds.
    pub entries: u64,
    /// Whether there is no room to write.
    pub full: bool,
}

impl Progress {
    /// A line that is not shown yet.
    pub fn new() -> Progress {
        Progress {
            shown: false,
            looks: VecDeque::new(),
        }
    }

    /// Shows how it goes, if there is a terminal.
    pub fn show(&mut self, state: &State) {
        let mut terminal = std::io::stderr().lock();
        if !terminal.is_terminal() {
            return;
        }
        self.shown = true;
        let line = self.line(state, Instant::now());
        // Nobody listening is no reason to stop recording.
        let _ = write!(terminal, "\r\x1b[K{line}");
    }

    fn line(&mut self, state: &State, now: Instant) -> String {
        let State { totals, .. } = state;
        let events = things(totals.events, "event");
        let rate = Rate(self.rate(totals.events, now));
        let size = Bytes(totals.bytes);
        // What was passed over is gone.
        let gone = state.unread.saturating_sub(state.entries);
        let missed = Count(totals.missed.saturating_add(gone));
        let lag = percent(state.unread, state.entries);
        let room = if state.full { ", no room to write" } else { "" };
        format!("{events}, {rate}/s, {size}, {lag} of the ring unread, {missed} missed{room}")
    }

    /// Events a second, of late.
    fn rate(&mut self, events: u64, now: Instant) -> f64 {
        self.looks.push_back((now, events));
        let old = |look: &&(Instant, u64)| now.duration_since(look.0) >= RECENT;
        while self.looks.get(1).as_ref().is_some_and(old) {
            self.looks.pop_front();
        }
        let Some((since, before)) = self.looks.front() else {
            return 0.0;
        };
        let seconds = now.duration_since(*since).as_secs_f64();
        match seconds > 0.0 {
            true => events.saturating_sub(*before) as f64 / seconds,
            false => 0.0,
        }
    }

    /// Takes the line away, so that something else can be said.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_what_happens_now() {
        let mut progress = Progress::new();
        let begin = Instant::now();
        let mut at = |seconds, events, unread, full| {
            let totals = Totals {
                events,
                missed: 7,
                bytes: 5 << 20,
            };
            let state = State {
                totals,
                unread,
                entries: 1000,
                full,
            };
            progress.line(&state, begin + Duration::from_secs(seconds))
        };
        assert_eq!(
            at(0, 5_000_000, 0, false),
            "5,000,000 events, 0/s, 5 MiB, 0% of the ring unread, 7 missed"
        );
        assert_eq!(
            at(1, 5_003_000, 250, false),
            "5,003,000 events, 3 k/s, 5 MiB, 25% of the ring unread, 7 missed"
        );
        // What was before the last two seconds does not count.
        for second in 2..10 {
            at(second, 5_003_000, 0, false);
        }
        assert_eq!(
            at(10, 5_003_001, 3_000, true),
            "5,003,001 events, 0.5/s, 5 MiB, 100% of the ring unread, 2,007 missed, no room to write"
        );
    }
}
