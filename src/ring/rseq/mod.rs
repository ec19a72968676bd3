//! Appends through the lane of the current CPU, in a restartable sequence.
//!
//! A *restartable sequence* (rseq) is a section of instructions that a thread runs without
//! interruption or not at all. If the kernel preempts or migrates the thread in such a section, or
//! delivers a signal to it, it sends the thread to the abort label. So a thread in a section of a
//! CPU's lane is alone on that CPU, and no thread ever returns into one. A section that does not
//! run to its last instruction, the commit, is like a writer that was killed there, and the
//! protocol (see src/ring) is made for those. So many threads of many processes write to one lane
//! without a lock prefix, and a signal handler that interrupts an append may log.
//!
//! x86_64.rs has the sections in assembly, fallback.rs what stands for them on other machines.
//!
//! There are three sections: [`append`], whose commit is `cursor + 1`; [`append_long`], which
//! writes several entries and commits them at once; and that of [`refill`], which gives a lane its
//! next chunk. All begin by checking the thread's key: a child that was forked by a signal handler
//! returns to the abort label too, and must not write as its parent.
//!
//! glibc (2.35 and later) registers an area for each thread with the kernel, which keeps the number
//! of the CPU in it. Without an area (older glibc, musl, valgrind, the tunable
//! glibc.pthread.rseq=0, another architecture) that number is negative, or `Hot::rseq` is 0, and
//! the lanes of threads are used.
//!
//! The kernel imposes three rules: the abort label follows the signature that glibc registered;
//! `rseq_cs` must not point to a descriptor once this library may be unloaded, so it is cleared
//! after each section; a section has no calls.
//!
//! Source: the kernel's include/uapi/linux/rseq.h, and "Restartable sequences" in the manual of
//! glibc.
//!
//! **Why lanes of CPUs, and how can they do without a lock prefix?** Only the thread that runs on a
//! CPU writes to its lane, so two threads never meet in it, unless one is preempted in the middle
//! of an append. The kernel promises to abort the restartable sequence of such a thread. So nothing
//! has to be atomic or marked as busy, a signal handler may log, and a thousand threads share as
//! many lanes as there are CPUs. That reduced an event from 1.3 times the price of reading the
//! clock to nearly that price (docs/performance.md): the mark, its two stores and the check before
//! the commit are gone, and the rest is done while the processor waits for the clock.
//!
//! **Why is a refill of a lane of a CPU a section, too?** It could install its chunk by
//! compare-and-swap, and the loser could close its own. But a thread that sleeps in the middle of
//! that may sleep until its chunk has been passed by, taken by another lane, and described by it;
//! after waking up, it would overwrite that description with its own. In a section it never wakes
//! up there. So an interrupted refill is the same as a killed one, which the protocol handles. The
//! inputs of the section (a ticket, a free chunk, the count) may be out of date by then; the
//! section notices, because it checks the cursor and swaps the state.
//!
//! **Why are there still lanes of threads?** For threads without this service of the kernel: older
//! glibc, musl, valgrind, other processors, a CPU beyond the lanes, a clock that is read by a call.
//! And for threads that a debugger stops at each instruction: after three attempts an event goes
//! through the thread's own lane, so stepping through it ends. A thread takes a lane only when it
//! first needs it.
//!
//! **Why may a child of vfork not log?** It runs in its parent's memory as its parent's thread, but
//! the kernel does not register it for restartable sequences. It would write, unprotected, through
//! the lane of a CPU that it may not be on. No cheap check distinguishes it from its parent. POSIX
//! allows it only to execute or to exit; examples/preload, which cannot choose its program, wraps
//! `vfork`.
//!
//! **What can a debugger break?** To call a function in a thread that it has stopped inside of a
//! section, gdb lets the thread run elsewhere and then moves it back. By then the kernel takes the
//! section for finished, so the thread continues it unprotected. We know of no remedy;
//! docs/guide/c.md says so. Stepping and breakpoints are safe: each stop is an interruption.
//!
//! **What does an interrupted refill leave?** At most the chunk that it had taken. It counts as
//! empty, and is passed over until that CPU's lane has moved on. On a CPU without further events it
//! is lost to the ring: one chunk for each refill since the lane's last chunk that was interrupted
//! between its first and its last store, some ten instructions. Taking it back would race with a
//! thread that continues in it.

use super::Storage;
use super::local::{STATE_SIZE, ThreadState};
use super::memory::SharedRing;
use super::writer::{self, Fresh, InstallResult, NoChunk};
use crate::layout::records::Lane;
use crate::layout::words::Cursor;
use crate::layout::{ENTRY_SIZE, ENTRY_WORDS, Geometry};
use crate::sync::{AtomicU8, AtomicU64};

/// The part of a timeline that an append needs, on one cache line.
#[repr(C, align(64))]
pub struct Hot {
    /// The handle's key. A joined thread has it in its state.
    pub key: u64,
    /// The first lane's record.
    pub lanes: *const Lane,
    /// The first entry.
    pub entries: *const [AtomicU64; ENTRY_WORDS],
    /// The enable table.
    pub enabled: *const AtomicU8,
    /// The length of the enable table.
    pub events: u32,
    /// The offset of the thread's state for the handle in its page, in bytes.
    pub state_offset: u32,
    /// The offset from the thread pointer to glibc's rseq area; 0 = no lanes of CPUs for this
    /// process.
    pub rseq: i32,
    /// Bytes of a chunk's entries.
    pub chunk_bytes: u32,
    /// Chunks less one.
    pub chunk_mask: u32,
    /// Lanes of CPUs.
    pub cpu_lanes: u32,
    /// Bytes from one lane's record to the next.
    pub lane_stride: u32,
}

const _: () = assert!(size_of::<Hot>() == 64);

