//! preload.so under real programs: every call logged, none invented, none lost, and nothing changed for
//! the program. Counts are compared with a program that knows its own, and with tests/preload/counter.c.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use support::{Name, library_dir, root, run, succeed};
use timeline::{Attached, Event, Order};

/// What the tests build: preload.so, counter.so and known.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preload");
        succeed(
            Command::new("make")
                .arg("--silent")
                .arg("-C")
                .arg(root().join("examples/preload"))
                .arg(format!("LIB={}", library_dir().display()))
                .arg(format!("OUT={}", out.display())),
        );
        let cc = |source: &str, output: &str, flags: &[&str]| {
            succeed(
                Command::new("cc")
                    .args([
                        "-std=gnu11",
                        "-O2",
                        "-g",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-pthread",
                    ])
                    .arg("-U_FORTIFY_SOURCE")
                    .args(flags)
                    .arg(root().join("tests/preload").join(source))
                    .arg("-o")
                    .arg(out.join(output))
                    .arg("-ldl"),
            );
        };
        cc(
            "counter.c",
            "counter.so",
            &["-fPIC", "-shared", "-fvisibility=hidden"],
        );
        cc("known.c", "known", &[]);
        out
    })
}

/// A program that logs to `name` when it runs, in C locale so that it does not depend on the machine.
fn logged(program: impl AsRef<Path>, name: &Name) -> Command {
    let mut command = Command::new(program.as_ref());
    command
        .env("LD_PRELOAD", built().join("preload.so"))
        .env("TIMELINE_PRELOAD", &name.0)
        .env("LC_ALL", "C")
        .env_remove("LD_LIBRARY_PATH");
    command
}

/// The system's own program, not a wrapper in front of it: those run programs of their own.
fn system(program: &str) -> PathBuf {
    let own = Path::new("/usr/bin").join(program);
    if own.exists() { own } else { program.into() }
}

/// What a timeline says about the calls of a program.
struct Calls {
    attached: Attached,
}

impl Calls {
    fn of(name: &Name) -> Calls {
        let attached = Attached::open(&name.0).unwrap_or_else(|e| panic!("{e}"));
        let calls = Calls { attached };
        let info = calls.attached.info();
        assert_eq!(
            info.events_held, info.events_written,
            "the ring was too small for this test"
        );
        calls
    }

    /// The message of an event up to the first argument: "malloc of", "read of" and so on.
    fn kind(&self, event: &Event) -> &str {
        &self
            .attached
            .definition(event.id)
            .expect("a definition")
            .message
    }

    /// The events whose message is this one, oldest first.
    fn events<'a>(&'a self, message: &'a str) -> impl Iterator<Item = Event> + 'a {
        self.attached
            .events(Order::OldestFirst)
            .filter(move |event| self.kind(event) == message)
    }

    /// Calls that could not be logged, by the account of preload.so and by that of the library.
    fn unlogged(&self) -> u64 {
        let told: i64 = self
            .events("could not log $calls calls before this")
            .map(|e| e.args[0])
            .sum();
        told as u64 + self.attached.info().dropped.total()
    }
}

/// What counter.c counted of one kind, and what the timeline has.
#[derive(Debug, PartialEq, Eq)]
struct Count {
    done: u64,
    failed: u64,
    sum: u64,
}

const KINDS: [&str; 10] = [
    "malloc", "calloc", "realloc", "aligned", "free", "read", "write", "open", "openat", "close",
];

fn counted(file: &Path) -> BTreeMap<&'static str, Count> {
    let bytes = fs::read(file).expect("what counter.so counted");
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    assert_eq!(words.len(), 3 * KINDS.len());
    let counts = words.chunks(3).map(|w| Count {
        done: w[0],
        failed: w[1],
        sum: w[2],
    });
    KINDS.into_iter().zip(counts).collect()
}

