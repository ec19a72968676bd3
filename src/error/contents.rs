//! Tells the kind of a file that was mistaken for another, by its first bytes.

use crate::layout::MAGIC;

/// The first bytes of files, and their kinds.
const KNOWN: [(&[u8], &str); 13] = [
    (&MAGIC, "a timeline, or a snapshot of one"),
    (b"\xc1\xce", "an archive of timelines"),
    (
        b"timeline index 1",
        "the index of an archive; name the archive, whose name is that without .idx",
    ),
    (b"\x1f\x8b", "compressed by gzip; unpack it first (gunzip)"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed by zstd; unpack it first (unzstd)",
    ),
    (b"\xfd7zXZ\0", "compressed by xz; unpack it first (unxz)"),
    (b"BZh", "compressed by bzip2; unpack it first (bunzip2)"),
    (
        b"\x04\x22\x4d\x18",
        "compressed by lz4; unpack it first (unlz4)",
    ),
    (b"PK\x03\x04", "a ZIP file; unpack it first (unzip)"),
    (b"\x7fELF", "a program, a library or a core dump (ELF)"),
    (b"PERFILE2", "a recording of perf; `perf script` reads it"),
    (b"SQLite f", "a database of SQLite"),
    (b"%PDF-", "a PDF file"),
];

/// The kind of a file that begins with these bytes: "text", "compressed by gzip; unpack it first
/// (gunzip)". Sixteen bytes are enough.
///
/// # Example
/// ```
/// let kind = timeline::internal::looks_like(b"\x7fELF\x02\x01\x01");
/// assert_eq!(kind, "a program, a library or a core dump (ELF)");
/// ```
pub fn looks_like(beginning: &[u8]) -> &'static str {
    let known = KNOWN.iter().find(|(bytes, _)| beginning.starts_with(bytes));
    match known {
        Some((_, what)) => what,
        None if beginning.is_empty() => "empty",
        None if beginning.iter().all(|byte| *byte == 0) => "empty, or begins with zeros",
        None if is_text(beginning) => "text",
        None => "data of another kind",
    }
}

/// Whether it is the beginning of a text in UTF-8. Zeros may follow the text.
fn is_text(beginning: &[u8]) -> bool {
    let end = beginning.iter().rposition(|byte| *byte != 0);
    let beginning = &beginning[..end.map_or(0, |end| end + 1)];
    let text = match std::str::from_utf8(beginning) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&beginning[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_plain = |c: char| !c.is_control() || c.is_ascii_whitespace();
    !text.is_empty() && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_kinds_are_known() {
        for (beginning, what) in [
            (&b""[..], "empty"),
            (&[0; 8], "empty, or begins with zeros"),
            (b"Dear rea", "text"),
            (b"{\"a\":\r\n", "text"),
            ("für Gä\u{fc}".as_bytes(), "text"),
            (&"1234567ü".as_bytes()[..8], "text"),
            (b"hi\0\0\0\0\0\0", "text"),
            (
                b"\x1f\x8b\x08\0\0\0\0\0",
                "compressed by gzip; unpack it first (gunzip)",
            ),
            (b"timeline index 2", "text"),
            (
                b"timeline index 1\0",
                "the index of an archive; name the archive, whose name is that without .idx",
            ),
            (b"\xc1\xce\0\0", "an archive of timelines"),
            (b"\xff\xfe\0\x01abc", "data of another kind"),
            (b"\x01\x02text", "data of another kind"),
        ] {
            assert_eq!(looks_like(beginning), what, "{beginning:x?}");
        }
    }
}
