//! Removes what a store keeps no longer: the oldest files first, never one that is written.

use std::fs::{Metadata, remove_dir};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use timeline::internal::files::{open_to_read, read_dir, remove};
use timeline_archive::has_archive_name;

use crate::traces::folders_of_runs;

/// How much a store keeps, of all runs together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// The largest size of all files together, in bytes.
    pub size: Option<u64>,
    /// How long a file is kept after something was written to it last.
    pub age: Option<Duration>,
}

/// A file of a run.
struct KeptFile {
    path: PathBuf,
    size: u64,
    written: SystemTime,
}

impl Retention {
    /// Whether anything is ever removed.
    pub fn removes(&self) -> bool {
        self.size.is_some() || self.age.is_some()
    }

    /// Removes what is too old or too much at this time, in the directory of a store. Says what
    /// came of each file that was to go.
    pub fn apply(
        &self,
        folder: &Path,
        now: SystemTime,
        mut say: impl FnMut(&Path, io::Result<()>),
    ) {
        let mut files: Vec<_> = folders_of_runs(folder)
            .flat_map(|run| files_in(&run))
            .collect();
        files.sort_by(|a, b| (a.written, &a.path).cmp(&(b.written, &b.path)));
        let mut size: u64 = files.iter().map(|file| file.size).sum();
        for file in files {
            let age = now.duration_since(file.written).unwrap_or_default();
            let is_old = self.age.is_some_and(|most| age > most);
            if !is_old && self.size.is_none_or(|most| size <= most) {
                continue;
            }
            match remove_unless_written(&file.path) {
                Ok(false) => {}
                Ok(true) => {
                    size -= file.size;
                    say(&file.path, Ok(()));
                    // A directory that has something else stays.
                    let run = file.path.parent().unwrap_or(folder);
                    if remove_dir(run).is_ok() {
                        let _ = run.parent().map(remove_dir);
                    }
                }
                Err(error) => say(&file.path, Err(error)),
            }
        }
    }
}

/// The files of the archive in a directory.
fn files_in(folder: &Path) -> Vec<KeptFile> {
    let entries = read_dir(folder).into_iter().flatten().flatten();
    // Others than the store's may lie there.
    let is_own = |entry: &std::fs::DirEntry| {
        let is_numbered = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(b"timeline-");
        is_numbered && has_archive_name(&entry.path())
    };
    let archives = entries.filter(is_own);
    let file = |entry: std::fs::DirEntry| {
        // Of a link, this is the link.
        let metadata = entry.metadata().ok().filter(Metadata::is_file)?;
        Some(KeptFile {
            path: entry.path(),
            size: metadata.len(),
            written: metadata.modified().ok()?,
        })
    };
    archives.filter_map(file).collect()
}

/// Removes a file with the index beside it, unless somebody writes to it. Returns whether it did.
fn remove_unless_written(path: &Path) -> io::Result<bool> {
    let file = match open_to_read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        file => file?,
    };
    // Until it is gone, nobody begins to.
    let _lock = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Err((_, Errno::EWOULDBLOCK)) => return Ok(false),
        lock => lock.map_err(|(_, errno)| io::Error::from(errno))?,
    };
    let _ = remove(&path.with_extension("tla.idx"));
    remove(path)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, create_dir_all};
    use timeline_archive::create_file;

    /// The files of three runs, and their sizes. A second lies between the times at which something
    /// was written to them.
    const FILES: [(&str, u64); 4] = [
        ("a/x/timeline-000001.tla", 10),
        ("b/y/timeline-000001.tla", 20),
        ("a/x/timeline-000002.tla", 30),
        ("b/z/timeline-000001.tla", 40),
    ];

    /// A store with them, and the time of the last one.
    fn store() -> (tempfile::TempDir, SystemTime) {
        let folder = tempfile::tempdir().unwrap();
        let mut time = SystemTime::UNIX_EPOCH;
        for (name, size) in FILES {
            let path = folder.path().join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            let file = create_file(&path).unwrap();
            file.set_len(size).unwrap();
            time += Duration::from_secs(1);
            file.set_modified(time).unwrap();
        }
        (folder, time)
    }

    /// How many of the files are removed. They are the first ones.
    fn removed(retention: Retention, folder: &Path, now: SystemTime) -> usize {
        let mut gone = Vec::new();
        retention.apply(folder, now, |path, result| {
            result.unwrap();
            assert!(!path.exists());
            gone.push(path.to_path_buf());
        });
        let all: Vec<_> = FILES.iter().map(|(name, _)| folder.join(name)).collect();
        assert_eq!(gone, all[..gone.len()]);
        assert!(all[gone.len()..].iter().all(|path| path.exists()));
        gone.len()
    }

    #[test]
    fn the_oldest_files_of_all_runs_go_first() {
        for (size, expected) in [
            (100, 0),
            (99, 1),
            (90, 1),
            (89, 2),
            (69, 3),
            (39, 4),
            (0, 4),
        ] {
            let (folder, now) = store();
            let size = Some(size);
            let gone = removed(Retention { size, age: None }, folder.path(), now);
            assert_eq!(gone, expected, "{size:?}");
            // A run, and a machine, of which nothing is left.
            assert_eq!(folder.path().join("a").exists(), expected < 3, "{size:?}");
            assert_eq!(folder.path().join("b/y").exists(), expected < 2, "{size:?}");
        }
        for (age, expected) in [(3, 0), (2, 1), (0, 3)] {
            let (folder, now) = store();
            let age = Some(Duration::from_secs(age));
            let gone = removed(Retention { size: None, age }, folder.path(), now);
            assert_eq!(gone, expected, "{age:?}");
        }
    }

    #[test]
    fn what_is_written_or_of_others_stays() {
        let (folder, now) = store();
        let [first, second] = [0, 1].map(|number| folder.path().join(FILES[number].0));
        let index = second.with_extension("tla.idx");
        File::create(&index).unwrap();
        let _written = Flock::lock(File::open(&first).unwrap(), FlockArg::LockExclusive).unwrap();
        let other = folder.path().join("b/z/notes.tla");
        File::create(&other).unwrap();
        let link = folder.path().join("b/z/timeline-000009.tla");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let mut gone = 0;
        let all = Retention {
            size: Some(0),
            age: None,
        };
        all.apply(folder.path(), now, |_, result| {
            result.unwrap();
            gone += 1;
        });
        assert_eq!(gone, 3);
        assert!(first.exists() && !second.exists() && !index.exists());
        assert!(other.exists() && link.symlink_metadata().is_ok());
    }
}
