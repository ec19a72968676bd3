//! Records only some of the events that a recorder reads.
//!
//! An event that is left out is read like all others: the position of its lane moves behind it. So
//! it is neither missed nor read again by the next recorder. If no event is written for a time, the
//! positions are written alone. A hole is written whatever is wanted, before the next frame.

use timeline::Event;
use timeline::internal::PlacedEvent;

use super::Recorder;

/// Which events are recorded.
pub(super) struct RecordFilter<'a> {
    is_wanted: Box<dyn FnMut(&Event) -> bool + Send + 'a>,
    /// Entries that were left out since the positions of all lanes were written.
    untold: u64,
    /// Up to when the events are in a hole that is not written yet: none behind it was wanted.
    hole: Option<u64>,
    /// When there are so many of these, the positions are written. Few enough that the next
    /// recorder still finds most of them in the ring, if this one is killed.
    most_untold: u64,
}

/// The part of the ring that may be left out before this is written.
const PART: u64 = 8;

impl<'a> Recorder<'a> {
    /// Records only the events for which `is_wanted` returns true, also of the important ones. It
    /// is asked once for each event, in the order in which they are recorded.
    ///
    /// The others count as [`Totals::left_out`](crate::Totals::left_out), and not as missed. A
    /// recorder that continues this one begins behind them. Entries that were overwritten before
    /// they were read count as missed, because nobody knows whether they were wanted.
    ///
    /// # Example
    /// ```
    /// use timeline_archive::{Archive, Form, Keeping, ArchiveOutput, Recorder};
    /// use timeline::{Attached, Priority, Timeline};
    /// # let path = format!("/timeline-doc-only-{}", std::process::id());
    /// # let path = path.as_str();
    /// # let folder = std::env::temp_dir().join(path.trim_start_matches('/'));
    /// # std::fs::create_dir(&folder)?;
    /// let timeline = Timeline::with_size(path, 1024, 4096)?;
    /// let got = timeline.define("net", Priority::Info, "got $bytes")?;
    /// let attached = Attached::open(path)?;
    ///
    /// let mut output = ArchiveOutput::open(folder.join("flight.tla"), Keeping::default())?;
    /// let recorder = Recorder::new(&attached, &mut output, Form::Blocks)?;
    /// let mut recorder = recorder.only(|event| event.args[0] > 1000);
    /// timeline.log(got, [100]);
    /// timeline.log(got, [1500]);
    /// while recorder.step() {}
    /// let totals = recorder.finish();
    /// assert_eq!((totals.events, totals.left_out, totals.missed), (1, 1, 0));
    ///
    /// let archive = Archive::open(folder.join("flight.tla"))?;
    /// assert_eq!(archive.events().count(), 1);
    /// # timeline::unlink(path)?;
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn only(mut self, is_wanted: impl FnMut(&Event) -> bool + Send + 'a) -> Recorder<'a> {
        self.wanted = Some(RecordFilter {
            is_wanted: Box::new(is_wanted),
            untold: 0,
            hole: None,
            most_untold: self.at.info().entries / PART,
        });
        self
    }

    /// Records the wanted events of a poll.
    pub(super) fn record_wanted(&mut self) {
        // Only if there is something to write: otherwise files without events would be begun.
        let (mut begun, mut is_noted) = (false, false);
        while let Some(placed) = self.follow.next_placed() {
            if !placed.event.important && !std::mem::replace(&mut is_noted, true) {
                self.note_hole();
            }
            let wanted = self.wanted.as_mut();
            let is_wanted = wanted.is_none_or(|wanted| (wanted.is_wanted)(&placed.event));
            let is_behind_gap = self.begins_with_gap(&placed);
            if (is_wanted || is_behind_gap) && !std::mem::replace(&mut begun, true) {
                self.begin_batch();
            }
            if (is_wanted || is_behind_gap) && !placed.event.important {
                self.write_noted_hole();
            }
            if is_behind_gap {
                self.write_gap_before(&placed);
            }
            match is_wanted {
                true => {
                    self.totals.events += 1;
                    self.tell_left_out();
                    self.record(&placed);
                }
                false => self.leave_out(&placed),
            }
        }
        let wanted = self.wanted.as_ref();
        let is_far = wanted.is_some_and(|wanted| wanted.untold >= wanted.most_untold);
        // Events that wait are written soon, with all positions.
        if is_far && self.writer.waiting() == 0 {
            self.tell_positions();
        }
    }

    /// Notes the hole of this poll. If events wait for a frame, it is written right behind them:
    /// that frame says how far all lanes are read.
    fn note_hole(&mut self) {
        let hole = self.follow.hole();
        if let Some(wanted) = &mut self.wanted {
            wanted.hole = wanted.hole.max(hole);
        }
        if self.writer.waiting() > 0 {
            self.write_noted_hole();
        }
    }

    /// Writes the hole that is noted, if there is one. Returns whether there was.
    fn write_noted_hole(&mut self) -> bool {
        let hole = self.wanted.as_mut().and_then(|wanted| wanted.hole.take());
        if let Some(until) = hole {
            self.write_hole(until);
        }
        hole.is_some()
    }

    /// Goes on behind an event that is not recorded.
    fn leave_out(&mut self, placed: &PlacedEvent) {
        self.totals.left_out += 1;
        if placed.event.important {
            // It has no position.
            return;
        }
        self.writer.note_position(placed.lane.into(), placed.next);
        if let Some(wanted) = &mut self.wanted {
            let entries = placed.next.saturating_sub(placed.number);
            wanted.untold = wanted.untold.saturating_add(entries);
        }
    }

    /// Writes what was left out before an event that is a frame of its own. A block says it itself.
    fn tell_left_out(&mut self) {
        if !self.writer.packs() && self.writer.is_untold() {
            let most = self.writer.most_of_missed(0);
            self.make_room(most, self.writer.unwritten().len());
            self.writer.tell_moved();
        }
    }

    /// Writes how far all lanes are read, if events were left out since that was written.
    pub(super) fn tell_positions(&mut self) {
        let untold = self.wanted.as_mut().map(|wanted| &mut wanted.untold);
        // A hole is written with all positions.
        if untold.map_or(0, std::mem::take) == 0 || self.write_noted_hole() {
            return;
        }
        if self.writer.waiting() > 0 {
            // A block has all positions.
            self.writer.end_block();
            return;
        }
        if !self.introduced {
            self.begin();
        }
        let most = self.writer.most_of_missed(0);
        self.make_room(most, self.writer.unwritten().len());
        let _ = self.writer.missed(0, None, &[]);
    }
}

#[cfg(test)]
mod tests {
    use timeline::{Attached, Order, Passage, Priority, Timeline};

