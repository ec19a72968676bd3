//! Formats of printf: the arguments that a writer takes, and the text that a reader shows.
//!
//! The format of a call site is parsed twice: by the writer, to know which arguments to take and
//! how, and by the reader, to fill it in. The text is what glibc's `snprintf` writes in the C
//! locale, byte for byte, with wide characters in UTF-8 (as in C.UTF-8). tests/ffi/printf/
//! compares the two.
//!
//! parse.rs parses a format, parts.rs takes what it makes apart again. field.rs pads, integer.rs,
//! float.rs and text.rs render; decimal.rs has the exact digits of a float, short_decimal.rs the
//! few that most have.
//!
//! **Why does the reader format, and not the program?** Turning numbers into text is most of the
//! cost of printf. The format is parsed when the call site first runs; after that, the header's
//! macro stores the arguments as words in the order that the format takes them, and the program
//! never looks at the format again. The C library's output then depends on arithmetic alone, and
//! this folder computes it without libc, because archives may be read on other machines, decades
//! later.

mod decimal;
mod field;
mod float;
mod integer;
mod parse;
mod parts;
mod short_decimal;
mod text;

use crate::event::messages::number::MessagePart;
use crate::event::values::value::Value;
use crate::layout::MAX_ARGUMENTS;
use field::Spec;
use parse::{Conversion, Directive, FormatAmount, FormatFlags, Item};
pub use parts::{FormatPart, FormatValue};

/// The upper bits of a type without a constant precision.
const NO_PRECISION: u32 = 0xff_ffff;

/// A format of printf, parsed.
///
/// The text is that of glibc's `snprintf`, with these exceptions:
/// - A width or precision counts up to [`LARGEST_FIELD`](Self::LARGEST_FIELD): it may come from
///   memory that others write to. A longer field ends in `…`.
/// - A wide character that Unicode does not know shows as U+FFFD.
/// - A `long double` whose exponent is 0 although its highest bit is set has the value that the
///   processor takes it for. No processor produces such a number; glibc ignores the bit.
/// - A value of another kind than its conversion expects is shown by its own kind, and a missing
///   value as `?`.
/// - A string that was cut ends in `…`, unless the precision ends it sooner.
/// - A text longer than [`LONGEST_TEXT`](Self::LONGEST_TEXT) ends in `…` as well. That takes fields
///   of thousands of bytes.
///
/// # Example
/// ```
/// use timeline::Value;
/// use timeline::internal::Format;
/// let format = Format::parse("took %5.1f ms for %s");
/// let types = format.types().expect("each of the conversions is known");
/// assert_eq!(types, [0xffff_ff00 | u32::from(b'd'), 0xffff_ff00 | u32::from(b's')]);
///
/// let name = Value::Text { bytes: b"eth0", cut: false };
/// let mut text = Vec::new();
/// format.render([Value::Float(2.25), name].into_iter(), &mut text);
/// assert_eq!(text, b"took   2.2 ms for eth0");
/// ```
#[derive(Debug, Clone)]
pub struct Format {
    text: Box<str>,
    /// None if it cannot be parsed.
    items: Option<Vec<Item>>,
}

impl Format {
    /// The widest field, and the most digits that a precision asks for.
    pub const LARGEST_FIELD: u32 = 4096;

    /// The most bytes of the whole text.
    pub const LONGEST_TEXT: usize = 64 << 10;

    /// The most arguments of a call whose format is parsed, including widths and precisions.
    pub const MOST_ARGUMENTS: usize = 32;

    /// Parses a format. Every text is accepted; one that cannot be parsed has no
    /// [`types`](Self::types).
    pub fn parse(format: &str) -> Format {
        let items = parse::items(format);
        let items = items.filter(|items| types(items).count() <= Self::MOST_ARGUMENTS);
        Format {
            text: format.into(),
            items,
        }
    }

    /// The arguments that a writer takes, in order.
    ///
    /// The low 8 bits of each are a letter: `i` for `int`, `u` for `unsigned int`, `l` and `U` for
    /// signed and unsigned 64 bits, `d` for `double`, `D` for `long double`, `p` for a pointer, `s`
    /// for a string, `S` for one whose precision is the `int` before it, `w` and `W` for the same
    /// of `wchar_t`, `n` for a pointer that is taken and not recorded. The upper 24 bits are the
    /// constant precision of a string: how many bytes of it are read at most; all ones if there is
    /// none.
    ///
    /// `None` if the format cannot be parsed: it has positions (`%1$d`), `%m`, a conversion that
    /// C99 and XSI do not define, or needs more than [`MOST_ARGUMENTS`](Self::MOST_ARGUMENTS). Then
    /// the payload is one string, the text as the C library formatted it.
    pub fn types(&self) -> Option<Vec<u32>> {
        Some(types(self.items.as_ref()?).collect())
    }

