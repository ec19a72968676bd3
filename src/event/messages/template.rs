//! Messages: which `$words` of the first line are arguments, their types, and how they are shown.

use std::fmt;

use crate::error::{Error, Result};
use crate::event::values::field::type_names;
use crate::event::values::field_table::FieldType;
use crate::event::values::labels::Labels;
use crate::event::values::value::Value;
use crate::layout::MAX_FIELDS;

/// An argument of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateField<'a> {
    /// Its name, without the `$`.
    pub name: &'a str,
    /// Its type: `I64` if the message gives none.
    pub kind: FieldType<'a>,
    /// Whether the message gives a type.
    pub has_type: bool,
}

/// Everything up to the first line break.
pub fn first_line(message: &str) -> &str {
    message.split(['\n', '\r']).next().unwrap_or("")
}

/// The arguments: each `$` followed by letters, digits or `_` on the first line, and its type, if
/// `:` and a letter follow.
///
/// A `$` without such a word is text, and so is a `:` with a word that names no type: readers show
/// it as it is. It cannot be defined: see [`checked_fields`].
///
/// # Example
/// ```
/// use timeline::FieldType;
/// use timeline::internal::fields;
/// let mut fields = fields("sent $bytes to $host:hex");
/// assert_eq!(fields.next().map(|field| field.kind), Some(FieldType::I64));
/// assert_eq!(fields.next().map(|field| field.kind), Some(FieldType::Hex));
/// ```
pub fn fields(message: &str) -> impl Iterator<Item = TemplateField<'_>> {
    pieces(first_line(message)).filter_map(|piece| match piece {
        TemplatePiece::Argument(field) => Some(field),
        TemplatePiece::Text(_) => None,
    })
}

/// The names of the arguments of a message, in order, without the `$`.
pub fn argument_names(message: &str) -> impl Iterator<Item = &str> {
    fields(message).map(|field| field.name)
}

/// The arguments of a message that can be defined.
///
/// # Errors
/// `TooManyArguments`; `UnknownFieldType`; `RepeatedName`.
pub fn checked_fields(message: &str) -> Result<Vec<TemplateField<'_>>> {
    if let Some((field, found)) = unknown_type(message) {
        return Err(Error::UnknownFieldType {
            field: field.to_string(),
            found: found.to_string(),
            known: type_names(),
        });
    }
    let fields: Vec<_> = fields(message).collect();
    for field in &fields {
        if let Some(name) = field.kind.labels().and_then(Labels::repeated) {
            return Err(Error::RepeatedName {
                field: field.name.to_string(),
                name: name.to_string(),
            });
        }
    }
    match fields.len() {
        0..=MAX_FIELDS => Ok(fields),
        found => Err(Error::TooManyArguments {
            found,
            message: first_line(message).to_string(),
        }),
    }
}

/// The first argument with a type that there is not: its name, and the word behind the `:`.
fn unknown_type(message: &str) -> Option<(&str, &str)> {
    let mut rest = first_line(message);
    while !rest.is_empty() {
        if let Some(length) = argument_at(rest) {
            let (argument, behind) = rest.split_at(length);
            if let Some(Err(word)) = type_at(behind) {
                return Some((&argument[1..], word));
            }
        }
        rest = next_piece(rest).1;
    }
    None
}

/// Writes the parts of a first line, each argument as `name(value)`. An argument without a value
/// shows as `name(?)`. What `symbol` knows of a pointer stands behind it: `name(0x1f40 <main>)`.
pub fn render<'m, 'v, W: fmt::Write>(
    pieces: impl Iterator<Item = TemplatePiece<'m>>,
    mut values: impl Iterator<Item = Value<'v>>,
    symbol: impl Fn(u64) -> Option<String>,
    out: &mut W,
) -> fmt::Result {
    for piece in pieces {
        match piece {
            TemplatePiece::Text(text) => out.write_str(text)?,
            TemplatePiece::Argument(field) => {
                out.write_str(field.name)?;
                out.write_str("(")?;
                match values.next() {
                    Some(value) => {
                        field.kind.write_value(&value, out)?;
                        let address = match value {
                            Value::Uint(address) => Some(address),
                            // In an archive, an event of integers only.
                            Value::Int(address) => Some(address as u64),
                            _ => None,
                        };
                        if field.kind.is_address()
                            && let Some(symbol) = address.and_then(&symbol)
                        {
                            write!(out, " <{symbol}>")?;
                        }
                    }
                    None => out.write_str("?")?,
                }
                out.write_str(")")?;
            }
        }
    }
    Ok(())
}

/// A part of a message's first line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TemplatePiece<'a> {
    /// Text to show as it is.
    Text(&'a str),
    /// An argument.
    Argument(TemplateField<'a>),
}

/// The parts of a line, in order.
pub fn pieces(mut line: &str) -> impl Iterator<Item = TemplatePiece<'_>> {
    std::iter::from_fn(move || {
        if line.is_empty() {
            return None;
        }
        let (piece, rest) = next_piece(line);
        line = rest;
        Some(piece)
    })
}

