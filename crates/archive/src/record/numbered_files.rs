//! Finds and makes the numbered files of an archive in a directory: timeline-000001.tla and so on.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use timeline::internal::files;

use crate::error::{Error, Result};
use crate::format::file_name::{file_name, file_number};

/// Attempts to lock a file: a reader that checks for a recorder holds the lock for a moment.
const TRIES: u32 = 10;

/// How often a recorder looks which indexes there are, and how large they are.
const OFTEN: Duration = Duration::from_secs(1);

/// An open file that is locked against other recorders, so that readers know that it grows.
pub type LockedFile = Flock<File>;

/// The numbered files of a directory, which is locked against other recorders.
pub struct Files {
    folder: PathBuf,
    /// The lock of the directory.
    lock: LockedFile,
    /// The finished files: their numbers and sizes, the oldest first.
    finished: VecDeque<(u64, u64)>,
    /// The number of the current file.
    number: u64,
    /// The indexes that readers keep beside the files: their numbers and sizes.
    indexes: BTreeMap<u64, u64>,
    /// When these were looked for. `None` if they are to be looked for at once.
    looked: Option<Instant>,
    /// Whether this recorder created the directory, and the first file in it.
    made: (bool, bool),
    /// The last file, if nobody may change it.
    passed_over: Option<PathBuf>,
}

impl Files {
    /// Opens a directory, which is created with access for its owner alone if it is not there.
    /// Returns its last file, which is created if there is none, or if nobody may change that. What
    /// has the name of a file and is none (a directory, a pipe, a link that leads nowhere) is left
    /// alone.
    pub fn open(folder: &Path) -> Result<(Files, LockedFile, PathBuf)> {
        let fail = |doing| move |error| Error::io(doing, folder, error);
        let is_new = !folder.exists();
        let mut make = DirBuilder::new();
        make.recursive(true).mode(0o700);
        make.create(folder).map_err(fail("create"))?;
        let lock = lock(files::open_to_read(folder).map_err(fail("open"))?, folder)?;
        let mut finished = Vec::new();
        for entry in files::read_dir(folder).map_err(fail("list"))? {
            let entry = entry.map_err(fail("list"))?;
            if let Some(number) = entry.file_name().to_str().and_then(file_number)
                && let Ok(metadata) = fs::metadata(entry.path())
                // A pipe is not opened: reading could wait for a writer.
                && metadata.is_file()
            {
                finished.push((number, metadata.len()));
            }
        }
        finished.sort_unstable();
        let last = finished.pop();
        let mut files = Files {
            folder: folder.to_path_buf(),
            lock,
            finished: finished.into(),
            number: last.map_or(0, |(number, _)| number),
            indexes: BTreeMap::new(),
            looked: None,
            made: (is_new, last.is_none()),
            passed_over: None,
        };
        let (file, path) = match last {
            None => files.begin()?,
            Some((number, size)) => {
                let path = files.path(number);
                match open(&path) {
                    Err(error) if is_taken(&error) => {
                        files.passed_over = Some(path);
                        files.next(size)?
                    }
                    other => (other?, path),
                }
            }
        };
        Ok((files, file, path))
    }

    /// Whether this recorder created the first file.
    pub fn is_made(&self) -> bool {
        self.made.1
    }

    /// The last file that was there, if nobody may change it.
    pub fn passed_over(&self) -> Option<&Path> {
        self.passed_over.as_deref()
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
    pub fn next(&mut self, size: u64) -> Result<(LockedFile, PathBuf)> {
        let present = (self.number, size);
        let begun = self.begin()?;
        self.finished.push_back(present);
        Ok(begun)
    }

    /// Creates the file with the next number that nothing has. What has one already, be it a
    /// directory or a link, is left alone.
    fn begin(&mut self) -> Result<(LockedFile, PathBuf)> {
        let mut number = self.number;
        loop {
            number = number.saturating_add(1);
            let path = self.path(number);
            match create_file(&path) {
                Err(error) if error.is_of_name() && number < u64::MAX => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    (self.number, self.looked) = (number, None);
                    return Ok((file, path));
                }
            }
        }
    }

