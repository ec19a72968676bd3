//! `timeline search`: finds events by the text of their messages.
//!
//! Here are its options, and which events are read; matches.rs searches these.
//!
//! stats.rs is what `--stats` says.

mod matches;
mod stats;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use timeline::{Attached, Order};
use timeline_reading::{Extent, Log, Request, Stream, begins_like_archive};
use timeline_search::{Case, Index, Needle, PageSelection, Query, ReadCounter, SearchSelect};

use crate::args::{ANY, Example, number};
use crate::columns::TextOptions;
use crate::failure::{Failure, Result};
use crate::fetch::Excerpt;
use crate::filters::{Filters, report_missed};
use crate::health;
use crate::indexing;
use crate::output;
use crate::recovery::Executables;
use crate::target::Target;
use crate::unknown_names;
use crate::verb::Verb;
use matches::Search;
use stats::{IndexUse, Stats, nanos};

/// Find events by the text of their messages, in timelines, snapshots and archives
///
/// Prints each event whose message has QUERY in one of its lines, oldest first: time, category and
/// message. Capitals in QUERY count only if it has some.
///
/// The lines of all events have numbers, beginning with 0: the important events come first, then
/// the others by time. A message with several lines has several numbers.
///
/// With --json, each line of a found message is an object, as Horde has them, with the fields time
/// (RFC 3339, UTC), level, priority (if it is app, packet or library, which have no level of their
/// own), id (the number of the definition), message (the line), format (the line with {name} in the
/// places of values), properties (the values by name; category, file and line are objects with
/// $type and $text), lineIndex and lineCount (which line of the message this is, from 0, and how
/// many there are). If several PATHs are searched, path comes first. With --whole, each event is
/// one object: it has the whole message, and in place of the last two line and lines, the number of
/// its first line and how many it has.
///
/// An archive of more than 4 MiB gets an index, which lies beside it (flight.tla.idx) and can be
/// removed at any time. With it, only the parts that may have QUERY are read. `timeline index`
/// makes it as well.
///
/// --stats says what was found and read: how many pages the index has, how many of these may have
/// QUERY, and how many were read in vain, because nothing in them was found; the bytes of what was
/// read, how many events are in it, and how many of these were made, because nothing spoke against
/// them before; the time for opening, for the index and for searching. All CPUs search an archive,
/// so with --limit more may be read than would be needed.
///
/// Exits with 0 if something was found, with 1 if nothing was, and with 2 after an error, also if a
/// part of an archive is damaged or gone.
#[derive(clap::Args)]
#[command(override_usage = "timeline search [OPTIONS] [PATH]... <QUERY>")]
pub struct Args {
    /// The text to find. The words before it are PATHs: names in shared memory (/timeline),
    /// snapshots and archives. PATH can be omitted if there is exactly one timeline in shared
    /// memory
    // One list, because options may stand between PATH and QUERY.
    #[arg(value_name = "QUERY", required = true, num_args = 1..)]
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
    #[arg(
        short = 'A',
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true
    )]
    after_context: Option<usize>,

    /// Print N events before each found one
    #[arg(
        short = 'B',
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true
    )]
    before_context: Option<usize>,

    /// Print N events before and after each found one
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true
    )]
    context: Option<usize>,

    /// Print only how many lines have QUERY
    #[arg(short, long, conflicts_with = "json")]
    count: bool,

    /// Stop after N found events of each PATH
    #[arg(
        short = 'm',
        long,
        value_name = "N",
        value_parser = number::<u64>(ANY),
        allow_negative_numbers = true
    )]
    limit: Option<u64>,

    /// Print the newest event first
    #[arg(short, long)]
    reverse: bool,

    /// Add date, nanoseconds, thread, priority and core
    #[arg(short, long)]
    long: bool,

    /// Print a JSON object for each line of the found events
    #[arg(long, conflicts_with_all = ["after_context", "before_context", "context", "long"])]
    json: bool,

    /// With --json, print one object for each event
    #[arg(long, requires = "json")]
    whole: bool,

    /// Read all events of archives, and neither use nor make an index
    #[arg(long)]
    no_index: bool,

    /// Say on standard error what was read of each PATH, and how long it took. With --json, as an
    /// object
    #[arg(long)]
    stats: bool,

    #[command(flatten)]
    shown: TextOptions,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    executables: Executables,
}

