//! Values without a message: alone, and by their positions.

use std::fmt::{self, Write as _};

use crate::event::messages::printf::Format;
use crate::event::values::value::Value;

/// Writes a value that stands alone: a text is in quotes, with line breaks as `\n`; one that was
/// cut ends in `…`.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Uint(value) => write!(f, "{value}"),
            Value::Float(value) if value.is_finite() => write!(f, "{value:?}"),
            Value::Float(_) => f.write_str(&printed("%f", self)),
            Value::LongDouble(_) => f.write_str(&printed("%.21Lg", self)),
            Value::Text { bytes, cut } => {
                let text = String::from_utf8_lossy(bytes);
                write!(f, "{:?}", text + if *cut { "…" } else { "" })
            }
            Value::Nil => f.write_str("(null)"),
            Value::Addresses(addresses) => write!(f, "{addresses:x?}"),
        }
    }
}

fn printed(format: &str, value: &Value) -> String {
    let mut text = Vec::new();
    Format::parse(format).render(std::iter::once(value.clone()), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes values without a message: `(10, "eth0")`, or nothing if there are none.
///
/// # Example
/// ```
/// use timeline::Value;
/// use timeline::internal::by_position;
/// let mut text = String::new();
/// let name = Value::Text { bytes: b"eth0", cut: false };
/// by_position([Value::Int(10), name].into_iter(), &mut text)?;
/// assert_eq!(text, r#"(10, "eth0")"#);
/// # Ok::<(), std::fmt::Error>(())
/// ```
///
/// After 64 KiB it ends with `…`.
///
/// # Errors
/// Only those of `out`.
pub fn by_position<'a>(
    values: impl Iterator<Item = Value<'a>>,
    out: &mut (impl fmt::Write + ?Sized),
) -> fmt::Result {
    let mut text = String::new();
    for value in values {
        text += if text.is_empty() { "(" } else { ", " };
        if text.len() > Format::LONGEST_TEXT {
            text.push('…');
            break;
        }
        write!(text, "{value}")?;
    }
    text += if text.is_empty() { "" } else { ")" };
    out.write_str(&text)
}
