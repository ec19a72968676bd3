//! Tests that no verb prints a character that a terminal would obey.
//! Nor does one print a character that hides or reorders the text beside it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anstream::adapter::strip_str;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, cc, limited, succeed};

/// As in tests/c/hostile_texts.c: the title of the window, what clears the screen, and what
/// reorders, breaks and hides.
const HOSTILE: &str = "\u{1b}]2;x\u{7}\u{9b}2J\u{202e}\u{2028}\u{2029}\u{feff}\u{61c}\u{2066}";

/// The characters of which none may come out.
fn is_hostile(c: char) -> bool {
    (HOSTILE.contains(c) && !c.is_ascii_graphic()) || (c.is_control() && c != '\n')
}

/// A path, or a word, in which [`HOSTILE`] and something that is no UTF-8 stand.
fn hostile(before: &str) -> OsString {
    OsString::from_vec([before.as_bytes(), HOSTILE.as_bytes(), b"\xff"].concat())
}

/// A program that fills a timeline with hostile texts, and waits.
struct Program {
    child: Child,
    name: OsString,
    /// Of hostile name, with all that is written.
    folder: PathBuf,
    _temporary: TempDir,
}

impl Program {
    fn start(test: &str) -> Program {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path().join(hostile("folder"));
        fs::create_dir(&folder).unwrap();
        let flags = [C99, &["-Wno-overlength-strings", "-D_GNU_SOURCE"]].concat();
        let plain = compile(
            cc(),
            &flags,
            &["tests/c/hostile_texts.c"],
            Link::Static,
            temporary.path(),
        );
        let mut renamed = OsString::from("hostile_function=");
        renamed.push(HOSTILE);
        let path = folder.join(hostile("p"));
        let mut objcopy = Command::new("objcopy");
        succeed(
            objcopy
                .arg("--redefine-sym")
                .arg(renamed)
                .arg(plain)
                .arg(&path),
            "binutils",
        );

        let name = format!("/timeline-test-terminal-{test}-{}", std::process::id());
        let name = hostile(&name);
        let mut child = limited(&path)
            .arg(&name)
            .arg(HOSTILE)
            .arg(folder.join("dump"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        Program {
            child,
            name,
            folder,
            _temporary: temporary,
        }
    }

    /// Has it end, by the end of its input.
    fn end(&mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for suffix in ["", ".prev"] {
            let mut file = b"/dev/shm".to_vec();
            file.extend(self.name.as_bytes());
            file.extend(suffix.as_bytes());
            let _ = fs::remove_file(OsString::from_vec(file));
        }
    }
}

/// Command lines, and what came of them.
struct Shown {
    folder: PathBuf,
    verbs: BTreeSet<String>,
    failed: BTreeSet<String>,
}

impl Shown {
    /// Runs the command, into a pipe and on a terminal, and looks at all that it writes.
    fn run(&mut self, words: &[&dyn AsRef<OsStr>]) -> Output {
        let words: Vec<OsString> = words.iter().map(|word| word.as_ref().to_owned()).collect();
        let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
        command
            .args(&words)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        let output = command.output().unwrap();
        let told = [&output.stdout[..], &output.stderr[..]].concat();
        let told = String::from_utf8(told).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        assert!(!told.contains(is_hostile), "{words:?}: {told:?}");
        let verb = words[0].to_string_lossy().into_owned();
        if !output.status.success() {
            assert!(!told.is_empty(), "{words:?}");
            self.failed.insert(verb.clone());
        }
        self.verbs.insert(verb);
        output
    }

    /// As `run`; it must succeed.
    fn succeed(&mut self, words: &[&dyn AsRef<OsStr>]) {
        let output = self.run(words);
        assert!(output.status.success(), "{output:?}");
    }

    /// As `run`; it must fail.
    fn fail(&mut self, words: &[&dyn AsRef<OsStr>]) {
        let output = self.run(words);
        assert!(!output.status.success(), "{output:?}");
    }

    /// The same on a terminal, where there are colours.
    fn run_on_a_terminal(&self, words: &[&dyn AsRef<OsStr>]) {
        let quoted = |word: &[u8]| [b"'", word, b"'"].concat();
        let mut line = quoted(env!("CARGO_BIN_EXE_timeline").as_bytes());
        for word in words {
            line.push(b' ');
            line.extend(quoted(word.as_ref().as_bytes()));
        }
        let mut script = limited("script");
        script
            .arg("-qec")
            .arg(OsString::from_vec(line))
            .arg("/dev/null")
            .stdin(Stdio::null());
        script
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR")
            .env_remove("CI")
            .env("TERM", "xterm");
        let output = script.current_dir(&self.folder).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains('\u{1b}'), "no colours: {told:?}");
        // What sets colours and moves the cursor; it does not know of titles and of the C1
        // characters.
        let text = ["\u{1b}]", "\u{7}"]
            .iter()
            .fold(told.clone(), |t, hostile| {
                assert!(!t.contains(hostile), "{told:?}");
                t
            });
        let text = strip_str(&text).to_string().replace('\r', "");
        assert!(!text.contains(is_hostile), "{told:?}");
    }
}

/// The verbs that `--help` has.
fn verbs() -> BTreeSet<String> {
    let help = succeed(
        Command::new(env!("CARGO_BIN_EXE_timeline")).arg("--help"),
        "the command",
    );
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, verbs) = help.split_once("\nVerbs:\n").unwrap();
    let verbs = verbs.lines().take_while(|line| !line.is_empty());
    let verbs = verbs.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    verbs
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

/// Everything that reads, of a ring and of an archive.
fn read(shown: &mut Shown, path: &dyn AsRef<OsStr>, ends: bool) {
    for how in ["--long", "--json", "-n9"] {
        shown.succeed(&[&"dump", path, &how]);
        if ends {
            shown.succeed(&[&"tail", path, &how]);
            shown.succeed(&[
                &"watch",
                path,
                &"--when",
                &"event *",
                &how.replace("long", "json"),
            ]);
        }
    }
    shown.succeed(&[&"info", path]);
    shown.succeed(&[&"info", path, &"--json"]);
    shown.run_on_a_terminal(&[&"dump", path, &"--long"]);
    shown.run_on_a_terminal(&[&"info", path]);
}

#[test]
fn no_verb_shows_what_a_terminal_would_obey() {
    let mut program = Program::start("text");
    let name = program.name.clone();
    let folder = program.folder.clone();
    let file = |name: &str| folder.join(hostile(name));
    let (snapshot, archive) = (file("s"), file("a"));
    let folder = folder.clone();
    let mut shown = Shown {
        folder,
        verbs: BTreeSet::new(),
        failed: BTreeSet::new(),
    };

    let dump = fs::read_to_string(program.folder.join("dump")).unwrap();
    assert!(
        dump.contains(" ?]2;x??2J?") && !dump.contains(is_hostile),
        "{dump:?}"
    );

    shown.succeed(&[&"list"]);
    shown.succeed(&[&"list", &"--json"]);
    shown.run_on_a_terminal(&[&"list"]);
    shown.fail(&[&"rm", &name]);
    read(&mut shown, &name, false);
    shown.succeed(&[&"save", &name, &snapshot]);
    shown.succeed(&[&"record", &snapshot, &"-o", &archive]);
    read(&mut shown, &snapshot, true);
    read(&mut shown, &archive, true);
    let sampled = [
        "--level",
        "all",
        "--for",
        "100us",
        "--every",
        "10ms",
        "--duration",
        "20ms",
    ];
    let words: Vec<&dyn AsRef<OsStr>> = sampled.iter().map(|word| word as _).collect();
    shown.succeed(&[&[&"sample" as _, &name as _], &words[..]].concat());
    shown.succeed(&[&"priority", &name]);
    shown.succeed(&[&"priority", &name, &"info"]);
    shown.run(&[&"demo", &name, &"--seconds", &"1"]);
    program.end();

    damaged(&mut shown, &archive, &file("d"));
    let demo = hostile(&format!(
        "/timeline-test-terminal-demo-{}",
        std::process::id()
    ));
    shown.succeed(&[&"demo", &demo, &"--seconds", &"1"]);
    shown.succeed(&[&"rm", &demo, &name]);
    failures(&mut shown, &snapshot);

    let all = verbs();
    assert!(all.len() > 11, "{all:?}");
    let named: BTreeSet<_> = shown.verbs.intersection(&all).cloned().collect();
    assert_eq!(named, all, "no verb is left out");
    let failed: BTreeSet<_> = shown.failed.intersection(&all).cloned().collect();
    assert_eq!(failed, all, "each fails over hostile words");
}

/// What an archive is told to be that is damaged, and what is made of it.
fn damaged(shown: &mut Shown, archive: &Path, damaged: &Path) {
    let mut bytes = fs::read(archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(damaged, bytes).unwrap();
    let repaired = shown.folder.join(hostile("r"));
    shown.succeed(&[&"verify", &archive]);
    shown.fail(&[&"verify", &damaged]);
    shown.run(&[&"verify", &damaged, &"--json"]);
    shown.run(&[&"dump", &damaged]);
    shown.succeed(&[&"repair", &damaged, &"-o", &repaired]);
    shown.fail(&[&"repair", &damaged, &"-o", &repaired]);
}

/// Words that no verb can do anything with.
fn failures(shown: &mut Shown, snapshot: &Path) {
    let (nothing, live) = (hostile("./nothing"), hostile("/nothing"));
    let nowhere = shown.folder.join("no/folder").join(hostile("x"));
    let flag = hostile("--");
    for verb in verbs() {
        // If there is one timeline in shared memory, of another test, then `save` saved that.
        let _ = fs::remove_file(shown.folder.join(&nothing));
        shown.run(&[&verb, &flag]);
        shown.run(&[&verb, &nothing, &nothing, &nothing]);
        if !["record", "store", "agent", "demo"].contains(&verb.as_str()) {
            shown.run(&[&verb, &nothing]);
            // It waits for a timeline of that name, too.
            if verb != "serve" {
                shown.run(&[&verb, &live]);
            }
            shown.run(&[&verb, &nothing, &"-o", &nothing]);
        }
    }
    let bad = hostile("");
    shown.run(&[&bad]);
    shown.run(&[&"save", &snapshot, &nowhere]);
    shown.run(&[&"record", &snapshot, &"-o", &nowhere]);
    shown.run(&[&"record", &snapshot, &"-o", &snapshot]);
    shown.run(&[
        &"record",
        &snapshot,
        &"-o",
        &nothing,
        &"--rotate-size",
        &"1G",
    ]);
    for option in [
        "--rotate-size",
        "--rotate-every",
        "--fsync",
        "--keep-size",
        "--cpu",
    ] {
        shown.run(&[&"record", &snapshot, &"-o", &nothing, &option, &bad]);
        shown.run(&[&"record", &snapshot, &"-o", &nothing, &option, &HOSTILE]);
    }
    shown.run(&[&"dump", &snapshot, &"-n", &HOSTILE]);
    shown.run(&[&"priority", &snapshot, &HOSTILE]);
    shown.run(&[&"priority", &snapshot, &"info"]);
    shown.run(&[
        &"sample", &live, &"--level", &HOSTILE, &"--for", &HOSTILE, &"--every", &HOSTILE,
    ]);
    for option in ["--when", "--then", "--for", "--cooldown", "--save"] {
        shown.run(&[
            &"watch", &snapshot, &"--when", &"event *", &option, &HOSTILE,
        ]);
    }
    shown.run(&[&"demo", &"--seconds", &HOSTILE]);
    shown.run(&[&"demo", &nowhere]);
    shown.run(&[&"generate", &"man", &Path::new("/dev/null").join(&nothing)]);
    shown.run(&[&"generate", &"completions", &HOSTILE]);
}

#[test]
fn json_is_as_safe_and_loses_nothing() {
    let mut program = Program::start("json");
    program.end();
    let mut dump = limited(env!("CARGO_BIN_EXE_timeline"));
    let dumped = succeed(
        dump.args(["dump", "--json"]).arg(&program.name),
        "coreutils",
    );
    let dumped = String::from_utf8(dumped.stdout).unwrap();
    assert!(!dumped.contains(is_hostile), "{dumped:?}");
    let rows: Vec<Value> = dumped
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!(row["category"], HOSTILE);
    }
    let (printed, defined) = (&rows[0], &rows[1]);
    assert_eq!(defined["message"], format!("{HOSTILE} x(1) {HOSTILE}"));
    assert_eq!(printed["args"], serde_json::json!([HOSTILE, HOSTILE]));
    let functions = printed["backtrace"].as_array().unwrap();
    assert!(
        functions.iter().any(|frame| frame["function"] == HOSTILE),
        "{printed}"
    );
}
