//! A timeline's memory whose header was read and checked.
//!
//! **What if the boot id is not known?** It is in /proc, which a chroot need not have. Ticks of
//! another boot must not get into a ring. But shared memory does not outlive a boot, and neither
//! does a process that holds the lock of a slot. So either of the two proves that the timeline is
//! of this boot. A file on a disk without writers is refused, and the error says that the boot id
//! is not known.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use crate::clock::{Anchor, ClockKind, TimeBase};
use crate::error::{Error, Result};
use crate::event::Definitions;
use crate::layout::geometry::{get16, get32, get64, put16, put32, put64};
use crate::layout::{self, Geometry, HEADER_SIZE, header};
use crate::ring::life::{Seen, View, Who};
use crate::ring::memory::{Observed, Shared};
use crate::shm::{self, Lock, Loss, Mapping, Name};
use crate::sync::{Ordering, fence};

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
    /// The clock that ticks are read from.
    pub clock: ClockKind,
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
pub struct Segment {
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
    pub ring: Observed,
    /// The table of definitions.
    pub definitions: Definitions,
    /// The NUMA node of each CPU: read once, because it is needed for every event.
    nodes: Vec<u8>,
}

impl Segment {
    /// Maps `file` and checks it. The file is not trusted: after the check, every index below its
    /// count in the geometry lies inside the mapping.
    pub fn load(name: &Name, file: &File, purpose: Use) -> Result<Segment> {
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
        let mut nodes = vec![0xff; header::CPU_NODES_COUNT as usize];
        map.read(header::CPU_NODES, &mut nodes);
        Ok(Segment {
            name: name.clone(),
            ring: Observed::new(&map, &geometry),
            definitions: Definitions::new(&map, &geometry),
            nodes,
            map,
            geometry,
            this_boot: is_of_this_boot(file, &facts.boot_id),
            facts,
        })
    }

    /// The ring, for writers. They have mapped it.
    pub fn shared(&self) -> Shared {
        Shared::new(&self.map, &self.geometry).expect("what is written to is mapped")
    }

    /// Runs a function that reads the whole ring. If others can cut the file short, it is given up
    /// after more system calls than an intact ring needs: see [`Segment::intact`].
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
                 leads elsewhere by now; attach to it anew, and close only what is your own",
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

    /// Adds an anchor of this moment. The caller holds the define lock, or nothing else has the
    /// file yet.
    ///
    /// The first anchor stays for good: the further apart two anchors are, the better the tick
    /// rate. The others take turns.
    pub fn add_anchor(&self) {
        let Some(anchor) = self.own_anchor(&self.anchors()) else {
            return;
        };
        let taken = self.map.u64(header::ANCHORS_TAKEN);
        let serial = taken.load(Ordering::Relaxed);
        let slot = match serial {
            0 => 0,
            n => 1 + (n - 1) % (header::ANCHORS_COUNT - 1),
        };
        let at = header::ANCHORS + slot * header::ANCHOR_SIZE;
        // A sequence lock: the serial is 0 while the anchor changes. The fence keeps the stores
        // below behind it, and the Release publishes them; both pair with `anchors`.
        self.map.u64(at).store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        self.map.u64(at + 8).store(anchor.ticks, Ordering::Relaxed);
        self.map
            .u64(at + 16)
            .store(anchor.monotonic, Ordering::Relaxed);
        self.map
            .u64(at + 24)
            .store(anchor.realtime, Ordering::Relaxed);
        let serial = serial.wrapping_add(1);
        self.map.u64(at).store(serial, Ordering::Release);
        taken.store(serial, Ordering::Relaxed);
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
        for slot in 0..header::ANCHORS_COUNT {
            let at = header::ANCHORS + slot * header::ANCHOR_SIZE;
            let serial = self.map.u64(at).load(Ordering::Acquire);
            let anchor = Anchor {
                ticks: self.map.u64(at + 8).load(Ordering::Relaxed),
                monotonic: self.map.u64(at + 16).load(Ordering::Relaxed),
                realtime: self.map.u64(at + 24).load(Ordering::Relaxed),
            };
            // Pairs with the fence in `add_anchor`.
            fence(Ordering::Acquire);
            if serial != 0 && self.map.u64(at).load(Ordering::Relaxed) == serial {
                anchors.push((serial, anchor));
            }
        }
        anchors.sort_by_key(|(serial, _)| *serial);
        anchors.into_iter().map(|(_, anchor)| anchor).collect()
    }

    /// The process that samples, if there is one. `file` is an opening other than the sampler's
    /// own. `None` if there is none left: then only the kernel can tell whether the process lives.
    pub fn sampler(&self, file: Option<&File>) -> Option<u32> {
        let number = |at| self.map.u64(at).load(Ordering::Relaxed);
        let who = Who {
            pid: self.map.u32(header::SAMPLER_PID).load(Ordering::Relaxed),
            start: number(header::SAMPLER_START),
            pid_namespace: number(header::SAMPLER_NAMESPACE),
            time_namespace: number(header::SAMPLER_TIME_NAMESPACE),
        };
        // As for writers: the lock decides, unless the process is gone and its child has the lock.
        let lives = || match View::here().see(&who) {
            Seen::Gone => false,
            Seen::Runs | Seen::Headless => true,
            Seen::Unknown => file.is_none_or(|file| Lock::Sample.is_held_elsewhere(file)),
        };
        (who.pid != 0 && lives()).then_some(who.pid)
    }

