//! Tests file systems and kernels that refuse what most can do.
//! They refuse locks, renaming onto a free name only, and more than a quota.

use timeline::{Error, Order, Timeline};

use super::race::{creates_at_the_word, exactly_one_creates};
use crate::support::kernel::{Refusal, refuse};
use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

fn small(path: &str) -> Result<Timeline, Error> {
    Timeline::with_size(path, 256, 2048)
}

/// Creates a timeline where files cannot be locked.
pub fn has_no_locks(given: &[String]) {
    let lock = libc::F_OFD_SETLK as u32;
    refuse(&[Refusal {
        call: libc::SYS_fcntl,
        argument: 1,
        values: lock..=lock,
        error: libc::ENOLCK,
    }]);
    let Err(Error::Io { doing, source, .. }) = small(&given[0]) else {
        panic!("it was created");
    };
    assert_eq!((doing, source.raw_os_error()), ("lock", Some(libc::ENOLCK)));
}

#[test]
fn where_files_cannot_be_locked_nothing_is_left() {
    let name = Name::new("no-locks");
    Process::start(has_no_locks, &[name.path()]).finish();
    assert!(!name.file().exists());
    assert!(name.staged().is_empty(), "{:?}", name.staged());
}

/// Renaming cannot be told to replace nothing, as on NFS.
fn has_plain_renames() {
    refuse(&[Refusal::always(libc::SYS_renameat2, libc::EINVAL)]);
}

/// Creates a timeline three times where renaming cannot be told to replace nothing.
pub fn renames_by_links(given: &[String]) {
    has_plain_renames();
    for number in 1..=3 {
        let timeline = small(&given[0]).expect("created");
        timeline.log(define(&timeline), arguments(1, number));
        assert!(matches!(small(&given[0]), Err(Error::InUse { .. })));
    }
}

fn held(path: &str) -> Vec<(i64, i64)> {
    let events = attach(path);
    let events = events.events(Order::OldestFirst);
    events.map(|event| checked(&event)).collect()
}

#[test]
fn where_renaming_cannot_keep_from_replacing_links_do() {
    let name = Name::new("links");
    Process::start(renames_by_links, &[name.path()]).finish();
    assert_eq!(held(name.path()), [(1, 3)]);
    assert_eq!(held(&name.beside(".prev")), [(1, 2)]);
    assert!(name.staged().is_empty());
}

/// As `creates_at_the_word`, where renaming cannot be told to replace nothing.
pub fn creates_by_links(given: &[String]) {
    has_plain_renames();
    creates_at_the_word(given);
}

#[test]
fn of_several_that_create_one_name_at_once_one_does_also_by_links() {
    let name = Name::new("linked");
    for _ in 0..25 {
        exactly_one_creates(creates_by_links, name.path(), || ());
        assert!(name.staged().is_empty());
    }
}

/// Creates timelines where a quota leaves 40 MiB.
pub fn has_a_quota(given: &[String]) {
    refuse(&[Refusal {
        call: libc::SYS_fallocate,
        // The place of the first byte: not all are asked for at once.
        argument: 2,
        values: 40 << 20..=u32::MAX,
        error: libc::EDQUOT,
    }]);
    let Err(Error::NoSpace { needed, .. }) = Timeline::with_size(&given[0], 1 << 20, 1 << 20)
    else {
        panic!("there is no room for it");
    };
    assert!(needed > 1 << 26);
    // The largest that fits, where no size was given.
    let timeline = Timeline::new(&given[0]).expect("created");
    timeline.log(define(&timeline), arguments(1, 1));
    say("created");
    hear();
}

#[test]
fn a_quota_counts_as_the_space_there_is() {
    let name = Name::new("quota");
    let mut process = Process::start(has_a_quota, &[name.path()]);
    assert_eq!(process.line(), "created");
    let info = attach(name.path()).info();
    assert_eq!((info.entries, info.reduced), (1 << 19, true));
    assert!(name.staged().is_empty());
    process.tell();
    process.finish();
}
