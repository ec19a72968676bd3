//! What is known of a log before it is opened.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use utoipa::ToSchema;

use super::containment;
use crate::error::{Error, Result};

/// What holds the events of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Kind)]
pub enum LogKind {
    /// A timeline that programs can write to.
    Live,
    /// A copy of one.
    Snapshot,
    /// An archive: a file, or the directory of a rotated one.
    Archive,
}

/// A log that can be opened.
#[derive(Debug, Clone)]
pub struct LogSource {
    /// Its name in requests: the name in shared memory, or the path below the served directory.
    pub id: String,
    /// What holds its events.
    pub kind: LogKind,
    /// Where it is.
    pub path: PathBuf,
    /// The directory that it must not leave, if one is served.
    pub within: Option<PathBuf>,
    /// The bytes of its files.
    pub bytes: Option<u64>,
    /// When it was written last.
    pub modified: Option<SystemTime>,
}

impl LogSource {
    /// The last part of the name, which people read.
    pub fn name(&self) -> &str {
        let name = self.id.trim_end_matches('/').rsplit('/').next();
        name.filter(|name| !name.is_empty()).unwrap_or(&self.id)
    }
}

impl LogSource {
    /// Its file or directory, opened through no link, if it is below a served directory.
    ///
    /// # Errors
    /// `NoLog` if it is not there, or not without a link.
    pub fn opened(&self) -> Result<Option<File>> {
        let Some(within) = &self.within else {
            return Ok(None);
        };
        let below = self.path.strip_prefix(within).ok();
        let opened = below.and_then(|below| containment::open(within, below).ok());
        opened.map(Some).ok_or_else(|| self.gone())
    }

    /// A path that leads to it, and through no link if it is below a served directory.
    ///
    /// # Errors
    /// Those of [`LogSource::opened`].
    pub fn reached(&self) -> Result<LogFile> {
        let file = self.opened()?;
        let path = file
            .as_ref()
            .map_or_else(|| self.path.clone(), containment::path_of);
        Ok(LogFile { path, file })
    }

    /// The directory that it is in, opened likewise.
    ///
    /// # Errors
    /// `NoLog` if it is not there, or is below no served directory.
    pub fn folder(&self) -> Result<File> {
        let within = self.within.as_ref().ok_or_else(|| self.gone())?;
        let below = self.path.strip_prefix(within).ok().and_then(Path::parent);
        let opened = below.and_then(|below| containment::open(within, below).ok());
        opened.ok_or_else(|| self.gone())
    }

    /// That it is not there any more.
    pub fn gone(&self) -> Error {
        Error::NoLog {
            id: self.id.clone(),
        }
    }
}

/// A path that leads to a log for as long as this is there.
pub struct LogFile {
    path: PathBuf,
    /// The file that is open for it.
    pub file: Option<File>,
}

impl LogFile {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file as it was at some time: its device and inode, its size, and when it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    changed: (i64, i64),
}

impl FileState {
    pub fn of(metadata: &Metadata) -> FileState {
        FileState {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether this is the same file, to which bytes were appended at most.
    pub fn is_behind(&self, before: &FileState) -> bool {
        let is_same = (self.device, self.inode) == (before.device, before.inode);
        is_same && self.size >= before.size
    }
}
