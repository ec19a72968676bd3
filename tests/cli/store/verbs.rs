//! The verbs: `timeline record --to` and `timeline store`, which are killed, too.

use std::path::Path;

use nix::sys::signal::Signal;
use timeline_archive::Archive;

use super::place::{Program, assert_same, events, eventually, is_important, traces};
use super::{own_address, receiving};
use crate::command::{Running, fail, run, snapshot, succeed};
use crate::support::size;

#[test]
fn a_recording_is_sent_and_read_like_any_other() {
    let mut program = Program::new("sent", 1024);
    program.log(50);
    let folder = tempfile::tempdir().unwrap();
    let traces_of_it = folder.path().join("traces");
    let (mut store, address) = receiving(&traces_of_it, "127.0.0.1:0");
    let second = traces_of_it.display().to_string();
    let refused = fail(&["store", &second, "--listen", "127.0.0.1:0"]);
    assert!(refused.contains("another store"), "{refused}");
    // It ends, and the program does not.
    let path = &snapshot(&program.name, folder.path());
    let sent = succeed(&[
        "record",
        path,
        "--to",
        &address,
        "--once",
        "--label",
        "service=db",
    ]);
    assert!(
        sent.stderr
            .contains(&format!("recorded 53 events of {path} to {address}")),
        "{sent:?}"
    );
    let said = store.stderr_until("the end of the session", |lines| {
        lines.iter().any(|line| line.contains(" has ended: "))
    });
    assert!(
        said.iter().any(|line| line.contains("receiving ")),
        "{said:?}"
    );
    store.signal(Signal::SIGTERM);
    store.succeed();
    let all = traces(&folder.path().join("traces"));
    let trace = all[0].display().to_string();
    let own = folder.path().join("own.tla").display().to_string();
    succeed(&["record", path, "-o", &own, "--once"]);
    let read = |path: &str| succeed(&["dump", "--json", path]).stdout;
    assert_eq!((all.len(), read(&trace)), (1, read(&own)));
    succeed(&["verify", &trace]);
    // The directory of the store is none of a run.
    for place in [traces_of_it.as_path(), all[0].parent().unwrap()] {
        let told = fail(&["info", &place.display().to_string()]);
        assert!(told.contains(&format!("such as {trace}")), "{told}");
    }
    let told = succeed(&["info", &trace]).stdout;
    assert!(told.contains("  session    ended\n"), "{told}");
    assert!(told.contains("  label      service=db\n"), "{told}");
    let told = &succeed(&["info", "--json", &trace]).json()[0];
    let session = &told["programs"][0]["session"];
    assert_eq!(session["state"], "ended");
    assert_eq!(session["labels"]["service"], "db");
    assert_eq!(told["unknown_records"], 0);
    let told = &succeed(&["info", "--json", &own]).json()[0];
    assert!(told["programs"][0]["session"].is_null(), "{told}");
}

/// What the state of a session is, is told by its files alone.
#[test]
fn a_session_is_receiving_or_broken_off_or_has_ended() {
    let mut program = Program::new("state", 1024);
    program.log(5);
    let folder = tempfile::tempdir().unwrap();
    let (store, address) = receiving(folder.path(), &own_address());
    let recorder = Running::start(&["record", program.name.path(), "--to", &address]);
    eventually("the events to arrive", || has(folder.path(), 5));
    let trace = traces(folder.path())[0].display().to_string();
    let state = || {
        let told = &succeed(&["info", "--json", &trace]).json()[0];
        told["programs"][0]["session"]["state"].clone()
    };
    assert_eq!(state(), "receiving");
    store.signal(Signal::SIGKILL);
    store.finish();
    assert_eq!(state(), "broken off");
    let (store, _) = receiving(folder.path(), &address);
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    assert_eq!(state(), "ended");
}

