//! The message of a statement: compared with its arguments at compile time, and given their types.

use std::fmt::Write;

use crate::event::{Definition, FieldType};
use crate::layout::MAX_FIELDS;

/// Fails to compile unless the places of the message have these names, in this order, and the
/// texts can be defined.
pub const fn check(category: &str, message: &str, names: &[&str]) {
    assert!(
        names.len() <= MAX_FIELDS,
        "an event has at most 64 arguments"
    );
    check_text(category.as_bytes());
    check_text(message.as_bytes());
    assert!(
        first_line(category.as_bytes()) == category.len(),
        "a category is one line"
    );
    let text = message.as_bytes();
    let end = first_line(text);
    let (mut at, mut count) = (0, 0);
    while at < end {
        let is_double = at + 1 < end && text[at + 1] == text[at];
        match text[at] {
            b'{' | b'}' if is_double => at += 2,
            b'{' => {
                assert!(
                    count < names.len(),
                    "the message has more places than there are arguments"
                );
                at = place(text, at + 1, without_raw(names[count].as_bytes()));
                count += 1;
            }
            b'}' => panic!("a closing brace without an opening one: for a brace, write two"),
            b'$' => {
                assert!(
                    at + 1 == end || !is_word(text[at + 1]),
                    "$name is text here, which readers take for an argument: write {{name}}"
                );
                at += 1;
            }
            _ => at += 1,
        }
    }
    assert!(
        count == names.len(),
        "there are more arguments than the message has places"
    );
}

/// A name as messages have it: `type` of `r#type`.
const fn without_raw(name: &[u8]) -> &[u8] {
    match name {
        [b'r', b'#', name @ ..] => name,
        name => name,
    }
}

/// The end of the place whose name begins at `from`, which must be `name`.
const fn place(text: &[u8], from: usize, name: &[u8]) -> usize {
    let mut end = from;
    while end < text.len() && is_word(text[end]) {
        end += 1;
    }
    assert!(
        end > from && end < text.len() && text[end] == b'}',
        "a place is a name in braces, of ASCII letters, digits and _; for a brace, write two"
    );
    let mut is_same = end - from == name.len();
    let mut i = 0;
    while is_same && i < name.len() {
        is_same = text[from + i] == name[i];
        i += 1;
    }
    assert!(
        is_same,
        "an argument has another name than its place in the message: write `name = expression`, \
         in the order of the places"
    );
    end += 1;
    assert!(
        end == text.len() || !(text[end].is_ascii_alphanumeric() || text[end] == b'['),
        "a letter, a digit or [ directly behind a place: put a space between"
    );
    end
}

/// Fails to compile unless the message of a span begins with words, which name it. If it is paired
/// by a key, it has an argument.
pub const fn check_span(message: &str, is_paired_by_key: bool, arguments: usize) {
    assert!(
        !is_paired_by_key || arguments > 0,
        "a span that is paired by a key has an argument: the first one is the key"
    );
    let text = message.as_bytes();
    let end = first_line(text);
    let (mut at, mut is_named) = (0, false);
    while at < end && !is_named {
        let is_double = at + 1 < end && text[at + 1] == text[at];
        match text[at] {
            b'{' | b'}' if is_double => at += 2,
            // Here the name ends.
            b'{' => break,
            b':' if at + 1 == end || text[at + 1].is_ascii_whitespace() => break,
            byte => {
                is_named = is_word(byte) || !byte.is_ascii();
                at += 1;
            }
        }
    }
    assert!(
        is_named,
        "the message of a span begins with words, which name it"
    );
}

/// Fails to compile unless these are channels, or none.
pub const fn check_channels(channels: &str) {
    let text = channels.as_bytes();
    let (mut at, mut from) = (0, 0);
    while at <= text.len() && !text.is_empty() {
        if at == text.len() || text[at] == b'|' {
            check_channel(text, from, at);
            from = at + 1;
        }
        at += 1;
    }
}

const fn check_channel(text: &[u8], from: usize, mut end: usize) {
    let suffix = b"=on";
    if end >= from + 3
        && text[end - 3] == suffix[0]
        && text[end - 2] == suffix[1]
        && text[end - 1] == suffix[2]
    {
        end -= 3;
    }
    let mut is_good = end > from && end - from <= 32 && text[from] != b'-';
    let mut at = from;
    while at < end {
        is_good = is_good && (is_word(text[at]) || text[at] == b'.' || text[at] == b'-');
        at += 1;
    }
    assert!(
        is_good,
        "a channel is 1 to 32 ASCII letters, digits, _, . and -; several have | between"
    );
}

const fn check_text(text: &[u8]) {
    assert!(!text.is_empty(), "a category or a message is empty");
    assert!(
        text.len() <= Definition::LONGEST_TEXT,
        "a category or a message has more than 4,096 bytes"
    );
    let mut at = 0;
    while at < text.len() {
        assert!(text[at] != 0, "a category or a message has a NUL");
        at += 1;
    }
}

