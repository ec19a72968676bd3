//! Openings that a forked child closes, so that no lock outlives a parent killed while holding it.
//!
//! **Does a forked child keep a lock of its parent?** It shares the opening that the lock belongs
//! to, and the lock ends with the last copy of the descriptor. No thread of the child continues the
//! work under the lock. But if the parent is killed before it releases the lock, the child would
//! keep it for as long as it runs. So the library notes such openings (src/shm/inherited.rs), and a
//! child closes those of other threads of its parent. It does so right after the fork if the C
//! library forked (`pthread_atfork`), and otherwise when it first logs or locks. Two cases remain,
//! both with a parent that is killed in the next microseconds: a fork in the nanoseconds between an
//! opening and its note, and a fork by a raw call whose child never uses the library. Then
//! `define`, `priority` and `new` fail after some seconds while that child runs; logging and
//! reading go on.
//!
//! The fields of a note are Relaxed: who has a note stores them before the Release of its
//! descriptor, and a child loads them after the Acquire of that. The Release of the thread gives a
//! note back, to the Acquire in `note`. A child has one thread when it looks, and finds what its
//! parent had stored when it forked.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

use super::descriptor::identity;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// A descriptor, and its file, which distinguishes it from a later one of the same number.
struct Note {
    /// The thread that made it, by its number in the C library, which is the same in a child that
    /// the thread forks; 0 = free.
    thread: AtomicU64,
    process: AtomicU32,
    /// The descriptor + 1; 0 = not set yet, or no longer open.
    descriptor: AtomicU32,
    device: AtomicU64,
    inode: AtomicU64,
}

/// More than the threads that do such work at once; further openings are not noted.
static NOTES: [Note; 64] = [const {
    Note {
        thread: AtomicU64::new(0),
        process: AtomicU32::new(0),
        descriptor: AtomicU32::new(0),
        device: AtomicU64::new(0),
        inode: AtomicU64::new(0),
    }
}; 64];

/// A noted opening. It must not outlive the descriptor.
pub struct OpeningNote(&'static Note);

/// Notes an opening of the file with this identity, before it is used for locks. Does not allocate.
pub fn note(file: &File, (device, inode): (u64, u64)) -> Option<OpeningNote> {
    let me = this_thread();
    // Acquire, pairs with the Release in `drop`: the former user has finished with it.
    let is_free = |note: &&Note| {
        let claimed = note
            .thread
            .compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed);
        claimed.is_ok()
    };
    let note = NOTES.iter().find(is_free)?;
    note.process.store(std::process::id(), Ordering::Relaxed);
    note.device.store(device, Ordering::Relaxed);
    note.inode.store(inode, Ordering::Relaxed);
    // Release, pairs with the Acquire in `close_those_of_others`: a child that reads it reads the
    // other fields as well.
    note.descriptor
        .store(file.as_raw_fd() as u32 + 1, Ordering::Release);
    Some(OpeningNote(note))
}

impl Drop for OpeningNote {
    fn drop(&mut self) {
        self.0.descriptor.store(0, Ordering::Relaxed);
        self.0.thread.store(0, Ordering::Release);
    }
}

/// Makes children that the C library forks close the noted openings.
pub fn prepare() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    // Relaxed: it guards nothing; handlers that run twice do no harm.
    if DONE.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: the handler only calls functions that are allowed in a child of a process with
        // several threads. If there is no memory for it, children close the noted openings when
        // they open the timeline.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}

unsafe extern "C" fn in_child() {
    close_those_of_others(0);
}

/// In a child that was forked without the C library, closes the openings of other threads of the
/// parent.
pub fn close_those_of_our_parent() {
    close_those_of_others(std::process::id());
}

/// Closes openings noted by threads of processes other than `process`. Does not allocate.
fn close_those_of_others(process: u32) {
    let me = this_thread();
    for note in &NOTES {
        let thread = note.thread.load(Ordering::Relaxed);
        // The thread that forked goes on in the child with its own openings: a signal handler may
        // have forked in the middle of its work.
        if thread == 0 || thread == me || note.process.load(Ordering::Relaxed) == process {
            continue;
        }
        if let Some(fd) = note.descriptor.swap(0, Ordering::Acquire).checked_sub(1) {
            // SAFETY: it is closed only if it still leads to the file that the parent had opened
            // under this number. No thread of this process uses it: the thread that did is not
            // here.
            let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(fd as i32) });
            let noted = (
                note.device.load(Ordering::Relaxed),
                note.inode.load(Ordering::Relaxed),
            );
            if identity(&file).is_ok_and(|found| found == noted) {
                drop(std::mem::ManuallyDrop::into_inner(file));
            }
        }
        note.thread.store(0, Ordering::Release);
    }
}

fn this_thread() -> u64 {
    // SAFETY: it takes nothing and cannot fail.
    (unsafe { libc::pthread_self() }) as u64
}
