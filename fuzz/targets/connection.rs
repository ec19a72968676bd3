//! Takes any bytes for what comes over a connection, on either side of it.
//! Frames are those of a file, whatever pieces they come in, and a message says the same again.

use timeline_net::{Inbox, MAX_HELLO, Received, WireMessage};

use super::frames;

/// Most bytes of a record behind the welcome.
const MOST: usize = 16 << 20;

/// Receives the bytes at once, one by one, and in pieces of a size that they choose.
pub fn run(bytes: &[u8]) {
    let whole = frames::whole(bytes);
    let mut end = 0;
    let leading = whole.iter().take_while(|frame| {
        let follows = frame.place.start == end;
        end = frame.place.end;
        follows
    });
    let expected: Vec<&[u8]> = leading.map(|frame| &bytes[frame.record.clone()]).collect();
    let piece = 1 + usize::from(bytes.first().copied().unwrap_or(0));
    for piece in [bytes.len().max(1), piece, 1] {
        let found = records(bytes, piece, MOST);
        assert_eq!(found, expected, "in pieces of {piece}");
    }
    let short = expected
        .iter()
        .take_while(|record| record.len() <= MAX_HELLO);
    assert_eq!(
        records(bytes, piece, MAX_HELLO),
        short.copied().collect::<Vec<_>>()
    );
    for record in expected {
        if let Some(Received::Message(message)) = Received::read(record) {
            assert_eq!(again(&message), Some(message));
        }
    }
}

/// The records that come before anything else.
fn records(bytes: &[u8], piece: usize, most: usize) -> Vec<Vec<u8>> {
    let (mut inbox, mut found) = (Inbox::default(), Vec::new());
    for piece in bytes.chunks(piece) {
        inbox.receive(piece);
        loop {
            match inbox.next(most) {
                Ok(Some(frame)) => found.push(frame.record().to_vec()),
                Ok(None) => break,
                Err(_) => return found,
            }
        }
    }
    found
}

/// What is read of a message that is written; an unknown one is written as a beat.
fn again(message: &WireMessage) -> Option<WireMessage> {
    if *message == WireMessage::Unknown {
        return Some(WireMessage::Unknown);
    }
    let mut frame = Vec::new();
    message.put(&mut frame);
    let record = records(&frame, frame.len(), MOST).pop()?;
    match Received::read(&record) {
        Some(Received::Message(message)) => Some(message),
        _ => None,
    }
}
