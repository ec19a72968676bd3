//! Descriptors: none of ours ever has the number of a standard stream.
//!
//! The kernel gives the lowest number that is free. In a host that has closed its standard streams,
//! that is 0, 1 or 2, and the host's later output would be written into a timeline. So before
//! anything is opened, these numbers are taken by descriptors that lead nowhere: reading, writing
//! and polling them fails as for a closed one, and exec closes them. They stay, because closing one
//! could hit a file that the host has put in its place meanwhile.
//!
//! **Why does the library take the numbers of closed standard streams?** `open` gives the lowest
//! number that is free. A host that has closed its standard output and opens a timeline would print
//! into that timeline's header. Moving the descriptor away at once leaves a moment in which another
//! thread prints. So the library looks before it opens anything, and fills the free numbers among
//! 0, 1 and 2 with descriptors that lead nowhere (`/dev/null` with `O_PATH`). For the host they
//! fail as closed ones do, and exec closes them. Every file is opened in src/shm/descriptor.rs.
//! tests/layers/main.rs looks for other places, and tests/descriptors/streams.rs stops a program at
//! each of its system calls.
//!
//! The numbers stay taken, as with SQLite. A host that opens another file there by `dup2`, or
//! closes the number first, does not notice. A host that closed it long ago and counts on `open` to
//! give 0 gets a higher number. Giving the numbers back would be worse: between the look at a
//! number and its closing, another thread may have put a file there. One case remains: a host
//! closes a standard stream in one thread while another thread is between the look and the opening,
//! and then prints to the stream that it has closed.

use std::ffi::CStr;
use std::fs::{File, OpenOptions, ReadDir};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The lowest number that is no standard stream.
const LOWEST: RawFd = 3;
/// The lowest number for what is kept: shells and daemons hand out those below by hand.
const LOWEST_KEPT: RawFd = 512;

/// Opens a file as `options` say. Whatever the library opens is opened here.
pub fn open_as(options: &OpenOptions, path: &Path) -> io::Result<File> {
    above_standard_streams(|| options.open(path))
}

/// Opens a file to read it.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open_as(File::options().read(true), path)
}

/// Opens a regular file, and nothing else, not even for a moment: opening a device may already do
/// something.
pub fn open_regular(path: &Path) -> Option<File> {
    let options = |flags| OpenOptions::new().read(true).custom_flags(flags).clone();
    let place = open_as(&options(libc::O_PATH), path).ok()?;
    if !place.metadata().ok()?.is_file() {
        return None;
    }
    let again = format!("/proc/self/fd/{}", place.as_raw_fd());
    open_as(&options(libc::O_NONBLOCK | libc::O_NOCTTY), again.as_ref()).ok()
}

/// Opens a file with flags of the system, and does not allocate.
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

/// What is in a folder.
pub fn read_dir(path: &Path) -> io::Result<ReadDir> {
    take_standard_streams()?;
    std::fs::read_dir(path)
}

fn above_standard_streams(mut open: impl FnMut() -> io::Result<File>) -> io::Result<File> {
    loop {
        take_standard_streams()?;
        let file = open()?;
        // Or else another thread of the host closed one just now: once more.
        if file.as_raw_fd() >= LOWEST {
            return Ok(file);
        }
    }
}

/// Takes the numbers of standard streams that are free.
fn take_standard_streams() -> io::Result<()> {
    for number in 0..LOWEST {
        // SAFETY: only asks whether the descriptor is open.
        while unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            let taken = open_nothing()?;
            if taken.as_raw_fd() < LOWEST {
                // Not ours any more: the number is the host's, who may close it or put something in
                // its place.
                std::mem::forget(taken);
            }
        }
    }
    Ok(())
}

/// A descriptor of the lowest number that is free, through which nothing can be read or written.
fn open_nothing() -> io::Result<OwnedFd> {
    // SAFETY: the path is NUL-terminated; nothing else is passed.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        // In a root of its own without devices.
        owned(null).or_else(|_| owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)))
    }
}

/// A descriptor that a system call has just returned.
fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    match fd {
        0.. => {
            // SAFETY: the call has made it for us alone.
            Ok(unsafe { OwnedFd::from_raw_fd(fd) })
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// The same opening under a number that nobody hands out by hand: from 512 on, or else the highest
/// that is free.
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

/// Device and inode. By fstat and not File::metadata, whose statx probing is more than this needs.
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
