//! The lane and chunk protocol: many writers, one ring, no locks, and readers that only read.
//!
//! # The idea
//!
//! The ring is an array of entries divided into chunks. A *lane* writes into one chunk at a time,
//! its current chunk, so two lanes never share a cache line of entries. A lane has one writer at a
//! time: the thread that owns it, or the thread that is in a restartable sequence on its CPU
//! (rseq/mod.rs). Its cursor, `ticket << 16 | count`, says where it writes next; **storing cursor +
//! 1 is the commit of an entry, and the only one**.
//!
//! Chunks are taken by ticket: `next_ticket` counts up, and ticket *t* is for chunk *t mod chunks*.
//! So the oldest chunk is taken next, except that the current chunk of a lane is passed over, and
//! so is one that was filled just now (`writer::is_spared`). Each chunk has a state word:
//! `open(ticket, lane)` while it is being filled, `closed(ticket, count)` after.
//!
//! # Refill, and why in this order
//!
//! 1. take a ticket;
//! 2. CAS the chunk's state from its former value to `open(ticket, lane)`: from here on, a reader
//!    that copied the old entries finds another ticket and discards its copy;
//! 3. store beside the state how many entries the lane committed before (`before`);
//! 4. close the lane's old chunk;
//! 5. install the new cursor, but only if the lane's cursor is still the full one.
//!
//! On the lane of a CPU, 2 to 5 are one restartable sequence: a thread that is interrupted in it
//! never continues it, and leaves the same state as a killed writer.
//!
//! A writer may be killed between any two steps. Before 4, the old chunk is open and the cursor
//! says that it is full: readable. Between 4 and 5 it is closed and full: readable. The fresh chunk
//! is open under a ticket that was never in the cursor: it counts as empty. A chunk can only have
//! entries once its ticket has been in the cursor. Because step 4 comes before step 5, a cursor
//! leaves a ticket only when its chunk is closed. So the reader's rule for an open chunk is: it has
//! as many entries as the cursor says if the cursor has the same ticket, and none otherwise. In the
//! other order, a writer killed between the two steps would leave a full chunk that looks empty.
//!
//! From step 4 on only the fresh chunk has the lane's count, because the old one may be taken. So
//! step 3 ends by storing the ticket that the count belongs to (`opened`).
//!
//! An abandoned fresh chunk stays open. It must not be taken while its owner could still install
//! it, which is possible only while the cursor is the old one. Cursors of a lane only rise. So *a
//! chunk open in a lane may be taken once that lane's cursor has passed its ticket*, and is passed
//! over until then. If killed writers hold so many chunks that none is left, the lane's next writer
//! continues in the abandoned one.
//!
//! # Reading
//!
//! Load the state, load the count, copy, acquire fence, load the state again. The copy is valid if
//! and only if both states have the same ticket: entries of a chunk are written once per ticket,
//! each before its commit, so only a new ticket can change committed entries.
//!
//! # Sequence numbers
//!
//! `before` gives every entry a number in its lane. A lane never loses its current chunk, so its
//! newest event can always be read, and a follower knows exactly how many entries it missed.
//!
//! The protocol is separate from its memory ([`Storage`]): shared memory in the product, loom's
//! atomics in its model (tests/loom.rs).
//!
//! # Files
//!
//! writer.rs and reader.rs are the two halves, over the trait [`Storage`]: memory.rs is shared
//! memory behind it, or a file that is read, and plain.rs is for tests. cut/ makes consistent cuts,
//! important.rs keeps events that nothing overwrites, and pending_event.rs is an event to be
//! logged. rseq/ is the hot path, and log/ what it cannot do.
//!
//! Who writes: local.rs has the states of a thread, handle.rs the handles of a process,
//! statement_events.rs what a statement knows of them. lanes.rs has the owners of lanes, threads.rs
//! and processes.rs are the tables, executables.rs what a process says of its own, roster.rs the
//! list of writers for people, system_names.rs the names that the kernel has for threads, and
//! life.rs tells whether a process is alive.
//!
//! **Why chunks and lanes, and not one ring with one counter?** A counter that every writer adds to
//! is one cache line that moves between all CPUs at each event. And an entry that is counted but
//! not written yet needs a second protocol to tell readers so. With a chunk of its own, a writer
//! touches only its own lines, commits with a plain store, and pays for sharing once per chunk. The
//! price: the ring does not hold exactly the newest events, because each lane keeps a chunk that
//! may be old. At most five eighths of the chunks are current.

pub mod important;
pub mod reader;
pub mod writer;

