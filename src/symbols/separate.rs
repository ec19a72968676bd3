//! Finds the file that has what was stripped off another one: its symbols and debug information.
//!
//! Distributions install such files by build id below /usr/lib/debug, and builds leave them beside
//! the program, which names them (`.gnu_debuglink`). A file that is found by its name has to have
//! the checksum that the program says, and any has to have the build id of the module, if that has
//! one. Both can be forged: who may write there can give a function another name.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::elf;
use object::endian::Endianness;
use object::read::elf::{FileHeader, SectionHeader};

use super::Module;
use super::elf_file::{ElfFile, build_id_among, is_of};
use super::sections::{DebugLink, Sections};

/// Where distributions put what they strip off their files.
const DEBUG_FILES: &str = "/usr/lib/debug";

/// A file that may have what was stripped off another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Separate {
    path: PathBuf,
    /// Its checksum, if it is known.
    crc: Option<u32>,
}

impl Separate {
    /// Where it may be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it, if it has the checksum. All of the file is read for that.
    pub fn open<'a>(&self, left: &'a mut u64) -> Option<ElfFile<'a>> {
        let mut file = ElfFile::at(&self.path, left)?;
        let fits = self.crc.is_none_or(|crc| file.crc() == Some(crc));
        fits.then_some(file)
    }
}

/// Where the file may be that belongs to the one at `path`, which is that of a module and has this
/// link, in the order of gdb.
pub fn places(path: &Path, module: &Module, link: Option<DebugLink>) -> Vec<Separate> {
    let by_id = module.build_id.as_deref().and_then(by_id);
    let by_id = by_id.map(|path| Separate { path, crc: None });
    let mut found: Vec<Separate> = by_id.into_iter().collect();
    let Some(DebugLink { name, crc }) = link else {
        return found;
    };
    let name = OsStr::from_bytes(&name);
    // Of a living process, the path may be a link that says nothing about the folder.
    let real = std::fs::canonicalize(path).ok();
    let files = [Some(path.to_path_buf()), real, Some(module.path.clone())];
    for folder in files.iter().flatten().filter_map(|file| file.parent()) {
        let below = folder.strip_prefix("/").unwrap_or(folder);
        for path in [
            folder.join(name),
            folder.join(".debug").join(name),
            Path::new(DEBUG_FILES).join(below).join(name),
        ] {
            let place = Separate {
                path,
                crc: Some(crc),
            };
            if !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

fn by_id(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let name = format!("{}.debug", hex(rest));
    let folder = Path::new(DEBUG_FILES).join(".build-id");
    (!rest.is_empty()).then(|| folder.join(hex(&[*first])).join(name))
}

/// The sections of a file that was stripped off that of a module, if it has its build id. What
/// tools leave of the segments need not fit to such a file: its sections tell as well.
pub fn sections<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    module: &Module,
) -> Option<(Sections<E>, Endianness)> {
    let (header, endian) = file.header::<E>()?;
    let sections = Sections::of(file, &header, endian)?;
    let fits = is_of::<E>(module, file, &header, endian)
        || module.build_id.is_some()
            && build_id_of_sections(file, &sections, endian) == module.build_id;
    fits.then_some((sections, endian))
}

/// The build id in the sections with notes.
fn build_id_of_sections<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    sections: &Sections<E>,
    endian: Endianness,
) -> Option<Vec<u8>> {
    let mut notes = sections.of_type(elf::SHT_NOTE);
    notes.find_map(|section| {
        let place = (
            section.sh_offset(endian).into(),
            section.sh_size(endian).into(),
        );
        build_id_among::<E>(file, endian, place, section.sh_addralign(endian))
    })
}
