//! The handles a process has open for writing, by index: where ending threads find what to give
//! back.
//!
//! Each handle has a page that the kernel zeroes in a forked child: the child's process has then
//! not joined, whatever its parent was doing at the time of the fork. Pages are kept and used
//! again, never unmapped, so a thread that ends late reads a key that is no longer its own, and
//! nothing worse.

use std::fs::File;
use std::io;

use super::local::MAX_OPEN;
use crate::shm::{fork_wiped, hold_open, let_go};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// What a process knows of one handle, and a forked child forgets.
#[repr(C, align(4096))]
pub struct Page {
    /// The handle's key while it is open in this process; 0 = closed, or a forked child that has
    /// not joined.
    pub key: AtomicU64,
    /// Ending threads that look at the handle just now.
    pub pins: AtomicU32,
    /// This process' identity in the process table; 0 = not joined.
    pub process: AtomicU32,
    /// 1 while a thread joins the process.
    pub joining: AtomicU32,
    /// The handle, for ending threads.
    pub owner: AtomicPtr<()>,
    /// What holds the opening with this process' locks beside its descriptor; see [`hold_open`].
    hold: AtomicPtr<()>,
}

const PAGE: usize = size_of::<Page>();

static PAGES: [AtomicPtr<Page>; MAX_OPEN] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_OPEN];
/// One bit per index in use. Copied by a fork, as are the handles themselves.
static USED: AtomicU64 = AtomicU64::new(0);
/// Keys are never used twice in a process.
static NEXT_KEY: AtomicU64 = AtomicU64::new(1);

const _: () = assert!(MAX_OPEN == 64);

/// An index that is this handle's until it is dropped, and its key.
pub struct Index {
    index: usize,
    key: u64,
    page: &'static Page,
}

impl Index {
    /// A free index; `None` when all are taken.
    ///
    /// # Errors
    /// Those of [`fork_wiped`]: no memory, or a kernel before 4.14.
    pub fn claim() -> io::Result<Option<Index>> {
        let index = loop {
            let used = USED.load(Ordering::Relaxed);
            let free = (!used).trailing_zeros();
            if free as usize >= MAX_OPEN {
                return Ok(None);
            }
            // Acquire, pairs with the Release in `drop`: the former handle is done with the page.
            if USED
                .compare_exchange(used, used | 1 << free, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
            {
                break free as usize;
            }
        };
        if PAGES[index].load(Ordering::Acquire).is_null() {
            match fork_wiped(PAGE) {
                Ok(page) => PAGES[index].store(page.cast(), Ordering::Release),
                Err(error) => {
                    USED.fetch_and(!(1 << index), Ordering::Release);
                    return Err(error);
                }
            }
        }
        Ok(page(index).map(|page| Index {
            index,
            key: NEXT_KEY.fetch_add(1, Ordering::Relaxed),
            page,
        }))
    }

    /// Which of the thread's slots is the handle's.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.index
    }

    /// Tells this handle from all that had, or will have, the same index.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// What a fork wipes.
    pub fn page(&self) -> &'static Page {
        self.page
    }

    /// From here on ending threads find the handle at `owner`, which must stay until
    /// [`Index::close`].
    pub fn open(&self, owner: *const ()) {
        self.page.owner.store(owner.cast_mut(), Ordering::Relaxed);
        // Release, pairs with the SeqCst load in `pinned`: with the key, the owner is there.
        self.page.key.store(self.key, Ordering::Release);
    }

    /// Keeps the lock of this process for as long as the handle is open in it, whatever the host
    /// does to descriptors. The opening must be our own: to hold one that we share with our parent
    /// would be to hold the parent's lock.
    pub fn hold(&self, file: &File) {
        let hold = hold_open(file);
        // Relaxed: swapped out by whoever drops the handle, when nobody joins through it any more.
        let former = self.page.hold.swap(hold, Ordering::Relaxed);
        // SAFETY: a forked child finds null in this page, so it is this process' own, and nobody
        // else has it now.
        unsafe { let_go(former) };
    }

    /// Waits until no ending thread looks at the handle; none will from here on.
    pub fn close(&self) {
        // SeqCst here, on the pins below and in `pinned`: either the ending thread finds the key
        // gone, or we find its pin.
        self.page.key.store(0, Ordering::SeqCst);
        while self.page.pins.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
        self.page.process.store(0, Ordering::Relaxed);
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.close();
        let hold = self.page.hold.swap(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: as in `hold`.
        unsafe { let_go(hold) };
        USED.fetch_and(!(1 << self.index), Ordering::Release);
    }
}

fn page(index: usize) -> Option<&'static Page> {
    let page = PAGES[index % MAX_OPEN].load(Ordering::Acquire);
    // SAFETY: null, or a page from `fork_wiped` of this size, never unmapped, whose zeros are valid
    // atomics; a fork wipes it to zeros again.
    unsafe { page.as_ref() }
}

/// Whether this process writes somewhere under that identity.
pub fn is_joined(process: u32) -> bool {
    (0..MAX_OPEN)
        .filter_map(page)
        .any(|page| page.process.load(Ordering::Acquire) == process)
}

/// Calls `f` with the handle of that index if it still has that key; it is not closed meanwhile.
pub fn pinned(index: usize, key: u64, f: impl FnOnce(*const ())) {
    let Some(page) = page(index) else { return };
    page.pins.fetch_add(1, Ordering::SeqCst);
    if page.key.load(Ordering::SeqCst) == key {
        f(page.owner.load(Ordering::Relaxed));
    }
    page.pins.fetch_sub(1, Ordering::SeqCst);
}
