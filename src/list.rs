//! Lists the timelines in shared memory.

use crate::access::Refusal;
use crate::attached::Attached;
use crate::error::{Error, Result};
use crate::info::Info;
use crate::layout::{Geometry, MIN_ENTRIES, MIN_STRING_TABLE};
use crate::lifecycle;
use crate::shm::{self, Name};

/// The regions of a timeline begin at multiples of this.
const PAGE: u64 = 4096;

/// A timeline found by [`list`].
#[derive(Debug)]
pub struct ListedTimeline {
    /// The name to open it by: `/timeline`.
    pub name: String,
    /// Its state, or the error of reading it. An `Io` error with a refusal names the owner.
    pub state: Result<Info>,
}

/// All timelines in shared memory, by name: those in use, and those that killed programs left.
///
/// Objects of other kinds are left out. Damaged timelines are listed with the error, and so are
/// those whose creator was killed before they were finished, and those of other users that would
/// take long to read. A timeline that the caller may not read is listed if its size is possible for
/// a timeline.
///
/// # Errors
/// `Io` if shared memory cannot be listed.
pub fn list() -> Result<Vec<ListedTimeline>> {
    let listed = |(name, attached): (String, Result<Attached>)| ListedTimeline {
        name,
        state: attached.and_then(|attached| attached.brief_info()),
    };
    Ok(found()?.map(listed).collect())
}

/// The names of the timelines in shared memory that can be read. Faster than [`list`]: reads only
/// their headers.
///
/// # Errors
/// `Io` if shared memory cannot be listed.
///
/// # Example
/// ```
/// # let path = format!("/timeline-doc-names-{}", std::process::id());
/// # let path = path.as_str();
/// let timeline = timeline::Timeline::with_size(path, 1024, 4096)?;
/// assert!(timeline::names()?.iter().any(|name| name == path));
/// # timeline::unlink(path)?;
/// # Ok::<(), timeline::Error>(())
/// ```
pub fn names() -> Result<Vec<String>> {
    let readable = found()?.filter(|(_, attached)| attached.is_ok());
    Ok(readable.map(|(name, _)| name).collect())
}

/// Attaches to all timelines in shared memory.
fn found() -> Result<impl Iterator<Item = (String, Result<Attached>)>> {
    let names = shm::live_names().map_err(|e| Error::io("list", "/dev/shm".as_ref(), e))?;
    Ok(names.into_iter().filter_map(|name| {
        let staging = lifecycle::is_staging(&name);
        if staging && Name::new(&name).is_ok_and(|name| lifecycle::is_being_created(&name)) {
            return None;
        }
        let attached = Attached::open(&name);
        let listed = match &attached {
            Err(Error::Io {
                refusal: Some(refusal),
                ..
            }) => may_be_one(refusal),
            // Not a timeline, removed meanwhile, or just being created.
            Err(Error::NotATimeline { .. } | Error::NotFound { .. } | Error::Io { .. }) => false,
            Err(Error::Unfinished { .. }) => staging,
            _ => true,
        };
        listed.then(|| (name.to_string_lossy().into_owned(), attached))
    }))
}

/// Whether the size of an unreadable object is possible for a timeline.
fn may_be_one(refusal: &Refusal) -> bool {
    let size = refusal.file.metadata().map_or(0, |found| found.len());
    size.is_multiple_of(PAGE) && size >= Geometry::new(MIN_ENTRIES, MIN_STRING_TABLE).total
}
