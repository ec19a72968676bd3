//! Writes events as lines of text, for those who read them oldest first.
//! A line is `17:53:30.123456  category      message`, or has more columns.

use std::fmt::Write as _;
use std::ops::Range;

use timeline::{
    Event, Source,
    dump::{FRAME, Messages, Text, printable, printable_line, stack},
};
use timeline_search::Needle;

use crate::output;
use crate::style::Theme;
use crate::thread_columns::{ThreadColumns, known};
use crate::time::{Form, WallClock};

/// Writes events as lines of text.
pub struct TextLines<'a> {
    at: &'a dyn Source,
    theme: Theme,
    clock: WallClock,
    columns: Option<ThreadColumns<'a>>,
    /// Grows with the longest category seen, so that messages stay in line.
    category_width: usize,
    messages: Messages<'a>,
}

impl<'a> TextLines<'a> {
    /// Asks for names of threads anew, if one may have changed.
    pub fn notice_renames(&mut self) {
        if let Some(columns) = &mut self.columns {
            columns.notice_renames();
        }
    }

    /// For the events of `at`. `columns`: those of the thread, instead of the time of day.
    pub fn new(at: &'a dyn Source, columns: Option<ThreadColumns<'a>>) -> TextLines<'a> {
        TextLines {
            at,
            theme: output::theme(),
            clock: WallClock::new(Form::TimeOfDay),
            columns,
            category_width: 12,
            messages: Messages::new(at),
        }
    }

    /// Appends an event, and ends the line. What `needle` finds in the message is marked on a
    /// terminal.
    pub fn write(
        &mut self,
        event: &Event,
        needle: Option<&Needle>,
        out: &mut Text,
    ) -> std::fmt::Result {
        self.write_head(event, out)?;
        self.write_tail(event, needle, out)
    }

    /// The time; with `--long` also the thread, the priority and the core.
    fn write_head(&mut self, event: &Event, out: &mut Text) -> std::fmt::Result {
        let dim = self.theme.dim;
        write!(out, "{dim}")?;
        if let Some(columns) = &mut self.columns {
            columns.write(event, out);
            out.right(known(event.core).map(u64::from), 4);
        } else {
            match self.at.time(event) {
                Some(nanos) => self.clock.write(nanos, out),
                None if event.ticks == 0 => write!(out, "?")?,
                None => write!(out, "{} ticks", event.ticks)?,
            }
        }
        write!(out, "{dim:#}  ")
    }

    /// The category and the message.
    fn write_tail(
        &mut self,
        event: &Event,
        needle: Option<&Needle>,
        out: &mut Text,
    ) -> std::fmt::Result {
        let definition = self.at.definition(event.id);
        let priority = definition.and_then(|definition| definition.priority);
        let style = priority.map_or(self.theme.bad, |priority| self.theme.priority(priority));
        let category = match definition.map_or("", |definition| &definition.category) {
            "" => "?",
            category => category,
        };
        let category = printable(category);
        self.category_width = category.chars().count().clamp(self.category_width, 32);
        let width = self.category_width;
        let message = self.messages.text(event, definition);
        let message = printable_line(&message);
        write!(out, "{style}{category:<width$}  ")?;
        let (mark, mut from) = (self.theme.bad, 0);
        for Range { start, end } in needle.iter().flat_map(|needle| needle.places(&message)) {
            let (before, found) = (&message[from..start], &message[start..end]);
            write!(out, "{before}{style:#}{mark}{found}{mark:#}{style}")?;
            from = end;
        }
        writeln!(out, "{}{style:#}", &message[from..])?;
        for frame in stack(self.at, event) {
            writeln!(out, "{FRAME}{}", printable(&frame))?;
        }
        Ok(())
    }
}
