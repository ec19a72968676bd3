//! The columns of a block, as they are before events are made of them.
//!
//! A column is read as a whole when somebody asks for it. If it ends too early, the block is
//! damaged, and only reading the events one by one tells which of them are there.

use timeline::{EventId, ThreadRef, Value, ValueKind};

use crate::format::block::{
    CORE, FIXED, HAS_CORE, HAS_TICKS, HAS_TIME, MAX_ARGS, Pace, SHAPE, Shape, THREAD, TICKS, TIME,
};
use crate::format::event::has_payload;
use crate::format::varint::{Cursor, signed};
use crate::read::ordered::{ARGUMENTS, PAYLOAD};
use crate::read::unpack::UnpackedEvents;

/// The columns of a block. Places count from 0, in the order in which the block has its events.
///
/// Methods that return an `Option` return `None` if the column is damaged.
pub struct BlockColumns<'a> {
    table: &'a [Shape],
    columns: &'a [Cursor<'a>],
    pace: Pace,
    definitions: Vec<EventId>,
    forms: Vec<ShapeValues>,
    threads: Vec<(ThreadRef, u32)>,
    shapes: Vec<u16>,
    /// Those columns of values that were read.
    values: Vec<Option<Option<ValueColumn<'a>>>>,
}

/// What an event of a shape has as its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShapeValues {
    /// So many of the four words of [`Event::args`](timeline::Event::args), each from its column.
    /// The others are 0.
    Words(usize),
    /// Values of these kinds, each from its column.
    Kinds(Vec<ValueKind>),
    /// A payload, which is in no column of its own, or values of imported lines.
    Payload,
}

/// A column of values, as many as the block has events.
pub struct ValueColumn<'a> {
    raw: Vec<u64>,
    bytes: &'a [u8],
    /// The most bytes of a text.
    longest: usize,
}

/// How a text is kept in 64 bits: whether there is one, whether it was cut, where it begins, and
/// how many bytes it has. A block has at most 2^24.
const IS_TEXT: u64 = 1 << 63;
const IS_CUT: u64 = 1 << 62;
const LENGTH_BITS: u32 = 25;

