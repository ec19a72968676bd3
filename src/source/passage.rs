//! Passages: parts of a stream of events between which others are missing.
//!
//! [`Event::missed`](super::Event::missed) counts what is missing in the lane of an event. That is
//! too little for whoever pairs events. A thread moves from CPU to CPU: its last event before a
//! loss and its first one after it may be of a lane that has lost nothing. So a stream says of each
//! event in which passage it is.

/// A part of a stream of events in which none is missing, of any thread, as far as its reader
/// knows. Only events of one passage may be paired.
///
/// # Example
/// ```
/// use timeline::Passage;
/// let (one, other) = (Passage::new(1), Passage::new(2));
/// assert!(one.goes_on(one) && !other.goes_on(one));
/// // Among these, nobody knows what is missing.
/// assert!(!Passage::HOLE.goes_on(Passage::HOLE));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Passage(u32);

impl Passage {
    /// That of events around which others are missing, nobody knows exactly where.
    pub const HOLE: Passage = Passage(u32::MAX);

    /// The passage of this number in its stream.
    pub fn new(number: u32) -> Passage {
        Passage(number.min(u32::MAX - 1))
    }

    /// The next one, behind something that is missing.
    #[must_use]
    pub fn following(self) -> Passage {
        Passage::new(self.0.wrapping_add(1))
    }

    /// Whether nothing is missing between an event of this passage and the one before it, which is
    /// of the passage `before`.
    #[inline]
    pub fn goes_on(self, before: Passage) -> bool {
        self == before && self != Passage::HOLE
    }
}

/// The passages of a ring: what is older than its last loss is a hole.
#[derive(Debug, Clone, Copy, Default)]
pub struct Passages {
    number: u32,
    /// No entry since these ticks is missing in the present passage.
    pub since: u64,
}

impl Passages {
    /// Something is missing before these ticks, and after all that was read so far.
    pub fn miss_before(&mut self, ticks: u64) {
        self.number = self.number.wrapping_add(1);
        self.since = self.since.max(ticks);
    }

    /// The passage of an event of these ticks.
    #[inline]
    pub fn of(&self, ticks: u64) -> Passage {
        match ticks < self.since {
            true => Passage::HOLE,
            false => Passage::new(self.number),
        }
    }
}
