//! Puts values together as the payload of an event. payload.rs reads it.

use crate::event::payloads::payload::{CUT, NULL};
use crate::event::values::value::Value;

/// Bytes of a word.
const WORD: usize = 8;

/// The payload of values, in their order.
///
/// A value of an `f32` is a [`Value::Uint`] of its bits. Of arrays, only those of bytes can be laid
/// out, as texts; statements log all. A text of more than 4,294,967,295 bytes is
/// cut. The addresses of a call stack come first.
///
/// # Example
/// ```
/// use timeline::{Value, lay_out};
/// let words = lay_out(&[Value::Int(-1), Value::Text { bytes: b"eth0", cut: false }]);
/// assert_eq!(words, [u64::MAX, 4, u64::from(u32::from_le_bytes(*b"eth0"))]);
/// ```
pub fn lay_out(values: &[Value]) -> Vec<u64> {
    let (mut stack, mut fixed, mut data) = (Vec::new(), Vec::new(), Vec::new());
    for value in values {
        match value {
            Value::Int(value) => fixed.push(*value as u64),
            Value::Uint(value) => fixed.push(*value),
            Value::Float(value) => fixed.push(value.to_bits()),
            Value::LongDouble(bytes) => fixed.extend(words(bytes)),
            Value::Text { bytes, cut } => {
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let is_cut = *cut || bytes.len() > length as usize;
                fixed.push(u64::from(length) | if is_cut { CUT } else { 0 });
                data.extend(words(&bytes[..length as usize]));
            }
            Value::Nil => fixed.push(NULL),
            Value::Addresses(addresses) => {
                stack.push(addresses.len() as u64);
                stack.extend(addresses);
            }
        }
    }
    [stack, fixed, data].concat()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks(WORD).map(|part| {
        let mut word = [0; WORD];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    })
}
