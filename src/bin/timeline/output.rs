//! Where words go: data to a buffered standard output, talk to standard error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use timeline::dump::Text;

use crate::style::Theme;

/// Large enough that a dump of a million entries makes few system calls.
const BUFFER: usize = 64 * 1024;

/// Buffered standard output. Flush it before reporting success: an error seen only by `drop` is lost.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(BUFFER, io::stdout().lock())
}

/// Writes what was put together when it is worth a system call. It ends with a line.
#[inline]
pub fn write_if_much(text: &mut Text, out: &mut impl Write) -> io::Result<()> {
    if text.len() >= BUFFER {
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    Ok(())
}

/// Colours for data: only on a terminal, and not against `NO_COLOR` or `TERM=dumb`.
pub fn theme() -> Theme {
    Theme::new(AutoStream::choice(&io::stdout()) != ColorChoice::Never)
}

/// Whether a person watches standard output.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Says one line on standard error. Nobody listening is no reason to fail.
pub fn talk(message: impl Display) {
    let colour = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let name = Theme::new(colour).bold;
    let line = format!("{name}timeline:{name:#} {message}\n");
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
