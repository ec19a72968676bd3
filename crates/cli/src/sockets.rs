//! Takes the sockets that systemd has bound for a server, as `sd_listen_fds` passes them.

use std::net::TcpListener;
use std::sync::Arc;

use listenfd::ListenFd;

use crate::failure::{Failure, Result};

/// The sockets that were given, in the order of the unit. None, if nobody started this so.
pub struct Sockets {
    given: ListenFd,
    next: usize,
}

impl Sockets {
    /// Takes them. Other processes that are started do not get them again.
    pub fn given() -> Sockets {
        Sockets {
            given: ListenFd::from_env(),
            next: 0,
        }
    }

    /// The next one, if there is another.
    ///
    /// # Errors
    /// If it is none of TCP that listens.
    pub fn next(&mut self) -> Result<Option<Arc<TcpListener>>> {
        if self.next >= self.given.len() {
            return Ok(None);
        }
        let taken = self.given.take_tcp_listener(self.next);
        self.next += 1;
        let socket = taken.map_err(|error| {
            let number = self.next;
            Failure::Message(format!(
                "expected socket {number} of those that were given to listen on TCP: {error}"
            ))
        })?;
        Ok(socket.map(Arc::new))
    }
}
