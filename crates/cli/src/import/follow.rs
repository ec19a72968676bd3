//! Goes on with logs to which programs append, also when they are rotated.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use timeline_archive::{Archive, Watched};
use timeline_import::{ImportError, ImportedFile, Importer};

use crate::failure::{Failure, Result};
use crate::permission;
use crate::signals::{Pause, Signals, Woken};

/// A log that is followed.
pub struct FollowedLog {
    path: PathBuf,
    file: File,
    /// The lines that were taken, and the bytes that they have in this file.
    lines: ImportedFile,
    read: u64,
}

impl FollowedLog {
    /// Follows a file from its beginning.
    pub fn new(path: &Path, file: File, lines: ImportedFile) -> FollowedLog {
        FollowedLog {
            path: path.into(),
            file,
            lines,
            read: 0,
        }
    }

    fn failed(&self, error: ImportError, out: &Path) -> Failure {
        Failure::Message(match error {
            ImportError::Read(error) => permission::failed("read", &self.path, &error),
            ImportError::Write(error) => permission::failed("write", out, &error),
        })
    }

    /// Takes what was appended. Returns how many bytes it has.
    fn read_on<W: Write>(
        &mut self,
        importer: &mut Importer<W>,
    ) -> std::result::Result<u64, ImportError> {
        let before = self.read;
        loop {
            match importer.read(&mut self.lines, &mut self.file)? {
                0 => return Ok(self.read - before),
                count => self.read += count as u64,
            }
        }
    }

    /// Goes on with the file that the name leads to now, or with the same file from its beginning
    /// if somebody cut it. Returns whether it does. A line that has no end is then a whole one.
    fn turn<W: Write>(
        &mut self,
        importer: &mut Importer<W>,
    ) -> std::result::Result<bool, ImportError> {
        let same =
            |one: &Metadata, other: &Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
        let now = self.file.metadata().map_err(ImportError::Read)?;
        let next = match fs::metadata(&self.path) {
            Ok(named) if !same(&named, &now) => match File::open(&self.path) {
                Ok(next) => Some(next),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => return Err(ImportError::Read(error)),
            },
            // Between two files of a name there may be none.
            _ => None,
        };
        if next.is_none() && now.len() >= self.read {
            return Ok(false);
        }
        // What was appended before the name led elsewhere.
        if next.is_some() {
            self.read_on(importer)?;
        }
        importer.end(&mut self.lines).map_err(ImportError::Write)?;
        match next {
            Some(next) => self.file = next,
            None => {
                self.file
                    .seek(SeekFrom::Start(0))
                    .map_err(ImportError::Read)?;
            }
        }
        self.read = 0;
        Ok(true)
    }
}

/// Follows logs until a signal comes. Returns how many bytes were read.
pub fn follow<W: Write>(
    importer: &mut Importer<W>,
    logs: &mut [FollowedLog],
    signals: &Signals,
    out: &Path,
) -> Result<u64> {
    let (mut bytes, mut pause, mut flushed) = (0, Pause::new(), Instant::now());
    let failed = |error| Failure::Message(permission::failed("write", out, &error));
    let watched = Watched::new(out);
    loop {
        // Asked first: what a program appended before the signal is taken.
        let is_over = signals.count() > 0;
        importer.written(SystemTime::now());
        let mut found = false;
        for log in logs.iter_mut() {
            let count = log.read_on(importer);
            let count = count.map_err(|error| log.failed(error, out))?;
            let turned = log.turn(importer).map_err(|error| log.failed(error, out))?;
            bytes += count;
            found |= count > 0 || turned;
        }
        if is_over {
            for log in logs {
                importer.end(&mut log.lines).map_err(failed)?;
            }
            return Ok(bytes);
        }
        if flushed.elapsed() >= watched.block_wait() {
            importer.flush().map_err(failed)?;
            flushed = Instant::now();
        }
        if signals.wait_for_signal(pause.after(found)) == Woken::OutputClosed {
            return Ok(bytes);
        }
    }
}

/// Removes the part of a frame that a failure, such as a full disk, left at the end of an archive.
pub fn remove_torn_frame(path: &Path, out: &File) {
    // What cannot be read or cut stays: readers pass over it.
    if let Ok(archive) = Archive::open(path) {
        let _ = out.set_len(archive.whole() as u64);
    }
}

/// Refuses what does not grow: compressed logs, and pipes.
pub fn refuse_what_stays(path: &Path, file: &mut File) -> Result {
    let failed = |error| Failure::Message(permission::failed("read", path, &error));
    let name = path.display();
    if !file.metadata().map_err(failed)?.is_file() {
        let message = format!("{name} is no regular file, and only these are followed");
        return Err(Failure::Message(message));
    }
    let mut begin = Vec::new();
    (&mut *file)
        .take(8)
        .read_to_end(&mut begin)
        .map_err(failed)?;
    file.rewind().map_err(failed)?;
    match timeline_import::is_compressed(&begin) {
        true => Err(Failure::Message(format!(
            "{name} is compressed, and only plain logs are followed"
        ))),
        false => Ok(()),
    }
}
