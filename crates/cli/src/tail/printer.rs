//! Prints the events of a tail, oldest first.
//! A line is `17:53:30.123456  category      message`, or has more columns.

use std::fmt::Write as _;
use std::io::{self, Write};

use timeline::{
    Event, Source,
    dump::{FRAME, Messages, Text, printable, printable_line, stack},
};

use crate::failure::INFALLIBLE;
use crate::json::Lines;
use crate::output;
use crate::programs::Programs;
use crate::style::Theme;
use crate::thread_columns::{ThreadColumns, known};
use crate::time::{Form, WallClock};

/// The layout of an event.
#[derive(Clone, Copy)]
pub enum Layout {
    /// Time, category and message.
    Short,
    /// Date, thread, priority and core as well.
    Long,
    /// A JSON object.
    Json,
}

/// Writes the events of one timeline.
pub struct Printer<'a> {
    writer: Writer<'a>,
    /// The event before, from which the cycles count.
    before: Option<Event>,
    programs: Option<Programs<'a>>,
    line: Text,
}

enum Writer<'a> {
    Json(Box<Lines<'a>>),
    Columns(Box<Columns<'a>>),
}

impl<'a> Printer<'a> {
    /// A printer for the events of this timeline, or of these programs.
    pub fn new(at: &'a dyn Source, programs: Option<Programs<'a>>, layout: Layout) -> Printer<'a> {
        let columns = || ThreadColumns::new(at).among(programs);
        let writer = match layout {
            Layout::Json => Writer::Json(Box::new(Lines::new(at).among(programs))),
            Layout::Short => Writer::Columns(Box::new(Columns::new(at, None))),
            Layout::Long => Writer::Columns(Box::new(Columns::new(at, Some(columns())))),
        };
        Printer {
            writer,
            before: None,
            programs,
            line: Text::new(),
        }
    }

    /// Writes events, the oldest first.
    pub fn print(&mut self, events: &[Event], out: &mut impl Write) -> io::Result<()> {
        match &mut self.writer {
            Writer::Json(lines) => lines.notice_renames(),
            Writer::Columns(columns) => columns.notice_renames(),
        }
        for event in events {
            self.line.clear();
            match &mut self.writer {
                Writer::Json(lines) => {
                    let programs = self.programs;
                    let one_clock = |before: &Event| {
                        programs.is_none_or(|programs| programs.have_one_clock(before, event))
                    };
                    let before = self.before.as_ref().filter(|before| {
                        let is_known = before.ticks != 0 && event.ticks != 0;
                        is_known && before.important == event.important && one_clock(before)
                    });
                    let cycles = before.map(|before| event.ticks.saturating_sub(before.ticks));
                    self.before = Some(Event {
                        payload: None,
                        ..*event
                    });
                    lines.write(event, cycles, &mut self.line);
                }
                Writer::Columns(columns) => {
                    columns.write(event, &mut self.line).expect(INFALLIBLE);
                }
            }
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }
}

/// Events as lines of text.
struct Columns<'a> {
    at: &'a dyn Source,
    theme: Theme,
    clock: WallClock,
    columns: Option<ThreadColumns<'a>>,
    /// Grows with the longest category seen, so that messages stay in line.
    category_width: usize,
    messages: Messages<'a>,
}

impl<'a> Columns<'a> {
    fn notice_renames(&mut self) {
        if let Some(columns) = &mut self.columns {
            columns.notice_renames();
        }
    }

    fn new(at: &'a dyn Source, columns: Option<ThreadColumns<'a>>) -> Columns<'a> {
        Columns {
            at,
            theme: output::theme(),
            clock: WallClock::new(Form::TimeOfDay),
            columns,
            category_width: 12,
            messages: Messages::new(at),
        }
    }

    fn write(&mut self, event: &Event, out: &mut Text) -> std::fmt::Result {
        self.write_head(event, out)?;
        self.write_tail(event, out)
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
    fn write_tail(&mut self, event: &Event, out: &mut Text) -> std::fmt::Result {
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
        writeln!(out, "{style}{category:<width$}  {message}{style:#}")?;
        for frame in stack(self.at, event) {
            writeln!(out, "{FRAME}{}", printable(&frame))?;
        }
        Ok(())
    }
}
