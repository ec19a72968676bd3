//! Tests archives whose frames and files were removed, doubled or moved.
//! What is shown and what is counted is all that was recorded.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;
use timeline::{Attached, Order};
use timeline_archive::{
    Archive, ArchiveOutput as Files, Form, Keeping, RawEvent, Recorder, Writer,
};

use crate::flight::{Flight, first_arguments, said};

const LANES: u64 = 3;

/// What a recorder does.
#[derive(Debug, Clone)]
enum Step {
    Events(Vec<u64>),
    /// Entries of a lane were overwritten before the next event.
    Gap(u64, u64),
    /// Entries of a lane are left out by a filter.
    LeaveOut(u64, u64),
    /// Another file is begun.
    File,
}

/// Frames that stand together, and what they say.
#[derive(Debug, Clone, Default)]
struct Part {
    bytes: Vec<u8>,
    /// The entries of each lane: from, next, and whether they are events.
    accounts: Vec<(u64, u64, u64, bool)>,
    /// How far all lanes are, if they say so.
    positions: Option<BTreeMap<u64, u64>>,
    /// Whether these are the positions where a file begins.
    begins: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let lane = 0..LANES;
    let step = prop_oneof![
        5 => prop::collection::vec(0..LANES, 1..12).prop_map(Step::Events),
        1 => (lane.clone(), 1..9_u64).prop_map(|(lane, count)| Step::Gap(lane, count)),
        1 => (lane, 1..9_u64).prop_map(|(lane, count)| Step::LeaveOut(lane, count)),
        1 => Just(Step::File),
    ];
    prop::collection::vec(step, 1..25)
}

/// What a writer has written.
#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The parts that a recorder writes.
struct Recording {
    form: Form,
    written: Sink,
    writer: Writer<Sink>,
    at: BTreeMap<u64, u64>,
    parts: Vec<Part>,
}

impl Recording {
    fn of(steps: &[Step], form: Form) -> Vec<Part> {
        let written = Sink::default();
        let mut recording = Recording {
            form,
            writer: Writer::new(written.clone(), 7, form),
            written,
            at: BTreeMap::new(),
            parts: Vec::new(),
        };
        recording.begin();
        for step in steps {
            recording.step(step);
        }
        recording.parts
    }

    /// A record that says where all lanes are.
    fn begin(&mut self) {
        self.writer.missed(0, None, &[]).unwrap();
        let positions = Some(self.at.clone());
        self.part(Vec::new(), positions, true);
    }

    fn part(
        &mut self,
        accounts: Vec<(u64, u64, u64, bool)>,
        positions: Option<BTreeMap<u64, u64>>,
        begins: bool,
    ) {
        self.writer.flush().unwrap();
        self.parts.push(Part {
            bytes: self.written.0.take(),
            accounts,
            positions,
            begins,
        });
    }

    fn event(&mut self, lane: u64) -> (u64, u64, u64, bool) {
        let number = self.at.entry(lane).or_default();
        let event = RawEvent {
            lane: Some(lane),
            number: Some(*number),
            ticks: Some(1_000 * *number + lane),
            args: vec![*number as i64],
            ..RawEvent::default()
        };
        *number += 1;
        self.writer.event(&event).unwrap();
        (lane, *number - 1, *number, true)
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Events(lanes) if self.form == Form::Plain => {
                for lane in lanes {
                    let account = self.event(*lane);
                    self.part(vec![account], None, false);
                }
            }
            Step::Events(lanes) => {
                let accounts = lanes.iter().map(|lane| self.event(*lane)).collect();
                self.part(accounts, Some(self.at.clone()), false);
            }
            Step::Gap(lane, count) => {
                let number = self.at.entry(*lane).or_default();
                *number += count;
                let number = *number;
                let event = RawEvent {
                    lane: Some(*lane),
                    number: Some(number),
                    ..RawEvent::default()
                };
                self.writer.gap(&event, *count, 0).unwrap();
                self.part(vec![(*lane, number - count, number, false)], None, false);
            }
            Step::LeaveOut(lane, count) => {
                let number = self.at.entry(*lane).or_default();
                *number += count;
                let number = *number;
                self.writer.note_position(*lane, number);
                self.writer.missed(0, None, &[]).unwrap();
                let account = vec![(*lane, number - count, number, false)];
                self.part(account, Some(self.at.clone()), false);
            }
            Step::File => self.begin(),
        }
    }
}

