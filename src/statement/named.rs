//! Enums and flags of statements: numbers that have names.

use std::fmt;
use std::marker::PhantomData;

use super::apart::between;
use super::argument::Argument;
use super::payload::PayloadBuilder;
use crate::event::{FieldType, Labels};

/// Numbers that have names.
///
/// An enum derives it, and becomes an argument of events, an `enum` in the message. [`Flags`] has
/// bits that another type names.
///
/// # Example
/// ```
/// use timeline::{Attached, Flags, Named, Priority, Timeline, event};
///
/// #[derive(Named)]
/// enum Port { Down, Up }
///
/// #[derive(Named)]
/// enum Access { Read = 1, Write = 2 }
/// # let path = format!("/timeline-doc-named-{}", std::process::id());
/// # let path = path.as_str();
///
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// let access = Flags::<Access>::new(3);
/// event!(tl, Priority::Info, "net", "{port}, {access}", port = Port::Up, access);
///
/// let mut shown = Vec::new();
/// timeline::dump::write(&Attached::open(path)?, None, &mut shown)?;
/// let shown = String::from_utf8(shown)?;
/// assert!(shown.contains("port(Up), access(Read|Write)"), "{shown}");
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The names are those of the variants, and the numbers their discriminants. They take 2,048 bytes
/// at most. By hand, a type gives other names to [`Flags`]: the compiler refuses a list in which a
/// name or a number is missing.
/// ```compile_fail,E0080
/// struct Access;
/// impl timeline::Named for Access {
///     const NAMES: &'static str = "r=1,w"; // w has no number
/// }
/// # fn log(tl: &timeline::Timeline) {
/// let access = timeline::Flags::<Access>::new(3);
/// timeline::event!(tl, timeline::Priority::Info, "net", "{access}", access);
/// # }
/// # log(&todo!());
/// ```
#[diagnostic::on_unimplemented(
    message = "the numbers of `{Self}` have no names",
    note = "let the enum derive `timeline::Named`"
)]
pub trait Named {
    /// Each name with its number, as a message has them: `r=1,w=0x2`.
    const NAMES: &'static str;
}

/// A set of bits, for [`event!`](crate::event!): those that `N` names show by their names.
///
/// See [`Named`].
pub struct Flags<N> {
    bits: u64,
    names: PhantomData<fn() -> N>,
}

impl<N> Flags<N> {
    /// These bits. Those without a name show as a number.
    #[inline(always)]
    pub const fn new(bits: u64) -> Flags<N>
    where
        N: Named,
    {
        Flags {
            bits,
            names: PhantomData,
        }
    }

    /// The bits.
    pub const fn bits(self) -> u64 {
        self.bits
    }
}

impl<N> Clone for Flags<N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N> Copy for Flags<N> {}

impl<N> PartialEq for Flags<N> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<N> Eq for Flags<N> {}

/// As events show them.
impl<N: Named> fmt::Debug for Flags<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::TYPE.write(self.bits as i64, f)
    }
}

impl<N: Named> Argument for Flags<N> {
    const TYPE: FieldType<'static> = FieldType::Flags(labels::<N>());

    #[inline(always)]
    fn store(&self, _: &mut PayloadBuilder) -> u64 {
        self.bits
    }
}

/// The type of an enum that derives [`Named`].
pub const fn enum_of<N: Named>() -> FieldType<'static> {
    FieldType::Enum(labels::<N>())
}

const fn labels<N: Named>() -> Labels<'static> {
    check_names(N::NAMES);
    Labels::checked(N::NAMES)
}

/// The most bytes of a list of names.
const MOST: usize = 2_048;

/// How many bytes a list of these names takes, with the zero bytes at its ends.
pub const fn length_of_names(names: &[(&str, i64)]) -> usize {
    let mut length = names.len().saturating_sub(1) + 2;
    let mut at = 0;
    while at < names.len() {
        length += names[at].0.len() + 1 + digits(names[at].1).1;
        at += 1;
    }
    length
}

/// The list of these names, between zero bytes: readers of damaged archives find it by them.
pub const fn list_of_names<const N: usize>(names: &[(&str, i64)]) -> [u8; N] {
    let (mut list, mut end, mut at) = ([b','; N], 1, 0);
    while at < names.len() {
        let (name, number) = names[at];
        end = put(&mut list, end, name.as_bytes(), name.len());
        end = put(&mut list, end, b"=", 1);
        let (digits, count) = digits(number);
        end = put(&mut list, end, &digits, count) + 1;
        at += 1;
    }
    (list[0], list[N - 1]) = (0, 0);
    list
}

