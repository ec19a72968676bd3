//! What somebody puts in the place of a file, while it is being opened, is not served.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use timeline::{Priority, event};

use super::http::Served;
use crate::command::*;
use crate::support::{Name, size};

/// An archive, or a snapshot, all of whose events say this.
fn log(path: &Path, said: &str) {
    let name = Name::new("links");
    let tl = name.create(1024);
    for number in 0..20 {
        event!(tl, Priority::Info, "net", "{said} {number}", said, number);
    }
    let file = snapshot(&name, path.parent().unwrap());
    match path.extension() {
        Some(ending) if ending == "tla" => {
            let path = path.display().to_string();
            succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
            fs::remove_file(file).unwrap();
        }
        _ => fs::rename(file, path).unwrap(),
    }
}

/// Gives each of two things the name of the other, again and again.
fn swap(one: &Path, other: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE).unwrap();
        thread::yield_now();
    }
}

#[test]
fn what_is_swapped_for_a_link_is_never_read_through_it() {
    let folder = tempfile::tempdir().unwrap();
    let (root, secret) = (folder.path().join("root"), folder.path().join("secret"));
    for place in [
        "flight.tla",
        "copy.timeline",
        "inside/flight.tla",
        "rotated/timeline-000001.tla",
    ] {
        for (folder, said) in [(&root, "plain"), (&secret, "secret")] {
            let path = folder.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            log(&path, said);
        }
    }
    let served = Served::begin(&[&root.display().to_string()]);
    let listed = served.json("/api/logs");
    assert_eq!(listed["logs"].as_array().unwrap().len(), 4, "{listed}");
    let swapped = ["flight.tla", "copy.timeline", "inside", "rotated"];
    let others = swapped.map(|name| {
        let other = root.join(format!("other-{name}"));
        symlink(secret.join(name), &other).unwrap();
        (root.join(name), other)
    });
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for (one, other) in &others {
            scope.spawn(|| swap(one, other, &is_over));
        }
        let mut answered = 0;
        for turn in 0..100 * size() as usize {
            let ids = [
                "flight.tla",
                "copy.timeline",
                "inside%2Fflight.tla",
                "rotated",
            ];
            let id = ids[turn % ids.len()];
            for request in ["/lines", "/lines/3", "/file", "/definitions", ""] {
                let answer = served.get(&format!("/api/logs/{id}{request}"));
                let text = answer.text();
                let is_known = [200, 400, 404, 422].contains(&answer.status);
                assert!(
                    is_known && !text.contains("secret"),
                    "{id}{request}: {text}"
                );
                answered += usize::from(answer.status == 200);
            }
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(answered > 0);
    });
}
