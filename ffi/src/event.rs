//! An event as C sees it, and as text.
use crate::convert::shared;
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::priority::TIMELINE_NONE;
use crate::text::{floor, to_array, to_c_string};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::{Mutex, PoisonError};
use timeline_core::internal::{Format, MAX_FIELDS, by_position};
use timeline_core::{Attached, Definition, Event, EventId, Layout, Priority, Syntax, Values};

/// A syntax: the words of the message's first line that begin with `$` are the arguments; `args`
/// has their words.
pub const TIMELINE_TEMPLATE: i32 = 1;
/// A syntax: the message is a format of printf; `payload` has the values.
pub const TIMELINE_FORMAT: i32 = 2;

/// One event, from `timeline_next`.
#[repr(C)]
pub struct timeline_event_t {
    /// The time in ticks of the timeline's clock (usually processor cycles).
    pub ticks: u64,
    /// The time in nanoseconds since 1970 UTC; 0 when not known yet.
    pub unix_nanos: u64,
    /// The number of the event's definition.
    pub event: u32,
    /// The thread that logged it.
    pub tid: u32,
    /// The process of that thread; 0 when not known.
    pub pid: u32,
    /// `TIMELINE_ERROR` to `TIMELINE_LIBRARY`; 0 when the definition cannot be read.
    pub priority: i32,
    /// How many arguments the message has.
    pub argument_count: u32,
    /// The processor that logged it.
    pub core: u16,
    /// The NUMA node of that processor.
    pub node: u16,
    /// The words of an event without a payload, as the program gave them: `timeline_values` knows
    /// what the words of its arguments are.
    pub args: [i64; 4],
    /// The category; `""` when the definition cannot be read. Valid until both the attached
    /// timeline and the cursor are freed.
    pub category: *const c_char,
    /// The message as it was defined, a template with all its lines or a format, for
    /// `timeline_render`; valid as long as `category`.
    pub message: *const c_char,
    /// The name of the thread, cut to 39 bytes; `""` when not known.
    pub thread: [c_char; 40],
    /// Its group, cut to 31 bytes; `""` when it has none.
    pub group: [c_char; 32],
    /// The name of the process, cut to 15 bytes; `""` when not known.
    pub process: [c_char; 16],
    /// `TIMELINE_TEMPLATE` or `TIMELINE_FORMAT`: how the message marks its values.
    pub syntax: i32,
    /// The line of the statement that logged it; 0 when not known.
    pub line: u32,
    /// The file of that statement, or `""`; valid as long as `category`.
    pub file: *const c_char,
    /// The payload, for `timeline_values` and `timeline_render`: words, as docs/format.md states
    /// them. Valid until the cursor gives the next event or is freed; NULL when there is none, and
    /// the words are in `args`.
    pub payload: *const u8,
    /// The call stack's return addresses, innermost first; NULL when there are none. Valid as long
    /// as `payload`.
    pub backtrace: *const u64,
    /// How many bytes `payload` has.
    pub payload_size: u32,
    /// How many addresses `backtrace` has.
    pub backtrace_count: u32,
    /// How many entries are missing right before this event, among those of the CPU or thread that
    /// logged it: they were overwritten. Entries that `timeline_follow` skipped at its beginning do
    /// not count.
    pub missed: u64,
    /// Whether it is an important event: see `timeline_define_with`. These come before all others.
    pub important: bool,
    /// The channels of its definition, with `|` between; `""` for none. Valid as long as
    /// `category`.
    pub channels: *const c_char,
}

/// The texts of each definition, for C. Boxed, so that their addresses stay when the map grows.
#[derive(Default)]
pub(crate) struct Texts(Mutex<HashMap<EventId, Box<Text>>>);

struct Text {
    category: CString,
    message: CString,
    file: CString,
    channels: CString,
    line: u32,
    syntax: i32,
    priority: i32,
    argument_count: u32,
}

impl Text {
    fn new(definition: &Definition) -> Text {
        Text {
            category: to_c_string(&definition.category),
            message: to_c_string(&definition.message),
            file: to_c_string(definition.file.as_deref().unwrap_or_default()),
            channels: to_c_string(&definition.channels),
            line: definition.line.unwrap_or(0),
            syntax: match definition.syntax {
                Syntax::Template => TIMELINE_TEMPLATE,
                Syntax::Printf => TIMELINE_FORMAT,
            },
            priority: definition.priority.map_or(TIMELINE_NONE, |p| p as i32),
            // A forged timeline may name more arguments than an event has.
            argument_count: definition.argument_count().min(MAX_FIELDS) as u32,
        }
    }
}

impl Texts {
    /// Fills in the members that come from the definition.
    fn describe(&self, at: &Attached, event: &mut timeline_event_t) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = EventId(event.event);
        let text = match texts.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                // A definition that cannot be read now may be readable later: it is not remembered.
                let Some(definition) = at.definition(id) else {
                    return;
                };
                place.insert(Box::new(Text::new(definition)))
            }
        };
        event.category = text.category.as_ptr();
        event.message = text.message.as_ptr();
        event.priority = text.priority;
        event.argument_count = text.argument_count;
        event.syntax = text.syntax;
        event.file = text.file.as_ptr();
        event.channels = text.channels.as_ptr();
        event.line = text.line;
    }
}

