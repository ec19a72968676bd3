//! The allocator of these tests: the system's, which says what each thread has asked of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

thread_local! {
    /// How often the thread has allocated.
    pub static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Whether the thread is in the allocator, and may hold its locks.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether a signal interrupted the thread in the allocator. If the thread never goes on, every
/// thread that forks through the C library waits for the locks of the allocator for good.
pub fn interrupted() -> bool {
    INSIDE.get()
}

struct WatchMark;

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for WatchMark {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the contract of this function.
        inside(|| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        inside(|| unsafe { System.dealloc(place, layout) })
    }
}

fn inside<T>(f: impl FnOnce() -> T) -> T {
    let _ = INSIDE.try_with(|inside| inside.set(true));
    // The handler of a signal sees the mark before the allocator begins, and until it has ended.
    compiler_fence(Ordering::SeqCst);
    let result = f();
    compiler_fence(Ordering::SeqCst);
    let _ = INSIDE.try_with(|inside| inside.set(false));
    result
}

#[global_allocator]
static WATCHED: WatchMark = WatchMark;
