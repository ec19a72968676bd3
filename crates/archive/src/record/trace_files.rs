//! Keeps the frames of a run that come from elsewhere in the numbered files of a directory.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use timeline::internal::files::{open_to_read, remove};

use crate::error::{Error, Result};
use crate::format::frame::first;
use crate::record::output::{Destination, FileChange, Keeping, OutputTrouble, disk::Disk};
use crate::record::resume::{ResumeState, RunState};

/// Most bytes of the first record of a file.
const FIRST: usize = 1 << 16;

/// The numbered files of a directory, for frames that somebody else made. They are locked against
/// recorders, and readers know that the last one grows.
///
/// # Example
/// ```
/// use timeline_archive::{Keeping, TraceFiles, frames};
/// # let folder = tempfile::tempdir()?;
/// let mut frame = Vec::new();
/// frames::put(&[64, 0x80], &mut frames::Checksum::default(), &mut frame);
///
/// let mut files = TraceFiles::open(folder.path(), Keeping::default())?;
/// assert_eq!(files.write(&frame)?, frame.len());
/// assert_eq!(files.first_record()?, Some(vec![64, 0x80]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TraceFiles {
    disk: Disk,
    /// What was in the current file when it was opened.
    found: ResumeState,
}

impl TraceFiles {
    /// Opens a directory, which is made with access for its owner alone if it is not there, and
    /// goes on behind the last whole frame of its last file.
    ///
    /// # Errors
    /// `Io`; `RecorderBusy`.
    pub fn open(folder: &Path, keeping: Keeping) -> Result<TraceFiles> {
        // With a slash at its end, as one that is not there yet is a file otherwise.
        let mut disk = Disk::open(&folder.join(""), keeping)?;
        while disk.is_empty() && disk.older().next().is_some() {
            // Whoever began it was killed before it wrote to it. The file before it goes on.
            let empty = disk.present().to_path_buf();
            drop(disk);
            remove(&empty).map_err(|error| Error::io("remove", &empty, error))?;
            disk = Disk::open(&folder.join(""), keeping)?;
        }
        let mut found = disk.read()?;
        if found.is_foreign() {
            disk.pass_over()?;
            found = ResumeState::default();
        }
        disk.file().go_on_at(found.end);
        disk.file().cut_off_rest();
        Ok(TraceFiles { disk, found })
    }

    /// The record of the first frame of the current file. `None` if it has none.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn first_record(&mut self) -> io::Result<Option<Vec<u8>>> {
        let size = self.disk.size().min(FIRST as u64) as usize;
        let mut bytes = vec![0; size];
        self.disk.file().file().read_exact_at(&mut bytes, 0)?;
        let record = first(&bytes, FIRST).ok().flatten();
        Ok(record.map(|record| bytes[record].to_vec()))
    }

    /// How far a run was recorded when the directory was opened. `None` if nothing of it was.
    ///
    /// # Errors
    /// `Io`.
    pub fn state_of(&self, magic: u64) -> Result<Option<RunState>> {
        let here = self.found.state_of(magic);
        if here.is_some() {
            return Ok(here);
        }
        for older in self.disk.older() {
            let read = open_to_read(&older).and_then(|file| ResumeState::read(&file));
            match read {
                Ok(found) if found.state_of(magic).is_some() => return Ok(found.state_of(magic)),
                Ok(_) => {}
                // Removed, to make room.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", &older, error)),
            }
        }
        Ok(None)
    }

    /// Bytes of whole frames in the current file.
    pub fn size(&self) -> u64 {
        self.disk.size()
    }

    /// The current file.
    pub fn path(&self) -> PathBuf {
        self.disk.present().to_path_buf()
    }

    /// The files before the current one, the oldest first.
    pub fn older(&self) -> Vec<PathBuf> {
        let mut older: Vec<_> = self.disk.older().collect();
        older.reverse();
        older
    }

    /// Appends whole frames to the current file, as many as there is room for. Returns the number
    /// of bytes.
    ///
    /// # Errors
    /// If there is room for none of them at present: see [`TraceFiles::trouble`].
    pub fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        self.disk.write(frames)
    }

    /// Begins another file, unless this one is empty. Returns whether that worked: see
    /// [`TraceFiles::trouble`].
    pub fn begin_next(&mut self) -> bool {
        self.disk.size() == 0 || self.disk.begin_next()
    }

    /// The change of the current file, if somebody else changed it.
    pub fn change(&mut self) -> Option<FileChange> {
        self.disk.change()
    }

    /// Makes the current file durable. Returns whether that worked: see [`TraceFiles::trouble`].
    pub fn sync(&mut self) -> bool {
        self.disk.sync();
        self.disk.is_synced()
    }

    /// The step that fails at present.
    pub fn trouble(&self) -> Option<&OutputTrouble> {
        self.disk.trouble()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::frame::{Checksum, put};
    use std::fs;

    fn frame(record: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        put(record, &mut Checksum::default(), &mut frame);
        frame
    }

    #[test]
    fn files_go_on_behind_their_last_whole_frame() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("run");
        let open = || TraceFiles::open(&at, Keeping::default()).unwrap();
        let (one, two) = (frame(&[64, 0x80]), frame(&[99, 0x81, 1, 2]));
        let mut files = open();
        assert_eq!((files.first_record().unwrap(), files.size()), (None, 0));
        // An empty file stays.
        assert!(files.begin_next() && files.path().ends_with("timeline-000001.tla"));
        files.write(&one).unwrap();
        let path = files.path();
        assert!(
            TraceFiles::open(&at, Keeping::default()).is_err(),
            "it is locked"
        );
        drop(files);
        // A part of a frame, as a killed store leaves it.
        let torn = [&one[..], &two[..5]].concat();
        fs::write(&path, torn).unwrap();
        let mut files = open();
        assert_eq!(files.size(), one.len() as u64);
        assert_eq!(files.write(&two).unwrap(), two.len());
        assert_eq!(fs::read(&path).unwrap(), [&one[..], &two].concat());
        assert!(files.begin_next() && files.path().ends_with("timeline-000002.tla"));
        assert_eq!(files.state_of(7).unwrap(), None);
        // Killed before it wrote to that one.
        drop(files);
        fs::write(at.join("timeline-000002.tla"), "").unwrap();
        fs::write(at.join("timeline-000003.tla"), "").unwrap();
        let mut files = open();
        assert_eq!(
            (files.path(), files.size()),
            (path, (one.len() + two.len()) as u64)
        );
        assert_eq!(files.first_record().unwrap(), Some(vec![64, 0x80]));
    }
}
