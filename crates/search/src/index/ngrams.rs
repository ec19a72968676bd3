//! Cuts text into tokens, and tokens into ngrams of four bytes.
//!
//! A token is a run of bytes of one class: letters, digits, spaces and tabs, line breaks, others.
//! Letters are folded to small ones. A token is cut into successive ngrams of four bytes, packed
//! big-endian; the last one is shifted left: `o` is 0x6f00_0000. The **tail** of a longer token,
//! its last four bytes, is an ngram as well: `12345` has `1234`, `5` and `2345`.
//!
//! In logs with many numbers, each ngram of four digits is on many pages. So two successive ngrams
//! of a number are a **pair**: a third ngram, made of a digest of both.
//!
//! An id such as `7f3a90c1` has only short tokens, which appear everywhere. So a **word** of
//! letters and digits that has both is cut as a whole as well: `7f3a`, `90c1`.

use std::borrow::Cow;

/// The bytes of an ngram.
pub const LENGTH: usize = 4;

/// What a byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Letter,
    Digit,
    Space,
    Break,
    Other,
}

impl Class {
    /// The class of a byte.
    pub const fn of(byte: u8) -> Class {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t' => Class::Space,
            b'\n' => Class::Break,
            _ => Class::Other,
        }
    }

    /// Whether bytes of this class are part of a word.
    pub const fn is_of_word(self) -> bool {
        matches!(self, Class::Letter | Class::Digit)
    }
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = Class::of(byte as u8);
        byte += 1;
    }
    classes
};

/// The characters beyond ASCII that an `s` or a `k` finds if case does not count: the long s and
/// the Kelvin sign.
const LONG_S: &[u8] = "\u{17f}".as_bytes();
const KELVIN: &[u8] = "\u{212a}".as_bytes();

/// Folds letters to small ones: A to Z, and the two others that have a small letter of ASCII.
pub fn fold(text: &[u8]) -> Cow<'_, [u8]> {
    let is_special = memchr::memchr2(LONG_S[0], KELVIN[0], text).is_some();
    let is_folded = !is_special && !text.iter().any(u8::is_ascii_uppercase);
    if is_folded {
        return Cow::Borrowed(text);
    }
    let (mut folded, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, behind)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(LONG_S) {
            folded.push(b's');
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix(KELVIN) {
            folded.push(b'k');
            rest = behind;
        } else {
            folded.push(first.to_ascii_lowercase());
            rest = behind;
        }
    }
    Cow::Owned(folded)
}

/// Packs up to four bytes.
pub fn pack(bytes: &[u8]) -> u32 {
    let mut packed = [0; LENGTH];
    packed[..bytes.len()].copy_from_slice(bytes);
    u32::from_be_bytes(packed)
}

/// The bits of the digest in a pair.
const PAIR_BITS: u32 = 18;

/// The ngram of two successive ngrams of digits. No text has its first byte.
pub fn pair(first: u32, second: u32) -> u32 {
    /// An odd number of random bits (2^64 divided by the golden ratio).
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let both = u64::from(first) << 32 | u64::from(second);
    0xff00_0000 | (both.wrapping_mul(FACTOR) >> (64 - PAIR_BITS)) as u32
}

/// Passes each ngram of a text to `each`, some several times.
pub fn each(text: &[u8], mut each: impl FnMut(u32)) {
    if memchr::memchr2(LONG_S[0], KELVIN[0], text).is_some() {
        return of_ascii(&fold(text), &mut each);
    }
    of_ascii(text, &mut each);
}

