//! The examples of the first page, as they stand there: the program that aborts, and the smallest one in little memory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::prefix;
use crate::toolchain::pages::{blocks, steady};
use crate::toolchain::{limited, root, run};

/// Runs a script with what was installed, where /dev/shm is its own and of this size; `None` where the machine does
/// not let us make such a place.
fn in_shared_memory(size: &str, script: &str, dir: &Path) -> Option<Output> {
    let mut unshare = limited("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c"]);
    unshare.arg(format!(
        "mount -t tmpfs -o size={size} none /dev/shm || exit 77\nulimit -c 0\n{script}"
    ));
    let path = std::env::var("PATH").unwrap();
    unshare
        .current_dir(dir)
        .env("PATH", format!("{}:{path}", prefix().join("bin").display()))
        .env("PKG_CONFIG_LIBDIR", prefix().join("lib/pkgconfig"))
        .env("LD_LIBRARY_PATH", prefix().join("lib"))
        .env("LUA_PATH", prefix().join("share/lua/5.1/?.lua;;"))
        .env("TIMELINE_LIBRARY", prefix().join("lib/libtimeline.so"));
    let output = run(&mut unshare, "util-linux");
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || told.starts_with("unshare: ") {
        assert!(std::env::var_os("CI").is_none(), "{told}");
        eprintln!("skipped: {told}");
        return None;
    }
    Some(output)
}

/// A transcript less what differs from machine to machine: the first columns of a dump, sizes, and where in memory
/// and in which C library a call stack was.
fn comparable(transcript: &str) -> Vec<String> {
    let mut lines = steady(transcript);
    lines.retain(|line| !line.starts_with("at ") || line.ends_with("/accounts)"));
    let lines = lines
        .into_iter()
        .map(|line| match line.strip_prefix("at ") {
            Some(frame) => format!("at {}", frame.split('+').next().unwrap()),
            None => match line.split_once(" (") {
                Some((before, after)) if line.contains(" KiB)") => {
                    format!("{before}{}", after.split_once(')').unwrap().1)
                }
                _ => line,
            },
        });
    lines.collect()
}

#[test]
fn the_program_that_aborts_does_what_is_shown() {
    let page = "README.md";
    let blocks = blocks(page).into_iter();
    let mut blocks = blocks.filter(|block| block.code.contains("./accounts"));
    let block = blocks.next().expect("it is shown");
    let commands = block
        .code
        .lines()
        .filter_map(|line| line.strip_prefix("$ "));
    let mut script = "exec 2>&1\n".to_string();
    for command in commands {
        let quoted = command.replace('\'', "'\\''");
        script += &format!("printf '%s\\n' '$ {quoted}'\n{command}\n");
    }
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
    assert_eq!(said, shown, "output, then {page}:{}", block.line);
}

#[test]
fn the_smallest_program_runs_in_the_shared_memory_of_a_container() {
    let blocks = blocks("README.md");
    let program = blocks
        .iter()
        .find(|block| block.language == "lua")
        .expect("it is shown");
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("smallest.lua"), &program.code).unwrap();
    // What the page says that it takes: as much as there is of it, and no less.
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    for (size, takes) in [
        ("100m", Some("66.4 MiB")),
        ("64m", None),
        ("7m", Some("6.2 MiB")),
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