const fn put(list: &mut [u8], from: usize, text: &[u8], count: usize) -> usize {
    let mut at = 0;
    while at < count {
        list[from + at] = text[at];
        at += 1;
    }
    from + count
}

/// A number in base 10, and how many bytes it takes.
const fn digits(number: i64) -> ([u8; 20], usize) {
    let (mut text, mut count, mut rest) = ([0; 20], 0, number.unsigned_abs());
    let mut power = 1_000_000_000_000_000_000;
    if number < 0 {
        text[0] = b'-';
        count = 1;
    }
    let sign = count;
    while power > 0 {
        let digit = (rest / power) as u8;
        if digit > 0 || count > sign || power == 1 {
            text[count] = b'0' + digit;
            count += 1;
        }
        (rest, power) = (rest % power, power / 10);
    }
    (text, count)
}

/// The list between its zero bytes, as text.
pub const fn text_of_names(list: &[u8]) -> &str {
    match std::str::from_utf8(list) {
        Ok(text) => between(text),
        Err(_) => panic!("names are UTF-8"),
    }
}

/// Fails to compile unless each name has a number, as messages have them.
const fn check_names(list: &str) {
    let text = list.as_bytes();
    assert!(
        text.len() <= MOST,
        "the names of an enum take more than 2,048 bytes: log its number"
    );
    let (mut at, mut from) = (0, 0);
    while at <= text.len() {
        if at == text.len() || text[at] == b',' {
            check_name(text, from, at);
            from = at + 1;
        }
        at += 1;
    }
}

/// One name, `=` and a number.
const fn check_name(text: &[u8], from: usize, end: usize) {
    let (mut at, mut has_name) = (from, false);
    while at < end && text[at] != b'=' {
        let is_sound = !matches!(text[at], b'$' | b'(' | b')' | b'\n' | b'\r' | 0);
        assert!(
            is_sound,
            "a name of a number has none of $ ( ) , = and no line break"
        );
        has_name = has_name || text[at] != b' ';
        at += 1;
    }
    assert!(
        has_name && at + 1 < end && is_number(text, at + 1, end),
        "each name has a number: write `red=1,green=0x2`"
    );
}

/// Whether it is a number of 64 bits: signed in base 10, or behind `0x` in base 16.
const fn is_number(text: &[u8], mut at: usize, end: usize) -> bool {
    let is_negative = text[at] == b'-';
    let is_hex = at + 2 < end && text[at] == b'0' && text[at + 1] == b'x';
    if is_hex {
        at += 2;
    } else if is_negative {
        at += 1;
    }
    let (base, most) = match (is_hex, is_negative) {
        (true, _) => (16, u64::MAX as u128),
        (_, true) => (10, 1 << 63),
        _ => (10, i64::MAX as u128),
    };
    let (mut number, mut is_sound) = (0_u128, at < end);
    while at < end && is_sound {
        let digit = match text[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            digit @ b'A'..=b'F' => digit - b'A' + 10,
            _ => 16,
        };
        number = number * base + digit as u128;
        is_sound = (digit as u128) < base && number <= most;
        at += 1;
    }
    is_sound
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[(&str, i64)]) -> String {
        let list = list_of_names::<200>(names);
        text_of_names(&list[..length_of_names(names)]).to_owned()
    }

    #[test]
    fn lists_have_each_name_with_its_number() {
        let some = [("Red", 0), ("größe", -12), ("C", i64::MAX), ("D", i64::MIN)];
        let expected = "Red=0,größe=-12,C=9223372036854775807,D=-9223372036854775808";
        assert_eq!(list(&some), expected);
        assert_eq!(list(&some[..1]), "Red=0");
        let all: Vec<_> = Labels::parse(expected).expect("labels").iter().collect();
        assert_eq!(all, some);
        check_names(expected);
    }

    #[test]
    fn lists_are_refused_that_messages_refuse() {
        for text in [
            "a=1",
            "a=-1,b= c",
            "a=0x10,b=007",
            "a b=1",
            " a =1",
            "top=0xffffffffffffffff",
        ]
        .into_iter()
        .chain([
            "", "a", "a=", "=1", " =1", "a=1,", "a=x", "a=1,b", "$a=1", "a=--1", "a=0x",
        ])
        .chain([
            "a=9223372036854775808",
            "a=-9223372036854775809",
            "a=0x10000000000000000",
        ]) {
            let refused = std::panic::catch_unwind(|| check_names(text)).is_err();
            assert_eq!(Labels::parse(text).is_none(), refused, "{text:?}");
        }
        for text in ["a(b)=1", "a\n=1", &"a=1,".repeat(600)] {
            assert!(
                std::panic::catch_unwind(|| check_names(text)).is_err(),
                "{text:?}"
            );
        }
    }
}
