//! Reading a timeline: attach, then walk or follow its events.
use crate::convert::{exclusive, path, place, shared};
use crate::error::{CallFailure, TIMELINE_END, TIMELINE_OK, guard, timeline_status_t};
use crate::event::{Texts, convert, timeline_event_t};
use std::ffi::c_char;
use std::sync::Arc;
use std::vec;
use timeline_core::internal::without_cancellation;
use timeline_core::{Attached, Event, Events, Follow, FollowFrom, Order};

/// For `timeline_events`: begin with the oldest event.
pub const TIMELINE_OLDEST_FIRST: i32 = 0;
/// For `timeline_events`: begin with the newest event.
pub const TIMELINE_NEWEST_FIRST: i32 = 1;
/// For `timeline_follow`: begin with the oldest event in the ring.
pub const TIMELINE_FROM_OLDEST: i32 = 0;
/// For `timeline_follow`: only events from now on.
pub const TIMELINE_FROM_NOW: i32 = 1;

/// A timeline attached for reading, from `timeline_attach`. Any thread may use it.
pub struct timeline_attached_t {
    shared: Arc<Shared>,
}

/// A walk over events, from `timeline_events` or `timeline_follow`. One thread at a time may use
/// it. It still works after its `timeline_attached_t` is freed.
pub struct timeline_cursor_t {
    // Declared before `shared`, so dropped before the timeline that it borrows.
    walk: Walk,
    /// The event given last: C has pointers into it.
    given: Option<Event>,
    shared: Arc<Shared>,
}

/// Owned jointly by an attached handle and its cursors.
struct Shared {
    at: Attached,
    texts: Texts,
}

enum Walk {
    Events {
        events: Events<'static>,
        done: bool,
    },
    Follow {
        follow: Box<Follow<'static>>,
        ready: vec::IntoIter<Event>,
    },
}

const _: () = {
    const fn usable_from_any_thread<T: Send + Sync>() {}
    usable_from_any_thread::<Shared>();
    const fn movable<T: Send>() {}
    movable::<timeline_cursor_t>();
};

impl Shared {
    /// The attached timeline for a cursor that keeps `self` alive as long as the borrow.
    ///
    /// # Safety
    /// The borrow must not outlive an `Arc` of `self` that its holder owns.
    unsafe fn borrow(self: &Arc<Self>) -> &'static Attached {
        let at: *const Attached = &raw const self.at;
        // SAFETY: an Arc's content does not move, and the caller keeps one.
        unsafe { &*at }
    }
}

impl Walk {
    fn next(&mut self) -> Option<Event> {
        match self {
            Walk::Events { done: true, .. } => None,
            Walk::Events { events, done } => {
                let next = events.next();
                *done = next.is_none();
                next
            }
            Walk::Follow { follow, ready } => ready.next().or_else(|| {
                let mut fresh = Vec::new();
                follow.poll(&mut fresh);
                *ready = fresh.into_iter();
                ready.next()
            }),
        }
    }
}

/// Where to begin, as C says it.
pub(crate) fn start_of(from: i32) -> Result<FollowFrom, CallFailure> {
    match from {
        TIMELINE_FROM_OLDEST => Ok(FollowFrom::Oldest),
        TIMELINE_FROM_NOW => Ok(FollowFrom::Now),
        other => Err(CallFailure::argument(format!(
            "{other} is no place to begin: expected 0 (TIMELINE_FROM_OLDEST) or 1 \
             (TIMELINE_FROM_NOW)"
        ))),
    }
}

/// Attaches to a timeline for reading.
///
/// `path`: the name or file of a timeline, live or left by a crash, or a snapshot. `out`: receives
/// the handle, to be freed with `timeline_attached_free`; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
/// `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
/// thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_attach(
    path: *const c_char,
    out: *mut *mut timeline_attached_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        // SAFETY: the contract of this function.
        let at = Attached::open(unsafe { self::path(path, "path")? })?;
        let shared = Arc::new(Shared {
            at,
            texts: Texts::default(),
        });
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(Box::into_raw(Box::new(timeline_attached_t { shared }))) };
        Ok(TIMELINE_OK)
    })
}

/// Frees an attached timeline. Its cursors still work until they are freed.
///
/// `attached`: from `timeline_attach`, or NULL, which does nothing. Freeing it twice is undefined
/// behaviour.
///
/// # Safety
/// `attached` is NULL or was returned by `timeline_attach` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_attached_free(attached: *mut timeline_attached_t) {
    if !attached.is_null() {
        guard(|| {
            // SAFETY: from Box::into_raw in `timeline_attach`, and by contract the last use of it.
            drop(unsafe { Box::from_raw(attached) });
            Ok(TIMELINE_OK)
        });
    }
}

