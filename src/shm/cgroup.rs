//! The memory that the control groups of this process leave it.
//!
//! Memory of a file in shared memory belongs to the group of the process that creates it. Beyond
//! the limit of a group the kernel ends a process of it, which may be the host. So the limits are
//! looked up first: those of version 1 and of version 2, and of each level, because each limits all
//! below it. `/proc/self/cgroup` names the group in its hierarchy, and `/proc/self/mountinfo` says
//! where that is mounted and from which group on. In a container the two may name other groups than
//! there are to see; then nothing is known, and nothing is said.
//!
//! These files are input: they are read up to a bound, and what is not understood is not there.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use super::descriptor::open_as;

/// The most bytes that are read of a list, and of any other file.
const LONGEST_LIST: u64 = 1 << 20;
const LONGEST: u64 = 1 << 16;

/// From here on, a limit of version 1 is none.
const UNLIMITED: u64 = 1 << 62;

/// Bytes of memory that there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRoom {
    /// Without swap, without taking from files in use, and without being slowed down.
    pub at_ease: u64,
    /// Before the kernel ends a process.
    pub at_most: u64,
}

impl MemoryRoom {
    /// No limit is known.
    pub const UNKNOWN: MemoryRoom = MemoryRoom {
        at_ease: u64::MAX,
        at_most: u64::MAX,
    };

    /// The less of both.
    pub fn min(self, other: MemoryRoom) -> MemoryRoom {
        MemoryRoom {
            at_ease: self.at_ease.min(other.at_ease),
            at_most: self.at_most.min(other.at_most),
        }
    }
}

/// The files of the system.
pub struct System {
    /// `/`, except in tests.
    root: PathBuf,
}

/// A control group of this process.
pub struct ControlGroup {
    version: Version,
    folder: PathBuf,
}

/// A version of control groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl System {
    /// The one that this process is in.
    pub fn own() -> System {
        System { root: "/".into() }
    }

    /// The groups of this process, at every level.
    pub fn groups(&self) -> Vec<ControlGroup> {
        let (groups, mounts) = (
            self.read("/proc/self/cgroup".as_ref(), LONGEST_LIST),
            self.read("/proc/self/mountinfo".as_ref(), LONGEST_LIST),
        );
        let mounts: Vec<_> = lines(&mounts).filter_map(mount_of).collect();
        let of = |(version, group): (Version, &[u8])| {
            let of_version = mounts.iter().filter(|mount| mount.version == version);
            let folders = of_version.flat_map(|mount| levels(mount, group));
            let group = |folder| ControlGroup { version, folder };
            folders.map(group).collect::<Vec<_>>()
        };
        lines(&groups).filter_map(group_of).flat_map(of).collect()
    }

    /// What groups leave this process.
    pub fn left_by(&self, groups: &[ControlGroup]) -> MemoryRoom {
        if groups.is_empty() {
            return MemoryRoom::UNKNOWN;
        }
        let swap = self.meminfo(b"SwapFree:").unwrap_or(0);
        let left = |group: &ControlGroup| self.level(group.version, &group.folder, swap);
        groups
            .iter()
            .map(left)
            .fold(MemoryRoom::UNKNOWN, MemoryRoom::min)
    }

    /// What the machine has. It may have more at most: files in use, and swap.
    pub fn machine(&self) -> MemoryRoom {
        MemoryRoom {
            at_ease: self.meminfo(b"MemAvailable:").unwrap_or(u64::MAX),
            at_most: u64::MAX,
        }
    }

    /// The bytes of address space that this process takes.
    pub fn address_space(&self) -> Option<u64> {
        let text = self.read("/proc/self/statm".as_ref(), LONGEST);
        let pages = number(text.split(|byte| *byte == b' ').next()?)?;
        pages.checked_mul(page_size())
    }

    fn level(&self, version: Version, folder: &Path, swap: u64) -> MemoryRoom {
        let [limit, used] = match version {
            Version::One => ["memory.limit_in_bytes", "memory.usage_in_bytes"],
            Version::Two => ["memory.max", "memory.current"],
        };
        let file = |name: &str| number(&self.read(&folder.join(name), LONGEST));
        let limited = |name: &str| file(name).filter(|limit| *limit < UNLIMITED);
        let limit = limited(limit);
        let slow = limited("memory.high").into_iter().chain(limit).min();
        let (Some(used), Some(slow)) = (file(used), slow) else {
            return MemoryRoom::UNKNOWN;
        };
        let statistics = self.read(&folder.join("memory.stat"), LONGEST);
        let files = |of: &str| {
            let below = |name: String| value_of(&statistics, name.as_bytes());
            below(format!("total_{of}")).or_else(|| below(of.into()))
        };
        let unused = files("inactive_file").unwrap_or(0);
        let in_use = files("active_file").unwrap_or(0);
        let all_files = unused.saturating_add(in_use);
        let left = |limit: u64, used: u64, files| limit.saturating_sub(used.saturating_sub(files));
        // A limit on swap, or in version 1 on memory and swap together.
        let (swap, both) = match version {
            Version::One => {
                let both = limited("memory.memsw.limit_in_bytes");
                let used = file("memory.memsw.usage_in_bytes").unwrap_or(used);
                (swap, both.map(|both| left(both, used, all_files)))
            }
            Version::Two => {
                let most = file("memory.swap.max").unwrap_or(u64::MAX);
                let used = file("memory.swap.current").unwrap_or(0);
                (swap.min(most.saturating_sub(used)), None)
            }
        };
        let at_most = limit.map(|limit| left(limit, used, all_files).saturating_add(swap));
        MemoryRoom {
            at_ease: left(slow, used, unused),
            at_most: at_most.into_iter().chain(both).min().unwrap_or(u64::MAX),
        }
    }

    /// A value in bytes that the system states in units of 1,024.
    fn meminfo(&self, name: &[u8]) -> Option<u64> {
        let text = self.read("/proc/meminfo".as_ref(), LONGEST);
        value_of(&text, name)?.checked_mul(1024)
    }

    /// The beginning of a file; empty if it cannot be read.
    fn read(&self, path: &Path, most: u64) -> Vec<u8> {
        let path = self.root.join(path.strip_prefix("/").unwrap_or(path));
        let mut options = std::fs::File::options();
        // It may be a pipe, which is not waited for.
        let options = options.read(true).custom_flags(libc::O_NONBLOCK);
        let mut text = Vec::new();
        if let Ok(file) = open_as(options, &path) {
            // What could be read before a failure counts.
            let _ = file.take(most).read_to_end(&mut text);
        }
        text
    }
}

