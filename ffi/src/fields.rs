//! The arguments of a message and their types, for C.
use crate::convert::{place, text};
use crate::error::{TIMELINE_OK, guard, timeline_status_t};
use crate::value::number;
use std::ffi::c_char;
use timeline_core::internal::{FIELD_TYPES, FieldStorage, MAX_FIELDS, checked_fields, fields};
use timeline_core::{Element, FieldType, Labels};

/// Signed 64-bit integer; also an argument without a type.
pub const TIMELINE_I64: u32 = 1;
/// Signed 8-bit integer. A type of fewer than 64 bits counts only the low bits of its argument.
pub const TIMELINE_I8: u32 = 2;
/// Signed 16-bit integer.
pub const TIMELINE_I16: u32 = 3;
/// Signed 32-bit integer.
pub const TIMELINE_I32: u32 = 4;
/// Unsigned 8-bit integer.
pub const TIMELINE_U8: u32 = 5;
/// Unsigned 16-bit integer.
pub const TIMELINE_U16: u32 = 6;
/// Unsigned 32-bit integer.
pub const TIMELINE_U32: u32 = 7;
/// Unsigned 64-bit integer.
pub const TIMELINE_U64: u32 = 8;
/// The bits of a `float`: `timeline_f32`.
pub const TIMELINE_F32: u32 = 9;
/// The bits of a `double`: `timeline_f64`.
pub const TIMELINE_F64: u32 = 10;
/// 0 is false, everything else is true.
pub const TIMELINE_BOOL: u32 = 11;
/// A Unicode code point, or a byte that is none.
pub const TIMELINE_CHAR: u32 = 12;
/// An unsigned number, shown in base 16.
pub const TIMELINE_HEX: u32 = 13;
/// An address.
pub const TIMELINE_PTR: u32 = 14;
/// A duration in nanoseconds, signed.
pub const TIMELINE_NS: u32 = 15;
/// Nanoseconds since 1970.
pub const TIMELINE_TIME: u32 = 16;
/// A size in bytes.
pub const TIMELINE_BYTES: u32 = 17;
/// One of several names.
pub const TIMELINE_ENUM: u32 = 18;
/// A set of named bits.
pub const TIMELINE_FLAGS: u32 = 19;

/// A text in UTF-8.
pub const TIMELINE_STR: u32 = 20;
/// A text that the program has in wide characters.
pub const TIMELINE_WSTR: u32 = 21;
/// A text in UTF-8 of a small vocabulary, which is stored once.
pub const TIMELINE_ISTR: u32 = 22;
/// Added to the type of a number: an array of such numbers.
pub const TIMELINE_ARRAY_OF: u32 = 64;

/// The most arguments of a message.
pub const TIMELINE_MAX_FIELDS: u32 = 64;

/// An argument of a message. The texts are parts of the message, and do not end with NUL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_field_t {
    /// Its name, without the `$`.
    pub name: *const c_char,
    /// The names of an enum or of flags, as the message has them: `red=1,green=2`; else NULL.
    pub labels: *const c_char,
    /// Bytes of the name.
    pub name_length: u32,
    /// Bytes of the labels.
    pub labels_length: u32,
    /// `TIMELINE_I64` to `TIMELINE_ISTR`, or `TIMELINE_ARRAY_OF` plus `TIMELINE_I8` or another
    /// number.
    pub r#type: u32,
}

/// Finds the arguments of a message, without defining anything.
///
/// `message`: as for `timeline_define`. `fields`: room for
/// `TIMELINE_MAX_FIELDS`; receives the arguments in their order. `count`: receives how many there
/// are. Both are untouched when the call fails.
///
/// Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` for a message that could not be defined. Any
/// thread.
///
/// # Safety
/// `message` is NULL or a NUL-terminated string; `fields` is NULL or has room for
/// `TIMELINE_MAX_FIELDS`, and `count` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_fields(
    message: *const c_char,
    fields: *mut timeline_field_t,
    count: *mut u32,
) -> timeline_status_t {
    guard(|| {
        place(fields, "fields")?;
        place(count, "count")?;
        // SAFETY: the contract of this function.
        let message = unsafe { text(message, "message")? };
        let found = checked_fields(message)?;
        for (index, field) in found.iter().enumerate() {
            let labels = field.kind.labels().map(Labels::as_str);
            let field = timeline_field_t {
                name: field.name.as_ptr().cast(),
                labels: labels.map_or(std::ptr::null(), |labels| labels.as_ptr().cast()),
                name_length: field.name.len() as u32,
                labels_length: labels.map_or(0, str::len) as u32,
                r#type: number(field.kind),
            };
            // SAFETY: checked by `place`; there are at most `MAX_FIELDS`, and room for them by
            // contract.
            unsafe { fields.add(index).write(field) };
        }
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { count.write(found.len() as u32) };
        Ok(TIMELINE_OK)
    })
}

