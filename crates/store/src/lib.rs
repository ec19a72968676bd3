//! Receives archives from many senders, and keeps a directory for each run of a program.
//!
//! server.rs listens, as options.rs says. handshake.rs encrypts a connection with the certificate
//! of certificate.rs, and limit.rs counts those of an address. connection.rs takes its hello, and
//! reception.rs what follows, over the messages of wire.rs. machine.rs says what time it is here,
//! place.rs says where a run is kept,
//! traces.rs which runs there are and who sends them, and retention.rs how much is kept.

mod certificate;
mod connection;
mod handshake;
mod limit;
mod machine;
mod options;
mod place;
mod reception;
mod retention;
mod server;
mod traces;
mod wire;

pub use certificate::StoreCertificate;
pub use handshake::{Arrival, shake_hands};
pub use options::{CertificateFiles, Error, StoreOptions};
pub use retention::Retention;
pub use server::{Store, StoreHandle};
pub use wire::ByteStream;