fn next_piece(line: &str) -> (TemplatePiece<'_>, &str) {
    if let Some(length) = argument_at(line) {
        let (argument, rest) = line.split_at(length);
        let (kind, length) = match type_at(rest) {
            Some(Ok((kind, length))) => (kind, length + 1),
            _ => (FieldType::UNTYPED, 0),
        };
        let field = TemplateField {
            name: &argument[1..],
            kind,
            has_type: length > 0,
        };
        return (TemplatePiece::Argument(field), &rest[length..]);
    }
    // Text up to the next argument.
    let end = line
        .match_indices('$')
        .map(|(at, _)| at)
        .find(|&at| at > 0 && argument_at(&line[at..]).is_some())
        .unwrap_or(line.len());
    let (text, rest) = line.split_at(end);
    (TemplatePiece::Text(text), rest)
}

/// The length of the `$word` at the start of `text`, if there is one.
fn argument_at(text: &str) -> Option<usize> {
    let word = text.strip_prefix('$')?;
    let length = word
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count();
    (length > 0).then_some(length + 1)
}

/// The type that stands behind an argument, if `:` and a letter do, and its length without the
/// `:`; or the word that names none.
fn type_at(text: &str) -> Option<std::result::Result<(FieldType<'_>, usize), &str>> {
    let word = text.strip_prefix(':')?;
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        .then(|| FieldType::parse(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(message: &str) -> Vec<&str> {
        argument_names(message).collect()
    }

    fn rendered(message: &str, args: &[i64]) -> String {
        let mut text = String::new();
        let values = args.iter().map(|word| Value::Int(*word));
        render(pieces(first_line(message)), values, |_| None, &mut text).unwrap();
        text
    }

    #[test]
    fn dollar_words_of_the_first_line_are_the_arguments() {
        let seed = "processed $tcp, $udp, and $other";
        assert_eq!(names(seed), ["tcp", "udp", "other"]);
        assert_eq!(
            rendered(seed, &[10, 20, 3]),
            "processed tcp(10), udp(20), and other(3)"
        );
        assert_eq!(names("$a_1$b2 [$c]\nand $not"), ["a_1", "b2", "c"]);
        assert_eq!(names("costs 5$ or $ 5, $$x"), ["x"]);
        assert_eq!(
            rendered("costs 5$ or $ 5, $$x", &[7]),
            "costs 5$ or $ 5, $x(7)"
        );
        assert_eq!(names("naïve $größe"), ["gr"]);
        assert_eq!(names(""), [""; 0]);
        assert_eq!(rendered("a $b", &[]), "a b(?)");
        assert_eq!(rendered("$n\r\nmore", &[-1]), "n(-1)");
    }

    #[test]
    fn a_colon_and_a_letter_begin_a_type() {
        let kinds = |message| {
            fields(message)
                .map(|f| (f.name, f.kind))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            kinds("$a:u8 $ip:$port $n: $x:1 $y :u8 $z:enum(a=1,b=2)."),
            [
                ("a", FieldType::U8),
                ("ip", FieldType::I64),
                ("port", FieldType::I64),
                ("n", FieldType::I64),
                ("x", FieldType::I64),
                ("y", FieldType::I64),
                ("z", FieldType::Enum(Labels::parse("a=1,b=2").unwrap()))
            ]
        );
        assert_eq!(
            rendered("$a:u8 $ip:$port $n: $z:enum(a=1,b=2).", &[-1, 2, 3, 4, 2]),
            "a(255) ip(2):port(3) n(4): z(b)."
        );
        assert_eq!(rendered("took $t:ns", &[12_500]), "took t(12.5µs)");
        assert_eq!(rendered("$a:u8 b $c:bool", &[1]), "a(1) b c(?)");
        // As a reader has it whose version knows fewer types.
        assert_eq!(rendered("$a:u128, $b", &[1, 2]), "a(1):u128, b(2)");
        assert_eq!(
            unknown_type("$a:u8 $b:u128, $c:int\n$d:no"),
            Some(("b", "u128"))
        );
        assert_eq!(unknown_type("$a:u8 $b: $c:$d $e:1, :no $f:ns"), None);
    }

    #[test]
    fn two_numbers_of_one_name_cannot_be_defined() {
        for (message, told) in [
            ("$a:enum(red=1,green=2, red=3)", "$a has the name \"red\""),
            ("$a $b:flags(r=1,r=1)", "$b has the name \"r\""),
        ] {
            let error = checked_fields(message).expect_err(message).to_string();
            assert!(error.contains(told), "{error}");
            // Readers show what another version has defined.
            assert_eq!(fields(message).count(), message.matches('$').count());
        }
        assert!(checked_fields("$a:enum(red=1,rouge=1) $b:flags(red=1)").is_ok());
    }

    /// The plainest way to render: walk the characters.
    fn naive(line: &str, args: &[i64]) -> String {
        let chars: Vec<char> = line.chars().collect();
        let (mut out, mut i, mut n) = (String::new(), 0, 0);
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        while i < chars.len() {
            if chars[i] == '$' && i + 1 < chars.len() && word(chars[i + 1]) {
                i += 1;
                while i < chars.len() && word(chars[i]) {
                    out.push(chars[i]);
                    i += 1;
                }
                out += &args.get(n).map_or("(?)".into(), |v| format!("({v})"));
                n += 1;
            } else {
                out.push(chars[i]);
                i += 1;
            }
        }
        out
    }

    proptest! {
        #[test]
        fn rendering_agrees_with_its_naive_twin(line in "[a$_ 1é]{0,24}", args: [i64; 4]) {
            prop_assert_eq!(rendered(&line, &args), naive(&line, &args));
        }
    }
}
