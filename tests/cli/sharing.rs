//! Tests one timeline for several processes and users: one call makes or joins it.
//! Only users whom the owner lets, and who trust the owner, join it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Barrier;

use timeline::{Control, Error, Level, Order, Timeline, Trust};

use crate::support::user::{are_root, become_user};
use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

/// A group that two of the users below are in.
const GROUP: u32 = 12345;

fn small(path: &str) -> Result<Timeline, Error> {
    let sizes = Timeline::options().entries(4096).string_table_size(4096);
    sizes.open_or_create(path)
}

/// Joins or makes a timeline at each word, logs once, and lets go of it at the next.
pub fn joins_or_makes(given: &[String]) {
    let rounds: i64 = given[1].parse().expect("a number");
    for round in 0..rounds {
        hear();
        match small(&given[0]) {
            Ok(timeline) => {
                timeline.log(define(&timeline), arguments(1, round));
                say("logged");
                hear();
            }
            Err(error) => say(error),
        }
        say("done");
    }
}

#[test]
fn whoever_comes_first_makes_it_and_the_others_join() {
    let name = Name::new("first");
    let mut all: Vec<_> = (0..4)
        .map(|_| Process::start(joins_or_makes, &[name.path(), "25"]))
        .collect();
    for round in 0..25 {
        all.iter_mut().for_each(Process::tell);
        all.iter_mut()
            .for_each(|p| assert_eq!(p.line(), "logged", "round {round}"));
        // All are in the one that stands at the name.
        assert_eq!(attach(name.path()).info().writers.len(), 4);
        let events: Vec<_> = attach(name.path()).events(Order::OldestFirst).collect();
        let expected = vec![(1, round); 4];
        assert_eq!(events.iter().map(checked).collect::<Vec<_>>(), expected);
        // What the round before has left was kept, and joined by nobody.
        assert_eq!(name.file_beside(".prev").exists(), round > 0);
        all.iter_mut().for_each(Process::tell);
        all.iter_mut().for_each(|p| assert_eq!(p.line(), "done"));
    }
    all.into_iter().for_each(Process::finish);
}

#[test]
fn names_that_come_and_go_are_made_or_joined_all_the_same() {
    let name = Name::new("comes");
    let together = Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                together.wait();
                for _ in 0..200 {
                    drop(small(name.path()).expect("made or joined"));
                }
            });
        }
        scope.spawn(|| {
            together.wait();
            for _ in 0..600 {
                // Most of the time nothing is there.
                let _ = timeline::unlink(name.path());
            }
        });
    });
}

#[test]
fn what_is_joined_keeps_its_size_and_what_is_made_has_that_which_was_asked_for() {
    let name = Name::new("size");
    let first = small(name.path()).expect("made");
    let options = Timeline::options().entries(256).mode(0o640);
    let second = options.open_or_create(name.path()).expect("joined");
    assert_eq!(attach(name.path()).info().entries, 4096);
    let mode = || {
        std::fs::metadata(name.file())
            .expect("there")
            .permissions()
            .mode()
            & 0o7777
    };
    assert_eq!(mode(), 0o600);
    drop((first, second));
    let third = options.open_or_create(name.path()).expect("made");
    assert_eq!(attach(name.path()).info().entries, 256);
    assert_eq!(mode(), 0o640);
    drop(third);
}

#[test]
fn everybody_cannot_be_given_the_right_to_write() {
    let name = Name::new("mode");
    for mode in [0o666, 0o602, 0o060, 0o000, 0o670, 0o4600, 0o10600] {
        let error = Timeline::options().mode(mode).create(name.path());
        let error = error.err().expect("refused");
        assert!(matches!(error, Error::BadText { .. }), "{mode:o}: {error}");
        assert!(error.to_string().ends_with(&format!("got {mode:04o}")));
    }
    assert!(!name.file().exists() && name.staged().is_empty());
}

/// As a user with one further group: makes or joins a timeline as it is told, says how that went,
/// and lets go of it at the next word.
pub fn acts_as(given: &[String]) {
    let number = |at: usize| given[at].parse::<u32>().expect("a number");
    let (user, group) = (number(0), number(1));
    become_user(user, group);
    let mut options = Timeline::options().entries(256).string_table_size(2048);
    let mut trust = Trust::default();
    for given in &given[4..] {
        let (what, value) = given.split_once('=').expect("what=value");
        let value =
            u32::from_str_radix(value, if what == "mode" { 8 } else { 10 }).expect("a number");
        options = match what {
            "mode" => options.mode(value),
            "group" => options.group(value),
            "user" => {
                trust.user = Some(value);
                options.trust_user(value)
            }
            _ => {
                trust.group = Some(value);
                options.trust_group(value)
            }
        };
    }
    let path = &given[3];
    let timeline = match given[2].as_str() {
        "create" => options.create(path),
        "open" => options.open(path),
        _ => options.open_or_create(path),
    };
    match timeline {
        Ok(timeline) => {
            timeline.log(define(&timeline), arguments(user.into(), 0));
            Control::open_trusting(path, trust)
                .and_then(|control| control.priority(Level::ALL))
                .expect("controlled");
            say("ok");
            hear();
        }
        Err(Error::NotTrusted { owner, .. }) => say(format!("not trusted: {}", owner.user)),
        Err(Error::Io { source, .. }) => say(source.kind()),
        Err(error) => say(error),
    }
}

struct Other(Process);

impl Other {
    fn new(user: u32, how: &str, path: &str, options: &[&str]) -> (Other, String) {
        let (user, group) = (user.to_string(), GROUP.to_string());
        let mut given = vec![&*user, &*group, how, path];
        given.extend(options);
        let mut process = Process::start(acts_as, &given);
        let said = process.line();
        (Other(process), said)
    }
}