fn in_timeline(calls: &Calls) -> BTreeMap<&'static str, Count> {
    let zero = |kind| {
        (
            kind,
            Count {
                done: 0,
                failed: 0,
                sum: 0,
            },
        )
    };
    let mut counts: BTreeMap<_, _> = KINDS.into_iter().map(zero).collect();
    for event in calls.attached.events(Order::OldestFirst) {
        let message = calls.kind(&event);
        let kind = message.split(' ').next().expect("a first word");
        let Some(count) = counts.get_mut(kind) else {
            panic!("an event that no program asked for: {message}");
        };
        let failed = message.contains("failed");
        let amount = match (kind, failed) {
            ("malloc" | "aligned" | "free", _) => event.args[0],
            ("calloc", _) => event.args[0].wrapping_mul(event.args[1]),
            ("realloc", _) => event.args[1],
            ("read" | "write", false) => event.args[2],
            ("open", false) => event.args[1],
            ("openat", false) => event.args[2],
            ("close", false) => event.args[0],
            _ => 0,
        };
        *(if failed {
            &mut count.failed
        } else {
            &mut count.done
        }) += 1;
        count.sum = count.sum.wrapping_add(amount as u64);
    }
    counts
}

/// Runs a program with both libraries and compares what they say; what it printed, and its calls.
fn compare(
    program: &Path,
    entries: u64,
    prepare: impl FnOnce(&mut Command),
) -> (String, Calls, Name) {
    let name = Name::new("preload");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("counts");
    let mut command = logged(program, &name);
    let both = [built().join("counter.so"), built().join("preload.so")];
    command
        .env(
            "LD_PRELOAD",
            both.map(|path| path.display().to_string()).join(" "),
        )
        .env("COUNTER_FILE", &file)
        .env("TIMELINE_PRELOAD_ENTRIES", entries.to_string());
    prepare(&mut command);
    let printed = succeed(&mut command);
    let calls = Calls::of(&name);
    assert_eq!(calls.unlogged(), 0);
    let (counted, in_timeline) = (counted(&file), in_timeline(&calls));
    assert_eq!(
        in_timeline, counted,
        "\nthe timeline is on the left, the independent count on the right"
    );
    (printed, calls, name)
}

#[test]
fn known_calls_are_logged_exactly_in_order_and_by_the_right_thread() {
    let name = Name::new("preload");
    let printed =
        succeed(logged(built().join("known"), &name).env("TIMELINE_PRELOAD_ENTRIES", "1048576"));
    let calls = Calls::of(&name);

    let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number: u64 = words[words.len() - 1].parse().expect("a number");
        if words[0] == "rounds" {
            // Ids of threads may come again.
            *expected
                .entry(words[1].parse().expect("a thread id"))
                .or_default() += number;
        } else {
            told.insert(words[0], number);
        }
    }
    assert!(expected.values().sum::<u64>() == 23 * 300, "{printed}");

    // Each thread's rounds, as text: addresses become the place where they were first seen.
    let mut rounds: BTreeMap<u32, Rounds> = BTreeMap::new();
    for event in calls.attached.events(Order::OldestFirst) {
        let message = calls.kind(&event).to_owned();
        rounds
            .entry(event.tid)
            .or_default()
            .take(&message, &event.args);
    }
    let seen: BTreeMap<u32, u64> = rounds
        .iter()
        .filter(|(_, r)| r.whole > 0)
        .map(|(tid, r)| (*tid, r.whole))
        .collect();
    assert_eq!(seen, expected);
    for (tid, rounds) in &rounds {
        assert_eq!(
            rounds.next, 0,
            "thread {tid} stopped in the middle of a round"
        );
    }

    let of_size =
        |message, size| calls.events(message).filter(|e| e.args[0] == size).count() as u64;
    assert_eq!(
        of_size("malloc of $size bytes at $address", 4801),
        told["early"]
    );
    assert_eq!(
        of_size("malloc of $size bytes at $address", 4803),
        told["late"]
    );
    assert_eq!(told["late"], 16 * 3);
    let handled = of_size("write of $size bytes to $fd took $result", 43);
    assert_eq!(handled + calls.unlogged(), told["handler"]);
    assert!(handled > 0);
}

