//! Tests what scripts/bootstrap.sh installs, and what it says if it may not.
//! Every program that it looks for or runs is a fake one; nothing is installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use tempfile::TempDir;

use crate::support::toolchain::root;
use crate::support::write_script;

/// Simulates, and installs, what it is asked for, if nothing in `plan` stands against it.
const APT_GET: &str = r#"
    case "$*" in
    *--simulate*)
        for package; do
            case $package in -* | install) continue ;; esac
            if [ -e "$MACHINE/removes-for-$package" ]; then
                echo 'The following packages will be REMOVED:'
                echo '  libluajit2-5.1-2 libnginx-mod-http-lua'
                echo 'E: Packages need to be removed but remove is disabled.'
                exit 100
            fi
            echo "Inst $package (1:2.0~a+b-1 Debian:12.13/oldstable [amd64])"
        done
        [ ! -e "$MACHINE/upgraded" ] || cat "$MACHINE/upgraded"
        exit 0 ;;
    esac
    echo "$@" >>"$MACHINE/asked"
    for package; do
        echo '#!/bin/sh' >"$MACHINE/$package"
        chmod +x "$MACHINE/$package"
    done"#;

/// Says of each package how large it is, if it is asked for the version of the simulation.
const APT_CACHE: &str = r#"
    for package; do
        case $package in *=1:2.0~a+b-1) ;; *) continue ;; esac
        printf 'Package: %s\nInstalled-Size: 2000\nSize: 700000\n\n' "${package%=*}"
    done"#;

/// A machine: the programs that it has.
struct Machine(TempDir);

impl Machine {
    /// Root's, with all that is needed and plenty of shared memory. Its apt-get installs what it is
    /// asked for.
    fn new() -> Machine {
        let machine = Machine(TempDir::new().unwrap());
        let tools = "sh dirname sed env chmod mktemp rm tr awk cp mv cat";
        for real in tools.split(' ') {
            let found = ["/bin", "/usr/bin"].map(|dir| format!("{dir}/{real}"));
            let found = found.iter().find(|path| fs::exists(path).unwrap());
            let found = found.unwrap_or_else(|| panic!("there is no {real}: install coreutils"));
            symlink(found, machine.0.path().join(real)).unwrap();
        }
        let programs = "cargo cc c++ luajit pkg-config sqlite3 bash zsh fish git gdb valgrind zstd \
                        xz rg ugrep lnav mandoc openssl ip nsenter npm chromium firefox-esr java";
        for there in programs.split(' ') {
            machine.has(there, "");
        }
        for (program, version) in [
            ("cmake", "cmake version 3.25.1"),
            ("javac", "javac 21"),
            ("node", "v18.20.4"),
            ("python3", "Python 3.11.2"),
            ("rustc", "rustc 1.95.0 (59807616e 2026-04-14)"),
        ] {
            machine.has(program, &format!("echo '{version}'"));
        }
        machine.has("id", "echo 0");
        machine.has("stat", "echo 1000000 4096");
        machine.has("apt-get", APT_GET);
        machine.has("apt-cache", APT_CACHE);
        machine
    }

    fn has(&self, program: &str, script: &str) {
        let path = self.0.path().join(program);
        write_script(&path, script);
    }

    fn lacks(&self, program: &str) {
        fs::remove_file(self.0.path().join(program)).unwrap();
    }

    /// Runs the script; whether it was content, and what it complained of.
    fn run(&self, purpose: &str) -> (bool, String) {
        let (content, _, complaint) = self.run_with(purpose, &[]);
        (content, complaint)
    }

    /// Runs the script with these variables; whether it was content, what it said, and what it
    /// complained of.
    fn run_with(&self, purpose: &str, variables: &[(&str, &str)]) -> (bool, String, String) {
        let output = Command::new("/bin/sh")
            .arg(root().join("scripts/bootstrap.sh"))
            .arg(purpose)
            .current_dir("/")
            .env_clear()
            .env("PATH", self.0.path())
            .env("MACHINE", self.0.path())
            .env("TMPDIR", self.0.path())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let [said, complaint] = [output.stdout, output.stderr].map(String::from_utf8);
        (output.status.success(), said.unwrap(), complaint.unwrap())
    }

    /// Runs the script, which refuses, says all of this, and asks apt-get for nothing.
    fn refuses(&self, purpose: &str, parts: &[&str]) {
        let (content, said) = self.run(purpose);
        assert!(!content, "{purpose} is content");
        for part in parts {
            assert!(said.contains(part), "{part:?} is not in: {said}");
        }
        assert_eq!(self.asked(), "");
    }

