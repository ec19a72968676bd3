//! Remembers pointers among the values of events that need no symbol, or whose symbol is written.

use super::Thread;

/// Pointers that are remembered.
const MOST: usize = 1 << 10;

/// Pointers of threads that were looked up. A later one may take the place of another.
pub(super) struct Pointees(Vec<Option<(Thread, u64)>>);

impl Pointees {
    /// None are remembered.
    pub fn new() -> Pointees {
        Pointees(vec![None; MOST])
    }

    /// Whether such a pointer was noted since all were forgotten. If not, it may have been.
    #[inline]
    pub fn knows(&self, thread: Thread, address: u64) -> bool {
        self.0[place(address)] == Some((thread, address))
    }

    /// Notes that nothing is to be written for a pointer.
    pub fn note(&mut self, thread: Thread, address: u64) {
        self.0[place(address)] = Some((thread, address));
    }

    /// Forgets all: another file has no symbols yet, and another object may be loaded.
    pub fn forget(&mut self) {
        self.0.fill(None);
    }
}

/// Successive objects and fields have different places.
#[inline]
fn place(address: u64) -> usize {
    (address ^ address >> 10) as usize % MOST
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeline::ThreadRef;

    #[test]
    fn a_pointer_is_known_for_its_thread_until_it_is_forgotten() {
        let (one, other) = ((ThreadRef(1), 70), (ThreadRef(2), 70));
        let mut pointees = Pointees::new();
        assert!(!pointees.knows(one, 0x5000) && !pointees.knows(one, 0));
        pointees.note(one, 0x5000);
        assert!(pointees.knows(one, 0x5000));
        assert!(!pointees.knows(other, 0x5000) && !pointees.knows(one, 0x5008));
        // Wherever the place of another one is, an address is not taken for it.
        for address in (0..MOST as u64 * 64).step_by(8) {
            pointees.note(one, address);
            assert!(pointees.knows(one, address));
            assert!(!pointees.knows(one, address + (MOST as u64) * 64));
        }
        pointees.note(one, u64::MAX);
        pointees.forget();
        assert!(!pointees.knows(one, 0x5000) && !pointees.knows(one, u64::MAX));
    }
}
