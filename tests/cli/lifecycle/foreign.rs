//! Tests what other users can do to a program: nothing.
//! No file that they put at a name gets into a program, and none of their locks holds it up.

use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use timeline::{Attached, Control, Error, ErrorKind, Order, Priority, Timeline};

use crate::support::user::{NOBODY, are_root, become_nobody};
use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

fn small(path: &str) -> Result<Timeline, Error> {
    Timeline::with_size(path, 256, 2048)
}

fn owner(file: &std::path::Path) -> (u32, u32) {
    let there = std::fs::metadata(file).expect("there");
    (there.uid(), there.mode() & 0o7777)
}

/// Takes locks of a kind on so many bytes.
pub fn lock(file: &File, kind: libc::c_int, start: i64, length: i64) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    let lock = libc::flock {
        l_type: kind as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: start,
        l_len: length,
        l_pid: 0,
    };
    // SAFETY: an open descriptor and a valid flock.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

pub const LOCKS: i64 = 1 << 62;

/// Takes locks of a kind on what is locked for a moment only.
fn lock_moments(file: &File, kind: libc::c_int) {
    lock(file, kind, LOCKS, 4096).expect("free");
}

/// Takes locks of a kind on each slot that no writer has.
fn lock_slots(file: &File, kind: libc::c_int) {
    let free = (0..1024).filter(|slot| lock(file, kind, LOCKS + 4096 + slot, 1).is_ok());
    assert!(free.count() > 1000);
}

/// Takes locks of a kind on all that it can.
fn lock_all(file: &File, kind: libc::c_int) {
    lock_moments(file, kind);
    lock_slots(file, kind);
}

/// As another user, makes a ring at each name that everybody may use, and locks all of it.
pub fn squats(given: &[String]) {
    become_nobody();
    let mut held = Vec::new();
    for path in given {
        let file = format!("/dev/shm{path}");
        drop(small(path).expect("created"));
        std::fs::set_permissions(&file, Permissions::from_mode(0o666)).expect("set");
        let file = File::options().read(true).write(true).open(file);
        held.push(file.expect("opened"));
        lock_all(&held[held.len() - 1], libc::F_WRLCK);
    }
    say("ready");
    hear();
}

