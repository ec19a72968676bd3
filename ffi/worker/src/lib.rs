//! The C ABI of recorders inside programs: check, call, convert; nothing else.
//!
//! It is a library of its own, so that libtimeline stays as lean as it is. build.rs at the top
//! turns the doc comments and signatures into `include/timeline-worker.h`: they are written for
//! readers of C.
//!
//! options.rs has what a worker is told, worker.rs what can be done with one, object.rs what is
//! behind it. handle.rs finds the timeline of a handle of libtimeline, and exit.rs stops workers
//! when their program ends. What is the same in libtimeline is compiled from its files: convert.rs,
//! error.rs and text.rs of ffi/src.
#![deny(improper_ctypes_definitions)]
#![allow(non_camel_case_types)]

#[allow(dead_code, reason = "shared with libtimeline, which uses all of it")]
#[path = "../../src/convert.rs"]
mod convert;
#[allow(dead_code, reason = "shared with libtimeline, which uses all of it")]
#[path = "../../src/error.rs"]
mod error;
mod exit;
mod handle;
mod object;
mod options;
#[allow(dead_code, reason = "shared with libtimeline, which uses all of it")]
#[path = "../../src/text.rs"]
mod text;
mod worker;

pub use options::*;
pub use worker::*;
