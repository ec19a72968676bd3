//! Call stacks: return addresses where an event is logged, and the objects that they lie in.
use crate::status::{Failure, RETRY, TIMELINE_OK, guard};
use crate::writer::{Writer, timeline_t};
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::iter;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use timeline_core::{Module, Timeline, without_cancellation};

/// Addresses of one event, at most.
const DEPTH: usize = 32;

// The level 2 interface of the Itanium C++ ABI, of libgcc or LLVM's libunwind; every Rust program has it.
unsafe extern "C" {
    fn _Unwind_Backtrace(
        trace: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, before: *mut c_int) -> usize;
}

const GO_ON: c_int = 0;
const STOP: c_int = 5;

struct Stack {
    /// Where it begins; what is further in belongs to this library. 0: at once.
    from: u64,
    begun: bool,
    most: usize,
    count: usize,
    addresses: [u64; DEPTH],
    /// Whether it was followed to its end, and not just to a function that nothing is known of.
    is_whole: bool,
    /// Whether a signal interrupted one of the frames: so this is its handler.
    in_handler: bool,
}

extern "C" fn frame(context: *mut c_void, stack: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: `capture` gave its own Stack, and the unwinder a context for this call.
    let (stack, ip) = unsafe {
        (
            &mut *stack.cast::<Stack>(),
            _Unwind_GetIPInfo(context, &raw mut before) as u64,
        )
    };
    stack.in_handler |= before != 0;
    stack.begun |= ip == stack.from;
    // The outermost frame of a thread returns nowhere.
    stack.is_whole = ip == 0;
    if stack.begun && ip != 0 {
        let Some(address) = stack.addresses[..stack.most].get_mut(stack.count) else {
            return STOP;
        };
        // Of an interrupted frame this is not where a call returns to, but what was to be done next. Readers look
        // at the byte before a return address.
        *address = ip + u64::from(before != 0);
        stack.count += 1;
    }
    GO_ON
}

/// The stack from `from` outwards. Where the frames up to there are not described (compiled without
/// unwind tables), just `from`.
fn capture(from: u64, most: usize) -> Stack {
    let mut stack = Stack {
        from,
        begun: from == 0,
        most: most.min(DEPTH),
        count: 0,
        addresses: [0; DEPTH],
        is_whole: false,
        in_handler: false,
    };
    // SAFETY: `frame` takes what is given here.
    unsafe { _Unwind_Backtrace(frame, (&raw mut stack).cast()) };
    if stack.count == 0 && stack.most > 0 {
        stack.addresses[0] = from;
        stack.count = 1;
    }
    stack
}

extern "C" fn look_for_signal(context: *mut c_void, found: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: `in_handler` gave a truth value of its own, and the unwinder a context for this call.
    unsafe {
        _Unwind_GetIPInfo(context, &raw mut before);
        if before != 0 {
            *found.cast::<bool>() = true;
            return STOP;
        }
    }
    GO_ON
}

/// Whether a signal handler runs, as far as the stack can be read.
pub(crate) fn in_handler() -> bool {
    let mut found = false;
    // SAFETY: `look_for_signal` takes what is given here.
    unsafe { _Unwind_Backtrace(look_for_signal, (&raw mut found).cast()) };
    found
}

/// What a timeline was told of the objects that this process has loaded.
///
/// Read without locks, also by signal handlers: nothing goes before the timeline is freed. It grows by some
/// bytes for each place to which an object was loaded, and where one went, the next usually comes to the same.
#[derive(Default)]
pub(crate) struct Modules {
    newest: AtomicPtr<Known>,
    /// Calls since the timeline could not be told just then, that one included; 0: it could.
    waiting: AtomicU32,
}

/// What was told at one time.
struct Known {
    pid: u32,
    /// How many objects had ever been loaded by then, or later, when nothing was in a new place.
    loads: AtomicU64,
    /// Places that were not told of before.
    places: Box<[Range<u64>]>,
    before: *mut Known,
}

