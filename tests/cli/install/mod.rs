//! Tests scripts/install.sh, and programs that are built against what it installed.
//! They are built with pkg-config, CMake and LuaJIT, and by the commands of the guide; workers.rs
//! has programs that record themselves, analyses.rs one that analyses.

mod analyses;
mod guide;
mod readme;
mod recipes;
mod workers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::support::toolchain::{
    C99, built, cc, cxx, limited, luajit_program, root, run, succeed, words,
};

/// A prefix that everything was installed to, once for all tests.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prefix");
        if prefix.exists() {
            fs::remove_dir_all(&prefix).unwrap();
        }
        install(&prefix, Path::new(""));
        prefix
    })
}

/// `scripts/install.sh`, from another directory; what it says.
fn install(prefix: &Path, destdir: &Path) -> String {
    let mut script = Command::new(root().join("scripts/install.sh"));
    script
        .current_dir("/")
        .env("PREFIX", prefix)
        .env("DESTDIR", destdir)
        .env("TARGET_DIR", target());
    String::from_utf8(succeed(&mut script, "coreutils").stdout).unwrap()
}

/// Where the command and the libraries were built.
fn target() -> &'static Path {
    assert!(
        built().dir.join("timeline").is_file(),
        "cargo builds the command before it runs this test"
    );
    &built().dir
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[test]
fn everything_is_in_its_standard_place() {
    let dir = TempDir::new().unwrap();
    install(Path::new("/opt/timeline"), dir.path());
    let to = dir.path().join("opt/timeline");
    for file in [
        "bin/timeline",
        "include/timeline.h",
        "include/timeline-worker.h",
        "include/timeline-analysis.h",
        "include/timeline.hpp",
        "include/timeline/ring.hpp",
        "lib/libtimeline.a",
        "lib/pkgconfig/timeline.pc",
        "lib/pkgconfig/timeline-worker.pc",
        "lib/pkgconfig/timeline-analysis.pc",
        "lib/cmake/timeline/timelineConfig.cmake",
        "lib/cmake/timeline/timelineConfigVersion.cmake",
        "share/lua/5.1/timeline.lua",
        "share/lua/5.1/timeline/library.lua",
        "share/man/man1/timeline.1",
        "share/man/man1/timeline-dump.1",
        "share/bash-completion/completions/timeline",
        "share/zsh/site-functions/_timeline",
        "share/fish/vendor_completions.d/timeline.fish",
        "share/doc/timeline/LICENSE-MIT",
        "share/doc/timeline/DejaVu.txt",
    ] {
        let length = fs::metadata(to.join(file))
            .unwrap_or_else(|error| panic!("{file}: {error}"))
            .len();
        assert!(length > 0, "{file} is empty");
    }
    let link = |name: &str| fs::read_link(to.join("lib").join(name)).unwrap();
    for library in [
        "libtimeline.so",
        "libtimeline-worker.so",
        "libtimeline-analysis.so",
    ] {
        let soname = format!("{library}.0");
        assert_eq!(link(library), Path::new(&soname));
        let file = format!("{library}.{}", version());
        assert_eq!(link(&soname), Path::new(&file));
    }
    // What was installed names neither the place where it was built nor DESTDIR, and has no blanks
    // left.
    for file in [
        "lib/pkgconfig/timeline.pc",
        "lib/pkgconfig/timeline-worker.pc",
        "lib/pkgconfig/timeline-analysis.pc",
        "lib/cmake/timeline/timelineConfig.cmake",
        "lib/cmake/timeline/timelineConfigVersion.cmake",
    ] {
        let text = fs::read_to_string(to.join(file)).unwrap();
        assert!(text.contains(version()), "{file}:\n{text}");
        assert!(
            !text.contains('@') && !text.contains(dir.path().to_str().unwrap()),
            "{file}:\n{text}"
        );
    }
    // Over itself, as an upgrade does.
    install(Path::new("/opt/timeline"), dir.path());
}

