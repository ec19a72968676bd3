//! Tells lines that differ only in their variables from others.
//!
//! The constant text of a line, with the places of its variables, is its skeleton.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use timeline::Priority;

use super::level::{is_level, level};
use super::tokens::{ByteRange, words};

/// The number of a skeleton.
pub type SkeletonId = u32;

/// Constant text and places of variables.
pub struct Skeleton {
    /// The constant text.
    pub text: Box<[u8]>,
    /// Where each piece of it ends: before each variable, and at the end.
    pub ends: Box<[u32]>,
    /// Which variable is the time, and its form.
    pub time: Option<(usize, u32)>,
    /// Whether the line ends with a line feed.
    pub has_end: bool,
    /// Whether the text can stand in a format.
    pub is_text: bool,
    /// The priority that the text says.
    pub priority: Option<Priority>,
    /// The lines that have the same separators, if all their words are constant.
    pub family: Option<u32>,
    /// The hashes of the words without digits. A word for a priority has none.
    pub words: Box<[Option<u64>]>,
    /// How many lines have had it so far.
    pub count: u32,
}

impl Skeleton {
    /// The pieces of constant text; one more than variables.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let pieces = starts.zip(&self.ends);
        pieces.map(|(from, to)| &self.text[from as usize..*to as usize])
    }
}

/// A line, with the places of its variables.
#[derive(Clone, Copy)]
pub struct CutLine<'a> {
    pub line: &'a [u8],
    pub spans: &'a [ByteRange],
    /// Which variable is the time, and its form.
    pub time: Option<(usize, u32)>,
    pub has_end: bool,
}

/// The skeletons of an import.
#[derive(Default)]
pub struct Skeletons {
    all: Vec<Skeleton>,
    by_hash: HashMap<u64, SkeletonId, BuildHasherDefault<Unchanged>>,
    families: HashMap<u64, u32, BuildHasherDefault<Unchanged>>,
}

/// A hash is its own hash.
#[derive(Default)]
struct Unchanged(u64);

impl Hasher for Unchanged {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Skeletons {
    /// The number of skeletons.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn get(&self, id: SkeletonId) -> &Skeleton {
        &self.all[id as usize]
    }

    pub fn get_mut(&mut self, id: SkeletonId) -> &mut Skeleton {
        &mut self.all[id as usize]
    }

    /// The skeleton of a line, whose words are all constant or not. If two have the same hash, the
    /// later one is added each time it comes after the other.
    #[inline]
    pub fn of(&mut self, cut: &CutLine, has_words: bool) -> SkeletonId {
        let hash = hash(cut);
        match self.by_hash.get(&hash) {
            Some(id) if is_of(cut, &self.all[*id as usize]) => *id,
            _ => self.add(hash, cut, has_words),
        }
    }

    #[cold]
    fn add(&mut self, hash: u64, cut: &CutLine, has_words: bool) -> SkeletonId {
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        for piece in pieces(cut) {
            text.extend_from_slice(piece);
            ends.push(text.len() as u32);
        }
        let before_time = cut.time.map(|(place, _)| ends[place] as usize);
        let time = cut.time.map(|(place, _)| cut.spans[place]);
        let words = if has_words {
            words(cut.line, time)
        } else {
            Vec::new()
        };
        let next = self.families.len() as u32;
        let family = has_words.then(|| *self.families.entry(family(cut, &words)).or_insert(next));
        let words = words.iter().map(|(from, to)| {
            let word = &cut.line[*from as usize..*to as usize];
            (!is_level(word)).then(|| hash_of(SEED, word))
        });
        let id = self.all.len() as SkeletonId;
        self.all.push(Skeleton {
            is_text: ends.iter().zip([0].iter().chain(&ends)).all(|(to, from)| {
                let piece = &text[*from as usize..*to as usize];
                !piece.contains(&0) && std::str::from_utf8(piece).is_ok()
            }) && text.len() <= MOST_TEXT,
            priority: level(&text, before_time),
            text: text.into(),
            ends: ends.into(),
            time: cut.time,
            has_end: cut.has_end,
            family,
            words: words.collect(),
            count: 0,
        });
        self.by_hash.insert(hash, id);
        id
    }
}

/// Most bytes of constant text: a format with it is not cut by any reader.
const MOST_TEXT: usize = 1500;

/// The constant pieces of a line.
fn pieces<'a>(cut: &'a CutLine) -> impl Iterator<Item = &'a [u8]> {
    let starts = [0].into_iter().chain(cut.spans.iter().map(|span| span.1));
    let ends = cut.spans.iter().map(|span| span.0);
    let ends = ends.chain([cut.line.len() as u32]);
    starts
        .zip(ends)
        .map(|(from, to)| &cut.line[from as usize..to as usize])
}

fn is_of(cut: &CutLine, skeleton: &Skeleton) -> bool {
    let has_these = cut.time == skeleton.time
        && cut.has_end == skeleton.has_end
        && cut.spans.len() + 1 == skeleton.ends.len();
    has_these && pieces(cut).eq(skeleton.pieces())
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(SEED);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn hash(cut: &CutLine) -> u64 {
    let (place, form) = cut
        .time
        .map_or((u64::MAX, 0), |(place, form)| (place as u64, form));
    let mut hash = mix(
        SEED,
        place ^ u64::from(form) << 32 ^ u64::from(cut.has_end) << 31,
    );
    for piece in pieces(cut) {
        hash = hash_of(hash, piece);
    }
    hash
}

#[inline]
fn hash_of(mut hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(
        hash.rotate_left(5),
        u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56,
    )
}

/// A number for all lines that have the same separators, and words and variables at the same
/// places.
fn family(cut: &CutLine, words: &[ByteRange]) -> u64 {
    let mut hash = mix(SEED, u64::from(cut.has_end));
    let variables = cut.spans.iter().map(|span| (span, 1));
    let mut all: Vec<_> = variables
        .chain(words.iter().map(|span| (span, 2)))
        .collect();
    all.sort();
    let mut at = 0;
    for ((from, to), kind) in all {
        for byte in cut.line.get(at..*from as usize).unwrap_or_default() {
            hash = mix(hash, u64::from(*byte));
        }
        hash = mix(hash, kind << 8);
        at = *to as usize;
    }
    for byte in cut.line.get(at..).unwrap_or_default() {
        hash = mix(hash, u64::from(*byte));
    }
    hash
}
