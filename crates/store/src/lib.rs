//! Receives archives from many senders, and keeps a directory for each run of a program.
//!
//! server.rs listens, as options.rs says. connection.rs receives from one sender, over the messages
//! of wire.rs. place.rs says where a run is kept, and
//! traces.rs which runs there are and who sends them.

mod connection;
mod options;
mod place;
mod server;
mod traces;
mod wire;

pub use options::{Error, StoreOptions};
pub use server::{Store, StoreHandle};
