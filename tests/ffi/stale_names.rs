//! Tests that functions have no invented names, whatever has the name of their file by now.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use timeline::{Attached, Frame, Order, Source};

use crate::support::copy_program;
use crate::support::toolchain::cc;
use crate::support::toolchain::programs::{Link, compile};

/// A program without a build id, whose function that logs has that name.
fn program(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let to = folder.join(format!("built-{name}"));
    std::fs::create_dir(&to).unwrap();
    let named = format!("-DNAME={name}");
    // Without names of the library's own, of which a debug build has many.
    let flags = [
        "-std=gnu99",
        "-O1",
        "-rdynamic",
        "-Wl,--build-id=none",
        &named,
    ];
    let flags = [&flags[..], more].concat();
    compile(cc(), &flags, &["tests/c/stale_names.c"], Link::Static, &to)
}

struct Running {
    child: Child,
    ring: PathBuf,
}

impl Running {
    /// Runs a command, which is given the ring, until it has logged.
    fn start(mut command: Command, ring: PathBuf) -> Option<Running> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.arg(&ring).spawn().unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        (line == "logged\n").then_some(Running { child, ring })
    }

    /// The frames of the only event, as a new reader names them.
    fn frames(&self) -> Vec<Frame> {
        frames(&self.ring)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn frames(ring: &Path) -> Vec<Frame> {
    let at = Attached::open(ring).unwrap();
    let event = at.events(Order::OldestFirst).next().unwrap();
    let frames = event.backtrace().iter();
    frames.map(|address| at.frame(&event, *address)).collect()
}

/// The name of the function that called the one that logs.
fn caller(frames: &[Frame]) -> Option<&str> {
    assert!(frames.len() > 2, "{frames:?}");
    // Its file is known in any case.
    assert!(frames[1].file.is_some(), "{frames:?}");
    frames[1].name.as_deref()
}

#[test]
fn a_file_without_a_build_id_that_was_upgraded_names_nothing() {
    let folder = TempDir::new().unwrap();
    let [old, new] = ["pays", "charges"].map(|name| program(folder.path(), name, &[]));
    let path = folder.path().join("program");
    copy_program(&old, &path);
    let mut running = Running::start(Command::new(&path), folder.path().join("ring")).unwrap();
    assert_eq!(caller(&running.frames()), Some("pays"));
    // As package managers do it.
    std::fs::rename(&new, &path).unwrap();
    assert_eq!(
        caller(&running.frames()),
        Some("pays"),
        "it runs the old one"
    );
    running.kill();
    assert_eq!(caller(&running.frames()), None);
    // Written over: the same inode, and here the same size.
    let path = folder.path().join("again");
    copy_program(&old, &path);
    let mut running = Running::start(Command::new(&path), folder.path().join("ring2")).unwrap();
    running.kill();
    assert_eq!(
        caller(&running.frames()),
        Some("pays"),
        "the file is still there"
    );
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(caller(&running.frames()), None);
}

#[test]
fn names_of_a_process_with_another_root_are_not_those_of_the_readers_files() {
    let folder = TempDir::new().unwrap();
    let [inside, outside] = ["pays", "charges"].map(|name| program(folder.path(), name, &[]));
    let app = folder.path().join("app");
    std::fs::create_dir(&app).unwrap();
    std::fs::rename(&outside, app.join("program")).unwrap();
    let mut command = Command::new("unshare");
    let script =
        "mount -t tmpfs t \"$1\" && cp \"$2\" \"$1\"/program && exec \"$1\"/program \"$3\"";
    command
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(&app)
        .arg(&inside);
    let Some(mut running) = Running::start(command, folder.path().join("ring")) else {
        eprintln!("nothing can be mounted here");
        return;
    };
    assert_eq!(caller(&running.frames()), Some("pays"));
    running.kill();
    assert_eq!(caller(&running.frames()), None);
}

#[test]
fn a_call_through_a_null_pointer_has_its_caller_in_the_stack() {
    let folder = TempDir::new().unwrap();
    let program = program(folder.path(), "calls_nothing", &["-DNOTHING"]);
    let ring = folder.path().join("ring");
    assert!(
        Command::new(&program)
            .arg(&ring)
            .status()
            .unwrap()
            .success()
    );
    let frames = frames(&ring);
    let names: Vec<_> = frames.iter().map(|frame| frame.name.as_deref()).collect();
    assert!(names.contains(&Some("calls_nothing")), "{frames:#?}");
}
