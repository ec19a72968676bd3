//! The packed 64-bit words of the lane protocol: lane cursor, chunk state, lane owner, entry heads.
//!
//! ```text
//! cursor        63            16 15        0
//!               | ticket       | count     |
//! state         63            16 15 14     0
//!               | ticket       | o| lane   |   o = 1: open, written by `lane`
//!               | ticket       | 0| count  |   o = 0: closed with `count` entries
//! owner         63            32 31        0
//!               | process      | thread    |   identities; 0 = nobody
//! entry word 1  63    56 55 48 47   32 31  0
//!               | flags | slots| core | event |
//! entry word 2  63            32 31        0
//!               | tid          | thread    |
//! ```
//! Ticket 0 is never handed out, so a word of 0 means: never used.

/// Bits of the count (or lane) below the ticket.
pub const TICKET_SHIFT: u32 = 16;
/// The last ticket. The next one would begin again at 0, and be taken for older than all that are
/// in use.
pub const LAST_TICKET: u64 = u64::MAX >> TICKET_SHIFT;
const LOW: u64 = (1 << TICKET_SHIFT) - 1;
const OPEN: u64 = 1 << 15;
/// Most entries in a chunk, and most lanes in a ring: both stand in 15 bits.
pub const MAX_COUNT: u32 = (1 << 15) - 1;

/// The number that stands for the region of important events where a lane stands otherwise. No lane
/// has it.
pub const IMPORTANT_LANE: u32 = MAX_COUNT + 1;

/// Where a lane writes next: the `count`th entry of the chunk that `ticket` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub u64);

impl Cursor {
    /// The cursor at entry `count` of the chunk taken with `ticket`.
    #[inline(always)]
    pub const fn new(ticket: u64, count: u32) -> Cursor {
        Cursor(ticket << TICKET_SHIFT | count as u64)
    }

    /// The ticket; 0 before the lane's first chunk.
    #[inline(always)]
    pub const fn ticket(self) -> u64 {
        self.0 >> TICKET_SHIFT
    }

    /// Entries committed in that chunk.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        (self.0 & LOW) as u32
    }
}

/// What a chunk is, and for which ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkState(pub u64);

impl ChunkState {
    /// The chunk is the current one of `lane`; its count is in the lane's cursor.
    pub const fn open(ticket: u64, lane: u32) -> ChunkState {
        ChunkState(ticket << TICKET_SHIFT | OPEN | lane as u64)
    }

    /// The chunk is finished, and holds `count` entries.
    pub const fn closed(ticket: u64, count: u32) -> ChunkState {
        ChunkState(ticket << TICKET_SHIFT | count as u64)
    }

    /// The ticket; 0 when the chunk was never taken.
    pub const fn ticket(self) -> u64 {
        self.0 >> TICKET_SHIFT
    }

    /// The lane that writes into it, if it is open.
    pub const fn lane(self) -> Option<u32> {
        if self.0 & OPEN != 0 {
            Some((self.0 & (OPEN - 1)) as u32)
        } else {
            None
        }
    }

    /// The count of a closed chunk (meaningless for an open one).
    pub const fn count(self) -> u32 {
        (self.0 & (OPEN - 1)) as u32
    }
}

/// Word 1 of the entry of an event that takes one entry.
#[inline(always)]
pub const fn entry_head(event: u32, core: u16) -> u64 {
    long_entry_head(event, core, 1, 0)
}

/// Word 1 of the first entry of an event of several entries. In the other entries, event and slots
/// are 0, and the position stands in place of the flags.
#[inline(always)]
pub const fn long_entry_head(event: u32, core: u16, slots: u8, flags: u8) -> u64 {
    event as u64 | (core as u64) << 32 | (slots as u64) << 48 | (flags as u64) << 56
}

/// The bits of the CPU in word 1 of an entry.
pub const CORE_BITS: u64 = (u16::MAX as u64) << 32;

