//! Says how much of an archive is there, and what is missing, gone or damaged.

use std::ops::Range;

use crate::read::loss::coverage::Hole;
use crate::read::open::archive::Archive;

impl Archive {
    /// The ranges of bytes that are damaged.
    pub fn damage(&self) -> &[Range<usize>] {
        &self.contents.damage
    }

    /// The ranges of bytes that are damaged, but for the end, if a recorder is writing that.
    pub fn damage_at_rest(&self) -> &[Range<usize>] {
        match self.damage() {
            [others @ .., tail] if tail.end == self.bytes().len() && self.is_recorded() => others,
            all => all,
        }
    }

    /// The end of the last whole frame. If there are bytes after it, the writer was killed while it
    /// wrote them.
    pub fn whole(&self) -> usize {
        self.contents.whole
    }

    /// The number of whole frames.
    pub fn frames(&self) -> u64 {
        self.contents.frames
    }

    /// The number of records whose kind this version does not know.
    pub fn unknown(&self) -> u64 {
        self.contents.unknown
    }

    /// The number of events in blocks of a codec that this version does not know. They are not
    /// damaged, and a later version may read them. [`Archive::recoverable`] counts them as events
    /// that cannot be read.
    pub fn other_codecs(&self) -> u64 {
        self.contents.other_codecs
    }

    /// The number of entries of the ring that were overwritten before they could be recorded. An
    /// event with a payload has several entries.
    pub fn missed(&self) -> u64 {
        self.contents.missed
    }

    /// The holes: entries that are gone, with a frame or a file that was removed or damaged. The
    /// frames that are left say so, because each says from where to where it goes on. They are
    /// missing right before the first event behind, and
    /// [`Event::missed`](timeline::Event::missed) counts them as well. Entries before the oldest
    /// frame and behind the newest are no hole.
    pub fn holes(&self) -> &[Hole] {
        &self.contents.holes
    }

    /// Whether a hole is before a frame that begins in this range.
    pub(crate) fn has_hole_in(&self, range: Range<usize>) -> bool {
        let holes = self.holes();
        let first = holes.partition_point(|hole| hole.place < range.start);
        holes.get(first).is_some_and(|hole| hole.place < range.end)
    }

    /// The number of entries in all holes.
    pub fn gone(&self) -> u64 {
        let entries = self.contents.holes.iter().map(|hole| hole.entries);
        entries.fold(0, u64::saturating_add)
    }

    /// Whether nobody knows where holes are, because there would be too many.
    pub fn has_unknown_holes(&self) -> bool {
        self.contents.coverage.is_full()
    }

    /// The number of files that are missing between those of a directory, by their numbers. Nobody
    /// knows whether they had runs of which nothing else is there. 0 if not all files were read.
    pub fn missing_files(&self) -> u64 {
        self.missing_files
    }

    /// The number of entries for which a frame accounts although another one does: the frame is
    /// there twice, or two recorders of a ring had them. Their events may be given twice.
    pub fn repeated(&self) -> u64 {
        self.contents.coverage.repeated()
    }

    /// The number of places where runs of a program, or the end of a run, may be missing. The
    /// number of the missing runs is not known. The reason is that the program restarted, between
    /// two recorders, more often than its former timelines are kept.
    pub fn missed_unknown(&self) -> u64 {
        self.contents.missed_unknown
    }

    /// The number of events that can be read, and the number of events that the records promise but
    /// that cannot be read. Reads all events. An important event that several files have counts
    /// once.
    pub fn recoverable(&self) -> (u64, u64) {
        let (mut decoder, mut events) = (self.decoder::<()>(), Vec::new());
        let (found, lost) = self
            .found_units()
            .iter()
            .fold((0, 0), |(found, lost), unit| {
                events.clear();
                let missing = decoder.decode(unit, &mut events);
                (found + events.len() as u64, missing.saturating_add(lost))
            });
        (found.saturating_sub(self.contents.repeated), lost)
    }

    /// The number of events that the records promise, in the same way. [`Archive::recoverable`]
    /// counts those that can be read.
    pub fn count(&self) -> u64 {
        let counts = self.found_units().iter().map(|unit| unit.count);
        let count = counts.fold(0, u64::saturating_add);
        count.saturating_sub(self.contents.repeated)
    }

    /// The number of events of [`Archive::count`] that are not important.
    pub fn count_unimportant(&self) -> u64 {
        let units = self.found_units().iter().filter(|unit| !unit.important);
        let counts = units.map(|unit| unit.count);
        counts.fold(0, u64::saturating_add)
    }
}
