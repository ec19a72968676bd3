//! Reads msgpack from any bytes, hostile ones too.
//! A length is only believed as far as there are bytes, and nesting is counted, not followed.

use rmp::Marker;

use super::marker;

/// The head of a value: what it is, with all of it that is no other value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Head<'a> {
    /// An integer in an unsigned encoding.
    Uint(u64),
    /// An integer in a signed encoding.
    Int(i64),
    /// Text or bytes.
    Bytes(&'a [u8]),
    /// So many values follow.
    Array(u32),
    /// So many keys and values follow.
    Map(u32),
    /// Nil.
    Nil,
    /// True or false.
    Bool(bool),
    /// A floating-point number.
    Float(f64),
    /// A type of its own.
    Extension(i8, &'a [u8]),
}

impl Head<'_> {
    /// How many values belong to it that follow.
    fn inside(&self) -> u64 {
        match self {
            Head::Array(count) => u64::from(*count),
            Head::Map(count) => 2 * u64::from(*count),
            _ => 0,
        }
    }

    /// An integer; an unsigned one beyond the range of signed ones wraps.
    #[inline]
    fn integer(&self) -> Option<i64> {
        match self {
            Head::Uint(number) => Some(*number as i64),
            Head::Int(number) => Some(*number),
            _ => None,
        }
    }
}

/// The size of a value that is no unsigned number.
const NO_NUMBER: u8 = u8::MAX;

/// How many bytes of an unsigned number follow its first one, which is the index.
static SIZES: [u8; 256] = {
    let mut sizes = [NO_NUMBER; 256];
    let mut first = 0;
    while first <= marker::LAST_FIXINT as usize {
        sizes[first] = 0;
        first += 1;
    }
    sizes[marker::UINT8 as usize] = 1;
    sizes[marker::UINT16 as usize] = 2;
    sizes[marker::UINT32 as usize] = 4;
    sizes[marker::UINT64 as usize] = 8;
    sizes
};

/// Bytes that are read: `None` from its functions means that they are not msgpack.
#[derive(Clone, Copy)]
pub struct Unpacker<'a>(pub &'a [u8]);

impl<'a> Unpacker<'a> {
    #[inline(always)]
    fn array<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    #[inline]
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next value, if it is an unsigned number, as most in records are.
    #[inline(always)]
    fn unsigned(&mut self) -> Option<Option<u64>> {
        let before = self.0;
        let [first] = self.array()?;
        Some(Some(match first {
            ..=marker::LAST_FIXINT => first.into(),
            marker::UINT8 => u8::from_be_bytes(self.array()?).into(),
            marker::UINT16 => u16::from_be_bytes(self.array()?).into(),
            marker::UINT32 => u32::from_be_bytes(self.array()?).into(),
            marker::UINT64 => u64::from_be_bytes(self.array()?),
            _ => {
                self.0 = before;
                return Some(None);
            }
        }))
    }

    /// The next value, if it is an unsigned number, and nine bytes are left. Otherwise nothing is
    /// read.
    ///
    /// It finds the size without a branch. Sizes of arguments change from event to event, so the
    /// processor would often foresee the wrong one.
    #[inline(always)]
    fn unsigned_of_any_size(&mut self) -> Option<u64> {
        let [first, value @ ..]: &[u8; 9] = self.0.first_chunk()?;
        let size = usize::from(SIZES[usize::from(*first)]);
        if size > value.len() {
            return None;
        }
        self.0 = &self.0[1 + size..];
        let word = u64::from_be_bytes(*value);
        // A number in the first byte, or 0: those of other sizes have the highest bit set.
        let small = first & !((first.cast_signed() >> 7).cast_unsigned());
        // One shift by all 64 bits is no operation of the processor.
        let half = 4 * (value.len() - size);
        Some(u64::from(small) | word >> half >> half)
    }

