//! Takes the hello of whoever connects, and says who may send.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use timeline_net::{Acknowledge, RefusalCode, VERSION, WireMessage};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::handshake::{Arrival, shake_hands};
use crate::limit::AddressPlace;
use crate::options::StoreOptions;
use crate::reception::Reception;
use crate::traces::Traces;
use crate::wire::{ConnectionEnd, HELLO, Wire, refused, wrong};

/// Whoever connects.
pub struct Guest {
    /// Where from.
    pub address: SocketAddr,
    /// The place among those who have not said yet who they are.
    pub stranger: Option<AddressPlace>,
}

/// Receives from a sender until the connection ends. Whoever is refused is told so.
pub async fn receive(
    socket: TcpStream,
    guest: Guest,
    config: Arc<ServerConfig>,
    traces: Arc<Traces>,
    options: Arc<StoreOptions>,
) {
    let address = guest.address;
    let arrival = match shake_hands(socket, address, Some(config)).await {
        Ok(arrival) => arrival,
        Err(error) => {
            if error.kind() == ErrorKind::InvalidData {
                options.say(format_args!("{address} is no sender: {error}"));
            }
            return;
        }
    };
    let Arrival { stream, is_private } = arrival;
    let mut wire = Wire::new(stream);
    let ended = match is_private || options.is_insecure {
        true => welcome(&mut wire, guest, &traces, &options).await,
        false => Err(refused(
            RefusalCode::Stranger,
            "expected an encrypted connection, got one that everybody in between can read; leave \
             out --insecure",
        )),
    };
    if let Err(ConnectionEnd::Refused(refusal)) = ended {
        options.say(format_args!("{address} is refused: {}", refusal.sentence));
        let _ = wire.say(&WireMessage::Refused(refusal)).await;
        wire.close().await;
    }
}

/// Takes the hello, and receives the session.
async fn welcome(
    wire: &mut Wire,
    guest: Guest,
    traces: &Arc<Traces>,
    options: &StoreOptions,
) -> Result<(), ConnectionEnd> {
    let Guest { address, stranger } = guest;
    let hello = timeout(HELLO, wire.hello()).await;
    let hello = hello.map_err(|_| wrong("expected a hello within 30 seconds, got none"))??;
    if hello.version != VERSION {
        let sentence = format!(
            "expected version {VERSION} of the protocol, got {}; use the same version of timeline \
             on both sides",
            hello.version
        );
        return Err(refused(RefusalCode::Protocol, sentence));
    }
    if !options.is_known(hello.token.as_ref()) {
        return Err(refused(
            RefusalCode::Stranger,
            match hello.token {
                None => "expected a token, got none; say --token-file, or set TIMELINE_TOKEN",
                Some(_) => "expected another token",
            },
        ));
    }
    drop(stranger);
    if hello.acknowledge == Acknowledge::Nothing {
        return Err(wrong(
            "expected a sender that hears what is acknowledged; leave out --acknowledge nothing",
        ));
    }
    let claim = traces.claim(hello.magic, hello.session, address).await;
    let claim = claim.map_err(|owner| {
        let sentence = format!("{owner} sends this run already");
        refused(RefusalCode::InUse, sentence)
    })?;
    let leave = Arc::clone(&claim.leave);
    let mut reception = Reception::begin(wire, hello, claim, traces, options).await?;
    let ended = tokio::select! {
        ended = reception.run() => ended,
        () = leave.notified() => Err(ConnectionEnd::Closed),
    };
    reception.tell_end(address);
    ended
}