#[test]
fn what_is_left_to_do_for_the_loader_is_said() {
    let dir = TempDir::new().unwrap();
    let said = install(Path::new("/opt/timeline"), dir.path());
    assert!(
        said.contains("run ldconfig where this is unpacked"),
        "{said}"
    );
    let prefix = dir.path().join("prefix");
    let said = install(&prefix, Path::new(""));
    let lib = prefix.join("lib");
    for line in [
        format!(
            "    echo {} >/etc/ld.so.conf.d/timeline.conf && ldconfig\n",
            lib.display()
        ),
        format!("LD_LIBRARY_PATH={}\n", lib.display()),
    ] {
        assert!(said.contains(&line), "{said}");
    }
    loader_finds_what_root_installed(dir.path());
}

/// On a system of its own, as far as that concerns the loader, root installs to a standard
/// directory: then nothing is left to do.
fn loader_finds_what_root_installed(dir: &Path) {
    let script = format!(
        "mount -t tmpfs none /usr/local && cp -a /etc '{0}/etc' 2>/dev/null
         mount --bind '{0}/etc' /etc && echo /usr/local/lib >/etc/ld.so.conf.d/test.conf || exit 77
         exec {1}",
        dir.display(),
        root().join("scripts/install.sh").display()
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
    unshare
        .env("PREFIX", "/usr/local")
        .env("DESTDIR", "")
        .env("TARGET_DIR", target());
    let output = run(&mut unshare, "util-linux");
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || told.starts_with("unshare: ") {
        assert!(std::env::var_os("CI").is_none(), "{told}");
        return eprintln!("skipped: {told}");
    }
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        said,
        format!("installed timeline {} under /usr/local\n", version()),
        "{told}"
    );
}

