//! Defines how a connection begins: the hello of a sender, and the welcome of a receiver.

use timeline::internal::bounded;
use timeline::internal::msgpack::{FieldWriter, Unpacker};
use timeline_archive::RunState;

use crate::fields::{each, flat, number, paired, session};
use crate::token::StoreToken;

/// The version of the protocol.
pub const VERSION: u64 = 1;
/// Identifies a session: what one sender sends of one run, over one connection after the other.
pub type SessionId = [u8; 16];

/// What a sender wants to be told of the frames that it has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acknowledge {
    /// Nothing. The other side may be any program that writes what it reads to a file.
    Nothing,
    /// That they are in the file.
    #[default]
    Written,
    /// That they are on the disk.
    Durable,
}

/// The first message of a sender.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hello {
    /// The version of the protocol that it speaks.
    pub version: u64,
    /// Its session.
    pub session: SessionId,
    /// The run whose events it sends.
    pub magic: u64,
    /// The oldest file of the session of which it has frames. 0 if it has sent none.
    pub file: u64,
    /// The bytes of that file that were acknowledged.
    pub acknowledged: u64,
    /// What it wants to be told.
    pub acknowledge: Acknowledge,
    /// The secret by which the store knows it.
    pub token: Option<StoreToken>,
}

/// The answer to a hello.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Welcome {
    /// The version of the protocol that the receiver speaks.
    pub version: u64,
    /// The last file of the session that the receiver has. 0 if the session is new.
    pub file: u64,
    /// The bytes of that file.
    pub written: u64,
    /// How far the run is recorded, if the session is new and the run is not.
    pub state: Option<RunState>,
    /// The largest size of a file, in bytes.
    pub size: Option<u64>,
    /// The largest age of a file, in milliseconds.
    pub age: Option<u64>,
    /// The kernel's boot id and the name of the receiver's machine, if it tells what time it is
    /// there.
    pub machine: Option<(String, String)>,
}

impl Hello {
    /// Puts the fields in.
    pub(crate) fn encode(&self, fields: &mut FieldWriter) {
        fields.number(1, Some(self.version));
        fields.bytes(2, Some(&self.session));
        fields.number(3, Some(self.magic));
        let acknowledge = match self.acknowledge {
            Acknowledge::Nothing => 0,
            Acknowledge::Written => 1,
            Acknowledge::Durable => 2,
        };
        fields.number(5, Some(acknowledge));
        fields.text(6, self.token.as_ref().map(StoreToken::text));
        fields.number(8, Some(self.acknowledged));
        fields.number(9, Some(self.file));
    }

    /// Reads the fields.
    pub(crate) fn read(fields: u32, input: &mut Unpacker) -> Option<Hello> {
        let mut hello = Hello::default();
        each(fields, input, |key, input| {
            match key {
                1 => hello.version = number(input)?,
                2 => hello.session = session(input)?,
                3 => hello.magic = number(input)?,
                5 => {
                    hello.acknowledge = match number(input)? {
                        0 => Acknowledge::Nothing,
                        1 => Acknowledge::Written,
                        _ => Acknowledge::Durable,
                    }
                }
                6 => hello.token = input.text()?.as_deref().map(StoreToken::of),
                8 => hello.acknowledged = number(input)?,
                9 => hello.file = number(input)?,
                _ => input.skip()?,
            }
            Some(())
        })?;
        Some(hello)
    }
}

impl Welcome {
    /// Puts the fields in.
    pub(crate) fn encode(&self, fields: &mut FieldWriter) {
        fields.number(1, Some(self.version));
        fields.number(2, Some(self.file));
        fields.number(3, Some(self.written));
        fields.number(5, self.state.is_some().then_some(1));
        if let Some(state) = &self.state {
            fields.numbers(10, &flat(&state.positions));
            fields.numbers(11, &flat(&state.gaps));
            fields.numbers(12, &state.important);
        }
        fields.number(13, self.size);
        fields.number(14, self.age);
        fields.text(15, self.machine.as_ref().map(|(boot, _)| &boot[..]));
        fields.text(16, self.machine.as_ref().map(|(_, host)| &host[..]));
    }

    /// Reads the fields.
    pub(crate) fn read(fields: u32, input: &mut Unpacker) -> Option<Welcome> {
        let (mut welcome, mut state, mut is_known) = (Welcome::default(), RunState::default(), 0);
        let (mut numbers, mut boot, mut host) = (Vec::new(), None, None);
        each(fields, input, |key, input| {
            match key {
                1 => welcome.version = number(input)?,
                2 => welcome.file = number(input)?,
                3 => welcome.written = number(input)?,
                5 => is_known = number(input)?,
                10 => {
                    input.numbers(&mut numbers)?;
                    state.positions = paired(&numbers);
                }
                11 => {
                    input.numbers(&mut numbers)?;
                    state.gaps = paired(&numbers);
                }
                12 => input.numbers(&mut state.important)?,
                13 => welcome.size = input.number()?,
                14 => welcome.age = input.number()?,
                15 => boot = input.text()?,
                16 => host = input.text()?,
                _ => input.skip()?,
            }
            Some(())
        })?;
        welcome.state = (is_known > 0).then_some(state);
        let cut = |text: &str| bounded(text).into_owned();
        let machine = boot.map(|boot| (boot, host.unwrap_or_default()));
        welcome.machine = machine.map(|(boot, host)| (cut(&boot), cut(&host)));
        Some(welcome)
    }
}
