//! Writes durations as people read them: 12.5 ms.

/// The units of durations, and their nanoseconds.
const UNITS: [(&str, f64); 7] = [
    ("d", 86_400e9),
    ("h", 3_600e9),
    ("min", 60e9),
    ("s", 1e9),
    ("ms", 1e6),
    ("µs", 1e3),
    ("ns", 1.0),
];

/// A duration in nanoseconds with three significant digits: `850 ns`, `12.5 ms`, `1.5 min`.
///
/// # Example
/// ```
/// use timeline_latency::intervals::duration;
///
/// assert_eq!(duration(12_504_000.0), "12.5 ms");
/// assert_eq!(duration(90e9), "1.5 min");
/// ```
pub fn duration(nanos: f64) -> String {
    let size = nanos.abs();
    // What three digits round up to a larger unit is of that one.
    let fits = |(_, unit): &&(&str, f64)| size * 1.000_5 >= *unit;
    let (name, unit) = UNITS.iter().find(fits).unwrap_or(&UNITS[6]);
    let number = nanos / unit;
    let decimals = match number.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        for (nanos, text) in [
            (0.0, "0 ns"),
            (0.5, "0.5 ns"),
            (1.0, "1 ns"),
            (999.0, "999 ns"),
            (999.9, "1 µs"),
            (1_000.0, "1 µs"),
            (1_234.0, "1.23 µs"),
            (99_960.0, "100 µs"),
            (12_500_000.0, "12.5 ms"),
            (3.2e9, "3.2 s"),
            (-90e9, "-1.5 min"),
            (7_200e9, "2 h"),
            (172_800e9, "2 d"),
        ] {
            assert_eq!(duration(nanos), text, "{nanos}");
        }
    }
}
