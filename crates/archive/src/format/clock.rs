//! Defines the record of a clock comparison: the time of another machine at a moment of the ring.

use timeline::internal::bounded;

use crate::format::tag::CLOCK;
use timeline::internal::msgpack::{FieldWriter, Unpacker};

/// What the clock of another machine, the reference, showed at a moment of the ring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClockComparison {
    /// The magic of the ring.
    pub magic: Option<u64>,
    /// The moment, in ticks.
    pub ticks: Option<u64>,
    /// The same by the clock of the ring's machine, in nanoseconds since the epoch.
    pub unix_nanos: Option<u64>,
    /// The same by the reference.
    pub reference_nanos: Option<u64>,
    /// By how much that may be wrong in either direction, in nanoseconds.
    pub error: Option<u64>,
    /// The kernel's boot id of the machine that has the reference.
    pub boot_id: Option<String>,
    /// The name of that machine.
    pub host: Option<String>,
}

impl ClockComparison {
    /// What is added to a time of the ring's machine for that of the reference, in nanoseconds.
    pub fn offset(&self) -> Option<i64> {
        let [reference, own] = [self.reference_nanos?, self.unix_nanos?].map(i128::from);
        i64::try_from(reference - own).ok()
    }

    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        fields.number(2, self.ticks);
        fields.number(3, self.unix_nanos);
        fields.number(4, self.reference_nanos);
        fields.number(5, self.error);
        fields.text(6, self.boot_id.as_deref());
        fields.text(7, self.host.as_deref());
        fields.finish(CLOCK, out);
    }

    /// Reads the value of a field.
    pub(crate) fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.ticks = input.number()?,
            3 => self.unix_nanos = input.number()?,
            4 => self.reference_nanos = input.number()?,
            5 => self.error = input.number()?,
            6 => self.boot_id = text(input)?,
            7 => self.host = text(input)?,
            _ => input.skip()?,
        }
        Some(())
    }
}

/// Reads a text, and cuts it as those of preambles.
fn text(input: &mut Unpacker) -> Option<Option<String>> {
    Some(input.text()?.map(|text| bounded(&text).into_owned()))
}
