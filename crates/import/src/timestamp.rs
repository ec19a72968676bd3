//! Finds the time in a line of a log.
//!
//! The shape of a time says its form, which reads it exactly: what a form reads, it writes again.
//! The shape of the line before is tried first.

use std::collections::HashMap;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use timeline_archive::TimeForm;

use super::tokens::ByteRange;

/// So many bytes of a line are searched for its time.
const SEARCHED: usize = 256;
const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400;
/// Names of fields with a time that is a count, as they stand before it.
const KEYS: [&[u8]; 7] = [
    b"\"ts\":",
    b"\"time\":",
    b"\"timestamp\":",
    b"\"@timestamp\":",
    b"_TIMESTAMP\":\"",
    b" ts=",
    b"\"t\":",
];

/// A time that was found in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp {
    /// Its place.
    pub span: ByteRange,
    /// Nanoseconds since 1970.
    pub unix_nanos: u64,
    /// The number of its form.
    pub form: u32,
}

/// The time zone of times that do not say theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Zone {
    Local,
    East(i32),
}

/// Finds the times of the lines of a log.
pub struct Timestamps {
    local: TimeZone,
    /// Quarters of an hour of local time, and the offset in each.
    offsets: HashMap<i64, i32>,
    /// When the file was changed last: times without a year are not later.
    written: i64,
    /// Shapes that were seen, by their text.
    shapes: Vec<(String, TimeForm, Zone)>,
    /// The forms with their offsets, by shape and offset.
    numbers: HashMap<(usize, i32), u32>,
    forms: Vec<TimeForm>,
    /// The shape of the last time.
    last: Option<usize>,
}

impl Timestamps {
    /// For times of this time zone.
    pub fn new(local: TimeZone) -> Timestamps {
        Timestamps {
            local,
            offsets: HashMap::new(),
            written: 0,
            shapes: Vec::new(),
            numbers: HashMap::new(),
            forms: Vec::new(),
            last: None,
        }
    }

    /// Continues with a file that was changed last at this time, in seconds since 1970.
    pub fn begin_file(&mut self, written: i64) {
        self.written = written;
        self.last = None;
    }

    /// The files were changed last at this time, in seconds since 1970.
    pub fn set_written(&mut self, written: i64) {
        self.written = written;
    }

    /// The form with this number.
    pub fn form(&self, number: u32) -> &TimeForm {
        &self.forms[number as usize]
    }

    /// The time of a line.
    pub fn find(&mut self, line: &[u8]) -> Option<Timestamp> {
        let end = line.len().min(SEARCHED);
        for at in 0..end {
            let may_begin = match line[at] {
                b'0'..=b'9' => true,
                // `Mon` and `Nov`.
                b'A'..=b'Z' => line.get(at + 3) == Some(&b' '),
                b' ' => line[..at].ends_with(b"["),
                _ => false,
            };
            if !may_begin || !is_begin(line, at) {
                continue;
            }
            let as_before = self.last.and_then(|shape| self.read(line, at, shape));
            let goes_on = |found: &Timestamp| self.goes_on(line, found);
            if as_before.is_some_and(|found| !goes_on(&found)) {
                return as_before;
            }
            if let Some((text, zone)) = shape(line, at)
                && let Some(shape) = self.shape(text, zone)
                && let Some(found) = self.read(line, at, shape)
            {
                self.last = Some(shape);
                return Some(found);
            }
            // What follows belongs to no time.
            if as_before.is_some() {
                return as_before;
            }
        }
        None
    }

    /// Whether a time that was read in the last shape seems to go on: behind it stands a fraction
    /// or a zone that this shape does not have.
    #[inline]
    fn goes_on(&self, line: &[u8], found: &Timestamp) -> bool {
        let (from, to) = (found.span.0 as usize, found.span.1 as usize);
        match line[to..] {
            [b'.' | b',' | b'+' | b'-', b'0'..=b'9', ..] | [b' ', b'+' | b'-', b'0'..=b'9', ..] => {
                let is_last =
                    |text: &str| self.last.is_some_and(|last| self.shapes[last].0 == text);
                shape(line, from).is_none_or(|(text, _)| !is_last(&text))
            }
            _ => false,
        }
    }

