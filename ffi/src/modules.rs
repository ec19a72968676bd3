//! Tells a timeline which objects the process has loaded, for the names of addresses.
use crate::error::{CallFailure, RETRY};
use crate::stack::{Handler, Stack, look_for_handler};
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::iter;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use timeline_core::{FileVersion, Module, Timeline};

/// The loaded objects that a timeline was told of.
///
/// Read without locks, also by signal handlers: nothing is freed before the timeline is. It grows
/// by some bytes for each place at which an object was loaded; after one is unloaded, the next
/// usually gets the same place.
#[derive(Default)]
pub(crate) struct Modules {
    newest: AtomicPtr<ModuleTable>,
    /// After a failed update: in the lower 32 bits the calls since, that one included, and above
    /// them the process. 0: the last update succeeded.
    waiting: AtomicU64,
}

/// Whether it is time to tell the timeline of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The last update of this process did not fail.
    Free,
    /// It failed, and enough calls have passed to try again.
    Again,
    /// It failed, and it is too early to try again.
    TooEarly,
}

/// The objects of one update.
struct ModuleTable {
    pid: u32,
    /// How many objects had ever been loaded then, or at a later update that found no new place.
    loads: AtomicU64,
    /// The places that no earlier update told of.
    places: Box<[Range<u64>]>,
    before: *mut ModuleTable,
}

impl Modules {
    /// The updates of the process `pid`, not of those that forked it, the newest first. The caller
    /// gives its pid, because getpid is a system call.
    fn known(&self, pid: u32) -> impl Iterator<Item = &ModuleTable> {
        self.all().take_while(move |known| known.pid == pid)
    }

    /// All updates, the newest first.
    fn all(&self) -> impl Iterator<Item = &ModuleTable> {
        // Acquire (pairs with the Release in `update`).
        let mut next = self.newest.load(Ordering::Acquire);
        iter::from_fn(move || {
            // SAFETY: NULL or from Box::into_raw, freed with `self`.
            let known = unsafe { next.as_ref() }?;
            next = known.before;
            Some(known)
        })
    }

    /// Whether the timeline was told of objects in the places of all addresses.
    fn have(&self, addresses: &[u64]) -> bool {
        let pid = std::process::id();
        addresses.iter().all(|at| {
            self.known(pid)
                .any(|known| known.places.iter().any(|place| place.contains(at)))
        })
    }

    /// Whether the timeline was ever told of an object in the place of this address.
    pub(crate) fn had(&self, address: u64) -> bool {
        let mut all = self.all();
        all.any(|known| known.places.iter().any(|place| place.contains(&address)))
    }

    /// Whether objects have been loaded since the timeline was told, perhaps in the place of
    /// another. Takes the loader's lock for some steps.
    fn is_old(&self) -> bool {
        // Relaxed: a number that is only compared, and publishes nothing.
        self.known(std::process::id())
            .next()
            .is_none_or(|known| known.loads.load(Ordering::Relaxed) != loads())
    }

    /// Counts a call after a failed update: one in 1,024 tries again.
    pub(crate) fn turn(&self) -> Turn {
        // Relaxed: a counter, which publishes nothing.
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting >> 32 != u64::from(std::process::id()) {
            return Turn::Free;
        }
        let calls = self.waiting.fetch_add(1, Ordering::Relaxed) as u32;
        match calls.is_multiple_of(RETRY) {
            true => Turn::Again,
            false => Turn::TooEarly,
        }
    }

    /// Whether to tell the timeline before an event with this stack is logged.
    ///
    /// A handler that is not recognised may have interrupted malloc. Its author relies on the
    /// objects being known already; after a failure, only a caller that is certainly no handler
    /// tries again.
    pub(crate) fn are_due(&self, stack: &Stack) -> bool {
        if stack.in_handler {
            return false;
        }
        let known = self.have(&stack.addresses[..stack.count]);
        if known && !stack.is_whole {
            return false;
        }
        match (self.turn(), known) {
            (Turn::TooEarly, _) => false,
            (_, true) => self.is_old(),
            (Turn::Free, false) => look_for_handler() != Handler::Runs,
            (Turn::Again, false) => look_for_handler() == Handler::None,
        }
    }

    /// Tells the timeline of objects loaded since the last time. Takes locks and allocates.
    ///
    /// A module for which the string table has no room is left out: its addresses will have no
    /// names. If the timeline cannot be told now, a later call tries again.
    pub(crate) fn update(&self, core: &Timeline) {
        // The first walk over a stack may load and sort tables: do that here, not in a log call.
        look_for_handler();
        // Acquire, pairs with the Release below, as in `all`. What else is loaded and stored here
        // is Relaxed: numbers that are only compared.
        let newest = self.newest.load(Ordering::Acquire);
        let (pid, loads) = (std::process::id(), loads());
        let known = self.known(pid).next();
        if known.is_some_and(|known| known.loads.load(Ordering::Relaxed) == loads) {
            return;
        }
        let modules = modules(pid);
        let failure = modules.iter().find_map(|m| core.define_module(m).err());
        if failure.is_some_and(|error| CallFailure::from(error).may_pass()) {
            self.waiting
                .store(u64::from(pid) << 32 | 1, Ordering::Relaxed);
            return;
        }
        self.waiting.store(0, Ordering::Relaxed);
        let is_new =
            |place: &Range<u64>| !self.known(pid).any(|known| known.places.contains(place));
        let places = modules.iter().map(|module| module.start..module.end);
        let places: Box<[Range<u64>]> = places.filter(is_new).collect();
        if let Some(known) = known.filter(|_| places.is_empty()) {
            // Relaxed: see above.
            known.loads.store(loads, Ordering::Relaxed);
            return;
        }
        let fresh = Box::into_raw(Box::new(ModuleTable {
            pid,
            loads: loads.into(),
            places,
            before: newest,
        }));
        // Release (pairs with the Acquire in `known`): publishes `fresh`. A thread that was quicker
        // told the same objects, or a later call updates again.
        let order = (Ordering::Release, Ordering::Relaxed);
        if self
            .newest
            .compare_exchange(newest, fresh, order.0, order.1)
            .is_err()
        {
            // SAFETY: made above, and given to no other thread.
            drop(unsafe { Box::from_raw(fresh) });
        }
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: from Box::into_raw in `update`; `&mut self` excludes readers.
            next = unsafe { Box::from_raw(next) }.before;
        }
    }
}