    /// The files before the current one, the newest first.
    pub fn older(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = self.finished.iter().rev();
        numbers.map(|(number, _)| self.path(*number))
    }

    /// Removes the oldest indexes, and then the oldest files, until all together have at most
    /// `keep` bytes: an index can be made again, and events cannot. The current file counts with
    /// its `size` bytes, and is never removed. What cannot be removed does not count, so that it
    /// costs no other file its place: the next call tries it again.
    ///
    /// # Errors
    /// The path of the first one that could not be removed, and why, after the others were.
    pub fn keep(&mut self, keep: u64, size: u64) -> std::result::Result<(), (PathBuf, io::Error)> {
        self.look_for_indexes();
        let files = self.finished.iter().map(|(_, size)| size);
        let mut total = files.chain(self.indexes.values()).sum::<u64>() + size;
        let mut failed = None;
        while total > keep
            && let Some((number, size)) = self.indexes.pop_first()
        {
            failed = failed.or(remove(self.index(number)).err());
            total -= size;
        }
        let mut at = 0;
        while total > keep
            && let Some((number, size)) = self.finished.get(at).copied()
        {
            match remove(self.path(number)) {
                Ok(()) => {
                    // Whoever searched the file may have made one just now.
                    let _ = files::remove(&self.index(number));
                    self.finished.remove(at);
                }
                Err(error) => {
                    failed = failed.or(Some(error));
                    at += 1;
                }
            }
            total -= size;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Looks which indexes lie beside the files, at most once a second and with each new file:
    /// readers make them at any time.
    fn look_for_indexes(&mut self) {
        if self.looked.is_some_and(|looked| looked.elapsed() < OFTEN) {
            return;
        }
        self.looked = Some(Instant::now());
        let numbers = self.finished.iter().map(|(number, _)| *number);
        let numbers = numbers.chain([self.number]);
        let size = |number| Some((number, fs::symlink_metadata(self.index(number)).ok()?.len()));
        self.indexes = numbers.filter_map(size).collect();
    }

    /// The index of a file, as timeline-search names it.
    fn index(&self, number: u64) -> PathBuf {
        self.path(number).with_extension("tla.idx")
    }

    /// Makes the names of the files durable.
    pub fn sync(&self) -> io::Result<()> {
        self.lock.sync_all()
    }
}

/// Removes a file, unless another process has made room already.
fn remove(path: PathBuf) -> std::result::Result<(), (PathBuf, io::Error)> {
    match files::remove(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|error| (path, error)),
    }
}

/// Whether something else has taken the name of a file, or it may not be changed by anybody.
pub fn is_taken(error: &Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, IsADirectory};
    let error = error.source_of_io();
    let is_fixed = error.and_then(io::Error::raw_os_error) == Some(libc::EPERM);
    let kind = error.map(io::Error::kind);
    is_fixed || matches!(kind, Some(InvalidData | InvalidInput | IsADirectory))
}

/// Creates the file of an archive with access for its owner alone, if nothing has its name. Until
/// it is closed, or its process ends, readers know that it grows, and no recorder goes on with it.
///
/// # Errors
/// `Io`; [`Error::is_of_name`] if something has the name.
pub fn create_file(path: &Path) -> Result<LockedFile> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let file = files::open_as(&options, path);
    let locked = lock(
        file.map_err(|error| Error::io("create", path, error))?,
        path,
    );
    if locked.is_err() {
        // Nobody would go on with an empty file.
        let _ = files::remove(path);
    }
    locked
}

/// Opens a file for this recorder alone. If it is not there, it is created with access for its
/// owner alone.
pub fn open(path: &Path) -> Result<LockedFile> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // It may be a pipe: opening could wait for a reader.
    options.mode(0o600).custom_flags(libc::O_NONBLOCK);
    let fail = |error| Error::io("write to", path, error);
    let file = files::open_as(&options, path).map_err(fail)?;
    if !file.metadata().map_err(fail)?.is_file() {
        let what = "expected a file or a directory to record to, this is neither";
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
    }
    lock(file, path)
}

