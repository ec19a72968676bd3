//! A reader of DWARF that ends when it has read so much.
//!
//! Parts of DWARF refer to others, which many of them may share: whoever reads it can be made to
//! read a few bytes again and again. So each read is paid for, and the size of the file bounds how
//! much may be paid.

use std::borrow::Cow;
use std::cell::Cell;

use gimli::{EndianSlice, Error, Reader, ReaderOffsetId, Result, RunTimeEndian};

/// Bytes of a section, and how much more may be read of all.
#[derive(Debug, Clone)]
pub struct SectionReader<'a> {
    bytes: EndianSlice<'a, RunTimeEndian>,
    left: &'a Cell<u64>,
}

impl<'a> SectionReader<'a> {
    /// All bytes of a section.
    pub fn new(bytes: &'a [u8], endian: RunTimeEndian, left: &'a Cell<u64>) -> SectionReader<'a> {
        SectionReader {
            bytes: EndianSlice::new(bytes, endian),
            left,
        }
    }

    fn pay(&self, bytes: usize) -> Result<()> {
        pay(self.left, bytes)
    }
}

/// Pays for so many bytes that are read, or for as many other steps.
pub fn pay(left: &Cell<u64>, bytes: usize) -> Result<()> {
    let price = 1 + bytes as u64;
    let rest = left.get().checked_sub(price);
    left.set(rest.unwrap_or(0));
    rest.map(drop)
        .ok_or(Error::UnexpectedEof(ReaderOffsetId(0)))
}

impl Reader for SectionReader<'_> {
    type Endian = RunTimeEndian;
    type Offset = usize;

    fn endian(&self) -> RunTimeEndian {
        self.bytes.endian()
    }

    fn len(&self) -> usize {
        Reader::len(&self.bytes)
    }

    fn empty(&mut self) {
        self.bytes.empty();
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        self.pay(0)?;
        self.bytes.truncate(len)
    }

    fn offset_from(&self, base: &Self) -> usize {
        Reader::offset_from(&self.bytes, &base.bytes)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        self.bytes.offset_id()
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.bytes.lookup_offset_id(id)
    }

    fn find(&self, byte: u8) -> Result<usize> {
        let found = Reader::find(&self.bytes, byte);
        self.pay(*found.as_ref().unwrap_or(&self.bytes.len()))?;
        found
    }

    fn skip(&mut self, len: usize) -> Result<()> {
        self.pay(0)?;
        self.bytes.skip(len)
    }

    fn split(&mut self, len: usize) -> Result<Self> {
        self.pay(0)?;
        Ok(SectionReader {
            bytes: Reader::split(&mut self.bytes, len)?,
            left: self.left,
        })
    }

    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        self.pay(self.bytes.len())?;
        Reader::to_slice(&self.bytes)
    }

    fn to_string(&self) -> Result<Cow<'_, str>> {
        self.pay(self.bytes.len())?;
        Reader::to_string(&self.bytes)
    }

    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        self.pay(self.bytes.len())?;
        Reader::to_string_lossy(&self.bytes)
    }

    fn read_slice(&mut self, buffer: &mut [u8]) -> Result<()> {
        self.pay(buffer.len())?;
        self.bytes.read_slice(buffer)
    }
}
