//! Reads JSON from left to right: strings, numbers, and values as a whole.
//!
//! What is read is checked against RFC 8259. Nothing is changed: a caller gets the bytes.

use timeline::internal::ObjectValue;

/// Values in values. Deeper ones are refused.
const MOST_DEEP: usize = 128;

/// A text of JSON, and how far it is read.
#[derive(Clone, Copy)]
pub struct JsonInput<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> JsonInput<'a> {
    pub fn new(text: &'a str) -> JsonInput<'a> {
        JsonInput { text, at: 0 }
    }

    /// The next byte behind spaces.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(*byte),
            }
        }
        None
    }

    /// Passes this byte, if it is the next one.
    pub fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn take(&mut self, byte: u8) -> Option<()> {
        self.takes(byte).then_some(())
    }

    /// The bytes of a string between its quotes, and whether there are escapes among them.
    pub fn string(&mut self) -> Option<(&'a str, bool)> {
        self.take(b'"')?;
        let (bytes, from) = (self.text.as_bytes(), self.at);
        let mut has_escapes = false;
        loop {
            match *bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    has_escapes = true;
                    self.escape(bytes)?;
                }
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some((&self.text[from..self.at - 1], has_escapes))
    }

    fn escape(&mut self, bytes: &[u8]) -> Option<()> {
        match bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = bytes.get(self.at + 2..self.at + 6)?;
                self.at += 6;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
            }
            _ => return None,
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn has(&mut self, any: &[u8]) -> bool {
        let next = self.text.as_bytes().get(self.at);
        let has = next.is_some_and(|byte| any.contains(byte));
        self.at += usize::from(has);
        has
    }

    /// The text of a number.
    pub fn number(&mut self) -> Option<&'a str> {
        let from = self.at;
        self.has(b"-");
        if !self.has(b"0") {
            self.digits()?;
        }
        if self.has(b".") {
            self.digits()?;
        }
        if self.has(b"eE") {
            self.has(b"+-");
            self.digits()?;
        }
        Some(&self.text[from..self.at])
    }

    /// Passes one of these words.
    pub fn word(&mut self) -> Option<&'static str> {
        let rest = &self.text[self.at..];
        let mut words = ["true", "false", "null"].into_iter();
        let word = words.find(|word| rest.starts_with(word))?;
        self.at += word.len();
        Some(word)
    }

    /// Passes a value of any type, and returns its text.
    pub fn any(&mut self) -> Option<&'a str> {
        self.peek();
        let from = self.at;
        self.pass(0)?;
        Some(&self.text[from..self.at])
    }

    fn pass(&mut self, deep: usize) -> Option<()> {
        if deep > MOST_DEEP {
            return None;
        }
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => self.list(b'}', |input| {
                input.string()?;
                input.take(b':')?;
                input.pass(deep + 1)
            }),
            b'[' => self.list(b']', |input| input.pass(deep + 1)),
            b'-' | b'0'..=b'9' => self.number().map(|_| ()),
            _ => self.word().map(|_| ()),
        }
    }

    /// Passes a bracket, elements with commas between, and the bracket that closes.
    pub fn list(
        &mut self,
        close: u8,
        mut element: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.at += 1;
        if self.takes(close) {
            return Some(());
        }
        loop {
            element(self)?;
            if !self.takes(b',') {
                return self.take(close);
            }
        }
    }
}

/// Appends the text that a string of JSON with escapes stands for. `None` if it is no Unicode: then
/// it has half a pair of surrogates.
pub fn unescape(string: &str, out: &mut Vec<u8>) -> Option<()> {
    let mut rest = string;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let escape = *rest.as_bytes().get(at + 1)?;
        rest = &rest[at + 2..];
        let plain = match escape {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut unit = || {
                    let (digits, behind) = rest.split_at_checked(4)?;
                    rest = behind;
                    u16::from_str_radix(digits, 16).ok()
                };
                let first = unit()?;
                let mut units = vec![first];
                if (0xd800..0xdc00).contains(&first) {
                    rest = rest.strip_prefix("\\u")?;
                    let (digits, behind) = rest.split_at_checked(4)?;
                    rest = behind;
                    units.push(u16::from_str_radix(digits, 16).ok()?);
                }
                let text = String::from_utf16(&units).ok()?;
                out.extend_from_slice(text.as_bytes());
                continue;
            }
            other => other,
        };
        out.push(plain);
    }
    out.extend_from_slice(rest.as_bytes());
    Some(())
}

