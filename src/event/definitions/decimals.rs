//! Messages whose values are all whole numbers in base 10: a reader fills the words of an entry in.

use crate::event::definitions::definition::Definition;
use crate::event::messages::number::{MessagePart, Whole};
use crate::event::messages::printf::Format;
use crate::event::messages::syntax::Syntax;
use crate::event::messages::template::{TemplatePiece, first_line, pieces};
use crate::event::values::field_table::{FieldStorage, FieldType, Notation};
use crate::layout::MAX_ARGUMENTS;

/// The parts of a message whose values are all whole numbers in base 10. `None` for any other, and
/// for a format of printf with more values than an entry has words. A further argument of a
/// template has no value: `name(?)`.
pub fn parts(definition: &Definition) -> Option<Vec<MessagePart>> {
    match definition.syntax {
        _ if definition.is_lost => None,
        Syntax::Template => of_template(&definition.message),
        Syntax::Printf => Format::parse(&definition.message).decimals(),
    }
}

impl Whole {
    fn of_field(kind: FieldType) -> Option<Whole> {
        match (kind.notation(), kind.storage()) {
            (Notation::Number, FieldStorage::Signed(bits)) => Some(Whole::signed(bits)),
            (Notation::Number, FieldStorage::Unsigned(bits)) => Some(Whole::unsigned(bits)),
            _ => None,
        }
    }
}

fn of_template(message: &str) -> Option<Vec<MessagePart>> {
    let (mut parts, mut words) = (Vec::new(), 0);
    for piece in pieces(first_line(message)) {
        match piece {
            TemplatePiece::Text(text) => parts.push(MessagePart::text(text)),
            TemplatePiece::Argument(field) => {
                let whole = Whole::of_field(field.kind)?;
                words += 1;
                parts.push(MessagePart::Text(format!("{}(", field.name)));
                parts.push(match words <= MAX_ARGUMENTS {
                    true => MessagePart::Number(whole),
                    false => MessagePart::text("?"),
                });
                parts.push(MessagePart::text(")"));
            }
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::definitions::event_id::EventId;
    use crate::event::definitions::priority::Priority;

    fn shown(message: &str, syntax: Syntax) -> Option<String> {
        let mut definition = Definition::new(EventId(1), "", Priority::Info, message);
        definition.syntax = syntax;
        let show = |part| match part {
            MessagePart::Text(text) => text,
            MessagePart::Number(whole) if whole.is_signed => format!("<i{}>", whole.bits),
            MessagePart::Number(whole) => format!("<u{}>", whole.bits),
        };
        Some(parts(&definition)?.into_iter().map(show).collect())
    }

    #[test]
    fn whole_numbers_in_base_10_are_filled_in() {
        let template = |message| shown(message, Syntax::Template);
        let all = template("a $b, $c:u8 $d:i16 $e:u64\nmore $f:str").unwrap();
        assert_eq!(all, "a b(<i64>), c(<u8>) d(<i16>) e(<u64>)");
        assert_eq!(template("$a $b $c $d $e").unwrap().matches('?').count(), 1);
        for other in [
            "f32",
            "bool",
            "char",
            "hex",
            "ns",
            "bytes",
            "str",
            "enum(a=1)",
        ] {
            let message = format!("$a $b:{other}");
            assert_eq!(shown(&message, Syntax::Template), None);
        }
    }

    #[test]
    fn plain_conversions_are_filled_in() {
        let format = |message| shown(message, Syntax::Printf);
        let all = format("100%% of %d\n%u %li %zu").unwrap();
        assert_eq!(all, "100% of <i32>\n<u32> <i64> <u64>");
        assert!(format("%d%d%d%d").is_some());
        for other in [
            "%d%d%d%d%d",
            "%5d",
            "%-d",
            "%+d",
            "%.1d",
            "%hhd",
            "%x",
            "%s",
            "%d%n",
            "%1$d",
        ] {
            assert_eq!(format(other), None, "{other}");
        }
    }
}