/// Converts an event for C. The result points into `texts` and `event`.
pub(crate) fn convert(at: &Attached, texts: &Texts, event: &Event) -> timeline_event_t {
    let thread = at.thread(event);
    let thread = thread.as_ref();
    let payload = event.payload.as_deref();
    let values = payload.map_or(&[][..], |payload| &payload.values);
    let backtrace = payload.map_or(&[][..], |payload| &payload.backtrace);
    let mut converted = timeline_event_t {
        ticks: event.ticks,
        unix_nanos: at.unix_nanos(event.ticks).unwrap_or(0),
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
        thread: to_array(thread.and_then(|t| t.name.as_deref()).unwrap_or("")),
        group: to_array(thread.and_then(|t| t.group.as_deref()).unwrap_or("")),
        process: to_array(thread.and_then(|t| t.process.as_deref()).unwrap_or("")),
        syntax: TIMELINE_TEMPLATE,
        line: 0,
        file: c"".as_ptr(),
        payload: pointer(values),
        backtrace: pointer(backtrace),
        payload_size: values.len() as u32,
        backtrace_count: backtrace.len() as u32,
        missed: event.missed,
        important: event.important,
        channels: c"".as_ptr(),
    };
    texts.describe(at, &mut converted);
    converted
}

fn pointer<T>(slice: &[T]) -> *const T {
    match slice.is_empty() {
        true => ptr::null(),
        false => slice.as_ptr(),
    }
}

/// The definition of an event, as far as its values need it; `None` if it cannot be read.
///
/// # Safety
/// The event came from `timeline_next`, its pointers are still valid, and its message is not NULL.
pub(crate) unsafe fn definition(event: &timeline_event_t) -> Option<Definition> {
    // Event 0: the structure was never filled in.
    if event.priority == TIMELINE_NONE && event.event != 0 {
        return None;
    }
    // SAFETY: not NULL; a NUL-terminated text of the attached timeline by contract.
    let message = unsafe { CStr::from_ptr(event.message) }.to_string_lossy();
    let mut definition = Definition::new(EventId::NEVER, "", Priority::Error, message);
    if event.syntax == TIMELINE_FORMAT {
        definition.syntax = Syntax::Printf;
    }
    Some(definition)
}

/// Which values the event of a definition has.
pub(crate) fn layout(definition: Option<&Definition>) -> Layout {
    definition.map_or_else(Layout::unknown, Layout::of)
}

/// The values of an event.
///
/// # Safety
/// The event came from `timeline_next`, and its pointers stay valid for `'a`.
pub(crate) unsafe fn values<'a>(event: &'a timeline_event_t, layout: &'a Layout) -> Values<'a> {
    match event.payload.is_null() {
        true => layout.values_of_words(&event.args),
        // SAFETY: not NULL, and the cursor's event has as many bytes by contract.
        false => layout.values(unsafe {
            std::slice::from_raw_parts(event.payload, event.payload_size as usize)
        }),
    }
}

/// # Safety
/// The contract of [`definition`].
unsafe fn render(event: &timeline_event_t) -> Vec<u8> {
    // SAFETY: the contract of this function.
    let definition = unsafe { definition(event) };
    if let Some(known) = definition.as_ref().filter(|d| d.syntax == Syntax::Printf) {
        let (mut text, format) = (Vec::new(), Format::parse(&known.message));
        let layout = Layout::of_format(&format);
        // SAFETY: the contract of this function.
        format.render(unsafe { values(event, &layout) }, &mut text);
        return text;
    }
    let layout = layout(definition.as_ref());
    // SAFETY: the contract of this function.
    let values = unsafe { values(event, &layout) };
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = match definition {
        Some(known) => known.render_values(values, &mut text),
        None => {
            text = format!("<event {}?>", event.event);
            by_position(values, &mut text)
        }
    };
    text.into_bytes()
}

/// Writes the text of an event, such as `processed tcp(10), udp(20), and other(3)`: the first line
/// of its message with the arguments filled in. For a format it is exactly the text that printf
/// would have written. If the definition cannot be read, it is all values of the event: `<event
/// 5?>(10, 20, 3, 0)`. A pointer is its number alone: the command shows the names of what pointers
/// lead to, as this library has no reader of symbols.
///
/// `event`: from `timeline_next`, with pointers that are still valid. `buffer` and `size`: the
/// destination and its size in bytes. A text that does not fit is cut between characters, and
/// always ends in a NUL (unless `size` is 0; then `buffer` may be NULL). `needed`: receives the
/// length of the whole text without the NUL (it was cut if that is `size` or more); may be NULL.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `event` is NULL or came from `timeline_next`; `buffer` has `size` writable bytes; `needed` is
/// NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_render(
    event: *const timeline_event_t,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let event = unsafe { shared(event, "event", "timeline_next")? };
        if buffer.is_null() && size != 0 {
            return Err(CallFailure::argument(format!(
                "buffer is NULL: expected {size} writable bytes, or size 0"
            )));
        }
        if event.message.is_null() {
            return Err(CallFailure::argument(
                "the event's message is NULL: expected an event from timeline_next",
            ));
        }
        // SAFETY: just checked, and the contract of this function.
        let text = unsafe { render(event) };
        if let Some(room) = size.checked_sub(1) {
            let fits = floor(&text, room);
            // SAFETY: `fits` bytes and a NUL are at most `size`, writable by contract; `text` is
            // not in C's buffer.
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
