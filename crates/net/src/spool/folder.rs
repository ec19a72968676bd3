//! Has the files of a spool: each is a file of a session, as a store will have it.
//!
//! Nothing is noted beside them. A file named `spool` says that what is in the directory may be
//! removed once it is sent: a store's own directory has the same files, and stays.

use std::fs::DirBuilder;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use timeline::Attached;
use timeline::internal::files::{Replacement, open_to_read, read_dir, remove};
use timeline_archive::frames::first;
use timeline_archive::{
    Archive, Error, FileChange, Keeping, OutputTrouble, Result, ResumeState, RunState, SessionFile,
    TraceFiles,
};

use crate::hello::SessionId;
use crate::message::{MAX_HELLO, Received, WireMessage};

/// The file that says what the directory is.
const MARK: &str = "spool";
/// What is in it.
const MEANING: &[u8] = b"timeline keeps here what it has still to send to a store, and removes it \
    then.\n";

/// Most files that are looked through for damage at a time: the recorder has other work.
const AT_ONCE: usize = 4;

/// A file of a session.
pub struct SpoolFile {
    pub path: PathBuf,
    pub session: SessionId,
    pub magic: u64,
    /// Its number in the session.
    pub number: u64,
    /// Bytes of whole frames, and of the first one, which says whose it is.
    pub size: u64,
    pub head: u64,
    /// Whether the store has all of it.
    pub is_acknowledged: bool,
    /// Whether more of its run may be recorded, as far as that was looked for.
    is_needed: Option<bool>,
}

impl SpoolFile {
    /// Whether there is something to be sent.
    pub fn waits(&self) -> bool {
        !self.is_acknowledged && self.size > self.head
    }
}

/// The directory.
pub struct SpoolFolder {
    path: PathBuf,
    files: TraceFiles,
    /// Those that have frames, the oldest first.
    pub all: Vec<SpoolFile>,
    /// Whether the last one is written to.
    is_begun: bool,
}

impl SpoolFolder {
    /// Opens a directory, which is made if it is not there. What has still to be sent stays in it.
    ///
    /// # Errors
    /// `Io`, also for a directory that is none of a spool; `RecorderBusy`.
    pub fn open(path: &Path) -> Result<SpoolFolder> {
        take(path).map_err(|error| failed("spool to", path, error))?;
        let files = TraceFiles::open(path, Keeping::default())?;
        let mut paths = files.older();
        paths.extend((files.size() > 0).then(|| files.path()));
        let mut folder = SpoolFolder {
            path: path.to_path_buf(),
            files,
            all: Vec::new(),
            is_begun: false,
        };
        for path in paths {
            // What is no file of a session is left alone.
            let found = entry(&path).map_err(|error| failed("read", &path, error))?;
            folder.all.extend(found);
        }
        folder.remove_begun()?;
        Ok(folder)
    }

    /// Removes the last file if it says nothing yet: whoever began it was killed.
    fn remove_begun(&mut self) -> Result<()> {
        let Some(last) = self.all.last() else {
            return Ok(());
        };
        let fail = |error| failed("read", &last.path, error);
        let found = ResumeState::read(&open_to_read(&last.path).map_err(fail)?).map_err(fail)?;
        if found.state_of(last.magic).is_none() {
            remove(&last.path).map_err(|error| failed("remove", &last.path, error))?;
            self.all.pop();
        }
        Ok(())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.all.iter().map(|file| file.size).sum()
    }

    /// The newest file of a run, and how far the run is recorded here.
    ///
    /// # Errors
    /// `Io`.
    pub fn state_of(&self, magic: u64) -> Result<Option<(&SpoolFile, RunState)>> {
        let mut newest = None;
        for file in self.all.iter().rev().filter(|file| file.magic == magic) {
            let newest = *newest.get_or_insert(file);
            let found = open_to_read(&file.path).and_then(|open| ResumeState::read(&open));
            let found = found.map_err(|error| failed("read", &file.path, error))?;
            if let Some(state) = found.state_of(magic) {
                return Ok(Some((newest, state)));
            }
        }
        Ok(None)
    }

    /// Begins a file with the record of a session. Returns whether there was room.
    pub fn begin(&mut self, start: &SessionFile) -> bool {
        let mut frame = Vec::new();
        WireMessage::File(start.clone()).put(&mut frame);
        let size = frame.len() as u64;
        self.is_begun = self.files.begin_next() && self.files.write(&frame).is_ok();
        if self.is_begun {
            self.all.push(SpoolFile {
                path: self.files.path(),
                session: start.session,
                magic: start.magic,
                number: start.number,
                size,
                head: size,
                is_acknowledged: false,
                is_needed: None,
            });
        }
        self.is_begun
    }

