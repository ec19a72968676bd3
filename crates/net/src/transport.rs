//! Carries the bytes of a connection, encrypted or not.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::tls::TlsStream;

/// What a connection is made of.
pub enum Transport {
    /// Everybody in between can read it.
    Plain(TcpStream),
    /// Nobody else can.
    Tls(Box<TlsStream>),
}

impl Transport {
    /// No call waits any more.
    ///
    /// # Errors
    /// Those of setting the options.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        let socket = self.socket();
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)
    }

    /// Each call that reads or writes waits so long at most.
    ///
    /// # Errors
    /// Those of setting the options.
    pub fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        let socket = self.socket();
        socket.set_read_timeout(Some(time))?;
        socket.set_write_timeout(Some(time))
    }

    /// Whether it is open, and nothing has come that nobody asked for.
    pub fn is_quiet(&self) -> bool {
        let socket = self.socket();
        let mut byte = [0];
        let waits = |error: io::Error| error.kind() == io::ErrorKind::WouldBlock;
        let is_quiet =
            socket.set_nonblocking(true).is_ok() && socket.peek(&mut byte).is_err_and(waits);
        is_quiet && socket.set_nonblocking(false).is_ok()
    }

    /// Waits until something comes, or this time is over. Afterwards no call waits. Returns whether
    /// something may have come.
    pub fn wait(&self, time: Duration) -> bool {
        let socket = self.socket();
        let can_wait =
            socket.set_nonblocking(false).is_ok() && socket.set_read_timeout(Some(time)).is_ok();
        let has_come = can_wait && socket.peek(&mut [0]).is_ok();
        socket.set_nonblocking(true).is_ok() && has_come
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Transport::Plain(socket) => socket,
            Transport::Tls(stream) => &stream.sock,
        }
    }

    /// Whether nobody in between can read what is sent: it is encrypted, or stays on this machine.
    pub fn is_private(&self) -> bool {
        match self {
            Transport::Plain(socket) => {
                let peer = socket.peer_addr();
                peer.is_ok_and(|peer| peer.ip().to_canonical().is_loopback())
            }
            Transport::Tls(_) => true,
        }
    }

    /// Whether the system has all that was written. What was encrypted and found no room waits for
    /// the next call.
    pub fn is_flushed(&self) -> bool {
        match self {
            Transport::Plain(_) => true,
            Transport::Tls(stream) => !stream.conn.wants_write(),
        }
    }
}

impl Read for Transport {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.read(bytes),
            Transport::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.write(bytes),
            Transport::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Plain(socket) => socket.flush(),
            Transport::Tls(stream) => stream.flush(),
        }
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        if let Transport::Tls(stream) = self {
            // Whoever reads at the other side can tell the end from a cut.
            stream.conn.send_close_notify();
            let _ = stream.conn.write_tls(&mut stream.sock);
        }
    }
}
