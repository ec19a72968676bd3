//! Writes events as lines of text: `17:53:30.123456  category      message`, or other columns.

use std::fmt::Write as _;
use std::ops::Range;

use timeline::{
    Definition, Event, Source,
    dump::{FRAME, Messages, Text, printable, printable_line, stack, took},
};
use timeline_reading::{EventTime, Programs};
use timeline_search::Needle;

use crate::columns::{Column, TextOptions, TimeStyle};
use crate::output;
use crate::style::Theme;
use crate::thread_columns::{ThreadTexts, thread_name};
use crate::time::{TimeFormat, WallClock};

/// The most characters of a column that grows with its texts.
const WIDEST: usize = 32;

/// Writes events of one source as lines of text.
pub struct TextLines<'a> {
    at: &'a dyn Source,
    theme: Theme,
    columns: Vec<Column>,
    times: TimeWriter,
    threads: ThreadTexts<'a>,
    programs: Option<Programs<'a>>,
    path: String,
    /// By how much the time of the next event may be wrong.
    error: String,
    /// Grows with the longest category seen, so that messages stay in line.
    category_width: usize,
    messages: Messages<'a>,
}

/// Writes times in one form.
#[derive(Clone)]
pub struct TimeWriter {
    form: TimeStyle,
    clock: WallClock,
    /// Of the first event that was printed.
    first: Option<u64>,
    /// The next older event.
    older: Option<EventTime>,
}

impl TimeWriter {
    /// In this form; absolute ones with their date if `long` is set.
    pub fn new(form: TimeStyle, long: bool) -> TimeWriter {
        TimeWriter {
            form,
            clock: WallClock::new(if long {
                TimeFormat::DateTime
            } else {
                TimeFormat::TimeOfDay
            }),
            first: None,
            older: None,
        }
    }

    fn write(&mut self, event: EventTime, out: &mut Text) {
        let EventTime {
            unix_nanos: time,
            ticks,
            ..
        } = event;
        let first = *self.first.get_or_insert(time.unwrap_or(0));
        let older = self
            .older
            .filter(|older| older.important == event.important);
        let text = match self.form {
            TimeStyle::Absolute => match time {
                Some(nanos) => return self.clock.write(nanos, out),
                None if ticks == 0 => "?".into(),
                None => format!("{ticks} ticks"),
            },
            TimeStyle::Relative => seconds(time, Some(first)),
            TimeStyle::Delta => seconds(time, older.and_then(|older| older.unix_nanos)),
            TimeStyle::Cycles => {
                let cycles = older.and_then(|older| event.cycles_since(older));
                cycles.map_or(String::new(), |cycles| cycles.to_string())
            }
        };
        out.push(&format!("{text:>15}"));
    }
}

/// How much later one time is than another: `+0.000012345`.
fn seconds(time: Option<u64>, than: Option<u64>) -> String {
    let (Some(time), Some(than)) = (time, than) else {
        return String::new();
    };
    let sign = if time < than { '-' } else { '+' };
    let nanos = time.abs_diff(than);
    format!(
        "{sign}{}.{:09}",
        nanos / 1_000_000_000,
        nanos % 1_000_000_000
    )
}

