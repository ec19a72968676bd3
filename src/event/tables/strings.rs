//! The string table: texts of definitions, each stored once.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::event::definitions::definition::{Definition, bounded};
use crate::layout::Geometry;
use crate::shm::Mapping;
use crate::sync::Ordering;

/// The string table of one timeline.
#[derive(Clone)]
pub struct Strings {
    map: Arc<Mapping>,
    geometry: Geometry,
}

impl Strings {
    /// The table of a mapping whose geometry was checked.
    pub fn new(map: &Arc<Mapping>, geometry: &Geometry) -> Strings {
        Strings {
            map: Arc::clone(map),
            geometry: *geometry,
        }
    }

    /// Bytes of the string table in use.
    pub fn used(&self) -> u64 {
        let used = self.map.header().field(|header| &header.strings_used);
        // Acquire, pairs with the Release in `intern`.
        let used = used.load(Ordering::Acquire);
        used.clamp(1, self.geometry.strings().length)
    }

    /// A text of a definition.
    pub fn text(&self, offset: u32) -> String {
        // A character beyond the limit shows that the text is longer.
        let text = self.whole(offset, Definition::LONGEST_TEXT as u64 + 4);
        bounded(&text).into_owned()
    }

    /// A string, cut to `most` bytes.
    pub fn whole(&self, offset: u32, most: u64) -> String {
        let strings = self.geometry.strings();
        let most = strings.length.saturating_sub(offset.into()).min(most);
        let bytes = match most {
            0 => Vec::new(),
            _ => self
                .map
                .read_c_str(strings.offset + u64::from(offset), most),
        };
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Adds all the strings or none, so that a failed define takes no space. An empty string is at
    /// 0. The caller holds the define lock.
    pub fn intern(&self, path: &Path, texts: &[&str]) -> Result<Vec<u32>> {
        let strings = self.geometry.strings();
        let used = self.used();
        let mut table = vec![0; used as usize];
        self.map.read(strings.offset, &mut table);
        let mut place = |text: &&str| {
            if text.is_empty() {
                return 0;
            }
            let mut bytes = text.as_bytes().to_vec();
            bytes.push(0);
            find_string(&table, &bytes).unwrap_or_else(|| {
                table.extend(&bytes);
                table.len() - bytes.len()
            }) as u32
        };
        let offsets = texts.iter().map(&mut place).collect();
        let end = table.len() as u64;
        if end > strings.length {
            return Err(Error::StringTableFull {
                path: path.to_path_buf(),
                needed: end - used,
                free: strings.length - used,
                size: strings.length,
            });
        }
        self.map
            .write(strings.offset + used, &table[used as usize..]);
        // Release, pairs with the Acquire in `used`.
        let used = &self.map.header().shared().strings_used;
        used.store(end, Ordering::Release);
        Ok(offsets)
    }
}

/// The offset of the string, with its NUL, at the start of a string in the table. The end of
/// another string would do as well, but would confuse a person who reads the raw file.
fn find_string(table: &[u8], with_nul: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(table, with_nul).find(|&at| at > 0 && table[at - 1] == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_shared_only_from_their_start() {
        let table = b"\0example\0ample\0";
        assert_eq!(find_string(table, b"example\0"), Some(1));
        assert_eq!(find_string(table, b"ample\0"), Some(9));
        assert_eq!(find_string(table, b"exam\0"), None);
    }
}
