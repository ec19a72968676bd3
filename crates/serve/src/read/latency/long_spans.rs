//! The spans that last too long to be found by reading what is around a range.
//!
//! To find where such a span began, all of the log has to be read. So they are found once and kept,
//! for each log and each filter. While a log grows, they are found again so seldom that it takes a
//! twentieth of the time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use timeline::{Event, Source, ThreadRef};
use timeline_latency::{Matcher, Measure, Measurement, OpenSpan, Series};
use timeline_reading::Longest;

use super::find::{DurationFilter, LONGEST, each_event, id};
use super::spans::{Bar, KEYED, OPEN, SpanQuery, Spans};
use crate::error::Result;
use crate::logs::Version;
use crate::read::cancel::Cancel;
use crate::read::names::{NameNumbers, NameTable};
use crate::read::summary::UNKNOWN_CORE;

/// So many are kept, the longest: 8 MiB.
const MOST: usize = 200_000;
/// They are found again after so many times the time that it took.
const PAUSES: u32 = 20;

/// The long spans of a log, as it was at some time.
struct LongSpans {
    spans: Vec<LongSpan>,
    series: Vec<String>,
    names: NameTable,
    /// How many there are beyond [`MOST`].
    more: u64,
    /// When they were found, and how long that took.
    found: Instant,
    took: Duration,
}

struct LongSpan {
    series: usize,
    begin: u64,
    end: u64,
    depth: usize,
    flags: u8,
    thread: u32,
    /// The core on which it ended.
    core: Option<u16>,
}

/// The long spans that were found last, of this version of a log or of one before.
#[derive(Default)]
struct Last {
    spans: Option<Arc<LongSpans>>,
    is_of_this: bool,
}

/// Finds the spans that overlap a range and last longer than [`LONGEST`], and those that are open
/// at the end of the log.
///
/// # Errors
/// If it was cancelled before they were found.
pub fn long_spans(
    version: &Version,
    asked: &SpanQuery,
    key: &str,
    cancel: &Cancel,
) -> Result<Spans> {
    let key = format!("long spans {key}");
    let last = version.kept(&key, |before: Option<Arc<Mutex<Last>>>| {
        let before = before.and_then(|before| lock(&before).spans.clone());
        Ok(Mutex::new(Last {
            spans: before,
            is_of_this: false,
        }))
    })?;
    let (all, is_of_this) = {
        let mut last = lock(&last);
        let is_good = |all: &LongSpans| all.found.elapsed() < PAUSES * all.took;
        match &last.spans {
            Some(all) if last.is_of_this || is_good(all) => (Arc::clone(all), last.is_of_this),
            _ => {
                let all = Arc::new(LongSpans::find(version, asked, cancel)?);
                (last.spans, last.is_of_this) = (Some(Arc::clone(&all)), true);
                (all, true)
            }
        }
    };
    Ok(Spans {
        behind: !is_of_this,
        ..all.of_range(asked)
    })
}

fn lock(last: &Mutex<Last>) -> MutexGuard<'_, Last> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LongSpans {
    fn find(version: &Version, asked: &SpanQuery, cancel: &Cancel) -> Result<LongSpans> {
        let found = Instant::now();
        let archive = version.archive();
        let wanted = DurationFilter {
            measures: vec![Measure::Spans("*".into())],
            range: None,
            query: asked.query.clone(),
        };
        let mut numbers = NameNumbers::new(archive, NameTable::default());
        let (mut longest, mut series) = (Longest::new(MOST), Vec::<Series>::new());
        let mut take = |matcher: &Matcher, event: &Event, ended: &mut Vec<Measurement>| {
            if series.len() < matcher.series().len() {
                series = matcher.series().to_vec();
            }
            for found in ended.drain(..).filter(|found| found.value > LONGEST) {
                let span = LongSpan {
                    series: found.series,
                    begin: found.begin,
                    end: found.end,
                    depth: found.depth,
                    flags: if found.key.is_some() { KEYED } else { 0 },
                    thread: numbers.thread((found.thread, found.tid)),
                    core: event.known_core(),
                };
                longest.add(found.value, span);
            }
            true
        };
        archive.find_definitions(|| !cancel.is_set());
        cancel.check()?;
        let has_spans = archive.definitions().any(|one| one.span_part().is_some());
        let open = match has_spans {
            true => each_event(version, &wanted, cancel, &mut take)?,
            false => Vec::new(),
        };
        let last = archive.times().map_or(0, |(_, last)| last);
        // Filters are about the event that ends a span. These have none.
        let open = match asked.query.is_empty() {
            true => open,
            false => Vec::new(),
        };
        for (depth, thread, one) in of_threads(open) {
            let end = last.max(one.begin);
            let span = LongSpan {
                series: one.series,
                begin: one.begin,
                end,
                depth,
                flags: OPEN,
                thread: numbers.thread(thread),
                core: None,
            };
            longest.add(end - one.begin, span);
        }
        Ok(LongSpans {
            more: longest.count.saturating_sub(MOST as u64),
            spans: longest.into_sorted().collect(),
            series: series.iter().map(id).collect(),
            names: numbers.names,
            found,
            took: found.elapsed(),
        })
    }

    fn of_range(&self, asked: &SpanQuery) -> Spans {
        let (from, to) = asked.range;
        let (mut bars, mut short) = (Longest::new(asked.limit), 0);
        let mut elsewhere = self.more > 0;
        let since = |time: u64| (i128::from(time) - i128::from(from)) as i64;
        for span in &self.spans {
            if span.begin >= to || span.end < from {
                elsewhere = true;
                continue;
            }
            let row = match asked.by_core {
                true => span.core.unwrap_or(UNKNOWN_CORE).into(),
                false => span.thread,
            };
            let length = span.end - span.begin;
            if length < asked.min {
                short += 1;
                continue;
            }
            let (begin, end) = (since(span.begin), since(span.end));
            let span = (span.series, begin, end, span.depth, span.flags);
            bars.add(length, Bar { row, span });
        }
        let spans = Spans::of(asked, bars, self.series.clone(), &self.names);
        Spans {
            short,
            more: spans.more + self.more,
            elsewhere,
            ..spans
        }
    }
}

/// Those that are open in a thread: in how many others each lies, and its thread. One with a key
/// may end in any thread.
fn of_threads(
    mut open: Vec<OpenSpan>,
) -> impl Iterator<Item = (usize, (ThreadRef, u32), OpenSpan)> {
    open.sort_by_key(|one| one.begin);
    let mut counts: HashMap<_, usize> = HashMap::new();
    open.into_iter().filter_map(move |one| {
        let thread = one.thread?;
        let count = counts.entry(thread).or_default();
        *count += 1;
        Some((*count - 1, thread, one))
    })
}
