//! No space: an error at `new` that says what is needed and what is free, and everything as it was.

use std::ffi::CString;
use std::path::Path;

use crate::harness::{Name, Process, arguments, attach, checked, define};
use timeline::{Error, Order, Timeline};

/// Mounts a small file system at a folder, in name spaces of our own; whether that is permitted.
fn mount_small(folder: &str, bytes: u64) -> bool {
    let folder = CString::new(folder).expect("a plain name");
    let size = CString::new(format!("size={bytes}")).expect("a plain number");
    // SAFETY: all strings are NUL-terminated; the mount is seen by this process and its children alone.
    unsafe {
        let user = libc::geteuid();
        let spaces = if user == 0 { 0 } else { libc::CLONE_NEWUSER };
        let apart = libc::unshare(spaces | libc::CLONE_NEWNS) == 0;
        if apart && user != 0 {
            let _ = std::fs::write("/proc/self/uid_map", format!("0 {user} 1"));
        }
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let none = std::ptr::null();
        apart
            && libc::mount(none, c"/".as_ptr(), none, private, none.cast()) == 0
            && libc::mount(
                c"none".as_ptr(),
                folder.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                size.as_ptr().cast(),
            ) == 0
    }
}

/// Fills the small file system at the given folder.
pub fn fills(given: &[String]) {
    if !mount_small(&given[0], 256 * 1024) {
        // Not permitted here: then a limit on the size of files stands in for a small file system.
        return under_a_limit(&given[0]);
    }
    let path = format!("{}/small.timeline", given[0]);
    let timeline = Timeline::with_size(&path, 256, 2048).expect("that much fits");
    timeline.log(define(&timeline), arguments(1, 1));
    drop(timeline);
    let error = refused(&path, 4096);
    let Error::NoSpace { needed, free, .. } = error else {
        panic!("{error}");
    };
    assert!(free < needed && free < 256 * 1024, "{free} of {needed}");
    unchanged(&path);
    // Nor is there room for a snapshot, once the rest is taken.
    let rest = format!("{}/rest", given[0]);
    let _ = std::fs::write(&rest, vec![1; 256 * 1024]);
    let saved = attach(&path).save(format!("{}/copy.timeline", given[0]));
    assert!(matches!(saved, Err(Error::Io { .. })), "{saved:?}");
    std::fs::remove_file(rest).expect("removed");
    unchanged(&path);
}

fn under_a_limit(folder: &str) {
    let path = format!("{folder}/small.timeline");
    let timeline = Timeline::with_size(&path, 256, 2048).expect("that much fits");
    timeline.log(define(&timeline), arguments(1, 1));
    drop(timeline);
    let limit = libc::rlimit {
        rlim_cur: 100 * 1024,
        rlim_max: 100 * 1024,
    };
    // SAFETY: a limit on this process alone, whose signal it ignores.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
    refused(&path, 4096);
    unchanged(&path);
}

fn refused(path: &str, entries: u64) -> Error {
    let error = Timeline::with_size(path, entries, 2048)
        .err()
        .expect("it does not fit");
    let Error::NoSpace { needed, free, .. } = &error else {
        panic!("expected NoSpace, got {error}");
    };
    assert!(*needed > entries * 64);
    let text = error.to_string();
    assert!(text.contains(path), "{text}");
    assert!(text.contains(&needed.to_string()) && text.contains(&free.to_string()));
    error
}

/// The timeline of before is there, and nothing else.
fn unchanged(path: &str) {
    let folder = Path::new(path).parent().expect("a folder");
    let names: Vec<_> = std::fs::read_dir(folder)
        .expect("listed")
        .map(|entry| entry.expect("listed").file_name())
        .collect();
    assert_eq!(names, ["small.timeline"]);
    let events: Vec<_> = attach(path).events(Order::OldestFirst).collect();
    assert_eq!(events.iter().map(checked).collect::<Vec<_>>(), [(1, 1)]);
}

#[test]
fn a_timeline_that_does_not_fit_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain name");
    Process::start("fills", &[path]).finish();
}

