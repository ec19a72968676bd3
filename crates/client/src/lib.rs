//! Asks a store, an agent or `timeline serve` over HTTP.
//!
//! A [`Client`] (client.rs) sends requests and reads answers, over connections that `timeline-net`
//! opens and encrypts (transport.rs). trace_url.rs reads `store://HOST/TRACE`, and error.rs has the
//! errors.

mod client;
mod error;
mod trace_url;
mod transport;

pub use client::{Client, ClientOptions, Parameters, RemoteBytes, RemoteLog, place_of};
pub use error::{Error, Result};
pub use trace_url::{TRACE_SCHEME, TraceUrl};
