//! Cuts a needle into ngrams as the index cuts text: what a page must have to have a match.
//!
//! The first and the last token of a needle may lie within longer ones, so where their ngrams begin
//! is not known: each of the four alignments is an alternative. Those between are whole.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Class as CharClass, Hir, HirKind};

use super::ngrams::{Class, LENGTH, fold, pack, pair};

/// What a page must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// Nothing: each page may have a match.
    Nothing,
    /// An ngram from the first of these to the last.
    Ngrams(u32, u32),
    /// One of these ngrams.
    OneOf(Vec<u32>),
    All(Vec<Requirement>),
    Any(Vec<Requirement>),
}

/// Most alternatives of a requirement, and how deep they are nested. A needle with more may be
/// anywhere.
const MOST: usize = 1024;
const DEEPEST: usize = 50;

impl Requirement {
    /// What a match of a regular expression needs.
    pub fn of_pattern(pattern: &str, insensitive: bool) -> Requirement {
        let parsed = ParserBuilder::new()
            .case_insensitive(insensitive)
            .build()
            .parse(pattern);
        let requirement = parsed.map_or(Requirement::Nothing, |hir| {
            let ends = [ExtractKind::Prefix, ExtractKind::Suffix];
            let ends = ends.map(|kind| of_alternatives(&hir, kind));
            Requirement::all([of_hir(&hir, 0)].into_iter().chain(ends).collect())
        });
        match requirement.size() <= MOST {
            true => requirement,
            false => Requirement::Nothing,
        }
    }

    fn ngram(bytes: &[u8]) -> Requirement {
        Requirement::Ngrams(pack(bytes), pack(bytes))
    }

    /// Whether each page may have a match.
    pub fn is_nothing(&self) -> bool {
        *self == Requirement::Nothing
    }

    fn all(parts: Vec<Requirement>) -> Requirement {
        let mut parts: Vec<_> = parts
            .into_iter()
            .filter(|part| !part.is_nothing())
            .collect();
        parts.dedup();
        match parts.len() {
            0 => Requirement::Nothing,
            1 => parts.swap_remove(0),
            _ => Requirement::All(parts),
        }
    }

    fn any(mut parts: Vec<Requirement>) -> Requirement {
        parts.dedup();
        match parts.len() {
            _ if parts.iter().any(Requirement::is_nothing) => Requirement::Nothing,
            1 => parts.swap_remove(0),
            _ => Requirement::Any(parts),
        }
    }

    fn size(&self) -> usize {
        match self {
            Requirement::All(parts) | Requirement::Any(parts) => {
                parts.iter().map(Requirement::size).sum()
            }
            _ => 1,
        }
    }
}

/// What a match needs that begins, or ends, with one of a few texts.
fn of_alternatives(hir: &Hir, kind: ExtractKind) -> Requirement {
    let found = Extractor::new().kind(kind).extract(hir);
    let texts = found.literals().unwrap_or(&[]).iter().map(|text| {
        let mut parts = Vec::new();
        // One that was cut within a character has no class there.
        if std::str::from_utf8(text.as_bytes()).is_ok() {
            let folded = fold(text.as_bytes());
            of_text(
                &folded.iter().copied().map(Some).collect::<Vec<_>>(),
                &mut parts,
            );
        }
        Requirement::all(parts)
    });
    let texts: Vec<_> = texts.collect();
    match texts.len() {
        0 => Requirement::Nothing,
        _ => Requirement::any(texts),
    }
}

fn of_hir(hir: &Hir, depth: usize) -> Requirement {
    let mut literals = Literals::default();
    literals.take(hir, depth);
    literals.end();
    Requirement::all(literals.parts)
}

/// Collects the texts that a match must have.
#[derive(Default)]
struct Literals {
    parts: Vec<Requirement>,
    /// The present text. `None` is some character that is neither a letter nor a digit of ASCII,
    /// nor white space.
    text: Vec<Option<u8>>,
}

impl Literals {
    fn take(&mut self, hir: &Hir, depth: usize) {
        if depth > DEEPEST {
            return self.end();
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => {
                let bytes = fold(&literal.0);
                self.text.extend(bytes.iter().copied().map(Some));
            }
            HirKind::Class(class) => match one_of(class) {
                Some(byte) => self.text.push(byte),
                None => self.end(),
            },
            HirKind::Capture(capture) => self.take(&capture.sub, depth + 1),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.take(part, depth + 1)),
            HirKind::Alternation(parts) => {
                self.end();
                let parts = parts.iter().map(|part| of_hir(part, depth + 1));
                self.parts.push(Requirement::any(parts.collect()));
            }
            HirKind::Repetition(repetition) => {
                self.end();
                if repetition.min > 0 {
                    self.parts.push(of_hir(&repetition.sub, depth + 1));
                }
            }
        }
    }

    /// Ends the present text.
    fn end(&mut self) {
        let text = std::mem::take(&mut self.text);
        of_text(&text, &mut self.parts);
    }
}

