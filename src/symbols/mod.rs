//! Names addresses of call stacks, like dladdr, even if their process has ended.
//!
//! The names come from the files that were mapped (image.rs, elf_file.rs), and lines of the source
//! from their debug information (lines/, metered.rs), which may be in files of their own
//! (separate.rs) or compressed (sections.rs). Symbols may lie within each other (intervals.rs);
//! demangle.rs writes their names. An address has no name if two files were loaded there one after
//! the other (overlap.rs). The writers of a timeline say which files were mapped, so neither paths
//! nor contents are trusted: only regular files are opened, reading is bounded, and contradictions
//! give no name.
//!
//! **Why are the names of addresses looked up by readers?** Because a lookup reads files. The
//! program only says once which objects it has loaded, and where. The build id in it, or size, time
//! and inode of the file, tell readers when a file was replaced since, or when the path leads to
//! another one because the process has another root. Of a program the contents decide, as far as
//! they are known (programs.rs). A living process still has its own file (places.rs). The recorder
//! writes the names down, so reading an archive needs none of those files.

mod demangle;
mod elf_file;
mod image;
mod intervals;
mod lines;
mod metered;
mod overlap;
mod places;
mod programs;
mod sections;
mod separate;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

pub use self::demangle::demangled;
pub use self::programs::{FileContents, ProgramFiles};
pub use crate::event::{FileVersion, InlinedFunction, Module, SourceLine};

use self::image::Image;
use self::intervals::{AddressInterval, IntervalMap};
use self::overlap::Overlaps;
use self::places::places;

/// The most objects of all processes together.
const MAX_MODULES: usize = 1 << 20;
/// The most bytes read from all files together. The tables of a browser have about 100 MiB; up to
/// four times the bytes read are kept.
const MAX_READ: u64 = 512 << 20;
/// The most bytes of all files together that lines of the source are found by. Debug information of
/// a browser has more; it is left out then.
const MAX_LINES: u64 = 512 << 20;

/// The answer of dladdr for an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressInfo {
    /// The file that holds it: `dli_fname`, but absolute.
    pub file: PathBuf,
    /// Where that file is mapped: `dli_fbase`.
    pub base: u64,
    /// The symbol that holds it, as the file spells it: `dli_sname`. At most 16 KiB.
    pub name: Option<String>,
    /// Where that symbol begins: `dli_saddr`.
    pub start: Option<u64>,
    /// The line of that function, if the file, or one that was stripped off it, has debug
    /// information.
    pub source: Option<SourceLine>,
    /// The functions that the compiler put there into that one, innermost first.
    pub inlined: Vec<InlinedFunction>,
}

/// The most bytes of all files together that are hashed: twice what the largest program has.
const MAX_HASHED: u64 = 4 << 30;

/// How many bytes may still be read.
#[derive(Debug)]
struct ReadBudget {
    symbols: u64,
    digests: u64,
}

impl Default for ReadBudget {
    fn default() -> ReadBudget {
        ReadBudget {
            symbols: MAX_READ,
            digests: MAX_HASHED,
        }
    }
}

/// Names for the addresses of processes. Reads each file once, when it is first needed.
///
/// # Example
/// ```
/// use timeline::internal::symbols::{Module, Symbols};
/// let module = Module {
///     pid: 4711,
///     base: 0x4000_0000,
///     start: 0x4000_0000,
///     end: 0x4000_8000,
///     path: "/no/longer/there.so".into(),
///     build_id: None,
///     version: None,
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
    files: Vec<Opened>,
    /// The number of the file of each module.
    file_of: Vec<usize>,
    /// Further places of files.
    given: Vec<PathBuf>,
    left: Mutex<ReadBudget>,
    /// Bytes that may still be read for lines.
    left_for_lines: Mutex<u64>,
}

/// Which file it is, wherever it is found.
#[derive(Debug, PartialEq, Eq, Hash)]
struct File {
    path: PathBuf,
    build_id: Option<Vec<u8>>,
    version: Option<FileVersion>,
    /// What it holds, if that is known of it.
    known: Option<Vec<FileContents>>,
}

impl File {
    fn of(module: &Module, programs: &ProgramFiles) -> File {
        File {
            path: module.path.clone(),
            build_id: module.build_id.clone(),
            version: module.version,
            known: programs.contents(module),
        }
    }
}

/// A file that was opened when it was first needed.
#[derive(Debug)]
struct Opened {
    /// What it holds, if that is known of it.
    known: Option<Vec<FileContents>>,
    /// The last modules of it, as indices.
    modules: Vec<usize>,
    image: OnceLock<Option<Image>>,
}

