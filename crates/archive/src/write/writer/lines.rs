//! Writes blocks of imported lines.

use std::io::{self, Write};

use super::Writer;
use crate::format::block::{CODEC_COLUMNS, CODEC_ZSTD, MAX_EXPANDED, MAX_EXPANSION};
use crate::format::ranges;
use crate::format::record::Block;
use crate::write::lines::LineBlock;
use crate::write::packer;

/// Level 6 takes little longer than 3, and blocks are 4 % smaller. Higher ones take half as long
/// again for less than 1 %: the columns leave few texts that recur.
const LEVEL: i32 = 6;

impl<W: Write> Writer<W> {
    /// Writes a block of imported lines, whose strings are defined already.
    ///
    /// # Errors
    /// Those of the output. `InvalidInput` if the block is larger than a block may be.
    pub fn lines(&mut self, block: &LineBlock) -> io::Result<()> {
        let (Some(first), Some(last)) = (block.lines.first(), block.lines.last()) else {
            return Ok(());
        };
        self.end_block();
        for line in [first, last] {
            self.positions.note(line.lane, line.number + 1);
        }
        block.encode(&mut self.packed, &mut self.ranges);
        if self.packed.len() > MAX_EXPANDED {
            let message = "a block of imported lines has at most 16 MiB";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let compressed = zstd::bulk::compress(&self.packed, LEVEL)?;
        // A block may be expanded that far only. LZ4 never makes it smaller.
        let (codec, payload) = match self.packed.len() / MAX_EXPANSION > compressed.len() {
            true => {
                let payload = packer::compress(&self.packed, &mut self.compressed);
                (CODEC_COLUMNS, payload)
            }
            false => (CODEC_ZSTD, &compressed[..]),
        };
        let record = Block {
            magic: Some(self.magic),
            codec: Some(codec.as_bytes()),
            expanded: Some(self.packed.len() as u64),
            count: Some(block.lines.len() as u64),
            first_ticks: Some(block.first_ticks),
            last_ticks: Some(block.first_ticks + block.lines.len() as u64 - 1),
            first_unix: block.times.iter().min().copied(),
            last_unix: block.times.iter().max().copied(),
            ranges: ranges::worth(&self.ranges, payload),
            payload: Some(payload),
            from: self.positions.tell(),
            positions: self.positions.all().to_vec(),
        };
        record.encode(&mut self.fields, &mut self.record);
        self.frame();
        self.write_if_much()
    }
}