#[cfg(not(loom))]
pub mod cut;
#[cfg(not(loom))]
pub mod executables;
#[cfg(not(loom))]
pub mod handle;
#[cfg(not(loom))]
pub mod lanes;
#[cfg(not(loom))]
pub mod life;
#[cfg(not(loom))]
pub mod local;
#[cfg(not(loom))]
pub mod log;
#[cfg(not(loom))]
pub mod memory;
#[cfg(not(loom))]
pub mod pending_event;
#[cfg(all(test, not(loom)))]
pub mod plain;
#[cfg(not(loom))]
pub mod processes;
#[cfg(not(loom))]
pub mod roster;
#[cfg(not(loom))]
pub mod rseq;
#[cfg(not(loom))]
pub mod statement_events;
#[cfg(not(loom))]
pub mod system_names;
#[cfg(not(loom))]
pub mod threads;

use std::ops::Range;

use crate::layout::ENTRY_WORDS;
use crate::layout::words::Entry;
use crate::sync::{AtomicU64, Ordering, fence};

/// A word of a ring.
pub trait Word {
    /// The value now.
    fn load(&self, order: Ordering) -> u64;
    /// Stores a value.
    fn store(&self, value: u64, order: Ordering);
    /// Adds to it.
    fn fetch_add(&self, value: u64, order: Ordering) -> u64;
    /// Stores a value if the word has the expected one.
    fn compare_exchange(
        &self,
        expected: u64,
        value: u64,
        done: Ordering,
        failed: Ordering,
    ) -> Result<u64, u64>;
}

impl Word for &AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
    #[inline(always)]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        AtomicU64::fetch_add(self, value, order)
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        expected: u64,
        value: u64,
        done: Ordering,
        failed: Ordering,
    ) -> Result<u64, u64> {
        AtomicU64::compare_exchange(self, expected, value, done, failed)
    }
}

/// The words of a ring in any kind of memory.
///
/// Callers keep indices below the counts that the storage reports.
pub trait Storage {
    /// The order of the commit: the store of cursor + 1. It pairs with the reader's Acquire load of
    /// the cursor. Changed only to test that the model checker notices.
    const COMMIT: Ordering = Ordering::Release;

    /// A word, in shared memory or in a file that is read.
    type Word<'a>: Word
    where
        Self: 'a;

    /// Entries of a chunk, a power of two.
    fn chunk_entries(&self) -> u32;
    /// Chunks, a power of two.
    fn chunks(&self) -> u32;
    /// Lanes.
    fn lanes(&self) -> u32;
    /// The next ticket.
    fn next_ticket(&self) -> Self::Word<'_>;
    /// The cursor of a lane.
    fn cursor(&self, lane: u32) -> Self::Word<'_>;
    /// The state word of a chunk.
    fn state(&self, chunk: u32) -> Self::Word<'_>;
    /// How many entries the lane of this chunk committed before it.
    fn before(&self, chunk: u32) -> Self::Word<'_>;
    /// The lane that writes, or wrote, this chunk.
    fn chunk_lane(&self, chunk: u32) -> Self::Word<'_>;
    /// The ticket that the two words above belong to, stored after them.
    fn opened(&self, chunk: u32) -> Self::Word<'_>;
    /// Word `word` (below 8) of the entry at `index` of `chunk`.
    fn word(&self, chunk: u32, index: u32, word: usize) -> Self::Word<'_>;

    /// Appends entries of a chunk to `out`, with the present values of their words. Relaxed: a
    /// caller that needs an order has loaded a count with Acquire before.
    #[inline(always)]
    fn entries(&self, chunk: u32, range: Range<u32>, out: &mut Vec<Entry>) {
        for index in range {
            let mut words = [0; ENTRY_WORDS];
            for (i, word) in words.iter_mut().enumerate() {
                *word = self.word(chunk, index, i).load(Ordering::Relaxed);
            }
            out.push(Entry(words));
        }
    }

    /// The fence between taking a chunk and overwriting its entries. It pairs with the acquire
    /// fence of [`reader::copy`]: a reader of a word stored after this finds the new ticket in the
    /// state, and discards its copy. Overridden only to test that the model checker notices.
    #[inline(always)]
    fn fence_taken(&self) {
        fence(Ordering::Release);
    }

    /// Announces that the beginning of a chunk will be written soon. Does nothing by default.
    fn prefetch(&self, _chunk: u32) {}

    /// The chunk of a ticket.
    #[inline(always)]
    fn chunk_of(&self, ticket: u64) -> u32 {
        ticket as u32 & (self.chunks() - 1)
    }
}
