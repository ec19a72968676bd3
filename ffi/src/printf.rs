//! Statements of C: defines their events, and logs the payloads that C encoded.
use crate::attributes::{attributes_of, timeline_attributes_t};
use crate::convert::{lossy, place, text};
use crate::error::{CallFailure, TIMELINE_OK, guard};
use crate::fields::{field_type, marked};
use crate::modules::Turn;
use crate::priority::priority_of;
use crate::stack::{Handler, look_for_handler};
use crate::types::lasting;
use crate::writer::{WriterObject, timeline_t, writer};
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, Ordering};
use timeline_core::internal::{Format, typed_message, without_cancellation};
use timeline_core::statement::{DefinitionFailure, Lookup, StatementEvents};
use timeline_core::{Definition, EventId, FieldType, Priority};

/// A flag of a site and of `timeline_log_payload`: the payload begins with a call stack.
pub const TIMELINE_SITE_BACKTRACE: u32 = 1;
/// A flag of a site: its text is a message with `$arguments`, and no format of printf.
pub const TIMELINE_SITE_EVENT: u32 = 2;

/// A flag of a site with a message: its events are important, as `timeline_attributes_t` says.
pub const TIMELINE_SITE_IMPORTANT: u32 = 4;

/// A flag of a site with a message: its event is one of a span.
pub const TIMELINE_SITE_SPAN: u32 = 8;

/// One call site of `TIMELINE_PRINTF` or `TIMELINE_EVENT`, which makes it in static memory and sets
/// `category`, `format`, `file`, `line`, `flags` and `channels`. All other members are 0 at first,
/// and only the library writes them.
#[repr(C)]
pub struct timeline_site_t {
    /// The category of its events.
    pub category: *const c_char,
    /// The format of printf, or the message.
    pub format: *const c_char,
    /// The source file.
    pub file: *const c_char,
    /// The line of that file.
    pub line: u32,
    /// `TIMELINE_SITE_EVENT` or `TIMELINE_SITE_BACKTRACE`, perhaps with `TIMELINE_SITE_IMPORTANT`
    /// or `TIMELINE_SITE_SPAN`.
    pub flags: u32,
    /// The channels of its events, as in `timeline_attributes_t`; NULL for none.
    pub channels: *const c_char,
    /// Its event for the timeline and the level that it met first: the timeline's `serial` in 32
    /// bits, the level in 8, the event in 24. A level of more than 7 means that there is no event.
    pub first: u64,
    /// Its events for other timelines and levels.
    pub others: *mut c_void,
    /// 32 numbers, or NULL for zeros. For a message, the first two have a bit for each argument:
    /// set if it is to be interned. For a format, the types of its values, in order, up to the
    /// first 0: a letter in the low 8 bits, above it the precision, or 0xffffff for none.
    pub types: *const u32,
}

/// The type for a format that cannot be taken apart: the program writes out the whole text.
const ALL: u32 = b'v' as u32 | NO_PRECISION;
const NO_PRECISION: u32 = 0xffff_ff00;

/// `errno` of this thread, which is restored on drop.
pub(crate) struct Errno(c_int);

