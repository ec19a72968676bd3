//! Rooms: folders of a crate, or of a folder of it, of which each uses those below it.

use std::collections::{BTreeMap, BTreeSet};

use super::circles::{Module, used_by};

/// The rooms of a folder of sources from top to bottom.
struct Rooms {
    /// The sources of the crate.
    crate_folder: &'static str,
    /// The folder, by the words of its module.
    inside: &'static [&'static str],
    order: &'static [&'static str],
}

const ROOMS: [Rooms; 3] = [
    Rooms {
        crate_folder: "crates/archive/src",
        inside: &[],
        order: &["record", "read", "write", "format"],
    },
    Rooms {
        crate_folder: "crates/archive/src",
        inside: &["read"],
        order: &[
            "copy", "recover", "order", "open", "choice", "units", "file", "texts", "loss",
        ],
    },
    Rooms {
        crate_folder: "src",
        inside: &["event"],
        order: &[
            "catalogue",
            "tables",
            "control",
            "definitions",
            "payloads",
            "objects",
            "names",
            "messages",
            "values",
        ],
    },
];

/// The first word of a module inside of a folder, if it is there: `units` for `read::units::form`.
fn room_of<'a>(inside: &[&str], module: &'a Module) -> Option<&'a str> {
    let is_there = module.len() > inside.len() && module.iter().zip(inside).all(|(a, b)| a == b);
    is_there.then(|| &*module[inside.len()])
}

/// All that breaks a rule in a crate with these files.
fn violations(rooms: &Rooms, files: &BTreeMap<Module, String>) -> Vec<String> {
    let height = |name: &str| rooms.order.iter().position(|room| *room == name);
    let mut found = Vec::new();
    for (module, code) in files {
        let Some(own) = room_of(rooms.inside, module) else {
            continue;
        };
        let path = module.join("::");
        let Some(from) = height(own) else {
            // A crate has files beside its rooms, which belong to all of them.
            if !rooms.inside.is_empty() || module.len() > 1 {
                found.push(format!("{path}: {own} has no place in {:?}", rooms.order));
            }
            continue;
        };
        for used in used_by(module, code, files) {
            // What is named through the door says nothing of its room.
            if !rooms.inside.is_empty() && used == rooms.inside {
                found.push(format!("{path} uses {}: name the room", used.join("::")));
            }
            let to = room_of(rooms.inside, used).and_then(height);
            if to.is_some_and(|to| to < from) {
                found.push(format!(
                    "{path} uses {}, which is above it",
                    used.join("::")
                ));
            }
        }
    }
    let there: BTreeSet<&str> = files
        .keys()
        .filter_map(|module| room_of(rooms.inside, module))
        .collect();
    for room in rooms.order.iter().filter(|room| !there.contains(*room)) {
        found.push(format!("there is no room {room}"));
    }
    found
}

#[test]
fn rooms_use_those_below_them() {
    for rooms in &ROOMS {
        let mut files = Vec::new();
        let top = crate::support::root();
        super::collect(&top.join(rooms.crate_folder), top, &mut files);
        let wrong = violations(rooms, &super::sources(&files, rooms.crate_folder));
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }
}

#[test]
fn an_arrow_to_a_room_above_is_found() {
    let rooms = Rooms {
        crate_folder: "src",
        inside: &["a"],
        order: &["high", "low"],
    };
    let said = |path: &str, code: &str| {
        let module = |path: &str| path.split('/').map(str::to_owned).collect::<Module>();
        let known = ["a", "a/high", "a/high/b", "a/low", "a/low/c", "d"];
        let mut files: BTreeMap<Module, String> = known
            .iter()
            .map(|path| (module(path), String::new()))
            .collect();
        files.insert(module(path), code.to_owned());
        violations(&rooms, &files).join("\n")
    };
    for (path, code, wrong) in [
        ("a/high/b", "use crate::a::low::c::C;", ""),
        ("a/high/b", "use super::super::low::c::C;", ""),
        ("a/low/c", "use crate::d::D;", ""),
        ("d", "use crate::a::high::b::B;", ""),
        ("a", "pub use high::b::B; use crate::a::low::c::C;", ""),
        (
            "a/low/c",
            "use crate::a::high::b::B;",
            "a::low::c uses a::high::b, which is above it",
        ),
        (
            "a/low/c",
            "use super::super::{high::B, low::D};",
            "a::low::c uses a::high, which is above it",
        ),
        (
            "a/low/c",
            "use crate::a::B;",
            "a::low::c uses a: name the room",
        ),
        (
            "a/loose",
            "",
            "a::loose: loose has no place in [\"high\", \"low\"]",
        ),
    ] {
        assert_eq!(said(path, code), wrong, "{path}: {code}");
    }
}
