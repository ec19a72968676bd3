//! `timeline search`: finds events by the text of their messages.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Write;

use timeline::dump::{Messages, Text, printable};
use timeline::{Event, Order, Source};
use timeline_search::{Case, Index, LineNumbers, Needle, Query, Selection, line_count};

use crate::args::Example;
use crate::columns::Shown;
use crate::failure::{Failure, INFALLIBLE, Result};
use crate::filters::{Filters, Wanted};
use crate::indexing;
use crate::json::LogLines;
use crate::output;
use crate::reading::{Events, Reading};
use crate::style::Theme;
use crate::target::Target;
use crate::text_lines::{Moment, TextLines};

/// Find events by the text of their messages, in timelines, snapshots and archives
///
/// Prints each event whose message has QUERY in one of its lines, oldest first: time, category and
/// message. Capitals in QUERY count only if it has some.
///
/// The lines of all events have numbers, beginning with 0: the important events come first, then
/// the others by time. A message with several lines has several numbers.
///
/// With --json, each line is an object with the fields time (RFC 3339, UTC), level, id (the number
/// of the definition), message, format (the message with {name} in the places of values),
/// properties (the values by name; category, file and line are objects with $type and $text),
/// lineIndex and lineCount. If several PATHs are searched, path comes first.
///
/// An archive of more than 4 MiB gets an index, which lies beside it (flight.tla.idx) and can be
/// removed at any time. With it, only the parts that may have QUERY are read. `timeline index`
/// makes it as well.
///
/// Exits with 0 if something was found, with 1 if nothing was, and with 2 after an error.
#[derive(clap::Args)]
#[command(override_usage = "timeline search [OPTIONS] [PATH]... <QUERY>")]
pub struct Args {
    /// The text to find, behind names in shared memory, snapshots and archives. PATH can be omitted
    /// if there is exactly one timeline in shared memory
    // One list, because options may stand between PATH and QUERY.
    #[arg(value_name = "WORD", required = true, num_args = 1..)]
    words: Vec<OsString>,

    /// QUERY is a regular expression
    #[arg(short = 'E', long)]
    regex: bool,

    /// Capitals never count
    #[arg(short, long, conflicts_with = "case_sensitive")]
    ignore_case: bool,

    /// Capitals always count
    #[arg(short = 's', long)]
    case_sensitive: bool,

    /// Print the number of the first line of each event
    #[arg(short = 'n', long)]
    line_number: bool,

    /// Print N events after each found one
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<usize>,

    /// Print N events before each found one
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<usize>,

    /// Print N events before and after each found one
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,

    /// Print only how many lines have QUERY
    #[arg(short, long, conflicts_with = "json")]
    count: bool,

    /// Stop after N found events of each PATH
    #[arg(short = 'm', long, value_name = "N")]
    limit: Option<u64>,

    /// Print the newest event first
    #[arg(short, long)]
    reverse: bool,

    /// Print one JSON object per line
    #[arg(long, conflicts_with_all = ["after_context", "before_context", "context"])]
    json: bool,

    /// Read all events of archives, and neither use nor make an index
    #[arg(long)]
    no_index: bool,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    filters: Filters,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    (
        "Where a request appears in what was recorded",
        "timeline search flights/ 7f3a90c1",
    ),
    (
        "Timeouts of the last ten minutes, with what happened around them",
        "timeline search /timeline -C 5 --since '10m ago' timeout",
    ),
    (
        "The newest five events that match, as JSON",
        "timeline search flight.tla --regex 'eth[01] (up|down)' --reverse -m 5 --json",
    ),
    (
        "How often each of two archives says it",
        "timeline search flight.tla crash.tla -c 'link down'",
    ),
];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    let case = match (args.ignore_case, args.case_sensitive) {
        (true, _) => Case::Insensitive,
        (_, true) => Case::Sensitive,
        _ => Case::Smart,
    };
    let (wanted, paths) = args.words.split_last().expect("clap asks for one word");
    let Some(wanted) = wanted.to_str() else {
        let wanted = wanted.display();
        return Err(Failure::misuse(
            "search",
            format!("QUERY must be UTF-8, got {wanted}"),
        ));
    };
    if !args.regex && wanted.contains('\n') {
        let message = "QUERY must be a single line, because no line of a message has several";
        return Err(Failure::misuse("search", message));
    }
    let needle = match args.regex {
        true => Needle::regex(wanted, case),
        false => Needle::text(wanted, case),
    };
    let needle = needle.map_err(|error| Failure::misuse("search", error.to_string()))?;
    let query = args.filters.query();
    let mut found = 0;
    let mut out = output::stdout();
    // All are opened before anything is printed.
    let targets = targets(paths)?;
    let open = if args.no_index {
        Reading::open_whole
    } else {
        Reading::open
    };
    let readings: Vec<Reading> = targets.iter().map(open).collect::<Result<_>>()?;
    for reading in &readings {
        found += search(args, reading, &needle, &query, &mut out)?;
        out.flush()?;
    }
    match found {
        0 => Err(Failure::NothingFound),
        _ => Ok(()),
    }
}

fn targets(paths: &[OsString]) -> Result<Vec<Target>> {
    if paths.is_empty() {
        let mut only = Target::default();
        only.choose("search")?;
        return Ok(vec![only]);
    }
    Ok(paths
        .iter()
        .map(|path| Target::named(path.into()))
        .collect())
}

