//! Text for C: ended by a NUL, and cut between characters if it does not fit.
use std::ffi::{CString, c_char};

/// Text for C, which ends at the first NUL: a NUL inside (from a forged timeline) becomes U+FFFD.
pub(crate) fn to_c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| {
        let text = text.replace('\0', "\u{fffd}");
        CString::new(text).unwrap_or_default()
    })
}

/// The length of the longest whole-character beginning of `text` that has at most `room` bytes.
/// Text that is not UTF-8 may be cut anywhere.
pub(crate) fn floor(text: &[u8], room: usize) -> usize {
    if room >= text.len() {
        return text.len();
    }
    // A character has at most three bytes behind its first.
    let begin = (room.saturating_sub(3)..=room).rev();
    let goes_on = |at: &usize| text[*at] & 0xc0 == 0x80;
    begin.into_iter().find(|at| !goes_on(at)).unwrap_or(room)
}

/// `text` cut to fit `N` bytes with the closing NUL, between characters.
pub(crate) fn to_array<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    let whole = text.split('\0').next().unwrap_or_default();
    let fits = floor(whole.as_bytes(), N - 1);
    for (to, from) in array.iter_mut().zip(whole[..fits].bytes()) {
        *to = from as c_char;
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn shown<const N: usize>(text: &str) -> String {
        let bytes: Vec<u8> = to_array::<N>(text).map(|c| c as u8).to_vec();
        CStr::from_bytes_until_nul(&bytes)
            .expect("there is always a NUL")
            .to_str()
            .expect("characters stay whole")
            .to_string()
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(shown::<16>("a name of sixteen"), "a name of sixte");
        assert_eq!(shown::<4>("aé"), "aé");
        assert_eq!(shown::<4>("aaé"), "aa");
        assert_eq!(shown::<4>("→→"), "→");
        assert_eq!(shown::<3>("→"), "");
        assert_eq!(shown::<1>("a"), "");
        assert_eq!(shown::<8>("a\0b"), "a");
        for room in 0..8 {
            let fits = floor("aé→𝄞".as_bytes(), room);
            assert!(fits <= room && "aé→𝄞".is_char_boundary(fits));
        }
        assert_eq!(floor("aé→𝄞".as_bytes(), 100), 10);
        assert_eq!(floor(b"\x80\x80\x80\x80\x80\x80", 5), 5);
    }
}
