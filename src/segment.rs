//! A timeline's memory whose header was read and checked.
//! Relaxed here: words between the orderings of a serial; what a lock guards, or never changes.
//!
//! **What if the boot id is not known?** It is in /proc, which a chroot need not have. Ticks of
//! another boot must not get into a ring. But neither shared memory outlives a boot, nor a process
//! that holds the lock of a slot. Either proves that the timeline is of this boot. A file on a disk
//! without writers is refused, and the error says that the boot id is not known.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use crate::clock::{
    self, Anchor, ClockChoice, ClockKind, ClockReading, ClockReason, Stretches, TimeBase,
};
use crate::error::{Error, Result};
use crate::event::Definitions;
use crate::layout::{self, Bound, Geometry, HEADER_SIZE, Header, header};
use crate::ring::life::{KernelProcess, Liveness, ProcessView};
use crate::ring::memory::{ReaderRing, SharedRing};
use crate::shm::{
    self, Lock, Loss, Mapping, Name, Record, RecordAccess, Shortage, load_bytes, store_bytes,
};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// System calls for one look at a file that another user could cut short: some seconds' worth. Each
/// lane and chunk adds three times as many as it needs in an intact ring.
const CALLS_OF_A_LOOK: u64 = 1 << 22;
const CALLS_OF_A_RECORD: u64 = 192;

/// The constant part of the header.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Format version found.
    pub version: (u16, u16),
    /// Whether it is a snapshot.
    pub snapshot: bool,
    /// Whether the creator asked for no number of entries, and the default had no room.
    pub reduced: bool,
    /// Why it had no room, and the bytes that there was room for, if that is known.
    pub bound: Option<(Bound, u64)>,
    /// The clock that ticks are read from.
    pub clock: ClockKind,
    /// Why it is not the time stamp counter, if that is known.
    pub clock_reason: Option<ClockReason>,
    /// The kernel's clock source; empty if it is not known.
    pub clock_source: String,
    /// Approximate ticks per second, as the creator measured them; 0 = not known.
    pub tick_rate: u64,
    /// When it was created, in nanoseconds since the epoch.
    pub created_unix: u64,
    /// The process that created it.
    pub creator_pid: u32,
    /// The executable of that process.
    pub creator_exe: String,
    /// The kernel's boot id.
    pub boot_id: [u8; 16],
}

/// The purpose of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Reading.
    Read,
    /// Changing the level.
    Control,
    /// Logging: every page is touched now, so that no event pays for it.
    Log,
}

/// A mapped timeline.
pub struct TimelineMapping {
    /// The name by which the user opened it.
    pub name: Name,
    /// The memory.
    pub map: Arc<Mapping>,
    /// The place of each region.
    pub geometry: Geometry,
    /// The constant part of the header.
    pub facts: Facts,
    /// Whether it is of this boot of the machine; `None` if that is not known.
    pub this_boot: Option<bool>,
    /// The ring.
    pub ring: ReaderRing,
    /// The table of definitions.
    pub definitions: Definitions,
    /// The NUMA node of each CPU: read once, because it is needed for every event.
    nodes: Vec<u8>,
}

impl TimelineMapping {
    /// Maps `file` and checks it. The file is not trusted: after the check, every index below its
    /// count in the geometry lies inside the mapping.
    pub fn load(name: &Name, file: &File, purpose: Use) -> Result<TimelineMapping> {
        let path = name.given();
        let (geometry, facts) = read_header(path, file)?;
        // Checked before pages are touched, because that would fill the holes of a snapshot.
        if facts.snapshot && purpose != Use::Read {
            return Err(Error::ReadOnly { path: path.into() });
        }
        crate::clock::settle();
        if purpose != Use::Read {
            shm::prepare_for_forks();
        }
        let map = match purpose {
            Use::Read => match shm::others_may_cut(file) {
                Ok(false) => Mapping::read_only(file, geometry.total),
                _ => Mapping::in_pieces(file, name.c_file(), geometry.total),
            },
            Use::Control => Mapping::writable(file, geometry.total, false),
            Use::Log => Mapping::writable(file, geometry.total, true),
        };
        let map = Arc::new(map.map_err(|e| Error::io("map", path, e))?);
        Ok(TimelineMapping {
            name: name.clone(),
            ring: ReaderRing::new(&map, &geometry),
            definitions: Definitions::new(&map, &geometry),
            nodes: map.header().field(|h| &h.cpu_nodes).bytes().to_vec(),
            map,
            geometry,
            this_boot: is_of_this_boot(file, &facts.boot_id),
            facts,
        })
    }

