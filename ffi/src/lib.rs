//! The C ABI of timeline: check, call, convert; nothing else.
//!
//! Every function checks its arguments, calls the core library and converts the result. build.rs at
//! the top turns the doc comments and signatures into `include/timeline.h`: they are written for
//! readers of C.
//!
//! convert.rs converts, text.rs gives texts, error.rs errors and version.rs the version. Writing:
//! writer.rs, thread.rs, level.rs, priority.rs, channel.rs, sampler.rs; closed.rs keeps what was
//! freed for threads that still log to it. Definitions: attributes.rs, catalogue.rs, types.rs.
//! Logging: event.rs, typed.rs, payload.rs, interning.rs, span.rs, printf.rs, and call stacks:
//! backtrace.rs, stack.rs, tables.rs, modules.rs. Reading: reader.rs, fields.rs, value.rs,
//! values.rs, dump.rs, histogram.rs.
//!
//! ffi/inline/, beside src, is the part of the header that is written in C: `TIMELINE_EVENT` and
//! `TIMELINE_PRINTF` (statement.h; statement_c.h and statement_cpp.h in either language) and
//! `TIMELINE_SPAN` (span.h). The compiler compares message and arguments (check.h). A statement
//! itself only evaluates its arguments to raw values (value.h; argument.h has the types of C++) and
//! logs up to four numbers; what makes a payload of them is one function for all (encoder.h,
//! payload.h).
#![deny(improper_ctypes_definitions)]
#![allow(non_camel_case_types)]

mod attributes;
mod backtrace;
mod catalogue;
mod channel;
mod closed;
mod convert;
mod dump;
mod error;
mod event;
mod fields;
mod histogram;
mod interning;
mod level;
mod modules;
mod payload;
mod printf;
mod priority;
mod reader;
mod sampler;
mod span;
mod stack;
mod tables;
mod text;
mod thread;
mod typed;
mod types;
mod value;
mod values;
mod version;
mod writer;

pub use attributes::*;
pub use backtrace::*;
pub use catalogue::*;
pub use channel::*;
pub use dump::*;
pub use error::*;
pub use event::*;
pub use histogram::*;
pub use level::*;
pub use payload::*;
pub use printf::*;
pub use priority::*;
pub use reader::*;
pub use sampler::*;
pub use span::*;
pub use version::*;
pub use writer::*;
