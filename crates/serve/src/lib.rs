//! Serves timelines, snapshots and archives over HTTP, with a page that shows them in a browser.
//!
//! `logs` knows which logs there are and opens them, `read` reads what a request asks for, and
//! `http` takes requests and answers them. Each module uses only those named before it.
//!
//! `error` has the errors. page/, beside src, has the files of the page: plain JavaScript modules
//! that the program embeds.

#![warn(missing_docs)]

mod error;
mod http;
mod logs;
mod read;

pub use error::{Error, Result};
pub use http::{Handle, Server, ServerAccess, ServerOptions};
