//! Writes the whole frames of an archive to another file.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use timeline::files::{Replacement, open_to_read};

use crate::error::{Error, Result};
use crate::read::archive::Archive;
use crate::read::follow::is_recorded;

/// How much of an archive was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyTotals {
    /// Bytes of whole frames.
    pub bytes: u64,
    /// Bytes that belong to no whole frame, and were left out.
    pub left_out: u64,
}

impl Archive {
    /// Writes the whole frames of the archive, one after the other.
    ///
    /// # Errors
    /// Those of reading and of writing.
    pub fn copy(&self, out: &mut impl Write) -> io::Result<CopyTotals> {
        let (mut at, mut left_out) = (0, 0);
        for place in self.damage() {
            self.bytes().copy(at..place.start, out)?;
            left_out += place.len() as u64;
            at = place.end;
        }
        self.bytes().copy(at..self.bytes().len(), out)?;
        let bytes = self.bytes().len() as u64 - left_out;
        Ok(CopyTotals { bytes, left_out })
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
