//! Readers whose descriptors the host closes.

use std::path::Path;

use timeline::{Attached, Error, Order};

use super::{EVENTS, all_of, log_into, take_over};
use crate::support::user::{are_root, become_nobody};
use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

/// How many events a ring holds, and who logged each.
fn logged(attached: &Attached) -> Vec<i64> {
    let events = attached.events(Order::OldestFirst);
    events.map(|event| checked(&event).0).collect()
}

/// Creates a ring of nobody, and logs in the name of that user.
pub fn logs_as_nobody(given: &[String]) {
    become_nobody();
    let _timeline = log_into(&given[0], 0o600);
    say("logged");
    hear();
}

/// Attaches to a ring, closes the descriptors behind the back of the library, and opens a ring of
/// other events there.
pub fn closes_what_it_reads(given: &[String]) {
    let [path, decoy, mapped] = given else {
        panic!("three arguments");
    };
    let [file, decoy_file] = [path, decoy].map(|path| Path::new("/dev/shm").join(&path[1..]));
    let is_mapped = mapped == "mapped";
    let host = std::fs::File::open(&decoy_file).expect("opened");
    let attached = attach(path);
    let here = |what: &str| {
        assert_eq!(logged(&attached), [1; EVENTS], "{what}");
        let info = attached.info();
        assert_eq!(info.entries_written, EVENTS as u64, "{what}");
        assert!(!info.writers.is_empty() && info.writers.iter().all(|w| w.alive));
        attached.intact().expect("whole");
        assert!(!attached.replaced());
    };
    here("before");
    // Closed, and not used again by anybody.
    let first = take_over(&file, &host);
    // For locks, and for reading what is not mapped.
    assert_eq!(first.len(), if is_mapped { 1 } else { 2 }, "{first:?}");
    // SAFETY: as in `take_over`.
    first.iter().for_each(|number| unsafe {
        libc::close(*number);
    });
    here("closed");
    let second = take_over(&file, &host);
    assert!(!second.is_empty(), "it was opened again");
    here("taken over");
    // And again, and now the name leads to the other ring.
    let third = take_over(&file, &host);
    std::fs::remove_file(&file).expect("removed");
    std::fs::copy(&decoy_file, &file).expect("copied");
    let events = logged(&attached);
    let info = attached.info();
    assert!(attached.replaced());
    if is_mapped {
        assert_eq!(events, [1; EVENTS]);
        attached.intact().expect("whole");
    } else {
        assert!(events.is_empty(), "{events:?}");
        let Err(error @ Error::Io { .. }) = attached.intact() else {
            panic!("it says nothing");
        };
        assert!(error.to_string().contains("closed the descriptor"));
        let folder = tempfile::tempdir().expect("a folder");
        let saved = attached.save(folder.path().join("saved"));
        saved.expect_err("nothing is to be had");
    }
    // The descriptor was all that the locks could be asked through.
    assert!(info.writers.iter().all(|writer| writer.alive));
    drop(attached);
    let open = all_of(&decoy_file);
    for number in second.iter().chain(&third) {
        assert!(open.contains(number), "{number} of the host was closed");
    }
}

fn with_taken_over(path: &str, mapped: &str) {
    let decoy = Name::new("decoy");
    let other = log_into(decoy.path(), 0o600);
    let event = define(&other);
    (0..EVENTS as i64).for_each(|number| other.log(event, arguments(666, number)));
    Process::start(closes_what_it_reads, &[path, decoy.path(), mapped]).finish();
}

#[test]
fn what_the_host_opens_in_the_place_of_a_descriptor_is_neither_read_nor_closed() {
    for (mode, how) in [(0o600, "mapped"), (0o660, "in pieces")] {
        let name = Name::new("closed");
        let writer = log_into(name.path(), mode);
        with_taken_over(name.path(), how);
        drop(writer);
    }
}

#[test]
fn nor_where_the_ring_is_of_another_user() {
    if !are_root() {
        return;
    }
    let name = Name::new("closed");
    let mut writer = Process::start(logs_as_nobody, &[name.path()]);
    assert_eq!(writer.line(), "logged");
    with_taken_over(name.path(), "in pieces");
    writer.tell();
    writer.finish();
}

/// Attaches to a ring that it may not map, with and without room for one mapping more.
pub fn has_no_room_to_map(given: &[String]) {
    // What this takes of the heap, the second time finds there.
    attach(&given[0]);
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: limits of this process alone, in a valid place.
    let attached = unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &mut limit), 0);
        let none = libc::rlimit {
            rlim_cur: 0,
            ..limit
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &none), 0);
        let attached = Attached::open(&given[0]);
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
        attached
    };
    let error = attached.err().expect("nothing keeps its inode");
    let Error::Io { source, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(source.raw_os_error(), Some(libc::ENOMEM), "{error}");
    attach(&given[0]);
}

#[test]
fn a_file_whose_inode_nothing_keeps_is_not_read() {
    let name = Name::new("held");
    let writer = log_into(name.path(), 0o660);
    Process::start(has_no_room_to_map, &[name.path()]).finish();
    drop(writer);
}
