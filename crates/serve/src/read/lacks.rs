//! Says what a log is known to lack: the same of one that is opened and of one that grows.

use serde::Serialize;
use timeline_archive::Archive;
use utoipa::ToSchema;

/// What a log is known to lack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Lacks {
    /// How many entries were overwritten before they were recorded.
    pub missed: u64,
    /// In how many places nobody knows how many more, because no recorder ran between two runs.
    pub missed_unknown: u64,
    /// How many entries are gone, with a part that was damaged or a file that was removed.
    pub gone: u64,
    /// How many bytes are damaged.
    pub damaged: u64,
    /// How many files are missing between the others.
    pub missing_files: u64,
}

impl Lacks {
    pub fn of(archive: &Archive) -> Lacks {
        let damage = archive.damage_at_rest().iter();
        Lacks {
            missed: archive.missed(),
            missed_unknown: archive.missed_unknown(),
            gone: archive.gone(),
            damaged: damage.map(|place| place.len() as u64).sum(),
            missing_files: archive.missing_files(),
        }
    }
}
