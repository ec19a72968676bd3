//! Texts that an archive lost come back from the executable that logged them, and from no other.

mod rust;
mod stacks;
mod statements;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;
use timeline_archive::{Form, Preamble, RawEvent, Writer};

use crate::command::{Ran, command, lacking, run, succeed};
use crate::support::Name;
use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, cc, limited, succeed as succeeds};

/// The tags of records of strings and of symbols.
const STRING: u8 = 1;
const SYMBOL: u8 = 2;

/// Copies an archive, and damages each record with one of these tags.
fn damage(whole: &str, damaged: &str, tags: &[u8]) {
    let mut bytes = fs::read(whole).unwrap();
    let mut at = 0;
    while at < bytes.len() {
        let number = |from: usize, count: usize| {
            let digits = bytes[from..from + count].iter();
            digits.fold(0, |number, byte| number << 8 | usize::from(*byte))
        };
        let (head, length) = match bytes[at + 7] {
            0xda => (10, number(at + 8, 2)),
            0xdb => (12, number(at + 8, 4)),
            short => (8, usize::from(short & 0x1f)),
        };
        let end = at + head + length;
        if tags.contains(&bytes[at + head]) {
            bytes[end - 1] ^= 0xff;
        }
        at = end;
    }
    fs::write(damaged, bytes).unwrap();
}

/// What is dumped, without durations: no span is made across damage.
fn without_durations(dumped: &str) -> String {
    let lines = dumped
        .lines()
        .map(|line| match line.split_once(",\"duration\":") {
            Some((before, behind)) => {
                let rest = behind.trim_start_matches(|digit: char| digit.is_ascii_digit());
                format!("{before}{rest}\n")
            }
            None => format!("{line}\n"),
        });
    lines.collect()
}

/// Runs the command with little memory, and not for long.
fn bounded(args: &[&str]) -> Ran {
    let program = command(args);
    let mut limits = limited("prlimit");
    limits
        .arg("--as=2147483648")
        .arg(program.get_program())
        .args(args);
    Ran::new(limits.output().unwrap())
}

/// A program that logs every kind of text, its archive, and one whose strings are all damaged.
struct Lost {
    folder: TempDir,
    program: PathBuf,
    whole: String,
    damaged: String,
}

impl Lost {
    fn new(optimised: &str, options: &[&str]) -> Lost {
        Lost::of("tests/c/recover.c", &[optimised], options)
    }

    fn of(source: &str, flags: &[&str], options: &[&str]) -> Lost {
        let folder = tempfile::tempdir().unwrap();
        let flags = [C99, flags].concat();
        let program = compile(cc(), &flags, &[source], Link::Shared, folder.path());
        Lost::logged_by(program, folder, options)
    }

    /// The archive of what a program logs.
    fn logged_by(program: PathBuf, folder: TempDir, options: &[&str]) -> Lost {
        let name = Name::new("recover");
        succeeds(limited(&program).arg(name.path()), "coreutils");
        let path = |file: &str| folder.path().join(file).display().to_string();
        let (whole, damaged) = (path("whole.tla"), path("damaged.tla"));
        let record = [
            "record",
            name.path(),
            "-o",
            &whole,
            "--once",
            "--fsync",
            "never",
        ];
        succeed(&[&record[..], options].concat());
        damage(&whole, &damaged, &[STRING]);
        Lost {
            folder,
            program,
            whole,
            damaged,
        }
    }

    fn path(&self, file: &str) -> String {
        self.folder.path().join(file).display().to_string()
    }

    /// What `dump` shows of the damaged archive.
    fn dumped(&self, options: &[&str]) -> Ran {
        lacking(&[&["dump", "--json", &self.damaged], options].concat())
    }
}

/// How many texts are lost, and how many came back.
fn texts(archive: &str, options: &[&str]) -> (u64, u64) {
    let both = ["info", "verify"].map(|verb| {
        let told = &run(&[&[verb, "--json", archive], options].concat()).json()[0]["texts"];
        (
            told["lost"].as_u64().unwrap(),
            told["recovered"].as_u64().unwrap(),
        )
    });
    assert_eq!(both[0], both[1]);
    both[0]
}