    /// The head of the next value; what belongs to it follows.
    #[inline(never)]
    pub fn head(&mut self) -> Option<Head<'a>> {
        use Marker::*;
        let [first] = self.array()?;
        Some(match Marker::from_u8(first) {
            FixPos(number) => Head::Uint(number.into()),
            U8 => Head::Uint(u8::from_be_bytes(self.array()?).into()),
            U16 => Head::Uint(u16::from_be_bytes(self.array()?).into()),
            U32 => Head::Uint(u32::from_be_bytes(self.array()?).into()),
            U64 => Head::Uint(u64::from_be_bytes(self.array()?)),
            FixNeg(number) => Head::Int(number.into()),
            I8 => Head::Int(i8::from_be_bytes(self.array()?).into()),
            I16 => Head::Int(i16::from_be_bytes(self.array()?).into()),
            I32 => Head::Int(i32::from_be_bytes(self.array()?).into()),
            I64 => Head::Int(i64::from_be_bytes(self.array()?)),
            FixStr(length) => Head::Bytes(self.take(length.into())?),
            Str8 | Bin8 => self.sized::<1>().map(Head::Bytes)?,
            Str16 | Bin16 => self.sized::<2>().map(Head::Bytes)?,
            Str32 | Bin32 => self.sized::<4>().map(Head::Bytes)?,
            FixArray(count) => Head::Array(count.into()),
            Array16 => Head::Array(u16::from_be_bytes(self.array()?).into()),
            Array32 => Head::Array(u32::from_be_bytes(self.array()?)),
            FixMap(count) => Head::Map(count.into()),
            Map16 => Head::Map(u16::from_be_bytes(self.array()?).into()),
            Map32 => Head::Map(u32::from_be_bytes(self.array()?)),
            Null => Head::Nil,
            False => Head::Bool(false),
            True => Head::Bool(true),
            F32 => Head::Float(f32::from_be_bytes(self.array()?).into()),
            F64 => Head::Float(f64::from_be_bytes(self.array()?)),
            FixExt1 => self.extension(1)?,
            FixExt2 => self.extension(2)?,
            FixExt4 => self.extension(4)?,
            FixExt8 => self.extension(8)?,
            FixExt16 => self.extension(16)?,
            Ext8 => self
                .length::<1>()
                .and_then(|length| self.extension(length))?,
            Ext16 => self
                .length::<2>()
                .and_then(|length| self.extension(length))?,
            Ext32 => self
                .length::<4>()
                .and_then(|length| self.extension(length))?,
            Reserved => return None,
        })
    }

    fn length<const SIZE: usize>(&mut self) -> Option<usize> {
        let bytes: [u8; SIZE] = self.array()?;
        let length = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte));
        usize::try_from(length).ok()
    }

    fn sized<const SIZE: usize>(&mut self) -> Option<&'a [u8]> {
        let length = self.length::<SIZE>()?;
        self.take(length)
    }

    fn extension(&mut self, length: usize) -> Option<Head<'a>> {
        let kind = i8::from_be_bytes(self.array()?);
        self.take(length).map(|bytes| Head::Extension(kind, bytes))
    }

    /// Passes over what belongs to a value whose head was just read.
    #[inline]
    fn skip_rest(&mut self, head: &Head) -> Option<()> {
        match head.inside() {
            0 => Some(()),
            inside => self.skip_values(inside),
        }
    }

    #[inline(never)]
    fn skip_values(&mut self, mut left: u64) -> Option<()> {
        while left > 0 {
            // Each value takes a byte at least, so this ends with the bytes, however many were
            // promised.
            left = (left - 1).checked_add(self.head()?.inside())?;
        }
        Some(())
    }

    /// The tag of a record, if it is a small number, and how many fields follow.
    #[inline]
    pub fn tag(&mut self) -> Option<(Option<u8>, u32)> {
        use marker::{FIXARRAY, FIXMAP};
        if let Some(([tag @ ..=marker::LAST_FIXINT, map @ FIXMAP..FIXARRAY], rest)) =
            self.0.split_first_chunk()
        {
            self.0 = rest;
            return Some((Some(*tag), (map - FIXMAP).into()));
        }
        let tag = match self.head()? {
            Head::Uint(tag) => u8::try_from(tag).ok(),
            Head::Int(tag) => u8::try_from(tag).ok(),
            _ => return None,
        };
        match self.head()? {
            Head::Map(fields) => Some((tag, fields)),
            _ => None,
        }
    }

    /// The number of the next field. One that is no small number belongs to nobody.
    #[inline(always)]
    pub fn key(&mut self) -> Option<u8> {
        if let Some((key @ ..=marker::LAST_FIXINT, rest)) = self.0.split_first() {
            self.0 = rest;
            return Some(*key);
        }
        let number = self.other_number()?;
        Some(number.and_then(|n| u8::try_from(n).ok()).unwrap_or(u8::MAX))
    }

    /// Passes over a value.
    pub fn skip(&mut self) -> Option<()> {
        let head = self.head()?;
        self.skip_rest(&head)
    }

    /// An unsigned number; nothing if it is something else.
    #[inline(always)]
    pub fn number(&mut self) -> Option<Option<u64>> {
        match self.unsigned()? {
            None => self.other_number(),
            number => Some(number),
        }
    }

    #[inline(never)]
    fn other_number(&mut self) -> Option<Option<u64>> {
        match self.head()? {
            Head::Uint(number) => Some(Some(number)),
            Head::Int(number) => Some(u64::try_from(number).ok()),
            other => self.skip_rest(&other).map(|()| None),
        }
    }

    /// Bytes or text as they stand there; nothing if it is something else.
    pub fn bytes(&mut self) -> Option<Option<&'a [u8]>> {
        match self.head()? {
            Head::Bytes(bytes) => Some(Some(bytes)),
            other => self.skip_rest(&other).map(|()| None),
        }
    }

    /// Text, made valid where it is not.
    pub fn text(&mut self) -> Option<Option<String>> {
        let bytes = self.bytes()?;
        Some(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    /// How many items the array has that follows; none if it is something else.
    #[inline]
    pub fn count(&mut self) -> Option<u32> {
        use marker::{FIXARRAY, LAST_FIXARRAY};
        if let Some((first @ FIXARRAY..=LAST_FIXARRAY, rest)) = self.0.split_first() {
            self.0 = rest;
            return Some((first - FIXARRAY).into());
        }
        self.other_count()
    }

    #[inline(never)]
    fn other_count(&mut self) -> Option<u32> {
        match self.head()? {
            Head::Array(count) => Some(count),
            other => self.skip_rest(&other).map(|()| 0),
        }
    }

    /// Puts unsigned numbers in place of what is in `numbers`; what is none counts as 0, for the
    /// sake of the others' places.
    pub fn numbers(&mut self, numbers: &mut Vec<u64>) -> Option<()> {
        numbers.clear();
        for _ in 0..self.count()? {
            numbers.push(self.number()?.unwrap_or_default());
        }
        Some(())
    }

    /// The items of an array as they stand there, and in `integers` what they are, if all are
    /// integers; unsigned ones beyond the range of signed ones wrap. None of either, if it is
    /// something else.
    #[inline]
    pub fn arguments(&mut self, integers: &mut Vec<i64>) -> Option<&'a [u8]> {
        integers.clear();
        let count = self.count()?;
        let (items, mut done) = (self.0, 0);
        while done < count {
            // A copy that no call changes stays in registers.
            let mut rest = *self;
            while done < count
                && let Some(number) = rest.unsigned_of_any_size()
            {
                integers.push(number as i64);
                done += 1;
            }
            *self = rest;
            if done == count {
                break;
            }
            done += 1;
            let head = self.head()?;
            match head.integer() {
                Some(integer) => integers.push(integer),
                None => {
                    integers.clear();
                    self.skip_values(head.inside() + u64::from(count - done))?;
                    break;
                }
            }
        }
        Some(&items[..items.len() - self.0.len()])
    }

    /// Passes over the array that `arguments` reads.
    #[inline]
    pub fn pass_arguments(&mut self) -> Option<()> {
        let (count, mut rest) = (self.count()?, self.0);
        for _ in 0..count {
            let (first, behind) = rest.split_first()?;
            rest = match SIZES[usize::from(*first)] {
                NO_NUMBER => {
                    let mut other = Unpacker(rest);
                    other.skip().map(|()| other.0)?
                }
                size => behind.get(usize::from(size)..)?,
            };
        }
        self.0 = rest;
        Some(())
    }

    /// How many items an array has whose length has 16 bits; `None` for any other value.
    pub fn array16(&mut self) -> Option<u16> {
        let [first, count @ ..]: [u8; 3] = self.array()?;
        (first == marker::ARRAY16).then(|| u16::from_be_bytes(count))
    }

    /// A number in an unsigned encoding of 64 bits; `None` for any other value.
    pub fn uint64(&mut self) -> Option<u64> {
        let [first, number @ ..]: [u8; 9] = self.array()?;
        (first == marker::UINT64).then(|| u64::from_be_bytes(number))
    }

    /// Pairs of unsigned numbers.
    pub fn pairs(&mut self) -> Option<Vec<(u64, u64)>> {
        let (mut pairs, mut items) = (Vec::new(), Vec::new());
        for _ in 0..self.count()? {
            self.numbers(&mut items)?;
            if let [a, b] = items[..] {
                pairs.push((a, b));
            }
        }
        Some(pairs)
    }
}

