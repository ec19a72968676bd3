//! Where the archive of a log is, and how it is opened there.
//!
//! Below a served directory, what is open was reached through no link, and paths lead there by way
//! of the descriptors of this process. People are shown the path of the log instead.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use timeline_archive::{Archive, Result, has_archive_name};
use timeline_search::{open_archive, open_archive_by};

use super::containment::{open_in, path_of};
use super::discovery::FileState;

/// The files of an archive as they were at some time, by their names.
pub type Stamps = Vec<(OsString, FileState)>;

/// Where an archive is.
pub struct ArchivePlace {
    /// Its index is beside this.
    pub path: PathBuf,
    /// Below a served directory: the directory that it is, or is in, and its file, if it is one.
    pub below: Option<(Arc<File>, Option<File>)>,
}

impl ArchivePlace {
    /// Wherever a path leads, because whoever started the server named it.
    pub fn at(path: PathBuf) -> ArchivePlace {
        ArchivePlace { path, below: None }
    }

    /// What has to stay open while the archive is read.
    pub fn folder(&self) -> Option<Arc<File>> {
        self.below.as_ref().map(|(folder, _)| Arc::clone(folder))
    }

    /// Opens the archive. Lost texts are looked for if nobody writes to it: it is opened once then.
    pub fn archive(&self, executables: &[PathBuf]) -> Result<Archive> {
        let mut archive = self.open()?;
        if !archive.is_recorded() {
            archive.recover(executables);
        }
        Ok(archive)
    }

    fn open(&self) -> Result<Archive> {
        match &self.below {
            None => open_archive(&self.path),
            Some((_, Some(file))) => {
                open_archive_by((None, vec![self.path.clone()]), &|_| file.try_clone())
            }
            Some((folder, None)) => {
                let entries = fs::read_dir(path_of(folder)).into_iter().flatten();
                let names = entries
                    .flatten()
                    .map(|entry| self.path.join(entry.file_name()));
                let files = names.filter(|path| has_archive_name(path)).collect();
                let open = |path: &Path| match path.file_name() {
                    Some(name) => open_in(folder, name),
                    None => Err(io::ErrorKind::NotFound.into()),
                };
                open_archive_by((Some(&self.path), files), &open)
            }
        }
    }

    /// Its files as they are now.
    pub fn stamps(&self) -> Stamps {
        let name = || self.path.file_name().unwrap_or_default().to_owned();
        if let Some((_, Some(file))) = &self.below {
            let stamp = file
                .metadata()
                .ok()
                .map(|found| (name(), FileState::of(&found)));
            return stamp.into_iter().collect();
        }
        let path = self.below.as_ref().map(|(folder, _)| path_of(folder));
        let path = path.unwrap_or_else(|| self.path.clone());
        if !path.is_dir() {
            let stamp = fs::metadata(&path)
                .ok()
                .map(|found| (name(), FileState::of(&found)));
            return stamp.into_iter().collect();
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let archives = entries.filter(|entry| has_archive_name(entry.file_name().as_ref()));
        let stamp = |entry: fs::DirEntry| {
            let found = fs::metadata(entry.path()).ok()?;
            Some((entry.file_name(), FileState::of(&found)))
        };
        let mut stamps: Stamps = archives.filter_map(stamp).collect();
        stamps.sort_by(|(left, _), (right, _)| left.cmp(right));
        stamps
    }
}

/// The paths that lead through the descriptors of this process.
const DESCRIPTORS: &str = "/proc/self/fd/";

/// A text in which the path of a log stands instead of descriptors of this process.
pub fn shown(text: &str, path: &Path) -> String {
    let Some((before, rest)) = text.split_once(DESCRIPTORS) else {
        return text.to_string();
    };
    let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The descriptor is the archive, or the directory that it is in.
    let behind = rest
        .strip_prefix('/')
        .and_then(|rest| rest.strip_prefix(&*name));
    let rest = shown(behind.unwrap_or(rest), path);
    format!("{before}{}{rest}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_the_path_of_the_log() {
        for (text, path, expected) in [
            (
                "cannot read /proc/self/fd/12/a.tla: no",
                "/srv/a.tla",
                "cannot read /srv/a.tla: no",
            ),
            ("/proc/self/fd/7/a.tla.idx", "/srv/a.tla", "/srv/a.tla.idx"),
            ("/proc/self/fd/7", "/srv/a.timeline", "/srv/a.timeline"),
            (
                "/proc/self/fd/7/timeline-000001.tla",
                "/srv/a",
                "/srv/a/timeline-000001.tla",
            ),
            ("/timeline", "/srv/a", "/timeline"),
        ] {
            assert_eq!(shown(text, path.as_ref()), expected);
        }
    }
}
