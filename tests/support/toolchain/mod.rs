//! Helps tests of what other languages see.
//! It has the built libraries, compilers, and commands that must succeed.

pub mod installed;
pub mod pages;
pub mod programs;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Strict enough that a warning in a public header fails the tests.
pub const C99: &[&str] = &[
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Werror",
    "-g",
    "-pthread",
];
/// The same for C++.
pub const CPP17: &[&str] = &[
    "-std=c++17",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Wshadow",
    "-Wconversion",
    "-Werror",
    "-g",
    "-pthread",
];

pub use super::root;

/// Where the libraries are, built anew if need be, and whether building them changed the header.
pub struct Built {
    pub dir: PathBuf,
    pub header_before: Vec<u8>,
    pub header_after: Vec<u8>,
}

/// `clang` or `clang++`, which need not be there: nothing installs them.
pub fn clang(name: &str) -> Option<Command> {
    let is_there = Command::new(name).arg("--version").output().is_ok();
    is_there.then(|| {
        let mut clang = Command::new(name);
        clang.env_remove("CPATH");
        clang
    })
}

/// Builds the C ABI with the profile of this test.
pub fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let header = root().join("include/timeline.h");
        let read = || fs::read(&header).expect("include/timeline.h is readable");
        let header_before = read();
        let dir = own_dir();
        build(&dir);
        for other in ["timeline-worker-ffi", "timeline-analysis-ffi"] {
            succeed(&mut cargo_build(other, "--lib", &dir), "cargo itself");
        }
        Built {
            dir,
            header_before,
            header_after: read(),
        }
    })
}

/// Where the libraries are as they are shipped: optimised, whatever the profile of this test is.
pub fn shipped() -> &'static Path {
    static SHIPPED: OnceLock<PathBuf> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let dir = own_dir().with_file_name("release");
        build(&dir);
        dir
    })
}

/// Where cargo put this test and what it depends on.
pub fn own_dir() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own path");
    // target/PROFILE/deps/TEST
    let dir = test.ancestors().nth(2);
    dir.expect("cargo's layout of its target directory").into()
}

/// Cargo, as it is called by a shell. It tells a test which package that is of. The build script of
/// a dependency may look at these variables, so with them it would run again, and all that depends
/// on it would be compiled anew: beside tests that use it, and once more after them.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_EXE_"]
            .iter()
            .any(|beginning| name.starts_with(beginning))
        {
            cargo.env_remove(&*name);
        }
    }
    cargo.current_dir(root());
    cargo
}

/// The command that builds a package in that directory, which is named after its profile.
///
/// In a debug build it is all packages and a test, with the features of which this test was built.
/// Those of one package alone, or without what tests depend on, are others, with which its
/// dependencies would be compiled once more.
pub fn cargo_build(package: &str, targets: &str, dir: &Path) -> Command {
    let profile = match dir.file_name().and_then(OsStr::to_str) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let mut command = cargo();
    command
        // Set where a guide uses an installation. For cargo it would be another machine, on which
        // it builds much anew, and again for the next test.
        .env_remove("CPATH")
        .args(["build", "--quiet", targets]);
    match profile {
        "dev" => command.args(["--workspace", "--test", "loom"]),
        // Nor are the tools that generate the header compiled once more.
        _ => command.args(["-p", package, "--no-default-features"]),
    };
    command.args(["--profile", profile, "--target-dir"]).arg(
        dir.parent()
            .expect("cargo's layout of its target directory"),
    );
    command
}

/// Builds the C ABI in that directory.
fn build(dir: &Path) {
    succeed(
        &mut cargo_build("timeline-ffi", "--lib", dir),
        "cargo itself",
    );
    // By its soname, as an installation has it, for the loader.
    for (built, name) in [
        ("libtimeline.so", "libtimeline.so.0"),
        ("libtimeline_worker.so", "libtimeline-worker.so"),
        ("libtimeline_worker.so", "libtimeline-worker.so.0"),
        ("libtimeline_analysis.so", "libtimeline-analysis.so"),
        ("libtimeline_analysis.so", "libtimeline-analysis.so.0"),
    ] {
        match std::os::unix::fs::symlink(built, dir.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                panic!("{}: {error}", dir.display())
            }
            _ => {}
        }
    }
}

/// Runs a command that must succeed; `package` is what to install when there is no such program.
pub fn succeed(command: &mut Command, package: &str) -> Output {
    let output = run(command, package);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Runs a command, whatever it returns.
pub fn run(command: &mut Command, package: &str) -> Output {
    command.output().unwrap_or_else(|error| {
        panic!(
            "cannot run {:?}: {error}; install the package {package}",
            command.get_program()
        )
    })
}

/// The standard output of a command that must succeed, in words.
pub fn words(command: &mut Command, package: &str) -> Vec<String> {
    let output = succeed(command, package);
    String::from_utf8(output.stdout)
        .expect("the output is UTF-8")
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// What a command that must succeed prints; `package` has it.
pub fn printed(command: &mut Command, package: &str) -> String {
    let output = succeed(command, package);
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// The folder with libtimeline.so.
pub fn library_dir() -> &'static Path {
    &built().dir
}

/// The C compiler; `$CC` or cc.
pub fn cc() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// The C++ compiler; `$CXX` or c++.
pub fn cxx() -> Command {
    Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()))
}

/// The program LuaJIT, by a name of ours: a process is called as its program, whose name differs.
pub fn luajit_program() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let found = printed(
            &mut Command::new(root().join("scripts/luajit.sh")),
            "luajit",
        );
        let link = own_dir().join("luajit");
        // Other tests may make it at the same time.
        let staged = own_dir().join(format!("luajit-{}", std::process::id()));
        std::os::unix::fs::symlink(found.trim_end(), &staged).expect("a link");
        fs::rename(staged, &link).expect("a link in its place");
        link
    })
}

/// LuaJIT with the module of the source tree and the library of this build.
pub fn luajit() -> Command {
    let mut luajit = limited(luajit_program());
    luajit.env("LUA_PATH", root().join("lua/?.lua;;"));
    for (variable, library) in [
        ("TIMELINE_LIBRARY", "libtimeline.so"),
        ("TIMELINE_WORKER_LIBRARY", "libtimeline_worker.so"),
        ("TIMELINE_ANALYSIS_LIBRARY", "libtimeline_analysis.so"),
    ] {
        luajit.env(variable, library_dir().join(library));
    }
    luajit
}

/// A command that is killed when it hangs.
pub fn limited(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "120"]).arg(program);
    command
}

/// What a shell script prints that is given these words, where /dev/shm has so many MiB and nothing
/// in it; `None` where nothing can be mounted, which in CI it must be.
pub fn with_little_shm(mebibytes: u32, script: &str, words: &[&OsStr]) -> Option<String> {
    // SAFETY: geteuid only looks.
    let root = unsafe { libc::geteuid() } == 0;
    let alone = if root { "-m" } else { "-rm" };
    let mount = format!("mount -t tmpfs -o size={mebibytes}m none /dev/shm");
    let may = run(
        Command::new("unshare").args([alone, "sh", "-c", &mount]),
        "util-linux",
    );
    if !may.status.success() {
        let said = String::from_utf8_lossy(&may.stderr);
        assert!(std::env::var_os("CI").is_none(), "cannot mount: {said}");
        println!("nothing can be mounted here, so nothing is tested: {said}");
        return None;
    }
    let script = format!("{mount} && {script}");
    let mut command = limited("unshare");
    command
        .args([alone, "sh", "-ec", &script, "sh"])
        .args(words);
    let output = succeed(&mut command, "util-linux");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}
