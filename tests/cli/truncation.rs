//! Tests readers of a file that its owner, another user, cuts short again and again.
//! They get a result or an error, and never a signal.

use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use timeline::{Attached, Error, ErrorKind, FollowFrom, Order, Source, Timeline};

use crate::support::user::{are_root, become_nobody};
use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

/// As another user, makes a ring and cuts it anywhere, and puts back what was there, until it is
/// killed.
pub fn cuts_its_ring(given: &[String]) {
    become_nobody();
    let timeline = Timeline::with_size(&given[0], 4096, 8192).expect("created");
    let event = define(&timeline);
    (0..4000).for_each(|i| timeline.log(event, arguments(1, i)));
    drop(timeline);
    let path = format!("/dev/shm{}", given[0]);
    let whole = std::fs::read(&path).expect("read");
    let file = std::fs::File::options().write(true).open(&path);
    let file = file.expect("opened");
    say("ready");
    let mut random = crate::support::Random(7);
    loop {
        let cut = match random.below(3) {
            0 => 0,
            1 => random.below(whole.len() as u64),
            _ => random.below(whole.len() as u64 / 4096) * 4096,
        };
        file.set_len(cut).expect("cut");
        (0..random.below(20_000)).for_each(|_| std::hint::spin_loop());
        file.set_len(whole.len() as u64).expect("made longer");
        file.write_all_at(&whole, 0).expect("put back");
        let pause = if random.below(4) == 0 {
            3_000_000
        } else {
            200_000
        };
        (0..random.below(pause)).for_each(|_| std::hint::spin_loop());
    }
}

/// All that can be read of a ring; whether it was whole all the time.
fn read_all(path: &str, folder: &str) -> Result<(), Error> {
    let attached = Attached::open(path)?;
    let mut batch = Vec::new();
    let mut follow = attached.follow(FollowFrom::Start);
    follow.poll(&mut batch);
    let events = attached
        .events(Order::OldestFirst)
        .chain(attached.events(Order::NewestFirst));
    for event in batch.into_iter().chain(events) {
        attached.definition(event.id);
        Attached::thread(&attached, &event);
        attached.time(&event);
    }
    attached.definitions().count();
    attached.modules().count();
    attached.info();
    follow.unread();
    let saved = attached.save(format!("{folder}/saved"));
    attached.intact()?;
    if let Ok(saved) = saved {
        let copy = Attached::open(format!("{folder}/saved")).expect("whole");
        assert_eq!(copy.events(Order::OldestFirst).count() as u64, saved.events);
    }
    timeline::users(path)?;
    let _ = Timeline::with_size(path, 256, 2048)
        .map(drop)
        .expect_err("foreign");
    timeline::list().map(drop)
}

/// Reads what another process cuts, so many times.
pub fn reads_what_is_cut(given: &[String]) {
    let (mut whole, mut cut, mut refused) = (0, 0, 0);
    while whole < 5 || cut < 5 || refused < 5 {
        match read_all(&given[0], &given[1]) {
            Ok(()) => whole += 1,
            Err(Error::Truncated {
                found, expected, ..
            }) => {
                // Found to be so when it was opened, or later.
                let opened = Attached::open(&given[0]).is_ok();
                cut += i32::from(opened || found < expected);
                refused += 1;
            }
            Err(error) => {
                let kinds = [ErrorKind::NotATimeline, ErrorKind::Corrupt, ErrorKind::Io];
                assert!(kinds.contains(&error.kind()), "{error}");
                refused += 1;
            }
        }
    }
    say("done");
}

#[test]
fn a_reader_of_a_ring_that_another_user_cuts_gets_an_error_and_no_signal() {
    if !are_root() {
        return;
    }
    let name = Name::new("cut");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("a plain name");
    let mut cutter = Process::start(cuts_its_ring, &[name.path()]);
    assert_eq!(cutter.line(), "ready");
    let mut reader = Process::start(reads_what_is_cut, &[name.path(), folder]);
    assert_eq!(reader.line(), "done");
    reader.finish();
    cutter.kill();
}

#[test]
fn no_verb_dies_of_a_ring_that_another_user_cuts() {
    if !are_root() {
        return;
    }
    let name = Name::new("verbs");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |leaf: &str| {
        folder
            .path()
            .join(leaf)
            .to_str()
            .expect("a plain name")
            .to_owned()
    };
    let mut cutter = Process::start(cuts_its_ring, &[name.path()]);
    assert_eq!(cutter.line(), "ready");
    let (saved, archive) = (file("saved.timeline"), file("flight.tla"));
    let verbs: [&[&str]; 8] = [
        &["dump", name.path()],
        &["dump", name.path(), "--json"],
        &["info", name.path()],
        &["list"],
        &["save", name.path(), &saved],
        &["record", name.path(), "--once", "-o", &archive],
        // Each of these two goes on until it is cut under it, or half a second is over.
        &["record", name.path(), "-o", &archive],
        &["tail", name.path()],
    ];
    let (mut good, mut bad) = (0, 0);
    for _ in 0..5 {
        for verb in verbs {
            let output = Command::new("timeout")
                .args(["--signal=INT", "0.5", env!("CARGO_BIN_EXE_timeline")])
                .args(verb)
                .stdin(Stdio::null())
                .output()
                .expect("started");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.signal(), None, "{verb:?}: {said}");
            match output.status.code() {
                Some(0 | 124) => good += 1,
                code => {
                    bad += 1;
                    assert_eq!(code, Some(1), "{verb:?}: {said}");
                    assert!(said.starts_with("timeline: "), "{verb:?}: {said}");
                }
            }
        }
    }
    assert!(good > 0 && bad > 0, "{good} good, {bad} bad");
    cutter.kill();
}

/// Logs as another user until it is told to stop, and says how much that was.
pub fn logs_as_another_user(given: &[String]) {
    become_nobody();
    let timeline = Timeline::with_size(&given[0], 1024, 8192).expect("created");
    let event = define(&timeline);
    say("ready");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let count = std::thread::scope(|scope| {
        let logging = scope.spawn(|| {
            let mut count = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                timeline.log(event, arguments(1, count));
                count += 1;
            }
            count
        });
        hear();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        logging.join().expect("logged")
    });
    say(count);
    hear();
}

#[test]
fn a_live_ring_of_another_user_is_followed_without_a_torn_event_or_a_loss_that_is_not_counted() {
    if !are_root() {
        return;
    }
    let name = Name::new("followed");
    let mut writer = Process::start(logs_as_another_user, &[name.path()]);
    assert_eq!(writer.line(), "ready");
    let attached = attach(name.path());
    let mut follow = attached.follow(FollowFrom::Start);
    let (mut next, mut came, mut missed, mut batch, mut stopped) = (0, 0, 0, Vec::new(), None);
    for round in 0.. {
        batch.clear();
        let lost = follow.poll(&mut batch);
        missed += lost;
        came += batch.len() as u64;
        for event in &batch {
            let (_, number) = checked(event);
            assert!(number >= next, "{number} after {next}");
            next = number + 1;
        }
        for event in attached.events(Order::NewestFirst) {
            checked(&event);
        }
        if round == 150 {
            writer.tell();
            stopped = Some(writer.line());
        } else if stopped.is_some() && batch.is_empty() && lost == 0 {
            break;
        }
    }
    let logged: i64 = stopped
        .and_then(|said| said.parse().ok())
        .expect("a number");
    assert_eq!(next, logged, "the last one came");
    assert_eq!(attached.info().entries_written as i64, logged);
    assert_eq!((came + missed) as i64, logged);
    attached.intact().expect("nobody cut it");
    writer.tell();
    writer.finish();
}
