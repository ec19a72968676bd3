//! Takes intervals: as a table, an interval log, all percentiles, or a picture.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use timeline_latency::intervals::{
    self, Distribution, Interval, IntervalLoss, IntervalTable, Intervals, LogEntry, LogHeader,
    LogWriter, Summaries, TableFormat,
};
use timeline_latency::{Measure, ValueUnit};

use super::Args;
use super::plots::Plots;
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::output as messages;
use crate::output_file::{OutputFile, Readers};
use crate::permission;
use crate::target::Target;
use crate::time::now;

/// Bytes of the histograms of rows that wait.
const MOST_BYTES: usize = 64 << 20;
/// Rows that wait in a table until it is known how wide its distributions are.
const MOST_WAITING: usize = 4096;

/// The least and the greatest duration of a table that is written while they come.
const FOLLOWED: (u64, u64) = (100, 1_000_000_000);

type Out = Box<dyn Write>;

/// What a log says of itself in its comments.
pub struct About(Vec<String>);

impl About {
    pub fn of(target: &Target, measures: &[Measure]) -> About {
        let names: Vec<_> = measures.iter().map(Measure::name).collect();
        let path = target.path().display().to_string();
        About(vec![format!(
            "[timeline {}: {} of {}]",
            env!("CARGO_PKG_VERSION"),
            names.join(" "),
            path.replace(char::is_control, "?")
        )])
    }

    pub fn merged(paths: &[PathBuf]) -> About {
        let paths: Vec<_> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let paths = paths.join(" ").replace(char::is_control, "?");
        About(vec![format!(
            "[timeline {}: merged from {paths}]",
            env!("CARGO_PKG_VERSION")
        )])
    }
}

pub struct HistogramOutput<'a> {
    args: &'a Args,
    about: About,
    to: To,
    summaries: Summaries,
    /// How many intervals came.
    count: u64,
    /// Those that wait for the heading of the table.
    kept: Vec<Interval>,
    kept_bytes: usize,
    /// What is missing, and was not written yet: it stands before the intervals behind it.
    losses: VecDeque<IntervalLoss>,
    plots: Plots<'a>,
    unit: ValueUnit,
}

enum To {
    /// A table whose heading is not written yet.
    Rows,
    Table(IntervalTable<Out>),
    Log(Option<Log>),
    Percentiles,
}

