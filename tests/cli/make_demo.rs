//! scripts/demo.sh: shows both programs, and leaves nothing behind, also when it is interrupted.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::support::toolchain::{library_dir, limited, root};
use crate::support::write_script;

/// The demo, with a folder of its own for what it builds.
struct Demo {
    child: Child,
    out: BufReader<ChildStdout>,
    pid: i32,
    temporary: TempDir,
}

impl Demo {
    /// Starts it with this command in the place of the real one.
    fn start(command: &str) -> Demo {
        let temporary = TempDir::new().unwrap();
        let target = temporary.path().join("target");
        fs::create_dir_all(temporary.path().join("tmp")).unwrap();
        fs::create_dir(&target).unwrap();
        let library = library_dir().join("libtimeline.so");
        symlink(library, target.join("libtimeline.so")).unwrap();
        let place = target.join("timeline");
        write_script(&place, command);
        let mut demo = limited("sh");
        demo.args(["-c", "echo $$; exec \"$0\""])
            .arg(root().join("scripts/demo.sh"))
            .env("TARGET_DIR", &target)
            .env("COMMAND_UNDER_TEST", library_dir().join("timeline"))
            .env("TMPDIR", temporary.path().join("tmp"))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = demo.spawn().expect("coreutils");
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut pid = String::new();
        out.read_line(&mut pid).unwrap();
        Demo {
            child,
            out,
            pid: pid.trim().parse().expect("a process id"),
            temporary,
        }
    }

    /// The exit status and what it printed from here on.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        let mut from = self.child.stderr.take().unwrap();
        from.read_to_string(&mut err).unwrap();
        let status = self.child.wait().unwrap();
        let left: Vec<_> = fs::read_dir(self.temporary.path().join("tmp"))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(timelines(self.pid), [""; 0]);
        assert_eq!(processes(self.pid), [""; 0]);
        (status.code(), out, err)
    }
}

/// What a demo has in shared memory.
fn timelines(pid: i32) -> Vec<String> {
    let name = format!("timeline-make-demo-{pid}");
    let entries = fs::read_dir("/dev/shm").unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|found| found == &name || found.starts_with(&format!("{name}.")))
        .collect()
}

/// The command lines of the processes that a demo has started.
fn processes(pid: i32) -> Vec<String> {
    let name = format!("/timeline-make-demo-{pid}");
    let ours = |entry: &Path| {
        let words = fs::read(entry.join("cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.any(|word| word == name.as_bytes())
    };
    fs::read_dir("/proc")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|entry| ours(entry))
        .map(|entry| entry.display().to_string())
        .collect()
}

#[test]
fn it_shows_both_programs_and_leaves_nothing() {
    let demo = Demo::start(r#"exec "$COMMAND_UNDER_TEST" "$@""#);
    let (status, out, err) = demo.end();
    assert_eq!(status, Some(0), "{err}{out}");
    let writers = out.lines().find(|line| line.contains("writers")).unwrap();
    for program in ["luajit (", "demo ("] {
        assert!(writers.contains(program), "{writers}");
    }
    let (before, after) = out.split_once("The level is turned down in both").unwrap();
    let (after, killed) = after.split_once("The C program is killed").unwrap();
    for program in ["luajit", "demo"] {
        // In detail before the level was turned down in both, and not afterwards, when both go on.
        let detailed = |row: &&Row| row.program == program && row.is_detail();
        assert!(rows(before).iter().any(|row| detailed(&row)), "{before}");
        assert!(
            rows(after).iter().any(|row| row.program == program),
            "{after}"
        );
    }
    assert!(!rows(after).iter().any(Row::is_detail), "{after}");

    let last = rows(killed);
    assert!(
        last.len() >= 8 && last.iter().all(|row| row.program == "demo"),
        "{killed}"
    );
    // They are what it logged last: after all that was shown before, which came from it, too.
    let newest = rows(after)
        .into_iter()
        .find(|row| row.program == "demo")
        .unwrap();
    assert!(
        last[0].time >= newest.time && last[0].pid == newest.pid,
        "{killed}"
    );
    let writers = killed
        .lines()
        .find(|line| line.starts_with("  writers"))
        .unwrap();
    let gone = format!("demo ({}), gone", newest.pid);
    assert!(
        writers.contains(&gone) && writers.matches("gone").count() == 1,
        "{writers}"
    );
}

/// A row of `dump --long`.
struct Row {
    time: String,
    program: String,
    pid: String,
    priority: String,
}

impl Row {
    fn is_detail(&self) -> bool {
        !["error", "warning", "info"].contains(&self.priority.as_str())
    }
}

fn rows(shown: &str) -> Vec<Row> {
    let rows = shown.lines().filter(|line| line.starts_with("20"));
    rows.map(|line| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let mut next = || words.next().expect("a whole row");
        let time = next() + &next();
        let (program, pid, priority) = (next(), next(), next());
        // Threads of other names than their program stand behind it.
        let program = program.split('/').next().unwrap().to_owned();
        Row {
            time,
            program,
            pid,
            priority,
        }
    })
    .collect()
}

#[test]
fn it_leaves_nothing_when_it_is_interrupted() {
    // At the command with these words; the first of them comes perhaps before there is a timeline.
    for (signal, code, at) in [
        ("TERM", 143, "dump"),
        ("TERM", 143, "priority"),
        ("HUP", 129, "info"),
        ("TERM", 143, "info /timeline-make-demo"),
    ] {
        let demo = Demo::start(&format!(
            r#"case "$*" in *"{at}"*) kill -{signal} $PPID;; esac; exec "$COMMAND_UNDER_TEST" "$@""#
        ));
        let (status, out, err) = demo.end();
        assert_eq!(status, Some(code), "{at}: {err}{out}");
        assert!(!out.contains("Done."), "{at}: {out}");
    }
}

#[test]
fn it_says_which_file_is_missing() {
    let empty = TempDir::new().unwrap();
    let output = Command::new(root().join("scripts/demo.sh"))
        .env("TARGET_DIR", empty.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("first run \"make\""), "{said}");
    assert_eq!(output.stdout, b"");
}
