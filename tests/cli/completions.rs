//! Completions, in real shells: somebody types and presses the tabulator.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::toolchain::{limited, succeed};

/// With the command in the first place.
fn path() -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_timeline")).parent().unwrap();
    format!("{}:{}", built.display(), std::env::var("PATH").unwrap())
}

/// A live name of this test's own, and one that a shell would take for a command; gone with it.
struct Live(String);

impl Live {
    fn new() -> Live {
        let live = Live(format!("/timeline-test-complete-{}", std::process::id()));
        for name in live.names() {
            drop(timeline::Timeline::with_size(&name, 256, 4096).unwrap());
        }
        live
    }

    fn names(&self) -> [String; 2] {
        [
            format!("{}-live", self.0),
            format!("{}-$(touch PWNED)", self.0),
        ]
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        for name in self.names() {
            let _ = timeline::unlink(name);
        }
    }
}

/// Has a shell read these lines as if somebody typed them, on a terminal; what is shown.
fn typed(shell: &str, lines: &str, dir: &Path) -> String {
    let mut script = limited("script");
    script
        .args(["-qec", shell, "/dev/null"])
        .current_dir(dir)
        .env("PATH", path())
        .env("HOME", dir)
        .env("TERM", "xterm")
        .env("PAGER", "cat")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = script.spawn().expect("util-linux");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn shells_complete_live_names() {
    let (live, dir) = (Live::new(), TempDir::new().unwrap());
    for (shell, file) in [("bash", "bash"), ("zsh", "_timeline"), ("fish", "fish")] {
        let mut generate = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let script = succeed(
            generate.args(["generate", "completions", shell]),
            "the command",
        );
        fs::write(dir.path().join(file), script.stdout).unwrap();
    }
    // What was completed is run: its output tells.
    let words = [
        format!("timeline info {}\t", live.0),
        format!("timeline dump -n 1 --long {}\t", live.0),
        format!("timeline rm {}\t", live.0),
    ];
    let shells = [
        ("bash --norc --noprofile -i", "source ./bash".to_string()),
        (
            "zsh -f -i",
            "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D".to_string(),
        ),
    ];
    for (shell, load) in shells {
        let name = &live.names()[0];
        if timeline::users(name).is_err() {
            drop(timeline::Timeline::with_size(name, 256, 4096).unwrap());
        }
        let shown = typed(
            shell,
            &format!("{load}\n{}\nexit\n", words.join("\n")),
            dir.path(),
        );
        assert!(
            shown.contains(&format!("{name}\u{1b}[0m  no writer")),
            "{shell}: {shown}"
        );
        assert!(
            shown.contains("-cycles category message"),
            "{shell}: {shown}"
        );
        assert!(
            timeline::users(name).is_err(),
            "{shell} did not remove {name}: {shown}"
        );
    }
    let mut fish = limited("fish");
    drop(timeline::Timeline::with_size(&live.names()[0], 256, 4096).unwrap());
    fish.current_dir(dir.path())
        .args(["--no-config", "-c"])
        .arg(format!(
            "source ./fish; complete -C 'timeline dump {}'",
            live.0
        ))
        .env("HOME", dir.path())
        .env("PATH", path());
    let offered = String::from_utf8(succeed(&mut fish, "fish").stdout).unwrap();
    assert_eq!(offered, format!("{}\tLive timeline\n", live.names()[0]));
    assert!(!dir.path().join("PWNED").exists());
}
