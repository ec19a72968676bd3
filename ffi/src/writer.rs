//! Timelines to write to: makes, joins and frees them, defines and logs their events.
use crate::attributes::{attributes_of, timeline_attributes_t};
use crate::closed::{self, Late};
use crate::convert::{path, place, shared, sized, text};
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::modules::{Modules, Turn};
use crate::priority::priority_of;
use std::ffi::c_char;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use timeline_core::internal::{fields, without_cancellation};
use timeline_core::{EventId, Options, Timeline};

/// A timeline to write to, from `timeline_new`, `timeline_open`, `timeline_open_or_create` and
/// their forms with options. No other function makes one: more members follow the ones shown. These
/// are here for the inline check `timeline_enabled`; do not write to them. Every function that
/// takes a timeline, except `timeline_free`, may be called from any thread at any time.
#[repr(C)]
pub struct timeline_t {
    /// One byte for each event, not 0 if it is enabled. Other threads and processes change it.
    pub enabled: *const u8,
    /// How many bytes `enabled` has: the events that can be defined, and event 0.
    pub events: u32,
    /// The number of this handle, which no other of this process ever has. Never 0.
    pub serial: u32,
    /// How many bytes the values of one `TIMELINE_PRINTF` may take, 1,528 at most.
    pub payload: u32,
}

/// The object behind a `timeline_t *`.
#[repr(C)]
pub(crate) struct WriterObject {
    face: timeline_t,
    pub(crate) core: Timeline,
    pub(crate) modules: Modules,
    /// How many owners it has: `timeline_share` adds one, `timeline_free` takes one away.
    owners: AtomicU32,
}

const _: () = {
    const fn usable_from_any_thread<T: Send + Sync>() {}
    usable_from_any_thread::<Timeline>();
    assert!(std::mem::offset_of!(WriterObject, face) == 0);
};

/// The writer behind a handle.
///
/// # Safety
/// `tl` is NULL or a handle from [`give`] that was not freed.
pub(crate) unsafe fn writer<'a>(tl: *const timeline_t) -> Result<&'a WriterObject, CallFailure> {
    // SAFETY: every timeline_t that C can hold is the first member of a Writer.
    let writer = unsafe {
        shared(
            tl.cast::<WriterObject>(),
            "the timeline",
            "timeline_new or timeline_open",
        )?
    };
    match writer.core.is_closed() {
        false => Ok(writer),
        true => Err(CallFailure::argument(
            "the timeline was freed: expected one that is open; call this before timeline_free, or \
             do not free it where threads run until the end",
        )),
    }
}

impl Late for WriterObject {
    fn tell_of_late_events(&self) {
        self.core.tell_of_late_events();
    }
}

impl WriterObject {
    /// Tells the timeline of the objects of the process, if the message of an event has pointers:
    /// readers show what these lead to. Those of objects that are loaded later have no name, unless
    /// another event of this kind is defined then.
    pub(crate) fn tell_of_modules(&self, message: &str) {
        let has_pointers = fields(message).any(|field| field.kind.is_address());
        if has_pointers && self.modules.turn() != Turn::TooEarly {
            self.modules.update(&self.core);
        }
    }
}

/// Hands a timeline to C.
///
/// # Safety
/// `out` is writable.
unsafe fn give(core: Timeline, out: *mut *mut timeline_t) {
    let (enabled, events) = core.enable_table();
    let handle = Box::into_raw(Box::new(WriterObject {
        face: timeline_t {
            enabled,
            events,
            serial: core.number(),
            payload: (core.payload_capacity() * size_of::<u64>()) as u32,
        },
        core,
        modules: Modules::default(),
        owners: AtomicU32::new(1),
    }));
    // SAFETY: the contract of this function.
    unsafe { out.write(handle.cast()) };
}

/// Hands C the timeline that `made` makes or joins at a path.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
unsafe fn give_at(
    path: *const c_char,
    out: *mut *mut timeline_t,
    made: impl Fn(&Path) -> Result<Timeline, CallFailure>,
) -> Result<timeline_status_t, CallFailure> {
    place(out, "out")?;
    // SAFETY: the contract of this function.
    let path = unsafe { self::path(path, "path")? };
    let core = closed::with_room(|| made(path))?;
    // SAFETY: checked by `place`, and writable by contract.
    unsafe { give(core, out) };
    Ok(TIMELINE_OK)
}