impl Modules {
    /// All that this process, not one that forked it, has told, the newest first. Its id costs a call of the kernel.
    fn known(&self, pid: u32) -> impl Iterator<Item = &Known> {
        // Acquire (pairs with the Release in `update`).
        let mut next = self.newest.load(Ordering::Acquire);
        let all = iter::from_fn(move || {
            // SAFETY: NULL or from Box::into_raw, freed with `self`.
            let known = unsafe { next.as_ref() }?;
            next = known.before;
            Some(known)
        });
        all.take_while(move |known| known.pid == pid)
    }

    /// Whether the timeline was told of objects in the places of all addresses.
    fn have(&self, addresses: &[u64]) -> bool {
        let pid = std::process::id();
        addresses.iter().all(|at| {
            self.known(pid)
                .any(|known| known.places.iter().any(|place| place.contains(at)))
        })
    }

    /// Whether objects have been loaded since the timeline was told: perhaps to where another one was. Takes the loader's
    /// lock for some steps.
    fn is_old(&self) -> bool {
        // Relaxed: a number that is compared, and stands for nothing else.
        self.known(std::process::id())
            .next()
            .is_none_or(|known| known.loads.load(Ordering::Relaxed) != loads())
    }

    /// Whether to try: if the timeline could not be told just then, only with one call in 1,024.
    fn may_try(&self) -> bool {
        // Relaxed: a number that is counted, and guards nothing.
        match self.waiting.load(Ordering::Relaxed) {
            0 => true,
            _ => self
                .waiting
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(RETRY),
        }
    }

    /// Tells the timeline of what was loaded since the last time. Takes locks and allocates.
    ///
    /// A module for which the string table has no room is left out: its addresses will have no names. If the timeline
    /// cannot be told just then, it is told later.
    pub(crate) fn update(&self, core: &Timeline) {
        // The first walk over a stack may load and sort tables: not when an event is logged.
        in_handler();
        let newest = self.newest.load(Ordering::Acquire);
        let (pid, loads) = (std::process::id(), loads());
        let known = self.known(pid).next();
        if known.is_some_and(|known| known.loads.load(Ordering::Relaxed) == loads) {
            return;
        }
        if !self.may_try() {
            return;
        }
        let modules = modules(pid);
        let failure = modules.iter().find_map(|m| core.define_module(m).err());
        if failure.is_some_and(|error| Failure::from(error).may_pass()) {
            let order = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.waiting.compare_exchange(0, 1, order.0, order.1);
            return;
        }
        self.waiting.store(0, Ordering::Relaxed);
        let is_new =
            |place: &Range<u64>| !self.known(pid).any(|known| known.places.contains(place));
        let places = modules.iter().map(|module| module.start..module.end);
        let places: Box<[Range<u64>]> = places.filter(is_new).collect();
        if let Some(known) = known.filter(|_| places.is_empty()) {
            known.loads.store(loads, Ordering::Relaxed);
            return;
        }
        let fresh = Box::into_raw(Box::new(Known {
            pid,
            loads: loads.into(),
            places,
            before: newest,
        }));
        // Release: publishes what it points to. Whoever was quicker has told the same, or will be asked again.
        let order = (Ordering::Release, Ordering::Relaxed);
        if self
            .newest
            .compare_exchange(newest, fresh, order.0, order.1)
            .is_err()
        {
            // SAFETY: made above, and given to nobody.
            drop(unsafe { Box::from_raw(fresh) });
        }
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: from Box::into_raw in `update`, and nobody reads it any more.
            next = unsafe { Box::from_raw(next) }.before;
        }
    }
}

/// How many objects have ever been loaded into this process.
fn loads() -> u64 {
    extern "C" fn first(info: *mut libc::dl_phdr_info, size: usize, loads: *mut c_void) -> c_int {
        if size > std::mem::offset_of!(libc::dl_phdr_info, dlpi_adds) {
            // SAFETY: the loader gives what it says; `loads` is that of the function around.
            unsafe { *loads.cast::<u64>() = (*info).dlpi_adds };
        }
        1
    }
    let mut loads = 0u64;
    // SAFETY: `first` takes what is given here.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loads).cast()) };
    loads
}