impl<'a> BlockColumns<'a> {
    /// Those of a block of which no event was taken. `definitions` has those of its shapes, and
    /// whether their messages were lost.
    pub(crate) fn of(
        unpacked: &'a UnpackedEvents<'a>,
        definitions: impl Iterator<Item = (EventId, bool)>,
        threads: impl Iterator<Item = (ThreadRef, u32)>,
    ) -> BlockColumns<'a> {
        let table = &unpacked.shapes[..];
        let shapes = definitions.zip(table);
        let shapes = shapes.map(|((id, is_lost), shape)| (id, ShapeValues::of(shape, is_lost)));
        let (definitions, forms) = shapes.unzip();
        BlockColumns {
            table,
            columns: unpacked.columns(),
            pace: unpacked.pace(),
            definitions,
            forms,
            threads: threads.collect(),
            shapes: shapes_of(unpacked.columns()[SHAPE], unpacked.left(), table.len()),
            values: Vec::new(),
        }
    }

    /// The definitions of the shapes of the block.
    pub fn definitions(&self) -> &[EventId] {
        &self.definitions
    }

    /// What the events of a shape have as their values.
    pub fn shape_values(&self, shape: usize) -> &ShapeValues {
        &self.forms[shape]
    }

    /// The threads of the block, with their ids in the kernel.
    pub fn threads(&self) -> &[(ThreadRef, u32)] {
        &self.threads
    }

    /// The number of the shape of each event. In a damaged block there may be fewer.
    pub fn shapes(&self) -> &[u16] {
        &self.shapes
    }

    pub(crate) fn into_shapes(self) -> Vec<u16> {
        self.shapes
    }

    /// The number of the thread of each event, in [`BlockColumns::threads`].
    pub fn thread_numbers(&self) -> Option<Vec<u16>> {
        let (mut column, mut numbers) = (self.columns[THREAD], Vec::new());
        column.each(self.shapes.len(), |number| numbers.push(number))?;
        let known = |number: u64| u16::try_from(number).ok().filter(|n| self.has_thread(*n));
        numbers.into_iter().map(known).collect()
    }

    fn has_thread(&self, number: u16) -> bool {
        usize::from(number) < self.threads.len()
    }

    /// The core of each event; 0xffff if it is not known.
    pub fn cores(&self) -> Option<Vec<u16>> {
        let (mut column, mut core) = (self.columns[CORE], 0);
        let cores = self.masks().map(|has| {
            if has & HAS_CORE == 0 {
                return Some(u16::MAX);
            }
            core = column.difference(core)?;
            Some(core.min(u16::MAX.into()) as u16)
        });
        cores.collect()
    }

    /// The time of each event in nanoseconds since 1970; 0 if it is not known.
    pub fn times(&self) -> Option<Vec<u64>> {
        let (mut of_ticks, mut of_times) = (self.columns[TICKS], self.columns[TIME]);
        let (mut ticks, steps) = (self.pace.ticks, self.pace.steps());
        let mut time = steps.map_or(0, |(_, before)| before);
        let times = self.masks().map(|has| {
            if has & HAS_TICKS != 0 {
                ticks = ticks.wrapping_add(signed(of_ticks.get_any()?));
            }
            if has & HAS_TIME == 0 {
                return Some(0);
            }
            if let Some((unit, _)) = steps {
                let passed = signed(of_times.get_any()?);
                time = time.wrapping_add(passed.wrapping_mul(unit));
                return Some(time);
            }
            let ticks = (has & HAS_TICKS != 0).then_some(ticks);
            of_times.difference(self.pace.expect(ticks))
        });
        times.collect()
    }

    /// Which fields each event has.
    fn masks(&self) -> impl Iterator<Item = u64> {
        let shapes = self.shapes.iter();
        shapes.map(|shape| self.table[usize::from(*shape)].has)
    }

    /// Reads the column of the values at a position, for [`BlockColumns::values`].
    pub fn read_values(&mut self, position: usize) -> Option<()> {
        if self.values.len() <= position {
            self.columns.get(FIXED.checked_add(position)?)?;
            self.values.resize_with(position + 1, || None);
        }
        if self.values[position].is_none() {
            self.values[position] = Some(self.read(position));
        }
        self.values(position).map(|_| ())
    }

    /// The column of the values at a position, if it was read. Events that have none there have any
    /// value.
    pub fn values(&self, position: usize) -> Option<&ValueColumn<'a>> {
        self.values.get(position)?.as_ref()?.as_ref()
    }

    /// Whether the values of a shape up to a position are all shown. Of an event with more than 64
    /// KiB of them, the last are cut off.
    pub fn are_shown(&mut self, shape: usize, position: usize) -> Option<bool> {
        let ShapeValues::Kinds(kinds) = &self.forms[shape] else {
            return Some(true);
        };
        let up_to = kinds.iter().take(position.saturating_add(1));
        // No value takes more bytes, but for those of a text.
        let mut bytes = 20 * up_to.len();
        let texts = up_to.enumerate();
        let texts = texts.filter(|(_, kind)| **kind == ValueKind::Text);
        for text in texts.map(|(text, _)| text).collect::<Vec<_>>() {
            let all = self.columns.get(FIXED + text)?.0.len();
            bytes += match all < PAYLOAD / 4 {
                true => all,
                false => {
                    self.read_values(text)?;
                    self.values(text)?.longest
                }
            };
        }
        Some(bytes < PAYLOAD)
    }

    fn read(&self, position: usize) -> Option<ValueColumn<'a>> {
        // Values of imported lines stand in other columns, in other ways.
        if self.table.iter().any(|shape| !shape.stored.is_empty()) {
            return None;
        }
        let mut column = *self.columns.get(FIXED.checked_add(position)?)?;
        let mut read = ValueColumn {
            raw: vec![0; self.shapes.len()],
            bytes: column.0,
            longest: 0,
        };
        let kinds: Vec<_> = self
            .table
            .iter()
            .map(|shape| kind(shape, position))
            .collect();
        if let [Some(ValueKind::Int | ValueKind::Uint)] = kinds[..] {
            let (mut before, mut places) = (0_u64, read.raw.iter_mut());
            column.each(self.shapes.len(), |number| {
                before = before.wrapping_add(signed(number));
                if let Some(place) = places.next() {
                    *place = before;
                }
            })?;
            return Some(read);
        }
        let mut before = vec![0; kinds.len()];
        for (place, shape) in read.raw.iter_mut().zip(&self.shapes) {
            let shape = usize::from(*shape);
            match kinds[shape] {
                None => continue,
                Some(ValueKind::Int | ValueKind::Uint) => {
                    before[shape] = column.difference(before[shape])?;
                    *place = before[shape];
                }
                Some(ValueKind::Float) => {
                    let (bytes, _) = column.take(8)?.0.as_chunks();
                    *place = u64::from_le_bytes(bytes[0]);
                }
                Some(ValueKind::LongDouble) => {
                    *place = (read.bytes.len() - column.0.len()) as u64;
                    column.take(16)?;
                }
                Some(ValueKind::Text) => {
                    if let Some(number) = column.get()?.checked_sub(1) {
                        let (at, length) = (read.bytes.len() - column.0.len(), number >> 1);
                        column.take(length)?;
                        let cut = if number & 1 == 1 { IS_CUT } else { 0 };
                        *place = IS_TEXT | cut | (at as u64) << LENGTH_BITS | length;
                        read.longest = read.longest.max(length as usize);
                    }
                }
            }
        }
        Some(read)
    }
}

