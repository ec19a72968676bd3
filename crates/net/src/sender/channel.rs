//! Holds one connection, which is read and written as far as that goes without waiting.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use crate::inbox::Inbox;
use crate::message::WireMessage;
use crate::transport::Transport;

/// Bytes that are read at a time.
const READ: usize = 16 << 10;
/// How often it is read by one call: the caller has other work, however much comes.
const MOST_READS: usize = 64;

/// A connection.
pub struct StoreConnection {
    socket: Transport,
    inbox: Inbox,
    /// Messages that are not sent yet, and how many of their bytes are.
    messages: Vec<u8>,
    sent: usize,
    /// When something came last, and when something was sent last.
    pub heard: Instant,
    pub said: Instant,
}

impl StoreConnection {
    /// Takes a connection.
    ///
    /// # Errors
    /// Those of setting its options.
    pub fn new(socket: Transport) -> io::Result<StoreConnection> {
        socket.set_nonblocking()?;
        Ok(StoreConnection {
            socket,
            inbox: Inbox::default(),
            messages: Vec::new(),
            sent: 0,
            heard: Instant::now(),
            said: Instant::now(),
        })
    }

    /// Sends a message as soon as there is room.
    pub fn say(&mut self, message: &WireMessage) {
        message.put(&mut self.messages);
    }

    /// Sends the messages that wait. Returns whether none is left.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn send_messages(&mut self) -> io::Result<bool> {
        while self.sent < self.messages.len() {
            let Some(count) = some(self.socket.write(&self.messages[self.sent..]))? else {
                return Ok(false);
            };
            self.sent += count;
            self.said = Instant::now();
        }
        self.messages.clear();
        self.sent = 0;
        Ok(true)
    }

    /// Waits until something comes, or this time is over. Returns whether something may have come.
    pub fn wait(&self, time: Duration) -> bool {
        self.socket.wait(time)
    }

    /// Whether nobody in between can read what is sent.
    pub fn is_private(&self) -> bool {
        self.socket.is_private()
    }

    /// Whether the system has all that was sent.
    pub fn is_flushed(&self) -> bool {
        self.socket.is_flushed()
    }

    /// Sends as many of these bytes as there is room for. Returns how many.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = some(self.socket.write(bytes))?.unwrap_or(0);
        if count > 0 {
            self.said = Instant::now();
        }
        Ok(count)
    }

    /// Takes what came. Returns the records that are whole.
    ///
    /// # Errors
    /// Those of the connection, also its end; `InvalidData` if something else than frames came.
    pub fn receive(&mut self, most: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut bytes = [0; READ];
        let mut records = Vec::new();
        for _ in 0..MOST_READS {
            let count = match some(self.socket.read(&mut bytes)) {
                Ok(Some(count)) => count,
                Ok(None) => break,
                // What came before the end is taken first: it may say why.
                Err(_) if !records.is_empty() => break,
                Err(error) => return Err(error),
            };
            self.inbox.receive(&bytes[..count]);
            self.heard = Instant::now();
            loop {
                let next = self.inbox.next(most).map_err(|_| {
                    let what = "expected a store of timeline, and something else answers there";
                    io::Error::new(io::ErrorKind::InvalidData, what)
                })?;
                let Some(frame) = next else {
                    break;
                };
                records.push(frame.record().to_vec());
            }
        }
        Ok(records)
    }
}

/// How many bytes were read or written; `None` if the call would have waited.
fn some(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(0) => Err(closed()),
        Ok(count) => Ok(Some(count)),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            io::ErrorKind::UnexpectedEof => Err(closed()),
            _ => Err(error),
        },
    }
}

fn closed() -> io::Error {
    let what = "the other side closed the connection";
    io::Error::new(io::ErrorKind::UnexpectedEof, what)
}
