//! Writes JSON in which characters that are not printable are escaped, like `\u202e`.
//! So it is safe to show, and nothing is lost.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use timeline::dump::is_printable;

use super::INFALLIBLE;

/// The value as JSON.
///
/// # Panics
/// If it has a map whose keys are no texts.
pub fn to_string(value: &(impl Serialize + ?Sized)) -> String {
    let mut text = Vec::new();
    write(value, &mut text).expect(INFALLIBLE);
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Appends a text in quotes.
pub fn push_quoted(text: &str, out: &mut impl fmt::Write) {
    let stays = |byte: &u8| matches!(byte, b' '..=b'~') & (*byte != b'"') & (*byte != b'\\');
    // All bytes of a block, so that the compiler looks at them side by side.
    let (blocks, rest) = text.as_bytes().as_chunks::<16>();
    let all = |block: &[u8; 16]| block.iter().fold(true, |all, byte| all & stays(byte));
    let mut push = |part| out.write_str(part).expect(INFALLIBLE);
    match blocks.iter().all(all) && rest.iter().all(stays) {
        true => ["\"", text, "\""].into_iter().for_each(push),
        false => push(&to_string(text)),
    }
}

/// Writes the value as one line.
pub fn write_line(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    write(value, out)?;
    out.write_all(b"\n")
}

fn write(value: &(impl Serialize + ?Sized), out: &mut impl Write) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, Escaping);
    Ok(value.serialize(&mut serializer)?)
}

/// A character as an escape of JSON: `\u202e`, or two of these.
pub fn escape(c: char) -> String {
    let units = c.encode_utf16(&mut [0; 2]).to_vec();
    units.iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Escapes the characters that JSON itself would not escape.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W>(&mut self, out: &mut W, mut fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        while let Some(at) = fragment.find(|c| !is_printable(c)) {
            let (before, rest) = fragment.split_at(at);
            out.write_all(before.as_bytes())?;
            let mut rest = rest.chars();
            out.write_all(escape(rest.next().unwrap_or_default()).as_bytes())?;
            fragment = rest.as_str();
        }
        out.write_all(fragment.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_printable_is_escaped() {
        assert_eq!(to_string("a\"\\\n\u{1b}é"), r#""a\"\\\n\u001bé""#);
        assert_eq!(to_string("\u{9b}\u{202e}x"), r#""\u009b\u202ex""#);
        assert_eq!(to_string("\u{e0041}"), r#""\udb40\udc41""#);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in any::<String>()) {
            let json = to_string(&text);
            prop_assert!(json.chars().all(is_printable), "{}", json);
            let back: String = serde_json::from_str(&json).expect("valid JSON");
            prop_assert_eq!(back, text);
        }
    }
}
