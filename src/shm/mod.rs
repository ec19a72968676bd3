//! Shared memory: the only mmap, its files, and locks that the kernel drops when a process ends.
//!
//! Every file is opened in descriptor.rs. mapping.rs has the only mmap, and the only cast of its
//! bytes to the records of record.rs; pieces.rs reads files that are not mapped, digest.rs hashes
//! one, file.rs makes, renames and reserves files by the names of name.rs. trust.rs knows whose
//! files are mapped and whose environment is believed, room.rs and cgroup.rs how much memory there
//! is for a new timeline. lock.rs has the locks, inherited.rs those that a forked child closes,
//! shared_file.rs the descriptors that are kept for long. cancel.rs holds off the cancellation of
//! threads.

mod cancel;
mod cgroup;
mod descriptor;
#[cfg(feature = "digests")]
mod digest;
mod file;
mod inherited;
mod lock;
mod mapping;
mod name;
mod pieces;
mod record;
mod room;
mod shared_file;
mod trust;

pub use cancel::{unnoticed, without_cancellation};
pub use descriptor::{open_as, open_regular, open_to_read, read_dir, read_to_string};
#[cfg(feature = "digests")]
pub use digest::digest;
pub use file::{
    NoReserve, Temporary, create, create_unnamed, file_size_limit, is_at, is_in_memory, name_new,
    open, open_nofollow, rename_new, reserve, unguessable,
};
pub use inherited::prepare as prepare_for_forks;
pub use lock::{Lock, LockFile, Opening, Patience, slots_locked};
pub use mapping::Mapping;
pub use name::{Name, live_names, numbered, without_number};
pub use pieces::Loss;
pub use record::{Record, RecordAccess, load_bytes, store_bytes};
pub use room::{Demand, Room, Shortage};
pub use shared_file::SharedFile;
pub use trust::{Trust, is_own, others_may_cut, owner, variable};

use descriptor::identity;

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;

use crate::sync::AtomicU8;

/// Reads the start of a small file into `buffer`, without allocating; empty if it cannot be read.
pub fn read_small<'a>(path: &CStr, buffer: &'a mut [u8]) -> &'a [u8] {
    let read =
        descriptor::open_with_flags(path, libc::O_RDONLY).and_then(|mut file| file.read(buffer));
    &buffer[..read.unwrap_or(0)]
}

/// Reads the text after `mark` in a small file, as much as `buffer` holds, without allocating;
/// empty if there is no mark.
pub fn read_after<'a>(path: &CStr, mark: &[u8], buffer: &'a mut [u8; 64]) -> &'a [u8] {
    let Ok(mut file) = descriptor::open_with_flags(path, libc::O_RDONLY) else {
        return &[];
    };
    let (mut have, mut found) = (0, None);
    while have < buffer.len() {
        let Ok(read @ 1..) = file.read(&mut buffer[have..]) else {
            break;
        };
        have += read;
        if found.is_none() {
            found = position(&buffer[..have], mark).map(|at| at + mark.len());
            // Until the mark is found, only the end matters, which may be the beginning of the
            // mark; after that, only the text behind the mark.
            let from = found.unwrap_or(have.saturating_sub(mark.len()));
            buffer.copy_within(from..have, 0);
            have -= from;
        }
    }
    &buffer[..found.map_or(0, |_| have)]
}

/// Where `what` begins in `text`. A searcher of a library would be faster, but takes hundreds of
/// bytes, and this may run on the stack of a signal handler.
fn position(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|here| here == what)
}

/// The inode of the file at `path`; 0 if it is not known. Does not allocate.
pub fn inode(path: &CStr) -> u64 {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is NUL-terminated, and `stat` is a valid place for one, read only when the
    // call filled it.
    unsafe {
        match libc::stat(path.as_ptr(), stat.as_mut_ptr()) {
            0 => stat.assume_init().st_ino,
            _ => 0,
        }
    }
}