impl Args {
    /// Whether events that are not found matter: they are numbered, printed or counted.
    fn needs_others(&self) -> bool {
        let context = [self.after_context, self.before_context, self.context];
        self.line_number || self.whole || self.stats || context.iter().any(Option::is_some)
    }
}

/// The argument that is PATHs and QUERY.
pub const WORDS: &str = "words";

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
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

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn is_long(&self) -> bool {
        true
    }

    fn is_search(&self) -> bool {
        true
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    let case = match (args.ignore_case, args.case_sensitive) {
        (true, _) => Case::Insensitive,
        (_, true) => Case::Sensitive,
        _ => Case::Smart,
    };
    let (wanted, paths) = args.words.split_last().expect("clap asks for one word");
    let Some(wanted) = wanted.to_str() else {
        let wanted = wanted.display();
        return Err(Failure::misuse(format!(
            "QUERY must be UTF-8, got {wanted}"
        )));
    };
    if !args.regex && wanted.contains('\n') {
        let message = "QUERY must be a single line, because no line of a message has several";
        return Err(Failure::misuse(message));
    }
    let needle = match args.regex {
        true => Needle::regex(wanted, case),
        false => Needle::text(wanted, case),
    };
    let needle = needle.map_err(|error| Failure::misuse(error.to_string()))?;
    let query = args.filters.query();
    let mut found = 0;
    let mut out = output::stdout();
    if let ([], Some(what)) = (paths, kind_of(wanted.as_ref())) {
        return Err(Failure::misuse(format!(
            "the QUERY is missing: {wanted} is {what}; write `timeline search PATH QUERY`"
        )));
    }
    let all = Query {
        texts: [&query.texts[..], std::slice::from_ref(&needle)].concat(),
        ..query.clone()
    };
    let wanted = match args.needs_others() {
        true => Excerpt::All,
        false => Excerpt::Where(&all),
    };
    // All are opened before anything is printed.
    let targets = targets(paths)?;
    let extent = match args.no_index {
        true => Extent::Whole,
        false => Extent::Indexed,
    };
    let logs = targets.iter().map(|target| {
        let begun = Instant::now();
        let log = target.open_wanted(extent, &wanted);
        let log = log.map_err(|failure| swapped(failure, target.path(), args));
        log.map(|log| (log, begun.elapsed()))
    });
    let logs: Vec<_> = logs.collect::<Result<_>>()?;
    for (log, opened) in &logs {
        let mut stats = Stats::of(log.path(), *opened);
        found += search(args, log, &needle, &query, &mut stats, &mut out)?;
        out.flush()?;
        if args.stats {
            stats.say(args.json);
        }
    }
    let logs: Vec<_> = logs.iter().map(|(log, _)| log).collect();
    unknown_names::tell(&query, &logs);
    match found {
        0 => Err(Failure::NothingFound),
        _ => Ok(()),
    }
}

/// What a word is that was given as QUERY, if it can be read.
fn kind_of(word: &Path) -> Option<&'static str> {
    match () {
        () if begins_like_archive(word) => Some("an archive"),
        () if Attached::open(word).is_ok() => Some("a timeline"),
        () => None,
    }
}

/// Adds to an error that words may stand in the order of grep, if the first one is not there and
/// the last one can be read.
fn swapped(failure: Failure, path: &Path, args: &Args) -> Failure {
    let [first, others @ .., last] = &args.words[..] else {
        return failure;
    };
    let can_be_read = || Path::new(last).exists() || Attached::open(last).is_ok();
    match failure {
        Failure::Message(message) if path == first && !path.exists() && can_be_read() => {
            let words = others.iter().chain([last, first]);
            let meant: String = words.map(|word| format!(" {}", quoted(word))).collect();
            // Behind this, nothing is an option.
            let meant = if meant.contains(" -") {
                format!(" --{meant}")
            } else {
                meant
            };
            Failure::Message(format!(
                "{message}; QUERY stands behind PATH: did you mean `timeline search{meant}`?"
            ))
        }
        other => other,
    }
}

