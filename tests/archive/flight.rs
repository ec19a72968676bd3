//! What the tests of recording share: a program's timeline, and recorders of it as processes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use timeline::archive::{Archive, Recorded};
use timeline::{EventId, Priority, Timeline};

/// Far longer than anything takes: only a hang comes here.
const DEADLINE: Duration = Duration::from_secs(60);

/// A program that logs numbers one after the other, over all its runs, and what they are recorded to.
pub struct Flight {
    pub name: String,
    entries: u64,
    pub timeline: Option<Timeline>,
    event: EventId,
    pub logged: i64,
    pub folder: TempDir,
    output: &'static str,
}

impl Flight {
    /// Recorded to a file.
    pub fn new(purpose: &str, entries: u64) -> Flight {
        let mut flight = Flight::not_there(purpose, entries, "flight.tla");
        flight.restart();
        flight
    }

    /// Recorded to the files of a directory.
    pub fn of_files(purpose: &str, entries: u64) -> Flight {
        let mut flight = Flight::not_there(purpose, entries, "flights/");
        flight.restart();
        flight
    }

    /// Whose program did not run yet.
    pub fn not_there(purpose: &str, entries: u64, output: &'static str) -> Flight {
        Flight {
            name: format!("/timeline-test-archive-{purpose}-{}", std::process::id()),
            entries,
            timeline: None,
            event: EventId(0),
            logged: 0,
            folder: tempfile::tempdir().unwrap(),
            output,
        }
    }

    /// The program begins anew.
    pub fn restart(&mut self) {
        self.timeline = None;
        let timeline = Timeline::with_size(&self.name, self.entries, 4096).unwrap();
        self.event = timeline
            .define("test", Priority::Info, "number $n of $all")
            .unwrap();
        self.timeline = Some(timeline);
    }

    pub fn log(&mut self, count: i64) {
        let timeline = self.timeline.as_ref().expect("still there");
        for n in self.logged..self.logged + count {
            timeline.log(self.event, [n, -1]);
        }
        self.logged += count;
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join(self.output)
    }

    /// The files that are there, the oldest first.
    pub fn files(&self) -> Vec<PathBuf> {
        if !self.output.ends_with('/') {
            return vec![self.file()];
        }
        let entries = fs::read_dir(self.file()).into_iter().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    pub fn command(&self, more: &[&str]) -> Command {
        self.command_of(Command::new(env!("CARGO_BIN_EXE_timeline")), more)
    }

    /// A command line that ends with a recorder's.
    pub fn command_of(&self, mut command: Command, more: &[&str]) -> Command {
        command
            .args(["record", &self.name, "-o"])
            .arg(self.file())
            .args(more);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn start(&self, more: &[&str]) -> Running {
        Running::new(self.command(more), self.folder.path())
    }

    /// The program ends, and so does a recorder that has read everything.
    pub fn land(&mut self, more: &[&str]) -> Vec<Recorded> {
        self.timeline = None;
        let output = self
            .command(&[more, &["--once"]].concat())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        self.events()
    }

    /// What the files say, each read by itself.
    pub fn events(&self) -> Vec<Recorded> {
        let read = |file| {
            let archive = Archive::open(&file).unwrap();
            assert_eq!(archive.damage(), [], "{file:?}");
            let events: Vec<_> = archive.events().collect();
            for event in &events {
                let message = event.statement.message.as_deref();
                assert_eq!(message, Some("number $n of $all"), "{file:?}");
                assert!(event.author.thread.is_some(), "{file:?}");
            }
            events
        };
        self.files().into_iter().flat_map(read).collect()
    }

    /// How many events are missed, by all files.
    pub fn missed(&self) -> u64 {
        let missed = |file| Archive::open(file).unwrap().missed();
        self.files().into_iter().map(missed).sum()
    }

    /// The same while a recorder writes: what is torn does not count.
    pub fn numbers_now(&self) -> Vec<i64> {
        let read = |file| Archive::from_bytes(fs::read(file).unwrap_or_default());
        let archives = self.files().into_iter().map(read);
        archives
            .flat_map(|archive| first_arguments(&archive.events().collect::<Vec<_>>()))
            .collect()
    }

    /// Waits until everything is recorded.
    pub fn until_recorded(&self) {
        eventually("everything to be recorded", || {
            self.numbers_now().last() == Some(&(self.logged - 1))
        });
    }

    /// All that was logged, each once and in order.
    pub fn expected(&self) -> Vec<i64> {
        (0..self.logged).collect()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.timeline = None;
        // Reported by the test if it matters.
        let _ = timeline::unlink(&self.name);
        let _ = timeline::unlink(format!("{}.prev", self.name));
    }
}

/// A recorder, killed if the test is over before it.
pub struct Running {
    child: Child,
    said: PathBuf,
}

impl Running {
    pub fn new(mut command: Command, folder: &Path) -> Running {
        let said = folder.join("said");
        command.stderr(File::create(&said).unwrap());
        Running {
            child: command.spawn().unwrap(),
            said,
        }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// What it has said by now.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }

    pub fn until_it_says(&self, what: &str) {
        eventually(what, || self.said().contains(what));
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// How it ended upon a signal, and all it said.
    pub fn stop(mut self, signal: Signal) -> (ExitStatus, String) {
        self.signal(signal);
        (self.child.wait().unwrap(), self.said())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

pub fn first_arguments(events: &[Recorded]) -> Vec<i64> {
    events.iter().map(|event| event.args[0]).collect()
}
