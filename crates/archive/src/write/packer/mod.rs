//! Packs events into a block without keeping them: one by one here, and many at once in words.rs.

mod words;

use std::collections::HashMap;

use super::columns::ArgumentColumn;
use super::doubles;
use super::event::InternedEvent;
use super::interner::{DefinitionId, Interner, ThreadId};
use super::range::ValueRange;
use crate::format::block::{
    BACKTRACE, CODEC, CODEC_COLUMNS, CODEC_KINDS, CORE, FIXED, HAS_CORE, HAS_LANE, HAS_NUMBER,
    HAS_TICKS, HAS_TIME, LANE, MAX_ARGS, MAX_PAYLOAD, NUMBER, Pace, PreviousValues, SHAPE, Shape,
    THREAD, TICKS, TIME, encode_row, thread_fields,
};
use crate::format::ranges::{self, ShapeRanges};
use crate::format::varint::{MOST_NUMBER, put, put_difference, repeat};
use timeline::internal::{ValueKind, ValueSink as _};

/// About how many bytes an event takes at most in a block. `None` if the event has more arguments,
/// return addresses or payload than a record may hold.
#[inline]
pub fn weight(event: &InternedEvent) -> Option<usize> {
    let (args, backtrace) = (event.args.len(), event.backtrace.len());
    let fits = args.max(backtrace) <= MAX_ARGS && event.payload.len() <= MAX_PAYLOAD;
    fits.then(|| MOST_NUMBER * (16 + args + backtrace) + event.payload.len())
}

/// Compresses packed events. Returns the bytes, which are in `buffer`.
pub fn compress<'a>(packed: &[u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let most = lz4_flex::block::get_maximum_output_size(packed.len());
    if buffer.len() < most {
        buffer.resize(most, 0);
    }
    let length = lz4_flex::block::compress_into(packed, buffer);
    &buffer[..length.expect("the buffer has the largest size")]
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
    /// Whether each value has a column of its kind. The definition states the kinds.
    kinds: bool,
}

/// The row of a shape.
struct Row {
    key: ShapeKey,
    /// The kinds of its values, if the definition states them.
    kinds: Vec<ValueKind>,
    /// The first of its columns among those of shapes with doubles, which no shapes share. When the
    /// block ends, all doubles of a column are there to choose how they are stored.
    own: Option<usize>,
}

/// Most columns that shapes share in a block in which others have columns of their own.
const MOST_SHARED: usize = MAX_ARGS / 2;

impl Run {
    /// The largest size of what is still to be written: for each event a row, a difference of 0 and
    /// a lane.
    fn most(&self) -> usize {
        let are_small = self.thread < 0x80 && self.place.lane.unwrap_or(0) < 0x80;
        self.more * if are_small { 3 } else { 1 + 2 * MOST_NUMBER }
    }
}

/// The thread of events, and where they were logged.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    thread: ThreadId,
    core: Option<u64>,
    lane: Option<u64>,
}

/// Successive events of one place. What their columns repeat is written when it ends.
#[derive(Clone, Copy)]
struct Run {
    place: Place,
    /// The row of the thread.
    thread: usize,
    /// How many events came after the first.
    more: usize,
    /// The expected number of the next event in the lane.
    next: u64,
}

/// The last row in which a definition or a thread was found.
#[derive(Clone, Copy)]
struct LastRow<T> {
    /// The block of the row. In other blocks, the row is another one.
    block: u64,
    row: usize,
    what: T,
}