    fn shape(&mut self, text: String, zone: Zone) -> Option<usize> {
        let mut known = self.shapes.iter();
        if let Some(place) = known.position(|known| known.0 == text) {
            return Some(place);
        }
        // Zones are part of the text: there are not many.
        if self.shapes.len() >= 256 {
            return None;
        }
        let offset = if let Zone::East(offset) = zone {
            offset
        } else {
            0
        };
        let form = TimeForm::new(&text, offset)?;
        self.shapes.push((text, form, zone));
        Some(self.shapes.len() - 1)
    }

    /// Reads a time of this shape.
    fn read(&mut self, line: &[u8], at: usize, shape: usize) -> Option<Timestamp> {
        let (_, form, zone) = &self.shapes[shape];
        let zone = *zone;
        let is_count = form.is_count();
        if is_count && !is_count_begin(line, at) {
            return None;
        }
        let read = match form.has_year() {
            true => form.read(&line[at..], 0)?,
            false => self.read_without_year(form, &line[at..])?,
        };
        let end = at + read.length;
        if line
            .get(end)
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
        {
            return None;
        }
        let offset = match zone {
            Zone::East(offset) => offset,
            Zone::Local if is_count => 0,
            Zone::Local => self.offset(read.seconds)?,
        };
        let zoned = if is_count { 0 } else { i64::from(offset) };
        let seconds = u64::try_from(read.seconds - zoned).ok()?;
        let nanos = seconds.checked_mul(SECOND as u64)?;
        Some(Timestamp {
            span: (at as u32, end as u32),
            unix_nanos: nanos.checked_add(u64::from(read.nanos))?,
            form: self.number(shape, offset)?,
        })
    }

    /// Takes the last year in which the time is not after the file was written.
    fn read_without_year(
        &self,
        form: &TimeForm,
        line: &[u8],
    ) -> Option<timeline_archive::ReadTime> {
        let latest = self.written + DAY;
        let year = year_of(latest)?;
        let years = (0..8).map(|before| year - before);
        years
            .filter_map(|year| form.read(line, year))
            .find(|read| read.seconds <= latest)
    }

    /// The offset of local time, which is given in seconds.
    fn offset(&mut self, seconds: i64) -> Option<i32> {
        let quarter = seconds.div_euclid(900);
        if let Some(offset) = self.offsets.get(&quarter) {
            return Some(*offset);
        }
        let utc = jiff::Timestamp::from_second(seconds).ok()?;
        let civil: DateTime = TimeZone::UTC.to_datetime(utc);
        let zoned = civil.to_zoned(self.local.clone()).ok()?;
        let offset = zoned.offset().seconds();
        if self.offsets.len() > 1 << 16 {
            self.offsets.clear();
        }
        self.offsets.insert(quarter, offset);
        Some(offset)
    }

    fn number(&mut self, shape: usize, offset: i32) -> Option<u32> {
        if let Some(number) = self.numbers.get(&(shape, offset)) {
            return Some(*number);
        }
        let form = self.shapes[shape].1.with_offset(offset)?;
        let number = self.forms.len() as u32;
        self.forms.push(form);
        self.numbers.insert((shape, offset), number);
        Some(number)
    }
}

fn year_of(seconds: i64) -> Option<i64> {
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(TimeZone::UTC.to_datetime(time).year().into())
}

/// Whether a time may begin here: not within a word or number. The spaces of a time since boot
/// belong to it.
#[inline]
fn is_begin(line: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| line.get(before)) else {
        return at == 0;
    };
    let is_klog = at == 1 && b"IWEF".contains(before) && line[at].is_ascii_digit();
    is_klog
        || !(before.is_ascii_alphanumeric() || b".:-/+".contains(before))
        || before == &b':' && line[..at].ends_with(b"\":")
}

/// Whether a count of seconds may begin here: only at the beginning of a line, or as the value of a
/// field that says so. Other numbers are no times.
fn is_count_begin(line: &[u8], at: usize) -> bool {
    let before = &line[..at];
    before.is_empty()
        || before == b"["
        || (before.starts_with(b"<") && before.ends_with(b">[") && before.len() < 7)
        || KEYS.iter().any(|key| before.ends_with(key))
        || before == b"ts="
}

