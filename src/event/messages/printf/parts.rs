//! Takes the texts that a format makes apart into its own texts and the places of values.
//!
//! Searches tell by that and the values alone whether a message can have a text.

use super::field::Spec;
use super::integer;
use super::parse::{Conversion, Directive, FormatAmount, IntegerSize, IntegerStyle, Item};
use super::{DirectiveSpec, Format};
use crate::event::values::word::ValueKind;

/// A part of the texts that a format of printf makes.
///
/// # Example
/// ```
/// use timeline::internal::{Format, FormatPart, ValueKind};
/// let format = Format::parse("port %d of %s");
/// let parts = format.parts().expect("each of the conversions is known");
/// let [FormatPart::Text("port "), FormatPart::Value(port), _, FormatPart::Value(host)] =
///     &parts[..] else { panic!("{parts:?}") };
/// assert_eq!((port.position(), host.position()), (0, 1));
/// assert_eq!(port.bits_of(b"22"), Some(22));
/// assert!(port.is_integer(ValueKind::Int) && host.is_plain_text(ValueKind::Text));
/// ```
#[derive(Debug, Clone, Copy)]
pub enum FormatPart<'f> {
    /// A text of the format itself.
    Text(&'f str),
    /// The place of a value.
    Value(FormatValue),
}

/// How a format shows one of its values. A missing one is shown by `?`.
#[derive(Debug, Clone, Copy)]
pub struct FormatValue {
    position: usize,
    conversion: Conversion,
    /// `None` if other values say it, or if fields are cut.
    spec: Option<Spec>,
}

/// The bytes of numbers, in any base and with any sign.
const FLOAT: &[u8] = b"0123456789abcdefxABCDEFXpPinfINF+-. ";
const POINTER: &[u8] = b"0123456789abcdefx(nil)+ ";

impl Format {
    /// The parts of the texts that it makes, in order; `None` if it cannot be parsed. A text longer
    /// than [`LONGEST_TEXT`](Self::LONGEST_TEXT) is cut, and ends in `…`.
    pub fn parts(&self) -> Option<Vec<FormatPart<'_>>> {
        let mut position = 0;
        let part = |item: &Item| {
            let directive = match item {
                Item::Literal(range) => return Some(FormatPart::Text(&self.text[range.clone()])),
                Item::Directive(directive) => directive,
            };
            let amounts = [directive.width, directive.precision];
            let stars = amounts.iter().filter(|one| **one == FormatAmount::Argument);
            let stars = stars.count();
            position += stars;
            let value = FormatValue {
                position,
                conversion: directive.conversion,
                spec: spec(directive),
            };
            let is_stored = matches!(directive.conversion, Conversion::Stored);
            position += usize::from(!is_stored);
            // It shows nothing, but for the `?` of a missing width.
            (!is_stored || stars > 0).then_some(FormatPart::Value(value))
        };
        Some(self.items.as_ref()?.iter().filter_map(part).collect())
    }
}

/// Flags, width and precision of a directive that states them, and whose fields are never cut.
fn spec(directive: &Directive) -> Option<Spec> {
    let amount = |amount| match amount {
        FormatAmount::None => Some(None),
        FormatAmount::Given(amount) if amount <= Format::LARGEST_FIELD => Some(Some(amount)),
        FormatAmount::Given(_) | FormatAmount::Argument => None,
    };
    let asked = DirectiveSpec {
        flags: directive.flags,
        width: amount(directive.width)?.unwrap_or(0),
        precision: amount(directive.precision)?,
    };
    Some(asked.bounded())
}

impl FormatValue {
    /// The position of the value among all values of an event, from 0 on. Widths and precisions are
    /// values as well, addresses of a call stack are not.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Whether a value of this kind is shown by its own bytes, and nothing else: `(null)` if it is
    /// NULL, and with `…` behind it if it was cut.
    pub fn is_plain_text(&self, kind: ValueKind) -> bool {
        let is_text = matches!(self.conversion, Conversion::Text | Conversion::WideText);
        let is_plain = |spec: &Spec| spec.width == 0 && spec.precision.is_none();
        is_text && kind == ValueKind::Text && self.spec.as_ref().is_some_and(is_plain)
    }

    /// Whether a value of this kind is an integer whose text these know: [`FormatValue::bits`],
    /// [`FormatValue::bits_of`] and [`FormatValue::show`].
    pub fn is_integer(&self, kind: ValueKind) -> bool {
        self.integer().is_some() && matches!(kind, ValueKind::Int | ValueKind::Uint)
    }