    /// Appends whole frames to the file that was begun last, as many as there is room for. Returns
    /// that file and between which places of it they are; the first frame of the file counts with
    /// those behind it.
    ///
    /// # Errors
    /// If there is room for none of them at present.
    pub fn write(&mut self, frames: &[u8]) -> io::Result<(&SpoolFile, (u64, u64))> {
        let done = self.files.write(frames)? as u64;
        let file = self.all.last_mut().ok_or(io::ErrorKind::NotFound)?;
        let begin = if file.size == file.head { 0 } else { file.size };
        file.size += done;
        file.is_acknowledged = false;
        let end = file.size;
        Ok((file, (begin, end)))
    }

    /// Leaves the current file, to which nothing is added any more. Returns whether that worked.
    pub fn end_file(&mut self) -> bool {
        let has_ended = self.files.begin_next();
        self.is_begun &= !has_ended;
        let is_empty = |file: &mut SpoolFile| file.size == file.head;
        if has_ended && let Some(empty) = self.all.pop_if(is_empty) {
            // If that fails, whoever opens the directory next removes it.
            let _ = remove(&empty.path);
        }
        has_ended
    }

    /// The change of the current file, if somebody else changed it.
    pub fn change(&mut self) -> Option<FileChange> {
        let change = self.files.change()?;
        if change == FileChange::Gone {
            let gone = self.files.path();
            self.all.retain(|file| file.path != gone);
        }
        Some(change)
    }

    /// Makes the current file durable.
    pub fn sync(&mut self) {
        self.files.sync();
    }

    /// The step that fails at present.
    pub fn trouble(&self) -> Option<&OutputTrouble> {
        self.files.trouble()
    }

    /// Removes files that the store has. The newest of a run stays as long as the ring is there,
    /// and of the run `own` in any case: it says from where on the run is to be recorded.
    pub fn remove_acknowledged(&mut self, own: Option<u64>) {
        let mut at = 0;
        while at < self.all.len() {
            let (before, after) = self.all.split_at_mut(at + 1);
            let file = &mut before[at];
            let has_newer = after.iter().any(|one| one.magic == file.magic);
            let stays = !file.is_acknowledged
                || !has_newer
                    && (own == Some(file.magic)
                        || *file
                            .is_needed
                            .get_or_insert_with(|| has_ring(&file.path, file.magic)));
            match stays || remove(&file.path).is_err() {
                true => at += 1,
                false => drop(self.all.remove(at)),
            }
        }
    }

    /// Looks again which runs may go on.
    pub fn look_again(&mut self) {
        self.all.iter_mut().for_each(|file| file.is_needed = None);
    }

    /// The files of the session that the oldest file belongs to which the store does not have, as
    /// far as they follow each other, and some of them only. Damaged ones are copied before,
    /// without the damage: the copy says that something is missing there.
    ///
    /// # Errors
    /// `Io`.
    pub fn next_session(&mut self) -> Result<Vec<usize>> {
        let Some(first) = self.all.iter().position(SpoolFile::waits) else {
            return Ok(Vec::new());
        };
        let (session, mut number) = (self.all[first].session, self.all[first].number);
        let mut found = vec![first];
        for (place, file) in self.all.iter().enumerate().skip(first + 1) {
            let follows = file.session == session && file.number == number + 1;
            if follows && file.waits() && found.len() < AT_ONCE {
                found.push(place);
                number += 1;
            }
        }
        // The last one of an earlier recorder is let go of. On a full disk that may fail.
        if !self.is_begun {
            self.files.begin_next();
        }
        let count = self.all.len();
        for place in found.iter().rev() {
            // To the present one, nobody else has written.
            if self.all[*place].path != self.files.path() {
                self.repair(*place)?;
            }
        }
        // If one turned out to be none, the others have other places.
        found.retain(|_| self.all.len() == count);
        Ok(found)
    }

    /// Copies a file without its damage, if it has some.
    fn repair(&mut self, place: usize) -> Result<()> {
        let path = self.all[place].path.clone();
        let fail = |error| failed("read", &path, error);
        let size = open_to_read(&path)
            .and_then(|file| file.metadata())
            .map_err(fail)?
            .len();
        let archive = Archive::open(&path)?;
        if archive.damage().is_empty() {
            self.all[place].size = size;
            return Ok(());
        }
        archive.save(&path)?;
        match entry(&path).map_err(fail)? {
            Some(repaired) => self.all[place] = repaired,
            // Without its first record, nobody knows whose it is.
            None => drop(self.all.remove(place)),
        }
        Ok(())
    }

