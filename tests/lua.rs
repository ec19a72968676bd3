//! Tests the Lua module under a real LuaJIT.
//! It runs the programs in tests/lua and the examples, and tests how the library is found.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::support::toolchain::installed::with_another_installed;
use crate::support::toolchain::{
    cc, library_dir, limited, luajit, luajit_program, printed, root, run, with_little_shm,
};
use crate::support::{Name, copy_program};

/// Runs one of tests/lua with a name and a folder of its own.
fn program(script: &str) {
    let name = Name::new("lua");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = root().join("tests/lua").join(script);
    printed(
        luajit()
            .current_dir(&folder)
            .arg(script)
            .arg(name.path())
            .arg(folder.path()),
        "luajit",
    );
}

#[test]
fn writes() {
    program("write.lua");
}

#[test]
fn writes_texts_and_arrays() {
    program("payload.lua");
}

#[test]
fn converts_elements_as_values() {
    program("array.lua");
}

#[test]
fn takes_the_values_of_the_table_of_types() {
    let name = Name::new("lua-types");
    let types = timeline::internal::FIELD_TYPES.iter();
    let types = types.map(|row| format!("{}={}", row.kind, row.lua));
    let mut luajit = luajit();
    luajit.arg(root().join("tests/lua/types.lua"));
    printed(luajit.arg(name.path()).args(types), "luajit");
}

#[test]
fn measures_its_own_spans() {
    program("histogram.lua");
}

#[test]
fn writes_spans() {
    program("span.lua");
}

#[test]
fn puts_one_payload_together_at_a_time() {
    program("reenter.lua");
}

#[test]
fn refuses_misuse() {
    program("misuse.lua");
}

#[test]
fn reads() {
    program("read.lua");
}

#[test]
fn survives_the_garbage_collector() {
    program("collect.lua");
}

#[test]
fn closes() {
    program("close.lua");
}

#[test]
fn samples() {
    program("sample.lua");
}

#[test]
fn logging_is_compiled() {
    program("jit.lua");
}

#[test]
fn the_first_example_prints_what_it_logged() {
    let name = Name::new("lua");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let example = fs::read_to_string(root().join("examples/lua/example.lua")).expect("the example");
    // Somebody may have a live /timeline.
    let ours = example.replace("\"/timeline\"", &format!("{:?}, 1024", name.path()));
    assert_ne!(example, ours);
    fs::write(folder.path().join("example.lua"), ours).expect("a copy of the example");

    let printed = printed(luajit().current_dir(&folder).arg("example.lua"), "luajit");

    let rows: Vec<Vec<&str>> = printed
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 3, "{printed}");
    assert_eq!(rows[0], ["numa", "core", "-cycles", "category", "message"]);
    assert_eq!(
        rows[1][3..].join(" "),
        "example processed tcp(50), udp(60), and other(8)"
    );
    assert_eq!(
        rows[2][3..].join(" "),
        "example processed tcp(10), udp(20), and other(3)"
    );
    assert!(
        rows[1][2].replace(',', "").parse::<u64>().is_ok(),
        "{printed}"
    );
    assert_eq!(rows[2][2], "-");
    assert!(folder.path().join("snapshot.timeline").exists());
}

#[test]
fn the_first_example_runs_in_the_shared_memory_of_a_container() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (modules, library) = (
        root().join("lua/?.lua"),
        library_dir().join("libtimeline.so"),
    );
    let example = root().join("examples/lua/example.lua");
    let words = [
        modules.as_os_str(),
        library.as_os_str(),
        folder.path().as_os_str(),
        example.as_os_str(),
        env!("CARGO_BIN_EXE_timeline").as_ref(),
    ];
    let script = "cd \"$3\" && LUA_PATH=\"$1\" TIMELINE_LIBRARY=\"$2\" luajit \"$4\" && \"$5\" \
     info --json /timeline";
    if let Some(said) = with_little_shm(64, script, &words) {
        assert!(said.contains("processed tcp(50)"), "{said}");
        assert!(
            said.contains("\"entries\":262144") && said.contains("\"reduced\":true"),
            "{said}"
        );
    }
}

