//! Status codes, the last error of each thread, and the guard that stops panics.
use crate::text::to_c_string;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use timeline_core::internal::without_cancellation;
use timeline_core::statement::DefinitionFailure;
use timeline_core::{Error, ErrorKind};

/// The result of a function: `TIMELINE_OK`, `TIMELINE_END`, or an error, one of `TIMELINE_E_...`.
/// The numbers never change their meaning; later versions may add to them.
pub type timeline_status_t = i32;

/// Done.
pub const TIMELINE_OK: timeline_status_t = 0;
/// Not an error: no further event (when following: no new event).
pub const TIMELINE_END: timeline_status_t = 1;
/// The operating system refused; the message says what.
pub const TIMELINE_E_IO: timeline_status_t = 2;
/// There is no such timeline or file.
pub const TIMELINE_E_NOT_FOUND: timeline_status_t = 3;
/// The name is in use by live writers; join them with `timeline_open`, or take another name.
pub const TIMELINE_E_IN_USE: timeline_status_t = 4;
/// Too little space to make the timeline there.
pub const TIMELINE_E_NO_SPACE: timeline_status_t = 5;
/// The file is not a timeline.
pub const TIMELINE_E_NOT_A_TIMELINE: timeline_status_t = 6;
/// The timeline has a format that this library does not know.
pub const TIMELINE_E_VERSION: timeline_status_t = 7;
/// The timeline contradicts itself: damaged, cut short or forged.
pub const TIMELINE_E_CORRUPT: timeline_status_t = 8;
/// An argument of the call is wrong; the message says which, and what was expected.
pub const TIMELINE_E_ARGUMENT: timeline_status_t = 9;
/// A table of the timeline is full (definitions, strings, writing processes), or this process has
/// too many timelines open.
pub const TIMELINE_E_FULL: timeline_status_t = 10;
/// Another process has the timeline locked, or samples it already; try again later.
pub const TIMELINE_E_BUSY: timeline_status_t = 11;
/// The file belongs to a user that the writer does not trust, or everybody may write to it. The
/// message names the owner.
pub const TIMELINE_E_NOT_TRUSTED: timeline_status_t = 13;
/// A bug in this library. The call has no result; please report the message.
pub const TIMELINE_E_BUG: timeline_status_t = 12;
// 14 is TIMELINE_E_ANALYZER, in timeline-analysis.h.

/// The status and message of a call that failed.
pub(crate) struct CallFailure {
    status: timeline_status_t,
    message: String,
    /// Whether this process has too many timelines open.
    pub(crate) is_of_handles: bool,
}

/// After a failure that may pass, one call in this many tries again.
pub(crate) const RETRY: u32 = 1024;

impl CallFailure {
    pub(crate) fn of_status(status: timeline_status_t, message: String) -> CallFailure {
        CallFailure {
            status,
            message,
            is_of_handles: false,
        }
    }

    pub(crate) fn argument(message: impl Into<String>) -> CallFailure {
        CallFailure::of_status(TIMELINE_E_ARGUMENT, message.into())
    }