    /// The ring, for writers. They have mapped it.
    pub fn shared(&self) -> SharedRing {
        SharedRing::new(&self.map, &self.geometry).expect("what is written to is mapped")
    }

    /// Runs a function that reads the whole ring. If others can cut the file short, it is given up
    /// after more system calls than an intact ring needs: see [`TimelineMapping::intact`].
    pub fn look<T>(&self, look: impl FnOnce() -> T) -> T {
        let records = u64::from(self.geometry.chunks) + u64::from(self.geometry.lanes());
        let calls = CALLS_OF_A_LOOK + CALLS_OF_A_RECORD * records;
        self.map.at_most(calls, look)
    }

    /// An error if the file was cut short while it was read, if its descriptor was lost, or if
    /// reading was given up.
    pub fn intact(&self) -> Result<()> {
        let path = self.name.given();
        let fail = |doing, why| Err(Error::io(doing, path, io::Error::other(why)));
        match self.map.loss() {
            None => Ok(()),
            Some(Loss::Cut(found)) => Err(Error::Truncated {
                path: path.into(),
                expected: self.geometry.total,
                found,
            }),
            Some(Loss::Closed) => fail(
                "read",
                "this program has closed the descriptor through which it was read, and the name \
                 leads to another file by now; attach again, and close only your own descriptors",
            ),
            Some(Loss::GivenUp) => fail(
                "look at",
                "it is another user's, and is too large, too damaged or changed too often to look \
                 at in a short time",
            ),
        }
    }

    /// The NUMA node of a CPU; `None` when it is not known.
    pub fn node(&self, cpu: u16) -> Option<u8> {
        let node = self.nodes.get(usize::from(cpu))?;
        Some(*node).filter(|&n| n != 0xff)
    }

    /// Adds an anchor of this moment, under the define lock or before another has the file.
    ///
    /// The first anchor stays for good: the further apart two anchors are, the better the tick
    /// rate. The others take turns.
    pub fn add_anchor(&self) {
        let anchors = self.anchors();
        let Some(anchor) = self.own_anchor(&anchors) else {
            return;
        };
        if let Some(stretches) = self.stretches() {
            match stretches.newest() {
                0 => stretches.begin(Some(self.creation())),
                _ => stretches.check(),
            }
        }
        let header = self.map.header().shared();
        let serial = header.anchors_taken.load(Ordering::Relaxed);
        let [first, others @ ..] = &header.anchors;
        let place = match serial {
            0 => first,
            n => &others[((n - 1) % others.len() as u64) as usize],
        };
        // A sequence lock: the serial is 0 while the anchor changes. The fence keeps the stores
        // below behind it, and the Release publishes them; both pair with `anchors`.
        place.serial.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        place.ticks.store(anchor.ticks, Ordering::Relaxed);
        place.monotonic.store(anchor.monotonic, Ordering::Relaxed);
        place.realtime.store(anchor.realtime, Ordering::Relaxed);
        let serial = serial.wrapping_add(1);
        place.serial.store(serial, Ordering::Release);
        header.anchors_taken.store(serial, Ordering::Relaxed);
    }

