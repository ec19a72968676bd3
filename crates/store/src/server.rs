//! Listens for senders, and has their connections.

use std::collections::HashSet;
use std::fs::{DirBuilder, File};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustls::ServerConfig;
use timeline::internal::files::open_to_read;
use timeline_net::{Fingerprint, RefusalCode, RefusalMessage, WireMessage};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::certificate::StoreCertificate;
use crate::connection::{self, Guest};
use crate::limit::AddressLimit;
use crate::options::{Error, StoreOptions};
use crate::traces::Traces;
use crate::wire::Wire;

/// Connections at once. Others wait.
const CONNECTIONS: usize = 4096;
/// Connections of one address at once. Others are refused.
const OF_ADDRESS: usize = 1024;
/// Connections of one address at once that have not said yet who they are. Others are refused.
const STRANGERS: usize = 64;
/// How often it is looked what is kept no longer.
const LOOK: Duration = Duration::from_secs(10);
/// How long connections may go on after the store was stopped.
const END: Duration = Duration::from_millis(500);

/// A store that listens already.
pub struct Store {
    /// Held as long as the store is there.
    _lock: Flock<File>,
    listener: TcpListener,
    address: SocketAddr,
    certificate: StoreCertificate,
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
    /// `Folder`; `Taken`; `Certificate`; `Listen`.
    pub fn bind(options: StoreOptions) -> Result<Store, Error> {
        let failed = |reason| Error::Listen {
            address: options.listen,
            reason,
        };
        raise_descriptor_limit();
        let socket = options.socket.as_deref();
        let listener = timeline_net::listen(options.listen, socket).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let folder = options.folder.clone();
        let lock = take(&folder)?;
        let certificate = StoreCertificate::open(options.certificate.as_ref(), &folder)?;
        Ok(Store {
            _lock: lock,
            listener,
            address,
            certificate,
            traces: Arc::new(Traces::find(&folder)),
            options: Arc::new(options),
            stop: watch::Sender::new(false),
        })
    }

    /// The address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate by which senders know it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.certificate.fingerprint
    }

    /// What encrypts the connections of senders, and may encrypt others.
    pub fn encryption(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.certificate.config)
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

    /// Removes what is kept no longer, again and again.
    async fn remove_old(options: Arc<StoreOptions>) {
        let mut failures = HashSet::new();
        loop {
            let begun = Instant::now();
            block_in_place(|| {
                let now = SystemTime::now();
                options
                    .retention
                    .apply(&options.folder, now, |path, result| {
                        let path = path.display();
                        match result {
                            Ok(()) => options.say(format_args!("removed {path}")),
                            Err(error) if failures.insert(path.to_string()) => {
                                options.say(format_args!("cannot remove {path}: {error}"));
                            }
                            Err(_) => {}
                        }
                    });
            });
            // A large store is not looked through all the time.
            sleep(LOOK.max(100 * begun.elapsed())).await;
        }
    }

    async fn accept(&self) -> Result<(), Error> {
        if self.options.retention.removes() {
            tokio::spawn(Store::remove_old(Arc::clone(&self.options)));
        }
        let listener = self.listener.try_clone().map_err(Error::Threads)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::Threads)?;
        let mut stopped = self.stop.subscribe();
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let addresses = AddressLimit::new(OF_ADDRESS);
        let strangers = AddressLimit::new(STRANGERS);
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
            let of_address = addresses.enter(address.ip());
            let Some((of_address, stranger)) = of_address.zip(strangers.enter(address.ip())) else {
                tokio::spawn(async move {
                    refuse(socket).await;
                    drop(place);
                });
                continue;
            };
            let guest = Guest {
                address,
                stranger: Some(stranger),
            };
            let (traces, options) = (Arc::clone(&self.traces), Arc::clone(&self.options));
            let config = Arc::clone(&self.certificate.config);
            tokio::spawn(async move {
                connection::receive(socket, guest, config, traces, options).await;
                drop((place, of_address));
            });
        }
    }
}

/// Each connection and each file takes a descriptor. Programs may use more than they are given at
/// first; one that uses `select` could not, and this one does not.
fn raise_descriptor_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
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

/// Says that there are too many connections.
async fn refuse(socket: TcpStream) {
    let sentence = format!(
        "this address has {OF_ADDRESS} connections already, or {STRANGERS} without a hello"
    );
    let code = RefusalCode::Busy;
    let mut wire = Wire::new(Box::new(socket));
    let refusal = WireMessage::Refused(RefusalMessage { code, sentence });
    if wire.say(&refusal).await.is_ok() {
        wire.close().await;
    }
}
