//! The lines of a message: each ends with a line feed or with the message.

/// The lines, without their line feeds. An empty message has one. A carriage return belongs to its
/// line.
///
/// # Example
/// ```
/// # use timeline_search::message_lines;
/// assert!(message_lines("sent\r\n\nmore\n").eq(["sent\r", "", "more"]));
/// assert!(message_lines("").eq([""]));
/// ```
pub fn message_lines(message: &str) -> impl Iterator<Item = &str> {
    let empty = message.is_empty().then_some("");
    message.split_terminator('\n').chain(empty)
}

/// How many lines a message has.
pub fn line_count(message: &str) -> u64 {
    match memchr::memchr(b'\n', message.as_bytes()) {
        None => 1,
        Some(_) => message_lines(message).count() as u64,
    }
}
