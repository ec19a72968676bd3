//! Searches the events of one source, and prints those that are found.

use std::collections::VecDeque;
use std::io::Write;

use timeline::dump::{Messages, Text, printable};
use timeline::{Event, Order, Source};
use timeline_reading::{EventTime, Log, Sieve};
use timeline_search::{
    Index, LineNumbers, Needle, PageSelection, Query, line_count, message_lines,
};

use super::Args;
use super::stats::Stats;
use crate::failure::{INFALLIBLE, Result};
use crate::json::LogLines;
use crate::output;
use crate::style::Theme;
use crate::text_lines::TextLines;

/// Searches the events of one source.
pub struct Search<'a> {
    args: &'a Args,
    at: &'a dyn Source,
    needle: &'a Needle,
    pub sieve: Sieve<'a>,
    messages: Messages<'a>,
    writer: Writer<'a>,
    pub order: Order,
    theme: Theme,
    /// The path and a colon, if there are several.
    path_shown: String,
    pub has_numbers: bool,
    numbers: LineNumbers,
    /// How many lines were found, and in how many events.
    pub found: u64,
    pub found_events: u64,
    /// How many events came, and of how many of these the message was made.
    pub looked_at: u64,
    pub made: u64,
    /// The events that may be printed before a found one, with their numbers.
    before: VecDeque<(u64, Event)>,
    /// How many events are still to be printed after a found one.
    after: usize,
    /// Whether events were left out after the last printed one, and whether there is one.
    has_gap: bool,
    has_printed: bool,
    before_most: usize,
    after_most: usize,
    /// From newest to oldest, the event that is printed when the next older one is known.
    waiting: Option<Printed>,
    line: Text,
}

/// An event to be printed as text.
struct Printed {
    event: Event,
    first: u64,
    is_found: bool,
    /// Whether events were left out before it.
    is_apart: bool,
}

