//! All errors. Each says what was expected, what was found, and what to do.
//!
//! kind.rs has their classes, text.rs parts of their texts, and contents.rs says what kind of file
//! was found where another one was expected.

mod contents;
mod kind;
mod text;

pub use contents::looks_like;
pub use kind::ErrorKind;
pub use text::User;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;

use crate::access::{Owner, Refusal};
use crate::layout::Bound;
use text::{at_least, at_most, not_trusted, removal, told, users};

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// All errors of this crate.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error("cannot {doing} {}: {}", .path.display(), told(.source, .refusal.as_deref()))]
    Io {
        /// The operation, as a verb: "open", "map".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
        /// The owner and the remedy, if permission was denied and they are known.
        refusal: Option<Box<Refusal>>,
    },

    /// There is no timeline of this name.
    #[error("no timeline at {}: the program that creates it has not run, or it was removed; \
        `timeline list` shows those that exist", .path.display())]
    NotFound {
        /// The name or file asked for.
        path: PathBuf,
    },

    /// `new` with a name that living processes write to.
    #[error(
        "{} is in use by {}; join it with open, or stop them first",
        .path.display(), users(.by)
    )]
    InUse {
        /// The name or file asked for.
        path: PathBuf,
        /// Its writers, as far as they are known.
        by: Vec<User>,
    },

    /// Writing to a file of a user that this process does not trust.
    #[error("{}", not_trusted(.path, .owner))]
    NotTrusted {
        /// The file.
        path: PathBuf,
        /// Its owner.
        owner: Owner,
    },

    /// Another process holds a lock of the timeline, and does not release it.
    #[error("{} is locked by another process, which does not release it; the file belongs to \
        {owner}, and every process that may open it may lock it. Stop that process, or remove the \
        timeline and create it again", .path.display())]
    Locked {
        /// The timeline.
        path: PathBuf,
        /// Its owner.
        owner: Owner,
    },

    /// There is too little room for the whole timeline.
    #[error("not enough space for {}: it needs {}, and {} are {}; {}free some space, or ask for \
        fewer entries", .path.display(), at_least(*.needed), at_most(*.free), .bound.leaves(),
        removal(.path, *.replaces))]
    NoSpace {
        /// The name or file asked for.
        path: PathBuf,
        /// Bytes the timeline needs.
        needed: u64,
        /// Bytes that there is room for.
        free: u64,
        /// What leaves no more.
        bound: Bound,
        /// Whether the timeline of an earlier run has its name, and takes some of it.
        replaces: bool,
    },

    /// The file does not start with the magic.
    #[error("{} is not a timeline: it is {}", .path.display(), looks_like(.found))]
    NotATimeline {
        /// The file.
        path: PathBuf,
        /// Its first bytes.
        found: [u8; 8],
    },

    /// The creator died before the timeline was whole.
    #[error("{} is not complete: its creator died while creating it, or is still creating it; \
        run the program again, or remove it, which fails while it is being created",
        .path.display())]
    Unfinished {
        /// The name or file.
        path: PathBuf,
    },

    /// Removing what a living process is creating.
    #[error("{} is being created by a program, which gives it its name when it is whole; wait for \
        that, or stop the program first", .path.display())]
    InCreation {
        /// The name or file.
        path: PathBuf,
    },

    /// Joining a timeline that an earlier boot of the machine left in a file.
    #[error("{} was written before this machine's last boot, and cannot be continued; create it \
        again with new, which keeps the old one as {}.prev", .path.display(), .path.display())]
    OtherBoot {
        /// The file.
        path: PathBuf,
    },

    /// Joining a timeline in a file without knowing which boot of the machine wrote it.
    #[error("cannot tell whether {} was written since this machine's last boot: the boot id is in \
        /proc, which is not mounted here. Mount it (in a chroot: mount -t proc proc /proc), or \
        create the timeline again with new", .path.display())]
    UnknownBoot {
        /// The file.
        path: PathBuf,
    },

    /// A format of another major version.
    #[error("{} has format version {found_major}.{found_minor}, this program reads {}.x; use a \
        timeline of that version", .path.display(), crate::layout::VERSION_MAJOR)]
    Version {
        /// The file.
        path: PathBuf,
        /// Major version found.
        found_major: u16,
        /// Minor version found.
        found_minor: u16,
    },

    /// The file is shorter than its header says, or than any header.
    #[error("{} is truncated: expected {expected} bytes, found {found}; take the snapshot again, \
        or copy the whole file", .path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes it should have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },

    /// A header field contradicts the rest.
    #[error(
        "{} has a damaged header: {field} should be {expected}, found {found}",
        .path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The header field, named as in docs/format.md.
        field: &'static str,
        /// The value that would be right.
        expected: String,
        /// The value found.
        found: String,
    },

    /// A name that cannot be that of a timeline.
    #[error("{name:?} cannot name a timeline: {why}")]
    BadName {
        /// The name given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },

    /// A size out of range.
    #[error("{what} must be {expected}, got {found}")]
    BadSize {
        /// Which size.
        what: &'static str,
        /// The allowed values.
        expected: &'static str,
        /// The value given.
        found: u64,
    },

    /// Not one of the seven priorities.
    #[error("unknown priority {found:?}: {}", text::priorities(" or library", *meant))]
    BadPriority {
        /// The word given.
        found: String,
        /// The priority that may have been meant.
        meant: Option<&'static str>,
    },

    /// Not a priority, nor `all` or `none`.
    #[error("unknown level {found:?}: {}", text::priorities(", library, all or none", *meant))]
    BadLevel {
        /// The word given.
        found: String,
        /// The level that may have been meant.
        meant: Option<&'static str>,
    },

    /// A word of rules about which events are logged.
    #[error(
        "{found:?} is no rule: expected CATEGORY=LEVEL, +EVENTS or -EVENTS, or a level as the \
         first of several rules; categories and names of events are made of letters, digits and \
         `_.-:/`, and of `*` and `?` for any others; names of events have a dot, and no `-` or `+` \
         comes first"
    )]
    BadRule {
        /// The word given.
        found: String,
    },

    /// A rule where only channels are expected.
    #[error("{found:?} is a rule, not a channel: rules stand behind a colon, as in {expected}")]
    RuleAmongChannels {
        /// The word given.
        found: String,
        /// The whole text as it may be meant.
        expected: String,
    },

    /// A name that no channel can have.
    #[error(
        "{found:?} cannot name a channel: expected 1 to 32 letters (a to z, A to Z), digits, \
         `_`, `.` and `-`, which does not come first"
    )]
    BadChannel {
        /// The name given.
        found: String,
    },

    /// A mistake in a catalogue of events.
    #[error("{}:{line}: expected {expected}, found {found}", .path.display())]
    Catalogue {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// What would be right.
        expected: String,
        /// What stands there.
        found: String,
    },

    /// There is no room for another channel.
    #[error("there is no room for channel {name:?}: {} has {defined} of at most {capacity} \
        channels, and this needs {missing} more; use some of them (`timeline channel` shows them), \
        or fewer", .path.display())]
    ChannelTableFull {
        /// The timeline.
        path: PathBuf,
        /// The first channel that has no room.
        name: String,
        /// How many there are.
        defined: usize,
        /// How many would be added.
        missing: usize,
        /// How many there can be.
        capacity: usize,
    },

    /// More rules about which events are logged than the timeline has room for.
    #[error("the rules of {} would take {needed} bytes, and there is room for {capacity}; set a \
        level, which ends all rules so far (`timeline priority {} LEVEL`), or use patterns with *",
        .path.display(), .path.display())]
    RulesFull {
        /// The timeline.
        path: PathBuf,
        /// Bytes that all rules together would take.
        needed: usize,
        /// Bytes that there are.
        capacity: usize,
    },

    /// A message with more arguments than an event carries.
    #[error(
        "an event carries at most {} arguments, this message has {found}: {message:?}; split it \
         into two events",
        crate::layout::MAX_FIELDS
    )]
    TooManyArguments {
        /// The number of `$names` in its first line.
        found: usize,
        /// The first line.
        message: String,
    },

    /// A statement with another number of arguments than its message.
    #[error(
        "the message {message:?} has {expected} arguments, and the statement has {found}: give as \
         many as the message names"
    )]
    ArgumentCount {
        /// The first line of the message.
        message: String,
        /// The number of `$names` in it.
        expected: usize,
        /// The number of arguments of the call.
        found: usize,
    },

    /// A statement with an argument that does not fit the type in its message.
    #[error(
        "argument ${field} of {message:?} has type {expected} in the message, and {found} in the \
         statement: change one of them, or cast the argument"
    )]
    ArgumentType {
        /// The first line of the message.
        message: String,
        /// The name of the argument.
        field: String,
        /// Its type in the message.
        expected: String,
        /// Its type in the call.
        found: String,
    },

    /// A message with an argument of a type that does not exist.
    #[error(
        "there is no type {found:?} for the argument ${field}; expected one of {known}; put a \
         space behind the colon if no type is meant"
    )]
    UnknownFieldType {
        /// The name of the argument.
        field: String,
        /// The word behind the colon.
        found: String,
        /// The types that there are.
        known: &'static str,
    },

    /// A message with an enum or flags in which two numbers have the same name.
    #[error(
        "the type of ${field} has the name {name:?} twice: give each number a name of its own \
         (one number may have several)"
    )]
    RepeatedName {
        /// The name of the argument.
        field: String,
        /// The name of the numbers.
        name: String,
    },

    /// A category or message that cannot be stored.
    #[error("the {what} must be {expected}, got {found}")]
    BadText {
        /// "category" or "message".
        what: &'static str,
        /// The requirement.
        expected: &'static str,
        /// The text or value given.
        found: String,
    },

    /// The string table has no room for this definition.
    #[error("the string table of {} is full: this definition needs {needed} bytes, {free} of \
        {size} are free; create the timeline with a larger string table", .path.display())]
    StringTableFull {
        /// The timeline.
        path: PathBuf,
        /// Bytes needed, including terminators.
        needed: u64,
        /// Bytes left.
        free: u64,
        /// Size of the table.
        size: u64,
    },

    /// The definition table has no room for another definition.
    #[error("the definition table of {} is full: it holds {capacity} events; create the timeline \
        with a larger string table (64 bytes an event)", .path.display())]
    DefinitionTableFull {
        /// The timeline.
        path: PathBuf,
        /// How many definitions it can hold.
        capacity: u32,
    },

    /// There is no slot for another writing process.
    #[error(
        "{} has {capacity} writing processes already, and takes no more; stop one of them",
        .path.display()
    )]
    ProcessTableFull {
        /// The timeline.
        path: PathBuf,
        /// How many there can be.
        capacity: u32,
    },

    /// No record is free for the thread.
    #[error(
        "{}: all {limit} records of threads belong to living threads, or were used 65,535 times: \
         this thread cannot be named until another one ends",
        .path.display()
    )]
    ThreadTableFull {
        /// The timeline.
        path: PathBuf,
        /// How many records there are.
        limit: u32,
    },

    /// The thread could not join the timeline, so it cannot be named.
    #[error(
        "{}: this thread cannot join the timeline: expected room in its table of processes, \
         memory, and no child of vfork; name the thread again later",
        .path.display()
    )]
    ThreadNotJoined {
        /// The timeline.
        path: PathBuf,
    },

    /// A signal handler interrupted its thread while it joined or was named.
    #[error(
        "{}: this signal handler interrupted its thread while it joined the timeline or was \
         named; name it when the handler has returned",
        .path.display()
    )]
    ThreadBusy {
        /// The timeline.
        path: PathBuf,
    },

    /// This process has too many timelines open for writing.
    #[error(
        "this process writes to {limit} timelines already, and can have no more open; close one of \
         them"
    )]
    TooManyOpen {
        /// How many there can be.
        limit: usize,
    },

    /// Another sampler runs.
    #[error("{} is being sampled already, by process {pid}; stop that process first",
        .path.display())]
    SamplerBusy {
        /// The timeline.
        path: PathBuf,
        /// The process of that sampler.
        pid: u32,
    },

    /// Writing to a file that can only be read.
    #[error("{} is a snapshot and cannot be changed; name the live timeline", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    /// The error of waiting for a lock.
    pub(crate) fn lock(path: &Path, owner: &Owner, source: io::Error) -> Error {
        if source.kind() != io::ErrorKind::TimedOut {
            return Error::io("lock", path, source);
        }
        Error::Locked {
            path: path.to_path_buf(),
            owner: *owner,
        }
    }

    /// The error of a failed system call, with its refusal if permission was denied.
    pub fn io(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> Error {
        let source = source.into();
        let refusal = Refusal::of(doing, path, &source).map(Box::new);
        Error::Io {
            doing,
            path: path.to_path_buf(),
            source,
            refusal,
        }
    }
}
