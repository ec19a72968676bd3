//! Writes times of day and dates as logs write them, and reads them again.
//!
//! A form is a text with conversions, as in strftime: `%Y-%m-%d %H:%M:%S.%3f`. What a form reads,
//! it writes again byte for byte. So a log's times need no bytes beside the times of the events.

use std::fmt::Write as _;

/// Most bytes of a form.
pub const MOST_FORM: usize = 64;
const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
/// The first day of 1970 was a Thursday.
const DAYS: &[u8; 21] = b"ThuFriSatSunMonTueWed";
const DAY: i64 = 86_400;
const SECOND: u64 = 1_000_000_000;
/// The widest offset of a time zone that a form is used with, in seconds.
const MOST_OFFSET: i32 = 2 * DAY as i32;

/// A part of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Literal(u8),
    /// `%Y`: four digits.
    Year,
    /// `%m`, `%d`, `%H`, `%M`, `%S`: two digits.
    Month,
    Day,
    Hour,
    Minute,
    Second,
    /// `%e`: the day with a space in place of a first 0.
    SpacedDay,
    /// `%b`: `Jan`.
    MonthName,
    /// `%a`: `Thu`.
    DayName,
    /// `%3f`: so many digits of the second, 1 to 9.
    Fraction(u32),
    /// `%s`: seconds since 1970, of ten digits.
    Epoch,
    /// `%k`: seconds since 1970 in five characters or more, with spaces in front.
    Uptime,
}

/// How a time is written, and the offset of its time zone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TimeForm {
    text: String,
    parts: Vec<Part>,
    offset: i32,
}

/// A time that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadTime {
    /// Seconds since 1970 in the time zone of the form.
    pub seconds: i64,
    /// The rest in nanoseconds.
    pub nanos: u32,
    /// The bytes that it has.
    pub length: usize,
}

impl TimeForm {
    /// A form with this text, for times so many seconds east of UTC. `None` if it has an unknown
    /// conversion or is too long.
    pub fn new(text: &str, offset: i32) -> Option<TimeForm> {
        let is_short = text.len() <= MOST_FORM && offset.unsigned_abs() <= MOST_OFFSET as u32;
        let (mut parts, mut bytes) = (Vec::new(), text.bytes());
        while let Some(byte) = bytes.next().filter(|_| is_short) {
            let conversion = match byte {
                b'%' => bytes.next()?,
                literal => {
                    parts.push(Part::Literal(literal));
                    continue;
                }
            };
            parts.push(match conversion {
                b'%' => Part::Literal(b'%'),
                b'Y' => Part::Year,
                b'm' => Part::Month,
                b'd' => Part::Day,
                b'e' => Part::SpacedDay,
                b'H' => Part::Hour,
                b'M' => Part::Minute,
                b'S' => Part::Second,
                b'b' => Part::MonthName,
                b'a' => Part::DayName,
                b's' => Part::Epoch,
                b'k' => Part::Uptime,
                digit @ b'1'..=b'9' if bytes.next() == Some(b'f') => {
                    Part::Fraction(u32::from(digit - b'0'))
                }
                _ => return None,
            });
        }
        let text = text.to_string();
        is_short.then_some(TimeForm {
            text,
            parts,
            offset,
        })
    }

    /// The text of the form.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The offset of its time zone in seconds.
    pub fn offset(&self) -> i32 {
        self.offset
    }

    /// The same form for another offset.
    pub fn with_offset(&self, offset: i32) -> Option<TimeForm> {
        TimeForm::new(&self.text, offset)
    }

    /// Whether it says the year.
    pub fn has_year(&self) -> bool {
        let has = |part: &Part| matches!(part, Part::Year | Part::Epoch | Part::Uptime);
        self.parts.iter().any(has)
    }

    /// Whether it counts seconds since 1970, whatever the time zone.
    pub fn is_count(&self) -> bool {
        let counts = |part: &Part| matches!(part, Part::Epoch | Part::Uptime);
        self.parts.iter().any(counts)
    }

