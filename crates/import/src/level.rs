//! Finds the priority that a line of a log says.

use timeline::Priority;

/// So much of a line is looked at.
const LOOKED_AT: usize = 200;

/// Words for priorities. They count as whole words.
const WORDS: &[(&str, Priority)] = &[
    ("emerg", Priority::Error),
    ("emergency", Priority::Error),
    ("alert", Priority::Error),
    ("fatal", Priority::Error),
    ("panic", Priority::Error),
    ("crit", Priority::Error),
    ("critical", Priority::Error),
    ("severe", Priority::Error),
    ("error", Priority::Error),
    ("err", Priority::Error),
    ("warning", Priority::Warning),
    ("warn", Priority::Warning),
    ("notice", Priority::Info),
    ("information", Priority::Info),
    ("info", Priority::Info),
    ("debug", Priority::Trace),
    ("trace", Priority::Packet),
    ("verbose", Priority::Packet),
];

/// The priority of lines with this constant text. `time` is the end of the text before their time.
pub fn level(text: &[u8], time: Option<usize>) -> Option<Priority> {
    let numbered = syslog(text)
        .or_else(|| journald(text))
        .or_else(|| bunyan(text));
    numbered
        .or_else(|| time.and_then(|at| klog(&text[..at])))
        .or_else(|| word(&text[..text.len().min(LOOKED_AT)]))
}

/// Whether this word may say a priority.
pub fn is_level(word: &[u8]) -> bool {
    of_word(word).is_some()
}

/// The priority that a word says, in capitals or not.
pub fn of_word(word: &[u8]) -> Option<Priority> {
    let mut words = WORDS.iter();
    let found = words.find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
    found.map(|(_, priority)| *priority)
}

/// The levels of bunyan and pino.
pub fn of_number(number: u64) -> Option<Priority> {
    Some(match number {
        10 => Priority::Packet,
        20 => Priority::Trace,
        30 => Priority::Info,
        40 => Priority::Warning,
        50 | 60 => Priority::Error,
        _ => return None,
    })
}

/// The severities of syslog, from 0 (emergency) to 7 (debug).
fn severity(number: u64) -> Priority {
    match number {
        0..=3 => Priority::Error,
        4 => Priority::Warning,
        5 | 6 => Priority::Info,
        _ => Priority::Trace,
    }
}

fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// `<34>` at the beginning: the facility, times 8, and the severity.
fn syslog(text: &[u8]) -> Option<Priority> {
    let rest = text.strip_prefix(b"<")?;
    let all = number(rest)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (rest.get(digits) == Some(&b'>') && all < 192).then(|| severity(all % 8))
}

fn journald(text: &[u8]) -> Option<Priority> {
    let at = memchr::memmem::find(text, b"\"PRIORITY\":\"")?;
    number(&text[at + 12..])
        .filter(|number| *number < 8)
        .map(severity)
}

/// `"level":30`, as bunyan and pino write it.
fn bunyan(text: &[u8]) -> Option<Priority> {
    let at = memchr::memmem::find(text, b"\"level\":")?;
    of_number(number(&text[at + 8..])?)
}

/// A letter right before the time at the beginning of a line.
fn klog(before: &[u8]) -> Option<Priority> {
    Some(match before {
        b"E" | b"F" => Priority::Error,
        b"W" => Priority::Warning,
        b"I" => Priority::Info,
        _ => return None,
    })
}

/// The first word for a priority that is written as such: in capitals, in brackets or quotes,
/// behind `=`, or before a colon.
fn word(text: &[u8]) -> Option<Priority> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|byte| is_letter(byte)).count();
        let word = &text[at..at + length];
        if let Some(priority) = of_word(word) {
            let before = at.checked_sub(1).map(|at| text[at]);
            let behind = text.get(at + length);
            let is_marked = before.is_some_and(|byte| b"[<(\"=|".contains(&byte))
                || behind.is_some_and(|byte| b":]".contains(byte));
            if is_marked || word.iter().all(u8::is_ascii_uppercase) {
                return Some(priority);
            }
        }
        at += length.max(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_found_where_logs_write_them() {
        for (text, time, expected) in [
            ("<34>1  host su: x", None, Some(Priority::Error)),
            ("<30> host x", None, Some(Priority::Info)),
            ("<999> host x", None, None),
            (" ERROR failed", Some(0), Some(Priority::Error)),
            (" [warn] slow", Some(0), Some(Priority::Warning)),
            ("level=debug msg=x", None, Some(Priority::Trace)),
            ("{\"level\":\"info\",\"msg\":1}", None, Some(Priority::Info)),
            ("{\"level\":50,\"msg\":1}", None, Some(Priority::Error)),
            ("{\"PRIORITY\":\"4\"}", None, Some(Priority::Warning)),
            ("W  main.c:] slow", Some(1), Some(Priority::Warning)),
            ("warning: unused variable", None, Some(Priority::Warning)),
            (" TRACE entered", Some(0), Some(Priority::Packet)),
            ("no error at all", None, None),
            ("INFORMED", None, None),
        ] {
            assert_eq!(level(text.as_bytes(), time), expected, "{text}");
        }
    }
}
