//! Connects to an address, and again after the connection broke, with growing pauses.
//!
//! Resolving a name, connecting and the handshake may take long. So a thread does all three, and
//! ends.

use std::io;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::channel::StoreConnection;
use crate::connect::connect;
use crate::tls::StoreTrust;
use crate::transport::Transport;

/// The first pause after a failure. Each further one is twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(10);

enum State {
    /// To be opened at this time.
    Down(Instant),
    Opening(Receiver<io::Result<Transport>>),
    Up(Box<StoreConnection>),
}

/// A connection to an address, as far as there is one.
pub struct Link {
    address: String,
    trust: StoreTrust,
    state: State,
    pause: Duration,
    /// When the last connection was opened.
    opened: Option<Instant>,
}

impl Link {
    /// To an address with a port, where a store is that is known by this. Nothing is opened before
    /// [`Link::open`].
    pub fn new(address: String, trust: StoreTrust) -> Link {
        Link {
            address,
            trust,
            state: State::Down(Instant::now()),
            pause: FIRST,
            opened: None,
        }
    }

    /// The connection, if there is one.
    pub fn channel(&mut self) -> Option<&mut StoreConnection> {
        match &mut self.state {
            State::Up(channel) => Some(channel),
            _ => None,
        }
    }

    /// Opens the connection if it is time to. Returns whether it was opened just now.
    ///
    /// # Errors
    /// Those of resolving the name and of connecting; `InvalidData` for another store.
    pub fn open(&mut self) -> io::Result<bool> {
        match &self.state {
            State::Down(time) if Instant::now() >= *time => {
                self.state = State::Opening(opened(self.address.clone(), self.trust.clone())?);
                Ok(false)
            }
            State::Down(_) | State::Up(_) => Ok(false),
            State::Opening(answer) => match answer.try_recv() {
                Err(TryRecvError::Empty) => Ok(false),
                Err(TryRecvError::Disconnected) => Err(io::ErrorKind::NotConnected.into()),
                Ok(socket) => {
                    self.state = State::Up(Box::new(StoreConnection::new(socket?)?));
                    self.opened = Some(Instant::now());
                    Ok(true)
                }
            },
        }
    }

    /// Something has arrived: the next pause is short again.
    pub fn settle(&mut self) {
        self.pause = FIRST;
    }

    /// How long the connection has been open.
    pub fn age(&self) -> Duration {
        self.opened
            .map_or(Duration::ZERO, |opened| opened.elapsed())
    }

    /// Closes the connection, and opens it again after a pause.
    pub fn close(&mut self) {
        // Not all senders of a fleet come back at the same moment.
        let mut random = [0; 1];
        let _ = getrandom::fill(&mut random);
        let pause = self.pause.mul_f64(0.75 + f64::from(random[0]) / 512.0);
        self.state = State::Down(Instant::now() + pause);
        self.pause = (2 * self.pause).min(LONGEST);
    }

    /// Closes the connection, and opens it again at once.
    pub fn renew(&mut self) {
        self.state = State::Down(Instant::now());
    }
}

/// A connection, as soon as there is one.
fn opened(address: String, trust: StoreTrust) -> io::Result<Receiver<io::Result<Transport>>> {
    let (answer, answers) = channel();
    let open = move || {
        // If nobody waits any more, the connection is closed.
        let _ = answer.send(connect(&address, &trust));
    };
    thread::Builder::new()
        .name("connecting".into())
        .spawn(open)?;
    Ok(answers)
}