/// In the flags of an entry: its payload begins with return addresses.
pub const FLAG_BACKTRACE: u8 = 1;
/// In the flags of an entry: it has a payload, where others have arguments.
pub const FLAG_PAYLOAD: u8 = 2;
/// In the flags of an entry with a payload: behind the return addresses, a word says which of the
/// words after it are interned texts.
pub const FLAG_INTERNED: u8 = 4;
/// From this bit on of the flags of an entry with a payload: how many words of it are in the last
/// entry of the event.
pub const LAST_WORDS_SHIFT: u32 = 4;
/// Bit of the word of a text: its bytes stand in the string table, or with a reader elsewhere in
/// the payload.
pub const INTERNED: u64 = 1 << 61;
/// Words before the payload, in the first entry of an event and in the others.
pub const PAYLOAD_AT: [usize; 2] = [3, 2];

/// Word 2 of an entry, and the low part of a lane's owner.
#[inline(always)]
pub const fn entry_thread(thread: u32, tid: u32) -> u64 {
    thread as u64 | (tid as u64) << 32
}

/// An entry as read: eight words, in memory order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry(pub [u64; 8]);

impl Entry {
    /// Ticks of the clock; 0 when never written.
    pub const fn ticks(&self) -> u64 {
        self.0[0]
    }
    /// Of the last entry of its event, how many words the payload leaves unused.
    pub const fn unused_words(&self) -> usize {
        let used = (self.flags() >> LAST_WORDS_SHIFT & 7) as usize;
        let at = match self.slots() {
            0 | 1 => PAYLOAD_AT[0],
            _ => PAYLOAD_AT[1],
        };
        (8 - at).saturating_sub(used)
    }
    /// Event id.
    pub const fn event(&self) -> u32 {
        self.0[1] as u32
    }
    /// CPU number.
    pub const fn core(&self) -> u16 {
        (self.0[1] >> 32) as u16
    }
    /// How many entries the event takes; 0 in those after its first.
    pub const fn slots(&self) -> u8 {
        (self.0[1] >> 48) as u8
    }
    /// Flags; in the entries after an event's first, their position.
    pub const fn flags(&self) -> u8 {
        (self.0[1] >> 56) as u8
    }
    /// Whether it has a payload in place of arguments.
    pub const fn has_payload(&self) -> bool {
        self.flags() & FLAG_PAYLOAD != 0
    }
    /// An entry without an event, of the same time and core.
    pub const fn padding(&self) -> Entry {
        Entry([self.0[0], entry_head(0, self.core()), 0, 0, 0, 0, 0, 0])
    }
    /// Whether it belongs to the event of an entry before it.
    pub const fn is_continuation(&self) -> bool {
        self.slots() == 0
    }
    /// Thread identity: generation above, slot of the thread table below; 0 when there was no slot
    /// left.
    pub const fn thread(&self) -> u32 {
        self.0[2] as u32
    }
    /// The thread id that the kernel gave.
    pub const fn tid(&self) -> u32 {
        (self.0[2] >> 32) as u32
    }
    /// The four arguments of a message.
    pub const fn args(&self) -> [i64; 4] {
        [
            self.0[3] as i64,
            self.0[4] as i64,
            self.0[5] as i64,
            self.0[6] as i64,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_unpack_to_what_was_packed() {
        for ticket in [0, 1, 77, (1 << 48) - 1] {
            for low in [0, 1, 1024, MAX_COUNT] {
                let c = Cursor::new(ticket, low);
                assert_eq!((c.ticket(), c.count()), (ticket, low));
                let s = ChunkState::open(ticket, low);
                assert_eq!((s.ticket(), s.lane()), (ticket, Some(low)));
                let s = ChunkState::closed(ticket, low);
                assert_eq!((s.ticket(), s.lane(), s.count()), (ticket, None, low));
            }
        }
        let e = Entry([
            9,
            entry_head(0xdead_beef, 0xffff),
            entry_thread(3, 4),
            1,
            u64::MAX,
            3,
            4,
            5,
        ]);
        assert_eq!((e.ticks(), e.event(), e.core()), (9, 0xdead_beef, 0xffff));
        assert_eq!((e.thread(), e.tid(), e.args()), (3, 4, [1, -1, 3, 4]));
        assert_eq!((e.slots(), e.flags(), e.is_continuation()), (1, 0, false));
        let head = long_entry_head(0, 7, 0, 31);
        let e = Entry([9, head, 0, 0, 0, 0, 0, 0]);
        assert_eq!((e.event(), e.core(), e.slots(), e.flags()), (0, 7, 0, 31));
        assert!(e.is_continuation());
    }
}