    /// Appends the text that `snprintf` writes for these values. Addresses of a call stack among
    /// them are skipped.
    ///
    /// If the format cannot be parsed, the text is the first value, or the format itself if there
    /// is none.
    pub fn render<'a>(&self, values: impl Iterator<Item = Value<'a>>, out: &mut Vec<u8>) {
        let start = out.len();
        self.render_all(values, out);
        text::shorten(out, start, Self::LONGEST_TEXT);
    }

    /// The parts of the text, if each conversion is a plain `%d`, `%u`, `%ld` or the like, and an
    /// entry has a word for each.
    pub(crate) fn decimals(&self) -> Option<Vec<MessagePart>> {
        let part = |item: &Item| match item {
            Item::Literal(range) => Some(MessagePart::text(&self.text[range.clone()])),
            Item::Directive(directive) => directive.decimal().map(MessagePart::Number),
        };
        let parts: Option<Vec<_>> = self.items.as_ref()?.iter().map(part).collect();
        parts.filter(|parts| {
            let words = parts
                .iter()
                .filter(|part| matches!(part, MessagePart::Number(_)));
            words.count() <= MAX_ARGUMENTS
        })
    }

    /// Like `render`, but the text may be a bit longer than the limit.
    fn render_all<'a>(&self, values: impl Iterator<Item = Value<'a>>, out: &mut Vec<u8>) {
        let most = out.len() + Self::LONGEST_TEXT;
        let mut values = values.filter(|value| !matches!(value, Value::Addresses(_)));
        let Some(items) = &self.items else {
            match values.next() {
                Some(text) => text::show(&text, &Spec::default(), out),
                None => out.extend_from_slice(self.text.as_bytes()),
            }
            return;
        };
        for item in items {
            if out.len() > most {
                return;
            }
            match item {
                Item::Literal(range) => out.extend_from_slice(self.text[range.clone()].as_bytes()),
                Item::Directive(directive) => {
                    if fill_in(directive, &mut values, out).is_none() {
                        out.push(b'?');
                    }
                }
            }
        }
    }
}

fn types(items: &[Item]) -> impl Iterator<Item = u32> {
    items.iter().flat_map(|item| {
        let directive = match item {
            Item::Directive(directive) => Some(directive),
            Item::Literal(_) => None,
        };
        directive.into_iter().flat_map(Directive::types)
    })
}

/// Appends one directive; None if one of its values is missing.
fn fill_in<'a>(
    directive: &Directive,
    values: &mut impl Iterator<Item = Value<'a>>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let asked = asked(directive, values)?;
    if let Conversion::Stored = directive.conversion {
        return Some(());
    }
    let value = values.next()?;
    let (spec, start) = (asked.bounded(), out.len());
    match (directive.conversion, integer_of(&value)) {
        (Conversion::Integer { size, style }, Some(bits)) => {
            integer::append(bits, size, style, &spec, out);
        }
        (Conversion::Pointer, Some(bits)) => integer::append_pointer(bits, &spec, out),
        (Conversion::Byte, Some(bits)) => field::append(&[bits as u8], &spec, out),
        (Conversion::WideCharacter, Some(bits)) => text::append_wide(bits as u32, &spec, out),
        (Conversion::Float { style, .. }, _) => match float::FloatDigits::of(&value) {
            Some(number) => float::append(number, style, &spec, out),
            None => text::show(&value, &spec, out),
        },
        (Conversion::Text, _) => text::append(&value, &spec, out),
        (Conversion::WideText, _) => text::append_whole_characters(&value, &spec, out),
        _ => text::show(&value, &spec, out),
    }
    if asked.is_cut(out.len() - start) {
        out.extend_from_slice("…".as_bytes());
    }
    Some(())
}

/// The bits of an integer, with its sign extended.
fn integer_of(value: &Value) -> Option<u64> {
    match value {
        Value::Int(value) => Some(*value as u64),
        Value::Uint(value) => Some(*value),
        _ => None,
    }
}

/// A directive's own width and precision, without bounds.
struct DirectiveSpec {
    flags: FormatFlags,
    width: u32,
    precision: Option<u32>,
}

impl DirectiveSpec {
    fn bounded(&self) -> Spec {
        let bounded = |amount: u32| amount.min(Format::LARGEST_FIELD) as usize;
        Spec {
            flags: self.flags,
            width: bounded(self.width),
            precision: self.precision.map(bounded),
        }
    }

    /// Whether a field of this length was cut to the bounds. A precision beyond the bound makes no
    /// difference to a shorter field, such as a text or `inf`.
    fn is_cut(&self, length: usize) -> bool {
        let most = Format::LARGEST_FIELD;
        let precise = self.precision.is_some_and(|precision| precision > most);
        length < self.width as usize || precise && length >= most as usize
    }
}

/// The directive's width and precision, constant or taken from the values.
fn asked<'a>(
    directive: &Directive,
    values: &mut impl Iterator<Item = Value<'a>>,
) -> Option<DirectiveSpec> {
    let mut flags = directive.flags;
    let width = match directive.width {
        FormatAmount::None => 0,
        FormatAmount::Given(width) => width,
        FormatAmount::Argument => {
            let width = argument(&values.next()?);
            flags.left |= width < 0;
            width.unsigned_abs()
        }
    };
    let precision = match directive.precision {
        FormatAmount::None => None,
        FormatAmount::Given(precision) => Some(precision),
        FormatAmount::Argument => u32::try_from(argument(&values.next()?)).ok(),
    };
    Some(DirectiveSpec {
        flags,
        width,
        precision,
    })
}

/// A width or precision that was passed as an `int`. A value of another kind counts as 0.
fn argument(value: &Value) -> i32 {
    integer_of(value).unwrap_or(0) as i32
}
