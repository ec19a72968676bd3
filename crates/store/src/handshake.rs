//! Encrypts a connection if the other side begins to, and says who must.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::options::StoreOptions;
use crate::wire::{ByteStream, ConnectionEnd, HELLO};

/// The first byte of whoever wants to encrypt: that of a record of TLS. Frames begin with another.
const TLS: u8 = 0x16;

/// A connection whose first byte has come.
pub struct Arrival {
    /// Its bytes.
    pub stream: Box<dyn ByteStream>,
    /// Whether nobody in between can read and change them.
    pub is_private: bool,
}

/// Shakes hands if the other side wants to. What stays on this machine is private as well.
pub async fn open(
    socket: TcpStream,
    from: SocketAddr,
    config: Arc<ServerConfig>,
    options: &StoreOptions,
) -> Result<Arrival, ConnectionEnd> {
    let _ = socket.set_nodelay(true);
    let opening = async {
        let mut first = [0];
        if socket.peek(&mut first).await? == 0 {
            return Err(ConnectionEnd::Closed);
        }
        Ok(match first[0] {
            TLS => {
                let accepted = TlsAcceptor::from(config).accept(socket).await;
                let stream = accepted.inspect_err(|error| {
                    options.say(format_args!("{from} is no sender: {}", reason(error)));
                })?;
                Arrival {
                    stream: Box::new(stream),
                    is_private: true,
                }
            }
            _ => Arrival {
                stream: Box::new(socket),
                is_private: from.ip().to_canonical().is_loopback(),
            },
        })
    };
    let opened = timeout(HELLO, opening).await;
    opened.map_err(|_| ConnectionEnd::Closed)?
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
