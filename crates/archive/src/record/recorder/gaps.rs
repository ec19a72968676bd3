//! Writes which entries of the ring were overwritten before they could be recorded.

use timeline::internal::PlacedEvent;

use super::Recorder;
use crate::format::event::RawEvent;

/// About how many bytes an event takes together with its strings.
const EVENT_BEHIND_GAP: u64 = 2048;

impl Recorder<'_> {
    /// Whether a gap record is to be written before an event. Asked once for each event.
    pub(super) fn begins_with_gap(&mut self, placed: &PlacedEvent) -> bool {
        let resumes = !self.resumed.is_empty() && self.resumed.remove(&placed.lane);
        placed.event.missed > 0 || resumes
    }

    /// Writes up to when the events of this poll are in a hole, before all of them.
    pub(super) fn write_hole(&mut self, until: u64) {
        if !self.introduced {
            self.begin();
        }
        let most = self.writer.most_of_missed(0);
        self.make_room(most, self.writer.unwritten().len());
        let _ = self.writer.missed(0, Some(until), &[]);
    }

    /// Writes how many entries are missing before an event.
    #[cold]
    pub(super) fn write_gap_before(&mut self, placed: &PlacedEvent) {
        let earlier = placed.event.missed.saturating_sub(placed.missed);
        let position = (placed.lane, placed.number);
        self.write_gap(position, Some(placed.event.ticks), (placed.missed, earlier));
    }

    /// Writes how many entries are missing before an event: since the recording began, and from
    /// before.
    #[cold]
    pub(super) fn write_gap(
        &mut self,
        (lane, number): (u32, u64),
        ticks: Option<u64>,
        (missed, earlier): (u64, u64),
    ) {
        let event = RawEvent {
            ticks,
            lane: Some(lane.into()),
            number: Some(number),
            ..RawEvent::default()
        };
        // The event has to fit as well, as most do: a reader of its file looks for the gap there.
        let most = self.writer.most_of_missed(1) + EVENT_BEHIND_GAP;
        self.make_room(most, self.writer.unwritten().len());
        let _ = self.writer.gap(&event, missed, earlier);
    }
}
