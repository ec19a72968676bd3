//! The handles that a process has open for writing, by index. Ending threads find them here.
//!
//! Each handle has a page that the kernel zeroes in a forked child: the child's process has then
//! not joined, whatever its parent was doing at the fork. Pages are reused and never unmapped, so
//! at worst a thread that ends late reads a key that is not its own any more.

use std::fs::File;
use std::io;

use super::local::MAX_OPEN;
use crate::shm::{Patience, fork_wiped, hold_open, let_go};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// The state of one handle in a process. A forked child does not inherit it.
#[repr(C, align(4096))]
pub struct HandlePage {
    /// The handle's key while it is open in this process; 0 = closed, or a forked child that has
    /// not joined.
    pub key: AtomicU64,
    /// Ending threads that use the handle at the moment.
    pub pins: AtomicU32,
    /// This process' identity in the process table; 0 = not joined.
    pub process: AtomicU32,
    /// The thread that joins the process at the moment, by its id; 0 = none does.
    pub joining: AtomicU32,
    /// The handle, for ending threads.
    pub owner: AtomicPtr<()>,
    /// The mapping that holds the opening with this process' locks; see [`hold_open`].
    hold: AtomicPtr<()>,
}

const PAGE: usize = size_of::<HandlePage>();

static PAGES: [AtomicPtr<HandlePage>; MAX_OPEN] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_OPEN];
/// One bit per index in use. A fork copies it, and the handles as well.
static USED: AtomicU64 = AtomicU64::new(0);
/// Keys are never reused in a process.
static NEXT_KEY: AtomicU64 = AtomicU64::new(1);
/// The lower half of the key of the handle that has an index; 0 if none has it. A fork copies it,
/// as the child has these handles as well.
static NUMBERS: [AtomicU32; MAX_OPEN] = [const { AtomicU32::new(0) }; MAX_OPEN];

const _: () = assert!(MAX_OPEN == 64);

/// An index that belongs to one handle until it is dropped, and the key of that handle.
pub struct HandleIndex {
    index: usize,
    key: u64,
    page: &'static HandlePage,
}

impl HandleIndex {
    /// A free index; `None` if all are in use.
    ///
    /// # Errors
    /// Those of [`fork_wiped`]: no memory, or a kernel before 4.14.
    pub fn claim() -> io::Result<Option<HandleIndex>> {
        let index = loop {
            // Relaxed: the exchange below looks again.
            let used = USED.load(Ordering::Relaxed);
            let free = (!used).trailing_zeros();
            if free as usize >= MAX_OPEN {
                return Ok(None);
            }
            // Acquire, pairs with the Release in `drop`: the former handle has finished with the
            // page.
            if USED
                .compare_exchange(used, used | 1 << free, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
            {
                break free as usize;
            }
        };
        // Acquire, pairs with the Release below, by a former handle of this index: the page is
        // there. Release in turn gives back an index that got no page.
        if PAGES[index].load(Ordering::Acquire).is_null() {
            match fork_wiped(PAGE) {
                Ok(page) => PAGES[index].store(page.cast(), Ordering::Release),
                Err(error) => {
                    USED.fetch_and(!(1 << index), Ordering::Release);
                    return Err(error);
                }
            }
        }
        // Relaxed: only the number must be new.
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        // Relaxed: whoever asks about this number has the handle already.
        NUMBERS[index].store(key as u32, Ordering::Relaxed);
        Ok(page(index).map(|page| HandleIndex { index, key, page }))
    }

    /// The index of the handle's state in each thread.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.index
    }

    /// Distinguishes this handle from all others that have, had or will have this index.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The page that a fork wipes.
    pub fn page(&self) -> &'static HandlePage {
        self.page
    }

    /// From here on ending threads find the handle at `owner`, which must stay valid until
    /// [`HandleIndex::close`].
    pub fn open(&self, owner: *const ()) {
        // Relaxed: the Release below publishes it.
        self.page.owner.store(owner.cast_mut(), Ordering::Relaxed);
        // Release, pairs with the SeqCst load in `pinned`: with the key, the owner is there.
        self.page.key.store(self.key, Ordering::Release);
    }

    /// Keeps the lock of this process for as long as the handle is open in it, even if the host
    /// closes the descriptor. The opening must be our own: holding one that is shared with the
    /// parent would hold the parent's lock.
    pub fn hold(&self, file: &File) {
        let hold = hold_open(file);
        // Relaxed: it is swapped out when the handle is dropped, and then no thread joins through
        // it.
        let former = self.page.hold.swap(hold, Ordering::Relaxed);
        // SAFETY: a forked child finds null in this page, so the mapping is this process' own, and
        // only we have it now.
        unsafe { let_go(former) };
    }

    /// Ends [`HandleIndex::hold`].
    pub fn let_go(&self) {
        // Relaxed: as in `hold`.
        let hold = self.page.hold.swap(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: as in `hold`.
        unsafe { let_go(hold) };
    }

    /// Waits until no ending thread uses the handle. None will from here on. With patience, those
    /// that use it for longer go on: then what they use must stay.
    pub fn close(&self, mut patience: Option<Patience>) {
        // SeqCst here, on the pins below and in `pinned`: either the ending thread finds the key
        // gone, or we find its pin.
        self.page.key.store(0, Ordering::SeqCst);
        while self.page.pins.load(Ordering::SeqCst) != 0 {
            match patience.as_mut().map(Patience::wait) {
                None => std::thread::yield_now(),
                Some(Ok(())) => {}
                Some(Err(_)) => break,
            }
        }
        // Relaxed: no thread finds the handle by now, and a later one joins anew.
        self.page.process.store(0, Ordering::Relaxed);
    }
}

impl Drop for HandleIndex {
    fn drop(&mut self) {
        self.close(None);
        self.let_go();
        // Relaxed: the Release below publishes it to the next handle.
        NUMBERS[self.index].store(0, Ordering::Relaxed);
        USED.fetch_and(!(1 << self.index), Ordering::Release);
    }
}

fn page(index: usize) -> Option<&'static HandlePage> {
    // Acquire, pairs with the Release in `claim`.
    let page = PAGES[index % MAX_OPEN].load(Ordering::Acquire);
    // SAFETY: null, or a page from `fork_wiped` of this size, never unmapped, and its zeros are
    // valid atomics; a fork wipes it to zeros again.
    unsafe { page.as_ref() }
}

/// Whether the handle of this number is open. It stays right in a forked child.
pub fn is_open(number: u32) -> bool {
    // Relaxed: no thread uses a handle while it is closed.
    let is = |open: &AtomicU32| open.load(Ordering::Relaxed) == number;
    NUMBERS.iter().any(is)
}

/// Whether this process writes to any timeline under that identity.
pub fn is_joined(process: u32) -> bool {
    (0..MAX_OPEN)
        .filter_map(page)
        // Acquire, pairs with the Release of who joined, as in `Log::process`.
        .any(|page| page.process.load(Ordering::Acquire) == process)
}

/// Calls `f` with the handle of that index if it still has that key, and keeps it open meanwhile.
pub fn pinned(index: usize, key: u64, f: impl FnOnce(*const ())) {
    let Some(page) = page(index) else { return };
    // SeqCst, pairs with `close`, which clears the key before it looks for pins. The owner is
    // Relaxed, as it was stored before the key.
    page.pins.fetch_add(1, Ordering::SeqCst);
    if page.key.load(Ordering::SeqCst) == key {
        f(page.owner.load(Ordering::Relaxed));
    }
    page.pins.fetch_sub(1, Ordering::SeqCst);
}
