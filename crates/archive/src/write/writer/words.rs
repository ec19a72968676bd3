//! Writes events into blocks from the words of their entries in the ring.

use std::io::{self, Write};

use super::{BLOCK, Form, MOST_WEIGHT, Writer};
use crate::write::alike::{Alike, WordValues, weight_of_words};

impl<W: Write> Writer<W> {
    /// Whether events wait for others to fill a block.
    pub(crate) fn packs(&self) -> bool {
        self.form == Form::Blocks
    }

    /// How many events of so many entries and bytes of words fit into the block together with a
    /// first one, for which [`Writer::has_room`] has returned true. The file has room for them.
    #[inline]
    pub(crate) fn fit_behind(&self, entries: usize, size: usize) -> usize {
        let of_weight = MOST_WEIGHT.saturating_sub(self.weight) / weight_of_words(size);
        let of_block = (BLOCK - self.waiting).saturating_sub(1);
        of_weight.min(of_block).min(self.more_with_room(entries))
    }

    /// Like [`Writer::log`] in a writer of blocks, for events that have words in place of arguments
    /// and payload. All of their values are there, and they fit into the block.
    #[inline]
    pub(crate) fn log_words(&mut self, alike: &Alike, values: &WordValues) -> io::Result<()> {
        let (count, entries) = (alike.len(), alike.events.entries);
        self.uses_room(entries, count - 1);
        for run in alike.events.runs {
            let next = run.number.saturating_add((run.count * entries) as u64);
            self.positions.note(run.lane.into(), next);
        }
        self.packer.push_words(alike, values);
        self.ticks.add_all(alike.events.ticks);
        self.unix.add_all(alike.unix_nanos);
        self.weighs(count, count * weight_of_words(alike.events.size));
        self.write_if_much()
    }
}
