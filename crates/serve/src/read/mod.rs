//! Reads what a request asks for, and makes the objects of the answers.
//!
//! `events` are the objects of events, `details` all that is known of one. `lines` finds events by
//! their numbers, `by_time` by their times, and `search` by texts and conditions. `summary` counts
//! the events of an archive, which it visits by columns, by `names` that another version of the log
//! has as well; `excerpt` makes an archive of wanted events. `tracks` and `overview` show these
//! counts. `lacks` says what is missing. `latency` finds durations. `catalogue` lists definitions
//! and threads. `nanos` writes large numbers. `traces` says of archives whose they are.
//! `unknown_names` says why nothing was found. `cancel` ends what takes long if nobody waits for it
//! any more.

mod by_time;
mod cancel;
mod catalogue;
mod details;
mod events;
mod excerpt;
mod lacks;
mod latency;
mod lines;
mod names;
mod nanos;
mod overview;
mod search;
mod summary;
mod traces;
mod tracks;
mod unknown_names;

pub use by_time::{EventPage, at_time, page};
pub use cancel::Cancel;
pub use catalogue::{DefinitionObject, ThreadObject, definitions, threads};
pub use details::{Details, details};
pub use events::Moment;
pub use excerpt::{ExcerptQuery, excerpt};
pub use lacks::Lacks;
pub use latency::{
    DurationFilter, DurationList, DurationQuery, Durations, ListQuery, SpanQuery, Spans, durations,
    list, long_spans, spans,
};
pub use lines::{Lines, at as lines_at, range as lines_from};
pub use overview::{Overview, overview};
pub use search::{Hits, Progress, SearchRequest, search};
pub use traces::{TraceCache, TraceObject};
pub use tracks::{TrackQuery, Tracks, tracks};
pub use unknown_names::{UnknownName, unknown_names};