/// How many bytes a checked message takes when it is defined, without the types of its arguments.
pub const fn length_without_types(message: &str) -> usize {
    let text = message.as_bytes();
    let end = first_line(text);
    let (mut at, mut length) = (0, text.len());
    while at + 1 < end {
        // A place takes no byte more or less: `{a}` becomes `$a:`. Two braces become one.
        if matches!(text[at], b'{' | b'}') && text[at + 1] == text[at] {
            length -= 1;
            at += 1;
        }
        at += 1;
    }
    length
}

const fn first_line(text: &[u8]) -> usize {
    let mut end = 0;
    while end < text.len() && text[end] != b'\n' && text[end] != b'\r' {
        end += 1;
    }
    end
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A checked message as it is defined: `parsed {len} of {name}` is `parsed $len:u32 of $name:str`.
pub fn with_types(message: &str, types: &[FieldType]) -> String {
    let (line, prose) = message.split_at(first_line(message.as_bytes()));
    let (mut typed, mut types) = (String::new(), types.iter());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '{' if characters.peek() != Some(&'{') => {
                typed.push('$');
                typed.extend(characters.by_ref().take_while(|next| *next != '}'));
                let kind = types.next().unwrap_or(&FieldType::UNTYPED);
                write!(typed, ":{kind}").expect("a String takes any text");
            }
            '{' | '}' => {
                typed.push(character);
                characters.next();
            }
            _ => typed.push(character),
        }
    }
    typed + prose
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::channels_of_event;

    #[test]
    fn places_get_the_types_of_their_arguments() {
        let typed = |message| with_types(message, &[FieldType::U32, FieldType::Str]);
        for (message, expected) in [
            ("parsed {len} of {name}", "parsed $len:u32 of $name:str"),
            ("{a}{b}", "$a:u32$b:str"),
            ("{{{a}}}: ${b}\n{c} {{", "{$a:u32}: $$b:str\n{c} {{"),
            ("größe {a}", "größe $a:u32"),
            ("5$ }}{{", "5$ }{"),
        ] {
            assert_eq!(typed(message), expected);
        }
    }

    #[test]
    fn channels_are_those_that_can_be_defined() {
        let good = ["", "itv", "itv|bbc=on", "a.b-c_1", &"x".repeat(32), "on=on"];
        let bad = [
            "|",
            "a|",
            "|a",
            "-a",
            "a b",
            "a,b",
            "=on",
            "a=off",
            &"x".repeat(33),
            "ü",
        ];
        for text in good {
            assert!(channels_of_event(text).is_ok(), "{text:?}");
            check_channels(text);
        }
        for text in bad {
            assert!(channels_of_event(text).is_err(), "{text:?}");
            let checked = std::panic::catch_unwind(|| check_channels(text));
            assert!(checked.is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_span_has_a_name_and_perhaps_a_key() {
        for message in ["a", "{{a", "größe {x}", " a: {x}", "a{x}", "ü"] {
            check_span(message, false, 0);
            check_span(message, true, 1);
        }
        for (message, is_paired_by_key, arguments) in [
            ("{x} a", false, 1),
            ("{{ {x} a", false, 1),
            (": a", false, 0),
            ("\na", false, 0),
            ("-", false, 0),
            ("a", true, 0),
        ] {
            let check = || check_span(message, is_paired_by_key, arguments);
            assert!(std::panic::catch_unwind(check).is_err(), "{message:?}");
        }
    }

    #[test]
    fn what_does_not_agree_is_refused() {
        check("net", "{{{a}}}: ${b}\n{c} {{", &["a", "b"]);
        check("net", "5$ }}{{ $", &[]);
        check("net", "{a}, {a}", &["a", "a"]);
        check("net", "{type} {r}", &["r#type", "r"]);
        for (category, message, names) in [
            ("net", "{a} {b}", &["a"][..]),
            ("net", "{a}", &["a", "b"]),
            ("net", "{a} {b}", &["b", "a"]),
            ("net", "{ab}", &["a"]),
            ("net", "{type}", &["r#typ"]),
            ("net", "{r#type}", &["r#type"]),
            ("net", "{a}ms", &["a"]),
            ("net", "{a}[]", &["a"]),
            ("net", "{}", &[""]),
            ("net", "{a", &["a"]),
            ("net", "a}", &[]),
            ("net", "{a:x}", &["a"]),
            ("net", "{größe}", &["größe"]),
            ("net", "$a", &[]),
            ("net", "", &[]),
            ("net", "a\0", &[]),
            ("", "a", &[]),
            ("a\nb", "a", &[]),
        ] {
            let checked = std::panic::catch_unwind(|| check(category, message, names));
            assert!(checked.is_err(), "{category:?} {message:?}");
        }
    }
}
