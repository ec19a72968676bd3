//! A timeline as a whole: saved to a file, or written out as text.
use crate::convert::path;
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::writer::{timeline_t, writer};
use std::ffi::{c_char, c_int};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use timeline_core::{Attached, dump};

/// Saves a timeline to a file in its raw binary format. Every event in it is whole, also while
/// others log. The file is written under a temporary name beside `file` and then renamed, so a file
/// of that name is replaced as a whole or not at all.
///
/// `file`: the path of the file. As in `timeline_new`, one leading slash and no other names an
/// object in shared memory.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO` (also for lack of space; a file
/// that was there stays as it was). Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `file` is
/// NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_save(
    tl: *mut timeline_t,
    file: *const c_char,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let (writer, file) = unsafe { (writer(tl)?, path(file, "file")?) };
        writer.core.save(file)?;
        Ok(TIMELINE_OK)
    })
}

/// Writes the events of a timeline as text, newest to oldest, under the header row
/// `numa core -cycles category message`; `-cycles` are the cycles since the next older event.
/// Pointers have no names here: see `timeline_render`.
///
/// `path`: the name or file of a timeline, live or left by a crash, or a snapshot. `max_entries`:
/// how many events at most; 0 means all. `fd`: an open file descriptor to write to (1 for standard
/// output); it stays open. Flush your own buffered output first.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
/// `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
/// thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_dump(
    path: *const c_char,
    max_entries: u64,
    fd: c_int,
) -> timeline_status_t {
    guard(|| {
        if fd < 0 {
            return Err(CallFailure::argument(format!(
                "fd is {fd}: expected an open file descriptor"
            )));
        }
        // SAFETY: the contract of this function.
        let at = Attached::open(unsafe { self::path(path, "path")? })?;
        // SAFETY: not -1, and ManuallyDrop leaves closing it to its owner. If it is not open, the
        // first write fails with EBADF.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
        let max = (max_entries != 0).then_some(max_entries);
        dump::write(&at, max, &mut &*file)
            .map_err(|error| CallFailure::io("cannot write the dump", error))?;
        at.intact()?;
        Ok(TIMELINE_OK)
    })
}
