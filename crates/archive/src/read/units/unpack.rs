//! Reads the events of a block, one after the other.

use crate::format::block::{
    BACKTRACE, CODEC_ZSTD, CORE, FIXED, HAS_CORE, HAS_LANE, HAS_NUMBER, HAS_TICKS, HAS_TIME, LANE,
    MAX_COLUMNS, MAX_EVENTS, MAX_EXPANDED, MAX_EXPANSION, NUMBER, Pace, PreviousValues, SHAPE,
    Shape, THREAD, TICKS, TIME, decode_row, thread_fields,
};
use crate::format::event::{ArchiveEvent, RawThread, has_payload};
use crate::format::varint::NumberReader;
use crate::read::units::stored_values::{StoredValues, by_kind};
use timeline::internal::msgpack::all_integers;

/// Expands a payload to the length that its record states, into a buffer that can be used again.
/// Returns `None` if it is damaged.
pub fn expand<'a>(
    codec: &[u8],
    payload: &[u8],
    length: u64,
    out: &'a mut Vec<u8>,
) -> Option<&'a [u8]> {
    let length = usize::try_from(length).ok()?;
    if length > MAX_EXPANDED || length / MAX_EXPANSION > payload.len() {
        return None;
    }
    out.resize(length, 0);
    let expanded = match codec == CODEC_ZSTD.as_bytes() {
        true => zstd::bulk::decompress_to_buffer(payload, &mut out[..]).ok()?,
        false => lz4_flex::block::decompress_into(payload, out).ok()?,
    };
    (expanded == length).then_some(out)
}

/// An event whose definition and thread are given by their indices in tables.
pub type IndexedEvent = ArchiveEvent<usize, usize>;

/// The events of an expanded block.
pub struct UnpackedEvents<'a> {
    /// The table of shapes.
    pub shapes: Vec<Shape>,
    /// The table of threads.
    pub threads: Vec<RawThread>,
    pace: Pace,
    pub(super) columns: Vec<NumberReader<'a>>,
    /// The payloads. They are the last column, if any event has a payload.
    pub(super) payloads: NumberReader<'a>,
    pub(super) previous: PreviousValues,
    /// The time of the event before, if times count from there.
    pub(super) time: u64,
    pub(super) stored: StoredValues<'a>,
}

