//! Files and lines of call stacks: what debug information says, in the program's file or beside it.

mod inlined;
mod separate;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;
use timeline::{Attached, Order, Source as _, SourceLine};

use crate::c_printf::GNU;
use crate::support::copy_program;
use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{cc, clang, limited, root, run, succeed};

const SOURCE: &str = "tests/c/lines.c";
const NAMES: [&str; 4] = ["inner", "outer", "silent", "main"];

/// A program that has run, and its folder with the ring that it left.
struct Ran {
    folder: TempDir,
    program: PathBuf,
    said: String,
}

impl Ran {
    /// Compiled, changed, and run.
    fn after(compiler: Command, flags: &[&str], source: &str, change: impl FnOnce(&Path)) -> Ran {
        let folder = TempDir::new().unwrap();
        let program = compile(compiler, flags, &[source], Link::Shared, folder.path());
        change(&program);
        let said = execute(&program, folder.path(), &[]);
        Ran {
            folder,
            program,
            said,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ring(&self) -> PathBuf {
        self.path("ring")
    }
}

/// A program that has logged, and the lines that it says.
struct Logged {
    ran: Ran,
    lines: Vec<u32>,
}

fn logged(compiler: Command, flags: &[&str]) -> Logged {
    logged_after(compiler, flags, |_| ())
}

/// The same of a program that was changed before it ran.
fn logged_after(compiler: Command, flags: &[&str], change: impl FnOnce(&Path)) -> Logged {
    let flags = [GNU, &["-pthread", "-fno-omit-frame-pointer"], flags].concat();
    let ran = Ran::after(compiler, &flags, SOURCE, change);
    let lines = ran
        .said
        .split_whitespace()
        .map(|line| line.parse().unwrap());
    Logged {
        lines: lines.collect(),
        ran,
    }
}

impl Logged {
    /// The places of the three functions, as the library finds them.
    fn places(&self) -> Vec<Option<SourceLine>> {
        let at = Attached::open(self.ran.ring()).unwrap();
        let event = at.events(Order::OldestFirst).next().unwrap();
        let frames = event.backtrace().iter();
        let frames: Vec<_> = frames.map(|address| at.frame(&event, *address)).collect();
        let named = |name: &&str| {
            let is_it = |frame: &&timeline::Frame| frame.name.as_deref() == Some(*name);
            frames
                .iter()
                .find(is_it)
                .and_then(|frame| frame.source.clone())
        };
        NAMES.iter().map(named).collect()
    }

    fn expected(&self) -> Vec<Option<SourceLine>> {
        let file = root().join(SOURCE).to_str().unwrap().to_owned();
        let place = |line: &u32| SourceLine {
            file: file.clone(),
            line: *line,
        };
        self.lines.iter().map(|line| Some(place(line))).collect()
    }
}

#[test]
fn frames_have_the_lines_of_programs_with_debug_information() {
    let none = vec![None; 4];
    let (gcc, clang) = (|| Some(cc()), || clang("clang"));
    for (compiler, flags, has_lines) in [
        (gcc(), &["-g"][..], true),
        (gcc(), &["-g", "-gdwarf-4"], true),
        (gcc(), &["-g", "-gdwarf-5", "-gz=zlib"], true),
        (gcc(), &["-g1", "-no-pie"], true),
        (gcc(), &[], false),
        (clang(), &["-g"], true),
        (clang(), &["-gline-tables-only"], true),
        (clang(), &["-g", "-gdwarf-4", "-gz=zlib"], true),
        (clang(), &[], false),
    ] {
        let Some(compiler) = compiler else {
            println!("there is no clang here");
            continue;
        };
        let logged = logged(compiler, flags);
        let expected = match has_lines {
            true => logged.expected(),
            false => none.clone(),
        };
        assert_eq!(logged.places(), expected, "{flags:?}");
    }
}

fn timeline(words: &[&str]) -> String {
    let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
    String::from_utf8(succeed(command.args(words), "nothing").stdout).unwrap()
}

/// What dumps of a timeline or an archive say of the first three frames.
fn shown(path: &Path, logged: &Logged) {
    let path = path.to_str().unwrap();
    let json: Json = serde_json::from_str(&timeline(&["dump", "--json", path])).unwrap();
    let text = timeline(&["dump", path]);
    let frames = json["backtrace"].as_array().unwrap();
    for ((frame, name), place) in frames.iter().zip(NAMES).zip(logged.expected()) {
        let place = place.unwrap();
        assert_eq!(frame["function"], name);
        assert_eq!(
            (&frame["file"], &frame["line"]),
            (&place.file.into(), &place.line.into())
        );
        let begin = format!("    at {name}+0x");
        let line = text.lines().find(|line| line.starts_with(&begin));
        let end = format!(
            "/program) at {}:{}",
            root().join(SOURCE).display(),
            place.line
        );
        assert!(line.is_some_and(|line| line.ends_with(&end)), "{text}");
    }
}

#[test]
fn dumps_show_lines_and_archives_keep_them() {
    let logged = logged(cc(), &["-g"]);
    shown(&logged.ran.ring(), &logged);
    let archive = logged.ran.path("lines.tla");
    let (ring, to) = (logged.ran.ring(), archive.to_str().unwrap());
    timeline(&["record", "--once", ring.to_str().unwrap(), "-o", to]);
    fs::remove_file(&logged.ran.program).unwrap();
    shown(&archive, &logged);
    // Without the program, the ring has neither names nor lines.
    assert_eq!(logged.places(), vec![None; 4]);
}

#[test]
fn another_build_gives_no_lines() {
    let logged = logged(cc(), &["-g", "-Wl,--build-id=0xc0ffee"]);
    assert_eq!(logged.places(), logged.expected());
    let other = |id: &str| {
        let folder = TempDir::new().unwrap();
        let id = format!("-Wl,--build-id={id}");
        let flags = [GNU, &["-pthread", "-g", "-DOTHER", &id]].concat();
        let program = compile(cc(), &flags, &[SOURCE], Link::Shared, folder.path());
        copy_program(program, &logged.ran.program);
    };
    other("0xc0ffef");
    assert_eq!(logged.places(), vec![None; 4]);
    // A linker writes whatever id it is told to: the size says that it is another one.
    other("0xc0ffee");
    assert_eq!(logged.places(), vec![None; 4]);
}

#[test]
fn what_was_stripped_off_a_program_is_found_by_its_build_id() {
    let objcopy = |words: &[&str], from: &Path, to: &Path| {
        let mut command = limited("objcopy");
        succeed(command.args(words).arg(from).arg(to), "binutils");
    };
    let flags = ["-g", "-Wl,--build-id=0xc0ffee0102"];
    let logged = logged_after(cc(), &flags, |program| {
        let debug = program.with_extension("debug");
        let apart = ["--only-keep-debug", "--compress-debug-sections=zlib"];
        objcopy(&apart, program, &debug);
        objcopy(&["--strip-debug"], program, program);
    });
    let debug = logged.ran.program.with_extension("debug");
    assert_eq!(logged.places(), vec![None; 4]);

    let dump = |build_id: &str| {
        let script = format!(
            "mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/c0 && \
             cp \"$1\" /usr/lib/debug/.build-id/c0/{build_id}.debug && exec \"$2\" dump \"$3\""
        );
        // SAFETY: geteuid only looks.
        let alone = if unsafe { libc::geteuid() } == 0 {
            "-m"
        } else {
            "-rm"
        };
        let mut command = limited("unshare");
        command
            .args([alone, "sh", "-ec", &script, "sh"])
            .arg(&debug);
        command
            .arg(env!("CARGO_BIN_EXE_timeline"))
            .arg(logged.ran.ring());
        run(&mut command, "util-linux")
    };
    let found = dump("ffee0102");
    let said = String::from_utf8_lossy(&found.stderr);
    if !found.status.success() && (said.contains("mount") || said.contains("unshare")) {
        assert!(std::env::var_os("CI").is_none(), "{said}");
        eprintln!("in part only: /usr/lib/debug cannot be ours here: {said}");
        return;
    }
    let place = |line: u32| format!(" at {}:{line}", root().join(SOURCE).display());
    let text = String::from_utf8(found.stdout).unwrap();
    for line in &logged.lines {
        assert!(text.contains(&place(*line)), "{text}{said}");
    }
    // The same file under the name of another build id.
    let text = String::from_utf8(dump("ffee0103").stdout).unwrap();
    assert!(
        text.contains("inner+") && !text.contains("lines.c"),
        "{text}"
    );
}
