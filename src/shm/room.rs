//! How large a new timeline may be, besides the space of its file system.
//!
//! **How much memory does a timeline leave to its program?** Nobody knows how much the program will
//! need. But if it gets no more, the kernel ends it, so it must not be all. A timeline whose
//! creator asked for no size takes at most half of what is left: of the memory of each control
//! group and of the machine, without swap, and of the address space; and no more than a quarter of
//! the memory, if those of two earlier runs are to have room beside it (src/lifecycle/sizes.rs).
//! The least one, and one of a size that was asked for, take what there is, with swap, and with
//! what the kernel can take back from files, if half as much as the least one takes, or a sixteenth
//! of the other, stays free. All are looked at again after each few mebibytes, because others take
//! memory at the same time, such as processes of one container that start together.

use super::cgroup::{ControlGroup, MemoryRoom, System};
use crate::layout::Bound;

/// Too little room, and how much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortage {
    /// What bounds it.
    pub bound: Bound,
    /// The bytes that there is room for.
    pub free: u64,
}

/// What the kernel takes for tables of pages: of so many bytes one.
const TABLES: u64 = 64;

/// What a timeline, or a snapshot, may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// Nobody asked for its size: as much as it takes stays free.
    Default,
    /// The least size where nobody asked for one: half as much as it takes stays free.
    Least,
    /// Somebody asked for its size: all that there is, but for some for the program to go on.
    Asked,
    /// The buffers of who writes it stay free.
    Snapshot,
}

/// What is enough to write a snapshot.
const BUFFERS: u64 = 4 << 20;

/// The room for one timeline or snapshot.
pub struct Room {
    system: System,
    demand: Demand,
    /// Bytes that are to stay free.
    spare: u64,
    /// Bytes that are to stay free in its file system, and of memory, if its pages are that.
    beside: u64,
    /// Whether its pages are memory of this process' control groups.
    in_memory: bool,
    groups: Vec<ControlGroup>,
}

impl Room {
    /// For so many bytes, in a file of which the pages are only in memory or not.
    pub fn of(total: u64, in_memory: bool, demand: Demand) -> Room {
        let system = System::own();
        Room {
            groups: match in_memory {
                true => system.groups(),
                false => Vec::new(),
            },
            system,
            demand,
            spare: match demand {
                Demand::Default => total,
                Demand::Least => total / 2,
                Demand::Asked => total / 16,
                Demand::Snapshot => BUFFERS,
            },
            beside: 0,
            in_memory,
        }
    }

    /// The same, if so many bytes are to stay free for other timelines, where this one is.
    pub fn beside(self, bytes: u64) -> Room {
        Room {
            beside: bytes,
            ..self
        }
    }

    /// The bytes of the file system that so many of a file need.
    pub fn with_others(&self, bytes: u64) -> u64 {
        bytes.saturating_add(self.beside)
    }

    /// Whether its pages are only in memory.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// The shortage, if the process cannot map so many bytes.
    #[allow(
        clippy::unnecessary_cast,
        reason = "another type with other C libraries"
    )]
    pub fn to_map(&self, bytes: u64) -> Option<Shortage> {
        let used = self.system.address_space()?;
        let left = limit(libc::RLIMIT_AS as u32).saturating_sub(used);
        let left = MemoryRoom {
            at_ease: left,
            at_most: left,
        };
        self.shortage(bytes, left, Bound::AddressSpace)
    }

    /// The shortage, if the last `rest` bytes of it do not fit in memory.
    pub fn for_the_last(&self, rest: u64) -> Option<Shortage> {
        if !self.in_memory {
            return None;
        }
        let all = self.with_others(rest);
        self.shortage(all, self.system.left_by(&self.groups), Bound::ControlGroup)
            .or_else(|| self.shortage(all, self.system.machine(), Bound::Machine))
    }

    fn shortage(&self, rest: u64, left: MemoryRoom, bound: Bound) -> Option<Shortage> {
        let free = match self.demand {
            Demand::Default => left.at_ease,
            _ => left.at_most,
        };
        let tables = rest / TABLES;
        let needed = rest.saturating_add(tables).saturating_add(self.spare);
        (needed > free).then_some(Shortage { bound, free })
    }
}

/// A limit of this process.
#[allow(
    clippy::unnecessary_cast,
    reason = "another type with other C libraries"
)]
pub fn limit(resource: u32) -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for one.
    match unsafe { libc::getrlimit(resource as _, &mut limit) } {
        0 => limit.rlim_cur as u64,
        _ => u64::MAX,
    }
}
