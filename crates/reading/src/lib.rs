//! Reads logs (timelines, snapshots and archives) for the command, the server and exports.
//!
//! They are opened in one way and shown in one way. A [`Log`] is opened by its path. A [`Request`]
//! says which of its events are wanted, and gives a [`Stream`] of them. [`LogMerge`] is the stream
//! of several logs. A [`LogFollow`] gives the events that come to a log later, and [`FollowMerge`]
//! makes one stream of several. What came of reading is an [`Outcome`]. [`DefinitionView`] and
//! [`StackEntry`] say what is known of an event, wherever it is shown. [`json`] is the one
//! conversion of a value to JSON.
//!
//! log.rs, request.rs, stream.rs and merge.rs have these types. sieve.rs lets the wanted events
//! through and counts what is missing before the others; follow/ follows logs that grow; durations/
//! finds how long spans took. visit.rs gives the events of an archive to a visitor by their
//! columns. host_clock.rs and clock_alignment.rs compare the clocks of several machines.
//! event_time.rs says when an event was logged, programs.rs by which program,
//! unknown_names.rs which names in filters are nowhere, unknown_rules.rs the same of rules, and
//! error.rs why a log cannot be opened or read. view/ is what is shown of an event.
//!
//! # Example
//! ```
//! use timeline::{FieldType, Value, dump::Text};
//! use timeline_reading::json::push_value;
//!
//! let mut text = Text::new();
//! push_value(Some(FieldType::F32), &Value::Int(1.1_f32.to_bits().into()), &mut text);
//! assert_eq!(text.as_bytes(), b"1.1");
//! ```

mod clock_alignment;
mod durations;
mod error;
mod event_time;
mod follow;
mod host_clock;
pub mod json;
mod log;
mod merge;
mod programs;
mod request;
mod sieve;
mod stream;
mod unknown_names;
mod unknown_rules;
mod view;
mod visit;

pub use clock_alignment::ClockAlignment;
pub use durations::{DurationRequest, Longest, SpanPairer, each_duration, each_event};
pub use error::{Error, Result};
pub use event_time::EventTime;
pub use follow::{FollowLook, FollowMerge, LogFollow};
pub use log::{Extent, Holder, Log, begins_like_archive};
pub use merge::{LogEvent, LogMerge};
pub use programs::Programs;
pub use request::Request;
pub use sieve::Sieve;
pub use stream::{Outcome, Stream};
pub use unknown_names::{unknown_among, unknown_names};
pub use unknown_rules::{names_and_categories, unknown_in, unmatched};
pub use view::{DefinitionView, StackEntry, stack_entries};
pub use visit::{EventOrigin, EventSummary, Visitor, visit};