    /// The stretches of the wall clock, if it has a place for them.
    pub fn stretches(&self) -> Option<Stretches<'_>> {
        Stretches::of(&self.map, &self.geometry, self.facts.clock)
    }

    /// Compares the wall clock with the newest stretch, unless the kernel forbids that. This
    /// process may write to the timeline.
    pub fn look_at_clock(&self) {
        let stretches = self.stretches().filter(|_| !clock::is_forbidden());
        if let Some(stretches) = stretches {
            stretches.check();
        }
    }

    /// The moment of its creation.
    fn creation(&self) -> ClockReading {
        let ticks = self.map.header().field(|header| &header.created_ticks);
        ClockReading {
            ticks: ticks.load(Ordering::Relaxed),
            realtime: self.facts.created_unix,
            offset: None,
        }
    }

    /// An anchor of this moment to add to the others. `None` if its ticks may not be comparable
    /// with theirs, because this process does not know its time namespace. If none of the others is
    /// comparable, the own anchor is better than none.
    pub fn own_anchor(&self, others: &[Anchor]) -> Option<Anchor> {
        let clock = self.facts.clock;
        let own = Anchor::take(clock);
        let is_guess = !own.is_comparable(clock) && others.iter().any(|a| a.is_comparable(clock));
        (!is_guess).then_some(own)
    }

    /// The anchors that are whole, in the order in which they were taken.
    pub fn anchors(&self) -> Vec<Anchor> {
        let mut anchors = Vec::new();
        for place in self.map.header().field(|h| &h.anchors).each() {
            let relaxed = |field: fn(&header::Anchor) -> &AtomicU64| {
                place.field(field).load(Ordering::Relaxed)
            };
            let serial = place.field(|anchor| &anchor.serial).load(Ordering::Acquire);
            let anchor = Anchor {
                ticks: relaxed(|anchor| &anchor.ticks),
                monotonic: relaxed(|anchor| &anchor.monotonic),
                realtime: relaxed(|anchor| &anchor.realtime),
            };
            // Pairs with the fence in `add_anchor`.
            fence(Ordering::Acquire);
            if serial != 0 && relaxed(|anchor| &anchor.serial) == serial {
                anchors.push((serial, anchor));
            }
        }
        anchors.sort_by_key(|(serial, _)| *serial);
        anchors.into_iter().map(|(_, anchor)| anchor).collect()
    }

    /// The process that samples, if there is one. `file` is an opening other than the sampler's
    /// own. `None` if there is none left: then only the kernel can tell whether the process lives.
    pub fn sampler(&self, file: Option<&File>) -> Option<u32> {
        let header = self.map.header();
        let number = |field: fn(&Header) -> &AtomicU64| header.field(field).load(Ordering::Relaxed);
        let pid = header.field(|header| &header.sampler_pid);
        let sampler = KernelProcess {
            pid: pid.load(Ordering::Relaxed),
            start: number(|header| &header.sampler_start),
            pid_namespace: number(|header| &header.sampler_namespace),
            time_namespace: number(|header| &header.sampler_time_namespace),
        };
        // As for writers: the lock decides, unless the process is gone and its child has the lock.
        let lives = || match ProcessView::here().see(&sampler) {
            Liveness::Gone => false,
            Liveness::Runs | Liveness::Headless => true,
            Liveness::Unknown => file.is_none_or(|file| Lock::Sample.is_held_elsewhere(file)),
        };
        (sampler.pid != 0 && lives()).then_some(sampler.pid)
    }

    /// Records that this process samples, or that no process does. The caller holds the define
    /// lock.
    pub fn set_sampler(&self, samples: bool) {
        let me = KernelProcess::me();
        let header = self.map.header().shared();
        let store = |field: &AtomicU64, number| field.store(number, Ordering::Relaxed);
        store(&header.sampler_start, me.start);
        store(&header.sampler_namespace, me.pid_namespace);
        store(&header.sampler_time_namespace, me.time_namespace);
        let pid = if samples { me.pid } else { 0 };
        header.sampler_pid.store(pid, Ordering::Relaxed);
    }

    /// Whether the clock of its ticks can be read now: it is not a snapshot, and of this boot.
    pub fn clock_runs(&self) -> bool {
        !self.facts.snapshot && self.this_boot == Some(true)
    }

    /// Converts this timeline's ticks to time, without its stretches. If its clock runs, the
    /// reader's own anchor is added.
    pub fn time_base(&self) -> TimeBase {
        let mut anchors = self.anchors();
        if self.clock_runs() {
            // Even an anchor that is not comparable tells when the clocks were read.
            anchors.push(Anchor::take(self.facts.clock));
        }
        TimeBase::new(self.facts.clock, self.facts.tick_rate, anchors)
    }
}

