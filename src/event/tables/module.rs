//! The objects that a process has loaded, as text: readers name addresses by it.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::shm;

/// Bytes of the longest path: PATH_MAX includes the NUL.
const MAX_PATH: usize = 4096;

/// Bytes of the longest build id. Linkers write 8 to 20 unless one is given to them.
const MAX_BUILD_ID: usize = 64;

/// A place in the source of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The path of the file, as the compiler wrote it.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
}

/// A function that the compiler put into another one, in place of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct InlinedFunction {
    /// Its name, as debug information spells it: mangled, if the language does that.
    pub name: Option<String>,
    /// The line of it.
    pub source: Option<SourceLine>,
}

impl InlinedFunction {
    /// The most functions that are inlined at one address.
    pub const MOST: usize = 64;
}

/// A program or library that a process has loaded.
///
/// # Example
/// ```
/// use timeline::Module;
/// let module = Module {
///     pid: 4711,
///     base: 0x7f31_0000_0000,
///     start: 0x7f31_0000_0000,
///     end: 0x7f31_0002_4000,
///     path: "/usr/lib/libexample.so.1".into(),
///     build_id: Some(vec![0xc0, 0xff, 0xee]),
///     version: None,
/// };
/// let text = "4711 7f3100000000 7f3100000000 7f3100024000 c0ffee /usr/lib/libexample.so.1";
/// assert_eq!(module.encode(), text);
/// assert_eq!(Module::parse(text), Some(module));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Module {
    /// The process, by its id in its own pid namespace.
    pub pid: u32,
    /// Where the lowest page of the file is mapped: what dladdr calls `dli_fbase`.
    pub base: u64,
    /// The first address of its segments.
    pub start: u64,
    /// The first address behind them.
    pub end: u64,
    /// The absolute path of its file. Some, like that of the vDSO, cannot be opened.
    pub path: PathBuf,
    /// Its build id: the note NT_GNU_BUILD_ID, 1 to 64 bytes. Tells whether a file is still the
    /// same.
    pub build_id: Option<Vec<u8>>,
    /// What tells it of a file without a build id. With neither, no file is believed.
    pub version: Option<FileVersion>,
}

/// Which version of a file it is, as far as the system tells: another one has been written to
/// since, or has taken its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileVersion {
    /// Bytes of the file.
    pub size: u64,
    /// When it was written, in nanoseconds since the epoch.
    pub modified: u64,
    /// The number of its inode.
    pub inode: u64,
}

impl FileVersion {
    /// That of an open file, or of one at a path.
    pub fn of(file: &Metadata) -> FileVersion {
        let seconds = file.mtime().cast_unsigned();
        FileVersion {
            size: file.size(),
            modified: seconds
                .wrapping_mul(1_000_000_000)
                .wrapping_add(file.mtime_nsec().cast_unsigned()),
            inode: file.ino(),
        }
    }

    /// That of the file at `path`, if this process has the same file mapped at `address`: another
    /// one may have the name by now.
    pub fn of_mapped(path: &Path, address: u64) -> Option<FileVersion> {
        let maps = shm::read_to_string(Path::new("/proc/self/maps")).ok()?;
        // START-END PERMISSIONS OFFSET DEVICE INODE PATH
        let mapped = maps.lines().find_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (start, end) = fields.next()?.split_once('-')?;
            let number = |text: &str| u64::from_str_radix(text, 16).ok();
            let is_there = (number(start)?..number(end)?).contains(&address);
            let inode = fields.nth(3)?;
            is_there.then(|| inode.parse::<u64>().ok())?
        });
        let version = FileVersion::of(&std::fs::metadata(path).ok()?);
        (mapped == Some(version.inode)).then_some(version)
    }

    fn parse(text: &str) -> Option<FileVersion> {
        let mut numbers = text.split(',').map(|number| number.parse().ok());
        let mut number = || numbers.next()?;
        let version = FileVersion {
            size: number()?,
            modified: number()?,
            inode: number()?,
        };
        numbers.next().is_none().then_some(version)
    }
}

impl Module {
    /// `pid base start end build-id path`, one space between each: the pid in decimal, the
    /// addresses and the build id in hexadecimal. Without a build id, `size,modified,inode` stand
    /// for it in decimal, or else `-`.
    ///
    /// `%`, control characters and bytes that are not UTF-8 are written in the path as `%` and two
    /// hexadecimal digits. A build id longer than 64 bytes is left out.
    pub fn encode(&self) -> String {
        let path = self.path.as_os_str().as_bytes();
        let mut text = String::with_capacity(128 + path.len());
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "{} {:x} {:x} {:x} ",
            self.pid, self.base, self.start, self.end
        );
        match &self.build_id {
            Some(id) if (1..=MAX_BUILD_ID).contains(&id.len()) => {
                for byte in id {
                    let _ = write!(text, "{byte:02x}");
                }
            }
            _ => match self.version {
                Some(FileVersion {
                    size,
                    modified,
                    inode,
                }) => {
                    let _ = write!(text, "{size},{modified},{inode}");
                }
                None => text.push('-'),
            },
        }
        text.push(' ');
        for chunk in path.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c == '%' || c.is_ascii_control() {
                    let _ = write!(text, "%{:02x}", u32::from(c));
                } else {
                    text.push(c);
                }
            }
            for byte in chunk.invalid() {
                let _ = write!(text, "%{byte:02x}");
            }
        }
        text
    }

    /// Parses the text of [`encode`](Module::encode). `None` for any other text: a field is missing
    /// or too long, the path is empty, or no address is between `start` and `end`.
    pub fn parse(text: &str) -> Option<Module> {
        // No path is longer, even if all of its bytes are escaped.
        if text.len() > 3 * MAX_PATH + 256 {
            return None;
        }
        let mut fields = text.splitn(6, ' ');
        let pid = fields.next()?.parse().ok()?;
        let mut address = || u64::from_str_radix(fields.next()?, 16).ok();
        let (base, start, end) = (address()?, address()?, address()?);
        let (build_id, version) = match fields.next()? {
            "-" => (None, None),
            version if version.contains(',') => (None, Some(FileVersion::parse(version)?)),
            id => (Some(unhex(id)?), None),
        };
        let path = unescape(fields.next()?)?;
        let sound = start < end && !path.is_empty() && path.len() < MAX_PATH;
        sound.then(|| Module {
            pid,
            base,
            start,
            end,
            path: OsString::from_vec(path).into(),
            build_id,
            version,
        })
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if digits.is_empty() || digits.len() > 2 * MAX_BUILD_ID || !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(byte).collect()
}

