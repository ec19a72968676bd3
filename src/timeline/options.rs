//! How a timeline is created or joined: its size, its mode and group, and the users and groups that
//! a writer trusts.

use std::path::Path;

use super::{Timeline, claim_index};
use crate::error::{Error, Result};
use crate::layout::DEFAULT_STRING_TABLE;
use crate::lifecycle::{self, Plan};
use crate::segment::Use;
use crate::shm::{Name, Trust};

/// How often creating and joining take turns: a name is seldom taken and free again in between.
const TURNS: u32 = 100;

/// How a timeline is created or joined, where the defaults are not enough; from
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
                mode: 0o600,
                group: None,
                trust: Trust::default(),
            },
        }
    }

    /// Entries of a timeline that is created: a power of two from 256 to 2^30, 64 bytes each. The
    /// default is that of [`Timeline::new`].
    pub fn entries(mut self, entries: u64) -> Options {
        self.plan.entries = Some(entries);
        self
    }

    /// Bytes of the string table of a timeline that is created, 1,024 to 2^31; 1 MiB by default.
    /// One event may be defined for every 64 of them, 65,536 at most.
    pub fn string_table_size(mut self, bytes: u64) -> Options {
        self.plan.strings = bytes;
        self
    }

    /// The permission bits of a timeline that is created, such as `0o660`, whatever the umask;
    /// `0o600` by default.
    ///
    /// Whoever may write to a timeline may damage every process that writes to it. So a
    /// [`group`](Options::group) can get that right, but everybody cannot.
    ///
    /// Whoever may read it can lock it, and so hold up others. While they do, joining, defining and
    /// setting the level fail with [`Error::Locked`](crate::Error::Locked) within some five
    /// seconds, and events of processes forked then are dropped and counted. Processes that have
    /// joined go on logging.
    pub fn mode(mut self, mode: u32) -> Options {
        self.plan.mode = mode;
        self
    }

    /// The group of a timeline that is created, by number. By default the system chooses it.
    pub fn group(mut self, group: u32) -> Options {
        self.plan.group = Some(group);
        self
    }

    /// Trusts a user, by number: this user's timelines are joined, like those of root and of our
    /// own user. That user can damage this process, by cutting the file short or by forging events.
    ///
    /// In a container, all users that it does not know have one number, 65534 as a rule. Trusting
    /// that number trusts them all.
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
    /// `BadText` for a mode that lets everybody write.
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

    /// Joins the timeline at `path` if somebody writes to it, and creates it otherwise: see
    /// [`Timeline::open_or_create`]. A timeline that is joined keeps its size, mode and group.
    ///
    /// # Errors
    /// Those of [`create`](Options::create) and [`open`](Options::open).
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<Timeline> {
        let path = path.as_ref();
        let mut turns = 0;
        loop {
            // In this order, because `open` would also join what a crashed run has left.
            let in_use = match self.create(path) {
                Err(error @ Error::InUse { .. }) => error,
                other => return other,
            };
            turns += 1;
            match self.open_living(path) {
                Ok(Some(joined)) => return Ok(joined),
                // Removed in between, or its last writer has left.
                Ok(None) | Err(Error::NotFound { .. }) if turns < TURNS => {}
                Ok(None) | Err(Error::NotFound { .. }) => return Err(in_use),
                Err(other) => return Err(other),
            }
        }
    }

    /// As [`open`](Options::open), but `None` if nobody writes to it.
    fn open_living(&self, path: &Path) -> Result<Option<Timeline>> {
        let name = Name::new(path)?;
        let index = claim_index(&name)?;
        let living = lifecycle::join_living(&name, &self.plan.trust)?;
        let join = |(segment, lock)| Timeline::join(segment, lock, index);
        living.map(join).transpose()
    }
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
