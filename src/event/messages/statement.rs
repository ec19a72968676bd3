//! Statements: fits the types of a call's arguments to the message that it logs.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::event::messages::template::{
    TemplateField, TemplatePiece, checked_fields, first_line, pieces,
};
use crate::event::values::field_table::{FieldStorage, FieldType, Notation};

/// The message of a statement whose arguments have the types `given`, with a type for each of them.
///
/// Any whole number fits a type of whole numbers, as its low bits count. All other types must be
/// equal; a text of wide characters fits `str` as well, and an address fits `hex`.
///
/// # Example
/// ```
/// use timeline::FieldType;
/// use timeline::internal::typed_message;
/// let message = typed_message("sent $len to $host", &[FieldType::U32, FieldType::Str])?;
/// assert_eq!(message, "sent $len:u32 to $host:str");
/// # Ok::<(), timeline::Error>(())
/// ```
///
/// # Errors
/// `ArgumentCount` and `ArgumentType`; those of `checked_fields`.
pub fn typed_message<'a>(message: &'a str, given: &[FieldType<'static>]) -> Result<Cow<'a, str>> {
    let fields = checked_fields(message)?;
    if fields.len() != given.len() {
        return Err(Error::ArgumentCount {
            message: first_line(message).to_string(),
            expected: fields.len(),
            found: given.len(),
        });
    }
    for (field, given) in fields.iter().zip(given) {
        if field.has_type && !fits(field.kind, *given) {
            return Err(Error::ArgumentType {
                message: first_line(message).to_string(),
                field: field.name.to_string(),
                expected: field.kind.to_string(),
                found: given.to_string(),
            });
        }
    }
    let needs_type = |(field, given): (&TemplateField, &FieldType)| {
        !field.has_type && *given != FieldType::UNTYPED
    };
    match fields.iter().zip(given).any(needs_type) {
        true => Ok(with_types(message, given).into()),
        false => Ok(message.into()),
    }
}

fn with_types(message: &str, given: &[FieldType]) -> String {
    let line = first_line(message);
    let mut given = given.iter();
    let mut typed = String::new();
    for piece in pieces(line) {
        match piece {
            TemplatePiece::Text(text) => typed.push_str(text),
            TemplatePiece::Argument(TemplateField {
                name,
                kind,
                has_type,
            }) => {
                let given = *given.next().unwrap_or(&FieldType::UNTYPED);
                let kind = if has_type { kind } else { given };
                typed += &match has_type || kind != FieldType::UNTYPED {
                    true => format!("${name}:{kind}"),
                    false => format!("${name}"),
                };
            }
        }
    }
    typed + &message[line.len()..]
}

fn fits(expected: FieldType, given: FieldType) -> bool {
    match expected.storage() {
        // What is in wide characters fits where all texts do.
        FieldStorage::Text | FieldStorage::Interned => given.storage().is_text(),
        _ if given.is_address() => {
            matches!(expected.notation(), Notation::Address | Notation::Base16)
        }
        _ if expected.is_whole_number() => given.is_whole_number(),
        _ => expected == given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::values::element::Element;

    #[test]
    fn arguments_without_a_type_get_that_of_the_call() {
        let typed = |message, given: &[FieldType<'static>]| {
            typed_message(message, given).map(Cow::into_owned)
        };
        let (text, number) = (FieldType::Str, FieldType::I32);
        assert_eq!(typed("to $host", &[text]).unwrap(), "to $host:str");
        assert_eq!(
            typed("$a, $b", &[number, number]).unwrap(),
            "$a:i32, $b:i32"
        );
        assert_eq!(typed("$a $b", &[FieldType::I64; 2]).unwrap(), "$a $b");
        assert_eq!(
            typed(
                "$a:hex of $b: $c:enum(x=1)\nmore $d",
                &[FieldType::Ptr, text, number]
            )
            .unwrap(),
            "$a:hex of $b:str: $c:enum(x=1)\nmore $d"
        );
        let bytes = FieldType::Array(Element::U8);
        assert_eq!(typed("$raw", &[bytes]).unwrap(), "$raw:u8[]");
    }

    #[test]
    fn arguments_that_do_not_fit_are_named() {
        let wrong = |message: &str, given: &[FieldType<'static>]| {
            typed_message(message, given).unwrap_err().to_string()
        };
        assert!(wrong("$a $b", &[FieldType::I32]).contains("2 arguments"));
        let both = wrong("sent $len:u32", &[FieldType::F64]);
        assert!(
            both.contains("$len") && both.contains("u32") && both.contains("f64"),
            "{both}"
        );
        for (message, given) in [
            ("$a:f64", FieldType::F32),
            ("$a:f64", FieldType::I32),
            ("$a:str", FieldType::Ptr),
            ("$a:ptr", FieldType::Str),
            ("$a:u8[]", FieldType::Array(Element::I8)),
            ("$a:bool", FieldType::Ptr),
        ] {
            assert!(
                typed_message(message, &[given]).is_err(),
                "{message} {given}"
            );
        }
        for (message, given) in [
            ("$a:u8", FieldType::I64),
            ("$a:ns", FieldType::U32),
            ("$a:char", FieldType::I8),
            ("$a:enum(a=1)", FieldType::Bool),
            ("$a:str", FieldType::Wstr),
        ] {
            assert!(
                typed_message(message, &[given]).is_ok(),
                "{message} {given}"
            );
        }
    }
}