/// The byte that two hexadecimal digits stand for.
fn byte(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut path = Vec::with_capacity(text.len());
    let mut pieces = text.as_bytes().split(|b| *b == b'%');
    path.extend_from_slice(pieces.next()?);
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        path.push(byte(digits)?);
        path.extend_from_slice(rest);
    }
    // No system call takes a path with a NUL, and as a C string it would be another path.
    (!path.contains(&0)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths() -> impl Strategy<Value = Vec<u8>> {
        let plain = "[a-zé%/ .\n\u{7f}]{1,40}".prop_map(String::into_bytes);
        let bytes = prop::collection::vec(1..=255u8, 1..40);
        let long = Just(vec![b'/'; MAX_PATH - 1]);
        let longest = Just(vec![0xff; MAX_PATH - 1]);
        prop_oneof![8 => plain, 8 => bytes, 1 => long, 1 => longest]
    }

    prop_compose! {
        fn modules()(
            pid: u32,
            base: u64,
            start in 0..u64::MAX,
            size in 1..=u64::MAX,
            path in paths(),
            build_id in prop::option::of(prop::collection::vec(any::<u8>(), 1..=MAX_BUILD_ID)),
            version in prop::option::of(any::<(u64, u64, u64)>()),
        ) -> Module {
            let end = start.saturating_add(size);
            let path = OsString::from_vec(path).into();
            let version = version.filter(|_| build_id.is_none());
            let version = version.map(|(size, modified, inode)| {
                FileVersion { size, modified, inode }
            });
            Module { pid, base, start, end, path, build_id, version }
        }
    }

    proptest! {
        #[test]
        fn a_module_survives_being_text(module in modules()) {
            let text = module.encode();
            prop_assert!(text.chars().all(|c| !c.is_ascii_control()), "{text:?}");
            prop_assert_eq!(Module::parse(&text), Some(module));
        }

        #[test]
        fn what_is_accepted_is_a_module(text in "[0-3]{0,2} ?[0-9a-g]{1,17} [0-9]{1,3} [0-9]{3,4} \
         (-|[0-9a-g]{0,4}|[0-9]{0,2},[0-9]{1,2},[0-9,]{0,3}) [/a%0-9é]{0,6}") {
            if let Some(module) = Module::parse(&text) {
                prop_assert_eq!(Module::parse(&module.encode()), Some(module));
            }
        }

        #[test]
        fn any_text_is_taken(text in "\\PC{0,64}") {
            let _ = Module::parse(&text);
        }
    }

    #[test]
    fn what_is_damaged_is_refused() {
        assert!(Module::parse("1 0 0 10 - /a b").is_some_and(|m| m.path == *"/a b"));
        for text in [
            "",
            "1",
            "1 0 0 10",
            "1 0 0 10 -",
            "1 0 0 10 - ",
            "1 0 0 10 /a",
            "-1 0 0 10 - /a",
            "4294967296 0 0 10 - /a",
            "1 0 0 1ffffffffffffffff - /a",
            "1 0 10 10 - /a",
            "1 0 11 10 - /a",
            "1 0 0 10 abc /a",
            "1 0 0 10 ag /a",
            "1 0 0 10 é /a",
            "1 0 0 10 1,2 /a",
            "1 0 0 10 1,2, /a",
            "1 0 0 10 1,2,3,4 /a",
            "1 0 0 10 1,2,-3 /a",
            "1 0 0 10 1,2,18446744073709551616 /a",
            "1 0 0 10 - /a%",
            "1 0 0 10 - /a%4",
            "1 0 0 10 - /a%g0",
            "1 0 0 10 - /a%é",
            "1 0 0 10 - /a%00b",
        ] {
            assert_eq!(Module::parse(text), None, "{text:?}");
        }
        let sized = |id: usize, path: usize| {
            let text = format!("1 0 0 10 {} {}", "ab".repeat(id), "/".repeat(path));
            Module::parse(&text).is_some()
        };
        assert!(sized(MAX_BUILD_ID, MAX_PATH - 1));
        assert!(!sized(MAX_BUILD_ID + 1, 1));
        assert!(!sized(1, MAX_PATH));
        assert!(!sized(1, 1 << 20));
    }

    #[test]
    fn a_build_id_that_is_too_long_is_left_out() {
        let mut module = Module::parse("1 0 0 10 - /a").unwrap();
        for length in [0, MAX_BUILD_ID + 1] {
            module.build_id = Some(vec![7; length]);
            assert_eq!(module.encode(), "1 0 0 10 - /a");
        }
    }
}
