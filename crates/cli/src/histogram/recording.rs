//! Makes intervals of the durations of a timeline or an archive.

use timeline_latency::intervals::{Intervals, TagId};
use timeline_latency::{Matcher, Measure, Measurement, Series, ValueUnit};
use timeline_reading::Extent;

use super::Args;
use super::output::{About, HistogramOutput};
use crate::durations::{self, Finding};
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::output as messages;
use crate::unknown_names;

/// Records durations under the tags of their series.
pub struct HistogramRecorder {
    pub intervals: Intervals,
    /// By the number of the series.
    tags: Vec<TagId>,
    /// Whether each series has a tag of its name.
    are_tagged: bool,
    tag: Option<String>,
    /// What is recorded, in a word.
    thing: &'static str,
    /// How many were recorded.
    count: u64,
    /// The first error: a tag too many.
    failed: Option<timeline_latency::intervals::Error>,
}

impl HistogramRecorder {
    pub fn new(args: &Args, measures: &[Measure]) -> Result<HistogramRecorder> {
        let mut intervals = Intervals::new(args.interval_options())?;
        let is_pattern = |name: String| name.contains(['*', '?']);
        let are_tagged = measures.len() > 1 || measures.iter().any(|one| is_pattern(one.name()));
        if !are_tagged {
            // So that a log without durations has its intervals as well.
            intervals.tag(args.tag.as_deref())?;
        }
        Ok(HistogramRecorder {
            intervals,
            tags: Vec::new(),
            are_tagged,
            tag: args.tag.clone(),
            thing: if args.field.is_empty() {
                "duration"
            } else {
                "value"
            },
            count: 0,
            failed: None,
        })
    }

    pub fn add(&mut self, series: &[Series], found: &Measurement) {
        while self.tags.len() <= found.series {
            let series = &series[self.tags.len()];
            let name = match self.are_tagged {
                true => Some(tag_of(&series.name)),
                false => self.tag.clone(),
            };
            match self.intervals.tag(name.as_deref()) {
                Ok(tag) => self.tags.push(tag),
                Err(error) => {
                    self.failed.get_or_insert(error);
                    return;
                }
            }
        }
        self.count += 1;
        self.intervals
            .record(self.tags[found.series], found.end, found.value);
    }

    /// Goes on with the durations of another timeline, whose series have other numbers.
    pub fn next_source(&mut self) {
        self.tags.clear();
    }

    /// Fails if a duration could not be recorded.
    pub fn check(&mut self) -> Result {
        self.failed.take().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Says on standard error what was recorded elsewhere.
    pub fn report(&self) {
        if self.count == 0 {
            match self.thing {
                "value" => messages::say("no values were found"),
                _ => messages::say(durations::NONE),
            }
        }
        let parts = [
            (
                self.intervals.late(),
                "came late, and are in a later interval",
            ),
            (
                self.intervals.clamped(),
                "were longer than the longest that can be recorded",
            ),
        ];
        for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
            messages::say(format_args!("{} {what}", things(count, self.thing)));
        }
        if self.intervals.left_out() > 0 {
            let empty = things(self.intervals.left_out(), "empty interval");
            messages::say(format_args!("{empty} left out"));
        }
    }
}

/// The name of a series as a tag of a log, which has no commas and no spaces.
fn tag_of(name: &str) -> String {
    let is_bad = |c: char| c == ',' || c.is_whitespace() || c.is_control();
    name.replace(is_bad, "_")
}

/// Fails if values of several units would be in one table, or a tag would have several series.
pub fn check_series(args: &Args, matcher: &Matcher) -> Result {
    let series = matcher.series();
    let mut units = series.iter().map(|series| series.unit);
    let first = units.next().unwrap_or_default();
    if units.any(|unit| unit != first) {
        return Err(Failure::misuse(
            "these are values of several units; ask for those of one unit",
        ));
    }
    if let Some(series) = matcher.fraction() {
        return Err(Failure::misuse(format!(
            "{} has values with fractions, and a histogram counts whole numbers; give --scale \
                 1000 to count thousandths, or --scale 1 to round them",
            series.name
        )));
    }
    if let (Some(tag), [_, _, ..]) = (&args.tag, series) {
        let names: Vec<_> = series.iter().map(|series| &*series.name).collect();
        let names = names.join(", ");
        return Err(Failure::misuse(format!(
            "--tag {tag} is for one span, and there are several: {names}"
        )));
    }
    Ok(())
}

/// Records all durations that there are.
pub fn run(args: &Args) -> Result {
    let query = args.filters.query();
    let log = args.target.open(Extent::Indexed)?;
    let measures = args.measures()?;
    let mut finding = Finding::new(&log, &measures, &args.durations, &query);
    let mut recording = HistogramRecorder::new(args, &measures)?;
    let mut output = HistogramOutput::new(args, About::of(&args.target, &measures))?;
    // Before the events are read: it stands before them.
    if let Some(missed) = finding.begin(&log) {
        output.miss(missed);
    }
    let mut result = Ok(());
    finding.all(&log, |series, found| {
        if result.is_ok() {
            recording.add(series, &found);
            result = output.take(&mut recording.intervals, unit(series));
        }
    })?;
    result?;
    recording.check()?;
    check_series(args, &finding.matcher)?;
    finding.refuse_unknown()?;
    recording.intervals.finish();
    output.take(&mut recording.intervals, unit(finding.matcher.series()))?;
    if let Some(missed) = finding.overwritten() {
        output.miss(missed);
    }
    output.finish()?;
    unknown_names::tell(&query, &[&log]);
    finding.report();
    recording.report();
    Ok(())
}

/// The unit of all values.
pub fn unit(series: &[Series]) -> ValueUnit {
    series
        .first()
        .map_or_else(ValueUnit::default, |series| series.unit)
}
