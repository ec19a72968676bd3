//! Names of addresses: what the loader says in the process, and what the files say without it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use proptest::prelude::*;
use tempfile::TempDir;
use timeline::internal::symbols::{AddressInfo, FileVersion, Module, Symbols};

use crate::support::toolchain::{cc, limited, root, succeed};

/// So that what follows a call that does not return is the next function.
const FLAGS: &[&str] = &[
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Werror",
    "-O1",
    "-falign-functions=1",
    "-fno-toplevel-reorder",
    "-fno-reorder-functions",
    "-Wl,--build-id",
];

/// Names for one place.
const LINKERS: &[&str] = &[
    "__bss_start",
    "__data_start",
    "_edata",
    "_end",
    "data_start",
];

/// A program and its library, built with further flags.
struct Built {
    folder: TempDir,
    program: PathBuf,
}

fn build(flags: &[&str]) -> Built {
    let folder = TempDir::new().unwrap();
    let compile = |source: &str, out: &str, more: &[&str]| {
        let out = folder.path().join(out);
        let source = root().join("tests/c").join(source);
        let mut command = cc();
        command.args(FLAGS).arg(source).arg("-o").arg(&out);
        succeed(command.current_dir(folder.path()).args(more), "gcc");
        out
    };
    let strip: &[&str] = if flags.contains(&"-s") { &["-s"] } else { &[] };
    let library = [&["-shared", "-fPIC"], strip].concat();
    let library = compile("symbols_library.c", "library.so", &library);
    let library = library.to_str().unwrap();
    let program = compile(
        "symbols.c",
        "program",
        &[flags, &[library, "-ldl"]].concat(),
    );
    Built { folder, program }
}

/// What the program said.
struct Said {
    modules: Vec<Module>,
    /// Lines but for those of modules, in words, the first of which says what it is about.
    lines: Vec<Vec<String>>,
}

impl Said {
    fn by(program: &Path) -> Said {
        let output = succeed(&mut limited(program), "coreutils").stdout;
        let text = String::from_utf8(output).unwrap();
        let (modules, lines): (Vec<&str>, _) =
            text.lines().partition(|line| line.starts_with("module "));
        let module = |line: &str| Module::parse(line.strip_prefix("module ").unwrap()).unwrap();
        Said {
            modules: modules.into_iter().map(module).collect(),
            lines: lines
                .into_iter()
                .map(|line| line.split(' ').map(str::to_owned).collect())
                .collect(),
        }
    }

    fn about<'a>(&'a self, what: &'a str) -> impl Iterator<Item = &'a [String]> {
        let lines = self.lines.iter().filter(move |line| line[0] == what);
        lines.map(|line| &line[1..])
    }

    fn pid(&self) -> u32 {
        self.modules[0].pid
    }

    fn module(&self, end: &str) -> &Module {
        let mut modules = self.modules.iter();
        modules.find(|m| m.path.ends_with(end)).unwrap()
    }
}

fn hex(word: &str) -> u64 {
    u64::from_str_radix(word, 16).unwrap()
}

/// Whether what was stripped off a file is installed, so that we know more than the loader.
fn has_debug_file(module: &Module) -> bool {
    let id = module.build_id.as_deref().unwrap_or_default();
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let place = hex.split_at_checked(2);
    place.is_some_and(|(first, rest)| {
        Path::new("/usr/lib/debug/.build-id")
            .join(first)
            .join(format!("{rest}.debug"))
            .exists()
    })
}