/// Reads and checks the header of a file, its length included.
pub fn read_header(path: &Path, file: &File) -> Result<(Geometry, Facts)> {
    let size = file
        .metadata()
        .map_err(|e| Error::io("examine", path, e))?
        .len();
    let mut head = Header::zeroed();
    let have = HEADER_SIZE.min(size) as usize;
    file.read_exact_at(&mut head.bytes_mut()[..have], 0)
        .map_err(|e| Error::io("read", path, e))?;
    check_magic(path, &head, have)?;
    // Relaxed, here and below: the copy is not shared.
    let short = |field: &AtomicU32| field.load(Ordering::Relaxed);
    if size < HEADER_SIZE {
        return Err(Error::Truncated {
            path: path.into(),
            expected: HEADER_SIZE,
            found: size,
        });
    }
    let version = (
        head.version_major.load(Ordering::Relaxed),
        head.version_minor.load(Ordering::Relaxed),
    );
    if version.0 != layout::VERSION_MAJOR {
        return Err(Error::Version {
            path: path.into(),
            found_major: version.0,
            found_minor: version.1,
        });
    }
    let corrupt = |field, expected: &dyn ToString, found: &dyn ToString| Error::Corrupt {
        path: path.into(),
        field,
        expected: expected.to_string(),
        found: found.to_string(),
    };
    let found = short(&head.header_size);
    if u64::from(found) != HEADER_SIZE {
        return Err(corrupt("header_size", &HEADER_SIZE, &found));
    }
    let geometry = Geometry::load(&head).map_err(|f| corrupt(f.field, &f.expected, &f.found))?;
    let clock = short(&head.clock);
    let clock = ClockKind::from_number(clock)
        .ok_or_else(|| corrupt("clock", &"1 (tsc) or 2 (monotonic_raw)", &clock))?;
    let (stored, computed) = (short(&head.checksum), checksum(&mut head));
    if stored != computed {
        let hex = |n: u32| format!("{n:#010x}");
        return Err(corrupt("checksum", &hex(computed), &hex(stored)));
    }
    if size < geometry.total {
        return Err(Error::Truncated {
            path: path.into(),
            expected: geometry.total,
            found: size,
        });
    }
    Ok((geometry, facts(&head, version, clock)))
}

/// Fails unless the first `have` bytes of a file, which begin `head`, are those of a timeline.
fn check_magic(path: &Path, head: &Header, have: usize) -> Result<()> {
    match load_bytes(&head.magic) {
        layout::MAGIC => Ok(()),
        [0, 0, 0, 0, 0, 0, 0, 0] if have >= 8 => Err(Error::Unfinished { path: path.into() }),
        found => Err(Error::NotATimeline {
            path: path.into(),
            found,
        }),
    }
}

/// The rest of a header that was checked.
fn facts(head: &Header, version: (u16, u16), clock: ClockKind) -> Facts {
    // Relaxed: the copy is not shared.
    let long = |field: &AtomicU64| field.load(Ordering::Relaxed);
    let short = |field: &AtomicU32| field.load(Ordering::Relaxed);
    let flags = short(&head.flags);
    Facts {
        version,
        snapshot: flags & header::FLAG_SNAPSHOT != 0,
        reduced: flags & header::FLAG_REDUCED != 0,
        bound: Bound::from_number(short(&head.bound)).map(|bound| (bound, long(&head.room))),
        clock,
        clock_reason: ClockReason::from_number(short(&head.clock_reason)),
        clock_source: RecordAccess::Mapped(&head.clock_source).text(),
        tick_rate: long(&head.tick_rate),
        created_unix: long(&head.created_unix),
        creator_pid: short(&head.creator_pid),
        creator_exe: RecordAccess::Mapped(&head.creator_exe).text(),
        boot_id: load_bytes(&head.boot_id),
    }
}

