//! Defines the messages of a connection, which stand among the frames of an archive.
//! docs/protocol.md states them.
//!
//! A message is a frame like those of archives, and its record has a tag that archives do not use.
//! Two of them, `File` and `Bye`, belong to the archive: they are kept in the file.

use timeline::internal::msgpack::{FieldWriter, Unpacker};
use timeline_archive::SessionFile;
use timeline_archive::frames::{self, Checksum};

use crate::fields::{each, number};
use crate::hello::{Hello, Welcome};

/// Most bytes of a record that comes before a welcome.
pub const MAX_HELLO: usize = 8 << 10;

/// The tags of messages.
mod tag {
    pub const HELLO: u8 = 64;
    pub const WELCOME: u8 = 65;
    pub const BEAT: u8 = 66;
    pub const ACK: u8 = 67;
    pub const FILE: u8 = 69;
    pub const GONE: u8 = 70;
    pub const BYE: u8 = 71;
    pub const REFUSED: u8 = 72;
}

/// How far a file is received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ack {
    /// The number of the file in its session.
    pub file: u64,
    /// Its bytes that are in the file.
    pub written: u64,
    /// Its bytes that are on the disk.
    pub durable: u64,
}

/// Says that a side is there, and how it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beat {
    /// Why the receiver takes nothing at present, in words.
    pub trouble: Option<String>,
    /// Whether somebody waits for new events of this run.
    pub is_watched: bool,
    /// From the sender: the number of its question what time it is there.
    pub question: Option<u64>,
    /// From the receiver: the answer.
    pub answer: Option<ClockAnswer>,
}

/// What time it is at the receiver, in nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockAnswer {
    /// The number of the question.
    pub asked: u64,
    /// When the question came.
    pub received: u64,
    /// When the answer went.
    pub sent: u64,
}

/// Why a receiver does not take what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCode {
    /// What was sent makes no sense.
    Protocol,
    /// Another sender sends this run.
    InUse,
    /// The session is not known, although something of it was acknowledged.
    UnknownSession,
    /// There are too many connections.
    Busy,
    /// The token is missing or wrong, or the connection is not encrypted.
    Stranger,
    /// Any other reason, of a newer receiver.
    Other(u64),
}

impl RefusalCode {
    fn number(self) -> u64 {
        match self {
            RefusalCode::Protocol => 1,
            RefusalCode::InUse => 2,
            RefusalCode::UnknownSession => 3,
            RefusalCode::Busy => 4,
            RefusalCode::Stranger => 5,
            RefusalCode::Other(number) => number,
        }
    }

    fn of(number: u64) -> RefusalCode {
        match number {
            1 => RefusalCode::Protocol,
            2 => RefusalCode::InUse,
            3 => RefusalCode::UnknownSession,
            4 => RefusalCode::Busy,
            5 => RefusalCode::Stranger,
            other => RefusalCode::Other(other),
        }
    }
}

/// Says that nothing is taken, and why. The connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalMessage {
    /// The reason.
    pub code: RefusalCode,
    /// The same in words.
    pub sentence: String,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireMessage {
    /// See [`Hello`].
    Hello(Hello),
    /// See [`Welcome`].
    Welcome(Welcome),
    /// See [`Beat`].
    Beat(Beat),
    /// See [`Ack`].
    Ack(Ack),
    /// See [`SessionFile`]. It is kept in the file.
    File(SessionFile),
    /// Says that the file was removed or cut by somebody: the sender begins another one.
    Gone,
    /// Says that the session is complete. It is kept in the file.
    Bye,
    /// See [`RefusalMessage`].
    Refused(RefusalMessage),
    /// A message of a newer version, which is passed over.
    Unknown,
}

/// A record that came over a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A record of an archive.
    Data,
    /// A message.
    Message(WireMessage),
}

impl Received {
    /// Reads a record. `None` if it is a message that cannot be read.
    pub fn read(record: &[u8]) -> Option<Received> {
        let mut input = Unpacker(record);
        match input.tag() {
            Some((Some(tag @ tag::HELLO..=tag::REFUSED), fields)) => {
                WireMessage::read(tag, fields, &mut input).map(Received::Message)
            }
            _ => Some(Received::Data),
        }
    }
}

impl WireMessage {
    /// Appends the frame of the message.
    pub fn put(&self, out: &mut Vec<u8>) {
        let (mut fields, mut record) = (FieldWriter::default(), Vec::new());
        let tag = match self {
            WireMessage::File(file) => {
                file.encode(&mut fields, &mut record);
                return frames::put(&record, &mut Checksum::default(), out);
            }
            WireMessage::Hello(hello) => {
                hello.encode(&mut fields);
                tag::HELLO
            }
            WireMessage::Welcome(welcome) => {
                welcome.encode(&mut fields);
                tag::WELCOME
            }
            WireMessage::Beat(beat) => {
                fields.text(1, beat.trouble.as_deref());
                fields.number(2, beat.is_watched.then_some(1));
                fields.number(3, beat.question);
                fields.number(4, beat.answer.map(|answer| answer.asked));
                fields.number(5, beat.answer.map(|answer| answer.received));
                fields.number(6, beat.answer.map(|answer| answer.sent));
                tag::BEAT
            }
            WireMessage::Unknown => tag::BEAT,
            WireMessage::Ack(ack) => {
                fields.number(1, Some(ack.file));
                fields.number(3, Some(ack.written));
                fields.number(4, Some(ack.durable));
                tag::ACK
            }
            WireMessage::Gone => tag::GONE,
            WireMessage::Bye => tag::BYE,
            WireMessage::Refused(refusal) => {
                fields.number(1, Some(refusal.code.number()));
                fields.text(2, Some(&refusal.sentence));
                tag::REFUSED
            }
        };
        fields.finish(tag, &mut record);
        frames::put(&record, &mut Checksum::default(), out);
    }

