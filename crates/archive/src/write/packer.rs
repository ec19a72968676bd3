//! Packs events into a block, one by one, without keeping them.

use std::collections::HashMap;

use super::event::InternedEvent;
use super::interned::{DefinitionId, Interned, ThreadId};
use crate::format::block::{
    BACKTRACE, CORE, FIXED, HAS_CORE, HAS_LANE, HAS_NUMBER, HAS_TICKS, HAS_TIME, LANE, MAX_ARGS,
    MAX_PAYLOAD, MOST_NUMBER, NUMBER, Pace, PreviousValues, SHAPE, Shape, THREAD, TICKS, TIME,
    encode_row, thread_fields,
};
use crate::format::varint::{put, put_difference};

/// About how many bytes an event takes at most in a block. `None` if the event has more arguments,
/// return addresses or payload than a record may hold.
#[inline]
pub fn weight(event: &InternedEvent) -> Option<usize> {
    let (args, backtrace) = (event.args.len(), event.backtrace.len());
    let fits = args.max(backtrace) <= MAX_ARGS && event.payload.len() <= MAX_PAYLOAD;
    fits.then(|| MOST_NUMBER * (16 + args + backtrace) + event.payload.len())
}

/// Compresses packed events.
pub fn compress(packed: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress(packed)
}

/// The largest size of `packed` bytes after compression, which LZ4 guarantees.
pub fn most_compressed(packed: usize) -> usize {
    packed + packed / 255 + 16
}

/// The values that the events of one row of a block share.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ShapeKey {
    definition: DefinitionId,
    /// The fields that the events have, as bits.
    has: u64,
    backtrace: usize,
    args: usize,
    payload: bool,
}

/// The last row in which a definition or a thread was found.
#[derive(Clone, Copy)]
struct Found<T> {
    /// The block of the row. In other blocks, the row is another one.
    block: u64,
    row: usize,
    what: T,
}

/// Builds a block.
pub struct Packer {
    shapes: Vec<ShapeKey>,
    rows: HashMap<ShapeKey, usize>,
    threads: Vec<ThreadId>,
    /// Indexed by definition.
    last_shape: Vec<Option<Found<ShapeKey>>>,
    /// Indexed by thread.
    last_thread: Vec<Option<Found<()>>>,
    columns: [Vec<u8>; FIXED],
    args: Vec<Vec<u8>>,
    payloads: Vec<u8>,
    previous: PreviousValues,
    /// Ticks of the first event that has any.
    first: Option<u64>,
    /// Ticks and time of the events that have a time. Expected times can only be computed at the
    /// end.
    times: Vec<(Option<u64>, u64)>,
    /// The number of this block.
    block: u64,
}

impl Packer {
    /// An empty block.
    pub fn new() -> Packer {
        Packer {
            shapes: Vec::new(),
            rows: HashMap::new(),
            threads: Vec::new(),
            last_shape: Vec::new(),
            last_thread: Vec::new(),
            columns: Default::default(),
            args: Vec::new(),
            payloads: Vec::new(),
            previous: PreviousValues::default(),
            first: None,
            times: Vec::new(),
            block: 0,
        }
    }

    /// Adds an event, whose magic is that of the block.
    #[inline]
    pub fn push(&mut self, event: &InternedEvent) {
        let shape = self.shape(event);
        let thread = self.thread(event.thread);
        let (columns, previous) = (&mut self.columns, &mut self.previous);
        put(&mut columns[SHAPE], shape as u64);
        put(&mut columns[THREAD], thread as u64);
        if let Some(ticks) = event.ticks {
            let before = match self.first {
                Some(_) => previous.ticks,
                None => *self.first.insert(ticks),
            };
            put_difference(&mut columns[TICKS], ticks, before);
            previous.ticks = ticks;
        }
        if let Some(time) = event.unix_nanos {
            self.times.push((event.ticks, time));
        }
        if let Some(core) = event.core {
            put_difference(&mut columns[CORE], core, previous.core);
            previous.core = core;
        }
        if let Some(lane) = event.lane {
            put(&mut columns[LANE], lane);
        }
        if let Some(number) = event.number {
            let next = previous.next_number(event.lane);
            put_difference(&mut columns[NUMBER], number, *next);
            *next = number.wrapping_add(1);
        }
        for address in &event.backtrace {
            put_difference(&mut columns[BACKTRACE], *address, previous.address);
            previous.address = *address;
        }
        let before = &mut previous.args[shape];
        for ((arg, before), column) in event.integers().iter().zip(before).zip(&mut self.args) {
            put_difference(column, *arg as u64, *before as u64);
            *before = *arg;
        }
        if !event.payload.is_empty() {
            put(&mut self.payloads, event.payload.len() as u64);
            self.payloads.extend_from_slice(&event.payload);
        }
    }