fn refused<T>(result: Result<T, Error>) {
    let error = result.err().expect("it is another user's");
    let Error::NotTrusted { owner, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(owner.user, NOBODY);
    assert_eq!(error.kind(), ErrorKind::NotTrusted);
    let text = error.to_string();
    assert!(text.contains("belongs to user 65534"), "{text}");
}

#[test]
fn what_another_user_put_beside_a_name_is_neither_taken_nor_waited_for() {
    if !are_root() {
        return;
    }
    let name = Name::new("squatted");
    let beside = [".creating", ".creating-0123456789abcdef"].map(|suffix| name.beside(suffix));
    let mut squatter = Process::start(squats, &[&beside[0], &beside[1]]);
    assert_eq!(squatter.line(), "ready");
    let timeline = small(name.path()).expect("nothing stands in its way");
    timeline.log(define(&timeline), arguments(1, 1));
    // SAFETY: geteuid takes nothing and cannot fail.
    assert_eq!(owner(&name.file()), (unsafe { libc::geteuid() }, 0o600));
    assert_eq!(attach(name.path()).events(Order::OldestFirst).count(), 1);
    for path in &beside {
        let left = format!("/dev/shm{path}");
        assert_eq!(
            owner(left.as_ref()),
            (NOBODY, 0o666),
            "{path} is left alone"
        );
        assert_eq!(attach(path).info().entries_written, 0);
    }
    squatter.tell();
    squatter.finish();
}

#[test]
fn a_ring_of_another_user_is_neither_joined_nor_replaced_nor_waited_for() {
    if !are_root() {
        return;
    }
    let name = Name::new("foreign");
    let mut squatter = Process::start(squats, &[name.path()]);
    assert_eq!(squatter.line(), "ready");
    for mode in [0o666, 0o660, 0o600] {
        std::fs::set_permissions(name.file(), Permissions::from_mode(mode)).expect("set");
        refused(small(name.path()));
        refused(Timeline::open(name.path()));
        refused(Control::open(name.path()));
    }
    // Everybody may read what they may open, and remove what the system lets them.
    attach(name.path());
    timeline::unlink(name.path()).expect("removed");
    squatter.tell();
    squatter.finish();
}

/// The one file that is kept of the run before beside `.prev`, as it is opened.
fn kept(name: &Name) -> String {
    let [kept] = &name.kept()[..] else {
        panic!("{:?}", name.kept());
    };
    let leaf = kept.file_name().expect("a name").to_str();
    format!("/{}", leaf.expect("a plain name"))
}

/// The number of the one event in a ring.
fn number(attached: &Attached) -> i64 {
    let mut events = attached.events(Order::OldestFirst);
    let number = checked(&events.next().expect("an event")).1;
    assert!(events.next().is_none());
    number
}

/// Creates a ring and logs a number.
fn logs(path: &str, number: i64) {
    let timeline = small(path).expect("nothing stands in its way");
    timeline.log(define(&timeline), arguments(1, number));
}

#[test]
fn what_another_user_put_at_the_name_of_the_former_stays_and_the_former_has_another() {
    if !are_root() {
        return;
    }
    let name = Name::new("former");
    let prev = name.file_beside(".prev");
    logs(name.path(), 1);
    let mut squatter = Process::start(squats, &[&name.beside(".prev")]);
    assert_eq!(squatter.line(), "ready");
    let squatted = std::fs::read(&prev).expect("read");
    for run in 2..=4 {
        logs(name.path(), run);
        let live = attach(name.path());
        assert_eq!(number(&live), run);
        // Of one generation, under one name.
        assert_eq!(number(&attach(&kept(&name))), run - 1);
        // Although that of the other user may be newer.
        let former = live.former().expect("kept");
        assert_eq!(former.path().to_str(), Some(&*kept(&name)));
        assert_eq!(owner(&prev).0, NOBODY);
        assert_eq!(std::fs::read(&prev).expect("read"), squatted);
    }
    assert!(name.staged().is_empty());
    squatter.tell();
    squatter.finish();
    // Who has that name no more stands in nobody's way.
    std::fs::remove_file(&prev).expect("removed");
    logs(name.path(), 5);
    assert_eq!(number(&attach(&name.beside(".prev"))), 4);
    assert_eq!(number(&attach(name.path()).former().expect("kept")), 4);
}

#[test]
fn what_another_user_put_at_a_numbered_name_is_never_the_former() {
    if !are_root() {
        return;
    }
    let name = Name::new("planted");
    let planted = name.beside(".prev-0123456789abcdef");
    logs(&planted, -1);
    let planted = format!("/dev/shm{planted}");
    std::os::unix::fs::chown(&planted, Some(NOBODY), Some(NOBODY)).expect("given away");
    logs(name.path(), 1);
    let live = attach(name.path());
    assert!(live.former().is_none(), "there was no run before");
    logs(name.path(), 2);
    let live = attach(name.path());
    assert_eq!(number(&live.former().expect("kept")), 1);
    assert_eq!(owner(planted.as_ref()).0, NOBODY, "it is left alone");
    // What stands at the name is nobody's: then that user's run before is, too.
    std::fs::remove_file(name.file_beside(".prev")).expect("removed");
    std::os::unix::fs::chown(name.file(), Some(NOBODY), Some(NOBODY)).expect("given away");
    let former = attach(name.path()).former();
    assert_eq!(number(&former.expect("of the same owner")), -1);
}

/// As another user, creates a ring twice.
pub fn restarts_as_another_user(given: &[String]) {
    become_nobody();
    for run in 1..=3 {
        logs(&given[0], run);
    }
}

#[test]
fn a_former_that_may_be_trusted_and_not_replaced_stays_as_well() {
    if !are_root() {
        return;
    }
    // In a folder where nobody may take away what is another user's.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).expect("set");
    let path = |suffix: &str| {
        let path = folder.path().join(format!("ring{suffix}"));
        path.to_str().expect("a plain name").to_owned()
    };
    logs(&path(".prev"), 0);
    std::fs::set_permissions(path(".prev"), Permissions::from_mode(0o644)).expect("set");
    Process::start(restarts_as_another_user, &[&path("")]).finish();
    assert_eq!(number(&attach(&path(".prev"))), 0);
    let live = attach(&path(""));
    assert_eq!(number(&live), 3);
    assert_eq!(number(&live.former().expect("kept")), 2);
    let files = std::fs::read_dir(folder.path()).expect("listed");
    assert_eq!(files.count(), 3);
}

#[test]
fn a_ring_that_everybody_may_write_to_is_not_joined() {
    let name = Name::new("open");
    let first = small(name.path()).expect("created");
    for mode in [0o666, 0o602] {
        std::fs::set_permissions(name.file(), Permissions::from_mode(mode)).expect("set");
        let error = Timeline::open(name.path()).err().expect("refused");
        assert!(matches!(error, Error::NotTrusted { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("everybody may write to it"), "{text}");
    }
    std::fs::set_permissions(name.file(), Permissions::from_mode(0o660)).expect("set");
    Timeline::open(name.path()).expect("a group is its owner's to name");
    drop(first);
}

/// As another user who may read a ring, locks all of it as readers may.
pub fn locks_everything(given: &[String]) {
    become_nobody();
    let file = File::open(format!("/dev/shm{}", given[0])).expect("opened");
    lock_all(&file, libc::F_RDLCK);
    say("ready");
    hear();
}

#[test]
fn locks_of_another_user_are_not_waited_for_without_bound() {
    if !are_root() {
        return;
    }
    let name = Name::new("locked");
    let first = small(name.path()).expect("created");
    let event = define(&first);
    std::fs::set_permissions(name.file(), Permissions::from_mode(0o644)).expect("set");
    let mut locker = Process::start(locks_everything, &[name.path()]);
    assert_eq!(locker.line(), "ready");
    let locked = |result: Result<(), Error>| {
        let error = result.expect_err("it is locked");
        let Error::Locked { owner, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((owner.user, owner.mode), (0, 0o644));
        assert_eq!(error.kind(), ErrorKind::Busy);
    };
    // At once, for the sake of time.
    std::thread::scope(|scope| {
        scope.spawn(|| locked(small(name.path()).map(drop)));
        scope.spawn(|| locked(Timeline::open(name.path()).map(drop)));
        scope.spawn(|| locked(Control::open(name.path()).map(drop)));
        scope.spawn(|| locked(first.define("other", Priority::Info, "later").map(drop)));
        scope.spawn(|| locked(first.priority(first.level())));
    });
    // Logging and reading go on.
    first.log(event, arguments(1, 1));
    assert_eq!(attach(name.path()).events(Order::OldestFirst).count(), 1);
    locker.tell();
    locker.finish();
    first
        .define("other", Priority::Info, "later")
        .expect("free");
    drop(first);
    small(name.path()).expect("free");
}

/// As another user who may read a ring, locks as readers may what only writers do.
pub fn locks_slots(given: &[String]) {
    become_nobody();
    let file = File::open(format!("/dev/shm{}", given[0])).expect("opened");
    lock_slots(&file, libc::F_RDLCK);
    say("ready");
    hear();
}

/// The threads that a ring of 4,096 entries has records for.
const RECORDS: usize = 64;

/// In a pid namespace of its own, logs from as many threads as there are records, and ends in the
/// middle of it.
pub fn dies_unseen(given: &[String]) {
    // SAFETY: this process is one thread; its child has a pid namespace of its own, and ends in
    // here.
    let child = unsafe {
        assert_eq!(libc::unshare(libc::CLONE_NEWPID), 0);
        libc::fork()
    };
    if child == 0 {
        let timeline = Timeline::open(&given[0]).expect("joined");
        let event = define(&timeline);
        let logged = std::sync::Barrier::new(RECORDS);
        std::thread::scope(|scope| {
            for who in 0..RECORDS {
                let (timeline, logged) = (&timeline, &logged);
                scope.spawn(move || {
                    timeline.log(event, arguments(who as i64, 0));
                    if logged.wait().is_leader() {
                        // SAFETY: ends the process.
                        unsafe { libc::_exit(0) };
                    }
                    std::thread::park();
                });
            }
        });
    }
    let mut status = 0;
    // SAFETY: a valid place for a status.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!((waited, status), (child, 0));
}

#[test]
fn what_readers_lock_makes_nobody_live_and_no_table_full() {
    if !are_root() {
        return;
    }
    let name = Name::new("shared-locks");
    let first = Timeline::with_size(name.path(), 1 << 12, 2048).expect("created");
    let event = define(&first);
    std::fs::set_permissions(name.file(), Permissions::from_mode(0o644)).expect("set");
    Process::start(dies_unseen, &[name.path()]).finish();
    let mut locker = Process::start(locks_slots, &[name.path()]);
    assert_eq!(locker.line(), "ready");

    first.log(event, arguments(-1, 0));
    let attached = attach(name.path());
    let last = attached.events(Order::NewestFirst).next().expect("events");
    assert_eq!(last.args, arguments(-1, 0));
    let thread = attached.thread(&last);
    assert!(thread.is_some(), "a record of the dead is free");

    let error = Timeline::open(name.path()).err().expect("no slot is free");
    let Error::Locked { owner, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((owner.user, owner.mode), (0, 0o644));
    assert_eq!(error.kind(), ErrorKind::Busy);
    locker.tell();
    locker.finish();
    Timeline::open(name.path()).expect("free");
}

#[test]
fn a_table_whose_every_slot_a_writer_holds_is_full() {
    let name = Name::new("full");
    drop(small(name.path()).expect("created"));
    let file = File::options().read(true).write(true).open(name.file());
    let file = file.expect("opened");
    lock_slots(&file, libc::F_WRLCK);
    let error = Timeline::open(name.path()).err().expect("no slot is free");
    assert!(matches!(error, Error::ProcessTableFull { .. }), "{error}");
    // Not by closing the file: a child that another test forks has it open for a moment.
    lock_slots(&file, libc::F_UNLCK);
    Timeline::open(name.path()).expect("free");
}

/// Creates a timeline under a umask, and says what became of its mode.
pub fn has_a_umask(given: &[String]) {
    let mask = u32::from_str_radix(&given[1], 8).expect("octal");
    // SAFETY: changes only the umask of this process.
    unsafe { libc::umask(mask) };
    let timeline = small(&given[0]).expect("created");
    timeline.save(format!("{}/saved", given[2])).expect("saved");
    let (_, ring) = owner(format!("/dev/shm{}", given[0]).as_ref());
    let (_, saved) = owner(format!("{}/saved", given[2]).as_ref());
    say(format!("{ring:o} {saved:o}"));
}

#[test]
fn the_mode_is_the_same_whatever_the_umask() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("a plain name");
    for mask in ["0", "22", "177", "777"] {
        let name = Name::new("umask");
        let mut child = Process::start(has_a_umask, &[name.path(), mask, folder]);
        assert_eq!(child.line(), "600 600", "{mask}");
        child.finish();
    }
}

#[test]
fn what_killed_creators_left_is_removed_by_the_next_of_the_same_user_and_of_no_other() {
    let name = Name::new("swept");
    let file = |digits: &str| name.file_beside(&format!(".creating-{digits}"));
    let ours = file("0123456789abcdef");
    std::fs::write(&ours, [0; 8192]).expect("written");
    let other = file("fedcba9876543210");
    std::fs::write(&other, [0; 8192]).expect("written");
    let foreign = are_root();
    if foreign {
        std::os::unix::fs::chown(&other, Some(NOBODY), None).expect("given away");
    }
    let near = [
        ".creating-0123456789abcde",
        ".creating-0123456789abcdex",
        ".creating-",
    ];
    let near = near.map(|suffix| name.file_beside(suffix));
    for path in &near {
        std::fs::write(path, "somebody's notes").expect("written");
    }
    let elsewhere = Name::new("not-swept");
    let another = elsewhere.file_beside(".creating-0123456789abcdef");
    std::fs::write(&another, [0; 8192]).expect("written");
    drop(small(name.path()).expect("created"));
    assert!(!ours.exists());
    assert!(another.exists(), "it was to have another name");
    assert_eq!(other.exists(), foreign);
    for path in &near {
        assert!(path.exists(), "{}", path.display());
    }
    // Readers see through it, too.
    assert!(matches!(
        Attached::open(name.beside(".creating-fedcba9876543210")),
        Err(Error::Unfinished { .. } | Error::NotFound { .. })
    ));
}
