//! How a verb ends when it does not succeed.

use std::io;

use crate::permission;

/// Why a verb stopped.
#[derive(Debug)]
pub enum Failure {
    /// Standard output was closed by its reader: not worth a word.
    ClosedPipe,
    /// Arguments that are each well-formed and make no sense together. The message may have several
    /// lines.
    Misuse {
        /// The verb that has them.
        verb: &'static str,
        /// What was expected, and what came.
        message: String,
    },
    /// Anything else, as one line for standard error.
    Message(String),
}

impl Failure {
    /// A misuse of that verb.
    pub fn misuse(verb: &'static str, message: impl Into<String>) -> Failure {
        let message = message.into();
        Failure::Misuse { verb, message }
    }
}

/// Why a write to a `String` is not checked further.
pub const INFALLIBLE: &str = "writing to a String cannot fail";

/// What every verb returns.
pub type Result<T = ()> = std::result::Result<T, Failure>;

impl From<timeline::Error> for Failure {
    fn from(error: timeline::Error) -> Self {
        Failure::Message(permission::told(&error))
    }
}

/// Only standard output is written with `?`: other I/O names its file itself.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::Message(format!("cannot write to standard output: {error}"))
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
