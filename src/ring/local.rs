//! What a thread knows of its own: one slot for each timeline the process writes to.
//!
//! The slots of a thread are one page that the kernel zeroes in a forked child, so a child never
//! writes through a lane of its parent: its slots carry no key, and it joins anew. The pointer to
//! the page is thread-local in the initial-exec model: two instructions, where the general model's
//! `__tls_get_addr` costs more than the rest of an entry. Nothing here allocates from the heap, but
//! for what `arm` says: the first event of a thread may well be logged inside malloc.
//!
//! **Why do pages wiped by fork hold what a thread and a process know of themselves?** A child must
//! not write through its parent's lane. `pthread_atfork` handlers are skipped by a raw `clone`, and
//! asking for the pid at each event is a system call. Memory with `MADV_WIPEONFORK` is zero in the
//! child however it was forked: the child finds no key, and joins anew. A child of `vfork` shares
//! the memory, and must not log (rseq/mod.rs); if the thread that waits for it has not logged yet,
//! its events are dropped and counted, because it must not join in the other's name (the kernel
//! tells, by `kcmp`). A handler that interrupts a log call and forks sends the child back into that
//! call. A section begins with a look at the key in the wiped page, and ends without a trace for
//! who was interrupted. An append to a thread's own lane looks at a mark in that page before it
//! commits; what remains there is a signal between that look and the commit, one instruction later,
//! and one in the middle of a refill, whose child could wake up when the chunk is another lane's by
//! then.

use crate::shm::{fork_wiped, unmap_fork_wiped, without_cancellation};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Timelines one process can have open for writing.
pub const MAX_OPEN: usize = 64;

/// No lane has this number.
pub const NO_LANE: u32 = u32::MAX;

/// One thread's place in one timeline. Only its thread, and signal handlers on it, touch it: the
/// atomics are there for the handlers, and all Relaxed.
#[repr(C, align(64))]
pub struct Slot {
    /// The writer's key; 0 (a fresh page, a forked child) or another: not joined.
    pub key: AtomicU64,
    /// Thread identity and thread id, as an entry has them.
    pub who: AtomicU64,
    /// The thread's own lane, or [`NO_LANE`]: most threads write through those of CPUs only.
    pub lane: AtomicU32,
    /// 1 while an entry is being written.
    pub busy: AtomicU32,
    /// Events since the last attempt to get a lane failed; 0 = none failed.
    pub waiting: AtomicU32,
    /// Events since the thread joined without a record, of those that looked whether there is one
    /// now.
    pub unnamed: AtomicU32,
    /// The key of the writer that `waiting` is for.
    pub wanted: AtomicU64,
}

#[repr(C, align(4096))]
struct Page {
    slots: [Slot; MAX_OPEN],
}

const PAGE: usize = size_of::<Page>();
/// From one slot of a page to the next.
pub const SLOT: usize = 64;
const _: () = assert!(PAGE == 4096 && size_of::<Slot>() == SLOT);

/// The thread-local words. The assembly of [`super::rseq`] loads the first.
#[repr(C)]
struct Local {
    page: AtomicPtr<Page>,
    joining: AtomicU32,
    /// 1 once the thread has given its lanes back at its end.
    ended: AtomicU32,
}