impl<'a> UnpackedEvents<'a> {
    /// Reads the tables. Returns `None` if they are damaged.
    pub fn new(expanded: &'a [u8]) -> Option<UnpackedEvents<'a>> {
        let mut input = NumberReader(expanded);
        let pace = Pace::decode(&mut input)?;
        let mut shapes = Vec::new();
        for _ in 0..input.count(MAX_EVENTS)? {
            shapes.push(Shape::decode(&mut input)?);
        }
        let mut threads = Vec::new();
        for _ in 0..input.count(MAX_EVENTS)? {
            let mut thread = RawThread::default();
            decode_row(&mut thread_fields(&mut thread), &mut input)?;
            threads.push(thread);
        }
        let mut columns = Vec::new();
        for _ in 0..input.count(MAX_COLUMNS)? {
            let length = input.get()?;
            columns.push(input.take(length)?);
        }
        let mut payloads = NumberReader(&[]);
        if shapes.iter().any(|shape| shape.payload) {
            payloads = columns.pop()?;
        }
        if columns.len() < FIXED || columns[SHAPE].numbers_left() > MAX_EVENTS {
            return None;
        }
        let previous = PreviousValues {
            ticks: pace.ticks,
            args: vec![Vec::new(); shapes.len()],
            ..PreviousValues::default()
        };
        Some(UnpackedEvents {
            shapes,
            threads,
            pace,
            columns,
            payloads,
            previous,
            time: pace.steps().map_or(0, |(_, time)| time),
            stored: StoredValues::default(),
        })
    }

    /// What is left of the columns, but for that of the payloads.
    pub fn columns(&self) -> &[NumberReader<'a>] {
        &self.columns
    }

    /// The expected times.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// How many events are left, if the block is not damaged.
    pub fn left(&self) -> usize {
        self.columns[SHAPE].numbers_left()
    }

    /// Whether all events have been read.
    pub fn is_at_end(&self) -> bool {
        self.columns[SHAPE].0.is_empty()
    }

    /// Reads the next event into one that can be used again. Returns `None` at the end, or if the
    /// block is damaged.
    #[inline]
    pub fn next_event(&mut self, event: &mut IndexedEvent) -> Option<()> {
        self.next_as_stored(event)?;
        if !event.payload.is_empty()
            && !has_payload(self.shapes[event.definition].definition.syntax)
            && all_integers(&event.payload, &mut event.args)
        {
            event.payload.clear();
        }
        Some(())
    }

    /// The same, but whole numbers of a payload stay in it, with their kinds.
    #[inline]
    pub fn next_as_stored(&mut self, event: &mut IndexedEvent) -> Option<()> {
        let fixed = self.columns.get_mut(..FIXED)?;
        let shape_number = usize::try_from(fixed[SHAPE].get()?).ok()?;
        let shape = self.shapes.get(shape_number)?;
        let thread = usize::try_from(fixed[THREAD].get()?).ok()?;
        if thread >= self.threads.len() {
            return None;
        }
        let (has, previous) = (shape.has, &mut self.previous);
        event.clear();
        (event.definition, event.thread) = (shape_number, thread);
        if has & HAS_TICKS != 0 {
            previous.ticks = fixed[TICKS].difference(previous.ticks)?;
            event.ticks = Some(previous.ticks);
        }
        if has & HAS_TIME != 0 {
            event.unix_nanos = Some(match self.pace.steps() {
                None => fixed[TIME].difference(self.pace.expect(event.ticks))?,
                Some((unit, _)) => {
                    let steps = fixed[TIME].difference(0)?;
                    self.time = self.time.wrapping_add(steps.wrapping_mul(unit));
                    self.time
                }
            });
        }
        if has & HAS_CORE != 0 {
            previous.core = fixed[CORE].difference(previous.core)?;
            event.core = Some(previous.core);
        }
        if has & HAS_LANE != 0 {
            event.lane = Some(fixed[LANE].get()?);
        }
        if has & HAS_NUMBER != 0 {
            let next = previous.next_number(event.lane);
            let number = fixed[NUMBER].difference(*next)?;
            *next = number.wrapping_add(1);
            event.number = Some(number);
        }
        for _ in 0..shape.backtrace {
            previous.address = fixed[BACKTRACE].difference(previous.address)?;
            event.backtrace.push(previous.address);
        }
        self.values(shape_number, event)?;
        let shape = &self.shapes[shape_number];
        if shape.payload {
            let length = self.payloads.get()?;
            event
                .payload
                .extend_from_slice(self.payloads.take(length)?.0);
        }
        Some(())
    }

    /// Reads the values of an event that stand in columns of their own.
    #[inline]
    fn values(&mut self, shape_number: usize, event: &mut IndexedEvent) -> Option<()> {
        let shape = &self.shapes[shape_number];
        let arguments = self.columns.get_mut(FIXED..)?;
        let before = &mut self.previous.args[shape_number];
        if !shape.stored.is_empty() {
            let (time, payload) = (event.unix_nanos, &mut event.payload);
            let shape = (shape_number, shape);
            (self.stored).next_event(shape, arguments, before, time, payload)?;
        } else if shape.kinds.is_empty() {
            let count = usize::try_from(shape.args).ok()?;
            let columns = arguments.get_mut(..count)?;
            before.resize(count, 0);
            for (before, column) in before.iter_mut().zip(columns) {
                *before = column.difference(*before as u64)? as i64;
                event.args.push(*before);
            }
        } else {
            let columns = arguments.get_mut(..shape.kinds.len())?;
            before.resize(shape.kinds.len(), 0);
            for ((kind, before), column) in shape.kinds.iter().zip(before).zip(columns) {
                by_kind(*kind, column, before)?.encode(&mut event.payload);
            }
        }
        Some(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::event::{PRINTF, RawDefinition, RawEvent};
    use crate::format::storage::ColumnEncoding;
    use crate::format::varint::put;
    use crate::write::event_run::{EventRun, WordValues};
    use crate::write::interner::Interner;
    use crate::write::packer::{Packer, compress, pack};
    use timeline::internal::{AlikeEvents, Format, LaneRun};
    use timeline::{Layout, ThreadRef, Value};

    fn unpacked(packed: &[u8]) -> Vec<RawEvent> {
        let mut unpacked = UnpackedEvents::new(packed).expect("tables");
        let (mut events, mut event) = (Vec::new(), IndexedEvent::default());
        while unpacked.next_event(&mut event).is_some() {
            let event = event.clone();
            events.push(RawEvent {
                definition: unpacked.shapes[event.definition].definition.clone(),
                thread: unpacked.threads[event.thread].clone(),
                ticks: event.ticks,
                unix_nanos: event.unix_nanos,
                core: event.core,
                lane: event.lane,
                number: event.number,
                args: event.args,
                payload: event.payload,
                backtrace: event.backtrace,
                next: None,
                missed: 0,
            });
        }
        assert!(unpacked.is_at_end());
        events
    }

    pub fn event(i: u64) -> RawEvent {
        RawEvent {
            definition: RawDefinition {
                format: Some(1),
                level: Some(4),
                ..RawDefinition::default()
            },
            thread: RawThread {
                tid: Some(7),
                ..RawThread::default()
            },
            ticks: Some(1_000_000 + 3_000 * i + i % 7),
            unix_nanos: Some(1_700_000_000_000_000_000 + 1_000 * i),
            core: Some(i / 100 % 4),
            lane: Some(i / 100 % 4),
            number: Some(i),
            args: vec![i as i64, -(i as i64), 1 << (i % 60), 5],
            ..RawEvent::default()
        }
    }

    #[test]
    fn events_come_back() {
        let mut events: Vec<RawEvent> = (0..1_000).map(event).collect();
        events.push(RawEvent::default());
        events.push(RawEvent {
            ticks: Some(0),
            unix_nanos: Some(u64::MAX),
            backtrace: vec![u64::MAX, 0, 5],
            args: vec![i64::MIN, i64::MAX, 0, 0, 0, 1],
            ..RawEvent::default()
        });
        for payload in [vec![0xc0, 0xd9, 2, b'h', b'i'], vec![7], vec![0; 300]] {
            let mut event = event(2);
            event.definition.syntax = Some(PRINTF);
            event.args.clear();
            events.push(RawEvent { payload, ..event });
        }
        events.push(event(1));
        let packed = pack(&events);
        let mut buffer = vec![7; 100_000];
        let mut compressed = Vec::new();
        let compressed = compress(&packed, &mut compressed);
        let expanded = expand(b"lz4", compressed, packed.len() as u64, &mut buffer);
        assert_eq!(unpacked(expanded.expect("LZ4")), events);
        assert_eq!(unpacked(&pack(&[])), []);
    }

    #[test]
    fn arguments_are_told_from_a_payload() {
        let of = |args: &[i64], payload: &[u8], syntax| {
            let mut event = event(3);
            (event.args, event.payload) = (args.to_vec(), payload.to_vec());
            event.definition.syntax = syntax;
            event
        };
        let read = unpacked(&pack(&[
            of(&[], &[0xd2, 0, 0, 0, 7, 5], None),
            of(&[], &[5, 0xc0], None),
            of(&[], &[5, 6, 0xd9], Some(PRINTF)),
            // If there is a payload, arguments are ignored.
            of(&[1, 2], &[5, 0xc0], None),
            of(&[1, 2], &[5], Some(PRINTF)),
        ]));
        let expected = [
            of(&[7, 5], &[], None),
            of(&[], &[5, 0xc0], None),
            of(&[], &[5, 6], Some(PRINTF)),
            of(&[], &[5, 0xc0], None),
            of(&[], &[5], Some(PRINTF)),
        ];
        assert_eq!(read, expected);
    }

    const FORMAT: &str = "%d %lu %f %f %f %Lf %n%s%s";

    /// Doubles that are stored as decimals, by differences, and as they are.
    fn doubles(i: u64) -> [f64; 3] {
        let mixed = f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        [i as f64 / 8.0, 1e5 + i as f64 / 7.0, mixed]
    }

    /// The words of an event with values of each kind.
    fn words(i: u64) -> Vec<u8> {
        let lengths = [i % 9, i % 5];
        let integers = [7u64.wrapping_sub(i), i << 60];
        let others = [i, 0xffff_ffff_ffff_4000, 99];
        let doubles = doubles(i).map(f64::to_bits);
        let mut words = [&integers[..], &doubles, &others, &lengths].concat();
        let texts = lengths.iter().zip([0x6968, 0x6f68]);
        let texts = texts.filter(|(length, _)| **length > 0);
        words.extend(texts.map(|(_, text)| text));
        words.resize(12, 0);
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// A block of events with values of each kind, which take so many entries each.
    pub fn of_kinds(count: u64, entries: u64) -> Vec<u8> {
        let layout = Layout::of_format(&Format::parse(FORMAT));
        let kinds: Vec<_> = layout.kinds().collect();
        let values = WordValues::Kinds(&layout, &kinds);
        assert!(values.are_in(&words(5)) && !values.are_in(&words(5)[..79]));
        let (mut packer, mut out) = (Packer::new(), Vec::new());
        let mut interned = Interner::new(0);
        let mut from = 0;
        while from < count {
            // One, or more than are given to a column at once.
            let most = [Layout::MOST_ROWS + 9, 1][usize::from(from % 3 == 0)];
            let of_lane = (from..count).take_while(|i| i / 100 == from / 100);
            let alike: Vec<_> = of_lane.take(most).collect();
            let mut first = event(from);
            first.definition.syntax = Some(PRINTF);
            let row = interned.event(&first);
            let run = LaneRun {
                count: alike.len(),
                lane: first.lane.unwrap() as u32,
                number: from * entries,
                core: first.core.map(|core| core as u16),
                thread: (ThreadRef(0), 7),
            };
            let ticks: Vec<_> = alike.iter().filter_map(|i| event(*i).ticks).collect();
            let unix_nanos: Vec<_> = alike.iter().filter_map(|i| event(*i).unix_nanos).collect();
            let words: Vec<_> = alike.iter().flat_map(|i| words(*i)).collect();
            let alike = EventRun {
                definition: row.definition,
                events: AlikeEvents {
                    ticks: &ticks,
                    words: &words,
                    size: words.len() / alike.len(),
                    entries: entries as usize,
                    runs: &[run],
                },
                threads: &[row.thread],
                unix_nanos: &unix_nanos,
            };
            packer.push_words(&alike, &values);
            from += ticks.len() as u64;
        }
        assert_eq!(packer.codec(), "lz4+columns");
        packer.finish(&interned, &mut out, &mut Vec::new());
        out
    }

    #[test]
    fn values_come_back_from_columns_of_their_kinds() {
        for entries in [1, 3] {
            let packed = of_kinds(400, entries);
            let found = unpacked(&packed);
            assert_eq!(found.len(), 400);
            let stored = UnpackedEvents::new(&packed).unwrap().shapes[0]
                .stored
                .clone();
            let of_doubles = [
                ColumnEncoding::Decimal(3),
                ColumnEncoding::Difference(5),
                ColumnEncoding::ByKind,
            ];
            assert_eq!(stored[2..5], of_doubles);
            for (is, i) in found.iter().zip(0..) {
                is_of_kinds(is, i, i as u64 * entries);
            }
        }
    }

    fn is_of_kinds(is: &RawEvent, i: i32, number: u64) {
        let was = event(i as u64);
        assert_eq!(
            (is.ticks, is.unix_nanos, is.number),
            (was.ticks, was.unix_nanos, Some(number))
        );
        assert_eq!(
            (is.core, is.lane, &is.thread),
            (was.core, was.lane, &was.thread)
        );
        let mut long_double = [0; 16];
        long_double[..8].copy_from_slice(&(i as u64).to_le_bytes());
        long_double[8..10].copy_from_slice(&[0, 0x40]);
        let text = |bytes| Value::Text { bytes, cut: false };
        let [decimal, near, any] = doubles(i as u64).map(Value::Float);
        let expected = [
            Value::Int((7 - i).into()),
            Value::Uint((i as u64) << 60),
            decimal,
            near,
            any,
            Value::LongDouble(long_double),
            text(&b"hi\0\0\0\0\0\0"[..i as usize % 9]),
            text(&b"ho\0\0\0"[..i as usize % 5]),
        ];
        assert_eq!(
            timeline::internal::values(&is.payload).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn a_shape_has_one_place_for_its_values() {
        let shape = |mask: u64, rest: &[u8]| {
            let mut bytes = Vec::new();
            put(&mut bytes, mask);
            bytes.extend(rest);
            Shape::decode(&mut NumberReader(&bytes))
        };
        assert_eq!(
            shape(1 << 21, &[2, 0, 4]).map(|shape| shape.kinds.len()),
            Some(2)
        );
        assert!(shape(1 << 21, &[2, 0, 5]).is_none());
        assert!(shape(1 << 21, &[2, 0]).is_none());
        assert!(shape(1 << 21, &[0x81, 8]).is_none());
        assert!(shape(1 << 21 | 1 << 10, &[1, 1, 0]).is_none());
        assert!(shape(1 << 21 | 1 << 19, &[1, 0]).is_none());
    }

    #[test]
    fn a_block_has_no_more_events_than_it_may() {
        let packed = |count| pack(&vec![RawEvent::default(); count]);
        let most = packed(MAX_EVENTS);
        assert_eq!(unpacked(&most).len(), MAX_EVENTS);
        assert!(UnpackedEvents::new(&packed(MAX_EVENTS + 1)).is_none());
    }

    fn read_all(packed: &[u8]) {
        if let Some(mut unpacked) = UnpackedEvents::new(packed) {
            while unpacked.next_event(&mut IndexedEvent::default()).is_some() {}
        }
    }

    #[test]
    fn any_damage_to_a_block_is_noticed_or_does_no_harm() {
        let mut events: Vec<RawEvent> = (0..50).map(event).collect();
        events[20].payload = vec![0xd9, 3, 1, 2, 3];
        for packed in [pack(&events), of_kinds(20, 1)] {
            for at in 0..packed.len() {
                for bit in 0..8 {
                    let mut damaged = packed.clone();
                    damaged[at] ^= 1 << bit;
                    read_all(&damaged);
                }
                read_all(&packed[..at]);
            }
        }
        let mut buffer = Vec::new();
        assert!(expand(b"lz4", &[0; 10], u64::MAX, &mut buffer).is_none());
        assert!(buffer.is_empty());
        assert!(expand(b"lz4", &[0; 10], 2_600, &mut buffer).is_none());
    }
}
