//! A flight recorder for native and LuaJIT programs.
//!
//! A log call costs about as much as reading the clock: it writes 64 bytes or more, stamped with
//! the cycle counter, into a ring in shared memory. Any process with permission can attach to the
//! ring, dump it, follow it, change the level of detail, and save it. The ring stays when the
//! program dies.
//!
//! ```
//! use timeline::{Attached, Level, Order, Priority, Timeline};
//! # let path = format!("/timeline-doc-{}", std::process::id());
//! # let path = path.as_str();
//!
//! let timeline = Timeline::new(path)?; // "/timeline", say
//! let message = "processed $tcp, $udp, and $other";
//! let processed = timeline.define("example", Priority::Trace, message)?;
//! timeline.log(processed, [10, 20, 3]);
//! timeline.priority(Level::from(Priority::Info))?; // from here on, traces cost next to nothing
//! timeline.log(processed, [50, 60, 8]);
//!
//! // The same from any other process, also after this one was killed:
//! let attached = Attached::open(path)?;
//! let logged: Vec<_> = attached.events(Order::NewestFirst).map(|e| e.args).collect();
//! assert_eq!(logged, [[10, 20, 3, 0]]);
//! # timeline::unlink(path)?;
//! # Ok::<(), timeline::Error>(())
//! ```
//!
//! [`Timeline`] writes, [`Attached`] reads, [`Control`] changes the level from outside.
//! ARCHITECTURE.md says how it is built, docs/map.md what each file is for, and docs/format.md
//! states every byte.

#[cfg(not(loom))]
mod access;
#[cfg(not(loom))]
mod attached;
#[cfg(not(loom))]
mod clock;
#[cfg(not(loom))]
mod control;
#[cfg(all(feature = "derive", not(loom)))]
mod derives;
#[cfg(not(loom))]
pub mod dump;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod event;
#[cfg(all(feature = "digests", not(loom)))]
pub mod executable;
#[cfg(not(loom))]
pub mod files;
#[cfg(not(loom))]
mod info;
#[doc(hidden)]
pub mod layout;
#[cfg(not(loom))]
mod lifecycle;
#[cfg(not(loom))]
mod list;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod msgpack;
#[doc(hidden)]
pub mod ring;
#[cfg(not(loom))]
mod save;
#[cfg(not(loom))]
mod segment;
#[cfg(not(loom))]
mod shm;
#[cfg(not(loom))]
mod source;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod statement;
#[cfg(all(feature = "symbols", not(loom)))]
pub mod symbols;
#[doc(hidden)]
pub mod sync;
#[cfg(not(loom))]
mod timeline;

#[cfg(all(feature = "derive", not(loom)))]
pub use self::derives::{Event, Named};

#[cfg(not(loom))]
#[doc(hidden)]
pub use self::shm::{Record, without_cancellation};
#[cfg(not(loom))]
pub use self::{
    access::{Owner, Refusal, live_file},
    attached::Attached,
    clock::{ClockKind, ClockReason, ClockStep, Interpolation},
    control::{Control, Sampler},
    error::{Error, ErrorKind, Result, User, looks_like},
    event::{
        Attributes, BracePart, Bytes, Catalogue, CatalogueEvent, Channel, Collation, Definition,
        Edge, Element, EventId, FIELD_TYPES, FieldDescriptor, FieldStorage, FieldType, FileVersion,
        Format, FormatPart, FormatValue, Hex, InlinedFunction, JsonForm, Labels, Layout, Level,
        Module, Nanoseconds, Notation, Object, ObjectPart, ObjectValue, Pairing, PerEvent,
        Priority, Property, Rules, Selection, SourceLine, SourcePlace, SpanKey, SpanPart, Switch,
        Syntax, TemplateField, TemplatePiece, UnixTime, Unknown, Value, ValueColumns, ValueKind,
        ValueSink, Values, argument_names, bounded, brace_parts, by_position, checked_fields,
        fields, lay_out, matches_pattern, nearest, pieces, short, typed_message, values,
    },
    info::{Dropped, Info},
    layout::{Bound, DEFAULT_ENTRIES, DEFAULT_STRING_TABLE, MAX_ARGUMENTS, MAX_FIELDS},
    lifecycle::{is_former, name_before, remove, unlink, users},
    list::{Listed, list, names},
    ring::executables::{Joined, ProcessExecutable},
    ring::roster::WriterProcess,
    ring::threads::Thread,
    save::Saved,
    shm::{Trust, variable},
    source::{
        AlikeEvents, Encoding, EntryEvent, Event, EventWords, Events, Follow, FollowFrom, Frame,
        LaneRun, Order, Passage, Payload, PlacedEvent, Source, ThreadRef,
    },
    statement::{Argument, Flags, Interned, Named, Wide},
    timeline::{AsyncSpan, Options, Span, SpanEvents, Timeline},
};