/// The program and the libraries it has loaded.
fn modules(pid: u32) -> Vec<Module> {
    extern "C" fn next(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader gives what it says; `found` is that of the function around.
        let (info, (pid, modules)) = unsafe { (&*info, &mut *found.cast::<(u32, Vec<Module>)>()) };
        // SAFETY: the loader's own tables, which stay while it calls this.
        if let Some(module) = unsafe { module(info, *pid, modules.is_empty()) } {
            modules.push(module);
        }
        0
    }
    let mut found = (pid, Vec::new());
    // SAFETY: `next` takes what is given here.
    unsafe { libc::dl_iterate_phdr(Some(next), (&raw mut found).cast()) };
    found.1
}

/// # Safety
/// `info` is what the loader gave, and this is called while it holds its lock.
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
    Some(Module {
        pid,
        // Segments begin on pages, and the first bytes of the file with the first of them.
        base: start & !0xfff,
        start,
        end,
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

/// The build id among notes: each three numbers of 32 bits (length of the name, of the content, type),
/// the name, the content, both filled up to `align`.
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

/// Writes down where the calls that are under way will return to, for `timeline_log_payload`. What
/// `TIMELINE_BACKTRACE` calls.
///
/// `from`: the address at which the stack begins; what is called from there is left out. `payload` and
/// `size`: where to, and how many bytes there are: 3, and 9 for each address, of which there are at most
/// 32. Returns how many bytes were written.
///
/// In a signal handler it takes no lock and allocates nothing where the unwinder does not: libgcc 12 or later
/// with glibc 2.35 or later. Elsewhere it takes the loader's lock, and a handler that interrupted dlopen in
/// its own thread may wait for ever. Outside of handlers, on a stack of at most 32 frames, it asks the loader
/// whether it has loaded anything, under a lock that is held for some steps. When it has, in a forked child,
/// and when a stack leads through an object that the timeline does not know, the timeline is told of all
/// objects, which takes locks and allocates (a child that was forked while another thread was in dlopen may
/// wait for ever); a handler leaves this to the next event. One that was built without unwind tables is taken
/// for a handler only if its object is known already: define the statement before, outside of it. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `payload` has
/// `size` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_backtrace(
    tl: *mut timeline_t,
    from: *const c_void,
    payload: *mut c_void,
    size: usize,
) -> usize {
    // SAFETY: the contract of this function.
    without_cancellation(|| unsafe { write(tl, from, payload, size) })
}

/// # Safety
/// As [`timeline_backtrace`].
unsafe fn write(
    tl: *mut timeline_t,
    from: *const c_void,
    payload: *mut c_void,
    size: usize,
) -> usize {
    let Some(room) = size.checked_sub(3).filter(|_| !payload.is_null()) else {
        return 0;
    };
    let stack = capture(from.addr() as u64, room / 9);
    let addresses = &stack.addresses[..stack.count];
    // SAFETY: by contract NULL or the first member of a live Writer.
    if let Some(writer) = unsafe { tl.cast::<Writer>().as_ref() }
        && !stack.in_handler
        && match writer.modules.have(addresses) {
            // Only where this is no handler for sure.
            true => stack.is_whole && writer.modules.is_old(),
            false => !in_handler(),
        }
    {
        guard(|| {
            writer.modules.update(&writer.core);
            Ok(TIMELINE_OK)
        });
    }
    let mut at: *mut u8 = payload.cast();
    let mut put = |bytes: &[u8]| {
        // SAFETY: three bytes and nine for each of at most `room / 9` addresses, writable by contract.
        unsafe {
            at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            at = at.add(bytes.len());
        }
    };
    put(&[0xdc, 0, stack.count as u8]);
    for address in addresses {
        put(&[0xcf]);
        put(&address.to_be_bytes());
    }
    3 + 9 * stack.count
}
