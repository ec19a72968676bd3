//! Payloads: the words of an event, and which values its definition says they are.
//!
//! A payload begins with the fixed part: for each value in order one word of 64 bits, or two for a
//! `long double`. A number or an address is its word. The word of a text or of an array has its
//! length, and its bytes stand behind the fixed part, in the order of the values, each beginning at
//! the next whole word. docs/format.md states the bits.
//!
//! **Why a word for each value, and no tags?** The definition says which values there are, so a
//! program only copies them. Words are stored and loaded whole: the processor forwards a store to a
//! later load of the same size, and waits if a load spans several earlier stores. The arguments of
//! an event with at most four numbers are the same words, without a payload.
//!
//! Readers accept any bytes: a value whose word is missing ends the values, and a text that reaches
//! beyond the payload is cut.

use crate::event::messages::printf::Format;
use crate::event::values::field::{signed, unsigned};
use crate::event::values::value::{Value, ValueSink, value};
use crate::event::values::word::{ValueKind, WordType};
use crate::layout::MAX_PAYLOAD_WORDS;
use crate::layout::words::INTERNED;
use crate::msgpack::Unpacker;

/// Bit of the word of a text or an array: it was cut, because it did not fit.
pub(crate) const CUT: u64 = 1 << 63;
/// Bit of the word of a text: it was `NULL`.
pub(crate) const NULL: u64 = 1 << 62;
/// Bytes of a word.
pub(super) const WORD: usize = 8;

/// Which values the payloads of a definition have.
///
/// # Example
/// ```
/// use timeline::{Definition, EventId, Layout, Priority, Value};
/// let message = "sent $size:u32 to $host:str";
/// let layout = Layout::of(&Definition::new(EventId(1), "net", Priority::Info, message));
/// let mut payload = Vec::new();
/// payload.extend(1500u64.to_le_bytes()); // size
/// payload.extend(4u64.to_le_bytes()); // bytes of host
/// payload.extend(b"eth0");
/// let values: Vec<_> = layout.values(&payload).collect();
/// assert_eq!(values, [Value::Uint(1500), Value::Text { bytes: b"eth0", cut: false }]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub(super) types: Vec<WordType>,
    /// The size of the fixed part, in bytes.
    pub(super) fixed: usize,
}

impl Layout {
    pub(crate) fn of_types(types: Vec<WordType>) -> Layout {
        let words: usize = types.iter().map(|word_type| word_type.words()).sum();
        let fixed = words * WORD;
        Layout { types, fixed }
    }

    /// The layout of a format of printf. If it cannot be parsed, the whole text is one value.
    #[doc(hidden)]
    pub fn of_format(format: &Format) -> Layout {
        Layout::of_types(match format.types() {
            Some(types) => types.into_iter().map(WordType::of_conversion).collect(),
            None => vec![WordType::Length(1)],
        })
    }

    /// A layout for payloads without a definition: words up to the end.
    pub fn unknown() -> Layout {
        Layout::of_types(vec![WordType::Int(64); MAX_PAYLOAD_WORDS])
    }

    /// The values of a payload.
    pub fn values<'a>(&'a self, payload: &'a [u8]) -> Values<'a> {
        Values(Encoded::Laid(self.laid(PayloadWords::Bytes(payload))))
    }

    /// The kinds of the values that each event has.
    #[doc(hidden)]
    pub fn kinds(&self) -> impl Iterator<Item = ValueKind> {
        self.types.iter().filter_map(|word_type| word_type.kind())
    }

    /// Whether a payload is long enough for all values. A shorter one is damaged.
    #[inline]
    pub fn is_whole(&self, payload: &[u8]) -> bool {
        payload.len() >= self.fixed
    }

    /// The values of an event that has no payload: its words are the arguments.
    pub fn values_of_words<'a>(&'a self, words: &'a [i64]) -> Values<'a> {
        Values(Encoded::Laid(self.laid(PayloadWords::Arguments(words))))
    }

