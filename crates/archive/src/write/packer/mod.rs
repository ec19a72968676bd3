//! Packs events into a block, one by one, without keeping them.

mod usual;

use std::collections::HashMap;
use std::hash::Hash;

use crate::format::block::{
    BACKTRACE, CORE, FIXED, HAS_CORE, HAS_LANE, HAS_NUMBER, HAS_TICKS, HAS_TIME, KIND, LANE, Last,
    MAX_ARGS, MAX_PAYLOAD, MOST_NUMBER, NUMBER, Pace, SOURCE, Shape, TICKS, TIME, encode_row,
    source_fields,
};
use crate::format::event::{Data, Kind, Source};
use crate::format::msgpack::whole_values;
use crate::format::varint::{put, put_difference};

/// How many bytes an event takes at most in a block, about; `None` if it has more of something than a record holds.
pub fn weight(event: &Data) -> Option<usize> {
    let lists = event.args.len().max(event.backtrace.len());
    let fits = lists <= MAX_ARGS && event.payload.len() <= MAX_PAYLOAD;
    fits.then(|| usual_weight(event.args.len() + event.backtrace.len()) + event.payload.len())
}

/// The same, of one with so many arguments and addresses, and no payload.
#[inline]
pub fn usual_weight(numbers: usize) -> usize {
    MOST_NUMBER * (16 + numbers)
}

/// The arguments of an event that stand in columns: none beside a payload, which counts instead of them.
#[inline]
fn integers(event: &Data) -> &[i64] {
    match event.payload.is_empty() {
        true => &event.args,
        false => &[],
    }
}

/// Compresses what was packed.
pub fn compress(packed: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress(packed)
}

/// Most bytes that so many may become: LZ4 promises that.
pub fn most_compressed(packed: usize) -> usize {
    packed + packed / 255 + 16
}

/// Rows of a table, each with its place.
struct Table<T> {
    rows: Vec<T>,
    places: HashMap<T, usize>,
    /// Where a row of this sort was found last.
    recent: [usize; RECENT],
}

/// Rows that are found without a hash.
const RECENT: usize = 64;

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Table<T> {
        Table {
            rows: Vec::new(),
            places: HashMap::new(),
            recent: [0; RECENT],
        }
    }

    /// The place of a row, and whether it is new. The sort is any number that tells most rows apart.
    #[inline]
    fn place(
        &mut self,
        sort: u64,
        same: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> (usize, bool) {
        let recent = &mut self.recent[sort as usize % RECENT];
        if self.rows.get(*recent).is_some_and(same) {
            return (*recent, false);
        }
        let (row, next) = (make(), self.rows.len());
        *recent = *self.places.entry(row.clone()).or_insert(next);
        let new = *recent == next;
        if new {
            self.rows.push(row);
        }
        (*recent, new)
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.places.clear();
    }
}

/// A block that is being made.
pub struct Packer {
    shapes: Table<Shape>,
    sources: Table<Source>,
    columns: [Vec<u8>; FIXED],
    args: Vec<Vec<u8>>,
    payloads: Vec<u8>,
    last: Last,
    /// Ticks of the first event that has any.
    first: Option<u64>,
    /// Ticks and time of the events that have a time: what was to be expected is known at the end.
    times: Vec<(Option<u64>, u64)>,
    /// Which block this is, from 1.
    block: u64,
}

impl Packer {
    /// Without events.
    pub fn new() -> Packer {
        Packer {
            shapes: Table::new(),
            sources: Table::new(),
            columns: Default::default(),
            args: Vec::new(),
            payloads: Vec::new(),
            last: Last::default(),
            first: None,
            times: Vec::new(),
            block: 1,
        }
    }

    /// Adds an event; its magic is the block's.
    #[inline]
    pub fn push(&mut self, event: &Data) {
        let shape = self.shape(event);
        let source = self.source(&event.source);
        let (columns, last) = (&mut self.columns, &mut self.last);
        put(&mut columns[KIND], shape as u64);
        put(&mut columns[SOURCE], source as u64);
        if let Some(ticks) = event.ticks {
            let before = match self.first {
                Some(_) => last.ticks,
                None => *self.first.insert(ticks),
            };
            put_difference(&mut columns[TICKS], ticks, before);
            last.ticks = ticks;
        }
        if let Some(time) = event.unix_nanos {
            self.times.push((event.ticks, time));
        }
        if let Some(core) = event.core {
            put_difference(&mut columns[CORE], core, last.core);
            last.core = core;
        }
        if let Some(lane) = event.lane {
            put(&mut columns[LANE], lane);
        }
        if let Some(number) = event.number {
            let next = last.next_number(event.lane);
            put_difference(&mut columns[NUMBER], number, *next);
            *next = number.wrapping_add(1);
        }
        for address in &event.backtrace {
            put_difference(&mut columns[BACKTRACE], *address, last.address);
            last.address = *address;
        }
        let before = &mut last.args[shape];
        for ((arg, before), column) in integers(event).iter().zip(before).zip(&mut self.args) {
            put_difference(column, *arg as u64, *before as u64);
            *before = *arg;
        }
        if !event.payload.is_empty() {
            let (_, values) = whole_values(&event.payload);
            put(&mut self.payloads, values.len() as u64);
            self.payloads.extend_from_slice(values);
        }
    }