/// The form of a time by its shape, and its zone.
fn shape(line: &[u8], at: usize) -> Option<(String, Zone)> {
    let rest = &line[at..];
    let byte = |place: usize| rest.get(place).copied().unwrap_or(0);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match (digits, byte(digits)) {
        (4, separator @ (b'-' | b'/')) if byte(7) == separator => {
            let between = byte(10);
            if !b"T _".contains(&between) {
                return None;
            }
            let [date, between] = [separator, between].map(char::from);
            let day = format!("%Y{date}%m{date}%d{between}%H:%M:%S");
            Some(with_rest(day, rest, 19))
        }
        (2, b'/') if byte(6) == b'/' && byte(11) == b':' => {
            Some(with_rest("%d/%b/%Y:%H:%M:%S".into(), rest, 20))
        }
        // klog: the priority, then month and day.
        (4, b' ') if at == 1 && byte(13) == b'.' => {
            Some(with_rest("%m%d %H:%M:%S".into(), rest, 13))
        }
        (10, _) => Some(with_fraction("%s".into(), rest, 10)),
        (13, _) => Some(("%s%3f".into(), Zone::East(0))),
        (16, _) => Some(("%s%6f".into(), Zone::East(0))),
        (19, _) => Some(("%s%9f".into(), Zone::East(0))),
        (0, b'A'..=b'Z') => named(rest),
        (0..10, _) if line[..at].ends_with(b"[") => since_boot(rest),
        _ => None,
    }
}

/// `Nov 23 14:03:07`, and `Mon Nov 23 14:03:07 2026`.
fn named(rest: &[u8]) -> Option<(String, Zone)> {
    let byte = |place: usize| rest.get(place).copied().unwrap_or(0);
    if byte(3) != b' ' {
        return None;
    }
    if byte(4).is_ascii_uppercase() {
        let day = if byte(8) == b'0' { "%d" } else { "%e" };
        let form = format!("%a %b {day} %H:%M:%S");
        let (form, zone) = with_fraction(form, rest, 19);
        return Some((
            form + " %Y",
            if zone == Zone::East(0) {
                Zone::Local
            } else {
                zone
            },
        ));
    }
    let day = if byte(4) == b'0' { "%d" } else { "%e" };
    let (form, _) = with_fraction(format!("%b {day} %H:%M:%S"), rest, 15);
    Some((form, Zone::Local))
}

/// `[   12.345678]`, of the kernel.
fn since_boot(rest: &[u8]) -> Option<(String, Zone)> {
    let at = rest.iter().position(|byte| *byte == b'.')?;
    (at < 11).then(|| with_fraction("%k".into(), rest, at))
}

/// The form with the digits behind a point or comma.
fn with_fraction(mut form: String, rest: &[u8], at: usize) -> (String, Zone) {
    if let [point @ (b'.' | b','), digits @ ..] = rest.get(at..).unwrap_or_default() {
        let count = digits
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if (1..=9).contains(&count) {
            form.push(char::from(*point));
            form += &format!("%{count}f");
        }
    }
    (form, Zone::East(0))
}

/// The form with a fraction and the zone that follow.
fn with_rest(form: String, rest: &[u8], at: usize) -> (String, Zone) {
    let whole = form.len();
    let (mut form, _) = with_fraction(form, rest, at);
    // `.%3f` stands for four bytes.
    let fraction = match form.as_bytes()[whole..] {
        [_, b'%', digits, _] => usize::from(digits - b'0') + 1,
        _ => 0,
    };
    let rest = rest.get(at + fraction..).unwrap_or_default();
    let Some((length, offset)) = zone(rest) else {
        return (form, Zone::Local);
    };
    let text = rest[..length].iter().map(|byte| char::from(*byte));
    form.extend(text);
    (form, Zone::East(offset))
}

/// `Z`, `+01:00`, `+0100` or ` +0100`: how long it is, and the offset.
fn zone(rest: &[u8]) -> Option<(usize, i32)> {
    if let [b'Z', ..] = rest {
        return Some((1, 0));
    }
    let space = usize::from(rest.first() == Some(&b' '));
    let text = rest.get(space..)?;
    let sign = match text.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let colon = usize::from(text.get(3) == Some(&b':'));
    let two = |at: usize| {
        let digits = text.get(at..at + 2)?;
        let text = std::str::from_utf8(digits).ok()?;
        text.parse::<i32>()
            .ok()
            .filter(|_| digits.iter().all(u8::is_ascii_digit))
    };
    let (hours, minutes) = (two(1)?, two(3 + colon)?);
    let is_zone = hours < 24 && minutes < 60;
    is_zone.then_some((space + 5 + colon, sign * (3600 * hours + 60 * minutes)))
}

#[cfg(test)]
mod tests;
