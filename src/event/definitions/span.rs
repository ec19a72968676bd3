//! Spans: pairs of events, a begin and an end, told by their names.
//!
//! An event whose message starts with the word `begin` begins a span, and the event of the same
//! category whose message starts with `end` and the same further words ends it. Both are events of
//! one thread, and spans of a thread nest. `start` and `finish` are the same for spans that may end
//! in another thread or process: the first value of both events is a key, and those with the same
//! key belong together. So nothing about spans is stored, and a program needs no new call for them.

use std::fmt;

use crate::error::{Error, Result};
use crate::event::definitions::definition::Definition;
use crate::event::definitions::event_id::EventId;
use crate::event::definitions::priority::Priority;
use crate::event::messages::syntax::Syntax;
use crate::event::values::value::Value;

/// The part that the events of a definition play in a span.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SpanPart {
    /// The name of the span: that of the event without `begin_`, `end_`, `start_` or `finish_`.
    /// `engine.breath` for "begin breath $packets" of category `engine`.
    pub span: String,
    /// Which of the two events it is.
    pub edge: Edge,
    /// How the two events find each other.
    pub pairing: Pairing,
}

/// One of the two events of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edge {
    /// The first one.
    Begin,
    /// The last one.
    End,
}

/// How the two events of a span find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pairing {
    /// An end belongs to the innermost open span of its name in its thread: `begin` and `end`.
    Thread,
    /// An end belongs to the begin with the same first value, in any thread: `start` and `finish`.
    Key,
}

/// The first words of messages, and what they mean.
const WORDS: [(&str, Edge, Pairing); 4] = [
    ("begin", Edge::Begin, Pairing::Thread),
    ("end", Edge::End, Pairing::Thread),
    ("start", Edge::Begin, Pairing::Key),
    ("finish", Edge::End, Pairing::Key),
];

impl Pairing {
    /// The words that the messages of a begin and of an end start with.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Pairing::Thread => ["begin", "end"],
            Pairing::Key => ["start", "finish"],
        }
    }

    /// The messages of the begin and of the end of a span with this message.
    ///
    /// # Errors
    /// `BadText` if the message does not begin with words, which name the span, or has no key.
    pub(crate) fn messages(self, message: &str) -> Result<[String; 2]> {
        let [begin, end] = self.words().map(|word| format!("{word} {message}"));
        let definition = Definition::new(EventId::NEVER, "span", Priority::Info, begin);
        if definition.span_part().is_none() {
            let expected = match self {
                Pairing::Thread => "text that begins with words, which name the span",
                Pairing::Key => {
                    "text that begins with words, which name the span, with an argument behind \
                     them, which is its key"
                }
            };
            return Err(Error::BadText {
                what: "message",
                expected,
                found: format!("{message:?}"),
            });
        }
        Ok([definition.message, end])
    }
}

/// The value that both events of a span share, if they find each other by one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKey {
    /// A whole number.
    Number(u64),
    /// A whole number below 0.
    Negative(i64),
    /// The bits of a floating-point number.
    Float(u64),
    /// A text.
    Text(Box<[u8]>),
}

impl SpanKey {
    /// The value as a key. `None` for one that does not tell two spans apart: a text that was cut,
    /// for example.
    pub fn of(value: &Value<'_>) -> Option<SpanKey> {
        Some(match value {
            Value::Int(value) => match u64::try_from(*value) {
                Ok(value) => SpanKey::Number(value),
                Err(_) => SpanKey::Negative(*value),
            },
            Value::Uint(value) => SpanKey::Number(*value),
            Value::Float(value) => SpanKey::Float(value.to_bits()),
            Value::Text { cut: true, .. } => return None,
            Value::Text { bytes, .. } => SpanKey::Text((*bytes).into()),
            Value::LongDouble(_) | Value::Nil | Value::Addresses(_) => return None,
        })
    }

    /// The key as a value.
    pub fn value(&self) -> Value<'_> {
        match self {
            SpanKey::Number(number) => Value::Uint(*number),
            SpanKey::Negative(number) => Value::Int(*number),
            SpanKey::Float(bits) => Value::Float(f64::from_bits(*bits)),
            SpanKey::Text(bytes) => Value::Text { bytes, cut: false },
        }
    }
}