/// Our answers against those of dladdr, for each byte of the program and its library, and many of
/// the C library. Whether `exact`, or where the loader knows no name we may: that of what is not
/// exported.
fn agrees_with_dladdr(flags: &[&str], exact: bool) -> (Built, Said) {
    let built = build(flags);
    let said = Said::by(&built.program);
    let symbols = Symbols::new(said.modules.clone());
    let (mut named, mut asked) = (HashMap::new(), 0);
    for line in said.about("address") {
        let [address, file, base, name, start] = line else {
            panic!("{line:?}");
        };
        let ours = symbols.resolve(said.pid(), hex(address)).unwrap();
        assert_eq!(ours.file.to_str(), Some(file.as_str()), "{line:?}");
        assert_eq!(ours.base, hex(base), "{line:?}");
        let own = ours.file.starts_with(built.folder.path());
        asked += 1;
        let has_more = !own
            && said
                .modules
                .iter()
                .any(|m| m.path == ours.file && has_debug_file(m));
        if has_more {
            // A function that is not exported may lie in one that is, or behind it.
            let least = if name == "-" { 0 } else { hex(start) };
            let begins = ours
                .start
                .is_none_or(|ours| (least..=hex(address)).contains(&ours));
            assert!(
                begins && (name == "-" || ours.name.is_some()),
                "{line:?} {ours:?}"
            );
            *named.entry(ours.file).or_insert(0) += 1;
            continue;
        }
        if name == "-" {
            assert!(own && !exact || ours.name.is_none(), "{line:?} {ours:?}");
            continue;
        }
        assert_eq!(ours.start, Some(hex(start)), "{line:?} {ours:?}");
        // One function of the C library has several names, as places have that the linker names;
        // any will do.
        if own && !LINKERS.contains(&name.as_str()) {
            assert_eq!(ours.name.as_ref(), Some(name), "{line:?}");
        }
        *named.entry(ours.file).or_insert(0) += 1;
    }
    assert!(asked > 10_000, "{asked}");
    assert!(named[&built.folder.path().join("library.so")] > 10);
    assert!(named.values().sum::<u32>() > 5_000, "{named:?}");
    for nothing in said.about("nothing") {
        assert_eq!(symbols.resolve(said.pid(), hex(&nothing[0])), None);
    }
    assert_eq!(symbols.resolve(said.pid() + 1, said.modules[0].base), None);
    (built, said)
}

/// The functions that return addresses are in, static ones too.
fn finds_callers(said: &Said) {
    let symbols = Symbols::new(said.modules.clone());
    let caller = |address: &str| symbols.caller(said.pid(), hex(address)).unwrap();
    let mut called = 0;
    for line in said.about("called") {
        let found = caller(&line[1]);
        assert_eq!(found.name.as_ref(), Some(&line[0]), "{line:?}");
        if let Some(start) = line.get(2) {
            assert_eq!(found.start, Some(hex(start)), "{line:?}");
        }
        called += 1;
    }
    assert_eq!(called, 3);
}

#[test]
fn a_program_whose_place_is_chosen_when_it_starts() {
    let (_built, said) = agrees_with_dladdr(&["-fPIE", "-pie", "-rdynamic"], false);
    finds_callers(&said);
}

#[test]
fn a_program_that_stays_where_its_file_says() {
    let (_built, said) = agrees_with_dladdr(&["-fno-pie", "-no-pie", "-rdynamic"], false);
    finds_callers(&said);
    assert_eq!(said.module("program").base, 0x40_0000);
}

#[test]
fn stripped_files_have_the_names_that_the_loader_has() {
    agrees_with_dladdr(&["-fPIE", "-pie", "-rdynamic", "-s"], true);
}

#[test]
fn a_program_that_exports_nothing_has_names() {
    finds_callers(&Said::by(&build(&[]).program));
}

#[test]
fn the_caller_of_what_does_not_return_is_found_although_another_function_follows() {
    let built = build(&["-rdynamic"]);
    let said = Said::by(&built.program);
    let symbols = Symbols::new(said.modules.clone());
    let last: Vec<_> = said.about("last").collect();
    let [[address, start]] = last[..] else {
        panic!("{last:?}");
    };
    let caller = symbols.caller(said.pid(), hex(address)).unwrap();
    assert_eq!(caller.name.as_deref(), Some("calls_last"));
    assert_eq!(caller.start, Some(hex(start)));
    let at = symbols.resolve(said.pid(), hex(address)).unwrap();
    assert_eq!(at.name.as_deref(), Some("follows"));
    assert_eq!(symbols.caller(said.pid(), 0), None);
}