/// The shapes of so many events, up to the first one that is not in the table.
fn shapes_of(mut column: Cursor, count: usize, table: usize) -> Vec<u16> {
    let mut start = column;
    if table == 1 && start.are_below(count, 1) == Some(true) {
        return vec![0; count];
    }
    let numbers = std::iter::from_fn(|| column.get());
    let shapes = numbers.map_while(|number| u16::try_from(number).ok());
    shapes
        .take_while(|shape| usize::from(*shape) < table)
        .collect()
}

/// The kind of the values of a shape in the column of a position.
fn kind(shape: &Shape, position: usize) -> Option<ValueKind> {
    match shape.kinds.is_empty() {
        true => (position as u64 <= shape.args.checked_sub(1)?).then_some(ValueKind::Int),
        false => shape.kinds.get(position).copied(),
    }
}

impl ShapeValues {
    /// What events of a ring have that are made of events of a shape. With any call stack, or if
    /// the message was lost, they have a payload.
    pub(crate) fn of(shape: &Shape, is_lost: bool) -> ShapeValues {
        let is_integer = |kind| matches!(kind, ValueKind::Int | ValueKind::Uint);
        let count = match shape.kinds.len() {
            _ if shape.payload || !shape.stored.is_empty() => return ShapeValues::Payload,
            0 => usize::try_from(shape.args).unwrap_or(usize::MAX),
            count
                if !has_payload(shape.definition.syntax)
                    && shape.kinds.iter().copied().all(is_integer) =>
            {
                count
            }
            _ => return ShapeValues::Kinds(shape.kinds.clone()),
        };
        match count {
            0..=ARGUMENTS if !is_lost && shape.backtrace == 0 => ShapeValues::Words(count),
            // Without columns for them, no event of the shape can be read.
            _ if count > MAX_ARGS => ShapeValues::Payload,
            _ => ShapeValues::Kinds(vec![ValueKind::Int; count]),
        }
    }
}

impl<'a> ValueColumn<'a> {
    /// The values as they are: integers; the bits of a `double`; of others, where they are.
    pub fn raw(&self) -> &[u64] {
        &self.raw
    }

    /// What a value of this kind is that has these bits in this column.
    pub fn value(&self, kind: ValueKind, raw: u64) -> Option<Value<'a>> {
        Some(match kind {
            ValueKind::Int => Value::Int(raw as i64),
            ValueKind::Uint => Value::Uint(raw),
            ValueKind::Float => Value::Float(f64::from_bits(raw)),
            ValueKind::LongDouble => {
                let bytes = self.bytes.get(usize::try_from(raw).ok()?..)?;
                Value::LongDouble(*bytes.first_chunk()?)
            }
            ValueKind::Text if raw & IS_TEXT == 0 => Value::Nil,
            ValueKind::Text => {
                let at = (raw & !(IS_TEXT | IS_CUT)) >> LENGTH_BITS;
                let length = (raw & ((1 << LENGTH_BITS) - 1)) as usize;
                let bytes = self.bytes.get(at as usize..)?.get(..length)?;
                let cut = raw & IS_CUT != 0;
                Value::Text { bytes, cut }
            }
        })
    }
}
