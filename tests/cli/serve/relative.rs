//! A log is served by a relative path as by an absolute one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use timeline_archive::{Form, RawEvent, Writer};

use super::http::{Served, quoted};
use crate::support::copy_program;
use crate::support::user::{NOBODY, are_root};

const EVENTS: u64 = 20_000;

/// An archive that is worth an index.
fn write_archive(path: &Path) {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Plain);
    for ticks in 1..=EVENTS {
        let mut event = RawEvent {
            ticks: Some(ticks),
            unix_nanos: Some(ticks),
            ..RawEvent::default()
        };
        event.definition.format = Some(writer.string("sent"));
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    drop(writer);
    assert!(file.len() > 200 << 10, "{}", file.len());
    fs::write(path, file).unwrap();
}

fn lines(served: &Served, log: &str) -> serde_json::Value {
    served.json(&format!("/api/logs/{}", quoted(log)))["lines"].clone()
}

#[test]
fn a_bare_name_is_a_file_of_this_directory() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    write_archive(&folder.path().join("flight.tla"));
    write_archive(&folder.path().join("sub/other.tla"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
    command.current_dir(&folder);
    let served = Served::begin_by(command, "127.0.0.1:0", &["flight.tla", "sub/other.tla"]);
    for log in ["flight.tla", "sub/other.tla"] {
        assert_eq!(lines(&served, log), EVENTS);
    }
}

#[test]
fn an_index_of_a_log_that_others_own_stands_elsewhere() {
    if !are_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    open(folder.path(), 0o755).unwrap();
    open(temporary.path(), 0o777).unwrap();
    let log = folder.path().join("flight.tla");
    write_archive(&log);
    open(&log, 0o644).unwrap();
    // That user may not enter the directory of the build.
    let program = folder.path().join("timeline");
    copy_program(env!("CARGO_BIN_EXE_timeline"), &program);
    let mut command = Command::new(&program);
    command.current_dir(&folder).uid(NOBODY).gid(NOBODY);
    command.env("TMPDIR", temporary.path());
    let served = Served::begin_by(command, "127.0.0.1:0", &["flight.tla"]);
    assert_eq!(lines(&served, "flight.tla"), EVENTS);
}
