//! Encrypts a connection if the other side begins to.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::wire::{ByteStream, HELLO};

/// The first byte of whoever wants to encrypt: that of a record of TLS. Frames and requests of HTTP
/// begin with others.
const TLS: u8 = 0x16;

/// A connection whose first byte has come.
pub struct Arrival {
    /// Its bytes.
    pub stream: Box<dyn ByteStream>,
    /// Whether nobody in between can read and change them: they are encrypted, or stay on this
    /// machine.
    pub is_private: bool,
}

/// Waits for the first byte. Shakes hands if the other side wants to and there is a certificate.
///
/// # Errors
/// Those of the connection; `InvalidData` if the other side cannot encrypt it, or does not believe
/// the certificate; `TimedOut` after 30 seconds.
pub async fn shake_hands(
    socket: TcpStream,
    from: SocketAddr,
    config: Option<Arc<ServerConfig>>,
) -> io::Result<Arrival> {
    let _ = socket.set_nodelay(true);
    let opening = async {
        let mut first = [0];
        if socket.peek(&mut first).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match config.filter(|_| first[0] == TLS) {
            Some(config) => {
                let accepted = TlsAcceptor::from(config).accept(socket).await;
                let stream = accepted
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, reason(&error)))?;
                Ok(Arrival {
                    stream: Box::new(stream),
                    is_private: true,
                })
            }
            None => Ok(Arrival {
                stream: Box::new(socket),
                is_private: from.ip().to_canonical().is_loopback(),
            }),
        }
    };
    timeout(HELLO, opening).await.map_err(io::Error::from)?
}

/// Why there is no encrypted connection.
fn reason(error: &io::Error) -> String {
    let of_tls = error.get_ref().and_then(|error| error.downcast_ref());
    match of_tls {
        Some(rustls::Error::AlertReceived(_)) => {
            format!("it does not believe the certificate of this store ({error})")
        }
        _ => format!("it cannot encrypt the connection ({error})"),
    }
}
