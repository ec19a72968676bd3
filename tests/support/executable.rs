//! Makes files that can be run at once.
//!
//! Another process writes them: a child that another test forks meanwhile would have such a file
//! open for writing, and the kernel runs no file that somebody may write to.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Copies a program, with its mode.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let mut copy = Command::new("cp");
    let copied = copy.arg("--").arg(from.as_ref()).arg(to.as_ref()).status();
    assert!(copied.expect("cp runs").success());
}

/// Writes a script of the shell.
pub fn write_script(path: &Path, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]);
    let mut written = shell
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh runs");
    let mut stdin = written.stdin.take().expect("a pipe");
    write!(stdin, "#!/bin/sh\n{script}\n").expect("written");
    drop(stdin);
    assert!(written.wait().expect("ended").success());
}
