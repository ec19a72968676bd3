//! Defines what a worker or a pump is told: where it records to, and how.

use std::path::{Path, PathBuf};
use std::time::Duration;

use timeline_archive::MAX_METADATA;
use timeline_archive::{ArchiveOutput, Destination, Form, Keeping};
use timeline_net::{PORT, Sender, SenderOptions, Spool, StoreToken, StoreTrust, to_connect_to};

use crate::error::{Error, Result};
use crate::pause::Pause;

/// The smallest limit of a file: each repeats the definitions and strings of its events.
const LEAST_FILE: u64 = 64 << 10;

/// Where a recording goes.
#[derive(Debug, Clone)]
pub enum WorkerDestination {
    /// A file, or a directory of numbered files: see [`ArchiveOutput::open`].
    File(PathBuf),
    /// A store (`timeline store`), on this machine or another.
    Store(SenderOptions),
}

/// What a worker or a pump is told. What concerns only files is not looked at for a store, and the
/// other way round: so a program may say both, and leave to who starts it where to record to.
///
/// # Example
/// ```
/// use timeline_archive::Keeping;
/// use timeline_worker::{WorkerDestination, WorkerOptions};
/// let keeping = Keeping {
///     rotate_size: Some(64 << 20), // bytes of a file
///     keep_size: Some(1 << 30),    // bytes of all files; the oldest are removed
///     ..Keeping::default()
/// };
/// let options = WorkerOptions::to_file("flights/").keeping(keeping);
/// assert!(matches!(options.destination, WorkerDestination::File(_)));
/// let options = WorkerOptions::to_store("db1")?.label("service", "db");
/// let to = options.destination;
/// assert!(matches!(to, WorkerDestination::Store(sender) if sender.address == "db1:1980"));
/// # Ok::<(), timeline_worker::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Where to.
    pub destination: WorkerDestination,
    /// When another file is begun, and which are removed. A store decides that itself.
    pub keeping: Keeping,
    /// What a store keeps with the recording: names and values.
    pub labels: Vec<(String, String)>,
    /// Where what is sent to a store lies until it has arrived, and how much: see
    /// [`WorkerOptions::spool`].
    pub spool: Option<(PathBuf, u64)>,
    /// How events are written.
    pub form: Form,
    /// How often a worker looks into the ring: see [`Pause`]. A pump looks when it is called.
    pub pause: Pause,
}

impl WorkerOptions {
    /// Records to a file, or to a directory of numbered files if there is one, or if the path ends
    /// with `/`. A relative path begins in the directory in which the process is at the start.
    pub fn to_file(path: impl AsRef<Path>) -> WorkerOptions {
        let path = path.as_ref().to_path_buf();
        WorkerOptions::to(WorkerDestination::File(path))
    }

    /// Sends to a store at `HOST` or `HOST:PORT`; the port is 1980 if none is given. At most 64 MiB
    /// wait for its answers; behind that, events stay in the ring. It is tried for ever. A store on
    /// another machine is believed if [`StoreTrust::KnownStores`] knows it, and is told the token
    /// of the variable `TIMELINE_TOKEN`, if it is set.
    ///
    /// # Errors
    /// `BadOption` if this is no address, or the variable no token. The name is looked up later,
    /// and again after each failure.
    pub fn to_store(address: &str) -> Result<WorkerOptions> {
        let address = to_connect_to(address, PORT).map_err(|why| Error::option("address", why))?;
        let token = StoreToken::from_environment();
        let token = token.map_err(|why| Error::option("token", why))?;
        let sender = SenderOptions {
            address,
            token,
            ..SenderOptions::default()
        };
        Ok(WorkerOptions::to(WorkerDestination::Store(sender)))
    }

    fn to(destination: WorkerDestination) -> WorkerOptions {
        WorkerOptions {
            destination,
            keeping: Keeping::default(),
            labels: Vec::new(),
            spool: None,
            form: Form::Blocks,
            pause: Pause::new(),
        }
    }

    /// Sets when another file is begun, and which are removed.
    #[must_use]
    pub fn keeping(mut self, keeping: Keeping) -> WorkerOptions {
        self.keeping = keeping;
        self
    }

    /// Adds something that a store keeps with the recording.
    #[must_use]
    pub fn label(mut self, name: &str, value: &str) -> WorkerOptions {
        self.labels.push((name.into(), value.into()));
        self
    }

    /// Sets by what the store is known, and the token by which it knows this program, if there is
    /// one. Of a file, nothing changes.
    #[must_use]
    pub fn access(mut self, trust: StoreTrust, token: Option<StoreToken>) -> WorkerOptions {
        if let WorkerDestination::Store(sender) = &mut self.destination {
            (sender.trust, sender.token) = (trust, token);
        }
        self
    }