/// CRC-32 of the constant half of the header, with 0 in the checksum's own field.
fn checksum(head: &mut Header) -> u32 {
    let stored = std::mem::take(&mut head.checksum);
    let computed = crc32fast::hash(&head.bytes_mut()[..header::CHECKED]);
    head.checksum = stored;
    computed
}

/// The header of a new timeline of this process; `reduced`: why it is smaller than the default.
pub fn new_header(geometry: &Geometry, clock: &ClockChoice, reduced: Option<Shortage>) -> Header {
    let mut h = Header::zeroed();
    h.magic = layout::MAGIC.map(Into::into);
    h.version_major = layout::VERSION_MAJOR.into();
    h.version_minor = layout::VERSION_MINOR.into();
    h.header_size = (HEADER_SIZE as u32).into();
    if let Some(shortage) = reduced {
        h.flags = header::FLAG_REDUCED.into();
        h.bound = (shortage.bound as u32).into();
        h.room = shortage.free.into();
    }
    geometry.store(&mut h);
    clock.store(&mut h);
    crate::clock::settle();
    h.tick_rate = crate::clock::measure(clock.kind).into();
    h.created_unix = crate::clock::realtime().into();
    h.created_ticks = clock.kind.now().into();
    h.creator_pid = std::process::id().into();
    h.creator_start = KernelProcess::me().start.into();
    h.boot_id = boot_id().map(Into::into);
    let exe = std::env::current_exe().unwrap_or_default();
    let exe = std::os::unix::ffi::OsStrExt::as_bytes(exe.as_os_str());
    store_bytes(&h.creator_exe[..255], exe);
    store_bytes(&h.cpu_nodes, &crate::clock::cpu_nodes(h.cpu_nodes.len()));
    h.level = u32::from(crate::event::Level::ALL.get()).into();
    h.defined = 1.into();
    h.strings_used = 1.into();
    seal(&mut h);
    h
}

/// Writes the checksum into a header.
pub fn seal(head: &mut Header) {
    head.checksum = checksum(head).into();
}

/// Whether a file was written since the machine's last boot.
///
/// Without /proc the boot id is unknown now, or was unknown to the creator. But no shared memory
/// and no lock of a writer outlives a boot.
fn is_of_this_boot(file: &File, written: &[u8; 16]) -> Option<bool> {
    let (present, unknown) = (boot_id(), [0; 16]);
    if *written != unknown && present != unknown {
        return Some(*written == present);
    }
    (shm::is_in_memory(file) || shm::slots_locked(file)).then_some(true)
}

/// The kernel's boot id; zeros without /proc.
fn boot_id() -> [u8; 16] {
    let mut id = [0; 16];
    let text =
        shm::read_to_string(Path::new("/proc/sys/kernel/random/boot_id")).unwrap_or_default();
    let digits: Vec<u8> = text
        .bytes()
        .filter_map(|b| (b as char).to_digit(16))
        .map(|d| d as u8)
        .collect();
    for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{MAX_ENTRIES, MAX_STRING_TABLE, MIN_ENTRIES, MIN_STRING_TABLE};

    #[test]
    fn every_size_has_a_valid_layout_that_survives_the_header() {
        let mut entries = MIN_ENTRIES;
        while entries <= MAX_ENTRIES {
            for strings in [MIN_STRING_TABLE, 5000, 1 << 20, MAX_STRING_TABLE] {
                let g = Geometry::new(entries, strings);
                let mut h = Header::zeroed();
                g.store(&mut h);
                assert_eq!(Geometry::load(&h), Ok(g));
                assert!(g.lanes() < g.chunks);
            }
            entries *= 2;
        }
    }
}
