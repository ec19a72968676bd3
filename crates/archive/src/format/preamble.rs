//! The preamble of an archive: whose events these are.

use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use sha1::{Digest, Sha1};
use timeline::{Attached, Info, bounded, files, files::open_regular};

use crate::format::digest::first_word;
use crate::format::msgpack::{Fields, Input};
use crate::format::tag::PREAMBLE;

/// Bytes of the largest executable that is looked into; it is named by who wrote the ring, and may
/// be a hole.
const MAX_EXECUTABLE: u64 = 2 << 30;

/// Which program and ring the records of one magic belong to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preamble {
    /// Stands in every record that belongs to it.
    pub magic: Option<u64>,
    /// Full path of the executable.
    pub path: Option<String>,
    /// Bytes of the executable.
    pub size: Option<u64>,
    /// SHA-1 of the executable.
    pub sha1: Option<Vec<u8>>,
    /// Name of the machine.
    pub host: Option<String>,
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// The process that created the ring.
    pub pid: Option<u64>,
    /// What the ring was called.
    pub timeline: Option<String>,
    /// Ticks, and nanoseconds since the epoch at them.
    pub anchors: Vec<(u64, u64)>,
    /// What ticks count.
    pub clock: Option<String>,
    /// What wrote the archive.
    pub writer: Option<String>,
    /// When the ring was created, in nanoseconds since the epoch.
    pub created: Option<u64>,
    /// NUMA nodes by the number of the CPU; 255 is not known.
    pub nodes: Vec<u64>,
}

impl Preamble {
    /// That of a ring, of which everything is told that can be found out.
    pub(crate) fn of(at: &Attached) -> Preamble {
        let info = at.info();
        let (size, sha1) = match fingerprint(&info) {
            Some((size, sha1)) => (Some(size), Some(sha1.to_vec())),
            None => (None, None),
        };
        let host = files::read_to_string(Path::new("/proc/sys/kernel/hostname")).ok();
        Preamble {
            magic: Some(magic(&info, size, sha1.as_deref())),
            path: Some(info.creator_exe),
            size,
            sha1,
            host: host.map(|host| host.trim_end().to_string()),
            boot_id: Some(info.boot_id),
            pid: Some(info.creator_pid.into()),
            timeline: Some(at.path().display().to_string()),
            anchors: at.anchors(),
            clock: Some(info.clock.to_string()),
            writer: Some(format!("timeline {}", env!("CARGO_PKG_VERSION"))),
            created: Some(info.created_unix_nanos),
            nodes: at.nodes(),
        }
    }

    /// Whether it is that of this ring. The executable does not count: it can be gone or another
    /// one by now.
    pub(crate) fn is_of(&self, at: &Attached) -> bool {
        let info = at.info();
        self.boot_id.as_deref() == Some(info.boot_id.as_str())
            && self.created == Some(info.created_unix_nanos)
            && self.pid == Some(info.creator_pid.into())
    }

    /// Appends the record.
    pub fn encode(&self, fields: &mut Fields, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        fields.text(2, self.path.as_deref());
        fields.number(3, self.size);
        fields.bytes(4, self.sha1.as_deref());
        fields.text(5, self.host.as_deref());
        fields.text(6, self.boot_id.as_deref());
        fields.number(7, self.pid);
        fields.text(8, self.timeline.as_deref());
        fields.pairs(9, &self.anchors);
        fields.text(10, self.clock.as_deref());
        fields.text(11, self.writer.as_deref());
        fields.number(12, self.created);
        fields.numbers(13, &self.nodes);
        fields.finish(PREAMBLE, out);
    }

    /// Reads the value of a field.
    pub(crate) fn field(&mut self, field: u8, input: &mut Input) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.path = text(input)?,
            3 => self.size = input.number()?,
            4 => self.sha1 = input.bytes()?.map(<[u8]>::to_vec),
            5 => self.host = text(input)?,
            6 => self.boot_id = text(input)?,
            7 => self.pid = input.number()?,
            8 => self.timeline = text(input)?,
            9 => self.anchors = input.pairs()?,
            10 => self.clock = text(input)?,
            11 => self.writer = text(input)?,
            12 => self.created = input.number()?,
            13 => self.nodes = input.numbers()?,
            _ => input.skip()?,
        }
        Some(())
    }
}

/// A text no longer than those of definitions: it may be shown with every event.
fn text(input: &mut Input) -> Option<Option<String>> {
    Some(input.text()?.map(|text| bounded(&text).into_owned()))
}

/// What keeps this run of this program apart from all others.
fn magic(info: &Info, size: Option<u64>, sha1: Option<&[u8]>) -> u64 {
    let mut digest = Sha1::new();
    digest.update(&info.creator_exe);
    digest.update([0]);
    digest.update(size.unwrap_or(0).to_be_bytes());
    digest.update(sha1.unwrap_or(&[0; 20]));
    digest.update(&info.boot_id);
    digest.update(info.created_unix_nanos.to_be_bytes());
    first_word(&digest.finalize())
}

/// Size and SHA-1 of the executable that made the ring, if it can still be found.
fn fingerprint(info: &Info) -> Option<(u64, [u8; 20])> {
    let running = format!("/proc/{}/exe", info.creator_pid);
    // While it runs, the file is there even where another one has taken its name since.
    let runs = std::fs::read_link(&running).is_ok_and(|link| {
        let link = link.to_string_lossy();
        link.trim_end_matches(" (deleted)") == info.creator_exe
    });
    let path = if runs { &running } else { &info.creator_exe };
    let file = open_regular(Path::new(path))?;
    let metadata = file.metadata().ok()?;
    if metadata.len() > MAX_EXECUTABLE {
        return None;
    }
    let created = UNIX_EPOCH + Duration::from_nanos(info.created_unix_nanos);
    if !runs && metadata.modified().ok()? > created {
        return None;
    }
    let mut digest = Sha1::new();
    let size = io::copy(&mut file.take(MAX_EXECUTABLE), &mut digest).ok()?;
    Some((size, digest.finalize().into()))
}
