//! Makes statuses of errors, and errors of the statuses that callbacks return.
use crate::convert::lossy;
use crate::error::{CallFailure, TIMELINE_END, TIMELINE_OK, guard, last_error, timeline_status_t};
use analysis_core::{Error, ReadingError};
use std::error;
use std::ffi::{CStr, c_char};
use std::fmt::{self, Display, Formatter};

/// An analyser of the program cannot go on, for a reason of its own: see
/// `timeline_analysis_fail`.
pub const TIMELINE_E_ANALYZER: timeline_status_t = 14;

/// A callback that failed: its status, and why.
#[derive(Debug)]
pub(crate) struct CallbackFailure {
    status: timeline_status_t,
    message: String,
}

impl Display for CallbackFailure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for CallbackFailure {}

impl From<CallbackFailure> for CallFailure {
    fn from(failure: CallbackFailure) -> CallFailure {
        CallFailure::of_status(failure.status, failure.message)
    }
}

/// What a callback returned: whether it has enough.
pub(crate) fn has_enough(status: timeline_status_t) -> Result<bool, CallbackFailure> {
    if [TIMELINE_OK, TIMELINE_END].contains(&status) {
        return Ok(status == TIMELINE_END);
    }
    // SAFETY: NUL-terminated, and valid until the next failing call of this thread.
    let message = unsafe { CStr::from_ptr(last_error()) }.to_string_lossy();
    Err(CallbackFailure {
        status,
        message: match &*message {
            "" => format!(
                "a callback returned {status}: expected TIMELINE_OK, or what \
                 timeline_analysis_fail or another call returned that failed"
            ),
            message => message.to_owned(),
        },
    })
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> CallFailure {
        let message = error.to_string();
        match error {
            Error::Reading(error) => error.into(),
            Error::FieldType { .. } => CallFailure::argument(message),
            Error::Own(own) => match own.downcast::<CallbackFailure>() {
                Ok(failure) => (*failure).into(),
                Err(_) => CallFailure::of_status(TIMELINE_E_ANALYZER, message),
            },
        }
    }
}

impl From<ReadingError> for CallFailure {
    fn from(error: ReadingError) -> CallFailure {
        CallFailure::of_kind(error.kind(), error.to_string())
    }
}

/// Says why an analyser cannot go on. A callback that returns what this returns ends the analysis,
/// which fails with this status and this text.
///
/// `reason`: a sentence; what is not UTF-8 in it becomes U+FFFD.
///
/// Returns `TIMELINE_E_ANALYZER`, or `TIMELINE_E_ARGUMENT` for NULL. Any thread.
///
/// # Safety
/// `reason` is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_fail(reason: *const c_char) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let reason = unsafe { lossy(reason, "reason")? };
        Err(CallFailure::of_status(
            TIMELINE_E_ANALYZER,
            reason.into_owned(),
        ))
    })
}