enum Writer<'a> {
    Text(Box<TextLines<'a>>),
    Json(LogLines<'a>),
}

impl<'a> Search<'a> {
    pub fn new(args: &'a Args, log: &'a Log, needle: &'a Needle, query: &'a Query) -> Search<'a> {
        let (at, path) = (log.source(), log.path().display().to_string());
        let path = (args.words.len() > 2).then_some(path);
        let order = match args.reverse {
            true => Order::NewestFirst,
            false => Order::OldestFirst,
        };
        let theme = output::theme();
        let name = theme.name;
        let has_numbers = args.line_number || args.whole;
        let writer = match args.json {
            true => Writer::Json(LogLines::new(at, path.as_deref()).whole(args.whole)),
            false => {
                let lines = TextLines::shown(at, &args.shown, args.long);
                Writer::Text(Box::new(
                    lines
                        .among(log.programs())
                        .named(path.as_deref().unwrap_or_default()),
                ))
            }
        };
        Search {
            args,
            at,
            needle,
            // Lines are numbered before events are left out.
            sieve: match has_numbers {
                true => Sieve::new(query, at),
                false => Sieve::all(),
            },
            messages: Messages::new(at),
            writer,
            order,
            theme,
            path_shown: match &path {
                Some(path) => format!("{name}{}{name:#}:", printable(path)),
                None => String::new(),
            },
            has_numbers,
            numbers: LineNumbers::new(order),
            found: 0,
            found_events: 0,
            looked_at: 0,
            made: 0,
            before: VecDeque::new(),
            after: 0,
            has_gap: false,
            has_printed: false,
            before_most: args.before_context.or(args.context).unwrap_or(0),
            after_most: args.after_context.or(args.context).unwrap_or(0),
            waiting: None,
            line: Text::new(),
        }
    }

    /// Whether an index helps. With filters, nobody knows which events are beside a found one
    /// before all are read.
    pub fn can_use_index(&self, query: &Query) -> bool {
        let has_context = self.before_most > 0 || self.after_most > 0;
        !self.args.no_index && (query.is_empty() || !has_context)
    }

    /// What events meet that come here: of an archive also the needle, if no others are printed.
    /// Where lines are numbered, all come.
    pub fn query(&self, log: &Log, query: &Query) -> Query {
        let has_context = self.before_most > 0 || self.after_most > 0;
        match (self.has_numbers, log.archive()) {
            (true, _) => Query::default(),
            (false, Some(_)) if !has_context => self.all_conditions(query),
            (false, _) => query.clone(),
        }
    }

    /// What an event meets that is found.
    pub fn all_conditions(&self, query: &Query) -> Query {
        let mut all = query.clone();
        all.texts.push(self.needle.clone());
        all
    }

    /// The events that have to be read.
    pub fn choose(&mut self, index: &mut Index, stats: &mut Stats) -> PageSelection {
        let context = self.before_most.max(self.after_most);
        let context = (context > 0 || self.has_numbers).then_some(context);
        let candidates = index.candidates(self.needle, self.order, context);
        self.numbers = candidates.lines;
        stats.candidates = candidates.pages;
        candidates.selection
    }

    /// Counts all lines, because from newest to oldest the last number comes first. Of an archive,
    /// the events are those that are not indexed.
    pub fn count_lines(&mut self, events: impl Iterator<Item = Event>, index: Option<&Index>) {
        let (mut important, mut others) = (0, index.map_or(0, |index| index.coverage().lines));
        for event in events {
            let lines = self.lines(&event);
            match event.important {
                true => important += lines,
                false => others += lines,
            }
        }
        self.numbers.set_total(important, important + others);
    }

    /// How many lines the message of an event has.
    fn lines(&mut self, event: &Event) -> u64 {
        line_count(&self.messages.text(event, self.at.definition(event.id)))
    }

    /// Searches events, and prints those that are found.
    pub fn all(&mut self, events: impl Iterator<Item = Event>, out: &mut impl Write) -> Result {
        for event in events {
            self.looked_at += 1;
            let first = self.number(&event);
            if !self.sieve.wants(&event) {
                continue;
            }
            self.made += 1;
            let message = self.messages.text(&event, self.at.definition(event.id));
            let lines = message_lines(&message).filter(|line| self.needle.is_in(line));
            let lines = lines.count() as u64;
            let is_done = self
                .args
                .limit
                .is_some_and(|most| self.found_events >= most);
            if lines > 0 && !is_done {
                self.found += lines;
                self.found_events += 1;
                self.after = self.after_most;
                for (first, event) in std::mem::take(&mut self.before) {
                    self.print(event, first, false, out)?;
                }
                self.print(event, first, true, out)?;
            } else if self.after > 0 {
                self.after -= 1;
                self.print(event, first, false, out)?;
            } else if is_done {
                break;
            } else {
                self.before.push_back((first, event));
                if self.before.len() > self.before_most {
                    self.before.pop_front();
                    self.has_gap = true;
                }
            }
        }
        if let Some(last) = self.waiting.take() {
            self.print_text(&last, None, out)?;
        }
        if self.args.count {
            writeln!(out, "{}{}", self.path_shown, self.found)?;
        }
        Ok(())
    }

    /// The number of the first line of an event, whose lines are counted.
    fn number(&mut self, event: &Event) -> u64 {
        let count = match self.has_numbers {
            true => self.lines(event),
            false => 1,
        };
        let (first, is_behind_others) = self.numbers.next(event, count);
        if is_behind_others {
            self.has_gap = true;
            self.before.clear();
            self.after = 0;
        }
        first
    }

    /// Prints an event that was found, or stands beside one.
    fn print(&mut self, event: Event, first: u64, is_found: bool, out: &mut impl Write) -> Result {
        if self.args.count {
            return Ok(());
        }
        if let Writer::Json(lines) = &mut self.writer {
            self.line.clear();
            let message = self.messages.text(&event, self.at.definition(event.id));
            lines.write(&event, &message, first, &mut self.line);
            return Ok(out.write_all(self.line.as_bytes())?);
        }
        let has_context = self.before_most > 0 || self.after_most > 0;
        let is_apart = has_context && std::mem::take(&mut self.has_gap) && self.has_printed;
        self.has_printed = true;
        let older = Some(EventTime::of(self.at, &event));
        let printed = Printed {
            event,
            first,
            is_found,
            is_apart,
        };
        if !self.args.reverse {
            return self.print_text(&printed, None, out);
        }
        match self.waiting.replace(printed) {
            Some(newer) => self.print_text(&newer, older, out),
            None => Ok(()),
        }
    }

    fn print_text(
        &mut self,
        printed: &Printed,
        older: Option<EventTime>,
        out: &mut impl Write,
    ) -> Result {
        let Writer::Text(lines) = &mut self.writer else {
            return Ok(());
        };
        self.line.clear();
        if printed.is_apart {
            self.line.push("--\n");
        }
        self.line.push(&self.path_shown);
        if self.has_numbers {
            let (dim, first) = (self.theme.dim, printed.first);
            let sign = if printed.is_found { ':' } else { '-' };
            self.line.push(&format!("{dim}{first}{sign}{dim:#}"));
        }
        let needle = Some(self.needle).filter(|_| printed.is_found && self.theme.is_on());
        if self.args.reverse {
            lines.set_older(older);
        }
        lines
            .write(&printed.event, needle, &mut self.line)
            .expect(INFALLIBLE);
        Ok(out.write_all(self.line.as_bytes())?)
    }
}
