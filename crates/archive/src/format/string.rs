//! Defines the record of a string.

use crate::format::tag::STRING;
use timeline::internal::msgpack::{FieldWriter, Unpacker};

/// The definition of a string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringDefinition {
    /// The magic of its program and ring.
    pub magic: Option<u64>,
    /// The number.
    pub id: Option<u64>,
    /// The string.
    pub string: Option<String>,
    /// Whether it was lost, and found again in an executable.
    pub recovered: bool,
}

impl StringDefinition {
    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        fields.number(2, self.id);
        fields.text(3, self.string.as_deref());
        fields.number(4, self.recovered.then_some(1));
        fields.finish(STRING, out);
    }

    /// Reads the value of a field.
    pub(crate) fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.id = input.number()?,
            3 => self.string = input.text()?,
            4 => self.recovered = input.number()? == Some(1),
            _ => input.skip()?,
        }
        Some(())
    }
}
