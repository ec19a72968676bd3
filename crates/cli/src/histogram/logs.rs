//! Reads intervals from interval logs, of this or of other programs.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use timeline_latency::intervals::{
    Error, Interval, LogIntervals, LogReader, Moment, ReaderOptions, TimeRange, TimeRules,
    corrected, merge,
};

use super::Args;
use super::output::{About, Output};
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::output as messages;

/// How interval logs are read.
#[derive(clap::Args)]
#[command(next_help_heading = "Interval logs")]
pub struct LogOptions {
    /// Only intervals from this time on: so long after the start of the log (10m, 1.5s), or a date
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    start: Option<Moment>,

    /// Only intervals that begin before this time
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    end: Option<Moment>,

    /// Guess what times mean as HistogramLogReader in Java does
    #[arg(long)]
    java_compat: bool,

    /// Pass over damaged lines, and count them
    #[arg(long)]
    skip_damaged: bool,
}

impl LogOptions {
    pub fn are_given(&self) -> bool {
        self.start.is_some() || self.end.is_some() || self.java_compat || self.skip_damaged
    }
}

/// Reads so long after the start, or a date.
fn moment(text: &str) -> std::result::Result<Moment, String> {
    if let Ok(after) = text.parse::<SignedDuration>() {
        let nanos = i64::try_from(after.as_nanos()).ok();
        let nanos = nanos.filter(|nanos| *nanos >= 0);
        let nanos = nanos.ok_or_else(|| format!("expected a time after the start, got {text}"))?;
        return Ok(Moment::Offset(nanos));
    }
    let at = timeline_search::moment(text, &timeline_search::local_now());
    let at = at.map_err(|error| error.to_string())?;
    Ok(Moment::Absolute(at))
}

/// Whether it is a file that begins like an interval log.
pub fn is_log(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut first = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read(&mut first));
    let is_hlog = path
        .extension()
        .is_some_and(|extension| extension == "hlog");
    match (read, first) {
        (Ok(0), _) | (Err(_), _) => is_hlog,
        (Ok(_), [b'#' | b'"' | b'0'..=b'9', ..] | [b'T', b'a', b'g', b'=']) => true,
        _ => is_hlog,
    }
}

/// Prints the intervals of all logs that were named.
pub fn run(args: &Args) -> Result {
    if args.follow {
        return Err(Failure::misuse(
            "histogram",
            "an interval log cannot be followed",
        ));
    }
    if !args.durations.given().is_empty() || !args.field.is_empty() {
        return Err(Failure::misuse(
            "histogram",
            "an interval log has no events to choose from; choose a tag with --tag",
        ));
    }
    let first = args.target.path().to_path_buf();
    let paths: Vec<PathBuf> = [first]
        .into_iter()
        .chain(args.others.iter().cloned())
        .collect();
    let mut output = Output::new(args, About::merged(&paths))?;
    if args.plots.are_given() && paths.len() > 1 {
        draw_each(args, &paths, &mut output)?;
    }
    let mut readers = open(args, &paths)?;
    let failed = Cell::new(None);
    let failed_in = &failed;
    let named = readers.iter_mut().zip(&paths);
    let named = named.map(|(reader, path)| {
        reader.inspect(move |interval| {
            if interval.is_err() {
                failed_in.set(Some(path));
            }
        })
    });
    for interval in merge(named) {
        let interval = interval.map_err(|error| wrong(failed.get(), &error))?;
        let interval = correct(args, interval);
        match paths.len() {
            1 => output.add(interval)?,
            _ => output.add_without_plots(interval)?,
        }
    }
    output.finish()?;
    report(&paths, &readers);
    Ok(())
}

/// Draws several logs beside each other, to compare them.
fn draw_each(args: &Args, paths: &[PathBuf], output: &mut Output) -> Result {
    for (reader, path) in open(args, paths)?.iter_mut().zip(paths) {
        let name = path.display().to_string();
        for interval in reader {
            let interval = interval.map_err(|error| wrong(Some(path), &error))?;
            output.plot(&name, &correct(args, interval))?;
        }
    }
    Ok(())
}

type Reader = LogIntervals<BufReader<File>>;

fn open(args: &Args, paths: &[PathBuf]) -> Result<Vec<Reader>> {
    let LogOptions {
        start,
        end,
        java_compat,
        skip_damaged,
    } = args.logs;
    let open = |path: &PathBuf| {
        let file = File::open(path).map_err(|error| {
            Failure::Message(format!("cannot read {}: {error}", path.display()))
        })?;
        let options = ReaderOptions {
            rules: match java_compat {
                true => TimeRules::Java,
                false => TimeRules::Plain,
            },
            range: TimeRange {
                from: start,
                to: end,
            },
            tags: args.tag.clone().map(|tag| vec![Some(tag)]),
            skip_damaged,
            ..ReaderOptions::default()
        };
        Ok(LogReader::new(BufReader::new(file), options).intervals())
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
    let path = path.map_or(String::new(), |path| format!("{}: ", path.display()));
    Failure::Message(format!("{path}{error}"))
}

/// Says on standard error which lines were damaged.
fn report(paths: &[PathBuf], readers: &[Reader]) {
    for (path, reader) in paths.iter().zip(readers) {
        let (path, reader) = (path.display(), reader.reader());
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
    }
}
