//! Carries archives of timeline over connections, as docs/protocol.md states.
//!
//! message.rs defines the messages, hello.rs those that a connection begins with, and fields.rs
//! what their fields have in common. inbox.rs cuts what comes over a connection into records.
//! token.rs is the secret by which a store knows its senders, and tls/ encrypts what goes to a
//! store, which it knows by its certificate. address.rs reads where to connect to and
//! where to listen, as people write it; connect.rs opens the connection, and transport.rs carries
//! its bytes. sender/ is the half of the recorder; that of the store is a crate of its own. spool/
//! keeps on a disk what is to be sent.

mod address;
mod connect;
mod fields;
mod hello;
mod inbox;
mod message;
mod sender;
mod spool;
mod tls;
mod token;
mod transport;

pub use address::{AGENT_PORT, HTTP_PORT, PORT, is_here, to_connect_to, to_listen_on};
pub use connect::{connect, listen, shown_certificate};
pub use hello::{Acknowledge, Hello, SessionId, VERSION, Welcome};
pub use inbox::{Inbox, InboxFrame};
pub use message::{
    Ack, Beat, ClockAnswer, MAX_HELLO, Received, RefusalCode, RefusalMessage, WireMessage,
};
pub use sender::{Sender, SenderOptions};
pub use spool::{LEAST_SPOOL, SPOOL, Spool};
pub use tls::{Fingerprint, KnownStores, StoreTrust, TrustError};
pub use token::StoreToken;
pub use transport::Transport;
