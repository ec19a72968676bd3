//! An expression as a tree, and the many ways to write it.

use super::made::pick;
use crate::support::Random;

/// A condition.
#[derive(Debug, Clone)]
pub enum Tree {
    All(Vec<Tree>),
    Any(Vec<Tree>),
    Not(Box<Tree>),
    Compare(Side, &'static str, Side),
    /// A field, and whether a pattern should be in it.
    Match(String, Pattern, bool),
    Bare(String),
}

/// A side of a comparison.
#[derive(Debug, Clone)]
pub enum Side {
    Field(String),
    Int(i128),
    /// Not a whole number, or beyond those.
    Float(f64),
    /// A text, and the time that it is.
    Text(String, Option<u64>),
    Bool(bool),
}

/// A text, and whether it is at the begin and at the end.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub text: String,
    pub at_begin: bool,
    pub at_end: bool,
}

const UNITS: [(&str, i128); 16] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1_024),
    ("MiB", 1_048_576),
    ("GiB", 1_073_741_824),
    ("TiB", 1_099_511_627_776),
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

fn space(random: &mut Random) -> &'static str {
    pick(random, &["", "", " ", "  ", "\t", "\n"])
}

/// The text of a condition.
pub fn spelled(random: &mut Random, tree: &Tree) -> String {
    match tree {
        Tree::Any(parts) => joined(random, parts, &[" or ", "||", " || "], |_| false),
        Tree::All(parts) => joined(random, parts, &[" and ", "&&", " && "], |part| {
            matches!(part, Tree::Any(_))
        }),
        Tree::Not(part) => {
            let text = spelled(random, part);
            let is_list = matches!(**part, Tree::Any(_) | Tree::All(_));
            let is_compared = matches!(**part, Tree::Compare(..) | Tree::Match(..));
            match (
                is_list || is_compared && random.below(2) == 0,
                random.below(2),
            ) {
                (true, 0) => format!("!({text})"),
                (true, _) => format!("not({text} )"),
                (false, 0) => format!("!{}{text}", space(random)),
                (false, _) => format!("not {text}"),
            }
        }
        Tree::Compare(left, sign, right) => {
            let (left, right) = (side(random, left), side(random, right));
            let sign = match *sign {
                "==" => pick(random, &["==", "="]),
                sign => sign,
            };
            format!("{left}{}{sign}{}{right}", space(random), space(random))
        }
        Tree::Match(name, pattern, expected) => {
            let sign = if *expected { "~" } else { "!~" };
            let pattern = regex(pattern);
            format!(
                "{} {sign} {}",
                field(random, name),
                quoted(random, &pattern)
            )
        }
        Tree::Bare(name) => field(random, name),
    }
}

fn joined(
    random: &mut Random,
    parts: &[Tree],
    signs: &[&'static str],
    needs: impl Fn(&Tree) -> bool,
) -> String {
    let mut all = String::new();
    for (place, part) in parts.iter().enumerate() {
        let text = spelled(random, part);
        if place > 0 {
            all += pick(random, signs);
        }
        all += &match needs(part) || random.below(4) == 0 {
            true => format!("({text})"),
            false => text,
        };
    }
    all
}

fn field(random: &mut Random, name: &str) -> String {
    let is_word = matches!(name, "and" | "or" | "not" | "true" | "false");
    let is_number = name.starts_with(|c: char| c.is_ascii_digit());
    match is_word || is_number || random.below(2) == 0 {
        true => format!("${name}"),
        false => name.to_owned(),
    }
}

fn side(random: &mut Random, side: &Side) -> String {
    match side {
        Side::Field(name) => field(random, name),
        Side::Int(number) => integer(random, *number),
        Side::Float(number) => format!("{number:?}"),
        Side::Text(text, _) => quoted(random, text),
        Side::Bool(value) => value.to_string(),
    }
}

fn integer(random: &mut Random, number: i128) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let amount = number.unsigned_abs();
    let plain = format!("{number}");
    match random.below(5) {
        0 => format!("{sign}{amount:#x}"),
        1 => plain.replace('7', "7_") + ".0",
        2 => {
            let (unit, size) = pick(random, &UNITS);
            let size = size as u128;
            let thousandths = (amount % size).checked_mul(1000);
            match thousandths.filter(|parts| parts % size == 0) {
                // As many thousandths as there are: 1.500KiB.
                Some(parts) => format!("{sign}{}.{:03}{unit}", amount / size, parts / size),
                None => plain,
            }
        }
        _ => plain,
    }
}

/// Before any other character than a quote or a backslash, a backslash is one of the text.
fn quoted(random: &mut Random, text: &str) -> String {
    let quote = pick(random, &['"', '\'']);
    let mut inside = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_plain = !matches!(rest.peek(), None | Some('\\' | '"' | '\''));
        if c == quote || c == '\\' && !(is_plain && random.below(2) == 0) {
            inside.push('\\');
        }
        inside.push(c);
    }
    format!("{quote}{inside}{quote}")
}

fn regex(pattern: &Pattern) -> String {
    let begin = if pattern.at_begin { "^" } else { "" };
    let mut text = begin.to_owned();
    for c in pattern.text.chars() {
        if c.is_ascii_punctuation() {
            text.push('\\');
        }
        text.push(c);
    }
    text + if pattern.at_end { "$" } else { "" }
}
