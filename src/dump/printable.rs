//! Which characters of a text are safe to show: the one place that decides.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The characters that Unicode calls control characters, format characters, line and paragraph
/// separators (the categories Cc, Cf, Zl and Zp), and those that it wants shown as nothing at all
/// (Default_Ignorable_Code_Point).
const UNSAFE: &[RangeInclusive<char>] = &[
    '\0'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Characters that join others in some scripts and emoji, or choose between their shapes.
const JOINERS: &[RangeInclusive<char>] = &['\u{200c}'..='\u{200d}', '\u{fe00}'..='\u{fe0f}'];

/// Whether a terminal shows this character as such: it commands nothing, breaks no line, changes no
/// order and is not invisible.
///
/// # Example
/// ```
/// use timeline::dump::is_printable;
/// assert!(is_printable('é'));
/// assert!(!is_printable('\u{1b}'));
/// assert!(!is_printable('\u{202e}'));
/// ```
#[inline]
pub fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        _ => !is_in(UNSAFE, c),
    }
}

fn is_in(ranges: &[RangeInclusive<char>], c: char) -> bool {
    ranges.iter().any(|range| range.contains(&c))
}

/// The text as it may be shown: each character that is not [printable](is_printable) as `?`.
///
/// Names and messages are others' input, which must not command the terminal, break its lines, or
/// look like something else than they are. Joiners and variation selectors stay behind a character
/// that is printable and not ASCII, where scripts and emoji need them.
///
/// # Example
/// ```
/// use timeline::dump::printable;
/// assert_eq!(printable("\u{1b}[31mred\u{202e}\n"), "?[31mred??");
/// assert_eq!(printable("⚠\u{fe0f} 5 µs"), "⚠\u{fe0f} 5 µs");
/// ```
#[inline]
pub fn printable(text: &str) -> Cow<'_, str> {
    match is_plain(text) {
        true => Cow::Borrowed(text),
        false => beyond_ascii(text),
    }
}

/// Whether all characters are printable ASCII.
#[inline]
fn is_plain(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~');
    // All bytes of a block, so that the compiler looks at them side by side.
    let (blocks, rest) = text.as_bytes().as_chunks::<16>();
    let all = |block: &[u8; 16]| block.iter().fold(true, |all, byte| all & plain(byte));
    blocks.iter().all(all) && rest.iter().all(plain)
}

/// The message as it may be shown in one line of a table: each character that is not
/// [printable](is_printable) as source code spells it.
///
/// # Example
/// ```
/// use timeline::dump::printable_line;
/// assert_eq!(printable_line("sent\r\n\u{1b}\u{202e}"), r"sent\r\n\x1b\u{202e}");
/// ```
#[inline]
pub fn printable_line(message: &str) -> Cow<'_, str> {
    match is_plain(message) {
        true => Cow::Borrowed(message),
        false => {
            let mut line = String::with_capacity(message.len());
            each(message, |c, shown| match shown {
                true => line.push(c),
                false => escape(c, &mut line),
            });
            Cow::Owned(line)
        }
    }
}

fn escape(c: char, line: &mut String) {
    let written = match c {
        '\n' | '\r' | '\t' => write!(line, "{}", c.escape_default()),
        '\0'..='\x7f' => write!(line, "\\x{:02x}", c as u32),
        _ => write!(line, "{}", c.escape_unicode()),
    };
    written.expect("a String takes everything");
}

fn beyond_ascii(text: &str) -> Cow<'_, str> {
    let mut shown = String::with_capacity(text.len());
    each(text, |c, is_shown| {
        shown.push(if is_shown { c } else { '?' })
    });
    Cow::Owned(shown)
}

/// Gives each character, and whether it may be shown.
fn each(text: &str, mut take: impl FnMut(char, bool)) {
    let mut joinable = false;
    for c in text.chars() {
        let safe = is_printable(c);
        let joins = joinable && is_in(JOINERS, c);
        joinable = safe && !c.is_ascii();
        take(c, safe || joins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex_syntax::hir::{Class, HirKind};

    /// Every character that Unicode has in one of these.
    fn by_unicode() -> Vec<RangeInclusive<char>> {
        let classes = r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]";
        let parsed = regex_syntax::parse(classes).expect("a class of characters");
        match parsed.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                let ranges = class.ranges().iter();
                ranges.map(|range| range.start()..=range.end()).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_unsafe_is_what_unicode_says() {
        assert_eq!(UNSAFE.to_vec(), by_unicode());
    }

    #[test]
    fn nothing_that_commands_hides_or_turns_round_gets_through() {
        assert_eq!(printable("a\u{1b}[31m\n\r\u{7}é"), "a?[31m???é");
        assert_eq!(printable("\u{9b}31m\u{85}\u{7f}"), "?31m??");
        assert_eq!(printable("\u{2028}\u{2029}\u{feff}\u{61c}"), "????");
        assert_eq!(printable("/live\u{200d}"), "/live?");
        assert_eq!(printable("\u{200d}é\u{202e}\u{200d}"), "?é??");
        assert_eq!(printable("é\u{200d}\u{200d}"), "é\u{200d}?");
    }

    #[test]
    fn scripts_and_emoji_stay_as_they_are() {
        for text in [
            "",
            "plain",
            "5 µs → 漢字",
            "می\u{200c}خواهم",
            "👨\u{200d}👩\u{200d}👧",
            "✔\u{fe0f}",
        ] {
            assert_eq!(printable(text), text);
        }
    }

    #[test]
    fn lines_spell_what_is_not_shown() {
        assert_eq!(
            printable_line("a\u{1b}[31m\n\r\t\u{7}é"),
            r"a\x1b[31m\n\r\t\x07é"
        );
        assert_eq!(printable_line("\u{9b}31m\u{7f}\0"), r"\u{9b}31m\x7f\x00");
        assert_eq!(
            printable_line("é\u{200d}\u{200d}\u{2028}"),
            "é\u{200d}\\u{200d}\\u{2028}"
        );
    }

    proptest! {
        #[test]
        fn what_is_shown_is_as_long_and_safe(text in any::<String>()) {
            let shown = printable(&text);
            prop_assert_eq!(shown.chars().count(), text.chars().count());
            let safe = |c: char| is_printable(c) || is_in(JOINERS, c);
            prop_assert!(shown.chars().all(safe));
            prop_assert_eq!(printable(&shown), shown.as_ref());
            let line = printable_line(&text);
            prop_assert!(line.chars().all(safe));
            prop_assert_eq!(printable_line(&line), line.as_ref());
        }
    }
}
