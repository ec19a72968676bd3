//! Each event names the executable of its process, of every program that writes to a timeline.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;
use timeline::Timeline;

use crate::command::{Running, succeed};
use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, cc, limited, succeed as succeeds};
use crate::support::{Name, copy_program};

/// A timeline of this process, and two programs that joined it and run.
struct Programs {
    folder: TempDir,
    name: Name,
    timeline: Option<Timeline>,
    programs: Vec<PathBuf>,
    running: Vec<Child>,
}

/// The SHA-1 of a file, as sha1sum has it.
fn sha1(file: &Path) -> String {
    let printed = succeeds(limited("sha1sum").arg(file), "coreutils").stdout;
    String::from_utf8_lossy(&printed[..40]).into_owned()
}

impl Programs {
    fn new() -> Programs {
        let folder = tempfile::tempdir().unwrap();
        let name = Name::new("executables");
        let build = |optimised: &str| {
            let to = folder.path().join(optimised);
            fs::create_dir(&to).unwrap();
            let flags = [C99, &[optimised]].concat();
            compile(cc(), &flags, &["tests/c/second.c"], Link::Shared, &to)
        };
        let programs = ["-O0", "-O2"].map(build).to_vec();
        let timeline = Some(name.create(4096));
        let join = |program: &PathBuf| {
            let mut command = limited(program);
            command
                .arg(name.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut said = String::new();
            let mut out = BufReader::new(child.stdout.as_mut().unwrap());
            out.read_line(&mut said).unwrap();
            assert_eq!(said, "in\n");
            child
        };
        let running = programs.iter().map(join).collect();
        Programs {
            folder,
            name,
            timeline,
            programs,
            running,
        }
    }

    fn path(&self, file: &str) -> String {
        self.folder.path().join(file).display().to_string()
    }

    /// What is told of processes names path, size and SHA-1 of each program.
    fn check(&self, processes: &Value) {
        let all = processes.as_array().unwrap();
        let own = std::env::current_exe().unwrap();
        for program in self.programs.iter().chain([&own]) {
            let path = program.display().to_string();
            let is_it = |process: &&Value| process["executable"] == *path;
            let found = all
                .iter()
                .find(is_it)
                .unwrap_or_else(|| panic!("{path} in {processes}"));
            assert_eq!(
                found["executable_size"],
                fs::metadata(program).unwrap().len()
            );
            assert_eq!(found["executable_sha1"], *sha1(program));
        }
    }

    /// Each event of the two says its own.
    fn check_events(&self, path: &str) {
        let events = succeed(&["dump", "--json", path]).json();
        let mut seen: Vec<_> = events
            .iter()
            .map(|event| event["executable"].as_str())
            .collect();
        seen.sort_unstable();
        let programs = self.programs.iter().map(|program| program.to_str());
        assert_eq!(seen, programs.collect::<Vec<_>>());
    }
}

#[test]
fn all_that_write_are_named_by_ring_snapshot_and_archive() {
    let mut programs = Programs::new();
    let ring = programs.name.path().to_string();
    let info = |path: &str| succeed(&["info", "--json", path]).json().remove(0);
    programs.check(&info(&ring)["processes"]);
    programs.check_events(&ring);
    let told = succeed(&["info", &ring]).stdout;
    let second = programs.programs[1].display().to_string();
    assert!(told.contains(&format!("): {second}, ")), "{told}");
    assert!(told.contains(&sha1(Path::new(&second))), "{told}");

    let snapshot = programs.path("saved.timeline");
    succeed(&["save", &ring, &snapshot]);
    // They end: the table still has them.
    for mut child in programs.running.drain(..) {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
    drop(programs.timeline.take());
    programs.check_events(&ring);
    let (whole, of_snapshot) = (programs.path("ring.tla"), programs.path("snapshot.tla"));
    let options = ["--once", "--fsync", "never"];
    succeed(&[&["record", &ring, "-o", &whole][..], &options].concat());
    succeed(&[&["record", &snapshot, "-o", &of_snapshot][..], &options].concat());
    for archive in [&whole, &of_snapshot] {
        programs.check(&info(archive)["programs"][0]["processes"]);
        programs.check_events(archive);
    }

    // Another file has the name: nobody believes it. What was known stays.
    let size = fs::metadata(&second).unwrap().len();
    let digest = sha1(Path::new(&second));
    fs::remove_file(&second).unwrap();
    fs::write(&second, "another").unwrap();
    for (path, expected) in [(&ring, Value::Null), (&snapshot, digest.into())] {
        let told = info(path)["processes"].clone();
        let is_second = |process: &&Value| process["executable"] == *second;
        let found = told.as_array().unwrap().iter().find(is_second).unwrap();
        assert_eq!(found["executable_size"], size);
        assert_eq!(found["executable_sha1"], expected);
    }
}

/// Many short programs, each of which ends without leaving, and one that becomes another.
#[test]
fn short_programs_and_one_that_becomes_another_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [C99, &["-O1"]].concat();
    let built = compile(
        cc(),
        &flags,
        &["tests/c/become.c"],
        Link::Shared,
        folder.path(),
    );
    let name = Name::new("become");
    let timeline = name.create(4096);
    let archive = folder.path().join("become.tla").display().to_string();
    let recorder = Running::start(&["record", name.path(), "-o", &archive, "--fsync", "never"]);
    let program = |number: u32| {
        let copy = folder.path().join(format!("program-{number}"));
        copy_program(&built, &copy);
        copy
    };
    for number in 0..12 {
        succeeds(limited(program(number)).arg(name.path()), "coreutils");
    }
    let (first, second) = (program(12), program(13));
    succeeds(limited(&first).arg(name.path()).arg(second), "coreutils");
    drop(timeline);
    recorder.signal(Signal::SIGTERM);
    recorder.succeed();
    let snapshot = folder.path().join("become.timeline").display().to_string();
    succeed(&["save", name.path(), &snapshot]);
    for path in [name.path(), &snapshot, &archive] {
        let events = succeed(&["dump", "--json", path]).json();
        assert_eq!(events.len(), 14);
        for event in events {
            assert_eq!(
                event["executable"], event["args"]["path"],
                "{path}: {event}"
            );
        }
    }
}