impl Errno {
    pub(crate) fn keep() -> Errno {
        // SAFETY: the address of this thread's own errno.
        Errno(unsafe { *libc::__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: the address of this thread's own errno.
        unsafe { *libc::__errno_location() = self.0 }
    }
}

/// The memory of a site.
///
/// # Safety
/// `site` is aligned and outlives the result.
unsafe fn known<'a>(site: *mut timeline_site_t) -> &'a StatementEvents {
    const {
        let first = offset_of!(timeline_site_t, first);
        assert!(first.is_multiple_of(align_of::<StatementEvents>()));
        assert!(offset_of!(timeline_site_t, types) - first == size_of::<StatementEvents>());
    }
    // SAFETY: in the site. C and this library access these words by atomic operations only.
    unsafe { &*(&raw mut (*site).first).cast() }
}

/// The event of a call site for a timeline and a level, which is defined and remembered in the site
/// if it is not known. `TIMELINE_PRINTF` calls it when a statement first runs, and for each
/// timeline and level but the first. `given`: the types of the arguments of a message,
/// `TIMELINE_I64` and so on, up to the first 0; NULL for none.
///
/// Returns the event, or 0, which is never logged, if it cannot be defined. A failure is remembered
/// too, and not tried again. If the definition is refused, because it is wrong, an event of the
/// category `timeline` says why. Then, or if a table is full, each call that returns 0 counts an
/// event as dropped, if the level enables it. If the timeline stays locked, or the system refuses,
/// the failure may pass: then each call counts likewise, and one call in 1,024 tries again. Leaves
/// `errno` alone. An attempt takes locks and allocates, and may wait seconds for the lock of the
/// timeline; after one such wait in vain, only some 2 milliseconds, until it gets the lock.
///
/// Any thread; in a signal handler only after an earlier call for the same timeline and level. It
/// does not try again in a signal handler, or if the call stack cannot be read to its end (a
/// function without unwind tables). To find out, one call in 1,024 walks over the stack: with
/// libgcc before 12 or glibc before 2.35 that takes the loader's lock, and a handler that
/// interrupted dlopen in its own thread may wait for ever.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `site` is
/// NULL, or a site with NUL-terminated texts that only this library writes to; `given` is NULL, or
/// ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_site_define(
    tl: *mut timeline_t,
    site: *mut timeline_site_t,
    level: i32,
    given: *const u8,
) -> u32 {
    // SAFETY: the contract of this function.
    let again = match unsafe { look(tl, site, level) } {
        Lookup::Event(event) => return event.0,
        Lookup::Lost | Lookup::Refused => return EventId::NEVER.0,
        Lookup::Nothing => false,
        Lookup::Again => true,
    };
    // SAFETY: as above.
    without_cancellation(|| unsafe { define_at(tl, site, level, given, again) })
}

/// Returns what the site remembers; nothing if an argument is wrong. If it is too early to try
/// again, counts an event as dropped.
///
/// No locks, no allocation and nothing to clean up: a signal handler may call it, and a thread may
/// be cancelled in it.
///
/// # Safety
/// The contract of [`timeline_site_define`].
unsafe fn look(tl: *mut timeline_t, site: *mut timeline_site_t, level: i32) -> Lookup {
    let priority = u8::try_from(level).ok().and_then(Priority::from_u8);
    // SAFETY: by contract NULL or the first member of a live Writer.
    let (Some(writer), Some(priority)) = (unsafe { tl.cast::<WriterObject>().as_ref() }, priority)
    else {
        return Lookup::Nothing;
    };
    if site.is_null() || !site.is_aligned() {
        return Lookup::Nothing;
    }
    // SAFETY: neither NULL nor misaligned, and alive by contract.
    writer.core.look(unsafe { known(site) }, priority)
}

/// # Safety
/// The contract of [`timeline_site_define`].
unsafe fn define_at(
    tl: *mut timeline_t,
    site: *mut timeline_site_t,
    level: i32,
    given: *const u8,
    again: bool,
) -> u32 {
    let _errno = Errno::keep();
    let mut event = EventId::NEVER;
    guard(|| {
        place(site, "the site")?;
        // SAFETY: the contract of this function.
        let writer = unsafe { writer(tl)? };
        let priority = priority_of(level)?;
        // SAFETY: checked by `place`, and alive by contract.
        let known = unsafe { known(site) };
        // A handler may have interrupted malloc; its author relies on an earlier run to define the
        // event. So nothing is tried if the stack cannot be read to its end.
        if again && look_for_handler() != Handler::None {
            writer.core.dropped_undefined(priority);
            return Ok(TIMELINE_OK);
        }
        // SAFETY: the contract of this function.
        let defined = unsafe { define(writer, site, priority, given) };
        let why = defined.as_ref().copied().map_err(CallFailure::undefined);
        if why == Err(DefinitionFailure::Passing) {
            // The first walk over a stack may load and sort tables: do that here, not when a
            // handler asks above.
            look_for_handler();
        }
        writer.core.remember(known, priority, why);
        if let (Err(failure), Err(DefinitionFailure::Wrong)) = (&defined, why) {
            // SAFETY: the contract of this function.
            let file = unsafe { lossy((*site).file, "file")? };
            // SAFETY: as above.
            let line = unsafe { (*site).line };
            let core = &writer.core;
            core.tell_of_refused((&file, line), failure.message());
        }
        event = defined?;
        Ok(TIMELINE_OK)
    });
    event.0
}

/// Defines the event and stores the types of its values in the site.
///
/// # Safety
/// `site` is a live site whose texts are NUL-terminated; `given` is NULL, or ends with 0.
unsafe fn define(
    writer: &WriterObject,
    site: *mut timeline_site_t,
    priority: Priority,
    given: *const u8,
) -> Result<EventId, CallFailure> {
    // SAFETY: by contract live, and these never change.
    let (category, format, file, line) = unsafe {
        (
            lossy((*site).category, "category")?,
            lossy((*site).format, "format")?,
            lossy((*site).file, "file")?,
            (*site).line,
        )
    };
    // SAFETY: as above.
    let flags = unsafe { (*site).flags };
    // SAFETY: as above.
    let channels = unsafe { (*site).channels };
    let raw = timeline_attributes_t {
        channels,
        important: flags & TIMELINE_SITE_IMPORTANT != 0,
    };
    // SAFETY: as above.
    let attributes = unsafe { attributes_of(&raw) }?;
    let (core, at) = (&writer.core, (&*file, line));
    if flags & TIMELINE_SITE_EVENT != 0 {
        // SAFETY: as above.
        let (category, format) = unsafe {
            (
                text((*site).category, "category")?,
                text((*site).format, "message")?,
            )
        };
        // SAFETY: the contract of this function.
        let given = unsafe { types_of(given) }?;
        if flags & TIMELINE_SITE_SPAN != 0 {
            check_span(category, format)?;
        }
        let event = core.define_event(category, priority, format, &given, at, &attributes)?;
        writer.tell_of_modules(&typed_message(format, &given)?);
        let marked = marked(format);
        // SAFETY: as above.
        unsafe { put_types(site, &[marked as u32, (marked >> 32) as u32]) };
        return Ok(event);
    }
    let event = core.define_printf(&category, priority, &format, at, &attributes)?;
    if flags & TIMELINE_SITE_BACKTRACE != 0 && writer.modules.turn() != Turn::TooEarly {
        writer.modules.update(&writer.core);
    }

    let types = Format::parse(&format).types().unwrap_or_else(|| vec![ALL]);
    // SAFETY: as above.
    unsafe { put_types(site, &types) };
    Ok(event)
}

/// Refuses the message of an event that would be one of a span, if no words name the span.
fn check_span(category: &str, message: &str) -> Result<(), CallFailure> {
    let definition = Definition::new(EventId::NEVER, category, Priority::Error, message);
    match definition.span_part() {
        Some(_) => Ok(()),
        None => Err(CallFailure::argument(format!(
            "the message of a span must begin with words, which name the span; with its first \
             word, it is {message:?}"
        ))),
    }
}

/// # Safety
/// `site` is a live site.
unsafe fn put_types(site: *mut timeline_site_t, types: &[u32]) {
    // SAFETY: in the site.
    let kept = unsafe { AtomicPtr::from_ptr((&raw mut (*site).types).cast()) };
    // Relaxed: published by the event, which follows. Another thread that defines this event now
    // stores the same.
    kept.store(lasting(types).cast_mut(), Ordering::Relaxed);
}

/// The types in a list.
///
/// # Safety
/// The list is NULL or ends with 0.
pub(crate) unsafe fn types_of(list: *const u8) -> Result<Vec<FieldType<'static>>, CallFailure> {
    let mut found = Vec::new();
    while !list.is_null() {
        // SAFETY: no byte before this one was 0.
        let number = unsafe { list.add(found.len()).read() };
        if number == 0 {
            break;
        }
        found.push(field_type(number.into()).ok_or_else(|| {
            CallFailure::argument(format!(
                "argument {} of the statement has a type that no field has: expected a number of \
                 at most 64 bits, a pointer, a text or an array; cast it",
                found.len() + 1
            ))
        })?);
    }
    Ok(found)
}

