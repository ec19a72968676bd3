//! Reads the values of several payloads of one layout, column by column.

use crate::event::payloads::payload::{Layout, PayloadValues, PayloadWords, WORD};
use crate::event::values::field::{signed, unsigned};
use crate::event::values::value::ValueSink;
use crate::event::values::word::WordType;

impl Layout {
    /// The values of several payloads, column by column. Each payload is whole and has so many
    /// bytes. There are at most [`Layout::MOST_ROWS`].
    #[doc(hidden)]
    pub fn columns<'a>(&'a self, payloads: &'a [u8], size: usize) -> ValueColumns<'a> {
        debug_assert!(payloads.len() <= size * Layout::MOST_ROWS);
        ValueColumns {
            types: self.types.iter(),
            payloads,
            size,
            at: 0,
            data: [self.fixed; Layout::MOST_ROWS],
        }
    }

    /// Most payloads of [`Layout::columns`].
    pub const MOST_ROWS: usize = 32;
}

/// The values of several payloads of one layout. All payloads give the value in one place before
/// any gives the next: the type of a value is looked at once.
pub struct ValueColumns<'a> {
    types: std::slice::Iter<'a, WordType>,
    payloads: &'a [u8],
    size: usize,
    /// The next word.
    at: usize,
    /// Where the next text of each payload begins, in bytes.
    data: [usize; Layout::MOST_ROWS],
}

impl ValueColumns<'_> {
    /// Gives the next value of each payload to a sink. The columns are those of [`Layout::kinds`].
    #[inline]
    pub fn give_next(&mut self, sink: &mut impl ValueSink) {
        let mut word_type = WordType::Unused;
        let mut at = self.at;
        while word_type == WordType::Unused {
            let Some(next) = self.types.next() else {
                return;
            };
            (word_type, at) = (*next, self.at);
            self.at += next.words();
        }
        let payloads = self.payloads.chunks_exact(self.size);
        let words = payloads.clone().map(|payload| {
            let (words, _) = payload.as_chunks::<WORD>();
            u64::from_le_bytes(words[at])
        });
        // The type is looked at before the payloads: these have many values of few types.
        match word_type {
            WordType::Int(bits) => words.for_each(|word| sink.int(signed(word, bits))),
            WordType::Uint(bits) => words.for_each(|word| sink.uint(unsigned(word, bits))),
            WordType::F64 => words.for_each(|word| sink.float(f64::from_bits(word))),
            other => {
                for ((payload, word), data) in payloads.zip(words).zip(&mut self.data) {
                    let mut laid = PayloadValues {
                        types: [].iter(),
                        words: PayloadWords::Bytes(payload),
                        at: self.at,
                        data: *data,
                    };
                    laid.give_one(other, word, sink);
                    *data = laid.data;
                }
            }
        }
    }
}
