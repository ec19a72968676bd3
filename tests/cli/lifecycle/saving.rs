//! Snapshots: no larger on the disk than what they hold, and only ever in the place of a file.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::Path;

use timeline::internal::{DEFAULT_ENTRIES, DEFAULT_STRING_TABLE};
use timeline::{Error, Timeline};

use crate::support::{Name, Process, arguments, attach, define, say};

#[test]
fn a_snapshot_of_a_nearly_empty_ring_takes_little_of_the_disk() {
    let name = Name::new("sparse");
    let timeline =
        Timeline::with_size(name.path(), DEFAULT_ENTRIES, DEFAULT_STRING_TABLE).expect("created");
    let event = define(&timeline);
    (0..100).for_each(|i| timeline.log(event, arguments(1, i)));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved.timeline");
    let saved = timeline.save(&file).expect("saved");
    let metadata = std::fs::metadata(&file).expect("there");
    assert_eq!((saved.bytes, saved.events), (metadata.len(), 100));
    assert!(metadata.len() > DEFAULT_ENTRIES * 64);
    let taken = metadata.blocks() * 512;
    assert!(taken < metadata.len() / 16, "{taken} of {}", metadata.len());
    let held = attach(file.to_str().expect("a plain name"))
        .info()
        .entries_held;
    assert_eq!(held, 100);
    // Whoever wants to write to it is refused, and takes no space for it.
    let error = Timeline::open(&file).err().expect("refused");
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    let now = std::fs::metadata(&file).expect("there").blocks() * 512;
    assert_eq!(now, taken);
}

/// What is in a folder: names, with type and inode.
fn contents(folder: &Path) -> BTreeMap<String, (u32, u64)> {
    let entries = std::fs::read_dir(folder).expect("listed");
    let described = entries.map(|entry| {
        let entry = entry.expect("listed");
        let metadata = std::fs::symlink_metadata(entry.path()).expect("there");
        let name = entry.file_name().into_string().expect("a plain name");
        (name, (metadata.mode(), metadata.ino()))
    });
    described.collect()
}

#[test]
fn a_snapshot_replaces_nothing_but_a_file() {
    let name = Name::new("replaces");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    timeline.log(define(&timeline), arguments(1, 1));
    let folder = tempfile::tempdir().expect("a folder");
    let at = |leaf: &str| folder.path().join(leaf);
    std::fs::write(at("target"), "somebody's notes").expect("written");
    symlink("target", at("link")).expect("linked");
    symlink("nowhere", at("dangling")).expect("linked");
    std::fs::create_dir(at("directory")).expect("made");
    nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("made");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("bound");
    let mut refused = vec!["link", "dangling", "directory", "fifo", "socket"];
    let device = std::ffi::CString::new(at("device").to_str().expect("a plain name"));
    let device = device.expect("a plain name");
    // SAFETY: the name is NUL-terminated. Only root may make one: a null device, which it does no
    // harm to lose.
    if unsafe { libc::mknod(device.as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(1, 3)) } == 0 {
        let made = std::fs::metadata(at("device")).expect("made");
        assert!(made.file_type().is_char_device());
        refused.push("device");
    }
    let before = contents(folder.path());
    for leaf in refused {
        for saved in [timeline.save(at(leaf)), attach(name.path()).save(at(leaf))] {
            let error = saved.err().unwrap_or_else(|| panic!("saved over a {leaf}"));
            assert!(error.to_string().contains(leaf), "{error}");
        }
        assert_eq!(contents(folder.path()), before, "{leaf}");
    }
    assert_eq!(
        std::fs::read(at("target")).expect("read"),
        b"somebody's notes"
    );
    timeline.save(at("target")).expect("a file is replaced");
    assert_eq!(
        attach(at("target").to_str().expect("a plain name"))
            .info()
            .entries_held,
        1
    );
}

/// Logs a lap to a new timeline, and says how many pages it had to be given.
pub fn logs_a_lap(given: &[String]) {
    let entries = 1 << 16;
    let timeline = Timeline::with_size(&given[0], entries, 2048).expect("created");
    let event = define(&timeline);
    timeline.log(event, [0]);
    let before = faults();
    (0..entries as i64 + 256).for_each(|i| timeline.log(event, [i]));
    say(faults() - before);
}

fn faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: a valid place for one, for which zeros are valid too.
    unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), 0);
        usage.assume_init().ru_minflt
    }
}

#[test]
fn no_event_pays_for_the_first_use_of_a_page() {
    let name = Name::new("touched");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("touched.timeline");
    for path in [name.path(), file.to_str().expect("a plain name")] {
        let mut process = Process::start(logs_a_lap, &[path]);
        let faults: i64 = process.line().parse().expect("a number");
        process.finish();
        // The entries alone fill 1024 pages.
        assert!(faults < 100, "{path}: {faults} pages were not there");
    }
}