fn of_ascii(text: &[u8], each: &mut impl FnMut(u32)) {
    // The last four bytes of the token, how many bytes it has, and its last ngram.
    let (mut class, mut last, mut count, mut before) = (Class::Break, 0_u32, 0_usize, 0);
    // The word so far: where it begins, and whether it has letters and digits.
    let (mut word, mut has_letter, mut has_digit) = (0, false, false);
    for (at, byte) in text.iter().enumerate() {
        let this = CLASSES[usize::from(*byte)];
        if this != class {
            end(last, count, each);
            (last, count) = (0, 0);
            if !this.is_of_word() {
                if has_letter && has_digit {
                    of_word(&text[word..at], each);
                }
                (has_letter, has_digit) = (false, false);
            } else if !class.is_of_word() {
                word = at;
            }
            has_letter |= this == Class::Letter;
            has_digit |= this == Class::Digit;
            class = this;
        }
        last = last << 8 | u32::from(byte.to_ascii_lowercase());
        count += 1;
        if count % LENGTH == 0 {
            each(last);
            if count > LENGTH && class == Class::Digit {
                each(pair(before, last));
            }
            before = last;
        }
    }
    end(last, count, each);
    if has_letter && has_digit {
        of_word(&text[word..], each);
    }
}

/// Passes the last ngrams of a token.
#[inline]
fn end(last: u32, count: usize, each: &mut impl FnMut(u32)) {
    let rest = count % LENGTH;
    if rest > 0 {
        each(last << (8 * (LENGTH - rest)));
        if count > LENGTH {
            each(last);
        }
    }
}

fn of_word(word: &[u8], each: &mut impl FnMut(u32)) {
    for chunk in word.chunks(LENGTH) {
        each(pack(chunk) | case_bits(chunk));
    }
    if let Some(tail) = word.last_chunk::<LENGTH>() {
        each(pack(tail) | case_bits(tail));
    }
}

/// The bits that make the letters of a chunk small.
fn case_bits(chunk: &[u8]) -> u32 {
    let mut bits = [0; LENGTH];
    for (bit, byte) in bits.iter_mut().zip(chunk) {
        *bit = u8::from(byte.is_ascii_uppercase()) << 5;
    }
    u32::from_be_bytes(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each(text.as_bytes(), |ngram| {
            let bytes = ngram.to_be_bytes();
            let text = std::str::from_utf8(&bytes).unwrap_or("?");
            all.push(text.trim_end_matches('\0').to_owned());
        });
        all
    }

    #[test]
    fn tokens_are_of_one_class() {
        assert_eq!(pack(b"o"), 0x6f00_0000);
        assert_eq!(
            of("processed tcp(10)\n"),
            [
                "proc", "esse", "d", "ssed", " ", "tcp", "(", "10", ")", "\n"
            ]
        );
        assert_eq!(
            of("Took 123456 \t  us"),
            ["took", " ", "1234", "56", "3456", " \t  ", "us"]
        );
        assert_eq!(of(""), [""; 0]);
    }

    #[test]
    fn numbers_have_pairs() {
        let pair = |a: &str, b: &str| pair(pack(a.as_bytes()), pack(b.as_bytes()));
        let pairs = |text: &str| {
            let mut all = Vec::new();
            each(text.as_bytes(), |ngram| all.push(ngram));
            all.retain(|ngram| ngram >> 24 == 0xff);
            all
        };
        let expected = [pair("1234", "5678"), pair("5678", "9012")];
        assert_eq!(pairs("(1234567890123)"), expected);
        assert_eq!(
            pairs("1234567 abcdefgh a1234567890"),
            [pair("1234", "5678")]
        );
    }

    #[test]
    fn words_of_letters_and_digits_are_cut_as_a_whole_as_well() {
        let tokens = ["7", "f", "3", "a", "90", "c", "1"];
        assert_eq!(
            of("7F3A90C1"),
            [&tokens[..], &["7f3a", "90c1", "90c1"]].concat()
        );
        assert_eq!(of("(eth0)"), ["(", "eth", "0", "eth0", "eth0", ")"]);
        assert_eq!(of("12-ab"), ["12", "-", "ab"]);
    }

    #[test]
    fn letters_are_folded_that_have_a_small_one_of_ascii() {
        assert_eq!(of("Ta\u{17f}\u{212a}"), of("task"));
        assert_eq!(fold("Ta\u{17f}\u{212a} Ö".as_bytes()), "task Ö".as_bytes());
        assert!(matches!(fold(b"task"), Cow::Borrowed(_)));
    }
}
