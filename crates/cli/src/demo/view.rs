//! Shows the timeline of the demo: redrawn in place on a terminal, a line a second elsewhere.

use std::io::Write;
use std::time::{Duration, Instant};

use timeline::{
    Attached, Event, Order,
    dump::{Newest, printable},
};

use crate::dump;
use crate::failure::Result;
use crate::format::{self, MetricNumber, things};
use crate::style::Theme;

/// Events shown at a time, on a terminal with room for them.
const ROWS: usize = 12;
/// Lines of the view beside them: the status, an empty line, the heading, and the line of the
/// cursor.
const FRAME: usize = 4;

/// The view of a timeline.
pub struct View<'a> {
    at: &'a Attached,
    theme: Theme,
    terminal: bool,
    drawn: usize,
    before: (Instant, u64),
}

impl<'a> View<'a> {
    /// A view of this timeline.
    pub fn new(at: &'a Attached, theme: Theme, terminal: bool) -> View<'a> {
        View {
            at,
            theme,
            terminal,
            drawn: 0,
            before: (Instant::now(), 0),
        }
    }

    /// The time between two drawings.
    pub fn period(&self) -> Duration {
        Duration::from_millis(if self.terminal { 200 } else { 1000 })
    }

    /// Draws, in the place of the last drawing if that is possible.
    pub fn draw(&mut self, left: Duration, out: &mut impl Write) -> Result {
        let status = self.status(left);
        if !self.terminal {
            let newest = self.newest(1)?;
            let newest = newest.lines().nth(1).unwrap_or_default();
            writeln!(out, "{status}; newest: {}", newest.trim_start())?;
            return Ok(());
        }
        let (width, height) = terminal_size::terminal_size().map_or((80, 24), |(width, height)| {
            (width.0.into(), usize::from(height.0))
        });
        let rows = self.newest(ROWS.min(height.saturating_sub(FRAME)))?;
        if self.drawn > 0 {
            // To the first line drawn, and clear from there.
            write!(out, "\x1b[{}A\x1b[J", self.drawn)?;
        }
        let bold = self.theme.bold;
        writeln!(out, "{bold}{}{bold:#}\n", cut(&status, width))?;
        self.drawn = 2;
        for row in rows.lines() {
            writeln!(out, "{}", cut(row, width))?;
            self.drawn += 1;
        }
        Ok(())
    }

    fn status(&mut self, left: Duration) -> String {
        let info = self.at.info();
        let now = Instant::now();
        let (then, before) = std::mem::replace(&mut self.before, (now, info.entries_written));
        let new = info.entries_written.saturating_sub(before) as f64;
        let rate = MetricNumber(new / now.duration_since(then).as_secs_f64());
        let status = format!(
            "{}: {} ({} of the ring), {rate} a second, level {}, {}, {} s left",
            self.at.path().display(),
            things(info.entries_written, "event"),
            format::percent(info.entries_held, info.entries),
            info.level,
            things(
                (info.cpu_lanes_in_use + info.thread_lanes_in_use).into(),
                "lane"
            ),
            left.as_secs(),
        );
        printable(&status).into_owned()
    }

    /// The newest events, as `timeline dump` prints them.
    fn newest(&self, count: usize) -> Result<String> {
        let mut text = Vec::new();
        let newest = Newest {
            events: self.at.events(Order::NewestFirst),
            most: count,
            have_one_clock: |_: &Event, _: &Event| true,
        };
        dump::text(self.at, newest, None, &self.theme, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The beginning of the line that fits, with complete colours: a wrapped line would spoil the count
/// of lines.
fn cut(line: &str, width: usize) -> String {
    let (mut shown, mut escape) = (0, false);
    line.chars()
        .filter(|&c| {
            if escape || c == '\x1b' {
                escape = c != 'm';
                return true;
            }
            shown += 1;
            shown <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_to_what_is_seen_of_them() {
        assert_eq!(cut("abcdef", 4), "abcd");
        assert_eq!(cut("\x1b[31mabc\x1b[0mdef", 4), "\x1b[31mabc\x1b[0md");
        assert_eq!(cut("\x1b[31mabcdef\x1b[0m", 4), "\x1b[31mabcd\x1b[0m");
    }
}
