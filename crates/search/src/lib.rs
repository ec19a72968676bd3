//! Finds events: in rings, snapshots and archives, by the same questions.
//!
//! A [`Query`] says which events are wanted. Every verb that reads events takes one.
//!
//! `query` reads the conditions of a person and decides about events; `index` finds the parts of an
//! archive that may have a text. message_lines.rs says where the lines of a message end; error.rs
//! has the errors.
//!
//! # Example
//! ```
//! use timeline::{Attached, Order, Priority, Timeline, event};
//! use timeline_search::{Expression, Query};
//! # let path = format!("/timeline-doc-search-{}", std::process::id());
//! # let path = path.as_str();
//! let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
//! for bytes in [100_u32, 1500, 9000] {
//!     event!(tl, Priority::Info, "net", "sent {bytes}", bytes);
//! }
//!
//! let query = Query {
//!     categories: vec!["net".into()],
//!     expressions: vec![Expression::parse("bytes > 1000")?],
//!     ..Query::default()
//! };
//! let at = Attached::open(path)?;
//! let mut filter = query.on(&at);
//! let found = at.events(Order::OldestFirst).filter(|event| filter.matches(event));
//! assert_eq!(found.count(), 2);
//! # timeline::unlink(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod index;
mod message_lines;
mod query;

pub use error::{Error, Result};
pub use index::{
    Candidates, Counts, Index, IndexCoverage, LineNumbers, OpenIndex, PageSelection, ReadCounter,
    SearchSelect, open_archive, open_archive_by,
};
pub use message_lines::{line_count, message_lines};
pub use query::{
    Case, Expression, Filter, NameRegistry, Needle, PARAMETERS, Query, local_now, local_zone,
    moment, numbers, priorities,
};
