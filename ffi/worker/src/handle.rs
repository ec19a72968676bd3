//! Finds the timeline that a handle of libtimeline writes to.
//!
//! This library has no part of libtimeline, and its own copy of what reads timelines. All that both
//! share is the face of a handle, which timeline.h shows: a pointer into the file that is mapped.
//! The kernel knows the name of that file, also after somebody renamed it.
use crate::error::CallFailure;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use timeline_core::Attached;
use timeline_core::internal::files::open_to_read;

/// The first member of a timeline of timeline.h. There is no other that is needed here.
#[repr(C)]
pub struct timeline_t {
    enabled: *const u8,
}

/// What the kernel puts behind the name of a file that has lost it.
const REMOVED: &[u8] = b" (deleted)";

/// How often a timeline is looked for that is renamed at the same time.
const ATTEMPTS: u32 = 8;

/// Attaches to the timeline of a handle, whatever its name leads to by now.
///
/// # Safety
/// `tl` is NULL or a handle of libtimeline that was not freed.
pub(crate) unsafe fn attach(tl: *const timeline_t) -> Result<Attached, CallFailure> {
    // SAFETY: handed on from the caller.
    let timeline =
        unsafe { crate::convert::shared(tl, "the timeline", "timeline_new or timeline_open")? };
    let address = timeline.enabled as usize as u64;
    for _ in 0..ATTEMPTS {
        let path = mapped_file(address)?;
        let attached = match Attached::open(&path) {
            // It may have been renamed right before.
            Err(_) if mapped_file(address)? != path => continue,
            other => other?,
        };
        // While the file has this name, the name leads to it.
        if mapped_file(address)? == path {
            return Ok(attached);
        }
    }
    Err(CallFailure::argument(
        "the timeline was renamed again and again: expected one that keeps its name for a moment",
    ))
}

/// The path of the file that is mapped at an address.
fn mapped_file(address: u64) -> Result<PathBuf, CallFailure> {
    let mut maps = Vec::new();
    open_to_read(Path::new("/proc/self/maps"))
        .and_then(|mut file| file.read_to_end(&mut maps))
        .map_err(|error| CallFailure::io("cannot read /proc/self/maps", error))?;
    let found = maps
        .split(|byte| *byte == b'\n')
        .find_map(|line| file_at(line, address));
    let path = found.ok_or_else(|| {
        CallFailure::argument(
            "no file is mapped where the timeline should be: expected one that timeline_new or \
             timeline_open returned, and that was not freed",
        )
    })?;
    match path.ends_with(REMOVED) {
        true => Err(CallFailure::argument(format!(
            "the name of the timeline was removed: expected it to stay while a worker starts, got \
             {}",
            path.escape_ascii()
        ))),
        false => Ok(PathBuf::from(OsString::from_vec(path))),
    }
}

/// The file of a line of /proc/self/maps, if it is that of this address:
/// `7f00-7f80 rw-s 00000000 00:18 42   /dev/shm/timeline`.
fn file_at(line: &[u8], address: u64) -> Option<Vec<u8>> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let range = std::str::from_utf8(words.next()?).ok()?;
    let (from, to) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    if !(number(from)?..number(to)?).contains(&address) {
        return None;
    }
    let path = words.nth(4)?.trim_ascii_start();
    path.starts_with(b"/").then(|| without_escapes(path))
}

/// The kernel writes a line break in a name as `\012`, and all else as it is.
fn without_escapes(path: &[u8]) -> Vec<u8> {
    const LINE_BREAK: &[u8] = b"\\012";
    let (mut plain, mut rest) = (Vec::new(), path);
    while let Some((first, behind)) = rest.split_first() {
        match rest.strip_prefix(LINE_BREAK) {
            Some(behind) => {
                plain.push(b'\n');
                rest = behind;
            }
            None => {
                plain.push(*first);
                rest = behind;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_map_names_the_file_of_its_addresses() {
        let line = b"7f00-7f80 rw-s 00000000 00:18 42                  /dev/shm/a b\\012c";
        let found = |address| file_at(line, address);
        assert_eq!(found(0x7eff), None);
        assert_eq!(found(0x7f00).as_deref(), Some(&b"/dev/shm/a b\nc"[..]));
        assert_eq!(found(0x7f7f).as_deref(), Some(&b"/dev/shm/a b\nc"[..]));
        assert_eq!(found(0x7f80), None);
        for other in [
            &b""[..],
            b"7f00-7f80",
            b"7f00-7f80 rw-p 00000000 00:00 0 ",
            b"7f00-7f80 rw-p 00000000 00:00 0                [heap]",
            b"x-y rw-s 00000000 00:18 42 /dev/shm/a",
            b"\xff-7f80 rw-s 00000000 00:18 42 /dev/shm/a",
        ] {
            assert_eq!(file_at(other, 0x7f00), None);
        }
    }

    #[test]
    fn a_handle_leads_to_its_timeline_whatever_it_is_called() {
        let name = format!("/timeline-test-handle-{}", std::process::id());
        let file = format!("/dev/shm{name}");
        let timeline = timeline_core::Timeline::with_size(&name, 1024, 4096).unwrap();
        let handle = timeline_t {
            enabled: timeline.enable_table().0,
        };
        // SAFETY: a handle with the first member of one.
        let found = || unsafe { attach(&raw const handle) };
        let created = |at: Attached| at.info().created_unix_nanos;
        let own = created(timeline.attach().unwrap());
        assert_eq!(found().map(created).ok(), Some(own));
        let renamed = format!("{file} of mine");
        std::fs::rename(&file, &renamed).unwrap();
        let other = timeline_core::Timeline::with_size(&name, 1024, 4096).unwrap();
        assert_eq!(found().map(created).ok(), Some(own));
        std::fs::remove_file(&renamed).unwrap();
        let error = found().err().unwrap();
        assert!(
            error.message().contains("was removed"),
            "{}",
            error.message()
        );
        drop(other);
        timeline_core::unlink(&name).unwrap();
        let nowhere = timeline_t {
            enabled: std::ptr::dangling(),
        };
        // SAFETY: likewise; nothing is read at the address.
        let error = unsafe { attach(&raw const nowhere) }.err().unwrap();
        assert!(
            error.message().contains("no file is mapped"),
            "{}",
            error.message()
        );
    }
}
