//! The record of one event.

use crate::format::msgpack::Input;

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

impl Data {
    pub(crate) fn decode(input: &mut Input, fields: u32) -> Option<Data> {
        let mut data = Data::default();
        let mut arguments: &[u8] = &[];
        for _ in 0..fields {
            match input.key()? {
                10 => arguments = input.arguments(&mut data.args)?,
                key => data.field(key, input)?,
            }
        }
        if data.args.is_empty() || data.kind.syntax == Some(PRINTF) {
            data.args.clear();
            data.payload = arguments.to_vec();
        }
        Some(data)
    }

    fn field(&mut self, field: u8, input: &mut Input) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.kind.file = input.number()?,
            3 => self.kind.line = input.number()?,
            4 => self.backtrace = input.numbers()?,
            5 => self.source.thread = input.number()?,
            6 => self.kind.level = input.number()?,
            7 => self.ticks = input.number()?,
            8 => self.unix_nanos = input.number()?,
            9 => self.kind.format = input.number()?,
            11 => self.kind.category = input.number()?,
            12 => self.core = input.number()?,
            13 => self.source.tid = input.number()?,
            14 => self.source.pid = input.number()?,
            15 => self.source.process = input.number()?,
            16 => self.lane = input.number()?,
            17 => self.number = input.number()?,
            18 => self.kind.event = input.number()?,
            20 => self.kind.syntax = input.number()?,
            21 => self.next = input.number()?,
            _ => input.skip()?,
        }
        Some(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::msgpack::Fields;
    use crate::format::record::{Record, decode};
    use crate::format::tag;

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
        for event in events {
            let bytes = naive(&event, None);
            assert_eq!(decode(&bytes), Some(Record::Data(event)));
        }
        // Whatever the order of the fields.
        let bytes = [127, 0x82, 20, 2, 10, 0x91, 7];
        let Some(Record::Data(event)) = decode(&bytes) else {
            panic!("no event")
        };
        assert_eq!((event.args, event.payload), (vec![], vec![7]));
    }
}
