//! Sizes, as people write them: 64M, 1GiB, 500KB.

use parse_size::{Config, Error};
use timeline::dump::printable;

/// The smallest limit: each file repeats the definitions and strings of its events, a few
/// kilobytes.
const LEAST: u64 = 64 << 10;

/// Parses the size of a file, like `parse_size`.
pub fn parse_file_size(text: &str) -> Result<u64, String> {
    match parse_size(text)? {
        size if size < LEAST => Err(format!(
            "expected at least 64K, since each file repeats the definitions of its events, got \
             {text}"
        )),
        size => Ok(size),
    }
}

/// Parses a size in bytes, such as 65536, 64K, 1.5G or 1GiB, of at least 1. K, M, G and T alone,
/// and with iB, count in powers of 1024; with B in powers of 1000.
fn parse_size(text: &str) -> Result<u64, String> {
    let config = match text.ends_with(['B', 'b']) {
        true => Config::new().with_decimal(),
        false => Config::new().with_binary(),
    };
    let expected = match config.parse_size(text) {
        Ok(0) => " above zero",
        Ok(size) => return Ok(size),
        Err(Error::PosOverflow) => " below 16 EiB",
        Err(_) => ", such as 65536, 64K, 64M or 1GiB",
    };
    Err(format!(
        "expected a size{expected}, got {}",
        printable(text)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_least_size() {
        for small in ["1", "64", "65535", "63K", "65KB"] {
            let error = parse_file_size(small).unwrap_err();
            assert!(error.contains("at least 64K") && error.ends_with(small));
        }
        assert_eq!(parse_file_size("64K"), Ok(64 << 10));
        assert_eq!(parse_file_size("66KB"), Ok(66_000));
        assert!(parse_file_size("0").unwrap_err().contains("above zero"));
    }

    #[test]
    fn sizes_parse_with_the_units_in_use() {
        let parse = |text| parse_size(text).ok();
        assert_eq!(parse("65536"), Some(65_536));
        assert_eq!(parse("7B"), Some(7));
        assert_eq!(parse("64K"), Some(64 << 10));
        assert_eq!(parse("64k"), Some(64 << 10));
        assert_eq!(parse("64 MiB"), Some(64 << 20));
        assert_eq!(parse("500KB"), Some(500_000));
        assert_eq!(parse("1GiB"), Some(1 << 30));
        assert_eq!(parse("1T"), Some(1 << 40));
        assert_eq!(parse("16777215T"), Some(16_777_215 << 40));
        assert_eq!(parse("1m"), Some(1 << 20));
        assert_eq!(parse("500kb"), Some(500_000));
        assert_eq!(parse("1.5M"), Some(3 << 19));
        for bad in [
            "",
            "0",
            "0K",
            "0.1",
            "-1",
            "M",
            "iB",
            "1XiB",
            "64 M B",
            "16777216T",
        ] {
            assert!(parse(bad).is_none(), "{bad} was taken for a size");
        }
    }
}
