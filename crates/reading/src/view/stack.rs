//! The call stack of an event as a list of functions.

use timeline::internal::symbols::demangled;
use timeline::{Event, Source, SourceLine};

/// A function of a call stack, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackEntry {
    /// The return address.
    pub address: u64,
    /// The function as its source has it.
    pub function: Option<String>,
    /// The bytes of the address from the beginning of the function.
    pub offset: Option<u64>,
    /// The file of the program or library.
    pub object: Option<String>,
    /// Where that file is mapped.
    pub base: Option<u64>,
    /// The line from which the call was made.
    pub source: Option<SourceLine>,
    /// Whether the compiler put it there into the function behind it, which has the same address.
    pub is_inlined: bool,
}

/// The call stack of an event, innermost first: the functions that were inlined at an address, and
/// then the function that it is in.
pub fn stack_entries(source: &dyn Source, event: &Event) -> Vec<StackEntry> {
    let mut all = Vec::new();
    for frame in timeline::dump::frames(source, event) {
        let address = frame.address;
        all.extend(frame.inlined.into_iter().map(|called| StackEntry {
            address,
            function: called.name.as_deref().map(demangled),
            offset: None,
            object: None,
            base: None,
            source: called.source,
            is_inlined: true,
        }));
        all.push(StackEntry {
            address,
            function: frame.name.as_deref().map(demangled),
            offset: frame.start.and_then(|start| address.checked_sub(start)),
            object: frame.file,
            base: frame.base,
            source: frame.source,
            is_inlined: false,
        });
    }
    all
}