/// The folded byte that all characters of a class are; `Some(None)` if each is beyond ASCII.
fn one_of(class: &CharClass) -> Option<Option<u8>> {
    let CharClass::Unicode(class) = class else {
        return None;
    };
    let mut found = None;
    for range in class.ranges() {
        let (start, end) = (range.start(), range.end());
        if u32::from(end) - u32::from(start) > 3 {
            return None;
        }
        for c in start..=end {
            let mut buffer = [0; 4];
            let folded = match &*fold(c.encode_utf8(&mut buffer).as_bytes()) {
                [byte] => Some(*byte),
                _ => None,
            };
            if *found.get_or_insert(folded) != folded {
                return None;
            }
        }
    }
    found
}

fn class(byte: Option<u8>) -> Class {
    byte.map_or(Class::Other, Class::of)
}

/// Appends what a page must have that has a text, which is folded.
fn of_text(text: &[Option<u8>], parts: &mut Vec<Requirement>) {
    let runs = |is_same: fn(Option<u8>, Option<u8>) -> bool| {
        let mut start = 0;
        text.chunk_by(move |a, b| is_same(*a, *b)).map(move |run| {
            start += run.len();
            (start - run.len()..start, run)
        })
    };
    let mut take = |at: &std::ops::Range<usize>, run: &[Option<u8>], kind: Kind| {
        if let Some(bytes) = run.iter().copied().collect::<Option<Vec<u8>>>() {
            let is_whole = (at.start > 0, at.end < text.len());
            parts.push(of_token(&bytes, is_whole, kind));
        }
    };
    for (at, run) in runs(|a, b| class(a) == class(b)) {
        take(&at, run, Kind::Token(class(run[0])));
    }
    for (at, run) in runs(|a, b| class(a).is_of_word() == class(b).is_of_word()) {
        let has = |wanted| run.iter().any(|byte| class(*byte) == wanted);
        if has(Class::Letter) && has(Class::Digit) {
            take(&at, run, Kind::Word);
        }
    }
}

/// What is cut into ngrams.
#[derive(Clone, Copy)]
enum Kind {
    Token(Class),
    /// A word of letters and digits.
    Word,
}

impl Kind {
    /// The bytes of which it is, if they are few.
    fn alphabet(self) -> &'static [u8] {
        match self {
            Kind::Token(Class::Letter) => b"abcdefghijklmnopqrstuvwxyz",
            Kind::Token(Class::Digit) => b"0123456789",
            Kind::Token(_) => b"",
            Kind::Word => b"abcdefghijklmnopqrstuvwxyz0123456789",
        }
    }

    fn has_pairs(self) -> bool {
        matches!(self, Kind::Token(Class::Digit))
    }
}

/// What a page must have that has these bytes in a token or word: at its beginning, at its end, or
/// anywhere.
fn of_token(bytes: &[u8], (begins, ends): (bool, bool), kind: Kind) -> Requirement {
    let tail = match bytes.last_chunk::<LENGTH>() {
        Some(tail) if ends => Requirement::ngram(tail),
        _ => Requirement::Nothing,
    };
    if begins {
        return Requirement::all(vec![aligned(bytes, ends, kind), tail]);
    }
    let alternatives = (0..LENGTH).map(|skipped| {
        let Some((first, rest)) = bytes.split_at_checked(skipped) else {
            // They end within the ngram in which they begin.
            return Requirement::Nothing;
        };
        let mut parts = vec![aligned(rest, ends, kind)];
        if skipped == LENGTH - 1 && !kind.alphabet().is_empty() {
            let ngrams = kind
                .alphabet()
                .iter()
                .map(|byte| pack(&[&[*byte], first].concat()));
            parts.push(Requirement::OneOf(ngrams.collect()));
        }
        Requirement::all(parts)
    });
    Requirement::all(vec![Requirement::any(alternatives.collect()), tail])
}