/// Follows one thread through the rounds of tests/preload/known.c.
#[derive(Default)]
struct Rounds {
    whole: u64,
    next: usize,
    address: i64,
    fd: i64,
}

impl Rounds {
    fn take(&mut self, message: &str, args: &[i64; 4]) {
        let first_word = message.split(' ').next().expect("a word");
        let failed = message.contains("failed");
        // Only calls with the sizes of a round belong to one, and what frees or closes in its middle.
        let begins = first_word == "malloc" && args[0] == 4909;
        if self.next == 0 && !begins {
            return;
        }
        let [a0, a1, a2, _] = *args;
        let fits = match self.next {
            0 => begins,
            1 => first_word == "realloc" && a0 == self.address && a1 == 4903,
            3 => first_word == "calloc" && (a0, a1) == (7, 701),
            5 => first_word == "aligned" && (a0, a1) == (4864, 256),
            2 | 4 | 6 => first_word == "free" && a0 == self.address,
            7 => first_word == "write" && !failed && (a0, a2) == (37, 37),
            8 => first_word == "read" && !failed && (a0, a2) == (41, 41),
            9 => {
                first_word == "open"
                    && !failed
                    && a0 == i64::from(libc_flags::O_RDONLY | libc_flags::O_CLOEXEC)
            }
            11 => {
                first_word == "openat"
                    && !failed
                    && a1 == i64::from(libc_flags::O_WRONLY | libc_flags::O_CLOEXEC)
            }
            10 | 12 => first_word == "close" && !failed && a0 == self.fd,
            13 => first_word == "close" && failed && (a0, a1) == (-1, 9),
            14 => first_word == "read" && failed && (a0, a1, a2) == (47, -1, 9),
            15 => first_word == "write" && failed && (a0, a1, a2) == (53, -1, 9),
            16 => first_word == "open" && failed && a1 == 2,
            17 => first_word == "openat" && failed && (a0, a2) == (-1, 9),
            _ => first_word == "malloc" && failed && (a0, a1) == (i64::MAX, 12),
        };
        assert!(fits, "call {} of a round is {message} {args:?}", self.next);
        match self.next {
            0 => self.address = a1,
            1 | 3 | 5 => self.address = a2,
            9 => self.fd = a1,
            11 => self.fd = a2,
            _ => {}
        }
        self.next = (self.next + 1) % 19;
        self.whole += u64::from(self.next == 0);
    }
}

/// Flags of open, the same on every Linux that has /dev/shm timelines.
mod libc_flags {
    pub const O_RDONLY: i32 = 0;
    pub const O_WRONLY: i32 = 1;
    pub const O_CLOEXEC: i32 = 0o2000000;
}

const PYTHON: &str = r#"
import os, subprocess, sys, threading, json, tempfile, zlib

def work(number):
    r, w = os.pipe()
    for i in range(200):
        os.write(w, b'x' * (number + 1001))
        os.read(r, 4096)
        json.loads(json.dumps({'key': [i] * 20, 'text': 'word' * i}))
    os.close(r); os.close(w)
    zlib.decompress(zlib.compress(bytes(50000)))

threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
children = []
for n in range(4):
    pid = os.fork()
    if pid == 0:
        work(10 + n)
        os._exit(0)
    children.append(pid)
for t in threads: t.join()
for pid in children: assert os.waitpid(pid, 0)[1] == 0
for n in range(3):
    out = subprocess.run([sys.executable, '-c', 'import os; os.write(1, b"child " * 7)'], capture_output=True)
    assert out.stdout == b'child ' * 7 and out.returncode == 0, out
try:
    os.close(10 ** 6)
except OSError as e:
    assert e.errno == 9
with tempfile.TemporaryFile() as f:
    for i in range(500): os.write(f.fileno(), b'y' * 777)
print(sum(range(100)))
"#;

