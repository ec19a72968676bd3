//! What is known of a log before it is opened.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Serialize;
use utoipa::ToSchema;

/// What holds the events of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A timeline that programs can write to.
    Live,
    /// A copy of one.
    Snapshot,
    /// An archive: a file, or the directory of a rotated one.
    Archive,
}

/// A log that can be opened.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its name in requests: the name in shared memory, or the path below the served directory.
    pub id: String,
    /// What holds its events.
    pub kind: Kind,
    /// Where it is.
    pub path: PathBuf,
    /// The directory that it must not leave, if one is served.
    pub within: Option<PathBuf>,
    /// The bytes of its files.
    pub bytes: Option<u64>,
    /// When it was written last.
    pub modified: Option<SystemTime>,
}

impl Found {
    /// The last part of the name, which people read.
    pub fn name(&self) -> &str {
        let name = self.id.trim_end_matches('/').rsplit('/').next();
        name.filter(|name| !name.is_empty()).unwrap_or(&self.id)
    }
}

/// A file as it was at some time: its device and inode, its size, and when it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether this is the same file, to which bytes were appended at most.
    pub fn is_behind(&self, before: &Stamp) -> bool {
        let is_same = (self.device, self.inode) == (before.device, before.inode);
        is_same && self.size >= before.size
    }
}