#[test]
fn a_store_removes_what_is_too_old_or_too_much() {
    let mut program = Program::new("old", 1024);
    program.log(50);
    let folder = tempfile::tempdir().unwrap();
    let (store, address) = receiving(folder.path(), "127.0.0.1:0");
    let path = &snapshot(&program.name, folder.path());
    let send = |address: &str| {
        let sent = succeed(&["record", path, "--to", address, "--once"]);
        assert!(sent.stderr.contains("recorded 53 events"), "{sent:?}");
    };
    send(&address);
    store.signal(Signal::SIGTERM);
    store.succeed();
    assert_eq!(traces(folder.path()).len(), 1);
    let at = folder.path().display().to_string();
    let options = ["--listen", "127.0.0.1:0", "--rotate-size", "64K"];
    let file = Path::new(&traces(folder.path())[0]).join("timeline-000001.tla");
    let file = std::fs::File::options().append(true).open(file).unwrap();
    for (keep, is_gone) in [
        (["--keep-total", "64K"], false),
        (["--keep-age", "3h"], false),
        (["--keep-age", "1h"], true),
    ] {
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
        file.set_modified(old).unwrap();
        let args = [&["store", &at][..], &options, &keep].concat();
        let mut store = Running::start(&args);
        let address = store.stdout_until("an address", |lines| !lines.is_empty())[0].clone();
        if is_gone {
            let removed = |lines: &[String]| lines.iter().any(|line| line.contains("removed "));
            store.stderr_until("the end of a file", removed);
            assert!(traces(folder.path()).is_empty());
            // What is not there any more is sent again.
            send(&address);
        }
        assert_eq!(events(&traces(folder.path())[0]).len(), 53, "{keep:?}");
        store.signal(Signal::SIGTERM);
        store.succeed();
    }
    let refused = run(&["store", &at, "--keep-size", "64K"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn a_recorder_waits_for_a_store_and_says_so_once() {
    let mut program = Program::new("waits", 1024);
    program.log(5);
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let (first, address) = receiving(folder.path(), &own_address());
    first.signal(Signal::SIGTERM);
    first.succeed();
    let mut recorder = Running::start(&["record", program.name.path(), "--to", &address]);
    let trying = |lines: &[String]| lines.iter().any(|line| line.contains("trying again"));
    let said = recorder.stderr_until("a complaint", trying);
    assert!(
        said[0].contains(&format!("cannot connect to {address}")),
        "{said:?}"
    );
    let (store, _) = receiving(folder.path(), &address);
    let going_on = |lines: &[String]| lines.iter().any(|line| line.contains("recording"));
    recorder.stderr_until("an end of it", going_on);
    program.log(5);
    recorder.signal(Signal::SIGINT);
    let (_, said) = recorder.succeed();
    let complaints = said.iter().filter(|line| line.contains("cannot")).count();
    assert_eq!(complaints, 1, "{said:?}");
    assert_same(
        &events(&traces(folder.path())[0]),
        &program.recorded_here(),
        "all",
    );
    store.signal(Signal::SIGTERM);
    store.succeed();
    // Without a store, it ends after the time that it was given.
    let ran = run(&[
        "record",
        program.name.path(),
        "--to",
        &address,
        "--for",
        "200ms",
    ]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("cannot connect to"), "{ran:?}");
}

#[test]
fn both_sides_are_killed_again_and_again_and_nothing_is_lost() {
    let mut program = Program::new("killed", 1 << 14);
    let folder = tempfile::tempdir().unwrap();
    let (mut store, address) = receiving(folder.path(), &own_address());
    let args = ["record", program.name.path(), "--to", &address];
    let args = args.map(String::from);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut sending = Running::start(&args);
    for round in 0..20 * size() {
        program.log(400);
        match round % 3 {
            0 => {
                store.signal(Signal::SIGKILL);
                store.finish();
                (store, _) = receiving(folder.path(), &address);
            }
            1 => {
                sending.signal(Signal::SIGKILL);
                sending.finish();
                sending = Running::start(&args);
            }
            _ => {}
        }
        if round % 5 == 4 {
            let logged = program.logged;
            eventually("all to arrive", || has(folder.path(), logged));
        }
    }
    sending.signal(Signal::SIGINT);
    sending.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    let trace = traces(folder.path());
    assert_eq!(trace.len(), 1, "{trace:?}");
    assert_same(
        &events(&trace[0]),
        &program.recorded_here(),
        "all that was logged",
    );
}

/// Whether a store has so many plain events.
fn has(folder: &Path, logged: i64) -> bool {
    let found = |trace: &std::path::PathBuf| {
        let archive = Archive::open(trace).ok()?;
        let plain = archive.events().filter(|event| !is_important(event));
        Some(plain.count() as i64)
    };
    traces(folder).iter().find_map(found) >= Some(logged)
}

#[test]
fn other_machines_connect_only_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let ran = run(&["store", &path, "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--token-file"), "{ran:?}");
    for args in [
        &["record", "/x", "--to", "1980"][..],
        &["record", "/x", "--to", "host:port"],
        &["record", "/x", "--to", "host", "-o", "x.tla"],
        &["record", "/x", "-o", "x.tla", "--buffer", "1M"],
        &["record", "/x", "--to", "host", "--label", "service"],
        &["record", "/x"],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
}
