//! Reads an archive that comes as bytes, piece by piece: through a pipe or over a connection.

use timeline::Event;

use crate::format::frame::{self, Frames, MAX_RECORD, Part};
use crate::read::file::bytes::FRAME;
use crate::read::open::archive::Archive;
use crate::read::order::intake::{FrameIntake, TakenFrame};

/// About how many bytes of events are given at once.
const AT_ONCE: usize = 64 << 20;
/// Bytes in which frames are looked for, whatever became of the last search.
const ENOUGH: usize = 2 * FRAME;

/// Takes the bytes of an archive as they come, and gives its events; see [`Archive::inflow`].
///
/// It keeps the bytes from which no frame was made yet: at most a frame, or 32 MiB behind damage.
pub struct ArchiveInflow<'a> {
    intake: FrameIntake<'a>,
    /// Bytes that came, from the first one that was not taken yet.
    waiting: Vec<u8>,
    /// The place of that one among all bytes.
    at: usize,
    /// How many must wait before frames are looked for behind damage. Each search takes time in
    /// proportion to what waits, so the next one waits for as much again.
    searched: usize,
    /// Whether no more bytes come.
    has_ended: bool,
    /// Whether frames are left that are whole, because there were enough events.
    is_behind: bool,
    /// See [`AT_ONCE`].
    at_once: usize,
}

impl Archive {
    /// Goes on with bytes that come behind those of the archive, which is empty as a rule.
    ///
    /// # Example
    /// ```
    /// use timeline_archive::{Archive, Form, RawEvent, Writer};
    ///
    /// let mut file = Vec::new();
    /// let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    /// writer.event(&RawEvent { args: vec![42], ..RawEvent::default() })?;
    /// writer.flush()?;
    ///
    /// let archive = Archive::from_bytes([]);
    /// let (mut inflow, mut events) = (archive.inflow(), Vec::new());
    /// for piece in file.chunks(10) {
    ///     inflow.receive(piece);
    ///     inflow.poll(&mut events);
    /// }
    /// assert_eq!(events[0].args[0], 42);
    /// assert_eq!(inflow.waiting(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inflow(&self) -> ArchiveInflow<'_> {
        ArchiveInflow {
            intake: FrameIntake::behind(self),
            waiting: Vec::new(),
            at: self.bytes().len(),
            searched: 0,
            has_ended: false,
            is_behind: false,
            at_once: AT_ONCE,
        }
    }
}

impl ArchiveInflow<'_> {
    /// Takes the next bytes. What they say is given by the next poll.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// No more bytes come: to the next polls, what waits and is no frame is damage.
    pub fn end(&mut self) {
        self.has_ended = true;
    }

    /// Appends the events of the frames that are whole by now to `out`: the important ones first,
    /// then the others, each sorted by time. Returns how many entries they say were missed. Gives
    /// 64 MiB of events and a block at most: see [`ArchiveInflow::is_behind`].
    pub fn poll(&mut self, out: &mut Vec<Event>) -> u64 {
        let (mut used, mut missed, mut bytes) = (0, 0u64, 0);
        self.is_behind = false;
        while bytes < self.at_once {
            let rest = &self.waiting[used..];
            let (intake, base) = (&mut self.intake, self.at + used);
            let (passed, taken) = match frame::first(rest, MAX_RECORD) {
                Ok(Some(record)) => {
                    self.searched = 0;
                    let place = base..base + record.end;
                    (record.end, intake.take(&rest[record], place))
                }
                Ok(None) if !self.has_ended || rest.is_empty() => break,
                Err(_) if !self.has_ended && rest.len() < self.searched.min(ENOUGH) => break,
                _ => {
                    let (passed, taken) = search(intake, rest, base, self.has_ended);
                    self.searched = 2 * (rest.len() - passed);
                    (passed, taken)
                }
            };
            if passed == 0 {
                break;
            }
            used += passed;
            missed = missed.saturating_add(taken.missed);
            bytes += taken.bytes;
            self.is_behind = bytes >= self.at_once;
        }
        self.waiting.drain(..used);
        self.at += used;
        self.intake.give(out);
        missed
    }

    /// Whether the next poll may give more, although nothing came.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// How many bytes wait for others.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of places, in what was read, where it is not known how much is missing; see
    /// [`Archive::missed_unknown`].
    pub fn missed_unknown(&self) -> u64 {
        self.intake.missed_unknown()
    }

    /// The number of bytes that belong to no whole frame.
    pub fn damaged(&self) -> u64 {
        self.intake.damaged()
    }

    /// The number of entries that are gone with a frame: see [`Archive::holes`].
    pub fn gone(&self) -> u64 {
        self.intake.gone()
    }
}

