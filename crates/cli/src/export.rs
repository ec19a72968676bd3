//! `timeline export`: writes the events of an archive in other formats.

use std::io::Write;

use clap::ValueEnum;
use timeline::Order;
use timeline::dump::{Messages, Text};
use timeline_archive::Archive;
use timeline_import::{CLOCK, LineWriter};
use timeline_reading::{Extent, Log, Request};
use timeline_search::{line_count, message_lines};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::health;
use crate::json::LogLines;
use crate::output;
use crate::recovery::Executables;
use crate::target::Target;
use crate::verb::Verb;

/// Write events in another format, oldest first
///
/// As text, an event is the lines of its message. Of an archive of imported logs, this is the log:
/// the same bytes for lines of text, and equal objects for lines of JSON.
///
/// As jsonl, each line of a message is an object, as `timeline search --json` prints it. An event
/// that was imported from JSON is an object that is equal to the one that it was. With --whole,
/// each event is one object.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Write one object for each event, with line and lines: the number of its first line, and how
    /// many it has
    #[arg(long)]
    whole: bool,

    #[command(flatten)]
    executables: Executables,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The messages, or the lines of imported logs
    Text,
    /// An object for each line of a message
    Jsonl,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Get back the log of which an archive was made",
        "timeline export crash.tla --format text",
    ),
    (
        "Events for programs that read JSON",
        "timeline export flight.tla --format jsonl",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(&mut self.target)
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if args.whole && args.format != Format::Jsonl {
        let message = "--whole is for objects; add --format jsonl";
        return Err(Failure::misuse(message));
    }
    let log = args.target.open(Extent::Indexed)?;
    match (
        args.format,
        log.archive().filter(|archive| is_imported(archive)),
    ) {
        (Format::Text, Some(archive)) => lines(archive, &log),
        (Format::Text, None) => messages(&log),
        (Format::Jsonl, _) => objects(&log, args.whole),
    }
}

/// Whether all events of an archive are imported lines.
pub fn is_imported(archive: &Archive) -> bool {
    let mut magics = archive.magics().map(|magic| archive.preamble(magic));
    magics.all(|preamble| preamble.is_some_and(|p| p.clock.as_deref() == Some(CLOCK)))
}

/// Writes imported lines as they were.
fn lines(archive: &Archive, log: &Log) -> Result {
    let mut out = output::stdout();
    let (mut writer, mut count, mut line) = (LineWriter::default(), 0, Vec::new());
    for event in archive.events() {
        count += 1;
        line.clear();
        writer.write(&event, &mut line);
        out.write_all(&line)?;
    }
    out.flush()?;
    let lost = archive.count().saturating_sub(count);
    health::report(log.path(), archive, lost);
    Ok(())
}

/// Writes the lines of each message.
fn messages(log: &Log) -> Result {
    let mut out = output::stdout();
    let mut messages = Messages::new(log.source());
    let mut events = log.stream(Request::new(Order::OldestFirst));
    for event in events.by_ref() {
        let text = messages.text(&event, log.source().definition(event.id));
        // A line feed at the end of a message begins no line.
        for line in message_lines(&text) {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    health::report_stream(&events)
}

/// Writes an object for each line, or for each event as a whole.
fn objects(log: &Log, are_whole: bool) -> Result {
    let mut out = output::stdout();
    let source = log.source();
    let mut messages = Messages::new(source);
    let (mut lines, mut line) = (LogLines::new(source, None).whole(are_whole), Text::new());
    let (mut events, mut next) = (log.stream(Request::new(Order::OldestFirst)), 0);
    for event in events.by_ref() {
        let message = messages.text(&event, source.definition(event.id));
        line.clear();
        lines.write(&event, &message, next, &mut line);
        next += line_count(&message);
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;
    health::report_stream(&events)
}