/// Builds a block.
pub struct Packer {
    shapes: Vec<Row>,
    rows: HashMap<ShapeKey, usize>,
    threads: Vec<ThreadId>,
    /// Indexed by definition.
    last_shape: Vec<Option<LastRow<ShapeKey>>>,
    /// Indexed by thread.
    last_thread: Vec<Option<LastRow<()>>>,
    columns: [Vec<u8>; FIXED],
    /// Columns of values that shapes share, of which so many are in use.
    args: Vec<Vec<u8>>,
    shared: usize,
    /// Those of shapes with doubles, of which so many are in use.
    own: Vec<Vec<u8>>,
    owned: usize,
    /// Memory for the doubles of those.
    stored: Vec<u8>,
    /// Those of the values of each shape.
    ranges: Vec<Vec<ValueRange>>,
    payloads: Vec<u8>,
    previous: PreviousValues,
    run: Option<Run>,
    /// Ticks of the first event that has any.
    first: Option<u64>,
    /// The times of the events that have one. Expected times can only be computed at the end.
    times: Vec<u64>,
    /// The ticks of those events.
    ticks_of_times: Vec<u64>,
    /// Whether one of those events has no ticks. Then all have the same expected time.
    lacks_ticks: bool,
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
            shared: 0,
            own: Vec::new(),
            owned: 0,
            stored: Vec::new(),
            ranges: Vec::new(),
            payloads: Vec::new(),
            previous: PreviousValues::default(),
            run: None,
            first: None,
            times: Vec::new(),
            ticks_of_times: Vec::new(),
            lacks_ticks: false,
            block: 0,
        }
    }

    /// Adds an event, whose magic is that of the block.
    #[inline]
    pub fn push(&mut self, event: &InternedEvent) {
        let shape = ShapeKey {
            definition: event.definition,
            has: has(event),
            backtrace: event.backtrace.len(),
            args: event.integers().len(),
            payload: !event.payload.is_empty(),
            kinds: false,
        };
        let shape = self.shape(shape, Vec::new);
        self.put_head(shape, event);
        for address in &event.backtrace {
            let previous = &mut self.previous;
            put_difference(&mut self.columns[BACKTRACE], *address, previous.address);
            previous.address = *address;
        }
        self.put_integers(shape, event.integers());
        if !event.payload.is_empty() {
            put(&mut self.payloads, event.payload.len() as u64);
            self.payloads.extend_from_slice(&event.payload);
        }
    }

    /// Writes what all events have.
    #[inline]
    fn put_head(&mut self, shape: usize, event: &InternedEvent) {
        self.put_moment(shape, event.ticks, event.unix_nanos);
        self.put_place(Place {
            thread: event.thread,
            core: event.core,
            lane: event.lane,
        });
        self.put_number(event.number);
    }

    #[inline]
    fn put_place(&mut self, place: Place) {
        match &mut self.run {
            Some(run) if run.place == place => run.more += 1,
            _ => self.begin_run(place),
        }
    }

    #[inline]
    fn put_moment(&mut self, shape: usize, ticks: Option<u64>, time: Option<u64>) {
        put(&mut self.columns[SHAPE], shape as u64);
        if let Some(ticks) = ticks {
            let before = match self.first {
                Some(_) => self.previous.ticks,
                None => *self.first.insert(ticks),
            };
            put_difference(&mut self.columns[TICKS], ticks, before);
            self.previous.ticks = ticks;
        }
        if let Some(time) = time {
            self.times.push(time);
            self.ticks_of_times.push(ticks.unwrap_or(0));
            self.lacks_ticks |= ticks.is_none();
        }
    }

    #[inline]
    fn put_number(&mut self, number: Option<u64>) {
        if let Some((number, run)) = number.zip(self.run.as_mut()) {
            put_difference(&mut self.columns[NUMBER], number, run.next);
            run.next = number.wrapping_add(1);
        }
    }

    /// Writes what the first event of a run has.
    #[inline(never)]
    fn begin_run(&mut self, place: Place) {
        self.end_run();
        let thread = self.thread(place.thread);
        let (columns, previous) = (&mut self.columns, &mut self.previous);
        put(&mut columns[THREAD], thread as u64);
        if let Some(core) = place.core {
            put_difference(&mut columns[CORE], core, previous.core);
            previous.core = core;
        }
        if let Some(lane) = place.lane {
            put(&mut columns[LANE], lane);
        }
        self.run = Some(Run {
            place,
            thread,
            more: 0,
            next: *previous.next_number(place.lane),
        });
    }

    /// Writes what the further events of a run repeat.
    fn end_run(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        *self.previous.next_number(run.place.lane) = run.next;
        repeat(&mut self.columns[THREAD], run.thread as u64, run.more);
        if run.place.core.is_some() {
            repeat(&mut self.columns[CORE], 0, run.more);
        }
        if let Some(lane) = run.place.lane {
            repeat(&mut self.columns[LANE], lane, run.more);
        }
    }

    #[inline]
    fn put_integers(&mut self, shape: usize, integers: &[i64]) {
        let columns = self.args.iter_mut().zip(&mut self.previous.args[shape]);
        let columns = columns.zip(&mut self.ranges[shape]);
        for (((bytes, before), range), integer) in columns.zip(integers) {
            let mut column = ArgumentColumn {
                bytes,
                before,
                range,
            };
            column.int(*integer);
        }
    }

    /// The row of a shape, whose values have these kinds.
    #[inline]
    fn shape(&mut self, shape: ShapeKey, kinds: impl FnOnce() -> Vec<ValueKind>) -> usize {
        match self.last_shape.get(shape.definition.0 as usize) {
            Some(Some(last)) if last.block == self.block && last.what == shape => last.row,
            _ => self.other_shape(shape, kinds()),
        }
    }

    #[cold]
    fn other_shape(&mut self, shape: ShapeKey, kinds: Vec<ValueKind>) -> usize {
        let next = self.shapes.len();
        let row = *self.rows.entry(shape).or_insert(next);
        if row == next {
            let own = self.own_columns(&kinds);
            let (columns, count) = match own {
                Some(first) => (&mut self.own, first + shape.args),
                None => {
                    self.shared = self.shared.max(shape.args);
                    (&mut self.args, shape.args)
                }
            };
            if columns.len() < count {
                columns.resize_with(count, Vec::new);
            }
            let key = shape;
            self.shapes.push(Row { key, kinds, own });
            self.previous.args.push(vec![0; shape.args]);
            self.ranges.push(vec![ValueRange::new(); shape.args]);
        }
        let block = self.block;
        let what = shape;
        *at(&mut self.last_shape, shape.definition.0) = Some(LastRow { block, row, what });
        row
    }

    /// Takes columns for values of these kinds, if there are doubles among them, and there are
    /// columns left.
    fn own_columns(&mut self, kinds: &[ValueKind]) -> Option<usize> {
        if !kinds.contains(&ValueKind::Float) {
            return None;
        }
        let (first, shared) = (self.owned, self.shared.max(MOST_SHARED));
        let has_own = shared + first + kinds.len() <= MAX_ARGS;
        self.owned += if has_own { kinds.len() } else { 0 };
        has_own.then_some(first)
    }

    /// Whether the block may have an event of so many integers. If other shapes have columns of
    /// their own, there may be too few left.
    pub fn has_columns_for(&self, integers: usize) -> bool {
        self.owned == 0 || integers <= MOST_SHARED
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
        *at(&mut self.last_thread, thread.0) = Some(LastRow { block, row, what });
        row
    }

    /// The largest size of the block of these events before compression.
    pub fn most(&self) -> usize {
        // The pace, the numbers of rows and columns, and the length of each column.
        let beside = 7 + FIXED + self.args.len() + self.owned + 1;
        // A row has a mask and its fields.
        let rows = 10 * self.shapes.len() + 7 * self.threads.len();
        // The differences to expected times are computed at the end.
        let numbers = beside + rows + self.times.len();
        // How a double is stored takes two bytes.
        let kinds = self
            .shapes
            .iter()
            .map(|row| 2 * row.kinds.len() + MOST_NUMBER);
        let columns = self.columns.iter().chain(&self.args).chain(&self.own);
        let bytes = columns.map(Vec::len).chain(kinds).sum::<usize>() + self.payloads.len();
        MOST_NUMBER * numbers + bytes + self.run.map_or(0, |run| run.most())
    }

    /// The name of the codec of the block of these events.
    pub fn codec(&self) -> &'static str {
        match self.shapes.iter().any(|row| row.key.kinds) {
            _ if self.owned > 0 => CODEC_COLUMNS,
            true => CODEC_KINDS,
            false => CODEC,
        }
    }

    /// Replaces the contents of `out` by the block of these events, which is not compressed yet,
    /// and those of `ranges` by its ranges. Begins another block.
    pub fn finish(&mut self, interned: &Interner, out: &mut Vec<u8>, ranges: &mut Vec<u8>) {
        self.end_run();
        out.clear();
        let pace = self.pace();
        pace.encode(out);
        for (ticks, time) in self.ticks_of_times.drain(..).zip(self.times.drain(..)) {
            put_difference(&mut self.columns[TIME], time, pace.expect(Some(ticks)));
        }
        self.lacks_ticks = false;
        put(out, self.shapes.len() as u64);
        let (shared, mut shapes) = (std::mem::take(&mut self.shared), Vec::new());
        debug_assert!(shared + self.owned <= MAX_ARGS);
        let rows = std::mem::take(&mut self.shapes);
        for (Row { key, kinds, own }, values) in rows.into_iter().zip(self.ranges.drain(..)) {
            let stored =
                own.map(|first| doubles::store(&kinds, &mut self.own[first..], &mut self.stored));
            let shape = Shape {
                definition: interned.raw_definition(key.definition).clone(),
                has: key.has,
                backtrace: key.backtrace as u64,
                args: if key.kinds { 0 } else { key.args as u64 },
                payload: key.payload,
                kinds,
                stored: stored.unwrap_or_default(),
                first: own.map_or(0, |first| shared + first),
            };
            let values = values.iter().map(ValueRange::range).collect();
            shapes.push(ShapeRanges {
                shape: shape.without_storage(),
                values,
            });
            shape.encode(out);
        }
        ranges::encode(&shapes, ranges);
        put(out, self.threads.len() as u64);
        for thread in self.threads.drain(..) {
            let mut thread = interned.raw_thread(thread).clone();
            encode_row(0, &mut thread_fields(&mut thread), out);
        }
        let payloads = usize::from(!self.payloads.is_empty());
        put(out, (FIXED + shared + self.owned + payloads) as u64);
        let columns = self.columns.iter_mut().chain(&mut self.args[..shared]);
        let columns = columns.chain(&mut self.own[..self.owned]);
        for column in columns.chain([&mut self.payloads].into_iter().take(payloads)) {
            put(out, column.len() as u64);
            out.append(column);
        }
        self.rows.clear();
        self.owned = 0;
        self.previous.clear();
        self.first = None;
        self.block += 1;
    }

    /// The pace between the first and the last event that have a time.
    fn pace(&self) -> Pace {
        let ends = |list: &[u64]| Some((*list.first()?, *list.last()?));
        let (ticks, times) = (ends(&self.ticks_of_times), ends(&self.times));
        let ends = ticks.zip(times).filter(|_| !self.lacks_ticks);
        match ends.filter(|(ticks, _)| self.first == Some(ticks.0)) {
            Some((ticks, times)) => Pace::between((ticks.0, times.0), (ticks.1, times.1)),
            None => {
                let time = self.times.first().copied().unwrap_or(0);
                let start = (self.first.unwrap_or(0), time);
                Pace::between(start, start)
            }
        }
    }
}

/// The fields that an event has, as bits.
#[inline]
fn has(event: &InternedEvent) -> u64 {
    let bit = |present: bool, bit| if present { bit } else { 0 };
    bit(event.ticks.is_some(), HAS_TICKS)
        | bit(event.unix_nanos.is_some(), HAS_TIME)
        | bit(event.core.is_some(), HAS_CORE)
        | bit(event.lane.is_some(), HAS_LANE)
        | bit(event.number.is_some(), HAS_NUMBER)
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
    let mut interned = Interner::new(0);
    for event in events {
        packer.push(&interned.event(event));
    }
    packer.finish(&interned, &mut out, &mut Vec::new());
    out
}
