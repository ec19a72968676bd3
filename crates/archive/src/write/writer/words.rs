//! Writes events into blocks from the words of their entries in the ring.

use std::io::{self, Write};

use super::{Form, Writer};
use crate::write::event::InternedEvent;
use crate::write::words::{Alike, WordValues, weight_of_words};
use timeline::EntryKind;

impl<W: Write> Writer<W> {
    /// Whether events wait for others to fill a block.
    pub(crate) fn packs(&self) -> bool {
        self.form == Form::Blocks
    }

    /// Like [`Writer::log`] in a writer of blocks, for an event that has words in place of
    /// arguments and payload. All of their values are there.
    #[inline]
    pub(crate) fn log_words(
        &mut self,
        event: &InternedEvent,
        kind: EntryKind,
        words: &[u8],
        values: &WordValues,
    ) -> io::Result<()> {
        if let Some((lane, next)) = event.lane.zip(event.number_behind()) {
            self.positions.note(lane, next);
        }
        self.packer.push_words(event, kind, words, values);
        self.ticks.add(event.ticks);
        self.unix.add(event.unix_nanos);
        self.weighs(weight_of_words(words));
        self.write_if_much()
    }

    /// Whether the last event had words of this kind, and is still in the block.
    #[inline]
    pub(crate) fn is_alike(&self, kind: EntryKind) -> bool {
        self.packer.is_alike(kind)
    }

    /// Like [`Writer::log_words`], for an event of the same kind as the last one. `(lane, next)` is
    /// the position behind it.
    #[inline]
    pub(crate) fn log_alike(
        &mut self,
        event: Alike,
        (lane, next): (u64, u64),
        words: &[u8],
        values: &WordValues,
    ) -> io::Result<()> {
        self.positions.note(lane, next);
        self.ticks.add(Some(event.ticks));
        self.unix.add(Some(event.unix_nanos));
        self.packer.push_alike(event, words, values);
        self.weighs(weight_of_words(words));
        self.write_if_much()
    }

    /// Has the next event looked at as if it were the first of its kind.
    pub(crate) fn forget_kind(&mut self) {
        self.packer.forget_kind();
    }
}
