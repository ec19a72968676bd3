//! Parses the directives of a format of printf.
//! A directive is `%`, flags, width, precision, length and conversion, after C99 7.19.6.1 and XSI.
//!
//! Only formats that the standards define are parsed. For others each C library has rules of its
//! own, so the call site leaves them to the C library.

use std::ops::Range;

use super::NO_PRECISION;
use crate::event::messages::number::Whole;

/// A part of a format.
#[derive(Debug, Clone)]
pub enum Item {
    /// Text to copy, by its place in the format.
    Literal(Range<usize>),
    /// A place to fill in.
    Directive(Directive),
}

/// From a `%` to its conversion letter.
#[derive(Debug, Clone)]
pub struct Directive {
    pub flags: FormatFlags,
    pub width: FormatAmount,
    pub precision: FormatAmount,
    pub conversion: Conversion,
}

/// The flags. In the C locale `'` changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FormatFlags {
    /// `-`
    pub left: bool,
    /// `+`
    pub plus: bool,
    /// A space.
    pub space: bool,
    /// `#`
    pub alternate: bool,
    /// `0`
    pub zero: bool,
}

/// A width or a precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FormatAmount {
    None,
    Given(u32),
    /// `*`
    Argument,
}

/// The kind of a conversion.
#[derive(Debug, Clone, Copy)]
pub enum Conversion {
    Integer {
        size: IntegerSize,
        style: IntegerStyle,
    },
    Float {
        long: bool,
        style: FloatStyle,
    },
    /// `c`
    Byte,
    /// `lc`, `C`
    WideCharacter,
    /// `s`
    Text,
    /// `ls`, `S`
    WideText,
    Pointer,
    /// `n`: stores the count where its argument points, and adds nothing to the text.
    Stored,
}

/// How many bits of an integer count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IntegerSize {
    Char,
    Short,
    Int,
    Long,
}

/// The letter of an integer conversion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IntegerStyle {
    Signed,
    Unsigned,
    Octal,
    Hex,
    UpperHex,
}

/// The letter of a floating-point conversion.
#[derive(Debug, Clone, Copy)]
pub struct FloatStyle {
    pub form: FloatForm,
    pub upper: bool,
}

/// The letter of a floating-point conversion, in lower case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FloatForm {
    /// `e`
    Exponent,
    /// `f`
    Fixed,
    /// `g`
    General,
    /// `a`
    Hex,
}

impl Directive {
    /// How a word is the number that is shown, if that is all: no sign, width or precision is
    /// asked for, and no fewer bits than the argument has.
    pub fn decimal(&self) -> Option<Whole> {
        let Conversion::Integer { size, style } = self.conversion else {
            return None;
        };
        let bits = match size {
            IntegerSize::Int => 32,
            IntegerSize::Long => 64,
            IntegerSize::Char | IntegerSize::Short => return None,
        };
        let is_signed = match style {
            IntegerStyle::Signed => true,
            IntegerStyle::Unsigned => false,
            IntegerStyle::Octal | IntegerStyle::Hex | IntegerStyle::UpperHex => return None,
        };
        let is_plain = self.flags == FormatFlags::default()
            && (self.width, self.precision) == (FormatAmount::None, FormatAmount::None);
        is_plain.then_some(Whole { bits, is_signed })
    }

    /// The arguments that a writer takes for it, as in [`Format::types`](super::Format::types).
    pub fn types(&self) -> impl Iterator<Item = u32> + use<> {
        let argument =
            |amount| (amount == FormatAmount::Argument).then_some(kind(b'i', NO_PRECISION));
        let of_text = matches!(self.conversion, Conversion::Text | Conversion::WideText);
        let precision = match self.precision {
            // All ones mean no precision, so the largest precision is one less.
            FormatAmount::Given(precision) if of_text => precision.min(NO_PRECISION - 1),
            _ => NO_PRECISION,
        };
        let before = self.precision == FormatAmount::Argument;
        let letter = match self.conversion {
            Conversion::Integer { size, style } => {
                match (style == IntegerStyle::Signed, size == IntegerSize::Long) {
                    (true, false) => b'i',
                    (false, false) => b'u',
                    (true, true) => b'l',
                    (false, true) => b'U',
                }
            }
            Conversion::Float { long: false, .. } => b'd',
            Conversion::Float { long: true, .. } => b'D',
            Conversion::Byte => b'i',
            Conversion::WideCharacter => b'u',
            Conversion::Text if before => b'S',
            Conversion::Text => b's',
            Conversion::WideText if before => b'W',
            Conversion::WideText => b'w',
            Conversion::Pointer => b'p',
            Conversion::Stored => b'n',
        };
        [
            argument(self.width),
            argument(self.precision),
            Some(kind(letter, precision)),
        ]
        .into_iter()
        .flatten()
    }
}

fn kind(letter: u8, precision: u32) -> u32 {
    precision << 8 | u32::from(letter)
}

