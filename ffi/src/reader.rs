//! Reading a timeline: attach, then walk or follow its events.
use crate::convert::{exclusive, floor, path, place, shared, to_array, to_c_string};
use crate::level::TIMELINE_NONE;
use crate::status::{Failure, TIMELINE_END, TIMELINE_OK, guard, timeline_status_t};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Arc, Mutex, PoisonError};
use timeline_core::{
    Attached, Definition, Event, EventId, Events, Follow, From, MAX_ARGUMENTS, Order, Priority,
};

/// For `timeline_events`: begin with the oldest event.
pub const TIMELINE_OLDEST_FIRST: i32 = 0;
/// For `timeline_events`: begin with the newest event.
pub const TIMELINE_NEWEST_FIRST: i32 = 1;
/// For `timeline_follow`: begin with the oldest event that is still there.
pub const TIMELINE_FROM_OLDEST: i32 = 0;
/// For `timeline_follow`: only events from now on.
pub const TIMELINE_FROM_NOW: i32 = 1;

/// A timeline attached to for reading, from `timeline_attach`. May be used from any thread.
pub struct timeline_attached_t {
    shared: Arc<Shared>,
}

/// A walk over events, from `timeline_events` or `timeline_follow`. One thread at a time may use it; it goes
/// on working when its `timeline_attached_t` was freed.
pub struct timeline_cursor_t {
    // Declared before `shared`, so dropped before what it borrows from.
    walk: Walk,
    shared: Arc<Shared>,
}

/// One event, as `timeline_next` gives it.
#[repr(C)]
pub struct timeline_event_t {
    /// When, in ticks of the timeline's clock (processor cycles, as a rule).
    pub ticks: u64,
    /// When, in nanoseconds since 1970 UTC; 0 when it cannot be told yet.
    pub unix_nanos: u64,
    /// The number of the event's definition.
    pub event: u32,
    /// The thread that logged it.
    pub tid: u32,
    /// The process of that thread; 0 when not known.
    pub pid: u32,
    /// `TIMELINE_ERROR` to `TIMELINE_LIBRARY`; 0 when the definition cannot be read.
    pub priority: i32,
    /// How many of `args` the message has.
    pub argument_count: u32,
    /// The processor that logged it.
    pub core: u16,
    /// The NUMA node of that processor.
    pub node: u16,
    /// The arguments; those after `argument_count` are as they were given.
    pub args: [i64; 4],
    /// The category; `""` when the definition cannot be read. Valid until both the attached timeline and the
    /// cursor are freed.
    pub category: *const c_char,
    /// The message as it was defined, all its lines, for `timeline_render`; valid as long as `category`.
    pub message: *const c_char,
    /// The name of the thread, cut to 15 bytes; `""` when not known.
    pub thread: [c_char; 16],
    /// The name of the process, cut to 15 bytes; `""` when not known.
    pub process: [c_char; 16],
}

/// What an attached handle and its cursors own together.
struct Shared {
    at: Attached,
    /// Texts for C by event. Boxed, so that they stay where they are while the map grows.
    texts: Mutex<HashMap<EventId, Box<Text>>>,
}

struct Text {
    category: CString,
    message: CString,
    priority: i32,
    argument_count: u32,
}

enum Walk {
    Events {
        events: Events<'static>,
        done: bool,
    },
    Follow {
        follow: Follow<'static>,
        ready: Vec<Event>,
        given: usize,
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

    /// Fills in what the definition says.
    fn describe(&self, event: &mut timeline_event_t) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let id = EventId(event.event);
        let text = match texts.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                // One that cannot be read now may be readable later: it is not remembered.
                let Some(definition) = self.at.definition(id) else {
                    return;
                };
                place.insert(Box::new(Text {
                    category: to_c_string(&definition.category),
                    message: to_c_string(&definition.message),
                    priority: definition.priority as i32,
                    // A forged timeline may name more than there are.
                    argument_count: definition.argument_count().min(MAX_ARGUMENTS) as u32,
                }))
            }
        };
        event.category = text.category.as_ptr();
        event.message = text.message.as_ptr();
        event.priority = text.priority;
        event.argument_count = text.argument_count;
    }

    fn convert(&self, event: &Event) -> timeline_event_t {
        let thread = self.at.thread(event);
        let thread = thread.as_ref();
        let mut converted = timeline_event_t {
            ticks: event.ticks,
            unix_nanos: self.at.unix_nanos(event.ticks).unwrap_or(0),
            event: event.id.0,
            tid: event.tid,
            pid: thread.map_or(0, |thread| thread.pid),
            priority: TIMELINE_NONE,
            argument_count: 0,
            core: event.core,
            node: event.node,
            args: event.args,
            category: c"".as_ptr(),
            message: c"".as_ptr(),
            thread: to_array(thread.map_or("", |thread| &thread.name)),
            process: to_array(thread.map_or("", |thread| &thread.process)),
        };
        self.describe(&mut converted);
        converted
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
            Walk::Follow {
                follow,
                ready,
                given,
            } => {
                if *given == ready.len() {
                    ready.clear();
                    *given = 0;
                    follow.poll(ready);
                }
                let next = ready.get(*given).copied();
                *given += usize::from(next.is_some());
                next
            }
        }
    }
}

