//! Defines the record with which a file of a session begins: what one sender sends of one run.

use crate::format::tag;
use timeline::internal::msgpack::{FieldWriter, Unpacker};

/// Most pairs of metadata, and bytes of all of them.
pub const MAX_METADATA: (usize, usize) = (64, 4 << 10);

/// Says to which session a file belongs, in which it is the first record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFile {
    /// The session.
    pub session: [u8; 16],
    /// The number of the file in the session, from 1 on.
    pub number: u64,
    /// The run.
    pub magic: u64,
    /// What the sender was told to say of itself: names and values.
    pub metadata: Vec<(String, String)>,
}

impl SessionFile {
    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.bytes(1, Some(&self.session));
        fields.number(2, Some(self.number));
        fields.number(3, Some(self.magic));
        let pairs = self.metadata.iter();
        let texts: Vec<&str> = pairs.flat_map(|(name, value)| [&name[..], value]).collect();
        fields.texts(7, &texts);
        fields.finish(tag::SESSION_FILE, out);
    }

    /// Reads so many fields.
    pub fn read(fields: u32, input: &mut Unpacker) -> Option<SessionFile> {
        let mut file = SessionFile::default();
        for _ in 0..fields {
            let key = input.key()?;
            file.field(key, input)?;
        }
        Some(file)
    }

    /// Reads the value of a field.
    fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => {
                let bytes = input.bytes()?;
                let session = bytes.and_then(|bytes| bytes.try_into().ok());
                self.session = session.unwrap_or_default();
            }
            2 => self.number = input.number()?.unwrap_or(0),
            3 => self.magic = input.number()?.unwrap_or(0),
            7 => self.metadata = pairs(input)?,
            _ => input.skip()?,
        }
        Some(())
    }
}

/// Names and values, in turn. As many as are allowed.
fn pairs(input: &mut Unpacker) -> Option<Vec<(String, String)>> {
    let (count, mut pairs) = (input.count()?, Vec::new());
    for _ in 0..count / 2 {
        let (name, value) = (input.text()?, input.text()?);
        if pairs.len() < MAX_METADATA.0 {
            pairs.extend(name.zip(value));
        }
    }
    if count % 2 > 0 {
        input.skip()?;
    }
    Some(pairs)
}