/// What a page must have that has these bytes from a place on where an ngram begins.
fn aligned(bytes: &[u8], ends: bool, kind: Kind) -> Requirement {
    let (whole, _) = bytes.as_chunks::<LENGTH>();
    let pairs = whole.windows(2).filter(|_| kind.has_pairs()).map(|two| {
        let pair = pair(pack(&two[0]), pack(&two[1]));
        Requirement::Ngrams(pair, pair)
    });
    let chunks = bytes.chunks(LENGTH).map(|chunk| match chunk.len() {
        LENGTH => Requirement::ngram(chunk),
        _ if ends => Requirement::ngram(chunk),
        // Any bytes may follow. Of fewer bytes than these, too many ngrams would be asked for.
        3 => Requirement::Ngrams(pack(chunk), pack(chunk) | 0xff),
        _ => Requirement::Nothing,
    });
    // Pairs are the rarest: if one is missing, nothing else is looked for.
    Requirement::all(pairs.chain(chunks).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ngrams;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn is_met(requirement: &Requirement, ngrams: &BTreeSet<u32>) -> bool {
        match requirement {
            Requirement::Nothing => true,
            Requirement::Ngrams(first, last) => ngrams.range(first..=last).next().is_some(),
            Requirement::OneOf(wanted) => wanted.iter().any(|ngram| ngrams.contains(ngram)),
            Requirement::All(parts) => parts.iter().all(|part| is_met(part, ngrams)),
            Requirement::Any(parts) => parts.iter().any(|part| is_met(part, ngrams)),
        }
    }

    /// Whether the index lets a text through.
    fn passes(pattern: &str, insensitive: bool, text: &str) -> bool {
        let mut found = BTreeSet::new();
        ngrams::each(text.as_bytes(), |ngram| {
            found.insert(ngram);
        });
        is_met(&Requirement::of_pattern(pattern, insensitive), &found)
    }

    #[test]
    fn absent_ids_do_not_pass() {
        let text = "request 981277340915 of 7f3a90c1b2d4 took 12ms (eth0)";
        for (pattern, expected) in [
            ("981277340915", true),
            ("812773409", true),
            ("981277340916", false),
            ("8127734086", false),
            ("3a90c1b2", true),
            ("3a90c1b2e", false),
            ("took 12ms", true),
            ("took 13ms", false),
            ("77340915 of", true),
            ("77340916 of", false),
            ("token", false),
            ("of .* took", true),
            ("of .* toss", false),
            ("(took|toss) 12", true),
            ("(todd|toss) 12", false),
            ("(981277340915)+", true),
            ("(981277340916)+", false),
            ("(981277340916)*", true),
        ] {
            assert_eq!(passes(pattern, false, text), expected, "{pattern}");
        }
    }

    /// Texts of few characters, so that needles are often found; they cross classes and case.
    fn texts() -> impl Strategy<Value = String> {
        "[ab1 (\nAKks\u{17f}\u{212a}öÖ]{0,60}|[a-cA-C0-3]{0,40}"
    }

    /// Regular expressions of literals, alternatives and repetitions.
    fn expressions() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[ab1ks(]{1,6}".prop_map(|text| regex_syntax::escape(&text)),
            "\\(\\?:[a1k]{0,4}\\|[b2s]{0,5}\\)",
            "[ak1]\\{1,3\\}|\\[ak\\][+*?]|\\.|\\^|\\\\b|ö",
        ];
        proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn what_matches_is_never_missed(
            text in texts(),
            needle in texts(),
            at: usize,
            length in 0..20_usize,
            is_of_text: bool,
            insensitive: bool,
        ) {
            let chars: Vec<char> = text.chars().collect();
            let at = at % (chars.len() + 1);
            let part: String = chars[at..].iter().take(length).collect();
            let needle = if is_of_text { part } else { needle };
            let pattern = regex_syntax::escape(&needle);
            let regex = regex::RegexBuilder::new(&pattern)
                .case_insensitive(insensitive)
                .build()
                .unwrap();
            if regex.is_match(&text) {
                prop_assert!(passes(&pattern, insensitive, &text));
            }
        }

        #[test]
        fn what_an_expression_matches_is_never_missed(
            text in texts(),
            pattern in expressions(),
            insensitive: bool,
        ) {
            let built = regex::RegexBuilder::new(&pattern).case_insensitive(insensitive).build();
            if let Ok(regex) = built && regex.is_match(&text) {
                prop_assert!(passes(&pattern, insensitive, &text));
            }
        }
    }
}