impl Hot {
    /// For the handle with that key, and that index in each thread's page. `area` is that of rseq,
    /// if it is used.
    pub fn new(
        ring: &SharedRing,
        geometry: &Geometry,
        key: u64,
        index: usize,
        area: Option<i32>,
    ) -> Hot {
        Hot {
            key,
            lanes: ring.lanes,
            entries: ring.entries,
            enabled: ring
                .mapping()
                .first(geometry.enable())
                .expect("a writer has its timeline mapped"),
            events: geometry.definitions,
            state_offset: (index * STATE_SIZE) as u32,
            rseq: area.unwrap_or(0),
            chunk_bytes: ring.chunk_entries() * ENTRY_SIZE as u32,
            chunk_mask: ring.chunks() - 1,
            cpu_lanes: geometry.cpu_lanes,
            lane_stride: geometry.lane().stride as u32,
        }
    }
}

/// An append: `hot` is the timeline, then the event and its arguments.
pub type Append = unsafe extern "C-unwind" fn(*const Hot, u32, i64, i64, i64, i64);

/// Called with the same arguments if an append failed in its section.
pub trait Otherwise {
    /// See [`Append`].
    ///
    /// # Safety
    /// `hot` is the one that was passed to [`append`].
    unsafe extern "C-unwind" fn otherwise(
        hot: *const Hot,
        event: u32,
        a: i64,
        b: i64,
        c: i64,
        d: i64,
    );

    /// The same for [`append_long`].
    ///
    /// # Safety
    /// All arguments are those that were passed to [`append_long`].
    unsafe extern "C-unwind" fn otherwise_long(
        hot: *const Hot,
        words: *const u64,
        count: usize,
        head: u64,
    );
}

/// The inputs of [`install`], prepared before its section: see
/// [`writer::Fresh`](super::writer::Fresh).
#[repr(C)]
struct Step {
    /// The number of the lane and of its CPU.
    lane: u64,
    /// The lane's cursor, and its value before and after.
    cursor: *const AtomicU64,
    full: u64,
    fresh: u64,
    /// The record of the fresh chunk, and its state before and after.
    chunk: *const AtomicU64,
    was: u64,
    open: u64,
    /// The words stored beside that state.
    before: u64,
    ticket: u64,
    /// The record of the full chunk, and its state before and after.
    full_chunk: *const AtomicU64,
    open_full: u64,
    closed_full: u64,
}

impl Step {
    fn new(ring: &SharedRing, fresh: &Fresh) -> Step {
        let (full_chunk, open_full, closed_full) = fresh.closes(ring);
        Step {
            lane: fresh.lane.into(),
            cursor: ring.cursor(fresh.lane),
            full: fresh.full.0,
            fresh: fresh.cursor().0,
            chunk: ring.state(fresh.chunk),
            was: fresh.was.0,
            open: fresh.open().0,
            before: fresh.before,
            ticket: fresh.ticket,
            full_chunk: ring.state(full_chunk),
            open_full: open_full.0,
            closed_full: closed_full.0,
        }
    }
}

/// Gives the lane of this CPU its next chunk. An error says that there was none; otherwise the
/// append is worth another attempt.
pub fn refill(
    hot: &Hot,
    state: &ThreadState,
    ring: &SharedRing,
    full: Cursor,
    lane: u32,
) -> Result<(), NoChunk> {
    writer::refill(ring, lane, full, |ring, fresh| {
        // SAFETY: the pointers come from the ring; this CPU has a lane, so there is an area.
        unsafe { install(hot, state, &Step::new(ring, fresh)) }
    })
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod x86_64;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use x86_64::install;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use x86_64::{append, append_long, lane, try_append, try_append_long};

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod fallback;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
use fallback::install;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub use fallback::{append, append_long, lane, try_append, try_append_long};

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    /// What the kernel is told of a section: see its include/uapi/linux/rseq.h.
    #[repr(C, align(32))]
    struct Section {
        version_and_flags: u64,
        start: *const u8,
        length: usize,
        abort: *const u8,
    }

    unsafe extern "C" {
        #[link_name = "__start___rseq_cs"]
        static FIRST: Section;
        #[link_name = "__stop___rseq_cs"]
        static BEHIND: Section;
    }

    /// Where the jumps lead that may begin at each byte.
    fn targets(code: &[u8]) -> impl Iterator<Item = i64> {
        (0..code.len()).filter_map(|at| {
            let rest = &code[at..];
            let near = |from| {
                Some(i64::from(i32::from_le_bytes(
                    *rest.get(from..)?.first_chunk()?,
                )))
            };
            let (length, distance) = match rest {
                [0x70..0x80 | 0xeb, distance, ..] => (2, i64::from(*distance as i8)),
                [0xe9, ..] => (5, near(1)?),
                [0x0f, 0x80..0x90, ..] => (6, near(2)?),
                _ => return None,
            };
            Some(at as i64 + length + distance)
        })
    }

    #[test]
    fn a_section_is_left_by_its_commit_or_not_logged() {
        // So that the linker keeps them.
        std::hint::black_box((
            super::try_append as *const (),
            super::try_append_long as *const (),
        ));
        let (first, behind) = (&raw const FIRST, &raw const BEHIND);
        // SAFETY: the linker sets both to the ends of the descriptors, which are whole.
        let count = unsafe { behind.offset_from(first) } as usize;
        assert!(count >= 2, "{count}");
        for index in 0..count {
            // SAFETY: below the number of descriptors, and the code of a section is readable.
            let code = unsafe {
                let section = &*first.add(index);
                std::slice::from_raw_parts(section.start, section.length)
            };
            // A jump to the first instruction behind it would come from behind the commit.
            assert!(
                targets(code).all(|target| target != code.len() as i64),
                "{code:x?}"
            );
        }
    }
}