    /// What apt-get was asked for.
    fn asked(&self) -> String {
        fs::read_to_string(self.0.path().join("asked")).unwrap_or_default()
    }
}

#[test]
fn where_all_is_there_nothing_is_done() {
    let machine = Machine::new();
    for purpose in ["demo", "test"] {
        assert_eq!(machine.run(purpose), (true, String::new()));
    }
    assert_eq!(machine.asked(), "");
    machine.refuses("build", &["usage: scripts/bootstrap.sh demo|test"]);
}

#[test]
fn root_installs_what_is_missing() {
    let machine = Machine::new();
    machine.lacks("luajit");
    machine.lacks("sqlite3");
    let (content, said) = machine.run("test");
    assert!(content, "{said}");
    assert_eq!(machine.asked(), format!("{INSTALL} luajit sqlite3\n"));
}

/// What apt-get is told before the packages.
const INSTALL: &str = "install --no-install-recommends --no-remove --no-upgrade -y";

#[test]
fn it_says_what_it_installs_and_how_large_that_is() {
    let machine = Machine::new();
    machine.lacks("luajit");
    machine.lacks("mandoc");
    let (content, said, complaint) = machine.run_with("test", &[]);
    assert!(content && complaint.is_empty(), "{complaint}");
    let size = "2 packages, 1.4 MB to fetch, 4.1 MB on disk";
    let told = format!("bootstrap: installing luajit mandoc: {size}\n");
    assert_eq!(said, told);
    // Also to who may not.
    machine.lacks("luajit");
    machine.has("id", "echo 1000");
    let (_, complaint) = machine.run("test");
    let size = "1 package, 0.7 MB to fetch, 2.0 MB on disk";
    assert!(complaint.contains(size), "{complaint}");
}

#[test]
fn what_is_installed_is_neither_removed_nor_upgraded() {
    let machine = Machine::new();
    machine.lacks("luajit");
    machine.lacks("rg");
    machine.has("removes-for-ripgrep", "");
    let told = "apt-get would remove libluajit2-5.1-2 libnginx-mod-http-lua;";
    let update = "update\n";
    let (content, said) = machine.run("test");
    assert!(!content && said.contains(told), "{said}");
    assert_eq!(machine.asked(), update);
    // OpenResty's LuaJIT is a package of another name, which serves as well.
    machine.has("removes-for-luajit", "");
    let (content, said) = machine.run("demo");
    assert!(content, "{said}");
    assert_eq!(machine.asked(), format!("{update}{INSTALL} luajit2\n"));

    machine.lacks("luajit2");
    machine.has("upgraded", "");
    let upgraded = "Inst libc6 [2.36-9] (2.36-10 Debian:12.13/oldstable [amd64])\n";
    fs::write(machine.0.path().join("upgraded"), upgraded).unwrap();
    let (content, said) = machine.run("demo");
    let told = "libc6 would be upgraded from 2.36-9 to 2.36-10";
    assert!(!content && said.contains(told), "{said}");
    assert!(said.contains("BOOTSTRAP_UPGRADE=1"), "{said}");
    assert_eq!(machine.asked(), format!("{update}{INSTALL} luajit2\n"));
    let (content, ..) = machine.run_with("demo", &[("BOOTSTRAP_UPGRADE", "1")]);
    let (before, after) = ("--no-upgrade -y luajit2\n", "--no-remove -y luajit2\n");
    let asked = machine.asked();
    assert!(
        content && asked.contains(before) && asked.ends_with(after),
        "{asked}"
    );
}

#[test]
fn a_luajit_of_any_name_will_do() {
    for name in ["luajit2", "luajit-2.1.0-beta3", "luajit-2.1.1736781742"] {
        let machine = Machine::new();
        machine.lacks("luajit");
        machine.has(name, "");
        assert_eq!(machine.run("demo"), (true, String::new()), "{name}");
        // One of another version, as LuaJIT 2.0 or Lua itself.
        machine.has(name, "exit 1");
        let (content, said) = machine.run("demo");
        assert!(content, "{said}");
        assert_eq!(machine.asked(), format!("{INSTALL} luajit\n"));
    }
    let machine = Machine::new();
    machine.lacks("luajit");
    machine.has("mine", "");
    let mine = machine.0.path().join("mine");
    let variable = [("LUAJIT", mine.to_str().unwrap())];
    let (content, said, _) = machine.run_with("demo", &variable);
    assert!(content && said.is_empty(), "{said}");
    // One that will not do is not replaced by another.
    machine.has("mine", "exit 1");
    let (content, _, complaint) = machine.run_with("demo", &variable);
    assert!(
        !content && complaint.contains("is no LuaJIT 2.1"),
        "{complaint}"
    );
    assert_eq!(machine.asked(), "");
}

