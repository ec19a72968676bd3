//! What the tests of Lua and of the preload example share: names of their own, and what programs
//! print.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::toolchain::{built, succeed};

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

/// The folder with libtimeline.so.
pub fn library_dir() -> &'static Path {
    &built().dir
}

/// What a command that must succeed prints; `package` has it.
pub fn printed(command: &mut Command, package: &str) -> String {
    let output = succeed(command, package);
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}
