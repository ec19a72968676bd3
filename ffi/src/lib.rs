//! The C ABI of timeline: check, call, convert; nothing else.
//!
//! Every function here checks what C gave it, calls the core library and converts what comes back.
//! build.rs at the top turns the doc comments and signatures into `include/timeline.h`, so they are
//! written for readers of C.
#![deny(improper_ctypes_definitions)]
#![allow(non_camel_case_types)]

mod backtrace;
mod convert;
mod dump;
mod event;
mod level;
mod modules;
mod printf;
mod priority;
mod reader;
mod sampler;
mod stack;
mod status;
mod text;
mod writer;

pub use backtrace::*;
pub use dump::*;
pub use event::*;
pub use level::*;
pub use printf::*;
pub use priority::*;
pub use reader::*;
pub use sampler::*;
pub use status::*;
pub use writer::*;
