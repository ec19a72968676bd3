//! Tests what scripts/bootstrap.sh installs, and what it says if it may not.
//! Every program that it looks for or runs is a fake one; nothing is installed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use tempfile::TempDir;

use crate::support::toolchain::root;

/// A machine: the programs that it has.
struct Machine(TempDir);

impl Machine {
    /// Root's, with all that is needed and plenty of shared memory. Its apt-get installs what it is
    /// asked for.
    fn new() -> Machine {
        let machine = Machine(TempDir::new().unwrap());
        for real in ["sh", "dirname", "sed", "env", "chmod"] {
            let found = ["/bin", "/usr/bin"].map(|dir| format!("{dir}/{real}"));
            let found = found.iter().find(|path| fs::exists(path).unwrap());
            let found = found.unwrap_or_else(|| panic!("there is no {real}: install coreutils"));
            symlink(found, machine.0.path().join(real)).unwrap();
        }
        let programs = "cargo cc c++ luajit pkg-config cmake python3 sqlite3 bash zsh fish git gdb \
                        valgrind zstd xz rg ugrep lnav node npm chromium firefox-esr java \
                        javac";
        for there in programs.split(' ') {
            machine.has(there, "");
        }
        machine.has("rustc", "echo 'rustc 1.95.0 (59807616e 2026-04-14)'");
        machine.has("id", "echo 0");
        machine.has("stat", "echo 1000000 4096");
        machine.has(
            "apt-get",
            r#"echo "$@" >>"$MACHINE/asked"
            for package; do
                echo '#!/bin/sh' >"$MACHINE/$package"
                chmod +x "$MACHINE/$package"
            done"#,
        );
        machine
    }

    fn has(&self, program: &str, script: &str) {
        let path = self.0.path().join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn lacks(&self, program: &str) {
        fs::remove_file(self.0.path().join(program)).unwrap();
    }

    /// Runs the script; whether it was content, and what it said.
    fn run(&self, purpose: &str) -> (bool, String) {
        let output = Command::new("/bin/sh")
            .arg(root().join("scripts/bootstrap.sh"))
            .arg(purpose)
            .current_dir("/")
            .env_clear()
            .env("PATH", self.0.path())
            .env("MACHINE", self.0.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), said)
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
    let asked = "install -y --no-install-recommends luajit sqlite3\n";
    assert_eq!(machine.asked(), asked);
}

#[test]
fn modules_of_python_are_installed_as_programs() {
    let machine = Machine::new();
    machine.has("python3", r#"[ -e "$MACHINE/python3-msgpack" ]"#);
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
        "apt-get install gcc libc6-dev luajit",
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
        &["missing: luajit rg", "apt-get install luajit ripgrep"],
    );
}

#[test]
fn an_apt_get_that_fails_is_asked_again_after_an_update() {
    let machine = Machine::new();
    machine.has("apt-get", "echo $1 >>\"$MACHINE/asked\"; [ $1 = update ]");
    machine.lacks("luajit");
    let (content, said) = machine.run("demo");
    assert!(!content && said.contains("apt-get failed"), "{said}");
    assert_eq!(machine.asked(), "install\nupdate\ninstall\n");
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
