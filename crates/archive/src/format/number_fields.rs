//! The fields of an event's record that are numbers, and which of them vary from event to event.

/// The number of fields of a record, including field 0, which is not used.
pub const FIELDS: usize = 25;
/// The number of fields that vary within a kind, besides the list.
pub const VARYING: usize = 6;
/// The number of sources that are remembered of records without a kind.
const SOURCES: usize = 64;
/// Bit of their numbers, which no kind has.
const OF_NO_KIND: u64 = 1 << 63;

/// The fields of a record that vary within a kind.
pub struct VaryingFields {
    /// The field that is a list.
    pub list: u8,
    pub numbers: [u8; VARYING],
}

/// The fields of a record that are numbers.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct NumberFields {
    /// The fields that the record has, as bits.
    has: u32,
    /// 0 for a field that the record does not have.
    values: [u64; FIELDS],
}

impl NumberFields {
    /// A field, if the record has it.
    #[inline]
    pub fn get(&self, field: u8) -> Option<u64> {
        (self.has >> field & 1 == 1).then(|| self.values[usize::from(field)])
    }

    /// Sets a field. If a field comes more than once, the last one counts.
    #[inline]
    pub fn set(&mut self, field: u8, value: Option<u64>) {
        if let Some(stored) = self.values.get_mut(usize::from(field)) {
            *stored = value.unwrap_or(0);
            self.has = self.has & !(1 << field) | u32::from(value.is_some()) << field;
        }
    }
}

/// The numbers of the sources of records without a kind.
#[derive(Default)]
pub struct Sources {
    recent: Vec<(NumberFields, u64)>,
    count: u64,
}

impl Sources {
    /// A number that only records with the same fields have, except for those that vary.
    pub fn number(&mut self, fields: &NumberFields, varying: &VaryingFields) -> u64 {
        let mut fields = *fields;
        varying
            .numbers
            .iter()
            .for_each(|field| fields.set(*field, None));
        let sum = fields.values.iter().fold(0, |sum: u64, value| {
            (sum.rotate_left(7) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        self.recent.resize(SOURCES, (NumberFields::default(), 0));
        let recent = &mut self.recent[(sum >> 32) as usize % SOURCES];
        if recent.1 == 0 || recent.0 != fields {
            self.count += 1;
            *recent = (fields, OF_NO_KIND | self.count);
        }
        recent.1
    }
}
