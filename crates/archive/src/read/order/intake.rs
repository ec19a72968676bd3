//! Takes the frames that come behind an archive, one after the other, wherever they come from.

use std::mem;
use std::ops::Range;

use timeline::Event;

use crate::format::record::{Record, decode};
use crate::read::loss::breaks::{BreakKind, begins_run, missing};
use crate::read::loss::gaps::Gaps;
use crate::read::open::archive::Archive;
use crate::read::open::decode::Decoder;
use crate::read::order::new_events::{AppendCoverage, take_events};
use crate::read::texts::names::Names;
use crate::read::units::form::DecodedEvent;
use crate::read::units::important_numbers::ImportantNumbers;
use crate::read::units::ordered::OrderedEvent;

/// Takes frames, and gives their events sorted by time.
pub struct FrameIntake<'a> {
    names: &'a Names,
    decoder: Decoder<'a, OrderedEvent>,
    /// Events that nobody was given yet.
    batch: Vec<OrderedEvent>,
    gaps: Gaps,
    seen: ImportantNumbers,
    holes: AppendCoverage,
    missed_unknown: u64,
    damaged: u64,
}

/// What came with a frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct TakenFrame {
    /// About how many bytes its events take.
    pub bytes: usize,
    /// How many entries it says were missed.
    pub missed: u64,
}

impl<'a> FrameIntake<'a> {
    /// Goes on behind the last frame of an archive, whose names it adds to.
    pub fn behind(archive: &'a Archive) -> FrameIntake<'a> {
        FrameIntake {
            names: archive.names(),
            decoder: archive.decoder(),
            batch: Vec::new(),
            gaps: archive.gaps().clone(),
            seen: archive.seen().clone(),
            holes: AppendCoverage::behind(archive),
            missed_unknown: 0,
            damaged: 0,
        }
    }

    /// Takes the next frame, which is at this place.
    pub fn take(&mut self, record: &[u8], place: Range<usize>) -> TakenFrame {
        let mut taken = TakenFrame::default();
        match decode(record, self.decoder.single()) {
            Some(Record::Missed(record)) => {
                self.gaps.take(&record);
                let start = place.start;
                self.holes.miss(|coverage| coverage.missed(&record, start));
                if let Some(what) = missing(&record) {
                    self.holes.meet(what);
                }
                match record.count {
                    Some(count) => taken.missed = count,
                    None => self.missed_unknown += 1,
                }
            }
            Some(events @ (Record::Event | Record::Block(_))) => {
                let into = (&mut self.decoder, &mut self.batch);
                let told = (&mut self.holes, &mut self.gaps, &mut self.seen);
                taken.bytes = take_events(events, place.start, into, told);
            }
            Some(naming) => {
                if begins_run(&naming, &mut self.holes.run) {
                    self.holes.meet(BreakKind::Run);
                }
                self.names.take(naming);
            }
            None => self.damage(place.len()),
        }
        taken
    }

    /// So many bytes here belong to no whole frame, if any.
    pub fn damage(&mut self, bytes: usize) {
        if bytes > 0 {
            self.damaged += bytes as u64;
            self.pass();
        }
    }

    /// Something is missing here.
    pub fn pass(&mut self) {
        self.holes.pass();
    }

    /// Appends the events of the frames so far to `out`, sorted by time: the important ones first.
    pub fn give(&mut self, out: &mut Vec<Event>) {
        let ring = |ordered: &OrderedEvent| ordered.moment().2;
        let mut batch = mem::take(&mut self.batch);
        let one_ring = batch.iter().all(|event| ring(event) == ring(&batch[0]));
        batch.sort_by_key(|ordered| {
            let (unix, ticks, ring, lane, number) = ordered.moment();
            let unix = if one_ring { 0 } else { unix };
            (!ordered.event.important, unix, ticks, ring, lane, number)
        });
        out.extend(batch.drain(..).map(|ordered| ordered.event));
        // Its memory is used again.
        self.batch = batch;
    }

    /// The number of places, in what was taken, where nobody knows how much is missing.
    pub fn missed_unknown(&self) -> u64 {
        self.missed_unknown
    }

    /// The number of bytes that belong to no whole frame.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The number of entries that are gone with a frame or a file.
    pub fn gone(&self) -> u64 {
        self.holes.gone
    }
}
