//! The broad classes of errors.

use super::Error;

/// The broad class of an [`Error`], stable enough to branch on (the C status codes follow it).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused.
    Io,
    /// No timeline of that name.
    NotFound,
    /// The name belongs to living writers.
    InUse,
    /// Not enough space for the timeline.
    NoSpace,
    /// The file belongs to a user that the writer does not trust.
    NotTrusted,
    /// The file is something else, or was never finished.
    NotATimeline,
    /// A format version this library does not read.
    Version,
    /// The header or file contradicts itself.
    Corrupt,
    /// The caller passed an impossible argument.
    Argument,
    /// A table of the timeline, or of this process, is full.
    Full,
    /// Another process is doing this now.
    Busy,
}

impl Error {
    /// The broad class of this error.
    pub fn kind(&self) -> ErrorKind {
        use Error::*;
        match self {
            Io { .. } => ErrorKind::Io,
            NotFound { .. } => ErrorKind::NotFound,
            InUse { .. } | InCreation { .. } => ErrorKind::InUse,
            NoSpace { .. } => ErrorKind::NoSpace,
            NotTrusted { .. } => ErrorKind::NotTrusted,
            NotATimeline { .. } | Unfinished { .. } | OtherBoot { .. } | UnknownBoot { .. } => {
                ErrorKind::NotATimeline
            }
            Version { .. } => ErrorKind::Version,
            Truncated { .. } | Corrupt { .. } => ErrorKind::Corrupt,
            BadName { .. }
            | BadSize { .. }
            | BadPriority { .. }
            | BadLevel { .. }
            | BadRule { .. }
            | RuleAmongChannels { .. }
            | BadChannel { .. }
            | Catalogue { .. }
            | TooManyArguments { .. }
            | ArgumentCount { .. }
            | ArgumentType { .. }
            | UnknownFieldType { .. }
            | RepeatedName { .. }
            | BadText { .. }
            | ReadOnly { .. } => ErrorKind::Argument,
            StringTableFull { .. }
            | DefinitionTableFull { .. }
            | ProcessTableFull { .. }
            | RulesFull { .. }
            | ChannelTableFull { .. }
            | ThreadTableFull { .. }
            | ThreadNotJoined { .. }
            | TooManyOpen { .. } => ErrorKind::Full,
            SamplerBusy { .. } | Locked { .. } | ThreadBusy { .. } => ErrorKind::Busy,
        }
    }
}
