//! Hashes executables of processes that log, by whoever reads what they logged.
//!
//! While a process runs, /proc leads to its file, also if another one has its name by now, or if
//! its path means nothing here. A file is believed only if it has the size, the time and the inode
//! that the process had seen, before and after it was read.

use std::path::{Path, PathBuf};

use crate::event::FileVersion;
use crate::ring::executables::JoinedProcess;
use crate::ring::life::{Liveness, ProcessView};
use crate::shm::open_regular;

pub use crate::shm::digest;

/// The size of the largest executable that is read. A timeline names the file, and another user may
/// have written that name: the file can be a hole.
pub const MAX_EXECUTABLE: u64 = 2 << 30;

/// The SHA-1 of the executable of a process, if it can still be found.
///
/// This reads all of the file, which may take a second.
pub fn sha1_of(joined: &JoinedProcess) -> Option<[u8; 20]> {
    let wanted = joined.version?;
    let path = joined.executable.as_ref()?.path.as_str();
    let view = ProcessView::here();
    let runs = matches!(view.see(&joined.process), Liveness::Runs);
    let running = runs.then(|| PathBuf::from(format!("/proc/{}/exe", joined.pid)));
    let named = Path::new(path).is_absolute().then(|| PathBuf::from(path));
    let mut places = running.into_iter().chain(named);
    places.find_map(|path| of_version(&path, wanted))
}

/// The SHA-1 of a file, if it has this version.
fn of_version(path: &Path, wanted: FileVersion) -> Option<[u8; 20]> {
    let file = open_regular(path)?;
    let is_it = || {
        let metadata = file.metadata().ok()?;
        (FileVersion::of(&metadata) == wanted).then_some(())
    };
    is_it()?;
    if wanted.size > MAX_EXECUTABLE {
        return None;
    }
    let (size, sha1) = digest(&file, wanted.size, |_| ()).ok()?;
    is_it()?;
    (size == wanted.size).then_some(sha1)
}
