//! Statements of C: defines their events, and logs the payloads that C encoded.
use crate::attributes::{attributes_of, timeline_attributes_t};
use crate::convert::{lossy, place, text};
use crate::error::{Failure, RETRY, TIMELINE_OK, guard};
use crate::fields::{field_type, marked};
use crate::modules::Turn;
use crate::priority::priority_of;
use crate::stack::{Handler, look_for_handler};
use crate::writer::{Writer, timeline_t, writer};
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use timeline_core::{
    Definition, EventId, FieldType, Format, Priority, typed_message, without_cancellation,
};

/// A flag of a site and of `timeline_log_payload`: the payload begins with a call stack.
pub const TIMELINE_SITE_BACKTRACE: u32 = 1;
/// A flag of a site: its text is a message with `$arguments`, and no format of printf.
pub const TIMELINE_SITE_EVENT: u32 = 2;

/// A flag of a site with a message: its events are important, as `timeline_attributes_t` says.
pub const TIMELINE_SITE_IMPORTANT: u32 = 4;

/// A flag of a site with a message: its event is one of a span.
pub const TIMELINE_SITE_SPAN: u32 = 8;

/// One call site of `TIMELINE_PRINTF` or `TIMELINE_EVENT`, which makes it in static memory and sets
/// `category`, `format`, `file`, `line`, `flags` and `channels`, and `given` before it is defined.
/// All other members are 0 at first, and only the library writes them.
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
    /// Its events for up to 8 pairs of a timeline and a level: the timeline's `serial` in 32 bits,
    /// the level in 8, the event in 24, at the index `(serial + level) % 8`. After a failure that
    /// may pass, 0x80 is added to the level, and the 24 bits count the runs since.
    pub events: [u64; 8],
    /// For a message, the first two have a bit for each argument: set if it is to be interned.
    /// For a format, the types of its values, in order, up to the first 0: a letter in the low 8
    /// bits, above it the precision, or 0xffffff for none.
    pub types: [u32; 32],
    /// The types of the arguments for a message, `TIMELINE_I64` and so on, up to the first 0.
    pub given: *const u8,
    /// The channels of its events, as in `timeline_attributes_t`; NULL for none.
    pub channels: *const c_char,
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

/// The word in which a site remembers its event for a timeline and a level.
struct Known<'a> {
    word: &'a AtomicU64,
    /// The bits above the lower 24 if the word holds that event.
    pair: u64,
}

/// The memory of a site for a timeline and a level.
enum Found {
    /// Nothing.
    Nothing,
    /// The event; 0 when it cannot be defined.
    Event(u32),
    /// The event could not be defined, and it is too early to try again, or of no use.
    TooEarly,
    /// The event could not be defined, and it is time to try again.
    Again,
}

