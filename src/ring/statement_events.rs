//! What a statement knows: its event for each handle of the process and each priority.
//!
//! **Why a word and a tree, and no cache?** Whatever a statement has met once, it must find later
//! without a lock and without memory, because a signal handler may ask. So nothing that is still of
//! use gives way to something else. Almost every statement meets one handle and one priority, for
//! which the word is enough. All others are in a tree, whose places are the indices of handles and
//! the priorities: it never has more than 64 leaves, and a new handle takes the places of the
//! former one with its index. A look at it is four loads.

use super::handle::is_open;
use crate::event::{EventId, Priority};
use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// One of the eight values of a priority; 0 is none.
type Leaf = [AtomicU64; 8];
/// By the lower three bits of the index of a handle.
type Branch = [AtomicPtr<Leaf>; 8];
/// By its upper three bits.
type Root = [AtomicPtr<Branch>; 8];

/// The events of a statement. All zero at first; part of the C ABI.
///
/// A word has the number of the handle in 32 bits, the priority in 8, and the event in 24. After a
/// failure, the priority has one more bit.
#[repr(C)]
pub struct StatementEvents {
    /// The first one that was met, and whose handle is still open.
    first: AtomicU64,
    /// All others.
    others: AtomicPtr<Root>,
}

/// A handle of this process, and a priority.
#[derive(Clone, Copy)]
pub struct Pair {
    number: u32,
    index: usize,
    priority: Priority,
}

/// What is known of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Nothing: it was not met.
    Nothing,
    /// The event.
    Event(EventId),
    /// It could not be defined, and it is too early to try again, or of no use.
    Lost,
    /// It could not be defined, and it is time to try again.
    Again,
    /// The definition is wrong, and nothing is tried again.
    Refused,
}

/// Why an event is not defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionFailure {
    /// A lock was held, or the system refused: that may pass.
    Passing,
    /// A table is full, and stays so.
    Full,
    /// The definition is wrong, and stays so.
    Wrong,
}

/// Bits of the event, or of the number of runs since it could not be defined.
const LOWER: u64 = 0xff_ffff;
/// Set in the priority if the event could not be defined, and that may pass.
const FAILED: u64 = 0x80 << 24;
/// Set in it if there was no room for it.
const FULL: u64 = 0x40 << 24;
/// Set in it if the definition is wrong.
const REFUSED: u64 = 0x20 << 24;
/// One of so many runs after a failure tries again.
const RETRY: u64 = 1024;

impl Pair {
    pub(crate) fn new(number: u32, index: usize, priority: Priority) -> Pair {
        Pair {
            number,
            index,
            priority,
        }
    }

    /// The upper bits of its word, if its event is known.
    #[inline(always)]
    fn upper(self) -> u64 {
        u64::from(self.number) << 32 | (self.priority as u64) << 24
    }

    /// Whether a word says something of this pair.
    fn is_of(self, word: u64) -> bool {
        word & !(LOWER | FAILED | FULL | REFUSED) == self.upper()
    }
}

/// Whether a word has an event.
fn is_event(word: u64) -> bool {
    word & (FAILED | FULL | REFUSED) == 0
}