    fn integer(&self) -> Option<(IntegerSize, IntegerStyle, &Spec)> {
        match self.conversion {
            Conversion::Integer { size, style } => Some((size, style, self.spec.as_ref()?)),
            _ => None,
        }
    }

    /// Those bits of an integer that are shown. Two integers with the same ones have the same text,
    /// and only they.
    #[inline]
    pub fn bits(&self, raw: u64) -> u64 {
        match self.conversion {
            Conversion::Integer { size, .. } => match size {
                IntegerSize::Char => raw & 0xff,
                IntegerSize::Short => raw & 0xffff,
                IntegerSize::Int => raw & 0xffff_ffff,
                IntegerSize::Long => raw,
            },
            _ => raw,
        }
    }

    /// The [`bits`](Self::bits) of the integers that are shown by exactly this text; `None` if none
    /// is.
    pub fn bits_of(&self, text: &[u8]) -> Option<u64> {
        let (_, style, _) = self.integer()?;
        let mut digits = text.trim_ascii();
        let is_negative = digits.first() == Some(&b'-');
        if let Some(b'-' | b'+') = digits.first() {
            digits = &digits[1..];
        }
        let base = match style {
            IntegerStyle::Signed | IntegerStyle::Unsigned => 10,
            IntegerStyle::Octal => 8,
            IntegerStyle::Hex | IntegerStyle::UpperHex => 16,
        };
        if base == 16
            && let [b'0', b'x' | b'X', rest @ ..] = digits
        {
            digits = rest;
        }
        let magnitude = digits.iter().try_fold(0_u64, |number, digit| {
            let digit = char::from(*digit).to_digit(base)?;
            number.checked_mul(base.into())?.checked_add(digit.into())
        })?;
        let raw = match is_negative {
            true => magnitude.wrapping_neg(),
            false => magnitude,
        };
        let mut shown = Vec::new();
        self.show(raw, &mut shown);
        (shown == text).then(|| self.bits(raw))
    }

    /// Appends the text of an integer.
    pub fn show(&self, raw: u64, out: &mut Vec<u8>) {
        if let Some((size, style, spec)) = self.integer() {
            integer::append(raw, size, style, spec, out);
        }
    }

