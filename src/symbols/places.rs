//! Finds the file of a module in a living process: there it is still what it was when mapped.
//!
//! The process may have another root than the reader, and the name may lead to another file by now,
//! or to none. A process of another pid namespace, or another one with the number of an ended one,
//! does no harm: only the right file is believed.

use std::path::{Path, PathBuf};

use super::Module;
use crate::shm;

/// Where the file of a module may be: at its path in the root of the process, as its program, or
/// behind the mapping itself, which needs a right of its own (CAP_CHECKPOINT_RESTORE).
pub fn places(module: &Module) -> impl Iterator<Item = PathBuf> + use<> {
    let process = PathBuf::from(format!("/proc/{}", module.pid));
    let inside = module
        .path
        .strip_prefix("/")
        .map(|path| process.join("root").join(path));
    let known = inside.ok().into_iter().chain([process.join("exe")]);
    let start = module.start;
    known.chain(std::iter::once_with(move || mapping(&process, start)).flatten())
}

/// The link to the file that is mapped at an address.
fn mapping(process: &Path, address: u64) -> Option<PathBuf> {
    let files = shm::read_dir(&process.join("map_files")).ok()?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    files.flatten().map(|file| file.path()).find(|path| {
        let range = path
            .file_name()
            .and_then(|name| name.to_str()?.split_once('-'));
        let range = range.and_then(|(start, end)| Some(number(start)?..number(end)?));
        range.is_some_and(|range| range.contains(&address))
    })
}