/// Attaches to a timeline for reading.
///
/// `path`: a live name, what a crash left, or a file that was saved. `out`: receives the handle, to be freed
/// with `timeline_attached_free`; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`, `TIMELINE_E_VERSION`,
/// `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_attach(
    path: *const c_char,
    out: *mut *mut timeline_attached_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        // SAFETY: the contract of this function.
        let at = Attached::open(unsafe { self::path(path, "path")? })?;
        let shared = Arc::new(Shared {
            at,
            texts: Mutex::default(),
        });
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(Box::into_raw(Box::new(timeline_attached_t { shared }))) };
        Ok(TIMELINE_OK)
    })
}

/// Lets go of an attached timeline. Its cursors go on working until they are freed themselves.
///
/// `attached`: from `timeline_attach`, or NULL, which does nothing. Freeing it twice is undefined behaviour.
///
/// # Safety
/// `attached` is NULL or was returned by `timeline_attach` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_attached_free(attached: *mut timeline_attached_t) {
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
) -> Result<timeline_status_t, Failure> {
    place(out, "out")?;
    // SAFETY: the contract of this function.
    let shared = Arc::clone(unsafe {
        &shared(attached, "the attached timeline", "timeline_attach")?.shared
    });
    // SAFETY: the cursor keeps `shared` and drops its walk before it.
    let walk = start(unsafe { shared.borrow() });
    // SAFETY: checked by `place`, and writable by contract.
    unsafe { out.write(Box::into_raw(Box::new(timeline_cursor_t { walk, shared }))) };
    Ok(TIMELINE_OK)
}

