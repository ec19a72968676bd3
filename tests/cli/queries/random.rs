//! Random questions about events that were made.

use std::ops::RangeInclusive;

use timeline::Priority;
use timeline_search::{Case, Expression, Needle, Query};

use super::made::{CATEGORIES, Made, NAMES, PRIORITIES, THREADS, Values, pick};
use super::naive;
use super::spelled::{Pattern, Side, Tree, spelled};
use crate::support::Random;

/// What is asked, and how that is written.
#[derive(Debug, Default)]
pub struct Asked {
    pub categories: Vec<String>,
    pub events: Vec<String>,
    pub priorities: Option<RangeInclusive<Priority>>,
    pub threads: Vec<String>,
    pub pids: Vec<u32>,
    pub cores: Vec<RangeInclusive<u32>>,
    pub since: Option<u64>,
    pub until: Option<u64>,
    pub trees: Vec<Tree>,
    pub text: Option<String>,
    pub spelled: Vec<String>,
}

impl Asked {
    pub fn query(&self) -> Query {
        let read = |text: &String| {
            let read = Expression::parse(text);
            read.unwrap_or_else(|error| panic!("{text:?}: {error}"))
        };
        let needle = |text: &String| Needle::text(text, Case::Smart).unwrap();
        Query {
            categories: self.categories.clone(),
            events: self.events.clone(),
            priorities: self.priorities.clone(),
            threads: self.threads.clone(),
            pids: self.pids.clone(),
            cores: self.cores.clone(),
            since: self.since,
            until: self.until,
            expressions: self.spelled.iter().map(read).collect(),
            texts: self.text.iter().map(needle).collect(),
            ..Query::default()
        }
    }
}

/// A random question. Most have few conditions, or no event would meet them all.
pub fn asked(random: &mut Random, made: &Made, between: &[u64]) -> Asked {
    let mut asked = Asked::default();
    for _ in 0..1 + random.below(2) {
        match random.below(14) {
            0 => asked.categories = patterns(random, &CATEGORIES),
            1 => asked.events = patterns(random, &["net.sent", "größe.größe", "a_b.9"]),
            2 => {
                let (one, other) = (pick(random, &PRIORITIES), pick(random, &PRIORITIES));
                asked.priorities = Some(one.min(other)..=one.max(other));
            }
            3 => {
                asked.threads = patterns(random, &THREADS.map(|(name, _)| name));
                let tid = made.events[random.below(made.events.len() as u64) as usize].tid;
                asked
                    .threads
                    .push((tid + random.below(2) as u32).to_string());
            }
            4 => asked.pids = vec![std::process::id() + random.below(2) as u32],
            5 => {
                let first = random.below(4) as u32;
                asked.cores = vec![first..=first + random.below(3) as u32, 0xffff..=0xffff];
            }
            6 => asked.since = Some(pick(random, between)),
            7 => asked.until = Some(pick(random, between)),
            8 => asked.text = Some(pick(random, &["eth0", "SENT", "größe", "(0)", "a(-"]).into()),
            _ => asked.trees.push(tree(random, made, 3)),
        }
    }
    asked.spelled = asked
        .trees
        .iter()
        .map(|tree| spelled(random, tree))
        .collect();
    asked
}

fn patterns(random: &mut Random, of: &[&str]) -> Vec<String> {
    let pattern = |random: &mut Random| {
        let text = pick(random, of);
        let (begin, end) = (text.chars().next().unwrap(), text.chars().last().unwrap());
        match random.below(4) {
            0 => text.to_owned(),
            1 => format!("{begin}*"),
            2 => format!("*?{end}"),
            _ => format!("{begin}*{end}"),
        }
    };
    (0..1 + random.below(2)).map(|_| pattern(random)).collect()
}

fn tree(random: &mut Random, made: &Made, depth: u64) -> Tree {
    let several = |random: &mut Random| {
        let count = 2 + random.below(2);
        (0..count).map(|_| tree(random, made, depth - 1)).collect()
    };
    match random.below(if depth == 0 { 6 } else { 10 }) {
        0 => Tree::Bare(name(random)),
        1 => {
            let (name, _) = known(random, made);
            Tree::Match(name, pattern(random, made), random.below(3) > 0)
        }
        6 => Tree::Not(Box::new(tree(random, made, depth - 1))),
        7 => Tree::All(several(random)),
        8 => Tree::Any(several(random)),
        _ => {
            let (name, value) = known(random, made);
            let mut sides = (Side::Field(name), other_side(random, made, value));
            if random.below(4) == 0 {
                std::mem::swap(&mut sides.0, &mut sides.1);
            }
            let sign = pick(random, &["==", "==", "!=", "<", "<=", ">", ">="]);
            Tree::Compare(sides.0, sign, sides.1)
        }
    }
}