/// Whether a process or thread with that id exists in our pid namespace, even one that has ended
/// and was not waited for.
pub fn process_exists(pid: u32) -> bool {
    let Ok(pid @ 1..) = libc::pid_t::try_from(pid) else {
        return false;
    };
    // SAFETY: signal 0 is never delivered; the call only checks whether it could be.
    let found = unsafe { libc::kill(pid, 0) };
    found == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// Whether the list of mappings at `maps` (/proc/PID/maps) names `file`, without allocating. True
/// if the list may not be read: without knowing, the caller must not take anything away.
// Not inline: it would make the frame of its caller larger, and the caller looks below its frame.
#[inline(never)]
pub fn maps_file(maps: &CStr, file: &File) -> bool {
    let Ok((device, inode)) = identity(file) else {
        return true;
    };
    let mut pattern = [0; 64];
    let mut rest = &mut pattern[..];
    let (major, minor) = (libc::major(device), libc::minor(device));
    // Two numbers of eight digits and one of twenty fit.
    let _ = write!(rest, " {major:02x}:{minor:02x} {inode} ");
    let length = 64 - rest.len();
    let mut list = match descriptor::open_with_flags(maps, libc::O_RDONLY) {
        Ok(list) => list,
        Err(e) => return e.kind() != ErrorKind::NotFound,
    };
    let pattern = &pattern[..length];
    // Small, for the same stack. The kernel produces a page of the list at a time anyway.
    let mut buffer = [0; 256];
    let mut kept = 0;
    loop {
        match list.read(&mut buffer[kept..]) {
            Ok(0) => return false,
            Ok(read) => {
                let have = kept + read;
                if position(&buffer[..have], pattern).is_some() {
                    return true;
                }
                // The end may be the beginning of a match.
                kept = have.min(length - 1);
                buffer.copy_within(have - kept..have, 0);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return true,
        }
    }
}

/// The name of the calling thread, NUL-padded, without allocating.
pub fn thread_name() -> [u8; 16] {
    let mut name = [0; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes, NUL included.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// The name of the calling process, NUL-padded, without allocating; empty without /proc.
pub fn process_name() -> [u8; 16] {
    let mut name = [0; 16];
    let length = read_small(c"/proc/self/comm", &mut name)
        .trim_ascii_end()
        .len();
    name[length..].fill(0);
    name
}

/// The file of the calling program: bytes, when it was written in nanoseconds since the epoch, and
/// inode; zeros if they are not known. Its path is stored, cut and NUL-padded. Does not allocate.
// Not inline: a first event has a bound on its stack.
#[inline(never)]
pub fn own_executable(path: &[AtomicU8; 256]) -> (u64, u64, u64) {
    let mut text = [0_u8; 256];
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    let own = c"/proc/self/exe";
    // SAFETY: the path is NUL-terminated, and the kernel writes at most 255 bytes.
    let length = unsafe { libc::readlink(own.as_ptr(), text.as_mut_ptr().cast(), 255) };
    text[usize::try_from(length).unwrap_or(0)..].fill(0);
    store_bytes(path, &text);
    // SAFETY: as in `inode`.
    unsafe {
        if libc::stat(own.as_ptr(), stat.as_mut_ptr()) != 0 {
            return (0, 0, 0);
        }
        let stat = stat.assume_init();
        let seconds = stat.st_mtime.cast_unsigned();
        let modified = seconds
            .wrapping_mul(1_000_000_000)
            .wrapping_add(stat.st_mtime_nsec.cast_unsigned());
        (stat.st_size.cast_unsigned(), modified, stat.st_ino)
    }
}

/// Keeps the library that holds `code` loaded for good, even if its host closes it: threads that
/// end later still call it. A program needs no such thing, and a static one cannot do it.
pub fn keep_loaded(code: *const libc::c_void) {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `info` is a valid place for what dladdr fills in, and zeros are valid for it. The
    // name it gives stays valid while the library is loaded. With RTLD_NOLOAD nothing new is loaded
    // or run.
    unsafe {
        if libc::dladdr(code, info.as_mut_ptr()) != 0 && !info.assume_init().dli_fname.is_null() {
            let how = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(info.assume_init().dli_fname, how);
        }
    }
}

/// Whether this is a child of vfork (or of a clone like it), which runs in the memory of its
/// parent.
///
/// The kernel compares the two. If it refuses (no such call, a parent of another user), the answer
/// is no.
pub fn shares_memory_with_parent() -> bool {
    const KCMP_VM: libc::c_int = 1;
    // SAFETY: kcmp only compares; both processes exist during the call.
    unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            libc::getpid(),
            libc::getppid(),
            KCMP_VM,
            0,
            0,
        ) == 0
    }
}

/// Makes the memory of this process hold the opening of `file` as well: its locks then stay if the
/// host closes the descriptor, as daemons do. A forked child gets the descriptor but not this. Null
/// if there is no room.
pub fn hold_open(file: &File) -> *mut () {
    // SAFETY: a new mapping touches no other memory, and this one can be neither read nor written;
    // madvise acts on just that mapping, and on failure it is unmapped before its address is used.
    unsafe {
        let place = libc::mmap(
            std::ptr::null_mut(),
            HELD,
            libc::PROT_NONE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        if place == libc::MAP_FAILED {
            return std::ptr::null_mut();
        }
        if libc::madvise(place, HELD, libc::MADV_DONTFORK) != 0 {
            libc::munmap(place, HELD);
            return std::ptr::null_mut();
        }
        place.cast()
    }
}

/// Bytes that [`hold_open`] maps; the kernel makes whole pages of them.
const HELD: usize = 4096;

/// Unmaps what [`hold_open`] mapped.
///
/// # Safety
/// `place` is from `hold_open` in this process, not in one that forked it, and is unmapped once.
pub unsafe fn let_go(place: *mut ()) {
    if !place.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { libc::munmap(place.cast(), HELD) };
    }
}

/// Runs `f` with all signals blocked in this thread, so that threads it starts get no signals of
/// the host.
pub fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigfillset fills `all` before it is read, and pthread_sigmask fills `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = f();
    // SAFETY: `before` was filled above.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
    }
    result
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> u32 {
    // SAFETY: gettid takes nothing and cannot fail.
    (unsafe { libc::syscall(libc::SYS_gettid) }) as u32
}

/// Zeroed memory that the kernel zeroes again in a forked child. So a child never takes its
/// parent's state for its own, however it was forked. It stays mapped until `unmap_fork_wiped`.
pub fn fork_wiped(bytes: usize) -> io::Result<*mut u8> {
    // SAFETY: a new private anonymous mapping touches no other memory; madvise acts on just that
    // mapping, and on failure it is unmapped before its address is used.
    unsafe {
        let place = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        if libc::madvise(place, bytes, libc::MADV_WIPEONFORK) != 0 {
            let error = io::Error::last_os_error();
            libc::munmap(place, bytes);
            return Err(error);
        }
        Ok(place.cast())
    }
}

/// Unmaps memory of [`fork_wiped`].
///
/// # Safety
/// `place` came from `fork_wiped(bytes)`, and is not used any more.
pub unsafe fn unmap_fork_wiped(place: *mut u8, bytes: usize) {
    // SAFETY: by the caller's promise.
    unsafe { libc::munmap(place.cast(), bytes) };
}