/// Has several processes create one name at once where there is room for one of them only.
pub fn shares_a_small_space(given: &[String]) {
    let bytes: u64 = given[1].parse().expect("a number");
    if !mount_small(&given[0], bytes + bytes / 2) {
        eprintln!("skipped: no small file system may be mounted here");
        return;
    }
    let path = format!("{}/shared.timeline", given[0]);
    for round in 0..25 {
        let mut all: Vec<_> = (0..3).map(|_| Process::start("races", &[&path])).collect();
        all.iter_mut().for_each(|p| assert_eq!(p.line(), "ready"));
        all.iter_mut().for_each(Process::tell);
        let mut said: Vec<String> = all.iter_mut().map(Process::line).collect();
        said.sort();
        assert_eq!(said, ["in use", "in use", "won"], "round {round}");
        all.iter_mut().for_each(Process::tell);
        all.into_iter().for_each(Process::finish);
        std::fs::remove_file(&path).expect("there");
        assert_eq!(std::fs::read_dir(&given[0]).expect("listed").count(), 0);
    }
}

#[test]
fn of_several_that_create_one_name_at_once_one_does_also_where_only_one_fits() {
    let name = Name::new("fits");
    drop(Timeline::with_size(name.path(), 256, 2048).expect("created"));
    let bytes = attach(name.path()).info().size.to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain name");
    Process::start("shares_a_small_space", &[path, &bytes]).finish();
}

/// Meets a limit on the size of files, beyond which the kernel sends a signal that ends the process.
pub fn has_a_limit(given: &[String]) {
    let path = format!("{}/small.timeline", given[0]);
    let live = Timeline::with_size(&given[1], 4096, 2048).expect("created");
    live.log(define(&live), arguments(1, 1));
    drop(Timeline::with_size(&path, 256, 2048).map(|t| t.log(define(&t), arguments(1, 1))));
    let limit = libc::rlimit {
        rlim_cur: 100 * 1024,
        rlim_max: 100 * 1024,
    };
    // SAFETY: a limit on this process alone, and the signal as it is for most programs.
    unsafe {
        assert_eq!(libc::signal(libc::SIGXFSZ, libc::SIG_DFL), libc::SIG_DFL);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
    refused(&path, 4096);
    refused(&format!("{}/other.timeline", given[0]), 4096);
    refused(&given[2], 4096);
    let copy = format!("{}/copy.timeline", given[0]);
    for saved in [
        live.save(&copy),
        attach(&given[1]).save(&copy),
        live.save(&path),
    ] {
        let Err(Error::NoSpace { needed, free, .. }) = saved else {
            panic!("expected NoSpace, got {saved:?}");
        };
        assert_eq!((needed, free), (attach(&given[1]).info().size, 100 * 1024));
    }
    unchanged(&path);
    // It goes on with what it has.
    live.log(define(&live), arguments(1, 2));
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_not_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain name");
    let (live, other) = (Name::new("limited"), Name::new("other"));
    Process::start("has_a_limit", &[path, live.path(), other.path()]).finish();
    unchanged(&format!("{path}/small.timeline"));
    for suffix in ["", ".prev"] {
        assert!(!other.file_beside(suffix).exists(), "{suffix}");
    }
    assert!(other.staged().is_empty());
    assert_eq!(attach(live.path()).info().events_written, 2);
}

#[test]
fn sizes_that_cannot_be_are_refused_and_said() {
    let name = Name::new("size");
    for (entries, strings, wrong) in [
        (0, 4096, 0),
        (255, 4096, 255),
        (128, 4096, 128),
        (1 << 31, 4096, 1 << 31),
        (u64::MAX, 4096, u64::MAX),
        (256, 1023, 1023),
        (256, 1 << 32, 1 << 32),
    ] {
        let error = Timeline::with_size(name.path(), entries, strings)
            .err()
            .expect("refused");
        let Error::BadSize { found, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(found, wrong);
        assert!(error.to_string().ends_with(&format!("got {wrong}")));
    }
    assert!(!name.file().exists() && name.staged().is_empty());
}
