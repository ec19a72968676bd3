//! Prints the events of one timeline or archive in a tail, oldest first.

use std::io::{self, Write};

use timeline::{Event, dump::Text};
use timeline_reading::json::to_string;
use timeline_reading::{EventTime, Programs};

use super::origin::TailOrigin;
use crate::columns::Column;
use crate::failure::INFALLIBLE;
use crate::json::JsonLines;
use crate::text_lines::TextLines;

/// Writes the events of one timeline or archive.
pub struct TailPrinter<'a> {
    writer: Writer<'a>,
    /// The event before, from which the cycles count.
    before: Option<Event>,
    programs: Option<Programs<'a>>,
    line: Text,
}

enum Writer<'a> {
    Json {
        lines: Box<JsonLines<'a>>,
        /// The name of the part, quoted, if there are several.
        path: Option<String>,
    },
    Text(Box<TextLines<'a>>),
}

/// What was printed before an event.
#[derive(Clone, Copy, Default)]
pub struct Before {
    /// When the first of all was logged.
    pub first: Option<EventTime>,
    /// When the last one was logged.
    pub last: Option<EventTime>,
    /// Whether that was one of the same part.
    pub is_own: bool,
}

impl<'a> TailPrinter<'a> {
    /// A printer for the events of a log.
    pub fn new(origin: &'a TailOrigin) -> TailPrinter<'a> {
        let (log, args) = (&origin.log, origin.args);
        let (at, programs) = (log.source(), log.programs());
        let path = log.path().display().to_string();
        let writer = match args.json {
            true => Writer::Json {
                lines: Box::new(JsonLines::new(at).among(programs)),
                path: args.is_of_several().then(|| to_string(&path)),
            },
            false => {
                let mut shown = args.shown.clone();
                if args.is_of_several() && shown.columns.is_empty() {
                    let usual: &[Column] = if args.long {
                        &Column::LONG
                    } else {
                        &Column::SHORT
                    };
                    shown.columns = [&[Column::Path], usual].concat();
                }
                let lines = TextLines::shown(at, &shown, args.long);
                Writer::Text(Box::new(lines.among(programs).named(&path)))
            }
        };
        TailPrinter {
            writer,
            before: None,
            programs,
            line: Text::new(),
        }
    }

    /// Asks for names of threads anew, if one may have changed.
    pub fn notice_renames(&mut self) {
        match &mut self.writer {
            Writer::Json { lines, .. } => lines.notice_renames(),
            Writer::Text(lines) => lines.notice_renames(),
        }
    }

    /// Writes an event.
    pub fn print(&mut self, event: &Event, before: Before, out: &mut impl Write) -> io::Result<()> {
        self.line.clear();
        match &mut self.writer {
            Writer::Json { lines, path } => {
                let programs = self.programs;
                let one_clock = |before: &Event| {
                    programs.is_none_or(|programs| programs.have_one_clock(before, event))
                };
                let older = self.before.as_ref();
                let older = older.filter(|older| before.is_own && one_clock(older));
                let cycles = older.and_then(|older| {
                    EventTime::of_ticks(event).cycles_since(EventTime::of_ticks(older))
                });
                self.before = Some(Event {
                    payload: None,
                    ..*event
                });
                lines.write(event, cycles, &mut self.line);
                if let Some(path) = path {
                    write!(out, "{{\"path\":{path},")?;
                    return out.write_all(&self.line.as_bytes()[1..]);
                }
            }
            Writer::Text(lines) => {
                if let Some(first) = before.first {
                    lines.set_first(first);
                }
                // The ticks of two parts may be of two clocks.
                lines.set_older(before.last.map(|last| EventTime {
                    ticks: if before.is_own { last.ticks } else { 0 },
                    ..last
                }));
                lines.write(event, None, &mut self.line).expect(INFALLIBLE);
            }
        }
        out.write_all(self.line.as_bytes())
    }
}