    fn read(tag: u8, fields: u32, input: &mut Unpacker) -> Option<WireMessage> {
        Some(match tag {
            tag::HELLO => WireMessage::Hello(Hello::read(fields, input)?),
            tag::WELCOME => WireMessage::Welcome(Welcome::read(fields, input)?),
            tag::BEAT => {
                let (mut beat, mut answer, mut answers) =
                    (Beat::default(), ClockAnswer::default(), false);
                each(fields, input, |key, input| {
                    match key {
                        1 => beat.trouble = input.text()?,
                        2 => beat.is_watched = number(input)? > 0,
                        3 => beat.question = input.number()?,
                        4 => (answer.asked, answers) = (number(input)?, true),
                        5 => answer.received = number(input)?,
                        6 => answer.sent = number(input)?,
                        _ => input.skip()?,
                    }
                    Some(())
                })?;
                beat.answer = answers.then_some(answer);
                WireMessage::Beat(beat)
            }
            tag::ACK => {
                let mut ack = Ack::default();
                each(fields, input, |key, input| {
                    match key {
                        1 => ack.file = number(input)?,
                        3 => ack.written = number(input)?,
                        4 => ack.durable = number(input)?,
                        _ => input.skip()?,
                    }
                    Some(())
                })?;
                WireMessage::Ack(ack)
            }
            tag::FILE => WireMessage::File(SessionFile::read(fields, input)?),
            tag::GONE => WireMessage::Gone,
            tag::BYE => WireMessage::Bye,
            tag::REFUSED => {
                let (mut code, mut sentence) = (0, None);
                each(fields, input, |key, input| {
                    match key {
                        1 => code = number(input)?,
                        2 => sentence = input.text()?,
                        _ => input.skip()?,
                    }
                    Some(())
                })?;
                WireMessage::Refused(RefusalMessage {
                    code: RefusalCode::of(code),
                    sentence: sentence.unwrap_or_default(),
                })
            }
            _ => WireMessage::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hello::Acknowledge;
    use crate::token::StoreToken;
    use proptest::prelude::*;
    use timeline_archive::RunState;

    /// What a receiver makes of a message.
    fn again(message: &WireMessage) -> Received {
        let mut bytes = Vec::new();
        message.put(&mut bytes);
        let record = frames::first(&bytes, 1 << 20).unwrap().unwrap();
        assert_eq!(record.end, bytes.len());
        Received::read(&bytes[record]).unwrap()
    }

    #[test]
    fn every_message_comes_back() {
        let pairs = vec![(0, 9), (5, u64::MAX)];
        let state = RunState {
            positions: pairs.clone(),
            gaps: vec![(5, 3)],
            important: vec![1, 7],
        };
        for message in [
            WireMessage::Hello(Hello {
                token: Some(StoreToken::of("0123456789abcdef")),
                version: 1,
                session: [7; 16],
                magic: u64::MAX,
                file: 3,
                acknowledged: 1 << 40,
                acknowledge: Acknowledge::Durable,
            }),
            WireMessage::Welcome(Welcome {
                version: 2,
                file: 4,
                written: 5,
                state: Some(state),
                size: Some(6),
                age: None,
                machine: Some(("boot".into(), "store".into())),
            }),
            // Known, with nothing in any lane.
            WireMessage::Welcome(Welcome {
                state: Some(RunState::default()),
                ..Welcome::default()
            }),
            WireMessage::Welcome(Welcome::default()),
            WireMessage::Beat(Beat::default()),
            WireMessage::Beat(Beat {
                trouble: Some("no room".into()),
                is_watched: true,
                question: Some(7),
                answer: Some(ClockAnswer {
                    asked: 0,
                    received: 2,
                    sent: u64::MAX,
                }),
            }),
            WireMessage::Ack(Ack {
                file: 1,
                written: 2,
                durable: 3,
            }),
            WireMessage::File(SessionFile {
                session: [1; 16],
                number: 2,
                magic: 3,
                metadata: vec![("service".into(), "db".into()), (String::new(), "é".into())],
            }),
            WireMessage::Gone,
            WireMessage::Bye,
            WireMessage::Refused(RefusalMessage {
                code: RefusalCode::InUse,
                sentence: "in use".into(),
            }),
        ] {
            assert_eq!(again(&message), Received::Message(message));
        }
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        // Tag 68, and a beat with a field of a newer version.
        assert_eq!(
            Received::read(&[68, 0x81, 1, 2]),
            Some(Received::Message(WireMessage::Unknown))
        );
        assert_eq!(
            Received::read(&[66, 0x81, 9, 0xa1, b'x']),
            Some(Received::Message(WireMessage::Beat(Beat::default())))
        );
        assert_eq!(Received::read(&[73, 0x80]), Some(Received::Data));
        assert_eq!(Received::read(&[]), Some(Received::Data));
        // A field that is not all there.
        assert_eq!(Received::read(&[67, 0x81, 1]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            tag in 64..73_u8,
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = Received::read(&bytes);
            let _ = Received::read(&[&[tag][..], &bytes].concat());
        }
    }
}
