//! Standard output, which is buffered, and messages on standard error.

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

/// Says when colours are used.
pub fn choose_colour(choice: clap::ColorChoice) {
    match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Uses colours from now on as for this standard output, because a pager takes its place.
pub fn keep_colours() {
    AutoStream::choice(&io::stdout()).write_global();
}

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A line of text. Everything put into it is shown as far as it is printable, so no style gets
/// through but ours.
#[derive(Default)]
pub struct TextLine(String);

impl TextLine {
    /// An empty line.
    pub fn new() -> TextLine {
        TextLine::default()
    }

    /// Appends a text.
    pub fn text(mut self, text: impl Display) -> TextLine {
        self.0 += &printable(&text.to_string());
        self
    }

    /// Appends a text in a style.
    pub fn styled(mut self, style: Style, text: impl Display) -> TextLine {
        self.0 += &format!("{style}{}{style:#}", printable(&text.to_string()));
        self
    }

    /// Appends another line.
    pub fn then(mut self, other: &TextLine) -> TextLine {
        self.0 += &other.0;
        self
    }

    /// Writes the line, and ends it.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.0)
    }
}

impl<T: AsRef<str>> From<T> for TextLine {
    fn from(text: T) -> TextLine {
        TextLine::new().text(text.as_ref())
    }
}

/// Writes a message to standard error. It is no failure if standard error is closed.
pub fn say(message: impl Display) {
    let colour = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let line = TextLine::new().styled(Theme::new(colour).bold, "timeline:");
    let _ = line.text(" ").text(message).write(&mut io::stderr().lock());
}
