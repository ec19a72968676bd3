//! What was stripped off a program, in a file beside it that it names, and compressed sections.

use std::fs;
use std::path::Path;
use std::process::Command;

use timeline::Frame;

use super::Ran;
use super::inlined::{SOURCE, assert_inlined, frames};
use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, cc, limited, succeed};

fn objcopy(arguments: &[&str], files: &[&Path]) {
    let mut command = limited("objcopy");
    succeed(command.args(arguments).args(files), "binutils");
}

/// Splits what programs need only to be looked at off one, and leaves a link to it.
fn split(program: &Path, debug: &Path) {
    fs::create_dir_all(debug.parent().unwrap()).unwrap();
    objcopy(&["--only-keep-debug"], &[program, debug]);
    objcopy(&["--strip-all"], &[program]);
    let link = format!("--add-gnu-debuglink={}", debug.display());
    objcopy(&[&link], &[program]);
}

fn assert_unknown(frames: &[Frame], how: &str) {
    assert_eq!(frames.len(), 3, "{how}");
    for frame in frames {
        let known = (&frame.name, &frame.source, &frame.inlined[..]);
        assert!(matches!(known, (None, None, [])), "{how}: {frame:?}");
    }
}

#[test]
fn a_file_that_a_stripped_program_names_has_names_and_lines() {
    for (place, id) in [
        ("program.debug", "sha1"),
        ("program.debug", "none"),
        (".debug/program.debug", "sha1"),
        (".debug/program.debug", "none"),
    ] {
        let how = format!("{place} {id}");
        let id = format!("-Wl,--build-id={id}");
        let flags = [C99, &["-g", "-O2", &id]].concat();
        let ran = Ran::after(cc(), &flags, SOURCE, |program| {
            split(program, &program.with_file_name(place));
        });
        let debug = ran.path(place);
        assert_inlined(&frames(&ran), &how);

        // A byte more: it is not the file that the program means.
        let whole = fs::read(&debug).unwrap();
        fs::write(&debug, [&whole[..], &[0]].concat()).unwrap();
        assert_unknown(&frames(&ran), &how);
        fs::write(&debug, &whole).unwrap();
        assert_inlined(&frames(&ran), &how);
        fs::remove_file(&debug).unwrap();
        assert_unknown(&frames(&ran), &how);
        // What waits for a writer is not waited for.
        succeed(Command::new("mkfifo").arg(&debug), "coreutils");
        assert_unknown(&frames(&ran), &how);
    }
}

#[test]
fn a_file_with_the_checksum_needs_the_build_id_as_well() {
    let flags = |id: &'static str| [C99, &["-g", "-O2", id]].concat();
    let build = |to: &Path, id| {
        let program = compile(cc(), &flags(id), &[SOURCE], Link::Shared, to);
        let debug = to.join("program.debug");
        objcopy(&["--only-keep-debug"], &[&program, &debug]);
        debug
    };
    for (other, fits) in [
        ("-Wl,--build-id=0xc0ffee0102", true),
        ("-Wl,--build-id=0xc0ffee0103", false),
    ] {
        let ran = Ran::after(
            cc(),
            &flags("-Wl,--build-id=0xc0ffee0102"),
            SOURCE,
            |program| {
                let folder = tempfile::TempDir::new().unwrap();
                let debug = program.with_extension("debug");
                fs::copy(build(folder.path(), other), &debug).unwrap();
                objcopy(&["--strip-all"], &[program]);
                let link = format!("--add-gnu-debuglink={}", debug.display());
                objcopy(&[&link], &[program]);
            },
        );
        match fits {
            true => assert_inlined(&frames(&ran), other),
            false => assert_unknown(&frames(&ran), other),
        }
    }
}

#[test]
fn a_link_leads_to_no_other_folder() {
    let flags = [C99, &["-g", "-O2"]].concat();
    let ran = Ran::after(cc(), &flags, SOURCE, |program| {
        // The name becomes as long a path, to where the file is.
        let (name, path) = ("abcoutside.debug", "in/outside.debug");
        let debug = program.with_file_name(name);
        split(program, &debug);
        fs::create_dir(program.with_file_name("in")).unwrap();
        fs::rename(&debug, program.with_file_name(path)).unwrap();
        let mut bytes = fs::read(program).unwrap();
        let mut windows = bytes.windows(name.len());
        let at = windows
            .position(|window| window == name.as_bytes())
            .unwrap();
        bytes[at..at + path.len()].copy_from_slice(path.as_bytes());
        fs::write(program, bytes).unwrap();
    });
    assert_unknown(&frames(&ran), "a path");
}

#[test]
fn compressed_sections_are_read_or_told() {
    for (how, is_read, is_apart) in [
        ("zlib", true, false),
        ("zlib-gnu", true, false),
        ("zstd", false, false),
        ("zstd", false, true),
    ] {
        let mut refused = false;
        let flags = [C99, &["-g", "-O2"]].concat();
        let ran = Ran::after(cc(), &flags, SOURCE, |program| {
            let option = format!("--compress-debug-sections={how}");
            let mut command = limited("objcopy");
            let done = command.arg(option).arg(program).status().unwrap();
            // binutils before 2.40 know no zstd.
            refused = !done.success();
            if is_apart && !refused {
                split(program, &program.with_file_name("program.debug"));
            }
        });
        if refused && how == "zstd" {
            eprintln!("in part only: objcopy does not compress with zstd");
            continue;
        }
        assert!(!refused, "{how}");
        if is_read {
            assert_inlined(&frames(&ran), how);
            continue;
        }
        // It has its names, and who looks at it is told why there is nothing else.
        for frame in frames(&ran) {
            assert!(frame.name.is_some() && frame.source.is_none(), "{frame:?}");
        }
        let (ring, archive) = (ran.ring(), ran.path("some.tla"));
        let (ring, archive) = (ring.to_str().unwrap(), archive.to_str().unwrap());
        // The file that is to be mended.
        let file = match is_apart {
            true => ran.path("program.debug"),
            false => ran.program.clone(),
        };
        let wanted = format!(
            "{}: no lines in call stacks, because its debug information",
            file.display()
        );
        for words in [
            &["dump", ring][..],
            &["dump", "--json", ring],
            &["dump", "--reverse", ring],
            &["dump", "--line", "0", ring],
            &["record", "--once", ring, "-o", archive],
        ] {
            let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
            let output = succeed(command.args(words), "nothing");
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(said.matches(&wanted).count(), 1, "{words:?}: {said}");
        }
    }
}
