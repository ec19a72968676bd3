//! A field of the text: its width, and its padding.

use super::parse::FormatFlags;

/// Flags, width and precision within their bounds. Those from arguments are filled in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spec {
    pub flags: FormatFlags,
    /// In bytes.
    pub width: usize,
    pub precision: Option<usize>,
}

impl Spec {
    /// The precision of a floating-point number: 6 if none is given.
    pub fn decimals(&self) -> usize {
        self.precision.unwrap_or(6)
    }

    /// The sign that a number shows.
    pub fn sign(&self, negative: bool) -> &'static [u8] {
        match (negative, self.flags.plus, self.flags.space) {
            (true, ..) => b"-",
            (false, true, _) => b"+",
            (false, false, true) => b" ",
            (false, false, false) => b"",
        }
    }
}

/// Appends text, padded with spaces.
pub fn append(body: &[u8], spec: &Spec, out: &mut Vec<u8>) {
    let padding = spec.width.saturating_sub(body.len());
    if !spec.flags.left {
        fill(out, b' ', padding);
    }
    out.extend_from_slice(body);
    if spec.flags.left {
        fill(out, b' ', padding);
    }
}

/// Appends a number: the prefix (sign or `0x`), its own zeros, and the digits. With `with_zeros` it
/// is padded with zeros after the prefix, unless it stands on the left.
pub fn append_number(
    prefix: &[u8],
    zeros: usize,
    body: &[u8],
    with_zeros: bool,
    spec: &Spec,
    out: &mut Vec<u8>,
) {
    let padding = spec.width.saturating_sub(prefix.len() + zeros + body.len());
    let left = spec.flags.left;
    let inside = with_zeros && !left;
    if !left && !inside {
        fill(out, b' ', padding);
    }
    out.extend_from_slice(prefix);
    fill(out, b'0', zeros + if inside { padding } else { 0 });
    out.extend_from_slice(body);
    if left {
        fill(out, b' ', padding);
    }
}

/// Appends the same byte several times.
pub fn fill(out: &mut Vec<u8>, byte: u8, count: usize) {
    out.resize(out.len() + count, byte);
}
