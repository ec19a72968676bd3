//! A value of an event with its type, as C has it.
use std::ffi::c_void;
use timeline_core::{FieldType, Value};

/// A kind of value: a text or an array whose pointer was NULL.
pub const TIMELINE_IS_NULL: u32 = 0;
/// A kind of value: `integer` has it.
pub const TIMELINE_IS_SIGNED: u32 = 1;
/// A kind of value: `natural` has it.
pub const TIMELINE_IS_UNSIGNED: u32 = 2;
/// A kind of value: `number` has it.
pub const TIMELINE_IS_FLOAT: u32 = 3;
/// A kind of value: `extended` has it, and `number` what a `double` keeps of it.
pub const TIMELINE_IS_LONG_DOUBLE: u32 = 4;
/// A kind of value: `data` are the bytes of a text.
pub const TIMELINE_IS_TEXT: u32 = 5;
/// A kind of value: `data` are the elements of an array.
pub const TIMELINE_IS_ARRAY: u32 = 6;

/// A value of an event, from `timeline_values`.
#[repr(C)]
pub struct timeline_event_value_t {
    /// `TIMELINE_IS_NULL` to `TIMELINE_IS_ARRAY`.
    pub kind: u32,
    /// The type, as the message has it: `TIMELINE_I64` and so on; 0 for a value of printf, or if
    /// the definition cannot be read.
    pub r#type: u32,
    /// A signed number; else 0. Of an enum, its number.
    pub integer: i64,
    /// An unsigned number, a code point or an address; else 0.
    pub natural: u64,
    /// A number with a fraction; else 0.
    pub number: f64,
    /// A `long double` as x86-64 has it in memory; else 0.
    pub extended: [u8; 16],
    /// The bytes of a text, without NUL at the end, or the elements of an array, in any alignment;
    /// else NULL. Valid as long as `payload` of the event.
    pub data: *const c_void,
    /// How many elements `data` has; of a text, bytes.
    pub count: u32,
    /// How many bytes an element has; 0 for a value without elements.
    pub element_size: u32,
    /// Whether a text or an array was cut, because there was no room for all of it.
    pub cut: bool,
}

const NOTHING: timeline_event_value_t = timeline_event_value_t {
    kind: TIMELINE_IS_NULL,
    r#type: 0,
    integer: 0,
    natural: 0,
    number: 0.0,
    extended: [0; 16],
    data: std::ptr::null(),
    count: 0,
    element_size: 0,
    cut: false,
};

/// A value as C has it; `kind` is its type, if that is known.
pub(crate) fn converted(value: &Value, kind: Option<FieldType>) -> timeline_event_value_t {
    let mut converted = NOTHING;
    converted.r#type = kind.map_or(0, number);
    match value {
        Value::Int(value) => {
            converted.kind = TIMELINE_IS_SIGNED;
            converted.integer = *value;
        }
        Value::Uint(value) => {
            converted.kind = TIMELINE_IS_UNSIGNED;
            converted.natural = *value;
        }
        Value::Float(value) => {
            converted.kind = TIMELINE_IS_FLOAT;
            // LuaJIT would take other bits for a value of another type.
            converted.number = if value.is_nan() { f64::NAN } else { *value };
        }
        Value::LongDouble(bytes) => {
            converted.kind = TIMELINE_IS_LONG_DOUBLE;
            converted.number = double(bytes);
            converted.extended = *bytes;
        }
        Value::Text { bytes, cut } => {
            let (kind, size) = match kind.and_then(FieldType::element) {
                Some(element) => (TIMELINE_IS_ARRAY, element.size()),
                None => (TIMELINE_IS_TEXT, 1),
            };
            converted.kind = kind;
            converted.data = match bytes {
                [] => c"".as_ptr().cast(),
                bytes => bytes.as_ptr().cast(),
            };
            converted.count = (bytes.len() / size) as u32;
            converted.element_size = size as u32;
            converted.cut = *cut;
        }
        // No event has addresses among its values.
        Value::Nil | Value::Addresses(_) => {}
    }
    converted
}

/// The number of a type.
pub(crate) fn number(kind: FieldType) -> u32 {
    let of_element = kind.element().map_or(0, |element| number(element.field()));
    kind.descriptor().number | of_element
}

/// What a `double` keeps of x86's 80 bits.
fn double(bytes: &[u8; 16]) -> f64 {
    let word = u128::from_le_bytes(*bytes);
    let (significand, upper) = (word as u64, (word >> 64) as u16);
    let magnitude = match i32::from(upper & 0x7fff) {
        // The highest bit of the significand is the integer.
        0x7fff if significand << 1 == 0 => f64::INFINITY,
        0x7fff => f64::NAN,
        exponent => {
            let power = exponent - 16383 - 63;
            // In two steps: one power of two may be too small where the product is not.
            let half = power / 2;
            significand as f64 * 2f64.powi(half) * 2f64.powi(power - half)
        }
    };
    match upper >> 15 {
        0 => magnitude,
        _ => -magnitude,
    }
}

#[cfg(test)]
mod tests {
    use super::double;

    /// 80 bits of a significand and of what stands above.
    fn extended(upper: u16, significand: u64) -> f64 {
        let word = u128::from(significand) | u128::from(upper) << 64;
        double(&word.to_le_bytes())
    }

    #[test]
    fn a_long_double_becomes_a_double() {
        let one = 1 << 63;
        assert_eq!(extended(16383, one), 1.0);
        assert_eq!(extended(0x8000 | 16384, one | one >> 1), -3.0);
        assert_eq!(extended(16383 - 1074, one), f64::from_bits(1));
        assert_eq!(extended(16383 + 1023, u64::MAX << 11), f64::MAX);
        assert_eq!(extended(16383 + 1024, one), f64::INFINITY);
        assert_eq!(extended(0xffff, one), f64::NEG_INFINITY);
        assert!(extended(0x7fff, one | 1 << 62).is_nan());
        assert_eq!(extended(0, 0).to_bits(), 0);
        assert_eq!(extended(0x8000, 0).to_bits(), 1 << 63);
        assert_eq!(extended(1, one), 0.0);
    }
}
