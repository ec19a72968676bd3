//! Goes on with logs to which programs append, also when they are rotated.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use timeline_archive::{Archive, WatchMark};
use timeline_import::{ImportError, ImportedFile, Importer};
use timeline_worker::Pause;

use crate::failure::{Failure, Result};
use crate::format::Bytes;
use crate::output;
use crate::permission;
use crate::signals::Signals;

/// For this time logs are still read after a signal. The rest of a second is for writing.
const REST: Duration = Duration::from_millis(300);
/// So much of a log is read before the others have their turn.
const PIECE: u64 = 4 << 20;

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

    /// Takes what was appended, or the next piece of it. Returns how many bytes that is, and
    /// whether it is all.
    fn read_on<W: Write>(
        &mut self,
        importer: &mut Importer<W>,
        course: &mut Course,
    ) -> std::result::Result<(u64, bool), ImportError> {
        let before = self.read;
        while self.read - before < PIECE && !course.is_over() {
            match importer.read(&mut self.lines, &mut self.file)? {
                0 => return Ok((self.read - before, true)),
                count => self.read += count as u64,
            }
            let flushed = course.flush(importer, true);
            flushed.map_err(ImportError::Write)?;
        }
        Ok((self.read - before, false))
    }

    /// Goes on with the file that the name leads to now, or with the same file from its beginning
    /// if somebody cut it, once all is read that it had. Returns whether it does. A line that has
    /// no end is then a whole one.
    fn turn<W: Write>(
        &mut self,
        importer: &mut Importer<W>,
        course: &mut Course,
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
        if next.is_some() && !self.read_on(importer, course)?.1 {
            return Ok(false);
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

    /// Ends a log of which all was taken with the line that has no end. Of any other, this is but
    /// a part of a line, which is not taken: says how much is left.
    fn end<W: Write>(&mut self, importer: &mut Importer<W>) -> io::Result<()> {
        let length = self.file.metadata().map_or(0, |now| now.len());
        if length <= self.read {
            return importer.end(&mut self.lines);
        }
        let left = length - self.read + self.lines.waiting() as u64;
        output::say(format_args!(
            "{} of {} are not imported: the signal came before they were read",
            Bytes(left),
            self.path.display()
        ));
        Ok(())
    }
}

/// How an import goes on: it is flushed now and then, and ended by a signal.
struct Course<'a> {
    signals: &'a Signals,
    watched: WatchMark,
    flushed: Instant,
    /// When nothing more is read, after a signal.
    until: Option<Instant>,
}

impl Course<'_> {
    /// Whether a signal came.
    fn is_ending(&mut self) -> bool {
        if self.until.is_none() && self.signals.count() > 0 {
            self.until = Some(Instant::now() + REST);
        }
        self.until.is_some()
    }

    /// Whether nothing more is read.
    fn is_over(&mut self) -> bool {
        self.is_ending() && self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Writes all lines so far if that is due. `goes_on`: whether others follow at once.
    fn flush<W: Write>(&mut self, importer: &mut Importer<W>, goes_on: bool) -> io::Result<()> {
        if self.flushed.elapsed() < self.watched.block_wait() {
            return Ok(());
        }
        self.flushed = Instant::now();
        match goes_on {
            true => importer.flush_ended(),
            false => importer.flush(),
        }
    }
}

/// Follows logs until a signal comes. Returns how many bytes were read.
pub fn follow<W: Write>(
    importer: &mut Importer<W>,
    logs: &mut [FollowedLog],
    signals: &Signals,
    out: &Path,
) -> Result<u64> {
    let (mut bytes, mut pause) = (0, Pause::new());
    let failed = |error| Failure::Message(permission::failed("write", out, &error));
    let mut course = Course {
        signals,
        watched: WatchMark::new(out),
        flushed: Instant::now(),
        until: None,
    };
    loop {
        // Asked first: what a program appended before the signal is taken, if there is time.
        let is_ending = course.is_ending();
        importer.written(SystemTime::now());
        let (mut found, mut is_behind) = (false, false);
        for log in logs.iter_mut() {
            let read = log.read_on(importer, &mut course);
            let (count, has_all) = read.map_err(|error| log.failed(error, out))?;
            let turned = log.turn(importer, &mut course);
            let turned = turned.map_err(|error| log.failed(error, out))?;
            bytes += count;
            found |= count > 0 || turned;
            is_behind |= !has_all || turned;
        }
        if is_ending && (!is_behind || course.is_over()) {
            for log in logs {
                log.end(importer).map_err(failed)?;
            }
            return Ok(bytes);
        }
        course.flush(importer, is_behind).map_err(failed)?;
        if !is_behind {
            signals.wait_for_signal(pause.after(found));
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
