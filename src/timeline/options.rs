//! Options for creating and joining timelines: size, mode, group, and trusted users and groups.

use std::path::Path;

use super::Timeline;
use crate::error::{Error, Result};
use crate::layout::DEFAULT_STRING_TABLE;
use crate::lifecycle::{self, Plan};
use crate::ring::handle::HandleIndex;
use crate::ring::local::MAX_OPEN;
use crate::segment::Use;
use crate::shm::{Name, Trust};

/// How often creating and joining take turns, because a name may be taken and freed in between.
const TURNS: u32 = 100;

/// Options for creating or joining a timeline, if the defaults are not enough; from
/// [`Timeline::options`].
///
/// # Example
/// A service that runs as root shares its timeline with workers of a group:
/// ```
/// use timeline::Timeline;
/// # let path = format!("/timeline-doc-options-{}", std::process::id());
/// # let path = path.as_str();
/// # let www_data = unsafe { libc::getegid() };
/// let master = Timeline::options().mode(0o660).group(www_data).create(path)?;
/// let worker = Timeline::open(path)?; // in another process: root's timelines are trusted
/// # timeline::unlink(path)?;
/// # Ok::<(), timeline::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    plan: Plan,
}

impl Options {
    pub(super) fn new() -> Options {
        Options {
            plan: Plan {
                entries: None,
                strings: DEFAULT_STRING_TABLE,
                important: None,
                mode: 0o600,
                group: None,
                trust: Trust::default(),
            },
        }
    }

    /// Entries of a new timeline: a power of two from 256 to 2^30, 64 bytes each. The default is
    /// that of [`Timeline::new`].
    pub fn entries(mut self, entries: u64) -> Options {
        self.plan.entries = Some(entries);
        self
    }

    /// Bytes of the string table of a new timeline, 1,024 to 2^31; 1 MiB by default. It has room
    /// for one definition per 64 bytes, 65,536 at most.
    pub fn string_table_size(mut self, bytes: u64) -> Options {
        self.plan.strings = bytes;
        self
    }

    /// Entries of a new timeline for [important](crate::Attributes::important) events: 1 to 65,536,
    /// 64 bytes each. An event takes one, or several with a payload. The default is 1,024, or fewer
    /// in rings of less than 65,536 entries: one for each 64, but at least 64.
    pub fn important_entries(mut self, entries: u32) -> Options {
        self.plan.important = Some(entries);
        self
    }

    /// The permission bits of a new timeline, such as `0o660`, whatever the umask; `0o600` by
    /// default.
    ///
    /// A user who may write to a timeline can damage every process that writes to it. So a
    /// [`group`](Options::group) can get that right, but all users cannot.
    ///
    /// A user who may read it can lock it, and so block others. During that time, joining, defining
    /// and setting the level fail with [`Error::Locked`](crate::Error::Locked) within about five
    /// seconds, and events of children forked in that time are dropped and counted. Processes that
    /// have joined go on logging.
    pub fn mode(mut self, mode: u32) -> Options {
        self.plan.mode = mode;
        self
    }

    /// The group of a new timeline, by number. By default the system chooses it.
    pub fn group(mut self, group: u32) -> Options {
        self.plan.group = Some(group);
        self
    }

    /// Trusts a user, by number: timelines of that user are joined, like those of root and of our
    /// own user. That user can damage this process, by cutting the file short or by forging events.
    ///
    /// In a container, all users that it does not know have the same number, usually 65534. To
    /// trust that number is to trust them all.
    pub fn trust_user(mut self, user: u32) -> Options {
        self.plan.trust.user = Some(user);
        self
    }

    /// Trusts a group, by number: its timelines are joined, whichever user owns them.
    pub fn trust_group(mut self, group: u32) -> Options {
        self.plan.trust.group = Some(group);
        self
    }

    /// Creates a timeline: see [`Timeline::new`].
    ///
    /// # Errors
    /// Those of [`Timeline::with_size`]; `NotTrusted` if a timeline of another user has that name;
    /// `BadText` for a mode that lets all users write.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Timeline> {
        let name = Name::new(path.as_ref())?;
        let index = claim_index(&name)?;
        let (segment, lock) = lifecycle::create(&name, &self.plan)?;
        Timeline::join(segment, lock, index)
    }

    /// Joins a timeline as a further writer: see [`Timeline::open`].
    ///
    /// # Errors
    /// Those of [`Timeline::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Timeline> {
        let name = Name::new(path.as_ref())?;
        let index = claim_index(&name)?;
        let (segment, lock) = lifecycle::join(&name, Use::Log, &self.plan.trust)?;
        Timeline::join(segment, lock, index)
    }

    /// Joins the timeline at `path` if it has writers, and creates it otherwise: see
    /// [`Timeline::open_or_create`]. A timeline that is joined keeps its size, mode and group.
    ///
    /// # Errors
    /// Those of [`create`](Options::create) and [`open`](Options::open).
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<Timeline> {
        let path = path.as_ref();
        let mut turns = 0;
        loop {
            // In this order, because `open` would also join a timeline that a crashed run left.
            let in_use = match self.create(path) {
                Err(error @ Error::InUse { .. }) => error,
                other => return other,
            };
            turns += 1;
            match self.open_living(path) {
                Ok(Some(joined)) => return Ok(joined),
                // Removed in between, or left by its last writer.
                Ok(None) | Err(Error::NotFound { .. }) if turns < TURNS => {}
                Ok(None) | Err(Error::NotFound { .. }) => return Err(in_use),
                Err(other) => return Err(other),
            }
        }
    }

    /// Like [`open`](Options::open), but `None` if it has no writers.
    fn open_living(&self, path: &Path) -> Result<Option<Timeline>> {
        let name = Name::new(path)?;
        let index = claim_index(&name)?;
        let living = lifecycle::join_living(&name, &self.plan.trust)?;
        let join = |(segment, lock)| Timeline::join(segment, lock, index);
        living.map(join).transpose()
    }
}

fn claim_index(name: &Name) -> Result<HandleIndex> {
    let doing = "get memory that a fork wipes (Linux 4.14 or later) for";
    HandleIndex::claim()
        .map_err(|e| Error::io(doing, name.given(), e))?
        .ok_or(Error::TooManyOpen { limit: MAX_OPEN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_last_writer_has_left_is_not_joined_in_place_of_a_new_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ring");
        let options = Timeline::options().entries(256).string_table_size(1024);
        let first = options.create(&path).expect("created");
        let second = options.open_living(&path).expect("looked at");
        assert!(second.is_some());
        drop((first, second));
        let corpse = options.open_living(&path).expect("looked at");
        assert!(corpse.is_none());
    }
}