#[test]
fn a_mistake_in_the_call_is_named() {
    let script = root().join("scripts/install.sh");
    let dir = TempDir::new().unwrap();
    let relative = run(
        Command::new(&script)
            .env("PREFIX", "here")
            .env("TARGET_DIR", target()),
        "coreutils",
    );
    assert!(!relative.status.success());
    assert!(String::from_utf8_lossy(&relative.stderr).contains("expected an absolute path"));
    let unbuilt = run(
        Command::new(&script)
            .env("PREFIX", dir.path())
            .env("TARGET_DIR", dir.path()),
        "coreutils",
    );
    assert!(!unbuilt.status.success());
    assert!(String::from_utf8_lossy(&unbuilt.stderr).contains("cargo build --release --workspace"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Root, who installs, may have no cargo, and is not to own what it builds.
#[test]
fn make_install_builds_nothing() {
    let dir = TempDir::new().unwrap();
    let make = |target: &Path| {
        let mut make = Command::new("make");
        make.current_dir(root())
            .args(["--silent", "install", "CARGO=false", "PREFIX=/opt/timeline"])
            .arg(format!("DESTDIR={}", dir.path().display()))
            .arg(format!("TARGET_DIR={}", target.display()))
            .env_remove("MAKEFLAGS");
        make
    };
    let unbuilt = run(&mut make(dir.path()), "make");
    assert!(!unbuilt.status.success());
    let said = String::from_utf8_lossy(&unbuilt.stderr);
    assert!(said.contains("first run \"make\""), "{said}");
    succeed(&mut make(target()), "make");
    assert!(dir.path().join("opt/timeline/bin/timeline").is_file());
}

/// The consumer of all: makes a timeline, logs, saves.
const CONSUMER: &str = r#"
#include <timeline.h>
#include <stdio.h>
int main(int argc, char **argv) {
  timeline_t *tl = NULL;
  uint32_t event = 0;
  if (argc != 3 || timeline_new(argv[1], 256, 0, &tl) != TIMELINE_OK ||
      timeline_define(tl, "consumer", TIMELINE_INFO, "consumed $number", &event) != TIMELINE_OK) {
    fprintf(stderr, "%s\n", timeline_last_error());
    return 1;
  }
  if (timeline_enabled(tl, event)) timeline_log(tl, event, 42, 0, 0, 0);
  if (timeline_save(tl, argv[2]) != TIMELINE_OK) return 1;
  timeline_free(tl);
  printf("%s\n", timeline_version());
  return 0;
}
"#;

const CONSUMER_CPP: &str = r#"
#include <timeline.hpp>
#include <iostream>
int main(int, char **argv) {
  timeline::ring tl(argv[1], 256);
  TIMELINE_EVENT(tl, timeline::info, "consumer", "consumed $number", 42);
  tl.save(argv[2]);
  std::cout << timeline_version() << '\n';
}
"#;

/// Runs a consumer, and reads what it saved with the installed command.
fn consume(program: &mut Command, dir: &Path) {
    let snapshot = dir.join("saved.timeline");
    let output = succeed(program.arg(dir.join("ring")).arg(&snapshot), "coreutils");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), version());
    let dump = succeed(
        Command::new(prefix().join("bin/timeline"))
            .arg("dump")
            .arg(&snapshot),
        "coreutils",
    );
    let dump = String::from_utf8(dump.stdout).unwrap();
    assert!(dump.contains("consumed number(42)"), "{dump}");
}

fn pkg_config(arguments: &[&str]) -> Vec<String> {
    pkg_config_of("timeline", arguments)
}

fn pkg_config_of(package: &str, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    // Only ours, so that a system's own copy can not stand in for it.
    command.env("PKG_CONFIG_LIBDIR", prefix().join("lib/pkgconfig"));
    words(command.args(arguments).arg(package), "pkg-config")
}

fn needed(program: &Path) -> String {
    words(
        Command::new("readelf").args(["-d", "-W"]).arg(program),
        "binutils",
    )
    .join(" ")
}

#[test]
fn pkg_config_with_the_shared_library() {
    assert_eq!(pkg_config(&["--modversion"]), [version()]);
    let dir = TempDir::new().unwrap();
    let program = dir.path().join("consumer");
    fs::write(dir.path().join("consumer.c"), CONSUMER).unwrap();
    let mut compiler = cc();
    compiler
        .args(C99)
        .arg(dir.path().join("consumer.c"))
        .arg("-o")
        .arg(&program);
    succeed(compiler.args(pkg_config(&["--cflags", "--libs"])), "gcc");
    assert!(needed(&program).contains("[libtimeline.so.0]"));
    consume(
        limited(&program).env("LD_LIBRARY_PATH", prefix().join("lib")),
        dir.path(),
    );
}

#[test]
fn pkg_config_with_the_static_library() {
    let dir = TempDir::new().unwrap();
    let program = dir.path().join("consumer");
    fs::write(dir.path().join("consumer.c"), CONSUMER).unwrap();
    let mut compiler = cc();
    compiler
        .args(C99)
        .arg("-static")
        .arg(dir.path().join("consumer.c"))
        .arg("-o")
        .arg(&program);
    succeed(
        compiler.args(pkg_config(&["--static", "--cflags", "--libs"])),
        "gcc and libc6-dev",
    );
    assert!(!needed(&program).contains("NEEDED"));
    consume(&mut limited(&program), dir.path());

    // The static library alone, in a program that is dynamic otherwise.
    let program = dir.path().join("half");
    let mut compiler = cxx();
    fs::write(dir.path().join("consumer.cpp"), CONSUMER_CPP).unwrap();
    compiler
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror"])
        .arg(dir.path().join("consumer.cpp"))
        .arg("-o")
        .arg(&program);
    compiler
        .args(pkg_config(&["--cflags"]))
        .arg(prefix().join("lib/libtimeline.a"));
    let private = pkg_config(&["--static", "--libs-only-l"]);
    succeed(
        compiler.args(private.iter().filter(|library| *library != "-ltimeline")),
        "g++",
    );
    assert!(!needed(&program).contains("libtimeline"));
    fs::remove_file(dir.path().join("saved.timeline")).unwrap();
    consume(&mut limited(&program), dir.path());
}

/// A program for each way to link.
const CMAKE_LISTS: &str = r"cmake_minimum_required(VERSION 3.13)
project(consumer C CXX)
set(CMAKE_C_STANDARD 99)
set(CMAKE_CXX_STANDARD 17)
find_package(timeline 0.1 REQUIRED)
find_package(timeline REQUIRED CONFIG) # twice must do
add_executable(c_shared consumer.c)
target_link_libraries(c_shared PRIVATE timeline::timeline)
add_executable(c_static consumer.c)
target_link_libraries(c_static PRIVATE timeline::static)
add_executable(cpp_shared consumer.cpp)
target_link_libraries(cpp_shared PRIVATE timeline::timeline)
add_executable(c_worker recorder.c)
target_link_libraries(c_worker PRIVATE timeline::worker timeline::timeline)
add_executable(c_analysis analyst.c)
target_link_libraries(c_analysis PRIVATE timeline::analysis timeline::timeline)
";

#[test]
fn cmake_finds_the_package() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("consumer.c"), CONSUMER).unwrap();
    fs::write(dir.path().join("consumer.cpp"), CONSUMER_CPP).unwrap();
    fs::write(dir.path().join("recorder.c"), workers::RECORDER).unwrap();
    fs::write(dir.path().join("analyst.c"), analyses::ANALYST).unwrap();
    fs::write(dir.path().join("CMakeLists.txt"), CMAKE_LISTS).unwrap();
    let build = dir.path().join("build");
    let configure = |version: &str| {
        let lists = fs::read_to_string(dir.path().join("CMakeLists.txt")).unwrap();
        let source = dir.path().join(format!("for {version}"));
        fs::create_dir(&source).unwrap();
        for file in ["consumer.c", "consumer.cpp", "recorder.c", "analyst.c"] {
            fs::copy(dir.path().join(file), source.join(file)).unwrap();
        }
        fs::write(
            source.join("CMakeLists.txt"),
            lists.replace("timeline 0.1", &format!("timeline {version}")),
        )
        .unwrap();
        let mut cmake = Command::new("cmake");
        cmake
            .arg("-S")
            .arg(&source)
            .arg("-B")
            .arg(&build)
            .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()));
        let output = run(&mut cmake, "cmake");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (found, said) = configure("9.0");
    assert!(
        !found && said.contains(version()),
        "a version that is not there was found:\n{said}"
    );
    fs::remove_dir_all(&build).unwrap();
    let (found, said) = configure("0.1");
    assert!(found, "{said}");
    succeed(
        Command::new("cmake").arg("--build").arg(&build),
        "cmake and make",
    );
    for (program, shared) in [
        ("c_shared", true),
        ("c_static", false),
        ("cpp_shared", true),
    ] {
        let program = build.join(program);
        assert_eq!(needed(&program).contains("[libtimeline.so.0]"), shared);
        // No LD_LIBRARY_PATH: CMake has given it the place.
        let own = TempDir::new().unwrap();
        consume(&mut limited(&program), own.path());
    }
    workers::record(&mut limited(build.join("c_worker")));
    analyses::analyse(&mut limited(build.join("c_analysis")));
}

