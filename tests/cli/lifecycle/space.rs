//! No space: an error at `new` that says what is needed and what is free, and everything as it was.

use std::ffi::CString;
use std::path::Path;
use std::process::Command;

use timeline::{Error, Order, Timeline};

use super::race::{creates_at_the_word, exactly_one_creates};
use crate::support::{Name, Process, arguments, attach, checked, define, refusal};

/// Mounts a small file system at a folder, in name spaces of our own; whether that is permitted. In
/// CI it must be.
pub fn mount_small(folder: &str, bytes: u64) -> bool {
    let folder = CString::new(folder).expect("a plain name");
    let size = CString::new(format!("size={bytes}")).expect("a plain number");
    // SAFETY: all strings are NUL-terminated; the mount is seen by this process and its children
    // alone.
    let mounted = unsafe {
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
    };
    let error = std::io::Error::last_os_error();
    assert!(mounted || std::env::var_os("CI").is_none(), "{error}");
    if !mounted {
        let reason = refusal(&error);
        eprintln!("skipped: no small file system may be mounted here: {reason}");
    }
    mounted
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
    Process::start(fills, &[path]).finish();
}

/// Has several processes create one name at once where there is room for one of them only.
pub fn shares_a_small_space(given: &[String]) {
    let bytes: u64 = given[1].parse().expect("a number");
    if !mount_small(&given[0], bytes + bytes / 2) {
        return;
    }
    let path = format!("{}/shared.timeline", given[0]);
    for _ in 0..25 {
        exactly_one_creates(creates_at_the_word, &path, || ());
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
    Process::start(shares_a_small_space, &[path, &bytes]).finish();
}

/// Meets a limit on the size of files, beyond which the kernel sends a signal that ends the
/// process.
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
    Process::start(has_a_limit, &[path, live.path(), other.path()]).finish();
    unchanged(&format!("{path}/small.timeline"));
    for suffix in ["", ".prev"] {
        assert!(!other.file_beside(suffix).exists(), "{suffix}");
    }
    assert!(other.staged().is_empty());
    assert_eq!(attach(live.path()).info().entries_written, 2);
}

/// What the command says of the ring, and of it alone.
fn told(path: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
    let output = command.args(["info", path]).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let ring = text.lines().find(|line| line.trim().starts_with("ring "));
    ring.unwrap_or_else(|| panic!("no ring in: {text}"))
        .to_owned()
}

const REDUCED: &str = "; 1,048,576 did not fit";

/// Creates without a size where so many bytes are free, and finds the largest size that fits so
/// many times.
fn creates_the_largest(path: &str, free: u64, times: u64) {
    let timeline = Timeline::new(path).expect("created");
    timeline.log(define(&timeline), arguments(1, 1));
    let info = attach(path).info();
    assert!(info.entries.is_power_of_two() && info.size <= free);
    assert!((1 << 16..1 << 20).contains(&info.entries), "{info:?}");
    assert!(info.reduced && told(path).contains(REDUCED));
    // What is saved of it tells the same.
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.timeline");
    let copy = copy.to_str().expect("a plain name");
    timeline.save(copy).expect("saved");
    assert!(told(copy).contains(REDUCED));
    drop(timeline);
    timeline::unlink(path).expect("removed");
    // It fits so often, unless it is the least, and twice as many do not.
    assert!(info.entries == 1 << 16 || info.size * times <= free);
    match Timeline::with_size(path, 2 * info.entries, 1 << 20) {
        Ok(_twice) => assert!(attach(path).info().size * times > free),
        Err(Error::NoSpace { needed, .. }) => assert!(needed > free, "{needed} of {free}"),
        Err(error) => panic!("{error:?}"),
    }
    let _ = timeline::unlink(path);
    // Who asks for what fits gets it, and no more is said about that.
    let asked = Timeline::with_size(path, info.entries, 1 << 20).expect("created");
    assert!(!attach(path).info().reduced && !told(path).contains("did not fit"));
    drop(asked);
    timeline::unlink(path).expect("removed");
}