#[test]
fn every_text_of_a_c_program_comes_back() {
    for (optimised, options) in [("-O2", &[][..]), ("-O0", &["--plain"])] {
        let lost = Lost::new(optimised, options);
        let whole = succeed(&["dump", "--json", &lost.whole]).stdout;
        let dumped = lost.dumped(&[]);
        assert_eq!(without_durations(&dumped.stdout), without_durations(&whole));
        let program = lost.program.display().to_string();
        let told = format!("21 of 21 lost texts from {program}");
        assert!(
            dumped.stderr.contains(&format!("recovered {told}")),
            "{dumped:?}"
        );
        for verb in ["info", "verify"] {
            let ran = run(&[verb, &lost.damaged]);
            assert!(ran.stdout.contains(&told), "{ran:?}");
        }
        assert_eq!(texts(&lost.damaged, &[]), (21, 21));
        assert_eq!(texts(&lost.whole, &[]), (0, 0));
        // Searches find what nobody sees in the file.
        let found = lacking(&["search", "--no-index", &lost.damaged, "round trip"]);
        assert_eq!(found.stdout.lines().count(), 20, "{found:?}");

        let repaired = lost.path("repaired.tla");
        let ran = succeed(&["repair", &lost.damaged, "-o", &repaired]);
        assert!(ran.stderr.contains(&told), "{ran:?}");
        fs::remove_file(&lost.program).unwrap();
        let dumped = succeed(&["dump", "--json", &repaired]).stdout;
        assert_eq!(without_durations(&dumped), without_durations(&whole));
        assert_eq!(texts(&repaired, &[]), (0, 21));
        let ran = succeed(&["verify", &repaired]);
        assert!(
            ran.stdout.contains("21 texts come from executables"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_changed_executable_recovers_nothing_and_says_so() {
    let lost = Lost::new("-O1", &[]);
    let whole = succeed(&["dump", "--json", &lost.whole]).stdout;
    let bytes = fs::read(&lost.program).unwrap();
    let kept = lost.path("kept");
    fs::copy(&lost.program, &kept).unwrap();
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let longer = [&bytes[..], b"\0"].concat();
    for (changed, why) in [(flipped, "another SHA-1"), (longer, "bytes, not ")] {
        fs::write(&lost.program, changed).unwrap();
        let dumped = lost.dumped(&[]);
        assert!(dumped.stdout.contains("<string 0x"), "{dumped:?}");
        assert!(!dumped.stdout.contains("sent $size"), "{dumped:?}");
        assert!(dumped.stderr.contains(why), "{dumped:?}");
        assert!(
            dumped.stderr.contains("is not the executable that logged"),
            "{dumped:?}"
        );
        for verb in ["info", "verify"] {
            let ran = run(&[verb, &lost.damaged]);
            assert!(ran.stdout.contains(why), "{ran:?}");
        }
        // The name of its process stands in the archive, and libraries have a word or two.
        let (all, known) = texts(&lost.damaged, &[]);
        assert!(all == 21 && known < 4, "{known} of {all}");
        // Given, it is believed no more; another one that is given is, wherever it is.
        let program = lost.program.display().to_string();
        let options = ["--executable", &program, "--executable", &kept];
        assert_eq!(lost.dumped(&options).stdout, whole);
        assert_eq!(texts(&lost.damaged, &options), (21, 21));
        let repaired = lost.path("repaired.tla");
        let repair = ["repair", &lost.damaged, "-o", &repaired];
        succeed(&[&repair[..], &options].concat());
        let dumped = succeed(&["dump", "--json", &repaired]).stdout;
        assert_eq!(without_durations(&dumped), without_durations(&whole));
        fs::remove_file(&repaired).unwrap();
    }
}

#[test]
fn what_is_no_executable_neither_hangs_nor_takes_memory() {
    let lost = Lost::new("-O1", &[]);
    fs::remove_file(&lost.program).unwrap();
    let check = |why: &str| {
        let program = lost.program.display().to_string();
        for options in [&[][..], &["--executable", &program]] {
            let words = [&["dump", "--json", &lost.damaged], options].concat();
            let ran = bounded(&words);
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains(why), "{why}: {ran:?}");
            assert!(ran.stdout.contains("<string 0x"), "{ran:?}");
        }
    };
    check("cannot be read: No such file");
    // Also where nothing is lost, an executable that is not there is told.
    let whole = [
        "dump",
        &lost.damaged,
        "-n",
        "0",
        "--executable",
        "/nonexist",
    ];
    let told = run(&whole).stderr;
    assert!(
        told.contains("cannot read /nonexist: No such file"),
        "{told}"
    );
    mkfifo(&lost.program, Mode::S_IRWXU).unwrap();
    check("is no file");
    fs::remove_file(&lost.program).unwrap();
    fs::create_dir(&lost.program).unwrap();
    check("is no file");
    fs::remove_dir(&lost.program).unwrap();
    let hole = fs::File::create(&lost.program).unwrap();
    hole.set_len(10 << 30).unwrap();
    check("is too large to be read");
    hole.set_len(1 << 30).unwrap();
    check("bytes, not ");
    // Root may read any file.
    fs::set_permissions(&lost.program, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&lost.program).is_err() {
        check("no permission");
    }
}

/// An archive of one event, whose text was lost, of an executable of this size and SHA-1.
fn forged(path: &Path, executable: &Path, size: u64, sha1: &[u8], text: &str) {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    writer.preamble(&Preamble {
        magic: Some(7),
        path: Some(executable.display().to_string()),
        size: Some(size),
        sha1: Some(sha1.to_vec()),
        ..Preamble::default()
    });
    let mut strings = Vec::new();
    let number = Writer::new(&mut strings, 7, Form::Plain).string(text);
    let mut event = RawEvent::default();
    event.definition.format = Some(number);
    writer.event(&event).unwrap();
    writer.flush().unwrap();
    fs::write(path, file).unwrap();
}

#[test]
fn an_elf_that_lies_is_read_as_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (elf, archive) = (folder.path().join("elf"), folder.path().join("forged.tla"));
    // Every number in its headers is as large as can be.
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    bytes.resize(4096, 0xff);
    // A text that never ends, and one that stands behind it.
    bytes.extend(vec![b'a'; 1 << 20]);
    bytes.extend(b"\0found again\0");
    fs::write(&elf, &bytes).unwrap();
    let sha1 = succeeds(limited("sha1sum").arg(&elf), "coreutils").stdout;
    let digits = |at: usize| std::str::from_utf8(&sha1[2 * at..2 * at + 2]).unwrap();
    let sha1: Vec<u8> = (0..20)
        .map(|at| u8::from_str_radix(digits(at), 16).unwrap())
        .collect();
    let archive_path = archive.display().to_string();
    let dump = || bounded(&["dump", "--json", &archive_path]);
    forged(&archive, &elf, bytes.len() as u64, &sha1, "found again");
    assert!(dump().stdout.contains("\"found again\""), "{:?}", dump());
    // A file that is another one, by what the archive says of it.
    for size in [0, 1, bytes.len() as u64 - 1, 3 << 30, u64::MAX] {
        forged(&archive, &elf, size, &sha1, "found again");
        let ran = dump();
        assert!(ran.stderr.contains("bytes, not "), "{ran:?}");
        assert!(!ran.stdout.contains("\"found again\""), "{ran:?}");
    }
    forged(&archive, Path::new("/dev/zero"), 1, &sha1, "found again");
    assert!(dump().stderr.contains("is no file"), "{:?}", dump());
    forged(
        &archive,
        Path::new("/proc/self/mem"),
        0,
        &sha1,
        "found again",
    );
    assert!(dump().stderr.contains("another SHA-1"), "{:?}", dump());
}

/// A program whose statements are in a library as well, which is known by its build id.
#[test]
fn texts_of_libraries_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libpart.so");
    let mut build = cc();
    build.args(["-shared", "-fPIC", "-Wl,--build-id=sha1", "-g", "-O1", "-I"]);
    build.arg(crate::support::toolchain::root().join("include"));
    build.arg("-o").arg(&library).arg("-DPART").arg(source());
    succeeds(&mut build, "gcc");
    let flags = [C99, &["-Wl,--no-as-needed", library.to_str().unwrap()]].concat();
    let program = compile(
        cc(),
        &flags,
        &["tests/c/part.c"],
        Link::Shared,
        folder.path(),
    );
    let name = Name::new("part");
    succeeds(limited(&program).arg(name.path()), "coreutils");
    let path = |file: &str| folder.path().join(file).display().to_string();
    let (whole, damaged) = (path("whole.tla"), path("damaged.tla"));
    succeed(&[
        "record",
        name.path(),
        "-o",
        &whole,
        "--once",
        "--fsync",
        "never",
    ]);
    damage(&whole, &damaged, &[STRING, SYMBOL]);
    let expected = succeed(&["dump", "--json", &whole]).stdout;
    assert!(expected.contains("only in the library"), "{expected}");
    let dumped = lacking(&["dump", "--json", &damaged]);
    assert_eq!(dumped.stdout, expected);
    assert!(dumped.stderr.contains("libpart.so"), "{dumped:?}");
    // Elsewhere, and given; another one is not believed.
    let moved = path("moved.so");
    fs::rename(&library, &moved).unwrap();
    fs::copy(&program, &library).unwrap();
    let dumped = lacking(&["dump", "--json", &damaged]);
    assert!(!dumped.stdout.contains("only in the library"), "{dumped:?}");
    let dumped = lacking(&["dump", "--json", &damaged, "--executable", &moved]);
    assert_eq!(dumped.stdout, expected);
}

fn source() -> PathBuf {
    crate::support::toolchain::root().join("tests/c/part.c")
}

#[test]
fn what_was_lost_has_no_name() {
    let lost = Lost::new("-O1", &[]);
    fs::remove_file(&lost.program).unwrap();
    let stats = lacking(&["stats", &lost.damaged]).stdout;
    assert!(!stats.contains("string_0x"), "{stats}");
    for wanted in [
        ["--event", "*"],
        ["--event", "*.string_*"],
        ["--category", "*"],
    ] {
        let dumped = run(&["dump", "--json", &lost.damaged, wanted[0], wanted[1]]);
        assert!(dumped.stdout.is_empty(), "{wanted:?}: {dumped:?}");
    }
    let found = run(&["stats", "--json", &lost.damaged]).stdout;
    assert!(
        found.contains("\"?.?\"") && !found.contains("string_0x"),
        "{found}"
    );
}

#[test]
fn all_verbs_that_read_archives_take_executables() {
    let lost = Lost::new("-O1", &[]);
    let moved = lost.path("moved");
    fs::rename(&lost.program, &moved).unwrap();
    let archive = lost.damaged.as_str();
    for (words, shown) in [
        (&["search", "--no-index", archive, "sent"][..], "sent"),
        (&["stats", archive], "sent"),
        (&["events", archive], "sent"),
        (&["export", archive], "sent"),
        (&["histogram", "--every", "net.sent", archive], "total"),
    ] {
        let ran = run(&[words, &["--executable", &moved]].concat());
        assert!(ran.stdout.contains(shown), "{words:?}: {ran:?}");
        let without = run(words).stdout;
        assert!(!without.contains(shown), "{words:?}: {without}");
    }
    for verb in ["outliers", "save", "serve", "tail"] {
        let help = succeed(&[verb, "--help"]).stdout;
        assert!(help.contains("--executable <FILE>"), "{verb}");
    }
}
