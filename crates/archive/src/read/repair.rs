//! Writes the whole frames of an archive to another file.

use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use timeline::files::{Replacement, open_to_read};

use crate::error::{Error, Result};
use crate::format::event::RawEvent;
use crate::read::archive::Archive;
use crate::read::coverage::Missing;
use crate::read::follow::is_recorded;
use crate::write::writer::{Form, Writer};

/// How much of an archive was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyTotals {
    /// Bytes of whole frames.
    pub bytes: u64,
    /// Bytes that belong to no whole frame, and were left out.
    pub left_out: u64,
    /// Entries that are gone, and count as missed in the copy.
    pub counted: u64,
}

impl Archive {
    /// Writes the whole frames of the archive, one after the other.
    ///
    /// # Errors
    /// Those of reading and of writing.
    pub fn copy(&self, out: &mut impl Write) -> io::Result<CopyTotals> {
        self.copy_range(0..self.bytes().len(), out)?;
        Ok(self.copied(0))
    }

    /// Likewise, and counts what is gone as missed, where it is: so nothing is damaged in the copy,
    /// and the copy says what it lacks.
    ///
    /// # Errors
    /// Those of [`Archive::copy`].
    pub fn repair(&self, out: &mut impl Write) -> io::Result<CopyTotals> {
        let mut missing = Vec::new();
        self.coverage()
            .each_missing(|of_lane| missing.push(of_lane));
        missing.sort_by_key(|missing| missing.place);
        let (mut at, mut counted) = (0, 0_u64);
        for Missing {
            magic,
            lane,
            from,
            next,
            place,
        } in missing
        {
            self.copy_range(at..place, out)?;
            at = place;
            let event = RawEvent {
                lane: Some(lane),
                number: Some(next),
                ..RawEvent::default()
            };
            let mut writer = Writer::new(&mut *out, magic, Form::Plain);
            writer.note_position(lane, from);
            writer.settle_positions();
            writer.gap(&event, next - from, 0)?;
            writer.flush()?;
            counted = counted.saturating_add(next - from);
        }
        self.copy_range(at..self.bytes().len(), out)?;
        Ok(self.copied(counted))
    }

    fn copied(&self, counted: u64) -> CopyTotals {
        let left_out = self.damage().iter().map(|place| place.len() as u64).sum();
        CopyTotals {
            bytes: self.bytes().len() as u64 - left_out,
            left_out,
            counted,
        }
    }

    /// Writes the whole frames in a range, which begins and ends with frames.
    pub(super) fn copy_range(&self, range: Range<usize>, out: &mut impl Write) -> io::Result<()> {
        let mut at = range.start;
        let behind = self.damage().partition_point(|place| place.end <= at);
        for place in &self.damage()[behind..] {
            if place.start >= range.end {
                break;
            }
            self.bytes().copy(at..place.start.max(at), out)?;
            at = place.end;
        }
        self.bytes().copy(at..range.end.max(at), out)
    }

    /// Saves the whole frames of the archive as one file, through a temporary name. An existing
    /// file is replaced at once and in full, or not at all.
    ///
    /// # Errors
    /// `Io`, also if there is no space; `InUse` if the file is a timeline in use, and `Busy` if it
    /// is an archive that is being recorded. Neither is replaced.
    pub fn save(&self, file: impl AsRef<Path>) -> Result<CopyTotals> {
        let file = file.as_ref();
        let replacement = Replacement::of(file)?;
        if open_to_read(replacement.path()).is_ok_and(|there| is_recorded(&there)) {
            return Err(Error::RecorderBusy { path: file.into() });
        }
        let copied = replacement.write(|out| {
            let mut out = BufWriter::new(out);
            let copied = self.copy(&mut out)?;
            out.flush()?;
            Ok(copied)
        })?;
        Ok(copied)
    }
}