#[test]
fn a_compiler_that_cannot_link_is_noticed() {
    for (compiler, packages) in [("cc", "libc6-dev"), ("c++", "g++")] {
        let machine = Machine::new();
        machine.has(compiler, "echo 'ld: cannot find crt1.o' >&2; exit 1");
        machine.lacks("apt-get");
        let told = format!("{compiler} is there, but cannot build a program: ld: cannot find crt1");
        let asked = format!("--no-remove {packages}\n");
        machine.refuses("test", &[&format!("missing: {compiler}\n"), &told, &asked]);
    }
}

#[test]
fn programs_that_are_too_old_are_noticed() {
    for (program, old, package) in [
        ("node", "v16.20.2", "nodejs"),
        ("node", "", "nodejs"),
        ("cmake", "cmake version 3.7.2", "cmake"),
        ("python3", "Python 3.8.18", "python3"),
        ("javac", "javac 1.8.0_402", "default-jdk-headless"),
    ] {
        let machine = Machine::new();
        machine.has(program, &format!("echo '{old}'"));
        machine.lacks("apt-get");
        let place = machine.0.path().join(program);
        let place = format!("{} is of version", place.display());
        let asked = format!("--no-remove {package}\n");
        machine.refuses(
            "test",
            &[&format!("missing: {program}\n"), &place, "or later", &asked],
        );
    }
}

#[test]
fn what_npm_fetches_runs_on_the_oldest_node_that_will_do() {
    let script = fs::read_to_string(root().join("scripts/bootstrap.sh")).unwrap();
    let oldest = script.split_once("node:").unwrap().1;
    let number = |text: &str| -> (u32, u32) {
        let mut parts = text.split('.').map(|part| part.trim().parse().unwrap_or(0));
        (parts.next().unwrap(), parts.next().unwrap_or(0))
    };
    let oldest = number(oldest.split(' ').next().unwrap());
    for folder in ["browser", "histograms", "page"] {
        let lock = root().join("tests").join(folder).join("package-lock.json");
        let lock: serde_json::Value = serde_json::from_slice(&fs::read(lock).unwrap()).unwrap();
        for (package, about) in lock["packages"].as_object().unwrap() {
            let Some(engine) = about["engines"]["node"].as_str() else {
                continue;
            };
            let least = engine.split("||").next().unwrap();
            let least = number(least.trim_start_matches([' ', '>', '=', '^']));
            assert!(least <= oldest, "{package} needs node {engine}");
        }
    }
}

#[test]
fn modules_of_python_are_installed_as_programs() {
    let machine = Machine::new();
    let python = r#"[ $1 = --version ] && echo Python 3.13.5 || [ -e "$MACHINE/python3-msgpack" ]"#;
    machine.has("python3", python);
    let (content, said) = machine.run("test");
    assert!(content, "{said}");
    assert!(machine.asked().ends_with(" python3-msgpack python3-pip\n"));
    assert_eq!(machine.run("test"), (true, String::new()));
}

