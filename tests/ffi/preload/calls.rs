//! Running programs under preload.so, and what they called: by their timeline, and by counter.c.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use timeline::{Attached, Event, Order};

use crate::support::Name;
use crate::support::toolchain::{cc, library_dir, limited, luajit_program, printed, root};

/// What the tests build: preload.so, counter.so, known and vforks.
pub fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preload");
        printed(
            Command::new("make")
                .arg("--silent")
                .arg("-C")
                .arg(root().join("examples/preload"))
                .arg(format!("LIB={}", library_dir().display()))
                .arg(format!("OUT={}", out.display())),
            "build-essential",
        );
        let compile = |source: &str, output: &str, flags: &[&str]| {
            printed(
                cc().args([
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
                .arg(root().join("tests/ffi/preload").join(source))
                .arg("-o")
                .arg(out.join(output))
                .arg("-ldl"),
                "build-essential",
            );
        };
        compile(
            "counter.c",
            "counter.so",
            &["-fPIC", "-shared", "-fvisibility=hidden"],
        );
        compile("known.c", "known", &[]);
        if cfg!(target_arch = "x86_64") {
            compile("vforks.c", "vforks", &[]);
        }
        out
    })
}

/// A program that logs to `name` when it runs, in C locale so that it does not depend on the
/// machine.
pub fn logged(program: impl AsRef<Path>, name: &Name) -> Command {
    preloaded(program, name, &["preload.so"])
}

/// The same with other libraries as well. They are for the program alone, not for what watches its
/// time.
pub fn preloaded(program: impl AsRef<Path>, name: &Name, libraries: &[&str]) -> Command {
    let libraries: Vec<String> = libraries
        .iter()
        .map(|library| built().join(library).display().to_string())
        .collect();
    let mut command = limited("env");
    command
        .arg(format!("LD_PRELOAD={}", libraries.join(" ")))
        .arg(program.as_ref())
        .env("TIMELINE_PRELOAD", name.path())
        // The default size is too much for the small shared memory of a container.
        .env("TIMELINE_PRELOAD_ENTRIES", (1 << 17).to_string())
        .env("LC_ALL", "C")
        .env_remove("LD_LIBRARY_PATH");
    command
}

/// The system's own program, not a wrapper in front of it: those run programs of their own.
pub fn system(program: &str) -> PathBuf {
    if program == "luajit" {
        return luajit_program().into();
    }
    let own = Path::new("/usr/bin").join(program);
    if own.exists() { own } else { program.into() }
}

const UNLOGGED: &str = "could not log $calls before this";

/// What a timeline says about the calls of a program.
pub struct Calls {
    pub attached: Attached,
}

impl Calls {
    pub fn of(name: &Name) -> Calls {
        let attached = Attached::open(name.path()).unwrap_or_else(|e| panic!("{e}"));
        let calls = Calls { attached };
        let info = calls.attached.info();
        assert_eq!(
            info.entries_held, info.entries_written,
            "the ring was too small for this test"
        );
        calls
    }

    /// The message of an event up to the first argument: "malloc of", "read of" and so on.
    pub fn kind(&self, event: &Event) -> &str {
        &self
            .attached
            .definition(event.id)
            .expect("a definition")
            .message
    }

    /// The events whose message is this one, oldest first.
    pub fn events<'a>(&'a self, message: &'a str) -> impl Iterator<Item = Event> + 'a {
        self.attached
            .events(Order::OldestFirst)
            .filter(move |event| self.kind(event) == message)
    }

    /// Calls that could not be logged, by the account of preload.so and by that of the library.
    pub fn unlogged(&self) -> u64 {
        let told: i64 = self.events(UNLOGGED).map(|e| e.args[0]).sum();
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

/// By kind, and in children of vfork.
fn counted(file: &Path) -> (BTreeMap<&'static str, Count>, u64) {
    let bytes = fs::read(file).expect("what counter.so counted");
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    assert_eq!(words.len(), 3 * (KINDS.len() + 1));
    let counts = words.chunks(3).map(|w| Count {
        done: w[0],
        failed: w[1],
        sum: w[2],
    });
    let vforked = words[3 * KINDS.len()];
    (KINDS.into_iter().zip(counts).collect(), vforked)
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
        if message == UNLOGGED {
            continue;
        }
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
pub fn compare(
    package: &str,
    entries: u64,
    prepare: impl FnOnce(&mut Command),
) -> (String, Calls, Name) {
    let name = Name::new("preload");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("counts");
    let mut command = preloaded(system(package), &name, &["counter.so", "preload.so"]);
    command
        .env("COUNTER_FILE", &file)
        .env("TIMELINE_PRELOAD_ENTRIES", entries.to_string());
    prepare(&mut command);
    let said = printed(&mut command, package);
    let calls = Calls::of(&name);
    let ((counted, vforked), in_timeline) = (counted(&file), in_timeline(&calls));
    assert_eq!(
        in_timeline, counted,
        "\nthe timeline is on the left, the independent count on the right"
    );
    assert_eq!(calls.unlogged(), vforked, "calls of children of vfork");
    (said, calls, name)
}