/// Where a hierarchy is mounted.
struct Mount {
    version: Version,
    /// The group that is at its top.
    root: Vec<u8>,
    point: PathBuf,
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

/// The hierarchy and the group of a line of `/proc/self/cgroup`, if it is about memory.
fn group_of(line: &[u8]) -> Option<(Version, &[u8])> {
    let mut fields = line.splitn(3, |byte| *byte == b':');
    let (_, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
    let version = match controllers {
        b"" => Version::Two,
        _ if has_word(controllers, b"memory") => Version::One,
        _ => return None,
    };
    Some((version, group))
}

/// A mount of a line of `/proc/self/mountinfo`, if it is of control groups with memory.
fn mount_of(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let (root, point) = (fields.nth(3)?, fields.next()?);
    fields.find(|field| *field == b"-")?;
    let (kind, options) = (fields.next()?, fields.nth(1).unwrap_or_default());
    let version = match kind {
        b"cgroup2" => Version::Two,
        b"cgroup" if has_word(options, b"memory") => Version::One,
        _ => return None,
    };
    Some(Mount {
        version,
        root: unescaped(root),
        point: std::ffi::OsString::from_vec(unescaped(point)).into(),
    })
}

fn has_word(words: &[u8], word: &[u8]) -> bool {
    words.split(|byte| *byte == b',').any(|other| other == word)
}

/// The folders of a group and of all above it that the mount shows; none if it does not show it.
fn levels(mount: &Mount, group: &[u8]) -> Vec<PathBuf> {
    let root = mount.root.strip_suffix(b"/").unwrap_or(&mount.root);
    let below = match group.strip_prefix(root) {
        Some(below @ (b"" | [b'/', ..])) => Path::new(OsStr::from_bytes(below)),
        _ => return Vec::new(),
    };
    let names: Vec<_> = below
        .components()
        .filter(|part| !matches!(part, Component::RootDir | Component::CurDir))
        .collect();
    if names
        .iter()
        .any(|part| !matches!(part, Component::Normal(_)))
    {
        return Vec::new();
    }
    let folder = |count: usize| mount.point.join(names[..count].iter().collect::<PathBuf>());
    (0..=names.len()).map(folder).collect()
}

/// A path without the escapes (`\040`) that the kernel writes in lists of mounts.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let code =
            digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        let (byte, length) = code.map_or((*first, 1), |code| (code, 4));
        plain.push(byte);
        rest = &rest[length..];
    }
    plain
}

/// The number behind a name at the beginning of a line.
fn value_of(text: &[u8], name: &[u8]) -> Option<u64> {
    let value = lines(text).find_map(|line| line.strip_prefix(name)?.strip_prefix(b" "))?;
    number(value.strip_suffix(b" kB").unwrap_or(value))
}

fn number(text: &[u8]) -> Option<u64> {
    str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

fn page_size() -> u64 {
    // SAFETY: sysconf only reads.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