/// Options to make or join a timeline; in `timeline_options_t options = {0}` all have their
/// defaults.
#[repr(C)]
#[derive(Default, Clone, Copy)]
pub struct timeline_options_t {
    /// See `timeline_new`.
    pub entries: u64,
    /// See `timeline_new`.
    pub string_table_size: u64,
    /// The permission bits of a new timeline, such as 0660, whatever the umask; 0 means 0600. A
    /// group can get the right to write, but not everybody: a user with that right may damage every
    /// process that writes. A user with the right to read or write can also hold its locks: then
    /// making, joining, defining and setting the level fail with `TIMELINE_E_BUSY` within some five
    /// seconds, and events of processes forked meanwhile are dropped and counted.
    pub mode: u32,
    /// The group of a new timeline; 0 leaves it to the system.
    pub group: u32,
    /// A user to trust: this user's timelines are joined, and kept as `NAME.prev`, like those of
    /// root and of our own user. 0: none. That user can damage this process, by cutting the file
    /// short or by forging events.
    pub trust_user: u32,
    /// A group to trust: its timelines are joined, whichever user owns them. 0: none.
    pub trust_group: u32,
    /// Entries for important events of a new timeline, 65,536 at most; 0 means 1,024, or fewer in
    /// small rings. See `timeline_define_with`.
    pub important_entries: u64,
}

/// The options behind a pointer; the defaults for NULL.
///
/// # Safety
/// `options` is NULL or readable.
unsafe fn options_of(options: *const timeline_options_t) -> Result<Options, CallFailure> {
    if options.is_null() {
        return Ok(Timeline::options());
    }
    // SAFETY: the contract of this function.
    let given = unsafe { shared(options, "options", "the caller filled in")? };
    let mut options = sized(given.entries, given.string_table_size);
    if given.mode != 0 {
        options = options.mode(given.mode);
    }
    if given.group != 0 {
        options = options.group(given.group);
    }
    if given.trust_user != 0 {
        options = options.trust_user(given.trust_user);
    }
    if given.trust_group != 0 {
        options = options.trust_group(given.trust_group);
    }
    if given.important_entries != 0 {
        // One that does not fit 32 bits is refused like others that are too large.
        let entries = u32::try_from(given.important_entries).unwrap_or(u32::MAX);
        options = options.important_entries(entries);
    }
    Ok(options)
}

/// Makes a timeline and opens it for writing. If the name belongs to a timeline whose processes all
/// died, that one is kept as `NAME.prev` (as `NAME.prev-` and a number, if `NAME.prev` is a file
/// that is not ours to replace, or a timeline with a writer).
///
/// `path`: one leading slash and no other (`"/timeline"`) names a POSIX shared memory object;
/// anything else is the path of a file. `entries`: how many entries the ring holds, a power of two
/// of at least 256; 0 means 1,048,576 (74.8 MiB). If these do not fit three times (beside the
/// timelines of two earlier runs), or would take more than a quarter of the memory that the control
/// groups of the process leave it, 0 means the largest power of two that does, of at least 65,536:
/// the same at each start. `string_table_size`: bytes for the texts of the definitions;
/// 0 means 1,048,576. `out`: receives the timeline, to be freed with `timeline_free`; untouched
/// when the call fails.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_IN_USE`, `TIMELINE_E_NO_SPACE`, `TIMELINE_E_NOT_A_TIMELINE`
/// (another file has that name; it is left alone), `TIMELINE_E_NOT_TRUSTED` (a timeline of another
/// user has that name), `TIMELINE_E_FULL` (this process has 64 open), `TIMELINE_E_BUSY` (it stays
/// locked for seconds), `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Touches every page: takes a
/// moment. Any thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_new(
    path: *const c_char,
    entries: u64,
    string_table_size: u64,
    out: *mut *mut timeline_t,
) -> timeline_status_t {
    let new = |path: &Path| Ok(sized(entries, string_table_size).create(path)?);
    // SAFETY: the contract of this function.
    guard(|| unsafe { give_at(path, out, new) })
}

/// Joins a timeline that exists, as one more process that writes to it.
///
/// `path` and `out`: as for `timeline_new`.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
/// `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_NOT_TRUSTED` (it belongs neither to root
/// nor to our own user, or everybody may write to it: see `timeline_open_with`), `TIMELINE_E_FULL`
/// (no room for one more writing process, or this one has 64 open), `TIMELINE_E_BUSY` (it stays
/// locked for seconds), `TIMELINE_E_ARGUMENT` (also for a saved timeline, which cannot be written
/// to) or `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_open(
    path: *const c_char,
    out: *mut *mut timeline_t,
) -> timeline_status_t {
    let open = |path: &Path| Ok(Timeline::open(path)?);
    // SAFETY: the contract of this function.
    guard(|| unsafe { give_at(path, out, open) })
}

