//! The record of what an address is called.

use timeline::internal::msgpack::{FieldWriter, Unpacker};
use timeline::{InlinedFunction, SourceLine};

use super::tag;

/// The name of an address in a call stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// The magic of its program and ring.
    pub magic: Option<u64>,
    /// The address.
    pub address: Option<u64>,
    /// The file it was loaded from (`dli_fname`).
    pub file: Option<String>,
    /// The address at which the file was loaded (`dli_fbase`).
    pub base: Option<u64>,
    /// The function (`dli_sname`).
    pub name: Option<String>,
    /// The address at which the function begins (`dli_saddr`).
    pub start: Option<u64>,
    /// The process. Several processes may write to one ring.
    pub pid: Option<u64>,
    /// The file of the source that calls from there.
    pub source: Option<String>,
    /// Its line.
    pub line: Option<u64>,
    /// Whether it was lost, and found again by the modules of the process.
    pub recovered: bool,
    /// The functions that the compiler put there into that function, innermost first.
    pub inlined: Vec<InlinedFunction>,
}

impl Symbol {
    /// The line of the source, if it is known, with a path of so many characters at most.
    pub fn source_line(&self, most: usize) -> Option<SourceLine> {
        Some(SourceLine {
            file: self.source.as_ref()?.chars().take(most).collect(),
            line: u32::try_from(self.line?).ok()?,
        })
    }

    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        fields.number(2, self.address);
        fields.text(3, self.file.as_deref());
        fields.number(4, self.base);
        fields.text(5, self.name.as_deref());
        fields.number(6, self.start);
        fields.number(7, self.pid);
        fields.text(8, self.source.as_deref());
        fields.number(9, self.line);
        fields.number(10, self.recovered.then_some(1));
        fields.lists(11, &self.inlined, |called, list| {
            let source = called.source.as_ref();
            list.text(called.name.as_deref());
            list.text(source.map(|source| &*source.file));
            list.number(source.map(|source| source.line.into()));
        });
        fields.finish(tag::SYMBOL, out);
    }

    /// Reads a field.
    pub fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.address = input.number()?,
            3 => self.file = input.text()?,
            4 => self.base = input.number()?,
            5 => self.name = input.text()?,
            6 => self.start = input.number()?,
            7 => self.pid = input.number()?,
            8 => self.source = input.text()?,
            9 => self.line = input.number()?,
            10 => self.recovered = input.number()? == Some(1),
            11 => {
                self.inlined.clear();
                for _ in 0..input.count()? {
                    match self.inlined.len() < InlinedFunction::MOST {
                        true => self.inlined.push(inlined(input)?),
                        false => input.skip()?,
                    }
                }
            }
            _ => input.skip()?,
        }
        Some(())
    }
}

/// A function, of a list of its name, the file and the line.
fn inlined(input: &mut Unpacker) -> Option<InlinedFunction> {
    let (mut name, mut file, mut line) = (None, None, None);
    for place in 0..input.count()? {
        match place {
            0 => name = input.text()?,
            1 => file = input.text()?,
            2 => line = input.number()?,
            _ => input.skip()?,
        }
    }
    // A file without a line is no place.
    let line = line.and_then(|line| u32::try_from(line).ok());
    let source = file.zip(line).map(|(file, line)| SourceLine { file, line });
    Some(InlinedFunction { name, source })
}