    use super::*;
    use crate::read::open::archive::Archive;
    use crate::record::output::{ArchiveOutput, Keeping};
    use crate::write::writer::Form;

    /// A follower may find a hole in a poll, and the gap in a later one.
    #[test]
    fn a_hole_among_events_that_nobody_wants_is_told() {
        let path = format!("/timeline-test-wanted-hole-{}", std::process::id());
        let timeline = Timeline::with_size(&path, 1024, 4096).unwrap();
        let event = timeline.define("test", Priority::Info, "$n").unwrap();
        let at = Attached::open(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (form, wants_more) in [Form::Plain, Form::Blocks]
            .into_iter()
            .flat_map(|form| [(form, true), (form, false)])
        {
            let file = folder.path().join(format!("{form:?}-{wants_more}.tla"));
            let mut output = ArchiveOutput::open(&file, Keeping::default()).unwrap();
            let recorder = Recorder::new(&at, &mut output, form).unwrap();
            let mut recorder = recorder.only(|event| event.args[0] == 1);
            timeline.log(event, [1]);
            recorder.step();
            timeline.log(event, [0]);
            recorder.step();
            // As if that poll had been in a hole.
            let until = at.events(Order::NewestFirst).next().unwrap().ticks + 1;
            recorder.wanted.as_mut().unwrap().hole = Some(until);
            timeline.log(event, [i64::from(wants_more)]);
            recorder.step();
            recorder.finish();
            drop(output);
            // The next one goes on behind the hole, which only this one knows.
            let mut output = ArchiveOutput::open(&file, Keeping::default()).unwrap();
            let mut recorder = Recorder::new(&at, &mut output, form).unwrap();
            timeline.log(event, [1]);
            recorder.step();
            recorder.finish();
            drop(output);
            let archive = Archive::open(&file).unwrap();
            let events = archive.events_by_time(Order::OldestFirst);
            let own: Vec<Passage> = events.map(|event| event.passage).collect();
            let own = &own[own.len() - 2 - usize::from(wants_more)..];
            assert!(!own[1].goes_on(own[0]), "{form:?}, {wants_more}: {own:?}");
        }
        timeline::unlink(&path).unwrap();
    }
}