    /// Whether the text of any time may have this byte.
    pub fn may_have(&self, byte: u8) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Literal(literal) => *literal == byte,
            Part::MonthName => MONTHS.contains(&byte),
            Part::DayName => DAYS.contains(&byte),
            Part::SpacedDay | Part::Uptime => byte == b' ' || byte.is_ascii_digit(),
            Part::Year
            | Part::Month
            | Part::Day
            | Part::Hour
            | Part::Minute
            | Part::Second
            | Part::Fraction(_)
            | Part::Epoch => byte.is_ascii_digit(),
        })
    }

    /// Appends a time, which is in nanoseconds since 1970.
    pub fn write(&self, unix_nanos: u64, out: &mut Vec<u8>) {
        let seconds = (unix_nanos / SECOND) as i64 + i64::from(self.offset);
        let nanos = unix_nanos % SECOND;
        let (days, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY) as u64);
        let (year, month, day) = civil(days);
        for part in &self.parts {
            match *part {
                Part::Literal(byte) => out.push(byte),
                Part::Year => digits(year.max(0) as u64, 4, out),
                Part::Month => digits(month, 2, out),
                Part::Day => digits(day, 2, out),
                Part::Hour => digits(of_day / 3600, 2, out),
                Part::Minute => digits(of_day / 60 % 60, 2, out),
                Part::Second => digits(of_day % 60, 2, out),
                Part::SpacedDay if day < 10 => out.extend([b' ', b'0' + day as u8]),
                Part::SpacedDay => digits(day, 2, out),
                Part::MonthName => out.extend(name(MONTHS, month as usize - 1)),
                Part::DayName => out.extend(name(DAYS, days.rem_euclid(7) as usize)),
                Part::Fraction(count) => {
                    digits(nanos / 10_u64.pow(9 - count), count as usize, out);
                }
                Part::Epoch => digits(unix_nanos / SECOND, 10, out),
                Part::Uptime => {
                    let mut text = String::new();
                    // Writing to a String does not fail.
                    let _ = write!(text, "{:>5}", unix_nanos / SECOND);
                    out.extend(text.bytes());
                }
            }
        }
    }

    /// Reads a time at the beginning of these bytes. If the form does not say the year, it is this
    /// one. `None` if the bytes are not what the form writes for any time.
    pub fn read(&self, bytes: &[u8], year: i64) -> Option<ReadTime> {
        let mut at = Reader { bytes, length: 0 };
        let (mut year, mut month, mut day) = (year, 1, 1);
        let (mut seconds, mut nanos, mut day_name) = (0, 0, None);
        for part in &self.parts {
            match *part {
                Part::Literal(byte) => at.literal(byte)?,
                Part::Year => year = at.number(4)? as i64,
                Part::Month => month = at.number(2)?,
                Part::Day => day = at.number(2)?,
                Part::SpacedDay if at.literal(b' ').is_some() => {
                    day = at.number(1).filter(|day| *day > 0)?;
                }
                Part::SpacedDay => day = at.number(2).filter(|day| *day > 9)?,
                Part::Hour => seconds += 3600 * at.number(2).filter(|hour| *hour < 24)? as i64,
                Part::Minute => seconds += 60 * at.number(2).filter(|minute| *minute < 60)? as i64,
                Part::Second => seconds += at.number(2).filter(|second| *second < 60)? as i64,
                Part::MonthName => month = 1 + at.name(MONTHS)? as u64,
                Part::DayName => day_name = Some(at.name(DAYS)?),
                Part::Fraction(count) => {
                    nanos = at.number(count as usize)? * 10_u64.pow(9 - count);
                }
                Part::Epoch => seconds += at.number(10).filter(|n| *n >= SECOND)? as i64,
                Part::Uptime => seconds += at.uptime()? as i64,
            }
        }
        if !self.is_count() {
            let days = days_from_civil(year, month, day);
            let is_date = (1970..2500).contains(&year) && civil(days) == (year, month, day);
            let is_day = day_name.is_none_or(|name| name as i64 == days.rem_euclid(7));
            if !is_date || !is_day {
                return None;
            }
            seconds += days * DAY;
        }
        Some(ReadTime {
            seconds,
            nanos: nanos as u32,
            length: at.length,
        })
    }
}