/// Meets shared memory of the size that containers have, and of others.
pub fn has_little_shared_memory(given: &[String]) {
    for mebibytes in [64, 66, 33, 20, 8] {
        if !mount_small("/dev/shm", mebibytes << 20) {
            println!("no file system can be mounted here: only a limit on files is tested");
            break;
        }
        creates_the_largest("/little", mebibytes << 20, 3);
        // What others have taken is not free.
        std::fs::write("/dev/shm/other", vec![1; 1 << 20]).expect("room");
        creates_the_largest("/little", (mebibytes - 1) << 20, 3);
    }
    // Where not even the least fits, nothing is left.
    if mount_small("/dev/shm", 4 << 20) {
        let error = Timeline::new("/little").err();
        let Some(Error::NoSpace { needed, free, .. }) = error else {
            panic!("{error:?}");
        };
        assert!(free == 4 << 20 && needed > free);
        assert_eq!(std::fs::read_dir("/dev/shm").expect("listed").count(), 0);
    }
    // A limit counts as well, and is not met with the signal that ends most programs.
    let most = 40 << 20;
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: a limit on this process alone, and the signal as it is for most programs.
    unsafe {
        assert_eq!(libc::signal(libc::SIGXFSZ, libc::SIG_DFL), libc::SIG_DFL);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
    creates_the_largest(&format!("{}/limited.timeline", given[0]), most, 1);
}

/// Creates a timeline again and again where three of its size have no room.
pub fn restarts_where_two_fit(_: &[String]) {
    if !mount_small("/dev/shm", 26 << 20) {
        return println!("no file system can be mounted here: nothing is tested");
    }
    for round in 0..4 {
        let timeline = Timeline::with_size("/two", 1 << 16, 1 << 20).expect("there is room");
        timeline.log(define(&timeline), arguments(1, round));
        std::fs::write("/dev/shm/other", vec![1; 10 << 20]).expect("room for other files");
        let former = attach("/two").former();
        assert_eq!(former.is_some(), round > 0);
        if let Some(former) = former {
            let last = former.events(Order::NewestFirst).next().expect("an event");
            assert_eq!(checked(&last).1, round - 1);
        }
    }
    // While there is no room even without it, the former one stays.
    std::fs::write("/dev/shm/other", vec![1; 11 << 20]).expect("room");
    let error = Timeline::with_size("/two", 1 << 20, 1 << 20).err();
    assert!(matches!(error, Some(Error::NoSpace { .. })), "{error:?}");
    // It says which one takes some of it, and of large numbers what people read.
    let told = error.expect("one").to_string();
    let remedy = "are free; remove the one of the last run (`timeline rm /two`), free some space";
    assert!(
        told.contains(remedy) && told.contains(" MiB, and "),
        "{told}"
    );
    let error = Timeline::with_size("/another", 1 << 20, 1 << 20).err();
    let told = error.expect("no room").to_string();
    assert!(!told.contains("timeline rm"), "{told}");
    assert!(timeline::Attached::open("/two.prev").is_ok());
}

#[test]
fn the_oldest_of_three_runs_makes_room_for_the_newest() {
    Process::start(restarts_where_two_fit, &[]).finish();
}

#[test]
fn without_a_size_a_timeline_gets_the_largest_that_fits() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain name");
    Process::start(has_little_shared_memory, &[path]).finish();
}

/// Creates timelines from several threads at once, where there is not enough room for all of them.
pub fn share_little_shared_memory(_: &[String]) {
    const FREE: u64 = 64 << 20;
    if !mount_small("/dev/shm", FREE) {
        return println!("no file system can be mounted here: nothing is tested");
    }
    for _ in 0..6 {
        let names = ["/one", "/two", "/three", "/four", "/five"];
        let created: Vec<_> = std::thread::scope(|scope| {
            let threads = names.map(|name| scope.spawn(move || Timeline::new(name)));
            threads
                .into_iter()
                .map(|thread| thread.join().expect("no panic"))
                .collect()
        });
        let (mut there, mut taken) = (0, 0);
        for (name, created) in names.iter().zip(created) {
            match created {
                Ok(timeline) => {
                    timeline.log(define(&timeline), arguments(1, 1));
                    let info = attach(name).info();
                    assert!((1 << 16..1 << 20).contains(&info.entries) && info.reduced);
                    (there, taken) = (there + 1, taken + info.size);
                }
                Err(Error::NoSpace { .. }) => assert!(attach_fails(name)),
                Err(other) => panic!("{other}"),
            }
        }
        assert!(there > 0 && taken <= FREE, "{there} with {taken}");
        let files = std::fs::read_dir("/dev/shm").expect("listed").count();
        assert_eq!(files, there, "something is left over");
        for name in names {
            let _ = timeline::unlink(name);
        }
    }
}

fn attach_fails(name: &str) -> bool {
    timeline::Attached::open(name).is_err()
}

#[test]
fn several_that_are_created_at_once_share_what_there_is() {
    Process::start(share_little_shared_memory, &[]).finish();
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
