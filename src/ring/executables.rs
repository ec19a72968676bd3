//! The executables of the processes that write: each says of its own when it joins.
//!
//! A process says what the kernel tells it at once: the path, and which version of the file it is.
//! It hashes nothing, because an executable may have hundreds of megabytes. Whoever reads the
//! timeline may hash the file, if it is still that version.

use std::sync::Arc;

use super::life::KernelProcess;
use crate::event::FileVersion;
use crate::layout::Geometry;
use crate::layout::records::{FOUND_DEAD, Process};
use crate::shm::{Mapping, Record, load_bytes, own_executable};
use crate::sync::{AtomicU64, Ordering, fence};

/// The executable of a process, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ProcessExecutable {
    /// Its path, as the kernel told the process; at most 255 bytes.
    pub path: String,
    /// Its bytes.
    pub size: Option<u64>,
    /// Its SHA-1.
    pub sha1: Option<[u8; 20]>,
}

/// A process that writes to a timeline, or wrote to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedProcess {
    /// The number that it has in the timeline.
    pub identity: u32,
    /// Its id in its own pid namespace.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
    /// Ticks when it joined.
    pub joined: u64,
    /// Ticks when it left, or was found dead.
    pub left: Option<u64>,
    /// Its executable; `None` without /proc.
    pub executable: Option<Arc<ProcessExecutable>>,
    /// Which version of that file it is.
    pub version: Option<FileVersion>,
    /// Its own description, by which it may be found to live.
    pub(crate) process: KernelProcess,
}

impl JoinedProcess {
    /// Whether a thread of this process may have begun at these ticks.
    fn had(&self, pid: u32, start: u64) -> bool {
        self.pid == pid && self.joined <= start && self.left.is_none_or(|left| start <= left)
    }
}

/// Stores what the calling process knows of its executable. Does not allocate.
pub fn describe(record: &Process) {
    let (size, modified, inode) = own_executable(&record.executable);
    // Relaxed: published with the identity.
    record.size.store(size, Ordering::Relaxed);
    record.modified.store(modified, Ordering::Relaxed);
    record.inode.store(inode, Ordering::Relaxed);
    crate::shm::store_bytes(&record.sha1, &[0; 20]);
}

/// How many processes have joined so far, or are joining.
pub fn joins(map: &Mapping) -> u64 {
    let serial = map.header().field(|header| &header.process_serial);
    // Acquire: what joined before is seen, but for those that are joining.
    serial.load(Ordering::Acquire)
}

/// All processes in the table.
pub fn table(map: &Mapping, geometry: &Geometry) -> Vec<JoinedProcess> {
    let region = geometry.process();
    let mut copies = [
        vec![0; region.length as usize],
        vec![0; region.length as usize],
    ];
    for copy in &mut copies {
        map.read(region.offset, copy);
        // Pairs with the fence in `join`: a process that takes a slot has no identity before it
        // changes anything, and another one than the former afterwards. So what the second copy has
        // under the same identity, the first one had whole.
        fence(Ordering::Acquire);
    }
    let stride = region.stride as usize;
    let [first, second] = &copies;
    let records = first.chunks_exact(stride).zip(second.chunks_exact(stride));
    let joined = records.filter_map(|(first, second)| read(first, &Process::of(second)));
    joined.collect()
}

fn read(copy: &[u8], again: &Process) -> Option<JoinedProcess> {
    // Relaxed, here and below: copies, which are not shared; `table` has ordered how they were
    // read.
    let record = &Process::of(copy);
    let identity = record.identity.load(Ordering::Relaxed);
    if identity == 0 || again.identity.load(Ordering::Relaxed) != identity {
        return None;
    }
    let number = |field: &AtomicU64| field.load(Ordering::Relaxed);
    let path = text(&load_bytes(&record.executable));
    let known = |number: u64| (number != 0).then_some(number);
    let size = known(number(&record.size));
    let sha1 = load_bytes(&record.sha1);
    let version = size.map(|size| FileVersion {
        size,
        modified: number(&record.modified),
        inode: number(&record.inode),
    });
    // Relaxed: the copy is not shared.
    let pid = record.pid.load(Ordering::Relaxed);
    Some(JoinedProcess {
        identity,
        pid,
        name: text(&load_bytes(&record.name)),
        joined: number(&record.joined),
        left: known(number(&record.left)).map(|left| left & !FOUND_DEAD),
        executable: (!path.is_empty()).then(|| {
            Arc::new(ProcessExecutable {
                path,
                size,
                sha1: (sha1 != [0; 20]).then_some(sha1),
            })
        }),
        version,
        process: KernelProcess {
            pid,
            start: number(&record.start),
            pid_namespace: number(&record.pid_namespace),
            time_namespace: number(&record.time_namespace),
        },
    })
}

fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The process with that identity, or else the one with this id that may have had a thread since
/// these ticks. In a pid namespace an id is one process at a time: the last that joined before. Of
/// several namespaces, nobody knows which it was.
pub fn find(
    table: &[JoinedProcess],
    identity: u32,
    pid: u32,
    start: u64,
) -> Option<&JoinedProcess> {
    if identity != 0 {
        return table.iter().find(|joined| joined.identity == identity);
    }
    let fitting = || table.iter().filter(|joined| joined.had(pid, start));
    let last = fitting().max_by_key(|joined| joined.joined)?;
    let namespace = |joined: &JoinedProcess| joined.process.pid_namespace;
    let is_former =
        |other: &JoinedProcess| namespace(other) != 0 && namespace(other) == namespace(last);
    fitting()
        .all(|other| other.identity == last.identity || is_former(other))
        .then_some(last)
}

/// Puts a digest into the copy of the table, if the process is still there.
pub fn put_sha1(copy: &mut [u8], geometry: &Geometry, identity: u32, sha1: &[u8; 20]) {
    let slot = (identity & 0xffff).saturating_sub(1) as usize;
    let at = slot * geometry.process().stride as usize;
    let Some(record) = copy.get_mut(at..at + size_of::<Process>()) else {
        return;
    };
    Process::edit(record, |process| {
        // Relaxed: the copy is not shared.
        if process.identity.load(Ordering::Relaxed) == identity {
            crate::shm::store_bytes(&process.sha1, sha1);
        }
    });
}
