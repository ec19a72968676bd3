//! The events of a tail, oldest first: `17:53:30.123456  category      message`, or more of it.

use std::fmt::Write as _;
use std::io::{self, Write};

use timeline::{Attached, Event};

use crate::failure::INFALLIBLE;
use crate::human;
use crate::json::Lines;
use crate::output;
use crate::style::Theme;
use crate::time::{Form, WallClock};
use crate::who::Who;

/// How an event is written.
#[derive(Clone, Copy)]
pub enum Look {
    /// Time, category and message.
    Short,
    /// Date, thread, priority and core as well.
    Long,
    /// A JSON object.
    Json,
}

/// Writes the events of one timeline.
pub struct Printer<'a> {
    look: LookOf<'a>,
    /// Ticks of the event before.
    before: Option<u64>,
}

enum LookOf<'a> {
    Json(Box<Lines<'a>>),
    Text(Box<Text<'a>>),
}

impl<'a> Printer<'a> {
    /// For the events of this timeline.
    pub fn new(at: &'a Attached, look: Look) -> Printer<'a> {
        let look = match look {
            Look::Json => LookOf::Json(Box::new(Lines::new(at))),
            Look::Short => LookOf::Text(Box::new(Text::new(at, None))),
            Look::Long => LookOf::Text(Box::new(Text::new(at, Some(Who::new(at))))),
        };
        Printer { look, before: None }
    }

    /// Writes events, the oldest first.
    pub fn print(&mut self, events: &[Event], out: &mut impl Write) -> io::Result<()> {
        for event in events {
            let before = self.before.replace(event.ticks);
            match &mut self.look {
                LookOf::Json(lines) => {
                    let cycles = before.map(|before| event.ticks.saturating_sub(before));
                    lines.write(event, cycles, out)?;
                }
                LookOf::Text(text) => out.write_all(text.line(event).as_bytes())?,
            }
        }
        Ok(())
    }
}

/// Events as lines of text.
struct Text<'a> {
    at: &'a Attached,
    theme: Theme,
    clock: WallClock,
    who: Option<Who<'a>>,
    /// Grows with the longest category seen, so that messages stay in line.
    category_width: usize,
    part: String,
    line: String,
}

impl<'a> Text<'a> {
    fn new(at: &'a Attached, who: Option<Who<'a>>) -> Text<'a> {
        Text {
            at,
            theme: output::theme(),
            clock: WallClock::new(Form::TimeOfDay),
            who,
            category_width: 12,
            part: String::new(),
            line: String::new(),
        }
    }

    fn line(&mut self, event: &Event) -> &str {
        self.line.clear();
        self.write_head(event).expect(INFALLIBLE);
        self.write_tail(event).expect(INFALLIBLE);
        &self.line
    }

    /// When, and with `--long` who and where.
    fn write_head(&mut self, event: &Event) -> std::fmt::Result {
        let dim = self.theme.dim;
        self.part.clear();
        if let Some(who) = &mut self.who {
            who.write(event, &mut self.part)?;
            match crate::who::known(event.core) {
                Some(core) => write!(self.part, "{core:>4}")?,
                None => write!(self.part, "   -")?,
            }
        } else {
            match self.at.unix_nanos(event.ticks) {
                Some(nanos) => self.part.push_str(self.clock.format(nanos)),
                None => write!(self.part, "{} ticks", event.ticks)?,
            }
        }
        write!(self.line, "{dim}{}{dim:#}  ", human::clean(&self.part))
    }

    /// What.
    fn write_tail(&mut self, event: &Event) -> std::fmt::Result {
        let Some(definition) = self.at.definition(event.id) else {
            let bad = self.theme.bad;
            return writeln!(
                self.line,
                "{bad}event {} was never defined{bad:#}",
                event.id.0
            );
        };
        let style = self.theme.priority(definition.priority);
        let category = human::clean(&definition.category);
        self.category_width = category.chars().count().clamp(self.category_width, 32);
        let width = self.category_width;
        self.part.clear();
        definition.render(&event.args, &mut self.part)?;
        let message = human::clean(&self.part);
        writeln!(self.line, "{style}{category:<width$}  {message}{style:#}")
    }
}