#[test]
fn python_with_threads_forks_and_subprocesses() {
    let (printed, calls, _name) = compare(&system("python3"), 1 << 21, |command| {
        command
            .args(["-c", PYTHON])
            .env("PYTHONMALLOC", "malloc")
            .env_remove("PYTHONHOME");
    });
    assert_eq!(printed, "4950\n");

    // And what the script itself knows: twelve workers, each with writes of a size of its own.
    let writes = |size| {
        let fits = move |e: &Event| e.args[0] == size && e.args[2] == size;
        calls
            .events("write of $size bytes to $fd took $result")
            .filter(fits)
            .count()
    };
    for number in (0..8).chain(10..14) {
        assert_eq!(writes(number + 1001), 200, "writes of worker {number}");
    }
    assert_eq!(writes(777), 500);
    assert_eq!(writes(42), 3);
    let failed = calls
        .events("close of $fd failed with $errno")
        .filter(|e| e.args[..2] == [1_000_000, 9]);
    assert_eq!(failed.count(), 1);
    let processes = calls.attached.info().writers.len();
    assert!(processes >= 1, "{processes} processes");
}

#[test]
fn sqlite_with_a_database_on_disk() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = folder.path().join("test.db");
    let sql = "create table t(a integer primary key, b text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
        insert into t select i, hex(zeroblob(i % 200)) from n;
        create index u on t(b);
        delete from t where a % 3 = 0;
        vacuum;
        select count(*), sum(length(b)) from t;";
    let mut plain = Command::new(system("sqlite3"));
    let expected = succeed(plain.arg(":memory:").arg(sql));
    let (printed, calls, _name) = compare(&system("sqlite3"), 1 << 17, |command| {
        command.arg(&database).arg(sql);
    });
    assert_eq!(printed, expected);
    assert!(calls.events("malloc of $size bytes at $address").count() > 1000);
}

#[test]
fn a_shell_that_juggles_descriptors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "exec 3>three 4<three
        for i in {1..50}; do echo $i >&3; ( echo sub $i >file$i ); cat file$i >>all; done
        read -u 4 first; echo $first
        exec 3>&- 4<&-
        for fd in {3..30}; do eval \"exec $fd>&-\"; done
        wc -l <all";
    let (printed, calls, _name) = compare(&system("bash"), 1 << 18, |command| {
        command.current_dir(&folder).arg("-c").arg(script);
    });
    assert_eq!(printed.split_whitespace().collect::<Vec<_>>(), ["1", "50"]);
    assert!(calls.events("open with $flags gave $fd").count() >= 150);
}

#[test]
fn listing_a_tree() {
    let mut plain = Command::new(system("ls"));
    let directory = root().join("src");
    let expected = succeed(plain.env("LC_ALL", "C").arg("-lR").arg(&directory));
    let (printed, ..) = compare(&system("ls"), 1 << 16, |command| {
        command.arg("-lR").arg(&directory);
    });
    assert_eq!(printed, expected);
}

#[test]
fn a_program_with_a_timeline_of_its_own() {
    let own = Name::new("preload");
    let script = "local timeline = require 'timeline'
        local tl = assert(timeline.new(arg[1], 1024))
        local f = assert(tl:define('own', 'info', 'own $number'))
        for i = 1, 500 do f(i) end
        local n = 0
        for event in assert(timeline.attach(tl)):events() do n = n + 1 assert(event.args[1] == n) end
        print(n)";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("own.lua");
    fs::write(&file, script).expect("the script");
    let (printed, ..) = compare(&system("luajit"), 1 << 16, |command| {
        command
            .env("LUA_PATH", root().join("lua/?.lua"))
            .env("TIMELINE_LIBRARY", library_dir().join("libtimeline.so"))
            .arg(&file)
            .arg(&own.0);
    });
    assert_eq!(printed, "500\n");
}