/// What the naive twin finds: the events shown, the entries gone, and those that stand twice.
fn twin(parts: &[&Part], form: Form) -> (usize, u64, u64) {
    let mut has = BTreeMap::<u64, BTreeMap<u64, u64>>::new();
    let mut marks = BTreeMap::<u64, Vec<u64>>::new();
    let shown = parts.iter().flat_map(|part| &part.accounts);
    let shown = shown.filter(|account| account.3).count();
    for (lane, from, next, _) in parts.iter().flat_map(|part| &part.accounts) {
        marks.entry(*lane).or_default().extend([*from, *next]);
        for number in *from..*next {
            *has.entry(*lane).or_default().entry(number).or_default() += 1;
        }
    }
    for (lane, position) in parts
        .iter()
        .filter_map(|part| part.positions.as_ref())
        .flatten()
    {
        marks.entry(*lane).or_default().push(*position);
    }
    for part in parts.iter().filter(|part| part.begins) {
        let named = part.positions.as_ref().expect("where it begins");
        for (lane, marks) in &mut marks {
            if !named.contains_key(lane) {
                marks.push(0);
            }
        }
    }
    let is_known = parts.iter().any(|part| {
        part.begins || (form == Form::Blocks && part.accounts.iter().any(|account| account.3))
    });
    let (mut gone, mut twice) = (0, 0);
    for (lane, marks) in &marks {
        let has = has.get(lane);
        let (least, most) = (marks.iter().min().unwrap(), marks.iter().max().unwrap());
        let missing = |number: &u64| has.is_none_or(|has| !has.contains_key(number));
        gone += (*least..*most).filter(missing).count() as u64;
        twice += has.map_or(0, |has| has.values().map(|count| count - 1).sum());
    }
    (shown, if is_known { gone } else { 0 }, twice)
}

/// What is done to the parts.
#[derive(Debug, Clone)]
enum Harm {
    Remove(prop::sample::Index),
    RemoveRange(prop::sample::Index, usize),
    Double(prop::sample::Index, prop::sample::Index),
    Move(prop::sample::Index, prop::sample::Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        3 => at().prop_map(Harm::Remove),
        1 => (at(), 1..9_usize).prop_map(|(at, count)| Harm::RemoveRange(at, count)),
        1 => (at(), at()).prop_map(|(at, to)| Harm::Double(at, to)),
        1 => (at(), at()).prop_map(|(at, to)| Harm::Move(at, to)),
    ]
}

fn harmed(parts: &mut Vec<&Part>, harm: &Harm) {
    if parts.is_empty() {
        return;
    }
    let count = parts.len();
    match harm {
        Harm::Remove(at) => drop(parts.remove(at.index(count))),
        Harm::RemoveRange(at, more) => {
            let at = at.index(count);
            parts.drain(at..count.min(at + more));
        }
        Harm::Double(at, to) => parts.insert(to.index(count), parts[at.index(count)]),
        Harm::Move(at, to) => {
            let part = parts.remove(at.index(count));
            parts.insert(to.index(count), part);
        }
    }
}

proptest! {
    #[test]
    fn what_is_shown_and_what_is_counted_is_all_that_was_recorded(
        steps in steps(),
        plain: bool,
        harms in prop::collection::vec(harm(), 0..6),
    ) {
        let form = if plain { Form::Plain } else { Form::Blocks };
        let recorded = Recording::of(&steps, form);
        let mut parts: Vec<&Part> = recorded.iter().collect();
        prop_assert_eq!(twin(&parts, form).1, 0);
        for harm in &harms {
            harmed(&mut parts, harm);
        }
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.bytes.clone()).collect();
        let archive = Archive::from_bytes(bytes);
        let (shown, gone, twice) = twin(&parts, form);
        prop_assert!(archive.damage().is_empty());
        prop_assert_eq!(archive.events().count(), shown);
        prop_assert_eq!((archive.gone(), archive.repeated()), (gone, twice));
        // Events say it where there is one behind.
        let told: u64 = archive.events_by_time(Order::OldestFirst).map(|event| event.missed).sum();
        let counted = parts.iter().flat_map(|part| &part.accounts).filter(|account| !account.3);
        let counted: u64 = counted.map(|(_, from, next, _)| next - from).sum();
        prop_assert!(told <= gone + counted);
        let last = archive.units().last().map_or(0, |unit| unit.place.end);
        if archive.holes().iter().all(|hole| hole.place < last) {
            prop_assert!(told >= gone);
        }
    }
}

