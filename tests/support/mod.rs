//! What the integration tests share: the library they link, names of their own, and running programs.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The top of the source tree.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder with libtimeline.so: `TIMELINE_LIB_DIR`, or where this test's own profile builds it. Then it
/// is built first, because `cargo test` in the root package alone does not.
pub fn library_dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        if let Some(dir) = env::var_os("TIMELINE_LIB_DIR") {
            let dir = root().join(dir);
            assert!(
                dir.join("libtimeline.so").exists(),
                "TIMELINE_LIB_DIR is {dir:?}, which has no libtimeline.so"
            );
            return dir;
        }
        let test = env::current_exe().expect("the path of this test");
        let dir = test
            .ancestors()
            .nth(2)
            .expect("target/PROFILE/deps/test")
            .to_owned();
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .current_dir(root())
            .args(["build", "--quiet", "-p", "timeline-ffi"]);
        if dir.ends_with("release") {
            cargo.arg("--release");
        }
        cargo
            .arg("--target-dir")
            .arg(dir.parent().expect("target/PROFILE"));
        succeed(&mut cargo);
        dir
    })
}

/// A live name of this test's own; removed, with what a crash left of it, when dropped.
pub struct Name(pub String);

impl Name {
    /// A name that nobody else has.
    pub fn new(purpose: &str) -> Name {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Name(format!(
            "/timeline-test-{purpose}-{}-{number}",
            std::process::id()
        ))
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        for suffix in ["", ".prev"] {
            let _ = fs::remove_file(format!("/dev/shm{}{suffix}", self.0));
        }
    }
}

/// Runs a command to its end; its standard output. Panics with everything it said when it fails.
pub fn succeed(command: &mut Command) -> String {
    let output = run(command);
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a command to its end, however it ends.
pub fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| {
        panic!("{command:?}: {e}; scripts/bootstrap.sh installs what the tests need")
    })
}