#[test]
fn luajit_requires_the_module() {
    let dir = TempDir::new().unwrap();
    let script = dir.path().join("consumer.lua");
    fs::write(
        &script,
        r#"
local timeline = require "timeline"
local tl = assert(timeline.new(arg[1], 256))
local consumed = timeline.define(tl, "consumer", "info", "consumed $number")
consumed(42)
assert(timeline.save(tl, arg[2]))
"#,
    )
    .unwrap();
    // Copied elsewhere as a whole, it still finds its library: nothing tells it but where it lies.
    let moved = dir.path().join("moved");
    succeed(
        Command::new("cp").arg("-a").arg(prefix()).arg(&moved),
        "coreutils",
    );
    let mut luajit = limited(luajit_program());
    luajit
        .env("LUA_PATH", moved.join("share/lua/5.1/?.lua"))
        .env_remove("LUA_CPATH")
        .current_dir("/");
    let snapshot = dir.path().join("saved.timeline");
    succeed(
        luajit
            .arg(&script)
            .arg(dir.path().join("ring"))
            .arg(&snapshot)
            .arg(version()),
        "luajit",
    );
    let dump = succeed(
        Command::new(moved.join("bin/timeline"))
            .arg("dump")
            .arg(&snapshot),
        "coreutils",
    );
    assert!(String::from_utf8_lossy(&dump.stdout).contains("consumed number(42)"));
}

#[test]
fn man_finds_the_pages_and_shells_can_read_the_completions() {
    let to = prefix();
    let page = fs::read_to_string(to.join("share/man/man1/timeline-dump.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("dump"), "{page}");
    succeed(
        Command::new("bash")
            .arg("-n")
            .arg(to.join("share/bash-completion/completions/timeline")),
        "bash",
    );
}
