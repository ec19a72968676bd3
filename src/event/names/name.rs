//! Names of events: `engine.got_packet` for the message "got packet $len" of category `engine`.
//!
//! Globs, filters and channels speak of events by these names. A name is not stored but made of the
//! category and the message, so it costs no space, and all versions of a program that log one
//! message agree on it.

use crate::event::messages::braces::{BracePart, brace_parts};
use crate::event::messages::syntax::Syntax;
use crate::event::messages::template::{TemplatePiece, first_line, pieces};

/// Stands for words where there are none.
const NOTHING: &str = "_";

/// The name of an event.
///
/// The words behind the dot are those of the message up to its first argument. If they contain a
/// colon with a space or nothing behind it, they end there: `net.sent` for "sent: $len bytes". If
/// no word stands before the first argument, its own name is the first word, and the words up to
/// the next argument follow: `net.len_bytes` for "$len bytes to $host". The arguments of printf
/// have no names.
pub fn event_name(category: &str, message: &str, syntax: Syntax) -> String {
    let mut name = category_name(category);
    name.push('.');
    let words = match syntax {
        Syntax::Template => of_template(first_line(message)),
        Syntax::Printf => of_printf(message),
    };
    name + or_nothing(&words)
}

/// The category as it stands in names: each run of characters other than letters, digits and
/// `_.-:/` is a `_` between two words.
pub fn category_name(category: &str) -> String {
    let name = joined(category, is_in_pattern);
    or_nothing(&name).to_owned()
}

