//! Opens all files, with descriptors that never have the number of a standard stream.
//!
//! **Why does the library take the numbers of closed standard streams?** `open` gives the lowest
//! number that is free. A host that has closed its standard output and opens a timeline would print
//! into that timeline's header. Moving the descriptor away at once leaves a moment in which another
//! thread prints. So the library looks before it opens anything, and fills the free numbers among
//! 0, 1 and 2 with descriptors that lead nowhere (`/dev/null` with `O_PATH`). For the host they
//! fail as closed ones do, and exec closes them. Every file is opened in src/shm/descriptor.rs.
//! tests/cli/layers/mod.rs looks for other places, and tests/archive/descriptors/streams.rs stops a
//! program at each of its system calls.
//!
//! The numbers stay taken, as with SQLite. A host that opens another file there by `dup2`, or
//! closes the number first, does not notice. A host that closed it long ago and expects `open` to
//! return 0 gets a higher number. Freeing the numbers would be worse: between the check of a number
//! and its closing, another thread may have put a file there. One case remains: a host closes a
//! standard stream in one thread while another thread is between the check and the opening, and
//! then prints to the stream that it has closed.

use std::ffi::CStr;
use std::fs::{File, OpenOptions, ReadDir};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The lowest number that is not a standard stream.
const LOWEST: RawFd = 3;
/// The lowest number of descriptors that are kept: shells and daemons assign lower ones explicitly.
const LOWEST_KEPT: RawFd = 512;

/// Opens a file with these options. The library opens all its files through this module.
pub fn open_as(options: &OpenOptions, path: &Path) -> io::Result<File> {
    above_standard_streams(|| options.open(path))
}

/// Opens a file for reading.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open_as(File::options().read(true), path)
}

/// Opens a file if it is regular. Other files are not opened even for a moment, because opening a
/// device may have effects.
pub fn open_regular(path: &Path) -> Option<File> {
    let options = |flags| OpenOptions::new().read(true).custom_flags(flags).clone();
    let place = open_as(&options(libc::O_PATH), path).ok()?;
    if !place.metadata().ok()?.is_file() {
        return None;
    }
    let again = format!("/proc/self/fd/{}", place.as_raw_fd());
    open_as(&options(libc::O_NONBLOCK | libc::O_NOCTTY), again.as_ref()).ok()
}

/// Opens a file with flags of the system, without allocating.
pub fn open_with_flags(path: &CStr, flags: libc::c_int) -> io::Result<File> {
    above_standard_streams(|| {
        // SAFETY: the path is NUL-terminated and lives through the call.
        let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
        owned(fd).map(File::from)
    })
}

/// The text of a small file.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_to_read(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The entries of a folder.
pub fn read_dir(path: &Path) -> io::Result<ReadDir> {
    take_standard_streams()?;
    std::fs::read_dir(path)
}

fn above_standard_streams(mut open: impl FnMut() -> io::Result<File>) -> io::Result<File> {
    loop {
        take_standard_streams()?;
        let file = open()?;
        // Otherwise another thread of the host closed a stream in between: try again.
        if file.as_raw_fd() >= LOWEST {
            return Ok(file);
        }
    }
}

/// Takes the free numbers of standard streams.
fn take_standard_streams() -> io::Result<()> {
    for number in 0..LOWEST {
        // SAFETY: only asks whether the descriptor is open.
        while unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            let taken = open_nothing()?;
            if taken.as_raw_fd() < LOWEST {
                // The number is the host's from now on: it may close it or put a file in its place.
                std::mem::forget(taken);
            }
        }
    }
    Ok(())
}

/// A descriptor with the lowest free number, through which nothing can be read or written.
fn open_nothing() -> io::Result<OwnedFd> {
    // SAFETY: the path is NUL-terminated; nothing else is passed.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        // Without devices, as in a chroot.
        owned(null).or_else(|_| owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)))
    }
}

/// A descriptor that a system call has just returned.
fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    match fd {
        0.. => {
            // SAFETY: the call has created it, and nothing else owns it.
            Ok(unsafe { OwnedFd::from_raw_fd(fd) })
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves the opening to a number that no program assigns explicitly: 512 or more, or else the
/// highest that is free.
pub fn keep_high(file: File) -> File {
    let now = file.as_raw_fd();
    let numbers = std::iter::once(LOWEST_KEPT).chain((LOWEST..LOWEST_KEPT).rev());
    for least in numbers.take_while(|least| *least > now) {
        // SAFETY: duplicates a descriptor that is open as long as `file`.
        let fd = unsafe { libc::fcntl(now, libc::F_DUPFD_CLOEXEC, least) };
        if let Ok(higher) = owned(fd) {
            return higher.into();
        }
    }
    file
}

/// Device and inode, by fstat: File::metadata would probe for statx, which is not needed here.
pub(super) fn identity(file: &File) -> io::Result<(u64, u64)> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: `stat` is a valid place for one, and is read only when the call filled it.
    unsafe {
        if libc::fstat(file.as_raw_fd(), stat.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let stat = stat.assume_init();
        Ok((stat.st_dev, stat.st_ino))
    }
}