fn said(user: u32, how: &str, path: &str, options: &[&str]) -> String {
    let (mut other, said) = Other::new(user, how, path, options);
    if said == "ok" {
        other.0.tell();
    }
    other.0.finish();
    said
}

#[test]
fn workers_of_another_user_join_the_ring_of_root_that_their_group_may_write_to() {
    if !are_root() {
        return;
    }
    let name = Name::new("master");
    let master = Timeline::options().entries(1024).mode(0o660).group(GROUP);
    let master = master.create(name.path()).expect("created");
    let there = std::fs::metadata(name.file()).expect("there");
    assert_eq!(
        (there.uid(), there.gid(), there.mode() & 0o7777),
        (0, GROUP, 0o660)
    );
    for how in ["open", "open_or_create"] {
        assert_eq!(said(1001, how, name.path(), &[]), "ok");
    }
    // Root does not trust workers, and needs not: it writes to its own ring.
    master.log(define(&master), arguments(0, 0));
    let logged: Vec<_> = attach(name.path()).events(Order::OldestFirst).collect();
    let who: Vec<_> = logged.iter().map(|event| checked(event).0).collect();
    assert_eq!(who, [1001, 1001, 0]);
    // Without the right to write there is nothing to trust.
    std::fs::set_permissions(name.file(), PermissionsExt::from_mode(0o600)).expect("set");
    assert_eq!(said(1001, "open", name.path(), &[]), "permission denied");
}

#[test]
fn users_of_a_group_join_one_another_if_they_say_whom_they_trust() {
    if !are_root() {
        return;
    }
    let name = Name::new("group");
    let group = format!("group={GROUP}");
    let (mut maker, made) = Other::new(1001, "create", name.path(), &["mode=660", &group]);
    assert_eq!(made, "ok");
    let joined = |options: &[&str]| said(1002, "open_or_create", name.path(), options);
    assert_eq!(joined(&[]), "not trusted: 1001");
    assert_eq!(joined(&["user=1003"]), "not trusted: 1001");
    assert_eq!(joined(&["trusted=54321"]), "not trusted: 1001");
    assert_eq!(joined(&["user=1001"]), "ok");
    assert_eq!(joined(&[&format!("trusted={GROUP}")]), "ok");
    // Root is no exception.
    for error in [
        Timeline::open(name.path()).err(),
        Timeline::open_or_create(name.path()).err(),
    ] {
        assert!(matches!(error, Some(Error::NotTrusted { .. })), "{error:?}");
    }
    assert!(matches!(
        Control::open(name.path()),
        Err(Error::NotTrusted { .. })
    ));
    let trusting = Timeline::options().trust_user(1001);
    trusting.open(name.path()).expect("named");
    // Who is named may let a group write, and not everybody.
    std::fs::set_permissions(name.file(), PermissionsExt::from_mode(0o666)).expect("set");
    assert!(matches!(
        trusting.open(name.path()),
        Err(Error::NotTrusted { .. })
    ));
    maker.0.tell();
    maker.0.finish();
}

#[test]
fn the_command_changes_the_ring_of_another_user_if_it_is_told_to_trust_them() {
    use std::process::Command;
    if !are_root() {
        return;
    }
    let name = Name::new("command");
    let (mut maker, made) = Other::new(65534, "create", name.path(), &[]);
    assert_eq!(made, "ok");
    let run = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_timeline"))
            .args(["priority", name.path(), "info"])
            .args(arguments)
            .output()
            .expect("started");
        let said = String::from_utf8_lossy(&command.stderr).into_owned();
        (command.status.code(), said)
    };
    let (status, said) = run(&[]);
    assert_eq!(status, Some(1), "{said}");
    let options = "Name that user or group as trusted (--trust-user 65534, or --trust-group \
                   65534), or have the file removed";
    assert!(said.contains(options), "{said}");
    assert_eq!(run(&["--trust-user", "1001"]).0, Some(1));
    for trusted in [
        ["--trust-user", "65534"],
        ["--trust-user", "nobody"],
        ["--trust-group", "65534"],
    ] {
        let (status, said) = run(&trusted);
        assert_eq!(status, Some(0), "{trusted:?}: {said}");
    }
    assert_eq!(run(&["--trust-user", "nobody at all"]).0, Some(2));
    assert_eq!(attach(name.path()).level().to_string(), "info");
    maker.0.tell();
    maker.0.finish();
}

#[test]
fn in_a_namespace_that_knows_no_users_the_number_of_all_is_not_our_own() {
    if !are_root() {
        return;
    }
    // Of two users that a namespace does not know, both appear as 65534.
    let name = Name::new("unknown");
    let (mut maker, made) = Other::new(
        1001,
        "create",
        name.path(),
        &["mode=660", &format!("group={GROUP}")],
    );
    assert_eq!(made, "ok");
    let mut stranger = Process::start(opens_unknown, &[name.path()]);
    assert_eq!(stranger.line(), "not trusted: 65534");
    stranger.finish();
    maker.0.tell();
    maker.0.finish();
}

/// As another user of the group, in a user namespace without any users, joins a timeline.
pub fn opens_unknown(given: &[String]) {
    become_user(1002, GROUP);
    // SAFETY: this process is one thread, and from here on in a namespace of its own.
    unsafe {
        if libc::unshare(libc::CLONE_NEWUSER) != 0 {
            // Not permitted here; nothing to see, then.
            return say("not trusted: 65534");
        }
        assert_eq!(libc::geteuid(), 65534);
    }
    match Timeline::open(&given[0]) {
        Err(Error::NotTrusted { owner, .. }) => say(format!("not trusted: {}", owner.user)),
        Err(error) => say(error),
        Ok(_) => say("joined"),
    }
}