/// Hands a cursor to C.
///
/// # Safety
/// `attached` is NULL or live, `out` is NULL or writable.
unsafe fn give_cursor(
    attached: *mut timeline_attached_t,
    out: *mut *mut timeline_cursor_t,
    start: impl FnOnce(&'static Attached) -> Walk,
) -> Result<timeline_status_t, CallFailure> {
    place(out, "out")?;
    // SAFETY: the contract of this function.
    let shared = Arc::clone(unsafe {
        &shared(attached, "the attached timeline", "timeline_attach")?.shared
    });
    // SAFETY: the cursor keeps `shared` and drops its walk before it.
    let walk = start(unsafe { shared.borrow() });
    let cursor = timeline_cursor_t {
        walk,
        given: None,
        shared,
    };
    // SAFETY: checked by `place`, and writable by contract.
    unsafe { out.write(Box::into_raw(Box::new(cursor))) };
    Ok(TIMELINE_OK)
}

/// Begins a walk over the events that a timeline holds now, in the order of time.
///
/// `order`: `TIMELINE_OLDEST_FIRST` or `TIMELINE_NEWEST_FIRST`. `out`: receives the cursor, to be
/// freed with `timeline_cursor_free`; untouched when the call fails.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_events(
    attached: *mut timeline_attached_t,
    order: i32,
    out: *mut *mut timeline_cursor_t,
) -> timeline_status_t {
    guard(|| {
        let order = match order {
            TIMELINE_OLDEST_FIRST => Order::OldestFirst,
            TIMELINE_NEWEST_FIRST => Order::NewestFirst,
            other => {
                return Err(CallFailure::argument(format!(
                    "{other} is no order: expected 0 (TIMELINE_OLDEST_FIRST) or 1 \
                     (TIMELINE_NEWEST_FIRST)"
                )));
            }
        };
        // SAFETY: the contract of this function.
        unsafe {
            give_cursor(attached, out, |at| Walk::Events {
                events: at.events(order),
                done: false,
            })
        }
    })
}

/// Begins to follow a timeline: `timeline_next` gives its events as they come, and `TIMELINE_END`
/// when there is no new one. It never waits: wait yourself and call it again.
///
/// `from`: `TIMELINE_FROM_OLDEST` or `TIMELINE_FROM_NOW`. `out`: receives the cursor, to be freed
/// with `timeline_cursor_free`; untouched when the call fails.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_follow(
    attached: *mut timeline_attached_t,
    from: i32,
    out: *mut *mut timeline_cursor_t,
) -> timeline_status_t {
    guard(|| {
        let from = start_of(from)?;
        // SAFETY: the contract of this function.
        unsafe {
            give_cursor(attached, out, |at| Walk::Follow {
                follow: Box::new(at.follow(from)),
                ready: Vec::new().into_iter(),
            })
        }
    })
}

/// Gives the next event of a walk.
///
/// `event`: receives it; untouched unless the call returns `TIMELINE_OK`. After that, `payload` and
/// `backtrace` of the event before are no longer valid.
///
/// Returns `TIMELINE_OK`; `TIMELINE_END` when there is none (after `timeline_follow`: none just
/// now); `TIMELINE_E_CORRUPT` when events are missing because another user cut the file short
/// during the walk (if this user does, the kernel sends SIGBUS); `TIMELINE_E_IO` when they are
/// missing because this program closed the descriptor of a timeline that another user could cut
/// short, and its name now leads to another file; or `TIMELINE_E_ARGUMENT`. One thread at a time
/// for each cursor.
///
/// # Safety
/// `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet,
/// and no other thread uses it during the call; `event` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_next(
    cursor: *mut timeline_cursor_t,
    event: *mut timeline_event_t,
) -> timeline_status_t {
    guard(|| {
        place(event, "event")?;
        // SAFETY: the contract of this function.
        let cursor =
            unsafe { exclusive(cursor, "the cursor", "timeline_events or timeline_follow")? };
        let Some(next) = cursor.walk.next() else {
            cursor.shared.at.intact()?;
            return Ok(TIMELINE_END);
        };
        let next = cursor.given.insert(next);
        let next = convert(&cursor.shared.at, &cursor.shared.texts, next);
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { event.write(next) };
        Ok(TIMELINE_OK)
    })
}

/// Returns how many entries were overwritten after a walk began and before it reached them.
/// `missed` of each event says where, and also counts entries that were overwritten earlier. An
/// event takes one entry, one with a payload takes several, and entries that fill up a chunk count
/// as well. Exact, and final once `timeline_next` has returned `TIMELINE_END`. 0 for NULL. One
/// thread at a time for each cursor.
///
/// # Safety
/// `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet,
/// and no other thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_missed(cursor: *const timeline_cursor_t) -> u64 {
    // SAFETY: the contract of this function.
    without_cancellation(
        || match unsafe { cursor.as_ref() }.map(|cursor| &cursor.walk) {
            Some(Walk::Events { events, .. }) => events.overwritten(),
            Some(Walk::Follow { follow, .. }) => follow.missed(),
            None => 0,
        },
    )
}

/// Ends a walk.
///
/// `cursor`: from `timeline_events` or `timeline_follow`, or NULL, which does nothing. Freeing it
/// twice is undefined behaviour.
///
/// # Safety
/// `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_cursor_free(cursor: *mut timeline_cursor_t) {
    if !cursor.is_null() {
        guard(|| {
            // SAFETY: from Box::into_raw in `give_cursor`, and by contract the last use of it.
            drop(unsafe { Box::from_raw(cursor) });
            Ok(TIMELINE_OK)
        });
    }
}
