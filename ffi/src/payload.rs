//! Puts texts and arrays into a payload, for bindings to other languages.

use std::ffi::{c_char, c_void};

use timeline_core::statement::PayloadBuilder;

/// Appends a text to a payload that is put together in the memory of the caller, for
/// `timeline_log_payload` and `timeline_log_interned`. For bindings to other languages.
///
/// `words`: the payload, which has room for `most` words: for `payload` bytes of the timeline.
/// `argument`: which argument the text is, from 0; its word is stored. `end`: how many words are
/// taken, those of all arguments first. `text` and `size`: the text and its number of bytes. It may
/// contain NUL. A text that does not fit is cut between two characters. For NULL, only a mark is
/// stored.
///
/// Returns how many words are taken now. Any thread; safe in a signal handler.
///
/// # Safety
/// `words` has `most` words that may be written, and `text` is NULL or has `size` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_put_text(
    words: *mut u64,
    argument: u32,
    end: u32,
    most: u32,
    text: *const c_char,
    size: usize,
) -> u32 {
    let room = most.saturating_sub(end) as usize * 8;
    if size > room || argument >= most || text.is_null() {
        // SAFETY: the contract of this function.
        return unsafe { put_text_slowly(words, argument, end, most, text, size) };
    }
    // SAFETY: below `most`; the text is readable, and there is room for it.
    unsafe {
        words.add(argument as usize).write(size as u64);
        copy(words.add(end as usize), text.cast(), size);
    }
    end + size.div_ceil(8) as u32
}

/// Copies a text into whole words, with zeros behind it. Each is put together in a register: the
/// processor forwards whole stores to the loads that copy the words into the ring.
///
/// # Safety
/// The text is readable, and as many words as it takes may be written.
#[inline(always)]
unsafe fn copy(to: *mut u64, from: *const u8, size: usize) {
    // SAFETY: all reads are inside of the text, all writes inside of its words.
    unsafe {
        if size >= 8 {
            for index in 0..size / 8 {
                let mut word = from.add(index * 8).cast::<u64>().read_unaligned();
                // The compiler must not know that the loop copies, or it calls memcpy.
                std::arch::asm!("/* {} */", inout(reg) word, options(pure, nomem, nostack));
                to.add(index).write(word);
            }
            if !size.is_multiple_of(8) {
                let last = from.add(size - 8).cast::<u64>().read_unaligned();
                to.add(size / 8).write(last >> (64 - size % 8 * 8));
            }
        } else if size >= 4 {
            let low = from.cast::<u32>().read_unaligned();
            let high = from.add(size - 4).cast::<u32>().read_unaligned();
            to.write(u64::from(low) | u64::from(high) << ((size - 4) * 8));
        } else if size > 0 {
            let byte = |at: usize| u64::from(from.add(at).read()) << (at * 8);
            to.write(byte(0) | byte(size / 2) | byte(size - 1));
        }
    }
}

/// # Safety
/// The contract of [`timeline_put_text`].
#[cold]
unsafe extern "C-unwind" fn put_text_slowly(
    words: *mut u64,
    argument: u32,
    end: u32,
    most: u32,
    text: *const c_char,
    size: usize,
) -> u32 {
    // SAFETY: the contract of this function.
    let mut payload = unsafe { payload(words, end, most) };
    // The byte behind those that have room says whether a character begins there.
    let kept = size.min(payload.room() + 1);
    let word = match text.is_null() {
        true => payload.nothing(),
        // SAFETY: not NULL, and readable by contract.
        false => payload.bytes(unsafe { std::slice::from_raw_parts(text.cast(), kept) }),
    };
    payload.put(argument as usize, word);
    payload.end() as u32
}

/// Like `timeline_put_text`, for an array of `count` elements of `size` bytes: 1, 2, 4 or 8.
///
/// # Safety
/// `words` has `most` words that may be written; `data` is NULL or has `count` readable elements,
/// or as many as there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_put_array(
    words: *mut u64,
    argument: u32,
    end: u32,
    most: u32,
    data: *const c_void,
    count: usize,
    size: u32,
) -> u32 {
    // SAFETY: the contract of this function.
    let mut payload = unsafe { payload(words, end, most) };
    let size = size.max(1) as usize;
    let kept = count.min(payload.room() / size);
    let word = match data.is_null() {
        true if count > 0 => payload.nothing(),
        true => 0,
        false => {
            // SAFETY: not NULL, and readable by contract.
            let bytes = unsafe { std::slice::from_raw_parts(data.cast(), kept * size) };
            payload.array(bytes, kept, kept < count)
        }
    };
    payload.put(argument as usize, word);
    payload.end() as u32
}

/// # Safety
/// `words` has `most` words that may be written.
unsafe fn payload<'a>(words: *mut u64, end: u32, most: u32) -> PayloadBuilder<'a> {
    let words = match words.is_null() || !words.is_aligned() {
        true => &mut [],
        // SAFETY: neither NULL nor misaligned, and as many words by contract.
        false => unsafe { std::slice::from_raw_parts_mut(words, most as usize) },
    };
    PayloadBuilder::new(words, end as usize)
}
