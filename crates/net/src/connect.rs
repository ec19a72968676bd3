//! Connects to an address, and encrypts the connection; or listens on one.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

use crate::tls::{self, Fingerprint, StoreTrust};
use crate::transport::Transport;

/// Listens on an address, or takes the socket that somebody else has bound.
///
/// # Errors
/// Those of the system, as for an address that is taken.
pub fn listen(address: SocketAddr, bound: Option<&TcpListener>) -> io::Result<TcpListener> {
    let listener = match bound {
        Some(bound) => bound.try_clone()?,
        None => TcpListener::bind(address)?,
    };
    // Connections are taken as they come, and nobody waits for one.
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// After so long a silence, the system asks whether the other side is still there.
const ALIVE: Duration = Duration::from_secs(30);
/// How long an address may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Connects to an address with a port, and encrypts the connection unless what is known of it says
/// otherwise. Waits at most 10 seconds for each of its numbers, and as long for the other side.
///
/// # Errors
/// Those of resolving the name and of connecting; `InvalidData` if somebody else is there.
pub fn connect(address: &str, trust: &StoreTrust) -> io::Result<Transport> {
    let socket = socket(address)?;
    Ok(match trust.client(address, socket.peer_addr()?.ip())? {
        None => Transport::Plain(socket),
        Some(client) => Transport::Tls(Box::new(client.connect(socket, ANSWER)?)),
    })
}

/// The certificate that the other side of an address shows. It is believed by nothing.
///
/// # Errors
/// Those of [`connect`].
pub fn shown_certificate(address: &str) -> io::Result<Fingerprint> {
    tls::client_of_none(address).shown(socket(address)?, ANSWER)
}

fn socket(address: &str) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "this name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, ANSWER) {
            // Where nobody listens, a connection to this machine may meet itself.
            Ok(socket) if socket.local_addr()? == socket.peer_addr()? => {
                failed = io::ErrorKind::ConnectionRefused.into();
            }
            Ok(socket) => {
                // A machine that is gone says nothing, and some connections are silent for hours.
                let alive = TcpKeepalive::new()
                    .with_time(ALIVE)
                    .with_interval(ALIVE / 3);
                SockRef::from(&socket).set_tcp_keepalive(&alive)?;
                return Ok(socket);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
