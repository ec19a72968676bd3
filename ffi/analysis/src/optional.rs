//! Places for results that a program may not want.
use crate::convert::place;
use crate::error::CallFailure;

/// Checks a place that may be NULL, where a result will be written.
pub(crate) fn optional_place<T>(out: *mut T, what: &str) -> Result<(), CallFailure> {
    match out.is_null() {
        true => Ok(()),
        false => place(out, what),
    }
}