    fn laid<'a>(&'a self, words: PayloadWords<'a>) -> PayloadValues<'a> {
        PayloadValues {
            types: self.types.iter(),
            words,
            at: 0,
            data: self.fixed,
        }
    }
}

/// The values of an event, in order.
pub struct Values<'a>(Encoded<'a>);

enum Encoded<'a> {
    /// In words, as a definition lays them out.
    Laid(PayloadValues<'a>),
    /// As msgpack.
    Packed(Unpacker<'a>),
}

impl<'a> Values<'a> {
    /// Values as msgpack, one after the other.
    pub fn packed(values: &'a [u8]) -> Values<'a> {
        Values(Encoded::Packed(Unpacker(values)))
    }

    /// Appends the values as msgpack, as [`Value::encode`] does with each.
    pub fn encode(self, out: &mut Vec<u8>) {
        match self.0 {
            Encoded::Laid(laid) => laid.give(out),
            Encoded::Packed(_) => self.for_each(|value| value.encode(out)),
        }
    }
}

/// The values of a payload, in order. They end at damage or at a value of an unknown kind.
///
/// # Example
/// ```
/// use timeline::Value;
/// use timeline::internal::values;
/// let mut payload = Vec::new();
/// Value::Int(-3).encode(&mut payload);
/// Value::Text { bytes: b"eth0", cut: false }.encode(&mut payload);
/// assert_eq!(values(&payload).collect::<Vec<_>>(), [
///     Value::Int(-3),
///     Value::Text { bytes: b"eth0", cut: false },
/// ]);
/// // Cut short, there is only the first one.
/// assert_eq!(values(&payload[..8]).count(), 1);
/// ```
pub fn values(payload: &[u8]) -> Values<'_> {
    Values::packed(payload)
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        match &mut self.0 {
            Encoded::Laid(laid) => laid.next(),
            Encoded::Packed(input) => {
                let next = value(input);
                if next.is_none() {
                    *input = Unpacker(&[]);
                }
                next
            }
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum PayloadWords<'a> {
    Bytes(&'a [u8]),
    Arguments(&'a [i64]),
}

impl<'a> PayloadWords<'a> {
    fn word(self, index: usize) -> Option<u64> {
        match self {
            PayloadWords::Bytes(bytes) => {
                let word = bytes.get(index * WORD..)?.first_chunk()?;
                Some(u64::from_le_bytes(*word))
            }
            PayloadWords::Arguments(words) => words.get(index).map(|word| *word as u64),
        }
    }

    /// As many of these bytes as there are.
    fn bytes(self, from: usize, length: usize) -> &'a [u8] {
        match self {
            PayloadWords::Bytes(bytes) => {
                let there = bytes.get(from..).unwrap_or(&[]);
                &there[..length.min(there.len())]
            }
            PayloadWords::Arguments(_) => &[],
        }
    }
}

/// The values of a payload, as its definition lays them out.
pub(super) struct PayloadValues<'a> {
    pub types: std::slice::Iter<'a, WordType>,
    pub words: PayloadWords<'a>,
    /// The next word.
    pub at: usize,
    /// Where the next text begins, in bytes.
    pub data: usize,
}

impl<'a> PayloadValues<'a> {
    /// The type of the next word that is shown, and the word.
    #[inline]
    fn next_word(&mut self) -> Option<(WordType, u64)> {
        let mut word_type = *self.types.next()?;
        while word_type == WordType::Unused {
            self.at += 1;
            word_type = *self.types.next()?;
        }
        let Some(word) = self.words.word(self.at) else {
            self.types = [].iter();
            return None;
        };
        self.at += word_type.words();
        Some((word_type, word))
    }

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        let (word_type, word) = self.next_word()?;
        Some(match word_type {
            WordType::Int(bits) => Value::Int(signed(word, bits)),
            WordType::Uint(bits) => Value::Uint(unsigned(word, bits)),
            WordType::F32 => Value::Float(f32::from_bits(word as u32).into()),
            WordType::F64 => Value::Float(f64::from_bits(word)),
            WordType::LongDouble => Value::LongDouble(self.long_double(word)?),
            WordType::Length(_) if word & NULL != 0 => Value::Nil,
            WordType::Length(size) => {
                let (bytes, cut) = self.elements(word, size);
                Value::Text { bytes, cut }
            }
            WordType::Unused => return None,
        })
    }

    /// Gives all values to a sink.
    #[inline]
    fn give(mut self, sink: &mut impl ValueSink) {
        while let Some((word_type, word)) = self.next_word() {
            if !self.give_one(word_type, word, sink) {
                return;
            }
        }
    }

    /// Gives a value to a sink, whose first word was passed. Returns whether it is there.
    #[inline(always)]
    pub fn give_one(&mut self, word_type: WordType, word: u64, sink: &mut impl ValueSink) -> bool {
        match word_type {
            WordType::Int(bits) => sink.int(signed(word, bits)),
            WordType::Uint(bits) => sink.uint(unsigned(word, bits)),
            WordType::F32 => sink.float(f32::from_bits(word as u32).into()),
            WordType::F64 => sink.float(f64::from_bits(word)),
            WordType::LongDouble => match self.long_double(word) {
                Some(bytes) => sink.long_double(&bytes),
                None => return false,
            },
            WordType::Length(_) if word & NULL != 0 => sink.nil(),
            WordType::Length(size) => {
                let (bytes, cut) = self.elements(word, size);
                sink.text(bytes, cut);
            }
            WordType::Unused => {}
        }
        true
    }

    /// The number whose first word is this one, and whose second one was passed.
    fn long_double(&self, word: u64) -> Option<[u8; 2 * WORD]> {
        let mut bytes = [0; 2 * WORD];
        bytes[..WORD].copy_from_slice(&word.to_le_bytes());
        let upper = self.words.word(self.at - 1)? & 0xffff;
        bytes[WORD..].copy_from_slice(&upper.to_le_bytes());
        Some(bytes)
    }

    /// The elements of a text or an array, and whether it was cut.
    #[inline]
    fn elements(&mut self, word: u64, size: usize) -> (&'a [u8], bool) {
        let length = word as u32 as usize * size;
        let from = match word & INTERNED {
            0 => self.data,
            // Where it was brought in: see string_table.rs.
            _ => (word >> 32 & 0x1fff_ffff) as usize * WORD,
        };
        let there = self.words.bytes(from, length);
        let cut = word & CUT != 0 || there.len() < length;
        if word & INTERNED == 0 {
            self.data = self.data.saturating_add(length.next_multiple_of(WORD));
        }
        // No part of an element.
        (&there[..there.len() & !(size - 1)], cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::definitions::definition::Definition;
    use crate::event::definitions::event_id::EventId;
    use crate::event::definitions::priority::Priority;
    use crate::event::payloads::lay_out::lay_out;
    use proptest::prelude::*;

    /// A type as a message names it, and a value of that type.
    #[derive(Debug, Clone)]
    enum Field {
        Int(i64),
        Uint(u64),
        Float(f64),
        Text(Vec<u8>, bool),
        Numbers(Vec<u16>, bool),
    }

    impl Field {
        fn kind(&self) -> &str {
            match self {
                Field::Int(_) => "i64",
                Field::Uint(_) => "hex",
                Field::Float(_) => "f64",
                Field::Text(..) => "str",
                Field::Numbers(..) => "u16[]",
            }
        }

        /// The words before and behind the fixed part, as the documents say.
        fn naive(&self) -> (u64, Vec<u8>) {
            let cut = |cut: bool| u64::from(cut) << 63;
            match self {
                Field::Int(value) => (*value as u64, vec![]),
                Field::Uint(value) => (*value, vec![]),
                Field::Float(value) => (value.to_bits(), vec![]),
                Field::Text(bytes, is_cut) => (bytes.len() as u64 | cut(*is_cut), bytes.clone()),
                Field::Numbers(list, is_cut) => {
                    let bytes = list
                        .iter()
                        .flat_map(|number| number.to_le_bytes())
                        .collect();
                    (list.len() as u64 | cut(*is_cut), bytes)
                }
            }
        }

        fn is(&self, found: &Value) -> bool {
            match (self, found) {
                (Field::Int(value), Value::Int(found)) => value == found,
                (Field::Uint(value), Value::Uint(found)) => value == found,
                (Field::Float(value), Value::Float(found)) => value.to_bits() == found.to_bits(),
                (
                    Field::Text(_, is_cut) | Field::Numbers(_, is_cut),
                    Value::Text { bytes, cut },
                ) => self.naive().1 == *bytes && is_cut == cut,
                _ => false,
            }
        }
    }

    fn field() -> impl Strategy<Value = Field> {
        let bytes = prop::collection::vec(any::<u8>(), 0..40);
        let numbers = prop::collection::vec(any::<u16>(), 0..20);
        prop_oneof![
            any::<i64>().prop_map(Field::Int),
            any::<u64>().prop_map(Field::Uint),
            any::<f64>().prop_map(Field::Float),
            (bytes, any::<bool>()).prop_map(|(bytes, cut)| Field::Text(bytes, cut)),
            (numbers, any::<bool>()).prop_map(|(list, cut)| Field::Numbers(list, cut)),
        ]
    }

    fn layout(message: String) -> Layout {
        Layout::of(&Definition::new(EventId(1), "", Priority::Info, message))
    }

    /// Whether all values at once become the same msgpack as one after the other.
    fn packed_alike(layout: &Layout, payload: &[u8]) -> bool {
        let (mut one_by_one, mut all) = (Vec::new(), Vec::new());
        layout
            .values(payload)
            .for_each(|value| value.encode(&mut one_by_one));
        layout.values(payload).encode(&mut all);
        one_by_one == all
    }

    proptest! {
        #[test]
        fn values_are_those_of_the_naive_payload(
            fields in prop::collection::vec(field(), 0..12),
            behind in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let message = |(i, field): (usize, &Field)| format!("$a{i}:{} ", field.kind());
            let layout = layout(fields.iter().enumerate().map(message).collect());
            let mut payload: Vec<u8> =
                fields.iter().flat_map(|field| field.naive().0.to_le_bytes()).collect();
            for field in &fields {
                payload.extend(field.naive().1);
                payload.resize(payload.len().next_multiple_of(8), 0);
            }
            payload.extend(behind);
            let found: Vec<Value> = layout.values(&payload).collect();
            prop_assert_eq!(found.len(), fields.len());
            for (field, found) in fields.iter().zip(&found) {
                prop_assert!(field.is(found), "{:?} {:?}", field, found);
            }
            prop_assert!(packed_alike(&layout, &payload));
            // Cut short anywhere, there are the same values, as far as they go.
            for length in 0..payload.len().min(64) {
                let some = layout.values(&payload[..length]).count();
                prop_assert_eq!(some, fields.len().min(length / 8));
            }
        }

        #[test]
        fn any_bytes_are_values_or_none(
            types in prop::sample::select(vec!["%d%s%Lf%n%p", "%.*s%ls%c", "%m"]),
            payload in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let layout = Layout::of_format(&Format::parse(types));
            prop_assert!(packed_alike(&layout, &payload));
            let values: Vec<Value> = layout.values(&payload).collect();
            prop_assert!(values.len() <= 5);
            let words = lay_out(&values);
            prop_assert!(words.len() <= payload.len() / 8 + 10);
        }
    }

    #[test]
    fn values_of_a_format_have_the_bits_of_their_conversion() {
        let layout = Layout::of_format(&Format::parse("%d %u %n%hhx %s %Lf"));
        let words = [-1i64 as u64, 1 << 32 | 7, 99, 0x1ff, NULL, 5, u64::MAX];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let values: Vec<Value> = layout.values(&bytes).collect();
        let mut long = [0; 16];
        long[0] = 5;
        long[8..10].fill(0xff);
        assert_eq!(
            values,
            [
                Value::Int(-1),
                Value::Uint(7),
                Value::Uint(0x1ff),
                Value::Nil,
                Value::LongDouble(long),
            ]
        );
    }
}
