//! The places that are served, and the logs in them.

use std::ffi::OsString;
use std::fs::{self, DirEntry, File, Metadata};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use timeline::internal::layout::MAGIC;
use timeline::{Attached, is_former};
use timeline_archive::has_archive_name;

use super::containment::{has_links, open, open_in, path_of};
use super::discovery::{LogKind, LogSource};
use crate::error::{Error, Result};

/// Most levels of directories below a served one.
const MOST_LEVELS: usize = 8;
/// Most logs of a directory, and most names that are looked at to find them.
const MOST_LOGS: usize = 10_000;
const MOST_NAMES: usize = 100_000;

/// A place that is served.
#[derive(Debug)]
pub enum ServeRoot {
    /// All timelines in shared memory.
    SharedMemory,
    /// One timeline, snapshot or archive.
    One(PathBuf),
    /// All logs in a directory and below it: its real path, and what stands before their names.
    Directory(PathBuf, PathBuf),
}

impl ServeRoot {
    /// The place at this path. It may be one of several.
    pub fn of(path: &Path, is_only: bool) -> Result<ServeRoot> {
        let failed = |reason: String| {
            let path = path.to_path_buf();
            Error::Path { path, reason }
        };
        if path.is_dir() && !is_rotated(path) {
            let real = path
                .canonicalize()
                .map_err(|error| failed(error.to_string()))?;
            let before = if is_only { Path::new("") } else { path };
            return Ok(ServeRoot::Directory(real, before.to_path_buf()));
        }
        // What is not there yet may come.
        let may_come = Attached::open(path).is_err() && !path.exists();
        if may_come && !is_in_shared_memory(path) {
            return Err(failed(
                "there is no such file, directory or timeline".into(),
            ));
        }
        Ok(ServeRoot::One(path.to_path_buf()))
    }

    /// The logs that are there now.
    pub fn list(&self) -> Vec<LogSource> {
        match self {
            ServeRoot::SharedMemory => {
                let names = timeline::names().unwrap_or_default().into_iter();
                let names = names.filter(|name| !is_former(name.as_ref()));
                names
                    .filter_map(|name| found(name.clone(), name.as_ref(), name.clone().into()))
                    .collect()
            }
            ServeRoot::One(path) => {
                let id = path.to_string_lossy().into_owned();
                found(id, path, path.clone()).into_iter().collect()
            }
            ServeRoot::Directory(folder, before) => {
                let mut walk = Walk {
                    folder,
                    before,
                    found: Vec::new(),
                    names: 0,
                };
                if let Ok(opened) = open(folder, Path::new("")) {
                    walk.look(&opened, Path::new(""), 0);
                }
                walk.found
            }
        }
    }
}

/// Whether a path may be a name in shared memory: a slash, and no other.
fn is_in_shared_memory(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.strip_prefix('/')
        .is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// Looks through a directory, and follows no links: each directory and each file is opened in the
/// one that it is in.
struct Walk<'a> {
    folder: &'a Path,
    before: &'a Path,
    found: Vec<LogSource>,
    names: usize,
}

impl Walk<'_> {
    /// Looks through a directory that is open, at a path below the served one.
    fn look(&mut self, folder: &File, below: &Path, level: usize) {
        let Ok(entries) = fs::read_dir(path_of(folder)) else {
            return;
        };
        let is_wanted = |entry: &DirEntry| {
            let kind = entry.file_type();
            kind.is_ok_and(|kind| kind.is_dir() || kind.is_file())
        };
        let entries = entries.flatten().take(MOST_NAMES).filter(is_wanted);
        let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            self.names += 1;
            if self.names > MOST_NAMES || self.found.len() >= MOST_LOGS {
                return;
            }
            // What cannot be read is no log.
            let Ok(opened) = open_in(folder, &name) else {
                continue;
            };
            let below = below.join(&name);
            match opened.metadata() {
                Ok(found) if found.is_dir() => {
                    let is_archive = is_rotated(&path_of(&opened));
                    if is_archive && !has_links(&opened) {
                        self.add(&opened, &below);
                    } else if !is_archive && level < MOST_LEVELS {
                        self.look(&opened, &below, level + 1);
                    }
                }
                Ok(found) if found.is_file() && has_log(&opened, &below) => {
                    self.add(&opened, &below);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, opened: &File, below: &Path) {
        let id = self.before.join(below).to_string_lossy().into_owned();
        let found = found(id, &path_of(opened), self.folder.join(below));
        self.found.extend(found.map(|found| LogSource {
            within: Some(self.folder.into()),
            ..found
        }));
    }
}

/// Whether a directory has the numbered files of a rotated archive.
fn is_rotated(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(MOST_NAMES).any(|entry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name
            .strip_prefix("timeline-")
            .and_then(|name| name.strip_suffix(".tla"));
        is_file
            && number.is_some_and(|number| {
                number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

/// Whether a file begins like a snapshot, or has the ending of an archive.
fn has_log(file: &File, path: &Path) -> bool {
    let mut beginning = [0; 8];
    // One that is shorter is no snapshot.
    let read = file.read_exact_at(&mut beginning, 0);
    has_archive_name(path) || (read.is_ok() && beginning.starts_with(&MAGIC))
}

/// The log that is read at one path, and is named by another.
fn found(id: String, at: &Path, path: PathBuf) -> Option<LogSource> {
    let kind = match at.is_dir() {
        true => LogKind::Archive,
        false => match Attached::open(at) {
            Ok(at) if at.is_snapshot() => LogKind::Snapshot,
            Ok(_) => LogKind::Live,
            Err(_) if at.is_file() => LogKind::Archive,
            Err(_) => return None,
        },
    };
    let metadata = fs::metadata(at).ok();
    let files = match &metadata {
        Some(metadata) if metadata.is_dir() => {
            let entries = fs::read_dir(at).ok()?.flatten();
            let archives = entries.filter(|entry| has_archive_name(&entry.path()));
            let files = archives.filter_map(|entry| entry.metadata().ok());
            files.filter(Metadata::is_file).collect()
        }
        other => Vec::from_iter(other.clone()),
    };
    let bytes = metadata.map(|_| files.iter().map(Metadata::len).sum());
    // When a file comes or goes, the directory changes; when it grows, the file does.
    let modified = files.iter().filter_map(|file| file.modified().ok()).max();
    Some(LogSource {
        id,
        kind,
        path,
        within: None,
        bytes,
        modified,
    })
}
