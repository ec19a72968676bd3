//! C and C++ programs, linked with either library, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{C99, built, cc, limited, root, shipped, succeed};

/// What a program is linked with.
#[derive(Clone, Copy)]
pub enum Link {
    Shared,
    /// Both shared libraries.
    Worker,
    /// The static library, and that of workers.
    StaticWorker,
    /// The shared library, and that of analyses.
    Analysis,
    /// The static library, and that of analyses.
    StaticAnalysis,
    /// The shared library as it is shipped.
    Shipped,
    Static,
    Nothing,
}

/// Adds what the linker needs.
pub fn link(command: &mut Command, link: Link) {
    let shared = |command: &mut Command, dir: &Path| {
        // Old dtags: that directory goes before LD_LIBRARY_PATH, in which cargo names its own.
        command
            .arg("-L")
            .arg(dir)
            .arg("-ltimeline")
            .arg(format!("-Wl,--disable-new-dtags,-rpath,{}", dir.display()));
    };
    let other = |command: &mut Command, library: &str| {
        let dir = built().dir.display();
        command.args([&format!("-L{dir}"), library]);
        command.arg(format!("-Wl,--disable-new-dtags,-rpath,{dir}"));
    };
    match link {
        Link::Shared => shared(command, &built().dir),
        Link::Worker => {
            other(command, "-ltimeline-worker");
            shared(command, &built().dir);
        }
        Link::StaticWorker => {
            other(command, "-ltimeline-worker");
            self::link(command, Link::Static);
        }
        Link::Analysis => {
            other(command, "-ltimeline-analysis");
            shared(command, &built().dir);
        }
        Link::StaticAnalysis => {
            other(command, "-ltimeline-analysis");
            self::link(command, Link::Static);
        }
        Link::Shipped => shared(command, shipped()),
        Link::Static => {
            command
                .arg(built().dir.join("libtimeline.a"))
                // Of a debug build it has 80 MB: linking all of it takes twice as long.
                .args(["-Wl,--gc-sections", "-lpthread", "-ldl", "-lm"]);
        }
        Link::Nothing => {
            command.arg("-ldl");
        }
    }
}

/// Builds a program in the directory `to`.
pub fn compile(
    mut compiler: Command,
    flags: &[&str],
    sources: &[&str],
    how: Link,
    to: &Path,
) -> PathBuf {
    let program = to.join("program");
    compiler.args(flags).arg("-I").arg(root().join("include"));
    compiler.args(sources.iter().map(|source| root().join(source)));
    compiler.arg("-o").arg(&program);
    link(&mut compiler, how);
    succeed(&mut compiler, "gcc and g++");
    program
}

/// Compiles a C program, runs it with a directory of its own, and returns what it printed.
pub fn c(source: &str, how: Link, arguments: &[&str]) -> String {
    let dir = TempDir::new().unwrap();
    let program = compile(cc(), C99, &[source], how, dir.path());
    execute(&program, dir.path(), arguments)
}

/// Runs a program with a directory, and returns what it printed.
pub fn execute(program: &Path, dir: &Path, arguments: &[&str]) -> String {
    let output = succeed(limited(program).arg(dir).args(arguments), "coreutils");
    String::from_utf8(output.stdout).unwrap()
}