impl<'a> TextLines<'a> {
    /// For the events of `at`, in the columns of a tail unless others are asked for.
    pub fn shown(at: &'a dyn Source, shown: &TextOptions, long: bool) -> TextLines<'a> {
        let columns: &[Column] = match long {
            _ if !shown.columns.is_empty() => &shown.columns,
            true => &Column::LONG,
            false => &Column::SHORT,
        };
        TextLines::new(
            at,
            columns,
            TimeWriter::new(shown.time.unwrap_or(TimeStyle::Absolute), long),
        )
    }

    /// For the events of `at`, in these columns.
    pub fn new(at: &'a dyn Source, columns: &[Column], times: TimeWriter) -> TextLines<'a> {
        TextLines {
            at,
            theme: output::theme(),
            columns: columns.to_vec(),
            times,
            threads: ThreadTexts::new(at),
            programs: None,
            path: String::new(),
            error: String::new(),
            category_width: 12,
            messages: Messages::new(at),
        }
    }

    /// Adds the machine before the thread, if there are several.
    pub fn among(mut self, programs: Option<Programs<'a>>) -> TextLines<'a> {
        self.programs = programs;
        self
    }

    /// The name in the column of the path.
    pub fn named(mut self, path: &str) -> TextLines<'a> {
        self.path = printable(path).into_owned();
        self
    }

    /// Asks for names of threads anew, if one may have changed.
    pub fn notice_renames(&mut self) {
        self.threads.notice_renames();
    }

    /// Says when the next older event was logged than the one that is written next. Otherwise it is
    /// the one written last.
    pub fn set_older(&mut self, older: Option<EventTime>) {
        self.times.older = older;
    }

    /// Says by how much the time of the event may be wrong that is written next.
    pub fn set_error(&mut self, error: String) {
        self.error = error;
    }

    /// Says when the first event was logged, if another source had it.
    pub fn set_first(&mut self, first: EventTime) {
        self.times.first = first.unix_nanos.or(Some(0));
    }

    /// Appends the names of the columns, and ends the line.
    pub fn heading(&self, out: &mut Text) {
        let mut line = String::new();
        for (index, column) in self.columns.iter().enumerate() {
            let (mut name, width) = column.heading();
            let are_cycles = *column == Column::Time && self.times.form == TimeStyle::Cycles;
            if are_cycles {
                name = "cycles";
            }
            line += self.gap(index);
            line += &match column.is_number() || are_cycles {
                true => format!("{name:>width$}"),
                false => format!("{name:<width$}"),
            };
        }
        let bold = self.theme.bold;
        out.push(&format!("{bold}{}{bold:#}\n", line.trim_end()));
    }

    /// What stands before a column.
    fn gap(&self, index: usize) -> &'static str {
        let wide = [Column::Category, Column::Event, Column::Message];
        match self.columns[index] {
            _ if index == 0 => "",
            column if wide.contains(&column) => "  ",
            _ => " ",
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
        let moment = EventTime::of(self.at, event);
        let definition = self.at.definition(event.id);
        let priority = definition.and_then(|definition| definition.priority);
        let loud = self.theme.priority(priority);
        let mut style = None;
        for index in 0..self.columns.len() {
            let column = self.columns[index];
            let is_loud = [Column::Category, Column::Event, Column::Message].contains(&column);
            let wanted = if is_loud { loud } else { self.theme.dim };
            let gap = self.gap(index);
            match style {
                Some(style) if style == wanted => out.push(gap),
                Some(style) => write!(out, "{style:#}{gap}{wanted}")?,
                None => write!(out, "{gap}{wanted}")?,
            }
            style = Some(wanted);
            let is_last = index + 1 == self.columns.len();
            match column {
                Column::Message => {
                    let message = self.messages.text(event, definition);
                    let message = printable_line(&message);
                    marked(&message, needle, (self.theme.found(wanted), wanted), out)?;
                    took(event, out);
                }
                Column::Time => self.times.write(moment, out),
                _ => self.cell(column, event, definition, is_last, out)?,
            }
        }
        let style = style.unwrap_or_default();
        writeln!(out, "{style:#}")?;
        if self.columns.contains(&Column::Message) {
            for frame in stack(self.at, event) {
                writeln!(out, "{FRAME}{}", printable(&frame))?;
            }
        }
        self.times.older = Some(moment);
        Ok(())
    }

    /// Appends a column that is neither the time nor the message.
    fn cell(
        &mut self,
        column: Column,
        event: &Event,
        definition: Option<&Definition>,
        is_last: bool,
        out: &mut Text,
    ) -> std::fmt::Result {
        let (_, width) = column.heading();
        let text = match column {
            Column::Node => return number(event.known_node().map(u64::from), width, out),
            Column::Core => return number(event.known_core().map(u64::from), width, out),
            Column::Tid => return number(event.known_tid().map(u64::from), width, out),
            Column::Pid => {
                let thread = self.at.thread(event);
                let pid = thread.and_then(|thread| thread.known_pid());
                return number(pid.map(u64::from), width, out);
            }
            Column::Thread => {
                let host = self.programs.and_then(|programs| programs.host(event));
                let name =
                    |event: &Event, thread| format!("{:<width$}", thread_name(event, thread, host));
                out.push(self.threads.of(event, name));
                return Ok(());
            }
            Column::Priority => {
                let priority = definition.and_then(|definition| definition.priority);
                priority.map_or("?", |priority| priority.name()).into()
            }
            Column::Category => {
                let category = definition.map_or("?", Definition::shown_category);
                let category = printable(category).into_owned();
                let width = category.chars().count().clamp(self.category_width, WIDEST);
                self.category_width = width;
                format!("{category:<width$}")
            }
            Column::Event => definition.map_or("?".into(), Definition::name),
            Column::Path => self.path.clone(),
            Column::Error => self.error.clone(),
            Column::Time | Column::Message => String::new(),
        };
        match is_last {
            true => out.push(text.trim_end()),
            false => write!(out, "{text:<width$}")?,
        }
        Ok(())
    }
}

fn number(number: Option<u64>, width: usize, out: &mut Text) -> std::fmt::Result {
    out.right(number, width);
    Ok(())
}

/// Appends a message, in which what was searched for is marked.
fn marked(
    message: &str,
    needle: Option<&Needle>,
    (mark, style): (anstyle::Style, anstyle::Style),
    out: &mut Text,
) -> std::fmt::Result {
    let mut from = 0;
    for Range { start, end } in needle.iter().flat_map(|needle| needle.places(message)) {
        let (before, found) = (&message[from..start], &message[start..end]);
        write!(out, "{before}{style:#}{mark}{found}{mark:#}{style}")?;
        from = end;
    }
    out.push(&message[from..]);
    Ok(())
}