impl<'a> HistogramOutput<'a> {
    pub fn new(args: &'a Args, about: About) -> Result<HistogramOutput<'a>> {
        let to = match args.output {
            // Whoever waits for what comes sees that it began.
            Some(_) if args.follow => {
                let mut log = Log::begin(args, &about, Some(now()))?;
                log.show()?;
                To::Log(Some(log))
            }
            Some(_) => To::Log(None),
            None if args.percentiles => To::Percentiles,
            None => To::Rows,
        };
        Ok(HistogramOutput {
            args,
            about,
            to,
            summaries: Summaries::default(),
            count: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            losses: VecDeque::new(),
            plots: Plots::new(&args.plots, &args.target.path().display().to_string())?,
            unit: ValueUnit::default(),
        })
    }

    /// Takes the intervals that are due.
    pub fn take(&mut self, intervals: &mut Intervals, unit: ValueUnit) -> Result {
        if unit != ValueUnit::Nanoseconds && self.args.plots.are_given() {
            let message = "pictures are of durations, and these values are none";
            return Err(Failure::misuse(message));
        }
        self.unit = unit;
        while let Some(interval) = intervals.due() {
            self.add(interval)?;
        }
        // Nobody who follows waits for an interval to end.
        if self.args.follow {
            self.tell_losses(intervals.next_end())?;
        }
        Ok(())
    }

    /// Takes an interval of the only file.
    pub fn add(&mut self, mut interval: Interval) -> Result {
        self.plots.add("", &mut interval)?;
        self.add_without_plots(interval)
    }

    /// Adds an interval of one of several files to the pictures alone.
    pub fn plot(&mut self, file: &str, interval: &mut Interval) -> Result {
        self.plots.add(file, interval)
    }

    /// Takes what else a log says, for the log that is written.
    pub fn note(&mut self, entry: LogEntry) -> Result {
        let To::Log(log) = &mut self.to else {
            return Ok(());
        };
        match (entry, log) {
            // Each log that is written says that of itself.
            (LogEntry::Comment(text), _) if text.starts_with("[Histogram log format version") => {}
            (LogEntry::Comment(text), Some(log)) => log.write(|to| to.comment(&text))?,
            (LogEntry::Comment(text), None) => self.about.0.push(text),
            (LogEntry::StartTime(nanos), Some(log)) => {
                log.write(|to| to.start_time(u64::try_from(nanos).unwrap_or(0)))?;
            }
            // The first interval knows it; times are written from the first BaseTime on.
            (LogEntry::StartTime(_) | LogEntry::BaseTime(_) | LogEntry::Interval(_), _) => {}
        }
        Ok(())
    }

    /// Takes an interval that is not drawn, or was.
    pub fn add_without_plots(&mut self, interval: Interval) -> Result {
        self.count += 1;
        self.summaries.add(&interval)?;
        match &mut self.to {
            To::Rows if self.args.follow || self.args.csv || self.args.json => {
                self.begin_table(FOLLOWED)?;
            }
            To::Rows => {
                self.kept_bytes += 8 * interval.histogram.distinct_values();
                if self.kept.len() < MOST_WAITING && self.kept_bytes <= MOST_BYTES {
                    self.kept.push(interval);
                    return Ok(());
                }
                self.begin_table_of_kept()?;
            }
            To::Log(log @ None) => {
                *log = Some(Log::begin(self.args, &self.about, Some(interval.origin))?);
            }
            To::Table(_) | To::Log(Some(_)) | To::Percentiles => {}
        }
        self.add_row(&interval)
    }

    /// Takes what is missing: it is told in the table, or as a comment of the log, before the
    /// interval in which it begins.
    pub fn miss(&mut self, missed: IntervalLoss) {
        self.losses.push_back(missed);
    }

    /// Tells what is missing since before this time.
    fn tell_losses(&mut self, before: u64) -> Result {
        while let Some(missed) = self.losses.front().copied()
            && missed.since < before
        {
            self.losses.pop_front();
            if let To::Rows = self.to {
                self.begin_table(FOLLOWED)?;
            }
            match &mut self.to {
                To::Table(table) => {
                    table.missed(&missed)?;
                    table.flush()?;
                }
                To::Log(Some(log)) => {
                    log.write(|to| to.comment(&format!("[timeline: {missed}]")))?;
                    log.write(LogWriter::flush)?;
                }
                To::Rows | To::Log(None) | To::Percentiles => {}
            }
        }
        Ok(())
    }

    /// Writes an interval, and before it what is missing until its end.
    fn add_row(&mut self, interval: &Interval) -> Result {
        self.tell_losses(interval.start.saturating_add(interval.length))?;
        match &mut self.to {
            To::Table(table) => {
                table.interval(interval)?;
                if self.args.follow {
                    table.flush()?;
                }
            }
            To::Log(Some(log)) => {
                log.write(|to| to.write(interval))?;
                if self.args.follow {
                    log.write(LogWriter::flush)?;
                }
            }
            To::Rows | To::Log(None) | To::Percentiles => {}
        }
        Ok(())
    }

    fn begin_table(&mut self, range: (u64, u64)) -> Result {
        let format = match (self.args.json, self.args.csv) {
            (true, _) => TableFormat::Json,
            (_, true) => TableFormat::Csv,
            _ => TableFormat::Text,
        };
        let out: Out = Box::new(messages::stdout());
        self.to = To::Table(IntervalTable::new(out, format, self.unit, range)?);
        Ok(())
    }

    /// Begins the table with the intervals that wait, as wide as their durations.
    fn begin_table_of_kept(&mut self) -> Result {
        let filled = self.kept.iter().map(|interval| &interval.histogram);
        let filled = filled.filter(|histogram| !histogram.is_empty());
        let range = filled.fold((u64::MAX, 0), |(least, most), histogram| {
            (least.min(histogram.min()), most.max(histogram.max()))
        });
        let range = if range.0 > range.1 { (1, 1) } else { range };
        self.begin_table((range.0.max(1), range.1.max(1)))?;
        for interval in std::mem::take(&mut self.kept) {
            self.add_row(&interval)?;
        }
        Ok(())
    }

    /// Ends it: writes what waits, the totals, and the picture.
    pub fn finish(mut self) -> Result {
        let is_for_people = !self.args.csv && !self.args.json;
        match &mut self.to {
            // A heading alone says nothing.
            To::Rows if is_for_people && self.count == 0 && self.losses.is_empty() => {}
            To::Rows => self.begin_table_of_kept()?,
            To::Log(log @ None) => *log = Some(Log::begin(self.args, &self.about, None)?),
            To::Table(_) | To::Log(Some(_)) | To::Percentiles => {}
        }
        self.tell_losses(u64::MAX)?;
        match &mut self.to {
            To::Table(table) => {
                for summary in self.summaries.iter() {
                    table.total(summary)?;
                }
                table.flush()?;
            }
            To::Log(log) => log.take().map_or(Ok(()), Log::finish)?,
            To::Percentiles => self.print_percentiles()?,
            To::Rows => {}
        }
        self.plots.finish()?;
        if let Some(file) = &self.args.output
            && file != Path::new("-")
        {
            let (count, file) = (things(self.count, "interval"), file.display());
            messages::say(format_args!("wrote {count} to {file}"));
        }
        Ok(())
    }

    fn print_percentiles(&self) -> Result {
        let mut summaries = self.summaries.iter();
        let (first, second) = (summaries.next(), summaries.next());
        if second.is_some() {
            let tags = self.summaries.iter().map(|summary| {
                let tag = summary.tag.as_deref();
                tag.unwrap_or("(none)")
            });
            let tags: Vec<_> = tags.collect();
            return Err(Failure::misuse(format!(
                "--percentiles is for one span, and there are several: {}; name one with \
                     --span, or with --tag for an interval log",
                tags.join(", ")
            )));
        }
        let Some(summary) = first else {
            return Ok(());
        };
        let mut distribution = Distribution::default();
        let unit = match (self.unit, self.args.unit) {
            (ValueUnit::Nanoseconds, None) => {
                messages::say("the durations are in milliseconds; --unit says another unit");
                None
            }
            (ValueUnit::Nanoseconds, Some(unit)) => {
                let (ratio, name) = unit.of();
                distribution.ratio = ratio;
                Some(name)
            }
            (_, Some(_)) => {
                let message = "--unit is for durations, and these values are none";
                return Err(Failure::misuse(message));
            }
            (values, None) => {
                distribution.ratio = 1.0;
                (values == ValueUnit::Bytes).then_some("bytes")
            }
        };
        let mut out = messages::stdout();
        distribution.write(&summary.histogram, &mut out)?;
        if let Some(unit) = unit {
            writeln!(out, "#[Unit    = {unit:>12}]")?;
        }
        Ok(out.flush()?)
    }
}

/// A log that is being written.
struct Log {
    writer: LogWriter<Out>,
    path: PathBuf,
    /// Its file, unless that is standard output, or has its name.
    file: Option<OutputFile>,
}

impl Log {
    /// Begins a log, which only its owner can read, and writes what stands before the intervals.
    fn begin(args: &Args, about: &About, start: Option<u64>) -> Result<Log> {
        let path = args.output.as_deref().unwrap_or(Path::new("-"));
        let inputs = args.others.iter().map(PathBuf::as_path);
        if inputs
            .chain([args.target.path()])
            .any(|input| is_same(input, path))
        {
            return Err(Failure::Message(format!(
                "expected another file than those that are read, got {}; choose a new name for -o",
                path.display()
            )));
        }
        let (out, file): (Out, _) = match path == Path::new("-") {
            true => (Box::new(messages::stdout()), None),
            false => {
                let file = OutputFile::begin(path, Readers::Owner)?;
                let out = file
                    .file()
                    .try_clone()
                    .map_err(|error| Failure::Message(permission::failed("write", path, &error)))?;
                (Box::new(BufWriter::new(out)), Some(file))
            }
        };
        let header = LogHeader {
            comments: about.0.clone(),
            start_time: start,
            base_time: start,
        };
        let writer = LogWriter::new(out, &header).map_err(|error| failed(path, error))?;
        Ok(Log {
            writer,
            path: path.into(),
            file,
        })
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut LogWriter<Out>) -> intervals::Result<()>,
    ) -> Result {
        write(&mut self.writer).map_err(|error| failed(&self.path, error))
    }

    /// Gives the file its name before it is whole, for those that follow it.
    fn show(&mut self) -> Result {
        self.write(LogWriter::flush)?;
        self.file.take().map_or(Ok(()), OutputFile::finish)
    }

    fn finish(self) -> Result {
        let written = self.writer.into_inner();
        written.map_err(|error| failed(&self.path, error))?;
        self.file.map_or(Ok(()), OutputFile::finish)
    }
}

/// The failure of writing a log to this file, which may be standard output.
fn failed(path: &Path, error: intervals::Error) -> Failure {
    match error {
        intervals::Error::Io(error) if path != Path::new("-") => {
            Failure::Message(permission::failed("write", path, &error))
        }
        other => other.into(),
    }
}

/// Whether two paths lead to one file that exists.
fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| {
        fs::metadata(path)
            .ok()
            .map(|found| (found.dev(), found.ino()))
    };
    found(one).is_some_and(|one| found(other) == Some(one))
}
