//! Shows the progress of a recording: one line on a terminal, which is written again and again.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use terminal_size::terminal_size_of;
use timeline_archive::Totals;

use crate::format::{Bytes, Count, MetricNumber, percent, things};

/// The time over which the rate is measured.
const RECENT: Duration = Duration::from_secs(2);

/// The line.
pub struct RecordProgress {
    shown: bool,
    /// Times, and the numbers of events at them.
    looks: VecDeque<(Instant, u64)>,
}

/// The state that is shown.
pub struct RecordStatus {
    /// The results so far.
    pub totals: Totals,
    /// Entries of the ring that are not read.
    pub unread: u64,
    /// Entries that the ring holds.
    pub entries: u64,
    /// Whether there is no room to write.
    pub full: bool,
    /// Bytes in a spool.
    pub waiting: u64,
    /// Whether only some events are wanted.
    pub filtered: bool,
}

impl RecordProgress {
    /// A line that is not shown yet.
    pub fn new() -> RecordProgress {
        RecordProgress {
            shown: false,
            looks: VecDeque::new(),
        }
    }

    /// Shows the state, if there is a terminal.
    pub fn show(&mut self, state: &RecordStatus) {
        let mut terminal = std::io::stderr().lock();
        if !terminal.is_terminal() {
            return;
        }
        self.shown = true;
        let width = terminal_size_of(&terminal).map(|(width, _)| width.0.into());
        let line = self.line(state, width.unwrap_or(usize::MAX), Instant::now());
        // The recording goes on if standard error is closed.
        let _ = write!(terminal, "\r\x1b[K{line}");
    }

    /// The text of the line, as far as it fits: a longer line would wrap, and stay when the next
    /// one is written.
    fn line(&mut self, state: &RecordStatus, width: usize, now: Instant) -> String {
        let RecordStatus { totals, .. } = state;
        let events = things(totals.events, "event");
        let rate = MetricNumber(self.rate(totals.events, now));
        let size = Bytes(totals.bytes);
        // Entries beyond the size of the ring are overwritten.
        let gone = state.unread.saturating_sub(state.entries);
        let missed = Count(totals.missed.saturating_add(gone));
        let lag = percent(state.unread, state.entries);
        // With a rank: the lowest is left out first if there is too little room.
        let mut parts = vec![
            (4, events),
            (1, format!("{rate}/s")),
            (0, size.to_string()),
            (3, format!("{lag} of the ring unread")),
            (5, format!("{missed} missed")),
        ];
        if state.filtered {
            parts.push((2, format!("{} left out", Count(totals.left_out))));
        }
        if state.waiting > 0 {
            parts.push((2, format!("{} in the spool", Bytes(state.waiting))));
        }
        if state.full {
            parts.push((6, "no room to write".into()));
        }
        loop {
            let texts: Vec<_> = parts.iter().map(|(_, text)| text.as_str()).collect();
            let line = texts.join(", ");
            if line.len() <= width {
                return line;
            }
            if parts.len() == 1 {
                // All of it is ASCII.
                return format!("{}…", &line[..width.saturating_sub(1)]);
            }
            let least = parts.iter().map(|(rank, _)| *rank).min();
            parts.retain(|(rank, _)| Some(*rank) != least);
        }
    }

    /// Events a second, lately.
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

    /// Removes the line, so that a message can be written.
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
        let mut progress = RecordProgress::new();
        let begin = Instant::now();
        let mut at = |seconds, events, unread, full| {
            let totals = Totals {
                events,
                missed: 7,
                bytes: 5 << 20,
                ..Totals::default()
            };
            let state = RecordStatus {
                totals,
                unread,
                entries: 1000,
                full,
                waiting: 0,
                filtered: false,
            };
            progress.line(&state, 200, begin + Duration::from_secs(seconds))
        };
        assert_eq!(
            at(0, 5_000_000, 0, false),
            "5,000,000 events, 0/s, 5 MiB, 0% of the ring unread, 7 missed"
        );
        assert_eq!(
            at(1, 5_003_000, 250, false),
            "5,003,000 events, 3 k/s, 5 MiB, 25% of the ring unread, 7 missed"
        );
        // Events before the last two seconds do not count.
        for second in 2..10 {
            at(second, 5_003_000, 0, false);
        }
        assert_eq!(
            at(10, 5_003_001, 3_000, true),
            "5,003,001 events, 0.5/s, 5 MiB, 100% of the ring unread, 2,007 missed, no room to \
             write"
        );
    }

    #[test]
    fn the_line_fits_the_terminal() {
        let state = RecordStatus {
            totals: Totals {
                events: 12_000,
                missed: 7,
                bytes: 5 << 20,
                ..Totals::default()
            },
            unread: 500,
            entries: 1000,
            full: true,
            waiting: 0,
            filtered: false,
        };
        let mut progress = RecordProgress::new();
        let now = Instant::now();
        let mut at = |width| progress.line(&state, width, now);
        let whole = "12,000 events, 0/s, 5 MiB, 50% of the ring unread, 7 missed, no room to write";
        assert_eq!((at(whole.len()), whole.len()), (whole.into(), 77));
        for (width, line) in [
            (
                76,
                "12,000 events, 0/s, 50% of the ring unread, 7 missed, no room to write",
            ),
            (
                69,
                "12,000 events, 50% of the ring unread, 7 missed, no room to write",
            ),
            (64, "12,000 events, 7 missed, no room to write"),
            (40, "7 missed, no room to write"),
            (25, "no room to write"),
            (16, "no room to write"),
            (15, "no room to wri…"),
            (1, "…"),
        ] {
            assert_eq!(at(width), line);
        }
    }

    #[test]
    fn the_line_tells_what_a_filter_leaves_out() {
        let totals = Totals {
            events: 12,
            left_out: 3_400,
            ..Totals::default()
        };
        let state = RecordStatus {
            totals,
            unread: 0,
            entries: 1000,
            full: true,
            waiting: 0,
            filtered: true,
        };
        let mut progress = RecordProgress::new();
        let mut at = |width| progress.line(&state, width, Instant::now());
        assert_eq!(
            at(200),
            "12 events, 0/s, 0 B, 0% of the ring unread, 0 missed, 3,400 left out, no room to \
             write"
        );
        // Less is known by it than by the lag.
        assert_eq!(
            at(65),
            "12 events, 0% of the ring unread, 0 missed, no room to write"
        );
    }
}
