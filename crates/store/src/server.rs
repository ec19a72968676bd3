//! Listens for senders, and has their connections.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use timeline::internal::files::open_to_read;
use timeline_net::{RefusalCode, RefusalMessage, WireMessage};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;

use crate::connection;
use crate::options::{Error, StoreOptions};
use crate::traces::Traces;

/// Connections at once. Others wait.
const CONNECTIONS: usize = 4096;
/// Connections of one address at once. Others are refused.
const OF_ADDRESS: usize = 1024;
/// How long connections may go on after the store was stopped.
const END: Duration = Duration::from_millis(500);

/// A store that listens already.
pub struct Store {
    /// Held as long as the store is there.
    _lock: Flock<File>,
    listener: TcpListener,
    address: SocketAddr,
    traces: Arc<Traces>,
    options: Arc<StoreOptions>,
    stop: watch::Sender<bool>,
}

/// Stops a store.
#[derive(Clone)]
pub struct StoreHandle(watch::Sender<bool>);

impl StoreHandle {
    /// Has the store end. What has come is in the files.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Store {
    /// Listens, and finds what is in the directory. Senders are received by [`Store::run`].
    ///
    /// # Errors
    /// `Folder`; `Listen`.
    pub fn bind(options: StoreOptions) -> Result<Store, Error> {
        let failed = |reason| Error::Listen {
            address: options.listen,
            reason,
        };
        let listener = TcpListener::bind(options.listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let folder = options.folder.clone();
        let lock = take(&folder)?;
        Ok(Store {
            _lock: lock,
            listener,
            address,
            traces: Arc::new(Traces::find(&folder)),
            options: Arc::new(options),
            stop: watch::Sender::new(false),
        })
    }

    /// The address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it from another thread.
    pub fn handle(&self) -> StoreHandle {
        StoreHandle(self.stop.clone())
    }

    /// Receives until the store is stopped.
    ///
    /// # Errors
    /// `Threads` if the system refuses them.
    pub fn run(self) -> Result<(), Error> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.enable_all().build().map_err(Error::Threads)?;
        let result = runtime.block_on(self.accept());
        runtime.shutdown_timeout(END);
        result
    }

    async fn accept(&self) -> Result<(), Error> {
        let listener = self.listener.try_clone().map_err(Error::Threads)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::Threads)?;
        let mut stopped = self.stop.subscribe();
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let addresses = Arc::new(Addresses::default());
        loop {
            let next = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                next = next => next,
                _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            };
            let Ok((socket, address)) = accepted else {
                // There may be no descriptors for a moment.
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            let Some(of_address) = addresses.enter(address.ip()) else {
                refuse(&socket);
                continue;
            };
            let (traces, options) = (Arc::clone(&self.traces), Arc::clone(&self.options));
            tokio::spawn(async move {
                connection::receive(socket, address, traces, options).await;
                drop((place, of_address));
            });
        }
    }
}

/// Makes the directory of a store, unless it is there, and takes it for this store alone.
fn take(folder: &Path) -> Result<Flock<File>, Error> {
    let failed = |reason| Error::Folder {
        path: folder.to_path_buf(),
        reason,
    };
    let mut make = DirBuilder::new();
    let made = make.recursive(true).mode(0o700).create(folder);
    made.map_err(failed)?;
    let opened = open_to_read(folder).map_err(failed)?;
    Flock::lock(opened, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
        Errno::EWOULDBLOCK => Error::Taken {
            path: folder.to_path_buf(),
        },
        other => failed(other.into()),
    })
}

/// Says that there are too many connections, if that goes without waiting.
fn refuse(socket: &TcpStream) {
    let mut bytes = Vec::new();
    let sentence = format!("this address has {OF_ADDRESS} connections already");
    let code = RefusalCode::Busy;
    WireMessage::Refused(RefusalMessage { code, sentence }).put(&mut bytes);
    let _ = socket.try_write(&bytes);
}

/// How many connections each address has.
#[derive(Default)]
struct Addresses(Mutex<HashMap<IpAddr, usize>>);

/// The place of a connection among those of its address.
struct OfAddress(Arc<Addresses>, IpAddr);

impl Addresses {
    /// Counts a connection. `None` if its address has too many.
    fn enter(self: &Arc<Self>, address: IpAddr) -> Option<OfAddress> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(address).or_default();
        if *count >= OF_ADDRESS {
            return None;
        }
        *count += 1;
        Some(OfAddress(Arc::clone(self), address))
    }
}

impl Drop for OfAddress {
    fn drop(&mut self) {
        let mut all = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.1);
            }
        }
    }
}