/// In how many processes a file is looked for.
const MOST_TRIED: usize = 8;

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
    /// or the paths and versions if there are no build ids. Of more than 1,048,576 modules the last
    /// ones count.
    pub fn new(modules: impl IntoIterator<Item = Module>) -> Symbols {
        Symbols::of(modules, &ProgramFiles::default())
    }

    /// As [`new`](Symbols::new), but of these programs only files with the known contents are
    /// believed.
    pub fn of(modules: impl IntoIterator<Item = Module>, programs: &ProgramFiles) -> Symbols {
        let mut modules: Vec<Module> = modules.into_iter().collect();
        modules.drain(..modules.len().saturating_sub(MAX_MODULES));

        let mut by_process: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut numbers: HashMap<File, usize> = HashMap::new();
        let (mut files, mut file_of) = (Vec::<Opened>::new(), Vec::new());
        for (index, module) in modules.iter().enumerate() {
            by_process.entry(module.pid).or_default().push(index);
            let file = File::of(module, programs);
            let known = file.known.clone();
            let number = *numbers.entry(file).or_insert(files.len());
            if number == files.len() {
                files.push(Opened {
                    known,
                    modules: Vec::new(),
                    image: OnceLock::new(),
                });
            }
            let tried = &mut files[number].modules;
            if tried.len() == MOST_TRIED {
                tried.remove(0);
            }
            tried.push(index);
            file_of.push(number);
        }
        let process = |indices: Vec<usize>| {
            let held = || indices.iter().map(|index| &modules[*index]);
            let intervals = held().map(|module| AddressInterval {
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
            file_of,
            given: Vec::new(),
            left: Mutex::default(),
            left_for_lines: Mutex::new(MAX_LINES),
        }
    }

    /// Looks for the files of modules in these places as well, and only if they are elsewhere by
    /// now. Each is believed as if it stood where the module says.
    pub fn also_in(mut self, files: &[PathBuf]) -> Symbols {
        let absolute = files
            .iter()
            .filter_map(|file| std::path::absolute(file).ok());
        self.given = absolute.collect();
        self
    }

    /// Looks up `address` in the process `pid`, like dladdr, but also finds names that are not
    /// exported, unless the file was stripped of them. `None` if no object was loaded there, or
    /// several, one after the other.
    ///
    /// There is no name if the file cannot be opened, is not regular, or is not the one that the
    /// process had loaded, or if no symbol holds the address. It is that file if it has the build
    /// id of the module or, if the module has none, its version; of a program whose contents are
    /// known, if it has these and the build id, if there is one. The path is looked up in the mount
    /// namespace of the caller, then in that of the process, if it lives; at last, its own mapping
    /// of the file is opened, as far as the caller has the right to.
    pub fn resolve(&self, pid: u32, address: u64) -> Option<AddressInfo> {
        let process = self.processes.get(&pid)?;
        if process.overlaps.holds(address) {
            return None;
        }
        let index = process.indices[process.cover.find(address)?];
        let (module, image) = (&self.modules[index], self.image(index));
        let found = image.and_then(|image| image.find(module.base, address));
        let (name, start) = found.unzip();
        let located = image.map(|image| image.locate(module, address, &self.left_for_lines));
        let located = located.unwrap_or_default();
        Some(AddressInfo {
            file: module.path.clone(),
            base: module.base,
            name,
            start,
            source: located.source,
            inlined: located.inlined,
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
    pub fn caller(&self, pid: u32, return_address: u64) -> Option<AddressInfo> {
        self.resolve(pid, return_address.checked_sub(1)?)
    }

    /// The files that lines were looked for in, in vain, because their debug information is
    /// compressed with zstd. To expand that takes C code, which the library does not bring.
    pub fn compressed_with_zstd(&self) -> impl Iterator<Item = &Path> {
        let open = self.files.iter().filter_map(|file| file.image.get());
        open.flatten().filter_map(Image::compressed_with_zstd)
    }

    /// The file of a module.
    fn image(&self, index: usize) -> Option<&Image> {
        let (module, file) = (&self.modules[index], &self.files[self.file_of[index]]);
        let open = || {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            let tried = file.modules.iter().rev().map(|index| &self.modules[*index]);
            let mut paths = [module.path.clone()]
                .into_iter()
                .chain(self.given.iter().cloned())
                .chain(tried.flat_map(places));
            let known = file.known.as_deref();
            paths.find_map(|path| Image::open(&path, module, known, &mut left))
        };
        file.image.get_or_init(open).as_ref()
    }
}

/// Whether the file at a path is that of a module: it has its build id or, if the module has none,
/// its version; of one of these programs, if it has the known contents.
pub fn is_of(path: &Path, module: &Module, programs: &ProgramFiles) -> bool {
    Image::is_of(path, module, programs.contents(module).as_deref())
}

/// What claims addresses: the base, and the build id, or else the path and the version.
type Claimant<'a> = (
    u64,
    Option<&'a [u8]>,
    Option<(&'a Path, Option<FileVersion>)>,
);

/// Modules with the same key have the same names at the same addresses.
fn claimant(module: &Module) -> Claimant<'_> {
    let build_id = module.build_id.as_deref();
    let path = (module.path.as_path(), module.version);
    (module.base, build_id, build_id.is_none().then_some(path))
}
