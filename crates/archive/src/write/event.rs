//! Builds the record of an event from left to right, from parts that are encoded already.
//!
//! docs/archive.md numbers the fields. They come in the order of their numbers.

use super::interner::{DefinitionId, FieldBytes, Interner, MOST_FIELDS, ThreadId};
use crate::format::event::ArchiveEvent;
use crate::format::tag;
use timeline::internal::msgpack::{NumberBytes, marker, packed, packed_signed, whole_values};

/// An event whose definition and thread are known by their numbers. Its payload is whole values.
pub type InternedEvent = ArchiveEvent<DefinitionId, ThreadId>;

/// Most bytes of a record, not counting its lists and its payload.
const MOST: usize = 512;
/// Most bytes of a number.
const NUMBER: usize = 9;

/// The record of an event. Its buffer is used again for the next event.
#[derive(Default)]
pub struct EventRecord {
    bytes: Vec<u8>,
}

impl EventRecord {
    /// The record of an event.
    #[inline]
    pub fn encode(&mut self, event: &InternedEvent, interned: &Interner) -> &[u8] {
        let (of_definition, [first, level, format, category, own]) =
            interned.definition_fields(event.definition);
        let (of_thread, [name, process, group]) = interned.thread_fields(event.thread);
        let args = event.integers();
        let (values, payload) = match event.payload.as_slice() {
            [] => (0, [].as_slice()),
            payload => whole_values(payload),
        };
        let most = MOST + NUMBER * (args.len() + event.backtrace.len()) + payload.len();
        if self.bytes.len() < most {
            self.bytes.resize(most, 0);
        }
        let mut line = Line {
            bytes: &mut self.bytes,
            length: 0,
        };

        let count = of_definition
            + of_thread
            + usize::from(event.ticks.is_some())
            + usize::from(event.unix_nanos.is_some())
            + usize::from(event.core.is_some())
            + usize::from(event.lane.is_some())
            + usize::from(event.number.is_some())
            + usize::from(event.next.is_some())
            + usize::from(!args.is_empty())
            + usize::from(!event.backtrace.is_empty())
            + usize::from(values > 0);
        match count {
            0..=15 => line.put(&[tag::EVENT, marker::FIXMAP | count as u8], 2),
            _ => line.put(&[tag::EVENT, marker::MAP16, 0, count as u8], 4),
        }
        line.fields(first);
        line.list(4, &event.backtrace, packed);
        line.fields(name);
        line.fields(level);
        line.number(7, event.ticks);
        line.number(8, event.unix_nanos);
        line.fields(format);
        line.list(10, args, packed_signed);
        if values > 0 {
            line.array(10, values as usize);
            line.bytes[line.length..][..payload.len()].copy_from_slice(payload);
            line.length += payload.len();
        }
        line.fields(category);
        line.number(12, event.core);
        line.fields(process);
        line.number(16, event.lane);
        line.number(17, event.number);
        line.fields(own);
        line.number(21, event.next);
        line.fields(group);
        let length = line.length;
        &self.bytes[..length]
    }
}