    /// The row of the shape of an event.
    #[inline]
    fn shape(&mut self, event: &InternedEvent) -> usize {
        let bit = |present: bool, bit| if present { bit } else { 0 };
        let shape = ShapeKey {
            definition: event.definition,
            has: bit(event.ticks.is_some(), HAS_TICKS)
                | bit(event.unix_nanos.is_some(), HAS_TIME)
                | bit(event.core.is_some(), HAS_CORE)
                | bit(event.lane.is_some(), HAS_LANE)
                | bit(event.number.is_some(), HAS_NUMBER),
            backtrace: event.backtrace.len(),
            args: event.integers().len(),
            payload: !event.payload.is_empty(),
        };
        match self.last_shape.get(shape.definition.0 as usize) {
            Some(Some(last)) if last.block == self.block && last.what == shape => last.row,
            _ => self.other_shape(shape),
        }
    }

    #[cold]
    fn other_shape(&mut self, shape: ShapeKey) -> usize {
        let next = self.shapes.len();
        let row = *self.rows.entry(shape).or_insert(next);
        if row == next {
            self.shapes.push(shape);
            self.previous.args.push(vec![0; shape.args]);
            if self.args.len() < shape.args {
                self.args.resize_with(shape.args, Vec::new);
            }
        }
        let block = self.block;
        let what = shape;
        *at(&mut self.last_shape, shape.definition.0) = Some(Found { block, row, what });
        row
    }

    /// The row of a thread.
    #[inline]
    fn thread(&mut self, thread: ThreadId) -> usize {
        match self.last_thread.get(thread.0 as usize) {
            Some(Some(last)) if last.block == self.block => last.row,
            _ => self.new_thread(thread),
        }
    }

    #[cold]
    fn new_thread(&mut self, thread: ThreadId) -> usize {
        let (block, row, what) = (self.block, self.threads.len(), ());
        self.threads.push(thread);
        *at(&mut self.last_thread, thread.0) = Some(Found { block, row, what });
        row
    }

    /// The largest size of the block of these events before compression.
    pub fn most(&self) -> usize {
        // The pace, the numbers of rows and columns, and the length of each column.
        let beside = 7 + FIXED + self.args.len() + 1;
        // A row has a mask and its fields.
        let rows = 10 * self.shapes.len() + 7 * self.threads.len();
        // The differences to expected times are computed at the end.
        let numbers = beside + rows + self.times.len();
        let columns = self.columns.iter().chain(&self.args);
        let bytes = columns.map(Vec::len).sum::<usize>() + self.payloads.len();
        MOST_NUMBER * numbers + bytes
    }

    /// Replaces the contents of `out` by the block of these events, which is not compressed yet.
    /// Begins another block.
    pub fn finish(&mut self, interned: &Interned, out: &mut Vec<u8>) {
        out.clear();
        let pace = self.pace();
        pace.encode(out);
        for (ticks, time) in self.times.drain(..) {
            put_difference(&mut self.columns[TIME], time, pace.expect(ticks));
        }
        put(out, self.shapes.len() as u64);
        for shape in self.shapes.drain(..) {
            let shape = Shape {
                definition: interned.raw_definition(shape.definition).clone(),
                has: shape.has,
                backtrace: shape.backtrace as u64,
                args: shape.args as u64,
                payload: shape.payload,
            };
            shape.encode(out);
        }
        put(out, self.threads.len() as u64);
        for thread in self.threads.drain(..) {
            let mut thread = interned.raw_thread(thread).clone();
            encode_row(0, &mut thread_fields(&mut thread), out);
        }
        let most = self.previous.args.iter().map(Vec::len).max().unwrap_or(0);
        let payloads = usize::from(!self.payloads.is_empty());
        put(out, (FIXED + most + payloads) as u64);
        let columns = self.columns.iter_mut().chain(&mut self.args[..most]);
        for column in columns.chain([&mut self.payloads].into_iter().take(payloads)) {
            put(out, column.len() as u64);
            out.append(column);
        }
        self.rows.clear();
        self.previous.clear();
        self.first = None;
        self.block += 1;
    }

    /// The pace between the first and the last event that have ticks and a time.
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

/// The entry with this number. The list is made longer if it is too short.
fn at<T>(list: &mut Vec<Option<T>>, number: u32) -> &mut Option<T> {
    let number = number as usize;
    if list.len() <= number {
        list.resize_with(number + 1, || None);
    }
    &mut list[number]
}

/// Packs these events without compressing them.
#[cfg(test)]
pub fn pack(events: &[crate::format::event::RawEvent]) -> Vec<u8> {
    let (mut packer, mut out) = (Packer::new(), Vec::new());
    let mut interned = Interned::new(0);
    for event in events {
        packer.push(&interned.event(event));
    }
    packer.finish(&interned, &mut out);
    out
}
