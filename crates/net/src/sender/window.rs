//! Keeps frames until the other side has acknowledged them.

use std::collections::VecDeque;

use timeline_archive::frames::events_in;

/// Whole frames that were handed over together.
#[derive(Debug)]
struct Batch {
    /// The number of their file in the session.
    file: u64,
    /// Where they end in it.
    end: u64,
    frames: Vec<u8>,
}

impl Batch {
    fn begin(&self) -> u64 {
        self.end - self.frames.len() as u64
    }
}

/// The frames that are not acknowledged, the oldest first, and how far they were sent over this
/// connection.
#[derive(Debug, Default)]
pub struct SendWindow {
    batches: VecDeque<Batch>,
    /// Bytes of all of them.
    bytes: usize,
    /// The first batch that is not sent whole, and its bytes that are.
    next: usize,
    place: usize,
}

impl SendWindow {
    /// Adds frames that end there in a file of the session.
    pub fn push(&mut self, file: u64, end: u64, frames: Vec<u8>) {
        self.bytes += frames.len();
        self.batches.push_back(Batch { file, end, frames });
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether everything was acknowledged.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// The file of the oldest frames, and where they begin in it.
    pub fn oldest(&self) -> Option<(u64, u64)> {
        let batch = self.batches.front()?;
        Some((batch.file, batch.begin()))
    }

    /// What is to be sent next; nothing if all is sent.
    pub fn unsent(&self) -> &[u8] {
        let batch = self.batches.get(self.next);
        batch.map_or(&[], |batch| &batch.frames[self.place..])
    }

    /// Whether the last byte that was sent ends a batch, so that a message may follow.
    pub fn is_between_batches(&self) -> bool {
        self.place == 0
    }

    /// Notes that so many bytes were sent.
    pub fn send(&mut self, bytes: usize) {
        self.place += bytes;
        let batch = self.batches.get(self.next);
        if batch.is_some_and(|batch| batch.frames.len() == self.place) {
            self.next += 1;
            self.place = 0;
        }
    }

    /// The connection is gone: nothing is sent over the next one yet.
    pub fn rewind(&mut self) {
        (self.next, self.place) = (0, 0);
    }

    /// Lets go of what is sent.
    pub fn forget_sent(&mut self) {
        while self.next > 0 {
            self.forget_oldest();
        }
    }

    /// Lets go of what a receiver has: of this file, so many bytes, and all files before it.
    pub fn acknowledge(&mut self, file: u64, offset: u64) {
        while self.next > 0
            && let Some(oldest) = self.batches.front()
            && (oldest.file, oldest.end) <= (file, offset)
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.batches.pop_front() {
            self.bytes -= oldest.frames.len();
            self.next = self.next.saturating_sub(1);
        }
    }

    /// Goes on over another connection, whose receiver has so many bytes of this file. Returns
    /// whether what follows is here.
    pub fn resume(&mut self, file: u64, offset: u64) -> bool {
        let holds = |batch: &Batch| batch.file == file && batch.begin() <= offset;
        // The last of them: where a batch ends, the next one begins.
        let Some(next) = self.batches.iter().rposition(holds) else {
            return false;
        };
        let batch = &self.batches[next];
        let place = (offset - batch.begin()) as usize;
        let Some(is_whole) = place.checked_sub(batch.frames.len()).map(|over| over == 0) else {
            (self.next, self.place) = (next, place);
            self.acknowledge(file, offset);
            return true;
        };
        if is_whole {
            (self.next, self.place) = (next + 1, 0);
            self.acknowledge(file, offset);
        }
        is_whole
    }

    /// Gives up all of them. Returns how many events they have.
    pub fn give_up(&mut self) -> u64 {
        let lost = self.batches.iter().map(|batch| events_in(&batch.frames));
        let lost = lost.sum();
        *self = SendWindow::default();
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two files, in batches of these sizes.
    fn window() -> SendWindow {
        let mut window = SendWindow::default();
        for (file, end, size) in [(1, 10, 10), (1, 30, 20), (2, 5, 5), (2, 8, 3)] {
            window.push(file, end, vec![file as u8; size]);
        }
        window
    }

    #[test]
    fn what_is_acknowledged_is_let_go_and_nothing_else() {
        let mut window = window();
        window.acknowledge(2, 8);
        assert_eq!(window.bytes(), 38, "nothing of it was sent");
        for bytes in [10, 20, 5] {
            window.send(bytes);
        }
        window.acknowledge(1, 29);
        assert_eq!(window.oldest(), Some((1, 10)));
        window.acknowledge(1, 30);
        assert_eq!((window.oldest(), window.bytes()), (Some((2, 0)), 8));
        assert_eq!(window.unsent().len(), 3);
        window.send(2);
        window.acknowledge(9, 9);
        assert_eq!((window.oldest(), window.unsent().len()), (Some((2, 5)), 1));
        window.send(1);
        window.forget_sent();
        assert!(window.is_empty() && window.unsent().is_empty() && window.bytes() == 0);
    }

    proptest! {
        /// Whatever was sent before, another connection goes on at the byte.
        #[test]
        fn a_connection_goes_on_where_the_last_one_broke(sent in 0..39_usize, seen in 0..39_usize) {
            let mut window = window();
            for _ in 0..sent {
                window.send(1);
            }
            let seen = seen.min(sent);
            let place = match seen {
                0..=30 => (1, seen as u64),
                more => (2, more as u64 - 30),
            };
            prop_assert!(window.resume(place.0, place.1));
            let mut rest = Vec::new();
            while !window.unsent().is_empty() {
                rest.extend_from_slice(window.unsent());
                window.send(window.unsent().len());
            }
            let all = [[1; 30].as_slice(), &[2; 8]].concat();
            prop_assert_eq!(&rest[..], &all[seen..]);
            // What nobody has any more cannot be sent again.
            window.acknowledge(1, 10);
            prop_assert!(!window.resume(1, 9) && !window.resume(3, 0) && !window.resume(2, 9));
        }
    }
}
