//! Which timelines there are in shared memory.

use crate::attached::Attached;
use crate::error::{Error, Result};
use crate::info::Info;
use crate::lifecycle;
use crate::shm::{self, Name};

/// A timeline found by [`list`].
#[derive(Debug)]
pub struct Listed {
    /// The name to open it by: `/timeline`.
    pub name: String,
    /// How it is doing, or what is wrong with it.
    pub state: Result<Info>,
}

/// All timelines in shared memory, by name: live ones, and what killed programs left.
///
/// Objects of other kinds are left out; damaged timelines, and those whose creator was killed before they were
/// finished, are listed with what is wrong with them.
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
            Ok(attached) => Ok(attached.info()),
            // Somebody else's object, somebody else's user, gone meanwhile, or just being created.
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
