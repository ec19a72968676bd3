//! Tells whoever records into an archive that somebody watches it, so that events come at once.
//!
//! A recorder waits up to a second for events to fill a block, because larger blocks are smaller
//! files. Who watches an archive does not want to wait. So a reader that follows an archive renews
//! a file beside it, and the recorder looks at the time of that file: nothing is done while nobody
//! watches, and nothing has to be undone when a reader is killed.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use timeline::internal::files;

use crate::record::output::ArchiveOutput;

/// How long events wait for others to fill a block.
const BLOCK_WAIT: Duration = Duration::from_secs(1);
/// The same while somebody watches the archive.
const WATCHED_WAIT: Duration = Duration::from_millis(20);
/// How long an archive counts as watched after the file was renewed.
const LASTING: Duration = Duration::from_secs(30);
/// How often a recorder looks at the file.
const OFTEN: Duration = Duration::from_millis(200);

/// The file that says that somebody watches an archive.
///
/// # Example
/// ```
/// use timeline_archive::WatchMark;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("flight.tla");
/// let watched = WatchMark::new(&path); // flight.tla, say
/// assert!(!watched.is_now());
/// watched.renew()?;
/// assert!(watched.is_now());
/// watched.end();
/// assert!(!watched.is_now());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct WatchMark {
    path: PathBuf,
    /// When the recorder looked last, and what it found.
    looked: Cell<Option<(Instant, bool)>>,
}

impl WatchMark {
    /// Of the archive at this path: `flight.tla.watched`, or `flights/watched` for a directory.
    pub fn new(archive: &Path) -> WatchMark {
        let path = match ArchiveOutput::is_directory(archive) {
            true => archive.join("watched"),
            false => {
                let mut name = OsString::from(archive);
                name.push(".watched");
                name.into()
            }
        };
        WatchMark {
            path,
            looked: Cell::new(None),
        }
    }

    /// Says that somebody watches the archive from now on for 30 seconds. The file has access for
    /// its owner alone.
    ///
    /// # Errors
    /// Those of creating the file and of setting its time; `AlreadyExists` if somebody else put a
    /// file or a link there, which is not touched.
    pub fn renew(&self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        // What somebody else put there is not touched.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = files::open_as(&options, &self.path)?;
        match is_own(&file.metadata()?) {
            true => file.set_modified(SystemTime::now()),
            false => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Says that nobody watches it any more. Others may: they renew it soon.
    pub fn end(&self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| is_own(&found)) {
            // If it cannot be removed, it is out of date soon.
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Whether somebody watches the archive. A file of another user does not count, unless that is
    /// root: it would make the archive larger.
    pub fn is_now(&self) -> bool {
        let Ok(found) = fs::symlink_metadata(&self.path) else {
            return false;
        };
        let is_trusted = [0, nix::unistd::geteuid().as_raw()].contains(&found.uid());
        let renewed = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let now = SystemTime::now();
        let passed = now
            .duration_since(renewed)
            .or_else(|_| renewed.duration_since(now));
        found.is_file() && is_trusted && passed.is_ok_and(|passed| passed < LASTING)
    }

    /// Likewise, as it was at most a fifth of a second ago.
    pub(crate) fn is_lately(&self) -> bool {
        if let Some((at, was)) = self.looked.get()
            && at.elapsed() < OFTEN
        {
            return was;
        }
        let is = self.is_now();
        self.looked.set(Some((Instant::now(), is)));
        is
    }

    /// How long who records into the archive lets events wait for others at most.
    pub fn block_wait(&self) -> Duration {
        WatchMark::wait_of(self.is_lately())
    }

    /// The same, for who knows whether somebody watches.
    pub(crate) fn wait_of(is_watched: bool) -> Duration {
        match is_watched {
            true => WATCHED_WAIT,
            false => BLOCK_WAIT,
        }
    }
}

/// Whether a file may be one that [`WatchMark::renew`] made: it is empty, and ours.
fn is_own(found: &fs::Metadata) -> bool {
    found.is_file() && found.len() == 0 && found.uid() == nix::unistd::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_watched_as_long_as_the_file_is_renewed() {
        let folder = tempfile::tempdir().unwrap();
        for archive in [folder.path().join("flight.tla"), folder.path().into()] {
            let watched = WatchMark::new(&archive);
            watched.renew().unwrap();
            assert!(watched.is_now() && WatchMark::new(&archive).is_lately());
            let file = fs::File::open(&watched.path).unwrap();
            assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
            for away in [LASTING, LASTING * 1000] {
                let now = SystemTime::now();
                for time in [now - away, now + away + LASTING] {
                    file.set_modified(time).unwrap();
                    assert!(!watched.is_now());
                }
            }
            watched.renew().unwrap();
            assert!(watched.is_now());
            watched.end();
        }
    }

    #[test]
    fn a_link_is_neither_followed_nor_believed() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        let before = fs::metadata(&other).unwrap().modified().unwrap();
        let watched = WatchMark::new(&folder.path().join("flight.tla"));
        std::os::unix::fs::symlink(&other, &watched.path).unwrap();
        assert!(!watched.is_now() && watched.renew().is_err());
        watched.end();
        assert!(fs::symlink_metadata(&watched.path).is_ok());
        assert_eq!(fs::metadata(&other).unwrap().modified().unwrap(), before);
        let notes = WatchMark::new(folder.path());
        fs::write(&notes.path, "notes").unwrap();
        assert!(notes.renew().is_err());
        notes.end();
        assert_eq!(fs::read(&notes.path).unwrap(), b"notes");
    }
}