/// The type of a number; `None` for one that a statement cannot log: names of numbers have no
/// number.
pub(crate) fn field_type(number: u32) -> Option<FieldType<'static>> {
    let number = match number {
        // A pointer to `int`, or to bytes: those of printf may be texts, others are not.
        MAYBE_TEXT | MAYBE_WIDE => TIMELINE_PTR,
        SIZED_TEXT => TIMELINE_STR,
        SIZED_WIDE => TIMELINE_WSTR,
        number => number,
    };
    let plain = FIELD_TYPES.iter().map(|row| row.kind);
    let arrays = Element::ALL.into_iter().map(Element::array);
    let mut all = plain.filter(|kind| kind.element().is_none()).chain(arrays);
    all.find(|kind| crate::value::number(*kind) == number)
        .filter(|kind| kind.labels().is_none())
}

/// Which arguments of a message are to be interned, as bits.
pub(crate) fn marked(message: &str) -> u64 {
    let kinds = fields(message).map(|field| field.kind.storage() == FieldStorage::Interned);
    let bits = kinds.take(MAX_FIELDS).enumerate();
    bits.fold(0, |bits, (index, is)| bits | u64::from(is) << index)
}

/// How many bytes an element of a text or an array has; 0 for a number.
pub(crate) fn element_size(number: u8) -> u8 {
    match u32::from(number) {
        TIMELINE_STR | SIZED_TEXT | TIMELINE_WSTR | SIZED_WIDE | TIMELINE_ISTR => 1,
        number if number & TIMELINE_ARRAY_OF == 0 => 0,
        array => match array & !TIMELINE_ARRAY_OF {
            TIMELINE_I8 | TIMELINE_U8 => 1,
            TIMELINE_I16 | TIMELINE_U16 => 2,
            TIMELINE_I32 | TIMELINE_U32 | TIMELINE_F32 => 4,
            _ => 8,
        },
    }
}

/// `TIMELINE_SIZED_WIDE_` in ffi/inline/value.h.
const SIZED_WIDE: u32 = 27;
/// `TIMELINE_SIZED_TEXT_` there.
const SIZED_TEXT: u32 = 28;
/// `TIMELINE_MAYBE_TEXT_` there.
const MAYBE_TEXT: u32 = 29;
/// `TIMELINE_MAYBE_WIDE_` there.
const MAYBE_WIDE: u32 = 30;

const _: () = assert!(MAX_FIELDS == TIMELINE_MAX_FIELDS as usize);

/// The numbers of types, which the header has one by one, in the order of the table of types.
#[rustfmt::skip] // As the table has them.
const NUMBERS: [u32; FIELD_TYPES.len()] = [
    TIMELINE_I8, TIMELINE_I16, TIMELINE_I32, TIMELINE_I64,
    TIMELINE_U8, TIMELINE_U16, TIMELINE_U32, TIMELINE_U64, TIMELINE_F32, TIMELINE_F64,
    TIMELINE_BOOL, TIMELINE_CHAR, TIMELINE_HEX, TIMELINE_PTR,
    TIMELINE_NS, TIMELINE_TIME, TIMELINE_BYTES, TIMELINE_ENUM, TIMELINE_FLAGS,
    TIMELINE_STR, TIMELINE_WSTR, TIMELINE_ISTR, TIMELINE_ARRAY_OF,
];

const _: () = {
    let mut place = 0;
    while place < NUMBERS.len() {
        assert!(NUMBERS[place] == FIELD_TYPES[place].number);
        place += 1;
    }
};
