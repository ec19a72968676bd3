//! Identifies the run of a program that a ring belongs to.
//! It makes the preamble of the run, and compares preambles.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use nix::unistd::{Uid, User};
use sha1::{Digest, Sha1};
use timeline::internal::executable::digest;
use timeline::internal::{files, live_file};
use timeline::{Attached, Info};

use crate::format::digest::first_word;
use crate::format::preamble::Preamble;
use crate::read::texts::executable::open;

impl Preamble {
    /// Makes the preamble of a ring, with everything that can be found out about it.
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
            steps: info.steps,
            rate: info.ticks_per_second.map(|rate| rate as u64),
            user: user(at.path()),
        }
    }

    /// Whether this is the preamble of this ring. The executable is not compared: by now it can be
    /// gone, or another one.
    pub fn is_of(&self, at: &Attached) -> bool {
        let info = at.info();
        self.boot_id.as_deref() == Some(info.boot_id.as_str())
            && self.created == Some(info.created_unix_nanos)
            && self.pid == Some(info.creator_pid.into())
    }
}

/// The user that a ring belongs to.
fn user(ring: &Path) -> Option<String> {
    let file = live_file(ring).unwrap_or_else(|| ring.to_path_buf());
    let number = std::fs::metadata(file).ok()?.uid();
    let user = User::from_uid(Uid::from_raw(number)).ok().flatten();
    Some(user.map_or_else(|| number.to_string(), |user| user.name))
}

/// A number that differs for every run of every program.
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
    // While the program runs, its file exists, even if another file has taken its name.
    let runs = std::fs::read_link(&running).is_ok_and(|link| {
        let link = link.to_string_lossy();
        link.trim_end_matches(" (deleted)") == info.creator_exe
    });
    let path = if runs { &running } else { &info.creator_exe };
    let (file, size) = open(Path::new(path)).ok()?;
    let created = UNIX_EPOCH + Duration::from_nanos(info.created_unix_nanos);
    if !runs && file.metadata().ok()?.modified().ok()? > created {
        return None;
    }
    digest(&file, size, |_| ()).ok()
}
