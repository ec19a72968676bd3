//! An event of an analysis, and what is known of it.
use crate::convert::{place, shared};
use crate::error::{CallFailure, TIMELINE_END, TIMELINE_OK, guard, timeline_status_t};
use crate::optional::optional_place;
use crate::subscriptions::FieldSet;
use crate::texts::EventTexts;
use analysis_core::EventContext;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ffi::c_char;
use timeline_core::{Definition, Thread};

/// For `timeline_analysis_number`: when it was logged, in nanoseconds since 1970.
pub const TIMELINE_ANALYSIS_TIME: u32 = 1;
/// A number: the ticks of its clock.
pub const TIMELINE_ANALYSIS_TICKS: u32 = 2;
/// A number: `TIMELINE_ERROR` to `TIMELINE_LIBRARY`.
pub const TIMELINE_ANALYSIS_PRIORITY: u32 = 3;
/// A number: the processor that logged it.
pub const TIMELINE_ANALYSIS_CORE: u32 = 4;
/// A number: the NUMA node of that processor.
pub const TIMELINE_ANALYSIS_NODE: u32 = 5;
/// A number: the kernel's id of the thread that logged it.
pub const TIMELINE_ANALYSIS_TID: u32 = 6;
/// A number: the process of that thread. It is looked for in the log.
pub const TIMELINE_ANALYSIS_PID: u32 = 7;
/// A number: that of its log, in the order of the paths, from 0 on.
pub const TIMELINE_ANALYSIS_LOG: u32 = 8;
/// A number: that of the first subscription of the analyser that wants it.
pub const TIMELINE_ANALYSIS_SUBSCRIPTION: u32 = 9;
/// A number: 1 for an important event, see `timeline_define_with`; else 0.
pub const TIMELINE_ANALYSIS_IMPORTANT: u32 = 10;

/// For `timeline_analysis_text`: the category.
pub const TIMELINE_ANALYSIS_CATEGORY: u32 = 101;
/// A text: the name of the event, such as `net.got_packet`.
pub const TIMELINE_ANALYSIS_NAME: u32 = 102;
/// A text: the message with the values in their places, as `timeline dump` shows it. Takes longer
/// than all else. If the definition cannot be read, it is all values of the event.
pub const TIMELINE_ANALYSIS_MESSAGE: u32 = 103;
/// A text: the name of the thread that logged it. Like the next two, it is looked for in the log.
pub const TIMELINE_ANALYSIS_THREAD: u32 = 104;
/// A text: the group of that thread, if its program gave it one.
pub const TIMELINE_ANALYSIS_GROUP: u32 = 105;
/// A text: the name of the process of that thread.
pub const TIMELINE_ANALYSIS_PROCESS: u32 = 106;
/// A text: the name of the machine. Of a snapshot it is not known.
pub const TIMELINE_ANALYSIS_HOST: u32 = 107;
/// A text: the path of its log.
pub const TIMELINE_ANALYSIS_PATH: u32 = 108;
/// A text: which of the machine's clocks the ticks are of.
pub const TIMELINE_ANALYSIS_CLOCK: u32 = 109;
/// A text: the kernel's boot id. It is another one on each machine, and after each start of it.
/// Ticks of one clock and one boot id can be compared.
pub const TIMELINE_ANALYSIS_BOOT: u32 = 110;

/// An event that an analysis gives: valid until the callback returns, or until the next call of
/// `timeline_analysis_next`.
pub struct timeline_analysis_event_t {
    _private: [u8; 0],
}

/// The object behind a `timeline_analysis_event_t *`.
pub(crate) struct EventHandle<'v, 'e> {
    context: &'v EventContext<'v, 'e>,
    fields: &'v [FieldSet],
    texts: &'v EventTexts,
    /// Once somebody asked for it.
    thread: OnceCell<Option<Thread>>,
}

impl<'v, 'e> EventHandle<'v, 'e> {
    /// An event, with the fields that its analyser asked for.
    pub fn new(
        context: &'v EventContext<'v, 'e>,
        fields: &'v [FieldSet],
        texts: &'v EventTexts,
    ) -> EventHandle<'v, 'e> {
        EventHandle {
            context,
            fields,
            texts,
            thread: OnceCell::new(),
        }
    }