/// The name of the thread-local words. It holds the version, so that two in one program stay apart.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
macro_rules! symbol {
    () => {
        concat!("__timeline_local_", env!("CARGO_PKG_VERSION"))
    };
}
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) use symbol;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tls {
    //! The words, in the initial-exec model, which stable Rust reaches only from assembly.
    use super::Local;

    const _: () = assert!(size_of::<Local>() <= 16 && core::mem::offset_of!(Local, page) == 0);

    core::arch::global_asm!(
        ".pushsection .tbss.timeline,\"awT\",@nobits",
        ".p2align 4",
        concat!(".globl ", symbol!()),
        concat!(".hidden ", symbol!()),
        concat!(".type ", symbol!(), ", @object"),
        concat!(".size ", symbol!(), ", 16"),
        concat!(symbol!(), ":"),
        ".zero 16",
        ".popsection",
    );

    #[inline(always)]
    pub fn local() -> &'static Local {
        let place: *const Local;
        // SAFETY: fs:0 holds the thread pointer on x86-64 Linux, and the linker fills in the
        // distance to our sixteen zeroed bytes of thread-local storage, which hold a Local. The
        // reference is used only on this thread, within one call.
        unsafe {
            core::arch::asm!(
                "mov {place}, qword ptr fs:[0]",
                concat!("add {place}, qword ptr [rip + ", symbol!(), "@GOTTPOFF]"),
                place = out(reg) place,
                options(pure, nomem, nostack)
            );
            &*place
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod tls {
    //! The words, in whatever model the compiler picks.
    use super::{AtomicPtr, AtomicU32, Local};

    thread_local! {
        static LOCAL: Local = const {
            Local {
                page: AtomicPtr::new(std::ptr::null_mut()),
                joining: AtomicU32::new(0),
                ended: AtomicU32::new(0),
            }
        };
    }

    pub fn local() -> &'static Local {
        // SAFETY: the words need no destructor, so they live as long as the thread; the reference
        // is used only on this thread, within one call.
        LOCAL.with(|local| unsafe { &*(local as *const Local) })
    }
}

/// This thread's slot for the writer at `index`; `None` before the thread's first event.
#[inline(always)]
pub fn slot(index: usize) -> Option<&'static Slot> {
    let page = tls::local().page.load(Ordering::Relaxed);
    if page.is_null() {
        return None;
    }
    // SAFETY: the page is mapped until this thread ends, and the reference is used within one call.
    Some(unsafe { &(&(*page).slots)[index % MAX_OPEN] })
}

/// Marks this thread as joining, so that a handler that interrupts it does not join as well.
pub struct Joining(());

impl Joining {
    /// `None` if the thread is joining already: we are in a signal handler.
    pub fn enter() -> Option<Joining> {
        let joining = &tls::local().joining;
        if joining.load(Ordering::Relaxed) != 0 {
            return None;
        }
        joining.store(1, Ordering::Relaxed);
        Some(Joining(()))
    }

    /// This thread's slot, in a page made for it if it has none. `None` when there is no memory.
    pub fn slot(&self, index: usize) -> Option<&'static Slot> {
        let local = tls::local();
        if local.page.load(Ordering::Relaxed).is_null() {
            let page = fork_wiped(PAGE).ok()?;
            local.page.store(page.cast(), Ordering::Relaxed);
        }
        if !self.ended() {
            arm(local.page.load(Ordering::Relaxed));
        }
        slot(index)
    }

    /// Whether this thread has given its lanes back: what it logs now is logged by the C library's
    /// last clean-up, or by a destructor after ours, and nobody tells us when that is over.
    pub fn ended(&self) -> bool {
        tls::local().ended.load(Ordering::Relaxed) != 0
    }

    /// Gives the lanes of this thread back, and its page.
    pub fn leave(&self) {
        let at_exit = AT_EXIT.load(Ordering::Acquire);
        for index in 0..MAX_OPEN {
            let Some(slot) = slot(index) else { break };
            let key = slot.key.load(Ordering::Relaxed);
            if key != 0 && !at_exit.is_null() {
                // First, so that a handler which interrupts us from here on finds no lane that may
                // be another's by then.
                slot.key.store(0, Ordering::Relaxed);
                compiler_fence(Ordering::SeqCst);
                // SAFETY: only `prepare` stores there, and always a function of this type.
                let at_exit: AtExit = unsafe { std::mem::transmute(at_exit) };
                at_exit(index, key, slot);
            }
        }
        let local = tls::local();
        let page = local.page.load(Ordering::Relaxed);
        local.page.store(std::ptr::null_mut(), Ordering::Relaxed);
        if !page.is_null() {
            // SAFETY: this is the thread's page, and its pointer was just cleared.
            unsafe { unmap_fork_wiped(page.cast(), PAGE) };
        }
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        tls::local().joining.store(0, Ordering::Relaxed);
    }
}

