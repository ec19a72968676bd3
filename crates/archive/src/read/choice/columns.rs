//! The columns of a block, as they are before events are made of them.
//!
//! A column is read when somebody asks for it, up to the last of the events that may be wanted. If
//! it ends too early, the block is damaged, and only reading the events one by one tells which of
//! them are there.

use std::cell::OnceCell;
use std::ops::Range;

use timeline::internal::ValueKind;
use timeline::{EventId, ThreadRef};

use crate::format::block::{CORE, FIXED, HAS_CORE, MAX_ARGS, Pace, SHAPE, Shape, THREAD};
use crate::format::event::has_payload;
use crate::format::storage::{ColumnEncoding, ENTRY, MOST_REPEATED, MOST_TIME};
use crate::format::time_text::TimeForm;
use crate::format::varint::NumberReader;
use crate::read::choice::value_column::{StoredColumn, ValueColumn};
use crate::read::units::ordered::{ARGUMENTS, PAYLOAD};
use crate::read::units::unpack::UnpackedEvents;

/// The columns of a block. Places count from 0, in the order in which the block has its events.
///
/// Methods that return an `Option` return `None` if the column is damaged.
pub struct BlockColumns<'a> {
    table: &'a [Shape],
    pub(super) columns: &'a [NumberReader<'a>],
    pub(super) pace: Pace,
    definitions: Vec<EventId>,
    forms: Vec<ShapeValues>,
    threads: Vec<(ThreadRef, u32)>,
    shapes: Vec<u16>,
    /// The places of the events whose values are read.
    range: Range<usize>,
    places: OnceCell<Vec<Vec<u16>>>,
    /// Whether a column of values is whole, by its number, once it was read.
    read: Vec<Option<bool>>,
    /// The values of those, by shape and position.
    values: Vec<Vec<Option<ValueColumn<'a>>>>,
}

