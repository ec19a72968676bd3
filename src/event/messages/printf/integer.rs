//! Integers and pointers: `%d`, `%u`, `%o`, `%x`, `%p`.

use super::field::{self, Spec};
use super::parse::{IntegerSize, IntegerStyle};

/// The longest: 64 bits in octal.
const MOST_DIGITS: usize = 22;

/// Appends the bits that the conversion takes.
pub fn append(bits: u64, size: IntegerSize, style: IntegerStyle, spec: &Spec, out: &mut Vec<u8>) {
    if style == IntegerStyle::Signed {
        let value = match size {
            IntegerSize::Char => (bits as i8).into(),
            IntegerSize::Short => (bits as i16).into(),
            IntegerSize::Int => (bits as i32).into(),
            IntegerSize::Long => bits as i64,
        };
        let prefix = spec.sign(value < 0);
        append_magnitude(value.unsigned_abs(), style, prefix, spec, out);
        return;
    }
    let value = match size {
        IntegerSize::Char => (bits as u8).into(),
        IntegerSize::Short => (bits as u16).into(),
        IntegerSize::Int => (bits as u32).into(),
        IntegerSize::Long => bits,
    };
    let prefix: &[u8] = match style {
        IntegerStyle::Hex if spec.flags.alternate && value != 0 => b"0x",
        IntegerStyle::UpperHex if spec.flags.alternate && value != 0 => b"0X",
        _ => b"",
    };
    append_magnitude(value, style, prefix, spec, out);
}

/// Appends an address like glibc: like `%#lx`, with a sign if the flags ask for one, or `(nil)`.
pub fn append_pointer(address: u64, spec: &Spec, out: &mut Vec<u8>) {
    if address == 0 {
        return field::append(b"(nil)", spec, out);
    }
    let prefix: &[u8] = match spec.sign(false) {
        b"+" => b"+0x",
        b" " => b" 0x",
        _ => b"0x",
    };
    append_magnitude(address, IntegerStyle::Hex, prefix, spec, out);
}

fn append_magnitude(
    value: u64,
    style: IntegerStyle,
    prefix: &[u8],
    spec: &Spec,
    out: &mut Vec<u8>,
) {
    let mut buffer = [0; MOST_DIGITS];
    let digits = match (value, spec.precision) {
        (0, Some(0)) => &[][..],
        _ => digits(value, style, &mut buffer),
    };
    let mut zeros = spec.precision.unwrap_or(0).saturating_sub(digits.len());
    if style == IntegerStyle::Octal && spec.flags.alternate && zeros == 0 && digits != b"0" {
        zeros = 1;
    }
    let with_zeros = spec.flags.zero && spec.precision.is_none();
    field::append_number(prefix, zeros, digits, with_zeros, spec, out);
}

fn digits(value: u64, style: IntegerStyle, buffer: &mut [u8; MOST_DIGITS]) -> &[u8] {
    match style {
        IntegerStyle::Signed | IntegerStyle::Unsigned => {
            of_base::<10>(value, b"0123456789", buffer)
        }
        IntegerStyle::Octal => of_base::<8>(value, b"01234567", buffer),
        IntegerStyle::Hex => of_base::<16>(value, b"0123456789abcdef", buffer),
        IntegerStyle::UpperHex => of_base::<16>(value, b"0123456789ABCDEF", buffer),
    }
}

// The base is a constant, so that powers of two need no division.
fn of_base<'a, const BASE: u64>(
    mut value: u64,
    letters: &[u8],
    buffer: &'a mut [u8; MOST_DIGITS],
) -> &'a [u8] {
    let mut at = MOST_DIGITS;
    loop {
        at -= 1;
        buffer[at] = letters[(value % BASE) as usize];
        value /= BASE;
        if value == 0 {
            return &buffer[at..];
        }
    }
}
