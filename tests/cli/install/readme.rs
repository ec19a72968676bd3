//! Tests the examples of the first page, exactly as they are printed there.
//! They are the two programs, the one that aborts, and the smallest one in little memory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use super::prefix;
use crate::support::toolchain::pages::{Block, blocks, steady};
use crate::support::toolchain::{limited, luajit_program, root, run};

/// Runs a script with what was installed, where /dev/shm is its own and of this size; `None` where
/// the machine does not let us make such a place.
pub fn in_shared_memory(size: &str, script: &str, dir: &Path) -> Option<Output> {
    let mut unshare = limited("unshare");
    // Root can act as other users there; others can not, but can mount.
    let alone = if is_root() { "-m" } else { "-rm" };
    unshare.args([alone, "sh", "-c"]);
    // Of what was installed, other users may not be permitted to enter the place.
    let installed = dir.join(".installed");
    fs::create_dir_all(&installed).unwrap();
    fs::create_dir_all(dir.join(".bin")).unwrap();
    let (luajit, link) = (luajit_program(), dir.join(".bin/luajit"));
    if !link.exists() {
        symlink(fs::read_link(luajit).unwrap(), &link).unwrap();
    }
    unshare.arg(format!(
        "mount -t tmpfs -o size={size} none /dev/shm && mount --bind \"$1\" \"$2\" || exit 77\n\
         shift 2\nulimit -c 0\n{script}"
    ));
    unshare.arg("sh").arg(prefix()).arg(&installed);
    let path = std::env::var("PATH").unwrap();
    let own = [installed.join("bin"), dir.join(".bin")].map(|dir| dir.display().to_string());
    unshare
        .current_dir(dir)
        .env("PATH", format!("{}:{path}", own.join(":")))
        .env("PKG_CONFIG_LIBDIR", installed.join("lib/pkgconfig"))
        .env("LD_LIBRARY_PATH", installed.join("lib"))
        .env("LUA_PATH", installed.join("share/lua/5.1/?.lua;;"))
        .env("TIMELINE_LIBRARY", installed.join("lib/libtimeline.so"));
    let output = run(&mut unshare, "util-linux");
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || told.starts_with("unshare: ") {
        assert!(std::env::var_os("CI").is_none(), "{told}");
        eprintln!("skipped: {told}");
        return None;
    }
    Some(output)
}

/// The one block of the first page that has this in it.
fn block(part: &str) -> Block {
    let mut blocks = blocks("README.md").into_iter();
    let block = blocks.find(|block| block.code.contains(part));
    block.expect("it is shown")
}

/// Whether we can act as other users.
pub fn is_root() -> bool {
    // SAFETY: geteuid only looks.
    unsafe { libc::geteuid() == 0 }
}

/// The commands of a block as a script that prints them with what they print, as a terminal shows
/// both.
pub fn transcript(code: &str, after: impl Fn(&str) -> &'static str) -> String {
    let commands = code.lines().filter_map(|line| line.strip_prefix("$ "));
    let mut script = "exec 2>&1\n".to_string();
    for command in commands {
        let quoted = command.replace('\'', "'\\''");
        let after = after(command);
        script += &format!("printf '%s\\n' '$ {quoted}'\n{command}\n{after}\n");
    }
    script
}

/// A transcript less what differs from machine to machine: the first columns of a dump, sizes, and
/// where in memory and in which C library a call stack was.
pub fn comparable(transcript: &str) -> Vec<String> {
    let mut lines = steady(transcript);
    lines.retain(|line| !line.starts_with("at ") || line.contains("/accounts)"));
    let lines = lines
        .into_iter()
        .map(|line| match line.strip_prefix("at ") {
            Some(frame) => format!("at {}", frame.split('+').next().unwrap()),
            None => match line.split_once(" (") {
                Some((before, after)) if line.contains(" KiB)") || line.contains(" B)") => {
                    format!("{before}{}", after.split_once(')').unwrap().1)
                }
                _ => line,
            },
        });
    lines.collect()
}

/// Runs the two programs, and the `commands` as soon as the ring was overwritten and holds events
/// of both. PID is in the place of the C program's number. What the ring held before goes to the
/// file `all`.
const BESIDE_BOTH: &str = r#"
cc -O2 -pthread examples/c/demo.c $(pkg-config --cflags --libs timeline) -o demo || exit
./demo /timeline 0 2 >/dev/null & c=$!
trap 'kill $c $lua 2>/dev/null' EXIT
until [ -e /dev/shm/timeline ]; do kill -0 $c || exit; sleep 0.1; done
luajit examples/lua/demo.lua /timeline >/dev/null & lua=$!
until timeline info /timeline >info && grep -q 'complete *since' info &&
 timeline dump /timeline >all &&
  grep -q ' demo  ' all; do kill -0 $c && kill -0 $lua || exit; sleep 0.1; done
sed "s/PID/$c/g" commands >now
exec 2>&1
. ./now
"#;

/// A line less its numbers and their units, and less the folders of files.
pub fn words(line: &str) -> String {
    const UNITS: [&str; 10] = ["ns", "µs", "ms", "s", "min", "k", "M", "B", "KiB", "MiB"];
    let words = line.split_whitespace().map(|word| {
        let word = word.rsplit('/').next().unwrap_or_default();
        word.replace(|c: char| c.is_ascii_digit(), "")
    });
    let is_word = |word: &String| {
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
        word == "$" || !bare.is_empty() && !UNITS.contains(&bare)
    };
    words.filter(is_word).collect::<Vec<_>>().join(" ")
}

/// Whether it is an event as `dump` shows it without `--long`.
fn is_row(line: &str) -> bool {
    let columns = line.split_whitespace().take(3);
    columns.clone().count() == 3
        && columns
            .flat_map(str::chars)
            .all(|c| c == '-' || c.is_ascii_digit())
}