/// What an event of a shape has as its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShapeValues {
    /// So many of the four words of [`Event::args`](timeline::Event::args), each from its column.
    /// The others are 0.
    Words(usize),
    /// Values of these kinds, each from its column.
    Kinds(Vec<ValueKind>),
    /// A payload, which is in no column of its own.
    Payload,
}

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
        let shapes = shapes_of(unpacked.columns()[SHAPE], unpacked.left(), table.len());
        BlockColumns {
            table,
            columns: unpacked.columns(),
            pace: unpacked.pace(),
            definitions,
            forms,
            threads: threads.collect(),
            range: 0..shapes.len(),
            shapes,
            places: OnceCell::new(),
            read: Vec::new(),
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
        let (mut column, count) = (self.columns[THREAD], self.shapes.len());
        let (mut numbers, mut highest) = (Vec::with_capacity(count), 0);
        column.each(count, |number| {
            numbers.push(number as u16);
            highest = highest.max(number);
        })?;
        let are_known = count == 0 || highest < self.threads.len() as u64;
        (are_known && highest <= u16::MAX.into()).then_some(numbers)
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

    /// From now on, [`BlockColumns::places`] and [`BlockColumns::values`] have only the events in
    /// this range of places. Does nothing if any of them were read before.
    pub fn narrow(&mut self, places: Range<usize>) {
        if self.places.get().is_none() && self.read.is_empty() {
            let start = places.start.clamp(self.range.start, self.range.end);
            self.range = start..places.end.clamp(start, self.range.end);
        }
    }

    /// The places of the events of a shape, in order.
    pub fn places(&self, shape: usize) -> &[u16] {
        let all = self.places.get_or_init(|| {
            let mut places = vec![Vec::new(); self.table.len()];
            // A block has at most 2^16 events.
            for place in self.range.clone() {
                places[usize::from(self.shapes[place])].push(place as u16);
            }
            places
        });
        &all[shape]
    }

    /// Which fields each event has.
    pub(super) fn masks(&self) -> impl Iterator<Item = u64> {
        let shapes = self.shapes.iter();
        shapes.map(|shape| self.table[usize::from(*shape)].has)
    }

    /// Reads the column of the values of a shape at a position, for [`BlockColumns::values`].
    pub fn read_values(&mut self, shape: usize, position: usize) -> Option<()> {
        let number = self.number_of(shape, position)?;
        if self.read.len() <= number {
            self.columns.get(FIXED.checked_add(number)?)?;
            self.read.resize(number + 1, None);
        }
        if self.read[number].is_none() {
            self.read[number] = Some(self.read(number).is_some());
        }
        self.values(shape, position).map(|_| ())
    }

    /// The values of a shape at a position, if their column was read.
    pub fn values(&self, shape: usize, position: usize) -> Option<&ValueColumn<'a>> {
        self.values.get(shape)?.get(position)?.as_ref()
    }

    /// The number of the column of values that has those of a shape at a position. `None` if they
    /// stand in no column.
    fn number_of(&self, shape: usize, position: usize) -> Option<usize> {
        let shape = &self.table[shape];
        let is_time = matches!(shape.stored.get(position), Some(ColumnEncoding::Time(_)));
        (!is_time).then_some(shape.first.checked_add(position)?)
    }

    /// The form in which the value of a shape at a position is the time of the event. Such values
    /// stand in no column.
    pub fn time_form(&self, shape: usize, position: usize) -> Option<&'a TimeForm> {
        match self.table[shape].stored.get(position)? {
            ColumnEncoding::Time(form) => Some(form),
            _ => None,
        }
    }

    /// The bytes of the column of the values of a shape at a position, as the block has them. Each
    /// text among the values stands in there as it is.
    pub fn column_bytes(&self, shape: usize, position: usize) -> Option<&'a [u8]> {
        let number = self.number_of(shape, position)?;
        Some(self.columns.get(FIXED.checked_add(number)?)?.0)
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
            let Some(number) = self.number_of(shape, text) else {
                bytes += MOST_TIME;
                continue;
            };
            let all = self.columns.get(FIXED.checked_add(number)?)?.0.len();
            bytes += match all < PAYLOAD / 4 {
                true => all,
                false => {
                    self.read_values(shape, text)?;
                    self.values(shape, text)?.longest
                }
            };
        }
        Some(bytes < PAYLOAD)
    }

    /// Reads the column of values with this number, in which several shapes may have values.
    fn read(&mut self, number: usize) -> Option<()> {
        let mut column = *self.columns.get(FIXED.checked_add(number)?)?;
        let bytes = column.0;
        let users = self
            .table
            .iter()
            .map(|shape| StoredColumn::of(shape, number));
        let mut users: Vec<_> = users.collect();
        let there = users.iter().enumerate().filter(|(_, user)| user.is_some());
        let there: Vec<usize> = there.map(|(shape, _)| shape).collect();
        let mut most = MOST_REPEATED / ENTRY;
        let (before, wanted) = self.shapes[..self.range.end].split_at(self.range.start);
        if let [only] = there[..] {
            let (user, count) = (users[only].as_mut()?, self.places(only).len());
            let is_of = |shape: &&u16| usize::from(**shape) == only;
            let before = before.iter().filter(is_of).count();
            user.skip(before, &mut column, bytes, &mut most)?;
            user.all(count, &mut column, bytes, &mut most)?;
        } else {
            for shape in before {
                if let Some(user) = &mut users[usize::from(*shape)] {
                    user.one(&mut column, bytes, &mut most)?;
                }
            }
            for shape in wanted {
                if let Some(user) = &mut users[usize::from(*shape)] {
                    user.next(&mut column, bytes, &mut most)?;
                }
            }
        }
        self.values.resize_with(self.table.len(), Vec::new);
        for shape in there {
            let (values, position) = (&mut self.values[shape], number - self.table[shape].first);
            if values.len() <= position {
                values.resize_with(position + 1, || None);
            }
            values[position] = users[shape].take().map(|user| user.values(bytes));
        }
        Some(())
    }
}

/// The shapes of so many events, up to the first one that is not in the table.
fn shapes_of(mut column: NumberReader, count: usize, table: usize) -> Vec<u16> {
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

impl ShapeValues {
    /// What events of a ring have that are made of events of a shape. With any call stack, or if
    /// the message was lost, they have a payload.
    pub(crate) fn of(shape: &Shape, is_lost: bool) -> ShapeValues {
        let is_integer = |kind| matches!(kind, ValueKind::Int | ValueKind::Uint);
        let count = match shape.kinds.len() {
            _ if shape.payload => return ShapeValues::Payload,
            0 if shape.args == 0 && has_payload(shape.definition.syntax) => {
                return ShapeValues::Kinds(Vec::new());
            }
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
