//! Files of other users: listed with their owners, and refused with a hint at a remedy.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::unistd::{Group, User, getegid, geteuid};
use tempfile::TempDir;
use timeline::internal::Record;
use timeline::internal::layout::words::Cursor;
use timeline::internal::layout::{Geometry, Header, Region, records};

use crate::command::*;
use crate::support::{Name, seal};

/// In /etc/passwd: nobody.
const STRANGER: u32 = 65534;
/// Somebody else again: what belongs to the stranger is his own to him.
const LIAR: u32 = 65533;

/// The command, run by somebody who does not own what this test makes. Where the test may not
/// become somebody else, the mode keeps out the owner, too.
struct Stranger {
    folder: TempDir,
    command: PathBuf,
}

impl Stranger {
    fn new() -> Stranger {
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        // Where this was built, a stranger may not look. Not by fs::copy: another test might fork
        // meanwhile, and its child have the copy open for writing when it is to be run.
        let command = folder.path().join("timeline");
        let mut copy = Command::new("cp");
        let copied = copy
            .arg(env!("CARGO_BIN_EXE_timeline"))
            .arg(&command)
            .status();
        assert!(copied.unwrap().success());
        Stranger { folder, command }
    }

    fn run(&self, words: &[&str]) -> Ran {
        let mut command = Command::new(&self.command);
        command.args(words).current_dir("/");
        if geteuid().is_root() {
            command.uid(STRANGER).gid(STRANGER);
        }
        Ran::new(command.output().unwrap())
    }

    fn fail(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(1), ""),
            "{words:?}: {ran:?}"
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        ran.stderr
    }

    /// Has the owner keep everybody else out of it, or himself, if the test is nobody else.
    fn keep_out(&self, file: &Path, mode: u32) -> String {
        let mode = if geteuid().is_root() {
            mode
        } else {
            mode & 0o077
        };
        fs::set_permissions(file, PermissionsExt::from_mode(mode)).unwrap();
        format!("{mode:04o}")
    }
}

fn owner() -> (String, String) {
    let user = User::from_uid(geteuid()).unwrap().unwrap().name;
    (user, Group::from_gid(getegid()).unwrap().unwrap().name)
}

