//! Defines the events of an archive: the fields of an event, and its record.

use crate::format::kind::RecordKinds;
use crate::format::number_fields::{NumberFields, Sources, VaryingFields};
use timeline::internal::layout::words::IMPORTANT_LANE;
use timeline::internal::msgpack::Unpacker;

/// An event of an archive, with its definition as a `D` and its thread as a `T`. A field that is
/// not known is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchiveEvent<D, T> {
    /// The definition of the event.
    pub definition: D,
    /// The thread that logged it.
    pub thread: T,
    /// Ticks of the ring's clock.
    pub ticks: Option<u64>,
    /// Nanoseconds since the epoch.
    pub unix_nanos: Option<u64>,
    /// The CPU it was logged on.
    pub core: Option<u64>,
    /// The lane of the ring it was logged through; 32,768 for an important event.
    pub lane: Option<u64>,
    /// How many entries were logged through that lane before it.
    pub number: Option<u64>,
    /// Its arguments, if all are integers. If there is a payload, these arguments are ignored.
    pub args: Vec<i64>,
    /// Its arguments as msgpack, one value after the other. Bytes after the last whole value are
    /// ignored.
    pub payload: Vec<u8>,
    /// Return addresses, innermost first.
    pub backtrace: Vec<u64>,
    /// The number of the next entry of its lane, if that is not `number` plus one. Only
    /// [`Writer`](crate::Writer) uses this field: a block does not hold it for each event.
    pub next: Option<u64>,
    /// How many entries of its lane are missing right before it, because they were overwritten.
    /// Only readers set this field. [`Writer::gap`](crate::Writer::gap) writes such a gap.
    pub missed: u64,
}

/// An event that refers to its strings by number.
pub type RawEvent = ArchiveEvent<RawDefinition, RawThread>;

impl<D, T> ArchiveEvent<D, T> {
    /// The arguments, or none if the event has a payload.
    #[inline]
    pub(crate) fn integers(&self) -> &[i64] {
        match self.payload.is_empty() {
            true => &self.args,
            false => &[],
        }
    }

    /// Whether it is an important event of its ring.
    #[inline]
    pub(crate) fn is_important(&self) -> bool {
        self.lane == Some(IMPORTANT_LANE.into())
    }

    /// The number of the next entry in its lane.
    #[inline]
    pub(crate) fn number_behind(&self) -> Option<u64> {
        self.next.or(Some(self.number?.saturating_add(1)))
    }

    /// Clears all fields except the definition and the thread. Keeps the memory of the lists.
    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.ticks, self.unix_nanos, self.core) = (None, None, None);
        (self.lane, self.number, self.next) = (None, None, None);
        self.args.clear();
        self.payload.clear();
        self.backtrace.clear();
        self.missed = 0;
    }

    /// Takes these items as payload, unless they are integers already and the syntax does not tell
    /// their types apart.
    #[inline]
    fn take_arguments(&mut self, items: &[u8], syntax: Option<u64>) {
        if self.args.is_empty() || has_payload(syntax) {
            self.args.clear();
            self.payload.extend_from_slice(items);
        }
    }
}

/// The definition of an event, which refers to its strings by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawDefinition {
    /// The file of the call site.
    pub file: Option<u64>,
    /// The line of the call site.
    pub line: Option<u64>,
    /// Priority, 1 (error) to 7 (library).
    pub level: Option<u64>,
    /// The message as it was defined.
    pub format: Option<u64>,
    /// The part of the program.
    pub category: Option<u64>,
    /// The number of the event in its ring.
    pub event: Option<u64>,
    /// The syntax of the message: [`PRINTF`], [`OBJECT`], or names of arguments (`$name`) if this
    /// is missing.
    pub syntax: Option<u64>,
    /// The channels of the event, with `|` between.
    pub channels: Option<u64>,
}

/// The syntax of a message that is a `printf` format.
pub const PRINTF: u64 = 2;
/// The syntax of a message that is a format of objects: [`timeline::internal::Object`].
pub const OBJECT: u64 = 3;

