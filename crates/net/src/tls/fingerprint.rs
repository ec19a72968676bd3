//! Names a certificate by its SHA-256.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// The SHA-256 of a certificate in DER, as `openssl x509 -noout -fingerprint -sha256` shows it.
///
/// It is written as `sha256:` and 64 hexadecimal digits. When it is read, the digits may be
/// capitals, and may have colons between them.
///
/// # Example
/// ```
/// use timeline_net::Fingerprint;
/// let name = Fingerprint::of(b"a certificate in DER");
/// assert_eq!(name.to_string().parse(), Ok(name));
/// assert!("sha256:12".parse::<Fingerprint>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// That of a certificate.
    pub fn of(certificate: &[u8]) -> Fingerprint {
        Fingerprint(Sha256::digest(certificate).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Fingerprint, String> {
        let expected = || "expected sha256: and 64 hexadecimal digits, as the store printed".into();
        let digits = match text.split_at_checked(7) {
            Some((name, digits)) if name.eq_ignore_ascii_case("sha256:") => digits,
            _ => text,
        };
        let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b':').collect();
        if digits.len() != 64 {
            return Err(expected());
        }
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let high = digit(pair[0]).ok_or_else(expected)?;
            let low = digit(pair[1]).ok_or_else(expected)?;
            *byte = high << 4 | low;
        }
        Ok(Fingerprint(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_in_all_the_ways_that_it_is_shown() {
        // printf abc | sha256sum
        let plain = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let bytes = plain.as_bytes().chunks(2);
        let pairs: Vec<_> = bytes.map(|pair| str::from_utf8(pair).unwrap()).collect();
        let colons = pairs.join(":").to_uppercase();
        let expected = Fingerprint::of(b"abc");
        for text in [
            plain,
            &colons,
            &format!("SHA256:{colons}"),
            &format!("sha256:{plain}"),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for bad in [
            "",
            "sha256:",
            "ü",
            "sha256:ü",
            &plain[1..],
            &plain.replace('b', "g"),
        ] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }
}