/// Which lines a transcript has, whatever they say of the moment and of the machine.
fn shape(transcript: &str) -> Vec<String> {
    let line = |line: &str| match line.split_whitespace().next() {
        _ if is_row(line) => "an event".to_owned(),
        Some(label @ ("clock" | "boot")) => label.to_owned(),
        // And the digest of a file that was just compiled.
        Some("process") => words(line.split("SHA-1").next().unwrap_or_default()),
        // And perhaps what is older.
        Some("complete") => words(line.split(';').next().unwrap_or_default()),
        // And perhaps how many are forgotten.
        Some("threads") => {
            let known = line
                .rsplit_once("; ")
                .filter(|_| line.contains("forgotten"));
            words(known.map_or(line, |(known, _)| known))
        }
        _ => words(line),
    };
    transcript.lines().map(line).collect()
}

#[test]
fn the_two_programs_and_the_ring_look_as_is_shown() {
    let block = block("kill -9");
    let (_, pid) = block.code.split_once("kill -9 ").expect("a number");
    let pid = pid.lines().next().expect("a number");
    // By then, what it did last it has done under the level that was set.
    let wait = "until timeline dump /timeline --long | grep -m 3 'demo PID' | grep -c ' info ' | \
     grep -q 3; do sleep 0.1; done";
    let commands = transcript(&block.code, |_| "").replace(pid, "PID");
    let commands = commands.replace("\nkill ", &format!("\n{wait}\nkill "));
    // A busy machine ends it only a moment later.
    let killed = "\nkill -9 PID\n";
    assert!(commands.contains(killed));
    let commands = commands.replace(killed, &format!("{killed}wait PID 2>/dev/null\n"));
    let dir = TempDir::new().unwrap();
    symlink(root().join("examples"), dir.path().join("examples")).unwrap();
    fs::write(dir.path().join("commands"), commands).unwrap();
    let Some(output) = in_shared_memory("64m", BESIDE_BOTH, dir.path()) else {
        return;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let (found, shown) = (shape(&said), shape(&block.code));
    let line = block.line;
    assert_eq!(found, shown, "output, then README.md:{line}: {said}{told}");
    // Of the events, each that is shown is one that they log.
    let all = fs::read_to_string(dir.path().join("all")).unwrap();
    let logged: Vec<String> = all.lines().map(words).collect();
    for line in block.code.lines().filter(|line| is_row(line)) {
        assert!(logged.contains(&words(line)), "nothing logs {line}");
    }
}

#[test]
fn the_program_that_aborts_does_what_is_shown() {
    let block = block("./accounts");
    let script = transcript(&block.code, |_| "");
    // In a copy of the directory, as far as it is used.
    let dir = TempDir::new().unwrap();
    symlink(root().join("examples"), dir.path().join("examples")).unwrap();
    let Some(output) = in_shared_memory("64m", &script, dir.path()) else {
        return;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    let (said, shown) = (comparable(&said), comparable(&block.code));
    assert!(
        shown.len() > 15 && shown.contains(&"at amount_of".to_string()),
        "{shown:?}"
    );
    assert_eq!(said, shown, "output, then README.md:{}", block.line);
}

#[test]
fn the_smallest_program_runs_in_the_shared_memory_of_a_container() {
    let program = block("processed $tcp");
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("smallest.lua"), &program.code).unwrap();
    // What the page says that it takes: as much as there is of it, and no less.
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    for (size, takes) in [
        ("240m", Some("74.8 MiB")),
        ("64m", None),
        ("7m", Some("6.9 MiB")),
    ] {
        let script = "luajit smallest.lua && timeline info /timeline >info";
        let Some(output) = in_shared_memory(size, script, dir.path()) else {
            return;
        };
        let said = String::from_utf8(output.stdout).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{size}: {said}{told}");
        let shown = program.output.as_deref().expect("its output");
        assert_eq!(steady(&said), steady(shown), "{size}: output, then page");
        if let Some(takes) = takes {
            let info = fs::read_to_string(dir.path().join("info")).unwrap();
            assert!(
                page.contains(takes) && info.contains(takes),
                "{size}: {takes}: {info}"
            );
        }
    }
    let output = in_shared_memory("6m", "luajit smallest.lua", dir.path()).unwrap();
    assert!(!output.status.success(), "{output:?}");
}

/// The bars of a histogram are of the moment, and so is how many of them there are.
fn without_bars(transcript: &str) -> Vec<String> {
    let is_bar = |word: &&str| word.chars().all(|c| ('▁'..='█').contains(&c));
    let line = |line: &str| {
        let words = words(line);
        words
            .split(' ')
            .filter(|word| !is_bar(word))
            .collect::<Vec<_>>()
            .join(" ")
    };
    transcript.lines().map(line).collect()
}

#[test]
fn each_group_of_verbs_shows_what_it_says_of_the_demo() {
    let blocks = blocks("README.md").into_iter();
    let blocks: Vec<Block> = blocks
        .filter(|b| b.code.contains("/timeline-demo"))
        .collect();
    assert_eq!(blocks.len(), 5, "one for each group");
    let code: String = blocks.iter().map(|block| &*block.code).collect();
    let script = format!("timeline demo >demo\n{}", transcript(&code, |_| ""));
    let dir = TempDir::new().unwrap();
    let Some(output) = in_shared_memory("64m", &script, dir.path()) else {
        return;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    let (compared, shown) = (without_bars(&said), without_bars(&code));
    let line = blocks[0].line;
    assert_eq!(compared, shown, "output, then README.md:{line}: {said}");
}