/// Reads bytes from left to right.
struct Reader<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl Reader<'_> {
    #[inline]
    fn literal(&mut self, byte: u8) -> Option<()> {
        let is = self.bytes.get(self.length) == Some(&byte);
        self.length += usize::from(is);
        is.then_some(())
    }

    /// A number of so many digits.
    #[inline]
    fn number(&mut self, digits: usize) -> Option<u64> {
        let text = self.bytes.get(self.length..)?.get(..digits)?;
        self.length += digits;
        text.iter().try_fold(0, |number, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit < 10).then_some(10 * number + u64::from(digit))
        })
    }

    fn name(&mut self, names: &[u8]) -> Option<usize> {
        let text = self.bytes.get(self.length..)?.get(..3)?;
        self.length += 3;
        names.chunks(3).position(|name| name == text)
    }

    fn uptime(&mut self) -> Option<u64> {
        let rest = self.bytes.get(self.length..)?;
        let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
        let digits = rest[spaces..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let has_zero = rest.get(spaces) == Some(&b'0') && digits > 1;
        if digits == 0 || digits > 10 || has_zero || (spaces > 0 && spaces + digits != 5) {
            return None;
        }
        self.length += spaces;
        let number = self.number(digits)?;
        (spaces + digits >= 5).then_some(number)
    }
}

fn name(names: &[u8], place: usize) -> [u8; 3] {
    let mut name = [0; 3];
    name.copy_from_slice(&names[3 * place..][..3]);
    name
}

#[inline]
fn digits(mut number: u64, count: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + count, b'0');
    for byte in out[start..].iter_mut().rev() {
        *byte = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The date so many days after the first of 1970.
/// See <https://howardhinnant.github.io/date_algorithms.html>.
fn civil(days: i64) -> (i64, u64, u64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month as u64, day as u64)
}

/// The days from the first of 1970 to this date.
fn days_from_civil(year: i64, month: u64, day: u64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month = (month as i64 + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day as i64 - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FORMS: [&str; 8] = [
        "%Y-%m-%dT%H:%M:%S.%3fZ",
        "%Y-%m-%d %H:%M:%S.%9f",
        "%b %e %H:%M:%S",
        "%a %b %e %H:%M:%S %Y",
        "%d/%b/%Y:%H:%M:%S +0000",
        "%s.%6f",
        "%k.%6f",
        "%m%d %H:%M:%S.%6f",
    ];

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_780, (2026, 11, 23)),
            (-1, (1969, 12, 31)),
        ] {
            assert_eq!(civil(days), date);
            assert_eq!(days_from_civil(date.0, date.1, date.2), days);
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_again(
            seconds in 1_000_000_000..9_999_999_999_u64,
            nanos in 0..SECOND,
            form in 0..FORMS.len(),
            offset in -50_000..50_000_i32,
        ) {
            let form = TimeForm::new(FORMS[form], offset).expect("a form");
            let mut text = Vec::new();
            form.write(seconds * SECOND + nanos, &mut text);
            prop_assert!(text.iter().all(|byte| form.may_have(*byte)), "{form:?}");
            text.extend(b"7 and more");
            let year = civil((seconds as i64 + i64::from(offset)) / DAY).0;
            let read = form.read(&text, year).expect("it is a time");
            prop_assert_eq!(read.length, text.len() - 10);
            let zone = if form.is_count() { 0 } else { i64::from(offset) };
            let again = (read.seconds - zone) as u64 * SECOND + u64::from(read.nanos);
            let mut written = Vec::new();
            form.write(again, &mut written);
            prop_assert_eq!(&written, &text[..read.length]);
        }

        #[test]
        fn any_bytes_are_refused_or_written_again(
            text in "[ 0-9]{0,8}[-/ ]?[A-Z][a-z]{2} [ 0-9]{2} [0-9:. ]{0,12}|[0-9.:TZ -]{0,32}",
            form in 0..FORMS.len(),
        ) {
            let form = TimeForm::new(FORMS[form], 0).expect("a form");
            if let Some(read) = form.read(text.as_bytes(), 2024) {
                let mut written = Vec::new();
                let time = read.seconds as u64 * SECOND + u64::from(read.nanos);
                form.write(time, &mut written);
                prop_assert_eq!(&written, &text.as_bytes()[..read.length]);
            }
        }
    }

    #[test]
    fn forms_that_are_not_known_are_refused() {
        for form in ["%", "%q", "%3", "%0f", "%3x", &"-".repeat(65)] {
            assert_eq!(TimeForm::new(form, 0), None, "{form}");
        }
        assert_eq!(TimeForm::new("%S", i32::MIN), None);
    }
}
