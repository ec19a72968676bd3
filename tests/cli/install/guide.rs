//! The commands of the guide, as they stand there, against what was installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::{needed, prefix};
use crate::support::toolchain::pages::{Block, blocks, renamed, steady};
use crate::support::toolchain::{limited, root, succeed};

/// The first whole program of a page in a language.
fn whole<'a>(blocks: &'a [Block], language: &str) -> &'a Block {
    let is_whole = |b: &&Block| b.language == language && b.code.contains("main(");
    blocks.iter().find(is_whole).expect("a program")
}

/// Runs a program that was built of a page's, and compares what it prints with the page.
fn prints(program: &Path, shown: &Block) {
    let mut program = limited(program);
    let said = succeed(
        program.env("LD_LIBRARY_PATH", prefix().join("lib")),
        "coreutils",
    );
    let said = String::from_utf8(said.stdout).unwrap();
    let expected = shown.output.as_deref().expect("its output");
    assert_eq!(steady(&said), steady(expected), "output, then page");
}

/// In a folder with the first programs of the page.
#[test]
fn the_commands_of_the_guide_build_its_programs() {
    let page = "docs/guide/c.md";
    let blocks = blocks(page);
    let dir = TempDir::new().unwrap();
    // Not in shared memory: nobody else has this one.
    let ring = dir.path().join("ring");
    for (language, file) in [("c", "program.c"), ("cpp", "program.cpp")] {
        let program = renamed(&whole(&blocks, language).code, ring.to_str().unwrap());
        fs::write(dir.path().join(file), program).unwrap();
    }
    let mut commands = 0;
    for block in blocks.iter().filter(|b| b.language == "console") {
        for command in block.code.lines() {
            println!("{page}:{}: {command}", block.line);
            let command = command.strip_prefix("$ ").expect("a command");
            let mut shell = Command::new("sh");
            shell.args(["-ec", command]).current_dir(&dir);
            shell.env("PKG_CONFIG_LIBDIR", prefix().join("lib/pkgconfig"));
            succeed(&mut shell, "gcc and pkg-config");
            let program = dir.path().join("a.out");
            let needed = needed(&program);
            let is_static = command.contains("libtimeline.a") || command.contains("-static");
            assert_eq!(!needed.contains("libtimeline"), is_static, "{command}");
            assert_eq!(!needed.contains("NEEDED"), command.contains("-static "));
            let language = if command.starts_with("c++") {
                "cpp"
            } else {
                "c"
            };
            prints(&program, whole(&blocks, language));
            fs::remove_file(program).unwrap();
            fs::remove_file(&ring).unwrap();
            commands += 1;
        }
    }
    assert!(commands >= 5);

    let lists = blocks.iter().find(|b| b.language == "cmake").unwrap();
    for (package, build) in [("timeline::timeline", "shared"), ("timeline::static", "a")] {
        let lists = lists.code.replace("timeline::timeline", package);
        fs::write(dir.path().join("CMakeLists.txt"), lists).unwrap();
        let mut cmake = Command::new("cmake");
        cmake.current_dir(&dir).args(["-S", ".", "-B", build]);
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()));
        succeed(&mut cmake, "cmake");
        succeed(
            Command::new("cmake")
                .current_dir(&dir)
                .args(["--build", build]),
            "cmake and make",
        );
        let program = dir.path().join(build).join("program");
        assert_eq!(needed(&program).contains("libtimeline"), build == "shared");
        prints(&program, whole(&blocks, "c"));
        fs::remove_file(&ring).unwrap();
    }
}

/// Where a guide has a command, a test runs it.
#[test]
fn no_other_guide_has_commands() {
    for guide in fs::read_dir(root().join("docs/guide")).unwrap() {
        let guide = Path::new("docs/guide").join(guide.unwrap().file_name());
        let is_run = guide.ends_with("c.md");
        let mut blocks = blocks(guide.to_str().unwrap()).into_iter();
        assert!(
            is_run || !blocks.any(|b| b.language == "console"),
            "{guide:?}"
        );
    }
}
