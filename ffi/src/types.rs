//! The types that statements of C need when they log: lists that are made once and never freed.
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A list of types, or of bits: as many as a statement may ask for.
type Types = [u32; 32];

/// A list that was made, and the one that was made before it.
struct List {
    types: Types,
    former: *const List,
}

static LAST: AtomicPtr<List> = AtomicPtr::new(ptr::null_mut());

/// A copy of a list that is there for good; NULL if it has only zeros.
///
/// Equal lists are one, so that a plugin whose statements are loaded time and again takes no
/// further memory. Without a lock: a forked child would wait for one that another thread of its
/// parent has.
pub(crate) fn lasting(types: &[u32]) -> *const u32 {
    let mut all = [0; 32];
    for (place, number) in all.iter_mut().zip(types) {
        *place = *number;
    }
    if all == [0; 32] {
        return ptr::null();
    }
    // Acquire, here and below, pairs with the Release below: a list that is found is whole.
    let mut last = LAST.load(Ordering::Acquire);
    if let Some(found) = find(last, &all) {
        return found.as_ptr();
    }
    let new = Box::into_raw(Box::new(List {
        types: all,
        former: last,
    }));
    loop {
        // Release publishes the new list; Acquire, where it fails, finds the other one whole.
        match LAST.compare_exchange(last, new, Ordering::Release, Ordering::Acquire) {
            // SAFETY: just made, and from here on never freed.
            Ok(_) => return unsafe { (*new).types.as_ptr() },
            Err(now) => last = now,
        }
        if let Some(found) = find(last, &all) {
            // SAFETY: just made, and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
            return found.as_ptr();
        }
        // SAFETY: as above.
        unsafe { (*new).former = last };
    }
}

fn find(last: *const List, types: &Types) -> Option<&'static Types> {
    let mut list = last;
    // SAFETY: NULL, or made above, whole, and never freed.
    while let Some(known) = unsafe { list.as_ref() } {
        if known.types == *types {
            return Some(&known.types);
        }
        list = known.former;
    }
    None
}