/// Whether a character can stand in the name of a category, and so in any name of an event.
pub fn is_in_pattern(c: char) -> bool {
    is_in_word(c) || ".-:/".contains(c)
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn or_nothing(words: &str) -> &str {
    if words.is_empty() { NOTHING } else { words }
}

/// What a message consists of, as far as a name is made of it.
enum Part<'a> {
    Text(&'a str),
    /// An argument, with its name if it has one.
    Argument(Option<&'a str>),
}

fn of_template(line: &str) -> String {
    of_parts(pieces(line).map(|piece| match piece {
        TemplatePiece::Text(text) => Part::Text(text),
        TemplatePiece::Argument(field) => Part::Argument(Some(field.name)),
    }))
}

fn of_printf(format: &str) -> String {
    let mut rest = Some(format);
    let mut is_text = false;
    of_parts(std::iter::from_fn(move || {
        is_text = !is_text;
        if !is_text {
            return rest.map(|_| Part::Argument(None));
        }
        let (text, behind) = up_to_conversion(rest?);
        rest = (!behind.is_empty()).then_some(behind);
        Some(Part::Text(text))
    }))
}

/// The name of an event whose message has this format, in which `{name}` stands for an argument.
/// Those of printf have their positions as names there. `None` if it is no such format.
pub fn name_of_format(category: &str, format: &str) -> Option<String> {
    let parts = brace_parts(format).map(|part| {
        Some(match part? {
            BracePart::Text(text) => Part::Text(text),
            BracePart::Place(name) => {
                let is_position = name.bytes().all(|byte| byte.is_ascii_digit());
                Part::Argument((!is_position).then_some(name))
            }
        })
    });
    let parts: Option<Vec<_>> = parts.collect();
    let words = of_parts(parts?.into_iter());
    Some(format!(
        "{}.{}",
        category_name(category),
        or_nothing(&words)
    ))
}

fn of_parts<'a>(parts: impl Iterator<Item = Part<'a>>) -> String {
    let mut begun = String::new();
    for part in parts {
        match part {
            Part::Text(text) => begun += text,
            Part::Argument(name) if !begun.contains(is_in_word) => {
                begun.clear();
                begun += name.unwrap_or_default();
            }
            Part::Argument(_) => break,
        }
    }
    words_of(&begun)
}

/// The text up to the first conversion of printf, and what follows that.
fn up_to_conversion(format: &str) -> (&str, &str) {
    let mut from = 0;
    while let Some(at) = format[from..].find('%') {
        let (text, behind) = format.split_at(from + at);
        let behind = &behind[1..];
        if behind.starts_with('%') {
            from += at + 2;
            continue;
        }
        let flags = |c: char| c.is_ascii_digit() || "-+ #.*'hlLqjzt".contains(c);
        let mut behind = behind.trim_start_matches(flags).chars();
        behind.next();
        return (text, behind.as_str());
    }
    (format, "")
}

/// The words of a text, up to the first colon that ends a word and has a space or nothing behind
/// it.
fn words_of(text: &str) -> String {
    let ends = |(at, _): &(usize, &str)| {
        let (before, behind) = (&text[..*at], &text[at + 1..]);
        before.contains(is_in_word) && behind.chars().next().is_none_or(char::is_whitespace)
    };
    let end = text.match_indices(':').find(ends);
    joined(&text[..end.map_or(text.len(), |(at, _)| at)], is_in_word)
}

/// The runs of characters that are kept, with a `_` between each two.
fn joined(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let words = text.split(|c| !is_kept(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn template(message: &str) -> String {
        event_name("net", message, Syntax::Template)
    }

    fn printf(format: &str) -> String {
        event_name("net", format, Syntax::Printf)
    }

    #[test]
    fn a_name_is_made_of_the_words_up_to_the_first_argument() {
        for (message, name) in [
            ("got packet $len", "net.got_packet"),
            ("got packet $len of $n", "net.got_packet"),
            ("Got  a -- Packet_2!\nprose", "net.Got_a_Packet_2"),
            ("sent: $len bytes to $host:str", "net.sent"),
            ("sent to peer:$len", "net.sent_to_peer"),
            ("std::io at 10:30 failed", "net.std_io_at_10_30_failed"),
            (": first $x", "net.first"),
            ("a: b: $x", "net.a"),
            ("$len bytes to $host", "net.len_bytes_to"),
            ("$len: $bytes", "net.len"),
            ("($a)$b", "net.a"),
            ("größe 5$ $x", "net.größe_5"),
            ("...", "net._"),
        ] {
            assert_eq!(template(message), name, "{message}");
        }
        for (format, name) in [
            ("got packet %d\n", "net.got_packet"),
            ("100%% done: %d", "net.100_done"),
            ("%-08.3lld packets of %s", "net.packets_of"),
            ("%s: %d", "net._"),
            ("%s: lost %d", "net.lost"),
            ("", "net._"),
            ("%", "net._"),
            ("$x %d", "net.x"),
        ] {
            assert_eq!(printf(format), name, "{format}");
        }
        assert_eq!(category_name("a b,c=*d"), "a_b_c_d");
        assert_eq!(category_name("x::y/z-1.2"), "x::y/z-1.2");
        assert_eq!(category_name("?"), "_");
    }

    #[test]
    fn a_message_with_braces_has_the_name_of_the_same_one_without() {
        let braced = |format: &str| name_of_format("net", format);
        for (format, message, is_printf) in [
            ("got packet {len} of {n}", "got packet $len of $n", false),
            ("sent: {len} to {host}", "sent: $len to $host", false),
            ("{len} bytes to {host}", "$len bytes to $host", false),
            ("({a}){b}", "($a)$b", false),
            ("{{in}} {took:n1}", "{in} $took", false),
            ("handle {id}", "handle $id", false),
            ("got {0} of {1}", "got %d of %s", true),
            ("{0}: {1}", "%s: %d", true),
            ("{0}: lost {1}", "%s: lost %d", true),
            ("100% done: {0}", "100%% done: %d", true),
            ("a\nb {0}", "a\nb %d", true),
            ("", "", true),
        ] {
            let expected = if is_printf {
                printf(message)
            } else {
                template(message)
            };
            assert_eq!(braced(format), Some(expected), "{format}");
        }
        assert_eq!(braced("lone { brace"), None);
    }

    /// The plainest way: walk the characters of a message, whose arguments have no types.
    fn naive(message: &str) -> String {
        let chars: Vec<char> = message.chars().collect();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (mut words, mut current, mut i) = (Vec::<String>::new(), String::new(), 0);
        while i < chars.len() && chars[i] != '\n' {
            if chars[i] == '$' && chars.get(i + 1).is_some_and(|c| named(*c)) {
                if !words.is_empty() || !current.is_empty() {
                    break;
                }
                i += 1;
                while i < chars.len() && named(chars[i]) {
                    current.push(chars[i]);
                    i += 1;
                }
                continue;
            }
            if word(chars[i]) {
                current.push(chars[i]);
            } else {
                if !current.is_empty() {
                    words.push(std::mem::take(&mut current));
                }
                // An argument behind a colon ends the text as well.
                let ends = |c: &char| {
                    c.is_whitespace()
                        || *c == '$' && { chars.get(i + 2).is_some_and(|c| named(*c)) }
                };
                if chars[i] == ':' && !words.is_empty() && chars.get(i + 1).is_none_or(ends) {
                    break;
                }
            }
            i += 1;
        }
        if !current.is_empty() {
            words.push(current);
        }
        match words.is_empty() {
            true => "net._".into(),
            false => format!("net.{}", words.join("_")),
        }
    }

    proptest! {
        #[test]
        fn names_agree_with_their_naive_twin(message in "[a$_ :1é\n]{0,16}") {
            // A type is not part of the name, and the twin knows none.
            prop_assume!(!message.contains(":a"));
            prop_assert_eq!(template(&message), naive(&message));
        }

        #[test]
        fn every_character_of_a_name_can_stand_in_a_pattern(
            category in ".*", message in ".*", is_printf: bool,
        ) {
            let syntax = if is_printf { Syntax::Printf } else { Syntax::Template };
            prop_assert!(event_name(&category, &message, syntax).chars().all(is_in_pattern));
        }
    }
}
