//! Tells what the files of programs hold: of these, more is known than a build id.
//!
//! A linker writes whatever build id it is told to, so a program that was built anew may have that
//! of the former one. Whoever knows the size and the SHA-1 of a program that ran believes no other
//! file, and needs neither the build id nor the inode for that: a copy is as good.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::event::Module;

/// Bytes of a path as a process has it in a timeline.
const PATH: usize = 255;
/// Most contents that are told apart for one path, or for one process.
const MOST: usize = 64;
/// What Linux appends to the path of a program whose file has lost its name.
const DELETED: &[u8] = b" (deleted)";

/// What is known of the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileContents {
    /// How many they are.
    pub size: u64,
    /// Their SHA-1.
    pub sha1: Option<[u8; 20]>,
}

/// The programs that processes ran, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFiles(HashMap<String, Runs>);

/// What was run from one path: by processes, and by any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Runs {
    of_process: HashMap<u32, Vec<FileContents>>,
    of_any: Vec<FileContents>,
}

impl ProgramFiles {
    /// Adds the program of a process, if it is known of which.
    pub fn add(&mut self, pid: Option<u32>, path: &str, contents: FileContents) {
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        let runs = self.0.entry(path.to_owned()).or_default();
        let of_process = pid.map(|pid| runs.of_process.entry(pid).or_default());
        for all in of_process.into_iter().chain([&mut runs.of_any]) {
            if all.len() < MOST && !all.contains(&contents) {
                all.push(contents);
            }
        }
    }

    /// What the file of a module may hold: what its process ran, or any process that is known.
    /// `None` if it is no program of which anything is known. Nothing fits if only the process
    /// could tell which of several it is.
    pub fn contents(&self, module: &Module) -> Option<Vec<FileContents>> {
        let runs = self.runs(module)?;
        let known = runs.of_process.get(&module.pid).unwrap_or(&runs.of_any);
        let mut known = known.clone();
        if module.build_id.is_none() {
            let size = module.version.map(|version| version.size);
            known.retain(|contents| size.is_none_or(|size| contents.size == size));
            if known.len() > 1 {
                known.clear();
            }
        }
        Some(known)
    }

    fn runs(&self, module: &Module) -> Option<&Runs> {
        let path = module.path.as_os_str().as_bytes();
        let short = &path[..path.len().min(PATH)];
        let without = |path: &'_ [u8]| path.strip_suffix(DELETED).unwrap_or(path).to_vec();
        let paths = [without(path), without(short)];
        let text = |path: &Vec<u8>| OsStr::from_bytes(path).to_string_lossy().into_owned();
        paths.iter().find_map(|path| self.0.get(&text(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FileVersion;

    fn contents(size: u64) -> FileContents {
        FileContents {
            size,
            sha1: Some([size as u8; 20]),
        }
    }

    fn module(pid: u32, path: &[u8]) -> Module {
        Module {
            pid,
            base: 0,
            start: 0,
            end: 1,
            path: OsStr::from_bytes(path).into(),
            build_id: Some(vec![1]),
            version: None,
        }
    }

    #[test]
    fn a_program_is_known_by_its_process_and_path() {
        let mut programs = ProgramFiles::default();
        programs.add(Some(1), "/a", contents(1));
        programs.add(Some(2), "/a (deleted)", contents(2));
        programs.add(None, "/a", contents(3));
        let of = |pid, path: &[u8]| programs.contents(&module(pid, path));
        assert_eq!(of(1, b"/a"), Some(vec![contents(1)]));
        assert_eq!(of(2, b"/a"), Some(vec![contents(2)]));
        assert_eq!(of(1, b"/a (deleted)"), Some(vec![contents(1)]));
        assert_eq!(of(3, b"/a"), Some([1, 2, 3].map(contents).to_vec()));
        assert_eq!(of(1, b"/b"), None);
        // Nobody knows which of them a process ran whose module has no build id, but by its size.
        let version = FileVersion {
            size: 2,
            modified: 0,
            inode: 0,
        };
        for (version, expected) in [(None, vec![]), (Some(version), vec![contents(2)])] {
            let module = Module {
                build_id: None,
                version,
                ..module(3, b"/a")
            };
            assert_eq!(programs.contents(&module), Some(expected));
        }
    }

    #[test]
    fn paths_are_as_processes_have_them() {
        let mut programs = ProgramFiles::default();
        let long = [b"/", &[b'x'; 300][..]].concat();
        let strange = b"/\xff\xc3";
        for path in [&long[..255], strange] {
            programs.add(Some(1), &String::from_utf8_lossy(path), contents(1));
        }
        for path in [&long[..], strange] {
            assert_eq!(programs.contents(&module(1, path)), Some(vec![contents(1)]));
        }
    }
}
