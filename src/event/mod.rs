//! Definitions: an event's category, message with arguments, and priority.
//!
//! The rooms, each of which uses those below it:
//!
//! - catalogue/ reads the events of a program from a text file;
//! - tables/ has the definitions of a timeline in shared memory, and what of them is logged;
//! - control/ is what a person asks for: rules and channels;
//! - definitions/ says what an event says;
//! - payloads/ says which words of an event are which values;
//! - objects/ has the JSON that an event was imported from;
//! - names/ makes names of events, and finds them;
//! - messages/ are templates and formats of printf;
//! - values/ has the values and their types.
//!
//! **Why are arguments signed?** Results of calls, differences and errors are negative; Lua numbers
//! and C's `int` convert without a cast. An unsigned 64-bit number keeps its bits, and is shown as
//! signed above 2^63.

mod catalogue;
mod control;
mod definitions;
mod messages;
mod names;
mod objects;
mod payloads;
mod tables;
mod values;

pub use catalogue::{Catalogue, CatalogueEvent};
#[cfg(test)]
pub use control::channel::channels_of_event;
pub use control::channel::{Channel, Switch, channel_name};
pub use control::rules::Rules;
pub use control::selection::Selection;
pub(crate) use definitions::decimals::parts;
pub use definitions::definition::{Attributes, Definition, bounded};
pub use definitions::event_id::EventId;
pub use definitions::per_event::PerEvent;
pub use definitions::priority::{Level, Priority};
pub use definitions::span::{Edge, Pairing, SpanKey, SpanPart};
pub use definitions::unknown::Unknown;
pub use messages::braces::{BracePart, brace_parts};
pub(crate) use messages::number::{MessagePart, Whole};
pub use messages::printf::{Format, FormatPart, FormatValue};
pub use messages::statement::typed_message;
pub use messages::syntax::Syntax;
pub(crate) use messages::template::render;
pub use messages::template::{
    TemplateField, TemplatePiece, argument_names, checked_fields, fields, pieces,
};
pub use messages::value_text::by_position;
pub use names::glob::matches as matches_pattern;
pub use names::nearest::nearest;
pub use objects::object::{Object, ObjectPart};
pub use objects::object_value::ObjectValue;
pub use objects::properties::{Property, SourcePlace};
pub use payloads::columns::ValueColumns;
pub use payloads::lay_out::lay_out;
pub(crate) use payloads::payload::{CUT, NULL};
pub use payloads::payload::{Layout, Values, values};
pub use tables::module::{FileVersion, InlinedFunction, Module, SourceLine};
pub(crate) use tables::string_table::{bring_in, intern, words_of};
pub use tables::table::Definitions;
pub use values::element::Element;
pub use values::field_table::{
    Collation, FIELD_TYPES, FieldDescriptor, FieldStorage, FieldType, JsonForm, Notation,
};
pub use values::labels::Labels;
pub use values::units::{Bytes, Hex, Nanoseconds, UnixTime, short};
pub use values::value::{Value, ValueSink};
pub use values::word::ValueKind;
