//! Keeps frames until the other side has acknowledged them: in memory, or in the files of a spool.

use std::collections::VecDeque;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use timeline::internal::files::open_to_read;
use timeline_archive::frames::{events_in, first};

/// Bytes that are read at a time from a file.
const CHUNK: usize = 256 << 10;

/// Where the frames of a batch are.
#[derive(Debug)]
enum BatchBytes {
    Memory(Vec<u8>),
    /// At the place in this file that they have in that of the session.
    File(PathBuf),
}

/// Whole frames that were handed over together, or lie one behind the other in a file.
#[derive(Debug)]
struct Batch {
    /// The number of their file in the session.
    file: u64,
    /// Where they begin and end in it.
    begin: u64,
    end: u64,
    bytes: BatchBytes,
}

impl Batch {
    fn size(&self) -> usize {
        (self.end - self.begin) as usize
    }
}

/// What was read last from a file.
#[derive(Debug, Default)]
struct FileChunk {
    /// The number of the file, and where in it the bytes begin.
    at: (u64, u64),
    bytes: Vec<u8>,
}

impl FileChunk {
    /// The bytes of a file from a place on: some of them, not all up to `end`.
    fn read(&mut self, path: &Path, at: (u64, u64), end: u64) -> io::Result<&[u8]> {
        let is_in =
            self.at.0 == at.0 && (self.at.1..self.at.1 + self.bytes.len() as u64).contains(&at.1);
        if !is_in {
            let size = (end - at.1).min(CHUNK as u64) as usize;
            self.bytes.resize(size, 0);
            let read = open_to_read(path)?.read_exact_at(&mut self.bytes, at.1);
            if read.is_err() {
                self.bytes.clear();
            }
            read?;
            self.at = at;
        }
        let bytes = &self.bytes[(at.1 - self.at.1) as usize..];
        Ok(&bytes[..bytes.len().min((end - at.1) as usize)])
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
    chunk: FileChunk,
}

impl SendWindow {
    /// Adds frames that end there in a file of the session.
    pub fn push(&mut self, file: u64, end: u64, frames: Vec<u8>) {
        self.bytes += frames.len();
        self.batches.push_back(Batch {
            file,
            begin: end - frames.len() as u64,
            end,
            bytes: BatchBytes::Memory(frames),
        });
    }

    /// Adds the frames between two places of a file of the session, which lie in the file at `path`
    /// at the same places.
    pub fn push_stored(&mut self, file: u64, (begin, end): (u64, u64), path: &Path) {
        let unsent = self.next < self.batches.len();
        match self.batches.back_mut() {
            // Not behind one that is sent whole: what is added would count as sent.
            Some(last) if unsent && last.file == file && last.end == begin => last.end = end,
            _ => self.batches.push_back(Batch {
                file,
                begin,
                end,
                bytes: BatchBytes::File(path.into()),
            }),
        }
    }

    /// Bytes that are kept in memory.
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
        Some((batch.file, batch.begin))
    }

    /// Whether there is something to be sent.
    pub fn has_unsent(&self) -> bool {
        self.next < self.batches.len()
    }

    /// What is to be sent next, or a part of it; nothing if all is sent.
    ///
    /// # Errors
    /// Those of reading it from a file.
    pub fn unsent(&mut self) -> io::Result<&[u8]> {
        let Some(batch) = self.batches.get(self.next) else {
            return Ok(&[]);
        };
        let at = (batch.file, batch.begin + self.place as u64);
        match &batch.bytes {
            BatchBytes::Memory(frames) => Ok(&frames[self.place..]),
            BatchBytes::File(path) => self.chunk.read(path, at, batch.end),
        }
    }

    /// Whether what is to be sent next begins with a frame: a file may have been changed since a
    /// part of it was sent.
    pub fn goes_on_with_frame(&mut self) -> bool {
        let is_stored = |batch: &Batch| matches!(batch.bytes, BatchBytes::File(_));
        if !self.batches.get(self.next).is_some_and(is_stored) {
            return true;
        }
        self.unsent()
            .is_ok_and(|bytes| first(bytes, usize::MAX).is_ok())
    }

    /// Whether the last byte that was sent ends a batch, so that a message may follow.
    pub fn is_between_batches(&self) -> bool {
        self.place == 0
    }

    /// Notes that so many bytes were sent.
    pub fn send(&mut self, bytes: usize) {
        self.place += bytes;
        let batch = self.batches.get(self.next);
        if batch.is_some_and(|batch| batch.size() == self.place) {
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
            if let BatchBytes::Memory(frames) = &oldest.bytes {
                self.bytes -= frames.len();
            }
            self.next = self.next.saturating_sub(1);
        }
    }

    /// Goes on over another connection, whose receiver has so many bytes of this file. Returns
    /// whether what follows is here.
    pub fn resume(&mut self, file: u64, offset: u64) -> bool {
        let holds = |batch: &Batch| batch.file == file && batch.begin <= offset;
        // The last of them: where a batch ends, the next one begins.
        let Some(next) = self.batches.iter().rposition(holds) else {
            return false;
        };
        let batch = &self.batches[next];
        let place = (offset - batch.begin) as usize;
        let Some(is_whole) = place.checked_sub(batch.size()).map(|over| over == 0) else {
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

    /// Gives up all of them. Returns how many events they have that are nowhere else.
    pub fn give_up(&mut self) -> u64 {
        let lost = self.batches.iter().map(|batch| match &batch.bytes {
            BatchBytes::Memory(frames) => events_in(frames),
            BatchBytes::File(_) => 0,
        });
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

    /// The same, in the files of a directory.
    fn stored(folder: &Path) -> SendWindow {
        let mut window = SendWindow::default();
        for (file, end) in [(1, 30), (2, 8)] {
            let path = folder.join(file.to_string());
            std::fs::write(&path, vec![file as u8; end as usize]).unwrap();
            for (begin, end) in [(0, end / 3), (end / 3, end)] {
                window.push_stored(file, (begin, end), &path);
            }
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
        assert_eq!(window.unsent().unwrap().len(), 3);
        window.send(2);
        window.acknowledge(9, 9);
        assert_eq!(
            (window.oldest(), window.unsent().unwrap().len()),
            (Some((2, 5)), 1)
        );
        window.send(1);
        window.forget_sent();
        assert!(window.is_empty() && !window.has_unsent() && window.bytes() == 0);
    }

    proptest! {
        /// Whatever was sent before, another connection goes on at the byte.
        #[test]
        fn a_connection_goes_on_where_the_last_one_broke(
            sent in 0..39_usize,
            seen in 0..39_usize,
            is_stored: bool,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut window = match is_stored {
                true => stored(folder.path()),
                false => window(),
            };
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
            while window.has_unsent() {
                rest.extend_from_slice(window.unsent().unwrap());
                let count = window.unsent().unwrap().len();
                window.send(count);
            }
            let all = [[1; 30].as_slice(), &[2; 8]].concat();
            prop_assert_eq!(&rest[..], &all[seen..]);
            // What nobody has any more cannot be sent again.
            window.acknowledge(1, if is_stored { 30 } else { 10 });
            prop_assert!(!window.resume(1, 9) && !window.resume(3, 0) && !window.resume(2, 9));
        }
    }
}