/// What is called with each joined slot of a thread that ends: its index, the writer's key, the
/// slot.
type AtExit = fn(usize, u64, &Slot);

static AT_EXIT: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// The pthread key plus one; 0 = not made yet.
static KEY: AtomicU64 = AtomicU64::new(0);

/// Prepares for threads to end: sets the function to be called (always the same one), makes the key
/// that calls it, and keeps the code in memory for as long as threads may.
pub fn prepare(f: AtExit) {
    AT_EXIT.store(f as *mut (), Ordering::Release);
    if KEY.load(Ordering::Acquire) != 0 {
        return;
    }
    crate::shm::keep_loaded(thread_exit as *const libc::c_void);
    let mut made: libc::pthread_key_t = 0;
    // SAFETY: `made` is a valid place for a key; the destructor is of the type it wants.
    let created = unsafe {
        // The libc crate says that it does not unwind.
        let thread_exit: unsafe extern "C" fn(*mut libc::c_void) =
            std::mem::transmute(thread_exit as unsafe extern "C-unwind" fn(*mut libc::c_void));
        libc::pthread_key_create(&mut made, Some(thread_exit))
    };
    if created != 0 {
        // No keys left: lanes of ended threads come back only with their process.
        return;
    }
    let mine = u64::from(made) + 1;
    if KEY
        .compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        // SAFETY: made above, and used by nobody.
        unsafe { libc::pthread_key_delete(made) };
    }
}

/// Has [`thread_exit`] called with `page` when this thread ends.
///
/// A pthread key and not a Rust destructor: the C library runs it after those of the language. In a
/// process that has made more than 32 keys before ours, the C library allocates here.
fn arm(page: *mut Page) {
    if let Some(key) = KEY.load(Ordering::Acquire).checked_sub(1) {
        // SAFETY: the key exists; it is never deleted once it stands in KEY.
        unsafe { libc::pthread_setspecific(key as libc::pthread_key_t, page.cast()) };
    }
}

unsafe extern "C-unwind" fn thread_exit(_page: *mut libc::c_void) {
    without_cancellation(|| {
        // Nobody else is joining in a thread that ends: should the mark be set, a handler jumped
        // out of its first event.
        tls::local().joining.store(1, Ordering::Relaxed);
        Joining(()).leave();
        tls::local().ended.store(1, Ordering::Relaxed);
    });
}

/// Attempts at what failed before: one in this many events.
const RETRY: u32 = 1024;

/// Whether it is time to try what failed before: after a failure, most events are dropped for the
/// price of a count.
pub fn may_try(slot: &Slot) -> bool {
    is_time(&slot.waiting)
}

/// Whether this thread has no lane of the writer with this key, and it is not yet time to look for
/// one again. Then the event counts as [`may_try`] would count it.
///
/// Not while the thread is joining: what a handler logs then is lost for another reason.
pub fn is_too_early(slot: &Slot, key: u64) -> bool {
    let waiting = slot.waiting.load(Ordering::Relaxed);
    let early = slot.wanted.load(Ordering::Relaxed) == key
        && !waiting.is_multiple_of(RETRY)
        && tls::local().joining.load(Ordering::Relaxed) == 0;
    if early {
        slot.waiting
            .store(waiting.wrapping_add(1), Ordering::Relaxed);
    }
    early
}

/// Counts; the first time, and then one in so many, it is time.
pub fn is_time(counter: &AtomicU32) -> bool {
    let count = counter.load(Ordering::Relaxed);
    counter.store(count.wrapping_add(1), Ordering::Relaxed);
    count.is_multiple_of(RETRY)
}
