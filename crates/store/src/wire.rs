//! Holds one connection of a store: the records that come, and the messages that go.

use std::time::{Duration, Instant};

use timeline_net::{Hello, Inbox, MAX_HELLO, Received, RefusalCode, RefusalMessage, WireMessage};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a sender may take for its hello, or to read an answer.
pub const HELLO: Duration = Duration::from_secs(30);
/// Bytes that are read at a time, and most of them between two writes.
const READ: usize = 64 << 10;
const MOST: usize = 1 << 20;

/// Why a connection ends.
pub enum ConnectionEnd {
    /// The sender closed it, or another connection of it took over.
    Closed,
    /// The sender is told so.
    Refused(RefusalMessage),
}

impl From<std::io::Error> for ConnectionEnd {
    fn from(_: std::io::Error) -> ConnectionEnd {
        ConnectionEnd::Closed
    }
}

/// The sender is told this.
pub fn refused(code: RefusalCode, sentence: impl Into<String>) -> ConnectionEnd {
    let sentence = sentence.into();
    ConnectionEnd::Refused(RefusalMessage { code, sentence })
}

/// What was sent makes no sense.
pub fn wrong(sentence: &str) -> ConnectionEnd {
    refused(RefusalCode::Protocol, sentence)
}

/// A connection, before and after its hello.
pub struct Wire {
    pub socket: TcpStream,
    pub inbox: Inbox,
    /// When something was said last.
    pub said: Instant,
}

impl Wire {
    /// A connection over which nothing has come yet.
    pub fn new(socket: TcpStream) -> Wire {
        let _ = socket.set_nodelay(true);
        Wire {
            socket,
            inbox: Inbox::default(),
            said: Instant::now(),
        }
    }

    /// Sends a message.
    pub async fn say(&mut self, message: &WireMessage) -> Result<(), ConnectionEnd> {
        let mut bytes = Vec::new();
        message.put(&mut bytes);
        let sent = timeout(HELLO, self.socket.write_all(&bytes)).await;
        sent.map_err(|_| ConnectionEnd::Closed)??;
        self.said = Instant::now();
        Ok(())
    }

    /// Takes what has come, up to a limit. Returns whether there was anything.
    pub fn receive(&mut self) -> Result<bool, ConnectionEnd> {
        let mut bytes = [0; READ];
        let before = self.inbox.waiting();
        while self.inbox.waiting() - before < MOST {
            match self.socket.try_read(&mut bytes) {
                Ok(0) if self.inbox.waiting() == before => return Err(ConnectionEnd::Closed),
                Ok(0) => break,
                Ok(count) => self.inbox.receive(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.inbox.waiting() > before)
    }

    /// The hello.
    pub async fn hello(&mut self) -> Result<Hello, ConnectionEnd> {
        loop {
            let next = self.inbox.next(MAX_HELLO);
            let next = next.map_err(|_| wrong("expected a hello, got something else"))?;
            if let Some(frame) = next {
                return match Received::read(frame.record()) {
                    Some(Received::Message(WireMessage::Hello(hello))) => Ok(hello),
                    _ => Err(wrong("expected a hello, got another record")),
                };
            }
            self.socket.readable().await?;
            self.receive()?;
        }
    }

    /// Closes the connection. What still comes is read for a moment: bytes that nobody reads have
    /// the system drop the last answer before the sender reads it.
    pub async fn close(&mut self) {
        let _ = timeout(Duration::from_secs(1), self.drain()).await;
    }

    async fn drain(&mut self) {
        let _ = self.socket.shutdown().await;
        let mut bytes = [0; 4096];
        while self.socket.readable().await.is_ok() {
            match self.socket.try_read(&mut bytes) {
                Ok(count) if count > 0 => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                _ => return,
            }
        }
    }
}
