//! What the addresses in a call stack are called: what dladdr would say in a process that need no
//! longer be there.
//!
//! The names come from the files that were mapped (image.rs), whose symbols lie within each other
//! (cover.rs). Where two files were loaded one after the other, there are none (disputed.rs). Those
//! who write a timeline say which files these are, so neither the paths nor what is found there is
//! trusted: only regular files are opened, what is read of them is bounded, and what does not fit
//! together has no name.
//!
//! **Why are the names of addresses looked up by readers?** Because a lookup reads files. The
//! program says once what objects it has loaded and where; with the build id in it, a file that was
//! replaced since is not asked. The recorder writes names down, and so an archive needs none of
//! those files.

mod cover;
mod demangle;
mod disputed;
mod image;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

pub use self::demangle::demangled;
pub use crate::event::Module;

use self::cover::{Cover, Interval};
use self::disputed::Disputed;
use self::image::Image;

/// Most objects of all processes together.
const MAX_MODULES: usize = 1 << 20;
/// Bytes that are read at most, of all files together. The tables of a browser have some 100 MiB;
/// kept is up to four times of what is read.
const MAX_READ: u64 = 512 << 20;

/// What dladdr says about an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The file that it is in: `dli_fname`, but absolute.
    pub file: PathBuf,
    /// Where that is mapped: `dli_fbase`.
    pub base: u64,
    /// The symbol that it is in, as the file spells it: `dli_sname`. At most 16 KiB.
    pub name: Option<String>,
    /// Where that begins: `dli_saddr`.
    pub start: Option<u64>,
}

/// Names for the addresses of processes. Reads each file once, when it is first asked about it.
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

/// What one process had loaded, ever.
#[derive(Debug)]
struct Process {
    /// Numbers of `modules`.
    numbers: Vec<usize>,
    /// Which of them holds an address.
    cover: Cover,
    disputed: Disputed,
}

impl Symbols {
    /// Of what these modules hold. Where two of one process overlap, one was unloaded before the
    /// other was loaded, and nothing says which of them an address of a call stack is from: the
    /// addresses that both hold have no name and no file. The same file in the same place is the
    /// same module, however often it was loaded: one of the same build id, or without any of the
    /// same path. Of more than 1,048,576 the last ones count.
    pub fn new(modules: impl IntoIterator<Item = Module>) -> Symbols {
        let mut modules: Vec<Module> = modules.into_iter().collect();
        modules.drain(..modules.len().saturating_sub(MAX_MODULES));

        let mut numbers: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut files = HashMap::new();
        for (number, module) in modules.iter().enumerate() {
            numbers.entry(module.pid).or_default().push(number);
            files.entry(module.path.clone()).or_default();
        }
        let process = |numbers: Vec<usize>| {
            let held = || numbers.iter().map(|number| &modules[*number]);
            let intervals = held().map(|module| Interval {
                start: module.start,
                end: module.end,
                rank: (),
            });
            let claims = held().map(|module| (claimant(module), module.start, module.end));
            Process {
                cover: Cover::new(&intervals.collect::<Vec<_>>()),
                disputed: Disputed::new(claims.collect()),
                numbers,
            }
        };
        let processes = numbers.into_iter();
        let processes = processes.map(|(pid, numbers)| (pid, process(numbers)));
        Symbols {
            processes: processes.collect(),
            modules,
            files,
            left: Mutex::new(MAX_READ),
        }
    }

    /// What dladdr says about `address` in the process `pid`, and more: names that are not
    /// exported, too, unless the file was stripped of them. `None` if nothing was loaded there, or
    /// one thing after the other.
    ///
    /// There is no name where the file cannot be opened, is not regular, or has another build id
    /// than the module, and where no symbol holds the address. A file that was replaced is noticed
    /// by its build id only: if the module has none, names are those of the file that is there now.
    /// Paths are looked up in the mount namespace of the caller.
    pub fn resolve(&self, pid: u32, address: u64) -> Option<Resolved> {
        let process = self.processes.get(&pid)?;
        if process.disputed.holds(address) {
            return None;
        }
        let module = &self.modules[process.numbers[process.cover.find(address)?]];
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

    /// What called, by the return address that is in the call stack: [`resolve`](Symbols::resolve)
    /// of the byte before it.
    ///
    /// That is the last byte of the call. The return address itself can be in another function:
    /// compilers put nothing behind a call that does not return, such as that of `abort`, and it
    /// may be the last of its function. Only where a signal came is the address no return address
    /// but that of the next instruction; if it is the first one of a function, or of the code that
    /// ends the handler, what stands before it is named.
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

/// What has the same names at the same addresses.
fn claimant(module: &Module) -> (u64, Option<&[u8]>, Option<&Path>) {
    let build_id = module.build_id.as_deref();
    let path = build_id.is_none().then_some(module.path.as_path());
    (module.base, build_id, path)
}
