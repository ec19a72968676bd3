//! Writes the whole frames of an archive to another file.

use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use timeline::internal::files::{Replacement, open_to_read};
use timeline::internal::msgpack::FieldWriter;

use crate::error::{Error, Result};
use crate::format::frame::{self, Checksum};
use crate::format::string::StringDefinition;
use crate::read::copy::marks;
use crate::read::open::archive::Archive;
use crate::read::order::follow::is_recorded;

/// How much of an archive was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyTotals {
    /// The bytes that were written.
    pub bytes: u64,
    /// Bytes that belong to no whole frame, and were left out.
    pub left_out: u64,
    /// Entries that are gone, and count as missed in the copy.
    pub counted: u64,
    /// Texts that were lost, and found in executables: the copy has them.
    pub recovered: u64,
}

/// An output that counts its bytes.
pub(super) struct ByteCounter<W> {
    out: W,
    pub bytes: u64,
}

impl<W> ByteCounter<W> {
    pub fn new(out: W) -> ByteCounter<W> {
        ByteCounter { out, bytes: 0 }
    }
}

impl<W: Write> Write for ByteCounter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Archive {
    /// Writes the whole frames of the archive, one after the other, and for each damage before or
    /// between them that something is missing there.
    ///
    /// # Errors
    /// Those of reading and of writing.
    pub fn copy(&self, out: &mut impl Write) -> io::Result<CopyTotals> {
        let mut out = ByteCounter::new(out);
        self.put_recovered(&mut out)?;
        self.copy_range(0..self.bytes().len(), &mut out)?;
        Ok(self.copied(out.bytes, 0))
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
        missing.sort_by_key(|missing| (missing.place, missing.magic, missing.lane));
        let (mut at, mut counted) = (0, 0_u64);
        let mut out = ByteCounter::new(out);
        self.put_recovered(&mut out)?;
        for here in missing.chunk_by(|one, next| one.place == next.place) {
            let place = here[0].place;
            self.copy_range(at..place, &mut out)?;
            at = place;
            for missed in marks::gone(here) {
                marks::put(&missed, &mut out)?;
                counted = counted.saturating_add(missed.count.unwrap_or(0));
            }
        }
        self.copy_range(at..self.bytes().len(), &mut out)?;
        Ok(self.copied(out.bytes, counted))
    }

    /// Writes the texts and symbols that were found in executables.
    pub(super) fn put_recovered(&self, out: &mut impl Write) -> io::Result<()> {
        let (mut fields, mut checksum) = (FieldWriter::default(), Checksum::default());
        let (mut record, mut frame) = (Vec::new(), Vec::new());
        let recovered = self.recovery().map_or(&[][..], |recovery| &recovery.texts);
        for (magic, number) in recovered {
            let text = self.string(*magic, *number);
            let string = StringDefinition {
                magic: Some(*magic),
                id: Some(*number),
                string: text.map(|text| text.to_string()),
                recovered: true,
            };
            record.clear();
            frame.clear();
            string.encode(&mut fields, &mut record);
            frame::put(&record, &mut checksum, &mut frame);
            out.write_all(&frame)?;
        }
        for symbol in self
            .recovery()
            .map_or(&[][..], |recovery| &recovery.symbols)
        {
            record.clear();
            frame.clear();
            symbol.encode(&mut fields, &mut record);
            frame::put(&record, &mut checksum, &mut frame);
            out.write_all(&frame)?;
        }
        Ok(())
    }

    fn copied(&self, bytes: u64, counted: u64) -> CopyTotals {
        let left_out = self.damage().iter().map(|place| place.len() as u64).sum();
        CopyTotals {
            bytes,
            left_out,
            counted,
            recovered: self.recovery().map_or(0, |recovery| recovery.recovered),
        }
    }

    /// Writes the whole frames in a range, which begins and ends with frames or damage.
    pub(super) fn copy_range(&self, range: Range<usize>, out: &mut impl Write) -> io::Result<()> {
        let mut at = range.start;
        let behind = self.damage().partition_point(|place| place.end <= at);
        for place in &self.damage()[behind..] {
            if place.start >= range.end {
                break;
            }
            self.bytes().copy(at..place.start.max(at), out)?;
            if place.end < self.bytes().len() {
                marks::put(&marks::hole(None, 0), out)?;
            }
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