    /// Records that this process samples, or that no process does. The caller holds the define
    /// lock.
    pub fn set_sampler(&self, samples: bool) {
        let me = Who::me();
        let store = |at, number| self.map.u64(at).store(number, Ordering::Relaxed);
        store(header::SAMPLER_START, me.start);
        store(header::SAMPLER_NAMESPACE, me.pid_namespace);
        store(header::SAMPLER_TIME_NAMESPACE, me.time_namespace);
        let pid = if samples { me.pid } else { 0 };
        self.map
            .u32(header::SAMPLER_PID)
            .store(pid, Ordering::Relaxed);
    }

    /// Whether the clock of its ticks can be read now: it is not a snapshot, and of this boot.
    pub fn clock_runs(&self) -> bool {
        !self.facts.snapshot && self.this_boot == Some(true)
    }

    /// Converts this timeline's ticks to time. If its clock runs, the reader's own anchor is added.
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
fn read_header(path: &Path, file: &File) -> Result<(Geometry, Facts)> {
    let size = file
        .metadata()
        .map_err(|e| Error::io("examine", path, e))?
        .len();
    let mut head = vec![0; HEADER_SIZE.min(size) as usize];
    file.read_exact_at(&mut head, 0)
        .map_err(|e| Error::io("read", path, e))?;
    let mut magic = [0; 8];
    let have = head.len().min(8);
    magic[..have].copy_from_slice(&head[..have]);
    if magic != layout::MAGIC {
        return Err(match magic {
            [0, 0, 0, 0, 0, 0, 0, 0] if have == 8 => Error::Unfinished { path: path.into() },
            found => Error::NotATimeline {
                path: path.into(),
                found,
            },
        });
    }
    if size < HEADER_SIZE {
        return Err(Error::Truncated {
            path: path.into(),
            expected: HEADER_SIZE,
            found: size,
        });
    }
    let version = (
        get16(&head, header::VERSION_MAJOR),
        get16(&head, header::VERSION_MINOR),
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
    let found = get32(&head, header::HEADER_SIZE);
    if u64::from(found) != HEADER_SIZE {
        return Err(corrupt("header_size", &HEADER_SIZE, &found));
    }
    let geometry = Geometry::load(&head).map_err(|f| corrupt(f.field, &f.expected, &f.found))?;
    let clock = get32(&head, header::CLOCK);
    let clock = ClockKind::from_number(clock)
        .ok_or_else(|| corrupt("clock", &"1 (tsc) or 2 (monotonic_raw)", &clock))?;
    let (stored, computed) = (get32(&head, header::CHECKSUM), checksum(&head));
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
    let exe = &head[header::CREATOR_EXE as usize..][..header::CREATOR_EXE_SIZE as usize];
    let exe = exe.split(|b| *b == 0).next().unwrap_or_default();
    let mut boot_id = [0; 16];
    boot_id.copy_from_slice(&head[header::BOOT_ID as usize..][..16]);
    let flags = get32(&head, header::FLAGS);
    let facts = Facts {
        version,
        snapshot: flags & header::FLAG_SNAPSHOT != 0,
        reduced: flags & header::FLAG_REDUCED != 0,
        clock,
        tick_rate: get64(&head, header::TICK_RATE),
        created_unix: get64(&head, header::CREATED_UNIX),
        creator_pid: get32(&head, header::CREATOR_PID),
        creator_exe: String::from_utf8_lossy(exe).into_owned(),
        boot_id,
    };
    Ok((geometry, facts))
}

/// CRC-32 of the constant half of the header, with 0 in the checksum's own field.
pub fn checksum(head: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&head[..header::CHECKSUM as usize]);
    crc.update(&[0; 4]);
    crc.update(&head[header::CHECKSUM as usize + 4..header::CHECKED as usize]);
    crc.finalize()
}

/// The header of a new timeline of this process; `reduced`: see [`Facts::reduced`].
pub fn new_header(geometry: &Geometry, clock: ClockKind, reduced: bool) -> Vec<u8> {
    let mut h = vec![0; HEADER_SIZE as usize];
    h[..8].copy_from_slice(&layout::MAGIC);
    put16(&mut h, header::VERSION_MAJOR, layout::VERSION_MAJOR);
    put16(&mut h, header::VERSION_MINOR, layout::VERSION_MINOR);
    put32(&mut h, header::HEADER_SIZE, HEADER_SIZE as u32);
    if reduced {
        put32(&mut h, header::FLAGS, header::FLAG_REDUCED);
    }
    geometry.store(&mut h);
    put32(&mut h, header::CLOCK, clock.number());
    crate::clock::settle();
    put64(&mut h, header::TICK_RATE, crate::clock::measure(clock));
    put64(&mut h, header::CREATED_UNIX, crate::clock::realtime());
    put64(&mut h, header::CREATED_TICKS, clock.now());
    put32(&mut h, header::CREATOR_PID, std::process::id());
    put64(&mut h, header::CREATOR_START, Who::me().start);
    h[header::BOOT_ID as usize..][..16].copy_from_slice(&boot_id());
    let exe = std::env::current_exe().unwrap_or_default();
    let exe = std::os::unix::ffi::OsStrExt::as_bytes(exe.as_os_str());
    let most = exe.len().min(header::CREATOR_EXE_SIZE as usize - 1);
    h[header::CREATOR_EXE as usize..][..most].copy_from_slice(&exe[..most]);
    let nodes = crate::clock::cpu_nodes(header::CPU_NODES_COUNT as usize);
    h[header::CPU_NODES as usize..][..nodes.len()].copy_from_slice(&nodes);
    put32(&mut h, header::LEVEL, crate::event::Level::ALL.get().into());
    put32(&mut h, header::DEFINED, 1);
    put64(&mut h, header::STRINGS_USED, 1);
    seal(&mut h);
    h
}

/// Writes the checksum into a header.
pub fn seal(head: &mut [u8]) {
    let sum = checksum(head);
    put32(head, header::CHECKSUM, sum);
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
