//! The record of one event.

use timeline::msgpack::Input;

/// What events of one statement of a program share. Strings are given by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The file of the statement.
    pub file: Option<u64>,
    /// The line of the statement.
    pub line: Option<u64>,
    /// Priority, 1 (error) to 7 (library).
    pub level: Option<u64>,
    /// The message as it was defined.
    pub format: Option<u64>,
    /// The part of the program.
    pub category: Option<u64>,
    /// The number of the event in its ring.
    pub event: Option<u64>,
    /// How the message is written: [`PRINTF`], or with names of arguments (`$name`) if there is
    /// none.
    pub syntax: Option<u64>,
}

/// The syntax of a message that is a format of `printf`.
pub const PRINTF: u64 = 2;

/// What events of one thread share. Strings are given by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Source {
    /// The thread's name.
    pub thread: Option<u64>,
    /// The kernel's id of the thread.
    pub tid: Option<u64>,
    /// The id of its process.
    pub pid: Option<u64>,
    /// The name of its process.
    pub process: Option<u64>,
}

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Data {
    /// Whose.
    pub magic: Option<u64>,
    /// What it says.
    pub kind: Kind,
    /// Who says it.
    pub source: Source,
    /// Ticks of the ring's clock.
    pub ticks: Option<u64>,
    /// Nanoseconds since the epoch.
    pub unix_nanos: Option<u64>,
    /// The CPU.
    pub core: Option<u64>,
    /// The lane of the ring it was logged through.
    pub lane: Option<u64>,
    /// How many entries were logged through that lane before it.
    pub number: Option<u64>,
    /// How many entries there are with those that it takes itself, if that is not one more.
    pub next: Option<u64>,
    /// Its arguments, if all are integers and there is no payload.
    pub args: Vec<i64>,
    /// Its arguments as msgpack, one value after the other; counts as far as the values are whole.
    pub payload: Vec<u8>,
    /// Return addresses, innermost first.
    pub backtrace: Vec<u64>,
}

/// The fields of a single event as its record has them, in room that is used again.
#[derive(Default)]
pub(crate) struct SingleEvent {
    pub numbers: Numbers,
    /// Field 10, if all are integers and the event is none of `printf`.
    pub args: Vec<i64>,
    /// Field 10 otherwise.
    pub payload: Vec<u8>,
    /// Field 4.
    pub backtrace: Vec<u64>,
}

/// The fields of an event that are numbers, by their numbers in its record.
#[derive(Clone, Copy, Default)]
pub(crate) struct Numbers {
    /// Which there are, as bits.
    has: u32,
    values: [u64; FIELDS],
}

/// Fields of an event, with the tag's field 0, which there is not.
const FIELDS: usize = 22;

impl Numbers {
    /// A field, if the event has it.
    #[inline]
    pub fn get(&self, field: u8) -> Option<u64> {
        (self.has >> field & 1 == 1).then(|| self.values[usize::from(field)])
    }

    /// A field that may have been there already: the last one counts.
    #[inline]
    fn set(&mut self, field: u8, value: Option<u64>) {
        if let Some(slot) = self.values.get_mut(usize::from(field)) {
            match value {
                Some(value) => {
                    *slot = value;
                    self.has |= 1 << field;
                }
                None => self.has &= !(1 << field),
            }
        }
    }
}

impl SingleEvent {
    /// Reads the record of another event, of which so many fields follow.
    #[inline]
    pub fn decode(&mut self, input: &mut Input, fields: u32) -> Option<()> {
        self.numbers.has = 0;
        self.args.clear();
        self.payload.clear();
        self.backtrace.clear();
        let mut arguments: &[u8] = &[];
        for _ in 0..fields {
            match input.key()? {
                4 => input.numbers(&mut self.backtrace)?,
                10 => arguments = input.arguments(&mut self.args)?,
                field => self.numbers.set(field, input.number()?),
            }
        }
        if self.args.is_empty() || self.numbers.get(20) == Some(PRINTF) {
            self.args.clear();
            self.payload.extend_from_slice(arguments);
        }
        Some(())
    }

    /// Whose it is.
    #[inline]
    pub fn magic(&self) -> u64 {
        self.numbers.get(1).unwrap_or(0)
    }

