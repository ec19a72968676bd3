//! What the tests of recording share: a program's timeline, and recorders of it as processes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use timeline::internal::values;
use timeline::{EventId, FileVersion, Module, Priority, Timeline, Value, lay_out};
use timeline_archive::{Archive, RecordedEvent};

/// Far longer than anything takes: only a hang comes here.
const DEADLINE: Duration = Duration::from_secs(60);

/// A program that logs numbers one after the other, over all its runs, and what they are recorded
/// to.
pub struct Flight {
    pub name: String,
    entries: u64,
    pub timeline: Option<Timeline>,
    event: EventId,
    /// If it logs as printf writes, too.
    printf: Option<EventId>,
    mixed: bool,
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
            printf: None,
            mixed: false,
            logged: 0,
            folder: tempfile::tempdir().unwrap(),
            output,
        }
    }

    /// Of whose events two in three have a payload, and one in three a call stack.
    pub fn mixed(mut self) -> Flight {
        self.mixed = true;
        self.restart();
        self
    }

    /// The program begins anew.
    pub fn restart(&mut self) {
        self.timeline = None;
        let timeline = Timeline::with_size(&self.name, self.entries, 4096).unwrap();
        self.event = timeline
            .define("test", Priority::Info, "number $n of $all")
            .unwrap();
        let printf = |line| {
            timeline.define_printf(
                "test",
                Priority::Info,
                PRINTF,
                ("test.c", line),
                &Default::default(),
            )
        };
        self.printf = self.mixed.then(|| printf(7).unwrap());
        if self.mixed {
            timeline.define_module(&this_program()).unwrap();
        }
        self.timeline = Some(timeline);
    }

    /// This run of the program says that it was begun at another time, as if somebody had set the
    /// clock.
    pub fn begun(&self, unix_nanos: u64) {
        let ring = format!("/dev/shm{}", self.name);
        let mut options = File::options();
        let ring = options.read(true).write(true).open(ring).unwrap();
        // docs/format.md: created_unix, and the checksum of the first half of the header, without
        // itself.
        ring.write_all_at(&unix_nanos.to_le_bytes(), 0x120).unwrap();
        let mut header = [0; 0x800];
        ring.read_exact_at(&mut header, 0).unwrap();
        header[0x14..0x18].fill(0);
        let checksum = crc32fast::hash(&header).to_le_bytes();
        ring.write_all_at(&checksum, 0x14).unwrap();
    }

    pub fn log(&mut self, count: i64) {
        let timeline = self.timeline.as_ref().expect("still there");
        for n in self.logged..self.logged + count {
            match self.printf {
                Some(printf) if n % 3 > 0 => {
                    timeline.log_payload(printf, &payload(n), n % 3 == 2);
                }
                _ => timeline.log(self.event, [n, -1]),
            }
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
    pub fn land(&mut self, more: &[&str]) -> Vec<RecordedEvent> {
        let events = self.land_disturbed(more);
        self.assert_whole();
        events
    }

    /// Likewise, where somebody has disturbed the archive.
    pub fn land_disturbed(&mut self, more: &[&str]) -> Vec<RecordedEvent> {
        self.timeline = None;
        let output = self
            .command(&[more, &["--once"]].concat())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        self.events()
    }

    /// Its files go on with one another: nothing is gone, and nothing stands twice.
    pub fn assert_whole(&self) {
        let archive = Archive::open(self.file()).unwrap();
        assert_eq!((archive.holes(), archive.repeated()), (&[][..], 0));
    }

    /// What the files say, each read by itself.
    pub fn events(&self) -> Vec<RecordedEvent> {
        let read = |file| {
            let archive = Archive::open(&file).unwrap();
            assert!(archive.damage().is_empty(), "{:?}", archive.damage());
            let events: Vec<_> = archive.events().collect();
            for event in &events {
                let message = event.definition.message.as_deref();
                match self.mixed && first_argument(event) % 3 > 0 {
                    true => assert_eq!(message, Some(PRINTF), "{file:?}"),
                    false => assert_eq!(message, Some("number $n of $all"), "{file:?}"),
                }
                assert!(event.thread.name.is_some(), "{file:?}");
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

    /// The number of the last event while a recorder writes: what is torn does not count.
    fn last_now(&self) -> Option<i64> {
        // Perhaps removed or just begun.
        let read = |file| Archive::from_bytes(fs::read(file).unwrap_or_default());
        let mut newest_first = self.files().into_iter().rev().map(read);
        newest_first.find_map(|archive| archive.events().last().map(|e| first_argument(&e)))
    }

    /// Waits until everything is recorded.
    pub fn until_recorded(&self) {
        eventually("everything to be recorded", || {
            self.last_now() == Some(self.logged - 1)
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
        let begin = format!("{}.prev", &self.name[1..]);
        for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&begin) {
                let _ = fs::remove_file(entry.path());
            }
        }
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
    pub fn stop(self, signal: Signal) -> (ExitStatus, String) {
        self.signal(signal);
        self.until_it_ends()
    }

    /// How it ended, and all it said.
    pub fn until_it_ends(mut self) -> (ExitStatus, String) {
        let mut status = None;
        eventually("it to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        (status.expect("it ended"), self.said())
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

pub fn first_arguments(events: &[RecordedEvent]) -> Vec<i64> {
    events.iter().map(first_argument).collect()
}

fn first_argument(event: &RecordedEvent) -> i64 {
    match values(&event.payload).next() {
        Some(Value::Int(number)) => number,
        None => event.args[0],
        other => panic!("{other:?}"),
    }
}

const PRINTF: &str = "number %ld: %s";

/// What is logged as this number, with a call stack of one to eight addresses before it in each
/// third.
fn payload(number: i64) -> Vec<u64> {
    let mut all = Vec::new();
    if number % 3 == 2 {
        all.push(Value::Addresses(stack(number)));
    }
    all.push(Value::Int(number));
    // Hard to compress.
    let letter = |at: i64| (((number + 7) * (at + 13) * 0x9e37_79b9) >> 16) as u8;
    let bytes: Vec<u8> = (0..number * 37 % 600).map(letter).collect();
    let (bytes, cut) = (&bytes[..], false);
    all.push(Value::Text { bytes, cut });
    lay_out(&all)
}

/// Where this program stands in memory.
pub fn this_program() -> Module {
    let path = std::env::current_exe().unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let ours = maps
        .lines()
        .filter(|line| line.ends_with(path.to_str().unwrap()));
    let range = |line: &str| {
        let (start, rest) = line.split_once('-').unwrap();
        let hex = |text| u64::from_str_radix(text, 16).unwrap();
        (hex(start), hex(rest.split_once(' ').unwrap().0))
    };
    let ranges: Vec<_> = ours.map(range).collect();
    let (base, end) = (ranges[0].0, ranges[ranges.len() - 1].1);
    let pid = std::process::id();
    Module {
        pid,
        base,
        start: base,
        end,
        version: Some(FileVersion::of(&path.metadata().unwrap())),
        path,
        build_id: None,
    }
}

/// Where a number says that it was called from: somewhere in this program.
pub fn stack(number: i64) -> Vec<u64> {
    let code = code() + 1;
    let depth = 1 + number.unsigned_abs() % 8;
    (0..depth)
        .map(|up| code + (number as u64 / 3 + up) % 60)
        .collect()
}

/// The first of some bytes of code, whose symbol has `restart` in its name.
pub fn code() -> u64 {
    Flight::restart as fn(&mut Flight) as usize as u64
}
