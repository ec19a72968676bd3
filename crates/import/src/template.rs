//! Makes a format of printf of a skeleton.
//!
//! Each variable gets the conversion that writes its values again, byte for byte.

use super::skeleton::Skeleton;

/// How a variable is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableForm {
    /// `%lu`, or `%04lu` for four digits and more.
    Decimal(u32),
    /// `%lx` and `%08lx`.
    Hex(u32),
    /// `%lX` and `%08lX`.
    UpperHex(u32),
    /// `%s`.
    Text,
}

/// Most digits of a number: all of so many fit in 64 bits.
const MOST_DECIMAL: usize = 19;
const MOST_HEX: usize = 16;

impl VariableForm {
    /// The number that this conversion writes as `text`.
    #[inline]
    pub fn number(self, text: &[u8]) -> Option<u64> {
        let (width, most, base) = match self {
            VariableForm::Decimal(width) => (width, MOST_DECIMAL, 10),
            VariableForm::Hex(width) | VariableForm::UpperHex(width) => (width, MOST_HEX, 16),
            VariableForm::Text => return None,
        };
        let is_width = text.len() == width as usize
            || text.len() > width as usize && text.first() != Some(&b'0');
        if !is_width || text.len() > most {
            return None;
        }
        text.iter().try_fold(0_u64, |number, byte| {
            let digit = match (self, byte) {
                (_, b'0'..=b'9') => byte - b'0',
                (VariableForm::Hex(_), b'a'..=b'f') => byte - b'a' + 10,
                (VariableForm::UpperHex(_), b'A'..=b'F') => byte - b'A' + 10,
                _ => return None,
            };
            Some(number.wrapping_mul(base).wrapping_add(digit.into()))
        })
    }

    /// The first conversion that writes all of these texts, and the numbers that it writes them of.
    /// `before` is tried first.
    pub fn of(before: Option<VariableForm>, texts: &[&[u8]]) -> (VariableForm, Option<Vec<u64>>) {
        let least = texts.iter().map(|text| text.len()).min().unwrap_or(0) as u32;
        if before == Some(VariableForm::Text) || least == 0 {
            return (VariableForm::Text, None);
        }
        let ways = [
            VariableForm::Decimal(1),
            VariableForm::Decimal(least),
            VariableForm::Hex(least),
            VariableForm::Hex(1),
            VariableForm::UpperHex(least),
            VariableForm::UpperHex(1),
        ];
        for way in before.into_iter().chain(ways) {
            let mut numbers = Vec::with_capacity(texts.len());
            numbers.extend(texts.iter().map_while(|text| way.number(text)));
            if numbers.len() == texts.len() {
                return (way, Some(numbers));
            }
        }
        (VariableForm::Text, None)
    }

    fn put(self, out: &mut String) {
        match self {
            VariableForm::Decimal(width) => put_number(width, "lu", out),
            VariableForm::Hex(width) => put_number(width, "lx", out),
            VariableForm::UpperHex(width) => put_number(width, "lX", out),
            VariableForm::Text => out.push_str("%s"),
        }
    }
}

fn put_number(width: u32, conversion: &str, out: &mut String) {
    match width {
        0 | 1 => *out += &format!("%{conversion}"),
        width => *out += &format!("%0{width}{conversion}"),
    }
}

/// The end of the format of a line that does not end with a line feed: `%n` writes nothing.
const NO_END: &str = "%n";

/// Whether no line feed ends the lines of a format. A line that ends with `%n` itself has `%%n`.
pub fn has_no_end(format: &str) -> bool {
    let before = format.strip_suffix('n').unwrap_or_default();
    let percents = before.bytes().rev().take_while(|byte| *byte == b'%');
    percents.count() % 2 == 1
}

/// The format of lines with this skeleton. A piece that is not UTF-8 has no format.
pub fn format(skeleton: &Skeleton, conversions: &[VariableForm]) -> String {
    let mut format = String::new();
    let mut conversions = conversions.iter();
    for piece in skeleton.pieces() {
        format += &String::from_utf8_lossy(piece).replace('%', "%%");
        if let Some(conversion) = conversions.next() {
            conversion.put(&mut format);
        }
    }
    if !skeleton.has_end {
        format += NO_END;
    }
    format
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timeline::Value;
    use timeline::internal::Format;

    use super::*;

    fn of(texts: &[&str]) -> VariableForm {
        VariableForm::of(
            None,
            &Vec::from_iter(texts.iter().map(|text| text.as_bytes())),
        )
        .0
    }

    #[test]
    fn the_first_conversion_that_suits_is_taken() {
        assert_eq!(of(&["5", "12", "0"]), VariableForm::Decimal(1));
        assert_eq!(of(&["05", "12", "123"]), VariableForm::Decimal(2));
        assert_eq!(of(&["05", "1"]), VariableForm::Text);
        assert_eq!(of(&["0a", "ff"]), VariableForm::Hex(2));
        assert_eq!(of(&["a", "12"]), VariableForm::Hex(1));
        assert_eq!(of(&["0A", "12"]), VariableForm::UpperHex(2));
        assert_eq!(of(&["0A", "a2"]), VariableForm::Text);
        assert_eq!(of(&["18446744073709551615"]), VariableForm::Text);
        assert_eq!(of(&["ffffffffffffffff"]), VariableForm::Hex(16));
        assert_eq!(of(&["", "1"]), VariableForm::Text);
    }

    proptest! {
        #[test]
        fn a_conversion_writes_what_it_suits(
            texts in proptest::collection::vec("[0-9]{1,20}|[0-9a-f]{1,17}|[0-9A-F]{4}", 1..4),
        ) {
            let bytes = Vec::from_iter(texts.iter().map(String::as_bytes));
            let (conversion, _) = VariableForm::of(None, &bytes);
            let mut format = String::new();
            conversion.put(&mut format);
            let format = Format::parse(&format);
            for text in &texts {
                let value = match conversion.number(text.as_bytes()) {
                    Some(number) => Value::Uint(number),
                    None => Value::Text { bytes: text.as_bytes(), cut: false },
                };
                let mut written = Vec::new();
                format.render([value].into_iter(), &mut written);
                prop_assert_eq!(&written, text.as_bytes());
            }
        }
    }
}
