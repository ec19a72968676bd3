//! Says how long to wait between two looks at something that grows.

use std::time::Duration;

/// The pause between two looks into a ring or an archive: short while events come, and doubled with
/// each look that finds none.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use timeline_worker::Pause;
/// let mut pause = Pause::within(Duration::from_millis(1), Duration::from_millis(3));
/// let pauses = [false, false, true].map(|found| pause.after(found).as_millis());
/// assert_eq!(pauses, [2, 3, 1]);
/// ```
#[derive(Debug, Clone)]
pub struct Pause {
    next: Duration,
    shortest: Duration,
    longest: Duration,
}

impl Pause {
    /// The shortest pause, if no other is given.
    pub const SHORTEST: Duration = Duration::from_millis(1);
    /// The longest pause, if no other is given.
    pub const LONGEST: Duration = Duration::from_millis(50);

    /// Pauses of one to fifty milliseconds.
    pub fn new() -> Pause {
        Pause::within(Pause::SHORTEST, Pause::LONGEST)
    }

    /// Pauses of at least and at most these times.
    pub fn within(shortest: Duration, longest: Duration) -> Pause {
        Pause {
            next: shortest,
            shortest,
            longest,
        }
    }

    /// The pause after a look that found events, or none.
    pub fn after(&mut self, found: bool) -> Duration {
        self.next = match found {
            true => self.shortest,
            false => (self.next * 2).min(self.longest),
        };
        self.next
    }
}

impl Default for Pause {
    fn default() -> Pause {
        Pause::new()
    }
}