/// The parts of a format; None if it cannot be parsed.
pub fn items(format: &str) -> Option<Vec<Item>> {
    let bytes = format.as_bytes();
    let mut items = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'%', &bytes[at..]) {
        let percent = at + found;
        if start < percent {
            items.push(Item::Literal(start..percent));
        }
        if bytes.get(percent + 1) == Some(&b'%') {
            // The second `%` begins the next literal.
            start = percent + 1;
            at = percent + 2;
            continue;
        }
        let mut input = Input {
            bytes,
            at: percent + 1,
        };
        items.push(Item::Directive(input.directive()?));
        start = input.at;
        at = input.at;
    }
    if start < bytes.len() {
        items.push(Item::Literal(start..bytes.len()));
    }
    Some(items)
}

/// A position in a format.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The length modifiers.
#[derive(Debug, Clone, Copy)]
enum Length {
    None,
    Char,
    Short,
    Long,
    /// `ll`, `j`, `z`, `t`: 64 bits like `l`, but only for integers.
    Wide,
    LongDouble,
}

impl Input<'_> {
    fn directive(&mut self) -> Option<Directive> {
        let flags = self.flags();
        let width = self.amount(FormatAmount::None);
        let precision = if self.accept(b'.') {
            self.amount(FormatAmount::Given(0))
        } else {
            FormatAmount::None
        };
        let length = self.length();
        let conversion = conversion(length, self.peek()?)?;
        self.at += 1;
        Some(Directive {
            flags,
            width,
            precision,
            conversion,
        })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let accepted = self.peek() == Some(byte);
        self.at += usize::from(accepted);
        accepted
    }

    fn flags(&mut self) -> FormatFlags {
        let mut flags = FormatFlags::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'-' => flags.left = true,
                b'+' => flags.plus = true,
                b' ' => flags.space = true,
                b'#' => flags.alternate = true,
                b'0' => flags.zero = true,
                b'\'' => {}
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    /// A star or digits; `default` if there are none.
    fn amount(&mut self, default: FormatAmount) -> FormatAmount {
        if self.accept(b'*') {
            return FormatAmount::Argument;
        }
        let mut amount = default;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let before = match amount {
                FormatAmount::Given(before) => before,
                FormatAmount::None | FormatAmount::Argument => 0,
            };
            let digit = u32::from(digit - b'0');
            amount = FormatAmount::Given(before.saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        amount
    }

    fn length(&mut self) -> Length {
        let length = match self.peek() {
            Some(b'h') => Length::Short,
            Some(b'l') => Length::Long,
            Some(b'j' | b'z' | b't') => Length::Wide,
            Some(b'L') => Length::LongDouble,
            _ => return Length::None,
        };
        self.at += 1;
        match length {
            Length::Short if self.accept(b'h') => Length::Char,
            Length::Long if self.accept(b'l') => Length::Wide,
            length => length,
        }
    }
}

/// The meaning of a length with a letter, if the standards define it.
fn conversion(length: Length, letter: u8) -> Option<Conversion> {
    let style = match letter {
        b'd' | b'i' => Some(IntegerStyle::Signed),
        b'u' => Some(IntegerStyle::Unsigned),
        b'o' => Some(IntegerStyle::Octal),
        b'x' => Some(IntegerStyle::Hex),
        b'X' => Some(IntegerStyle::UpperHex),
        _ => None,
    };
    if let Some(style) = style {
        let size = match length {
            Length::None => IntegerSize::Int,
            Length::Char => IntegerSize::Char,
            Length::Short => IntegerSize::Short,
            Length::Long | Length::Wide => IntegerSize::Long,
            Length::LongDouble => return None,
        };
        return Some(Conversion::Integer { size, style });
    }
    let form = match letter.to_ascii_lowercase() {
        b'e' => Some(FloatForm::Exponent),
        b'f' => Some(FloatForm::Fixed),
        b'g' => Some(FloatForm::General),
        b'a' => Some(FloatForm::Hex),
        _ => None,
    };
    if let Some(form) = form {
        let long = match length {
            // The standards say that `l` has no effect on floating-point numbers.
            Length::None | Length::Long => false,
            Length::LongDouble => true,
            _ => return None,
        };
        let upper = letter.is_ascii_uppercase();
        let style = FloatStyle { form, upper };
        return Some(Conversion::Float { long, style });
    }
    match (length, letter) {
        (Length::None, b'c') => Some(Conversion::Byte),
        (Length::Long, b'c') | (Length::None, b'C') => Some(Conversion::WideCharacter),
        (Length::None, b's') => Some(Conversion::Text),
        (Length::Long, b's') | (Length::None, b'S') => Some(Conversion::WideText),
        (Length::None, b'p') => Some(Conversion::Pointer),
        (Length::LongDouble, b'n') => None,
        (_, b'n') => Some(Conversion::Stored),
        _ => None,
    }
}