/// The exported function of the library, as it is resolved for this module.
fn exported(said: &Said, module: Module) -> AddressInfo {
    let line = said.about("called").last().unwrap();
    assert_eq!(line[0], "library_exported");
    let symbols = Symbols::new([module.clone()]);
    symbols.caller(module.pid, hex(&line[1])).unwrap()
}

#[test]
fn a_file_that_was_replaced_gives_no_names() {
    let built = build(&[]);
    let said = Said::by(&built.program);
    let module = said.module("library.so").clone();
    let named = exported(&said, module.clone());
    assert_eq!(named.name.as_deref(), Some("library_exported"));

    let nameless = AddressInfo {
        name: None,
        start: None,
        ..named.clone()
    };
    // Without a build id, the version of the file says it.
    let version = FileVersion::of(&fs::metadata(&module.path).unwrap());
    let of_version = |version| Module {
        build_id: None,
        version,
        ..module.clone()
    };
    assert_eq!(exported(&said, of_version(Some(version))), named);
    assert_eq!(exported(&said, of_version(None)), nameless);
    for other in [
        FileVersion {
            size: version.size + 1,
            ..version
        },
        FileVersion {
            modified: version.modified + 1,
            ..version
        },
        FileVersion {
            inode: version.inode + 1,
            ..version
        },
    ] {
        assert_eq!(exported(&said, of_version(Some(other))), nameless);
    }
    let mut other = module.clone();
    other.build_id = Some(vec![1; 20]);
    assert_eq!(exported(&said, other), nameless);
    fs::write(&module.path, b"something else").unwrap();
    assert_eq!(exported(&said, module.clone()), nameless);
    fs::remove_file(&module.path).unwrap();
    assert_eq!(exported(&said, module), nameless);
}

#[test]
fn what_two_modules_held_one_after_the_other_has_no_name() {
    let module = |text| Module::parse(text).unwrap();
    let symbols = Symbols::new([
        module("1 1000 1000 5000 - /first"),
        module("1 3000 3000 4000 - /second"),
        module("1 5000 5000 6000 - /behind"),
        module("2 3000 3000 4000 - /other"),
    ]);
    let file = |pid, address| symbols.resolve(pid, address).map(|r| r.file);
    assert_eq!(file(1, 0x2fff), Some("/first".into()));
    assert_eq!(file(1, 0x3000), None);
    assert_eq!(file(1, 0x3fff), None);
    assert_eq!(file(1, 0x4000), Some("/first".into()));
    assert_eq!(file(1, 0x5000), Some("/behind".into()));
    assert_eq!(file(2, 0x3fff), Some("/other".into()));
    assert_eq!(file(2, 0x4000), None);
}

#[test]
fn the_same_module_loaded_again_in_its_place_keeps_its_names() {
    let built = build(&[]);
    let said = Said::by(&built.program);
    let module = said.module("library.so").clone();
    let version = FileVersion::of(&fs::metadata(&module.path).unwrap());
    let without = Module {
        build_id: None,
        version: Some(version),
        ..module.clone()
    };
    let later = Module {
        version: Some(FileVersion {
            modified: version.modified + 1,
            ..version
        }),
        ..without.clone()
    };
    let line = said.about("called").last().unwrap();
    let name = |modules: [&Module; 2]| {
        let symbols = Symbols::new(modules.map(Module::clone));
        symbols.caller(module.pid, hex(&line[1])).map(|r| r.name)
    };
    let named = Some(Some("library_exported".to_owned()));
    assert_eq!(name([&module, &module]), named);
    assert_eq!(name([&without, &without]), named);
    let linked = Module {
        path: "/another/name/of/it".into(),
        ..module.clone()
    };
    assert_eq!(name([&linked, &module]), named);

    let moved = Module {
        base: module.base - 0x1000,
        ..module.clone()
    };
    let rebuilt = Module {
        build_id: Some(vec![1; 20]),
        ..module.clone()
    };
    let other = Module {
        path: "/another".into(),
        ..without.clone()
    };
    assert_eq!(name([&without, &later]), None);
    for other in [&moved, &rebuilt, &other, &without] {
        assert_eq!(name([&module, other]), None, "{other:?}");
        assert_eq!(name([other, &module]), None, "{other:?}");
    }
}

