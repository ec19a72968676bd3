//! Encrypts the connection to a store, and knows the store by its certificate.
//!
//! fingerprint.rs names a certificate, known_stores.rs has those that this user believes, trust.rs
//! says which one is right for an address, verifier.rs compares, and client.rs shakes hands.

mod client;
mod fingerprint;
mod known_stores;
mod trust;
mod verifier;

pub use client::TlsStream;
pub use fingerprint::Fingerprint;
pub use known_stores::KnownStores;
pub use trust::{StoreTrust, TrustError};

/// What shakes hands with the other side of an address, and believes it in no case.
pub fn client_of_none(address: &str) -> client::TlsClient {
    trust::pinned(address, None)
}
