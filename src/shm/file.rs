//! Opens, creates, renames and reserves files by name.

use std::ffi::CString;
use std::fs::{File, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::descriptor::open_as;
use super::room::{Room, Shortage, limit};
use crate::layout::Bound;

/// Opens an existing file. A symbolic link at its end is followed for reading only, because a
/// folder that all users may write to must not lead a writer elsewhere.
pub fn open(path: &Path, write: bool) -> io::Result<File> {
    open_with(path, write, write)
}

/// Opens an existing file for reading, unless it is a symbolic link.
pub fn open_nofollow(path: &Path) -> io::Result<File> {
    open_with(path, false, true)
}

fn open_with(path: &Path, write: bool, no_link: bool) -> io::Result<File> {
    let flags = if no_link { libc::O_NOFOLLOW } else { 0 };
    let mut options = File::options();
    let options = options.read(true).write(write);
    let file = open_as(
        options.custom_flags(flags | libc::O_CLOEXEC | libc::O_NONBLOCK),
        path,
    )
    .map_err(|e| match e.raw_os_error() {
        Some(libc::ELOOP) if no_link => {
            let why = "it is a symbolic link, which is not followed for writing";
            io::Error::new(io::ErrorKind::InvalidInput, why)
        }
        _ => e,
    })?;
    if !file.metadata()?.is_file() {
        let why = "expected a regular file or shared-memory object";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(file)
}

/// Creates a file that only its owner may use, whatever the umask. Fails if it exists.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let options = options.read(true).write(true).create_new(true).mode(0o600);
    let file = open_as(
        options.custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW),
        path,
    )?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Creates a file without a name, which only its owner may use. `None` where the system cannot do
/// that, or cannot name the file later.
pub fn create_unnamed(folder: &Path) -> Option<File> {
    let mut options = File::options();
    let options = options.read(true).write(true).mode(0o600);
    let options = options.custom_flags(libc::O_CLOEXEC | libc::O_TMPFILE);
    let file = open_as(options, folder).ok()?;
    file.set_permissions(Permissions::from_mode(0o600)).ok()?;
    is_at(&file, &by_number(&file)).then_some(file)
}

/// Gives a name to a file without one. Fails if the name exists.
pub fn name_new(file: &File, path: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, AtFlags};
    let follow = AtFlags::AT_SYMLINK_FOLLOW;
    Ok(nix::unistd::linkat(
        AT_FDCWD,
        &by_number(file),
        AT_FDCWD,
        path,
        follow,
    )?)
}

fn by_number(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// The path of a file that is removed when this is dropped, unless `keep` was called.
pub struct Temporary(PathBuf);

impl Temporary {
    /// Takes the path of an existing file.
    pub fn new(path: PathBuf) -> Temporary {
        Temporary(path)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves the file in place.
    pub fn keep(mut self) {
        self.0 = PathBuf::new();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // The failure that led here is reported already.
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

/// Renames a file, and fails if the new name exists.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let [c_from, c_to] = [from, to].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (c_from, c_to) = (c_from?, c_to?);
    // SAFETY: both names are NUL-terminated and live through the call. A raw system call, because
    // some C libraries have no function for it.
    let renamed = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            c_from.as_ptr(),
            libc::AT_FDCWD,
            c_to.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
    };
    if renamed == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // A file system that cannot rename in this way (NFS, 9p).
        Some(libc::EINVAL | libc::ENOSYS) => {
            std::fs::hard_link(from, to)?;
            // The file has its new name. If the old one cannot be removed, it does no harm.
            let _ = std::fs::remove_file(from);
            Ok(())
        }
        _ => Err(error),
    }
}

/// A number that cannot be guessed.
pub fn unguessable() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Whether `path` leads to this file.
pub fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

/// Whether the file is only in memory, and so gone after a boot.
pub fn is_in_memory(file: &File) -> bool {
    use nix::sys::statfs::{FsType, HUGETLBFS_MAGIC, TMPFS_MAGIC, fstatfs};
    const RAMFS_MAGIC: FsType = FsType(0x8584_58f6);
    fstatfs(file).is_ok_and(|system| {
        [TMPFS_MAGIC, HUGETLBFS_MAGIC, RAMFS_MAGIC].contains(&system.filesystem_type())
    })
}

/// The largest file this process may write, in bytes.
#[allow(
    clippy::unnecessary_cast,
    reason = "another type with other C libraries"
)]
pub fn file_size_limit() -> u64 {
    limit(libc::RLIMIT_FSIZE as u32)
}

/// Why no bytes could be reserved.
#[derive(Debug)]
pub enum NoReserve {
    /// There is too little room.
    Short(Shortage),
    /// The system refused.
    Failed(io::Error),
}

/// How many bytes are reserved between two looks at the memory that is left.
const AT_ONCE: u64 = 4 << 20;

/// Reserves all bytes of the file in the file system, so that no later write lacks space. Ends
/// early if there is too little `room`.
pub fn reserve(file: &File, bytes: u64, room: &Room) -> Result<(), NoReserve> {
    let short = |bound, free| Err(NoReserve::Short(Shortage { bound, free }));
    // Bytes in all, bytes free, and bytes free for unprivileged users.
    let space = || {
        let found = nix::sys::statvfs::fstatvfs(file).ok()?;
        #[allow(clippy::unnecessary_cast, reason = "narrower on 32-bit targets")]
        let bytes = |blocks| blocks as u64 * found.fragment_size() as u64;
        let (all, free) = (found.blocks(), found.blocks_free());
        Some((bytes(all), bytes(free), bytes(found.blocks_available())))
    };
    let free = || space().map_or(0, |(_, _, available)| available);
    // Beyond this limit the kernel would send SIGXFSZ, which ends most programs.
    if bytes > file_size_limit() {
        return short(Bound::FileSize, file_size_limit());
    }
    // Checked first: a failed attempt takes all free space for a moment, in which other programs
    // get none. A file system that reports no blocks has no limit.
    let needed = room.with_others(bytes);
    if space().is_some_and(|(all, left, _)| all > 0 && left < needed) {
        return short(Bound::FileSystem, free());
    }
    let mut done = 0;
    while done < bytes {
        if let Some(shortage) = room.for_the_last(bytes - done) {
            return Err(NoReserve::Short(shortage));
        }
        let more = match room.is_in_memory() {
            true => AT_ONCE.min(bytes - done),
            false => bytes - done,
        };
        let [start, length] = [done, more].map(|n| libc::off_t::try_from(n).expect("below 2^40"));
        match nix::fcntl::posix_fallocate(file, start, length) {
            Ok(()) => done += more,
            Err(nix::Error::EINTR) => {}
            Err(nix::Error::ENOSPC | nix::Error::EDQUOT) => {
                return short(Bound::FileSystem, free());
            }
            Err(nix::Error::EFBIG) => return short(Bound::FileSize, file_size_limit()),
            Err(error) => return Err(NoReserve::Failed(error.into())),
        }
    }
    Ok(())
}