#[test]
fn the_demo_logs_what_it_says() {
    let name = Name::new("lua");
    let said = printed(
        luajit()
            .arg(root().join("examples/lua/demo.lua"))
            .args([name.path(), "50"]),
        "luajit",
    );
    assert!(said.contains("50 batches"), "{said}");

    let attached = timeline::Attached::open(name.path()).expect("what the demo left");
    let processed = attached
        .events(timeline::Order::OldestFirst)
        .filter(|event| {
            let definition = attached.definition(event.id).expect("its definition");
            definition.message.starts_with("processed $tcp")
        })
        .count();
    assert_eq!(processed, 50);
}

#[test]
fn the_demo_keeps_what_a_run_before_has_left_and_joins_one_in_use() {
    let name = Name::new("lua");
    let written = |path: &str| {
        let attached = timeline::Attached::open(path).unwrap_or_else(|e| panic!("{e}"));
        attached.info().entries_written
    };
    let demo = |batches| {
        let script = root().join("examples/lua/demo.lua");
        printed(luajit().arg(script).args([name.path(), batches]), "luajit");
    };
    demo("3");
    assert_eq!(written(name.path()), 3 * 33);
    demo("2");
    assert_eq!(written(name.path()), 2 * 33);
    assert_eq!(written(&format!("{}.prev", name.path())), 3 * 33);
    let used = timeline::Timeline::open(name.path()).expect("a further writer");
    demo("1");
    assert_eq!(written(name.path()), 3 * 33);
    drop(used);
}

/// `new` fails here for want of space, and that is what is said: not that there is nothing to join.
#[test]
fn the_demo_says_why_it_can_not_make_its_timeline() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(
        // A limit of the shell's is one that every file system has.
        limited("sh")
            .arg("-c")
            .arg("ulimit -f 64; trap '' XFSZ; exec luajit \"$@\"")
            .arg("sh")
            .arg(root().join("examples/lua/demo.lua"))
            .arg(folder.path().join("ring"))
            .arg("1")
            .env("TIMELINE_LIBRARY", library_dir().join("libtimeline.so")),
        "luajit",
    );
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("demo.lua: ") && said.lines().count() == 1,
        "{said}"
    );
    assert!(!said.contains("no timeline at"), "{said}");
}

#[test]
fn dump_comes_after_what_lua_printed_before() {
    let name = Name::new("lua");
    let script = "local t = require 'timeline'
        local tl = assert(t.new(arg[1], 256))
        assert(tl:define('test', 'info', 'logged'))()
        io.stdout:setvbuf('full')
        print('before') assert(t.dump(tl)) print('after')";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("order.lua");
    fs::write(&file, script).expect("the script");
    let printed = printed(luajit().arg(file).arg(name.path()), "luajit");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "before", "{printed}");
    assert!(lines[2].ends_with("logged"), "{printed}");
    assert_eq!(lines[3], "after", "{printed}");
}

