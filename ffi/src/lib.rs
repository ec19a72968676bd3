//! The C ABI of timeline: check, call, convert; nothing else.
//!
//! Every function checks its arguments, calls the core library and converts the result. build.rs at
//! the top turns the doc comments and signatures into `include/timeline.h`: they are written for
//! readers of C.
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
mod interned;
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
pub use writer::*;