impl StatementEvents {
    /// Nothing.
    pub const fn new() -> StatementEvents {
        StatementEvents {
            first: AtomicU64::new(0),
            others: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The event, if it is that of the first pair.
    #[inline(always)]
    pub(crate) fn first(&self, number: u32, priority: Priority) -> Option<EventId> {
        let pair = Pair::new(number, 0, priority);
        // Relaxed: who reads what was published with the event reads the word once more.
        let found = self.first.load(Ordering::Relaxed) ^ pair.upper();
        (found <= LOWER).then_some(EventId(found as u32))
    }

    /// What is known of a pair; counts a run if the event could not be defined. Takes no lock and
    /// allocates nothing.
    pub(crate) fn look(&self, pair: Pair) -> Lookup {
        let Some(word) = self.word(pair) else {
            return Lookup::Nothing;
        };
        // Acquire, pairs with the Release in `put`: with the event, the types are there.
        let mut found = word.load(Ordering::Acquire);
        while pair.is_of(found) && found & FAILED != 0 {
            let runs = (found + 1) & LOWER;
            let next = found & !LOWER | runs;
            // Relaxed, and Acquire as above: the count guards nothing.
            match word.compare_exchange_weak(found, next, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) if runs.is_multiple_of(RETRY) => return Lookup::Again,
                Ok(_) => return Lookup::Lost,
                Err(now) => found = now,
            }
        }
        match pair.is_of(found) {
            true if is_event(found) => Lookup::Event(EventId((found & LOWER) as u32)),
            true if found & REFUSED != 0 => Lookup::Refused,
            true => Lookup::Lost,
            false => Lookup::Nothing,
        }
    }

    /// Whether the event of a pair is known.
    pub(crate) fn has(&self, pair: Pair) -> bool {
        // Relaxed: nothing is read that was published with the event.
        let found = self
            .word(pair)
            .map_or(0, |word| word.load(Ordering::Relaxed));
        pair.is_of(found) && is_event(found)
    }

    /// Remembers the event of a pair, or why there is none, unless another thread has defined it.
    /// May allocate.
    pub(crate) fn put(&self, pair: Pair, defined: Result<EventId, DefinitionFailure>) {
        let word = pair.upper()
            | match defined {
                Ok(event) => u64::from(event.0),
                Err(DefinitionFailure::Wrong) => REFUSED,
                Err(DefinitionFailure::Passing) => FAILED,
                Err(DefinitionFailure::Full) => FULL,
            };
        let may_replace = |former: u64| former == 0 || !is_open((former >> 32) as u32);
        if !replace(&self.first, pair, word, may_replace) {
            replace(self.grown(pair), pair, word, |_| true);
        }
    }

    /// The word that has what is known of a pair, if there is one.
    fn word(&self, pair: Pair) -> Option<&AtomicU64> {
        // Relaxed: the caller reads it once more.
        if pair.is_of(self.first.load(Ordering::Relaxed)) {
            return Some(&self.first);
        }
        let branch = child(&child(&self.others)?[pair.index / 8])?;
        let leaf = child(&branch[pair.index % 8])?;
        Some(&leaf[pair.priority as usize])
    }

    /// The same in the tree, which grows if it has no such word.
    fn grown(&self, pair: Pair) -> &AtomicU64 {
        let branch = made(&made(&self.others)[pair.index / 8]);
        let leaf = made(&branch[pair.index % 8]);
        &leaf[pair.priority as usize]
    }
}

impl Default for StatementEvents {
    fn default() -> StatementEvents {
        StatementEvents::new()
    }
}

/// Stores a word, unless the former one is of another pair and must stay, or is the event of this
/// one: false if it must stay.
fn replace(place: &AtomicU64, pair: Pair, word: u64, may_replace: impl Fn(u64) -> bool) -> bool {
    // Acquire, here and below, pairs with the Release below: see `look`.
    let mut former = place.load(Ordering::Acquire);
    loop {
        if pair.is_of(former) {
            if is_event(former) && former & LOWER != 0 {
                return true;
            }
        } else if !may_replace(former) {
            return false;
        }
        // Release, pairs with the Acquire in `look` and in timeline_known_ of the header: publishes
        // the types.
        match place.compare_exchange(former, word, Ordering::Release, Ordering::Acquire) {
            Ok(_) => return true,
            Err(now) => former = now,
        }
    }
}

/// A part of the tree, if it is there.
fn child<T>(place: &AtomicPtr<T>) -> Option<&T> {
    // Acquire, pairs with the Release in `made`: the part is whole.
    let part = place.load(Ordering::Acquire);
    // SAFETY: null, or from `made`, and never freed.
    unsafe { part.as_ref() }
}

/// A part of the tree, made if it is not there. No lock: a thread that was forked away in the
/// middle leaves nothing that another one would wait for.
fn made<T: Default>(place: &AtomicPtr<T>) -> &T {
    if let Some(part) = child(place) {
        return part;
    }
    let new = Box::into_raw(Box::<T>::default());
    let null = std::ptr::null_mut();
    // Release, pairs with the Acquire in `child`; Acquire likewise.
    match place.compare_exchange(null, new, Ordering::Release, Ordering::Acquire) {
        // SAFETY: just made, and from here on never freed.
        Ok(_) => unsafe { &*new },
        Err(other) => {
            // SAFETY: just made, and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
            // SAFETY: not null, and never freed.
            unsafe { &*other }
        }
    }
}