/// Logs an event with a payload, if it is enabled. `TIMELINE_PRINTF` and `TIMELINE_EVENT` call it.
/// As fast and as safe as `timeline_log`, except for the time to copy the words.
///
/// `tl`: NULL logs nothing. `event`: from `timeline_site_define` or `timeline_define`. `words` and
/// `count`: the payload, as docs/format.md states it; words beyond the `payload` of the timeline
/// are cut off. `flags`: `TIMELINE_SITE_BACKTRACE` if the output of `timeline_backtrace` comes
/// first, or 0.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `words` has
/// `count` readable words.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_log_payload(
    tl: *const timeline_t,
    event: u32,
    words: *const u64,
    count: usize,
    flags: u32,
) {
    // SAFETY: by contract NULL or the first member of a live Writer.
    let Some(writer) = (unsafe { tl.cast::<WriterObject>().as_ref() }) else {
        return;
    };
    let backtrace = flags & TIMELINE_SITE_BACKTRACE != 0;
    if words.is_null() || !words.is_aligned() {
        return writer.core.log_payload(EventId(event), &[], backtrace);
    }
    // SAFETY: neither NULL nor misaligned, and `count` readable words by contract.
    let words = unsafe { std::slice::from_raw_parts(words, count) };
    writer.core.log_payload(EventId(event), words, backtrace);
}
