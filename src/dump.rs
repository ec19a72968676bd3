//! The dump as a table: newest to oldest, `numa core -cycles category message`.

use std::fmt::{self, Write as _};
use std::io;

use crate::attached::Attached;
use crate::source::{Event, Events, Order};

/// One event of a dump.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The event.
    pub event: Event,
    /// Ticks since the next older event; `None` for the oldest.
    pub cycles: Option<u64>,
}

/// The events of a timeline, newest first, each with its distance to the next older one.
pub struct Rows<'a> {
    events: Events<'a>,
    next: Option<Event>,
}

impl<'a> Rows<'a> {
    /// All events of `attached`.
    pub fn new(attached: &'a Attached) -> Rows<'a> {
        let mut events = attached.events(Order::NewestFirst);
        let next = events.next();
        Rows { events, next }
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let event = self.next?;
        self.next = self.events.next();
        let older = self.next.as_ref();
        Some(Row {
            event,
            cycles: older.map(|o| event.ticks.saturating_sub(o.ticks)),
        })
    }
}

/// The columns of a dump, as wide as this timeline needs them.
pub struct Table<'a> {
    attached: &'a Attached,
    category: usize,
}

impl<'a> Table<'a> {
    /// For the events of `attached`.
    pub fn new(attached: &'a Attached) -> Table<'a> {
        let widest = attached
            .definitions()
            .map(|d| d.category.chars().count())
            .max();
        Table {
            attached,
            category: widest.unwrap_or(0).clamp("category".len(), 24),
        }
    }

    /// Writes the columns' names, without a line break.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn heading(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let width = self.category;
        write!(out, "numa core    -cycles {:width$} message", "category")
    }

    /// Writes one row, without a line break.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn row(&self, row: &Row, out: &mut impl fmt::Write) -> fmt::Result {
        number(out, 4, known(row.event.node))?;
        out.write_char(' ')?;
        number(out, 4, known(row.event.core))?;
        out.write_char(' ')?;
        number(out, 10, row.cycles)?;
        out.write_char(' ')?;
        self.text(&row.event, out)
    }

    /// Writes category and message, without a line break. Control characters show as `?`: what programs
    /// name their events must not command the terminal.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn text(&self, event: &Event, out: &mut impl fmt::Write) -> fmt::Result {
        let width = self.category;
        let out = &mut Plain(out);
        match self.attached.definition(event.id) {
            Some(definition) => {
                write!(out, "{:width$} ", definition.category)?;
                definition.render(&event.args, out)
            }
            None => write!(out, "{:width$} <event {}?>", "?", event.id.0),
        }
    }
}

/// Shows control characters as `?`.
struct Plain<'a, W>(&'a mut W);

impl<W: fmt::Write> fmt::Write for Plain<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (i, piece) in text.split(char::is_control).enumerate() {
            if i > 0 {
                self.0.write_char('?')?;
            }
            self.0.write_str(piece)?;
        }
        Ok(())
    }
}

fn known(number: u16) -> Option<u64> {
    (number != u16::MAX).then_some(number.into())
}

fn number(out: &mut impl fmt::Write, width: usize, number: Option<u64>) -> fmt::Result {
    match number {
        Some(number) => write!(out, "{number:width$}"),
        None => write!(out, "{:>width$}", "-"),
    }
}

/// Writes a dump of at most `max` events, newest to oldest, under a line with the columns' names.
///
/// # Example
/// ```
/// # use timeline::{dump, Attached, Priority, Timeline};
/// # let path = format!("/timeline-doc-dump-{}", std::process::id());
/// # let timeline = Timeline::with_size(&path, 1024, 4096)?;
/// # let event = timeline.define("example", Priority::Trace, "processed $tcp")?;
/// # timeline.log(event, [10]);
/// let mut text = Vec::new();
/// dump::write(&Attached::open(&path)?, Some(20), &mut text)?;
/// let text = String::from_utf8(text)?;
/// assert!(text.starts_with("numa core    -cycles category message\n"));
/// assert!(text.ends_with("example  processed tcp(10)\n"));
/// # timeline::unlink(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Only those of `out`.
pub fn write(
    attached: &Attached,
    max: Option<u64>,
    out: &mut (impl io::Write + ?Sized),
) -> io::Result<()> {
    let table = Table::new(attached);
    let max = max.and_then(|m| usize::try_from(m).ok());
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = table.heading(&mut text);
    text.push('\n');
    for row in Rows::new(attached).take(max.unwrap_or(usize::MAX)) {
        let _ = table.row(&row, &mut text);
        text.push('\n');
        if text.len() >= 64 * 1024 {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_get_through() {
        let mut text = String::new();
        let said = Plain(&mut text).write_str("a\u{1b}[31m\n\r\u{7}é");
        assert_eq!((said, text.as_str()), (Ok(()), "a?[31m???é"));
    }
}
