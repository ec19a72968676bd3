//! Cuts a line into constant text and variables.
//!
//! A variable is a number, an id or another word with a digit: as CLP, LogGrep and others found,
//! what else a line says comes from the program's text.

use timeline::internal::Format;

/// A range of bytes of a line.
pub type ByteRange = (u32, u32);

/// Most variables of a line, with its time: as many as a format of printf has, but for the `%n` of
/// a line without an end. The last takes the rest of a line that has more.
pub const MOST: usize = Format::MOST_ARGUMENTS - 1;

/// How finely lines are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// At each character that is no letter or digit, and between digits and units. The words whose
    /// bit is set are variables as well.
    Fine(u64),
    /// At spaces and brackets only.
    Coarse,
}

const DIGIT: u8 = 1;
const LETTER: u8 = 2;
/// A separator, also for a coarse cut.
const BREAK: u8 = 4;
const HEX: u8 = 8;

const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT | HEX,
            b'a'..=b'f' | b'A'..=b'F' => LETTER | HEX,
            b'g'..=b'z' | b'G'..=b'Z' | b'_' | 0x80.. => LETTER,
            b' ' | b'\t' | b'"' | b'=' | b',' | b';' | b'|' => BREAK,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' => BREAK,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASS[usize::from(byte)]
}

/// Appends the variables of a line. `time` is the place of its time, which is one of them.
pub fn cut(line: &[u8], time: Option<ByteRange>, how: Cut, spans: &mut Vec<ByteRange>) {
    let first = spans.len();
    let mut words = 0;
    let mut part = |from: usize, to: usize, spans: &mut Vec<ByteRange>| match how {
        Cut::Coarse => coarse(line, from, to, spans),
        Cut::Fine(mask) => fine(line, from, to, spans, |span, spans| {
            if words < 64 && mask >> words & 1 == 1 {
                spans.push(span);
            }
            words += 1;
        }),
    };
    match time {
        Some((from, to)) => {
            part(0, from as usize, spans);
            spans.push((from, to));
            part(to as usize, line.len(), spans);
        }
        None => part(0, line.len(), spans),
    }
    if spans.len() - first > MOST {
        let from = spans[first + MOST - 1].0;
        spans.truncate(first + MOST - 1);
        spans.push((from, line.len() as u32));
    }
}

/// The words without digits of a line that is cut finely: each may become a variable of lines that
/// differ in it.
pub fn words(line: &[u8], time: Option<ByteRange>) -> Vec<ByteRange> {
    let mut constant = Vec::new();
    let mut spans = Vec::new();
    let (from, to) = time.unwrap_or((0, 0));
    let mut word = |span: ByteRange, _: &mut Vec<ByteRange>| constant.push(span);
    fine(line, 0, from as usize, &mut spans, &mut word);
    fine(line, to as usize, line.len(), &mut spans, &mut word);
    constant
}

#[inline]
fn fine(
    line: &[u8],
    from: usize,
    to: usize,
    spans: &mut Vec<ByteRange>,
    mut word: impl FnMut(ByteRange, &mut Vec<ByteRange>),
) {
    let mut at = from;
    while at < to {
        if class(line[at]) & (DIGIT | LETTER) == 0 {
            at += 1;
            continue;
        }
        let start = at;
        let mut has = 0;
        let mut all = 0xff;
        while at < to && class(line[at]) & (DIGIT | LETTER) != 0 {
            has |= class(line[at]);
            all &= class(line[at]);
            at += 1;
        }
        let is_hex = all & HEX != 0;
        if is_hex && at - start == 8 && is_uuid(&line[start..to]) {
            for (from, to) in [(0, 8), (9, 13), (14, 18), (19, 23), (24, 36)] {
                spans.push(((start + from) as u32, (start + to) as u32));
            }
            at = start + 36;
        } else if has & DIGIT == 0 {
            word((start as u32, at as u32), spans);
        } else if all & DIGIT != 0 && is_address(line, start, at, to) {
            at = end_of_address(line, at, to);
            spans.push((start as u32, at as u32));
        } else {
            variable(line, start, at, is_hex, spans);
        }
    }
}

