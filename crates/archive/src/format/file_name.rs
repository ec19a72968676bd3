//! The names of the files over which an archive is spread: timeline-000001.tla and so on.

/// The name of the file of this number.
pub fn file_name(number: u64) -> String {
    format!("timeline-{number:06}.tla")
}

/// The number of a file, if it has the name of one of these.
pub fn file_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("timeline-")?.strip_suffix(".tla")?;
    let number = digits.parse().ok()?;
    (format!("{number:06}") == digits).then_some(number)
}