/// Whether the events of a syntax keep the types of their values, also if all are integers.
#[inline]
pub(crate) fn has_payload(syntax: Option<u64>) -> bool {
    matches!(syntax, Some(PRINTF | OBJECT))
}

/// A thread that logs events, which refers to its strings by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawThread {
    /// The thread's name.
    pub name: Option<u64>,
    /// The kernel's id of the thread.
    pub tid: Option<u64>,
    /// The id of its process.
    pub pid: Option<u64>,
    /// The name of its process.
    pub process: Option<u64>,
    /// Its group.
    pub group: Option<u64>,
    /// The number that no other thread of the ring has.
    pub identity: Option<u64>,
}

/// The record of a single event. Its memory is used again for the next event.
#[derive(Default)]
pub(crate) struct SingleEvent {
    /// The event without its definition and thread. Arguments are in the payload, unless all are
    /// integers and the event is not one of `printf`.
    pub event: ArchiveEvent<usize, usize>,
    /// Its fields that are numbers, if its kind was not known.
    own: NumberFields,
    /// The place of its kind, if that was known.
    kind: Option<usize>,
    kinds: RecordKinds,
    /// The magic and the source of the last record.
    magic: u64,
    source: u64,
    sources: Sources,
}

/// The field of the arguments.
const ARGUMENTS: u8 = 10;
/// The fields that differ between events of one definition and thread.
const VARYING: VaryingFields = VaryingFields {
    list: ARGUMENTS,
    numbers: [7, 8, 12, 16, 17, 21],
};

impl SingleEvent {
    /// Memory for an event that knows the kinds of records that this one knows.
    pub fn knowing(&self) -> SingleEvent {
        SingleEvent {
            kinds: self.kinds.clone(),
            ..SingleEvent::default()
        }
    }

    /// The hint by which the kind of the record was found, if it was known.
    #[inline]
    pub fn hint(&self) -> Option<usize> {
        self.kind.map(|_| self.kinds.hint())
    }

    /// See [`RecordKinds::trust`].
    pub fn trust(&mut self, hint: Option<usize>) {
        self.kinds.trust(hint);
    }

    /// Reads the record of another event, if records of its kind were read before. Returns
    /// whether it did. If it need not read it whole, it passes over the arguments, and leaves out
    /// what does not matter for the place of the event among others.
    #[inline(never)]
    pub fn decode_alike<const WHOLE: bool>(&mut self, record: &[u8]) -> bool {
        self.kind = self.kinds.find(record);
        let Some(kind) = self.kind.and_then(|place| self.kinds.get(place)) else {
            return false;
        };
        (self.source, self.magic) = (kind.id, kind.numbers.get(1).unwrap_or(0));
        let event = &mut self.event;
        event.payload.clear();
        event.backtrace.clear();
        event.args.clear();
        let mut input = Unpacker(&record[kind.head..]);
        let arguments = match kind.has_list {
            true if WHOLE => input.arguments(&mut event.args),
            true => input.pass_arguments().map(|()| [].as_slice()),
            false => Some([].as_slice()),
        };
        let Some(arguments) = arguments.filter(|_| input.0.len() == kind.tail) else {
            return false;
        };
        let [ticks, unix_nanos, core, lane, number, next] = &kind.varying;
        event.ticks = ticks.number(record);
        event.unix_nanos = unix_nanos.number(record);
        event.lane = lane.number(record);
        event.number = number.number(record);
        event.next = next.number(record);
        if WHOLE {
            event.core = core.number(record);
            event.take_arguments(arguments, kind.numbers.get(20));
        }
        true
    }

    /// Reads the record of another event, whose fields are these. Its kind is then known.
    pub fn decode(&mut self, record: &[u8], input: &mut Unpacker, fields: u32) -> Option<()> {
        self.kind = None;
        self.own = NumberFields::default();
        let (numbers, event) = (&mut self.own, &mut self.event);
        event.clear();
        let mut arguments = [].as_slice();
        for _ in 0..fields {
            match input.key()? {
                4 => input.numbers(&mut event.backtrace)?,
                ARGUMENTS => arguments = input.arguments(&mut event.args)?,
                field => numbers.set(field, input.number()?),
            }
        }
        event.ticks = numbers.get(7);
        event.unix_nanos = numbers.get(8);
        event.core = numbers.get(12);
        event.lane = numbers.get(16);
        event.number = numbers.get(17);
        event.next = numbers.get(21);
        event.take_arguments(arguments, numbers.get(20));
        self.magic = numbers.get(1).unwrap_or(0);
        self.source = self.sources.number(numbers, &VARYING);
        // A call stack is a second list: no kind has one.
        if event.backtrace.is_empty() {
            self.kinds.learn(record, &VARYING, numbers);
        }
        Some(())
    }

