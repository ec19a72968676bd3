//! Defines the record of a process that logged, which names its executable.

use timeline::JoinedProcess;
use timeline::internal::bounded;

use crate::format::tag::PROCESS;
use timeline::internal::msgpack::{FieldWriter, Unpacker};

/// A process that logged to a ring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRecord {
    /// The magic of its ring.
    pub magic: Option<u64>,
    /// Its id.
    pub pid: Option<u64>,
    /// Ticks when it joined.
    pub joined: Option<u64>,
    /// Its name.
    pub name: Option<String>,
    /// Full path of its executable.
    pub path: Option<String>,
    /// Bytes of the executable.
    pub size: Option<u64>,
    /// SHA-1 of the executable.
    pub sha1: Option<Vec<u8>>,
}

impl ProcessRecord {
    /// That of a process in the table of a ring.
    pub fn of(magic: u64, joined: &JoinedProcess, sha1: Option<[u8; 20]>) -> ProcessRecord {
        let executable = joined.executable.as_deref();
        ProcessRecord {
            magic: Some(magic),
            pid: Some(joined.pid.into()),
            joined: Some(joined.joined),
            name: Some(joined.name.clone()),
            path: executable.map(|executable| executable.path.clone()),
            size: executable.and_then(|executable| executable.size),
            sha1: sha1.map(|sha1| sha1.to_vec()),
        }
    }

    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        fields.number(2, self.pid);
        fields.number(3, self.joined);
        fields.text(4, self.name.as_deref());
        fields.text(5, self.path.as_deref());
        fields.number(6, self.size);
        fields.bytes(7, self.sha1.as_deref());
        fields.finish(PROCESS, out);
    }

    /// Reads the value of a field.
    pub(crate) fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.pid = input.number()?,
            3 => self.joined = input.number()?,
            4 => self.name = text(input)?,
            5 => self.path = text(input)?,
            6 => self.size = input.number()?,
            7 => self.sha1 = input.bytes()?.map(<[u8]>::to_vec),
            _ => input.skip()?,
        }
        Some(())
    }
}

/// Reads a text, and cuts it as those of preambles, because readers may show it with every event.
fn text(input: &mut Unpacker) -> Option<Option<String>> {
    Some(input.text()?.map(|text| bounded(&text).into_owned()))
}
