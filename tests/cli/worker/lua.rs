//! A program in LuaJIT records itself.

use timeline_archive::Archive;

use crate::support::Name;
use crate::support::toolchain::{luajit, printed, root};

/// Each number is recorded once, however the worker that recorded it has ended.
#[test]
fn a_program_in_lua_records_itself() {
    let (name, folder) = (Name::new("worker-lua"), tempfile::tempdir().unwrap());
    let mut luajit = luajit();
    luajit.arg(root().join("tests/lua/worker.lua"));
    printed(luajit.arg(name.path()).arg(folder.path()), "luajit");
    let archive = Archive::open(folder.path().join("flight.tla")).unwrap();
    assert!(archive.damage().is_empty());
    assert_eq!((archive.missed(), archive.repeated()), (0, 0));
    let mut numbers: Vec<i64> = archive.events().map(|event| event.args[0]).collect();
    numbers.sort();
    assert_eq!(numbers, (0..400).collect::<Vec<_>>());
}
