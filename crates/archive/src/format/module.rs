//! Defines the record of a module: an object that a process has loaded, and where.

use timeline::Module;

use crate::format::tag::MODULE;
use timeline::internal::msgpack::{FieldWriter, Unpacker};

/// An object that a process of a ring has loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleRecord {
    /// The magic of the ring.
    pub magic: Option<u64>,
    /// The process, the addresses, the build id and the path, as the ring has them in one text.
    pub module: Option<Module>,
}

impl ModuleRecord {
    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        let text = self.module.as_ref().map(Module::encode);
        fields.number(1, self.magic);
        fields.text(2, text.as_deref());
        fields.finish(MODULE, out);
    }

    /// Reads the value of a field.
    pub(crate) fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.module = input.text()?.and_then(|text| Module::parse(&text)),
            _ => input.skip()?,
        }
        Some(())
    }
}
