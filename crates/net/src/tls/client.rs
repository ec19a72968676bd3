//! Shakes hands with a store.

use std::io;
use std::net::TcpStream;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::{Fingerprint, KnownStores};

/// An encrypted connection.
pub type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// How a store is known by its fingerprint: the one that is expected, and the one that was shown.
type Pin = (Option<Fingerprint>, Arc<OnceLock<Fingerprint>>);

/// Encrypts one connection.
pub struct TlsClient {
    config: ClientConfig,
    address: String,
    pin: Option<Pin>,
}

impl TlsClient {
    pub(super) fn new(config: ClientConfig, address: &str, pin: Option<Pin>) -> TlsClient {
        TlsClient {
            config,
            address: address.into(),
            pin,
        }
    }

    /// The certificate that the other side shows over a connection that waits.
    ///
    /// # Errors
    /// Those of the connection, if it shows none.
    pub fn shown(self, socket: TcpStream, most: Duration) -> io::Result<Fingerprint> {
        let shown = self.pin.as_ref().map(|(_, shown)| Arc::clone(shown));
        let connected = self.connect(socket, most);
        match (shown.and_then(|shown| shown.get().copied()), connected) {
            (Some(shown), _) => Ok(shown),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Shakes hands over a connection that waits.
    ///
    /// # Errors
    /// Those of the connection; `InvalidData` if the store is not the right one; `TimedOut`.
    pub fn connect(self, mut socket: TcpStream, most: Duration) -> io::Result<TlsStream> {
        let (host, _) = self.address.rsplit_once(':').unwrap_or((&self.address, ""));
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::new(self.config), name);
        let mut connection = connection.map_err(io::Error::other)?;
        socket.set_read_timeout(Some(most))?;
        socket.set_write_timeout(Some(most))?;
        let begun = Instant::now();
        while connection.is_handshaking() {
            if begun.elapsed() >= most {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if connection.wants_write() {
                connection.write_tls(&mut socket)?;
                continue;
            }
            if connection.read_tls(&mut socket).map_err(late)? == 0 {
                let what = "the other side closed the connection instead of encrypting it";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
            }
            if let Err(error) = connection.process_new_packets() {
                // The store is told why.
                let _ = connection.write_tls(&mut socket);
                return Err(told(error, self.pin.as_ref(), &self.address));
            }
        }
        Ok(StreamOwned::new(connection, socket))
    }
}

fn late(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            let what = "there is no answer to the request to encrypt the connection: nothing \
                        there is a store of timeline";
            io::Error::new(io::ErrorKind::TimedOut, what)
        }
        _ => error,
    }
}

/// Says what is wrong with a store.
fn told(error: rustls::Error, pin: Option<&Pin>, address: &str) -> io::Error {
    let shown = pin.and_then(|(expected, shown)| Some((*expected, *shown.get()?)));
    let what = match (shown, &error) {
        (Some((Some(expected), shown)), _) if expected != shown => format!(
            "expected the certificate {expected}, the store shows {shown}: it is another store, or \
             somebody in between"
        ),
        (Some((None, shown)), _) => {
            let file = KnownStores::of_user();
            let file = file.map_or("the file of known stores".into(), |file| {
                file.path().display().to_string()
            });
            format!(
                "the store shows the certificate {shown}, which is not known here; if it printed \
                 the same one, `timeline pin {address} {shown}` puts it into {file}; recorders \
                 take --fingerprint as well"
            )
        }
        (_, rustls::Error::InvalidMessage(_)) => {
            "expected an encrypted connection, and something else answers there: it is no store of \
             timeline, or one that has too many connections"
                .into()
        }
        _ => error.to_string(),
    };
    io::Error::new(io::ErrorKind::InvalidData, what)
}