/// How many objects have ever been loaded into this process.
fn loads() -> u64 {
    extern "C" fn first(info: *mut libc::dl_phdr_info, size: usize, loads: *mut c_void) -> c_int {
        if size > std::mem::offset_of!(libc::dl_phdr_info, dlpi_adds) {
            // SAFETY: the loader gives `size` bytes; `loads` is the variable of the enclosing
            // function.
            unsafe { *loads.cast::<u64>() = (*info).dlpi_adds };
        }
        1
    }
    let mut loads = 0u64;
    // SAFETY: `first` expects the address of a u64.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loads).cast()) };
    loads
}

/// The program and the libraries it has loaded.
fn modules(pid: u32) -> Vec<Module> {
    extern "C" fn next(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader gives a valid `info`; `found` is the variable of the enclosing
        // function.
        let (info, (pid, modules)) = unsafe { (&*info, &mut *found.cast::<(u32, Vec<Module>)>()) };
        // SAFETY: the loader's own tables, which stay while it calls this.
        if let Some(module) = unsafe { module(info, *pid, modules.is_empty()) } {
            modules.push(module);
        }
        0
    }
    let mut found = (pid, Vec::new());
    // SAFETY: `next` expects the address of `found`.
    unsafe { libc::dl_iterate_phdr(Some(next), (&raw mut found).cast()) };
    found.1
}

/// # Safety
/// `info` came from the loader, which holds its lock during the call.
unsafe fn module(info: &libc::dl_phdr_info, pid: u32, is_program: bool) -> Option<Module> {
    let headers = match info.dlpi_phdr.is_null() {
        true => &[],
        // SAFETY: by contract.
        false => unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) },
    };
    let place = |header: &libc::Elf64_Phdr| {
        let start = info.dlpi_addr.wrapping_add(header.p_vaddr);
        start..start.wrapping_add(header.p_memsz)
    };
    let loaded = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
    let start = loaded().map(|h| place(h).start).min()?;
    let end = loaded().map(|h| place(h).end).max()?;
    let path = match is_program {
        true => std::env::current_exe().ok()?,
        // SAFETY: by contract.
        false => file(unsafe { CStr::from_ptr(info.dlpi_name) })?,
    };
    let notes = headers.iter().filter(|note| {
        let note_at = place(note);
        let holds = |h: &libc::Elf64_Phdr| {
            let at = place(h);
            h.p_flags & libc::PF_R != 0 && at.start <= note_at.start && note_at.end <= at.end
        };
        note.p_type == libc::PT_NOTE && loaded().any(holds)
    });
    let build_id = notes.into_iter().find_map(|note| {
        let at = place(note);
        let length = (at.end - at.start) as usize;
        // SAFETY: inside of a segment that is loaded and readable.
        let bytes = unsafe {
            std::slice::from_raw_parts(ptr::with_exposed_provenance(at.start as usize), length)
        };
        build_id(bytes, if note.p_align == 8 { 8 } else { 4 })
    });
    // The program's own link leads to its file, whatever has its name by now.
    let own = is_program.then_some(Path::new("/proc/self/exe"));
    let version = || FileVersion::of_mapped(own.unwrap_or(&path), start);
    Some(Module {
        pid,
        // The file begins with the page in which its first segment begins.
        base: start & !0xfff,
        start,
        end,
        version: build_id.is_none().then(version).flatten(),
        path,
        build_id,
    })
}

/// The path of a library, absolute; the vDSO's has no folder.
fn file(name: &CStr) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    match name.to_bytes().contains(&b'/') {
        true => std::path::absolute(path).ok(),
        false => (!name.is_empty()).then(|| path.to_owned()),
    }
}

/// The build id among ELF notes. A note has three numbers of 32 bits (length of the name, of the
/// content, type), the name and the content, both padded to `align`.
fn build_id(mut notes: &[u8], align: usize) -> Option<Vec<u8>> {
    const NT_GNU_BUILD_ID: u32 = 3;
    while let Some((head, rest)) = notes.split_first_chunk::<12>() {
        let number =
            |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name, content) = (number(0) as usize, number(4) as usize);
        let filled = |length: usize| length.next_multiple_of(align);
        let (name, rest) = (rest.get(..name)?, rest.get(filled(name)..)?);
        let found = rest.get(..content)?;
        if number(8) == NT_GNU_BUILD_ID && name == b"GNU\0" {
            return Some(found.to_vec());
        }
        notes = rest.get(filled(content)..).unwrap_or_default();
    }
    None
}
