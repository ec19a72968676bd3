//! Stretches: parts of a stream of events between which others are missing.
//!
//! [`Event::missed`](super::Event::missed) counts what is missing in the lane of an event. That is
//! too little for whoever pairs events. A thread moves from CPU to CPU: its last event before a
//! loss and its first one after it may be of a lane that has lost nothing. So a stream says of each
//! event in which stretch it is.

/// A part of a stream of events in which none is missing, of any thread, as far as its reader
/// knows. Only events of one stretch may be paired.
///
/// # Example
/// ```
/// use timeline::Stretch;
/// let (one, other) = (Stretch::new(1), Stretch::new(2));
/// assert!(one.goes_on(one) && !other.goes_on(one));
/// // Among these, nobody knows what is missing.
/// assert!(!Stretch::HOLE.goes_on(Stretch::HOLE));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stretch(u32);

impl Stretch {
    /// That of events around which others are missing, nobody knows exactly where.
    pub const HOLE: Stretch = Stretch(u32::MAX);

    /// The stretch of this number in its stream.
    pub fn new(number: u32) -> Stretch {
        Stretch(number.min(u32::MAX - 1))
    }

    /// The next one, behind something that is missing.
    #[must_use]
    pub fn following(self) -> Stretch {
        Stretch::new(self.0.wrapping_add(1))
    }

    /// Whether nothing is missing between an event of this stretch and the one before it, which is
    /// of the stretch `before`.
    #[inline]
    pub fn goes_on(self, before: Stretch) -> bool {
        self == before && self != Stretch::HOLE
    }
}

/// The stretches of a ring: what is older than its last loss is a hole.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stretches {
    number: u32,
    /// No entry since these ticks is missing in the present stretch.
    pub since: u64,
}

impl Stretches {
    /// Something is missing before these ticks, and after all that was read so far.
    pub fn miss_before(&mut self, ticks: u64) {
        self.number = self.number.wrapping_add(1);
        self.since = self.since.max(ticks);
    }

    /// The stretch of an event of these ticks.
    #[inline]
    pub fn of(&self, ticks: u64) -> Stretch {
        match ticks < self.since {
            true => Stretch::HOLE,
            false => Stretch::new(self.number),
        }
    }
}
