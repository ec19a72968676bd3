//! Finds and makes the numbered files of an archive in a directory: timeline-000001.tla and so on.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use timeline::files;

use crate::error::{Error, Result};
use crate::format::file_name::{file_name, file_number};

/// Attempts to lock a file: a reader that checks for a recorder holds the lock for a moment.
const TRIES: u32 = 10;

/// An open file that is locked against other recorders.
pub type Locked = Flock<File>;

/// The numbered files of a directory, which is locked against other recorders.
pub struct Files {
    folder: PathBuf,
    /// The lock of the directory.
    lock: Locked,
    /// The finished files: their numbers and sizes, the oldest first.
    finished: VecDeque<(u64, u64)>,
    /// The number of the current file.
    number: u64,
    /// Whether this recorder created the directory, and the first file in it.
    made: (bool, bool),
}

impl Files {
    /// Opens a directory, which is created with access for its owner alone if it is not there.
    /// Returns its last file, which is created if there is none.
    pub fn open(folder: &Path) -> Result<(Files, Locked, PathBuf)> {
        let fail = |doing| move |error| Error::io(doing, folder, error);
        let is_new = !folder.exists();
        let mut make = DirBuilder::new();
        make.recursive(true).mode(0o700);
        make.create(folder).map_err(fail("create"))?;
        let lock = lock(files::open_to_read(folder).map_err(fail("open"))?, folder)?;
        let mut finished = Vec::new();
        for entry in files::read_dir(folder).map_err(fail("list"))? {
            let entry = entry.map_err(fail("list"))?;
            if let Some(number) = entry.file_name().to_str().and_then(file_number) {
                let metadata = fs::metadata(entry.path()).map_err(fail("list"))?;
                if !metadata.is_file() {
                    // It may be a pipe: reading could wait for a writer.
                    let what = io::Error::new(io::ErrorKind::InvalidInput, "expected a file");
                    return Err(Error::io("read", &entry.path(), what));
                }
                finished.push((number, metadata.len()));
            }
        }
        finished.sort_unstable();
        let last = finished.pop();
        let files = Files {
            folder: folder.to_path_buf(),
            lock,
            finished: finished.into(),
            number: last.map_or(1, |(number, _)| number),
            made: (is_new, last.is_none()),
        };
        let path = files.path(files.number);
        let file = open(&path)?;
        Ok((files, file, path))
    }

    /// Whether this recorder created the first file.
    pub fn is_made(&self) -> bool {
        self.made.1
    }

    /// Removes the directory, if this recorder created it and it is empty.
    pub fn remove_if_made(&self) {
        if self.made.0 {
            let _ = fs::remove_dir(&self.folder);
        }
    }

    /// Whether the directory still has its name.
    pub fn is_there(&self) -> bool {
        let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let ours = self.lock.metadata().map(place).ok();
        ours.is_some() && fs::metadata(&self.folder).map(place).ok() == ours
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(file_name(number))
    }

    /// Creates the file after the current one, which has this size.
    pub fn next(&mut self, size: u64) -> Result<(Locked, PathBuf)> {
        let number = self.number.saturating_add(1);
        let path = self.path(number);
        let file = open(&path)?;
        self.finished.push_back((self.number, size));
        self.number = number;
        Ok((file, path))
    }

    /// The files before the current one, the newest first.
    pub fn older(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = self.finished.iter().rev();
        numbers.map(|(number, _)| self.path(*number))
    }

    /// Removes the oldest files until all files together have at most `keep` bytes. The current
    /// file counts with its `size` bytes, and is never removed.
    pub fn keep(&mut self, keep: u64, size: u64) -> io::Result<()> {
        let mut total = self.finished.iter().map(|(_, size)| size).sum::<u64>() + size;
        while total > keep
            && let Some((number, size)) = self.finished.front()
        {
            match files::remove(&self.path(*number)) {
                // Another process made room.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
            // Whoever searched the file may have made one.
            let _ = files::remove(&self.path(*number).with_extension("tla.idx"));
            total -= size;
            self.finished.pop_front();
        }
        Ok(())
    }

    /// Makes the names of the files durable.
    pub fn sync(&self) -> io::Result<()> {
        self.lock.sync_all()
    }
}

/// Opens a file for this recorder alone. If it is not there, it is created with access for its
/// owner alone.
pub fn open(path: &Path) -> Result<Locked> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // It may be a pipe: opening could wait for a reader.
    options.mode(0o600).custom_flags(libc::O_NONBLOCK);
    let fail = |error| Error::io("open", path, error);
    let file = files::open_as(&options, path).map_err(fail)?;
    if !file.metadata().map_err(fail)?.is_file() {
        let what = "expected a file or a directory to record to, this is neither";
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
    }
    lock(file, path)
}

fn lock(mut file: File, path: &Path) -> Result<Locked> {
    for _ in 0..TRIES {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Err((file, Errno::EWOULDBLOCK)) => file,
            other => return other.map_err(|(_, errno)| Error::io("lock", path, errno)),
        };
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(Error::RecorderBusy { path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        let mut names: Vec<_> = entries.map(|entry| name(entry).unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_go_first_and_the_present_one_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for (name, size) in [
            ("timeline-000007.tla", 10),
            ("timeline-1000000.tla", 20),
            ("timeline-000009.tla", 30),
            ("timeline-8.tla", 1000),
            ("timeline-0000010.tla", 1000),
            ("notes", 1000),
        ] {
            fs::write(folder.join(name), vec![0; size]).unwrap();
        }
        let (mut files, present, path) = Files::open(folder).unwrap();
        assert_eq!(path, folder.join("timeline-1000000.tla"));
        let older: Vec<_> = files.older().collect();
        assert_eq!(
            older,
            ["timeline-000009.tla", "timeline-000007.tla"].map(|name| folder.join(name))
        );
        files.keep(60, 20).unwrap();
        assert_eq!(files.finished.len(), 2);
        files.keep(59, 20).unwrap();
        assert_eq!(files.finished, [(9, 30)]);
        drop(present);
        let (next, path) = files.next(20).unwrap();
        assert_eq!(path, folder.join("timeline-1000001.tla"));
        files.keep(0, 5).unwrap();
        assert_eq!(
            names(folder),
            [
                "notes",
                "timeline-0000010.tla",
                "timeline-1000001.tla",
                "timeline-8.tla"
            ]
        );
        drop(next);
    }
}
