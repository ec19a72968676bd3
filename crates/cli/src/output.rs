//! Where words go: data to a buffered standard output, messages to standard error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use timeline::dump::printable;

use crate::style::Theme;

/// Large enough that a dump of a million entries makes few system calls.
const BUFFER: usize = 64 * 1024;

/// Buffered standard output. Flush it before reporting success: an error seen only by `drop` is
/// lost.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(BUFFER, io::stdout().lock())
}

/// Colours for data: only on a terminal, and not against `NO_COLOR` or `TERM=dumb`.
pub fn theme() -> Theme {
    Theme::new(AutoStream::choice(&io::stdout()) != ColorChoice::Never)
}

/// Whether a person watches standard output.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A line for people. What is put into it is shown as far as it is printable: no style but ours
/// gets through.
#[derive(Default)]
pub struct Line(String);

impl Line {
    /// An empty line.
    pub fn new() -> Line {
        Line::default()
    }

    /// With this text behind it.
    pub fn text(mut self, text: impl Display) -> Line {
        self.0 += &printable(&text.to_string());
        self
    }

    /// With this text behind it, in this style.
    pub fn styled(mut self, style: Style, text: impl Display) -> Line {
        self.0 += &format!("{style}{}{style:#}", printable(&text.to_string()));
        self
    }

    /// With another line behind it.
    pub fn then(mut self, other: &Line) -> Line {
        self.0 += &other.0;
        self
    }

    /// Writes it, and ends it.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.0)
    }
}

impl<T: AsRef<str>> From<T> for Line {
    fn from(text: T) -> Line {
        Line::new().text(text.as_ref())
    }
}

/// Says one line on standard error. Nobody listening is no reason to fail.
pub fn say(message: impl Display) {
    let colour = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let line = Line::new().styled(Theme::new(colour).bold, "timeline:");
    let _ = line.text(" ").text(message).write(&mut io::stderr().lock());
}