    /// Keeps in this directory what a store does not have yet, at most so many bytes
    /// ([`LEAST_SPOOL`](timeline_net::LEAST_SPOOL) at least): see [`Spool`]. What an earlier
    /// recording has left there is sent first. What is in it counts as flushed: it outlives the
    /// program, and the next recording with the same directory sends it.
    #[must_use]
    pub fn spool(mut self, folder: impl AsRef<Path>, most: u64) -> WorkerOptions {
        self.spool = Some((folder.as_ref().into(), most));
        self
    }

    /// Sets how often a worker looks into the ring: after `shortest` while events come, and more
    /// and more rarely while none do, after `longest` at most. What is logged within that time has
    /// to fit in the ring.
    #[must_use]
    pub fn pause(mut self, shortest: Duration, longest: Duration) -> WorkerOptions {
        self.pause = Pause::within(shortest, longest.max(shortest));
        self
    }

    /// Whether it is written on this machine.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.destination, WorkerDestination::File(_))
    }

    /// What messages call the destination.
    pub(crate) fn place(&self) -> &Path {
        match &self.destination {
            WorkerDestination::File(path) => path,
            WorkerDestination::Store(sender) => Path::new(&sender.address),
        }
    }

    /// Opens what is written to.
    ///
    /// # Errors
    /// `BadOption`; those of [`ArchiveOutput::open`].
    pub(crate) fn output(&self) -> Result<ArchiveOutput> {
        match &self.destination {
            WorkerDestination::File(path) => {
                check_keeping(&self.keeping)?;
                Ok(ArchiveOutput::open(path, self.keeping)?)
            }
            WorkerDestination::Store(sender) => {
                let mut sender = sender.clone();
                sender.metadata.extend(self.labels.iter().cloned());
                check_labels(&sender.metadata)?;
                let name = sender.address.clone();
                let destination: Box<dyn Destination> = match &self.spool {
                    Some((folder, most)) => Box::new(Spool::open(folder, *most, sender)?),
                    None => Box::new(Sender::new(sender)),
                };
                Ok(ArchiveOutput::to(name, destination))
            }
        }
    }
}

fn check_keeping(keeping: &Keeping) -> Result<()> {
    for (option, size) in [
        ("rotate_size", keeping.rotate_size),
        ("keep_size", keeping.keep_size),
    ] {
        if let Some(size) = size.filter(|size| *size < LEAST_FILE) {
            let why = format!(
                "expected at least {LEAST_FILE} bytes, since each file repeats the definitions of \
                 its events, got {size}"
            );
            return Err(Error::option(option, why));
        }
    }
    let rotates = keeping.rotate_size.is_some() || keeping.rotate_every.is_some();
    match (keeping.keep_size, keeping.rotate_size) {
        (Some(_), _) if !rotates => Err(Error::option(
            "keep_size",
            "whole files are removed: expected rotate_size or rotate_every beside it, to have \
             several",
        )),
        (Some(keep), Some(size)) if keep < size => Err(Error::option(
            "keep_size",
            format!("expected at least rotate_size ({size} bytes), got {keep}"),
        )),
        _ => Ok(()),
    }
}

fn check_labels(labels: &[(String, String)]) -> Result<()> {
    let bytes = labels.iter().map(|(name, value)| name.len() + value.len());
    let (most, most_bytes) = MAX_METADATA;
    let (count, bytes) = (labels.len(), bytes.sum::<usize>());
    match count > most || bytes > most_bytes {
        true => Err(Error::option(
            "labels",
            format!(
                "expected at most {most} of at most {most_bytes} bytes together, got {count} of \
                 {bytes} bytes"
            ),
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_contradict_themselves_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flights/");
        let refused = |keeping| {
            let options = WorkerOptions::to_file(&path).keeping(keeping);
            options.output().err().map(|error| error.to_string())
        };
        let keeping = |rotate_size, keep_size| Keeping {
            rotate_size,
            keep_size,
            ..Keeping::default()
        };
        assert!(
            refused(keeping(Some(1), None))
                .unwrap()
                .contains("rotate_size: ")
        );
        assert!(
            refused(keeping(None, Some(1)))
                .unwrap()
                .contains("keep_size: ")
        );
        let alone = refused(keeping(None, Some(1 << 20))).unwrap();
        assert!(alone.contains("expected rotate_size"), "{alone}");
        let small = refused(keeping(Some(1 << 20), Some(1 << 19))).unwrap();
        assert!(small.contains("at least rotate_size"), "{small}");
        assert!(!path.exists());
        assert_eq!(refused(keeping(Some(1 << 20), Some(1 << 20))), None);
        let options = WorkerOptions::to_store("db1").unwrap();
        let many = (0..1000).fold(options, |options, n| options.label(&n.to_string(), "x"));
        let many = many.output().err().unwrap().to_string();
        assert!(many.contains("labels: expected at most"), "{many}");
    }
}
