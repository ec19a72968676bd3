//! Reads intervals from interval logs, of this or of other programs.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::SignedDuration;
use timeline::internal::Unknown;
use timeline_import::expanded;
use timeline_latency::intervals::{
    Error, Guesses, Interval, LogEntry, LogReader, ReaderOptions, TimePoint, TimeRange, TimeRules,
    corrected, merge,
};

use super::Args;
use super::output::{About, HistogramOutput};
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::output as messages;
use crate::target::standard_input_file;
use crate::time::parse_duration;

/// How interval logs are read.
#[derive(clap::Args)]
#[command(next_help_heading = "Interval logs")]
pub struct LogOptions {
    /// Only intervals from this time on: so long after the start of the log (10m, 1.5s), or a date
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    start: Option<TimePoint>,

    /// Only intervals that begin before this time
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    end: Option<TimePoint>,

    /// Guess what times mean as HistogramLogReader in Java does
    #[arg(long)]
    java_compat: bool,

    /// What 1 is in histograms of floating-point numbers. 1ns by default
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    float_unit: Option<Duration>,

    /// Pass over damaged lines, and count them
    #[arg(long)]
    skip_damaged: bool,
}

impl LogOptions {
    pub fn are_given(&self) -> bool {
        let is_ranged = self.start.is_some() || self.end.is_some();
        is_ranged || self.java_compat || self.float_unit.is_some() || self.skip_damaged
    }
}

/// Reads so long after the start, or a date.
fn moment(text: &str) -> std::result::Result<TimePoint, String> {
    if let Ok(after) = text.parse::<SignedDuration>() {
        let nanos = i64::try_from(after.as_nanos()).ok();
        let nanos = nanos.filter(|nanos| *nanos >= 0);
        let nanos = nanos.ok_or_else(|| format!("expected a time after the start, got {text}"))?;
        return Ok(TimePoint::Offset(nanos));
    }
    let at = timeline_search::moment(text, &timeline_search::local_now());
    let at = at.map_err(|error| error.to_string())?;
    Ok(TimePoint::Absolute(at))
}

/// Tags that are named where the wanted one is not there.
const MOST_SHOWN: usize = 10;

/// Bytes in which the first line of a log begins, behind empty ones.
const BEGIN: u64 = 4096;

/// Whether it is a file that begins like an interval log, compressed or not.
pub fn is_log(path: &Path) -> Result<bool> {
    let place = place(path)?;
    if !place.is_file() {
        return Ok(false);
    }
    let mut begin = Vec::new();
    // If it is cut short, or cannot be read at all, whoever reads it says so.
    let read = File::open(&place).and_then(expanded);
    let _ = read.and_then(|log| log.take(BEGIN).read_to_end(&mut begin));
    let begin = begin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&begin);
    let is_like_one = match begin.trim_ascii_start() {
        [b'#' | b'"' | b'0'..=b'9', ..] => true,
        text => text.starts_with(b"Tag="),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = name.ends_with(".hlog") || name.contains(".hlog.");
    Ok(is_named || is_like_one)
}

/// Where a log is: standard input is in a file by now.
fn place(path: &Path) -> Result<PathBuf> {
    match path == Path::new("-") {
        true => standard_input_file(),
        false => Ok(path.into()),
    }
}