/// Joins a timeline if it is live (has a writer), and makes it otherwise. If several processes do
/// this at once, one makes it and the others join it. A timeline that an earlier run left is not
/// joined but kept as `NAME.prev`. A timeline that is joined keeps its size, mode and group.
///
/// `path` and `out`: as for `timeline_new`. `options`: NULL for the defaults.
///
/// Returns the statuses of `timeline_new` and `timeline_open`, except `TIMELINE_E_IN_USE` and
/// `TIMELINE_E_NOT_FOUND`. Any thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `options` is NULL or readable; `out` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_open_or_create(
    path: *const c_char,
    options: *const timeline_options_t,
    out: *mut *mut timeline_t,
) -> timeline_status_t {
    // SAFETY: the contract of this function.
    let open_or_create = |path: &Path| Ok(unsafe { options_of(options)? }.open_or_create(path)?);
    // SAFETY: as above.
    guard(|| unsafe { give_at(path, out, open_or_create) })
}

/// Like `timeline_new`, with options.
///
/// `path` and `out`: as for `timeline_new`. `options`: NULL for the defaults.
///
/// Returns the statuses of `timeline_new`. Any thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `options` is NULL or readable; `out` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_new_with(
    path: *const c_char,
    options: *const timeline_options_t,
    out: *mut *mut timeline_t,
) -> timeline_status_t {
    // SAFETY: the contract of this function.
    let new = |path: &Path| Ok(unsafe { options_of(options)? }.create(path)?);
    // SAFETY: as above.
    guard(|| unsafe { give_at(path, out, new) })
}

/// Like `timeline_open`, with options. Only `trust_user` and `trust_group` count.
///
/// `path` and `out`: as for `timeline_new`. `options`: NULL for the defaults.
///
/// Returns the statuses of `timeline_open`. Any thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `options` is NULL or readable; `out` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_open_with(
    path: *const c_char,
    options: *const timeline_options_t,
    out: *mut *mut timeline_t,
) -> timeline_status_t {
    // SAFETY: the contract of this function.
    let open = |path: &Path| Ok(unsafe { options_of(options)? }.open(path)?);
    // SAFETY: as above.
    guard(|| unsafe { give_at(path, out, open) })
}

/// Frees a timeline, or takes away one of its owners (`timeline_share`) if it has several. Its
/// events stay, for readers and for processes that join later, until `timeline_unlink`.
///
/// `tl`: from `timeline_new` or `timeline_open`, or NULL, which does nothing. Other threads may log
/// to it during this call and after, as they do when a program ends: they find it closed. Their
/// events are dropped, and counted when the program has ended (`timeline info`). All other
/// functions return `TIMELINE_E_ARGUMENT` then. This holds for the last freed timelines of a
/// process, which has 64 in all, open and freed: one more, and the one that was freed first is gone
/// for good. Where the addresses of the process are limited (RLIMIT_AS), it is gone when any
/// other is opened.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open`, and has an owner left.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_free(tl: *mut timeline_t) {
    if !tl.is_null() {
        guard(|| {
            // SAFETY: by contract the first member of a Writer.
            let writer = unsafe { &*tl.cast::<WriterObject>() };
            // AcqRel: the last owner finds all that the others did.
            if writer.owners.fetch_sub(1, Ordering::AcqRel) == 1 {
                writer.core.close();
                // SAFETY: from `give`, and by contract it had one owner left, which was this one.
                unsafe { closed::keep(tl.cast::<WriterObject>()) };
            }
            Ok(TIMELINE_OK)
        });
    }
}

/// Gives a timeline one more owner: it is freed when each has called `timeline_free`.
///
/// `tl`: from `timeline_new` or `timeline_open`, or NULL.
///
/// Returns `tl`. Any thread. Safe in a signal handler.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_share(tl: *mut timeline_t) -> *mut timeline_t {
    // SAFETY: by contract NULL or the first member of a Writer.
    if let Some(writer) = unsafe { tl.cast::<WriterObject>().as_ref() } {
        // Relaxed: whoever calls this is an owner, so none is the last one.
        writer.owners.fetch_add(1, Ordering::Relaxed);
    }
    tl
}

/// Removes the name of a timeline, live or not. Processes that have it open keep it until they free
/// it; no other process finds it any more.
///
/// `path`: as for `timeline_new`.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE` (it is left alone),
/// `TIMELINE_E_IN_USE` (`NAME.creating-…`, which a program is creating), `TIMELINE_E_ARGUMENT` or
/// `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_unlink(path: *const c_char) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        timeline_core::unlink(unsafe { self::path(path, "path")? })?;
        Ok(TIMELINE_OK)
    })
}

