//! Cuts the bytes that come over a connection into records.

use std::ops::Range;

use timeline_archive::frames::{self, NotAFrame};

/// A whole frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxFrame<'a> {
    /// All of its bytes.
    pub bytes: &'a [u8],
    record: Range<usize>,
}

impl<'a> InboxFrame<'a> {
    /// The record in it.
    pub fn record(&self) -> &'a [u8] {
        &self.bytes[self.record.clone()]
    }
}

/// Bytes that were received, from the first one that no frame was made of yet.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    at: usize,
}

impl Inbox {
    /// Appends what was received.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.at > 0 {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The bytes that wait for others.
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next frame. `None` if it is not whole yet.
    ///
    /// # Errors
    /// If the bytes are no frame, or the record has more than `most` bytes.
    pub fn next(&mut self, most: usize) -> Result<Option<InboxFrame<'_>>, NotAFrame> {
        let rest = &self.bytes[self.at..];
        let Some(record) = frames::first(rest, most)? else {
            return Ok(None);
        };
        self.at += record.end;
        let bytes = &rest[..record.end];
        Ok(Some(InboxFrame { bytes, record }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Beat, Received, WireMessage};

    #[test]
    fn frames_come_out_whatever_pieces_they_come_in() {
        let mut sent = Vec::new();
        for _ in 0..20 {
            WireMessage::Beat(Beat::default()).put(&mut sent);
            WireMessage::Gone.put(&mut sent);
        }
        for piece in [1, 2, 7, 9, 100, sent.len()] {
            let (mut inbox, mut found) = (Inbox::default(), Vec::new());
            for bytes in sent.chunks(piece) {
                inbox.receive(bytes);
                while let Some(frame) = inbox.next(1000).unwrap() {
                    found.push(Received::read(frame.record()).unwrap());
                }
            }
            assert_eq!((found.len(), inbox.waiting()), (40, 0), "{piece}");
        }
    }
}
