//! Numbers and tables as people read them.

use std::fmt;
use std::io::{self, Write};

use anstyle::Style;
pub use timeline::Bytes;
use timeline::dump::printable;
use timeline::internal::short;

/// A count with separated thousands: `1,048,576`.
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() * 4 / 3);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

/// A number of things, in words: `1 event`, `2,000 events`, `3 entries`.
pub fn things(count: u64, thing: &str) -> String {
    let (stem, plural) = match thing.strip_suffix('y') {
        Some(stem) => (stem, "ies"),
        None => (thing, "s"),
    };
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{} {stem}{plural}", Count(count)),
    }
}

/// The verb that agrees with a count.
pub fn agree(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// A number per second, in words: `1 event a second`, `2.5 k entries a second`.
pub fn rate(rate: f64, thing: &str) -> String {
    let number = MetricNumber(rate).to_string();
    let things = things(if number == "1" { 1 } else { 2 }, thing);
    let (_, word) = things.split_once(' ').unwrap_or_default();
    format!("{number} {word} a second")
}

/// Bytes, as other tools print digests.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number of 64 bits for programs: many read only 53 bits of a JSON number.
pub fn hex(number: Option<u64>) -> Option<String> {
    number.map(|number| format!("{number:#018x}"))
}

/// A number with a decimal prefix: `512`, `1.2 k`, `25 M`, `2.6 G`.
pub struct MetricNumber(pub f64);

impl fmt::Display for MetricNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut prefix = "";
        let mut rate = self.0;
        for larger in [" k", " M", " G"] {
            if rate < 1000.0 {
                break;
            }
            (rate, prefix) = (rate / 1000.0, larger);
        }
        f.pad(&format!("{}{prefix}", short(rate)))
    }
}

/// A part of a whole in percent, rounded. Only nothing is 0%, and only everything is 100%.
pub fn percent(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0%".into();
    }
    if part >= whole {
        return "100%".into();
    }
    let (part, whole) = (u128::from(part), u128::from(whole));
    match (part * 200 + whole) / (whole * 2) {
        0 => "<1%".into(),
        percent => format!("{}%", percent.min(99)),
    }
}

/// One cell of a table.
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell of styled text, as far as it is printable.
    pub fn new(style: Style, text: impl AsRef<str>) -> Cell {
        Cell {
            text: printable(text.as_ref()).into_owned(),
            style,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::new(Style::new(), text)
    }
}

/// The edge of a column that its cells are aligned to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Writes rows under a heading, each column as wide as its widest cell. A row shorter than the
/// heading ends in a remark, which may be longer than its column.
pub fn table(
    out: &mut impl Write,
    heading: Style,
    columns: &[(&str, Align)],
    rows: &[Vec<Cell>],
) -> io::Result<()> {
    let mut widths: Vec<usize> = columns.iter().map(|(name, _)| name.len()).collect();
    for row in rows {
        let remark = row.len() < columns.len();
        let measured = row.len() - usize::from(remark);
        for (width, cell) in widths.iter_mut().zip(&row[..measured]) {
            *width = (*width).max(cell.text.chars().count());
        }
    }
    let titles: Vec<Cell> = columns
        .iter()
        .map(|(name, _)| Cell::new(heading, *name))
        .collect();
    for row in std::iter::once(&titles).chain(rows) {
        for (i, (cell, (_, align))) in row.iter().zip(columns).enumerate() {
            let (style, text, width) = (cell.style, &cell.text, widths[i]);
            let padding = " ".repeat(width.saturating_sub(text.chars().count()));
            let last = i + 1 == row.len();
            match align {
                Align::Left if last => write!(out, "{style}{text}{style:#}")?,
                Align::Left => write!(out, "{style}{text}{style:#}{padding}")?,
                Align::Right => write!(out, "{padding}{style}{text}{style:#}")?,
            }
            out.write_all(if last { b"\n" } else { b"  " })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(Count(0).to_string(), "0");
        assert_eq!(Count(999).to_string(), "999");
        assert_eq!(Count(1_048_576).to_string(), "1,048,576");
        assert_eq!(Bytes(12).to_string(), "12 B");
        assert_eq!(Bytes(64 << 20).to_string(), "64 MiB");
        assert_eq!(Bytes(1_230).to_string(), "1.2 KiB");
        assert_eq!(MetricNumber(2.6e9).to_string(), "2.6 G");
        assert_eq!(MetricNumber(512.0).to_string(), "512");
        assert_eq!(things(1, "event"), "1 event");
        assert_eq!(things(2_000, "event"), "2,000 events");
        assert_eq!(rate(1.0, "entry"), "1 entry a second");
        assert_eq!(rate(1_200.0, "entry"), "1.2 k entries a second");
        assert_eq!(agree(1, "is", "are"), "is");
    }

    #[test]
    fn percents_are_rounded_and_do_not_claim_nothing_or_everything() {
        assert_eq!(percent(2_499, 10_000), "25%");
        assert_eq!(percent(6, 7), "86%");
        assert_eq!(percent(1, 7), "14%");
        assert_eq!(percent(1, 200), "1%");
        assert_eq!(percent(u64::MAX / 2, u64::MAX), "50%");
        assert_eq!(percent(0, 10), "0%");
        assert_eq!(percent(1, 1_000_000), "<1%");
        assert_eq!(percent(999_999, 1_000_000), "99%");
        assert_eq!(percent(10, 10), "100%");
        assert_eq!(percent(0, 0), "0%");
    }

    #[test]
    fn tables_align_and_leave_remarks_alone() {
        let cell = |text: &str| Cell::from(text.to_string());
        let rows = vec![
            vec![cell("/a"), cell("12"), cell("x")],
            vec![cell("/long"), cell("broken: a long remark")],
        ];
        let columns = [
            ("NAME", Align::Left),
            ("N", Align::Right),
            ("BY", Align::Left),
        ];
        let mut out = Vec::new();
        table(&mut out, Style::new(), &columns, &rows).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "NAME    N  BY\n/a     12  x\n/long  broken: a long remark\n"
        );
    }
}
