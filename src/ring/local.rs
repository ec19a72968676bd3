//! The states of a thread: one for each timeline that its process writes to.
//!
//! The states of a thread are one page that the kernel zeroes in a forked child. So a child never
//! writes through a lane of its parent: its states have no key, and it joins by itself. The pointer
//! to the page is thread-local in the initial-exec model: two instructions, while the general
//! model's `__tls_get_addr` costs more than the rest of an entry. Nothing here allocates from the
//! heap, except as `arm` says: the first event of a thread may be logged inside malloc.
//!
//! **Why do pages wiped by fork hold what a thread and a process know of themselves?** A child must
//! not write through its parent's lane. `pthread_atfork` handlers are skipped by a raw `clone`, and
//! asking for the pid at each event is a system call. Memory with `MADV_WIPEONFORK` is zero in the
//! child however it was forked: the child finds no key, and joins by itself. A child of `vfork`
//! shares the memory, and must not log (rseq/mod.rs). If the thread that waits for it has not
//! logged yet, the child's events are dropped and counted, because it must not join as that thread
//! (the kernel tells, by `kcmp`). A handler that interrupts a log call and forks sends the child
//! back into that call. A section begins by checking the key in the wiped page, and an interrupted
//! one leaves no trace. An append to a thread's own lane checks a mark in that page before it
//! commits. Two cases remain: a signal between that check and the commit, one instruction later,
//! and a signal in the middle of a refill, whose child could continue when the chunk belongs to
//! another lane.
//!
//! Only a thread and its own signal handlers look at its states and marks, so these are Relaxed; a
//! compiler_fence with SeqCst keeps the compiler from moving a store across the point at which a
//! handler may look. `AT_EXIT` and `KEY` are of the process: both are stored with Release, and pair
//! with the Acquire of the thread that ends or arms, which so finds the function, and a key that is
//! made.

use crate::shm::{fork_wiped, unmap_fork_wiped, without_cancellation};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Timelines one process can have open for writing.
pub const MAX_OPEN: usize = 64;

/// No lane has this number.
pub const NO_LANE: u32 = u32::MAX;

/// The state of one thread in one timeline. Only this thread and its signal handlers access it: the
/// atomics are for the handlers, and all are Relaxed.
#[repr(C, align(64))]
pub struct ThreadState {
    /// The writer's key. Another key, or 0 (a fresh page, a forked child), means not joined.
    pub key: AtomicU64,
    /// Thread identity and thread id, as in an entry.
    pub thread_word: AtomicU64,
    /// The thread's own lane, or [`NO_LANE`]: most threads write through those of CPUs only.
    pub lane: AtomicU32,
    /// 1 while an entry is being written.
    pub busy: AtomicU32,
    /// Events since an attempt to get a lane failed; 0 = none failed.
    pub waiting: AtomicU32,
    /// Events since the thread joined without a record, of those that could have looked for one.
    pub unnamed: AtomicU32,
    /// The key of the writer that `waiting` is for.
    pub wanted: AtomicU64,
    /// 1 if the program gave the thread its name; 0 if it has that of the system.
    pub named: AtomicU32,
}

#[repr(C, align(4096))]
struct Page {
    states: [ThreadState; MAX_OPEN],
}

const PAGE: usize = size_of::<Page>();
/// The distance between the states of a page.
pub const STATE_SIZE: usize = 64;
const _: () = assert!(PAGE == 4096 && size_of::<ThreadState>() == STATE_SIZE);

/// The thread-local words. The assembly of [`super::rseq`] loads the first.
#[repr(C)]
struct Local {
    page: AtomicPtr<Page>,
    joining: AtomicU32,
    /// 1 once the ending thread has given its lanes back.
    ended: AtomicU32,
}

/// The name of the thread-local words. Includes the version, so that two versions in one program
/// stay apart.
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
    //! The words, in the initial-exec model. Stable Rust reaches it only from assembly.
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
    //! The words, in the model that the compiler chooses.
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

/// This thread's state for the writer at `index`; `None` before the thread's first event.
#[inline(always)]
pub fn thread_state(index: usize) -> Option<&'static ThreadState> {
    let page = tls::local().page.load(Ordering::Relaxed);
    if page.is_null() {
        return None;
    }
    // SAFETY: the page is mapped until this thread ends, and the reference is used within one call.
    Some(unsafe { &(&(*page).states)[index % MAX_OPEN] })
}

/// Whether this is a signal handler that has interrupted its thread's first event, or its end:
/// these go on when it returns.
pub fn is_handler_in_between() -> bool {
    tls::local().joining.load(Ordering::Relaxed) != 0
}

/// Marks this thread as joining, so that a handler that interrupts it does not join as well.
pub struct Joining(());

impl Joining {
    /// `None` if the thread is joining already: this is a signal handler.
    pub fn enter() -> Option<Joining> {
        let joining = &tls::local().joining;
        if joining.load(Ordering::Relaxed) != 0 {
            return None;
        }
        joining.store(1, Ordering::Relaxed);
        Some(Joining(()))
    }