/// A word as a shell takes it.
fn quoted(word: &OsStr) -> String {
    let word = word.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._+-:=,@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn targets(paths: &[OsString]) -> Result<Vec<Target>> {
    if paths.is_empty() {
        let mut only = Target::default();
        only.choose()?;
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
    log: &Log,
    needle: &Needle,
    query: &Query,
    stats: &mut Stats,
    out: &mut impl Write,
) -> Result<u64> {
    let mut search = Search::new(args, log, needle, query);
    let begun = Instant::now();
    let archive = log.archive().filter(|_| search.can_use_index(query));
    let mut index = archive.map(|archive| indexing::of(log.path(), archive));
    let selection = index.as_mut().map(|(index, is_made)| {
        let selection = search.choose(index, stats);
        if index.is_damaged() && indexing::update(index, log.path(), || true).is_ok() {
            *is_made = true;
            return search.choose(index, stats);
        }
        selection
    });
    if let Some((index, is_made)) = index.as_ref().filter(|_| args.stats) {
        stats.pages = index.coverage().pages;
        stats.index = match (stats.pages, is_made) {
            (0, _) => IndexUse::None,
            (_, true) => IndexUse::Made,
            (_, false) => IndexUse::Used,
        };
    }
    stats.index_ns = nanos(begun.elapsed());
    let begun = Instant::now();
    if search.has_numbers && args.reverse {
        let index = index.as_ref().map(|(index, _)| index);
        let rest = index.map(Index::rest);
        search.count_lines(stream(log, Order::OldestFirst, rest), index);
    }
    let counted = log.archive().filter(|_| args.stats).map(ReadCounter::new);
    search_events(&mut search, log, query, (selection, counted.as_ref()), out)?;
    (stats.looked_at, stats.made) = (search.looked_at, search.made);
    if let (Some(archive), Some(counted)) = (log.archive(), &counted) {
        stats.take(counted.counts());
        stats.bytes_of_all = archive.units().map(|unit| unit.place.len() as u64).sum();
    }
    (stats.lines, stats.events) = (search.found, search.found_events);
    stats.search_ns = nanos(begun.elapsed());
    Ok(search.found)
}

/// Searches what is selected, or all if there is no selection, and counts what is read of an
/// archive.
fn search_events(
    search: &mut Search,
    log: &Log,
    query: &Query,
    (selection, counted): (Option<PageSelection>, Option<&ReadCounter>),
    out: &mut impl Write,
) -> Result {
    let (needed, all) = (search.query(log, query), search.all_conditions(query));
    let has_needle = needed.texts.len() == all.texts.len();
    let needed = Some(&needed).filter(|needed| !needed.is_empty());
    let Some(archive) = log.archive() else {
        let request = Request::new(search.order);
        let request = needed.map_or(request, |needed| request.query(needed));
        return report(search, log.stream(request), query, out);
    };
    if needed.is_none() && counted.is_none() {
        return report(search, stream(log, search.order, selection), query, out);
    }
    let make = || {
        let filter = needed.map(|needed| needed.on(archive));
        let select = SearchSelect::of(selection.clone()).and(filter);
        match counted {
            Some(counted) => {
                let found = (!has_needle).then(|| all.on(archive));
                select.counted(counted, found)
            }
            None => select,
        }
    };
    archive.read_ahead(search.order, make, |events| {
        report(search, Stream::of(log, events), query, out)
    })
}

/// Prints what is found among these events, and says what was missed.
fn report(search: &mut Search, mut stream: Stream, query: &Query, out: &mut impl Write) -> Result {
    search.all(stream.by_ref(), out)?;
    let missed = stream.outcome()?.missed;
    // An event without the needle hides nothing that was asked for.
    if !query.is_empty() {
        report_missed(missed.saturating_add(search.sieve.missed()));
    }
    health::report_stream(&stream)
}

/// The selected events; all if there is no selection.
fn stream(log: &Log, order: Order, selection: Option<PageSelection>) -> Stream<'_> {
    match selection {
        Some(selection) => log.stream_of(Request::new(order), selection),
        None => log.stream(Request::new(order)),
    }
}
