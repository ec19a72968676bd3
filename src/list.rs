//! Which timelines there are in shared memory.

use crate::access::Refusal;
use crate::attached::Attached;
use crate::error::{Error, Result};
use crate::info::Info;
use crate::layout::{Geometry, MIN_ENTRIES, MIN_STRING_TABLE};
use crate::lifecycle;
use crate::shm::{self, Name};

/// What the regions of a timeline begin at multiples of.
const PAGE: u64 = 4096;

/// A timeline found by [`list`].
#[derive(Debug)]
pub struct Listed {
    /// The name to open it by: `/timeline`.
    pub name: String,
    /// Its state, or the error that kept it from being read. An `Io` error with a refusal names the owner.
    pub state: Result<Info>,
}

/// All timelines in shared memory, by name: live ones, and what killed programs left.
///
/// Objects of other kinds are left out. Damaged timelines, and those whose creator was killed before they were
/// finished, are listed with the error. So are those that the caller may not read, if their size is one that a timeline
/// may have.
///
/// # Errors
/// `Io` if shared memory cannot be listed.
pub fn list() -> Result<Vec<Listed>> {
    let names = shm::live_names().map_err(|e| Error::io("list", "/dev/shm".as_ref(), e))?;
    let mut listed = Vec::new();
    for name in names {
        let staging = lifecycle::is_staging(&name);
        if staging && Name::new(&name).is_ok_and(|name| lifecycle::is_being_created(&name)) {
            continue;
        }
        let state = match Attached::open(&name) {
            Ok(attached) => {
                let info = attached.info();
                attached.intact().map(|()| info)
            }
            Err(Error::Io {
                refusal: Some(refusal),
                ..
            }) if !may_be_one(&refusal) => continue,
            Err(
                error @ Error::Io {
                    refusal: Some(_), ..
                },
            ) => Err(error),
            // Somebody else's object, gone meanwhile, or just being created.
            Err(Error::NotATimeline { .. } | Error::NotFound { .. } | Error::Io { .. }) => continue,
            Err(Error::Unfinished { .. }) if !staging => continue,
            Err(error) => Err(error),
        };
        listed.push(Listed {
            name: name.to_string_lossy().into_owned(),
            state,
        });
    }
    Ok(listed)
}

/// Whether an object that may not be read may be a timeline, by its size.
fn may_be_one(refusal: &Refusal) -> bool {
    let size = refusal.file.metadata().map_or(0, |found| found.len());
    size.is_multiple_of(PAGE) && size >= Geometry::new(MIN_ENTRIES, MIN_STRING_TABLE).total
}
