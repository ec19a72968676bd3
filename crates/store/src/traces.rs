//! Knows which runs a store has, where each is kept, and who sends it.
//!
//! What the files say is authoritative: at the start, each directory is asked by the first frames
//! of its files. Nothing is kept beside them.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use timeline::internal::files;
use timeline_archive::frames::preamble;
use timeline_archive::has_archive_name;
use timeline_net::{Inbox, Received, SessionId, WireMessage};
use tokio::sync::{Notify, OwnedMutexGuard};

/// A sender that was not heard for so long has to give way to another one.
const SILENCE: Duration = Duration::from_secs(15);
/// Bytes at the beginning of a file in which its run is looked for.
const BEGINNING: u64 = 64 << 10;

/// A run: where it is kept, and who sends it.
#[derive(Default)]
pub struct Trace {
    owner: Mutex<Option<Owner>>,
    /// The directory, held by whoever writes to it. `None` as long as there is none.
    folder: Arc<tokio::sync::Mutex<Option<PathBuf>>>,
}

struct Owner {
    session: SessionId,
    address: SocketAddr,
    heard: Instant,
    /// Tells it to go.
    leave: Arc<Notify>,
}

/// The runs of a store, by magic.
pub struct Traces {
    folder: PathBuf,
    all: Mutex<HashMap<u64, Arc<Trace>>>,
}

/// The right of one sender to write a run. It ends when it is dropped.
pub struct Claim {
    traces: Arc<Traces>,
    magic: u64,
    trace: Arc<Trace>,
    session: SessionId,
    /// Notified when another connection takes over.
    pub leave: Arc<Notify>,
    /// The directory of the run.
    pub folder: OwnedMutexGuard<Option<PathBuf>>,
}

impl Traces {
    /// Those in a directory.
    pub fn find(folder: &Path) -> Traces {
        let mut all = HashMap::new();
        for place in folders_of_runs(folder) {
            if let Some(magic) = magic_of(&place) {
                let trace = Trace {
                    folder: Arc::new(tokio::sync::Mutex::new(Some(place))),
                    ..Trace::default()
                };
                all.insert(magic, Arc::new(trace));
            }
        }
        Traces {
            folder: folder.to_path_buf(),
            all: Mutex::new(all),
        }
    }

    /// The directory of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Claims a run for a session.
    ///
    /// # Errors
    /// The address of another sender that has it.
    pub async fn claim(
        self: &Arc<Self>,
        magic: u64,
        session: SessionId,
        address: SocketAddr,
    ) -> Result<Claim, SocketAddr> {
        let trace = {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(magic).or_default())
        };
        let leave = Arc::new(Notify::new());
        trace.take_over(session, address, &leave)?;
        // The former owner writes what it has received, and lets go.
        let folder = Arc::clone(&trace.folder).lock_owned().await;
        Ok(Claim {
            traces: Arc::clone(self),
            magic,
            trace,
            session,
            leave,
            folder,
        })
    }
}

impl Trace {
    fn take_over(
        &self,
        session: SessionId,
        address: SocketAddr,
        leave: &Arc<Notify>,
    ) -> Result<(), SocketAddr> {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(former) = &*owner {
            if former.session != session && former.heard.elapsed() < SILENCE {
                return Err(former.address);
            }
            former.leave.notify_one();
        }
        *owner = Some(Owner {
            session,
            address,
            heard: Instant::now(),
            leave: Arc::clone(leave),
        });
        Ok(())
    }
}

impl Claim {
    /// Something came from the sender.
    pub fn hear(&self) {
        let mut owner = self
            .trace
            .owner
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = owner.as_mut().filter(|owner| owner.session == self.session) {
            owner.heard = Instant::now();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut owner = self
            .trace
            .owner
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Another one may have taken over.
        let is_own = |owner: &Owner| Arc::ptr_eq(&owner.leave, &self.leave);
        if owner.as_ref().is_some_and(is_own) {
            *owner = None;
        }
        drop(owner);
        if self.folder.is_none() {
            let mut all = self
                .traces
                .all
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            // Nothing came of it, and nobody else waits for it.
            if Arc::strong_count(&self.trace) == 2 {
                all.remove(&self.magic);
            }
        }
    }
}

/// The directories of the runs in that of a store, as they are named.
pub fn folders_of_runs(store: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    folders(store).flat_map(|host| folders(&host))
}

/// The directories in a directory.
fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = files::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path())
}

/// The run that is kept in a directory, as the first file says that says it.
fn magic_of(folder: &Path) -> Option<u64> {
    let entries = files::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    // To open a pipe could wait for ever.
    let is_archive = |path: &PathBuf| has_archive_name(path) && path.is_file();
    let mut archives: Vec<_> = paths.filter(is_archive).collect();
    archives.sort();
    archives.iter().find_map(|path| {
        let file = files::open_to_read(path).ok()?;
        magic_in(file)
    })
}

fn magic_in(file: File) -> Option<u64> {
    let (mut beginning, mut inbox) = (Vec::new(), Inbox::default());
    file.take(BEGINNING).read_to_end(&mut beginning).ok()?;
    inbox.receive(&beginning);
    while let Ok(Some(frame)) = inbox.next(BEGINNING as usize) {
        let record = frame.record();
        if let Some(Received::Message(WireMessage::File(start))) = Received::read(record) {
            return Some(start.magic);
        }
        if let Some(magic) = preamble(record).and_then(|run| run.magic) {
            return Some(magic);
        }
    }
    None
}
