//! The version of this library, and the last error of each thread, for C.
use crate::error::last_error;
use std::ffi::c_char;

/// Returns the message of the last failed call of this thread: what was expected, what came, what
/// to do. Calls that succeed leave it unchanged. `""` when none has failed yet; never NULL.
///
/// The text is UTF-8 and stays valid until the next failing call of the same thread, or the
/// thread's end. Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn timeline_last_error() -> *const c_char {
    last_error()
}

/// The version of this library, such as `"0.1.0"`: a constant, valid for ever, in any thread.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn timeline_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn the_version_is_that_of_the_package() {
        // SAFETY: a constant.
        let version = unsafe { CStr::from_ptr(timeline_version()) };
        assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    }
}