#[test]
fn what_a_killed_program_did_last_is_there() {
    let name = Name::new("preload");
    let mut child = logged(system("python3"), &name)
        .args([
            "-u",
            "-c",
            "import os\nn = os.open('/dev/null', 1)\nwhile True: os.write(n, b'z' * 4321)",
        ])
        .env("TIMELINE_PRELOAD_ENTRIES", "16384")
        .stdin(Stdio::null())
        .spawn()
        .expect("python3 starts");
    let lap = |attached: &Attached| attached.info().events_written > 50_000;
    while !Attached::open(&name.0).is_ok_and(|attached| lap(&attached)) {
        assert!(
            child.try_wait().expect("its state").is_none(),
            "it ended by itself"
        );
        std::thread::yield_now();
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");

    let attached = Attached::open(&name.0).expect("what it left");
    let mut last_ticks = 0;
    let mut writes = 0;
    for event in attached.events(Order::OldestFirst) {
        assert!(event.ticks >= last_ticks && attached.definition(event.id).is_some());
        last_ticks = event.ticks;
        writes += u64::from(event.args[0] == 4321 && event.args[2] == 4321);
    }
    assert!(writes > 1000, "{writes}");
    assert_eq!(attached.info().dropped.total(), 0);
}

#[test]
fn programs_have_timelines_of_their_own_unless_told_otherwise() {
    // Its number is known to the shell alone, which keeps it when it executes ls.
    let printed = succeed(
        logged(system("bash"), &Name::new("preload"))
            .env_remove("TIMELINE_PRELOAD")
            .args(["-c", "echo $$; exec ls /"]),
    );
    let pid = printed.lines().next().expect("a process id");
    let name = Name(format!("/preload-{pid}"));
    // What the shell did before it became ls is in the same timeline, or kept as the one before.
    let mut processes = Vec::new();
    for path in [name.0.clone(), format!("{}.prev", name.0)] {
        if let Ok(attached) = Attached::open(&path) {
            let threads = attached
                .events(Order::OldestFirst)
                .filter_map(|event| attached.thread(&event));
            processes.extend(threads.map(|thread| thread.process));
        }
    }
    for program in ["bash", "ls"] {
        assert!(
            processes.iter().any(|process| process == program),
            "{program} logged nothing"
        );
    }
}

#[test]
fn the_level_turns_logging_off_without_counting_it_as_lost() {
    let name = Name::new("preload");
    let writer = timeline::Timeline::new(&name.0).expect("a timeline");
    writer
        .priority(timeline::Level::from(timeline::Priority::Warning))
        .expect("a level");
    run(logged(system("ls"), &name).args(["/absent", "/"]));
    let calls = Calls::of(&name);
    assert_eq!(calls.unlogged(), 0);
    for event in calls.attached.events(Order::OldestFirst) {
        assert!(
            calls.kind(&event).contains("failed"),
            "{}",
            calls.kind(&event)
        );
    }
}

#[test]
fn a_program_runs_all_the_same_where_no_timeline_can_be_made() {
    let mut command = logged(system("bash"), &Name::new("preload"));
    command.env("TIMELINE_PRELOAD", "/absent/folder/timeline");
    let output = run(command.args(["-c", "echo well; (echo done)"]));
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "well\ndone\n");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("/absent/folder/timeline"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
}

#[test]
fn a_pipeline_of_programs_shares_one_timeline() {
    let name = Name::new("preload");
    let mut shell = logged(system("bash"), &name)
        .args(["-c", "sort | uniq -c | sort -n"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut input = shell.stdin.take().expect("its input");
    for number in 0..20_000 {
        writeln!(input, "{}", number % 7).expect("it reads");
    }
    drop(input);
    let output = shell.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 7);
    let calls = Calls::of(&name);
    let mut processes: Vec<String> = calls
        .attached
        .events(Order::OldestFirst)
        .filter_map(|event| calls.attached.thread(&event))
        .map(|thread| thread.process)
        .collect();
    processes.sort();
    processes.dedup();
    for program in ["bash", "sort", "uniq"] {
        assert!(
            processes.iter().any(|p| p == program),
            "{program} is not among {processes:?}"
        );
    }
}
