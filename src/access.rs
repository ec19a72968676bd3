//! Finds the file of a named timeline, and says who may open a file.

use std::fmt::{Display, Formatter};
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, eaccess};

/// Where POSIX shared-memory objects live on Linux.
pub const SHM_DIR: &str = "/dev/shm";

/// The file of a named timeline. The name has one leading slash and no other, otherwise `None`.
pub fn live_file(given: &Path) -> Option<PathBuf> {
    let name = given.strip_prefix("/").ok()?;
    let plain = !given.as_os_str().as_bytes()[1..].contains(&b'/');
    plain.then(|| Path::new(SHM_DIR).join(name))
}

/// The directory that has a file: `.` for a bare name, and `/` for the root itself.
///
/// # Example
/// ```
/// use std::path::Path;
/// use timeline::internal::files::folder_of;
/// assert_eq!(folder_of("flight.tla".as_ref()), Path::new("."));
/// assert_eq!(folder_of("/logs/flight.tla".as_ref()), Path::new("/logs"));
/// ```
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => Path::new("/"),
    }
}

/// The owner of a file, and its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The number of the user that owns it.
    pub user: u32,
    /// The number of the group that owns it.
    pub group: u32,
    /// Who may read and write it: the permission bits.
    pub mode: u32,
}

impl Owner {
    /// The owner according to the file's metadata.
    pub(crate) fn of(found: &Metadata) -> Owner {
        Owner {
            user: found.uid(),
            group: found.gid(),
            mode: found.permissions().mode() & 0o7777,
        }
    }
}

impl Display for Owner {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        let Owner { user, group, mode } = self;
        write!(f, "user {user} (group {group}, mode {mode:04o})")
    }
}

/// Why a file may not be opened, created or removed: because of its owner, or its directory's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The file, or the directory that refuses.
    pub file: PathBuf,
    /// The owner of `file`.
    pub owner: Owner,
    why: Why,
}

/// The action that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// These rights are missing, as chmod has them.
    Rights(&'static str),
    /// To use or change the directory.
    Directory,
    /// To remove what another user has.
    Remove,
    /// To take the name of what another user has.
    Replace,
}

/// Whether that is done to the name of a file.
fn changes_name(doing: &str) -> bool {
    matches!(doing, "remove" | "replace" | "rename")
}

/// Why these rights to a file do not allow that. `None` if they do.
fn why(doing: &str, may_read: bool, may_write: bool) -> Option<Why> {
    // Who may not open a file cannot tell whether it is in use, and no right to open it lets
    // anybody take its name from its owner.
    match doing {
        "remove" => return Some(Why::Remove),
        "replace" | "rename" => return Some(Why::Replace),
        _ => {}
    }
    let writes = doing.starts_with("write") || doing == "create";
    match (may_read, may_write) {
        // All at once, not one after the other.
        (false, false) if writes => Some(Why::Rights("g+rw")),
        (false, _) => Some(Why::Rights("g+r")),
        (true, false) => Some(Why::Rights("g+w")),
        (true, true) => None,
    }
}

impl Refusal {
    /// Why the system refused to do this with the file or the named timeline. `None` if it did not
    /// refuse, or if owner and mode do not explain it.
    pub fn of(doing: &str, path: &Path, error: &io::Error) -> Option<Refusal> {
        let file = live_file(path).unwrap_or_else(|| path.to_path_buf());
        Refusal::of_file(doing, &file, error)
    }

    /// The same of a path that is no name of a timeline: `/flight.tla` is a file in `/`.
    pub fn of_file(doing: &str, file: &Path, error: &io::Error) -> Option<Refusal> {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return None;
        }
        let folder = folder_of(file);
        let may = |file: &Path, flags| eaccess(file, flags).is_ok();
        let (of, why) = match file.symlink_metadata() {
            Ok(_) if changes_name(doing) && !may(folder, AccessFlags::W_OK) => {
                (folder, Why::Directory)
            }
            Ok(found) if found.is_dir() && !changes_name(doing) => (file, Why::Directory),
            Ok(_) => {
                let [read, write] =
                    [AccessFlags::R_OK, AccessFlags::W_OK].map(|flags| may(file, flags));
                (file, why(doing, read, write)?)
            }
            // The nearest directory with metadata is the one that grants no access.
            Err(_) => (
                folder.ancestors().find(|up| up.metadata().is_ok())?,
                Why::Directory,
            ),
        };
        let found = of.metadata().ok()?;
        Some(Refusal {
            file: of.to_path_buf(),
            owner: Owner::of(&found),
            why,
        })
    }
}

/// The file that refuses, its owner, and a remedy.
impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        let (file, owner) = (self.file.display(), self.owner);
        let who = match owner.user {
            0 => "root (sudo)",
            _ => "its owner or root (sudo)",
        };
        match self.why {
            Why::Directory => write!(
                f,
                "permission denied: the directory {file} belongs to {owner}; run as {who}, or \
                 choose another place"
            ),
            Why::Remove => write!(
                f,
                "permission denied: it belongs to {owner}; only {who} can remove it"
            ),
            Why::Replace => write!(
                f,
                "permission denied: it belongs to {owner}; choose another name, or have it removed \
                 by {who}"
            ),
            Why::Rights(rights) => write!(
                f,
                "permission denied: it belongs to {owner}; run as {who}, or have the owner share \
                 it (chgrp, and chmod {rights} {file})"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_leading_slash_and_no_other_is_a_live_name() {
        let file = |given: &str| live_file(Path::new(given));
        assert_eq!(file("/timeline"), Some("/dev/shm/timeline".into()));
        for other in [
            "timeline",
            "/tmp/timeline",
            "//timeline",
            "./a",
            "",
            "/timeline/",
        ] {
            assert_eq!(file(other), None, "{other:?}");
        }
    }
}
