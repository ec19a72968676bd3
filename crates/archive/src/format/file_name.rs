//! Names the numbered files of an archive: timeline-000001.tla and so on.

/// The name of the file with this number.
pub fn file_name(number: u64) -> String {
    format!("timeline-{number:06}.tla")
}

/// The number in the name of a file, if the name has the form of a numbered file.
pub fn file_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("timeline-")?.strip_suffix(".tla")?;
    let number = digits.parse().ok()?;
    (format!("{number:06}") == digits).then_some(number)
}