    /// Makes the files of a session, which the store does not know any more, those of a new one.
    /// What it had is gone, and so the copies here of it are removed.
    ///
    /// # Errors
    /// `Io`. The files before are changed.
    pub fn rename_session(&mut self, former: SessionId, new: SessionId) -> Result<()> {
        let is_over = |file: &SpoolFile| file.session == former && file.is_acknowledged;
        self.all
            .retain(|file| !is_over(file) || remove(&file.path).is_err());
        let mut number = 0;
        for file in self.all.iter_mut().filter(|file| file.session == former) {
            number += 1;
            let renamed = rewritten(&file.path, new, number);
            file.size = renamed.map_err(|error| failed("write", &file.path, error))?;
            (file.session, file.number) = (new, number);
        }
        Ok(())
    }
}

/// Removes the mark, if nothing else is left.
impl Drop for SpoolFolder {
    fn drop(&mut self) {
        if self.all.is_empty() {
            // If that fails, it does no harm.
            let _ = remove(&self.path.join(MARK));
        }
    }
}

/// Whether the ring of the run of a file is still there, so that more of it can be recorded.
fn has_ring(path: &Path, magic: u64) -> bool {
    let read = open_to_read(path).and_then(|open| ResumeState::read(&open));
    let runs = read.map(|found| found.runs).unwrap_or_default();
    let run = runs.iter().find(|run| run.magic == Some(magic));
    let Some((run, name)) = run.and_then(|run| Some((run, run.timeline.as_deref()?))) else {
        return false;
    };
    let there = Attached::open(name);
    let is_own = |at: &Attached| run.is_of(at);
    there.is_ok_and(|at| is_own(&at) || at.former().is_some_and(|former| is_own(&former)))
}

/// Marks a directory as that of a spool, if there is none or it is empty.
fn take(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let mark = path.join(MARK);
    if mark.is_file() {
        return Ok(());
    }
    if read_dir(path)?.next().is_some() {
        let what = "expected a directory that is empty, or that --spool has made (a file named \
                    spool is in it), got another one; nothing in it was changed";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let written =
        Replacement::of(&mark).and_then(|mark| mark.write(|mut file| file.write_all(MEANING)));
    written.map_err(|error| match error {
        timeline::Error::Io { source, .. } => source,
        other => io::Error::other(other),
    })
}

/// What the beginning of a file says of it. `None` if it is no file of a session.
fn entry(path: &Path) -> io::Result<Option<SpoolFile>> {
    let size = open_to_read(path)?.metadata()?.len();
    let start = start_of(path)?;
    Ok(start.map(|(start, head)| SpoolFile {
        path: path.to_path_buf(),
        session: start.session,
        magic: start.magic,
        number: start.number,
        size,
        head,
        is_acknowledged: false,
        is_needed: None,
    }))
}

/// The first record of a file, and the bytes of its frame.
fn start_of(path: &Path) -> io::Result<Option<(SessionFile, u64)>> {
    let mut bytes = Vec::new();
    open_to_read(path)?
        .take(2 * MAX_HELLO as u64)
        .read_to_end(&mut bytes)?;
    let Ok(Some(record)) = first(&bytes, MAX_HELLO) else {
        return Ok(None);
    };
    Ok(match Received::read(&bytes[record.clone()]) {
        Some(Received::Message(WireMessage::File(start))) => Some((start, record.end as u64)),
        _ => None,
    })
}

/// Writes a file anew, as one of another session. Returns its size.
fn rewritten(path: &Path, session: SessionId, number: u64) -> io::Result<u64> {
    let (start, end) = start_of(path)?.ok_or(io::ErrorKind::InvalidData)?;
    let mut former = open_to_read(path)?;
    former.seek(SeekFrom::Start(end))?;
    let mut frame = Vec::new();
    let start = SessionFile {
        session,
        number,
        ..start
    };
    WireMessage::File(start).put(&mut frame);
    let written = Replacement::of(path).and_then(|file| {
        file.write(|mut file| {
            file.write_all(&frame)?;
            io::copy(&mut former, &mut file)
        })
    });
    let copied = written.map_err(io::Error::other)?;
    Ok(frame.len() as u64 + copied)
}

pub fn failed(doing: &'static str, path: &Path, error: io::Error) -> Error {
    timeline::Error::io(doing, path, error).into()
}