    /// The fields that all events of its definition and thread have in common. Others are those of
    /// another event.
    #[inline]
    fn shared(&self) -> &NumberFields {
        let kind = self.kind.and_then(|place| self.kinds.get(place));
        kind.map_or(&self.own, |kind| &kind.numbers)
    }

    /// A number that only events with the same magic, definition and thread have.
    #[inline]
    pub fn source(&self) -> u64 {
        self.source
    }

    /// The event, with the numbers of its definition and thread.
    #[inline]
    pub fn event(&mut self, definition: usize, thread: usize) -> &mut ArchiveEvent<usize, usize> {
        (self.event.definition, self.event.thread) = (definition, thread);
        &mut self.event
    }

    /// The magic of its ring.
    #[inline]
    pub fn magic(&self) -> u64 {
        self.magic
    }

    /// The number of an important event among those of its ring.
    pub fn important(&self) -> Option<u64> {
        let number = self.event.number?;
        self.event.is_important().then_some(number)
    }

    /// Its lane, its number in there, and that of the next entry.
    #[inline]
    pub fn entries(&self) -> Option<(u64, (u64, u64))> {
        let event = &self.event;
        Some((event.lane?, (event.number?, event.number_behind()?)))
    }

    /// Its lane, and the number of the next entry in that lane.
    pub fn position_behind(&self) -> Option<(u64, u64)> {
        self.event.lane.zip(self.event.number_behind())
    }

    #[inline]
    pub fn definition(&self) -> RawDefinition {
        let field = |field| self.shared().get(field);
        RawDefinition {
            file: field(2),
            line: field(3),
            level: field(6),
            format: field(9),
            category: field(11),
            event: field(18),
            syntax: field(20),
            channels: field(22),
        }
    }

