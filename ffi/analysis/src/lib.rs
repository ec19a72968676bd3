//! The C ABI of analyses: check, call, convert; nothing else.
//!
//! It is a library of its own, so that libtimeline stays as lean as it is. build.rs at the top
//! turns the doc comments and signatures into `include/timeline-analysis.h`: they are written for
//! readers of C.
//!
//! analysis.rs has what can be done with an analysis. pass.rs is what is behind it: the logs, or
//! the bytes that come (descriptor.rs), the analysers that C has (analyzer.rs), and how far it is.
//! subscriptions.rs says which events are wanted, event.rs what is known of one, field.rs its
//! fields, and texts.rs keeps the texts that C is given. optional.rs checks places that may be
//! NULL, and failure.rs makes statuses of errors. What is the same in libtimeline is compiled from
//! its files: convert.rs, error.rs, text.rs and value.rs of ffi/src.
#![deny(improper_ctypes_definitions)]
#![allow(non_camel_case_types)]

mod analysis;
mod analyzer;
#[allow(dead_code, reason = "shared with libtimeline, which uses all of it")]
#[path = "../../src/convert.rs"]
mod convert;
mod descriptor;
#[allow(dead_code, reason = "shared with libtimeline, which uses all of it")]
#[path = "../../src/error.rs"]
mod error;
mod event;
mod failure;
mod field;
mod optional;
mod pass;
mod subscriptions;
#[allow(dead_code, reason = "shared with libtimeline, which uses all of it")]
#[path = "../../src/text.rs"]
mod text;
mod texts;
#[allow(dead_code, reason = "shared with libtimeline, which uses all of it")]
#[path = "../../src/value.rs"]
mod value;

pub use analysis::*;
pub use analyzer::*;
pub use event::*;
pub use failure::*;
pub use field::*;
pub use subscriptions::*;
