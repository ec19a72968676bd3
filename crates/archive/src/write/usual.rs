//! Events as most are: integers only, and all fields that a ring knows.
//!
//! What such an event says and who says it was seen before. Whoever gives it keeps these with where they stand in the
//! block and with their bytes in a record, so that nothing is compared or encoded again; nor is it asked of each field
//! whether it is there. What is written is that of any other event, to the byte.

use crate::format::event::{Kind, Source};
use crate::format::msgpack::{packed, packed_signed};
use crate::format::tag;

/// What differs from one such event to the next.
#[derive(Debug, Clone, Copy)]
pub struct Usual {
    /// Ticks of the ring's clock.
    pub ticks: u64,
    /// Nanoseconds since the epoch.
    pub unix_nanos: u64,
    /// The CPU.
    pub core: u64,
    /// The lane of the ring it was logged through.
    pub lane: u64,
    /// How many events were logged through that lane before it.
    pub number: u64,
    /// Its arguments: as many of them as its statement has.
    pub args: [i64; 4],
}

/// A row of a table, in a block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Row {
    /// 0 where it stands in none.
    pub block: u64,
    pub place: usize,
}

/// What events of one statement say.
#[derive(Clone)]
pub struct Said {
    /// What they share.
    pub kind: Kind,
    /// How many arguments they have, of at most four.
    pub args: usize,
    /// Where it stands in a block.
    pub(crate) row: Row,
    /// The fields as they stand in a record: up to the line, level, format, category, and those of the event itself.
    pieces: [Piece; 5],
}

/// Who logs events.
#[derive(Clone)]
pub struct By {
    /// What the events share.
    pub source: Source,
    /// Where it stands in a block.
    pub(crate) row: Row,
    /// The fields as they stand in a record: the thread's name, and the others.
    pieces: [Piece; 2],
}

impl Said {
    /// In no block yet; of a ring of this magic.
    pub fn new(magic: u64, kind: Kind, args: usize) -> Said {
        let pieces = [
            Piece::of(&[(1, Some(magic)), (2, kind.file), (3, kind.line)]),
            Piece::of(&[(6, kind.level)]),
            Piece::of(&[(9, kind.format)]),
            Piece::of(&[(11, kind.category)]),
            Piece::of(&[(18, kind.event), (20, kind.syntax)]),
        ];
        Said {
            kind,
            args,
            row: Row::default(),
            pieces,
        }
    }
}

impl By {
    /// In no block yet.
    pub fn new(source: Source) -> By {
        let others = [(13, source.tid), (14, source.pid), (15, source.process)];
        let pieces = [Piece::of(&[(5, source.thread)]), Piece::of(&others)];
        By {
            source,
            row: Row::default(),
            pieces,
        }
    }
}

/// Fields as they stand in a record.
#[derive(Clone, Copy)]
struct Piece {
    bytes: [u8; PIECE],
    length: usize,
    fields: usize,
}

/// Most bytes of a piece: three fields of numbers.
const PIECE: usize = 32;
/// Most bytes of a record of such an event.
const MOST: usize = 256;

impl Piece {
    fn of(numbers: &[(u8, Option<u64>)]) -> Piece {
        let mut line = Line::new();
        let mut fields = 0;
        for (field, number) in numbers {
            if let Some(number) = number {
                line.number(*field, *number);
                fields += 1;
            }
        }
        let mut bytes = [0; PIECE];
        bytes.copy_from_slice(&line.bytes[..PIECE]);
        Piece {
            bytes,
            length: line.length,
            fields,
        }
    }
}

/// A record that is put together from left to right.
pub struct Line {
    bytes: [u8; MOST],
    length: usize,
}

impl Line {
    /// Without anything.
    pub fn new() -> Line {
        Line {
            bytes: [0; MOST],
            length: 0,
        }
    }

    /// Appends the first bytes of these. All are copied, which takes less than looking how many.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], length: usize) {
        self.bytes[self.length..][..N].copy_from_slice(bytes);
        self.length += length;
    }

    #[inline]
    fn piece(&mut self, piece: &Piece) {
        self.put(&piece.bytes, piece.length);
    }

    #[inline]
    fn number(&mut self, field: u8, number: u64) {
        self.put(&[field], 1);
        let (bytes, length) = packed(number);
        self.put(&bytes, length);
    }

    /// The record of an event, as [`Data::encode`](crate::format::event::Data::encode) puts it together.
    pub fn record(&mut self, event: &Usual, said: &Said, by: &By) -> &[u8] {
        let [first, level, format, category, own] = &said.pieces;
        let [thread, others] = &by.pieces;
        let pieces = said.pieces.iter().chain(&by.pieces);
        let args = &event.args[..said.args];
        let fields =
            5 + pieces.map(|piece| piece.fields).sum::<usize>() + usize::from(!args.is_empty());
        self.length = 0;
        self.put(&[tag::DATA], 1);
        match fields {
            0..=15 => self.put(&[0x80 | fields as u8], 1),
            _ => self.put(&[0xde, 0, fields as u8], 3),
        }
        self.piece(first);
        self.piece(thread);
        self.piece(level);
        self.number(7, event.ticks);
        self.number(8, event.unix_nanos);
        self.piece(format);
        if !args.is_empty() {
            self.put(&[10, 0x90 | args.len() as u8], 2);
            for arg in args {
                let (bytes, length) = packed_signed(*arg);
                self.put(&bytes, length);
            }
        }
        self.piece(category);
        self.number(12, event.core);
        self.piece(others);
        self.number(16, event.lane);
        self.number(17, event.number);
        self.piece(own);
        &self.bytes[..self.length]
    }
}
