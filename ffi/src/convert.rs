//! From C's pointers and numbers to checked Rust values, and back.
use crate::status::Failure;
use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The bytes of a C string.
///
/// # Safety
/// `text` is NULL or a NUL-terminated string that stays unchanged for `'a`.
unsafe fn c_str<'a>(text: *const c_char, what: &str) -> Result<&'a CStr, Failure> {
    if text.is_null() {
        return Err(Failure::argument(format!(
            "{what} is NULL: expected a NUL-terminated string"
        )));
    }
    // SAFETY: not NULL, and the caller vouches for the rest.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// A UTF-8 argument called `what`.
///
/// # Safety
/// As [`c_str`].
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: handed on from the caller.
    let text = unsafe { c_str(text, what)? };
    text.to_str().map_err(|at| {
        Failure::argument(format!(
            "{what} is not UTF-8 at byte {}: expected UTF-8, came \"{}\"; convert it first",
            at.valid_up_to(),
            text.to_bytes().escape_ascii(),
        ))
    })
}

/// A text argument called `what`, with U+FFFD where it is not UTF-8: for texts that a compiler was given.
///
/// # Safety
/// As [`c_str`].
pub(crate) unsafe fn lossy<'a>(text: *const c_char, what: &str) -> Result<Cow<'a, str>, Failure> {
    // SAFETY: handed on from the caller.
    Ok(unsafe { c_str(text, what)? }.to_string_lossy())
}

/// A path argument called `what`; any bytes will do, as for the kernel.
///
/// # Safety
/// As [`c_str`].
pub(crate) unsafe fn path<'a>(path: *const c_char, what: &str) -> Result<&'a Path, Failure> {
    // SAFETY: handed on from the caller.
    let path = unsafe { c_str(path, what)? };
    if path.is_empty() {
        return Err(Failure::argument(format!(
            "{what} is empty: expected a live name such as \"/timeline\", or the path of a file"
        )));
    }
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

/// The object behind a handle called `what`, made by `maker`.
///
/// # Safety
/// `handle` is NULL or a live object of type `T` that is not mutably borrowed during `'a`.
pub(crate) unsafe fn shared<'a, T>(
    handle: *const T,
    what: &str,
    maker: &str,
) -> Result<&'a T, Failure> {
    check(handle, what, &format!("one that {maker} returned"))?;
    // SAFETY: not NULL and aligned; the caller vouches for the rest.
    Ok(unsafe { &*handle })
}

/// As [`shared`], for a handle that one thread uses at a time.
///
/// # Safety
/// `handle` is NULL or a live object of type `T` that nothing else touches during `'a`.
pub(crate) unsafe fn exclusive<'a, T>(
    handle: *mut T,
    what: &str,
    maker: &str,
) -> Result<&'a mut T, Failure> {
    check(handle, what, &format!("one that {maker} returned"))?;
    // SAFETY: not NULL and aligned; the caller vouches for the rest.
    Ok(unsafe { &mut *handle })
}

/// Checks the place where a result will be written, before any work is done for it.
pub(crate) fn place<T>(out: *mut T, what: &str) -> Result<(), Failure> {
    check(out, what, "the address of a variable for the result")
}

fn check<T>(pointer: *const T, what: &str, expected: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        Err(Failure::argument(format!(
            "{what} is NULL: expected {expected}"
        )))
    } else if !pointer.is_aligned() {
        Err(Failure::argument(format!(
            "{what} is {pointer:p}, not a multiple of {}: expected {expected}",
            align_of::<T>()
        )))
    } else {
        Ok(())
    }
}

/// Text for C, which ends at the first NUL: one inside (a forged timeline may hold it) is shown as U+FFFD.
pub(crate) fn to_c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| {
        let text = text.replace('\0', "\u{fffd}");
        CString::new(text).unwrap_or_default()
    })
}

/// The length of the longest whole-character beginning of `text` that has at most `room` bytes. What is not UTF-8 may
/// end anywhere.
pub(crate) fn floor(text: &[u8], room: usize) -> usize {
    if room >= text.len() {
        return text.len();
    }
    // A character has at most three bytes behind its first.
    let begin = (room.saturating_sub(3)..=room).rev();
    let goes_on = |at: &usize| text[*at] & 0xc0 == 0x80;
    begin.into_iter().find(|at| !goes_on(at)).unwrap_or(room)
}

/// `text` cut to fit `N` bytes with the closing NUL, between characters.
pub(crate) fn to_array<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    let whole = text.split('\0').next().unwrap_or_default();
    let fits = floor(whole.as_bytes(), N - 1);
    for (to, from) in array.iter_mut().zip(whole[..fits].bytes()) {
        *to = from as c_char;
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<const N: usize>(text: &str) -> String {
        let bytes: Vec<u8> = to_array::<N>(text).map(|c| c as u8).to_vec();
        CStr::from_bytes_until_nul(&bytes)
            .expect("there is always a NUL")
            .to_str()
            .expect("characters stay whole")
            .to_string()
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(shown::<16>("a name of sixteen"), "a name of sixte");
        assert_eq!(shown::<4>("aé"), "aé");
        assert_eq!(shown::<4>("aaé"), "aa");
        assert_eq!(shown::<4>("→→"), "→");
        assert_eq!(shown::<3>("→"), "");
        assert_eq!(shown::<1>("a"), "");
        assert_eq!(shown::<8>("a\0b"), "a");
        for room in 0..8 {
            let fits = floor("aé→𝄞".as_bytes(), room);
            assert!(fits <= room && "aé→𝄞".is_char_boundary(fits));
        }
        assert_eq!(floor("aé→𝄞".as_bytes(), 100), 10);
        assert_eq!(floor(b"\x80\x80\x80\x80\x80\x80", 5), 5);
    }

    #[test]
    fn pointers_are_checked_before_they_are_followed() {
        let mut value = 7u64;
        let here = &raw mut value;
        // SAFETY: live, and nothing else uses it.
        assert_eq!(unsafe { shared(here, "it", "us") }.ok(), Some(&7));
        assert!(place(here, "it").is_ok());
        assert!(place(here.wrapping_byte_add(1), "it").is_err());
        assert!(place(std::ptr::null_mut::<u64>(), "it").is_err());
        // SAFETY: refused for what they are, and never followed.
        unsafe {
            assert!(shared(here.wrapping_byte_add(1), "it", "us").is_err());
            assert!(exclusive(std::ptr::null_mut::<u64>(), "it", "us").is_err());
            assert!(text(std::ptr::null(), "it").is_err());
            assert!(text(c"caf\xe9".as_ptr(), "it").is_err());
            assert!(path(c"".as_ptr(), "it").is_err());
            assert_eq!(
                path(c"caf\xe9".as_ptr(), "it")
                    .ok()
                    .map(|p| p.as_os_str().len()),
                Some(4)
            );
        }
    }
}
