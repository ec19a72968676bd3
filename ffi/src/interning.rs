//! Events whose texts are interned.
use crate::fields::{TIMELINE_MAX_FIELDS, element_size};
use crate::writer::{WriterObject, timeline_t};
use timeline_core::EventId;

/// Like `timeline_log_payload`, for a message with arguments of the type `istr`: their texts are
/// put into the string table if they are not there yet, and the event carries their places. An
/// event whose words say otherwise is logged, but its values are shown wrongly.
///
/// A text that is empty or has more than 256 bytes is copied, and so is one for which there is no
/// room; `timeline info` shows how many of the latter there were. No lock, no allocation and no
/// system call; safe in a signal handler and in a forked child.
///
/// `tl`: NULL logs nothing. `event`: from `timeline_site_define` or `timeline_define`. `words` and
/// `count`: the payload, with all texts copied into it; it is changed. `given`: the types of the
/// arguments, `TIMELINE_I64` and so on, up to the first 0; NULL interns nothing. `marked`: bit *n*
/// is set if argument *n*, which is a text, is to be interned.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `words` has
/// `count` writable words; `given` is NULL or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_log_interned(
    tl: *const timeline_t,
    event: u32,
    words: *mut u64,
    count: usize,
    given: *const u8,
    marked: u64,
) {
    // SAFETY: by contract NULL or the first member of a live Writer.
    let Some(writer) = (unsafe { tl.cast::<WriterObject>().as_ref() }) else {
        return;
    };
    let words: &mut [u64] = match words.is_null() || !words.is_aligned() || count == 0 {
        true => &mut [],
        // SAFETY: neither NULL nor misaligned, and `count` writable words by contract.
        false => unsafe { std::slice::from_raw_parts_mut(words, count) },
    };
    let mut sizes = [0; TIMELINE_MAX_FIELDS as usize];
    let mut known = 0;
    while !given.is_null() && known < sizes.len() {
        // SAFETY: no byte before this one was 0.
        let number = unsafe { given.add(known).read() };
        if number == 0 {
            break;
        }
        sizes[known] = element_size(number);
        known += 1;
    }
    let core = &writer.core;
    core.log_interned(EventId(event), words, &sizes[..known], marked);
}