/// A module at 0 that takes in everything, of this file.
fn anywhere(path: &Path) -> Module {
    Module {
        pid: 1,
        base: 0,
        start: 0,
        end: u64::MAX,
        path: path.into(),
        build_id: None,
        version: fs::metadata(path).ok().map(|file| FileVersion::of(&file)),
    }
}

#[test]
fn only_regular_files_are_opened() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    succeed(Command::new("mkfifo").arg(&pipe), "coreutils");
    let regular = folder.path().join("regular");
    fs::write(&regular, b"something").unwrap();
    let watch = Inotify::init(InitFlags::IN_NONBLOCK).unwrap();
    watch
        .add_watch(folder.path(), AddWatchFlags::IN_OPEN)
        .unwrap();

    let looped = folder.path().join("loop");
    std::os::unix::fs::symlink("loop", &looped).unwrap();
    for path in [
        &pipe,
        &regular,
        &looped,
        Path::new("/"),
        Path::new("/dev/zero"),
        Path::new("/proc/kmsg"),
        Path::new("relative"),
    ] {
        let symbols = Symbols::new([anywhere(path)]);
        assert_eq!(symbols.resolve(1, 5).unwrap().name, None, "{path:?}");
    }
    let opened = watch.read_events().unwrap().into_iter();
    let opened: Vec<_> = opened.filter_map(|event| event.name).collect();
    assert_eq!(opened, ["regular"]);
}

/// A program's file, in which each section says that it has `size` bytes.
fn claiming(sound: &[u8], size: u64) -> Vec<u8> {
    let mut claims = sound.to_vec();
    for section in claims[sections(sound)..].chunks_exact_mut(64) {
        section[0x20..0x28].copy_from_slice(&size.to_le_bytes());
    }
    claims
}

/// Where the section headers begin, which end the file.
fn sections(elf: &[u8]) -> usize {
    u64::from_le_bytes(elf[0x28..0x30].try_into().unwrap()) as usize
}

#[test]
fn what_files_claim_is_not_believed() {
    let built = build(&[]);
    let sound = fs::read(&built.program).unwrap();
    let path = built.folder.path().join("claims");
    let named = |symbols: &Symbols, pid| {
        let mut addresses = 0x1000..0x2000;
        addresses.any(|a| symbols.resolve(pid, a).unwrap().name.is_some())
    };
    // More than is there does not use up what may be read of others.
    let claimers = (11..29).map(|pid| {
        let path = built.folder.path().join(format!("claims {pid}"));
        fs::write(&path, claiming(&sound, 1 << pid)).unwrap();
        Module {
            pid,
            ..anywhere(&path)
        }
    });
    let symbols = Symbols::new(claimers.chain([anywhere(&built.program)]));
    assert!(!(17..29).rev().any(|pid| named(&symbols, pid)));
    for pid in (11..17).rev() {
        named(&symbols, pid);
    }
    assert!(named(&symbols, 1));
    // As much as there is, which is a hole.
    fs::write(&path, claiming(&sound, 1 << 39)).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(!named(&Symbols::new([anywhere(&path)]), 1));
}

#[test]
fn damaged_files_do_no_harm() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("damaged");
    let built = build(&["-s"]);
    let sound = fs::read(built.folder.path().join("library.so")).unwrap();
    let look = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let symbols = Symbols::new([anywhere(&path)]);
        let addresses = (0..sound.len() as u64).step_by(97).chain([u64::MAX - 1]);
        addresses
            .filter(|a| symbols.resolve(1, *a).unwrap().name.is_some())
            .count()
    };
    assert!(look(&sound) > 0);
    for length in (0..sound.len()).step_by(61) {
        look(&sound[..length]);
    }
    let spots = (0..0x400).chain(sections(&sound)..sound.len());
    let strategy = prop::collection::vec(
        (prop::sample::select(spots.collect::<Vec<_>>()), any::<u8>()),
        1..6,
    );
    let mut runner = proptest::test_runner::TestRunner::default();
    let run = runner.run(&strategy, |changes| {
        let mut bytes = sound.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        look(&bytes);
        Ok(())
    });
    run.unwrap();
}