/// Defines an event. The same definition from any thread or process gives the same event. Takes
/// locks: define first, log later.
///
/// `category`: the part of the program, one word. `priority`: `TIMELINE_ERROR` to
/// `TIMELINE_LIBRARY`. `message`: UTF-8, one line or many; the words of the first line that begin
/// with `$` (letters, digits, `_`) are the arguments, at most 64: `"processed $tcp, $udp, and
/// $other"`. `timeline_log` logs up to four numbers, and `timeline_log_payload` the rest. `event`:
/// receives the number to log with; 0, which is never logged, when the call fails. Both texts have
/// at most 4,096 bytes.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (a text that is too long or not UTF-8, no such
/// priority, a 65th argument), `TIMELINE_E_FULL`, `TIMELINE_E_BUSY` (it stays locked for seconds)
/// or `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `category`
/// and `message` are NULL or NUL-terminated strings; `event` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_define(
    tl: *mut timeline_t,
    category: *const c_char,
    priority: i32,
    message: *const c_char,
    event: *mut u32,
) -> timeline_status_t {
    // SAFETY: the contract of this function.
    unsafe { timeline_define_with(tl, category, priority, message, std::ptr::null(), event) }
}

/// Like `timeline_define`, with attributes. They are part of the definition: the same message with
/// other attributes is another event.
///
/// `category`, `priority`, `message` and `event`: as for `timeline_define`. `attributes`: NULL for
/// the defaults.
/// An important event is kept when the ring is overwritten, in a region of 64 bytes an entry
/// (`important_entries` of the options), and costs more to log. When the region is full, further
/// ones are dropped and counted: `timeline_dropped_important`.
///
/// Returns the statuses of `timeline_define`. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `category`
/// and `message` are NULL or NUL-terminated strings; `attributes` is NULL or readable, and its
/// texts are NULL or NUL-terminated strings; `event` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_define_with(
    tl: *mut timeline_t,
    category: *const c_char,
    priority: i32,
    message: *const c_char,
    attributes: *const timeline_attributes_t,
    event: *mut u32,
) -> timeline_status_t {
    let status = guard(|| {
        place(event, "event")?;
        // SAFETY: the contract of this function.
        let (writer, category, message, attributes) = unsafe {
            (
                writer(tl)?,
                text(category, "category")?,
                text(message, "message")?,
                attributes_of(attributes)?,
            )
        };
        let priority = priority_of(priority)?;
        let core = &writer.core;
        let id = core.define_with(category, priority, message, &attributes)?;
        writer.tell_of_modules(message);
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { event.write(id.0) };
        Ok(TIMELINE_OK)
    });
    if status != TIMELINE_OK && !event.is_null() && event.is_aligned() {
        // SAFETY: not NULL and aligned, and writable by contract.
        unsafe { event.write(EventId::NEVER.0) };
    }
    status
}

/// How many important events were dropped so far, by all processes, because there was no room left
/// for them: ask after logging some. 0 for NULL. Takes no lock; safe in a signal handler. Any
/// thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_dropped_important(tl: *const timeline_t) -> u64 {
    without_cancellation(|| {
        // SAFETY: by contract NULL or the first member of a live Writer.
        let writer = unsafe { tl.cast::<WriterObject>().as_ref() };
        writer.map_or(0, |writer| writer.core.dropped_important())
    })
}

/// Logs an event, if it is enabled. No lock, no allocation and no waiting once the calling thread
/// has logged its first event; safe in a signal handler. Needs at most 2 KiB of stack; 16 KiB if
/// the library was built without optimisation. Check `timeline_enabled` first if the arguments are
/// costly to compute.
///
/// `tl`: NULL logs nothing. `event`: from `timeline_define`; 0 logs nothing, and a number beyond
/// the table of definitions is dropped and counted. `a0` to `a3`: the arguments of the message in
/// order; give 0 for the rest, which is not shown. A message with a text or an array, or with more
/// than four arguments, is for `timeline_log_payload`: logged here, it shows `?` or `…` for what is
/// missing. That is no error, because an event is not looked up to log it.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_log(
    tl: *const timeline_t,
    event: u32,
    a0: i64,
    a1: i64,
    a2: i64,
    a3: i64,
) {
    // SAFETY: by contract NULL or the first member of a live Writer.
    if let Some(writer) = unsafe { tl.cast::<WriterObject>().as_ref() } {
        writer.core.log(EventId(event), [a0, a1, a2, a3]);
    }
}