impl Known<'_> {
    /// In `pair`: the lower bits are not an event, but the number of runs since it could not be
    /// defined. No level has this bit, so C never finds an event there, and calls each time.
    const FAILED: u64 = 0x80;
    /// In `pair`: there was no room for the event. No level has this bit either.
    const FULL: u64 = 0x40;
    const LOWER: u64 = 0xff_ffff;

    /// # Safety
    /// `site` is aligned and outlives the result.
    unsafe fn of(writer: &Writer, site: *mut timeline_site_t, priority: Priority) -> Self {
        let of = writer.serial().wrapping_add(priority as u32) as usize % 8;
        Known {
            // SAFETY: in the site. C and this library access these words by atomic operations only.
            word: unsafe { AtomicU64::from_ptr(&raw mut (*site).events[of]) },
            pair: u64::from(writer.serial()) << 8 | priority as u64,
        }
    }

    /// Reads the word, and counts a run if the event could not be defined before.
    fn look(&self) -> Found {
        // Acquire (pairs with the Release in `put`): a thread that sees the event sees the types.
        let mut found = self.word.load(Ordering::Acquire);
        while found >> 24 == self.pair | Self::FAILED {
            let runs = (found + 1) & Self::LOWER;
            let next = found & !Self::LOWER | runs;
            let order = (Ordering::Relaxed, Ordering::Acquire);
            match self
                .word
                .compare_exchange_weak(found, next, order.0, order.1)
            {
                Ok(_) if runs.is_multiple_of(RETRY.into()) => return Found::Again,
                Ok(_) => return Found::TooEarly,
                Err(now) => found = now,
            }
        }
        match found >> 24 {
            known if known == self.pair => Found::Event((found & Self::LOWER) as u32),
            // A table stays full, so nothing is tried again.
            known if known == self.pair | Self::FULL => Found::TooEarly,
            _ => Found::Nothing,
        }
    }

    /// Remembers the event.
    fn put(&self, event: EventId) {
        // Release (pairs with the Acquire in `look` and in timeline_says_): publishes the types.
        let word = self.pair << 24 | u64::from(event.0);
        self.word.store(word, Ordering::Release);
    }

    /// Remembers that the event could not be defined, unless another thread has written since
    /// `before` was read. `how` is [`Known::FAILED`] or [`Known::FULL`].
    fn put_failure(&self, before: u64, how: u64) {
        let word = (self.pair | how) << 24;
        let _ = self
            .word
            .compare_exchange(before, word, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Defines the event of a call site for a timeline and a level, and remembers it in the site.
/// `TIMELINE_PRINTF` calls it when a statement first runs.
///
/// Returns the event, or 0, which is never logged, if it cannot be defined. A failure is remembered
/// too, and not tried again. If a table is full, each call that returns 0 counts an event as
/// dropped, if the level enables it. If the timeline stays locked, or the system refuses, the
/// failure may pass: then each call counts likewise, and one call in 1,024 tries again. Leaves
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
/// NULL, or a site with NUL-terminated texts that only this library writes to.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_site_define(
    tl: *mut timeline_t,
    site: *mut timeline_site_t,
    level: i32,
) -> u32 {
    // SAFETY: the contract of this function.
    let again = match unsafe { look(tl, site, level) } {
        Found::Event(event) => return event,
        Found::TooEarly => return EventId::NEVER.0,
        Found::Nothing => false,
        Found::Again => true,
    };
    // SAFETY: as above.
    without_cancellation(|| unsafe { define_at(tl, site, level, again) })
}

/// Returns what the site remembers; nothing if an argument is wrong. If it is too early to try
/// again, counts an event as dropped.
///
/// No locks, no allocation and nothing to clean up: a signal handler may call it, and a thread may
/// be cancelled in it.
///
/// # Safety
/// The contract of [`timeline_site_define`].
unsafe fn look(tl: *mut timeline_t, site: *mut timeline_site_t, level: i32) -> Found {
    let priority = u8::try_from(level).ok().and_then(Priority::from_u8);
    // SAFETY: by contract NULL or the first member of a live Writer.
    let (Some(writer), Some(priority)) = (unsafe { tl.cast::<Writer>().as_ref() }, priority) else {
        return Found::Nothing;
    };
    if site.is_null() || !site.is_aligned() {
        return Found::Nothing;
    }
    // SAFETY: neither NULL nor misaligned, and alive by contract.
    let found = unsafe { Known::of(writer, site, priority) }.look();
    if let Found::TooEarly = found {
        writer.core.dropped_undefined(priority);
    }
    found
}

/// # Safety
/// The contract of [`timeline_site_define`].
unsafe fn define_at(
    tl: *mut timeline_t,
    site: *mut timeline_site_t,
    level: i32,
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
        let known = unsafe { Known::of(writer, site, priority) };
        let before = known.word.load(Ordering::Relaxed);
        // A handler may have interrupted malloc; its author relies on an earlier run to define the
        // event. So nothing is tried if the stack cannot be read to its end.
        if again && look_for_handler() != Handler::None {
            writer.core.dropped_undefined(priority);
            return Ok(TIMELINE_OK);
        }
        // SAFETY: the contract of this function.
        let defined = unsafe { define(writer, site, priority) };
        match &defined {
            Ok(event) => known.put(*event),
            // What is lost for want of room is counted, too.
            Err(failure) if failure.is_full() => {
                known.put_failure(before, Known::FULL);
                writer.core.dropped_undefined(priority);
            }
            Err(failure) if failure.may_pass() => {
                // The first walk over a stack may load and sort tables: do that here, not when a
                // handler asks above.
                look_for_handler();
                known.put_failure(before, Known::FAILED);
                writer.core.dropped_undefined(priority);
            }
            Err(_) => known.put(EventId::NEVER),
        }
        event = defined?;
        Ok(TIMELINE_OK)
    });
    event.0
}

/// Defines the event and stores the types of its values in the site.
///
/// # Safety
/// `site` is a live site whose texts are NUL-terminated.
unsafe fn define(
    writer: &Writer,
    site: *mut timeline_site_t,
    priority: Priority,
) -> Result<EventId, Failure> {
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
        // SAFETY: as above; the statement has stored the list, which is static.
        let given = unsafe { given(AtomicPtr::from_ptr((&raw mut (*site).given).cast())) }?;
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
fn check_span(category: &str, message: &str) -> Result<(), Failure> {
    let definition = Definition::new(EventId::NEVER, category, Priority::Error, message);
    match definition.span_part() {
        Some(_) => Ok(()),
        None => Err(Failure::argument(format!(
            "the message of a span must begin with words, which name the span; with its first \
             word, it is {message:?}"
        ))),
    }
}

/// # Safety
/// `site` is a live site.
unsafe fn put_types(site: *mut timeline_site_t, types: &[u32]) {
    for (index, kind) in types.iter().enumerate().take(32) {
        // SAFETY: in the site. Another thread that defines this event now stores the same.
        let kept = unsafe { AtomicU32::from_ptr(&raw mut (*site).types[index]) };
        kept.store(*kind, Ordering::Relaxed);
    }
}

/// The types of the arguments of a statement.
///
/// # Safety
/// The list is NULL or ends with 0.
unsafe fn given(list: &AtomicPtr<u8>) -> Result<Vec<FieldType<'static>>, Failure> {
    // Relaxed: the list is static memory.
    // SAFETY: the contract of this function.
    unsafe { types_of(list.load(Ordering::Relaxed)) }
}

/// The types in a list.
///
/// # Safety
/// The list is NULL or ends with 0.
pub(crate) unsafe fn types_of(list: *const u8) -> Result<Vec<FieldType<'static>>, Failure> {
    let mut found = Vec::new();
    while !list.is_null() {
        // SAFETY: no byte before this one was 0.
        let number = unsafe { list.add(found.len()).read() };
        if number == 0 {
            break;
        }
        found.push(field_type(number.into()).ok_or_else(|| {
            Failure::argument(format!(
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
    let Some(writer) = (unsafe { tl.cast::<Writer>().as_ref() }) else {
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
