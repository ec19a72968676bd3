//! Joining where it is not known which boot of the machine this is.

use std::os::unix::fs::FileExt;
use std::process::Command;

use Space::NoProc;
use timeline::internal::Record;
use timeline::internal::layout::header::{CHECKED, Header};
use timeline::{Order, Timeline};

use super::apart::{self, Space};
use crate::support::{Name, arguments, attach, checked, define, hear, say, seal};

/// Opens the timeline and logs, or says why not; and what the command says of its boot.
pub fn opens(given: &[String]) {
    let said = match Timeline::open(&given[0]) {
        Ok(timeline) => {
            timeline.log(define(&timeline), arguments(1, 1));
            "opened".to_owned()
        }
        Err(error) => error.to_string(),
    };
    say(said);
    let info = Command::new(env!("CARGO_BIN_EXE_timeline"))
        .args(["info", &given[0]])
        .output();
    let text = String::from_utf8(info.expect("it runs").stdout).expect("text");
    let boot = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("boot "));
    say(boot.expect("the boot"));
    hear();
}

/// What `opens` says from there: of opening, and of the boot.
fn opened(spaces: &[Space], path: &str) -> Option<[String; 2]> {
    let mut opens = apart::start(spaces, opens, &[path])?;
    let said = [opens.line(), opens.line()];
    opens.tell();
    opens.finish();
    Some(said)
}

/// A file that is not in memory, and so might be older than the machine's last boot.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

fn is_in_memory(folder: &std::path::Path) -> bool {
    let kind = Command::new("stat")
        .args(["-f", "-c", "%T"])
        .arg(folder)
        .output();
    let kind = String::from_utf8(kind.expect("it runs").stdout).expect("text");
    ["tmpfs", "ramfs"].contains(&kind.trim())
}

#[test]
fn shared_memory_is_joined_without_proc() {
    let name = Name::new("boot");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    define(&timeline);
    // Not for the sake of who writes to it.
    drop(timeline);
    let Some([open, boot]) = opened(&[NoProc], name.path()) else {
        return;
    };
    assert_eq!(open, "opened");
    assert!(
        boot.ends_with("; the present one is not known without /proc"),
        "{boot}"
    );
    let events: Vec<_> = attach(name.path()).events(Order::OldestFirst).collect();
    assert_eq!(events.iter().map(checked).collect::<Vec<_>>(), [(1, 1)]);
}

#[test]
fn a_file_is_joined_without_proc_while_somebody_writes_to_it() {
    let folder = on_disk();
    let path = folder.path().join("some.timeline");
    let path = path.to_str().expect("a plain name");
    let timeline = Timeline::with_size(path, 256, 2048).expect("created");
    let Some([open, _]) = opened(&[NoProc], path) else {
        return;
    };
    assert_eq!(open, "opened");
    drop(timeline);
    let Some([open, _]) = opened(&[NoProc], path) else {
        return;
    };
    if is_in_memory(folder.path()) {
        return assert_eq!(open, "opened");
    }
    for said in ["cannot tell whether", path, "boot", "/proc", "mount", "new"] {
        assert!(open.contains(said), "{open}");
    }
    assert_eq!(attach(path).info().entries_written, 1);
}

#[test]
fn a_timeline_of_a_creator_without_proc_is_joined_with_it() {
    let name = Name::new("bootless");
    drop(Timeline::with_size(name.path(), 256, 2048).expect("created"));
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(name.file());
    let file = file.expect("opened");
    let mut head = Header::zeroed();
    file.read_exact_at(head.bytes_mut(), 0).expect("read");
    let mut of_boot = |id: u8| {
        head.boot_id = [id; 16].map(Into::into);
        seal(&mut head);
        file.write_all_at(&head.bytes_mut()[..CHECKED], 0)
            .expect("written");
    };
    of_boot(0);
    let Some(said) = opened(&[], name.path()) else {
        return;
    };
    assert_eq!(said[0], "opened");
    assert!(
        said[1].ends_with("not known: its creator had no /proc"),
        "{}",
        said[1]
    );
    // One of another boot is still that.
    of_boot(7);
    let error = Timeline::open(name.path())
        .err()
        .expect("refused")
        .to_string();
    assert!(error.contains("before this machine's last boot"), "{error}");
}
