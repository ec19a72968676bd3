//! From C's pointers and numbers to checked Rust values, and back.
use crate::error::CallFailure;
use std::borrow::Cow;
use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The bytes of a C string.
///
/// # Safety
/// `text` is NULL or a NUL-terminated string that stays unchanged for `'a`.
unsafe fn c_str<'a>(text: *const c_char, what: &str) -> Result<&'a CStr, CallFailure> {
    if text.is_null() {
        return Err(CallFailure::argument(format!(
            "{what} is NULL: expected a NUL-terminated string"
        )));
    }
    // SAFETY: not NULL, and the caller vouches for the rest.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// A UTF-8 argument called `what`.
///
/// # Safety
/// The contract of [`c_str`].
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, CallFailure> {
    // SAFETY: handed on from the caller.
    let text = unsafe { c_str(text, what)? };
    text.to_str().map_err(|at| {
        CallFailure::argument(format!(
            "{what} is not UTF-8 at byte {}: expected UTF-8, came \"{}\"; convert it first",
            at.valid_up_to(),
            text.to_bytes().escape_ascii(),
        ))
    })
}

/// A text argument called `what`, with U+FFFD where it is not UTF-8: for literals of C programs.
///
/// # Safety
/// The contract of [`c_str`].
pub(crate) unsafe fn lossy<'a>(
    text: *const c_char,
    what: &str,
) -> Result<Cow<'a, str>, CallFailure> {
    // SAFETY: handed on from the caller.
    Ok(unsafe { c_str(text, what)? }.to_string_lossy())
}

/// A path argument called `what`, of any bytes, as the kernel takes it.
///
/// # Safety
/// The contract of [`c_str`].
pub(crate) unsafe fn path<'a>(path: *const c_char, what: &str) -> Result<&'a Path, CallFailure> {
    // SAFETY: handed on from the caller.
    let path = unsafe { c_str(path, what)? };
    if path.is_empty() {
        return Err(CallFailure::argument(format!(
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
) -> Result<&'a T, CallFailure> {
    check(handle, what, &format!("one that {maker} returned"))?;
    // SAFETY: not NULL and aligned; the caller vouches for the rest.
    Ok(unsafe { &*handle })
}

/// Like [`shared`], for a handle that one thread uses at a time.
///
/// # Safety
/// `handle` is NULL or a live object of type `T` that nothing else touches during `'a`.
pub(crate) unsafe fn exclusive<'a, T>(
    handle: *mut T,
    what: &str,
    maker: &str,
) -> Result<&'a mut T, CallFailure> {
    check(handle, what, &format!("one that {maker} returned"))?;
    // SAFETY: not NULL and aligned; the caller vouches for the rest.
    Ok(unsafe { &mut *handle })
}

/// Checks the place where a result will be written, before any work is done for it.
pub(crate) fn place<T>(out: *mut T, what: &str) -> Result<(), CallFailure> {
    check(out, what, "the address of a variable for the result")
}

fn check<T>(pointer: *const T, what: &str, expected: &str) -> Result<(), CallFailure> {
    if pointer.is_null() {
        Err(CallFailure::argument(format!(
            "{what} is NULL: expected {expected}"
        )))
    } else if !pointer.is_aligned() {
        Err(CallFailure::argument(format!(
            "{what} is {pointer:p}, not a multiple of {}: expected {expected}",
            align_of::<T>()
        )))
    } else {
        Ok(())
    }
}

/// Options with these sizes; 0 for the default.
pub(crate) fn sized(entries: u64, string_table_size: u64) -> timeline_core::Options {
    let mut options = timeline_core::Timeline::options();
    if entries != 0 {
        options = options.entries(entries);
    }
    if string_table_size != 0 {
        options = options.string_table_size(string_table_size);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_checked_before_they_are_followed() {
        let mut value = 7u64;
        let here = &raw mut value;
        // SAFETY: live, and nothing else uses it.
        assert_eq!(unsafe { shared(here, "it", "us") }.ok(), Some(&7));
        assert!(place(here, "it").is_ok());
        assert!(place(here.wrapping_byte_add(1), "it").is_err());
        assert!(place(std::ptr::null_mut::<u64>(), "it").is_err());
        // SAFETY: all are refused before they are followed.
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