#[test]
fn what_one_may_not_read_is_listed_with_its_owner() {
    let (name, stranger) = (Name::new("foreign-list"), Stranger::new());
    let tl = name.create(256);
    let mode = stranger.keep_out(&name.file(), 0o600);
    let (user, group) = owner();

    let ran = stranger.run(&["list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let row = ran
        .stdout
        .lines()
        .find(|line| line.starts_with(name.path()))
        .expect("it is listed");
    assert!(
        row.ends_with(&format!(
            "may not be read: it belongs to {user} (group {group}, mode {mode})"
        )),
        "{row}"
    );
    assert!(
        ran.stderr.contains("you may not read ") && ran.stderr.contains("sudo"),
        "{ran:?}"
    );
    assert!(
        !ran.stderr.contains("no timeline in shared memory"),
        "{ran:?}"
    );

    let rows = stranger.run(&["list", "--json"]).json();
    let row = rows
        .iter()
        .find(|row| row["path"] == name.path())
        .expect("it is listed");
    let expected = serde_json::json!({ "user": user, "group": group, "mode": mode });
    assert_eq!(row["owner"], expected, "{row}");
    assert!(
        row["error"].as_str().unwrap().contains("permission denied"),
        "{row}"
    );
    drop(tl);
}

#[test]
fn what_cannot_be_a_timeline_is_not_listed() {
    let (name, stranger) = (Name::new("foreign-other"), Stranger::new());
    for size in [100, 4096, 1 << 20 | 1] {
        fs::write(name.file(), vec![b'x'; size]).unwrap();
        stranger.keep_out(&name.file(), 0o600);
        let listed = stranger.run(&["list"]).stdout;
        fs::remove_file(name.file()).unwrap();
        assert!(!listed.contains(name.path()), "{size}: {listed}");
    }
}

#[test]
fn who_is_refused_is_told_whose_it_is_and_what_would_help() {
    let (name, stranger) = (Name::new("foreign-verbs"), Stranger::new());
    let tl = name.create(256);
    let mode = stranger.keep_out(&name.file(), 0o600);
    let (live, (user, group)) = (name.path(), owner());
    let file = name.file().display().to_string();
    let told = |ran: &str, help: &str| {
        let whose =
            format!("permission denied: it belongs to {user} (group {group}, mode {mode});");
        assert!(
            ran.contains(&whose) && ran.contains("sudo") && ran.contains(help),
            "{ran}"
        );
    };
    let out = stranger.folder.path().join("x").display().to_string();
    let sample = [
        "sample", live, "--level", "all", "--for", "1ms", "--every", "2ms",
    ];
    let (read, write) = (format!("chmod g+r {file}"), format!("chmod g+rw {file}"));
    let cases: [(&[&str], &str); 12] = [
        (&["info", live], &read),
        (&["dump", live], &read),
        (&["tail", live], &read),
        (&["save", live, &out], &read),
        (&["record", live, "-o", &out], &read),
        (&["priority", live], &read),
        // All that is missing at once.
        (&["priority", live, "info"], &write),
        (&["enable", live, "a.b"], &write),
        (&sample, &write),
        // No right to open it is what is missing.
        (&["rm", live], "can remove it"),
        (&["rm", "--force", live], "can remove it"),
        (
            &["demo", live],
            "choose another name, or have it removed by",
        ),
    ];
    for (words, help) in cases {
        let ran = stranger.fail(words);
        told(&ran, help);
        assert_eq!(ran.contains("chmod"), help.contains("chmod"), "{ran}");
    }
    let directory = stranger.folder.path().join("locked");
    fs::create_dir(&directory).unwrap();
    let archive = directory.join("a.tla").display().to_string();
    for verb in ["verify", "dump"] {
        let mode = stranger.keep_out(&directory, 0o700);
        let ran = stranger.fail(&[verb, &archive]);
        let locked = format!(
            "the directory {} belongs to {user} (group {group}, mode {mode});",
            directory.display()
        );
        assert!(ran.contains(&locked), "{ran}");
    }
    fs::set_permissions(&directory, PermissionsExt::from_mode(0o700)).unwrap();
    drop(tl);
}

#[test]
fn who_may_read_but_not_write_is_told_so() {
    let (name, stranger) = (Name::new("foreign-read"), Stranger::new());
    let tl = name.create(256);
    let _ = stranger.keep_out(&name.file(), 0o644);
    if !geteuid().is_root() {
        fs::set_permissions(name.file(), PermissionsExt::from_mode(0o444)).unwrap();
    }
    let live = name.path();
    assert_eq!(stranger.run(&["info", live]).code, Some(0));
    let ran = stranger.fail(&["priority", live, "info"]);
    assert!(
        ran.contains("chmod g+w ") && ran.contains("permission denied"),
        "{ran}"
    );
    // An archive of somebody else is to be continued.
    let archive = stranger.folder.path().join("theirs.tla");
    fs::write(&archive, "").unwrap();
    for (mode, rights) in [(0o600, "g+rw"), (0o644, "g+w")] {
        if !geteuid().is_root() {
            break;
        }
        let _ = stranger.keep_out(&archive, mode);
        let out = archive.display().to_string();
        let ran = stranger.fail(&["record", live, "-o", &out, "--once"]);
        assert!(ran.contains(&format!("chmod {rights} ")), "{ran}");
    }
    drop(tl);
    if geteuid().is_root() && fs::metadata("/dev/shm").unwrap().mode() & 0o1000 != 0 {
        for force in [&[][..], &["--force"]] {
            let ran = stranger.fail(&[&["rm", live], force].concat());
            assert!(
                ran.contains("cannot remove") && ran.contains("only root (sudo) can remove it"),
                "{ran}"
            );
        }
        // Whatever the mode.
        for mode in [0o600, 0o640, 0o660] {
            let group = Some(STRANGER);
            chown(name.file(), None, group).unwrap();
            fs::set_permissions(name.file(), PermissionsExt::from_mode(mode)).unwrap();
            let ran = stranger.fail(&["demo", live]);
            assert!(
                ran.contains("choose another name, or have it removed by root (sudo)"),
                "{mode:o}: {ran}"
            );
        }
    }
    // Where one may write nothing.
    let (locked, mode) = (stranger.folder.path(), 0o755);
    fs::set_permissions(
        locked,
        PermissionsExt::from_mode(if geteuid().is_root() { mode } else { 0o555 }),
    )
    .unwrap();
    let out = locked.join("out").display().to_string();
    for words in [
        vec!["save", live, &out],
        vec!["record", live, "-o", &out, "--once"],
    ] {
        let ran = stranger.fail(&words);
        assert!(
            ran.contains(&format!("the directory {} belongs to ", locked.display())),
            "{ran}"
        );
        assert!(ran.contains("choose another place"), "{ran}");
    }
    fs::set_permissions(locked, PermissionsExt::from_mode(mode)).unwrap();
}

/// Makes a ring of chunks of two entries, and of lanes each of which claims to write to a chunk
/// that is none of its. It takes no more memory than its lanes.
fn lie(name: &Name, chunks: u32, lanes: u32) -> Geometry {
    drop(name.create(256));
    let mut options = fs::File::options();
    let file = options.read(true).write(true).open(name.file());
    let file = file.unwrap();
    let mut head = Header::zeroed();
    file.read_exact_at(head.bytes_mut(), 0).unwrap();
    let mut geometry = Geometry::load(&head).unwrap();
    geometry.entries = u64::from(chunks) * 2;
    (geometry.chunks, geometry.chunk_entries) = (chunks, 2);
    (geometry.cpu_lanes, geometry.thread_lanes) = (0, lanes);
    let counts = [
        (4, u64::from(lanes)),
        (5, u64::from(chunks)),
        (6, geometry.entries),
        (7, geometry.regions[7].length),
        (8, geometry.important().length / 64),
    ];
    let mut offset = geometry.lane().offset;
    for (region, count) in counts {
        let stride = geometry.regions[region].stride;
        let length = count * stride;
        geometry.regions[region] = Region {
            offset,
            length,
            stride,
        };
        offset = (offset + length).next_multiple_of(4096);
    }
    geometry.total = offset;
    geometry.stretches = Region::default();
    geometry.store(&mut head);
    seal(&mut head);
    file.set_len(geometry.lane().offset).unwrap();
    file.set_len(geometry.total).unwrap();
    file.write_all_at(head.bytes_mut(), 0).unwrap();
    let mut lane = records::Lane::zeroed();
    lane.cursor = Cursor::new(1 << 40, 1).0.into();
    let records = lane.bytes_mut().repeat(lanes as usize);
    file.write_all_at(&records, geometry.lane().offset).unwrap();
    geometry
}

/// As its owner could: gives it to another user, who may cut it short.
fn give_away(name: &Name) {
    fs::set_permissions(name.file(), PermissionsExt::from_mode(0o644)).unwrap();
    chown(name.file(), Some(LIAR), None).unwrap();
}

/// Until it is told to stop, moves all lanes of a ring, none of which gets a chunk.
fn move_lanes(name: &Name, geometry: &Geometry, stop: &AtomicBool) {
    let file = fs::File::options().write(true).open(name.file()).unwrap();
    let mut cursor = Cursor::new(1 << 40, 1).0;
    while !stop.load(Ordering::Relaxed) {
        cursor += 1;
        let mut lane = records::Lane::zeroed();
        lane.cursor = cursor.into();
        let records = lane.bytes_mut().repeat(geometry.lanes() as usize);
        file.write_all_at(&records, geometry.lane().offset).unwrap();
    }
}

/// The command, ended with status 124 if it hangs.
fn limited(words: &[&str]) -> Ran {
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_timeline")]);
    Ran::new(command.args(words).output().unwrap())
}

#[test]
fn a_ring_that_would_take_hours_to_look_at_holds_up_no_list_of_all() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can act as another user");
        return;
    }
    let name = Name::new("foreign-vast");
    lie(&name, 1 << 20, 32767);
    give_away(&name);
    let live = name.path();

    let ran = limited(&["list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let row = ran.stdout.lines().find(|line| line.starts_with(live));
    let row = row.expect("it is listed");
    assert!(row.contains("too large, too damaged"), "{row}");

    let ran = limited(&["list", "--names"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.split('\0').any(|name| name == live), "{ran:?}");

    let near = format!("{live}x");
    let ran = limited(&["info", &near]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let hint = format!("did you mean {live}?");
    assert!(ran.stderr.contains(&hint), "{ran:?}");

    let other = Name::new("foreign-beside");
    let timeline = other.create(256);
    let ran = limited(&["dump"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains(live), "{ran:?}");
    drop(timeline);
}

#[test]
fn lanes_that_lost_their_chunk_are_looked_for_at_once() {
    let name = Name::new("foreign-lost");
    lie(&name, 1 << 18, 32767);
    let live = name.path();
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (archive, snapshot) = (file("a.tla"), file("a.timeline"));
    let verbs: [&[&str]; 5] = [
        &["info", live],
        &["list"],
        &["dump", live],
        &["record", live, "--once", "-o", &archive],
        &["save", live, &snapshot],
    ];
    for words in verbs {
        let ran = limited(words);
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
    }
    if geteuid().is_root() {
        give_away(&name);
        let ran = limited(&["info", live]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn a_ring_that_is_never_the_same_holds_nobody_up() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can act as another user");
        return;
    }
    let name = Name::new("foreign-moving");
    let geometry = lie(&name, 1 << 11, 1 << 11);
    give_away(&name);
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| move_lanes(&name, &geometry, stop));
        // On a busy machine, the lanes may stand still for as long as the command looks at them.
        let mut runs = (0..50).map(|_| limited(&["dump", name.path()]));
        let found = runs.find(|ran| ran.code != Some(0));
        stop.store(true, Ordering::Relaxed);
        let ran = found.expect("a run during which they move");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("changed too often"), "{ran:?}");
    });
}
