//! Takes the events that were appended to an archive, and knows what is missing among them.

use timeline::Passage;

use crate::format::event::SingleEvent;
use crate::format::record::Record;
use crate::read::loss::breaks::BreakKind;
use crate::read::loss::coverage::Coverage;
use crate::read::loss::gaps::Gaps;
use crate::read::open::archive::Archive;
use crate::read::open::decode::Decoder;
use crate::read::units::form::DecodedEvent;
use crate::read::units::important_numbers::ImportantNumbers;
use crate::read::units::ordered::OrderedEvent;

/// What the frames up to now cover.
pub struct AppendCoverage {
    pub coverage: Coverage,
    /// Entries that are missing before the next event.
    pub before: u64,
    /// Entries that were missing up to now.
    pub gone: u64,
    /// Where the events up to now are.
    pub passage: Passage,
    /// Before these ticks, all events are in a hole.
    pub until: u64,
    /// The magic of the last preamble.
    pub run: Option<u64>,
}

impl AppendCoverage {
    /// What is known behind the end of an archive.
    pub fn behind(archive: &Archive) -> AppendCoverage {
        let (units, breaks) = (archive.found_units(), &archive.contents.breaks);
        let last = units.iter().rposition(|unit| !unit.important);
        let end = last.map_or(0, |last| units[last].place.end);
        // Those behind the last event are before the next one.
        let behind = archive.contents.holes.iter();
        let behind = behind.filter(|hole| hole.place >= end);
        let mut holes = AppendCoverage {
            coverage: archive.coverage().clone(),
            before: behind.fold(0, |sum, hole| sum.saturating_add(hole.entries)),
            gone: 0,
            passage: archive.passages().last(units),
            until: 0,
            run: archive.contents.run,
        };
        // The number of its passage says nothing of holes behind the last event.
        let behind = end..archive.whole();
        let (mut damage, mut places) = (archive.damage().iter(), breaks.iter());
        let is_damaged = damage.any(|place| behind.contains(&place.start));
        let is_broken = places.any(|one| last.is_none_or(|last| one.unit > last));
        let is_lossy = last.is_some_and(|last| {
            let (mut decoder, mut events) = (archive.decoder::<()>(), Vec::new());
            decoder.decode(&units[last], &mut events) > 0
        });
        if is_damaged || is_broken || is_lossy {
            holes.pass();
        }
        breaks.iter().for_each(|one| holes.end(one.what));
        holes
    }

    /// Begins the passage behind a hole.
    pub fn pass(&mut self) {
        self.passage = self.passage.following();
    }

    /// Notes that something is missing here.
    pub fn meet(&mut self, what: BreakKind) {
        self.pass();
        self.end(what);
    }

    /// Notes up to when something is missing.
    fn end(&mut self, what: BreakKind) {
        match what {
            BreakKind::Until(ticks) => self.until = self.until.max(ticks),
            // Its ticks may be those of another clock.
            BreakKind::Run => self.until = 0,
            BreakKind::Some | BreakKind::Gap | BreakKind::Unit => {}
        }
    }

    /// The passage of an event of these ticks.
    fn passage(&self, ticks: u64) -> Passage {
        match ticks < self.until {
            true => Passage::HOLE,
            false => self.passage,
        }
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
        if gap.is_some() || self.before > 0 {
            self.pass();
        }
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
    (holes, gaps, seen): (&mut AppendCoverage, &mut Gaps, &mut ImportantNumbers),
) -> usize {
    let known = batch.len();
    let single = decoder.single();
    let important = single.important().filter(|_| events == Record::Event);
    if important.is_some_and(|number| !seen.insert(single.magic(), number)) {
        return 0;
    }
    holes.miss(|coverage| cover(coverage, &events, single, place));
    let is_whole = decoder.record(events, batch);
    if important.is_none() {
        holes.tell(batch.get_mut(known), gaps);
    }
    if !is_whole {
        holes.meet(BreakKind::Unit);
    }
    for ordered in &mut batch[known..] {
        ordered.event.passage = match is_whole {
            true => holes.passage(ordered.event.ticks),
            false => Passage::HOLE,
        };
    }
    let heap: usize = batch[known..].iter().map(DecodedEvent::heap).sum();
    heap + size_of::<OrderedEvent>() * (batch.len() - known)
}
