//! Call stacks as the unwinder gives them: return addresses, and whether a signal handler runs.
use crate::tables::leads_on;
use std::ffi::{c_int, c_void};

/// The most addresses of one event.
const DEPTH: usize = 32;

// The level 2 interface of the Itanium C++ ABI, of libgcc or LLVM's libunwind; every Rust program
// has it.
unsafe extern "C" {
    fn _Unwind_Backtrace(
        trace: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, before: *mut c_int) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

const GO_ON: c_int = 0;
const STOP: c_int = 5;

pub(crate) struct Stack<'a> {
    /// Whether an address belongs to an object: the tables of compilers lead on.
    in_object: &'a dyn Fn(u64) -> bool,
    /// The address where it begins; frames further in belong to this library. 0: the first frame.
    from: u64,
    begun: bool,
    most: usize,
    pub(crate) count: usize,
    pub(crate) addresses: [u64; DEPTH],
    /// Whether the walk reached the outermost frame, and not just a function without unwind tables,
    /// or with such that do not lead on.
    pub(crate) is_whole: bool,
    /// Whether a signal interrupted one of the frames: then its handler runs.
    pub(crate) in_handler: bool,
}

extern "C" fn frame(context: *mut c_void, stack: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: `capture` gave its own Stack, and the unwinder a context for this call.
    let (stack, ip) = unsafe {
        (
            &mut *stack.cast::<Stack<'_>>(),
            _Unwind_GetIPInfo(context, &raw mut before) as u64,
        )
    };
    stack.in_handler |= before != 0;
    stack.begun |= ip == stack.from;
    // The outermost frame of a thread returns nowhere.
    stack.is_whole = ip == 0 && before == 0;
    if ip == 0 && before != 0 {
        // SAFETY: the unwinder gave the context for this call.
        stack.push_caller_of_nothing(unsafe { _Unwind_GetCFA(context) });
    }
    if stack.begun && ip != 0 {
        let Some(address) = stack.addresses[..stack.most].get_mut(stack.count) else {
            return STOP;
        };
        // In an interrupted frame this is the next instruction, not a return address. Readers look
        // at the byte before a return address.
        *address = ip + u64::from(before != 0);
        stack.count += 1;
    }
    match (stack.in_object)(ip) {
        true => GO_ON,
        false => after(before, ip as usize),
    }
}

impl Stack<'_> {
    /// Adds the function that called through a null pointer, which a signal interrupted at its
    /// first instruction. The unwinder takes the address 0 for the end of the stack. The call has
    /// put its return address at `top`; after a jump, another word stands there.
    fn push_caller_of_nothing(&mut self, top: usize) {
        let place = std::ptr::with_exposed_provenance::<u64>(top);
        if !self.begun || !place.is_aligned() || place.is_null() {
            return;
        }
        // SAFETY: the top of the stack of a frame that was interrupted, which the handler returns
        // to: the kernel has it mapped.
        let address = unsafe { place.read_volatile() };
        let place = self.addresses[..self.most].get_mut(self.count);
        if let Some(place) = place.filter(|_| (self.in_object)(address)) {
            *place = address;
            self.count += 1;
        }
    }
}

/// Whether a walk goes on after a frame with this address, which is that of an instruction that was
/// interrupted (`before`), or behind a call.
fn after(before: c_int, ip: usize) -> c_int {
    match ip == 0 || leads_on(ip - usize::from(before == 0)) {
        true => GO_ON,
        false => STOP,
    }
}

/// The stack from `from` outwards; only `from` if the frames up to it have no unwind tables.
pub(crate) fn capture(from: u64, most: usize, in_object: &dyn Fn(u64) -> bool) -> Stack<'_> {
    let mut stack = Stack {
        in_object,
        from,
        begun: from == 0,
        most: most.min(DEPTH),
        count: 0,
        addresses: [0; DEPTH],
        is_whole: false,
        in_handler: false,
    };
    // SAFETY: `frame` expects the address of a Stack.
    unsafe { _Unwind_Backtrace(frame, (&raw mut stack).cast()) };
    if stack.count == 0 && stack.most > 0 {
        stack.addresses[0] = from;
        stack.count = 1;
    }
    stack
}

/// Whether a signal handler runs, by a walk over the whole stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handler {
    /// One runs.
    Runs,
    /// None runs: the walk reached the outermost frame.
    None,
    /// One may run: the walk ended early, at a function without unwind tables, or with such that do
    /// not lead on.
    Unknown,
}

extern "C" fn look_for_signal(context: *mut c_void, found: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: `look_for_handler` gave a Handler of its own, and the unwinder a context for this
    // call.
    let (found, ip) = unsafe {
        let found = &mut *found.cast::<Handler>();
        (found, _Unwind_GetIPInfo(context, &raw mut before))
    };
    *found = match (before, ip) {
        // The outermost frame of a thread returns nowhere.
        (0, 0) => Handler::None,
        (0, _) => Handler::Unknown,
        _ => Handler::Runs,
    };
    match found {
        Handler::Runs => STOP,
        _ => after(before, ip),
    }
}

/// Walks over the stack to see whether a signal handler runs.
pub(crate) fn look_for_handler() -> Handler {
    let mut found = Handler::Unknown;
    // SAFETY: `look_for_signal` expects the address of a Handler.
    unsafe { _Unwind_Backtrace(look_for_signal, (&raw mut found).cast()) };
    found
}