/// Appends the variable in a word that has a digit.
#[inline]
fn variable(line: &[u8], start: usize, end: usize, is_hex: bool, spans: &mut Vec<ByteRange>) {
    let text = &line[start..end];
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let digits = text.iter().take_while(|byte| is_digit(byte)).count();
    if digits == text.len() {
        if !is_level(line, start, text.len()) {
            spans.push((start as u32, end as u32));
        }
        return;
    }
    if text.starts_with(b"0x") && text.len() > 2 && text[2..].iter().all(u8::is_ascii_hexdigit) {
        spans.push((start as u32 + 2, end as u32));
        return;
    }
    let is_id = is_hex && text.len() >= 6;
    // Digits with a unit, and words with a number.
    if !is_id && digits > 0 && text.len() - digits <= 3 && !text[digits..].iter().any(is_digit) {
        spans.push((start as u32, (start + digits) as u32));
        return;
    }
    let last = text.iter().rev().take_while(|byte| is_digit(byte)).count();
    if !is_id && last > 0 && !text[..text.len() - last].iter().any(is_digit) {
        spans.push(((end - last) as u32, end as u32));
        return;
    }
    spans.push((start as u32, end as u32));
}

/// Whether a short number says a priority: that of syslog, journald, bunyan or pino. Then it is
/// constant, because a definition has the priority.
#[inline]
fn is_level(line: &[u8], start: usize, length: usize) -> bool {
    let is_syslog = start == 1 && line[0] == b'<' && line.get(1 + length) == Some(&b'>');
    let before = &line[..start];
    is_syslog && length <= 3
        || length <= 2 && (before.ends_with(b"PRIORITY\":\"") || before.ends_with(b"\"level\":"))
}

/// Whether these bytes begin with a UUID, of which the first eight are known to be hexadecimal.
fn is_uuid(bytes: &[u8]) -> bool {
    let is = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    bytes.len() >= 36 && bytes[..36].iter().enumerate().all(is)
}

/// Whether three further numbers follow a first one, as in an address of IPv4.
#[inline]
fn is_address(line: &[u8], start: usize, end: usize, to: usize) -> bool {
    let is_first = end - start <= 3 && end < to && line[end] == b'.';
    is_first && end_of_address(line, end, to) > end
}

/// The end of an address whose first number ends at `at`; `at` if it is none.
fn end_of_address(line: &[u8], at: usize, to: usize) -> usize {
    let mut end = at;
    for _ in 0..3 {
        let rest = &line[end..to];
        let digits = rest
            .iter()
            .skip(1)
            .take_while(|b| b.is_ascii_digit())
            .count();
        if rest.first() != Some(&b'.') || !(1..=3).contains(&digits) {
            return at;
        }
        end += 1 + digits;
    }
    match line[end..to].first() {
        Some(next) if class(*next) & (DIGIT | LETTER) != 0 => at,
        _ => end,
    }
}

fn coarse(line: &[u8], from: usize, to: usize, spans: &mut Vec<ByteRange>) {
    let mut at = from;
    while at < to {
        let start = at;
        let mut has = 0;
        while at < to && class(line[at]) & BREAK == 0 {
            has |= class(line[at]);
            at += 1;
        }
        if has & DIGIT != 0 {
            spans.push((start as u32, at as u32));
        }
        at += usize::from(start == at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, how: Cut) -> Vec<&str> {
        let mut spans = Vec::new();
        cut(line.as_bytes(), None, how, &mut spans);
        spans
            .iter()
            .map(|(from, to)| &line[*from as usize..*to as usize])
            .collect()
    }

    #[test]
    fn numbers_and_ids_are_variables() {
        for (line, expected) in [
            ("got 12 of 500ms", vec!["12", "500"]),
            (
                "eth0 at 0x7f3a, id deadbeef0 x7Gh2k",
                vec!["0", "7f3a", "deadbeef0", "x7Gh2k"],
            ),
            ("from 10.0.3.17:80 v1.2", vec!["10.0.3.17", "80", "1", "2"]),
            ("1.2.3.4.5", vec!["1.2.3.4", "5"]),
            ("<34>1 x", vec!["1"]),
            ("{\"PRIORITY\":\"6\",\"n\":\"6\"}", vec!["6"]),
            (
                "id=0af3dead-beef-cafe-face-0123456789ab.",
                vec!["0af3dead", "beef", "cafe", "face", "0123456789ab"],
            ),
            ("no numbers", vec![]),
        ] {
            assert_eq!(found(line, Cut::Fine(0)), expected, "{line}");
        }
        assert_eq!(found("user alice did 5", Cut::Fine(0b10)), ["alice", "5"]);
        let line = "status libc6:amd64 2.39-0ubuntu8 (x 5)";
        assert_eq!(
            found(line, Cut::Coarse),
            ["libc6:amd64", "2.39-0ubuntu8", "5"]
        );
    }

    #[test]
    fn a_line_has_no_more_variables_than_a_format() {
        let line = "7 ".repeat(40);
        let spans = found(&line, Cut::Fine(0));
        assert_eq!(spans.len(), MOST);
        assert_eq!(spans[MOST - 1], "7 ".repeat(40 - MOST + 1));
    }
}
