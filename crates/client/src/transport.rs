//! Carries requests over the connections that recorders use, encrypted by the same rules.

use std::fmt;
use std::io::{self, Read, Write};
use std::time::Duration;

use timeline_net::{StoreTrust, Transport as Connection, connect};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

/// How long the other side may say nothing, or take nothing, if no request says otherwise.
const SILENCE: Duration = Duration::from_secs(60);

/// Opens connections to one address.
pub struct HostConnector {
    pub address: String,
    pub trust: StoreTrust,
    /// Whether requests have a secret, which nobody in between may read.
    pub has_secret: bool,
}

impl fmt::Debug for HostConnector {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "HostConnector({})", self.address)
    }
}

impl Connector for HostConnector {
    type Out = HostTransport;

    fn connect(
        &self,
        details: &ConnectionDetails,
        _: Option<()>,
    ) -> Result<Option<HostTransport>, Error> {
        let connection = connect(&self.address, &self.trust)?;
        if self.has_secret && !connection.is_private() {
            let what = "everybody in between could read the token; leave out --insecure";
            return Err(io::Error::other(what).into());
        }
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(HostTransport {
            connection,
            buffers,
        }))
    }
}

/// A connection to a host.
pub struct HostTransport {
    connection: Connection,
    buffers: LazyBuffers,
}

impl fmt::Debug for HostTransport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("HostTransport")
    }
}

impl HostTransport {
    fn wait_at_most(&self, timeout: NextTimeout) -> Result<(), Error> {
        let most = timeout.not_zero().map_or(SILENCE, |after| *after);
        Ok(self.connection.wait_at_most(most)?)
    }

    fn late(error: io::Error, timeout: NextTimeout) -> Error {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::Timeout(timeout.reason),
            _ => error.into(),
        }
    }
}

impl Transport for HostTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.wait_at_most(timeout)?;
        let output = &self.buffers.output()[..amount];
        let sent = self.connection.write_all(output);
        sent.and_then(|()| self.connection.flush())
            .map_err(|error| HostTransport::late(error, timeout))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.wait_at_most(timeout)?;
        let room = self.buffers.input_append_buf();
        let count = self.connection.read(room);
        let count = count.map_err(|error| HostTransport::late(error, timeout))?;
        self.buffers.input_appended(count);
        Ok(count > 0)
    }

    fn is_open(&mut self) -> bool {
        self.connection.is_quiet()
    }

    fn is_tls(&self) -> bool {
        self.connection.is_private()
    }
}