/// A directory of some files, all whole.
fn files(purpose: &str, plain: bool) -> Flight {
    let mut flight = Flight::of_files(purpose, 1 << 14);
    let attached = Attached::open(&flight.name).unwrap();
    let keeping = Keeping {
        rotate_every: Some(Duration::from_nanos(1)),
        ..Keeping::default()
    };
    let form = if plain { Form::Plain } else { Form::Blocks };
    for _ in 0..4 {
        flight.log(3_000);
        let mut output = Files::open(flight.file(), keeping).unwrap();
        let mut recorder = Recorder::new(&attached, &mut output, form).unwrap();
        while recorder.step() {}
        recorder.finish();
    }
    assert_eq!(first_arguments(&flight.events()), flight.expected());
    flight.assert_whole();
    assert!(flight.files().len() >= 4);
    flight
}

fn timeline(verb: &str, path: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
    command.arg(verb).arg(path).args(more).output().unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// With commas, as the command writes it.
fn number(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1_000, number % 1_000),
    }
}

#[test]
fn a_file_that_was_removed_from_the_middle_is_counted_by_all_verbs() {
    for plain in [true, false] {
        let flight = files("holes-middle", plain);
        let all = flight.files();
        let gone = Archive::open(&all[1]).unwrap().count();
        fs::remove_file(&all[1]).unwrap();
        let folder = flight.file();
        let archive = Archive::open(&folder).unwrap();
        assert_eq!((archive.gone(), archive.holes().len()), (gone, 1));
        assert_eq!(archive.events().count() as u64 + gone, flight.logged as u64);
        let missed: Vec<_> = archive.events_by_time(Order::OldestFirst).collect();
        let behind: Vec<_> = missed.iter().filter(|event| event.missed > 0).collect();
        assert_eq!(behind.len(), 1);
        assert_eq!(behind[0].missed, gone);

        let gone = format!("{} entries", number(gone));
        let verify = timeline("verify", &folder, &[]);
        assert_eq!(verify.status.code(), Some(1));
        let place = format!(
            "{gone} between {} and {}",
            all[0].display(),
            all[2].display()
        );
        assert!(printed(&verify).contains(&place), "{}", printed(&verify));
        let copy = flight.folder.path().join("copy.tla");
        let copied = ["-o", copy.to_str().unwrap()];
        for (verb, more, status) in [
            ("info", &[][..], 1),
            ("info", &["--json"], 1),
            ("dump", &[], 1),
            ("dump", &["--json"], 1),
            ("dump", &["--reverse"], 1),
            ("dump", &["--line", "5"], 1),
            ("tail", &[], 1),
            ("stats", &[], 1),
            ("events", &[], 1),
            ("search", &["number"], 2),
            ("search", &["no such text"], 2),
            ("export", &[], 1),
            ("outliers", &["--from", "*", "--to", "*"], 1),
            ("histogram", &["--field", "*.n"], 1),
        ] {
            let output = timeline(verb, &folder, more);
            let said = said(&output) + &printed(&output);
            assert_eq!(
                output.status.code(),
                Some(status),
                "{verb} {more:?}: {said}"
            );
            assert!(
                !output.stdout.is_empty() || more == ["no such text"],
                "{verb} {more:?}"
            );
            let is_told = said.contains(&gone) || said.contains("\"gone\":");
            assert!(is_told, "{verb} {more:?}: {said}");
        }
        // A repaired copy counts it, one of some events has the hole as well.
        let repaired = timeline("repair", &folder, &copied);
        assert!(repaired.status.success(), "{}", said(&repaired));
        let repaired = Archive::open(&copy).unwrap();
        assert_eq!((repaired.gone(), repaired.missed()), (0, archive.gone()));
        assert_eq!(timeline("verify", &copy, &[]).status.code(), Some(0));
        fs::remove_file(&copy).unwrap();
        let filtered = ["--where", "n > 100"];
        let saved = timeline("save", &folder, &[&[copied[1]], &filtered[..]].concat());
        assert_eq!(saved.status.code(), Some(1), "{}", said(&saved));
        assert_eq!(Archive::open(&copy).unwrap().gone(), archive.gone());
    }
}