/// Searches one timeline or archive. Returns how many lines were found.
fn search(
    args: &Args,
    reading: &Reading,
    needle: &Needle,
    query: &Query,
    out: &mut impl Write,
) -> Result<u64> {
    let order = match args.reverse {
        true => Order::NewestFirst,
        false => Order::OldestFirst,
    };
    let mut search = Search::new(args, reading, needle, query);
    let archive = reading.archive().filter(|_| search.can_use_index(query));
    let mut index = archive.map(|archive| indexing::of(reading.path(), archive));
    let selection = index.as_mut().map(|index| {
        let selection = search.choose(index, order);
        let is_mended = index.is_damaged() && indexing::update(index, reading.path()).is_ok();
        match is_mended {
            true => search.choose(index, order),
            false => selection,
        }
    });
    if search.has_numbers && args.reverse {
        let rest = index.as_ref().map(Index::rest);
        search.count_lines(events(reading, Order::OldestFirst, rest), index.as_ref());
    }
    let mut events = match (search.is_filtered(), selection) {
        (false, selection) => events(reading, order, selection),
        (true, None) => reading.wanted(order, query),
        (true, Some(selection)) => {
            reading.events_where(order, (selection, query.on(reading.source())))
        }
    };
    search.all(events.by_ref(), out)?;
    if search.is_filtered() {
        events.report_missed();
    } else {
        search.wanted.report();
    }
    events.report()?;
    Ok(search.found)
}

/// The selected events; all if there is no selection.
fn events(reading: &Reading, order: Order, selection: Option<Selection>) -> Events<'_> {
    match selection {
        Some(selection) => reading.events_where(order, selection),
        None => reading.events(order),
    }
}

/// Searches the events of one source.
struct Search<'a> {
    args: &'a Args,
    at: &'a dyn Source,
    needle: &'a Needle,
    wanted: Wanted<'a>,
    messages: Messages<'a>,
    writer: Writer<'a>,
    theme: Theme,
    /// The path and a colon, if there are several.
    path_shown: String,
    has_numbers: bool,
    has_filters: bool,
    numbers: LineNumbers,
    /// How many lines were found, and in how many events.
    found: u64,
    found_events: u64,
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
    fn new(
        args: &'a Args,
        reading: &'a Reading,
        needle: &'a Needle,
        query: &'a Query,
    ) -> Search<'a> {
        let (at, path) = (reading.source(), reading.path().display().to_string());
        let path = (args.words.len() > 2).then_some(path);
        let theme = output::theme();
        let name = theme.name;
        let has_numbers = args.line_number || args.json;
        let writer = match args.json {
            true => Writer::Json(LogLines::new(at, path.as_deref())),
            false => {
                let lines = TextLines::shown(at, &args.shown, false);
                Writer::Text(Box::new(
                    lines
                        .among(reading.programs())
                        .named(path.as_deref().unwrap_or_default()),
                ))
            }
        };
        Search {
            args,
            at,
            needle,
            // Lines are numbered before events are left out.
            wanted: match has_numbers || reading.archive().is_none() {
                true => Wanted::new(query, at),
                false => Wanted::all(),
            },
            messages: Messages::new(at),
            writer,
            theme,
            path_shown: match &path {
                Some(path) => format!("{name}{}{name:#}:", printable(path)),
                None => String::new(),
            },
            has_numbers,
            has_filters: !query.is_empty(),
            numbers: LineNumbers::new(match args.reverse {
                true => Order::NewestFirst,
                false => Order::OldestFirst,
            }),
            found: 0,
            found_events: 0,
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
    fn can_use_index(&self, query: &Query) -> bool {
        let has_context = self.before_most > 0 || self.after_most > 0;
        !self.args.no_index && (query.is_empty() || !has_context)
    }

    /// Whether unwanted events are left out before they come here.
    fn is_filtered(&self) -> bool {
        self.has_filters && self.wanted.are_all()
    }

    /// The events that have to be read.
    fn choose(&mut self, index: &mut Index, order: Order) -> Selection {
        let context = self.before_most.max(self.after_most);
        let context = (context > 0 || self.has_numbers).then_some(context);
        let candidates = index.candidates(self.needle, order, context);
        self.numbers = candidates.lines;
        candidates.selection
    }

    /// Counts all lines, because from newest to oldest the last number comes first. Of an archive,
    /// the events are those that are not indexed.
    fn count_lines(&mut self, events: impl Iterator<Item = Event>, index: Option<&Index>) {
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
    fn all(&mut self, events: impl Iterator<Item = Event>, out: &mut impl Write) -> Result {
        for event in events {
            let first = self.number(&event);
            if !self.wanted.has(&event) {
                continue;
            }
            let message = self.messages.text(&event, self.at.definition(event.id));
            let lines = message
                .lines()
                .filter(|line| self.needle.is_in(line))
                .count() as u64;
            let lines = lines.max((message.is_empty() && self.needle.is_in("")).into());
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
            let count = line_count(&message);
            lines.write(&event, &message, first, count, &mut self.line);
            return Ok(out.write_all(self.line.as_bytes())?);
        }
        let has_context = self.before_most > 0 || self.after_most > 0;
        let is_apart = has_context && std::mem::take(&mut self.has_gap) && self.has_printed;
        self.has_printed = true;
        let older = Some(Moment::of(self.at, &event));
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
        older: Option<Moment>,
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
