//! Prints the events of a tail, oldest first.

use std::io::{self, Write};

use timeline::{Event, Source, dump::Text};

use super::Args;
use crate::failure::INFALLIBLE;
use crate::json::Lines;
use crate::programs::Programs;
use crate::text_lines::TextLines;

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
    Text(Box<TextLines<'a>>),
}

impl<'a> Printer<'a> {
    /// A printer for the events of this timeline, or of these programs.
    pub fn new(at: &'a dyn Source, programs: Option<Programs<'a>>, args: &Args) -> Printer<'a> {
        let text = || TextLines::shown(at, &args.shown, args.long).among(programs);
        let writer = match args.json {
            true => Writer::Json(Box::new(Lines::new(at).among(programs))),
            false => Writer::Text(Box::new(text())),
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
            Writer::Text(lines) => lines.notice_renames(),
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
                Writer::Text(lines) => {
                    let line = &mut self.line;
                    lines.write(event, None, line).expect(INFALLIBLE);
                }
            }
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }
}
