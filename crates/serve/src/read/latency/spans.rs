//! The spans of a range of time by thread or core, but for long ones: the bars of tracks.

use std::collections::BTreeMap;

use serde::Serialize;
use timeline::internal::Edge;
use timeline::{Definition, Source};
use timeline_latency::{Measure, Series};
use timeline_reading::Longest;
use timeline_search::Query;
use utoipa::ToSchema;

use super::find::{DurationFilter, LONGEST, each_event, id};
use crate::error::Result;
use crate::logs::Version;
use crate::read::cancel::Cancel;
use crate::read::catalogue::ThreadObject;
use crate::read::names::{NameNumbers, NameTable};
use crate::read::summary::UNKNOWN_CORE;

/// The number of the series, the begin, the end, the depth, and the sum of [`KEYED`] and [`OPEN`].
pub(super) type SpanTuple = (usize, i64, i64, usize, u8);

/// The events of the span are paired by a key.
pub(super) const KEYED: u8 = 1;
/// The span has not ended.
pub(super) const OPEN: u8 = 2;

/// Which spans are wanted.
#[derive(Debug, Clone)]
pub struct SpanQuery {
    /// By core; else by thread.
    pub by_core: bool,
    /// Spans that are open at any of these times, in nanoseconds since 1970.
    pub range: (u64, u64),
    /// The least duration.
    pub min: u64,
    /// How many at most.
    pub limit: usize,
    /// The filters, which are about the event that ends a span.
    pub query: Query,
}

/// The spans that overlap a range of time.
#[derive(Debug, Serialize, ToSchema)]
pub struct Spans {
    /// The first time, in nanoseconds since 1970.
    pub from: String,
    /// The time behind the range.
    pub to: String,
    /// The names of spans.
    pub names: Vec<String>,
    /// The threads or cores that have any.
    pub rows: Vec<SpanRow>,
    /// How many are shorter than `min`, and left out.
    pub short: u64,
    /// How many are beyond `limit`, and left out; the longest are kept.
    pub more: u64,
    /// Whether there may be others outside of the range.
    pub elsewhere: bool,
    /// Whether the log has grown since these were found. Spans that last long are looked for now
    /// and then, because all of the log has to be read.
    pub behind: bool,
}

/// The spans of a thread or core.
#[derive(Debug, Serialize, ToSchema)]
pub struct SpanRow {
    /// The thread, and how many of its spans are listed.
    #[serde(flatten)]
    pub thread: ThreadObject,
    /// The core on which they ended.
    pub core: Option<u16>,
    /// Of each span: the place of its name, begin and end in nanoseconds since `from`, in how many
    /// others it lies, and 1 if its events are paired by a key, else 0. Two more if it has not
    /// ended: then its end is the last time of the log.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub spans: Vec<SpanTuple>,
}

/// A span, and its row.
pub(super) struct Bar {
    pub row: u32,
    pub span: SpanTuple,
}

/// Finds the spans that overlap a range, but those that last longer than [`LONGEST`].
pub fn spans(version: &Version, asked: &SpanQuery, cancel: &Cancel) -> Result<Spans> {
    let (from, to) = asked.range;
    let archive = version.archive();
    let wanted = DurationFilter {
        measures: vec![Measure::Spans("*".into())],
        // Those that end later may have begun before.
        range: Some((from, to.saturating_add(LONGEST))),
        query: asked.query.clone(),
    };
    let mut numbers = NameNumbers::new(archive, NameTable::default());
    let (mut longest, mut short) = (Longest::new(asked.limit), 0);
    let (mut series, mut waiting) = (Vec::<Series>::new(), None::<usize>);
    let since = |time: u64| (i128::from(time) - i128::from(from)) as i64;
    each_event(version, &wanted, cancel, |matcher, event, ended| {
        // Important events come first, whatever their times are.
        let is_behind = || archive.time(event).is_some_and(|time| time >= to);
        if waiting.is_none() && !event.important && is_behind() {
            // All that are open, and those that this event ends; not what it begins.
            let part = archive.definition(event.id).and_then(Definition::span_part);
            let begun = part.is_some_and(|part| part.edge == Edge::Begin);
            let open = matcher.open() + ended.len();
            waiting = Some(open.saturating_sub(begun.into()));
        }
        for found in ended.drain(..).filter(|found| found.begin < to) {
            waiting = waiting.map(|count| count.saturating_sub(1));
            if found.value > LONGEST {
                continue;
            }
            if series.len() <= found.series {
                series = matcher.series().to_vec();
            }
            if found.value < asked.min {
                short += 1;
                continue;
            }
            let row = match asked.by_core {
                true => event.known_core().unwrap_or(UNKNOWN_CORE).into(),
                false => numbers.thread((found.thread, found.tid)),
            };
            let (begin, end) = (since(found.begin), since(found.end));
            let flags = if found.key.is_some() { KEYED } else { 0 };
            let span = (found.series, begin, end, found.depth, flags);
            longest.add(found.value, Bar { row, span });
        }
        waiting != Some(0)
    })?;
    let names = series.iter().map(id).collect();
    Ok(Spans {
        short,
        ..Spans::of(asked, longest, names, &numbers.names)
    })
}

impl Spans {
    /// The spans of these bars, whose rows are those of `names`.
    pub(super) fn of(
        asked: &SpanQuery,
        bars: Longest<Bar>,
        series: Vec<String>,
        names: &NameTable,
    ) -> Spans {
        let more = bars.count.saturating_sub(asked.limit as u64);
        let mut rows: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for bar in bars.into_sorted() {
            rows.entry(bar.row).or_default().push(bar.span);
        }
        let row = |(number, mut spans): (u32, Vec<SpanTuple>)| {
            spans.sort_by_key(|(_, begin, _, depth, _)| (*begin, *depth));
            let logger = (!asked.by_core).then(|| &names.threads[number as usize]);
            let thread = logger.and_then(|logger| logger.thread.clone());
            let tid = logger.map_or(0, |logger| logger.tid);
            SpanRow {
                thread: ThreadObject::new(thread, tid, spans.len() as u64),
                core: (asked.by_core && number != u32::from(UNKNOWN_CORE)).then_some(number as u16),
                spans,
            }
        };
        Spans {
            from: asked.range.0.to_string(),
            to: asked.range.1.to_string(),
            names: series,
            rows: rows.into_iter().map(row).collect(),
            short: 0,
            more,
            elsewhere: true,
            behind: false,
        }
    }
}