#[test]
fn what_java_needs_is_installed_by_the_names_of_its_packages() {
    let machine = Machine::new();
    machine.lacks("javac");
    machine.has("java", r#"[ -e "$MACHINE/libhdrhistogram-java" ]"#);
    let (_, said) = machine.run("test");
    assert!(said.contains("missing: javac"), "{said}");
    let asked = machine.asked();
    assert!(
        asked.ends_with(" default-jdk-headless libhdrhistogram-java\n"),
        "{asked}"
    );
}

#[test]
fn a_user_installs_with_sudo_that_asks_nothing() {
    let machine = Machine::new();
    machine.has("id", "echo 1000");
    machine.has("sudo", "shift; exec \"$@\"");
    machine.has("true", "");
    machine.lacks("luajit");
    let (content, said) = machine.run("demo");
    assert!(content, "{said}");
    assert!(machine.asked().contains(" luajit\n"));
}

#[test]
fn a_user_without_sudo_is_told_what_to_install() {
    let machine = Machine::new();
    machine.has("id", "echo 1000");
    machine.lacks("luajit");
    machine.lacks("cc");
    let told = [
        "missing: cc luajit",
        "only root may install",
        "apt-get install --no-install-recommends --no-remove gcc libc6-dev luajit",
    ];
    machine.refuses("demo", &told);
    // One that asks for a password is as good as none.
    machine.has("sudo", "exit 1");
    machine.refuses("demo", &told);
}

#[test]
fn where_there_is_no_apt_get_it_is_told_what_to_install() {
    let machine = Machine::new();
    machine.lacks("apt-get");
    machine.lacks("luajit");
    machine.refuses("demo", &["missing: luajit", "not a Debian-like system"]);
    // Its package has another name.
    machine.lacks("rg");
    machine.refuses(
        "test",
        &["missing: luajit rg", "--no-remove luajit ripgrep"],
    );
}

#[test]
fn an_apt_get_that_fails_is_asked_again_after_an_update() {
    let machine = Machine::new();
    machine.lacks("luajit");
    let refuses = r#"case "$*" in
        *--simulate*) echo 'E: Unable to locate package luajit'; exit 100 ;;
        esac
        echo $1 >>"$MACHINE/asked""#;
    machine.has("apt-get", refuses);
    let (content, said) = machine.run("demo");
    let told = "apt-get failed (Unable to locate package luajit)";
    assert!(!content && said.contains(told), "{said}");
    assert_eq!(machine.asked(), "update\n");
    let fails = r#"echo $1 >>"$MACHINE/asked"; [ $1 = update ]"#;
    machine.has(
        "apt-get",
        &format!("case \"$*\" in *--simulate*) exit ;; esac; {fails}"),
    );
    let (content, said) = machine.run("demo");
    assert!(!content && said.contains("apt-get failed"), "{said}");
    assert_eq!(machine.asked(), "update\ninstall\nupdate\ninstall\n");
    machine.has("apt-get", "");
    let (content, said) = machine.run("demo");
    assert!(!content && said.contains("did not bring them"), "{said}");
}

/// The oldest Rust that will do, as Cargo.toml says.
fn oldest() -> &'static str {
    env!("CARGO_PKG_RUST_VERSION")
}

#[test]
fn without_a_toolchain_it_says_where_to_get_it() {
    let site = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh";
    for program in ["cargo", "rustc"] {
        let machine = Machine::new();
        machine.lacks(program);
        let none = format!("there is no {program}");
        machine.refuses("demo", &[&none, oldest(), site]);
        machine.has("rustup", "");
        let command = "rustup toolchain install stable && rustup default stable";
        machine.refuses("demo", &[&none, command]);
    }
}

#[test]
fn a_toolchain_that_is_too_old_is_refused() {
    let (major, minor) = oldest().split_once('.').unwrap();
    let minor: u32 = minor.split('.').next().unwrap().parse().unwrap();
    for old in [
        "1.63.0".to_owned(),
        "0.99.0".to_owned(),
        format!("{major}.{}.9", minor - 1),
    ] {
        let machine = Machine::new();
        machine.has("rustc", &format!("echo 'rustc {old}'"));
        let told = format!("rustc is {old}, {} or later is needed", oldest());
        machine.refuses("demo", &[&told, "https://sh.rustup.rs"]);
        machine.has("rustup", "");
        machine.refuses("test", &[&told, "rustup toolchain install stable"]);
    }
    for new in [
        format!("{}.0 (1 2025-01-01)", oldest()),
        format!("{major}.{}.0-nightly (1 2025-01-01)", minor + 12),
        "2.0.0".to_owned(),
    ] {
        let machine = Machine::new();
        machine.has("rustc", &format!("echo 'rustc {new}'"));
        assert_eq!(machine.run("demo"), (true, String::new()), "{new}");
    }
}

#[test]
fn only_the_tests_need_fmt_and_clippy() {
    for component in ["fmt", "clippy"] {
        let machine = Machine::new();
        machine.has("rustup", "");
        machine.has("cargo", &format!("[ $1 != {component} ]"));
        let told = format!("there is no cargo {component}");
        machine.refuses("test", &[&told, "rustup component add rustfmt clippy"]);
        assert_eq!(machine.run("demo"), (true, String::new()));
    }
}

#[test]
fn a_small_shared_memory_is_named_with_its_remedy() {
    let machine = Machine::new();
    // What a container has.
    machine.has("stat", "echo 16384 4096");
    assert_eq!(machine.run("demo"), (true, String::new()));
    machine.refuses("test", &["/dev/shm has 64 MiB free", "--shm-size=1g"]);
    machine.has("stat", "echo 100 4096");
    machine.refuses("demo", &["/dev/shm has 0 MiB free", "--shm-size=1g"]);
    // None at all.
    machine.has("stat", "exit 1");
    machine.refuses("demo", &["/dev/shm has 0 MiB free"]);
}
