//! Takes the events that were appended to an archive, and knows what is missing among them.

use timeline::Stretch;

use crate::format::event::SingleEvent;
use crate::format::record::Record;
use crate::read::coverage::Coverage;
use crate::read::decode::Decoder;
use crate::read::form::Decoded;
use crate::read::gaps::Gaps;
use crate::read::ordered::OrderedEvent;
use crate::read::seen::Seen;

/// What the frames up to now cover.
pub struct Holes {
    pub coverage: Coverage,
    /// Entries that are missing before the next event.
    pub before: u64,
    /// Entries that were missing up to now.
    pub gone: u64,
    /// Where the events up to now are.
    pub stretch: Stretch,
    /// The magic of the last preamble.
    pub run: Option<u64>,
}

impl Holes {
    /// Begins the stretch behind a hole.
    pub fn pass(&mut self) {
        self.stretch = self.stretch.following();
    }

    /// Adds the entries that are missing before what `cover` covers.
    pub fn miss(&mut self, cover: impl FnOnce(&mut Coverage) -> u64) {
        let entries = cover(&mut self.coverage);
        self.gone = self.gone.saturating_add(entries);
        self.before = self.before.saturating_add(entries);
    }

    /// Tells what is missing before the first event of a frame, if it has one.
    fn tell(&mut self, first: Option<&mut OrderedEvent>, gaps: &mut Gaps) {
        let gap = gaps.next();
        if let Some(first) = first
            && (gap.is_some() || self.before > 0)
        {
            let before = std::mem::take(&mut self.before);
            first.miss(&gap.unwrap_or_default().and_hole(before));
        }
    }
}

/// Covers the entries of a block, or of the single event that was read. Returns how many are
/// missing before them.
fn cover(coverage: &mut Coverage, events: &Record, single: &SingleEvent, place: usize) -> u64 {
    if let Record::Block(block) = events {
        return coverage.block(block, place);
    }
    let entries = single.entries().filter(|_| single.important().is_none());
    entries.map_or(0, |(lane, range)| {
        coverage.event(single.magic(), lane, range, place)
    })
}

/// Appends the events of a record that begins at `place` to a batch, but no important event that
/// was seen before. Returns about how many bytes they take.
pub fn take_events(
    events: Record,
    place: usize,
    (decoder, batch): (&mut Decoder<OrderedEvent>, &mut Vec<OrderedEvent>),
    (holes, gaps, seen): (&mut Holes, &mut Gaps, &mut Seen),
) -> usize {
    let known = batch.len();
    let single = decoder.single();
    let important = single.important().filter(|_| events == Record::Event);
    if important.is_some_and(|number| !seen.insert(single.magic(), number)) {
        return 0;
    }
    holes.miss(|coverage| cover(coverage, &events, single, place));
    decoder.record(events, batch);
    if holes.before > 0 {
        holes.pass();
    }
    if important.is_none() {
        holes.tell(batch.get_mut(known), gaps);
    }
    for ordered in &mut batch[known..] {
        ordered.event.stretch = holes.stretch;
    }
    let heap: usize = batch[known..].iter().map(Decoded::heap).sum();
    heap + size_of::<OrderedEvent>() * (batch.len() - known)
}