    /// This thread's state, in a new page if it has none. `None` if there is no memory.
    pub fn thread_state(&self, index: usize) -> Option<&'static ThreadState> {
        let local = tls::local();
        if local.page.load(Ordering::Relaxed).is_null() {
            let page = fork_wiped(PAGE).ok()?;
            local.page.store(page.cast(), Ordering::Relaxed);
        }
        if !self.ended() {
            arm(local.page.load(Ordering::Relaxed));
        }
        thread_state(index)
    }

    /// Whether this thread has given its lanes back. Then it logs from the C library's last
    /// clean-up, or from a destructor after ours, and we are not told when that is over.
    pub fn ended(&self) -> bool {
        tls::local().ended.load(Ordering::Relaxed) != 0
    }

    /// Gives back the lanes of this thread, and its page.
    pub fn leave(&self) {
        let at_exit = AT_EXIT.load(Ordering::Acquire);
        for index in 0..MAX_OPEN {
            let Some(state) = thread_state(index) else {
                break;
            };
            let key = state.key.load(Ordering::Relaxed);
            if key != 0 && !at_exit.is_null() {
                // First, so that a handler that interrupts this from here on finds no lane that may
                // belong to another thread by then.
                state.key.store(0, Ordering::Relaxed);
                compiler_fence(Ordering::SeqCst);
                // SAFETY: only `prepare` stores this, and always a function of this type.
                let at_exit: AtExit = unsafe { std::mem::transmute(at_exit) };
                at_exit(index, key, state);
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

/// Called for each state with which an ending thread joined: its index, the writer's key, and the
/// state.
type AtExit = fn(usize, u64, &ThreadState);

static AT_EXIT: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// The pthread key plus one; 0 = not made yet.
static KEY: AtomicU64 = AtomicU64::new(0);

/// Prepares for the end of threads: stores the function to call (always the same), creates the key
/// that calls it, and keeps the code loaded for as long as threads may run it.
pub fn prepare(f: AtExit) {
    AT_EXIT.store(f as *mut (), Ordering::Release);
    if KEY.load(Ordering::Acquire) != 0 {
        return;
    }
    crate::shm::keep_loaded(thread_exit as *const libc::c_void);
    let mut made: libc::pthread_key_t = 0;
    // SAFETY: `made` is a valid place for a key; the destructor is of the right type.
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
    // AcqRel: Release for those who arm; Acquire, if another thread was quicker, pairs with its
    // Release.
    let mine = u64::from(made) + 1;
    if KEY
        .compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        // SAFETY: created above, and not used.
        unsafe { libc::pthread_key_delete(made) };
    }
}

/// Makes this thread call [`thread_exit`] with `page` when it ends.
///
/// A pthread key instead of a Rust destructor, because the C library calls it after the destructors
/// of the language. In a process with more than 32 earlier keys, the C library allocates here.
fn arm(page: *mut Page) {
    if let Some(key) = KEY.load(Ordering::Acquire).checked_sub(1) {
        // SAFETY: the key exists; once in KEY, it is never deleted.
        unsafe { libc::pthread_setspecific(key as libc::pthread_key_t, page.cast()) };
    }
}

unsafe extern "C-unwind" fn thread_exit(_page: *mut libc::c_void) {
    without_cancellation(|| {
        // No other code joins in an ending thread: if the mark is set, a handler jumped out of the
        // thread's first event.
        tls::local().joining.store(1, Ordering::Relaxed);
        Joining(()).leave();
        tls::local().ended.store(1, Ordering::Relaxed);
    });
}

/// After a failure, one in this many events tries again.
const RETRY: u32 = 1024;

/// Whether it is time to try again after a failure. Most events are dropped at the cost of a count.
pub fn may_try(state: &ThreadState) -> bool {
    is_time(&state.waiting)
}

/// Whether this thread has no lane of the writer with this key, and it is too early to try again.
/// Then it counts the event like [`may_try`].
///
/// False while the thread is joining: a handler's events are then dropped for another reason.
pub fn is_too_early(state: &ThreadState, key: u64) -> bool {
    let waiting = state.waiting.load(Ordering::Relaxed);
    let early = state.wanted.load(Ordering::Relaxed) == key
        && !waiting.is_multiple_of(RETRY)
        && tls::local().joining.load(Ordering::Relaxed) == 0;
    if early {
        state
            .waiting
            .store(waiting.wrapping_add(1), Ordering::Relaxed);
    }
    early
}

/// Counts. It is time at the first call, and then at one in `RETRY` calls.
pub fn is_time(counter: &AtomicU32) -> bool {
    let count = counter.load(Ordering::Relaxed);
    counter.store(count.wrapping_add(1), Ordering::Relaxed);
    count.is_multiple_of(RETRY)
}