fn lock(mut file: File, path: &Path) -> Result<LockedFile> {
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

    #[test]
    fn what_cannot_be_removed_keeps_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |number| folder.path().join(file_name(number));
        for number in 1..=5 {
            fs::write(at(number), [0; 10]).unwrap();
        }
        let (mut files, present, _) = Files::open(folder.path()).unwrap();
        // A directory takes the place of the first one, and another one that of an index.
        fs::remove_file(at(1)).unwrap();
        fs::create_dir(at(1)).unwrap();
        let index = folder.path().join("timeline-000002.tla.idx");
        fs::create_dir(&index).unwrap();
        let error = files.keep(20, 10).unwrap_err();
        assert_eq!(error.0, index);
        let left = |number: &u64| at(*number).exists();
        assert_eq!((1..=5).filter(left).collect::<Vec<_>>(), [1, 4, 5]);
        // It is still named, and still costs nothing else.
        let error = files.keep(20, 10).unwrap_err();
        assert_eq!(error.0, at(1));
        assert_eq!((1..=5).filter(left).collect::<Vec<_>>(), [1, 4, 5]);
        fs::remove_dir(at(1)).unwrap();
        files.keep(20, 10).unwrap();
        files.keep(20, 10).unwrap();
        assert_eq!(files.finished, [(4, 10)]);
        drop(present);
    }

    /// Only root can make a file immutable, and not in every file system.
    #[test]
    fn what_nobody_may_change_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |number| folder.path().join(file_name(number));
        fs::write(at(1), [0; 10]).unwrap();
        fs::write(at(2), [0; 10]).unwrap();
        let change = |flag: &str| {
            let done = std::process::Command::new("chattr")
                .arg(flag)
                .arg(at(2))
                .output();
            done.is_ok_and(|done| done.status.success())
        };
        if !change("+i") {
            return;
        }
        let opened = Files::open(folder.path());
        let kept = opened.map(|(mut files, present, path)| {
            let passed_over = files.passed_over().map(Path::to_path_buf);
            let kept = files.keep(5, 0).map_err(|(path, _)| path);
            drop(present);
            (passed_over, path, kept, files.finished)
        });
        assert!(change("-i"));
        let (passed_over, path, kept, finished) = kept.unwrap();
        assert_eq!((passed_over, path), (Some(at(2)), at(3)));
        assert_eq!((kept, finished.into()), (Err(at(2)), vec![(2, 10)]));
    }

    #[test]
    fn indexes_count_and_go_before_files() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for number in 1..=3 {
            fs::write(folder.join(file_name(number)), [0; 10]).unwrap();
        }
        let (mut files, present, _) = Files::open(folder).unwrap();
        for number in 1..=3 {
            let index = folder.join(format!("{}.idx", file_name(number)));
            fs::write(index, [0; 20]).unwrap();
        }
        files.keep(90, 10).unwrap();
        assert_eq!(names(folder).len(), 6);
        files.keep(89, 10).unwrap();
        let first = ["timeline-000001.tla", "timeline-000002.tla"];
        assert_eq!(names(folder)[..2], first, "its index went, and no other");
        assert_eq!(names(folder).len(), 5);
        files.keep(30, 10).unwrap();
        assert_eq!(names(folder), [1, 2, 3].map(file_name));
        files.keep(29, 10).unwrap();
        assert_eq!(names(folder), [2, 3].map(file_name));
        drop(present);
    }

    #[test]
    fn what_has_the_next_number_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |number| folder.path().join(file_name(number));
        fs::create_dir(at(1)).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), at(2)).unwrap();
        let (mut files, present, path) = Files::open(folder.path()).unwrap();
        assert_eq!(path, at(3));
        fs::write(at(4), "a copy").unwrap();
        let (next, path) = files.next(7).unwrap();
        assert_eq!(path, at(5));
        assert_eq!(files.finished, [(3, 7)]);
        assert_eq!(fs::read(at(4)).unwrap(), b"a copy");
        assert!(at(1).is_dir() && !folder.path().join("elsewhere").exists());
        drop((present, next));
    }
}