    /// Its lane, and the number behind it there.
    pub fn place_behind(&self) -> Option<(u64, u64)> {
        let (lane, number) = self.numbers.get(16).zip(self.numbers.get(17))?;
        let next = self.numbers.get(21);
        Some((lane, next.unwrap_or(number.saturating_add(1))))
    }

    #[inline]
    pub fn kind(&self) -> Kind {
        let field = |field| self.numbers.get(field);
        Kind {
            file: field(2),
            line: field(3),
            level: field(6),
            format: field(9),
            category: field(11),
            event: field(18),
            syntax: field(20),
        }
    }

    #[inline]
    pub fn source(&self) -> Source {
        let field = |field| self.numbers.get(field);
        Source {
            thread: field(5),
            tid: field(13),
            pid: field(14),
            process: field(15),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::record::{Record, decode};
    use crate::format::tag;
    use timeline::msgpack::Fields;

    /// The record of an event, put together field by field: the naive twin of what a writer does.
    pub(crate) fn naive(event: &Data, magic: Option<u64>) -> Vec<u8> {
        let (mut fields, mut out) = (Fields::default(), Vec::new());
        fields.number(1, magic);
        fields.number(2, event.kind.file);
        fields.number(3, event.kind.line);
        fields.numbers(4, &event.backtrace);
        fields.number(5, event.source.thread);
        fields.number(6, event.kind.level);
        fields.number(7, event.ticks);
        fields.number(8, event.unix_nanos);
        fields.number(9, event.kind.format);
        if event.payload.is_empty() {
            fields.integers(10, &event.args);
        } else {
            fields.values(10, &event.payload);
        }
        fields.number(11, event.kind.category);
        fields.number(12, event.core);
        fields.number(13, event.source.tid);
        fields.number(14, event.source.pid);
        fields.number(15, event.source.process);
        fields.number(16, event.lane);
        fields.number(17, event.number);
        fields.number(18, event.kind.event);
        fields.number(20, event.kind.syntax);
        fields.number(21, event.next);
        fields.finish(tag::DATA, &mut out);
        out
    }

    #[test]
    fn arguments_are_told_from_a_payload() {
        let plain = Data {
            args: vec![1, -1],
            ..Data::default()
        };
        let printf = Kind {
            syntax: Some(PRINTF),
            ..Kind::default()
        };
        // An int and a string; an int alone; an unknown syntax with a float.
        let cases = [
            (printf.clone(), vec![0xd2, 0, 0, 0, 7, 0xd9, 2, b'h', b'i']),
            (printf, vec![0xd2, 0, 0, 0, 7]),
            (Kind::default(), vec![0xca, 0, 0, 0, 0]),
        ];
        let mut events = vec![plain];
        events.extend(cases.map(|(kind, payload)| Data {
            kind,
            payload,
            ..Data::default()
        }));
        let mut read = SingleEvent::default();
        for event in events {
            let bytes = naive(&event, None);
            assert_eq!(decode(&bytes, &mut read), Some(Record::Event));
            assert_eq!((&read.args, &read.payload), (&event.args, &event.payload));
            assert_eq!(read.kind(), event.kind);
        }
        // Whatever the order of the fields.
        let bytes = [127, 0x82, 20, 2, 10, 0x91, 7];
        assert_eq!(decode(&bytes, &mut read), Some(Record::Event));
        assert_eq!((read.args, read.payload), (vec![], vec![7]));
    }

    #[test]
    fn fields_come_back_from_room_that_had_another_event() {
        let mut read = SingleEvent::default();
        let all: Vec<u8> = (1..=21).flat_map(|field| [field, field]).collect();
        let all = [&[127, 0xde, 0, 21], &all[..]].concat();
        assert_eq!(decode(&all, &mut read), Some(Record::Event));
        for field in (1..=21).filter(|field| ![4, 10].contains(field)) {
            assert_eq!(read.numbers.get(field), Some(field.into()));
        }
        // Of a field that comes twice the last one counts, also where it is no number; there is no
        // field 22.
        let few = [127, 0x85, 7, 9, 8, 1, 8, 0xc0, 22, 5, 12, 0xff];
        assert_eq!(decode(&few, &mut read), Some(Record::Event));
        for field in 0..22 {
            assert_eq!(
                read.numbers.get(field),
                (field == 7).then_some(9),
                "{field}"
            );
        }
    }
}
