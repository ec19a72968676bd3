//! The index of an archive that is recorded: it grows by appending, and no search misses anything.

use std::fs;

use nix::sys::signal::Signal;
use timeline::{Priority, Timeline, event};

use crate::command::*;
use crate::support::{Name, Random};

/// Events of which single ones take more than the 4 MiB that are worth an index.
const EVENTS: usize = 50_000;

fn ids(random: &mut Random) -> Vec<u64> {
    (0..EVENTS).map(|_| random.next() >> 16).collect()
}

fn log(tl: &Timeline, ids: &[u64]) {
    for id in ids {
        event!(tl, Priority::Info, "net", "request {id}", id);
    }
}

/// The first and the last of the ids are found once.
fn are_found(path: &str, ids: &[u64]) {
    for id in [ids[0], ids[EVENTS - 1]] {
        let id = format!("id({id})");
        assert_eq!(succeed(&["search", "-c", path, &id]).stdout, "1\n", "{id}");
    }
}

#[test]
fn an_index_grows_by_appending_while_the_archive_is_recorded() {
    let (name, folder) = (Name::new("index-follow"), tempfile::tempdir().unwrap());
    let path = folder.path().join("flight.tla").display().to_string();
    let index = format!("{path}.idx");
    let mut random = Random(17);
    let (first, second) = (ids(&mut random), ids(&mut random));
    let tl = name.create(1 << 16);
    log(&tl, &first);
    let args = [
        "record",
        name.path(),
        "-o",
        &path,
        "--plain",
        "--fsync",
        "never",
    ];
    let recorder = Running::start(&args);
    eventually("the archive", || {
        let ran = run(&["info", "--json", &path]);
        ran.code == Some(0) && ran.json()[0]["events"] == EVENTS
    });
    let follower = Running::start(&["index", "--follow", &path]);
    let size = || fs::metadata(&index).map_or(0, |metadata| metadata.len());
    eventually("the index", || size() > 0);
    are_found(&path, &first);
    let before = fs::read(&index).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| log(&tl, &second));
        are_found(&path, &first);
    });
    eventually("more of the index", || size() > before.len() as u64);
    assert!(fs::read(&index).unwrap().starts_with(&before));
    recorder.signal(Signal::SIGINT);
    recorder.finish();
    are_found(&path, &second);
    // It ends by itself, because the recorder has.
    let (shown, _) = follower.succeed();
    let lines = shown[0].split(' ').next().unwrap().replace(',', "");
    // All but the last single events, to which others might be appended.
    let rest = 2 * EVENTS - lines.parse::<usize>().unwrap();
    assert!(rest <= 4096, "{shown:?}");
    are_found(&path, &first);
}

#[test]
fn following_ends_upon_a_signal_and_with_what_is_there() {
    let (name, folder) = (Name::new("index-signal"), tempfile::tempdir().unwrap());
    let path = folder.path().join("flight.tla").display().to_string();
    let tl = name.create(1024);
    event!(tl, Priority::Info, "net", "one");
    let message = fail(&["index", "--follow", name.path()]);
    assert!(message.contains("only archives have an index"), "{message}");
    let recorder = Running::start(&["record", name.path(), "-o", &path, "--fsync", "never"]);
    eventually("the archive", || run(&["info", &path]).code == Some(0));
    let follower = Running::start(&["index", "-f", &path]);
    follower.signal(Signal::SIGTERM);
    let (status, ..) = follower.finish();
    // It may not have begun to catch signals.
    assert!(status.success() || status.code().is_none(), "{status:?}");
    recorder.signal(Signal::SIGINT);
    recorder.finish();
    let shown = succeed(&["index", "--follow", &path]).stdout;
    assert!(shown.starts_with("1 line, "), "{shown}");
}

#[test]
fn a_signal_ends_it_while_it_indexes() {
    const LINES: usize = 200_000;
    let folder = tempfile::tempdir().unwrap();
    let [log, path] = ["a.log", "a.tla"].map(|name| folder.path().join(name));
    let mut random = Random(40);
    let line = |_| format!("request {:x} of {:x}\n", random.next(), random.next());
    fs::write(&log, (0..LINES).map(line).collect::<String>()).unwrap();
    let [log, path] = [log, path].map(|path| path.display().to_string());
    succeed(&["import", &log, "-o", &path]);
    let follower = Running::start(&["index", "--follow", &path, "--json"]);
    let index = format!("{path}.idx");
    eventually("the index to be begun", || fs::exists(&index).unwrap());
    follower.signal(Signal::SIGTERM);
    let (shown, _) = follower.succeed();
    let shown: serde_json::Value = serde_json::from_str(&shown[0]).unwrap();
    // It would take seconds to index all of it.
    assert!(shown["missing"].as_u64() > Some(0), "{shown}");
    // The next one goes on.
    let whole = succeed(&["index", &path, "--json"]).json();
    assert_eq!(whole[0]["missing"], 0);
    assert_eq!(whole[0]["lines"], LINES);
}
