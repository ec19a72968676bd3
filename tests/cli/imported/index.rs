//! A reader of indexes that knows docs/index.md only misses nothing.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Logs, generated};
use crate::command::*;
use crate::support::Random;

/// For each needle, the lines of the pages that tests/python/search_index.py finds.
fn candidates(index: &str, needles: &[&str]) -> Vec<Vec<(usize, usize)>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python/search_index.py");
    let mut python = Command::new("python3");
    python.arg(script).arg(index);
    let pipes = python.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.spawn().expect("python3 is there");
    let mut stdin = child.stdin.take().unwrap();
    let asked = needles.join("\n");
    let writer = std::thread::spawn(move || stdin.write_all(asked.as_bytes()).unwrap());
    let said = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(said.status.success());
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap();
        (first.parse().unwrap(), last.parse().unwrap())
    };
    let said = String::from_utf8(said.stdout).unwrap();
    let lines = said.lines();
    lines
        .map(|line| line.split_whitespace().map(range).collect())
        .collect()
}

/// Lines with numbers of all lengths, alone and in words, of which few come twice.
fn numbers(random: &mut Random, count: usize) -> String {
    let line = |random: &mut Random| {
        let digits = |random: &mut Random| {
            let number = format!("{:020}", random.next());
            number[number.len() - 1 - random.next() as usize % 17..].to_owned()
        };
        let (one, other, third) = (digits(random), digits(random), digits(random));
        format!("took {one} of x{other}.{third}y Kelvin \u{212a}{one}\n")
    };
    (0..count).map(|_| line(random)).collect()
}

#[test]
fn a_searcher_that_was_written_from_the_page_misses_nothing() {
    let logs = Logs::new();
    let mut random = Random(11);
    let mut log = String::from_utf8(generated()).unwrap();
    log += &numbers(&mut random, 6000);
    let lines: Vec<&str> = log.lines().collect();
    let archive = logs.import(&log);
    succeed(&["index", &archive]);
    // Parts of lines, each of which is in the line it is from.
    let mut places = Vec::new();
    let mut needles = Vec::new();
    while needles.len() < 3000 {
        let at = random.next() as usize % lines.len();
        let (line, from) = (lines[at], random.next() as usize % lines[at].len());
        let length = 1 + random.next() as usize % 24;
        if let Some(part) = line.get(from..(from + length).min(line.len())) {
            places.push(at);
            needles.push(part);
        }
    }
    // Whole numbers.
    let parts = needles.len();
    for (at, line) in lines.iter().enumerate().rev().step_by(7).take(700) {
        let numbers = line.split(|c: char| !c.is_ascii_digit());
        for number in numbers.filter(|number| number.len() >= 7) {
            places.push(at);
            needles.push(number);
        }
    }
    let found = candidates(&format!("{archive}.idx"), &needles);
    assert_eq!(found.len(), needles.len());
    for ((at, needle), pages) in places.iter().zip(&needles).zip(&found) {
        let has = |(first, last): &(usize, usize)| (first..=last).contains(&at);
        assert!(pages.iter().any(has), "{needle:?} of line {at}");
    }
    // A long number is on few pages, so something was asked for.
    let long = |needle: &str| needle.len() >= 12 && needle.bytes().all(|b| b.is_ascii_digit());
    let long = needles[parts..]
        .iter()
        .zip(&found[parts..])
        .filter(|(needle, _)| long(needle));
    let (count, pages) = long.fold((0, 0), |(count, all), (_, pages)| {
        (count + 1, all + pages.len())
    });
    assert!(count > 300 && pages < 2 * count, "{pages} of {count}");
    // Numbers of which no line has the pair, although a page has each of their ngrams.
    let absent: Vec<String> = (0..200)
        .map(|_| format!("{:08}", random.next() % 100_000_000))
        .filter(|number| !log.contains(number.as_str()))
        .collect();
    let absent: Vec<_> = absent.iter().map(|number| format!(" {number} ")).collect();
    let absent: Vec<&str> = absent.iter().map(String::as_str).collect();
    let pages: usize = candidates(&format!("{archive}.idx"), &absent)
        .iter()
        .map(Vec::len)
        .sum();
    assert!(pages < absent.len(), "{pages} for {}", absent.len());
}