/// A record that is built from left to right.
struct Line<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl Line<'_> {
    /// Appends the first `length` of these bytes. All of them are copied, because a copy of fixed
    /// size is faster.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], length: usize) {
        self.bytes[self.length..][..N].copy_from_slice(bytes);
        self.length += length;
    }

    #[inline(always)]
    fn fields(&mut self, fields: &FieldBytes) {
        self.put::<MOST_FIELDS>(&fields.bytes, fields.length);
    }

    #[inline(always)]
    fn packed(&mut self, number: NumberBytes) {
        self.put(&[number.marker], 1);
        self.put(&number.rest, number.size);
    }

    #[inline(always)]
    fn number(&mut self, field: u8, number: Option<u64>) {
        if let Some(number) = number {
            self.put(&[field], 1);
            self.packed(packed(number));
        }
    }

    /// Appends a list, unless it is empty.
    #[inline(always)]
    fn list<T: Copy>(&mut self, field: u8, list: &[T], pack: impl Fn(T) -> NumberBytes) {
        if list.is_empty() {
            return;
        }
        self.array(field, list.len());
        for value in list {
            self.packed(pack(*value));
        }
    }

    #[inline(always)]
    fn array(&mut self, field: u8, count: usize) {
        match count {
            0..=15 => self.put(&[field, marker::FIXARRAY | count as u8], 2),
            _ => self.long_array(field, count),
        }
    }

    #[inline(never)]
    fn long_array(&mut self, field: u8, count: usize) {
        match u16::try_from(count) {
            Ok(count) => {
                let [a, b] = count.to_be_bytes();
                self.put(&[field, marker::ARRAY16, a, b], 4);
            }
            Err(_) => {
                let [a, b, c, d] = (count as u32).to_be_bytes();
                self.put(&[field, marker::ARRAY32, a, b, c, d], 6);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::event::tests::naive;
    use crate::format::event::{RawDefinition, RawEvent, RawThread, SingleEvent};
    use crate::format::record::{Record, decode, decode_for_index};

    /// Numbers of every size, or no number.
    fn field() -> impl Strategy<Value = Option<u64>> {
        let number = (0..64u32, any::<u64>()).prop_map(|(shift, number)| number >> shift);
        prop_oneof![Just(None), Just(Some(u64::MAX)), number.prop_map(Some)]
    }

    fn data() -> impl Strategy<Value = RawEvent> {
        let kind = proptest::collection::vec(field(), 7);
        let source = proptest::collection::vec(field(), 6);
        let position = proptest::collection::vec(field(), 6);
        let arg = (0..64u32, any::<i64>()).prop_map(|(shift, number)| number >> shift);
        let lists = (
            proptest::collection::vec(arg, 0..20),
            proptest::collection::vec(field().prop_map(Option::unwrap_or_default), 0..20),
            proptest::collection::vec(0..0xc0u8, 0..20),
        );
        (kind, source, position, lists).prop_map(
            |(kind, source, position, (args, backtrace, payload))| RawEvent {
                definition: RawDefinition {
                    file: kind[0],
                    line: kind[1],
                    level: kind[2],
                    format: kind[3],
                    category: kind[4],
                    event: kind[5],
                    syntax: kind[6],
                    channels: position[5],
                },
                thread: RawThread {
                    name: source[0],
                    tid: source[1],
                    pid: source[2],
                    process: source[3],
                    group: source[4],
                    identity: source[5],
                },
                ticks: position[0],
                unix_nanos: position[1],
                core: position[2],
                lane: position[3],
                number: position[4],
                next: position[5],
                missed: 0,
                args,
                payload,
                backtrace,
            },
        )
    }

    proptest! {
        #[test]
        fn a_record_is_that_of_its_naive_twin(
            magic in any::<u64>(),
            events in proptest::collection::vec(data(), 1..20),
        ) {
            let mut interned = Interner::new(magic);
            let mut record = EventRecord::default();
            for data in &events {
                let event = interned.event(data);
                prop_assert_eq!(record.encode(&event, &interned), naive(data, Some(magic)));
            }
        }
    }

    /// What a record is, read with this memory.
    fn read(record: &[u8], memory: &mut SingleEvent) -> String {
        let is = decode(record, memory);
        let source = (memory.magic(), memory.definition(), memory.thread());
        match is {
            Some(Record::Event) => format!("{source:?} {:?}", memory.event),
            other => format!("{other:?}"),
        }
    }

    /// What an index keeps of an event.
    fn place(read: &SingleEvent) -> impl PartialEq + std::fmt::Debug {
        let (ticks, unix) = (read.event.ticks, read.event.unix_nanos);
        (read.magic(), ticks, unix, read.important())
    }

    proptest! {
        #[test]
        fn a_record_is_read_alike_whatever_was_read_before(
            kinds in proptest::collection::vec(data(), 1..6),
            records in proptest::collection::vec(
                (any::<prop::sample::Index>(), 0..64u64, data(), any::<Option<(u16, u8)>>()),
                1..40,
            ),
        ) {
            let [mut memory, mut index] = [SingleEvent::default(), SingleEvent::default()];
            for (kind, change, other, damage) in records {
                // Most sizes of numbers stay the same.
                let mut event = kind.get(&kinds).clone();
                let change = |number: Option<u64>| number.map(|number| number ^ change);
                (event.ticks, event.unix_nanos) = (change(event.ticks), change(event.unix_nanos));
                (event.lane, event.number) = (change(event.lane), change(event.number));
                (event.args, event.payload) = (other.args, other.payload);
                let mut record = naive(&event, Some(7));
                if let Some((at, bits)) = damage {
                    let at = usize::from(at) % record.len();
                    record[at] ^= bits;
                }
                let alone = read(&record, &mut SingleEvent::default());
                prop_assert_eq!(read(&record, &mut memory), alone);
                let is = decode_for_index(&record, &mut index);
                prop_assert_eq!(&is, &decode(&record, &mut memory));
                if is == Some(Record::Event) {
                    prop_assert_eq!(place(&index), place(&memory));
                }
            }
        }
    }

    #[test]
    fn records_of_a_kind_are_known_by_the_first() {
        let mut memory = SingleEvent::default();
        let mut event = RawEvent {
            definition: RawDefinition {
                format: Some(u64::MAX),
                event: Some(3),
                ..RawDefinition::default()
            },
            thread: RawThread {
                identity: Some(1 << 16),
                ..RawThread::default()
            },
            ticks: Some(1 << 40),
            number: Some(1 << 17),
            ..RawEvent::default()
        };
        for args in [vec![], vec![5, -7, i64::MAX]] {
            let known = [0, 1, 2].map(|i| {
                event.number = Some(i + (1 << 17));
                event.args = args.iter().map(|arg| arg / (1 << i)).collect();
                let record = naive(&event, Some(u64::MAX));
                let known = memory.decode_alike::<true>(&record);
                assert_eq!(decode(&record, &mut memory), Some(Record::Event));
                assert_eq!(
                    (&memory.event.args, memory.event.number),
                    (&event.args, event.number)
                );
                assert_eq!(
                    (memory.definition(), memory.magic()),
                    (event.definition.clone(), u64::MAX)
                );
                known
            });
            assert_eq!(known, [false, true, true]);
        }
    }

    #[test]
    fn long_lists_have_room() {
        let data = RawEvent {
            args: vec![i64::MIN; 70_000],
            backtrace: vec![u64::MAX; 300],
            ..RawEvent::default()
        };
        let mut interned = Interner::new(1);
        let event = interned.event(&data);
        assert_eq!(
            EventRecord::default().encode(&event, &interned),
            naive(&data, Some(1))
        );
    }
}
