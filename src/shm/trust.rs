//! The owner of a file, the users whose files a writer maps, and whose environment is believed.
//!
//! A user who may write to a mapped file may cut it short, and the kernel then ends every program
//! that touches the lost part. A user who may write to a timeline may forge events in it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use crate::access::Owner;

/// The user and the group that a writer trusts in addition to root and its own user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trust {
    /// A user, by number.
    pub user: Option<u32>,
    /// A group, by number: all users who may give a file to it.
    pub group: Option<u32>,
}

/// Write permission for all users.
const BY_ANYBODY: u32 = 0o002;

/// Write permission for a group, or for all users.
const BY_OTHERS: u32 = 0o022;

/// The owner of an open file.
pub fn owner(file: &File) -> io::Result<Owner> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: `stat` is a valid place for one, and is read only when the call filled it.
    let stat = unsafe {
        if libc::fstat(file.as_raw_fd(), stat.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        stat.assume_init()
    };
    Ok(Owner {
        user: stat.st_uid,
        group: stat.st_gid,
        mode: stat.st_mode & 0o7777,
    })
}

/// Whether a user other than root and our own may cut a file short.
pub fn others_may_cut(file: &File) -> io::Result<bool> {
    let owner = owner(file)?;
    Ok(owner.mode & BY_OTHERS != 0 || (owner.user != 0 && !is_own(file)))
}

/// A variable of the environment; none if this program has more rights than who started it.
///
/// Whoever starts a program chooses its environment. A program with the rights of its file (setuid,
/// setgid, or capabilities of a file) must not be told by that person what to log, to run, or to
/// read. So the library, the Lua module and the command ask this, and not the system.
///
/// # Example
/// ```
/// assert_eq!(timeline::internal::variable("TIMELINE_NO_SUCH_VARIABLE"), None);
/// ```
pub fn variable(name: &str) -> Option<OsString> {
    match has_rights_of_its_file() {
        true => None,
        false => std::env::var_os(name),
    }
}

/// Whether the kernel started this program with rights that who started it does not have.
fn has_rights_of_its_file() -> bool {
    // SAFETY: getauxval only reads what the kernel gave this process.
    (unsafe { libc::getauxval(libc::AT_SECURE) }) != 0
}

/// Whether a file belongs to the user of this process.
pub fn is_own(file: &File) -> bool {
    owner(file).is_ok_and(|owner| owner.user == own_user()) && kernel_agrees(file)
}

/// The user of this process, by number.
fn own_user() -> u32 {
    // SAFETY: geteuid only reads.
    unsafe { libc::geteuid() }
}

/// Whether the kernel takes the file for ours: only an owner may set this flag.
///
/// In a user namespace, all users that it does not know have the same number, and that may be our
/// own number as well.
fn kernel_agrees(file: &File) -> bool {
    let file = file.as_raw_fd();
    // SAFETY: flags of an open descriptor are read, set, and put back; they only affect access
    // times.
    unsafe {
        let flags = libc::fcntl(file, libc::F_GETFL);
        let agrees = libc::fcntl(file, libc::F_SETFL, flags | libc::O_NOATIME) == 0;
        libc::fcntl(file, libc::F_SETFL, flags);
        agrees
    }
}

impl Trust {
    /// Whether a writer may join a file: its owner is root, our own user or trusted, and not all
    /// users may write to it. Its owner decides whether a group may.
    pub fn includes(&self, file: &File, owner: &Owner) -> bool {
        let known = owner.user == 0 || self.names(owner) || is_own(file);
        known && owner.mode & BY_ANYBODY == 0
    }

    /// Whether [`includes`](Trust::includes) can be true for a file of this owner, as far as its
    /// name alone tells.
    pub fn may_include(&self, owner: &Owner) -> bool {
        owner.user == 0 || self.names(owner) || owner.user == own_user()
    }

    fn names(&self, owner: &Owner) -> bool {
        self.user == Some(owner.user) || self.group == Some(owner.group)
    }
}
