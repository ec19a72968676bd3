//! The directory of a server for temporary files, and what dead servers left of theirs.
//!
//! A server that is killed cannot remove its directory. So each has a file in it that it locks as
//! long as it lives, and the next one that starts removes the directories whose file nobody locks.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::fcntl::{Flock, FlockArg};
use tempfile::TempDir;

use super::containment::{open_in, path_of};
use crate::error::{Error, Result};

/// The beginning of the names of directories of servers.
const PREFIX: &str = "timeline-serve-";
/// The file that the living lock, and what it says. Other directories are left alone, whatever
/// their names are.
const LOCK: &str = "lock";
const TEXT: &[u8] =
    b"`timeline serve` made this directory, and removes it. It locks this file while it lives.\n";

/// A place for temporary files, which is made when it is needed.
#[derive(Default)]
pub struct Scratch(Mutex<Option<Own>>);

/// The directory of this server. It is removed before the lock is given up.
struct Own {
    folder: TempDir,
    _lock: Flock<File>,
}

impl Scratch {
    /// A directory in that of this server, which is removed with what this returns.
    pub fn folder(&self, action: &'static str) -> Result<TempDir> {
        let failed = |error| Error::io(action, error);
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have tidied up the directory for temporary files.
        if own.as_ref().is_none_or(|own| !own.folder.path().exists()) {
            *own = Some(Own::new(&temporary()).map_err(failed)?);
        }
        let own = own.as_ref().expect("it was made");
        private("").tempdir_in(own.folder.path()).map_err(failed)
    }
}

/// The directory for temporary files.
fn temporary() -> PathBuf {
    timeline::internal::variable("TMPDIR").map_or("/tmp".into(), PathBuf::from)
}

/// Makes directories that only this user can enter.
fn private(prefix: &str) -> tempfile::Builder<'_, '_> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700));
    builder
}

impl Own {
    fn new(temporary: &Path) -> io::Result<Own> {
        let folder = private(PREFIX).tempdir_in(temporary)?;
        // It gets its name when it is locked, so that nobody finds it without the lock.
        let (mut file, unnamed) = tempfile::NamedTempFile::new_in(folder.path())?.into_parts();
        file.write_all(TEXT)?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock);
        let lock = lock.map_err(|(_, error)| io::Error::from(error))?;
        unnamed
            .persist(folder.path().join(LOCK))
            .map_err(|failed| failed.error)?;
        Ok(Own {
            folder,
            _lock: lock,
        })
    }
}

/// Removes what dead servers of this user left in the directory for temporary files.
pub fn remove_dead() {
    remove_dead_in(&temporary());
}

fn remove_dead_in(temporary: &Path) {
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    for entry in entries {
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
        {
            // What cannot be removed stays.
            let _ = remove_if_dead(&entry.path());
        }
    }
}

/// Removes the directory of a server, if it is of this user and nobody holds its lock. Each thing
/// is opened before it is looked at, so that nobody can put another one in its place.
fn remove_if_dead(path: &Path) -> io::Result<()> {
    let user = nix::unistd::geteuid().as_raw();
    let is_ours = |file: &File| Ok::<_, io::Error>(file.metadata()?.uid() == user);
    let mut options = OpenOptions::new();
    options.read(true);
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_DIRECTORY;
    let folder = options.custom_flags(flags).open(path)?;
    if !is_ours(&folder)? {
        return Ok(());
    }
    let lock = open_in(&folder, LOCK.as_ref())?;
    if !is_ours(&lock)? || !says_so(&lock)? {
        return Ok(());
    }
    let Ok(_locked) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) else {
        return Ok(());
    };
    let inside = path_of(&folder);
    for entry in fs::read_dir(&inside)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            // The last one: who is killed before leaves the rest to the next one.
            false if entry.file_name() == LOCK => {}
            false => fs::remove_file(entry.path())?,
        }
    }
    fs::remove_file(inside.join(LOCK))?;
    // Only if it is empty: it may be another one by now.
    fs::remove_dir(path)
}

/// Whether it is the file of a server.
fn says_so(lock: &File) -> io::Result<bool> {
    let mut text = Vec::new();
    let is_file = lock.metadata()?.is_file();
    if is_file {
        lock.take(TEXT.len() as u64 + 1).read_to_end(&mut text)?;
    }
    Ok(text == TEXT)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_dead_servers_left_is_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        let living = Own::new(temporary.path()).unwrap();
        // As a server that was killed leaves it.
        let dead = Own::new(temporary.path()).unwrap();
        let (gone, _) = (dead.folder.keep(), drop(dead._lock));
        fs::create_dir(gone.join("recording")).unwrap();
        fs::write(gone.join("recording/timeline-000001.tla"), "events").unwrap();
        symlink(at("notes"), gone.join("link")).unwrap();
        // What others put there.
        fs::create_dir(at("notes")).unwrap();
        fs::write(at("notes").join(LOCK), TEXT).unwrap();
        symlink(at("notes"), at("timeline-serve-link")).unwrap();
        for (name, text) in [("own", ""), ("other", "my notes")] {
            let folder = at(&format!("timeline-serve-{name}"));
            fs::create_dir(&folder).unwrap();
            fs::write(
                folder.join(if text.is_empty() { "file" } else { LOCK }),
                text,
            )
            .unwrap();
        }
        let linked = at("timeline-serve-linked");
        fs::create_dir(&linked).unwrap();
        symlink(at("notes").join(LOCK), linked.join(LOCK)).unwrap();
        remove_dead_in(temporary.path());
        assert!(!gone.exists() && living.folder.path().join(LOCK).exists());
        let left = fs::read_dir(temporary.path()).unwrap().count();
        assert_eq!(left, 6);
        assert!(at("notes").join(LOCK).exists());
    }
}