/// What a number is without loss, and its 64 bits. JSON for one that no type of 64 bits has.
pub fn number(text: &str) -> (ObjectValue, u64) {
    if text.bytes().all(|byte| byte != b'.' && byte | 32 != b'e') {
        return match (text.parse::<i64>(), text.parse::<u64>()) {
            // A zero has no sign as an integer.
            _ if text == "-0" => (ObjectValue::Json, 0),
            (Ok(number), _) => (ObjectValue::Int, number as u64),
            (_, Ok(number)) => (ObjectValue::Uint, number),
            _ => (ObjectValue::Json, 0),
        };
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let is_exact =
        |number: &f64| decimal(text).is_some_and(|of| Some(of) == decimal(&float(*number)));
    match number.filter(is_exact) {
        Some(number) => (ObjectValue::Float, number.to_bits()),
        None => (ObjectValue::Json, 0),
    }
}

/// A number as JSON, with as few digits as tell it from others.
pub fn float(number: f64) -> String {
    serde_json::to_string(&number).unwrap_or_default()
}

/// Sign, digits without zeros around them, and exponent: the same for all ways to write a number.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
        None => (text, 0_i32),
    };
    let digits = mantissa.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let kept = significant.trim_end_matches('0');
    let zeros = (significant.len() - kept.len()) as i64;
    let exponent = i64::from(exponent) - fraction.len() as i64 + zeros;
    let is_zero = kept.is_empty();
    Some((
        mantissa.starts_with('-'),
        kept.to_owned(),
        if is_zero { 0 } else { exponent },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether a text is one value of JSON.
    fn is_json(text: &str) -> bool {
        let mut input = JsonInput::new(text);
        input.any().is_some() && input.peek().is_none()
    }

    #[test]
    fn numbers_are_typed_only_without_loss() {
        use ObjectValue::{Float, Int, Json, Uint};
        for (text, kind) in [
            ("0", Int),
            ("-0", Json),
            ("-0.0", Float),
            ("-9223372036854775808", Int),
            ("-9223372036854775809", Json),
            ("9223372036854775807", Int),
            ("9223372036854775808", Uint),
            ("18446744073709551615", Uint),
            ("18446744073709551616", Json),
            ("1.0", Float),
            ("1.50", Float),
            ("1e2", Float),
            ("1E+2", Float),
            ("1e400", Json),
            ("1e-400", Json),
            ("0e99999999999", Json),
            ("0.1000000000000000055511151231257827", Json),
            ("123456789012345678.0", Json),
        ] {
            assert_eq!(number(text).0, kind, "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "{",
            "{}}",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "01",
            "-",
            "1.",
            "1e",
            "+1",
            ".5",
            "nul",
            "\"\u{1}\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a",
            "NaN",
            "'a'",
            "[1 2]",
            "tru e",
            "1E310}",
        ] {
            assert!(!is_json(text), "{text}");
        }
        assert!(is_json("1E310") && is_json("{\"a\":[-1e-999]}"));
        let deep = |count: usize| "[".repeat(count) + &"]".repeat(count);
        assert!(is_json(&deep(MOST_DEEP)));
        assert!(!is_json(&deep(1_000_000)));
    }

    #[test]
    fn half_a_pair_is_no_text() {
        for (string, expected) in [
            ("a\\n\\u00e9\\/", Some("a\né/")),
            ("\\ud83d\\ude00", Some("😀")),
            ("\\ud83d", None),
            ("\\ud83dx", None),
            ("\\ud83d\\n", None),
            ("\\ude00", None),
            ("\\ud83d\\u0041", None),
        ] {
            let mut out = Vec::new();
            let found = unescape(string, &mut out).map(|()| String::from_utf8(out).unwrap());
            assert_eq!(found.as_deref(), expected, "{string}");
        }
    }

    proptest! {
        #[test]
        fn json_is_what_serde_takes_for_it(text in "[\\[\\]{}:,\"\\\\ 0-9.eE+\\-nulltrueé]{0,12}") {
            let taken = serde_json::from_str::<serde_json::Value>(&text);
            // Serde refuses a number that is too large for it, and does not read what follows.
            let is_large = taken.as_ref().is_err_and(|e| e.to_string().contains("out of range"));
            prop_assume!(!is_large);
            prop_assert_eq!(is_json(&text), taken.is_ok());
        }
    }
}