/// The version, as printed by a module that was found through LUA_PATH alone.
fn found_by(lua_path: &Path, change: impl FnOnce(&mut Command)) -> String {
    let mut luajit = limited(luajit_program());
    luajit
        .env_remove("TIMELINE_LIBRARY")
        .env_remove("LD_LIBRARY_PATH")
        .env("LUA_PATH", lua_path.join("?.lua"))
        .args(["-e", "print(require('timeline').version)"]);
    change(&mut luajit);
    let output = run(&mut luajit, "luajit");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What the library is called in these copies: nobody has installed that, so only what is laid out
/// can be found.
const OURS: &str = "libtimeline-laid-out";

/// Copies the module into a folder, where it looks for a library of this name.
fn copy_module(to: &Path, library: &str) {
    fs::create_dir_all(to.join("timeline")).expect("a folder for the module");
    let parts = fs::read_dir(root().join("lua/timeline")).expect("its parts");
    let parts = parts.map(|part| part.expect("one of them").path());
    for file in parts.chain([root().join("lua/timeline.lua")]) {
        let text = fs::read_to_string(&file).expect("the module");
        let inside = file.strip_prefix(root().join("lua")).expect("below it");
        let ours = text.replace("libtimeline", library);
        fs::write(to.join(inside), ours).expect("a copy of the module");
    }
}

/// A folder with a copy of the module in `lua`, and the library at `library` when that is given.
fn laid_out(lua: &str, library: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy_module(&folder.path().join(lua), OURS);
    if let Some(library) = library {
        let place = folder.path().join(library.replace("libtimeline", OURS));
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder for the library");
        symlink(library_dir().join("libtimeline.so"), place).expect("a link to the library");
    }
    folder
}

#[test]
fn the_library_is_found_in_every_place_it_may_be() {
    let version = format!("{}\n", env!("CARGO_PKG_VERSION"));
    for (lua, library) in [
        ("lua", "target/release/libtimeline.so"),
        ("lua", "target/debug/libtimeline.so"),
        ("share/lua/5.1", "lib/libtimeline.so.0"),
        ("share/lua/5.1", "lib/libtimeline.so"),
        ("share/lua/5.1", "lib64/libtimeline.so.0"),
        ("share/lua/5.1", "lib/x86_64-linux-gnu/libtimeline.so.0"),
        ("modules", "modules/libtimeline.so"),
    ] {
        let folder = laid_out(lua, Some(library));
        let found = found_by(&folder.path().join(lua), |_| ());
        assert_eq!(found, version, "{library}");
    }

    let folder = laid_out("modules", Some("elsewhere/libtimeline.so"));
    let modules = folder.path().join("modules");
    let elsewhere = folder.path().join("elsewhere");
    let by_cpath = found_by(&modules, |c| {
        c.env("LUA_CPATH", elsewhere.join("?.so"));
    });
    assert_eq!(by_cpath, version);
    let by_system = found_by(&modules, |c| {
        c.env("LD_LIBRARY_PATH", &elsewhere);
    });
    assert_eq!(by_system, version);
    let by_relative_path = found_by(&modules, |c| {
        c.current_dir(&elsewhere).env("LUA_CPATH", "?.so");
    });
    assert_eq!(by_relative_path, version);
    let by_name = found_by(&modules, |c| {
        c.env("TIMELINE_LIBRARY", library_dir().join("libtimeline.so"));
    });
    assert_eq!(by_name, version);
}

/// The module takes its parts from beside it, whatever it is called, and whatever `require` finds.
#[test]
fn the_parts_are_those_beside_the_module() {
    let version = format!("{}\n", env!("CARGO_PKG_VERSION"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = |inside: &str| folder.path().join(inside);
    copy_module(&path("vendor"), "libtimeline");
    // Of another version, say.
    fs::create_dir_all(path("other/timeline")).expect("a folder");
    for part in fs::read_dir(path("vendor/timeline")).expect("parts") {
        let name = part.expect("a part").file_name();
        fs::write(path("other/timeline").join(name), "error 'another'").expect("written");
    }
    let said = |script: &str| {
        let mut luajit = limited(luajit_program());
        luajit
            .current_dir(folder.path())
            .env("TIMELINE_LIBRARY", library_dir().join("libtimeline.so"))
            .env("LUA_PATH", "?.lua;other/?.lua")
            .args(["-e", script]);
        printed(&mut luajit, "luajit")
    };
    for script in [
        "print(require('vendor.timeline').version)",
        "print(dofile('vendor/timeline.lua').version)",
        "package.path = 'vendor/?.lua' print(require('timeline').version)",
    ] {
        assert_eq!(said(script), version, "{script}");
    }
    // Two copies in one program, one of which was changed: each has its own parts.
    copy_module(&path("second"), "libtimeline");
    let library = fs::read_to_string(path("second/timeline/object.lua")).expect("a part");
    let marked = library.replace("local methods = {}", "local methods = { second = true }");
    assert_ne!(library, marked);
    fs::write(path("second/timeline/object.lua"), marked).expect("written");
    let script = "local one, two = require 'vendor.timeline', require 'second.timeline'
        print(one.second, two.second, one.version == two.version)";
    assert_eq!(said(script), "nil\ttrue\ttrue\n");
}

#[test]
fn a_library_that_is_not_found_is_an_error_that_lists_where_it_was_looked_for() {
    let folder = laid_out("lua", Some("target/debug/something-else"));
    let module = folder.path().join("lua");
    // A file of the right name that is no library, and one that is another library.
    fs::create_dir_all(folder.path().join("target/release")).expect("a folder");
    let bad = format!("target/release/{OURS}.so");
    fs::write(folder.path().join(&bad), "not a library").expect("a file");
    let said = found_by(&module, |c| {
        c.env("LUA_CPATH", "/absent/?.so");
    });
    for part in [
        &format!("cannot load {OURS}.so"),
        "make install",
        &bad,
        &format!("/absent/{OURS}.so"),
    ] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    // A library that was asked for by name is not silently replaced by another.
    let said = found_by(&root().join("lua"), |c| {
        c.env("TIMELINE_LIBRARY", "/absent/libtimeline.so");
    });
    let tried = said.matches("libtimeline.so: ").count();
    assert!(
        said.contains("/absent/libtimeline.so: ") && tried == 1,
        "{said}"
    );
}

#[test]
fn a_program_with_the_rights_of_its_file_loads_no_library_that_who_starts_it_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = nix::sys::statvfs::statvfs(folder.path()).expect("a file system");
    let has_rights = !flags
        .flags()
        .contains(nix::sys::statvfs::FsFlags::ST_NOSUID);
    if !support::user::are_root() || !has_rights {
        return println!("not run: no program here can have more rights than who starts it");
    }
    let program = folder.path().join("luajit");
    copy_program(luajit_program(), &program);
    copy_module(folder.path(), "libtimeline");
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
    let said = |mode: u32, user: u32| {
        fs::set_permissions(&program, PermissionsExt::from_mode(mode)).expect("set");
        let mut program = limited(program.to_str().expect("a plain name"));
        program
            .uid(user)
            .env("TIMELINE_LIBRARY", "/absent/libtimeline.so")
            .env("LUA_PATH", folder.path().join("?.lua"))
            .args(["-e", "print(pcall(require, 'timeline'))"]);
        let output = program.output().expect("ran");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(said(0o755, 0).contains("/absent/"));
    let said = said(0o4755, support::user::NOBODY);
    assert!(!said.is_empty() && !said.contains("/absent/"), "{said}");
}

#[test]
fn declarations_are_those_of_the_header() {
    for (header, declarations) in [
        ("include/timeline.h", "lua/timeline/cdef.lua"),
        ("include/timeline-worker.h", "lua/timeline/worker_cdef.lua"),
        (
            "include/timeline-analysis.h",
            "lua/timeline/analysis_cdef.lua",
        ),
    ] {
        let generated = printed(
            limited(luajit_program())
                .current_dir(root())
                .args(["scripts/lua-cdef.lua", header]),
            "luajit",
        );
        let committed = fs::read_to_string(root().join(declarations)).expect(declarations);
        assert!(
            generated == committed,
            "{declarations} is stale: luajit scripts/lua-cdef.lua {header} > {declarations}"
        );
    }
}

#[test]
fn lua_and_c_agree_on_sizes_offsets_and_constants() {
    let lua = printed(
        limited(luajit_program())
            .arg(root().join("tests/lua/cdef.lua"))
            .arg(root().join("lua/timeline/cdef.lua")),
        "luajit",
    );
    let mut checks = String::new();
    for line in lua.lines() {
        let (what, number) = line.split_once('\t').expect("a name and a number");
        let value = match what.split_once('.') {
            Some((structure, member)) => format!("offsetof({structure}, {member})"),
            None if what.ends_with("_t") => format!("sizeof({what})"),
            None => what.to_owned(),
        };
        checks += &format!("_Static_assert({value} == {number}, {what:?});\n");
    }
    assert!(checks.lines().count() > 20, "{lua}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("check.c");
    fs::write(
        &source,
        format!("#include <stddef.h>\n#include \"timeline.h\"\n{checks}"),
    )
    .expect("check.c");
    printed(
        cc().args(["-std=c11", "-fsyntax-only", "-I"])
            .arg(root().join("include"))
            .arg(source),
        "gcc",
    );
}

#[test]
fn what_is_installed_is_not_what_is_tested() {
    with_another_installed(&[
        "writes",
        "the_library_is_found_in_every_place_it_may_be",
        "a_library_that_is_not_found_is_an_error_that_lists_where_it_was_looked_for",
        "lua_and_c_agree_on_sizes_offsets_and_constants",
    ]);
}