    /// Whether the text of a value of this kind may have a byte, apart from the `…` of what was
    /// cut.
    pub fn may_have(&self, kind: ValueKind, byte: u8) -> bool {
        let is_integer = matches!(kind, ValueKind::Int | ValueKind::Uint);
        match self.conversion {
            Conversion::Integer { style, .. } if is_integer => match style {
                IntegerStyle::Signed | IntegerStyle::Unsigned => b"0123456789+- ".contains(&byte),
                IntegerStyle::Octal => b"01234567 +-".contains(&byte),
                IntegerStyle::Hex => b"0123456789abcdefx ".contains(&byte),
                IntegerStyle::UpperHex => b"0123456789ABCDEFX ".contains(&byte),
            },
            Conversion::Pointer if is_integer => POINTER.contains(&byte),
            Conversion::Float { .. } if kind != ValueKind::Text => FLOAT.contains(&byte),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::values::value::Value;

    /// How a format shows values.
    fn shown<'a>(format: &str, values: impl IntoIterator<Item = Value<'a>>) -> Vec<u8> {
        let mut text = Vec::new();
        Format::parse(format).render(values.into_iter(), &mut text);
        text
    }

    fn kind(value: &Value) -> ValueKind {
        match value {
            Value::Int(_) => ValueKind::Int,
            Value::Uint(_) => ValueKind::Uint,
            Value::Float(_) => ValueKind::Float,
            Value::LongDouble(_) => ValueKind::LongDouble,
            _ => ValueKind::Text,
        }
    }

    fn raw() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64).prop_map(|(raw, shift)| raw >> shift)
    }

    fn value() -> impl Strategy<Value = Value<'static>> {
        prop_oneof![
            raw().prop_map(|raw| Value::Int(raw as i64)),
            raw().prop_map(|raw| Value::Int((raw as i64).wrapping_neg())),
            raw().prop_map(Value::Uint),
            raw().prop_map(|raw| Value::Float(f64::from_bits(raw))),
            any::<f32>().prop_map(|number| Value::Float(number.into())),
            any::<[u8; 16]>().prop_map(Value::LongDouble),
            Just(Value::Nil),
            Just(Value::Text {
                bytes: b" gr\xc3\xb6\xff",
                cut: false
            }),
        ]
    }

    /// A directive, mostly one that takes no other values.
    const DIRECTIVE: &str =
        r"%[-+ #0']{0,3}(|[0-9]{1,2}|5000|\*)(|\.[0-9]?|\.\*)(|hh|h|l|ll|L)[diuoxXeEfgGaAcspnCS]";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn a_directive_shows_a_value_as_its_part_says(
            directive in DIRECTIVE,
            value in value(),
            other in raw(),
            stars in prop::array::uniform2(-9..9_i64),
        ) {
            let format = Format::parse(&directive);
            let Some(parts) = format.parts() else {
                return Ok(());
            };
            let stars = &stars[..directive.matches('*').count()];
            let values = |value| stars.iter().map(|star| Value::Int(*star)).chain([value]);
            let text = shown(&directive, values(value.clone()));
            let [FormatPart::Value(part)] = &parts[..] else {
                prop_assert!(parts.is_empty() && directive.ends_with('n') && text.is_empty());
                return Ok(());
            };
            prop_assert_eq!(part.position(), stars.len());
            let kind = kind(&value);
            let uncut = text.strip_suffix("…".as_bytes()).unwrap_or(&text);
            prop_assert!(uncut.iter().all(|byte| part.may_have(kind, *byte)));
            if part.is_plain_text(kind) {
                let own = match value {
                    Value::Text { bytes, .. } => bytes,
                    _ => b"(null)",
                };
                prop_assert_eq!(&text, own);
            }
            let raw = match value {
                Value::Int(value) => value as u64,
                Value::Uint(value) => value,
                _ => return Ok(()),
            };
            if part.is_integer(kind) {
                prop_assert_eq!(part.bits_of(&text), Some(part.bits(raw)), "{}", directive);
                let others = shown(&directive, values(Value::Uint(other)));
                let is_same = part.bits(raw) == part.bits(other);
                prop_assert_eq!(text == others, is_same);
                let mut again = Vec::new();
                part.show(raw, &mut again);
                prop_assert_eq!(again, text);
            }
        }

        #[test]
        fn no_text_is_taken_for_an_integer_that_shows_another(
            directive in r"%[-+ #0]{0,2}[0-9]?(|\.[0-9])(|hh|l)[dux]",
            text in "[ 0]{0,2}[-+]?(|0x)[0-9a-f]{0,4} ?",
        ) {
            let format = Format::parse(&directive);
            let parts = format.parts();
            if let Some([FormatPart::Value(part)]) = parts.as_deref()
                && let Some(bits) = part.bits_of(text.as_bytes())
            {
                prop_assert_eq!(shown(&directive, [Value::Uint(bits)]), text.as_bytes());
            }
        }

        #[test]
        fn parts_stand_one_behind_the_other(
            texts in prop::collection::vec("[ab%\u{f6}]{0,2}", 5),
            directives in prop::collection::vec(DIRECTIVE, 4),
            values in prop::collection::vec(value(), 0..10),
        ) {
            let literals = texts.iter().map(|text| text.replace('%', "%%"));
            let directives = directives.iter().map(String::as_str).chain([""]);
            let all: Vec<_> = literals.zip(directives).collect();
            let message: String = all.iter().map(|(text, one)| format!("{text}{one}")).collect();
            let format = Format::parse(&message);
            let Some(parts) = format.parts() else {
                return Ok(());
            };
            // What each place shows when it has the values from its own on.
            let mut places = all.iter().filter(|(_, one)| !one.is_empty());
            let mut put = Vec::new();
            for part in &parts {
                match part {
                    FormatPart::Text(text) => put.extend_from_slice(text.as_bytes()),
                    FormatPart::Value(part) => {
                        let is_shown = |one: &str| !one.ends_with('n') || one.contains('*');
                        let (_, one) = places.by_ref().find(|(_, one)| is_shown(one)).unwrap();
                        let from = part.position() - one.matches('*').count();
                        let values = values.iter().skip(from).cloned();
                        put.extend(shown(one, values));
                    }
                }
            }
            let text = shown(&message, values.iter().cloned());
            prop_assert_eq!(put, text, "{}", message);
        }
    }
}