    pub(crate) fn context(&self) -> &'v EventContext<'v, 'e> {
        self.context
    }

    /// What a handle of a field leads to; `None` if the analyser asked for no such one.
    pub(crate) fn field(&self, handle: u32) -> Option<&'v FieldSet> {
        let place = (handle as usize).checked_sub(1)?;
        self.fields.get(place)
    }

    /// Gives C a text, with its size if C wants that.
    ///
    /// # Safety
    /// `out` was checked by `place`, and can be written; `size` was by `optional_place`, and is
    /// NULL or can be.
    pub(crate) unsafe fn give(&self, text: &str, out: *mut *const c_char, size: *mut usize) {
        // SAFETY: the contract of this function.
        unsafe {
            out.write(self.texts.keep(text));
            if !size.is_null() {
                size.write(text.len());
            }
        }
    }

    fn thread(&self) -> Option<&Thread> {
        let thread = self.thread.get_or_init(|| self.context.thread());
        thread.as_ref()
    }

    fn number(&self, what: u32) -> Result<Option<u64>, CallFailure> {
        let (context, event) = (self.context, self.context.event());
        Ok(match what {
            TIMELINE_ANALYSIS_TIME => context.time(),
            TIMELINE_ANALYSIS_TICKS => context.ticks(),
            TIMELINE_ANALYSIS_PRIORITY => {
                let priority = context.definition().and_then(|known| known.priority);
                priority.map(|priority| priority as u64)
            }
            TIMELINE_ANALYSIS_CORE => event.known_core().map(u64::from),
            TIMELINE_ANALYSIS_NODE => event.known_node().map(u64::from),
            TIMELINE_ANALYSIS_TID => event.known_tid().map(u64::from),
            TIMELINE_ANALYSIS_PID => {
                let pid = self.thread().and_then(Thread::known_pid);
                pid.map(u64::from)
            }
            TIMELINE_ANALYSIS_LOG => Some(context.log_number() as u64),
            TIMELINE_ANALYSIS_SUBSCRIPTION => Some(context.subscription().0 as u64),
            TIMELINE_ANALYSIS_IMPORTANT => Some(event.important.into()),
            other => {
                return Err(CallFailure::argument(format!(
                    "an event has no number {other}: expected TIMELINE_ANALYSIS_TIME to \
                     TIMELINE_ANALYSIS_IMPORTANT"
                )));
            }
        })
    }

    fn text(&self, what: u32) -> Result<Option<Cow<'_, str>>, CallFailure> {
        let (context, definition) = (self.context, self.context.definition());
        let of_thread = |of: fn(&Thread) -> Option<&str>| self.thread().and_then(of);
        Ok(match what {
            TIMELINE_ANALYSIS_CATEGORY => {
                let category = definition.filter(|known| !known.is_category_lost);
                let category = category.map(|known| &*known.category);
                category.filter(|name| !name.is_empty()).map(Cow::from)
            }
            TIMELINE_ANALYSIS_NAME => {
                let is_whole = |known: &&Definition| !known.is_lost && !known.is_category_lost;
                definition.filter(is_whole).map(|_| context.name().into())
            }
            TIMELINE_ANALYSIS_MESSAGE => Some(context.message().into()),
            TIMELINE_ANALYSIS_THREAD => of_thread(|one| one.name.as_deref()).map(Cow::from),
            TIMELINE_ANALYSIS_GROUP => of_thread(|one| one.group.as_deref()).map(Cow::from),
            TIMELINE_ANALYSIS_PROCESS => of_thread(|one| one.process.as_deref()).map(Cow::from),
            TIMELINE_ANALYSIS_HOST => context.host().map(Cow::from),
            TIMELINE_ANALYSIS_PATH => Some(context.log().path().to_string_lossy()),
            TIMELINE_ANALYSIS_CLOCK => context.clock().map(|key| key.clock.into()),
            TIMELINE_ANALYSIS_BOOT => context.clock().map(|key| key.boot_id.into()),
            other => {
                return Err(CallFailure::argument(format!(
                    "an event has no text {other}: expected TIMELINE_ANALYSIS_CATEGORY to \
                     TIMELINE_ANALYSIS_BOOT"
                )));
            }
        })
    }
}

/// The object behind a handle.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid.
pub(crate) unsafe fn object<'a>(
    event: *const timeline_analysis_event_t,
) -> Result<&'a EventHandle<'a, 'a>, CallFailure> {
    // SAFETY: handed on from the caller.
    unsafe { shared(event.cast::<EventHandle>(), "event", "an analysis") }
}

/// Says a number that is known of an event.
///
/// `what`: `TIMELINE_ANALYSIS_TIME` to `TIMELINE_ANALYSIS_IMPORTANT`. `number`: receives it;
/// untouched unless the call returns `TIMELINE_OK`.
///
/// Returns `TIMELINE_OK`, `TIMELINE_END` if it is not known, or `TIMELINE_E_ARGUMENT`.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `number` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_number(
    event: *const timeline_analysis_event_t,
    what: u32,
    number: *mut u64,
) -> timeline_status_t {
    guard(|| {
        place(number, "number")?;
        // SAFETY: the contract of this function.
        let Some(found) = unsafe { object(event)? }.number(what)? else {
            return Ok(TIMELINE_END);
        };
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { number.write(found) };
        Ok(TIMELINE_OK)
    })
}

/// Says a text that is known of an event.
///
/// `what`: `TIMELINE_ANALYSIS_CATEGORY` to `TIMELINE_ANALYSIS_BOOT`. `text`: receives it; valid as
/// long as the event, and untouched unless the call returns `TIMELINE_OK`. `size`: receives how
/// many bytes it has, without the NUL; may be NULL.
///
/// Returns `TIMELINE_OK`, `TIMELINE_END` if it is not known, or `TIMELINE_E_ARGUMENT`.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `text` is NULL or writable,
/// and so is `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_text(
    event: *const timeline_analysis_event_t,
    what: u32,
    text: *mut *const c_char,
    size: *mut usize,
) -> timeline_status_t {
    guard(|| {
        place(text, "text")?;
        optional_place(size, "size")?;
        // SAFETY: the contract of this function.
        let event = unsafe { object(event)? };
        let Some(found) = event.text(what)? else {
            return Ok(TIMELINE_END);
        };
        // SAFETY: checked by `place`, and the contract of this function.
        unsafe { event.give(&found, text, size) };
        Ok(TIMELINE_OK)
    })
}
