//! Shows the progress of an import: one line on a terminal, which is written again and again.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::format::{Bytes, things};

/// The time between two changes of the line.
const PAUSE: Duration = Duration::from_millis(200);

/// The line.
pub struct ImportProgress {
    shown: bool,
    next: Instant,
}

impl ImportProgress {
    /// A line that is not shown yet.
    pub fn new() -> ImportProgress {
        ImportProgress {
            shown: false,
            next: Instant::now() + PAUSE,
        }
    }

    /// Shows how many bytes were read, and how many lines and bytes were written, if there is a
    /// terminal.
    pub fn show(&mut self, read: u64, (lines, written): (u64, u64)) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + PAUSE;
        let mut terminal = io::stderr().lock();
        if terminal.is_terminal() {
            self.shown = true;
            let (lines, read, written) = (things(lines, "line"), Bytes(read), Bytes(written));
            // The import goes on if standard error is closed.
            let _ = write!(terminal, "\r\x1b[K{lines}, {read} read, {written} written");
        }
    }

    /// Removes the line, so that a message can be written.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
