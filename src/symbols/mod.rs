//! Names addresses of call stacks, like dladdr, even if their process has ended.
//!
//! The names come from the files that were mapped (image.rs). Symbols may lie within each other
//! (intervals.rs). An address has no name if two files were loaded there one after the other
//! (overlap.rs). The writers of a timeline say which files were mapped, so neither paths nor
//! contents are trusted: only regular files are opened, reading is bounded, and contradictions give
//! no name.
//!
//! **Why are the names of addresses looked up by readers?** Because a lookup reads files. The
//! program only says once which objects it has loaded, and where. The build id in it tells readers
//! when a file was replaced since. The recorder writes the names down, so reading an archive needs
//! none of those files.

mod demangle;
mod image;
mod intervals;
mod overlap;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

pub use self::demangle::demangled;
pub use crate::event::Module;

use self::image::Image;
use self::intervals::{Interval, IntervalMap};
use self::overlap::Overlaps;

/// The most objects of all processes together.
const MAX_MODULES: usize = 1 << 20;
/// The most bytes read from all files together. The tables of a browser have about 100 MiB; up to
/// four times the bytes read are kept.
const MAX_READ: u64 = 512 << 20;

/// The answer of dladdr for an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The file that holds it: `dli_fname`, but absolute.
    pub file: PathBuf,
    /// Where that file is mapped: `dli_fbase`.
    pub base: u64,
    /// The symbol that holds it, as the file spells it: `dli_sname`. At most 16 KiB.
    pub name: Option<String>,
    /// Where that symbol begins: `dli_saddr`.
    pub start: Option<u64>,
}

/// Names for the addresses of processes. Reads each file once, when it is first needed.
///
/// # Example
/// ```
/// use timeline::symbols::{Module, Symbols};
/// let module = Module {
///     pid: 4711,
///     base: 0x4000_0000,
///     start: 0x4000_0000,
///     end: 0x4000_8000,
///     path: "/no/longer/there.so".into(),
///     build_id: None,
/// };
/// let symbols = Symbols::new([module]);
/// let found = symbols.resolve(4711, 0x4000_1234).unwrap();
/// assert_eq!(found.file.to_str(), Some("/no/longer/there.so"));
/// assert_eq!((found.base, found.name), (0x4000_0000, None));
/// assert_eq!(symbols.resolve(4711, 0x5000_0000), None);
/// ```
#[derive(Debug)]
pub struct Symbols {
    modules: Vec<Module>,
    processes: HashMap<u32, Process>,
    files: HashMap<PathBuf, OnceLock<Option<Image>>>,
    /// Bytes that may still be read.
    left: Mutex<u64>,
}

/// All objects that one process has ever loaded.
#[derive(Debug)]
struct Process {
    /// Indices into `modules`.
    indices: Vec<usize>,
    /// Finds the number of the module that holds an address.
    cover: IntervalMap,
    overlaps: Overlaps,
}

impl Symbols {
    /// Takes the modules to look addresses up in. If two of one process overlap, one was unloaded
    /// before the other was loaded, and a call stack does not say which was loaded at its time. So
    /// an address that both hold gets no name and no file. The same file in the same place counts
    /// as one module, however often it was loaded: it is the same file if the build ids are equal,
    /// or the paths if there are no build ids. Of more than 1,048,576 modules the last ones count.
    pub fn new(modules: impl IntoIterator<Item = Module>) -> Symbols {
        let mut modules: Vec<Module> = modules.into_iter().collect();
        modules.drain(..modules.len().saturating_sub(MAX_MODULES));

        let mut by_process: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut files = HashMap::new();
        for (index, module) in modules.iter().enumerate() {
            by_process.entry(module.pid).or_default().push(index);
            files.entry(module.path.clone()).or_default();
        }
        let process = |indices: Vec<usize>| {
            let held = || indices.iter().map(|index| &modules[*index]);
            let intervals = held().map(|module| Interval {
                start: module.start,
                end: module.end,
                rank: (),
            });
            let claims = held().map(|module| (claimant(module), module.start, module.end));
            Process {
                cover: IntervalMap::new(&intervals.collect::<Vec<_>>()),
                overlaps: Overlaps::new(claims.collect()),
                indices,
            }
        };
        let processes = by_process.into_iter();
        let processes = processes.map(|(pid, indices)| (pid, process(indices)));
        Symbols {
            processes: processes.collect(),
            modules,
            files,
            left: Mutex::new(MAX_READ),
        }
    }

    /// Looks up `address` in the process `pid`, like dladdr, but also finds names that are not
    /// exported, unless the file was stripped of them. `None` if no object was loaded there, or
    /// several, one after the other.
    ///
    /// There is no name if the file cannot be opened, is not regular, or has another build id than
    /// the module, or if no symbol holds the address. Only a build id shows that a file was
    /// replaced: a module without one gets the names of the file that is there now. Paths are
    /// looked up in the mount namespace of the caller.
    pub fn resolve(&self, pid: u32, address: u64) -> Option<Resolved> {
        let process = self.processes.get(&pid)?;
        if process.overlaps.holds(address) {
            return None;
        }
        let module = &self.modules[process.indices[process.cover.find(address)?]];
        let image = self.image(&module.path);
        let image = image.filter(|image| image.is(module.build_id.as_deref()));
        let found = image.and_then(|image| image.find(module.base, address));
        let (name, start) = found.unzip();
        Some(Resolved {
            file: module.path.clone(),
            base: module.base,
            name,
            start,
        })
    }

    /// The caller, by a return address of the call stack: [`resolve`](Symbols::resolve) of the byte
    /// before it.
    ///
    /// That byte is the last of the call instruction. The return address itself can be in another
    /// function, because compilers put nothing after a call that does not return, such as that of
    /// `abort`. The address in a function that a signal interrupted is not a return address, but
    /// that of the next instruction. If that is the first instruction of a function, or of the code
    /// that ends the handler, the lookup names the function before it.
    pub fn caller(&self, pid: u32, return_address: u64) -> Option<Resolved> {
        self.resolve(pid, return_address.checked_sub(1)?)
    }

    fn image(&self, path: &Path) -> Option<&Image> {
        let file = self.files.get(path)?;
        let open = || {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            Image::open(path, &mut left)
        };
        file.get_or_init(open).as_ref()
    }
}

/// Modules with the same key have the same names at the same addresses.
fn claimant(module: &Module) -> (u64, Option<&[u8]>, Option<&Path>) {
    let build_id = module.build_id.as_deref();
    let path = build_id.is_none().then_some(module.path.as_path());
    (module.base, build_id, path)
}
