//! A server leaves no temporary files behind, also if it is killed.

use std::fs;
use std::path::Path;

use nix::unistd::{Gid, Uid, chown};
use timeline::{Priority, event};

use super::http::{Served, quoted};
use crate::support::Name;
use crate::support::user::{NOBODY, are_root};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<_> = entries.map(|entry| name(entry).unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_a_killed_server_left_is_removed_by_the_next_one() {
    let name = Name::new("scratch");
    let tl = name.create(1024);
    event!(tl, Priority::Info, "net", "sent");
    let folder = tempfile::tempdir().unwrap();
    let serve = || {
        let served = Served::begin_in(folder.path(), "127.0.0.1:0", &[name.path()]);
        served.json(&format!("/api/logs/{}/lines", quoted(name.path())));
        served
    };
    let living = serve();
    let own = names(folder.path());
    assert_eq!(own.len(), 1);
    let mut killed = serve();
    killed.kill();
    assert_eq!(names(folder.path()).len(), 2);
    let left = names(folder.path())
        .into_iter()
        .find(|name| !own.contains(name));
    let left = left.unwrap();
    // One of another user stays, who may have made it to have another one's files removed.
    if are_root() {
        let foreign = folder.path().join(&left);
        let lock = foreign.join("lock");
        assert!(lock.exists());
        for path in [&foreign, &lock] {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            chown(path, Some(user), Some(group)).unwrap();
        }
        drop(serve());
        assert!(lock.exists());
        for path in [&foreign, &lock] {
            chown(path, Some(Uid::from_raw(0)), Some(Gid::from_raw(0))).unwrap();
        }
    }
    let _next = serve();
    assert!(!names(folder.path()).contains(&left));
    assert!(names(folder.path()).contains(&own[0]));
    living.json(&format!("/api/logs/{}/lines", quoted(name.path())));
}