/// How many whole values stand at the beginning of these bytes, and the bytes of them.
pub fn whole_values(bytes: &[u8]) -> (u32, &[u8]) {
    let mut input = Unpacker(bytes);
    let (mut count, mut rest) = (0, bytes.len());
    while rest > 0 && count < u32::MAX && input.skip().is_some() {
        count += 1;
        rest = input.0.len();
    }
    (count, &bytes[..bytes.len() - rest])
}

/// Whether these values are all integers, which are then in `integers`.
pub fn all_integers(values: &[u8], integers: &mut Vec<i64>) -> bool {
    let mut input = Unpacker(values);
    integers.clear();
    while !input.0.is_empty() {
        let Some(integer) = input.head().and_then(|head| head.integer()) else {
            integers.clear();
            return false;
        };
        integers.push(integer);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_is_passed_over_whole() {
        let values: [&[u8]; 14] = [
            &[0x07],
            &[0xe0],
            &[0xc0],
            &[0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xd9, 2, b'a', b'b'],
            &[0xc5, 0, 1, 9],
            &[0x92, 1, 0x91, 2],
            &[0x81, 0xa1, b'k', 0x80],
            &[0xdc, 0, 2, 1, 2],
            &[0xde, 0, 1, 1, 2],
            &[0xd4, 5, 6],
            &[0xd8, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xc7, 1, 5, 6],
            &[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0],
        ];
        for value in values {
            let bytes = [value, &[42]].concat();
            let mut input = Unpacker(&bytes);
            assert_eq!(input.skip(), Some(()), "{value:02x?}");
            assert_eq!(input.number(), Some(Some(42)), "{value:02x?}");
            for cut in 0..value.len() {
                assert_eq!(
                    Unpacker(&value[..cut]).skip(),
                    None,
                    "{value:02x?} cut at {cut}"
                );
            }
        }
        assert_eq!(Unpacker(&[0xc1]).skip(), None);
    }

    #[test]
    fn deep_nesting_and_promises_do_no_harm() {
        let deep = vec![0x91; 1 << 20];
        assert_eq!(Unpacker(&deep).skip(), None);
        let promise = [0xdd, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Unpacker(&promise).skip(), None);
        assert_eq!(Unpacker(&promise).numbers(&mut Vec::new()), None);
        assert_eq!(Unpacker(&[0xc6, 0xff, 0xff, 0xff, 0xff, 1]).bytes(), None);
    }

    #[test]
    fn arguments_are_integers_or_whatever_stands_there() {
        let mut integers = vec![9];
        let mut read = |bytes: &[u8]| {
            let (mut input, mut passed) = (Unpacker(bytes), Unpacker(bytes));
            let items = input.arguments(&mut integers).map(<[u8]>::to_vec);
            assert_eq!(passed.pass_arguments().is_some(), items.is_some());
            if items.is_some() {
                assert_eq!(passed.0, input.0);
            }
            (items, integers.clone(), input.0.len())
        };
        let both = [0x92, 5, 0xd0, 0x80, 42];
        assert_eq!(read(&both), (Some(both[1..4].to_vec()), vec![5, -128], 1));
        let mixed = [0x93, 5, 0x91, 0xc0, 0xa1, b'x', 42];
        assert_eq!(read(&mixed), (Some(mixed[1..6].to_vec()), vec![], 1));
        assert_eq!(read(&[0xa1, b'x', 42]), (Some(vec![]), vec![], 1));
        assert_eq!(read(&[0x92, 5]).0, None);
        let sizes: [&[u8]; 6] = [
            &[0x95, 0x7f],
            &[0xcc, 0xff],
            &[0xcd, 0xff, 1],
            &[0xce, 0xff, 1, 2, 3],
            &[0xcf, 0x7f, 1, 2, 3, 4, 5, 6, 7],
            &[0xff; 9],
        ];
        let values = vec![0x7f, 0xff, 0xff01, 0xff01_0203, 0x7f01_0203_0405_0607];
        assert_eq!(read(&sizes.concat()).1, values);
    }

    #[test]
    fn values_count_as_far_as_they_are_whole() {
        let values = [0xd2, 0, 0, 0, 7, 0x91, 0xc0, 0xd9, 3, b'a'];
        assert_eq!(whole_values(&values), (2, &values[..7]));
        assert_eq!(whole_values(&[0xc1, 1]), (0, &[][..]));
    }
}