/// Begins a walk over the events that a timeline holds now, in the order of time.
///
/// `order`: `TIMELINE_OLDEST_FIRST` or `TIMELINE_NEWEST_FIRST`. `out`: receives the cursor, to be freed with
/// `timeline_cursor_free`; untouched when the call fails.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_events(
    attached: *mut timeline_attached_t,
    order: i32,
    out: *mut *mut timeline_cursor_t,
) -> timeline_status_t {
    guard(|| {
        let order = match order {
            TIMELINE_OLDEST_FIRST => Order::OldestFirst,
            TIMELINE_NEWEST_FIRST => Order::NewestFirst,
            other => {
                return Err(Failure::argument(format!(
                    "{other} is no order: expected 0 (TIMELINE_OLDEST_FIRST) or 1 (TIMELINE_NEWEST_FIRST)"
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

/// Begins to follow a timeline: `timeline_next` gives its events as they come, and `TIMELINE_END` when there
/// is none just now. Never waits: wait yourself and ask again.
///
/// `from`: `TIMELINE_FROM_OLDEST` or `TIMELINE_FROM_NOW`. `out`: receives the cursor, to be freed with
/// `timeline_cursor_free`; untouched when the call fails.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_follow(
    attached: *mut timeline_attached_t,
    from: i32,
    out: *mut *mut timeline_cursor_t,
) -> timeline_status_t {
    guard(|| {
        let from = match from {
            TIMELINE_FROM_OLDEST => From::Oldest,
            TIMELINE_FROM_NOW => From::Now,
            other => {
                return Err(Failure::argument(format!(
                    "{other} is no place to begin: expected 0 (TIMELINE_FROM_OLDEST) or 1 (TIMELINE_FROM_NOW)"
                )));
            }
        };
        // SAFETY: the contract of this function.
        unsafe {
            give_cursor(attached, out, |at| Walk::Follow {
                follow: at.follow(from),
                ready: Vec::new(),
                given: 0,
            })
        }
    })
}

/// Gives the next event of a walk.
///
/// `event`: receives it; untouched unless the call returns `TIMELINE_OK`.
///
/// Returns `TIMELINE_OK`, `TIMELINE_END` when there is none (after `timeline_follow`: none just now), or
/// `TIMELINE_E_ARGUMENT`. One thread at a time for each cursor.
///
/// # Safety
/// `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet, and no other
/// thread uses it during the call; `event` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_next(
    cursor: *mut timeline_cursor_t,
    event: *mut timeline_event_t,
) -> timeline_status_t {
    guard(|| {
        place(event, "event")?;
        // SAFETY: the contract of this function.
        let cursor =
            unsafe { exclusive(cursor, "the cursor", "timeline_events or timeline_follow")? };
        let Some(next) = cursor.walk.next() else {
            return Ok(TIMELINE_END);
        };
        let next = cursor.shared.convert(&next);
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { event.write(next) };
        Ok(TIMELINE_OK)
    })
}

/// How many events a walk could not give because they were overwritten before it came to them. Exact, and
/// final once `timeline_next` has returned `TIMELINE_END`. 0 for NULL. One thread at a time for each cursor.
///
/// # Safety
/// `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_missed(cursor: *const timeline_cursor_t) -> u64 {
    // SAFETY: the contract of this function.
    match unsafe { cursor.as_ref() }.map(|cursor| &cursor.walk) {
        Some(Walk::Events { events, .. }) => events.overwritten(),
        Some(Walk::Follow { follow, .. }) => follow.missed(),
        None => 0,
    }
}

/// Ends a walk.
///
/// `cursor`: from `timeline_events` or `timeline_follow`, or NULL, which does nothing. Freeing it twice is
/// undefined behaviour.
///
/// # Safety
/// `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_cursor_free(cursor: *mut timeline_cursor_t) {
    if !cursor.is_null() {
        guard(|| {
            // SAFETY: from Box::into_raw in `give_cursor`, and by contract the last use of it.
            drop(unsafe { Box::from_raw(cursor) });
            Ok(TIMELINE_OK)
        });
    }
}

fn render(message: &str, args: &[i64]) -> String {
    let definition = Definition {
        id: EventId::NEVER,
        category: String::new(),
        priority: Priority::Error,
        message: message.to_string(),
    };
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = definition.render(args, &mut text);
    text
}

/// Writes an event out as people read it, `processed tcp(10), udp(20), and other(3)`: the first line of its
/// message with the arguments filled in.
///
/// `event`: from `timeline_next`, its texts still valid. `buffer` and `size`: where to, and how many bytes
/// there are; what does not fit is cut between characters, and a NUL always ends it (unless `size` is 0, when
/// `buffer` may be NULL). `needed`: receives the length of the whole text without the NUL, so it was cut when
/// that is `size` or more; may be NULL.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `event` is NULL or came from `timeline_next`; `buffer` has `size` writable bytes; `needed` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeline_render(
    event: *const timeline_event_t,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let event = unsafe { shared(event, "event", "timeline_next")? };
        if buffer.is_null() && size != 0 {
            return Err(Failure::argument(format!(
                "buffer is NULL: expected {size} writable bytes, or size 0"
            )));
        }
        if event.message.is_null() {
            return Err(Failure::argument(
                "the event's message is NULL: expected an event from timeline_next",
            ));
        }
        // SAFETY: not NULL; a NUL-terminated text of the attached timeline by contract.
        let message = unsafe { CStr::from_ptr(event.message) }.to_string_lossy();
        let text = render(&message, &event.args);
        if let Some(room) = size.checked_sub(1) {
            let fits = floor(&text, room);
            // SAFETY: `fits` bytes and a NUL are at most `size`, writable by contract; C's buffer is not ours.
            unsafe {
                buffer
                    .cast::<u8>()
                    .copy_from_nonoverlapping(text.as_ptr(), fits);
                buffer.add(fits).write(0);
            }
        }
        if !needed.is_null() {
            // SAFETY: not NULL, and writable by contract.
            unsafe { needed.write_unaligned(text.len()) };
        }
        Ok(TIMELINE_OK)
    })
}
