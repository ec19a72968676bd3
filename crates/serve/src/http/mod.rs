//! Takes requests and answers them.
//!
//! `server` listens and has connections; `guard` refuses requests that must not be answered. `api`
//! has a function for each request, whose `params`, path and body (`extractors`) are read first;
//! `latency` likewise for those about durations; `streams` are answers that go on, with one look at
//! a log for all its `followers`, and `control` changes live timelines; `copies` copies what logs
//! have, and `recordings` are those of an agent. `options` say what is served. A `reply` is an
//! object in JSON or CBOR. `files` gives and removes files, `changes` tells of the list of logs,
//! `watches` what fires. `failure` makes answers of errors, and `page` has the files of the page,
//! whose modules `bundle` makes one. `openapi` describes all requests, and `state` is what they
//! share.

mod api;
mod bundle;
mod changes;
mod control;
mod copies;
mod extractors;
mod failure;
mod files;
mod followers;
mod guard;
mod latency;
mod openapi;
mod options;
mod page;
mod params;
mod recordings;
mod reply;
mod server;
mod state;
mod streams;
mod watches;

pub use options::{ServerAccess, ServerOptions};
pub use server::{Handle, Server};