fn name(random: &mut Random) -> String {
    match random.below(8) {
        0 => random.below(8).to_string(),
        1 => pick(
            random,
            &["nobody", "99999999999", "18446744073709551615", "00"],
        )
        .to_owned(),
        _ => pick(random, &NAMES).to_owned(),
    }
}

/// The name of a field of an event, and its value there.
fn known(random: &mut Random, made: &Made) -> (String, Option<naive::Seen>) {
    let event = &made.events[random.below(made.events.len() as u64) as usize];
    let name = match &event.values {
        Values::Typed(fields) => {
            let place = random.below(fields.len() as u64) as usize;
            match random.below(4) {
                0 => place.to_string(),
                _ => fields[place].name.clone(),
            }
        }
        Values::Printed(values) => random.below(values.len() as u64 + 1).to_string(),
    };
    // The values of times and threads are compared often enough.
    let name = if name == "number" {
        self::name(random)
    } else {
        name
    };
    let value = naive::value(event, &name);
    (name, value)
}

fn other_side(random: &mut Random, made: &Made, value: Option<naive::Seen>) -> Side {
    const FLOATS: [f64; 9] = [
        0.1,
        1.5,
        -0.25,
        1e300,
        -1e300,
        1e-40,
        1e-50,
        1e39,
        0.099_999_999,
    ];
    const TEXTS: [(&str, Option<u64>); 6] = [
        ("eth0", None),
        ("red", None),
        ("rouge", None),
        ("2023-11-14T22:13:20Z", Some(1_700_000_000_000_000_000)),
        ("@1700000000.5", Some(1_700_000_000_500_000_000)),
        ("1970-01-01 02:00:00+02:00", Some(0)),
    ];
    match random.below(8) {
        0 => Side::Field(known(random, made).0),
        1 => Side::Bool(random.below(2) == 0),
        2 => Side::Float(pick(random, &FLOATS)),
        3 => {
            let (text, time) = pick(random, &TEXTS);
            Side::Text(text.to_owned(), time)
        }
        4 => Side::Int(pick(
            random,
            &[0, 1, -1, 1536, i128::MAX, 1 << 63, (1 << 64) - 1],
        )),
        _ => value.map_or(Side::Int(0), |value| near(random, value)),
    }
}

/// The value itself, or a little more or less.
fn near(random: &mut Random, value: naive::Seen) -> Side {
    use naive::Seen;
    let more = [0, 0, 1, -1][random.below(4) as usize];
    let float = |number: f64| match number.is_finite() && number.fract() != 0.0 {
        true => Side::Float(number),
        false => Side::Int((number as i128).clamp(-1 << 70, 1 << 70) + more),
    };
    match value {
        Seen::Int(number) | Seen::Time(number) => Side::Int(number + more),
        Seen::Named(number, names) => match names.first() {
            Some(name) if random.below(2) == 0 => Side::Text(name.clone(), None),
            _ => Side::Int(number + more),
        },
        Seen::Single(number) => float(format!("{number:?}").parse().unwrap()),
        Seen::Double(number) => float(number),
        Seen::Bool(value) => Side::Bool(value),
        Seen::Text(text, _) => {
            let mut text = String::from_utf8_lossy(&text).into_owned();
            if more > 0 {
                text.push('b');
            }
            Side::Text(text, None)
        }
        Seen::Array(numbers, _) => match numbers.len() {
            0 => Side::Int(0),
            count => {
                let place = random.below(count as u64) as usize;
                near(random, numbers[place].clone())
            }
        },
    }
}

fn pattern(random: &mut Random, made: &Made) -> Pattern {
    let event = &made.events[random.below(made.events.len() as u64) as usize];
    let shown = naive::shown_values(event);
    let text = match shown.is_empty() {
        true => "0".to_owned(),
        false => shown[random.below(shown.len() as u64) as usize].clone(),
    };
    let (skip, length) = (random.below(3) as usize, 1 + random.below(12) as usize);
    Pattern {
        text: text.chars().skip(skip).take(length).collect(),
        at_begin: random.below(3) == 0,
        at_end: random.below(3) == 0,
    }
}