    #[inline]
    pub fn thread(&self) -> RawThread {
        let field = |field| self.shared().get(field);
        RawThread {
            name: field(5),
            tid: field(13),
            pid: field(14),
            process: field(15),
            group: field(23),
            identity: field(24),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::record::{Record, decode};
    use crate::format::tag;
    use timeline::internal::msgpack::FieldWriter;

    /// Builds the record of an event field by field: the naive twin of the writer.
    pub(crate) fn naive(event: &RawEvent, magic: Option<u64>) -> Vec<u8> {
        let (mut fields, mut out) = (FieldWriter::default(), Vec::new());
        fields.number(1, magic);
        fields.number(2, event.definition.file);
        fields.number(3, event.definition.line);
        fields.numbers(4, &event.backtrace);
        fields.number(5, event.thread.name);
        fields.number(6, event.definition.level);
        fields.number(7, event.ticks);
        fields.number(8, event.unix_nanos);
        fields.number(9, event.definition.format);
        if event.payload.is_empty() {
            fields.integers(10, &event.args);
        } else {
            fields.values(10, &event.payload);
        }
        fields.number(11, event.definition.category);
        fields.number(12, event.core);
        fields.number(13, event.thread.tid);
        fields.number(14, event.thread.pid);
        fields.number(15, event.thread.process);
        fields.number(16, event.lane);
        fields.number(17, event.number);
        fields.number(18, event.definition.event);
        fields.number(20, event.definition.syntax);
        fields.number(22, event.definition.channels);
        fields.number(21, event.next);
        fields.number(23, event.thread.group);
        fields.number(24, event.thread.identity);
        fields.finish(tag::EVENT, &mut out);
        out
    }

    /// A field of an event that was read, if it is a number.
    fn number(read: &SingleEvent, field: u8) -> Option<u64> {
        let event = &read.event;
        match field {
            7 => event.ticks,
            8 => event.unix_nanos,
            12 => event.core,
            16 => event.lane,
            17 => event.number,
            21 => event.next,
            _ => read.shared().get(field),
        }
    }

    #[test]
    fn arguments_are_told_from_a_payload() {
        let plain = RawEvent {
            args: vec![1, -1],
            ..RawEvent::default()
        };
        let printf = RawDefinition {
            syntax: Some(PRINTF),
            ..RawDefinition::default()
        };
        // An int and a string; an int alone; an unknown syntax with a float.
        let cases = [
            (printf.clone(), vec![0xd2, 0, 0, 0, 7, 0xd9, 2, b'h', b'i']),
            (printf, vec![0xd2, 0, 0, 0, 7]),
            (RawDefinition::default(), vec![0xca, 0, 0, 0, 0]),
        ];
        let mut events = vec![plain];
        events.extend(cases.map(|(definition, payload)| RawEvent {
            definition,
            payload,
            ..RawEvent::default()
        }));
        let mut read = SingleEvent::default();
        for event in events {
            let bytes = naive(&event, None);
            assert_eq!(decode(&bytes, &mut read), Some(Record::Event));
            assert_eq!(
                (&read.event.args, &read.event.payload),
                (&event.args, &event.payload)
            );
            assert_eq!(read.definition(), event.definition);
        }
        // The order of the fields does not matter.
        let bytes = [127, 0x82, 20, 2, 10, 0x91, 7];
        assert_eq!(decode(&bytes, &mut read), Some(Record::Event));
        assert_eq!((read.event.args, read.event.payload), (vec![], vec![7]));
    }

    #[test]
    fn fields_come_back_from_room_that_had_another_event() {
        let mut read = SingleEvent::default();
        let all: Vec<u8> = (1..=24).flat_map(|field| [field, field]).collect();
        let all = [&[127, 0xde, 0, 24], &all[..]].concat();
        assert_eq!(decode(&all, &mut read), Some(Record::Event));
        for field in (1..=24).filter(|field| ![4, 10].contains(field)) {
            assert_eq!(number(&read, field), Some(field.into()));
        }
        // If a field comes twice, the last one counts, even if it is not a number. There is no
        // field 25.
        let few = [127, 0x85, 7, 9, 8, 1, 8, 0xc0, 25, 5, 12, 0xff];
        assert_eq!(decode(&few, &mut read), Some(Record::Event));
        for field in 0..25 {
            assert_eq!(number(&read, field), (field == 7).then_some(9), "{field}");
        }
    }

    #[test]
    fn bytes_behind_the_last_field_are_ignored_even_if_they_look_like_fields() {
        let numbers = (1..=21).filter(|field| *field != 4 && *field != 19);
        let encoded = numbers.map(|field| match field {
            10 => (field, vec![10, 0x92, 5, 0xff]),
            7 | 8 => (field, [&[field, 0xcf][..], &[field; 8]].concat()),
            17 => (field, vec![field, 0xce, 0, 0, 0, field]),
            _ => (field, vec![field, 0xcd, 1, field]),
        });
        let encoded: Vec<(u8, Vec<u8>)> = encoded.collect();
        let all: Vec<u8> = encoded
            .iter()
            .flat_map(|(_, bytes)| bytes.clone())
            .collect();
        let mut read = SingleEvent::default();
        for count in 0..=encoded.len() {
            let bytes = [&[127, 0xde, 0, count as u8], &all[..]].concat();
            assert_eq!(decode(&bytes, &mut read), Some(Record::Event));
            for (at, (field, _)) in encoded.iter().enumerate() {
                let found = match field {
                    10 => read.event.args == [5, -1],
                    field => number(&read, *field).is_some(),
                };
                assert_eq!(found, at < count, "field {field} of {count}");
            }
        }
        // The array behind the only field is not whole.
        let bytes = [127, 0x81, 7, 9, 10, 0x92, 1];
        assert_eq!(decode(&bytes, &mut read), Some(Record::Event));
        assert_eq!((number(&read, 7), read.event.args), (Some(9), vec![]));
    }
}
