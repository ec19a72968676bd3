//! Holds one connection of a store: the records that come, and the messages that go.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use timeline_net::{Hello, Inbox, MAX_HELLO, Received, RefusalCode, RefusalMessage, WireMessage};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

/// How long a sender may take for its hello, or to read an answer.
pub const HELLO: Duration = Duration::from_secs(30);
/// Bytes that are read at a time, and most of them between two writes.
const READ: usize = 64 << 10;
const MOST: usize = 1 << 20;

/// The bytes of a connection, encrypted or not.
pub trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// Why a connection ends.
pub enum ConnectionEnd {
    /// The sender closed it, or another connection of it took over.
    Closed,
    /// The sender is told so.
    Refused(RefusalMessage),
}

impl From<io::Error> for ConnectionEnd {
    fn from(_: io::Error) -> ConnectionEnd {
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
    stream: Box<dyn ByteStream>,
    pub inbox: Inbox,
    /// When something was said last.
    pub said: Instant,
}

impl Wire {
    /// A connection over which nothing has come yet.
    pub fn new(stream: Box<dyn ByteStream>) -> Wire {
        Wire {
            stream,
            inbox: Inbox::default(),
            said: Instant::now(),
        }
    }

    /// Sends a message.
    pub async fn say(&mut self, message: &WireMessage) -> Result<(), ConnectionEnd> {
        let mut bytes = Vec::new();
        message.put(&mut bytes);
        let sent = timeout(HELLO, async {
            self.stream.write_all(&bytes).await?;
            self.stream.flush().await
        });
        let sent = sent.await;
        sent.map_err(|_| ConnectionEnd::Closed)??;
        self.said = Instant::now();
        Ok(())
    }

    /// Takes what has come, up to a limit. Waits until there is something.
    pub async fn receive(&mut self) -> Result<(), ConnectionEnd> {
        let (stream, inbox) = (&mut self.stream, &mut self.inbox);
        poll_fn(|context| poll_receive(stream, inbox, context)).await
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
            self.receive().await?;
        }
    }

    /// Closes the connection. What still comes is read for a moment: bytes that nobody reads have
    /// the system drop the last answer before the sender reads it.
    pub async fn close(&mut self) {
        let _ = timeout(Duration::from_secs(1), self.drain()).await;
    }

    async fn drain(&mut self) {
        let _ = self.stream.shutdown().await;
        let mut bytes = [0; 1024];
        while self
            .stream
            .read(&mut bytes)
            .await
            .is_ok_and(|count| count > 0)
        {}
    }
}

/// The room for what is read is there only meanwhile: a thousand connections that are silent have
/// none.
fn poll_receive(
    stream: &mut Box<dyn ByteStream>,
    inbox: &mut Inbox,
    context: &mut Context,
) -> Poll<Result<(), ConnectionEnd>> {
    let (mut bytes, before) = ([0; READ], inbox.waiting());
    while inbox.waiting() - before < MOST {
        let mut room = ReadBuf::new(&mut bytes);
        match Pin::new(&mut *stream).poll_read(context, &mut room) {
            Poll::Ready(Ok(())) if !room.filled().is_empty() => inbox.receive(room.filled()),
            Poll::Pending if inbox.waiting() == before => return Poll::Pending,
            // Whatever came before the end is taken first.
            _ if inbox.waiting() > before => break,
            _ => return Poll::Ready(Err(ConnectionEnd::Closed)),
        }
    }
    Poll::Ready(Ok(()))
}
