//! What the crates of this workspace use beside the library's face: no API.
//!
//! It changes without notice. Programs use what the documentation shows; a test
//! (tests/cli/layers/face.rs) holds that nothing of that needs a name from here.

/// The bytes of a timeline.
pub mod layout {
    pub use crate::layout::*;
}

/// The entries of a timeline, as writers and readers share them.
pub mod ring {
    pub use crate::ring::*;
}

/// Atomics, which loom can replace.
pub mod sync {
    pub use crate::sync::*;
}

#[cfg(not(loom))]
pub use shared::*;

#[cfg(not(loom))]
mod shared {
    /// Executables, and digests of them.
    #[cfg(feature = "digests")]
    pub mod executable {
        pub use crate::executable::*;
    }

    /// Files outside of shared memory.
    pub mod files {
        pub use crate::files::*;
    }

    /// Values in msgpack.
    pub mod msgpack {
        pub use crate::msgpack::*;
    }

    /// Names of addresses.
    #[cfg(feature = "symbols")]
    pub mod symbols {
        pub use crate::symbols::*;
    }

    pub use crate::access::live_file;
    pub use crate::error::looks_like;
    pub use crate::event::{
        BracePart, Catalogue, Collation, Edge, FIELD_TYPES, FieldDescriptor, FieldStorage, Format,
        FormatPart, FormatValue, JsonForm, Notation, Object, ObjectPart, ObjectValue, PerEvent,
        Property, SourcePlace, SpanKey, SpanPart, TemplatePiece, Unknown, ValueColumns, ValueKind,
        ValueSink, argument_names, bounded, brace_parts, by_position, checked_fields, fields,
        matches_pattern, nearest, pieces, short, typed_message, values,
    };
    pub use crate::layout::{DEFAULT_ENTRIES, DEFAULT_STRING_TABLE, MAX_FIELDS};
    pub use crate::lifecycle::name_before;
    pub use crate::shm::{Record, variable, without_cancellation, without_signals};
    pub use crate::source::{AlikeEvents, EntryEvent, EventWords, LaneRun, PlacedEvent};
}