#[test]
fn what_was_removed_at_the_beginning_or_the_end_is_no_hole() {
    for plain in [true, false] {
        let flight = files("holes-ends", plain);
        let all = flight.files();
        fs::remove_file(&all[0]).unwrap();
        fs::remove_file(all.last().unwrap()).unwrap();
        flight.assert_whole();
        let dump = timeline("dump", &flight.file(), &[]);
        assert_eq!(dump.status.code(), Some(0), "{}", said(&dump));
        assert_eq!(said(&dump), "");
    }
}

/// The bytes of files, joined in this order.
fn cat(files: &[&PathBuf]) -> Vec<u8> {
    files
        .iter()
        .flat_map(|file| fs::read(file).unwrap())
        .collect()
}

#[test]
fn files_are_joined_in_any_order_and_what_stands_twice_is_said() {
    for plain in [true, false] {
        let flight = files("holes-cat", plain);
        let all = flight.files();
        let joined = flight.folder.path().join("joined.tla");
        let backwards: Vec<&PathBuf> = all.iter().rev().collect();
        fs::write(&joined, cat(&backwards)).unwrap();
        let archive = Archive::open(&joined).unwrap();
        assert_eq!((archive.gone(), archive.repeated()), (0, 0));
        assert_eq!(archive.events().count() as u64, flight.logged as u64);
        assert_eq!(timeline("verify", &joined, &[]).status.code(), Some(0));

        let twice: Vec<&PathBuf> = all.iter().chain([&all[1]]).collect();
        fs::write(&joined, cat(&twice)).unwrap();
        let archive = Archive::open(&joined).unwrap();
        let again = Archive::open(&all[1]).unwrap().count();
        assert_eq!((archive.gone(), archive.repeated()), (0, again));
        let dump = timeline("dump", &joined, &["-n", "1"]);
        assert_eq!(dump.status.code(), Some(0));
        let told = format!("{} entries stand in more than one frame", number(again));
        assert!(said(&dump).contains(&told), "{}", said(&dump));
        let verify = printed(&timeline("verify", &joined, &[]));
        assert!(verify.contains("twice"), "{verify}");
    }
}

#[test]
fn a_damaged_frame_is_damage_and_a_hole() {
    for plain in [true, false] {
        let flight = files("holes-damage", plain);
        let joined = flight.folder.path().join("joined.tla");
        let mut bytes = cat(&flight.files().iter().collect::<Vec<_>>());
        let units = Archive::from_bytes(bytes.clone());
        let unit = units.units().nth(units.units().len() / 2).unwrap();
        let middle = (unit.place.start + unit.place.end) / 2;
        bytes[middle..middle + 8].fill(0x55);
        fs::write(&joined, bytes).unwrap();
        let archive = Archive::open(&joined).unwrap();
        assert_eq!((archive.damage().len(), archive.holes().len()), (1, 1));
        let shown = archive.events().count() as u64;
        assert_eq!(shown + archive.gone(), flight.logged as u64);
        let dump = timeline("dump", &joined, &["-n", "1"]);
        assert_eq!(dump.status.code(), Some(1));
        assert_eq!(
            timeline("search", &joined, &["number"]).status.code(),
            Some(2)
        );
    }
}

#[test]
fn a_recorder_behind_a_hole_leaves_it_as_it_is() {
    let mut flight = Flight::of_files("holes-resumed", 1 << 16);
    flight.log(12_000);
    let form = ["--plain", "--rotate-size", "64K"];
    let recorder = flight.start(&form);
    flight.until_recorded();
    assert!(
        recorder
            .stop(nix::sys::signal::Signal::SIGKILL)
            .0
            .code()
            .is_none()
    );
    let all = flight.files();
    let gone = Archive::open(&all[3]).unwrap().count();
    fs::remove_file(&all[3]).unwrap();
    flight.log(100);
    flight.timeline = None;
    assert!(
        flight
            .command(&form)
            .arg("--once")
            .output()
            .unwrap()
            .status
            .success()
    );
    let archive = Archive::open(flight.file()).unwrap();
    assert_eq!((archive.gone(), archive.missed()), (gone, 0));
    assert_eq!(archive.events().count() as u64 + gone, flight.logged as u64);
}