/// As a message has it: a text is not in quotes.
impl fmt::Display for SpanKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpanKey::Text(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            number => write!(f, "{}", number.value()),
        }
    }
}

impl Definition {
    /// The part that the events of this definition play in a span; `None` if they play none.
    ///
    /// # Example
    /// ```
    /// use timeline::{Definition, EventId, Pairing, Priority};
    /// use timeline::internal::Edge;
    /// let part = |message| {
    ///     Definition::new(EventId(1), "engine", Priority::Info, message).span_part()
    /// };
    /// let begin = part("begin breath $packets").expect("a begin");
    /// assert_eq!((&*begin.span, begin.edge), ("engine.breath", Edge::Begin));
    /// let finish = part("finish request $id").expect("an end");
    /// assert_eq!((finish.edge, finish.pairing), (Edge::End, Pairing::Key));
    /// assert_eq!(part("begin $packets"), None);
    /// ```
    #[doc(hidden)]
    pub fn span_part(&self) -> Option<SpanPart> {
        // Of two lost categories nobody knows whether they are one.
        if !self.has_name() {
            return None;
        }
        let name = self.name();
        // A category may have dots, and words have none.
        let (category, words) = name.rsplit_once('.')?;
        let (first, others) = words.split_once('_')?;
        let (_, edge, pairing) = WORDS.into_iter().find(|(word, ..)| *word == first)?;
        let is_keyless = pairing == Pairing::Key && !self.has_values();
        (!others.is_empty() && !is_keyless).then(|| SpanPart {
            span: format!("{category}.{others}"),
            edge,
            pairing,
        })
    }

    /// Whether its events have a first value.
    fn has_values(&self) -> bool {
        match self.syntax {
            Syntax::Template => self.fields().next().is_some(),
            Syntax::Printf => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(category: &str, message: &str) -> Option<SpanPart> {
        Definition::new(EventId(1), category, Priority::Info, message).span_part()
    }

    #[test]
    fn the_messages_of_a_span_have_its_name_and_its_arguments() {
        for (pairing, message, expected) in [
            (
                Pairing::Thread,
                "breath",
                Some(["begin breath", "end breath"]),
            ),
            (
                Pairing::Thread,
                "breath: $n\nmore",
                Some(["begin breath: $n\nmore", "end breath: $n\nmore"]),
            ),
            (
                Pairing::Key,
                "job $id",
                Some(["start job $id", "finish job $id"]),
            ),
            (Pairing::Key, "job", None),
            (Pairing::Thread, "$n breath", None),
            (Pairing::Thread, ": breath", None),
            (Pairing::Thread, "\nbreath", None),
            (Pairing::Thread, "", None),
        ] {
            let messages = pairing.messages(message).ok();
            assert_eq!(
                messages,
                expected.map(|both| both.map(str::to_owned)),
                "{message}"
            );
            for message in messages.into_iter().flatten() {
                let part = part("a", &message).expect("a part");
                assert_eq!(part.pairing, pairing);
            }
        }
    }

    #[test]
    fn the_first_word_says_the_part() {
        for (message, span, edge, pairing) in [
            ("begin breath", "a.b.breath", Edge::Begin, Pairing::Thread),
            ("end breath $n", "a.b.breath", Edge::End, Pairing::Thread),
            (
                "end a breath: $n",
                "a.b.a_breath",
                Edge::End,
                Pairing::Thread,
            ),
            ("start job $id", "a.b.job", Edge::Begin, Pairing::Key),
            ("finish job $id", "a.b.job", Edge::End, Pairing::Key),
        ] {
            let span = span.to_owned();
            let expected = SpanPart {
                span,
                edge,
                pairing,
            };
            assert_eq!(part("a.b", message), Some(expected), "{message}");
        }
        for message in [
            "begin",
            "begin $breath",
            "beginning breath",
            "Begin breath",
            "the end is near",
            "start engine",
            "",
        ] {
            assert_eq!(part("a.b", message), None, "{message}");
        }
    }
}