/// Takes the next damage, up to where a frame may begin that has not come yet, and the frame behind
/// it. Returns how many bytes that is, and what came with the frame.
fn search(
    intake: &mut FrameIntake,
    bytes: &[u8],
    base: usize,
    has_ended: bool,
) -> (usize, TakenFrame) {
    let mut parts = Frames::new(bytes);
    let Some(Part::Damage(damage)) = parts.next() else {
        return (0, TakenFrame::default());
    };
    if let Some(unsure) = parts.unsure().filter(|_| !has_ended) {
        intake.damage(unsure);
        return (unsure, TakenFrame::default());
    }
    intake.damage(damage.end);
    match parts.next() {
        Some(Part::Frame { place, record, .. }) => {
            let (start, end) = (base + place.start, place.end);
            (end, intake.take(record, start..base + end))
        }
        _ => (damage.end, TakenFrame::default()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timeline::Order;

    use super::*;
    use crate::format::event::RawEvent;
    use crate::format::frame::Checksum;
    use crate::read::open::samples::{are_alike, chain, chain_of, changes, frames, runs};
    use crate::read::units::ordered::OrderedEvent;
    use crate::write::writer::{Form, Writer};

    /// What a reader is given of pieces: its events, and how many bytes belong to no frame.
    fn inflow(archive: &Archive, pieces: &[&[u8]]) -> (Vec<Event>, u64) {
        let (mut inflow, mut events) = (archive.inflow(), Vec::new());
        for piece in pieces {
            inflow.receive(piece);
            inflow.poll(&mut events);
        }
        inflow.end();
        while {
            inflow.poll(&mut events);
            inflow.is_behind()
        } {}
        assert_eq!(inflow.waiting(), 0);
        (events, inflow.damaged())
    }

    #[test]
    fn what_is_too_much_at_once_is_given_by_and_by() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Plain);
        for number in 0..7 {
            let event = RawEvent {
                args: vec![number],
                ..RawEvent::default()
            };
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        drop(writer);
        let growing = Archive::from_bytes([]);
        let (mut inflow, mut events) = (growing.inflow(), Vec::new());
        inflow.at_once = 3 * size_of::<OrderedEvent>();
        inflow.receive(&file);
        let mut counts = Vec::new();
        while {
            inflow.poll(&mut events);
            counts.push(events.len());
            inflow.is_behind()
        } {}
        assert!(counts.len() > 2 && counts[0] > 0, "{counts:?}");
        assert_eq!((counts.last(), inflow.waiting()), (Some(&7), 0));
        assert_eq!(inflow.damaged(), 0);
    }

    fn damage_of(archive: &Archive) -> u64 {
        let places = archive.damage().iter();
        places.map(|place| place.len() as u64).sum()
    }

    proptest! {
        #[test]
        fn what_comes_in_pieces_is_what_is_read_at_once(
            runs in runs(),
            changes in changes(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut bytes = frames(&runs, &changes).concat();
            prop_assume!(!bytes.is_empty());
            for (place, with) in flips {
                let place = place.index(bytes.len());
                bytes[place] = with;
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|two| &bytes[two[0]..two[1]]).collect();
            let growing = Archive::from_bytes([]);
            let (events, damaged) = inflow(&growing, &pieces);
            let whole = Archive::from_bytes(bytes.clone());
            let anew: Vec<Event> = whole.events_by_time(Order::OldestFirst).collect();
            let (found, anew) = (chain(&events), chain_of(&whole, &anew));
            prop_assert!(are_alike(&runs, &found, &anew), "{found:?} {anew:?}");
            prop_assert_eq!(damaged, damage_of(&whole));
        }

        /// Bytes that claim to be frames, and frames between them.
        #[test]
        fn damage_in_pieces_is_the_damage_of_all(
            parts in prop::collection::vec(prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                (0usize..80).prop_map(|length| [
                    &[0xc1, 0xce, 0, 0, 0, 0, 0xc1, 0xda, 0, length as u8][..],
                    &[0xc1; 20],
                ].concat()),
                prop::collection::vec(any::<u8>(), 0..40).prop_map(|record| {
                    let mut bytes = Vec::new();
                    frame::put(&record, &mut Checksum::default(), &mut bytes);
                    bytes
                }),
            ], 0..12),
            size in 1usize..50,
        ) {
            let bytes = parts.concat();
            let pieces: Vec<_> = bytes.chunks(size).collect();
            let growing = Archive::from_bytes([]);
            let (_, damaged) = inflow(&growing, &pieces);
            let known = Frames::new(&bytes).filter_map(|part| match part {
                Part::Damage(place) => Some(place.len() as u64),
                // A record that nobody understands counts as well.
                Part::Frame { place, record, .. } => {
                    let mut single = Default::default();
                    let is_known = crate::format::record::decode(record, &mut single).is_some();
                    (!is_known).then_some(place.len() as u64)
                }
            });
            prop_assert_eq!(damaged, known.sum::<u64>());
        }
    }
}