/// The name of a log for people.
fn shown(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

/// Prints the intervals of all logs that were named.
pub fn run(args: &Args) -> Result {
    if args.follow {
        return Err(Failure::misuse("an interval log cannot be followed"));
    }
    if !args.durations.given().is_empty() || !args.field.is_empty() {
        return Err(Failure::misuse(
            "an interval log has no events to choose from; choose a tag with --tag",
        ));
    }
    let first = args.target.path().to_path_buf();
    let paths: Vec<PathBuf> = [first]
        .into_iter()
        .chain(args.others.iter().cloned())
        .collect();
    if paths.iter().filter(|path| *path == Path::new("-")).count() > 1 {
        let message = "- can be given once, because standard input is read once";
        return Err(Failure::misuse(message));
    }
    let mut output = HistogramOutput::new(args, About::merged(&paths))?;
    if args.plots.are_given() && paths.len() > 1 {
        draw_each(args, &paths, &mut output)?;
    }
    let mut readers = open(args, &paths)?;
    let failed = Cell::new(None);
    let failed_in = &failed;
    let named = readers.iter_mut().zip(&paths);
    let named = named.map(|(reader, path)| {
        reader.inspect(move |entry| {
            if entry.is_err() {
                failed_in.set(Some(path));
            }
        })
    });
    for entry in merge(named) {
        let entry = entry.map_err(|error| wrong(failed.get(), &error))?;
        match (entry, paths.len()) {
            (LogEntry::Interval(interval), 1) => output.add(correct(args, interval))?,
            (LogEntry::Interval(interval), _) => {
                output.add_without_plots(correct(args, interval))?;
            }
            (note, _) => output.note(note)?,
        }
    }
    // Before it is finished: what fails leaves a former file.
    refuse_unknown_tag(args, &readers)?;
    output.finish()?;
    report(args, &paths, &readers);
    Ok(())
}

/// Fails if no interval has the tag that is wanted, and there are others: it is misspelt.
fn refuse_unknown_tag(args: &Args, readers: &[Reader]) -> Result {
    let Some(wanted) = &args.tag else {
        return Ok(());
    };
    let others: Vec<_> = readers.iter().map(Reader::other_tags).collect();
    let Some(others) = others.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let others: BTreeSet<Option<&str>> = others.into_iter().flatten().collect();
    if others.iter().all(Option::is_none) {
        let message = format!("no interval has a tag, so none has {wanted}; leave --tag out");
        return Err(Failure::Message(message));
    }
    if wanted.is_empty() {
        let shown: Vec<_> = others.iter().flatten().take(MOST_SHOWN).copied().collect();
        let shown = shown.join(", ");
        let message = format!("no interval is without a tag; there are: {shown}");
        return Err(Failure::Message(message));
    }
    let shown = |tag: &Option<&str>| tag.unwrap_or("'' (none)").to_owned();
    let others = others.iter().map(shown).collect();
    // A tag is no pattern.
    let unknown = Unknown::among("tag", wanted, &others);
    Err(Failure::Message(unknown.to_string()))
}

/// Draws several logs beside each other, to compare them.
fn draw_each(args: &Args, paths: &[PathBuf], output: &mut HistogramOutput) -> Result {
    for (reader, path) in open(args, paths)?.iter_mut().zip(paths) {
        let name = shown(path);
        for entry in reader {
            let entry = entry.map_err(|error| wrong(Some(path), &error))?;
            if let LogEntry::Interval(interval) = entry {
                output.plot(&name, &mut correct(args, interval))?;
            }
        }
    }
    Ok(())
}

type Reader = LogReader<BufReader<Box<dyn Read>>>;

fn open(args: &Args, paths: &[PathBuf]) -> Result<Vec<Reader>> {
    let LogOptions {
        start,
        end,
        java_compat,
        float_unit,
        skip_damaged,
    } = args.logs;
    // An empty tag is that of intervals without one.
    let tag = |tag: &String| vec![Some(tag.clone()).filter(|tag| !tag.is_empty())];
    let open = |path: &PathBuf| {
        let log = File::open(place(path)?).and_then(expanded);
        let log =
            log.map_err(|error| Failure::Message(format!("cannot read {}: {error}", shown(path))))?;
        let options = ReaderOptions {
            rules: match java_compat {
                true => TimeRules::Java,
                false => TimeRules::Plain,
            },
            range: TimeRange {
                from: start,
                to: end,
            },
            tags: args.tag.as_ref().map(tag),
            float_unit: float_unit.map_or(1.0, |unit| unit.as_nanos() as f64),
            skip_damaged,
            ..ReaderOptions::default()
        };
        Ok(LogReader::new(BufReader::new(log), options))
    };
    paths.iter().map(open).collect()
}

fn correct(args: &Args, mut interval: Interval) -> Interval {
    if let Some(expected) = args.expected_interval {
        let expected = u64::try_from(expected.as_nanos()).unwrap_or(u64::MAX);
        interval.histogram = corrected(&interval.histogram, expected);
    }
    interval
}

fn wrong(path: Option<&PathBuf>, error: &Error) -> Failure {
    let path = path.map_or(String::new(), |path| format!("{}: ", shown(path)));
    Failure::Message(format!("{path}{error}"))
}

/// Says on standard error which lines were damaged, and what was taken for granted.
fn report(args: &Args, paths: &[PathBuf], readers: &[Reader]) {
    for (path, reader) in paths.iter().zip(readers) {
        let path = shown(path);
        for damaged in reader.flaws() {
            messages::say(format_args!(
                "{path}: line {}: {}; passed over",
                damaged.number, damaged.flaw
            ));
        }
        let more = reader.damaged().saturating_sub(reader.flaws().len() as u64);
        if more > 0 {
            messages::say(format_args!(
                "{path}: {}",
                things(more, "more damaged line")
            ));
        }
        for guess in guesses(args, &reader.guesses()) {
            messages::say(format_args!("{path}: {guess}"));
        }
    }
}

/// What was taken for granted, in words.
fn guesses(args: &Args, guesses: &Guesses) -> Vec<String> {
    let Guesses {
        from_start_time,
        long_before_start,
        floats,
        rounded,
    } = *guesses;
    let mut told = Vec::new();
    if from_start_time > 0 {
        let intervals = things(from_start_time, "interval");
        told.push(format!(
            "the times of {intervals} count from StartTime, without which they would be of 1970"
        ));
    }
    if long_before_start > 0 {
        let intervals = things(long_before_start, "interval");
        told.push(format!(
            "{intervals} more than a year before StartTime; with --java-compat, their times count \
             from it"
        ));
    }
    if floats > 0 && args.logs.float_unit.is_none() {
        let intervals = things(floats, "interval");
        told.push(format!(
            "{intervals} of floating-point numbers, taken for nanoseconds; --float-unit says what \
             they are"
        ));
    }
    if rounded > 0 {
        let intervals = things(rounded, "interval");
        told.push(format!(
            "the numbers of {intervals} are rounded to whole nanoseconds"
        ));
    }
    told
}