    /// What was expected, what came, and what to do.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Whether the same call may succeed later: a lock was held, or the system refused. A wrong
    /// argument stays wrong, and a full table stays full.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.status, TIMELINE_E_IO | TIMELINE_E_BUSY)
    }

    /// Why a statement has no event.
    pub(crate) fn undefined(&self) -> DefinitionFailure {
        match self.status {
            TIMELINE_E_FULL => DefinitionFailure::Full,
            _ if self.may_pass() => DefinitionFailure::Passing,
            _ => DefinitionFailure::Wrong,
        }
    }

    pub(crate) fn io(doing: &str, error: impl Display) -> CallFailure {
        CallFailure::of_status(TIMELINE_E_IO, format!("{doing}: {error}"))
    }

    /// An error of this class.
    pub(crate) fn of_kind(kind: ErrorKind, message: String) -> CallFailure {
        let status = match kind {
            ErrorKind::Io => TIMELINE_E_IO,
            ErrorKind::NotFound => TIMELINE_E_NOT_FOUND,
            ErrorKind::InUse => TIMELINE_E_IN_USE,
            ErrorKind::NoSpace => TIMELINE_E_NO_SPACE,
            ErrorKind::NotTrusted => TIMELINE_E_NOT_TRUSTED,
            ErrorKind::NotATimeline => TIMELINE_E_NOT_A_TIMELINE,
            ErrorKind::Version => TIMELINE_E_VERSION,
            ErrorKind::Corrupt => TIMELINE_E_CORRUPT,
            ErrorKind::Argument => TIMELINE_E_ARGUMENT,
            ErrorKind::Full => TIMELINE_E_FULL,
            ErrorKind::Busy => TIMELINE_E_BUSY,
            // A kind newer than this ABI: its message says what it is.
            _ => TIMELINE_E_IO,
        };
        CallFailure::of_status(status, message)
    }
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> CallFailure {
        CallFailure {
            is_of_handles: matches!(error, Error::TooManyOpen { .. }),
            ..CallFailure::of_kind(error.kind(), error.to_string())
        }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

fn remember(message: &str) {
    // In a thread that is ending, the locals may be gone: the caller still gets the status.
    let _ = LAST.try_with(|last| *last.borrow_mut() = to_c_string(message));
}

/// Runs the body of an exported function: its thread cannot be cancelled meanwhile, and a panic
/// becomes `TIMELINE_E_BUG` and never unwinds a C frame.
///
/// All work of an exported function belongs in here, except in the two that log: outside, a thread
/// may be cancelled.
#[inline(always)]
pub(crate) fn guard(
    body: impl FnOnce() -> Result<timeline_status_t, CallFailure>,
) -> timeline_status_t {
    without_cancellation(|| status_of(body))
}

fn status_of(body: impl FnOnce() -> Result<timeline_status_t, CallFailure>) -> timeline_status_t {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => {
            remember(&failure.message);
            failure.status
        }
        Err(panic) => {
            let why = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("a panic without a message");
            remember(&format!("a bug in libtimeline: {why}; please report it"));
            // A payload whose own drop panics must not unwind into C either.
            std::mem::forget(panic);
            TIMELINE_E_BUG
        }
    }
}

/// The message of the last failed call of this thread, which is valid until the next one.
pub(crate) fn last_error() -> *const c_char {
    without_cancellation(|| {
        LAST.try_with(|last| last.borrow().as_ptr())
            .unwrap_or(c"".as_ptr())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn last_error() -> String {
        // SAFETY: NUL-terminated, and valid until the next failing call of this thread.
        unsafe { CStr::from_ptr(super::last_error()) }
            .to_string_lossy()
            .into_owned()
    }

    #[test]
    fn a_panic_becomes_a_status_and_a_message() {
        assert_eq!(guard(|| panic!("the answer is {}", 42)), TIMELINE_E_BUG);
        assert_eq!(
            last_error(),
            "a bug in libtimeline: the answer is 42; please report it"
        );
        assert_eq!(guard(|| panic!("plain")), TIMELINE_E_BUG);
        assert!(last_error().contains("plain"));
        struct Hostile;
        impl Drop for Hostile {
            fn drop(&mut self) {
                panic!("while being dropped");
            }
        }
        assert_eq!(guard(|| std::panic::panic_any(Hostile)), TIMELINE_E_BUG);
        assert!(last_error().contains("without a message"));
    }

    #[test]
    fn only_a_failure_changes_the_last_error() {
        assert_eq!(last_error(), "");
        assert_eq!(
            guard(|| Err(CallFailure::argument("one\0two"))),
            TIMELINE_E_ARGUMENT
        );
        assert_eq!(last_error(), "one\u{fffd}two");
        assert_eq!(guard(|| Ok(TIMELINE_OK)), TIMELINE_OK);
        assert_eq!(guard(|| Ok(TIMELINE_END)), TIMELINE_END);
        assert_eq!(last_error(), "one\u{fffd}two");
    }
}
