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
mod executable;
#[cfg(not(loom))]
mod files;
#[cfg(not(loom))]
mod info;
#[doc(hidden)]
pub mod internal;
mod layout;
#[cfg(not(loom))]
mod lifecycle;
#[cfg(not(loom))]
mod list;
#[cfg(not(loom))]
mod msgpack;
mod ring;
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
mod symbols;
mod sync;
#[cfg(not(loom))]
mod timeline;

#[cfg(all(feature = "derive", not(loom)))]
pub use self::derives::{Event, Named};

#[cfg(not(loom))]
pub use self::{
    access::{Owner, Refusal},
    attached::Attached,
    clock::{ClockKind, ClockReason, ClockStep, Interpolation},
    control::{Control, Sampler},
    error::{Error, ErrorKind, Result, User},
    event::{
        Attributes, Bytes, CatalogueEvent, Channel, Definition, Element, EventId, FieldType,
        FileVersion, Hex, InlinedFunction, Labels, Layout, Level, Module, Nanoseconds, Pairing,
        Priority, Rules, Selection, SourceLine, Switch, Syntax, TemplateField, UnixTime, Value,
        Values, lay_out,
    },
    info::{DropCounts, Info},
    layout::{Bound, MAX_ARGUMENTS},
    lifecycle::{is_former, remove, unlink, users},
    list::{ListedTimeline, list, names},
    ring::executables::{JoinedProcess, ProcessExecutable},
    ring::roster::WriterProcess,
    ring::threads::Thread,
    save::SaveTotals,
    shm::Trust,
    source::{
        Encoding, Event, Events, Follow, FollowFrom, Frame, Order, Passage, Payload, Source,
        ThreadRef,
    },
    statement::{Argument, Flags, Interned, Named, Wide},
    timeline::{AsyncSpan, Options, Span, SpanEvents, Timeline},
};