    /// The place of an event's shape.
    #[inline]
    fn shape(&mut self, event: &Data) -> usize {
        let bit = |present: bool, bit| if present { bit } else { 0 };
        let has = bit(event.ticks.is_some(), HAS_TICKS)
            | bit(event.unix_nanos.is_some(), HAS_TIME)
            | bit(event.core.is_some(), HAS_CORE)
            | bit(event.lane.is_some(), HAS_LANE)
            | bit(event.number.is_some(), HAS_NUMBER);
        let args = integers(event).len();
        let payload = !event.payload.is_empty();
        self.shape_of(
            &event.kind,
            has,
            event.backtrace.len() as u64,
            args,
            payload,
        )
    }

    #[inline]
    fn shape_of(
        &mut self,
        kind: &Kind,
        has: u64,
        backtrace: u64,
        args: usize,
        payload: bool,
    ) -> usize {
        let (shape, new) = self.shapes.place(
            kind.event.or(kind.format).unwrap_or(0),
            |row| {
                (row.has, row.args, row.backtrace, row.payload)
                    == (has, args as u64, backtrace, payload)
                    && row.kind == *kind
            },
            || Shape {
                kind: kind.clone(),
                has,
                backtrace,
                args: args as u64,
                payload,
            },
        );
        if new {
            self.last.args.push(vec![0; args]);
            if self.args.len() < args {
                self.args.resize_with(args, Vec::new);
            }
        }
        shape
    }

    /// The place of who logged an event.
    #[inline]
    fn source(&mut self, source: &Source) -> usize {
        let sort = source.tid.unwrap_or(0);
        let (source, _) = self
            .sources
            .place(sort, |row| row == source, || source.clone());
        source
    }

    /// Most bytes of the block of these events, not compressed yet.
    pub fn most(&self) -> usize {
        // The pace, how many rows and columns there are, and how long each column is.
        let beside = 7 + FIXED + self.args.len() + 1;
        // A row has a mask and its fields.
        let rows = 10 * self.shapes.rows.len() + 5 * self.sources.rows.len();
        // How far times are from those expected is worked out at the end.
        let numbers = beside + rows + self.times.len();
        let columns = self.columns.iter().chain(&self.args);
        let bytes = columns.map(Vec::len).sum::<usize>() + self.payloads.len();
        MOST_NUMBER * numbers + bytes
    }

    /// Puts the block of these events in place of what is in `out`, not compressed yet, and begins another one.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        out.clear();
        let pace = self.pace();
        pace.encode(out);
        for (ticks, time) in self.times.drain(..) {
            put_difference(&mut self.columns[TIME], time, pace.expect(ticks));
        }
        put(out, self.shapes.rows.len() as u64);
        for shape in self.shapes.rows.drain(..) {
            shape.encode(out);
        }
        put(out, self.sources.rows.len() as u64);
        for mut source in self.sources.rows.drain(..) {
            encode_row(0, &mut source_fields(&mut source), out);
        }
        let most = self.last.args.iter().map(Vec::len).max().unwrap_or(0);
        let payloads = usize::from(!self.payloads.is_empty());
        put(out, (FIXED + most + payloads) as u64);
        let columns = self.columns.iter_mut().chain(&mut self.args[..most]);
        for column in columns.chain([&mut self.payloads].into_iter().take(payloads)) {
            put(out, column.len() as u64);
            out.append(column);
        }
        self.shapes.clear();
        self.sources.clear();
        self.last.clear();
        self.first = None;
        self.block += 1;
    }

    /// Between the first and the last event that have ticks and a time.
    fn pace(&self) -> Pace {
        let timed = |(ticks, time): &(Option<u64>, u64)| Some((*ticks.as_ref()?, *time));
        let first = self.times.iter().find_map(timed);
        let last = self.times.iter().rev().find_map(timed);
        match (self.first, first, last) {
            (Some(ticks), Some(first), Some(last)) if first.0 == ticks => {
                Pace::between(first, last)
            }
            (ticks, ..) => {
                let start = (
                    ticks.unwrap_or(0),
                    self.times.first().map_or(0, |(_, time)| *time),
                );
                Pace::between(start, start)
            }
        }
    }
}

/// The bytes of these events, not compressed.
#[cfg(test)]
pub fn pack(events: &[Data]) -> Vec<u8> {
    let (mut packer, mut out) = (Packer::new(), Vec::new());
    for event in events {
        packer.push(event);
    }
    packer.finish(&mut out);
    out
}
