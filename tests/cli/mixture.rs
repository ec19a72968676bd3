//! A program that logs some of everything, and what it logged as an archive of each form.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use timeline::{EventId, FileVersion, Module, Priority, Timeline, Value, lay_out};

use crate::command::*;
use crate::support::Name;

/// A program with all kinds of events, its executable and its timeline.
pub struct Mixture {
    pub name: Name,
    pub folder: TempDir,
    timeline: Option<Timeline>,
    events: Events,
    plain: EventId,
    printf: EventId,
    floats: EventId,
    /// Where addresses have names.
    program: PathBuf,
    /// How many events were logged.
    pub logged: i64,
}

impl Mixture {
    pub fn new(test: &str) -> Mixture {
        let (name, folder) = (Name::new(test), tempfile::tempdir().unwrap());
        let timeline = name.create(16_384);
        let program = folder.path().join("program");
        fs::copy(c_library(), &program).unwrap();
        let printf = |category, priority, format, line| {
            let event = timeline.define_printf(
                category,
                priority,
                format,
                ("src/main.c", line),
                &Default::default(),
            );
            event.unwrap()
        };
        timeline.define_module(&loaded(&program)).unwrap();
        Mixture {
            events: Events::define(&timeline),
            plain: timeline.define("quiet", Priority::App, "begun").unwrap(),
            printf: printf(
                "net",
                Priority::Packet,
                "%-8s sent %5.2f of %lu to %p\n",
                17,
            ),
            floats: printf(
                "net.deep",
                Priority::Library,
                "%s: \"%.3s\" %a %d%% of %c",
                18,
            ),
            timeline: Some(timeline),
            name,
            folder,
            program,
            logged: 0,
        }
    }

    /// Logs some of everything from this thread and from one with a name of its own.
    pub fn log(&mut self, rounds: i64) {
        let first = self.logged;
        for round in 0..rounds {
            self.round(first + 7 * round);
        }
        let this = &*self;
        std::thread::scope(|scope| {
            let other = std::thread::Builder::new().name("näme \"of\" it".into());
            let work = move || (0..rounds).for_each(|round| this.round(first + 7 * round));
            other.spawn_scoped(scope, work).unwrap();
        });
        self.logged += 14 * rounds;
    }

    /// Seven events.
    fn round(&self, n: i64) {
        let timeline = self.timeline.as_ref().unwrap();
        timeline.log(self.plain, []);
        timeline.log(self.events.warn, [n]);
        timeline.log(self.events.sum, [n, -n, i64::MIN + n]);
        timeline.log(self.events.fail, [n, i64::MAX, 3]);
        let text = |text: &'static str| Value::Text {
            bytes: text.as_bytes(),
            cut: false,
        };
        let sent = [
            text("peer"),
            Value::Float(n as f64 / 3.0),
            Value::Uint(u64::MAX),
            Value::Uint(0x7fff_0000),
        ];
        let (more, long) = ("tab\tand é\u{1b}[31m".repeat(20), "x".repeat(100));
        let odd = [
            Value::Text {
                bytes: more.as_bytes(),
                cut: true,
            },
            text("truncated"),
            Value::Float(f64::NAN),
            Value::Int(n % 100),
            Value::Int(i64::from(b'!')),
        ];
        assert!(more.len() + long.len() < 8 * timeline.payload_capacity());
        let stack = [Value::Addresses(stack(n))];
        timeline.log_payload(self.printf, &lay_out(&sent), false);
        timeline.log_payload(self.floats, &lay_out(&odd), false);
        let whole: Vec<_> = stack.into_iter().chain(sent).collect();
        timeline.log_payload(self.printf, &lay_out(&whole), true);
    }

    /// Records what `from` is the path of, to its end; the path of the archive.
    pub fn record(&self, from: &str, output: &str, options: &[&str]) -> String {
        assert!(self.timeline.is_none(), "its end is that of the program");
        let path = self.path(output);
        let args = ["record", from, "-o", &path, "--once", "--fsync", "never"];
        succeed(&[&args[..], options].concat());
        path
    }

    /// A path in the folder of the test.
    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// The program ends.
    pub fn end(&mut self) {
        self.timeline = None;
    }

    /// Nothing of it is left but what was recorded.
    pub fn vanish(&mut self) {
        self.end();
        timeline::unlink(self.name.path()).unwrap();
        fs::remove_file(&self.program).unwrap();
    }
}

/// A file with many functions, and not too large.
fn c_library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries = files.filter(|file| file.contains("/libc.so") || file.contains("/libc-"));
    libraries.next().expect("the C library is loaded").into()
}

/// Where the program says that it is loaded.
const BASE: u64 = 0x5555_0000_0000;
const SIZE: u64 = 1 << 30;

fn loaded(program: &Path) -> Module {
    Module {
        pid: std::process::id(),
        base: BASE,
        start: BASE,
        end: BASE + SIZE,
        path: program.into(),
        build_id: None,
        version: Some(FileVersion::of(&program.metadata().unwrap())),
    }
}

/// A call stack of one to four addresses, of which some are of functions, some of none, and some of
/// nothing.
fn stack(n: i64) -> Vec<u64> {
    let place = |up: i64| match (n + up) % 5 {
        4 => 0x1000 + n as u64 % 3,
        _ => BASE + 0x4_0000 + (n * 7 + up) as u64 % 50 * 4097,
    };
    (0..1 + n % 4).map(place).collect()
}
